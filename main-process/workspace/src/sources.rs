//! The text files that are part of the state: those of the spec bundles, the components, and the links. They are written as
//! soon as an operation changes them. The journal comes first, so it is their write-ahead log: after a crash the next start
//! writes what is missing. An edit by another program becomes an operation of its own.

use super::{
    components::is_component,
    error::storage_file,
    notices::{NoticeTopic, WorkspaceNotices},
    storage::{WorkspaceFileContext, WorkspaceStorage},
};
use authority::Snapshot;
use journal::{Digest, FileError, SourceList, WorkspaceFiles, WorkspacePath};
use shared_protocol::{Change, Operation, Refusal, RefusalCode, SourcePath};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// New texts of files; `None` where a file goes.
pub type SourceFileEdits = BTreeMap<SourcePath, Option<Arc<str>>>;

/// A file on the disk, compared with the state and with the journal's record of it.
enum SourceFileComparison {
    /// As the state has it.
    Same,
    /// Ours, and older than the state: it is still to be written.
    Behind,
    /// Edited by another program.
    Foreign(Option<Arc<str>>),
}

#[derive(Default)]
pub(super) struct SourceFiles {
    /// The files as they were listed last.
    list: SourceList,
    /// Files that could not be written.
    unwritten: BTreeSet<SourcePath>,
}

