//! Infrastructure boards as Terraform configurations.
//!
//! Owns: generating files from a board, importing boards from files, cost estimates, Terraform runs. Must not know:
//! MCP, egui, messages between processes, main.
//!
//! ```text
//! Settings::read(draftboard.toml).for_board(name)        the settings of a project and a board
//! Generator::generate(&Input) -> Generated               the files of a board, with findings; keep the generator:
//!                                                        the next call renders only what changed
//! write::write(&WorkspaceFiles, board, &Generated)       writes them to the workspace; changes no foreign file
//! import::read_terraform / read_terrastudio -> Imported  changes that add a board, settings, notes
//! reach::Configuration::{reached, sink}                  code that a plan would execute, data that it would send
//! cost::estimate(…, &PriceBook) -> Estimates             monthly cost; cost::missing prints a price book template
//! run::Program::find, run::Runs::start -> Run            a run and its events; run::Tracker derives node statuses
//! run::Runs::review -> Plan                              planned changes, node by node
//! ```
//!
//! All modules except `write` and `run` are pure functions of their arguments.

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

pub use generate::{GenerateInput, GeneratedHcl, HclGenerator};
pub use settings::TerraformProjectSettings;
