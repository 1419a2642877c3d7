//! A value of a table, with its type and its column.

use std::borrow::Cow;

/// Value of a cell. The variant is the type of the column; `None` is an empty cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text; an empty one is stored as `None`.
    Text(Option<Cow<'a, str>>),
    /// A count, or a whole number in the unit of the column's name.
    Whole(Option<u64>),
    /// A finite real number.
    Real(Option<f64>),
    /// A yes or no.
    Flag(Option<bool>),
    /// A point in time, RFC 3339, UTC.
    Time(Option<&'a str>),
}

/// A value with the name of its column.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    /// Name of the column, with its unit.
    pub name: Cow<'static, str>,
    /// Description for the user.
    pub description: &'static str,
    /// The value.
    pub value: Value<'a>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(name: &'static str, description: &'static str, value: Value<'a>) -> Self {
        Self { name: Cow::Borrowed(name), description, value }
    }

    /// The column with its type, without a value.
    pub(crate) fn without_value(self) -> Field<'static> {
        let value = match self.value {
            Value::Text(_) => Value::Text(None),
            Value::Whole(_) => Value::Whole(None),
            Value::Real(_) => Value::Real(None),
            Value::Flag(_) => Value::Flag(None),
            Value::Time(_) => Value::Time(None),
        };
        Field { value, ..self }
    }
}

pub(crate) fn text(text: &str) -> Value<'_> {
    Value::Text(Some(text).filter(|text| !text.is_empty()).map(Cow::Borrowed))
}

pub(crate) fn owned(text: String) -> Value<'static> {
    Value::Text(Some(text).filter(|text| !text.is_empty()).map(Cow::Owned))
}

pub(crate) fn whole(value: impl Into<u64>) -> Value<'static> {
    Value::Whole(Some(value.into()))
}

pub(crate) fn maybe_real(value: Option<f64>) -> Value<'static> {
    Value::Real(value.filter(|value| value.is_finite()))
}

pub(crate) fn time(text: &str) -> Value<'_> {
    Value::Time(Some(text))
}

/// Part of an entry that may also be a value of a table.
pub(crate) trait IntoCell: Sized {
    /// The value; `None` if the part has columns of its own or does not appear in tables.
    fn into_cell<'a>(self) -> Option<Value<'a>> {
        None
    }
}

macro_rules! cells {
    ($($part:ty: $cell:expr;)+) => {$(
        impl IntoCell for $part {
            fn into_cell<'a>(self) -> Option<Value<'a>> {
                let cell: fn(Self) -> Value<'a> = $cell;
                Some(cell(self))
            }
        }
    )+};
}

cells! {
    String: owned;
    bool: |is_so| Value::Flag(Some(is_so));
    u32: whole;
    u64: whole;
    f64: |value| maybe_real(Some(value));
    Option<String>: |text| owned(text.unwrap_or_default());
    Option<u32>: |value| Value::Whole(value.map(u64::from));
    Option<u64>: Value::Whole;
    Option<f64>: maybe_real;
}
