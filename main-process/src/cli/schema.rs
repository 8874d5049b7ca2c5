//! `draftboard schema`: the JSON Schema of a kind of file.

use super::format;
use std::process::ExitCode;

/// The published schema of component files.
const COMPONENT_SCHEMA: &str = include_str!("../../../schemas/component.schema.json");

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum PrintedSchemaKind {
    /// components/*.component.yaml and .json
    Component,
}

pub(super) fn run(of: PrintedSchemaKind) -> ExitCode {
    match of {
        PrintedSchemaKind::Component => format::print(COMPONENT_SCHEMA),
    }
    ExitCode::SUCCESS
}
