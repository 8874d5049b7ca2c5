//! `draftboard new`: creates a workspace.

use super::format;
use shared_protocol::{BoardId, Refusal, RefusalCode};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use workspace::{WorkspaceTemplate, create, time_and_seed};

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum TemplateArgument {
    /// One empty infrastructure board
    Blank,
    /// A three-tier architecture, an interface and a spec
    Example,
    /// A three-tier architecture
    ThreeTier,
    /// An interface
    Interface,
    /// A spec
    Spec,
}

impl From<TemplateArgument> for WorkspaceTemplate {
    fn from(argument: TemplateArgument) -> Self {
        match argument {
            TemplateArgument::Blank => Self::Blank,
            TemplateArgument::Example => Self::Example,
            TemplateArgument::ThreeTier => Self::ThreeTier,
            TemplateArgument::Interface => Self::Interface,
            TemplateArgument::Spec => Self::Spec,
        }
    }
}

pub(super) fn run(folder: &Path, template: TemplateArgument, json: bool) -> ExitCode {
    match create(folder, template.into(), BoardId::from_bits(time_and_seed().seed)) {
        Ok(()) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| PathBuf::from(folder));
            if json {
                format::print_json(&serde_json::json!({ "ok": true, "data": { "workspace": folder } }));
            } else {
                format::print(&format!(
                    "{}\nOpen it with: draftboard {}",
                    folder.display(),
                    folder.display()
                ));
            }
            ExitCode::SUCCESS
        }
        Err(error) => format::refuse(&Refusal::new(RefusalCode::BadRequest, error.to_string()), json),
    }
}
