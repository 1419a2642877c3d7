//! Integrity of records: a SHA-256 digest of each part over all columns of its rows. The same query
//! reads and hashes, both when a part is stored and when it is read, so no reader gets unchecked
//! data.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Result, Row, params};
use sha2::{Digest as _, Sha256};

/// Key value for "no point": rows are numbered from 1.
const OF_RUN: i64 = 0;
/// Key value for "no run", used by the chain of all runs.
const OF_FILE: i64 = 0;

/// Reader of the rows of a part, which hashes them.
pub(crate) struct Rows<'c> {
    connection: &'c Connection,
    hash: Sha256,
}

impl<'c> Rows<'c> {
    fn new(connection: &'c Connection, run: i64, point: i64, part: &str) -> Self {
        Self { connection, hash: Key { run, point, part }.hash() }
    }

    /// Reads all rows of a query, in order.
    pub(crate) fn query<T>(
        &mut self,
        query: &str,
        params: impl Params,
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(query)?;
        let mut rows = statement.query(params)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            self.add(row)?;
            all.push(read(row)?);
        }
        // Separates the rows of consecutive queries in the digest.
        self.hash.update((all.len() as u64).to_be_bytes());
        Ok(all)
    }

    /// Hashes every column with its name, type and length, except NULL: columns that are added
    /// later do not change a digest.
    fn add(&mut self, row: &Row<'_>) -> Result<()> {
        self.hash.update(b"row");
        for index in 0..row.as_ref().column_count() {
            let real;
            let whole;
            let (kind, bytes): (u8, &[u8]) = match row.get_ref(index)? {
                ValueRef::Null => continue,
                ValueRef::Integer(number) => {
                    whole = number.to_be_bytes();
                    (b'I', &whole)
                }
                ValueRef::Real(number) => {
                    real = number.to_bits().to_be_bytes();
                    (b'R', &real)
                }
                ValueRef::Text(text) => (b'T', text),
                ValueRef::Blob(blob) => (b'B', blob),
            };
            let name = row.as_ref().column_name(index)?;
            self.hash.update((name.len() as u64).to_be_bytes());
            self.hash.update(name);
            self.hash.update([kind]);
            self.hash.update((bytes.len() as u64).to_be_bytes());
            self.hash.update(bytes);
        }
        Ok(())
    }
}

/// Purpose of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The digest is stored.
    Store,
    /// The digest is compared with the stored one.
    Check,
}

/// Reads the parts of a run or of a point, and collects the damaged ones.
pub(crate) struct Parts<'c> {
    connection: &'c Connection,
    pub(crate) run: i64,
    pub(crate) point: i64,
    purpose: Purpose,
    /// Names of the damaged parts.
    pub(crate) damaged: Vec<String>,
}

impl<'c> Parts<'c> {
    pub(crate) fn of_run(connection: &'c Connection, run: i64, purpose: Purpose) -> Self {
        Self { connection, run, point: OF_RUN, purpose, damaged: Vec::new() }
    }

    pub(crate) fn of_point(
        connection: &'c Connection,
        run: i64,
        point: i64,
        purpose: Purpose,
    ) -> Self {
        Self { point, ..Self::of_run(connection, run, purpose) }
    }

    /// The same parts, for storing new digests after a change. Damaged parts keep their old ones.
    pub(crate) fn into_storing(self) -> Self {
        Self { purpose: Purpose::Store, ..self }
    }

    /// Reads a part. A damaged part that cannot be read is noted, and its value is empty.
    ///
    /// # Errors
    /// If SQLite fails for another reason.
    pub(crate) fn read<T: Default>(
        &mut self,
        part: &str,
        read: impl FnOnce(&mut Rows<'c>) -> Result<T>,
    ) -> Result<T> {
        let mut rows = Rows::new(self.connection, self.run, self.point, part);
        let value = match read(&mut rows) {
            Err(error) if is_damage(&error) && self.may_be_damaged(part) => {
                self.note(part);
                return Ok(T::default());
            }
            other => other?,
        };
        let found: [u8; 32] = rows.hash.finalize().into();
        match self.purpose {
            // Damaged data must stay damaged: a new digest would hide it.
            Purpose::Store if self.is_damaged(part) => {}
            Purpose::Store => store(self.connection, self.key(part), &found)?,
            Purpose::Check => {
                if stored(self.connection, self.key(part))? != Some(found) {
                    self.note(part);
                }
            }
        }
        Ok(value)
    }

    fn key<'p>(&self, part: &'p str) -> Key<'p> {
        Key { run: self.run, point: self.point, part }
    }

    fn is_damaged(&self, part: &str) -> bool {
        self.damaged.iter().any(|damaged| damaged == part)
    }

    fn may_be_damaged(&self, part: &str) -> bool {
        self.purpose == Purpose::Check || self.is_damaged(part)
    }

    fn note(&mut self, part: &str) {
        if !self.is_damaged(part) {
            self.damaged.push(part.to_owned());
        }
    }
}

