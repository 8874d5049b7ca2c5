//! The hash chain: the hash of each operation covers the previous operation, so that a changed, missing or
//! reordered row is detected.

use super::row::OperationRow;
use crate::Digest;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use shared_protocol::Revision;

/// A link of the chain: the revision of an operation and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HashChainLink {
    pub(super) revision: Revision,
    pub(super) hash: Digest,
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
