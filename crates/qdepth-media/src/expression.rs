//! Target expressions: `media:NAME`, `media:NAME/FORMAT`, `raid0(media:NAME*2)`, `independent(…)`,
//! `delay(…, 100us)`, `fault(…, errors=1000)`, each followed by `@name=value`.

use std::collections::BTreeMap;

use qdepth_measure::{Bytes, Instant, Nanos};

use crate::error::MediaError;
use crate::host::Settings;
use crate::node::Fault;
use crate::ssd::Wear;
use crate::tick::{Tick, ticks};

/// Maximum number of members of an array: each is a bit of a word.
const MEMBERS_MAX: usize = 64;
/// Ambient temperature with restricted cooling, °C: an idle drive is just below its limit (guess).
const RESTRICTED_C: f64 = 60.0;
/// Extension of description files.
const FILE_ENDING: &str = ".toml";
/// Deepest nesting of wrappers.
const DEPTH_MAX: usize = 8;
/// Names of wrappers and arrays.
const WRAPPERS: [&str; 14] = [
    "raid0",
    "raid1",
    "raid5",
    "raid10",
    "independent",
    "delay",
    "fault",
    "pressure",
    "xfs",
    "md",
    "imsm",
    "xvm",
    "gpfs-1m",
    "gpfs-4m",
];
/// Names after `@` that are settings, not parameters.
const SETTINGS: [&str; 7] = ["area", "cpu", "settings", "processes", "state", "host", "cooling"];

/// Expression before any description is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Medium { name: String, format: Option<String> },
    Array { kind: Arrangement, members: Vec<Expression>, stripe: Option<u64> },
    Independent(Vec<Expression>),
    Wrapped(Box<Expression>, Wrapper),
}

/// Wrapper of one expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wrapper {
    Delay(Tick),
    Fault(Fault),
    /// Random writes at this many bytes per second, in addition to the measured load.
    Pressure(u64),
}

impl Expression {
    /// Wrapped or combined expressions.
    pub(crate) fn members(&self) -> &[Self] {
        match self {
            Self::Medium { .. } => &[],
            Self::Array { members, .. } | Self::Independent(members) => members,
            Self::Wrapped(member, _) => std::slice::from_ref(member),
        }
    }

    /// Names and formats of the device models in the expression, each once.
    pub(crate) fn media(&self) -> Vec<(String, Option<String>)> {
        let mut media = Vec::new();
        self.media_into(&mut media);
        media
    }

    fn media_into(&self, media: &mut Vec<(String, Option<String>)>) {
        if let Self::Medium { name, format } = self {
            let named = (name.clone(), format.clone());
            if !media.contains(&named) {
                media.push(named);
            }
        }
        self.members().iter().for_each(|member| member.media_into(media));
    }

    /// Number of drives in the expression.
    pub(crate) fn drives(&self) -> usize {
        match self {
            Self::Medium { .. } => 1,
            other => other.members().iter().map(Self::drives).sum(),
        }
    }
}

/// Kinds of arrays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arrangement {
    Raid0,
    Raid1,
    Raid5,
    Raid10,
    /// Volume layer, by the name of its description.
    Layer(String),
}

impl Arrangement {
    /// Number of members that hold data, where others hold copies or parity of it.
    pub(crate) fn data(&self, members: u64) -> u64 {
        match self {
            Self::Raid0 | Self::Layer(_) => members,
            Self::Raid1 => 1,
            Self::Raid5 => members - 1,
            Self::Raid10 => members / 2,
        }
    }
}

/// Default measurement area of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Area {
    #[default]
    Standard,
    Full,
    Of(u64),
}

/// Settings after `@`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overrides {
    pub(crate) area: Area,
    pub(crate) ghz: Option<f64>,
    pub(crate) settings: Settings,
    pub(crate) processes: Option<u32>,
    pub(crate) wear: Option<Wear>,
    pub(crate) host: Option<String>,
    /// Parameter overrides for every device and host in the expression.
    pub(crate) parameters: BTreeMap<String, f64>,
}

