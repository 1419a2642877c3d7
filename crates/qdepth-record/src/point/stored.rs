//! What of a point is stored in columns of SQL, one value each.

use std::borrow::Cow;

use super::fields::PointRecord;
use crate::record::EndedBy;

/// A value as SQL has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored<'a> {
    /// Nothing.
    Null,
    /// A whole number; an unsigned one of 64 bits with the same bits.
    Whole(i64),
    /// A real number; one that is undefined is stored as nothing.
    Real(f64),
    /// A text.
    Text(Cow<'a, str>),
}

/// A column of the points.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it is, as the documentation says.
    pub meaning: &'static str,
    /// The value of a record.
    pub get: fn(&PointRecord) -> Stored<'_>,
    /// Puts a value into a record.
    ///
    /// # Errors
    /// Where it is none of the column's.
    pub set: fn(&mut PointRecord, Stored<'_>) -> Result<(), String>,
}

impl PointRecord {
    /// Every column of SQL that its values are stored in.
    pub fn columns() -> impl Iterator<Item = &'static Column> {
        Self::KEPT.iter().chain(OTHERS)
    }
}

macro_rules! kernel {
    ($name:literal, $meaning:literal, $field:ident) => {
        Column {
            name: $name,
            meaning: $meaning,
            get: |point| point.kernel.as_ref().map_or(Stored::Null, |all| all.$field.stored()),
            set: |point, value| {
                if value != Stored::Null {
                    point.kernel.get_or_insert_default().$field = u64::restored(value)?;
                }
                Ok(())
            },
        }
    };
}

macro_rules! gaps {
    ($name:literal, $meaning:literal, $index:literal) => {
        Column {
            name: $name,
            meaning: $meaning,
            get: |point| point.gaps[$index].stored(),
            set: |point, value| {
                point.gaps[$index] = u64::restored(value)?;
                Ok(())
            },
        }
    };
}

/// Those that are not a field of the record each.
const OTHERS: &[Column] = &[
    Column {
        name: "trim_share",
        meaning: "Share of trims, 0..1: requests that discard what is stored; NULL where there are \
                  none.",
        get: |point| match point.trim_share {
            share if share > 0.0 => Stored::Real(share),
            _ => Stored::Null,
        },
        set: |point, value| {
            point.trim_share = Option::<f64>::restored(value)?.unwrap_or(0.0);
            Ok(())
        },
    },
    gaps!("gaps_100ms", "Intervals without a completion longer than 100 ms.", 0),
    gaps!("gaps_1s", "Intervals without a completion longer than 1 s.", 1),
    gaps!("gaps_10s", "Intervals without a completion longer than 10 s.", 2),
    kernel!(
        "kernel_reads",
        "Reads that the kernel counted on the device; NULL, like the next three, where it could \
         not be read.",
        reads
    ),
    kernel!("kernel_read_bytes", "Bytes that the kernel counted as read.", read_bytes),
    kernel!("kernel_writes", "Writes that the kernel counted.", writes),
    kernel!("kernel_written_bytes", "Bytes that the kernel counted as written.", written_bytes),
];

/// A type that a column holds.
pub(super) trait Stores: Sized {
    fn stored(&self) -> Stored<'_>;
    fn restored(value: Stored<'_>) -> Result<Self, String>;
}

fn no<T>(what: &str, value: &Stored<'_>) -> Result<T, String> {
    Err(format!("{value:?} is no {what}"))
}

impl Stores for u64 {
    fn stored(&self) -> Stored<'_> {
        Stored::Whole(self.cast_signed())
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Whole(number) => Ok(number.cast_unsigned()),
            other => no("whole number", &other),
        }
    }
}

impl Stores for u32 {
    fn stored(&self) -> Stored<'_> {
        Stored::Whole((*self).into())
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Whole(number) => Self::try_from(number).map_err(|error| error.to_string()),
            other => no("whole number", &other),
        }
    }
}

impl Stores for bool {
    fn stored(&self) -> Stored<'_> {
        Stored::Whole((*self).into())
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Whole(number) => Ok(number != 0),
            other => no("0 or 1", &other),
        }
    }
}

impl Stores for f64 {
    fn stored(&self) -> Stored<'_> {
        Stored::Real(*self)
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Real(number) => Ok(number),
            Stored::Null => Ok(Self::NAN),
            other => no("real number", &other),
        }
    }
}

impl Stores for String {
    fn stored(&self) -> Stored<'_> {
        Stored::Text(Cow::Borrowed(self))
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        match value {
            Stored::Text(text) => Ok(text.into_owned()),
            other => no("text", &other),
        }
    }
}

impl Stores for EndedBy {
    fn stored(&self) -> Stored<'_> {
        Stored::Text(Cow::Borrowed(self.as_str()))
    }
    fn restored(value: Stored<'_>) -> Result<Self, String> {
        let text = String::restored(value)?;
        let named = Self::ALL.into_iter().find(|ended| ended.as_str() == text);
        named.ok_or_else(|| format!("`{text}` ends no point"))
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
