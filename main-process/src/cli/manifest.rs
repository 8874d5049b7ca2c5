//! `draftboard manifest check`: tool manifests read as they would be read, without calling anything.

use super::{At, format, workspace_at};
use crate::{paths, upstreams};
use clap::Subcommand;
use serde_json::json;
use shared_protocol::{Code, Refusal, upstreams::ManifestBrief};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(super) const HELP: &str =
    "Examples:\n  draftboard manifest check\n  draftboard manifest check manifests/weather.json --json";

#[derive(Debug, Subcommand)]
pub(super) enum Manifest {
    /// What each file offers and what is wrong with it; exit code 1 when something is
    #[command(
        after_help = "Tools that are hidden on purpose are no mistake.\n\nExamples:\n  draftboard manifest check\n  \
            draftboard manifest check manifests/weather.json"
    )]
    Check {
        /// A file or a folder [default: the user's own manifests and those of the workspace]
        place: Option<PathBuf>,
        #[command(flatten)]
        at: At,
    },
}

pub(super) fn run(asked: &Manifest) -> ExitCode {
    let Manifest::Check { place, at } = asked;
    match checked(place.as_deref(), at) {
        Ok(found) => {
            let is_wrong = found.iter().any(|manifest| manifest.problem.is_some());
            if at.json {
                format::print_json(&json!({ "ok": !is_wrong, "data": found }));
            } else {
                format::print_visible(&words(&found));
            }
            if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}

fn checked(place: Option<&Path>, at: &At) -> Result<Vec<ManifestBrief>, Refusal> {
    let places = match place {
        Some(place) if !place.exists() => {
            return Err(Refusal::new(Code::NotFound, format!("{} does not exist", place.display())));
        }
        Some(place) => vec![place.to_owned()],
        None => {
            let workspace = workspace_at::find(at.workspace.as_deref()).ok();
            let shared = workspace.map(|root| root.join("manifests"));
            std::iter::once(paths::config_folder().join("manifests")).chain(shared).collect()
        }
    };
    Ok(upstreams::check_manifests(&places))
}

fn words(found: &[ManifestBrief]) -> String {
    if found.is_empty() {
        return "No manifests".to_owned();
    }
    let mut lines = Vec::new();
    for manifest in found {
        match &manifest.problem {
            Some(problem) => lines.push(format!("! {}: {problem}", manifest.path)),
            None => lines.push(manifest.path.clone()),
        }
        for tool in &manifest.tools {
            lines.push(match &tool.hidden {
                Some(why) => format!("  - {}: hidden, {why}", tool.name),
                None => format!("  + {} {}", tool.name, tool.does),
            });
        }
        for credential in &manifest.credentials {
            let optional = if credential.optional { ", optional" } else { "" };
            lines.push(format!("    needs the credential {}{optional}", credential.id));
        }
    }
    lines.join("\n")
}