/// Key of a digest.
struct Key<'a> {
    run: i64,
    point: i64,
    part: &'a str,
}

impl Key<'_> {
    /// Begin of a digest of what the key names.
    fn hash(&self) -> Sha256 {
        let run = Sha256::new_with_prefix(self.run.to_be_bytes());
        run.chain_update(self.point.to_be_bytes()).chain_update(self.part)
    }
}

fn store(connection: &Connection, key: Key<'_>, hash: &[u8; 32]) -> Result<()> {
    let Key { run, point, part } = key;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO digest (run, point, part, sha256) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![run, point, part, hash])?;
    Ok(())
}

/// Stored digest; `None` if it is missing or unreadable.
fn stored(connection: &Connection, key: Key<'_>) -> Result<Option<[u8; 32]>> {
    let Key { run, point, part } = key;
    let query = "SELECT sha256 FROM digest WHERE run = ?1 AND point = ?2 AND part = ?3";
    let found = connection
        .prepare_cached(query)
        .and_then(|mut query| query.query_row(params![run, point, part], |row| row.get(0)))
        .optional();
    match found {
        Err(error) if is_damage(&error) || is_missing_table(&error) => Ok(None),
        found => found,
    }
}

/// Hash chain of a list that only grows: the cost of adding an entry does not depend on its length.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chain {
    /// All runs of the file, by `run.sequence`.
    Runs,
    /// All points of a run, by `point.id`, including superseded ones.
    Points(i64),
}

impl Chain {
    fn key(self) -> Key<'static> {
        match self {
            Self::Runs => Key { run: OF_FILE, point: OF_RUN, part: "runs" },
            Self::Points(run) => Key { run, point: OF_RUN, part: "points" },
        }
    }

    fn empty(self) -> [u8; 32] {
        self.key().hash().finalize().into()
    }

    fn longer(before: [u8; 32], number: i64) -> [u8; 32] {
        Sha256::new_with_prefix(before).chain_update(number.to_be_bytes()).finalize().into()
    }

    fn digest(self, numbers: &[i64]) -> [u8; 32] {
        numbers.iter().fold(self.empty(), |before, number| Self::longer(before, *number))
    }

    /// Stores the digest of an empty list.
    pub(crate) fn begin(self, connection: &Connection) -> Result<()> {
        store(connection, self.key(), &self.empty())
    }

    /// Adds an entry. A damaged list stays damaged.
    pub(crate) fn add(self, connection: &Connection, number: i64) -> Result<()> {
        let Some(before) = stored(connection, self.key())? else { return Ok(()) };
        store(connection, self.key(), &Self::longer(before, number))
    }

    /// Stores the digest of a list.
    pub(crate) fn store(self, connection: &Connection, numbers: &[i64]) -> Result<()> {
        store(connection, self.key(), &self.digest(numbers))
    }

    /// True if these are exactly the entries that were added, in this order.
    pub(crate) fn is_whole(self, connection: &Connection, numbers: &[i64]) -> Result<bool> {
        Ok(stored(connection, self.key())? == Some(self.digest(numbers)))
    }
}

/// True if the error means that stored data has changed.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        || is_unreadable(error)
        || is_missing_table(error)
}

/// True if a value does not fit the type of its column.
pub(crate) fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::InvalidColumnName(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows
    )
}

/// True if a table or column is missing.
fn is_missing_table(error: &rusqlite::Error) -> bool {
    let text = match error {
        rusqlite::Error::SqliteFailure(_, Some(text)) => text,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        _ => return false,
    };
    text.starts_with("no such table") || text.starts_with("no such column")
}
