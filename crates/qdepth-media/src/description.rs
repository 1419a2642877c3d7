//! Device model file: TOML, with a source for each number.

use std::collections::BTreeMap;

use qdepth_workload::TomlError;
use serde::Deserialize;

use crate::catalogue;
use crate::checked::Checked;
use crate::error::MediaError;
use crate::known::ErrorModel;
use crate::parameter::{KINDS, Values, parameters};

/// Leads to all fields of a device model.
const FIELDS: &str = "`qdepth media p3700-800gb` shows a complete device model";

/// Number with its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced {
    /// Value, in the parameter's unit.
    pub value: f64,
    /// `data sheet`, `document …`, `calibrated`, `prior: …`, `guess: …`.
    pub from: String,
}

/// Format of a drive: the parameters that it changes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Title for the user.
    pub title: String,
    /// Parameters that differ from those of the device.
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
    /// Random reads of 4 KiB, IOPS.
    pub random_read_4k_io_s: Option<Sourced>,
    /// Random writes of 4 KiB, IOPS.
    pub random_write_4k_io_s: Option<Sourced>,
}

impl DataSheet {
    /// The stated maxima: key, number with its source, unit.
    pub fn promises(&self) -> impl Iterator<Item = (&'static str, &Sourced, &'static str)> {
        let mb_s = "MB/s (10^6 bytes)";
        let all = [
            ("sequential_read_mb_s", &self.sequential_read_mb_s, mb_s),
            ("sequential_write_mb_s", &self.sequential_write_mb_s, mb_s),
            ("random_read_4k_io_s", &self.random_read_4k_io_s, "IOPS"),
            ("random_write_4k_io_s", &self.random_write_4k_io_s, "IOPS"),
        ];
        all.into_iter().filter_map(|(name, value, unit)| Some((name, value.as_ref()?, unit)))
    }
}

/// Contents of a device model file, or of a host or layer file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Title for the user.
    pub title: String,
    /// `ssd`, `hdd`, `servers`, `volume`, `host`, `layer`; if empty, the kind of `like`.
    #[serde(default)]
    pub kind: String,
    /// Built-in model that provides the parameters missing here.
    pub like: Option<String>,
    /// Host with which its figures were published.
    pub host: Option<String>,
    /// Its validation; never inherited from the model that it is `like`.
    pub checked: Option<Checked>,
    /// Description in one sentence.
    #[serde(default)]
    pub about: String,
    /// Data that its figures were compared with.
    #[serde(default)]
    pub compared_with: String,
    /// Known differences from published data.
    #[serde(default)]
    pub divergences: Vec<String>,
    /// Parameters of the device.
    #[serde(default)]
    pub parameters: BTreeMap<String, Sourced>,
    /// Parameters of the computer that measured it; if empty, those of `host`, if any.
    #[serde(default)]
    pub computer: BTreeMap<String, Sourced>,
    /// Accuracy of a model that was fitted to measurements.
    pub fit: Option<ErrorModel>,
    /// Figures of the vendor's data sheet; never inherited from `like`.
    #[serde(default)]
    pub data_sheet: DataSheet,
    /// Formats of the device, by name.
    #[serde(default, rename = "format")]
    pub formats: BTreeMap<String, Format>,
    /// Format to use if an expression names none.
    pub default_format: Option<String>,
}

impl Description {
    /// Reads a built-in device model, with the parameters that it inherits through `like`.
    pub fn shipped(name: &str) -> Result<Self, MediaError> {
        let text = catalogue::text(name)
            .ok_or_else(|| MediaError::unknown("emulated device", name, catalogue::names()))?;
        Self::read(name, text)
    }

    /// All built-in device models with their names, the best validated first.
    pub fn all() -> Result<Vec<(&'static str, Self)>, MediaError> {
        let read = |name| Ok((name, Self::shipped(name)?));
        let mut all = catalogue::names().map(read).collect::<Result<Vec<_>, MediaError>>()?;
        all.sort_by_key(|(_, description)| description.checked());
        Ok(all)
    }

    /// Reads a device model file. `name` identifies it in errors.
    pub fn read(name: &str, text: &str) -> Result<Self, MediaError> {
        let wrong = |why: String| MediaError::Description { name: name.to_owned(), why };
        let mut own: Self = toml::from_str(text)
            .map_err(|error| wrong(TomlError::new(text, &error, FIELDS).to_string()))?;
        if let Some(other) = &own.like {
            if other == name {
                return Err(wrong("`like` names the device model itself".to_owned()));
            }
            own = Self::shipped(other)?.overlaid_by(own);
        }
        let wild = |value: f64| !(value.is_finite() && value > 0.0);
        if let Some((key, ..)) = own.data_sheet.promises().find(|(_, s, _)| wild(s.value)) {
            return Err(wrong(format!("`data_sheet.{key}` must be a rate above 0")));
        }
        if let Some(known) = &own.fit {
            known.check().map_err(wrong)?;
        }
        if parameters(&own.kind).is_none() {
            return Err(MediaError::unknown("kind of device", &own.kind, KINDS.into_iter()));
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
        if self.fit.is_some() { Checked::OwnRuns } else { self.checked.unwrap_or_default() }
    }

    /// Parameter values for a format, with the overrides of an expression.
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

    /// Title, with that of the format if one is named.
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
