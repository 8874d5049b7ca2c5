//! Opening a workspace: the journal's state first, then what the files say. A damaged part is set aside and named; the rest
//! opens.

use super::{
    About, Desk, Moment, OpenError, PRESENCE, Saved, SpecBundles, Workspace, components::Shelf,
    compose_registry, first::first_state, links::LinkBook, overrides::OverrideFile,
};
use authority::{History, Registry, Snapshot};
use components::Library;
use journal::{
    Digest, FileError, Journal, JournalError, ProjectConfig, Recovered, SourceList, WorkspaceFiles,
    WorkspacePath, read_config,
};
use shared_protocol::{
    BoardName, Revision,
    limits::MAX_HISTORY,
    messages::{Doing, Presence},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};
use terraform::settings::IGNORED_PROGRAM;

type Notices = BTreeMap<About, String>;

impl Workspace {
    /// Opens a folder. The caller holds the workspace's lock. What others changed in the files enters as of `moment`.
    pub fn open(root: &Path, moment: Moment) -> Result<Self, OpenError> {
        if !root.join(WorkspacePath::config().as_str()).exists() {
            return Err(OpenError::no_workspace(root));
        }
        let mut notices = Notices::new();
        let files = WorkspaceFiles::open(root)?;
        let config = open_config(&files, &mut notices)?;
        let (registry, unreadable) = compose_registry(&files, &config, &Library::default());
        notices.extend(unreadable.into_iter().map(|(origin, problem)| (About::Module(origin), problem)));
        let (mut journal, recovered) = match files.is_read_only() {
            false => open_journal(&files, &mut notices)?,
            true => {
                notices.insert(About::ReadOnly, read_only_words(&files));
                (Journal::in_memory()?, None)
            }
        };
        let (snapshot, taken) = match recovered {
            Some(recovered) => (replay(recovered, registry)?, Vec::new()),
            None => first_state(&files, &config, &mut journal, registry)?,
        };
        let log = journal.log(MAX_HISTORY).unwrap_or_else(|error| {
            notices.insert(About::History, format!("what was done before cannot be undone: {error}"));
            Vec::new()
        });
        let history = History::of(log.iter().rev().map(|entry| (entry.revision, entry.kind)));
        let summaries = log.into_iter().map(|entry| (entry.revision, entry.summary)).collect();
        let presence = journal.get_state::<Presence>(PRESENCE).ok().flatten().filter(Presence::is_sound);
        // What was on the screen of another run is not on this one's.
        let presence = presence.map(|presence| Presence { area: None, doing: Doing::Nothing, ..presence });
        let bundles = SpecBundles::load(&config.bundles, &snapshot);
        let desk = Desk::recall(&mut journal, snapshot.revision(), &mut notices);
        for (about, text) in &notices {
            tracing::warn!(?about, "{text}");
        }
        let mut workspace = Self {
            files: Arc::new(files),
            journal,
            config,
            snapshot,
            history,
            summaries,
            saved: BTreeMap::new(),
            unsaved: BTreeSet::new(),
            saved_revision: Revision::START,
            held: BTreeMap::new(),
            source_list: SourceList::default(),
            unwritten: BTreeSet::new(),
            overrides: OverrideFile::default(),
            links: LinkBook::default(),
            shelf: Shelf::default(),
            bundles,
            notices,
            desk,
            costs: super::review::Costs::default(),
            approval_file: None,
            presence: presence.unwrap_or_default(),
            ownership: None,
        };
        for file in taken {
            workspace.saved.insert(file.board, Saved { file: file.name, content: file.content });
        }
        workspace.recall_saved_revision();
        workspace.recall_saved()?;
        let names = workspace.board_files();
        workspace.refuse_newer(&names)?;
        workspace.look_at_all(&names, moment);
        workspace.look_at_sources(moment);
        workspace.read_components();
        workspace.look_at_overrides(moment);
        workspace.read_links();
        workspace.notice_bundles();
        Ok(workspace)
    }

    /// A board of a newer version means a workspace of a newer version.
    fn refuse_newer(&self, names: &[BoardName]) -> Result<(), OpenError> {
        for name in names {
            let path = WorkspacePath::board(name);
            let known = self.journal.known(&path)?;
            let is_foreign = self.files.read(&path).is_ok_and(|bytes| !known.is_ours(Digest::of(&bytes)));
            if is_foreign && let Err(error @ FileError::Newer { .. }) = self.read_board_file(name) {
                return Err(error.into());
            }
        }
        Ok(())
    }
}

