//! A medium as written: a TOML file in `media/`, in which each number says where it comes from.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::catalogue;
use crate::checked::Checked;
use crate::error::MediaError;
use crate::known::Known;
use crate::parameter::{KINDS, Values, parameters};

/// A number with its provenance.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced {
    /// In the parameter's unit.
    pub value: f64,
    /// `data sheet`, `document …`, `calibrated`, `prior: …`, `guess: …`.
    pub from: String,
}

/// One way to format a drive: what it changes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Name for people.
    pub title: String,
    /// The parameters that differ.
    pub parameters: BTreeMap<String, Sourced>,
}

/// Maxima of the vendor's data sheet, in its units: 1 MB is 10^6 bytes. They are not used by the
/// emulation and are shown for comparison.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataSheet {
    /// Throughput of sequential reads, MB/s of 10^6 bytes.
    pub sequential_read_mb_s: Option<Sourced>,
    /// Throughput of sequential writes, MB/s of 10^6 bytes.
    pub sequential_write_mb_s: Option<Sourced>,
    /// Random reads of 4 KiB, IO/s.
    pub random_read_4k_io_s: Option<Sourced>,
    /// Random writes of 4 KiB, IO/s.
    pub random_write_4k_io_s: Option<Sourced>,
}

impl DataSheet {
    /// Promises: name, number with its source, unit.
    pub fn promises(&self) -> impl Iterator<Item = (&'static str, &Sourced, &'static str)> {
        let mb_s = "MB/s (10^6 bytes)";
        let all = [
            ("sequential_read_mb_s", &self.sequential_read_mb_s, mb_s),
            ("sequential_write_mb_s", &self.sequential_write_mb_s, mb_s),
            ("random_read_4k_io_s", &self.random_read_4k_io_s, "IO/s"),
            ("random_write_4k_io_s", &self.random_write_4k_io_s, "IO/s"),
        ];
        all.into_iter().filter_map(|(name, value, unit)| Some((name, value.as_ref()?, unit)))
    }
}

/// A description file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Name for people.
    pub title: String,
    /// `ssd`, `hdd`, `servers`, `volume`, `host`, `layer`; left out: that of `like`.
    #[serde(default)]
    pub kind: String,
    /// Another medium whose parameters hold where this one is silent.
    pub like: Option<String>,
    /// The host that its figures were published with.
    pub host: Option<String>,
    /// Stands for a class of drives: as `checked = "class"`, in older files.
    #[serde(default)]
    pub generic: bool,
    /// Its validation; never inherited from the model that it is `like`.
    pub checked: Option<Checked>,
    /// In a sentence.
    #[serde(default)]
    pub about: String,
    /// Data that its figures were compared with.
    #[serde(default)]
    pub compared_with: String,
    /// Known differences from published data.
    #[serde(default)]
    pub divergences: Vec<String>,
    /// The numbers.
    #[serde(default)]
    pub parameters: BTreeMap<String, Sourced>,
    /// The computer that it was measured by, in the parameters of a host; empty: `host`, or none.
    #[serde(default)]
    pub computer: BTreeMap<String, Sourced>,
    /// Accuracy of a model that was fitted to measurements.
    pub fit: Option<Known>,
    /// The maker's promises; never those of the medium that it is `like`.
    #[serde(default)]
    pub data_sheet: DataSheet,
    /// Ways to format it; the first by `default_format`.
    #[serde(default, rename = "format")]
    pub formats: BTreeMap<String, Format>,
    /// The format where none is named.
    pub default_format: Option<String>,
}

impl Description {
    /// Reads the description `name` of the catalogue, with what it takes over from another.
    pub fn shipped(name: &str) -> Result<Self, MediaError> {
        let text = catalogue::text(name)
            .ok_or_else(|| MediaError::unknown("medium", name, catalogue::names()))?;
        Self::read(name, text)
    }

    /// Every description of the catalogue with its name, those first that were held against most.
    pub fn all() -> Result<Vec<(&'static str, Self)>, MediaError> {
        let read = |name| Ok((name, Self::shipped(name)?));
        let mut all = catalogue::names().map(read).collect::<Result<Vec<_>, MediaError>>()?;
        all.sort_by_key(|(_, description)| description.checked());
        Ok(all)
    }

    /// Reads a description.
    pub fn read(name: &str, text: &str) -> Result<Self, MediaError> {
        let wrong = |why: String| MediaError::Description { name: name.to_owned(), why };
        let mut own: Self = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        if let Some(other) = &own.like {
            if other == name {
                return Err(wrong("`like` names the medium itself".to_owned()));
            }
            own = Self::shipped(other)?.overlaid_by(own);
        }
        let wild = |value: f64| !(value.is_finite() && value > 0.0);
        if let Some((key, ..)) = own.data_sheet.promises().find(|(_, s, _)| wild(s.value)) {
            return Err(wrong(format!("`data_sheet.{key}` is not a rate above 0")));
        }
        if let Some(known) = &own.fit {
            known.check().map_err(wrong)?;
        }
        if parameters(&own.kind).is_none() {
            return Err(MediaError::unknown("kind of medium", &own.kind, KINDS.into_iter()));
        }
        Ok(own)
    }

    fn overlaid_by(self, over: Self) -> Self {
        let mut parameters = self.parameters;
        parameters.extend(over.parameters);
        let formats = if over.formats.is_empty() { self.formats } else { over.formats };
        let kind = if over.kind.is_empty() { self.kind } else { over.kind };
        Self {
            parameters,
            formats,
            kind,
            host: over.host.or(self.host),
            default_format: over.default_format.or(self.default_format),
            ..over
        }
    }

    /// Its validation.
    pub fn checked(&self) -> Checked {
        match self.checked {
            _ if self.fit.is_some() => Checked::OwnRuns,
            Some(checked) => checked,
            None if self.generic => Checked::Class,
            None => Checked::Not,
        }
    }

    /// The numbers that hold for a format and with what an expression says otherwise.
    pub fn numbers(
        &self,
        name: &str,
        format: Option<&str>,
        otherwise: &BTreeMap<String, f64>,
    ) -> Result<Values, MediaError> {
        let mut given: BTreeMap<String, f64> =
            self.parameters.iter().map(|(k, v)| (k.clone(), v.value)).collect();
        if let Some(format) = format.or(self.default_format.as_deref()) {
            let found = self.formats.get(format).ok_or_else(|| self.no_format(name, format))?;
            given.extend(found.parameters.iter().map(|(k, v)| (k.clone(), v.value)));
        }
        let known = parameters(&self.kind).unwrap_or_default();
        given.extend(otherwise.clone());
        Values::complete(name, &known, &given)
    }

    /// Its name for people, with that of the format where one is named.
    pub(crate) fn name_of(&self, format: Option<&str>) -> String {
        match format.and_then(|format| self.formats.get(format)) {
            Some(format) if !format.title.is_empty() => format!("{}, {}", self.title, format.title),
            _ => self.title.clone(),
        }
    }

    fn no_format(&self, name: &str, format: &str) -> MediaError {
        if self.formats.is_empty() {
            return MediaError::expression(
                &format!("{name}/{format}"),
                format!("{} has no formatting options", self.title),
            );
        }
        let known = self.formats.keys().map(String::as_str);
        MediaError::unknown(format!("format of {}", self.title), format, known)
    }
}
