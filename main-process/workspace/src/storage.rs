//! The storage of an open workspace: its folder, its lock and its journal. All three can be deleted or replaced under a
//! running Draftboard, by `git clean -fdx` for example. Nothing is acknowledged before they are in order again.

use super::{
    board_files::BoardFiles,
    error::{storage, storage_file},
    history::OperationHistory,
    notices::{NoticeTopic, WorkspaceNotices},
    review::ReviewState,
};
use authority::Snapshot;
use journal::{
    Digest, FileRecord, Journal, JournalError, ProposalWrite, RebuiltJournal, ReviewWrite, WorkspaceFiles,
    WorkspacePath, write_board,
};
use shared_protocol::{ActorKind, Operation, Refusal, RefusalCode, Revision};
use std::sync::Arc;

const SAVED_REVISION: &str = "saved-revision";
/// Attempts to rebuild a journal that is replaced during the rebuild.
const MAX_ATTEMPTS: u32 = 3;

/// The right to be the only Draftboard of a workspace.
pub trait WorkspaceOwnership: Send {
    /// Takes the lock again if its file is not the one that was locked. The error names the present owner.
    fn reacquire(&self) -> Result<(), String>;
}

pub(super) struct WorkspaceStorage {
    pub(super) files: Arc<WorkspaceFiles>,
    pub(super) journal: Journal,
    /// The lock that must be held while anything is acknowledged. Without it the caller looks after the lock.
    pub(super) ownership: Option<Box<dyn WorkspaceOwnership>>,
}

/// The state that a file is compared with, and the storage that it is written through.
pub(super) struct WorkspaceFileContext<'a> {
    pub(super) storage: &'a mut WorkspaceStorage,
    pub(super) snapshot: &'a Snapshot,
    pub(super) notices: &'a mut WorkspaceNotices,
}

/// The parts of a workspace that a new journal is filled from.
pub(super) struct NewJournalContent<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) boards: &'a BoardFiles,
    pub(super) review: &'a ReviewState,
    /// Cleared when the operations before cannot be kept.
    pub(super) history: &'a mut OperationHistory,
    pub(super) notices: &'a mut WorkspaceNotices,
}

impl WorkspaceStorage {
    /// Repairs what was deleted or replaced, or refuses. Cheap when all is in order.
    pub(super) fn ensure(&mut self, content: &mut NewJournalContent<'_>) -> Result<(), Refusal> {
        self.repair(content).map_err(|refusal| self.without_root(refusal))
    }

    fn repair(&mut self, content: &mut NewJournalContent<'_>) -> Result<(), Refusal> {
        self.ensure_owned()?;
        self.take_back_unacknowledged(content.review);
        match self.journal.check_consistency() {
            Ok(()) => Ok(()),
            Err(error @ JournalError::Displaced { .. }) => self.renew_journal(&error, content),
            Err(error) => Err(storage(&error)),
        }
    }

    /// Agents receive these refusals, and the path of the workspace on this computer is private.
    fn without_root(&self, refusal: Refusal) -> Refusal {
        let root = self.files.root().display().to_string();
        tracing::debug!(root, %refusal, "the storage of the workspace is not in order");
        let relative = |text: &str| text.replace(&format!("{root}/"), "").replace(&root, "the workspace");
        Refusal {
            message: relative(&refusal.message),
            hints: refusal.hints.iter().map(|hint| relative(hint)).collect(),
            ..refusal
        }
    }

    /// A read-only workspace accepts edits that other programs made to its files, and lines of the audit, which last as long
    /// as it is open.
    pub(super) fn refuse_read_only(
        &self,
        operations: &[Operation],
        review: &ReviewWrite<'_>,
    ) -> Result<(), Refusal> {
        let is_external = |operation: &Operation| operation.actor.kind == ActorKind::External;
        match operations.iter().all(is_external) && review.proposals.is_empty() {
            true => Ok(()),
            false => self.ensure_writable(),
        }
    }

