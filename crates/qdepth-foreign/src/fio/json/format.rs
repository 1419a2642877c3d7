//! JSON in fio's layout: a space on each side of the colon, six decimals.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Formats a document so that scripts that search for `"iops" : ` find it.
pub(super) fn as_fio(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, AsFio(PrettyFormatter::new()));
    // Writing to a Vec never fails, and all keys are strings.
    let _ = value.serialize(&mut serializer);
    String::from_utf8_lossy(&text).into_owned()
}

struct AsFio<'a>(PrettyFormatter<'a>);

impl Formatter for AsFio<'_> {
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> Result<()> {
        write!(to, "{value:.6}")
    }
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.begin_array(to)
    }
    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_array(to)
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> Result<()> {
        self.0.begin_array_value(to, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_array_value(to)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.begin_object(to)
    }
    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_object(to)
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> Result<()> {
        self.0.begin_object_key(to, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        to.write_all(b" : ")
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> Result<()> {
        self.0.end_object_value(to)
    }
}
