//! A value of tables, with its type and its column.

use std::borrow::Cow;

/// A value of a column; its variant is the column's type, and none is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A text; one that is empty says nothing, and is none.
    Text(Option<Cow<'a, str>>),
    /// A count, or a whole number of a unit that the column's name has.
    Whole(Option<u64>),
    /// A real number; always finite.
    Real(Option<f64>),
    /// Whether something is so.
    Flag(Option<bool>),
    /// A moment, RFC 3339, UTC.
    Time(Option<&'a str>),
}

/// A value with the name of its column.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    /// The column, with its unit.
    pub name: Cow<'static, str>,
    /// What it is, for people.
    pub description: &'static str,
    /// The value.
    pub value: Value<'a>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(name: &'static str, description: &'static str, value: Value<'a>) -> Self {
        Self { name: Cow::Borrowed(name), description, value }
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

pub(crate) fn real(value: f64) -> Value<'static> {
    maybe_real(Some(value))
}

pub(crate) fn maybe_real(value: Option<f64>) -> Value<'static> {
    Value::Real(value.filter(|value| value.is_finite()))
}

pub(crate) fn flag(value: bool) -> Value<'static> {
    Value::Flag(Some(value))
}

pub(crate) fn time(text: &str) -> Value<'_> {
    Value::Time(Some(text))
}
