//! Commands that ask a workspace something and print the answer.

use super::{
    KeepArgument, Verb, edit, format,
    workspace_at::{self, Reached},
};
use crate::terminal::Client;
use processes::{RuntimeDirs, instance};
use shared_protocol::{
    BoardId, BoardKind, BoardName, Code, Document, ElementId, Refusal, Revision,
    mcp::{McpRequest, McpView},
    messages::{Answer, InstanceView, Keep, Request, Severity, ValidationProblem},
    terraform::{TerraformAnswer, TerraformRequest},
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use workspace::create;
use workspace::now;

pub(super) fn run(verb: Verb) -> ExitCode {
    let at = match &verb {
        Verb::New { at, .. }
        | Verb::Log { at, .. }
        | Verb::Revert { at, .. }
        | Verb::Edit { at, .. }
        | Verb::Export { at, .. }
        | Verb::Resolve { at, .. }
        | Verb::Serve { at, .. }
        | Verb::Validate { at, .. }
        | Verb::Status(at)
        | Verb::Save(at)
        | Verb::Undo(at)
        | Verb::Redo(at)
        | Verb::Doctor(at)
        | Verb::Report(at) => at.clone(),
        Verb::Open { .. }
        | Verb::Mcp { .. }
        | Verb::Bundle(_)
        | Verb::Call { .. }
        | Verb::Read { .. }
        | Verb::Connect(_)
        | Verb::Hcl(_)
        | Verb::Cost(_)
        | Verb::Import(_)
        | Verb::Terraform(_)
        | Verb::Preview { .. }
        | Verb::Override { .. }
        | Verb::Review { .. }
        | Verb::Upstream(_)
        | Verb::Manifest(_)
        | Verb::Audit { .. }
        | Verb::Schema { .. }
        | Verb::Completions { .. } => super::At { workspace: None, json: false },
    };
    let (root, json) = (at.workspace.as_deref(), at.json);
    let result = match verb {
        Verb::New { folder, template, .. } => return new(&folder, template.into(), json),
        Verb::Status(_) if root.is_none() => return status(json),
        Verb::Status(_) => return status_of(root, json),
        Verb::Save(_) => ask(root, Request::Save),
        Verb::Undo(_) => ask(root, Request::Undo),
        Verb::Redo(_) => ask(root, Request::Redo),
        Verb::Log { limit, .. } => ask(root, Request::Log { limit }),
        Verb::Revert { operation, partial, .. } => {
            ask(root, Request::Revert { revision: Revision(operation), partial })
        }
        Verb::Edit { file, summary, .. } => {
            edit::read(&file, summary).and_then(|command| ask(root, Request::Run(command)))
        }
        Verb::Validate { folder, .. } => {
            return validate(folder.as_deref().or(root)).map_or_else(
                |refusal| format::refuse(&refusal, json),
                |(problems, names)| format::problems(&problems, &names, json),
            );
        }
        Verb::Export { board, to, .. } => export(root, &board, &to),
        Verb::Resolve { board, keep, .. } => resolve(root, &board, keep),
        Verb::Open { .. }
        | Verb::Serve { .. }
        | Verb::Mcp { .. }
        | Verb::Bundle(_)
        | Verb::Call { .. }
        | Verb::Read { .. }
        | Verb::Connect(_)
        | Verb::Hcl(_)
        | Verb::Cost(_)
        | Verb::Import(_)
        | Verb::Terraform(_)
        | Verb::Preview { .. }
        | Verb::Override { .. }
        | Verb::Review { .. }
        | Verb::Upstream(_)
        | Verb::Manifest(_)
        | Verb::Audit { .. }
        | Verb::Doctor(_)
        | Verb::Report(_)
        | Verb::Schema { .. }
        | Verb::Completions { .. } => Ok(Answer::Done),
    };
    match result {
        Ok(answer) => format::answer(&answer, json),
        Err(refusal) => format::refuse(&refusal, json),
    }
}

fn ask(root: Option<&Path>, request: Request) -> Result<Answer, Refusal> {
    Reached::workspace(&workspace_at::find(root)?)?.request(request)
}

/// What the workspace finds, and what Terraform would say about its boards.
fn validate(root: Option<&Path>) -> Result<(Vec<ValidationProblem>, format::ElementNames), Refusal> {
    let unasked = || Refusal::new(Code::Internal, "an answer that was not asked for");
    let mut reached = Reached::workspace(&workspace_at::find(root)?)?;
    let Answer::Problems(mut problems) = reached.request(Request::Problems)? else { return Err(unasked()) };
    let Answer::Document(document) = reached.request(Request::Document)? else { return Err(unasked()) };
    for board in document.boards.iter().filter(|board| board.kind == BoardKind::Infrastructure) {
        let file = Some(format!("boards/{}.board.json", board.name));
        match reached.request(Request::Terraform(TerraformRequest::Hcl { board: board.id })) {
            Ok(Answer::Terraform(TerraformAnswer::Hcl(view))) => {
                let found = view.findings.into_iter().map(|finding| ValidationProblem {
                    severity: finding.severity,
                    element: Some(finding.node.map_or(ElementId::Board(board.id), ElementId::Node)),
                    board: Some(board.id),
                    field: finding.prop.map(|prop| prop.to_string()),
                    file: None,
                    message: finding.message,
                });
                // The board says it itself: the same node and property.
                let is_new = |finding: &ValidationProblem| {
                    finding.field.is_none()
                        || !problems
                            .iter()
                            .any(|known| (&known.element, &known.field) == (&finding.element, &finding.field))
                };
                let found: Vec<ValidationProblem> = found.filter(is_new).collect();
                problems.extend(found);
            }
            Ok(_) => return Err(unasked()),
            Err(refusal) => {
                let message = format!("Its Terraform files were not checked: {}", refusal.message);
                problems.push(ValidationProblem::of_file(Severity::Error, file, message));
            }
        }
    }
    problems.sort();
    problems.dedup();
    Ok((problems, format::ElementNames::of(&document)))
}

fn board_id(reached: &mut Reached, name: &str) -> Result<BoardId, Refusal> {
    let Answer::Document(document) = reached.request(Request::Document)? else {
        return Err(Refusal::new(Code::Internal, "an answer that was not asked for"));
    };
    let Document { boards, .. } = *document;
    let wanted =
        |board: &&shared_protocol::Board| board.name.as_str() == name || board.id.to_string() == name;
    boards.iter().find(wanted).map(|board| board.id).ok_or_else(|| {
        let names: Vec<String> = boards.iter().map(|board| BoardName::to_string(&board.name)).collect();
        Refusal::new(Code::NotFound, format!("there is no board `{name}`"))
            .field("board")
            .hint(format!("The boards are {}.", names.join(", ")))
    })
}

fn export(root: Option<&Path>, board: &str, to: &Path) -> Result<Answer, Refusal> {
    let mut reached = Reached::workspace(&workspace_at::find(root)?)?;
    let board = board_id(&mut reached, board)?;
    // The running Draftboard may stand in another folder than this terminal.
    let to = std::path::absolute(to).unwrap_or_else(|_| to.to_owned());
    reached.request(Request::Export { board, path: to.display().to_string() })
}

fn resolve(root: Option<&Path>, board: &str, keep: KeepArgument) -> Result<Answer, Refusal> {
    let mut reached = Reached::workspace(&workspace_at::find(root)?)?;
    let board = board_id(&mut reached, board)?;
    let keep = match keep {
        KeepArgument::Mine => Keep::Mine,
        KeepArgument::Theirs => Keep::Theirs,
    };
    reached.request(Request::Resolve { board, keep })
}

fn new(folder: &Path, template: workspace::Template, json: bool) -> ExitCode {
    match create(folder, template, BoardId::from_bits(now().seed)) {
        Ok(()) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| PathBuf::from(folder));
            if json {
                format::print_json(&serde_json::json!({ "ok": true, "data": { "workspace": folder } }));
            } else {
                format::print(&format!(
                    "{}\nOpen it with: draftboard {}",
                    folder.display(),
                    folder.display()
                ));
            }
            ExitCode::SUCCESS
        }
        Err(error) => format::refuse(&Refusal::new(Code::BadRequest, error.to_string()), json),
    }
}

