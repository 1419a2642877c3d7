//! A table that is being written.

use qdepth_record::{Field, TABLES_NAME, TABLES_VERSION, TableOf, TabledRun};

use crate::column::{Column, Kind};
use crate::thrift::{Of, Struct};

/// Bytes that are held of a table before they become a group of rows.
const GROUP_BYTES: usize = 16 << 20;
/// Looking how much is held costs as much as a few rows.
const SIZE_CHECK_ROWS: u64 = 1024;
const MAGIC: &[u8] = b"PAR1";
/// Stands behind the first magic number, so that the door for files knows our tables.
const OURS: &[u8] = b"qdepth\0\0\0\0\0\0";

/// A table as Parquet: runs are added, bytes are taken.
///
/// The bytes of [`Sheet::add`] and then of [`Sheet::end`], one after another, are the file.
#[derive(Debug)]
pub struct Sheet {
    of: TableOf,
    group_bytes: usize,
    columns: Vec<Column>,
    schema: Vec<Vec<u8>>,
    /// Bytes that were handed out, or are about to be.
    written: u64,
    rows: u64,
    rows_of_group: u64,
    groups: Vec<Vec<u8>>,
}

impl Sheet {
    /// A table without rows.
    pub fn new(table: TableOf) -> Self {
        Self::in_groups(table, GROUP_BYTES)
    }

    /// The same, whose rows are held until they take about so many bytes, and are then a group.
    pub fn in_groups(table: TableOf, group_bytes: usize) -> Self {
        let kinds: Vec<(String, Kind)> = table.columns().iter().map(named).collect();
        let root = Struct::default().text(4, "schema").i32(5, kinds.len() as i32).done();
        let elements = kinds.iter().map(|(name, kind)| kind.element(name));
        let schema = std::iter::once(root).chain(elements).collect();
        let columns = kinds.into_iter().map(|(name, kind)| Column::new(name, kind)).collect();
        Self {
            of: table,
            group_bytes,
            columns,
            schema,
            written: 0,
            rows: 0,
            rows_of_group: 0,
            groups: Vec::new(),
        }
    }

    /// Rows that were added.
    pub const fn rows(&self) -> u64 {
        self.rows + self.rows_of_group
    }

    /// Adds the rows of a run; bytes of the file that are known by that, often none.
    pub fn add(&mut self, run: TabledRun<'_>) -> Vec<u8> {
        let (table, mut bytes) = (self.of, Vec::new());
        table.rows(run, |row| {
            for (column, field) in self.columns.iter_mut().zip(&row) {
                column.push(&field.value);
            }
            self.rows_of_group += 1;
            let looks = self.rows_of_group.is_multiple_of(SIZE_CHECK_ROWS);
            if looks
                && self.columns.iter().map(Column::bytes_held).sum::<usize>() >= self.group_bytes
            {
                self.close_group(&mut bytes);
            }
        });
        bytes
    }

    /// The last bytes of the file. `version` is that of the program.
    pub fn end(mut self, version: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.rows_of_group > 0 {
            self.close_group(&mut bytes);
        }
        self.begin(&mut bytes);
        let footer = self.footer(version);
        bytes.extend(&footer);
        bytes.extend((footer.len() as u32).to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    /// What every file begins with, where nothing was handed out yet.
    fn begin(&mut self, bytes: &mut Vec<u8>) {
        if self.written == 0 {
            bytes.extend([MAGIC, OURS].concat());
            self.written = (MAGIC.len() + OURS.len()) as u64;
        }
    }

    /// The bytes of the group of rows that is held; its metadata is kept for the end of the file.
    fn close_group(&mut self, bytes: &mut Vec<u8>) {
        self.begin(bytes);
        let (mut metadata, mut uncompressed, before) = (Vec::new(), 0, self.written);
        for column in &mut self.columns {
            let chunk = column.take(self.written);
            self.written += chunk.bytes.len() as u64;
            uncompressed += chunk.uncompressed;
            bytes.extend(chunk.bytes);
            metadata.push(chunk.metadata);
        }
        let rows = std::mem::take(&mut self.rows_of_group);
        let group = Struct::default()
            .list(1, Of::Structs, &metadata)
            .i64(2, uncompressed as i64)
            .i64(3, rows as i64)
            .i64(5, before as i64)
            .i64(6, (self.written - before) as i64);
        self.groups.push(group.done());
        self.rows += rows;
    }

    fn footer(&self, version: &str) -> Vec<u8> {
        let pair = |(name, value): (&str, &str)| {
            Struct::default().text(1, &format!("qdepth.{name}")).text(2, value).done()
        };
        let form = TABLES_VERSION.to_string();
        let metadata = [
            ("version", version),
            ("schema.name", TABLES_NAME),
            ("schema.version", &form),
            ("table", self.of.name()),
        ];
        Struct::default()
            .i32(1, 1)
            .list(2, Of::Structs, &self.schema)
            .i64(3, self.rows as i64)
            .list(4, Of::Structs, &self.groups)
            .list(5, Of::Structs, &metadata.map(pair))
            .text(6, &format!("qdepth version {version}"))
            .done()
    }
}

fn named(field: &Field<'_>) -> (String, Kind) {
    (field.name.clone().into_owned(), Kind::from_value(&field.value))
}
