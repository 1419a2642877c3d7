//! Kinds of device that can be fitted: their free parameters, the start of the search, and the
//! alternatives (discrete sizes and rules).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::fit::emulate::Pace;

/// Kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Flash dies behind a controller; also an array of such drives as a whole.
    Flash,
    /// Hard disk.
    Disk,
    /// Volume with provisioned rates and burst credits.
    Volume,
    /// Queue with several equal servers: a network volume, a file server.
    Network,
    /// Device limited by the host computer's own work: a RAM disk, compressed memory, a cache.
    Memory,
}

impl Kind {
    /// All kinds, in the order in which they are tried.
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

    /// Value of `kind` in a device model.
    pub(crate) const fn described(self) -> &'static str {
        match self {
            Self::Flash => "ssd",
            Self::Disk => "hdd",
            Self::Volume => "volume",
            Self::Network | Self::Memory => "servers",
        }
    }

    /// Length of the emulated loads.
    pub(crate) fn pace(self) -> Pace {
        match self {
            Self::Volume => Pace::Timed,
            Self::Disk => Pace::Dear,
            Self::Flash | Self::Network | Self::Memory => Pace::Ordinary,
        }
    }

    /// True if service times are random, so that their distribution carries information.
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
            format!("there is no kind `{text}`; the kinds are {}", known.join(", "))
        })
    }
}

/// Chunk size that the start values assume, KiB.
pub(crate) const START_CHUNK_KIB: f64 = 32.0;

/// True if the parameter is a whole number.
pub(crate) fn is_whole(name: &str) -> bool {
    ["buffer_chunks", "dies", "queue", "servers"].contains(&name)
}

/// Free parameter with its start value, range and prior. Searched as a logarithm.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    pub(crate) name: &'static str,
    pub(crate) start: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Prior standard deviation of the logarithm.
    pub(crate) width: f64,
    /// True if it is a whole number.
    pub(crate) whole: bool,
    /// True if it belongs to the host computer and not to the device.
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

    /// Value for a logarithm, within the range and rounded if whole.
    pub(crate) fn value(&self, ln: f64) -> f64 {
        let value = libm::exp(ln).clamp(self.low, self.high);
        if self.whole { value.round().max(1.0) } else { value }
    }
}

/// Parameter that is not fitted, with the source of its value.
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
    /// Sets of values in addition to `fixed`; the search selects the best set.
    pub(crate) alternatives: Vec<BTreeMap<&'static str, f64>>,
    /// Parameters of an optional mechanism, kept only if it improves the fit enough.
    pub(crate) mechanism: Vec<Free>,
}

impl Default for Model {
    /// No parameters, and one alternative without values.
    fn default() -> Self {
        let (free, fixed, mechanism) = (Vec::new(), Vec::new(), Vec::new());
        Self { free, fixed, alternatives: vec![BTreeMap::new()], mechanism }
    }
}

impl Model {
    /// Parameters for a chunk size that is `larger` times the current one, with the same buffer in
    /// bytes and the same programming rate.
    pub(crate) fn rechunked(&self, ln: &[f64], larger: f64) -> Vec<f64> {
        let by = |free: &Free| match free.name {
            "die_program_us" => libm::log(larger),
            "buffer_chunks" => -libm::log(larger),
            _ => 0.0,
        };
        self.free.iter().zip(ln).map(|(free, ln)| ln + by(free)).collect()
    }

    /// Start values: a solution without the mechanism, then the start of the mechanism's
    /// parameters.
    pub(crate) fn with_added_starts(&self, ln: &[f64]) -> Vec<f64> {
        let added = self.free.iter().skip(ln.len()).map(|free| libm::log(free.start));
        ln.iter().copied().chain(added).collect()
    }

    /// This model with the optional mechanism.
    pub(crate) fn with_mechanism(&self) -> Self {
        let mut model = self.clone();
        model.free.append(&mut model.mechanism);
        model
    }

    pub(crate) fn fix(&mut self, name: &'static str, value: f64, from: &'static str) {
        self.fixed.push(Fixed { name, value, from, computer: false });
    }

    /// Like [`fix`](Self::fix), for a parameter of the host computer.
    pub(crate) fn fix_of_computer(&mut self, name: &'static str, value: f64, from: &'static str) {
        self.fixed.push(Fixed { name, value, from, computer: true });
    }
}

/// Device model with every free parameter at its start value.
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

/// TOML value of the capacity in GB, slightly above the measured size, so that rounding cannot make
/// it too small.
pub(crate) fn capacity(bytes: u64) -> String {
    let bytes = bytes.saturating_add(4096).max(1 << 20);
    format!("{{ value = {:?}, from = \"the target's size\" }}", bytes as f64 / 1e9)
}