/// True if a word is the expression of an emulated target.
pub fn is_emulated(word: &str) -> bool {
    let head = word.split(['(', ' ']).next().unwrap_or_default();
    word.starts_with("media:") || (word.contains('(') && WRAPPERS.contains(&head))
}

/// Splits `media:NAME*4` into four targets; `None` for a single target.
///
/// # Errors
/// If the count is out of range.
pub fn several(word: &str) -> Result<Option<Vec<String>>, MediaError> {
    let many = word.rsplit_once('*').is_some_and(|(_, count)| !count.contains(')'));
    let many = many && unclosed(word) == 0;
    // A star after `@` would be part of a value.
    if !many || word.contains('@') || !is_emulated(word) {
        return Ok(None);
    }
    let (expression, count) = counted(word)?;
    Ok(Some(vec![expression.to_owned(); count]))
}

pub(crate) fn read(text: &str) -> Result<(Expression, Overrides), MediaError> {
    let mut pieces = text.split('@');
    let form = form(pieces.next().unwrap_or_default().trim(), 0)?;
    let mut overrides = Overrides::default();
    for piece in pieces {
        setting(piece.trim(), &mut overrides)?;
    }
    Ok((form, overrides))
}

fn form(text: &str, depth: usize) -> Result<Expression, MediaError> {
    if depth > DEPTH_MAX {
        return Err(MediaError::expression(
            text,
            format!("at most {DEPTH_MAX} wrappers can be nested"),
        ));
    }
    if let Some(rest) = text.strip_prefix("media:") {
        let (name, format) = name_and_format(rest);
        return Ok(Expression::Medium { name: name.to_owned(), format: format.map(str::to_owned) });
    }
    let Some((word, rest)) = text.split_once('(') else {
        return Err(MediaError::expression(
            text,
            "an emulated target is `media:NAME`, or an array such as `raid0(media:NAME*2)`",
        ));
    };
    let inner = rest.strip_suffix(')').filter(|_| unclosed(text) == 0).ok_or_else(|| {
        let why = match unclosed(text) {
            0 => "only settings such as @area=full may follow the last `)`".to_owned(),
            lacking => {
                format!("a closing parenthesis is missing. Write '{text}{}'", ")".repeat(lacking))
            }
        };
        MediaError::expression(text, why)
    })?;
    let arguments = arguments(inner);
    match word.trim() {
        word @ ("delay" | "fault" | "pressure") => wrapped(text, word, &arguments, depth),
        word if WRAPPERS.contains(&word) => array(text, word, &arguments, depth),
        word => Err(MediaError::unknown("arrangement", word, WRAPPERS.into_iter())),
    }
}

/// Number of closing parentheses that a text lacks.
fn unclosed(text: &str) -> usize {
    text.matches('(').count().saturating_sub(text.matches(')').count())
}

/// Splits a device name, which may be the path of a model file, from its format.
pub fn name_and_format(text: &str) -> (&str, Option<&str>) {
    let (name, rest) = match text.find(FILE_ENDING).map(|at| at + FILE_ENDING.len()) {
        Some(end) => text.split_at(end),
        None => text.split_at(text.find('/').unwrap_or(text.len())),
    };
    (name.trim(), rest.strip_prefix('/').map(str::trim))
}

/// True if the name is the path of a model file.
pub fn is_file(name: &str) -> bool {
    name.ends_with(FILE_ENDING)
}

