//! The file of the overrides, in the workbench's own form. The overrides themselves are part of the state; the file follows
//! it as soon as an operation changed one, and what somebody else writes into it becomes an operation. A file of an older
//! workbench is read once, where there is none of ours.

use super::{About, Moment, Mutation, Workspace};
use authority::{Snapshot, rebase};
use journal::{Digest, FileError, WorkspaceFiles, WorkspacePath};
use shared_protocol::{
    Actor, ActorKind, Change, Operation, Override, OverrideKey,
    messages::Patch,
    overrides::{OverrideMap, from_file, to_file},
    v0::PersistedOverridesFile,
};
use std::{collections::BTreeSet, sync::Arc};

/// Ours first, then those of the workbenches before.
const FILES: [&str; 3] =
    [".draftboard/overrides.v0.json", ".scaffa/overrides.v0.json", ".skaffa/overrides.v0.json"];

pub(super) fn file() -> Option<WorkspacePath> {
    WorkspacePath::parse(FILES[0]).ok()
}

/// What the file held when it was last ours.
#[derive(Debug, Default)]
pub(super) struct OverrideFile {
    held: Option<OverrideMap>,
    /// It could not be written.
    behind: bool,
}

/// The overrides of a folder that is opened for the first time. A file that cannot be read is an error, told when the
/// files are looked at.
pub(super) fn first_overrides(
    files: &WorkspaceFiles,
) -> Result<Option<(WorkspacePath, Digest, OverrideMap)>, FileError> {
    for path in FILES.iter().filter_map(|path| WorkspacePath::parse(*path).ok()) {
        match files.read(&path) {
            Err(FileError::Missing { .. }) => {}
            Ok(bytes) => {
                let found = parse(&path, &bytes)?;
                return Ok(Some((path, Digest::of(&bytes), found)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl Workspace {
    pub(super) fn is_override_file(&self, path: &WorkspacePath) -> bool {
        path.as_str() == FILES[0]
    }

    /// Looks at the file and takes in what is new there.
    pub(super) fn look_at_overrides(&mut self, moment: Moment) -> Vec<Patch> {
        match self.read_overrides() {
            Ok(Found::Ours) => {
                if self.overrides.behind || !self.is_written() {
                    self.write_overrides(moment.time);
                } else {
                    self.in_order(&About::Overrides);
                }
                Vec::new()
            }
            Ok(Found::Theirs(found)) => self.take_in_overrides(found, moment),
            Err(error) => {
                // The state goes on; the file is set aside before anything is written over it.
                self.notice(
                    About::Overrides,
                    format!("{error}; the overrides before are used until it is mended"),
                );
                Vec::new()
            }
        }
    }

    fn read_overrides(&self) -> Result<Found, FileError> {
        let Some(own) = file() else { return Ok(Found::Ours) };
        let recorded = self.recorded(&own)?;
        match self.files.read(&own) {
            Ok(bytes) if recorded == Some(Digest::of(&bytes)) => Ok(Found::Ours),
            Ok(bytes) => parse(&own, &bytes).map(Found::Theirs),
            Err(FileError::Missing { .. }) if recorded.is_some() => Ok(Found::Theirs(OverrideMap::new())),
            // There never was one of ours: perhaps one of a workbench before.
            Err(FileError::Missing { .. }) if self.snapshot.overrides().next().is_none() => {
                Ok(first_overrides(&self.files)?.map_or(Found::Ours, |(_, _, found)| Found::Theirs(found)))
            }
            Err(FileError::Missing { .. }) => Ok(Found::Ours),
            Err(error) => Err(error),
        }
    }

    fn recorded(&self, path: &WorkspacePath) -> Result<Option<Digest>, FileError> {
        let known = self.journal.known(path);
        let failed = |error: journal::JournalError| FileError::Failed {
            path: path.to_string(),
            problem: error.to_string(),
        };
        known.map(|known| known.recorded).map_err(failed)
    }

    /// What they changed since the file was last ours goes onto what is here now. Where both changed the same, what is here
    /// stays, and their file is kept aside.
    fn take_in_overrides(&mut self, found: OverrideMap, moment: Moment) -> Vec<Patch> {
        let base = self.overrides.held.clone().unwrap_or_else(|| held_by(&self.snapshot));
        let changes = rebase(&self.snapshot, &differences(&base, &found)).fitting;
        self.overrides.held = Some(found);
        let summary = match changes.len() {
            1 => "Edit of an override".to_owned(),
            count => format!("Edit of {count} overrides"),
        };
        let actor = Actor::new(ActorKind::External, "another program");
        let taken = self.execute(&Mutation::External { summary, changes }, &actor, moment);
        match taken {
            Ok((_, patches)) => {
                // Also when nothing was new: from now on the file is ours again.
                self.write_overrides(moment.time);
                patches
            }
            Err(refusal) => {
                self.notice(About::Overrides, refusal.to_string());
                Vec::new()
            }
        }
    }

    /// Brings the file up to the state if operations touched an override.
    pub(super) fn write_overrides_of(&mut self, operations: &[Operation]) {
        let touched = operations.iter().rev().find(|operation| {
            operation.changes.iter().any(|change| matches!(change, Change::Override { .. }))
        });
        if let Some(time) = touched.map(|operation| operation.time) {
            self.write_overrides(time);
        }
    }

    /// Tries again what could not be written.
    pub(super) fn save_overrides(&mut self) {
        if self.overrides.behind {
            let newest = self.journal.log(1).ok().and_then(|log| log.into_iter().next());
            self.write_overrides(newest.map_or(0, |entry| entry.time));
        }
    }

    fn write_overrides(&mut self, time: u64) {
        let Some(path) = file().filter(|_| !self.files.is_read_only()) else { return };
        match self.try_write_overrides(&path, time) {
            Ok(Some(content)) => {
                self.overrides = OverrideFile { held: Some(held_by(&self.snapshot)), behind: false };
                self.in_order(&About::Overrides);
                if let Err(error) = self.journal.record(&[(path, content)]) {
                    tracing::warn!(%error, "what was written is not on record");
                }
            }
            Ok(None) => {}
            Err(error) => {
                self.overrides.behind = true;
                self.notice(About::Overrides, error.to_string());
            }
        }
    }

    fn try_write_overrides(&mut self, path: &WorkspacePath, time: u64) -> Result<Option<Digest>, FileError> {
        let recorded = self.recorded(path)?;
        match self.files.read(path) {
            Err(FileError::Missing { .. }) if self.snapshot.overrides().next().is_none() => return Ok(None),
            Err(FileError::Missing { .. }) => {}
            Ok(bytes) if recorded == Some(Digest::of(&bytes)) => {}
            Ok(bytes) => {
                if parse(path, &bytes).is_ok_and(|found| found == held_by(&self.snapshot)) {
                    return Ok(Some(Digest::of(&bytes)));
                }
                // Not as we left it: whatever it is, it is kept.
                self.files.set_aside(path, "replaced")?;
            }
            Err(error) => return Err(error),
        }
        let file = to_file(self.snapshot.overrides().map(|(key, over)| (key, over.as_ref())), time);
        let mut text = serde_json::to_string_pretty(&file)
            .map_err(|error| FileError::Failed { path: path.to_string(), problem: error.to_string() })?;
        text.push('\n');
        self.files.write_atomic(path, text.as_bytes())?;
        Ok(Some(Digest::of(text.as_bytes())))
    }

    fn is_written(&self) -> bool {
        let held = held_by(&self.snapshot);
        match (&self.overrides.held, file()) {
            (Some(written), _) => *written == held,
            (None, Some(path)) => match self.files.read(&path).ok() {
                Some(bytes) => parse(&path, &bytes).is_ok_and(|found| found == held),
                None => held.is_empty(),
            },
            (None, None) => true,
        }
    }
}

enum Found {
    /// As it was left, or not there.
    Ours,
    Theirs(OverrideMap),
}

fn parse(path: &WorkspacePath, bytes: &[u8]) -> Result<OverrideMap, FileError> {
    let malformed =
        |problem: String| FileError::Malformed { path: path.to_string(), position: None, problem };
    let file: PersistedOverridesFile =
        serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    from_file(&file).map_err(|(key, error)| malformed(format!("the override {key}: {error}")))
}

fn held_by(snapshot: &Snapshot) -> OverrideMap {
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
