//! Arrivals of requests: after a completion (closed loop), by an absolute schedule (open loop), or
//! after a completion but no faster than a rate (paced).

use qdepth_measure::{Instant, Nanos};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::{Times, Trace};

/// Arrivals of I/Os; rates are I/Os per second and stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Arrivals {
    /// A new I/O is issued after each completion.
    Closed,
    /// Open loop: one I/O every 1/rate seconds.
    Fixed {
        /// I/Os per second.
        rate: f64,
    },
    /// Open loop: exponential gaps with this mean rate.
    Poisson {
        /// Mean I/Os per second.
        rate: f64,
    },
    /// Closed loop with pauses: after a number of I/Os, a stream waits until all have completed,
    /// then for the think time.
    ThinkTime {
        /// Think time, nanoseconds.
        time_ns: u64,
        /// I/Os between two pauses.
        requests: u32,
    },
    /// Open loop: at the times of the profile's trace.
    Recorded {
        /// Speed; 1 is that of the recording.
        speed: f64,
    },
    /// Closed loop with a maximum rate; missed I/Os are not caught up.
    Paced {
        /// Maximum I/Os per second.
        rate: f64,
    },
}

impl Arrivals {
    /// True if requests arrive by a schedule.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Fixed { .. } | Self::Poisson { .. } | Self::Recorded { .. })
    }
    /// Requests per second and stream; `None` without a rate.
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Closed | Self::ThinkTime { .. } | Self::Recorded { .. } => None,
            Self::Fixed { rate } | Self::Poisson { rate } | Self::Paced { rate } => Some(rate),
        }
    }
    /// Text as stored: `closed`, `fixed 1000/s`.
    pub fn text(self) -> String {
        match self {
            Self::Closed => "closed".to_owned(),
            Self::Fixed { rate } => format!("fixed {rate}/s"),
            Self::Poisson { rate } => format!("poisson {rate}/s"),
            Self::Paced { rate } => format!("paced {rate}/s"),
            Self::Recorded { speed } => format!("as recorded, speed {speed}"),
            Self::ThinkTime { time_ns, requests } => {
                format!("think time {} after {requests}", Nanos(time_ns))
            }
        }
    }
}

/// Intended times of one stream's requests. Absolute: a late request does not move the next.
#[derive(Debug)]
pub struct Schedule {
    gap_ns: f64,
    exponential: bool,
    next_ns: f64,
    random: Xoshiro256PlusPlus,
    /// Times of a trace, instead of gaps; boxed, since most loads have none.
    times: Option<Box<Times>>,
}

impl Schedule {
    /// Arrivals of a point's stream, from `start`; `None` for a closed loop.
    pub fn for_stream(
        arrivals: Arrivals,
        trace: Option<&Trace>,
        start: Instant,
        seed: u64,
    ) -> Option<Self> {
        let (Arrivals::Recorded { speed }, Some(trace)) = (arrivals, trace) else {
            return Self::new(arrivals, start, seed);
        };
        let times = Box::new(Times::new(trace.clone(), start, speed));
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let next_ns = times.now();
        Some(Self { gap_ns: 0.0, exponential: false, next_ns, random, times: Some(times) })
    }

    /// A schedule that begins one gap after `start`; `None` for a closed loop, or without a rate.
    pub fn new(arrivals: Arrivals, start: Instant, seed: u64) -> Option<Self> {
        let (rate, exponential) = match arrivals {
            Arrivals::Closed | Arrivals::ThinkTime { .. } | Arrivals::Recorded { .. } => {
                return None;
            }
            Arrivals::Fixed { rate } | Arrivals::Paced { rate } => (rate, false),
            Arrivals::Poisson { rate } => (rate, true),
        };
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut schedule =
            Self { gap_ns: 1e9 / rate, exponential, next_ns: start.0 as f64, random, times: None };
        schedule.advance();
        Some(schedule)
    }

    /// Returns the intended time of the next request.
    #[inline]
    pub fn next(&self) -> Instant {
        Instant(self.next_ns as u64)
    }

    /// Moves on to the request after it.
    #[inline]
    pub fn advance(&mut self) {
        match &mut self.times {
            None => self.next_ns += self.gap(),
            Some(times) => {
                times.advance();
                self.next_ns = times.now();
            }
        }
    }

    /// Skips to `now`, so that nothing missed is caught up (paced closed loop).
    pub fn advance_from(&mut self, now: Instant) {
        self.next_ns = self.next_ns.max(now.0 as f64 - self.gap_ns) + self.gap();
    }

    /// Number of requests due at `now` and not taken; whole gaps, so exact for even gaps.
    pub fn due(&self, now: Instant) -> u64 {
        if let Some(times) = &self.times {
            return times.due(now);
        }
        let late = Nanos(now.0.saturating_sub(self.next_ns as u64));
        if late == Nanos::ZERO { 0 } else { (late.0 as f64 / self.gap_ns) as u64 + 1 }
    }

    fn gap(&mut self) -> f64 {
        if !self.exponential {
            return self.gap_ns;
        }
        // 53 bits above 0 and up to 1, so that the logarithm is finite.
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -libm::log(uniform) * self.gap_ns
    }
}