/// Arguments between commas outside inner parentheses.
fn arguments(text: &str) -> Vec<&str> {
    let (mut list, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                list.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    list.push(text[from..].trim());
    list
}

fn array(
    text: &str,
    word: &str,
    arguments: &[&str],
    depth: usize,
) -> Result<Expression, MediaError> {
    let (mut members, mut stripe) = (Vec::new(), None);
    for argument in arguments {
        if let Some(size) = argument.strip_prefix("stripe=") {
            stripe = Some(bytes(argument, size, 4096, 64 << 20)?);
        } else {
            let (member, count) = counted(argument)?;
            let member = form(member, depth + 1)?;
            members.extend(std::iter::repeat_n(member, count));
        }
    }
    let (least, even) = match word {
        "raid1" => (2, false),
        "raid5" => (3, false),
        "raid10" => (4, true),
        _ => (1, false),
    };
    let count = members.len();
    if count < least || count > MEMBERS_MAX || (even && count % 2 == 1) {
        let even = if even { ", an even number," } else { "" };
        let valid =
            count.clamp(least, MEMBERS_MAX).next_multiple_of(if least == 4 { 2 } else { 1 });
        let (member, _) = counted(arguments.first().unwrap_or(&"media:NAME"))?;
        return Err(MediaError::expression(
            text,
            format!(
                "{word} needs at least {least}{even} and at most {MEMBERS_MAX} drives, but has \
                 {count}. Write '{word}({member}*{valid})'"
            ),
        ));
    }
    let kind = match word {
        "independent" => return Ok(Expression::Independent(members)),
        "raid0" => Arrangement::Raid0,
        "raid1" => Arrangement::Raid1,
        "raid5" => Arrangement::Raid5,
        "raid10" => Arrangement::Raid10,
        layer => Arrangement::Layer(layer.to_owned()),
    };
    Ok(Expression::Array { kind, members, stripe })
}

/// Splits a count from an expression: `media:NAME*4` is four members.
fn counted(text: &str) -> Result<(&str, usize), MediaError> {
    match text.rsplit_once('*') {
        Some((member, count)) if !count.contains(')') => {
            let count = count.trim().parse::<usize>().ok();
            match count.filter(|n| (1..=MEMBERS_MAX).contains(n)) {
                Some(count) => Ok((member.trim(), count)),
                None => Err(MediaError::expression(
                    text,
                    format!("the count after `*` must be between 1 and {MEMBERS_MAX}"),
                )),
            }
        }
        _ => Ok((text, 1)),
    }
}

/// Parses the wrapper of one target. Rates of `pressure(…)` are in powers of ten, like those of the
/// write pressure paper.
fn wrapped(
    text: &str,
    word: &str,
    arguments: &[&str],
    depth: usize,
) -> Result<Expression, MediaError> {
    let usage = match word {
        "delay" => "use delay(TARGET, 100us)",
        "pressure" => "use pressure(TARGET, 500MB/s)",
        _ => {
            "use fault(TARGET, errors=N) for an error in every Nth I/O, fault(TARGET, hang=N) for \
             an Nth I/O that never completes, or fault(TARGET, removed=5s) for a drive that \
             disappears after that time"
        }
    };
    let [member, what] = arguments else { return Err(MediaError::expression(text, usage)) };
    let number = |value: &str| {
        let number = value.trim().parse::<u64>().ok().filter(|n| *n > 0);
        number.ok_or_else(|| MediaError::expression(what, "must be a whole number from 1"))
    };
    let wrapper = match (word, what.split_once('=')) {
        ("delay", _) => Wrapper::Delay(time(what)?),
        ("pressure", _) => {
            let rate = what.strip_suffix("/s").and_then(|r| r.trim().parse::<Bytes>().ok());
            let rate = rate.filter(|rate| (1_000_000..=100_000_000_000).contains(&rate.0));
            let wrong = || format!("{usage}; the rate must be between 1MB/s and 100GB/s");
            Wrapper::Pressure(rate.ok_or_else(|| MediaError::expression(text, wrong()))?.0)
        }
        (_, Some(("errors", every))) => Wrapper::Fault(Fault::Error { every: number(every)? }),
        (_, Some(("hang", at))) => Wrapper::Fault(Fault::Hang { at: number(at)? }),
        (_, Some(("removed", after))) => Wrapper::Fault(Fault::Removed { after: time(after)? }),
        _ => return Err(MediaError::expression(text, usage)),
    };
    Ok(Expression::Wrapped(Box::new(form(member, depth + 1)?), wrapper))
}

fn setting(piece: &str, overrides: &mut Overrides) -> Result<(), MediaError> {
    let Some((name, value)) = piece.split_once('=') else {
        return Err(MediaError::expression(piece, "use name=value after `@`"));
    };
    let (name, value) = (name.trim(), value.trim());
    match name {
        "area" if value == "full" => overrides.area = Area::Full,
        "area" if value == "standard" => overrides.area = Area::Standard,
        "area" => overrides.area = Area::Of(bytes(piece, value, 1 << 20, 1 << 60)?),
        "cpu" => {
            let text = value.trim_end_matches("GHz").trim();
            overrides.ghz = Some(number(name, text, 0.1, 10.0, "GHz")?);
        }
        "settings" => {
            let known = [("performance", Settings::Performance), ("default", Settings::Default)];
            overrides.settings = one_of(name, value, &known)?;
        }
        "processes" => {
            overrides.processes = Some(number(name, value, 1.0, 256.0, "")? as u32);
        }
        "state" => {
            let known = [
                ("fresh", Wear::FRESH),
                ("preconditioned", Wear::PRECONDITIONED),
                ("steady", Wear::STEADY),
            ];
            overrides.wear = Some(one_of(name, value, &known)?);
        }
        "cooling" => {
            let known = [("normal", 35.0), ("restricted", RESTRICTED_C)];
            let ambient_c = one_of(name, value, &known)?;
            overrides.parameters.insert("ambient_c".to_owned(), ambient_c);
        }
        "host" => overrides.host = Some(value.to_owned()),
        _ => {
            let parsed: Option<f64> = value.parse().ok().filter(|value: &f64| value.is_finite());
            let value = parsed.ok_or_else(|| {
                let why = "must be a number; `qdepth media NAME` lists all parameters";
                MediaError::expression(&format!("@{name} = {value}"), why.to_owned())
            })?;
            overrides.parameters.insert(name.to_owned(), value);
        }
    }
    Ok(())
}

/// Value of a setting by its name.
fn one_of<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> Result<T, MediaError> {
    known.iter().find(|(known, _)| *known == value).map(|(_, found)| *found).ok_or_else(|| {
        let known = known.iter().map(|(known, _)| *known);
        MediaError::unknown(format!("value of @{name}"), value, known)
    })
}

/// Names of settings after `@`, for errors.
pub(crate) fn setting_names() -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter()
}

fn number(name: &str, value: &str, low: f64, high: f64, unit: &str) -> Result<f64, MediaError> {
    let range = || MediaError::range(format!("@{name}"), value.to_owned(), [low, high], unit);
    let found: f64 = value.parse().map_err(|_| range())?;
    if (low..=high).contains(&found) { Ok(found) } else { Err(range()) }
}

fn bytes(text: &str, value: &str, low: u64, high: u64) -> Result<u64, MediaError> {
    let found: Bytes = value.parse().map_err(|e: qdepth_measure::ParseBytesError| {
        MediaError::expression(text, e.to_string())
    })?;
    if !(low..=high).contains(&found.0) || !found.0.is_multiple_of(4096) {
        return Err(MediaError::expression(
            text,
            format!("must be a multiple of 4KiB from {} to {}", Bytes(low), Bytes(high)),
        ));
    }
    Ok(found.0)
}

fn time(text: &str) -> Result<Tick, MediaError> {
    let wrong = |e: qdepth_measure::ParseNanosError| MediaError::expression(text, e.to_string());
    let time: Nanos = text.trim().parse().map_err(wrong)?;
    Ok(ticks(Instant(time.0)))
}
