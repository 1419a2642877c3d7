//! Temperature of a drive: one heat capacity behind one thermal resistance. Over its limit the
//! drive slows its programs until it is a kelvin below.

use crate::parameter::Values;
use crate::tick::{Tick, factor, micros};

/// Length of a step of the sum.
const STEP_US: f64 = 100_000.0;

/// The state of a drive that may be too hot.
#[derive(Clone, Debug)]
pub(crate) struct Thermal {
    step: Tick,
    next: Tick,
    written: u64,
    temperature: f64,
    ambient: f64,
    idle_watts: f64,
    /// W per (bytes per step).
    watts_per_byte: f64,
    kelvin_per_watt: f64,
    /// Share of the way to equilibrium in a step.
    share: f64,
    limit: f64,
    throttle_16: u64,
    hot: bool,
    /// Number of times that it became too hot.
    transitions: u32,
}

impl Thermal {
    /// None where the drive's power under writes is not described.
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

    /// Counts programmed bytes; answers the factor of a program's length in 1/65536.
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
                // At rest: nothing more happens until `now`.
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
