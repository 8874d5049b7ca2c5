//! Choosing a workspace: the recent ones with their problems, a new one, the example, and the fallback when the last one does
//! not open.

use super::{Session, WorkspaceSessionError};
use processes::LockError;
use shared_protocol::{
    Actor, BoardId, Refusal, RefusalCode,
    messages::{RecentWorkspace, WelcomeFolder},
    requests::ImportedBoard,
    review::ApprovalScope,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use user_folders as paths;
use workspace::time_and_seed;
use workspace::{
    CreateWorkspaceError, WorkspaceTemplate, create, create_empty, free_path_beside, has_terraform,
    unpack_example,
};

/// The workspace to start with.
pub(crate) struct LaunchTarget {
    pub(crate) session: Session,
    /// Shows the welcome page over the workspace.
    pub(crate) welcome: Option<WelcomeState>,
    /// Workspaces that did not open, with the reason.
    pub(crate) failed: FailedWorkspaces,
    /// The standing approval of this run.
    pub(crate) approval: Option<ApprovalScope>,
}

/// The welcome page.
#[derive(Default)]
pub(crate) struct WelcomeState {
    /// The named folder, when it is no workspace.
    pub(crate) folder: Option<WelcomeFolder>,
}

impl LaunchTarget {
    /// Starts with the requested workspace.
    pub(crate) fn from_session(session: Session) -> Self {
        Self { session, welcome: None, failed: FailedWorkspaces::new(), approval: None }
    }
}

pub(crate) type FailedWorkspaces = BTreeMap<PathBuf, String>;

/// Opens the last workspace, or the example when there is none or it does not open. A workspace that is open elsewhere is an
/// error, because it has a window already.
pub(crate) fn launch() -> Result<LaunchTarget, (PathBuf, WorkspaceSessionError)> {
    let mut failed = FailedWorkspaces::new();
    if let Some(last) = paths::recent().into_iter().next() {
        match Session::open(&last) {
            Ok(session) => return Ok(LaunchTarget::from_session(session)),
            Err(error @ WorkspaceSessionError::Lock(LockError::Held { .. })) => return Err((last, error)),
            Err(error) => {
                tracing::warn!(%error, workspace = %last.display(), "the last workspace did not open");
                failed.insert(last, error.to_string());
            }
        }
    }
    let example = paths::example();
    let session = open_example().map_err(|error| (example, error))?;
    // The user did not choose the example.
    Ok(LaunchTarget { session, welcome: Some(WelcomeState::default()), failed, approval: None })
}

/// Opens a named workspace. For a folder that is none, shows the welcome page with the choices for it over another workspace;
/// returns the error when no workspace opens.
pub(crate) fn launch_at(root: &Path) -> Result<LaunchTarget, (PathBuf, WorkspaceSessionError)> {
    let error = match Session::open(root) {
        Ok(session) => return Ok(LaunchTarget::from_session(session)),
        Err(error) => error,
    };
    let Some(folder) = plain_folder(root) else { return Err((root.to_owned(), error)) };
    let opened = paths::recent().iter().find_map(|recent| Session::open(recent).ok());
    match opened.map_or_else(open_example, Ok) {
        Ok(session) => {
            let welcome = Some(WelcomeState { folder: Some(folder) });
            Ok(LaunchTarget { welcome, ..LaunchTarget::from_session(session) })
        }
        Err(_) => Err((root.to_owned(), error)),
    }
}

/// Describes a folder that is no workspace; `None` for anything else.
pub(super) fn plain_folder(root: &Path) -> Option<WelcomeFolder> {
    if !root.is_dir() || root.join("draftboard.toml").exists() {
        return None;
    }
    let path = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let has_terraform = has_terraform(root);
    Some(WelcomeFolder { path: path.display().to_string(), has_terraform, is_workspace: false })
}

pub(super) fn open_example() -> Result<Session, WorkspaceSessionError> {
    let example = paths::example();
    unpack_example(&example, BoardId::from_bits(time_and_seed().seed))?;
    Session::open(&example)
}

pub(super) fn create_at(path: &Path, template: WorkspaceTemplate) -> Result<(), Refusal> {
    create(path, template, BoardId::from_bits(time_and_seed().seed)).map_err(create_refusal)
}

/// Creates a workspace beside a folder with the board that is imported from it. Leaves nothing behind when that fails.
pub(super) fn import_beside(folder: &Path, actor: &Actor) -> Result<(Session, ImportedBoard), Refusal> {
    let place = free_path_beside(folder);
    let imported = create_for_import(folder, &place).and_then(|()| import_into(folder, &place, actor));
    imported.map_err(|refusal| {
        // The folder did not exist before, so all of it is ours.
        if let Err(error) = std::fs::remove_dir_all(&place)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return refusal.hint(format!("{} is left over and can be removed: {error}.", place.display()));
        }
        refusal
    })
}

fn import_into(folder: &Path, place: &Path, actor: &Actor) -> Result<(Session, ImportedBoard), Refusal> {
    let mut session = Session::open_unlisted(place)?;
    let (files, snapshot) = (Arc::clone(session.workspace.files()), session.workspace.snapshot().clone());
    let apply =
        |mutation| session.workspace.execute(&mutation, actor, time_and_seed()).map(|(applied, _)| applied);
    match terraform_runs::import(&files, &snapshot, folder, None, time_and_seed(), apply) {
        Ok(answer) => {
            session.list();
            Ok((session, answer))
        }
        Err(refusal) => {
            session.close();
            Err(refusal.hint("No workspace was created. Fix the files, then import the folder again."))
        }
    }
}

fn create_for_import(folder: &Path, path: &Path) -> Result<(), Refusal> {
    if !has_terraform(folder) {
        let message = format!("{} contains neither .tf files nor a TerraStudio project", folder.display());
        return Err(Refusal::new(RefusalCode::NotFound, message)
            .hint("Choose the folder that contains the .tf files. Subfolders are not imported."));
    }
    create_empty(path).map_err(create_refusal)
}

fn create_refusal(error: CreateWorkspaceError) -> Refusal {
    let code = match error {
        CreateWorkspaceError::Exists(_) => RefusalCode::Conflict,
        CreateWorkspaceError::Folder { .. } | CreateWorkspaceError::File(_) => RefusalCode::StorageError,
    };
    Refusal::new(code, error.to_string())
}

/// The recent workspaces with their problems. Reads the disk, so it must not run on the writer's thread.
pub(super) fn recents(failed: &FailedWorkspaces) -> Vec<RecentWorkspace> {
    let recent = |path: PathBuf| {
        let problem = failed.get(&path).cloned().or_else(|| problem_of(&path));
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        RecentWorkspace { path: path.display().to_string(), name, problem }
    };
    paths::recent().into_iter().map(recent).collect()
}

fn problem_of(path: &Path) -> Option<String> {
    if !path.is_dir() {
        return Some("The folder no longer exists.".to_owned());
    }
    let config = path.join("draftboard.toml");
    (!config.is_file()).then(|| "The folder no longer has a draftboard.toml.".to_owned())
}
