//! Answers for people and for machines.

use mcp_server::{shown, shown_line};
use shared_protocol::{
    BoardId, Document, ElementId, NodeId, OperationKind, Refusal,
    mcp::McpView,
    messages::{Answer, InstanceView, LogEntry, Severity, ValidationProblem},
    v0::UtcTimestamp,
};
use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::Write as _,
    io::{IsTerminal, Write},
    process::ExitCode,
};

/// Writes the result and nothing else to standard output; a reader that went away is no error.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(
        out.write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }),
    );
}

pub(super) fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&visible_json(&text)),
        Err(error) => complain(&format!("the answer could not be written as JSON: {error}")),
    }
}

/// Labels, titles and messages come from files and agents, and a terminal obeys what it is shown.
pub(super) fn visible(text: &str) -> String {
    shown(text).into_owned()
}

/// The same for a text that must not pass for more than one line.
pub(super) fn visible_line(text: &str) -> String {
    shown_line(text)
}

/// The same JSON, in which hidden characters, which can only stand in texts, are written as JSON's own escapes.
pub(super) fn visible_json(json: &str) -> String {
    if matches!(shown(json), Cow::Borrowed(_)) {
        return json.to_owned();
    }
    let (mut text, mut bytes, mut units) = (String::with_capacity(json.len() + 64), [0; 4], [0; 2]);
    for c in json.chars() {
        match shown(c.encode_utf8(&mut bytes)) {
            Cow::Borrowed(_) => text.push(c),
            Cow::Owned(_) => c.encode_utf16(&mut units).iter().for_each(|unit| {
                let _ = write!(text, "\\u{unit:04x}");
            }),
        }
    }
    text
}

/// As `print`, for words that may come from files or from other programs.
pub(super) fn print_visible(text: &str) {
    print(&visible(text));
}

