//! Imports boards from Terraform files or from the folder of a TerraStudio project.
//!
//! Owns: reading the files and reporting the result. Must not know: where the board is stored. Nothing is lost
//! silently: content without a matching property is kept as HCL or as a value that the problems list reports, and a
//! note says so.

mod board_builder;
mod hcl_value;
mod terraform_files;
mod terrastudio;
mod translate;

pub use terraform_files::{read_terraform, syntax_problem};
pub use terrastudio::read_terrastudio;

use crate::settings::TerraformProjectSettings;
use shared_protocol::{Change, NodeId};

/// An imported board with its settings and notes.
#[derive(Debug, Clone)]
pub struct ImportedBoard {
    /// The changes that add the board, including the layout of its nodes.
    pub changes: Vec<Change>,
    /// For the `[infrastructure]` table of `draftboard.toml`.
    pub settings: TerraformProjectSettings,
    pub notes: Vec<ImportNote>,
}

/// A remark about the import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNote {
    pub node: Option<NodeId>,
    pub message: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{file}: {message}")]
    Malformed { file: String, message: String },
    #[error("more than {most} {what}: import them in parts")]
    TooMuch { what: &'static str, most: usize },
    #[error("the board cannot be created: {0}")]
    Drawing(String),
}

/// The maximum number of resources in one import.
pub(crate) const MAX_IMPORTED_RESOURCES: usize = 20_000;
