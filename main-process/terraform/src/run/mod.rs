//! Runs of Terraform (or OpenTofu) on the files of a board.
//!
//! Owns: finding the program, its arguments and environment, its output line by line, one run per board, the effect
//! of a plan on each node. Must not know: windows, agents, how processes are guarded (a [`processes::ProgramSpawner`] does that).
//!
//! ```text
//! Program::find → Runs::start(Request) → Run: events, cancel      threads: one per stream, one for the exit
//! Tracker::take(&Event)                                           status of every node, diagnostics on nodes
//! Runs::review → Plan::read(show -json)                           planned changes, attribute by attribute
//! ```

mod command;
mod diagnostic;
mod environment;
mod event;
mod initialised;
pub(crate) mod links;
mod lock;
mod logs;
mod mask;
mod plan;
mod program;
mod scratch;
mod spawn;
mod start;
mod track;

pub use command::{Confirmation, Request};
pub use diagnostic::{Diagnostic, Located};
pub use environment::environment;
pub use event::{Action, Event, Stream, Summary};
pub use initialised::fingerprint;
pub use links::refuse_links;
pub use lock::Interrupted;
pub use plan::{AttributeDifference, Plan, PlannedChange, Shown};
pub use program::Program;
pub use scratch::{Planned, Scratch};
pub use start::{Run, RunError, Runs};
pub use track::Tracker;
