//! The pure core: the state of a workspace, the rules, and the changes that the rules allow.
//!
//! Owns: the snapshot, the effective registry, deciding commands, applying changes, undo and revert, problems, the
//! review queue, trace links across domains, overrides and their binding to instances.
//! Must not know: files, sockets, clocks, threads, egui, MCP. Entropy and time are parameters, so the same inputs
//! always give the same state.
//!
//! ```text
//! decide(&Snapshot, &Command, seed) -> Result<Decision, Refusal>      the changes of a command
//! Snapshot::apply(&[Change])        -> Result<(), ApplyError>         the only way to change a snapshot
//! ```

mod apply;
mod board_diff;
mod decide;
mod layout;
mod line_diff;
mod occupancy;
pub mod overrides;
mod problems;
pub mod proposals;
mod rebase;
mod registry;
mod rules;
mod snapshot;
pub mod trace_links;
mod undo_history;

pub use apply::ApplyError;
pub use board_diff::diff;
pub use decide::{CommandDecision, decide, place_missing};
pub use line_diff::{LineChange, compare_lines, unified_diff};
pub use problems::ProblemIndex;
pub use rebase::{RebaseResult, boards_touched, rebase};
pub use registry::{ModuleSource, TypeRegistry};
pub use rules::{
    AllowedConnection, check_prop, condition_holds, connection, is_visible, may_contain, may_vary, similar,
};
pub use snapshot::Snapshot;
pub use undo_history::UndoHistory;

#[cfg(test)]
mod tests;
