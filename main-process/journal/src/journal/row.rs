//! An operation as a row: JSON texts in columns, hashed as stored. Verification therefore does not depend on how
//! this build would serialize the same operation.

use crate::{Digest, JournalError};
use shared_protocol::{Change, Operation, PropValue, Revision};

pub(super) const OPERATION_COLUMNS: &str =
    "revision, time, actor, kind, summary, change_count, previous_hash, hash, changes";

#[derive(Debug)]
pub(super) struct OperationRow {
    pub(super) revision: Revision,
    pub(super) time: u64,
    pub(super) actor: String,
    pub(super) kind: String,
    pub(super) summary: String,
    pub(super) change_count: usize,
    pub(super) previous: Digest,
    pub(super) hash: Digest,
    pub(super) changes: String,
}

impl OperationRow {
    pub(super) fn encode(operation: &Operation, previous: Digest) -> Result<Self, JournalError> {
        let unstorable = |error: serde_json::Error| JournalError::unstorable("the operation", error);
        let mut row = Self {
            revision: operation.revision,
            time: operation.time,
            actor: serde_json::to_string(&operation.actor).map_err(unstorable)?,
            kind: serde_json::to_string(&operation.kind).map_err(unstorable)?,
            summary: operation.summary.clone(),
            change_count: operation.changes.len(),
            previous,
            hash: previous,
            changes: serde_json::to_string(&operation.changes).map_err(unstorable)?,
        };
        row.hash = row.computed_hash();
        Ok(row)
    }

    /// SHA-256 over the previous hash and the operation as JSON, with keys in column order.
    pub(super) fn computed_hash(&self) -> Digest {
        let head = format!(r#"{{"revision":{},"time":{},"actor":"#, self.revision, self.time);
        let summary = PropValue::text(self.summary.as_str()).to_json();
        let parts = [
            &head,
            &self.actor,
            r#","kind":"#,
            &self.kind,
            r#","summary":"#,
            &summary,
            r#","changes":"#,
            &self.changes,
            "}",
        ];
        let bytes = parts.iter().map(|part| part.as_bytes());
        Digest::of_parts(std::iter::once(&self.previous.as_bytes()[..]).chain(bytes))
    }

    pub(super) fn decode(&self) -> Result<Operation, JournalError> {
        let undecodable = |error: serde_json::Error| {
            JournalError::damaged_at(self.revision, format!("it cannot be decoded: {error}"))
        };
        let changes: Vec<Change> = serde_json::from_str(&self.changes).map_err(undecodable)?;
        if changes.len() != self.change_count {
            return Err(JournalError::damaged_at(
                self.revision,
                "its number of changes does not match the recorded count",
            ));
        }
        Ok(Operation {
            revision: self.revision,
            time: self.time,
            actor: serde_json::from_str(&self.actor).map_err(undecodable)?,
            kind: serde_json::from_str(&self.kind).map_err(undecodable)?,
            summary: self.summary.clone(),
            changes,
        })
    }

    /// Reads a row selected by [`OPERATION_COLUMNS`]. A column of the wrong type is reported as damage at its revision.
    pub(super) fn from_sql(row: &rusqlite::Row<'_>) -> Result<Self, JournalError> {
        let number: i64 = row.get(0)?;
        let revision = Revision(u64::try_from(number).unwrap_or(0));
        Self::from_columns(row, revision)
            .map_err(|error| JournalError::damaged_at(revision, format!("it cannot be read: {error}")))
    }

    fn from_columns(row: &rusqlite::Row<'_>, revision: Revision) -> Result<Self, rusqlite::Error> {
        let unsigned = |column: usize| {
            let number: i64 = row.get(column)?;
            u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
        };
        Ok(Self {
            revision,
            time: unsigned(1)?,
            actor: row.get(2)?,
            kind: row.get(3)?,
            summary: row.get(4)?,
            change_count: usize::try_from(unsigned(5)?).unwrap_or(usize::MAX),
            previous: row.get(6)?,
            hash: row.get(7)?,
            changes: row.get(8)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{Actor, ActorKind, NodeId, OperationKind, PropKey};

    #[test]
    fn null_is_not_the_same_as_not_set() {
        let prop = |before, after| Change::Prop {
            node: NodeId::from_bits(1),
            key: PropKey::parse("k").unwrap(),
            before,
            after,
        };
        let operation = Operation {
            revision: Revision(1),
            time: 2,
            actor: Actor::new(ActorKind::Window, "a\"b"),
            kind: OperationKind::Undo(Revision(1)),
            summary: "say \"hi\"\n\0".to_owned(),
            changes: vec![
                prop(None, Some(PropValue::Null)),
                prop(Some(PropValue::Null), Some(PropValue::List(vec![]))),
            ],
        };
        let row = OperationRow::encode(&operation, Digest::ZERO).unwrap();
        assert_eq!(row.decode().unwrap(), operation);
    }

    #[test]
    fn the_hash_is_over_the_hash_before_and_the_operation_as_json() {
        let operation = Operation {
            revision: Revision(7),
            time: 2,
            actor: Actor::new(ActorKind::Window, "a"),
            kind: OperationKind::Edit,
            summary: "Rename \"x\"".to_owned(),
            changes: vec![Change::Label {
                node: NodeId::from_bits(1),
                before: String::new(),
                after: "é".to_owned(),
            }],
        };
        let row = OperationRow::encode(&operation, Digest::hash(b"before")).unwrap();
        let json = serde_json::to_string(&operation).unwrap();
        assert_eq!(row.hash, Digest::of_parts([&Digest::hash(b"before").as_bytes()[..], json.as_bytes()]));
    }
}
