//! Managed servers in words, for a terminal.

use serde_json::Value;
use shared_protocol::managed_servers::{
    AuthForm, ImportSource, ManagedServersView, RegistryServer, ServerBrief, ServerDetails,
    ServerImportPreview, ServerState, ToolApproval, ToolView, VariableValue,
};
use std::fmt::Write as _;

// Writing to a string cannot fail: the results of `writeln!` are dropped throughout.

pub fn list(view: &ManagedServersView) -> String {
    let mut text = String::new();
    if let Some(problem) = &view.problem {
        return problem.clone();
    }
    if view.servers.is_empty() {
        text.push_str("No managed servers yet. Add one with `draftboard server add`.\n");
    }
    for server in &view.servers {
        let _ = writeln!(text, "{}", server_line(server));
    }
    for entry in &view.unreadable {
        let _ = writeln!(text, "! {} in {}: {}", entry.name, view.config_file, entry.reason);
    }
    for manifest in &view.manifests {
        let offered = manifest.tools.iter().filter(|tool| tool.hidden.is_none()).count();
        let state = match (&manifest.problem, manifest.needs_approval) {
            (Some(problem), _) => problem.clone(),
            (None, true) => "needs approval".to_owned(),
            (None, false) => format!("{offered} tools"),
        };
        let _ = writeln!(text, "{} ({}): {state}", manifest.path, manifest.origin.as_str());
    }
    let _ = write!(text, "Secrets are stored in {}", view.secrets_place);
    text
}

pub fn server_line(server: &ServerBrief) -> String {
    let state = match &server.state {
        ServerState::Starting(phase) => format!("starting: {}", phase.describe()),
        ServerState::NeedsCredentials { missing } => format!("needs credentials: {}", missing.join(", ")),
        ServerState::Backoff { attempt, .. } => format!("backing off, attempt {attempt}"),
        other => other.label().to_owned(),
    };
    let mut line = format!("{:<16} {state:<18} {}", server.slug, server.runs);
    if server.state.is_connected() {
        let _ = write!(line, "\n    {} of {} tools offered", server.offered, server.tools);
        if server.waiting > 0 {
            let _ = write!(line, ", {} to approve", server.waiting);
        }
    } else if let Some(reason) = &server.reason {
        let _ = write!(line, "\n    {reason}");
        if let Some(exit) = &server.exit {
            let _ = write!(line, " ({exit})");
        }
        for last in &server.last_lines {
            let _ = write!(line, "\n    | {last}");
        }
    }
    line
}

pub fn details(details: &ServerDetails) -> String {
    let form = &details.form;
    let mut text = format!("{}\n", server_line(&details.brief));
    match &form.auth {
        AuthForm::None => {}
        AuthForm::Bearer(value) => {
            let _ = writeln!(text, "  bearer token: {}", value_words(value));
        }
        AuthForm::Header { name, value } => {
            let _ = writeln!(text, "  header {name}: {}", value_words(value));
        }
    }
    for variable in &form.variables {
        let _ = writeln!(text, "  {}: {}", variable.name, value_words(&variable.value));
    }
    if let Some(folder) = &form.folder {
        let _ = writeln!(text, "  runs in {folder}");
    }
    if form.trusted {
        text.push_str("  its tool annotations are trusted\n");
    }
    text.push_str(&tools(&details.tools));
    text
}

fn value_words(value: &VariableValue) -> String {
    match value {
        VariableValue::Missing => "(not set)".to_owned(),
        VariableValue::Plain(text) => text.clone(),
        VariableValue::Secret { set: true } => "(secret, set)".to_owned(),
        VariableValue::Secret { set: false } | VariableValue::Typed(_) => "(secret, not set)".to_owned(),
    }
}

pub fn tools(tools: &[ToolView]) -> String {
    if tools.is_empty() {
        return "No tools. Tools are listed while the server runs.".to_owned();
    }
    tools.iter().map(tool).collect::<Vec<_>>().join("\n")
}

pub fn tool(tool: &ToolView) -> String {
    let state = match &tool.approval {
        ToolApproval::Approved if !tool.enabled => "off",
        ToolApproval::Approved => tool.policy.as_str(),
        ToolApproval::New => "new",
        ToolApproval::Changed(_) => "changed",
    };
    let first = tool.description.lines().next().unwrap_or_default();
    let mut text = format!("{:<40} {state:<8} {first}", tool.exposed);
    if let ToolApproval::Changed(changes) = &tool.approval {
        for change in changes {
            let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
            let _ = write!(text, "\n    ~ {}\n      - {}", change.path, shown(&change.before));
            let _ = write!(text, "\n      + {}", shown(&change.after));
        }
    }
    text
}

pub fn sources(sources: &[ImportSource]) -> String {
    if sources.is_empty() {
        return "No configurations found".to_owned();
    }
    sources
        .iter()
        .map(|source| format!("{:<16} {}", source.program, source.path))
        .collect::<Vec<_>>()
        .join("\n")
}

pub fn import(view: &ServerImportPreview) -> String {
    let mut text = String::new();
    for server in &view.servers {
        let known = if server.known { " (a server with this name exists)" } else { "" };
        let _ = writeln!(text, "+ {}: {}{known}", server.form.name, server.runs);
        for note in &server.notes {
            let _ = writeln!(text, "    {note}");
        }
    }
    text + &refusals(&view.refused) + &format_skipped(&view.skipped)
}

pub fn format_skipped(skipped: &[(String, String)]) -> String {
    skipped.iter().map(|(name, why)| format!("- {name} is skipped: {why}\n")).collect()
}

pub fn format_imported(servers: &[ServerBrief], refused: &[(String, String)]) -> String {
    let lines: String = servers.iter().map(|server| server_line(server) + "\n").collect();
    lines + &refusals(refused)
}

fn refusals(refused: &[(String, String)]) -> String {
    refused.iter().map(|(name, why)| format!("! {name}: {why}\n")).collect()
}

pub fn format_registry_servers(found: &[RegistryServer]) -> String {
    if found.is_empty() {
        return "No results".to_owned();
    }
    let mut text = String::new();
    for entry in found {
        let deprecated = if entry.deprecated { " (deprecated)" } else { "" };
        let _ = writeln!(text, "{} {}{deprecated}  {}", entry.name, entry.version, entry.description);
        for offer in &entry.offers {
            let _ = writeln!(text, "    {}: {}", offer.form.kind.as_str(), offer.runs);
            if !offer.required.is_empty() {
                let _ = writeln!(text, "      needs {}", offer.required.join(", "));
            }
        }
        for other in &entry.unsupported {
            let _ = writeln!(text, "    not supported: {other}");
        }
    }
    text
}

/// The texts of an answer; whatever else there is, as it is.
pub fn format_call_result(value: &Value) -> String {
    let content = value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lines = content.iter().map(|block| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => block.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
