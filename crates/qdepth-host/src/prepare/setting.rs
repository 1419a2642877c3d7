//! Kernel settings that a preparation may change: a list of settings with their allowed values.
//! Nothing else is ever written.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A setting from the list, with its new value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Setting {
    path: String,
    value: String,
    #[serde(skip)]
    name: String,
}

/// Entry of the undo journal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    path: String,
    value: String,
}

impl TryFrom<Written> for Setting {
    type Error = String;
    /// Restores any former value of the kernel, if it is a single line.
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
    /// Name of a kernel module, for example of a scheduler.
    Name,
    /// A number in this range.
    Number(i64, i64),
    /// A hexadecimal CPU mask.
    Mask,
    /// A CPU list, for example `0-3,8`.
    List,
}

use Values::{List, Mask, Name, Number, Words};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Knob {
    path: &'static str,
    values: Values,
    /// Name for the user, with the variable parts of the path.
    name: &'static str,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Knobs {
    knob: Vec<Knob>,
}

/// A damaged list allows nothing; a test would detect it first.
static KNOBS: LazyLock<Knobs> =
    LazyLock::new(|| toml::from_str(include_str!("settings.toml")).unwrap_or_default());

/// Longest value of any setting, in bytes: a mask of 8,192 CPUs.
const LONGEST: usize = 2400;

impl Setting {
    /// A listed setting with an allowed value.
    ///
    /// # Errors
    /// If it is not on the list, or the value is not allowed.
    pub fn new(path: &str, value: &str) -> Result<Self, String> {
        let (knob, name) = find(path)?;
        if !knob.values.have(value) {
            let possible = knob.values.text();
            return Err(format!("`{value}` is not a valid value of `{path}` ({name}): {possible}"));
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned(), name })
    }

    /// A listed setting with the kernel's current value, for its undo.
    ///
    /// # Errors
    /// If it is not on the list, or the value is not one line of text.
    pub fn put_back(path: &str, value: &str) -> Result<Self, String> {
        let (_, name) = find(path)?;
        let plain = |c: char| c.is_ascii_graphic() || c == ' ';
        if value.is_empty() || value.len() > LONGEST || !value.chars().all(plain) {
            return Err(format!("the current value of `{path}` could not be restored later"));
        }
        Ok(Self { path: path.to_owned(), value: value.to_owned(), name })
    }

    /// Path of the setting's file.
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
            "`{path}` is not a setting that a preparation may change; docs/preparation.md lists \
             them"
        )
    })
}

/// The name for the user, with the variable parts of the path filled in; `None` if the path does
/// not match.
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

/// True for a name that the kernel may give to a device or module.
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
            Mask => "must be a CPU mask in hexadecimal digits, for example 000000ff".to_owned(),
            List => "must be a list of CPUs, for example 0-3,8".to_owned(),
        }
    }
}

fn is_of(value: &str, allowed: impl Fn(u8) -> bool) -> bool {
    !value.is_empty() && value.len() <= LONGEST && value.bytes().all(allowed)
}

/// All settings that a preparation may change: file, allowed values and description. For the
/// documentation.
pub fn settings() -> Vec<(&'static str, String, &'static str)> {
    KNOBS.knob.iter().map(|knob| (knob.path, knob.values.text(), knob.name)).collect()
}