impl SourceFiles {
    pub(super) fn is_all_written(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// The folders to watch: those of the bundles with all within them, and those in which further bundles may appear.
    pub(super) fn folders(&self, bundles: &[String]) -> BTreeSet<SourcePath> {
        let parents = bundles.iter().filter_map(|pattern| pattern.rsplit_once('/'));
        let parents = parents.filter_map(|(parent, _)| SourcePath::parse(parent).ok());
        self.list.folders.iter().cloned().chain(parents).collect()
    }

    /// The path as a source, if a change there concerns the sources.
    pub(super) fn source_at(&self, path: &WorkspacePath, bundles: &[String]) -> Option<SourcePath> {
        let path = SourcePath::parse(path.as_str()).ok()?;
        let parent = path.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
        let mut folders = self.folders(bundles).into_iter();
        let is_within = folders.any(|folder| folder == path || folder.as_str() == parent);
        (is_within || path == SourcePath::trace_links() || is_component(&path)).then_some(path)
    }

    /// Whether a change of this file alone can be examined without listing the folders again.
    pub(super) fn is_known(
        &self,
        path: &SourcePath,
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
    ) -> bool {
        let is_known = snapshot.source(path).is_some() || self.list.files.contains(path);
        is_known && storage.files.read_source(path).is_ok()
    }

    /// Lists the folders again. Returns every file that is there or in the state.
    pub(super) fn refresh(
        &mut self,
        bundles: &[String],
        storage: &WorkspaceStorage,
        snapshot: &Snapshot,
        notices: &mut WorkspaceNotices,
    ) -> BTreeSet<SourcePath> {
        notices.clear_all(|topic| matches!(topic, NoticeTopic::Bundles | NoticeTopic::SourceLeftOut(_)));
        match list(&storage.files, bundles) {
            Ok(list) => {
                for error in &list.left_out {
                    notices.set(NoticeTopic::SourceLeftOut(error.to_string()), error.to_string());
                }
                self.list = list;
            }
            Err(error) => notices.set(NoticeTopic::Bundles, error.to_string()),
        }
        let known = snapshot.sources().map(|(path, _)| path);
        self.list.files.iter().chain(known).cloned().collect()
    }

    /// Returns the edits that other programs made, and writes files of ours that are behind.
    pub(super) fn examine(
        &mut self,
        paths: &BTreeSet<SourcePath>,
        context: &mut WorkspaceFileContext<'_>,
    ) -> SourceFileEdits {
        let (mut edits, mut behind) = (SourceFileEdits::new(), BTreeSet::new());
        let mut same = Vec::new();
        for path in paths {
            match compare(path, context.storage, context.snapshot) {
                Ok(SourceFileComparison::Same) => {
                    context.notices.clear(&NoticeTopic::Source(path.to_string()));
                    same.push(path);
                }
                Ok(SourceFileComparison::Behind) => drop(behind.insert(path.clone())),
                Ok(SourceFileComparison::Foreign(text)) => drop(edits.insert(path.clone(), text)),
                // The last text that could be read stays.
                Err(error) => context.notices.set(NoticeTopic::Source(path.to_string()), error.to_string()),
            }
        }
        record_same(&same, context);
        self.write(&behind, context);
        edits
    }

    /// Writes the files that operations touched. A file that cannot be written gets a notice, and is tried again at the next
    /// save and the next start.
    pub(super) fn write_touched(&mut self, operations: &[Operation], context: &mut WorkspaceFileContext<'_>) {
        let paths: BTreeSet<SourcePath> = operations
            .iter()
            .flat_map(|operation| &operation.changes)
            .filter_map(|change| match change {
                Change::Source { path, .. } => Some(path.clone()),
                _ => None,
            })
            .collect();
        self.write(&paths, context);
    }

    fn write(&mut self, paths: &BTreeSet<SourcePath>, context: &mut WorkspaceFileContext<'_>) {
        let WorkspaceFileContext { storage, snapshot, notices } = context;
        if storage.files.is_read_only() {
            return;
        }
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        for path in paths {
            let topic = NoticeTopic::Source(path.to_string());
            match write_source(path, storage, snapshot) {
                Ok(content) => {
                    self.unwritten.remove(path);
                    notices.clear(&topic);
                    match content {
                        Some(content) => there.push((WorkspacePath::from(path), content)),
                        None => gone.push(WorkspacePath::from(path)),
                    }
                }
                Err(error) => {
                    self.unwritten.insert(path.clone());
                    notices.set(topic, error.to_string());
                }
            }
        }
        record(&there, &gone, storage);
    }

    /// Tries again to write the files that could not be written.
    pub(super) fn retry(&mut self, context: &mut WorkspaceFileContext<'_>) -> Result<(), Refusal> {
        let unwritten = self.unwritten.clone();
        self.write(&unwritten, context);
        match self.unwritten.first() {
            Some(path) => {
                let notice = context.notices.get(&NoticeTopic::Source(path.to_string()));
                Err(Refusal::new(
                    RefusalCode::StorageError,
                    notice.cloned().unwrap_or_else(|| path.to_string()),
                ))
            }
            None => Ok(()),
        }
    }
}

/// Puts files on record that are as the state has them and are recorded otherwise: a crash came between their writing and
/// their record. Without it they would count as edited by another program as soon as the state goes on.
fn record_same(paths: &[&SourcePath], context: &mut WorkspaceFileContext<'_>) {
    let WorkspaceFileContext { storage, snapshot, .. } = context;
    let (mut there, mut gone) = (Vec::new(), Vec::new());
    for path in paths {
        let file = WorkspacePath::from(*path);
        let content = snapshot.source(path).map(|text| Digest::hash(text.as_bytes()));
        match (storage.journal.file_record(&file), content) {
            (Ok(known), content) if known.recorded == content => {}
            (_, Some(content)) => there.push((file, content)),
            (_, None) => gone.push(file),
        }
    }
    record(&there, &gone, storage);
}

/// Keeps what is on the disk now in the journal's record of files.
fn record(there: &[(WorkspacePath, Digest)], gone: &[WorkspacePath], storage: &mut WorkspaceStorage) {
    if storage.files.is_read_only() || (there.is_empty() && gone.is_empty()) {
        return;
    }
    let journal = &mut storage.journal;
    let recorded = journal
        .record_content(there)
        .and_then(|()| gone.iter().try_for_each(|path| journal.forget_file(path)));
    if let Err(error) = recorded {
        // The files are right all the same; the next start compares them with the state.
        tracing::warn!(%error, "written files are not on record");
    }
}

/// Refuses edits of files that are no longer as they were read.
pub(super) fn refuse_foreign(
    edits: &SourceFileEdits,
    storage: &WorkspaceStorage,
    snapshot: &Snapshot,
) -> Result<(), Refusal> {
    for path in edits.keys() {
        let state = compare(path, storage, snapshot).map_err(|error| storage_file(&error))?;
        if !matches!(state, SourceFileComparison::Same) {
            let message = format!("{path} was changed by another program and is not overwritten");
            return Err(Refusal::new(RefusalCode::Conflict, message).hint("Read it again, then try again."));
        }
    }
    Ok(())
}

fn compare(
    path: &SourcePath,
    storage: &WorkspaceStorage,
    snapshot: &Snapshot,
) -> Result<SourceFileComparison, FileError> {
    let there = match storage.files.read_source(path) {
        Ok(text) => Some(text),
        Err(FileError::Missing { .. }) => None,
        Err(error) => return Err(error),
    };
    if there.as_deref() == snapshot.source(path).map(AsRef::as_ref) {
        return Ok(SourceFileComparison::Same);
    }
    let recorded = storage.journal.file_record(&path.into()).map(|known| known.recorded);
    let recorded =
        recorded.map_err(|error| FileError::Failed { path: path.to_string(), problem: error.to_string() })?;
    let is_ours = recorded == there.as_ref().map(|text| Digest::hash(text.as_bytes()));
    Ok(if is_ours {
        SourceFileComparison::Behind
    } else {
        SourceFileComparison::Foreign(there.map(Arc::from))
    })
}

/// Returns the content that is on the disk now, if the file is there.
fn write_source(
    path: &SourcePath,
    storage: &WorkspaceStorage,
    snapshot: &Snapshot,
) -> Result<Option<Digest>, FileError> {
    let file = WorkspacePath::from(path);
    let wanted = snapshot.source(path);
    match (compare(path, storage, snapshot)?, wanted) {
        (SourceFileComparison::Same, _) => {}
        (SourceFileComparison::Foreign(_), _) => {
            let problem = "it was changed by another program and is not overwritten".to_owned();
            return Err(FileError::Failed { path: path.to_string(), problem });
        }
        (SourceFileComparison::Behind, Some(text)) => storage.files.write_atomic(&file, text.as_bytes())?,
        (SourceFileComparison::Behind, None) => {
            storage.files.set_aside(&file, "removed")?;
            storage.files.remove(&file)?;
        }
    }
    Ok(wanted.map(|text| Digest::hash(text.as_bytes())))
}

/// The texts of all source files of a folder that is opened for the first time. A file that cannot be read is left out here
/// and gets its notice when the files are examined.
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
    let links = SourcePath::trace_links();
    if !matches!(files.read_source(&links), Err(FileError::Missing { .. })) {
        list.files.push(links);
    }
    Ok(list)
}

/// Adds the component files of their folder. Other files there are ignored.
fn list_components(files: &WorkspaceFiles, list: &mut SourceList) {
    let Ok(folder) = SourcePath::parse(super::components::FOLDER) else { return };
    let found = files.list_sources(&[folder]);
    list.files.extend(found.files.into_iter().filter(is_component));
    let is_meant = |error: &FileError| error.to_string().contains(".component.");
    list.left_out.extend(found.left_out.into_iter().filter(is_meant));
    list.files.sort();
    list.files.dedup();
}

pub(super) fn changes_of(snapshot: &Snapshot, edits: SourceFileEdits) -> Vec<Change> {
    let change = |(path, after): (SourcePath, Option<Arc<str>>)| {
        let before = snapshot.source(&path).cloned();
        (before != after).then_some(Change::Source { path, before, after })
    };
    edits.into_iter().filter_map(change).collect()
}
