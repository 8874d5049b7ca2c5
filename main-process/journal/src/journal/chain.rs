//! The hash chain: the hash of each operation covers the previous operation, so that a changed, missing or
//! reordered row is detected.

use super::{Journal, row::OperationRow};
use crate::{Digest, JournalError};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use shared_protocol::Revision;

/// A link of the chain: the revision of an operation and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HashChainLink {
    pub(super) revision: Revision,
    pub(super) hash: Digest,
}

/// The range of kept operations whose hash chain was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedHashChain {
    /// The oldest kept operation; one after `last` when there is none.
    pub first: Revision,
    pub last: Revision,
    pub count: u64,
}

impl HashChainLink {
    pub(super) const START: Self = Self { revision: Revision::START, hash: Digest::ZERO };

    pub(super) fn from_columns(
        row: &rusqlite::Row<'_>,
        revision: usize,
        hash: usize,
    ) -> Result<Self, rusqlite::Error> {
        let number: i64 = row.get(revision)?;
        let number =
            u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(revision, number))?;
        Ok(Self { revision: Revision(number), hash: row.get(hash)? })
    }

    /// Returns the link to `row` when it follows this one. The error names the revision where the chain breaks.
    pub(super) fn next_link(self, row: &OperationRow) -> Result<Self, (Revision, String)> {
        let expected = self.revision.next();
        if row.revision != expected {
            return Err((expected, format!("it is missing; the next revision is {}", row.revision)));
        }
        if row.previous != self.hash {
            return Err((expected, "it does not follow the operation before it".to_owned()));
        }
        if row.computed_hash() != row.hash {
            return Err((expected, "its content does not match its hash".to_owned()));
        }
        Ok(Self { revision: row.revision, hash: row.hash })
    }
}

impl Journal {
    /// Checks every kept operation and the checkpoint against their hashes. Reads everything: for a check on
    /// demand, not for every start.
    pub fn verify(&self) -> Result<VerifiedHashChain, JournalError> {
        let anchor = self.anchor()?;
        let checkpoint = self.read_checkpoint()?.map(|(_, link)| link);
        let mut link = anchor;
        let mut count = 0;
        check_checkpoint(checkpoint, link)?;
        self.rows_after(anchor.revision, &mut |row| {
            link = link
                .next_link(&row)
                .map_err(|(revision, problem)| JournalError::damaged_at(revision, problem))?;
            check_checkpoint(checkpoint, link)?;
            row.decode()?;
            count += 1;
            Ok(())
        })?;
        Ok(VerifiedHashChain { first: anchor.revision.next(), last: link.revision, count })
    }
}

/// Checks that the chain and the checkpoint agree at the revision of the checkpoint.
fn check_checkpoint(checkpoint: Option<HashChainLink>, link: HashChainLink) -> Result<(), JournalError> {
    match checkpoint {
        Some(checkpoint) if checkpoint.revision == link.revision && checkpoint != link => Err(
            JournalError::damaged_at(link.revision, "the checkpoint does not match the operations around it"),
        ),
        _ => Ok(()),
    }
}

impl ToSql for Digest {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?;
        Self::from_slice(bytes)
            .ok_or(FromSqlError::InvalidBlobSize { expected_size: 32, blob_size: bytes.len() })
    }
}
