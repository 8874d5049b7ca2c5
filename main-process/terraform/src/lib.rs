//! Infrastructure boards as Terraform.
//!
//! Owns: files from a board, boards from files, what it costs, runs of Terraform. Must not know: MCP, egui, messages
//! between processes, main.
//!
//! ```text
//! Settings::read(draftboard.toml).for_board(name)        the project's own settings
//! Generator::generate(&Input) -> Generated               a board's files, and what is wrong with them; keep the
//!                                                        generator, the next call remakes only what changed
//! write::write(&WorkspaceFiles, board, &Generated)       puts them into the workspace, touching only what is ours
//! import::read_terraform / read_terrastudio -> Imported  changes that add a board, settings, notes
//! reach::Configuration::{reached, sink}                 what a plan would execute or send
//! cost::estimate(…, &PriceBook) -> Estimates             what it costs a month; cost::missing prints a template
//! run::Program::find, run::Runs::start -> Run            a run and its events; run::Tracker turns them into statuses
//! run::Runs::review -> Plan                              what would change, node by node
//! ```
//!
//! Everything but `write` and `run` is a pure function of its arguments.

pub mod cost;
pub mod generate;
pub mod hcl;
pub mod import;
pub mod price_files;
pub mod reach;
pub mod run;
pub mod schema;
pub mod settings;
pub mod write;

pub use generate::{Finding, Generated, Generator, Input};
pub use settings::Settings;
