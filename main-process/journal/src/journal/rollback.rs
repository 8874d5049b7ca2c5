//! Rolls back writes that were not acknowledged. A write can reach the database and still be refused: its files
//! were deleted meanwhile and could not be rebuilt.

use super::{Durability, Journal, ReviewWrite, open::read_end, review, to_sql};
use crate::JournalError;

impl Journal {
    /// Returns whether the database contains exactly the acknowledged writes.
    pub fn is_consistent(&self) -> bool {
        self.is_consistent
    }

    /// After a failed append: checks whether the database still ends at the acknowledged end. A database that
    /// cannot be read counts as inconsistent.
    pub(super) fn detect_unacknowledged(&mut self) {
        let found = read_end(&self.connection)
            .and_then(|(tail, _)| Ok((tail, review::ReviewTail::read(&self.connection)?)))
            .inspect_err(
                |error| tracing::warn!(%error, "cannot read the end of the journal after a failure"),
            );
        self.is_consistent = found.is_ok_and(|found| found == (self.tail, self.review));
    }

    /// Removes the traces of a failed append. `queue` is the complete acknowledged review queue. Writes to the open
    /// files wherever they are now: they may be moved back, and [`Self::rebuild`] copies them.
    pub fn roll_back(&mut self, queue: &ReviewWrite<'_>) -> Result<(), JournalError> {
        if self.is_consistent {
            return Ok(());
        }
        let (tail, end) = (to_sql(self.tail.revision.0)?, self.review);
        let taken_back = self.commit(Durability::Durable, |transaction| {
            transaction.execute("DELETE FROM operations WHERE revision > ?1", [tail])?;
            transaction.execute("DELETE FROM origins WHERE revision > ?1", [tail])?;
            queue.restore(transaction, end)
        });
        // The next check finds files that were moved.
        drop(self.check_after_write());
        self.review = taken_back?;
        self.is_consistent = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::append::{chain_rows, insert_rows};
    use shared_protocol::{Actor, ActorKind, Operation, OperationKind, Revision, review::AuditEntry};

    fn operation(revision: u64, summary: &str) -> Operation {
        Operation {
            revision: Revision(revision),
            time: revision,
            actor: Actor::new(ActorKind::Window, "ada"),
            kind: OperationKind::Edit,
            summary: summary.to_owned(),
            changes: Vec::new(),
        }
    }

    fn summaries(journal: &Journal) -> Vec<String> {
        journal.recover().unwrap().operations.into_iter().map(|operation| operation.summary).collect()
    }

    #[test]
    fn what_was_committed_and_refused_is_gone_and_what_follows_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        let audit: AuditEntry = serde_json::from_str(r#"{"time":1,"event":"expire","way":"clock"}"#).unwrap();
        let note = |stamp| ReviewWrite { stamp, audit: vec![audit.clone()], ..ReviewWrite::default() };
        journal.append_with(&[operation(1, "first")], &note(1)).unwrap();
        // Simulates files that are deleted between the commit and the check.
        let rows = chain_rows(journal.tail, &[operation(2, "refused")]).unwrap();
        let (end, identity) = (journal.review, journal.identity().to_owned());
        let committed = journal.commit(Durability::Durable, |transaction| {
            insert_rows(transaction, &rows)?;
            note(2).write(transaction, end, &identity)
        });
        committed.unwrap();
        for name in ["journal.db", "journal.db-wal"] {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
        journal.check_after_write().unwrap_err();
        journal.detect_unacknowledged();
        assert!(!journal.is_consistent() && journal.check_consistency().is_err());
        assert!(journal.append(&[operation(2, "second")]).is_err());

        journal.roll_back(&ReviewWrite { stamp: 1, ..ReviewWrite::default() }).unwrap();
        assert_eq!((summaries(&journal), journal.audit(0, 9).unwrap().len()), (vec!["first".to_owned()], 1));
        let document = shared_protocol::GraphDocument { revision: Revision(1), ..Default::default() };
        assert!(journal.rebuild(folder.path(), &document).unwrap().is_complete);
        journal.append_with(&[operation(2, "second")], &note(2)).unwrap();
        drop(journal);
        let journal = Journal::open(folder.path()).unwrap();
        assert_eq!(summaries(&journal), ["first", "second"]);
        crate::check_audit(None, &journal.audit(0, 9).unwrap()).unwrap();
        let deleted = journal.connection.execute("DELETE FROM audit", []);
        assert!(deleted.is_err(), "the audit is only added to");
    }
}
