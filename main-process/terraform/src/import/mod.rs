//! Boards from what is there already: Terraform files, or the folder of a TerraStudio project.
//!
//! Owns: reading them and saying what was made of them. Must not know: where the board goes. Nothing is lost in silence:
//! what has no property here is kept as HCL or as a value that the problems list names, and a note says so.

mod drawing;
mod hcl_value;
mod terraform;
mod terrastudio;
mod translate;

pub use terraform::{read_terraform, syntax_problem};
pub use terrastudio::read_terrastudio;

use crate::settings::Settings;
use shared_protocol::{Change, NodeId};

/// A board to be added, and what belongs to it.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The changes that add the board, with places for all that stands on it.
    pub changes: Vec<Change>,
    /// For the `[infrastructure]` table of `draftboard.toml`.
    pub settings: Settings,
    pub notes: Vec<Note>,
}

/// What a person should know about an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub node: Option<NodeId>,
    pub message: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{file}: {message}")]
    Malformed { file: String, message: String },
    #[error("more than {most} {what}: import a part")]
    TooMuch { what: &'static str, most: usize },
    #[error("the board cannot be drawn: {0}")]
    Drawing(String),
}

/// Resources in one import.
pub(crate) const MOST_RESOURCES: usize = 20_000;