pub(super) fn complain(text: &str) {
    let text = visible(text);
    let mut err = std::io::stderr().lock();
    let coloured = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (red, plain) = if coloured { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    drop(writeln!(err, "{red}draftboard{plain}: {text}"));
}

/// Tells what was refused and what to do next.
pub(super) fn refuse(refusal: &Refusal, json: bool) -> ExitCode {
    if json {
        let mut error = serde_json::to_value(refusal).unwrap_or_default();
        // Of promotions alone.
        if let Some(fields) = error.as_object_mut().filter(|_| refusal.failed.is_empty()) {
            fields.remove("failed");
        }
        print_json(&serde_json::json!({ "ok": false, "error": error }));
    } else {
        complain(&refusal.to_string());
    }
    ExitCode::FAILURE
}

/// An answer on standard output; the exit code says whether anything was found.
pub(super) fn answer(answer: &Answer, json: bool) -> ExitCode {
    if json {
        print_json(&serde_json::json!({ "ok": true, "data": data(answer) }));
    } else {
        print_visible(&words(answer));
    }
    ExitCode::SUCCESS
}

/// Problems on standard output, each with the name that people know its element by; an error fails the command.
pub(super) fn problems(found: &[ValidationProblem], names: &ElementNames, json: bool) -> ExitCode {
    let failed = found.iter().any(|problem| problem.severity == Severity::Error);
    if json {
        print_json(&serde_json::json!({ "ok": !failed, "data": found }));
    } else if found.is_empty() {
        print("No problems");
    } else {
        let lines: Vec<String> = found.iter().map(|problem| problem_line(problem, names)).collect();
        print_visible(&lines.join("\n"));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What people call the elements of a document: `board/name`, and the label where it says more.
pub(super) struct ElementNames(HashMap<ElementId, (String, String)>);

impl ElementNames {
    pub(super) fn of(document: &Document) -> Self {
        let boards: HashMap<BoardId, String> =
            document.boards.iter().map(|board| (board.id, board.name.to_string())).collect();
        let nodes: HashMap<NodeId, String> =
            document.nodes.iter().map(|node| (node.id, node.name.to_string())).collect();
        let within = |board: &BoardId, name: &str| match boards.get(board) {
            Some(board) => format!("{board}/{name}"),
            None => name.to_owned(),
        };
        let end = |node: &NodeId| nodes.get(node).cloned().unwrap_or_else(|| node.to_string());
        let of_boards = document
            .boards
            .iter()
            .map(|board| (ElementId::Board(board.id), (board.name.to_string(), String::new())));
        let of_nodes = document.nodes.iter().map(|node| {
            let label = if node.label == node.name.as_str() { String::new() } else { node.label.clone() };
            (ElementId::Node(node.id), (within(&node.board, node.name.as_str()), label))
        });
        let of_edges = document.edges.iter().map(|edge| {
            let ends = format!("{} -> {}", end(&edge.source.node), end(&edge.target.node));
            (ElementId::Edge(edge.id), (within(&edge.board, &ends), edge.label.clone()))
        });
        Self(of_boards.chain(of_nodes).chain(of_edges).collect())
    }

    /// `main/web.name (Web server)`; the id of what is gone.
    fn place(&self, element: ElementId, field: &str) -> String {
        match self.0.get(&element) {
            Some((name, label)) if label.is_empty() => format!("{name}{field}"),
            Some((name, label)) => format!("{name}{field} ({})", visible_line(label)),
            None => format!("{element}{field}"),
        }
    }
}

fn data(answer: &Answer) -> serde_json::Value {
    let value = |value: serde_json::Result<serde_json::Value>| value.unwrap_or_default();
    match answer {
        Answer::Done => serde_json::Value::Null,
        Answer::Applied(applied) => value(serde_json::to_value(applied)),
        Answer::Saved { revision, files } => serde_json::json!({ "revision": revision, "files": files }),
        Answer::Log(entries) => value(serde_json::to_value(entries)),
        Answer::Changes(patches) => serde_json::json!({ "resync": patches.is_none(), "patches": patches }),
        Answer::Problems(problems) => value(serde_json::to_value(problems)),
        Answer::Document(document) => value(serde_json::to_value(document)),
        Answer::Overrides(standings) => value(serde_json::to_value(standings)),
        Answer::Instance(instance) => value(serde_json::to_value(instance)),
        Answer::Exported { path, bytes } => serde_json::json!({ "path": path, "bytes": bytes }),
        Answer::Recents(recents) => value(serde_json::to_value(recents)),
        Answer::Demo { tour } => serde_json::json!({ "tour": tour }),
        Answer::PlainFolder(folder) => value(serde_json::to_value(folder)),
        Answer::Templates(boards) => value(serde_json::to_value(boards)),
        Answer::Mcp(view) => value(serde_json::to_value(view)),
        Answer::Bundle(answer) => value(serde_json::to_value(answer)),
        Answer::Links(view) => value(serde_json::to_value(view)),
        Answer::Terraform(answer) => value(serde_json::to_value(answer)),
        Answer::Preview(answer) => value(serde_json::to_value(answer)),
        Answer::Upstream(answer) => value(serde_json::to_value(answer)),
        Answer::Review(answer) => value(serde_json::to_value(answer)),
        Answer::Audit(lines) => value(serde_json::to_value(lines)),
        Answer::AuditView(view) => value(serde_json::to_value(view)),
        Answer::Text(text) | Answer::ProblemReport(text) => serde_json::json!(text),
    }
}

fn words(answer: &Answer) -> String {
    match answer {
        Answer::Done => "Done".to_owned(),
        Answer::Applied(applied) => {
            let made: Vec<String> = applied.created.iter().map(ToString::to_string).collect();
            let made = if made.is_empty() { String::new() } else { format!("\n{}", made.join("\n")) };
            format!("{} (revision {}){made}", applied.summary, applied.revision)
        }
        Answer::Saved { revision, files } if files.is_empty() => {
            format!("Nothing to save at revision {revision}")
        }
        Answer::Saved { revision, files } => format!("Saved revision {revision}\n{}", files.join("\n")),
        Answer::Log(entries) => entries.iter().map(log_line).collect::<Vec<_>>().join("\n"),
        Answer::Instance(instance) => instance_line(instance),
        Answer::Exported { path, bytes } => format!("{path} ({bytes} bytes)"),
        Answer::Text(text) | Answer::ProblemReport(text) => text.clone(),
        Answer::Document(_)
        | Answer::Overrides(_)
        | Answer::Problems(_)
        | Answer::Changes(_)
        | Answer::Recents(_)
        | Answer::Demo { .. }
        | Answer::PlainFolder(_)
        | Answer::Templates(_)
        | Answer::Mcp(_)
        | Answer::Bundle(_)
        | Answer::Terraform(_)
        | Answer::Preview(_)
        | Answer::Upstream(_)
        | Answer::Review(_)
        | Answer::Audit(_)
        | Answer::AuditView(_)
        | Answer::Links(_) => data(answer).to_string(),
    }
}

fn log_line(entry: &LogEntry) -> String {
    let kind = match entry.kind {
        OperationKind::Edit => String::new(),
        OperationKind::Undo(of) | OperationKind::Redo(of) | OperationKind::Revert(of) => {
            format!(" (of {of})")
        }
    };
    let who = if entry.actor.name.is_empty() {
        format!("{:?}", entry.actor.kind).to_lowercase()
    } else {
        visible_line(&entry.actor.name)
    };
    let summary = visible_line(&entry.summary);
    format!("{:>6}  {}  {who}  {summary}{kind}", entry.revision.0, utc(entry.time))
}

fn problem_line(problem: &ValidationProblem, names: &ElementNames) -> String {
    let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
    let field = problem.field.as_ref().map_or_else(String::new, |field| format!(".{field}"));
    let place = match (&problem.element, &problem.board, &problem.file) {
        (Some(element), _, _) => format!("{}: ", names.place(*element, &field)),
        (None, _, Some(file)) => format!("{file}: "),
        (None, Some(board), None) => format!("{}: ", names.place(ElementId::Board(*board), &field)),
        (None, None, None) => String::new(),
    };
    format!("{severity}: {place}{}", problem.message)
}

pub(super) fn instance_line(instance: &InstanceView) -> String {
    let running = match instance.pid {
        None => "not running".to_owned(),
        Some(pid) if instance.window => format!("pid {pid}, window"),
        Some(pid) => format!("pid {pid}, no window"),
    };
    let saved = if instance.saved == instance.revision { "saved" } else { "unsaved" };
    let mut line = format!(
        "{}\n  {running}, version {}\n  revision {} ({saved}), {} boards, {} nodes, {} edges",
        instance.workspace,
        instance.version,
        instance.revision,
        instance.boards,
        instance.nodes,
        instance.edges
    );
    for held in &instance.held {
        line.push_str(&format!("\n  {} is read-only: {}", held.name, held.message));
    }
    for notice in &instance.notices {
        let file = notice.file.as_ref().map_or_else(String::new, |file| format!("{file}: "));
        line.push_str(&format!("\n  notice: {file}{}", notice.message));
    }
    line
}

/// What agents may do, where they connect, and who is there.
pub(super) fn agents_line(view: &McpView) -> String {
    let place = match (&view.url, &view.error) {
        (Some(url), _) => url.clone(),
        (None, Some(error)) => format!("not over HTTP: {error}"),
        (None, None) => "not over HTTP".to_owned(),
    };
    let mut line = format!("\n  agents: {}, {place}", view.mode);
    for client in &view.clients {
        let (name, version) = (visible_line(&client.name), visible_line(&client.version));
        line.push_str(&format!("\n    {name} {version}: {}", client.reading));
    }
    line
}

/// `2026-11-16 10:40:00`, in UTC.
fn utc(millis: u64) -> String {
    let time = UtcTimestamp::of_millis(millis);
    time.as_str().chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::{utc, visible, visible_json};

    #[test]
    fn a_terminal_is_shown_no_orders() {
        assert_eq!(visible("a\x1b[2J\rb\nc ✓\u{202e}"), "a\\u{1b}[2J\\u{d}b\nc ✓\\u{202e}");
        for text in ["plain ✓", "a\u{202e}b\u{9b}\u{e0041}"] {
            let json = serde_json::to_string(text).unwrap();
            let seen = visible_json(&json);
            assert!(!seen.contains(['\u{202e}', '\u{9b}', '\u{e0041}']), "{seen}");
            assert_eq!(serde_json::from_str::<String>(&seen).unwrap(), text);
        }
    }

    #[test]
    fn times_are_shown_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_827_696_000), "2000-02-29 12:34:56");
        assert_eq!(utc(1_794_825_600_000), "2026-11-16 10:40:00");
    }
}
