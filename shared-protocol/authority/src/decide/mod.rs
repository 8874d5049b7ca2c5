//! Deciding a command: each step is checked against the rules on a working copy, and its changes are collected. A
//! refused step refuses the whole command.

mod arrange;
mod boards;
mod connect;
mod copy;
mod draft;
mod nodes;
mod overrides;
mod place;
mod references;
mod remove;

pub(crate) use draft::{CommandDraft, refusal_for_apply_error};

use crate::Snapshot;
use shared_protocol::{
    Change, Command, ElementId, Refusal, RefusalCode, limits::MAX_BATCH_COMMANDS, proposal::AutoAssignments,
};

/// The result of deciding a command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandDecision {
    /// One line for the log.
    pub summary: String,
    /// Empty when the state already matches the command.
    pub changes: Vec<Change>,
    pub created: Vec<ElementId>,
    /// Names and places that the command did not specify; a rebase may choose them again.
    pub assignments: AutoAssignments,
}

/// Decides a command against a state. The ids of new elements are derived from `seed`.
pub fn decide(snapshot: &Snapshot, command: &Command, seed: u64) -> Result<CommandDecision, Refusal> {
    let mut draft = CommandDraft::new(snapshot, seed);
    let summary = run(&mut draft, command)?;
    Ok(draft.finish(summary))
}

/// Chooses places for the nodes that these changes (not yet applied) add without one, as a board file may.
pub fn place_missing(snapshot: &Snapshot, changes: &[Change]) -> Result<Vec<Change>, Refusal> {
    let mut draft = CommandDraft::new(snapshot, 0);
    for change in changes {
        draft.push(change.clone())?;
    }
    let added = changes.len();
    place::place_missing(&mut draft, changes)?;
    Ok(draft.changes.split_off(added))
}

fn run(draft: &mut CommandDraft, command: &Command) -> Result<String, Refusal> {
    match command {
        Command::AddBoard { kind, title, name } => boards::add(draft, *kind, title, name.as_ref()),
        Command::UpdateBoard { board, title, name } => {
            boards::update(draft, board, title.as_deref(), name.as_ref())
        }
        Command::RemoveBoard { board } => boards::remove(draft, board),
        Command::AddNode(add) => nodes::add(draft, add),
        Command::UpdateNode { node, name, label, set, unset, references } => {
            let edit =
                nodes::NodeEdit { name: name.as_ref(), label: label.as_deref(), set, unset, references };
            nodes::update(draft, node, &edit)
        }
        Command::Remove { nodes, edges } => remove::remove(draft, nodes, edges),
        Command::Connect { source, target, label } => connect::connect(draft, source, target, label),
        Command::UpdateEdge { edge, label } => connect::relabel(draft, *edge, label),
        Command::Place { items } => place::place(draft, items),
        Command::Reparent { nodes, parent, delta } => place::reparent(draft, nodes, parent.as_ref(), *delta),
        Command::Duplicate { nodes, offset } => copy::duplicate(draft, nodes, *offset),
        Command::Paste { board, parent, fragment, at } => {
            copy::paste(draft, board, parent.as_ref(), fragment, *at)
        }
        Command::Align { nodes, to } => arrange::align(draft, nodes, *to),
        Command::Distribute { nodes, along } => arrange::distribute(draft, nodes, *along),
        Command::Tidy { nodes } => arrange::tidy(draft, nodes),
        Command::SetVariable { nodes, key, variable } => nodes::set_variable(draft, nodes, key, *variable),
        Command::SetOverrides { set } => overrides::set(draft, set),
        Command::ClearOverrides(which) => overrides::clear(draft, which),
        Command::PromoteOverrides(which) => overrides::promote(draft, which),
        Command::Batch { summary, commands } => batch(draft, summary.as_deref(), commands),
    }
}

fn batch(draft: &mut CommandDraft, summary: Option<&str>, commands: &[Command]) -> Result<String, Refusal> {
    if commands.len() > MAX_BATCH_COMMANDS {
        let message = format!("the batch has {} commands; the limit is {MAX_BATCH_COMMANDS}", commands.len());
        return Err(Refusal::new(RefusalCode::LimitExceeded, message).hint("Split it into several batches."));
    }
    let mut first = None;
    for (index, command) in commands.iter().enumerate() {
        if matches!(command, Command::Batch { .. }) {
            return Err(Refusal::new(
                RefusalCode::BadRequest,
                format!("command {index}: a batch cannot contain a batch"),
            ));
        }
        let done = run(draft, command).map_err(|mut refusal| {
            refusal.message = format!("command {index}: {}", refusal.message);
            refusal.hint("No command of the batch was applied.")
        })?;
        first.get_or_insert(done);
    }
    Ok(match (summary, first, commands.len()) {
        (Some(summary), ..) => draft::check_label("summary", summary)?.to_owned(),
        (None, Some(first), 1) => first,
        (None, Some(first), count) => format!("{first}, and {} more", count - 1),
        (None, None, _) => "Empty batch".to_owned(),
    })
}
