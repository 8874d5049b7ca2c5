//! Runs of Terraform (or OpenTofu) on the files of a board.
//!
//! Owns: finding the program, its arguments and environment, its output line by line, one run per board, the effect
//! of a plan on each node. Must not know: windows, agents, how processes are guarded (a [`processes::ProgramSpawner`] does that).
//!
//! ```text
//! TerraformProgram::find → TerraformRunner::start(RunRequest) → TerraformRun    threads: one per stream, one for the exit
//! RunNodeTracker::apply_event(&RunEvent)                                        status of every node, diagnostics on nodes
//! TerraformRunner::read_plan                                                    planned changes, attribute by attribute
//! ```

mod command;
mod diagnostic;
mod environment;
mod event;
mod init_fingerprint;
pub(crate) mod links;
mod lock;
mod logs;
mod mask;
mod plan;
mod program;
mod runner;
mod spawn;
mod tracker;
mod trial;

pub use command::{RunConfirmation, RunRequest};
pub use diagnostic::TerraformDiagnostic;
pub use environment::environment;
pub use event::{OutputStream, ResourceAction, RunEvent};
pub use init_fingerprint::fingerprint;
pub use links::refuse_links;
pub use lock::InterruptedRun;
pub use program::TerraformProgram;
pub use runner::{RunError, TerraformRun, TerraformRunner};
pub use tracker::RunNodeTracker;
pub use trial::{TrialFolder, TrialInput};
