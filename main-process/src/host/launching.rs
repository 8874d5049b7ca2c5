//! Which workspace: the recent ones with what is wrong with them, a new one, the example, and what to do when the last
//! one does not open.

use super::{Session, SessionError};
use crate::{
    moment::now,
    paths,
    processes::LockError,
    workspace::{NewError, Template, create, unpack_example},
};
use shared_protocol::{BoardId, Code, Refusal, messages::Recent, review::Scope};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What a start without a named workspace found.
pub(crate) struct Launch {
    pub(crate) session: Session,
    /// The designer meant another workspace, which did not open: they should be asked.
    pub(crate) choose: bool,
    /// Workspaces that did not open, and why.
    pub(crate) failed: Failed,
    /// What agents may do in this run without being asked about.
    pub(crate) approval: Option<Scope>,
}

impl Launch {
    /// The workspace that was asked for.
    pub(crate) fn of(session: Session) -> Self {
        Self { session, choose: false, failed: Failed::new(), approval: None }
    }
}

pub(crate) type Failed = BTreeMap<PathBuf, String>;

/// Opens the last workspace, or the example when there is none or it does not open. One that is open elsewhere is an
/// error: its own window is the place for it.
pub(crate) fn launch() -> Result<Launch, (PathBuf, SessionError)> {
    let mut failed = Failed::new();
    if let Some(last) = paths::recent().into_iter().next() {
        match Session::open(&last) {
            Ok(session) => return Ok(Launch::of(session)),
            Err(error @ SessionError::Lock(LockError::Held { .. })) => return Err((last, error)),
            Err(error) => {
                tracing::warn!(%error, workspace = %last.display(), "the last workspace did not open");
                failed.insert(last, error.to_string());
            }
        }
    }
    let example = paths::example();
    let session = open_example().map_err(|error| (example, error))?;
    // The first start shows the example itself; a question comes up only where the last workspace did not.
    Ok(Launch { session, choose: !failed.is_empty(), failed, approval: None })
}

pub(super) fn open_example() -> Result<Session, SessionError> {
    let example = paths::example();
    unpack_example(&example, BoardId::from_bits(now().seed))?;
    Session::open(&example)
}

pub(super) fn create_at(path: &Path, template: Template) -> Result<(), Refusal> {
    create(path, template, BoardId::from_bits(now().seed)).map_err(|error| {
        let code = match error {
            NewError::Exists(_) => Code::Conflict,
            NewError::Folder { .. } | NewError::File(_) => Code::StorageError,
        };
        Refusal::new(code, error.to_string())
    })
}

/// The list as the launcher shows it. Looks at the disk, so not for the writer's own thread.
pub(super) fn recents(failed: &Failed) -> Vec<Recent> {
    let recent = |path: PathBuf| {
        let problem = failed.get(&path).cloned().or_else(|| problem_of(&path));
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Recent { path: path.display().to_string(), name, problem }
    };
    paths::recent().into_iter().map(recent).collect()
}

fn problem_of(path: &Path) -> Option<String> {
    if !path.is_dir() {
        return Some("The folder is not there any more.".to_owned());
    }
    let config = path.join("draftboard.toml");
    (!config.is_file()).then(|| "The folder has no draftboard.toml any more.".to_owned())
}
