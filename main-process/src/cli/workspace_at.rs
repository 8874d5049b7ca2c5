//! The workspace of a command: reached through a running Draftboard if there is one, else opened directly.

use super::standalone_terraform::{self, StandaloneTerraform};
use crate::{
    device_keys,
    local_user::user_name,
    writer::{WorkspaceRequest, WorkspaceTurn},
};
use processes::{DiscoveryRecord, LockError, RuntimeDirs, WorkspaceLock, instance};
use shared_protocol::{
    Actor, ActorKind, Refusal, RefusalCode,
    request::{Request, Responder},
    requests::{ImportBoard, ImportedBoard, WorkbenchRequest},
};
use std::path::{Path, PathBuf};
use terminal_client::TerminalClient;
use terraform_runs::TerraformRequest;
use workspace::{OpenWorkspaceError, Workspace, time_and_seed};

/// The named folder, or the nearest one upwards that is a workspace.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, Refusal> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let here =
        std::env::current_dir().map_err(|error| Refusal::new(RefusalCode::NotFound, error.to_string()))?;
    let found = here.ancestors().find(|folder| folder.join("draftboard.toml").is_file());
    found.map(Path::to_owned).ok_or_else(|| {
        Refusal::new(RefusalCode::NoWorkspace, "there is no workspace here")
            .hint("Set one with --workspace, or create one with `draftboard new FOLDER`.")
    })
}

/// A workspace that a command reached.
pub(super) enum ReachedWorkspace {
    /// Open in a running Draftboard.
    Running(Box<TerminalClient>),
    /// Opened by this command, which has it to itself.
    Direct { workspace: Box<Workspace>, terraform: StandaloneTerraform, _lock: WorkspaceLock },
}

impl ReachedWorkspace {
    /// The named workspace, or the one around the current folder.
    pub(super) fn resolve(named: Option<&Path>) -> Result<Self, Refusal> {
        Self::open(&find(named)?)
    }

    fn open(root: &Path) -> Result<Self, Refusal> {
        if !root.join("draftboard.toml").exists() {
            return Err(OpenWorkspaceError::no_workspace(root).into());
        }
        if let Some(client) = connect_to_running(root)? {
            return Ok(Self::Running(Box::new(client)));
        }
        match WorkspaceLock::acquire(root) {
            Ok(lock) => {
                let opened = Workspace::open_signed(
                    root,
                    time_and_seed(),
                    &device_keys::proof_files(),
                    device_keys::key(),
                )?;
                let workspace = Box::new(opened);
                Ok(Self::Direct { workspace, terraform: StandaloneTerraform::default(), _lock: lock })
            }
            Err(error @ LockError::Held { .. }) => {
                Err(Refusal::new(RefusalCode::Conflict, error.to_string())
                    .hint("Another command may be running: try again."))
            }
            Err(error) => Err(Refusal::new(RefusalCode::StorageError, error.to_string())),
        }
    }

    /// Sends a request that concerns the workspace alone.
    pub(super) fn request<R>(&mut self, request: R) -> Result<R::Response, Refusal>
    where
        R: WorkspaceRequest<Frame = WorkbenchRequest>,
    {
        match self {
            Self::Running(client) => Ok(client.request(request)?),
            Self::Direct { workspace, .. } => {
                let actor = terminal_actor();
                let mut turn =
                    WorkspaceTurn { workspace, actor: &actor, moment: time_and_seed(), patches: Vec::new() };
                request.handle(&mut turn)
            }
        }
    }

    /// Sends a request about Terraform, which also works without a running Draftboard.
    pub(super) fn terraform<R>(&mut self, request: R) -> Result<R::Response, Refusal>
    where
        R: Request<Frame = WorkbenchRequest>,
        TerraformRequest: From<(R, Responder<R::Response>)>,
    {
        match self {
            Self::Running(client) => Ok(client.request(request)?),
            Self::Direct { workspace, terraform, .. } => {
                terraform.request(workspace, request, terminal_actor())
            }
        }
    }

    /// Imports a folder, also without a running Draftboard.
    pub(super) fn import(&mut self, request: ImportBoard) -> Result<ImportedBoard, Refusal> {
        match self {
            Self::Running(client) => Ok(client.request(request)?),
            Self::Direct { workspace, .. } => {
                standalone_terraform::import(workspace, &request, &terminal_actor())
            }
        }
    }

    /// Sends a request that only a running Draftboard can handle.
    pub(super) fn send_to_running<R: Request<Frame = WorkbenchRequest>>(
        &mut self,
        request: R,
    ) -> Result<R::Response, Refusal> {
        match self {
            Self::Running(client) => Ok(client.request(request)?),
            Self::Direct { .. } => Err(needs_running()),
        }
    }
}

fn terminal_actor() -> Actor {
    Actor::new(ActorKind::Terminal, user_name())
}

fn needs_running() -> Refusal {
    Refusal::new(RefusalCode::BadRequest, "this command needs a running Draftboard")
        .hint("Start one with `draftboard WORKSPACE`, or without a window with `draftboard serve WORKSPACE`.")
}

/// The running Draftboard of the named workspace, of the one around the current folder, or the only one.
pub(super) fn instance(named: Option<&Path>) -> Result<DiscoveryRecord, Refusal> {
    let unavailable = |error: String| Refusal::new(RefusalCode::StorageError, error);
    let dirs = RuntimeDirs::of_user();
    if let Ok(root) = find(named) {
        let record =
            instance::find(dirs.directories(), &root).map_err(|error| unavailable(error.to_string()))?;
        return record.ok_or_else(|| {
            let root = root.display();
            Refusal::new(RefusalCode::NotFound, format!("no Draftboard has {root} open: {dirs}")).hint(
                format!(
                    "Open it with `draftboard {root}`, or without a window with `draftboard serve {root}`."
                ),
            )
        });
    }
    let mut records = instance::list(dirs.directories()).map_err(|error| unavailable(error.to_string()))?;
    match (records.len(), records.pop()) {
        (1, Some(only)) => Ok(only),
        (0, _) | (_, None) => Err(Refusal::new(
            RefusalCode::NotFound,
            format!("no Draftboard is running: {dirs}"),
        )
        .hint(
            "Start it with `draftboard WORKSPACE`, or without a window with `draftboard serve WORKSPACE`.",
        )),
        (count, Some(last)) => {
            let others = records.iter().map(|record| record.workspace.display().to_string());
            let all: Vec<String> = others.chain([last.workspace.display().to_string()]).collect();
            let message = format!("{count} Draftboards are running: {}", all.join(", "));
            Err(Refusal::new(RefusalCode::BadRequest, message).hint("Name one with `--workspace PATH`."))
        }
    }
}

/// A client of the Draftboard that has this workspace open, if there is one.
pub(super) fn connect_to_running(root: &Path) -> Result<Option<TerminalClient>, Refusal> {
    let unavailable = |error: String| Refusal::new(RefusalCode::StorageError, error);
    let dirs = RuntimeDirs::of_user();
    let record = instance::find(dirs.directories(), root).map_err(|error| unavailable(error.to_string()))?;
    record.map(|record| TerminalClient::connect(&record)).transpose().map_err(Refusal::from)
}
