//! The tables and their migrations.

use crate::JournalError;
use rusqlite::{Connection, TransactionBehavior};

/// The database version that this build writes; stored in `PRAGMA user_version`.
pub const JOURNAL_FORMAT: i64 = 3;

/// "DrBd": identifies our database.
const APPLICATION_ID: i64 = 0x4472_4264;

/// Step *n* migrates a database from format *n* to *n* + 1. The first step creates it.
const MIGRATIONS: [&str; JOURNAL_FORMAT as usize] = [FORMAT_1, FORMAT_2, FORMAT_3];

/// `changes` is the last column: SQLite reads the columns before it without loading it.
const FORMAT_1: &str = "
    CREATE TABLE operations (
        revision      INTEGER PRIMARY KEY,
        time          INTEGER NOT NULL,
        actor         TEXT NOT NULL,
        kind          TEXT NOT NULL,
        summary       TEXT NOT NULL,
        change_count  INTEGER NOT NULL,
        previous_hash BLOB NOT NULL,
        hash          BLOB NOT NULL,
        changes       TEXT NOT NULL
    ) STRICT;

    -- The document that operations start from; one row at most.
    CREATE TABLE checkpoint (
        only          INTEGER PRIMARY KEY CHECK (only = 1),
        revision      INTEGER NOT NULL,
        chain_hash    BLOB NOT NULL,
        document_hash BLOB NOT NULL,
        document      TEXT NOT NULL
    ) STRICT;

    -- The newest operation that is no longer kept: the chain of those that are hangs on it; one row at most.
    CREATE TABLE anchor (
        only          INTEGER PRIMARY KEY CHECK (only = 1),
        revision      INTEGER NOT NULL,
        hash          BLOB NOT NULL
    ) STRICT;

    -- Contents of workspace files that we wrote or took in.
    CREATE TABLE files (
        path          TEXT PRIMARY KEY,
        recorded      BLOB,
        pending       BLOB
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE state (
        key           TEXT PRIMARY KEY,
        value         TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// The review queue. `stamp` counts its writes; a row is replaced only when its stamp is unchanged since it was
/// read.
const FORMAT_2: &str = "
    CREATE TABLE review (
        only          INTEGER PRIMARY KEY CHECK (only = 1),
        stamp         INTEGER NOT NULL,
        approvals     TEXT NOT NULL
    ) STRICT;
    INSERT INTO review VALUES (1, 0, '[]');

    -- A proposal without its changes.
    CREATE TABLE proposals (
        id            INTEGER PRIMARY KEY,
        stamp         INTEGER NOT NULL,
        head          TEXT NOT NULL
    ) STRICT;

    -- Its changes in the order of their parts: going on with a draft adds one.
    CREATE TABLE proposal_changes (
        proposal      INTEGER NOT NULL REFERENCES proposals ON DELETE CASCADE,
        part          INTEGER NOT NULL,
        changes       TEXT NOT NULL,
        PRIMARY KEY (proposal, part)
    ) STRICT, WITHOUT ROWID;

    -- Which proposal an operation came from.
    CREATE TABLE origins (
        revision      INTEGER PRIMARY KEY,
        origin        TEXT NOT NULL
    ) STRICT;

    CREATE TABLE audit (
        number        INTEGER PRIMARY KEY,
        previous_hash BLOB NOT NULL,
        hash          BLOB NOT NULL,
        text          TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
    CREATE TRIGGER audit_is_as_written BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
";

/// Signatures of audit lines; lines of earlier formats have none. The identity tells this journal from every other one.
const FORMAT_3: &str = "
    ALTER TABLE audit ADD COLUMN key TEXT;
    ALTER TABLE audit ADD COLUMN algorithm TEXT;
    ALTER TABLE audit ADD COLUMN signature TEXT;

    CREATE TABLE identity (
        only          INTEGER PRIMARY KEY CHECK (only = 1),
        id            BLOB NOT NULL
    ) STRICT;
    INSERT INTO identity VALUES (1, randomblob(16));
";

pub(super) enum DatabaseFormat {
    /// No tables yet.
    Empty,
    Format(i64),
    /// A database of another program.
    Foreign,
}

/// Detects the format without changing anything.
pub(super) fn detect_format(connection: &Connection) -> Result<DatabaseFormat, rusqlite::Error> {
    let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, format, tables) {
        (0, 0, 0) => DatabaseFormat::Empty,
        (APPLICATION_ID, format, _) if format > 0 => DatabaseFormat::Format(format),
        _ => DatabaseFormat::Foreign,
    })
}

/// Migrates a database from format `from` to the current one, all or nothing.
pub(super) fn migrate(connection: &mut Connection, from: i64) -> Result<(), JournalError> {
    if from == JOURNAL_FORMAT {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(from).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", JOURNAL_FORMAT)?;
    Ok(transaction.commit()?)
}
