//! Macros for tables of fields: each row declares a field once. The macros generate its storage
//! (the record, the SQL columns), its output (the JSON entry, the CSV column), and its
//! documentation from that row.

use std::borrow::Cow;

use qdepth_measure::{EncodedHistogram, LatencyHistogram};

/// A value in the form of SQL.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored<'a> {
    /// Nothing.
    Null,
    /// A whole number. An unsigned 64-bit number has the same bits.
    Whole(i64),
    /// A real number. An undefined one is stored as null.
    Real(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// A histogram.
    Bytes(Cow<'a, [u8]>),
}

/// A column of the table whose rows are the records of one type.
#[derive(Debug)]
pub struct Column<R> {
    /// Its name.
    pub name: &'static str,
    /// Meaning, as documented.
    pub meaning: &'static str,
    /// Reads the value from a record.
    pub get: fn(&R) -> Stored<'_>,
    /// Writes a value into a record.
    ///
    /// # Errors
    /// If the value does not belong in the column.
    pub set: fn(&mut R, Stored<'_>) -> Result<(), String>,
}

/// Record that is stored as a row of an SQL table.
pub trait Record: Default + 'static {
    /// Name of the table.
    const TABLE: &'static str;
    /// Columns that correspond to one field each.
    const FIELDS: &'static [Column<Self>];
    /// Columns that do not correspond to a single field.
    const OTHERS: &'static [Column<Self>];

    /// All SQL columns of the record.
    fn columns() -> impl Iterator<Item = &'static Column<Self>> {
        Self::FIELDS.iter().chain(Self::OTHERS)
    }
}

