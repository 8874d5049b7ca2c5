//! Opens the journal: settings, version, integrity, end of the chain.

use super::{JOURNAL_FILE, Journal, JournalFiles, JournalGrowth, chain::HashChainLink, review, schema};
use crate::{JOURNAL_FORMAT, JournalError};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use rustix::{fs::FileType, io::Errno};
use safe_fs::{PathError, PathProblem, SafeFolder};
use shared_protocol::Revision;
use std::{
    collections::BTreeSet,
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// The time to wait for another, exiting Draftboard to release the journal.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Files up to this size are checked completely at every start, which takes a few milliseconds.
const ALWAYS_CHECKED_BYTES: u64 = 16 * 1024 * 1024;
/// The write-ahead log is truncated to this size after a burst.
const MAX_WAL_BYTES: i64 = 16 * 1024 * 1024;
/// The database and the files that SQLite keeps next to it. The log is first: a log left behind when the database
/// is set aside would be replayed into the new database.
const DATABASE_SUFFIXES: [&str; 4] = ["db-wal", "db-shm", "db-journal", "db"];
const MAX_ASIDE_JOURNALS: u32 = 10_000;

impl Journal {
    /// Opens or creates `journal.db` in `dir`, the existing `.draftboard` folder of the workspace.
    ///
    /// Runs the quick check of SQLite when the file is small or was not closed cleanly (its write-ahead log
    /// exists). Crashes and failing disks damage pages, so a large, cleanly closed file is not read twice at every
    /// start. [`Journal::recover`] always checks the hash of every operation that it returns.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        Self::open_or_create(dir, true)
    }

    /// As [`Self::open`]. With `creates` false, a missing file is an error, because an empty journal would pass for
    /// the real one.
    pub(super) fn open_or_create(dir: &Path, creates: bool) -> Result<Self, JournalError> {
        let folder = safe_folder(dir)?;
        let path = folder.path().join(JOURNAL_FILE);
        let size = prepare_file(&folder, creates)?;
        let found = JournalFiles::new(folder.path().to_owned())?;
        let was_left_open = path.with_extension("db-wal").symlink_metadata().is_ok_and(|wal| wal.len() > 0);
        let mut connection = connect(&path)?;
        let format = match schema::detect_format(&connection).map_err(|error| open_error(&path, error))? {
            schema::DatabaseFormat::Empty if creates => 0,
            schema::DatabaseFormat::Empty => return Err(unreadable(&path, "it is empty".to_owned())),
            schema::DatabaseFormat::Format(found) if found > JOURNAL_FORMAT => {
                return Err(JournalError::Newer { found, known: JOURNAL_FORMAT });
            }
            schema::DatabaseFormat::Format(found) => found,
            schema::DatabaseFormat::Foreign => {
                return Err(unreadable(&path, "it is a database of another program".to_owned()));
            }
        };
        configure(&connection).map_err(|error| open_error(&path, error))?;
        if size <= ALWAYS_CHECKED_BYTES || was_left_open {
            quick_check(&connection, &path)?;
        }
        schema::migrate(&mut connection, format)?;
        let (tail, since_checkpoint) = read_end(&connection).map_err(|error| open_error(&path, error))?;
        let review = review::ReviewTail::read(&connection).map_err(|error| open_error(&path, error))?;
        let place = Some(JournalFiles::new_checked(&found)?);
        Ok(Self { connection, tail, since_checkpoint, review, is_consistent: true, place })
    }

    /// Opens a journal in memory, for a read-only workspace folder.
    pub fn in_memory() -> Result<Self, JournalError> {
        let mut connection = Connection::open_in_memory()?;
        schema::migrate(&mut connection, 0)?;
        let (tail, since_checkpoint) = read_end(&connection)?;
        let review = review::ReviewTail::read(&connection)?;
        Ok(Self { connection, tail, since_checkpoint, review, is_consistent: true, place: None })
    }

    /// Moves the journal files of `dir` to `dir/aside`, if any, so that a new journal can be started. Deletes
    /// nothing. For a closed journal that is [`JournalError::Unreadable`] or [`JournalError::Damaged`].
    pub fn set_aside(dir: &Path) -> Result<Option<PathBuf>, JournalError> {
        let failed = |error: PathError| JournalError::of_path(&error);
        let folder = safe_folder(dir)?;
        let mut found = Vec::new();
        for suffix in DATABASE_SUFFIXES {
            let name = format!("journal.{suffix}");
            if folder.kind(&name).map_err(failed)?.is_some() {
                found.push((name, suffix));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let aside = folder.create_folder("aside").map_err(failed)?;
        let taken: BTreeSet<String> =
            aside.list().map_err(failed)?.into_iter().map(|entry| entry.name).collect();
        let is_free = |stem: &String| {
            DATABASE_SUFFIXES.iter().all(|suffix| !taken.contains(&format!("{stem}.{suffix}")))
        };
        let stem = (1..MAX_ASIDE_JOURNALS)
            .map(|number| format!("journal-{number}"))
            .find(is_free)
            .ok_or_else(|| JournalError::Disk {
                problem: ".draftboard/aside contains too many journals: remove some".to_owned(),
            })?;
        let mut kept = None;
        for (name, suffix) in found {
            let to = format!("{stem}.{suffix}");
            folder.rename_new(&name, &aside, &to).map_err(failed)?;
            kept = Some(aside.path().join(to));
        }
        aside.sync().map_err(failed)?;
        folder.sync().map_err(failed)?;
        Ok(kept)
    }

    /// Reads the end of the chain again after a transaction that may have moved it.
    pub(super) fn reload_end(&mut self) {
        match read_end(&self.connection) {
            Ok((tail, growth)) => (self.tail, self.since_checkpoint) = (tail, growth),
            Err(error) => tracing::warn!(%error, "cannot read the end of the journal after a failure"),
        }
        match review::ReviewTail::read(&self.connection) {
            Ok(end) => self.review = end,
            Err(error) => tracing::warn!(%error, "cannot read the end of the audit after a failure"),
        }
    }
}

/// Creates the file with access for the owner only, and restricts an existing file; SQLite gives its log the same
/// mode. Does not open an existing file: closing it would release a lock that this process holds on it.
fn prepare_file(folder: &SafeFolder, creates: bool) -> Result<u64, JournalError> {
    let path = &folder.path().join(JOURNAL_FILE);
    // SQLite would follow a link under one of these names, and block on a pipe.
    for suffix in DATABASE_SUFFIXES {
        let path = path.with_extension(suffix);
        let name = path.file_name().unwrap_or_default();
        match folder.kind(name).map_err(|error| JournalError::of_path(&error))? {
            None | Some(FileType::RegularFile) => {}
            Some(FileType::Symlink) => {
                return Err(unreadable(
                    &path,
                    "it is a symbolic link, which Draftboard does not follow".to_owned(),
                ));
            }
            Some(_) => return Err(unreadable(&path, "it is not a regular file".to_owned())),
        }
    }
    match creates.then(|| folder.create_new(JOURNAL_FILE)).transpose() {
        Ok(None) => {}
        Ok(Some(file)) => {
            file.sync_all().map_err(|error| JournalError::of_io(&error))?;
            folder.sync().map_err(|error| JournalError::of_path(&error))?;
        }
        Err(error) if error.problem == PathProblem::System(Errno::EXIST) => {}
        Err(error) => return Err(JournalError::of_path(&error)),
    }
    let metadata = path.symlink_metadata().map_err(|error| JournalError::of_io(&error))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o600))
            .map_err(|error| JournalError::of_io(&error))?;
    }
    Ok(metadata.len())
}

