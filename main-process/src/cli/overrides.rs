//! `draftboard override`: listing, setting, clearing and promoting overrides.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use authority::{Snapshot, TypeRegistry};
use serde_json::json;
use shared_protocol::{
    Command, GraphDocument, NodeRef, Override, OverrideKey, OverrideResolution, OverrideScope,
    OverrideSelector, PropValue, Refusal, RefusalCode, SetOverride,
    requests::{ListOverrides, ReadDocument, RunCommand},
    v0::JsonPointer,
};
use std::{process::ExitCode, sync::Arc};

pub(super) const HELP: &str = "An instance is a node (by name or id), or with --component a standalone component.\n\n\
    Examples:\n  draftboard override list\n  draftboard override set open /label '\"Open now\"'\n  \
    draftboard override set ui.card /elevation 2 --component\n  draftboard override clear open /label\n  \
    draftboard override promote open";

#[derive(Debug, clap::Subcommand)]
pub(super) enum OverrideSubcommand {
    /// Lists all overrides; orphaned ones with the reason
    #[command(after_help = "Example: draftboard override list")]
    List,
    /// Overrides a prop of an instance
    #[command(after_help = "Example: draftboard override set open /label '\"Open now\"'")]
    Set {
        /// The name or id of a node; with --component, the name of a component
        instance: String,
        /// A JSON Pointer into the props
        path: String,
        /// The value; text that is not valid JSON is taken as a string
        value: String,
        /// The instance is a standalone component
        #[arg(long)]
        component: bool,
    },
    /// Clears one override, those of an instance, or all
    #[command(
        after_help = "Examples:\n  draftboard override clear open /label\n  draftboard override clear --all"
    )]
    Clear(OverrideArguments),
    /// Saves overrides to the board or the component file
    #[command(after_help = "Example: draftboard override promote open")]
    Promote(OverrideArguments),
}

#[derive(Debug, clap::Args)]
pub(super) struct OverrideArguments {
    /// The name or id of a node; with --component, the name of a component
    #[arg(required_unless_present_any = ["all", "orphaned"])]
    instance: Option<String>,
    /// Only the override at this path
    path: Option<String>,
    /// The instance is a standalone component
    #[arg(long)]
    component: bool,
    /// All overrides
    #[arg(long, conflicts_with = "instance")]
    all: bool,
    /// All orphaned overrides
    #[arg(long, conflicts_with = "instance")]
    orphaned: bool,
}

pub(super) fn run(verb: OverrideSubcommand, at: &WorkspaceArguments) -> ExitCode {
    format::exit(run_verb(verb, at), at.json)
}

fn run_verb(verb: OverrideSubcommand, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
    let document = reached.request(ReadDocument {})?;
    let command = match verb {
        OverrideSubcommand::List => return Ok(list(&reached.request(ListOverrides {})?, at.json)),
        OverrideSubcommand::Set { instance, path, value, component } => {
            let (scope, instance) = instance_of(&document, &instance, component)?;
            let value = PropValue::parse_json(&value).unwrap_or_else(|_| PropValue::text(value.as_str()));
            let (component, locator) = (None, None);
            let set = SetOverride { scope, instance, path: pointer(&path)?, value, component, locator };
            Command::SetOverrides { set: vec![set] }
        }
        OverrideSubcommand::Clear(which) => Command::ClearOverrides(which.to_selector(&document)?),
        OverrideSubcommand::Promote(which) => {
            return promote(&which.to_selector(&document)?, &document, &mut reached, at.json);
        }
    };
    Ok(format::print_response(&reached.request(RunCommand { command })?, at.json))
}

