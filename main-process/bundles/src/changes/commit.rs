//! Writes a plan atomically.

use super::{
    intent,
    plan::{FileEdit, Plan},
};
use crate::{
    Bundles, Data,
    envelope::{Code, Refusal},
    files::{BundleFiles, FileProblem},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    #[error("the plan cannot be applied because some of its changes failed")]
    Impossible,
    #[error("the plan is a dry run: plan again with dryRun: false")]
    DryRun,
    #[error("the bundle {id} is no longer loaded")]
    NoBundle { id: String },
    #[error("{path} changed since it was read: read it again, then repeat the change")]
    Stale { path: String },
    #[error("nothing was changed: {0}")]
    Failed(FileProblem),
    #[error("{0}; the change is recorded and will be finished when the bundle is loaded again")]
    Unfinished(FileProblem),
}

impl CommitError {
    /// Converts the error to the tool's refusal.
    pub fn refusal(&self) -> Refusal {
        let code = match self {
            Self::Stale { .. } => Code::Stale,
            Self::NoBundle { .. } => Code::NotFound,
            Self::Impossible | Self::DryRun => Code::ValidationError,
            Self::Failed(_) | Self::Unfinished(_) => Code::Internal,
        };
        let refusal = Refusal::new(code, self.to_string());
        match self {
            Self::Stale { path } => refusal.with(Data::map([("path", path.as_str().into())])),
            _ => refusal,
        }
    }
}

/// Writes a plan and updates the loaded bundle. After an error nothing is changed, unless the error says otherwise.
pub fn commit(bundles: &mut Bundles, plan: &Plan) -> Result<(), CommitError> {
    if plan.is_dry_run() {
        return Err(CommitError::DryRun);
    }
    if !plan.is_possible() {
        return Err(CommitError::Impossible);
    }
    let id = plan.bundle_id();
    let bundle = bundles.get_mut(id).ok_or_else(|| CommitError::NoBundle { id: id.to_owned() })?;
    let written = write(&bundle.files, plan.edits());
    // Reloads the files in any case, so that the model matches the disk.
    for edit in plan.edits() {
        let (folders, name) = edit.path.split();
        let kind = (0..bundle.kinds.len())
            .find(|&kind| bundle.kinds[kind].folder.as_ref().is_some_and(|folder| folder.parts() == folders));
        if let Some(kind) = kind {
            bundle.reload_entity(kind, name);
        }
    }
    written
}

fn write(files: &BundleFiles, edits: &[FileEdit]) -> Result<(), CommitError> {
    if edits.iter().all(|edit| edit.before.as_deref() == edit.after.as_deref()) {
        return Ok(());
    }
    let _lock = files.lock(true).map_err(CommitError::Failed)?;
    for edit in edits {
        let now = match files.read(&edit.path) {
            Ok(file) => Some(file.text),
            Err(FileProblem::Missing { .. }) => None,
            Err(problem) => return Err(CommitError::Failed(problem)),
        };
        if now.as_deref() != edit.before.as_deref() {
            return Err(CommitError::Stale { path: edit.path.to_string() });
        }
    }
    let paths = edits.iter().map(|edit| &edit.path);
    if let [only] = edits {
        // Replacing a single file is atomic.
        files.put(&only.path, only.after.as_deref()).map_err(CommitError::Failed)?;
        return files.sync_folders_of(paths).map_err(CommitError::Failed);
    }
    // A crash after this line is recovered by completing the batch; a crash before it changes nothing.
    intent::record(files, edits).map_err(CommitError::Failed)?;
    for (done, edit) in edits.iter().enumerate() {
        if let Err(problem) = files.put(&edit.path, edit.after.as_deref()) {
            return Err(undo(files, &edits[..done], problem));
        }
    }
    files.sync_folders_of(paths).and_then(|()| intent::forget(files)).map_err(CommitError::Unfinished)
}

/// Restores the files that were written before a failure.
fn undo(files: &BundleFiles, done: &[FileEdit], problem: FileProblem) -> CommitError {
    let restored = done.iter().try_for_each(|edit| files.put(&edit.path, edit.before.as_deref()));
    let restored = restored.and_then(|()| files.sync_folders_of(done.iter().map(|edit| &edit.path)));
    // The removal of the record must be durable, or recovery would apply the batch after all.
    let forgotten = restored
        .and_then(|()| intent::forget(files))
        .and_then(|()| files.sync_folders_of([&intent::place()?]));
    match forgotten {
        Ok(()) => CommitError::Failed(problem),
        Err(_) => CommitError::Unfinished(problem),
    }
}
