//! Rules for a plan's text that comes from a file: those that `resolve` follows.

use crate::arrival::Arrivals;
use crate::layout::Extent;
use crate::layout::OwnWrites;
use crate::plan::{Plan, Point};
use crate::priority::Priorities;
use crate::resolve::{FLOW_WEIGHT_MAX, SEGMENTS, TargetShape};

/// Largest offset that the kernel supports.
const OFFSET_MAX: u64 = i64::MAX as u64;
/// Longest point, and longest plan: 73 years, so that sums do not overflow.
const TIME_MAX_NS: u64 = u64::MAX / 8;

impl Extent {
    /// End; `None` if it is beyond the largest offset.
    pub fn end_bytes(&self) -> Option<u64> {
        self.offset_bytes.checked_add(self.length_bytes).filter(|end| *end <= OFFSET_MAX)
    }

    /// True if it lies wholly within the other.
    pub fn is_within(&self, other: &Self) -> bool {
        let ends = self.end_bytes().zip(other.end_bytes());
        self.offset_bytes >= other.offset_bytes && ends.is_some_and(|(ours, end)| ours <= end)
    }
}

impl Plan {
    /// Checks the plan; the error is for the user.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut total_ns = 0_u64;
        for (which, points) in [("precondition", &self.precondition), ("point", &self.points)] {
            for (index, point) in (0_u32..).zip(points) {
                let wrong = |why: String| format!("{which} {index}: {why}");
                if which == "point" && point.index != index {
                    return Err(wrong(format!("its number is {}", point.index)));
                }
                point.check().map_err(wrong)?;
                total_ns = sum(&[
                    total_ns,
                    point.delay_ns,
                    point.total_warm_up_ns(),
                    point.stop.duration_ns,
                ])
                .ok_or_else(|| wrong("its time overflows".to_owned()))?;
            }
        }
        Ok(())
    }

    /// Checks that each of its areas is within the accessible part of its target.
    ///
    /// # Errors
    /// The first area that is not, as a message for the user.
    pub fn fits(&self, targets: &[TargetShape]) -> Result<(), String> {
        for point in self.precondition.iter().chain(&self.points) {
            let Some(target) = targets.get(point.target as usize) else {
                return Err(format!(
                    "point {} uses target {}, but there are only {}",
                    point.index,
                    point.target,
                    targets.len()
                ));
            };
            // Areas of files that points create are not parts of the target's bytes.
            if !point.layout.makes_files() && !point.area.is_within(&target.usable) {
                return Err(format!(
                    "point {} uses bytes from {} (length {}) of target {}, but only bytes from {} \
                     (length {}) may be used",
                    point.index,
                    point.area.offset_bytes,
                    point.area.length_bytes,
                    point.target,
                    target.usable.offset_bytes,
                    target.usable.length_bytes
                ));
            }
        }
        Ok(())
    }
}

fn sum(parts: &[u64]) -> Option<u64> {
    let sum = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(*part));
    sum.filter(|sum| *sum <= TIME_MAX_NS)
}

impl Point {
    fn check(&self) -> Result<(), String> {
        self.check_area()?;
        self.check_streams()?;
        if self.stop.interleaved_segments == 0 || self.stop.interleaved_segments > SEGMENTS.1 {
            return Err(format!(
                "{} interleaved_segments: 1 to {}",
                self.stop.interleaved_segments, SEGMENTS.1
            ));
        }
        if self.stop.catches_up
            && (self.stop.bytes_per_stream == 0 || self.stop.interleaved_segments > 1)
        {
            return Err("`catches_up` needs `bytes_per_stream` and a single segment".to_owned());
        }
        if self.stop.catches_up && self.flow.is_some() {
            return Err("`catches_up` moves equal amounts, and `flow` shares them by weight: use \
                        one of them"
                .to_owned());
        }
        self.stop.settling.map_or(Ok(()), |settling| settling.check())?;
        self.stop.least_rate.map_or(Ok(()), |least| least.check())?;
        let share = |name: &str, value: f64| {
            (0.0..=1.0).contains(&value).then_some(()).ok_or(format!("{name} {value}: 0 to 1"))
        };
        share("random share", self.random_share)?;
        share("read share", self.read_share)?;
        share("trim share", self.trim_share)?;
        share("share of reads and trims", self.read_share + self.trim_share)?;
        let halves = (self.trim_share - 0.5).abs() < f64::EPSILON;
        if self.trims_first && (self.read_share > 0.0 || !halves) {
            return Err("with trims before writes, half of all I/Os must be trims, and none reads"
                .to_owned());
        }
        if self.trims() && (self.verify || self.own_writes.is_some()) {
            return Err(
                "trims cannot be combined with verify or with separate write sizes".to_owned()
            );
        }
        share("compressible share", self.payload.compressible_share)?;
        if let Some(duplicates) = self.payload.duplicates {
            share("share of duplicates", duplicates.share)?;
            if duplicates.contents == 0 || self.verify {
                return Err(format!("{duplicates:?} without content, or together with verify"));
            }
        }
        self.distribution.check(self.own_writes.is_some())?;
        if let Some(until) = self.stop.until_steady.filter(|until| until.rounds == 0) {
            return Err(format!("{} rounds until steady", until.rounds));
        }
        if let Some(until) = self.stop.until {
            share("precision", until.share)?;
        }
        self.check_requests()?;
        self.priorities.as_ref().map_or(Ok(()), Priorities::check)?;
        let rate = self.arrivals.rate();
        if rate.is_some_and(|rate| !(rate > 0.0 && rate <= 1e12)) {
            return Err(format!("{} arrivals a second", rate.unwrap_or_default()));
        }
        if self.flow.is_some_and(|flow| !(1..=FLOW_WEIGHT_MAX).contains(&flow.weight)) {
            return Err(format!("{:?}: a weight of 1 to {FLOW_WEIGHT_MAX}", self.flow));
        }
        match self.arrivals {
            Arrivals::ThinkTime { requests: 0, .. } => Err("a pause after 0 requests".to_owned()),
            _ => Ok(()),
        }
    }