/// The folder itself must not be a link; its parents were chosen by a person and may contain links.
fn safe_folder(dir: &Path) -> Result<SafeFolder, JournalError> {
    let resolved = match (dir.parent().filter(|parent| !parent.as_os_str().is_empty()), dir.file_name()) {
        (Some(parent), Some(name)) => parent.canonicalize().map(|parent| parent.join(name)),
        _ => dir.canonicalize(),
    };
    let resolved = resolved.map_err(|error| JournalError::of_io(&error))?;
    SafeFolder::open(&resolved).map_err(|error| JournalError::of_path(&error))
}

pub(super) fn connect(path: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags)?;
    // SQLite silently opens a write-protected file read-only.
    if connection.is_readonly("main")? {
        return Err(JournalError::ReadOnly { problem: "journal.db is read-only".to_owned() });
    }
    connection.busy_timeout(LOCK_TIMEOUT)?;
    // Exclusive before the first access: no shared memory file, and a second writer is refused instead of
    // interleaved.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    Ok(connection)
}

/// Called only after the file is identified as ours, because the mode is written into it.
fn configure(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "journal_size_limit", MAX_WAL_BYTES)
}

pub(super) fn quick_check(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let answer: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| open_error(path, error))?;
    if answer == "ok" { Ok(()) } else { Err(unreadable(path, answer)) }
}

pub(super) fn read_end(connection: &Connection) -> Result<(HashChainLink, JournalGrowth), rusqlite::Error> {
    let link = |row: &rusqlite::Row<'_>| HashChainLink::from_columns(row, 0, 1);
    let newest = connection
        .query_row("SELECT revision, hash FROM operations ORDER BY revision DESC LIMIT 1", [], link)
        .optional()?;
    let checkpoint =
        connection.query_row("SELECT revision, chain_hash FROM checkpoint", [], link).optional()?;
    let since = checkpoint.map_or(Revision::START, |link| link.revision);
    let growth = connection.query_row(
        "SELECT count(*), coalesce(sum(octet_length(changes)), 0) FROM operations WHERE revision > ?1",
        [i64::try_from(since.0).unwrap_or(i64::MAX)],
        |row| Ok(JournalGrowth { operations: unsigned(row.get(0)?), bytes: unsigned(row.get(1)?) }),
    )?;
    let tail =
        newest.filter(|newest| newest.revision >= since).or(checkpoint).unwrap_or(HashChainLink::START);
    Ok((tail, growth))
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn unreadable(path: &Path, problem: String) -> JournalError {
    JournalError::Unreadable { path: path.to_owned(), problem }
}

/// Converts an error while opening; a corrupt file is named by its path.
fn open_error(path: &Path, error: rusqlite::Error) -> JournalError {
    let wrong_column = matches!(
        error,
        rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..)
    );
    if JournalError::is_corruption(&error) || wrong_column {
        unreadable(path, error.to_string())
    } else {
        error.into()
    }
}
