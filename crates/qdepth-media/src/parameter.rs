//! Parameters of each kind of device, with units, ranges and meanings. Unknown names are refused in
//! descriptions and in `@name=value`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::error::MediaError;

/// Parameter of a kind of device or host.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Name in descriptions and expressions.
    pub name: &'static str,
    /// Unit of its value; empty for a pure number.
    pub unit: &'static str,
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// Default value; `None` if a description must have the parameter.
    pub default: Option<f64>,
    /// Meaning for the user.
    pub meaning: &'static str,
}

/// Parameters by kind. If the embedded table were invalid, it would be empty and every device model
/// would be refused; a test finds that first.
static KNOWN: LazyLock<BTreeMap<&str, Vec<Parameter>>> =
    LazyLock::new(|| toml::from_str(include_str!("parameters.toml")).unwrap_or_default());

/// Kinds of device.
pub(crate) const KINDS: [&str; 4] = ["ssd", "hdd", "servers", "volume"];

/// The parameters of a kind; `None` if the kind does not exist.
pub fn parameters(kind: &str) -> Option<Vec<Parameter>> {
    if KINDS.contains(&kind) {
        return Some([own("common"), own(kind)].concat());
    }
    ["host", "layer"].contains(&kind).then(|| own(kind).to_vec())
}

/// The parameters of a host.
pub(crate) fn of_hosts() -> &'static [Parameter] {
    own("host")
}

fn own(kind: &str) -> &'static [Parameter] {
    KNOWN.get(kind).map_or(&[], Vec::as_slice)
}

/// Parameter values of one device, complete and in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(BTreeMap<&'static str, f64>);

impl Values {
    /// Checks names and ranges, and adds the defaults.
    pub(crate) fn complete(
        owner: &str,
        parameters: &[Parameter],
        given: &BTreeMap<String, f64>,
    ) -> Result<Self, MediaError> {
        for name in given.keys() {
            if !parameters.iter().any(|p| p.name == name) {
                let known = parameters.iter().map(|p| p.name);
                let what = format!("parameter of {owner}");
                let listed_by = "`qdepth media p3700-800gb` lists those of a drive";
                return Err(MediaError::unknown_of(what, name, known, listed_by));
            }
        }
        let mut values = BTreeMap::new();
        for parameter in parameters {
            let Some(value) = given.get(parameter.name).copied().or(parameter.default) else {
                return Err(MediaError::Description {
                    name: owner.to_owned(),
                    why: format!("`{}` is missing: {}", parameter.name, parameter.meaning),
                });
            };
            if !(parameter.low..=parameter.high).contains(&value) {
                return Err(MediaError::range(
                    format!("{owner}: {}", parameter.name),
                    value.to_string(),
                    [parameter.low, parameter.high],
                    parameter.unit,
                ));
            }
            values.insert(parameter.name, value);
        }
        Ok(Self(values))
    }

    /// Value by name; 0 for a name that the kind does not have.
    pub fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(0.0)
    }

    /// All values, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().map(|(name, value)| (*name, *value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_parameters_with_valid_defaults() {
        let table: Result<BTreeMap<&str, Vec<Parameter>>, _> =
            toml::from_str(include_str!("parameters.toml"));
        assert_eq!(table.map(|table| table.len()).map_err(|error| error.to_string()), Ok(7));
        for kind in KINDS.into_iter().chain(["host", "layer"]) {
            for parameter in parameters(kind).unwrap() {
                let in_range = |value| (parameter.low..=parameter.high).contains(&value);
                assert!(parameter.default.is_none_or(in_range), "{kind}: {}", parameter.name);
            }
        }
        assert_eq!(parameters("common"), None);
    }
}