// A row is the name and the meaning of a field, followed by its uses. `kept`: a field of the
// record, and the column that stores it. `part`: a field with columns or tables of its own.
// `shown`: a field of the entry, and how it is computed from the module's `Shown`; `older default`:
// it is missing in documents of older versions. If the type of a shown field fits into a cell, the
// field is also a column of tables; `cell` gives another value for it, or none. In a `merged`
// record, each field names the function that adds the field of the second record to that of the
// first.
//
// Each macro generates one thing from the rows, so that code that uses it can be in a later file.
macro_rules! fields {
    (
        $(#[$of_record:meta])*
        record $record:ident in $table:literal and $others:expr;
        $(#[$of_entry:meta])*
        entry $entry:ident and cells;
        $($rows:tt)*
    ) => {
        $crate::fields::fields! {
            $(#[$of_record])*
            record $record in $table and $others;
            $(#[$of_entry])*
            entry $entry;
            $($rows)*
        }
        $crate::fields::cells! { $($rows)* }
    };
    (
        $(#[$of_record:meta])*
        record $record:ident in $table:literal and $others:expr $(, $merged:ident)?;
        $(#[$of_entry:meta])*
        entry $entry:ident;
        $($rows:tt)*
    ) => {
        $crate::fields::record! {
            $(#[$of_record])*
            record $record in $table and $others $(, $merged)?;
            $($rows)*
        }
        $crate::fields::entry! { $(#[$of_entry])* entry $entry; $($rows)* }
    };
}
pub(crate) use fields;

// Record and SQL columns, without entry and table.
macro_rules! record {
    (
        $(#[$of_record:meta])*
        record $record:ident in $table:literal and $others:expr, merged;
        $($rows:tt)*
    ) => {
        $crate::fields::record! {
            $(#[$of_record])*
            record $record in $table and $others;
            $($rows)*
        }
        $crate::fields::joined! { record $record; $($rows)* }
    };
    (
        $(#[$of_record:meta])*
        record $record:ident in $table:literal and $others:expr;
        $($rows:tt)*
    ) => {
        $crate::fields::structure! { $(#[$of_record])* record $record; $($rows)* }
        $crate::fields::columns! { record $record in $table and $others; $($rows)* }
    };
}
pub(crate) use record;

// The record type.
macro_rules! structure {
    (
        $(#[$of_record:meta])*
        record $record:ident;
        $(
            $name:ident $meaning:literal
            $(kept $kept:ty = $column:literal $(: $kept_as:ident)?,)?
            $(part $part:ty $(: $part_as:ident)?,)?
            $(shown $shown:ty = $value:expr, $(older $older:ident,)?)?
            $(cell $cell:expr,)? ;
        )*
    ) => {
        $(#[$of_record])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $record {
            $(
                $(#[doc = $meaning] pub $name: $kept,)?
                $(#[doc = $meaning] pub $name: $part,)?
            )*
        }
    };
}
pub(crate) use structure;

// Merging of several records into one.
macro_rules! joined {
    (
        record $record:ident;
        $(
            $name:ident $meaning:literal
            $(kept $kept:ty = $column:literal: $kept_as:ident,)?
            $(part $part:ty: $part_as:ident,)?
            $(shown $shown:ty = $value:expr, $(older $older:ident,)?)?
            $(cell $cell:expr,)? ;
        )*
    ) => {
        impl $record {
            /// Merges the record of another part of the same whole, field by field.
            pub fn join(&mut self, part: &Self) {
                $(
                    $($kept_as(&mut self.$name, &part.$name);)?
                    $($part_as(&mut self.$name, &part.$name);)?
                )*
            }
        }
    };
}
pub(crate) use joined;

// SQL columns of the record.
macro_rules! columns {
    (
        record $record:ident in $table:literal and $others:expr;
        $(
            $name:ident $meaning:literal
            $(kept $kept:ty = $column:literal $(: $kept_as:ident)?,)?
            $(part $part:ty $(: $part_as:ident)?,)?
            $(shown $shown:ty = $value:expr, $(older $older:ident,)?)?
            $(cell $cell:expr,)? ;
        )*
    ) => {
        impl $crate::fields::Record for $record {
            const TABLE: &'static str = $table;
            const FIELDS: &'static [$crate::fields::Column<Self>] = &[$($(
                $crate::fields::Column {
                    name: $column,
                    meaning: $meaning,
                    get: |record| $crate::fields::Stores::stored(&record.$name),
                    set: |record, value| {
                        record.$name = $crate::fields::Stores::restored(value)?;
                        Ok(())
                    },
                },
            )?)*];
            const OTHERS: &'static [$crate::fields::Column<Self>] = $others;
        }
    };
}
pub(crate) use columns;

// Entry of the record in documents.
macro_rules! entry {
    (
        $(#[$of_entry:meta])*
        entry $entry:ident;
        $(
            $name:ident $meaning:literal
            $(kept $kept:ty = $column:literal $(: $kept_as:ident)?,)?
            $(part $part:ty $(: $part_as:ident)?,)?
            $(shown $shown:ty = $value:expr, $(older $older:ident,)?)?
            $(cell $cell:expr,)? ;
        )*
    ) => {
        $(#[$of_entry])*
        #[derive(
            Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub struct $entry {
            $($(#[doc = $meaning] $(#[serde($older)])? pub $name: $shown,)?)*
        }

        /// Entry of a document.
        pub(crate) fn entry(shown: &Shown<'_>) -> $entry {
            $entry {
                $($($name: {
                    let value: fn(&Shown<'_>) -> $shown = $value;
                    value(shown)
                },)?)*
            }
        }
    };
}
pub(crate) use entry;

// Row of the record in tables.
macro_rules! cells {
    (
        $(
            $name:ident $meaning:literal
            $(kept $kept:ty = $column:literal $(: $kept_as:ident)?,)?
            $(part $part:ty $(: $part_as:ident)?,)?
            $(shown $shown:ty = $value:expr, $(older $older:ident,)?)?
            $(cell $cell:expr,)? ;
        )*
    ) => {
        /// Row of tables.
        pub(crate) fn cells<'a>(shown: &Shown<'a>) -> Vec<$crate::field::Field<'a>> {
            use $crate::field::{Field, IntoCell, Value};
            let mut cells = Vec::new();
            $(
                let usual = None::<Value<'a>>$(.or_else(|| {
                    let value: fn(&Shown<'_>) -> $shown = $value;
                    value(shown).into_cell()
                }))?;
                let other = None::<Option<Value<'a>>>$(.or_else(|| {
                    let cell: fn(&Shown<'a>) -> Option<Value<'a>> = $cell;
                    Some(cell(shown))
                }))?;
                if let Some(value) = other.unwrap_or(usual) {
                    let meaning = $meaning.trim_end_matches('.');
                    cells.push(Field::new(stringify!($name), meaning, value));
                }
            )*
            cells
        }
    };
}
pub(crate) use cells;

/// A type that an SQL column can store.
pub trait Stores: Sized {
    /// SQL value.
    fn stored(&self) -> Stored<'_>;
    /// Converts from an SQL value.
    ///
    /// # Errors
    /// If the value is not of this type.
    fn restored(value: Stored<'_>) -> Result<Self, String>;
}

// Each row: the type, its name in messages, and its value to and from SQL.
macro_rules! stores {
    ($($kind:ty, $what:literal: $stored:expr, $restored:pat => $value:expr;)+) => {$(
        impl Stores for $kind {
            fn stored(&self) -> Stored<'_> {
                let stored: fn(&Self) -> Stored<'_> = $stored;
                stored(self)
            }
            fn restored(value: Stored<'_>) -> Result<Self, String> {
                match value {
                    $restored => $value,
                    other => Err(format!("{other:?} is not a valid {}", $what)),
                }
            }
        }
    )+};
}

stores! {
    u64, "whole number": |number| Stored::Whole(number.cast_signed()),
        Stored::Whole(number) => Ok(number.cast_unsigned());
    u32, "whole number": |number| Stored::Whole((*number).into()),
        Stored::Whole(number) => Self::try_from(number).map_err(|error| error.to_string());
    bool, "0 or 1": |is_so| Stored::Whole((*is_so).into()),
        Stored::Whole(number) => Ok(number != 0);
    String, "text": |text| Stored::Text(Cow::Borrowed(text)),
        Stored::Text(text) => Ok(text.into_owned());
    EncodedHistogram, "histogram": |histogram| Stored::Bytes(Cow::Borrowed(&histogram.0)),
        Stored::Bytes(bytes) => Ok(Self(bytes.into_owned()));
    LatencyHistogram, "histogram":
        |histogram| Stored::Bytes(Cow::Owned(EncodedHistogram::from(histogram).0)),
        Stored::Bytes(bytes) => Self::decode(&bytes).map_err(|error| error.to_string());
}

impl Stores for f64 {
    fn stored(&self) -> Stored<'_> {
        Stored::Real(*self)
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Real(number) => Ok(number),
            Stored::Null => Ok(Self::NAN),
            other => Err(format!("{other:?} is not a valid real number")),
        }
    }
}

impl<T: Stores> Stores for Option<T> {
    fn stored(&self) -> Stored<'_> {
        self.as_ref().map_or(Stored::Null, T::stored)
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Null => Ok(None),
            some => T::restored(some).map(Some),
        }
    }
}
