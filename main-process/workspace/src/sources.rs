//! The text files that are part of the state: those of the spec bundles, the components, and the links. They are written as soon as an operation changes
//! them. The journal comes first, so after a crash the next start writes what is missing: of an operation, the files have
//! all or, until then, a part that is made whole. An edit by somebody else becomes an operation of its own.

use super::{About, Moment, Mutation, Workspace, components::is_component, error::storage_file};
use authority::Snapshot;
use journal::{Digest, FileError, SourceList, WorkspaceFiles, WorkspacePath};
use shared_protocol::{
    Actor, ActorKind, Change, Code, Operation, Refusal, SourcePath,
    messages::{Applied, Patch},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// New texts of files; nothing where a file goes.
pub type SourceEdits = BTreeMap<SourcePath, Option<Arc<str>>>;

/// What the disk says about a file, seen from what is on record.
enum OnDisk {
    /// As the state has it.
    Same,
    /// Ours, and older than the state: it is still to be written.
    Behind,
    /// Somebody else's.
    Foreign(Option<Arc<str>>),
}

impl Workspace {
    /// The folders in which something may change: those of the bundles, all within them, and those that further bundles
    /// would come to stand in.
    pub fn source_folders(&self) -> BTreeSet<SourcePath> {
        let parents = self.config.bundles.iter().filter_map(|pattern| pattern.rsplit_once('/'));
        let parents = parents.filter_map(|(parent, _)| SourcePath::parse(parent).ok());
        self.source_list.folders.iter().cloned().chain(parents).collect()
    }

    /// Changes files in one operation, which is on the disk when this returns. Refused when one of them is no longer as it
    /// was read.
    pub fn edit_sources(
        &mut self,
        summary: String,
        edits: SourceEdits,
        actor: &Actor,
        moment: Moment,
    ) -> Result<(Applied, Vec<Patch>), Refusal> {
        for path in edits.keys() {
            if !matches!(self.look(path).map_err(|error| storage_file(&error))?, OnDisk::Same) {
                let message = format!("{path} was changed by another program and is not overwritten");
                return Err(Refusal::new(Code::Conflict, message).hint("Read it again, then try again."));
            }
        }
        let changes = changes(&self.snapshot, edits);
        self.execute(&Mutation::Decided { summary, changes }, actor, moment)
    }

    /// Looks at every file and takes in what is new there.
    pub(super) fn look_at_sources(&mut self, moment: Moment) -> Vec<Patch> {
        self.list_sources();
        let mut paths: BTreeSet<SourcePath> = self.source_list.files.iter().cloned().collect();
        paths.extend(self.snapshot.sources().map(|(path, _)| path.clone()));
        self.take_in_sources(&paths, moment)
    }

    /// Something changed within the bundles' folders.
    pub(super) fn look_at_source(&mut self, path: &SourcePath, moment: Moment) -> Vec<Patch> {
        let is_known = self.snapshot.source(path).is_some() || self.source_list.files.contains(path);
        if is_known && self.files.read_source(path).is_ok() {
            return self.take_in_sources(&BTreeSet::from([path.clone()]), moment);
        }
        self.look_at_sources(moment)
    }

    pub(super) fn is_within_sources(&self, path: &WorkspacePath) -> Option<SourcePath> {
        let path = SourcePath::parse(path.as_str()).ok()?;
        let parent = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
        let mut folders = self.source_folders().into_iter();
        let is_within = folders.any(|folder| folder == path || folder.as_str() == parent);
        (is_within || path == SourcePath::links() || is_component(&path)).then_some(path)
    }

    fn list_sources(&mut self) {
        self.notices.retain(|about, _| !matches!(about, About::Bundles | About::SourceLeftOut(_)));
        match list(&self.files, &self.config.bundles) {
            Ok(list) => {
                for error in &list.left_out {
                    self.notice(About::SourceLeftOut(error.to_string()), error.to_string());
                }
                self.source_list = list;
            }
            Err(error) => self.notice(About::Bundles, error.to_string()),
        }
    }

    /// One operation for all that others changed; what is ours and behind is written.
    fn take_in_sources(&mut self, paths: &BTreeSet<SourcePath>, moment: Moment) -> Vec<Patch> {
        let (mut edits, mut behind) = (SourceEdits::new(), BTreeSet::new());
        for path in paths {
            match self.look(path) {
                Ok(OnDisk::Same) => self.in_order(&About::Source(path.to_string())),
                Ok(OnDisk::Behind) => drop(behind.insert(path.clone())),
                Ok(OnDisk::Foreign(text)) => drop(edits.insert(path.clone(), text)),
                // The last text that could be read stays.
                Err(error) => self.notice(About::Source(path.to_string()), error.to_string()),
            }
        }
        self.write_sources(&behind);
        if edits.is_empty() {
            return Vec::new();
        }
        let summary = match edits.first_key_value() {
            Some((path, _)) if edits.len() == 1 => format!("Edit of {path}"),
            _ => format!("Edit of {} files", edits.len()),
        };
        let changes = changes(&self.snapshot, edits);
        let actor = Actor::new(ActorKind::External, "another program");
        match self.execute(&Mutation::External { summary, changes }, &actor, moment) {
            Ok((_, patches)) => patches,
            Err(refusal) => {
                self.notice(About::Bundles, refusal.to_string());
                Vec::new()
            }
        }
    }

    fn look(&self, path: &SourcePath) -> Result<OnDisk, FileError> {
        let there = match self.files.read_source(path) {
            Ok(text) => Some(text),
            Err(FileError::Missing { .. }) => None,
            Err(error) => return Err(error),
        };
        if there.as_deref() == self.snapshot.source(path).map(AsRef::as_ref) {
            return Ok(OnDisk::Same);
        }
        let recorded = self.journal.known(&path.into()).map(|known| known.recorded);
        let recorded = recorded
            .map_err(|error| FileError::Failed { path: path.to_string(), problem: error.to_string() })?;
        let is_ours = recorded == there.as_ref().map(|text| Digest::of(text.as_bytes()));
        Ok(if is_ours { OnDisk::Behind } else { OnDisk::Foreign(there.map(Arc::from)) })
    }

    /// Brings the files that operations touched up to the state. What cannot be written is named, and tried again at the
    /// next save and the next start.
    pub(super) fn write_sources_of(&mut self, operations: &[Operation]) {
        let paths: BTreeSet<SourcePath> = operations
            .iter()
            .flat_map(|operation| &operation.changes)
            .filter_map(|change| match change {
                Change::Source { path, .. } => Some(path.clone()),
                _ => None,
            })
            .collect();
        self.write_sources(&paths);
    }

    pub(super) fn write_sources(&mut self, paths: &BTreeSet<SourcePath>) {
        if self.files.is_read_only() {
            return;
        }
        let mut written = Vec::new();
        for path in paths {
            match self.write_source(path) {
                Ok(content) => {
                    self.unwritten.remove(path);
                    self.in_order(&About::Source(path.to_string()));
                    written.push((WorkspacePath::from(path), content));
                }
                Err(error) => {
                    self.unwritten.insert(path.clone());
                    self.notice(About::Source(path.to_string()), error.to_string());
                }
            }
        }
        let there: Vec<(WorkspacePath, Digest)> =
            written.iter().filter_map(|(path, content)| Some((path.clone(), (*content)?))).collect();
        let gone = written.iter().filter(|(_, content)| content.is_none());
        let recorded = self.journal.record(&there).and_then(|()| {
            gone.map(|(path, _)| path.clone())
                .collect::<Vec<_>>()
                .iter()
                .try_for_each(|path| self.journal.forget(path))
        });
        if let Err(error) = recorded {
            // The files are right all the same; the next start compares them with the state.
            tracing::warn!(%error, "what was written is not on record");
        }
    }

    /// The content that is on the disk now, if the file is there.
    fn write_source(&mut self, path: &SourcePath) -> Result<Option<Digest>, FileError> {
        let file = WorkspacePath::from(path);
        let wanted = self.snapshot.source(path).cloned();
        match (self.look(path)?, &wanted) {
            (OnDisk::Same, _) => {}
            (OnDisk::Foreign(_), _) => {
                let problem = "it was changed by another program and is not overwritten".to_owned();
                return Err(FileError::Failed { path: path.to_string(), problem });
            }
            (OnDisk::Behind, Some(text)) => self.files.write_atomic(&file, text.as_bytes())?,
            (OnDisk::Behind, None) => {
                self.files.set_aside(&file, "removed")?;
                self.files.remove(&file)?;
            }
        }
        Ok(wanted.map(|text| Digest::of(text.as_bytes())))
    }

    /// Tries again what could not be written.
    pub(super) fn save_sources(&mut self) -> Result<(), Refusal> {
        let unwritten = self.unwritten.clone();
        self.write_sources(&unwritten);
        match self.unwritten.first() {
            Some(path) => {
                let notice = self.notices.get(&About::Source(path.to_string()));
                Err(Refusal::new(Code::StorageError, notice.cloned().unwrap_or_else(|| path.to_string())))
            }
            None => Ok(()),
        }
    }
}

/// The texts of all source files, the first time that a folder is opened; what cannot be read is found again when the files
/// are looked at.
pub(super) fn first_sources(files: &WorkspaceFiles, bundles: &[String]) -> Vec<(SourcePath, Arc<str>)> {
    let list = list(files, bundles).unwrap_or_default();
    list.files
        .into_iter()
        .filter_map(|path| Some((path.clone(), Arc::from(files.read_source(&path).ok()?))))
        .collect()
}

fn list(files: &WorkspaceFiles, bundles: &[String]) -> Result<SourceList, FileError> {
    let patterns: Vec<SourcePath> =
        bundles.iter().filter_map(|pattern| SourcePath::parse(pattern.as_str()).ok()).collect();
    let mut list = files.list_sources(&files.list_folders(&patterns)?);
    list_components(files, &mut list);
    let links = SourcePath::links();
    if !matches!(files.read_source(&links), Err(FileError::Missing { .. })) {
        list.files.push(links);
    }
    Ok(list)
}

/// Those in their folder; what else is there is somebody else's.
fn list_components(files: &WorkspaceFiles, list: &mut SourceList) {
    let Ok(folder) = SourcePath::parse(super::components::FOLDER) else { return };
    let found = files.list_sources(&[folder]);
    list.files.extend(found.files.into_iter().filter(is_component));
    let is_meant = |error: &FileError| error.to_string().contains(".component.");
    list.left_out.extend(found.left_out.into_iter().filter(is_meant));
    list.files.sort();
    list.files.dedup();
}

fn changes(snapshot: &Snapshot, edits: SourceEdits) -> Vec<Change> {
    let change = |(path, after): (SourcePath, Option<Arc<str>>)| {
        let before = snapshot.source(&path).cloned();
        (before != after).then_some(Change::Source { path, before, after })
    };
    edits.into_iter().filter_map(change).collect()
}
