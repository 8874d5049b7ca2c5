//! `draftboard audit`: the audit of the review queue, exported, verified and settled.

mod export;
mod settle;
mod verify;

use super::WorkspaceArguments;
use clap::Subcommand;
use std::{path::PathBuf, process::ExitCode};

pub(super) const HELP: &str = "Examples:\n  draftboard audit verify\n  draftboard audit verify -w ~/projects/parcels --json\n  \
    draftboard audit export > audit.jsonl\n  draftboard audit verify audit.jsonl\n  draftboard audit settle";

#[derive(Debug, Clone, Subcommand)]
pub(super) enum AuditSubcommand {
    /// Prints all lines as JSON, oldest first
    #[command(after_help = export::HELP)]
    Export,
    /// Verifies the audit, its signatures, its anchor and the operations
    #[command(after_help = verify::HELP)]
    Verify {
        /// An exported audit log [default: the log of the workspace]
        file: Option<PathBuf>,
    },
    /// Ends the findings of earlier openings, once you know their reason
    #[command(after_help = settle::HELP)]
    Settle,
}

pub(super) fn run(asked: &AuditSubcommand, at: &WorkspaceArguments) -> ExitCode {
    match asked {
        AuditSubcommand::Export => export::run(at),
        AuditSubcommand::Verify { file } => verify::run(file.as_deref(), at),
        AuditSubcommand::Settle => settle::run(at),
    }
}
