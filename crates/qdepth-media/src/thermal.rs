//! Temperature of a drive: one heat capacity and one thermal resistance. Above its limit, the drive
//! slows its program operations until it is 1 K below the limit.

use crate::parameter::Values;
use crate::tick::{Tick, factor, micros};

/// Integration step, µs.
const STEP_US: f64 = 100_000.0;

/// Thermal state of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Thermal {
    step: Tick,
    next: Tick,
    written: u64,
    temperature: f64,
    ambient: f64,
    idle_watts: f64,
    /// Power per byte written in a step, W.
    watts_per_byte: f64,
    kelvin_per_watt: f64,
    /// Share of the temperature difference to equilibrium that a step covers.
    share: f64,
    limit: f64,
    throttle_16: u64,
    hot: bool,
    /// Number of throttling events.
    transitions: u32,
}

impl Thermal {
    /// `None` if the description has no power of writes.
    pub(crate) fn from_values(values: &Values) -> Option<Self> {
        let get = |name| values.get(name);
        let watts = get("watts_write");
        if watts <= 0.0 {
            return None;
        }
        let steps_per_s = 1e6 / STEP_US;
        Some(Self {
            step: micros(STEP_US),
            next: micros(STEP_US),
            written: 0,
            temperature: get("ambient_c") + get("watts_idle") * get("kelvin_per_watt"),
            ambient: get("ambient_c"),
            idle_watts: get("watts_idle"),
            watts_per_byte: watts * steps_per_s / (1000.0 * 1_048_576.0),
            kelvin_per_watt: get("kelvin_per_watt"),
            share: 1.0 / (get("thermal_seconds") * steps_per_s),
            limit: get("limit_c"),
            throttle_16: factor(get("throttle")),
            hot: false,
            transitions: 0,
        })
    }

    /// Counts programmed bytes. Returns the factor for the length of a program operation, in
    /// 1/65536.
    #[inline]
    pub(crate) fn wrote(&mut self, now: Tick, bytes: u64) -> u64 {
        if now >= self.next {
            self.pass(now);
        }
        self.written += bytes;
        if self.hot { self.throttle_16 } else { 1 << 16 }
    }

    pub(crate) fn transitions(&self) -> u32 {
        self.transitions
    }

    fn pass(&mut self, now: Tick) {
        while self.next <= now {
            let watts = self.idle_watts + self.written as f64 * self.watts_per_byte;
            let end = self.ambient + watts * self.kelvin_per_watt;
            self.temperature += (end - self.temperature) * self.share.min(1.0);
            self.written = 0;
            self.next += self.step;
            if (self.temperature - end).abs() < 1e-6 && now > self.next {
                // At equilibrium: skip the remaining steps up to `now`.
                self.next += (now - self.next) / self.step * self.step;
            }
        }
        let was_hot = self.hot;
        self.hot = if was_hot {
            self.temperature > self.limit - 1.0
        } else {
            self.temperature >= self.limit
        };
        self.transitions += u32::from(self.hot && !was_hot);
    }
}
