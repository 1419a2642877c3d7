//! Settings of the kernel that a preparation may change: a list, each with the values that it may
//! have. Nothing else is ever written.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A setting and the value that it is to have. There is none outside of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Setting {
    path: String,
    value: String,
    name: String,
}

/// Entry of the undo journal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    path: String,
    value: String,
}

impl From<Setting> for Written {
    fn from(setting: Setting) -> Self {
        Self { path: setting.path, value: setting.value }
    }
}

impl TryFrom<Written> for Setting {
    type Error = String;
    /// The kernel's former value is restored whatever it was, if it is one line.
    fn try_from(written: Written) -> Result<Self, String> {
        Self::put_back(&written.path, &written.value)
    }
}

/// Allowed values.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
enum Values {
    /// One of these words.
    Words(Vec<&'static str>),
    /// A name of a module of the kernel's, as of a scheduler.
    Name,
    /// A number within these limits.
    Number(i64, i64),
    /// Hexadecimal groups of CPUs.
    Mask,
    /// A list, for example `0-3,8`.
    List,
}

use Values::{List, Mask, Name, Number, Words};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Knob {
    path: &'static str,
    values: Values,
    /// In our words, with the places of the path.
    name: &'static str,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Knobs {
    knob: Vec<Knob>,
}

/// A damaged list allows nothing; a test finds that first.
static KNOBS: LazyLock<Knobs> =
    LazyLock::new(|| toml::from_str(include_str!("settings.toml")).unwrap_or_default());

/// Longest value of any of them, in bytes; a mask of 8192 CPUs has as many.
const LONGEST: usize = 2400;

impl Setting {
    /// A setting of the list with a value that it may have.
    ///
    /// # Errors
    /// If it is not on the list, or the value is not allowed.
    pub fn new(path: &str, value: &str) -> Result<Self, String> {
        let (knob, name) = find(path)?;
        if !knob.values.have(value) {
            let possible = knob.values.text();
            return Err(format!("`{value}` is not a value of `{path}` ({name}): {possible}"));
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned(), name })
    }

    /// Value of a listed setting as shown by the kernel, to be restored.
    ///
    /// # Errors
    /// If it is not on the list, or the value is not one line of text.
    pub fn put_back(path: &str, value: &str) -> Result<Self, String> {
        let (_, name) = find(path)?;
        let plain = |c: char| c.is_ascii_graphic() || c == ' ';
        if value.is_empty() || value.len() > LONGEST || !value.chars().all(plain) {
            return Err(format!("the value of `{path}` could not be written back"));
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned(), name })
    }

    /// Its file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Value to write.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Name for the user.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn find(path: &str) -> Result<(&'static Knob, String), String> {
    let found = KNOBS.knob.iter().find_map(|knob| Some((knob, fit(knob, path)?)));
    found.ok_or_else(|| {
        format!(
            "`{path}` is not a setting that a preparation may change: those are below /sys and \
             /proc, and docs/preparation.md lists them"
        )
    })
}

/// The name with the places filled in; `None` if the path is not of this form.
fn fit(knob: &Knob, path: &str) -> Option<String> {
    let (mut form, mut given) = (knob.path.split('/'), path.split('/'));
    let mut name = knob.name.to_owned();
    let mut numbers = 0;
    loop {
        let (form, given) = match (form.next(), given.next()) {
            (None, None) => return Some(name),
            (form, given) => (form?, given?),
        };
        let Some((before, rest)) = form.split_once('{') else {
            if form == given {
                continue;
            }
            return None;
        };
        let (kind, _) = rest.split_once('}')?;
        let word = given.strip_prefix(before)?;
        let fits = match kind {
            "n" => !word.is_empty() && word.len() < 8 && word.bytes().all(|b| b.is_ascii_digit()),
            _ => is_name(word),
        };
        if !fits {
            return None;
        }
        numbers += u32::from(kind == "n");
        let placeholder =
            if numbers > 1 { format!("{{{numbers}}}") } else { format!("{{{kind}}}") };
        name = name.replace(&placeholder, word);
    }
}

/// A name that the kernel gives to a device, or to a module.
fn is_name(word: &str) -> bool {
    word.len() <= 64
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "!_.-".contains(c))
}

impl Values {
    fn have(&self, value: &str) -> bool {
        match self {
            Words(words) => words.contains(&value),
            Name => is_name(value),
            Number(least, most) => {
                let plain = value.strip_prefix('-').unwrap_or(value);
                plain.bytes().all(|b| b.is_ascii_digit())
                    && value.parse::<i64>().is_ok_and(|n| (least..=most).contains(&&n))
            }
            Mask => is_of(value, |b| b.is_ascii_hexdigit() || b == b','),
            List => is_of(value, |b| b.is_ascii_digit() || b == b',' || b == b'-'),
        }
    }

    fn text(&self) -> String {
        match self {
            Words(words) => format!("must be {}", words.join(", ")),
            Name => "must be a name, for example `none` or `mq-deadline`".to_owned(),
            Number(least, most) => format!("must be {least} to {most}"),
            Mask => "must be a mask of CPUs in hexadecimal digits, for example 000000ff".to_owned(),
            List => "must be a list of CPUs, for example 0-3,8".to_owned(),
        }
    }
}

fn is_of(value: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !value.is_empty() && value.len() <= LONGEST && value.bytes().all(allowed)
}

/// Every setting that a preparation may change: its file, what it may have, and what it is. For the
/// documentation.
pub fn settings() -> Vec<(&'static str, String, &'static str)> {
    KNOBS.knob.iter().map(|knob| (knob.path, knob.values.text(), knob.name)).collect()
}
