//! Infrastructure boards as Terraform.
//!
//! Owns: files from a board, boards from files, what it costs, runs of Terraform. Must not know: MCP, egui, messages
//! between processes, main.
//!
//! ```text
//! Settings::read(draftboard.toml)            the project's own settings
//! Generator::generate(&Input) -> Generated   a board's files, and what is wrong with them
//! ```

pub mod generate;
pub mod hcl;
pub mod import;
pub mod run;
pub mod schema;
pub mod settings;
pub mod write;

pub use generate::{Finding, Generated, Generator, Input};
pub use settings::Settings;
