//! The state of a folder that is opened for the first time: its files are the start, not an edit that could be undone.

use super::{
    OpenWorkspaceError, board_files::BoardFile, overrides::first_overrides, sources::first_sources,
    storage::record_text,
};
use authority::{Snapshot, TypeRegistry, diff, place_missing};
use journal::{Digest, FileError, Journal, ProjectConfig, WorkspaceFiles, WorkspacePath};
use shared_protocol::{Change, Revision, SourcePath, limits::MAX_HISTORY_OPERATIONS, overrides::OverrideMap};
use std::sync::Arc;

/// Reads all boards and makes them the beginning of the journal. Returns the files that it took. A file that cannot be read is
/// left alone, and gets its notice when the files are examined.
pub(super) fn first_state(
    files: &WorkspaceFiles,
    config: &ProjectConfig,
    journal: &mut Journal,
    registry: Arc<TypeRegistry>,
) -> Result<(Snapshot, Vec<BoardFile>), OpenWorkspaceError> {
    let mut found = Vec::new();
    for name in files.list_boards()?.boards {
        match BoardFile::read(files, &name, &registry) {
            Ok(file) => found.push(file),
            Err(error @ FileError::Newer { .. }) => return Err(error.into()),
            Err(_) => {}
        }
    }
    // The largest is taken as it is, and the others are added to it.
    found.sort_by_key(|file| std::cmp::Reverse(file.text.len()));
    let mut start = InitialWorkspaceState { state: Snapshot::new(registry), placed: false };
    found.retain(|file| start.add(file));
    for file in &found {
        record_text(journal, &file.path(), &file.text);
    }
    let mut taken: Vec<(WorkspacePath, Digest)> =
        found.iter().map(|file| (file.path(), file.digest)).collect();
    // A file that cannot be read gets its notice when the files are examined, and stays as it is.
    if let Ok(Some((path, digest, overrides))) = first_overrides(files) {
        taken.push((path, digest));
        start.add_overrides(overrides);
    }
    for (path, text) in first_sources(files, &config.bundles) {
        taken.push(((&path).into(), Digest::hash(text.as_bytes())));
        start.add_source(path, text);
    }
    // Positions that we chose are ahead of the files by one revision.
    let revision = if start.placed { Revision::START.next() } else { Revision::START };
    let state = start.state.as_start(revision);
    // The checkpoint comes last: without it, the next start is the first one again.
    journal.record_content(&taken)?;
    journal.checkpoint(&state.to_document(), MAX_HISTORY_OPERATIONS)?;
    Ok((state, found))
}

struct InitialWorkspaceState {
    state: Snapshot,
    /// Some nodes had no position in their file.
    placed: bool,
}

impl InitialWorkspaceState {
    fn add_source(&mut self, path: SourcePath, text: Arc<str>) {
        let change = Change::Source { path, before: None, after: Some(text) };
        if let Err(error) = self.state.apply(self.state.revision().next(), &[change]) {
            tracing::warn!(%error, "a file of a bundle was left out");
        }
    }

    fn add_overrides(&mut self, overrides: OverrideMap) {
        for (key, over) in overrides {
            let change = Change::Override { key, before: None, after: Some(Arc::new(over)) };
            if let Err(error) = self.state.apply(self.state.revision().next(), &[change]) {
                tracing::warn!(%error, "an override was left out");
            }
        }
    }

    /// Adds a board. Returns whether it fits with the others.
    fn add(&mut self, file: &BoardFile) -> bool {
        if self.state.boards().next().is_none() && file.is_placed() {
            self.state = file.content.clone();
            return true;
        }
        if self.state.board(file.board).is_some() || file.clash(&self.state).is_some() {
            return false;
        }
        let Ok(mut changes) = diff(&self.state, file.board, &file.document()) else { return false };
        let Ok(places) = place_missing(&self.state, &changes) else { return false };
        let placed = !places.is_empty();
        changes.extend(places);
        let fits = self.state.apply(self.state.revision().next(), &changes).is_ok();
        self.placed |= fits && placed;
        fits
    }
}
