//! Opening a workspace: the journal's state first, then what the files say. A damaged part is set aside and named; the rest
//! opens.

use super::{OpenError, PRESENCE, Saved, Workspace, compose_registry};
use authority::{History, Registry, Snapshot, diff, place_missing};
use journal::{
    Digest, FileError, Journal, JournalError, ProjectConfig, Recovered, WorkspaceFiles, WorkspacePath, read_board,
    read_config, write_board,
};
use shared_protocol::{
    BoardName, Document, Revision,
    limits::MAX_HISTORY,
    messages::Presence,
};
use std::{collections::BTreeMap, path::Path, sync::Arc};

impl Workspace {
    /// Opens a folder. The caller holds the workspace's lock.
    pub fn open(root: &Path) -> Result<Self, OpenError> {
        let mut notices = BTreeMap::new();
        if !root.join(WorkspacePath::config().as_str()).exists() {
            return Err(OpenError::NotAWorkspace(root.to_owned()));
        }
        let files = WorkspaceFiles::open(root)?;
        let config = open_config(&files, &mut notices)?;
        let (registry, unreadable) = compose_registry(&files, &config);
        notices.extend(unreadable);
        let (mut journal, recovered) = open_journal(&files, &mut notices)?;
        let is_first = recovered.checkpoint.is_none() && recovered.operations.is_empty();
        let snapshot = replay(recovered, registry)?;
        let log = journal.log(MAX_HISTORY)?;
        let history = History::of(log.iter().rev().map(|entry| (entry.revision, entry.kind)));
        let summaries = log.into_iter().map(|entry| (entry.revision, entry.summary)).collect();
        let presence = journal.get_state::<Presence>(PRESENCE).ok().flatten().filter(Presence::is_sound);
        let snapshot = if is_first { first_state(&files, &mut journal, snapshot, &mut notices)? } else { snapshot };
        let mut workspace = Self {
            saved_revision: Revision::START,
            files,
            journal,
            config,
            snapshot,
            history,
            summaries,
            saved: BTreeMap::new(),
            dirty: Default::default(),
            held: BTreeMap::new(),
            notices,
            presence: presence.unwrap_or_default(),
        };
        workspace.compare_with_files()?;
        Ok(workspace)
    }

    /// Finds out which boards differ from their files, and takes in what others changed while nobody was looking.
    fn compare_with_files(&mut self) -> Result<(), OpenError> {
        let listed = self.files.list_boards()?;
        for other in &listed.others {
            self.notice(format!("boards/{}", other.file), other.to_string());
        }
        let known = self.journal.known_files()?;
        for (path, known) in &known {
            let Some(name) = path.as_board() else { continue };
            match self.files.read(path) {
                Ok(bytes) => {
                    let digest = Digest::of(&bytes);
                    if known.pending == Some(digest) {
                        self.journal.confirm(std::slice::from_ref(path))?;
                    } else if let (Some(recorded), Some(_)) = (known.recorded, known.pending) {
                        self.journal.record(&[(path.clone(), recorded)])?;
                    }
                    if known.is_ours(digest) {
                        self.recognise(&name, &bytes, digest);
                    }
                }
                Err(FileError::Missing { .. }) => {}
                Err(error) => self.notice(path.as_str(), error.to_string()),
            }
        }
        let mut boards: Vec<BoardName> = listed.boards;
        boards.extend(known.iter().filter_map(|(path, _)| path.as_board()));
        boards.sort();
        boards.dedup();
        for name in boards {
            self.look_at_board_file(&name);
        }
        for board in self.snapshot.boards() {
            if !self.saved.contains_key(&board.id) {
                self.dirty.insert(board.id);
            }
        }
        Ok(())
    }

    /// A file that holds what we last wrote: the board is saved if it still is that, and unsaved if not.
    fn recognise(&mut self, name: &BoardName, bytes: &[u8], digest: Digest) {
        let Some(board) = self.snapshot.board_named(name).map(|board| board.id) else { return };
        let ours = write_board(&self.snapshot.board_document(board)).map(|text| Digest::of(text.as_bytes()));
        if ours.is_ok_and(|ours| ours == digest) {
            self.saved.insert(board, Saved::At(self.snapshot.clone()));
            return;
        }
        self.dirty.insert(board);
        if let Ok(document) = std::str::from_utf8(bytes).map_err(drop).and_then(|text| read_board(text, name).map_err(drop))
        {
            self.saved.insert(board, Saved::File(Box::new(document)));
        }
    }
}

