//! Infrastructure boards as Terraform configurations.
//!
//! Owns: generating files from a board, importing boards from files, cost estimates, Terraform runs. Must not know:
//! MCP, egui, messages between processes, main.
//!
//! ```text
//! TerraformProjectSettings::read(text).for_board(name)        the settings of a project and a board
//! HclGenerator::generate(&GenerateInput) -> GeneratedHcl      the files of a board, with findings; keep the generator:
//!                                                             the next call renders only what changed
//! write::write(&WorkspaceFiles, board, …)                     writes them to the workspace; changes no foreign file
//! import::read_terraform / read_terrastudio -> ImportedBoard  changes that add a board, settings, notes
//! reach::ConfigurationGraph::{first_reached_sink, first_sink} code that a plan would execute, data that it would send
//! cost::estimate(…, &PriceBook) -> BoardCostEstimate          monthly cost; cost::describe_missing prints a template
//! run::TerraformRunner::start(program, request)               a TerraformRun and its events; run::RunNodeTracker
//!                                                             derives node statuses
//! run::TerraformRunner::read_plan                             planned changes, node by node
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
