//! The audit log of the review queue. The hash of each line covers the previous line, so that a changed, missing or
//! reordered line is detected. Lines are never changed or removed. A line is signed in the transaction that writes it.

use super::{Journal, to_sql};
use crate::{Digest, JournalError};
use rusqlite::{Connection, OptionalExtension as _, Transaction};
use shared_protocol::review::{AuditEntry, AuditLine, LineSignature, MAX_AUDIT_ENTRIES};
use std::fmt;

/// Signs lines of the audit.
pub trait AuditSigner: fmt::Debug {
    /// Signs [`AuditLine::signed_text`]. Returns `None` without a key: then the line stays unsigned.
    fn sign(&self, journal: &str, number: u64, hash: &str) -> Option<LineSignature>;
}

/// The newest audit line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LatestAuditLine {
    number: u64,
    hash: Digest,
}

impl LatestAuditLine {
    pub(super) const START: Self = Self { number: 0, hash: Digest::ZERO };

    pub(super) fn read(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let newest = connection
            .query_row("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Digest>(1)?))
            })
            .optional()?;
        Ok(newest
            .map_or(Self::START, |(number, hash)| Self { number: u64::try_from(number).unwrap_or(0), hash }))
    }

    pub(super) fn append(
        self,
        transaction: &Transaction<'_>,
        entries: &[AuditEntry],
        (journal, signer): (&str, Option<&dyn AuditSigner>),
    ) -> Result<Self, JournalError> {
        let mut end = self;
        let mut insert = transaction.prepare_cached(
            "INSERT INTO audit (number, previous_hash, hash, text, key, algorithm, signature)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        for entry in entries {
            let text = serde_json::to_string(entry)
                .map_err(|error| JournalError::unstorable("a line of the audit", error))?;
            let number = end.number + 1;
            let hash = audit_line_hash(end.hash.as_bytes(), number, &text);
            let signed = signer.and_then(|signer| signer.sign(journal, number, &hash.to_string()));
            let (key, algorithm, signature) = match &signed {
                Some(signed) => (Some(&signed.key), Some(&signed.algorithm), Some(&signed.value)),
                None => (None, None, None),
            };
            insert.execute((to_sql(number)?, end.hash, hash, &text, key, algorithm, signature))?;
            end = Self { number, hash };
        }
        Ok(end)
    }

    /// Removes the lines after this one, which belong to a refused write. The only place where the audit loses
    /// lines.
    pub(super) fn roll_back(self, transaction: &Transaction<'_>) -> Result<(), JournalError> {
        if Self::read(transaction)? == self {
            return Ok(());
        }
        let stays = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'audit_stays'";
        let stays: String = transaction.query_row(stays, [], |row| row.get(0))?;
        transaction.execute_batch("DROP TRIGGER audit_stays")?;
        transaction.execute("DELETE FROM audit WHERE number > ?1", [to_sql(self.number)?])?;
        Ok(transaction.execute_batch(&stays)?)
    }
}

fn audit_line_hash(previous: &[u8], number: u64, text: &str) -> Digest {
    Digest::of_parts([previous, &number.to_be_bytes(), text.as_bytes()])
}

impl Journal {
    /// Returns the lines after a number, oldest first.
    pub fn audit(&self, after: u64, limit: u32) -> Result<Vec<AuditLine>, JournalError> {
        let mut select = self.connection.prepare_cached(
            "SELECT number, previous_hash, hash, text, key, algorithm, signature FROM audit
             WHERE number > ?1 ORDER BY number LIMIT ?2",
        )?;
        let rows = select.query_map((to_sql(after)?, limit.min(MAX_AUDIT_ENTRIES)), |row| {
            let (previous, hash): (Digest, Digest) = (row.get(1)?, row.get(2)?);
            Ok(AuditLine {
                number: u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0),
                previous: previous.to_string(),
                hash: hash.to_string(),
                text: row.get(3)?,
                signature: row.get::<_, Option<String>>(6)?.map(|value| {
                    let column =
                        |index| row.get::<_, Option<String>>(index).ok().flatten().unwrap_or_default();
                    LineSignature {
                        journal: self.identity.clone(),
                        key: column(4),
                        algorithm: column(5),
                        value,
                    }
                }),
            })
        })?;
        rows.map(|row| row.map_err(JournalError::from)).collect()
    }

    /// Returns the number of the first line with a signature.
    pub fn first_signed_line(&self) -> Result<Option<u64>, JournalError> {
        let sql = "SELECT min(number) FROM audit WHERE signature IS NOT NULL";
        let number: Option<i64> = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(number.and_then(|number| u64::try_from(number).ok()))
    }

    /// Returns the names of the keys that signed lines.
    pub fn audit_signers(&self) -> Result<Vec<String>, JournalError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT DISTINCT key FROM audit WHERE key IS NOT NULL ORDER BY key")?;
        let keys = select.query_map([], |row| row.get(0))?;
        keys.map(|key| key.map_err(JournalError::from)).collect()
    }

    /// Returns the number and the hash of the newest line; zero before the first.
    pub fn audit_head(&self) -> (u64, String) {
        let LatestAuditLine { number, hash } = self.review.audit();
        (number, hash.to_string())
    }
}

/// The first line where the hash chain of the audit is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {number} of the audit {problem}")]
pub struct AuditChainError {
    pub number: u64,
    pub problem: &'static str,
}

/// Checks that the lines follow `before` (`None`: the beginning) and each other. Returns the last line.
pub fn check_audit(
    before: Option<(u64, String)>,
    lines: &[AuditLine],
) -> Result<Option<(u64, String)>, AuditChainError> {
    let mut end = before.unwrap_or_else(|| (0, Digest::ZERO.to_string()));
    for line in lines {
        let number = end.0 + 1;
        let wrong = |problem| Err(AuditChainError { number, problem });
        if line.number != number {
            return wrong("is missing");
        }
        if line.previous != end.1 {
            return wrong("does not follow the line before it");
        }
        let previous = parse_digest(&line.previous);
        if previous.is_none_or(|previous| {
            audit_line_hash(previous.as_bytes(), number, &line.text).to_string() != line.hash
        }) {
            return wrong("does not match its hash");
        }
        end = (number, line.hash.clone());
    }
    Ok(Some(end).filter(|end| end.0 > 0))
}

fn parse_digest(text: &str) -> Option<Digest> {
    let bytes: Option<Vec<u8>> = (0..text.len())
        .step_by(2)
        .map(|at| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    Digest::from_slice(&bytes?)
}