    /// Checks sources and operations of requests.
    fn check_requests(&self) -> Result<(), String> {
        if let Some(trace) = &self.trace {
            let (area_bytes, largest) = (self.area.length_bytes, self.block_size.max());
            trace.check(area_bytes, largest, self.read_share, self.trim_share)?;
        }
        let recorded = matches!(self.arrivals, Arrivals::Recorded { .. });
        if (recorded && self.trace.is_none()) || (self.trace.is_some() && self.streams > 1) {
            return Err("recorded arrivals need a trace, and a trace needs a single stream".into());
        }
        if let Arrivals::Recorded { speed } = self.arrivals
            && !(speed > 0.0 && speed.is_finite())
        {
            return Err(format!("a speed of {speed}"));
        }
        if self.operation.is_of_entries() != self.layout.is_of_entries() {
            return Err(format!("{:?} in {:?}", self.operation, self.layout));
        }
        match self.own_writes.and_then(|own| own.random_share) {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                Err(format!("random share of writes {share}: 0 to 1"))
            }
            _ => Ok(()),
        }
    }

    fn check_area(&self) -> Result<(), String> {
        let Extent { offset_bytes, length_bytes } = self.area;
        let sizes = &self.block_size.sizes;
        let has_nothing = sizes.iter().any(|(bytes, weight)| *bytes == 0 || *weight == 0);
        let weights = sizes.iter().try_fold(0_u32, |sum, (_, weight)| sum.checked_add(*weight));
        let own_writes = |own: OwnWrites| {
            let index = own.first_size as usize;
            own.alignment_bytes > 0 && index > 0 && index <= sizes.len()
        };
        let pieces = u64::from(self.streams.max(1)) * u64::from(self.segments.max(1));
        let (room, max) = (length_bytes / pieces, self.block_size.max());
        Err(if self.area.end_bytes().is_none() {
            format!("{length_bytes} bytes from offset {offset_bytes} overflow")
        } else if sizes.is_empty() || has_nothing {
            format!("request sizes {sizes:?}")
        } else if weights.is_none() {
            "the weights of the request sizes overflow".to_owned()
        } else if !self.own_writes.is_none_or(own_writes) {
            format!("{:?} of the request sizes {sizes:?}", self.own_writes)
        } else if self.alignment_bytes == 0 || self.segments == 0 {
            "an alignment of 0, or no segment".to_owned()
        } else if room < u64::from(max) {
            format!("requests of {max} bytes, and {room} for each stream")
        } else {
            return Ok(());
        })
    }

    fn check_streams(&self) -> Result<(), String> {
        let Self { streams, workers, queue_depth, .. } = *self;
        Err(if streams == 0 || workers == 0 || queue_depth == 0 {
            format!("{streams} streams, {workers} workers, queue depth {queue_depth}")
        } else if workers > streams {
            format!("{workers} workers for {streams} streams")
        } else if streams.checked_mul(queue_depth).is_none() {
            format!("{streams} streams × queue depth {queue_depth} overflow")
        } else if self.stop.bytes_per_stream.checked_mul(u64::from(streams)).is_none() {
            "the bytes of its streams overflow".to_owned()
        } else {
            return Ok(());
        })
    }
}