    pub(super) fn ensure_writable(&self) -> Result<(), Refusal> {
        if !self.files.is_read_only() {
            return Ok(());
        }
        let message =
            "The workspace is read-only: you have no write permission for its folder. Nothing was changed";
        Err(Refusal::new(RefusalCode::ReadOnly, message)
            .hint("Make the folder writable, or open a copy of it."))
    }

    fn ensure_owned(&self) -> Result<(), Refusal> {
        if let Err(error) = self.files.check_root() {
            return Err(Refusal::new(RefusalCode::StorageError, error.to_string()));
        }
        let Some(ownership) = &self.ownership else { return Ok(()) };
        ownership.reacquire().map_err(|problem| {
            Refusal::new(RefusalCode::StorageError, format!("Nothing was changed: {problem}"))
                .hint("Close one of the two Draftboards, then try again.")
        })
    }

    /// Appends a group. When it returns, the group is in the file that is at the journal's path; after an error it is nowhere.
    ///
    /// The lock is checked before and not after: another process that takes it in between cannot open the journal, which
    /// SQLite holds for this one alone, unless its file was replaced, and then the append fails.
    pub(super) fn append(
        &mut self,
        operations: &[Operation],
        review: &ReviewWrite<'_>,
        content: &mut NewJournalContent<'_>,
    ) -> Result<(), Refusal> {
        self.append_in_order(operations, review, content).map_err(|refusal| self.without_root(refusal))
    }

    fn append_in_order(
        &mut self,
        operations: &[Operation],
        review: &ReviewWrite<'_>,
        content: &mut NewJournalContent<'_>,
    ) -> Result<(), Refusal> {
        for _ in 0..MAX_ATTEMPTS {
            self.ensure_owned()?;
            let Err(error) = self.journal.append_with(operations, review) else { return Ok(()) };
            self.take_back_unacknowledged(content.review);
            if !matches!(error, JournalError::Displaced { .. }) {
                return Err(storage(&error));
            }
            // The process that has the lock now may have put the file there.
            self.ensure_owned()?;
            self.renew_journal(&error, content)?;
        }
        let problem = "its files are being replaced repeatedly".to_owned();
        Err(storage(&JournalError::Displaced { problem }))
    }

    /// Removes refused operations from the journal. Where that fails, the journal is rebuilt before the next
    /// change.
    fn take_back_unacknowledged(&mut self, review: &ReviewState) {
        if !self.journal.is_consistent()
            && let Err(error) = self.roll_back_journal(review)
        {
            tracing::warn!(%error, "the journal holds something that was not acknowledged");
        }
    }

    fn roll_back_journal(&mut self, review: &ReviewState) -> Result<(), JournalError> {
        let proposals = review.queue.iter().map(|proposal| ProposalWrite {
            proposal,
            stamp: review.stamp_of(proposal.id),
            base_revision: None,
            unchanged_prefix: None,
        });
        self.journal.roll_back(&ReviewWrite {
            stamp: review.stamp(),
            proposals: proposals.collect(),
            ..ReviewWrite::default()
        })
    }

    /// Rebuilds the journal from the open file, or from memory, and sets a notice.
    fn renew_journal(
        &mut self,
        error: &JournalError,
        content: &mut NewJournalContent<'_>,
    ) -> Result<(), Refusal> {
        self.files.prepare_state_folder().map_err(|error| storage_file(&error))?;
        let document = content.snapshot.to_document();
        let renewed =
            self.journal.rebuild(&self.files.state_folder(), &document).map_err(|error| storage(&error))?;
        if !renewed.is_complete {
            self.refill_journal(content).map_err(|error| storage(&error))?;
        }
        content.notices.set(NoticeTopic::Journal, renewal_notice(error, &renewed));
        Ok(())
    }

