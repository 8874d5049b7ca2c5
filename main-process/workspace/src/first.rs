//! The first time that a folder is opened: what its files say is the start, not an edit that could be undone.

use super::{OpenError, board_file::BoardFile, overrides::first_overrides, saved, sources::first_sources};
use authority::{Registry, Snapshot, diff, place_missing};
use journal::{Digest, FileError, Journal, ProjectConfig, WorkspaceFiles, WorkspacePath};
use shared_protocol::{Change, Revision, SourcePath, limits::MAX_HISTORY, overrides::OverrideMap};
use std::sync::Arc;

/// Reads all boards and makes them the journal's beginning; gives the files that it took. One that cannot be read is left
/// alone, and found again when the files are looked at.
pub(super) fn first_state(
    files: &WorkspaceFiles,
    config: &ProjectConfig,
    journal: &mut Journal,
    registry: Arc<Registry>,
) -> Result<(Snapshot, Vec<BoardFile>), OpenError> {
    let mut found = Vec::new();
    for name in files.list_boards()?.boards {
        match BoardFile::read(files, &name, &registry) {
            Ok(file) => found.push(file),
            Err(error @ FileError::Newer { .. }) => return Err(error.into()),
            Err(_) => {}
        }
    }
    // The largest is taken as it is, and the others are put beside it.
    found.sort_by_key(|file| std::cmp::Reverse(file.text.len()));
    let mut start = Start { state: Snapshot::new(registry), placed: false };
    found.retain(|file| start.add(file));
    for file in &found {
        saved::remember(journal, &file.path(), &file.text);
    }
    let mut taken: Vec<(WorkspacePath, Digest)> =
        found.iter().map(|file| (file.path(), file.digest)).collect();
    // One that cannot be read is named when the files are looked at, and left as it is.
    if let Ok(Some((path, digest, overrides))) = first_overrides(files) {
        taken.push((path, digest));
        start.add_overrides(overrides);
    }
    for (path, text) in first_sources(files, &config.bundles) {
        taken.push(((&path).into(), Digest::of(text.as_bytes())));
        start.add_source(path, text);
    }
    // Places that we found are ahead of the files by one revision.
    let revision = if start.placed { Revision::START.next() } else { Revision::START };
    let state = start.state.as_start(revision);
    // The checkpoint comes last: without it, it is the first time again.
    journal.record(&taken)?;
    journal.checkpoint(&state.to_document(), MAX_HISTORY)?;
    Ok((state, found))
}

struct Start {
    state: Snapshot,
    /// Some nodes had no place in their file.
    placed: bool,
}

impl Start {
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

    /// Whether the board fits beside the others.
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