fn open_config(files: &WorkspaceFiles, notices: &mut BTreeMap<String, String>) -> Result<ProjectConfig, OpenError> {
    let path = WorkspacePath::config();
    match files.read_text(&path).and_then(|text| read_config(&text)) {
        Ok(config) => Ok(config),
        Err(error @ FileError::Newer { .. }) => Err(error.into()),
        Err(error) => {
            notices.insert(path.to_string(), format!("{error}; defaults are used until it is mended"));
            let name = files.root().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let modules = vec!["modules/*.json".to_owned()];
            Ok(ProjectConfig { format: 1, name, description: String::new(), modules, types: BTreeMap::new() })
        }
    }
}

/// The journal and what it holds. A damaged one is set aside, and a new one goes on from what could be read.
fn open_journal(
    files: &WorkspaceFiles,
    notices: &mut BTreeMap<String, String>,
) -> Result<(Journal, Recovered), OpenError> {
    let folder = files.state_folder();
    let opened = Journal::open(&folder).and_then(|journal| journal.recover().map(|recovered| (journal, recovered)));
    let (error, readable) = match opened {
        Ok(opened) => return Ok(opened),
        Err(JournalError::Damaged { revision, problem, readable }) => {
            (format!("the journal was damaged at revision {revision} ({problem})"), *readable)
        }
        Err(error @ JournalError::Unreadable { .. }) => (error.to_string(), Recovered::default()),
        Err(error) => return Err(error.into()),
    };
    let aside = Journal::set_aside(&folder)?;
    let mut journal = Journal::open(&folder)?;
    let recovered = if readable == Recovered::default() {
        readable
    } else {
        let state = replay(readable, Arc::default())?;
        let document = state.to_document();
        journal.checkpoint(&document, MAX_HISTORY)?;
        Recovered { checkpoint: Some(document), operations: Vec::new() }
    };
    notices.insert(
        "journal".to_owned(),
        format!("{error}; it is kept as {}, and all that could be read is here", aside.display()),
    );
    Ok((journal, recovered))
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

/// The first time: what the files say is the start, not an edit that could be undone.
fn first_state(
    files: &WorkspaceFiles,
    journal: &mut Journal,
    mut snapshot: Snapshot,
    notices: &mut BTreeMap<String, String>,
) -> Result<Snapshot, OpenError> {
    let mut taken = Vec::new();
    for name in files.list_boards()?.boards {
        let path = WorkspacePath::board(&name);
        let read = files.read(&path).and_then(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            Ok((read_board(&text, &name)?, Digest::of(&bytes)))
        });
        match read {
            Ok((document, digest)) => match take_board(&snapshot, &document) {
                Ok(next) => {
                    snapshot = next;
                    taken.push((path, digest));
                }
                Err(error) => drop(notices.insert(path.to_string(), format!("{path} was left out: {error}"))),
            },
            Err(error @ FileError::Newer { .. }) => return Err(error.into()),
            Err(error) => drop(notices.insert(path.to_string(), format!("{path} was left out: {error}"))),
        }
    }
    let start = Document { revision: Revision::START, ..snapshot.to_document() };
    journal.checkpoint(&start, MAX_HISTORY)?;
    journal.record(&taken)?;
    Snapshot::from_document(start, snapshot.registry().clone())
        .map_err(|error| OpenError::Inconsistent(error.to_string()))
}

fn take_board(snapshot: &Snapshot, document: &Document) -> Result<Snapshot, String> {
    let board = document.boards.first().ok_or("it names no board")?.id;
    let mut next = snapshot.clone();
    let mut changes = diff(&next, board, document).map_err(|error| error.to_string())?;
    changes.extend(place_missing(&next, &changes).map_err(|refusal| refusal.message)?);
    next.apply(next.revision().next(), &changes).map_err(|error| error.to_string())?;
    Ok(next)
}
