//! Opening a workspace: the journal's state first, then the files. A damaged part is set aside and named in a notice; the rest
//! opens.

use super::{
    OpenWorkspaceError, PRESENCE, SpecBundles, TimeAndSeed, Workspace,
    board_files::{self, BoardFiles},
    components::WorkspaceComponents,
    first_state::first_state,
    history::OperationHistory,
    links::{TraceLinkEndSources, WorkspaceTraceLinks},
    notices::{NoticeTopic, WorkspaceNotices},
    overrides::OverrideFile,
    registry,
    review::{ReviewState, WorkspaceReview},
    sources::SourceFiles,
    storage::WorkspaceStorage,
};
use authority::{Snapshot, TypeRegistry};
use components::ComponentLibrary;
use journal::{
    FileError, Journal, JournalError, ProjectConfig, RecoveredHistory, WorkspaceFiles, WorkspacePath,
    read_config,
};
use shared_protocol::{
    limits::MAX_HISTORY_OPERATIONS,
    messages::{DesignerActivity, Presence},
};
use std::{path::Path, sync::Arc};
use terraform::settings::IGNORED_PROGRAM_NOTICE;

impl Workspace {
    /// Opens a folder. The caller holds the workspace's lock. Edits of the files by other programs enter as of `moment`.
    pub fn open(root: &Path, moment: TimeAndSeed) -> Result<Self, OpenWorkspaceError> {
        if !root.join(WorkspacePath::config().as_str()).exists() {
            return Err(OpenWorkspaceError::no_workspace(root));
        }
        let mut notices = WorkspaceNotices::default();
        let files = WorkspaceFiles::open(root)?;
        let config = open_config(&files, &mut notices)?;
        let (registry, unreadable) = registry::compose(&files, &config, &ComponentLibrary::default());
        for (origin, problem) in unreadable {
            notices.set(NoticeTopic::Module(origin), problem);
        }
        let (mut journal, recovered) = match files.is_read_only() {
            false => open_journal(&files, &mut notices)?,
            true => {
                notices.set(NoticeTopic::ReadOnly, read_only_notice(&files));
                (Journal::in_memory()?, None)
            }
        };
        let (snapshot, first_files) = match recovered {
            Some(recovered) => (replay(recovered, registry)?, Vec::new()),
            None => first_state(&files, &config, &mut journal, registry)?,
        };
        let history = OperationHistory::load(&journal, &mut notices);
        let presence = journal.get_state::<Presence>(PRESENCE).ok().flatten().filter(Presence::is_valid);
        // The screen of an earlier run is not this one's.
        let presence =
            presence.map(|presence| Presence { area: None, doing: DesignerActivity::Nothing, ..presence });
        let bundles = SpecBundles::load(&config.bundles, &snapshot);
        let state = ReviewState::load(&mut journal, snapshot.revision(), &mut notices);
        let mut workspace = Self {
            boards: BoardFiles::new(first_files),
            storage: WorkspaceStorage { files: Arc::new(files), journal, ownership: None },
            config,
            snapshot,
            history,
            sources: SourceFiles::default(),
            overrides: OverrideFile::default(),
            links: WorkspaceTraceLinks::default(),
            components: WorkspaceComponents::default(),
            bundles,
            notices,
            review: WorkspaceReview { state, ..WorkspaceReview::default() },
            presence: presence.unwrap_or_default(),
        };
        workspace.read_files(moment)?;
        Ok(workspace)
    }

    fn read_files(&mut self, moment: TimeAndSeed) -> Result<(), OpenWorkspaceError> {
        let Self { boards, storage, snapshot, notices, .. } = self;
        boards.load(storage, snapshot)?;
        let names = boards.names(storage, snapshot, notices);
        board_files::refuse_newer(&names, storage, snapshot)?;
        self.ingest_boards(&names, moment);
        self.ingest_sources(moment);
        self.components.read(&self.snapshot, &mut self.notices);
        self.compose_registry();
        self.ingest_overrides(moment);
        let ends = TraceLinkEndSources { snapshot: &self.snapshot, bundles: &self.bundles };
        self.links.read(ends, &mut self.notices);
        self.bundles.update_notices(&mut self.notices);
        Ok(())
    }
}