    /// Puts into a new journal what memory holds beside the graph: the review queue and the records of files.
    fn refill_journal(&mut self, content: &mut NewJournalContent<'_>) -> Result<(), JournalError> {
        for (board, saved) in &content.boards.saved {
            let Ok(text) = write_board(&saved.content.board_document(*board)) else { continue };
            let path = WorkspacePath::board(&saved.file);
            self.journal.record_content(&[(path.clone(), Digest::hash(text.as_bytes()))])?;
            self.record_text(&path, &text);
        }
        let sources: Vec<(WorkspacePath, Digest)> = content
            .snapshot
            .sources()
            .map(|(path, text)| (WorkspacePath::from(path), Digest::hash(text.as_bytes())))
            .collect();
        self.journal.record_content(&sources)?;
        self.roll_back_journal(content.review)?;
        self.store_saved_revision(content.boards.last_saved_revision);
        *content.history = OperationHistory::default();
        Ok(())
    }

    pub(super) fn store_saved_revision(&mut self, revision: Revision) {
        if let Err(error) = self.journal.set_state(SAVED_REVISION, &revision) {
            tracing::warn!(%error, "the saved revision was not stored");
        }
    }

    pub(super) fn stored_saved_revision(&self) -> Revision {
        self.journal.get_state(SAVED_REVISION).ok().flatten().unwrap_or(Revision::START)
    }

    // ---- records of files ---------------------------------------------------------------------------------------------

    /// Stores the text of a file that is now ours. Without it a later edit may be held as a conflict, and no more.
    pub(super) fn record_text(&mut self, path: &WorkspacePath, text: &str) {
        record_text(&mut self.journal, path, text);
    }

    /// The text of a file when it was last ours.
    pub(super) fn recorded_text(&self, path: &WorkspacePath) -> Option<String> {
        self.journal.get_state::<String>(&text_key(path)).ok().flatten()
    }

    /// Records that the file is no longer ours.
    pub(super) fn remove_record(&mut self, path: &WorkspacePath) -> Result<(), JournalError> {
        self.journal.forget_file(path)?;
        self.record_text(path, "");
        Ok(())
    }

    /// Records the content that an interrupted or failed save left in the file.
    pub(super) fn settle_pending(&mut self, path: &WorkspacePath) -> Result<(), JournalError> {
        let FileRecord { recorded, pending: Some(pending) } = self.journal.file_record(path)? else {
            return Ok(());
        };
        let there = self.files.read(path).ok();
        match (there, recorded) {
            (Some(bytes), _) if Digest::hash(&bytes) == pending => {
                self.journal.confirm_pending(std::slice::from_ref(path))?;
                self.record_text(path, &String::from_utf8_lossy(&bytes));
                Ok(())
            }
            (_, Some(recorded)) => self.journal.record_content(&[(path.clone(), recorded)]),
            (_, None) => self.remove_record(path),
        }
    }
}

pub(super) fn record_text(journal: &mut Journal, path: &WorkspacePath, text: &str) {
    if let Err(error) = journal.set_state(&text_key(path), text) {
        tracing::warn!(%path, %error, "the saved text was not stored");
    }
}

fn text_key(path: &WorkspacePath) -> String {
    format!("saved {path}")
}

fn renewal_notice(error: &JournalError, renewed: &RebuiltJournal) -> String {
    let happened = match error {
        JournalError::Displaced { problem } => problem.clone(),
        other => other.to_string(),
    };
    let kept = match renewed.is_complete {
        true => "The journal was recreated with its complete content; no change is lost.",
        false => {
            "The journal was recreated from memory: boards and the review queue are kept, and no change is lost. \
             The earlier history and audit log are lost, so earlier changes cannot be undone."
        }
    };
    let aside = renewed
        .set_aside_path
        .as_ref()
        .map(|path| format!(" The file found in its place was moved to {}.", path.display()));
    format!("{happened}. {kept}{}", aside.unwrap_or_default())
}
