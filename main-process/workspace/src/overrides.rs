//! The file of the overrides, in the workbench's own form. The overrides themselves are part of the state; the file is written
//! as soon as an operation changes one, and an edit by another program becomes an operation. A file of an older workbench is
//! read once, where there is none of ours.

use super::{
    notices::NoticeTopic,
    storage::{WorkspaceFileContext, WorkspaceStorage},
};
use authority::{Snapshot, rebase};
use journal::{Digest, FileError, WorkspaceFiles, WorkspacePath};
use shared_protocol::{
    Change, Operation, Override, OverrideKey,
    overrides::{OverrideMap, from_file, to_file},
    v0::PersistedOverridesFile,
};
use std::{collections::BTreeSet, sync::Arc};

/// Ours first, then those of older workbenches.
const FILES: [&str; 3] =
    [".draftboard/overrides.v0.json", ".scaffa/overrides.v0.json", ".skaffa/overrides.v0.json"];

pub(super) fn own_path() -> Option<WorkspacePath> {
    WorkspacePath::parse(FILES[0]).ok()
}

pub(super) fn is_override_file(path: &WorkspacePath) -> bool {
    path.as_str() == FILES[0]
}

#[derive(Debug, Default)]
pub(super) struct OverrideFile {
    /// The content of the file when it was last ours.
    saved_content: Option<OverrideMap>,
    /// The file could not be written.
    behind: bool,
}

