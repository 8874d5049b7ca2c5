//! Which workspace a command means, and how to reach it: through a running Draftboard if there is one, else directly.

use super::alone::{self, Alone};
use crate::{host::ask, renderer_link::user_name, terminal::Client};
use processes::{DiscoveryRecord, LockError, RuntimeDirs, WorkspaceLock, instance};
use shared_protocol::{
    Actor, ActorKind, Code, Refusal,
    messages::{Answer, Request},
};
use std::path::{Path, PathBuf};
use workspace::now;
use workspace::{OpenError, Workspace};

/// The named folder, or the nearest one upwards that is a workspace.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, Refusal> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let here = std::env::current_dir().map_err(|error| Refusal::new(Code::NotFound, error.to_string()))?;
    let found = here.ancestors().find(|folder| folder.join("draftboard.toml").is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        Refusal::new(Code::NoWorkspace, "there is no workspace here")
            .hint("Name one with --workspace, or make one with `draftboard new FOLDER`.")
    })
}

/// Where requests go.
pub(super) enum Reached {
    Running(Box<Client>),
    Direct { workspace: Box<Workspace>, terraform: Option<Alone>, _lock: WorkspaceLock },
}

impl Reached {
    pub(super) fn workspace(root: &Path) -> Result<Self, Refusal> {
        if !root.join("draftboard.toml").exists() {
            return Err(OpenError::no_workspace(root).into());
        }
        if let Some(client) = running(root)? {
            return Ok(Self::Running(Box::new(client)));
        }
        match WorkspaceLock::acquire(root) {
            Ok(lock) => {
                let workspace = Box::new(Workspace::open(root, now())?);
                Ok(Self::Direct { workspace, terraform: None, _lock: lock })
            }
            Err(error @ LockError::Held { .. }) => Err(Refusal::new(Code::Conflict, error.to_string())
                .hint("Another command may be at work: try again.")),
            Err(error) => Err(Refusal::new(Code::StorageError, error.to_string())),
        }
    }

    pub(super) fn request(&mut self, request: Request) -> Result<Answer, Refusal> {
        match self {
            Self::Running(client) => Ok(client.request(request)?),
            Self::Direct { workspace, terraform, .. } => {
                let actor = Actor::new(ActorKind::Terminal, user_name());
                match request {
                    Request::Terraform(request) => alone::ask(workspace, terraform, request, &actor),
                    other => ask(workspace, &other, &actor, now()).result,
                }
            }
        }
    }
}

/// The running Draftboard that is meant: that of the named workspace, of the one around the current folder, or the only one.
pub(super) fn instance(named: Option<&Path>) -> Result<DiscoveryRecord, Refusal> {
    let unavailable = |error: String| Refusal::new(Code::StorageError, error);
    let dirs = RuntimeDirs::of_user();
    if let Ok(root) = find(named) {
        let record = instance::find(dirs.usable(), &root).map_err(|error| unavailable(error.to_string()))?;
        return record.ok_or_else(|| {
            let root = root.display();
            Refusal::new(Code::NotFound, format!("no Draftboard has {root} open: {dirs}")).hint(format!(
                "Open it with `draftboard {root}`, or without a window with `draftboard serve {root}`."
            ))
        });
    }
    let mut records = instance::list(dirs.usable()).map_err(|error| unavailable(error.to_string()))?;
    match (records.len(), records.pop()) {
        (1, Some(only)) => Ok(only),
        (0, _) | (_, None) => Err(Refusal::new(Code::NotFound, format!("no Draftboard is running: {dirs}")).hint(
            "Start it with `draftboard WORKSPACE`, or without a window with `draftboard serve WORKSPACE`.",
        )),
        (count, Some(last)) => {
            let others = records.iter().map(|record| record.workspace.display().to_string());
            let all: Vec<String> = others.chain([last.workspace.display().to_string()]).collect();
            let message = format!("{count} Draftboards are running: {}", all.join(", "));
            Err(Refusal::new(Code::BadRequest, message).hint("Name one with `--workspace PATH`."))
        }
    }
}

/// A client of the Draftboard that has this workspace open, if there is one.
pub(super) fn running(root: &Path) -> Result<Option<Client>, Refusal> {
    let unavailable = |error: String| Refusal::new(Code::StorageError, error);
    let dirs = RuntimeDirs::of_user();
    let record = instance::find(dirs.usable(), root).map_err(|error| unavailable(error.to_string()))?;
    record.map(|record| Client::connect(&record)).transpose().map_err(Refusal::from)
}