fn read_only_notice(files: &WorkspaceFiles) -> String {
    let journal = WorkspacePath::parse(".draftboard/journal.db");
    let unsaved = match journal.is_ok_and(|journal| files.exists(&journal)) {
        _ if files.is_state_denied() => {
            " Its .draftboard folder belongs to another user and is not read: overrides and unsaved changes are not shown."
        }
        true => " Changes in its journal that were never saved to files are not shown.",
        false => "",
    };
    format!(
        "The workspace is read-only: you have no write permission for {}, so nothing can be changed or saved. Make the folder writable, \
         or open a copy, to edit it.{unsaved}",
        files.root().display()
    )
}

fn open_config(
    files: &WorkspaceFiles,
    notices: &mut WorkspaceNotices,
) -> Result<ProjectConfig, OpenWorkspaceError> {
    let text = files.read_text(&WorkspacePath::config());
    if text.as_ref().is_ok_and(|text| names_program(text)) {
        notices.set(NoticeTopic::Program, IGNORED_PROGRAM_NOTICE);
    }
    match text.and_then(|text| read_config(&text)) {
        Ok(config) => Ok(config),
        Err(error @ FileError::Newer { .. }) => Err(error.into()),
        Err(error) => {
            notices.set(NoticeTopic::Config, format!("{error}; defaults are used until the file is fixed"));
            let name =
                files.root().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Ok(ProjectConfig::fallback(name))
        }
    }
}

/// Whether the text of `draftboard.toml` names a program to run.
pub(super) fn names_program(text: &str) -> bool {
    terraform::TerraformProjectSettings::read(text).is_ok_and(|settings| settings.names_program())
}

/// The journal and its content; `None` when it is new. A damaged one is set aside, and a new one continues from the readable
/// part. The new one has no records of files, so that no file is taken for older than the state.
fn open_journal(
    files: &WorkspaceFiles,
    notices: &mut WorkspaceNotices,
) -> Result<(Journal, Option<RecoveredHistory>), OpenWorkspaceError> {
    let folder = files.state_folder();
    let opened =
        Journal::open(&folder).and_then(|journal| journal.recover().map(|recovered| (journal, recovered)));
    let (error, readable) = match opened {
        Ok((journal, recovered)) => return Ok((journal, Some(recovered).filter(|found| !is_nothing(found)))),
        Err(JournalError::Damaged { revision, problem, readable }) => {
            (format!("the journal was damaged at revision {revision} ({problem})"), *readable)
        }
        Err(error @ JournalError::Unreadable { .. }) => (error.to_string(), RecoveredHistory::default()),
        Err(error) => return Err(error.into()),
    };
    let recovered = if is_nothing(&readable) {
        None
    } else {
        let state = replay(readable, Arc::default())?;
        Some(RecoveredHistory { checkpoint: Some(state.to_document()), operations: Vec::new() })
    };
    let aside = Journal::set_aside(&folder)?;
    let mut journal = Journal::open(&folder)?;
    if let Some(document) = recovered.as_ref().and_then(|recovered| recovered.checkpoint.as_ref()) {
        journal.checkpoint(document, MAX_HISTORY_OPERATIONS)?;
    }
    let kept = aside.map(|aside| format!("it was moved to {}, and ", aside.display())).unwrap_or_default();
    let notice = format!("{error}; {kept}all readable content was recovered");
    notices.set(NoticeTopic::Journal, notice);
    Ok((journal, recovered))
}

fn is_nothing(recovered: &RecoveredHistory) -> bool {
    recovered.checkpoint.is_none() && recovered.operations.is_empty()
}

fn replay(recovered: RecoveredHistory, registry: Arc<TypeRegistry>) -> Result<Snapshot, OpenWorkspaceError> {
    let inconsistent = |error: authority::ApplyError| OpenWorkspaceError::Inconsistent(error.to_string());
    let mut state =
        Snapshot::from_document(recovered.checkpoint.unwrap_or_default(), registry).map_err(inconsistent)?;
    for operation in recovered.operations {
        state.apply(operation.revision, &operation.changes).map_err(inconsistent)?;
    }
    Ok(state)
}
