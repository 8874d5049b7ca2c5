//! Writes a plan atomically.

use super::{
    plan::{BundleChangePlan, PlannedFileEdit},
    write_ahead,
};
use crate::{
    Bundles,
    files::{BundleFileError, BundleFiles},
};
use shared_protocol::{Refusal, RefusalCode};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleCommitError {
    #[error("the plan cannot be applied because some of its changes failed")]
    Impossible,
    #[error("the plan is a dry run: plan again with dryRun: false")]
    DryRun,
    #[error("the bundle {id} is no longer loaded")]
    NoBundle { id: String },
    #[error("{path} changed since it was read: read it again, then repeat the change")]
    Stale { path: String },
    #[error("nothing was changed: {0}")]
    Failed(BundleFileError),
    #[error("{0}; the change is recorded and will be finished when the bundle is loaded again")]
    Unfinished(BundleFileError),
}

impl BundleCommitError {
    /// Converts the error to the tool's refusal.
    pub fn to_refusal(&self) -> Refusal {
        let code = match self {
            Self::Stale { .. } => RefusalCode::Stale,
            Self::NoBundle { .. } => RefusalCode::NotFound,
            Self::Impossible | Self::DryRun => RefusalCode::ValidationError,
            Self::Failed(_) | Self::Unfinished(_) => RefusalCode::Internal,
        };
        let refusal = Refusal::new(code, self.to_string());
        match self {
            Self::Stale { path } => refusal.details([("path", path.as_str().into())]),
            _ => refusal,
        }
    }
}

/// Writes a plan and updates the loaded bundle. After an error nothing is changed, unless the error says otherwise.
pub fn commit(bundles: &mut Bundles, plan: &BundleChangePlan) -> Result<(), BundleCommitError> {
    if plan.is_dry_run() {
        return Err(BundleCommitError::DryRun);
    }
    if !plan.is_possible() {
        return Err(BundleCommitError::Impossible);
    }
    let id = plan.bundle_id();
    let bundle = bundles.get_mut(id).ok_or_else(|| BundleCommitError::NoBundle { id: id.to_owned() })?;
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

fn write(files: &BundleFiles, edits: &[PlannedFileEdit]) -> Result<(), BundleCommitError> {
    if edits.iter().all(|edit| edit.before.as_deref() == edit.after.as_deref()) {
        return Ok(());
    }
    let _lock = files.lock(true).map_err(BundleCommitError::Failed)?;
    for edit in edits {
        let now = match files.read(&edit.path) {
            Ok(file) => Some(file.text),
            Err(BundleFileError::Missing { .. }) => None,
            Err(problem) => return Err(BundleCommitError::Failed(problem)),
        };
        if now.as_deref() != edit.before.as_deref() {
            return Err(BundleCommitError::Stale { path: edit.path.to_string() });
        }
    }
    let paths = edits.iter().map(|edit| &edit.path);
    if let [only] = edits {
        // Replacing a single file is atomic.
        files.write_or_remove(&only.path, only.after.as_deref()).map_err(BundleCommitError::Failed)?;
        return files.sync_folders_of(paths).map_err(BundleCommitError::Failed);
    }
    // A crash after this line is recovered by completing the batch; a crash before it changes nothing.
    write_ahead::write_record(files, edits).map_err(BundleCommitError::Failed)?;
    for (done, edit) in edits.iter().enumerate() {
        if let Err(problem) = files.write_or_remove(&edit.path, edit.after.as_deref()) {
            return Err(roll_back(files, &edits[..done], problem));
        }
    }
    files
        .sync_folders_of(paths)
        .and_then(|()| write_ahead::remove_record(files))
        .map_err(BundleCommitError::Unfinished)
}

/// Restores the files that were written before a failure.
fn roll_back(files: &BundleFiles, done: &[PlannedFileEdit], problem: BundleFileError) -> BundleCommitError {
    let restored = done.iter().try_for_each(|edit| files.write_or_remove(&edit.path, edit.before.as_deref()));
    let restored = restored.and_then(|()| files.sync_folders_of(done.iter().map(|edit| &edit.path)));
    // The removal of the record must be durable, or recovery would apply the batch after all.
    let forgotten = restored
        .and_then(|()| write_ahead::remove_record(files))
        .and_then(|()| files.sync_folders_of([&write_ahead::record_path()?]));
    match forgotten {
        Ok(()) => BundleCommitError::Failed(problem),
        Err(_) => BundleCommitError::Unfinished(problem),
    }
}