/// All or nothing: what was chosen is what was applied, or nothing was and every address says why.
fn promote(
    which: &OverrideSelector,
    document: &GraphDocument,
    reached: &mut ReachedWorkspace,
    json: bool,
) -> Result<ExitCode, Refusal> {
    match reached.request(RunCommand { command: Command::PromoteOverrides(which.clone()) }) {
        Ok(done) if json => {
            let applied = snapshot_of(document)?.select_overrides(which);
            let data = json!({
                "revision": done.revision, "summary": done.summary, "applied": applied, "failed": [],
            });
            format::print_json(&json!({ "ok": true, "data": data }));
            Ok(ExitCode::SUCCESS)
        }
        Err(refusal) if json && !refusal.failed.is_empty() => {
            let data = json!({ "applied": [], "failed": refusal.failed });
            let error = json!({ "code": refusal.code, "message": refusal.message, "hints": refusal.hints });
            format::print_json(&json!({ "ok": false, "data": data, "error": error }));
            Ok(ExitCode::FAILURE)
        }
        applied => Ok(format::print_response(&applied?, json)),
    }
}

/// Types are not part of a document: which overrides find their instance is not known here in full.
fn snapshot_of(document: &GraphDocument) -> Result<Snapshot, Refusal> {
    Snapshot::from_document(document.clone(), Arc::new(TypeRegistry::default()))
        .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))
}

impl OverrideArguments {
    fn to_selector(&self, document: &GraphDocument) -> Result<OverrideSelector, Refusal> {
        let Some(instance) = &self.instance else {
            return Ok(if self.orphaned { OverrideSelector::Orphaned } else { OverrideSelector::All });
        };
        let (scope, instance) = instance_of(document, instance, self.component)?;
        Ok(match &self.path {
            Some(path) => OverrideSelector::These(vec![OverrideKey::new(scope, instance, pointer(path)?)]),
            None => OverrideSelector::Instance { scope, instance },
        })
    }
}

fn pointer(path: &str) -> Result<JsonPointer, Refusal> {
    JsonPointer::parse(path).map_err(|error| {
        Refusal::new(RefusalCode::BadRequest, error.to_string())
            .field("path")
            .hint("Use a JSON Pointer such as /label.")
    })
}

/// A node's name is its id; anything else is taken as it is.
fn instance_of(
    document: &GraphDocument,
    named: &str,
    component: bool,
) -> Result<(OverrideScope, Arc<str>), Refusal> {
    if component {
        return Ok((OverrideScope::Component, Arc::from(named)));
    }
    let Ok(NodeRef::Name(path)) = named.parse::<NodeRef>() else {
        return Ok((OverrideScope::App, Arc::from(named)));
    };
    let board = |id| document.boards.iter().find(|board| board.id == id).map(|board| &board.name);
    let found: Vec<_> = document
        .nodes
        .iter()
        .filter(|node| {
            node.name == path.name && (path.board.is_none() || path.board.as_ref() == board(node.board))
        })
        .collect();
    match found[..] {
        [node] => Ok((OverrideScope::App, Arc::from(node.id.to_string()))),
        [] => {
            Err(Refusal::new(RefusalCode::NotFound, format!("there is no node `{named}`")).field("instance"))
        }
        _ => Err(Refusal::new(RefusalCode::BadRequest, format!("`{named}` is on several boards"))
            .hint("Use board/name.")),
    }
}

fn list(standings: &[(OverrideKey, Override, OverrideResolution)], json: bool) -> ExitCode {
    if json {
        let listed: Vec<_> = standings
            .iter()
            .map(|(key, over, standing)| json!({ "key": key, "override": over, "standing": standing }))
            .collect();
        format::print_json(&json!({ "ok": true, "data": listed }));
        return ExitCode::SUCCESS;
    }
    let lines: Vec<String> = standings
        .iter()
        .map(|(key, over, standing)| {
            let orphaned = match standing {
                OverrideResolution::Applies(_) => String::new(),
                OverrideResolution::Orphaned(reason) => format!("  ({})", reason.describe()),
            };
            format!("{key} = {}{orphaned}", over.value.to_json())
        })
        .collect();
    let text = if lines.is_empty() { "No overrides".to_owned() } else { lines.join("\n") };
    format::print_visible(&text);
    ExitCode::SUCCESS
}