/// A Draftboard and its agents' side, which is only there when it runs.
struct Seen {
    instance: InstanceView,
    agents: Option<Box<McpView>>,
}

impl Seen {
    fn ask(mut ask: impl FnMut(Request) -> Result<Answer, Refusal>) -> Result<Self, Refusal> {
        let Answer::Instance(instance) = ask(Request::Instance)? else {
            return Err(Refusal::new(Code::Internal, "an answer that was not asked for"));
        };
        let agents = match instance.pid.map(|_| ask(Request::Mcp(McpRequest::View))) {
            Some(Ok(Answer::Mcp(view))) => Some(view),
            _ => None,
        };
        Ok(Self { instance, agents })
    }

    fn data(&self) -> serde_json::Value {
        let mut data = serde_json::to_value(&self.instance).unwrap_or_default();
        data["mcp"] = serde_json::to_value(&self.agents).unwrap_or_default();
        data
    }

    fn words(&self) -> String {
        let agents = self.agents.as_ref().map_or_else(String::new, |view| format::agents_line(view));
        format!("{}{agents}", format::instance_line(&self.instance))
    }
}

fn status_of(root: Option<&Path>, json: bool) -> ExitCode {
    let seen = workspace_at::find(root)
        .and_then(|root| Reached::workspace(&root))
        .and_then(|mut reached| Seen::ask(|request| reached.request(request)));
    match seen {
        Ok(seen) if json => {
            format::print_json(&serde_json::json!({ "ok": true, "data": seen.data() }));
            ExitCode::SUCCESS
        }
        Ok(seen) => {
            format::print_visible(&seen.words());
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, json),
    }
}

/// Every Draftboard of this user that is running.
fn status(json: bool) -> ExitCode {
    let dirs = RuntimeDirs::of_user();
    for reason in dirs.unsafe_ones() {
        format::complain(&format!("a folder was skipped: {reason}"));
    }
    let records = match instance::list(dirs.usable()) {
        Ok(records) => records,
        Err(error) => return format::refuse(&Refusal::new(Code::StorageError, error.to_string()), json),
    };
    let look = |record| {
        let mut client = Client::connect(record)?;
        Seen::ask(|request| Ok(client.request(request)?))
    };
    let seen: Vec<Seen> = records
        .iter()
        .filter_map(|record| look(record).inspect_err(|refusal| format::complain(&refusal.to_string())).ok())
        .collect();
    if json {
        let data: Vec<_> = seen.iter().map(Seen::data).collect();
        format::print_json(&serde_json::json!({ "ok": true, "data": data }));
    } else if seen.is_empty() {
        format::print(&format!("No Draftboard is running: {dirs}"));
    } else {
        format::print_visible(&seen.iter().map(Seen::words).collect::<Vec<_>>().join("\n"));
    }
    ExitCode::SUCCESS
}
