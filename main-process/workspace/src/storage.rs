//! What an open workspace stands on: its folder, its lock and its journal. All three can be deleted or replaced under a
//! running Draftboard, by `git clean -fdx` for example; nothing is acknowledged before they are in order again.

use super::{About, Workspace, error::storage, saved::remember};
use authority::History;
use journal::{
    Digest, JournalError, RenewedJournal, ReviewWrite, WorkspacePath, WrittenProposal, write_board,
};
use shared_protocol::{ActorKind, Code, Operation, Refusal};

/// The right to be the only Draftboard of a workspace.
pub trait Ownership: Send {
    /// Takes the lock again if its file is not the one that was locked. The error says who has it now.
    fn hold(&self) -> Result<(), String>;
}

impl Workspace {
    /// Whose lock is looked after; without it the caller looks after it.
    pub fn owned_by(&mut self, ownership: Box<dyn Ownership>) {
        self.ownership = Some(ownership);
    }

    /// Puts in order what was deleted or replaced underneath, or says why nothing can be changed. Cheap when all is well.
    pub fn ensure_storage(&mut self) -> Result<(), Refusal> {
        self.put_in_order().map_err(|refusal| self.without_root(refusal))
    }

    fn put_in_order(&mut self) -> Result<(), Refusal> {
        self.ensure_owned()?;
        self.take_back_unacknowledged();
        match self.journal.check() {
            Ok(()) => Ok(()),
            Err(error @ JournalError::Displaced { .. }) => self.renew_journal(&error),
            Err(error) => Err(storage(&error)),
        }
    }

    /// Agents are told these refusals, and where the workspace is on this computer is not theirs to know.
    fn without_root(&self, refusal: Refusal) -> Refusal {
        let root = self.root().display().to_string();
        tracing::debug!(root, %refusal, "the storage of the workspace is not in order");
        let tell = |text: &str| text.replace(&format!("{root}/"), "").replace(&root, "the workspace");
        Refusal {
            message: tell(&refusal.message),
            hints: refusal.hints.iter().map(|hint| tell(hint)).collect(),
            ..refusal
        }
    }

    /// Looks at the storage while nothing is being changed; a failure is a notice until it is over.
    pub fn look_after_storage(&mut self) {
        match self.ensure_storage() {
            Ok(()) => self.in_order(&About::Storage),
            Err(refusal) => self.notice(About::Storage, refusal.message),
        }
    }

    /// Of a workspace that may only be read, only what others changed in its files enters, and lines of the audit for as long
    /// as it is open.
    pub(super) fn refuse_read_only(
        &self,
        operations: &[Operation],
        review: &ReviewWrite<'_>,
    ) -> Result<(), Refusal> {
        let is_external = |operation: &Operation| operation.actor.kind == ActorKind::External;
        let decides = !review.proposals.is_empty();
        if !self.files.is_read_only() || (operations.iter().all(is_external) && !decides) {
            return Ok(());
        }
        Err(self.read_only())
    }

    pub(super) fn read_only(&self) -> Refusal {
        let message = "The workspace is read-only: you may not write to its folder, and nothing was changed";
        Refusal::new(Code::ReadOnly, message).hint("Make the folder writable, or open a copy of it.")
    }

    fn ensure_owned(&mut self) -> Result<(), Refusal> {
        if let Err(error) = self.files.check_root() {
            return Err(Refusal::new(Code::StorageError, error.to_string()));
        }
        let Some(ownership) = &self.ownership else { return Ok(()) };
        ownership.hold().map_err(|problem| {
            Refusal::new(Code::StorageError, format!("Nothing was changed: {problem}"))
                .hint("Close one of the two; what is shown here was not changed.")
        })
    }

    /// Appends a group. When it returns, the group is in the file that is at the journal's path; after an error it is nowhere.
    ///
    /// The lock is looked at before and not after: whoever takes it in between cannot open the journal, which SQLite holds
    /// for us alone, unless its file was replaced, and then the append fails.
    pub(super) fn append(
        &mut self,
        operations: &[Operation],
        review: &ReviewWrite<'_>,
    ) -> Result<(), Refusal> {
        self.append_in_order(operations, review).map_err(|refusal| self.without_root(refusal))
    }

