//! `draftboard manifest`: checks tool manifests without calling anything, and decides about those of the running Draftboard
//! with the code that it shows elsewhere.

use super::{
    WorkspaceArguments, format,
    review::{self, person_is_here},
    server::{PolicyArgument, ServerCommandSession},
    workspace_at,
};
use clap::Subcommand;
use safe_fs::SafeFolder;
use serde_json::{Value, json};
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::{ApproveManifest, SetManifestSecret},
    managed_servers::{ManifestBrief, TypedSecret},
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use user_folders as paths;

pub(super) const HELP: &str = "Commands that let an agent make calls ask for a code. The running Draftboard shows it in its window or terminal.\n\n\
    Examples:\n  draftboard manifest check\n  draftboard manifest check manifests/weather.json --json\n  \
    draftboard manifest approve manifests/weather.json\n  draftboard manifest secret weather api_key\n  \
    draftboard manifest policy draftboard_forecast allow";

#[derive(Debug, Subcommand)]
pub(super) enum ManifestSubcommand {
    /// Lists the tools and problems of each file; exit code 1 if there are problems
    #[command(
        after_help = "Problems are duplicate names, tools without an implementation and invalid schemas. Tools hidden on purpose \
            are not.\n\nExamples:\n  draftboard manifest check\n  \
            draftboard manifest check manifests/weather.json"
    )]
    Check {
        /// A file or a folder [default: your own manifests and those of the workspace]
        place: Option<PathBuf>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Approves the current version of a manifest for agents; asks for a code
    #[command(after_help = "Example: draftboard manifest approve manifests/weather.json")]
    Approve {
        /// The file or the id of the manifest
        manifest: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Sets the policy for agents' calls to a manifest tool: ask, allow or deny; asks for a code
    #[command(after_help = "Example: draftboard manifest policy draftboard_forecast allow")]
    Policy {
        /// The tool's name for agents
        tool: String,
        /// The policy
        #[arg(value_enum)]
        policy: PolicyArgument,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Sets a credential of a manifest, read from standard input; asks for a code
    #[command(
        after_help = "The credential is plain text, or a JSON object on one line.\n\nExample: draftboard manifest secret weather api_key"
    )]
    Secret {
        /// The file or the id of the manifest
        manifest: String,
        /// The id of the credential in the manifest
        credential: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
}

pub(super) fn run(asked: &ManifestSubcommand) -> ExitCode {
    let (at, done) = match asked {
        ManifestSubcommand::Check { place, at } => (at, check(place.as_deref(), at)),
        ManifestSubcommand::Approve { manifest, at } => (at, approve(manifest, at)),
        ManifestSubcommand::Policy { tool, policy, at } => (
            at,
            ServerCommandSession::connect(at)
                .and_then(|mut session| session.manifest_policy(tool, (*policy).into())),
        ),
        ManifestSubcommand::Secret { manifest, credential, at } => (at, secret(manifest, credential, at)),
    };
    done.unwrap_or_else(|refusal| format::refuse(&refusal, at.json))
}

fn check(place: Option<&Path>, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    let found = check_manifests_at(place, at)?;
    let is_wrong = found
        .iter()
        .any(|manifest| manifest.problem.is_some() || manifest.tools.iter().any(|tool| tool.is_mistake));
    if at.json {
        format::print_json(&json!({ "ok": !is_wrong, "data": found }));
    } else {
        format::print_visible(&format_manifests(&found));
    }
    Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn approve(named: &str, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    person_is_here()?;
    let mut session = ServerCommandSession::connect(at)?;
    let manifest = find(&mut session, named)?;
    if let Some(problem) = &manifest.problem {
        return Err(Refusal::new(
            RefusalCode::Conflict,
            format!("{} has a problem: {problem}", manifest.path),
        )
        .hint("Correct the file; it reloads automatically."));
    }
    if !manifest.needs_approval {
        return session.print(&Value::Null, || format!("{} needs no approval", manifest.path));
    }
    let hash = manifest.hash.clone().ok_or_else(unreadable)?;
    // On standard error: the person must see it, also when the output is redirected.
    review::print_line(&format_manifests(std::slice::from_ref(&manifest)));
    session.decide(ApproveManifest { hash })?;
    session.print(&Value::Null, || format!("Approved {}", manifest.path))
}

fn secret(named: &str, credential: &str, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    person_is_here()?;
    let mut session = ServerCommandSession::connect(at)?;
    let manifest = find(&mut session, named)?;
    if !manifest.credentials.iter().any(|known| known.id == credential) {
        let message = format!("{} has no credential {credential}", manifest.path);
        let known = manifest.credentials.iter().map(|known| known.id.clone());
        return Err(Refusal::new(RefusalCode::NotFound, message).suggest(known));
    }
    let id = manifest.id.clone().ok_or_else(unreadable)?;
    let typed = TypedSecret(review::prompt_secret(&format!("Credential {credential} of {id}: "))?);
    let credential = credential.to_owned();
    session.decide(SetManifestSecret { manifest: id, credential, secret: typed })?;
    session.print(&Value::Null, || "Saved the credential".to_owned())
}

fn unreadable() -> Refusal {
    Refusal::new(RefusalCode::Conflict, "the manifest cannot be read")
        .hint("Correct the file; it reloads automatically.")
}

/// By its file or its id, among those that the running Draftboard has read.
fn find(session: &mut ServerCommandSession, named: &str) -> Result<ManifestBrief, Refusal> {
    let view = session.view()?;
    let path = std::path::absolute(named).map(|path| path.canonicalize().unwrap_or(path)).ok();
    let is_it = |manifest: &&ManifestBrief| {
        let known = Path::new(&manifest.path);
        let is_file =
            path.as_deref().is_some_and(|path| known.canonicalize().is_ok_and(|known| known == path));
        is_file || (manifest.id.as_deref() == Some(named) && manifest.problem.is_none())
    };
    view.manifests.iter().find(is_it).cloned().ok_or_else(|| {
        let known = view.manifests.iter().filter_map(|manifest| manifest.id.clone());
        Refusal::new(
            RefusalCode::NotFound,
            format!("there is no manifest {named:.200} in the running Draftboard"),
        )
        .suggest(known)
        .hint("`draftboard server list` lists all manifests.")
    })
}

fn check_manifests_at(place: Option<&Path>, at: &WorkspaceArguments) -> Result<Vec<ManifestBrief>, Refusal> {
    let places = match place {
        Some(place) if !place.exists() => {
            return Err(Refusal::new(RefusalCode::NotFound, format!("{} does not exist", place.display())));
        }
        Some(place) => vec![place.to_owned()],
        None => {
            let workspace = workspace_at::find(at.workspace.as_deref()).ok();
            let shared = workspace.map(|root| root.canonicalize().unwrap_or(root).join("manifests"));
            // A link that came with the workspace leads elsewhere.
            if let Some(Err(error)) = shared.as_deref().map(SafeFolder::open)
                && !error.problem.is_missing()
            {
                return Err(Refusal::new(RefusalCode::StorageError, error.to_string()));
            }
            std::iter::once(paths::config_folder().join("manifests")).chain(shared).collect()
        }
    };
    Ok(managed_servers::check_manifests(&places))
}

fn format_manifests(found: &[ManifestBrief]) -> String {
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
                Some(why) if tool.is_mistake => format!("  ! {}: {why}", tool.name),
                Some(why) if tool.does.is_empty() => format!("  - {}: hidden, {why}", tool.name),
                Some(why) => format!("  - {} {}: hidden, {why}", tool.name, tool.does),
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
