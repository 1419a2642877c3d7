//! The kinds of media that are fitted: which parameters are free, from where a search begins, and
//! in which alternatives (sizes and rules that do not go over into each other).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::fit::emulate::Pace;

/// A kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Flash dies behind a controller; also an array of such drives as a whole.
    Flash,
    /// A disk that turns.
    Disk,
    /// A volume with provisioned rates, and credits above them.
    Volume,
    /// Requests that wait for one of several equal servers: a network volume, a file server.
    Network,
    /// Device that is emulated by the computer itself: a RAM disk, compressed memory, a cache.
    Memory,
}

impl Kind {
    /// Each.
    pub const ALL: [Self; 5] = [Self::Flash, Self::Disk, Self::Volume, Self::Network, Self::Memory];

    /// Name, as in `--kind`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flash => "flash",
            Self::Disk => "disk",
            Self::Volume => "volume",
            Self::Network => "network",
            Self::Memory => "memory",
        }
    }

    /// The kind in a description.
    pub(crate) const fn described(self) -> &'static str {
        match self {
            Self::Flash => "ssd",
            Self::Disk => "hdd",
            Self::Volume => "volume",
            Self::Network | Self::Memory => "servers",
        }
    }

    /// For how long its loads are emulated.
    pub(crate) fn pace(self) -> Pace {
        match self {
            Self::Volume => Pace::Timed,
            Self::Disk => Pace::Dear,
            Self::Flash | Self::Network | Self::Memory => Pace::Ordinary,
        }
    }

    /// True if its service times are random, so that their distribution carries information.
    pub(crate) fn is_drawn(self) -> bool {
        self == Self::Network
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("there is no kind `{text}`; there are: {}", known.join(", "))
        })
    }
}

/// The chunk of a die for which a search's first values are reckoned.
pub(crate) const START_CHUNK_KIB: f64 = 32.0;

/// Parameters that count something.
pub(crate) fn is_whole(name: &str) -> bool {
    ["buffer_chunks", "dies", "queue", "servers"].contains(&name)
}

/// A parameter that a fit finds.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    pub(crate) name: &'static str,
    pub(crate) start: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Standard deviation of its logarithm before anything is measured.
    pub(crate) width: f64,
    /// True if it counts something.
    pub(crate) whole: bool,
    /// True if it is of the computer and not of the medium.
    pub(crate) computer: bool,
}

impl Free {
    pub(crate) fn new(name: &'static str, start: f64, low: f64, high: f64) -> Self {
        let (low, high) = (low.max(1e-6), high.max(low.max(1e-6) * 1.001));
        let start = if start.is_finite() { start.clamp(low, high) } else { (low * high).sqrt() };
        Self { name, start, low, high, width: 1.5, whole: is_whole(name), computer: false }
    }

    pub(crate) fn of_computer(self) -> Self {
        Self { computer: true, ..self }
    }

    pub(crate) fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The value of a logarithm.
    pub(crate) fn value(&self, ln: f64) -> f64 {
        let value = libm::exp(ln).clamp(self.low, self.high);
        if self.whole { value.round().max(1.0) } else { value }
    }
}

/// A number that is not fitted, and why it is what it is.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) from: &'static str,
    pub(crate) computer: bool,
}

/// Variable and fixed parameters of a fit.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) free: Vec<Free>,
    pub(crate) fixed: Vec<Fixed>,
    /// Each a set of values beside `fixed`, of which the best is chosen.
    pub(crate) alternatives: Vec<BTreeMap<&'static str, f64>>,
    /// A mechanism that most drives have not: it stays where the points ask for it.
    pub(crate) mechanism: Vec<Free>,
}

impl Model {
    /// Parameters for chunks of another size: the same bytes in the buffer, and the same
    /// programming rate.
    pub(crate) fn rechunked(&self, ln: &[f64], larger: f64) -> Vec<f64> {
        let by = |free: &Free| match free.name {
            "die_program_us" => libm::log(larger),
            "buffer_chunks" => -libm::log(larger),
            _ => 0.0,
        };
        self.free.iter().zip(ln).map(|(free, ln)| ln + by(free)).collect()
    }

    /// A solution without the mechanism, and where that begins.
    pub(crate) fn beside(&self, ln: &[f64]) -> Vec<f64> {
        let added = self.free.iter().skip(ln.len()).map(|free| libm::log(free.start));
        ln.iter().copied().chain(added).collect()
    }

    /// With the mechanism that most drives have not.
    pub(crate) fn with_mechanism(&self) -> Self {
        let mut model = self.clone();
        model.free.append(&mut model.mechanism);
        model
    }

    pub(crate) fn fix(&mut self, name: &'static str, value: f64, from: &'static str) {
        self.fixed.push(Fixed { name, value, from, computer: false });
    }
}

/// A description that opens, with every free number at its start.
pub(crate) fn template(kind: Kind, model: &Model, capacity_bytes: u64) -> String {
    let mut medium = format!("capacity_gb = {}\n", capacity(capacity_bytes));
    let mut computer = String::new();
    for (name, value, of_computer) in model
        .free
        .iter()
        .map(|free| (free.name, free.start, free.computer))
        .chain(model.fixed.iter().map(|fixed| (fixed.name, fixed.value, fixed.computer)))
        .chain(model.alternatives.iter().take(1).flatten().map(|(name, v)| (*name, *v, false)))
    {
        let into = if of_computer { &mut computer } else { &mut medium };
        let _ = writeln!(into, "{name} = {{ value = {value:?}, from = \"start\" }}");
    }
    format!(
        "title = \"on trial\"\nkind = \"{}\"\n[parameters]\n{medium}[computer]\n{computer}",
        kind.described()
    )
}

/// Capacity in GB as an entry; a little more than what was measured, so that rounding takes none.
pub(crate) fn capacity(bytes: u64) -> String {
    let bytes = bytes.saturating_add(4096).max(1 << 20);
    format!("{{ value = {:?}, from = \"the target's size\" }}", bytes as f64 / 1e9)
}