    fn append_in_order(&mut self, operations: &[Operation], review: &ReviewWrite<'_>) -> Result<(), Refusal> {
        for _ in 0..MAX_ATTEMPTS {
            self.ensure_owned()?;
            let Err(error) = self.journal.append_with(operations, review) else { return Ok(()) };
            self.take_back_unacknowledged();
            if !matches!(error, JournalError::Displaced { .. }) {
                return Err(storage(&error));
            }
            // Whoever has the lock now may have put the file there.
            self.ensure_owned()?;
            self.renew_journal(&error)?;
        }
        let problem = "its files are replaced again and again".to_owned();
        Err(storage(&JournalError::Displaced { problem }))
    }

    /// Removes from the journal what reached it and was refused. Where that fails, the journal is made anew before the next
    /// change.
    fn take_back_unacknowledged(&mut self) {
        if !self.journal.is_in_step()
            && let Err(error) = self.take_back()
        {
            tracing::warn!(%error, "the journal holds something that was not acknowledged");
        }
    }

    fn take_back(&mut self) -> Result<(), JournalError> {
        let desk = &self.desk;
        let proposals = desk.queue.iter().map(|proposal| WrittenProposal {
            proposal,
            stamp: desk.stamp_of(proposal.id),
            over: None,
            kept: None,
        });
        self.journal.take_back(&ReviewWrite {
            stamp: desk.stamp(),
            proposals: proposals.collect(),
            ..ReviewWrite::default()
        })
    }

    /// Makes the journal anew from what is open, or from memory, and says so.
    fn renew_journal(&mut self, error: &JournalError) -> Result<(), Refusal> {
        self.files.prepare_state_folder().map_err(|error| super::error::storage_file(&error))?;
        let folder = self.files.state_folder();
        let renewed =
            self.journal.renew(&folder, &self.snapshot.to_document()).map_err(|error| storage(&error))?;
        if !renewed.is_complete {
            self.refill_journal().map_err(|error| storage(&error))?;
        }
        self.notice(About::Journal, words(error, &renewed));
        Ok(())
    }

    /// Puts into a new journal what memory holds beside the graph: the review queue and what is known of files.
    fn refill_journal(&mut self) -> Result<(), JournalError> {
        for (board, saved) in &self.saved {
            let Ok(text) = write_board(&saved.content.board_document(*board)) else { continue };
            let path = WorkspacePath::board(&saved.file);
            self.journal.record(&[(path.clone(), Digest::of(text.as_bytes()))])?;
            remember(&mut self.journal, &path, &text);
        }
        let sources: Vec<(WorkspacePath, Digest)> = self
            .snapshot
            .sources()
            .map(|(path, text)| (WorkspacePath::from(path), Digest::of(text.as_bytes())))
            .collect();
        self.journal.record(&sources)?;
        self.take_back()?;
        self.keep_saved_revision();
        // What came before cannot be undone any more.
        self.history = History::default();
        self.summaries.clear();
        Ok(())
    }
}

/// A journal that is replaced while it is being made anew is made anew once more.
const MAX_ATTEMPTS: u32 = 3;

fn words(error: &JournalError, renewed: &RenewedJournal) -> String {
    let happened = match error {
        JournalError::Displaced { problem } => problem.clone(),
        other => other.to_string(),
    };
    let kept = match renewed.is_complete {
        true => "The journal was made anew with everything that was in it; no change is lost.",
        false => {
            "The journal was made anew from memory: boards and the review queue are kept, and no change is lost. \
             The history and the audit before now could not be kept, so earlier changes cannot be undone."
        }
    };
    let aside =
        renewed.aside.as_ref().map(|path| format!(" The file found there is kept as {}.", path.display()));
    format!("{happened}. {kept}{}", aside.unwrap_or_default())
}