/// The overrides of a folder that is opened for the first time. A file that cannot be read is an error, and gets its notice
/// when the files are examined.
pub(super) fn first_overrides(
    files: &WorkspaceFiles,
) -> Result<Option<(WorkspacePath, Digest, OverrideMap)>, FileError> {
    for path in FILES.iter().filter_map(|path| WorkspacePath::parse(*path).ok()) {
        match files.read(&path) {
            Err(FileError::Missing { .. }) => {}
            Ok(bytes) => {
                let found = parse(&path, &bytes)?;
                return Ok(Some((path, Digest::hash(&bytes), found)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl OverrideFile {
    /// Returns the overrides that another program put into the file. Writes the file where it is ours and behind.
    pub(super) fn examine(
        &mut self,
        context: &mut WorkspaceFileContext<'_>,
        time: u64,
    ) -> Option<OverrideMap> {
        match read(context.storage, context.snapshot) {
            Ok(None) => {
                if self.behind || !self.is_written(context) {
                    self.write(context, time);
                } else {
                    context.notices.clear(&NoticeTopic::Overrides);
                }
                None
            }
            Ok(Some(found)) => Some(found),
            Err(error) => {
                // The state stays; the file is set aside before anything is written over it.
                let text = format!("{error}; the previous overrides stay in effect until the file is fixed");
                context.notices.set(NoticeTopic::Overrides, text);
                None
            }
        }
    }

    /// The changes that another program made since the file was last ours, rebased onto the present state. Where both changed
    /// the same override the present one stays, and the file is set aside when it is written.
    pub(super) fn changes_of(&mut self, found: OverrideMap, snapshot: &Snapshot) -> (String, Vec<Change>) {
        let base = self.saved_content.clone().unwrap_or_else(|| overrides_in(snapshot));
        let changes = rebase(snapshot, &differences(&base, &found)).fitting;
        self.saved_content = Some(found);
        let summary = match changes.len() {
            1 => "Edit of an override".to_owned(),
            count => format!("Edit of {count} overrides"),
        };
        (summary, changes)
    }

    /// Writes the file if operations touched an override.
    pub(super) fn write_touched(&mut self, operations: &[Operation], context: &mut WorkspaceFileContext<'_>) {
        let touched = operations.iter().rev().find(|operation| {
            operation.changes.iter().any(|change| matches!(change, Change::Override { .. }))
        });
        if let Some(time) = touched.map(|operation| operation.time) {
            self.write(context, time);
        }
    }

    /// Tries again to write the file if it could not be written.
    pub(super) fn retry(&mut self, context: &mut WorkspaceFileContext<'_>) {
        if self.behind {
            let newest = context.storage.journal.log(1).ok().and_then(|log| log.into_iter().next());
            self.write(context, newest.map_or(0, |entry| entry.time));
        }
    }

    pub(super) fn write(&mut self, context: &mut WorkspaceFileContext<'_>, time: u64) {
        let WorkspaceFileContext { storage, snapshot, notices } = context;
        let Some(path) = own_path().filter(|_| !storage.files.is_read_only()) else { return };
        match try_write(&path, storage, snapshot, time) {
            Ok(Some(content)) => {
                *self = Self { saved_content: Some(overrides_in(snapshot)), behind: false };
                notices.clear(&NoticeTopic::Overrides);
                if let Err(error) = storage.journal.record_content(&[(path, content)]) {
                    tracing::warn!(%error, "written overrides are not on record");
                }
            }
            Ok(None) => {}
            Err(error) => {
                self.behind = true;
                notices.set(NoticeTopic::Overrides, error.to_string());
            }
        }
    }

    fn is_written(&self, context: &WorkspaceFileContext<'_>) -> bool {
        let held = overrides_in(context.snapshot);
        match (&self.saved_content, own_path()) {
            (Some(written), _) => *written == held,
            (None, Some(path)) => match context.storage.files.read(&path).ok() {
                Some(bytes) => parse(&path, &bytes).is_ok_and(|found| found == held),
                None => held.is_empty(),
            },
            (None, None) => true,
        }
    }
}

/// The overrides in a file that is not as we left it; `None` for a file that is ours or missing.
fn read(storage: &WorkspaceStorage, snapshot: &Snapshot) -> Result<Option<OverrideMap>, FileError> {
    let Some(own) = own_path() else { return Ok(None) };
    let recorded = recorded_digest(&own, storage)?;
    match storage.files.read(&own) {
        Ok(bytes) if recorded == Some(Digest::hash(&bytes)) => Ok(None),
        Ok(bytes) => parse(&own, &bytes).map(Some),
        Err(FileError::Missing { .. }) if recorded.is_some() => Ok(Some(OverrideMap::new())),
        // There never was one of ours: perhaps one of an older workbench.
        Err(FileError::Missing { .. }) if snapshot.overrides().next().is_none() => {
            Ok(first_overrides(&storage.files)?.map(|(_, _, found)| found))
        }
        Err(FileError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn recorded_digest(path: &WorkspacePath, storage: &WorkspaceStorage) -> Result<Option<Digest>, FileError> {
    let failed = |error: journal::JournalError| FileError::Failed {
        path: path.to_string(),
        problem: error.to_string(),
    };
    storage.journal.file_record(path).map(|known| known.recorded).map_err(failed)
}

fn try_write(
    path: &WorkspacePath,
    storage: &WorkspaceStorage,
    snapshot: &Snapshot,
    time: u64,
) -> Result<Option<Digest>, FileError> {
    let recorded = recorded_digest(path, storage)?;
    match storage.files.read(path) {
        Err(FileError::Missing { .. }) if snapshot.overrides().next().is_none() => return Ok(None),
        Err(FileError::Missing { .. }) => {}
        Ok(bytes) if recorded == Some(Digest::hash(&bytes)) => {}
        Ok(bytes) => {
            if parse(path, &bytes).is_ok_and(|found| found == overrides_in(snapshot)) {
                return Ok(Some(Digest::hash(&bytes)));
            }
            // Not as we left it, so it is kept.
            storage.files.set_aside(path, "replaced")?;
        }
        Err(error) => return Err(error),
    }
    let file = to_file(snapshot.overrides().map(|(key, over)| (key, over.as_ref())), time);
    let mut text = serde_json::to_string_pretty(&file)
        .map_err(|error| FileError::Failed { path: path.to_string(), problem: error.to_string() })?;
    text.push('\n');
    storage.files.write_atomic(path, text.as_bytes())?;
    Ok(Some(Digest::hash(text.as_bytes())))
}

fn parse(path: &WorkspacePath, bytes: &[u8]) -> Result<OverrideMap, FileError> {
    let malformed =
        |problem: String| FileError::Malformed { path: path.to_string(), position: None, problem };
    let file: PersistedOverridesFile =
        serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    from_file(&file).map_err(|(key, error)| malformed(format!("the override {key}: {error}")))
}

fn overrides_in(snapshot: &Snapshot) -> OverrideMap {
    snapshot.overrides().map(|(key, over)| (key.clone(), Override::clone(over))).collect()
}

fn differences(from: &OverrideMap, to: &OverrideMap) -> Vec<Change> {
    let keys: BTreeSet<&OverrideKey> = from.keys().chain(to.keys()).collect();
    let shared = |map: &OverrideMap, key: &OverrideKey| map.get(key).cloned().map(Arc::new);
    keys.into_iter()
        .map(|key| Change::Override { key: key.clone(), before: shared(from, key), after: shared(to, key) })
        .filter(|change| !matches!(change, Change::Override { before, after, .. } if before == after))
        .collect()
}