/// What a person should know about a workspace that opens for reading only.
fn read_only_words(files: &WorkspaceFiles) -> String {
    let journal = WorkspacePath::parse(".draftboard/journal.db");
    let unsaved = match journal.is_ok_and(|journal| files.is_there(&journal)) {
        _ if files.is_state_denied() => {
            " Its .draftboard folder belongs to another user and is not read: overrides and unsaved changes are not shown."
        }
        true => " Changes in its journal that were never saved to files are not shown.",
        false => "",
    };
    format!(
        "The workspace is read-only: you may not write to {}, so nothing can be changed or saved. Make the folder writable, \
         or open a copy, to edit it.{unsaved}",
        files.root().display()
    )
}

fn open_config(files: &WorkspaceFiles, notices: &mut Notices) -> Result<ProjectConfig, OpenError> {
    let text = files.read_text(&WorkspacePath::config());
    if text.as_ref().is_ok_and(|text| names_program(text)) {
        tracing::warn!("{IGNORED_PROGRAM}");
        notices.insert(About::Program, IGNORED_PROGRAM.to_owned());
    }
    match text.and_then(|text| read_config(&text)) {
        Ok(config) => Ok(config),
        Err(error @ FileError::Newer { .. }) => Err(error.into()),
        Err(error) => {
            notices.insert(About::Config, format!("{error}; defaults are used until it is mended"));
            let name =
                files.root().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Ok(ProjectConfig::fallback(name))
        }
    }
}

/// Whether the text of the project's file names a program to run.
pub(super) fn names_program(text: &str) -> bool {
    terraform::Settings::read(text).is_ok_and(|settings| settings.names_program())
}

/// The journal and what it holds; nothing when it is new. A damaged one is set aside, and a new one goes on from what could
/// be read. That one knows no files, so that none is taken for older than what is here.
fn open_journal(
    files: &WorkspaceFiles,
    notices: &mut Notices,
) -> Result<(Journal, Option<Recovered>), OpenError> {
    let folder = files.state_folder();
    let opened =
        Journal::open(&folder).and_then(|journal| journal.recover().map(|recovered| (journal, recovered)));
    let (error, readable) = match opened {
        Ok((journal, recovered)) => return Ok((journal, Some(recovered).filter(|found| !is_nothing(found)))),
        Err(JournalError::Damaged { revision, problem, readable }) => {
            (format!("the journal was damaged at revision {revision} ({problem})"), *readable)
        }
        Err(error @ JournalError::Unreadable { .. }) => (error.to_string(), Recovered::default()),
        Err(error) => return Err(error.into()),
    };
    let recovered = if is_nothing(&readable) {
        None
    } else {
        let state = replay(readable, Arc::default())?;
        Some(Recovered { checkpoint: Some(state.to_document()), operations: Vec::new() })
    };
    let aside = Journal::set_aside(&folder)?;
    let mut journal = Journal::open(&folder)?;
    if let Some(document) = recovered.as_ref().and_then(|recovered| recovered.checkpoint.as_ref()) {
        journal.checkpoint(document, MAX_HISTORY)?;
    }
    let kept = aside.map(|aside| format!("it is kept as {}, and ", aside.display())).unwrap_or_default();
    let notice = format!("{error}; {kept}all that could be read is here");
    notices.insert(About::Journal, notice);
    Ok((journal, recovered))
}

fn is_nothing(recovered: &Recovered) -> bool {
    recovered.checkpoint.is_none() && recovered.operations.is_empty()
}

fn replay(recovered: Recovered, registry: Arc<Registry>) -> Result<Snapshot, OpenError> {
    let inconsistent = |error: authority::ApplyError| OpenError::Inconsistent(error.to_string());
    let mut state =
        Snapshot::from_document(recovered.checkpoint.unwrap_or_default(), registry).map_err(inconsistent)?;
    for operation in recovered.operations {
        state.apply(operation.revision, &operation.changes).map_err(inconsistent)?;
    }
    Ok(state)
}
