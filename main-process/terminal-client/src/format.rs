//! Output for people and as JSON.

use mcp_server::{escape_hidden, escape_line};
use shared_protocol::{
    BoardId, ElementId, GraphDocument, NodeId, OperationKind, Refusal,
    mcp::McpView,
    messages::{AppliedCommand, OperationLogEntry, ProblemSeverity, WorkbenchInstanceView, WorkspaceProblem},
    requests::{ExportedFile, SavedFiles},
    text::count_noun,
    v0::UtcTimestamp,
};
use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::Write as _,
    io::{IsTerminal, Write},
    process::ExitCode,
};

/// Writes the result and nothing else to standard output; a closed reader is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(
        out.write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }),
    );
}

pub fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&visible_json(&text)),
        Err(error) => print_warning(&format!("the result has no JSON form: {error}")),
    }
}

/// Escapes control characters: labels, titles and messages come from files and agents, and a terminal obeys them.
pub fn visible(text: &str) -> String {
    escape_hidden(text).into_owned()
}

/// As [`visible`], for a text that must stay on one line.
pub fn visible_line(text: &str) -> String {
    escape_line(text)
}

/// Escapes hidden characters as JSON does; they only occur in texts.
pub fn visible_json(json: &str) -> String {
    if matches!(escape_hidden(json), Cow::Borrowed(_)) {
        return json.to_owned();
    }
    let (mut text, mut bytes, mut units) = (String::with_capacity(json.len() + 64), [0; 4], [0; 2]);
    for c in json.chars() {
        match escape_hidden(c.encode_utf8(&mut bytes)) {
            Cow::Borrowed(_) => text.push(c),
            Cow::Owned(_) => c.encode_utf16(&mut units).iter().for_each(|unit| {
                let _ = write!(text, "\\u{unit:04x}");
            }),
        }
    }
    text
}

/// As [`print()`], for text that may come from files or other programs.
pub fn print_visible(text: &str) {
    print(&visible(text));
}

pub fn print_warning(text: &str) {
    let text = visible(text);
    let mut err = std::io::stderr().lock();
    let coloured = err.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (red, plain) = if coloured { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
    drop(writeln!(err, "{red}draftboard{plain}: {text}"));
}

/// Prints a refusal with its hints.
pub fn refuse(refusal: &Refusal, json: bool) -> ExitCode {
    if json {
        let mut error = serde_json::to_value(refusal).unwrap_or_default();
        // Only promotions have it.
        if let Some(fields) = error.as_object_mut().filter(|_| refusal.failed.is_empty()) {
            fields.remove("failed");
        }
        print_json(&serde_json::json!({ "ok": false, "error": error }));
    } else {
        print_warning(&refusal.to_string());
    }
    ExitCode::FAILURE
}

/// A response that the command line prints.
pub trait PrintedResponse: serde::Serialize {
    /// The response for people; [`print_response`] prints the other form, JSON.
    fn format_text(&self) -> String;
}

impl PrintedResponse for () {
    fn format_text(&self) -> String {
        "Done".to_owned()
    }
}

impl PrintedResponse for AppliedCommand {
    fn format_text(&self) -> String {
        let created: String = self.created.iter().map(|id| format!("\n{id}")).collect();
        format!("{} (revision {}){created}", self.summary, self.revision)
    }
}

impl PrintedResponse for SavedFiles {
    fn format_text(&self) -> String {
        match self.files.is_empty() {
            true => format!("Nothing to save at revision {}", self.revision),
            false => format!("Saved revision {}\n{}", self.revision, self.files.join("\n")),
        }
    }
}

impl PrintedResponse for Vec<OperationLogEntry> {
    fn format_text(&self) -> String {
        if self.is_empty() {
            return "No changes yet.".to_owned();
        }
        self.iter().map(log_line).collect::<Vec<_>>().join("\n")
    }
}

impl PrintedResponse for ExportedFile {
    fn format_text(&self) -> String {
        format!("{} ({} bytes)", self.path, self.bytes)
    }
}

/// Prints a response for people or as JSON.
pub fn print_response(response: &impl PrintedResponse, json: bool) -> ExitCode {
    print_result(response, json, || response.format_text())
}

/// Prints data as JSON, or `words` for people.
pub fn print_result(data: &impl serde::Serialize, json: bool, words: impl FnOnce() -> String) -> ExitCode {
    if json {
        print_json(&serde_json::json!({ "ok": true, "data": data }));
    } else {
        print_visible(&words());
    }
    ExitCode::SUCCESS
}

/// Ends a command: its exit code, or its refusal on the right stream.
pub fn exit(result: Result<ExitCode, Refusal>, json: bool) -> ExitCode {
    result.unwrap_or_else(|refusal| refuse(&refusal, json))
}

/// Prints problems, each with the name of its element; an error fails the command.
pub fn problems(found: &[WorkspaceProblem], names: &ElementNames, json: bool) -> ExitCode {
    let failed = found.iter().any(|problem| problem.severity == ProblemSeverity::Error);
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

/// The names of the elements of a document: `board/name`, and the label where it differs.
pub struct ElementNames(HashMap<ElementId, (String, String)>);

impl ElementNames {
    pub fn from_document(document: &GraphDocument) -> Self {
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

    /// `main/web.name (Web server)`; the id of a removed element.
    fn place(&self, element: ElementId, field: &str) -> String {
        match self.0.get(&element) {
            Some((name, label)) if label.is_empty() => format!("{name}{field}"),
            Some((name, label)) => format!("{name}{field} ({})", visible_line(label)),
            None => format!("{element}{field}"),
        }
    }
}

fn log_line(entry: &OperationLogEntry) -> String {
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

fn problem_line(problem: &WorkspaceProblem, names: &ElementNames) -> String {
    let severity = if problem.severity == ProblemSeverity::Error { "error" } else { "warning" };
    let field = problem.field.as_ref().map_or_else(String::new, |field| format!(".{field}"));
    let place = match (&problem.element, &problem.board, &problem.file) {
        (Some(element), _, _) => format!("{}: ", names.place(*element, &field)),
        (None, _, Some(file)) => format!("{file}: "),
        (None, Some(board), None) => format!("{}: ", names.place(ElementId::Board(*board), &field)),
        (None, None, None) => String::new(),
    };
    format!("{severity}: {place}{}", problem.message)
}

pub fn instance_line(instance: &WorkbenchInstanceView) -> String {
    let running = match instance.pid {
        None => "not running".to_owned(),
        Some(pid) if instance.window => format!("pid {pid}, window"),
        Some(pid) => format!("pid {pid}, no window"),
    };
    let saved = if instance.saved == instance.revision { "saved" } else { "unsaved" };
    let mut line = format!(
        "{}\n  {running}, version {}\n  revision {} ({saved}), {}, {}, {}",
        instance.workspace,
        instance.version,
        instance.revision,
        count_noun(instance.boards as usize, "board"),
        count_noun(instance.nodes as usize, "node"),
        count_noun(instance.edges as usize, "edge"),
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

/// The mode of agents, their address, and the connected clients.
pub fn agents_line(view: &McpView) -> String {
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
    use super::{OperationLogEntry, PrintedResponse as _, utc, visible, visible_json};

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
    fn an_empty_log_says_so() {
        assert_eq!(Vec::<OperationLogEntry>::new().format_text(), "No changes yet.");
    }

    #[test]
    fn times_are_shown_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_827_696_000), "2000-02-29 12:34:56");
        assert_eq!(utc(1_794_825_600_000), "2026-11-16 10:40:00");
    }
}
