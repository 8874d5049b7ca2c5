//! `draftboard edit`: commands from a file, as one operation.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::{Command, Refusal, RefusalCode, requests::RunCommand};
use std::{io::Read, path::Path, process::ExitCode};

pub(super) const HELP: &str = r#"A command is an object with one key. Nodes are named by id, by name, or by board/name:

  [
    {"addNode": {"board": "infrastructure", "type": "aws/networking/vpc", "name": "net"}},
    {"addNode": {"board": "infrastructure", "type": "aws/networking/subnet", "name": "a", "parent": "net",
                 "props": {"cidr_block": "10.0.1.0/24"}}},
    {"connect": {"source": {"node": "web"}, "target": {"node": "db"}, "label": "reads"}}
  ]

Commands: addBoard updateBoard removeBoard addNode updateNode remove connect updateEdge place reparent duplicate paste
align distribute tidy. Either all commands are applied, or none.

Example: draftboard edit -f network.json -m "Add the network""#;

const MAX_BYTES: u64 = 32 << 20;

pub(super) fn run(file: &Path, summary: Option<String>, at: &WorkspaceArguments) -> ExitCode {
    let applied = read(file, summary).and_then(|command| {
        ReachedWorkspace::resolve(at.workspace.as_deref())?.request(RunCommand { command })
    });
    format::exit(applied.map(|applied| format::print_response(&applied, at.json)), at.json)
}

fn read(file: &Path, summary: Option<String>) -> Result<Command, Refusal> {
    let source =
        if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let refuse = |message: String| Refusal::new(RefusalCode::BadRequest, message).field("file");
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|opened| opened.take(MAX_BYTES + 1).read_to_string(&mut text))
    };
    read.map_err(|error| refuse(format!("{source} could not be read: {error}")))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Refusal::new(
            RefusalCode::LimitExceeded,
            format!("{source} is larger than {} MiB", MAX_BYTES >> 20),
        ));
    }
    let commands: Vec<Command> = serde_json::from_str(&text).map_err(|error| {
        refuse(format!("{source} does not contain a JSON list of commands: {error}"))
            .hint("Run `draftboard edit --help` to see the format.")
    })?;
    Ok(Command::Batch { summary, commands })
}
