//! The plan: a list of points that omits nothing, with a hash. After this there are no defaults.

use crate::durability::Durability;
use crate::io_flag::{CacheAdvice, IoFlag};
use qdepth_measure::{Limit, Nanos, ROUNDS_MAX, Requirement, Seed, Settling, SteadyRule};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::arrival::Arrivals;
use crate::comparison::Comparison;
use crate::distribution::Distribution;
use crate::layout::{Extent, Layout, OwnWrites, Strides};
use crate::least_rate::LeastRate;
use crate::operation::Operation;
use crate::payload::Payload;
use crate::priority::Priorities;
use crate::size::SizeMix;
use crate::trace::Trace;

/// Precision of the rate at which a point may end before its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of the 95 % confidence interval, divided by the rate: 0.02 for ±2 %.
    pub share: f64,
    /// Minimum measured time, nanoseconds.
    pub least_ns: u64,
}

/// Maximum number of rounds of a point that ends once it is steady: that of SNIA's search.
pub const STEADY_ROUNDS: u32 = ROUNDS_MAX as u32;

/// Minimum unrecorded warm-up of a segment, on average, if the plan sets none.
pub(crate) const SEGMENT_WARM_UP: Nanos = Nanos::from_millis(200);

/// Number of completed requests that a point needs before its group ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Number of requests completed in the window.
    pub count: u64,
    /// Minimum measured time, nanoseconds.
    pub least_ns: u64,
}

/// End of a preconditioning load: it repeats rounds of its duration until its rate is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntilSteady {
    /// Rule that decides whether the rate is steady.
    pub rule: SteadyRule,
    /// Maximum number of rounds.
    pub rounds: u32,
}

/// Conditions that end a point; the first that is met applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Length of the measured window.
    pub duration_ns: u64,
    /// Bytes moved within the window after which the point ends; 0 for no limit.
    pub bytes: u64,
    /// Bytes that each stream moves in the window, in whole requests; the point ends with the last
    /// completion; 0 for no limit. Requests in flight at the end of a warm-up come in addition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bytes_per_stream: u64,
    /// Precision of the rate that ends the point; `None` for the whole window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Number of samples that the point needs before its group ends; `None` for the whole window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// Rounds of a preconditioning load until it is steady; `None` for one window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_steady: Option<UntilSteady>,
    /// Rule that ends the point with the first round after which its rate is steady, of at most
    /// [`STEADY_ROUNDS`] equal rounds; `None` for one window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
    /// True if all points that run at the same time end with this one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ends_step: bool,
    /// True if each stream continues, after its time, until it has moved as much as the fastest
    /// stream of its step.
    #[serde(default, skip_serializing_if = "is_default")]
    pub catches_up: bool,
    /// Minimum rate: the point ends if it is slower; `None` for no minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_rate: Option<LeastRate>,
    /// Rule that ends the point once its samples have settled; `None` for the whole window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// Number of equal segments of the window, interleaved with those of the rest of the sweep.
    #[serde(default = "default_count", skip_serializing_if = "is_default_count")]
    pub interleaved_segments: u32,
    /// Unrecorded warm-up of each segment in a plan with short segments; 0 for the default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub segment_warm_up_ns: u64,
}

impl Stop {
    /// True if something may end the point before its time.
    pub fn may_end_early(&self) -> bool {
        self.until.is_some()
            || self.steady.is_some()
            || self.samples.is_some()
            || self.bytes > 0
            || self.bytes_per_stream > 0
            || self.ends_step
            || self.least_rate.is_some()
            || self.settling.is_some()
    }
}

/// Flushes of data to stable storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fsync {
    /// Writes of a stream between two flushes; 0 for no flushes.
    pub every_writes: u32,
    /// True if a flush after the last write is part of the measured time.
    pub at_end: bool,
    /// True if flushes are `fdatasync`s.
    #[serde(default, skip_serializing_if = "is_default")]
    pub data_only: bool,
}

/// Loads of one group that run at the same time issue requests in proportion to their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Group of coupled loads.
    pub group: u32,
    /// Weight of the load in its group.
    pub weight: u32,
    /// Pause of a load that is ahead, once nothing of it is in flight; 0 to check again at once.
    pub pause_ns: u64,
}

/// One profile at one queue depth on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Place in the plan, from 0.
    pub index: u32,
    /// Points with the same number, which follow each other, run at the same time.
    #[serde(default)]
    pub group: u32,
    /// Variant of the comparison that the point and all others of its group belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<u32>,
    /// Name of the step for people; may be empty.
    #[serde(default)]
    pub step: String,
    /// Index of the target.
    pub target: u32,
    /// Short name of the profile.
    pub profile: String,
    /// Name for people.
    pub profile_title: String,
    /// Applications with similar loads; may be empty.
    pub application: String,
    /// Share of random accesses, 0..=1.
    pub random_share: f64,
    /// Distribution of random accesses.
    #[serde(default)]
    pub distribution: Distribution,
    /// Share of reads, 0..=1.
    pub read_share: f64,
    /// Share of requests that discard what is stored, 0..=1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trim_share: f64,
    /// True if each write follows a trim of its place, which is complete by then.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trims_first: bool,
    /// Operation of its requests.
    #[serde(default, skip_serializing_if = "Operation::is_transfer")]
    pub operation: Operation,
    /// Recorded requests that the point replays; `None` if its requests are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Request sizes.
    pub block_size: SizeMix,
    /// Sizes of writes only; `None` if all sizes apply to both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_writes: Option<OwnWrites>,
    /// Accesses begin at whole multiples of this many bytes.
    pub alignment_bytes: u64,
    /// Part of the target under load.
    pub area: Extent,
    /// Division of the area between the streams.
    #[serde(default, skip_serializing_if = "is_default")]
    pub layout: Layout,
    /// Number of equal pieces of each stream's part, interleaved with those of the other streams.
    #[serde(default = "default_count", skip_serializing_if = "is_default_count")]
    pub segments: u32,
    /// Zones of the area that are used; `None` for the whole area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Strides>,
    /// True if sequential accesses move towards the start of the area.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backwards: bool,
    /// Sources of requests, each on an equal part of the area.
    pub streams: u32,
    /// Threads that the streams are dealt to in real time, at most one for each stream.
    #[serde(default = "default_count")]
    pub workers: u32,
    /// Requests in flight per stream: constant in a closed loop, the maximum in an open one.
    pub queue_depth: u32,
    /// Arrivals of requests.
    pub arrivals: Arrivals,
    /// Coupling with loads that run at the same time; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Data to write.
    pub payload: Payload,
    /// True if writes are stamped with their place, and reads compared with what the run wrote.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify: bool,
    /// True if reads of places that the run has not written are errors of a point that verifies.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub verify_unwritten: bool,
    /// True if such reads may also find the data that fills new files.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_laid_out: bool,
    /// Priorities of its requests; `None` for the priority of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priorities: Option<Priorities>,
    /// Durability that a write waits for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub durability: Durability,
    /// Under MPI, each rank takes the streams of the rank this many further on; `None` for those of
    /// another node if the point only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_shift: Option<u32>,
    /// True if the page cache is bypassed.
    pub direct: bool,
    /// Advice to the kernel about its requests.
    #[serde(default, skip_serializing_if = "is_default")]
    pub advice: CacheAdvice,
    /// True if each pass begins with an empty page cache of its area.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drop_cache: bool,
    /// Flag of its transfers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub io_flag: IoFlag,
    /// Flushes of data to stable storage.
    pub fsync: Fsync,
    /// True if the main result is the throughput.
    pub reported_as_throughput: bool,
    /// Time from the start of its group to its own start, nanoseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay_ns: u64,
    /// Unrecorded warm-up, nanoseconds.
    pub warm_up_ns: u64,
    /// Conditions that end it.
    pub stop: Stop,
    /// Seed of its draws.
    pub seed: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn is_default_count(value: &u32) -> bool {
    *value == 1
}

fn default_count() -> u32 {
    1
}

impl Point {
    /// True if it changes what is stored: it writes, or discards, or makes and removes entries.
    pub fn writes(&self) -> bool {
        self.read_share < 1.0 || self.operation.changes()
    }
    /// True if syncs follow its writes.
    pub fn syncs(&self) -> bool {
        self.fsync.every_writes > 0 || self.durability.syncs()
    }
    /// True if it discards what is stored.
    pub fn trims(&self) -> bool {
        self.trim_share > 0.0
    }
    /// Share of requests that write data, 0..=1.
    pub fn write_share(&self) -> f64 {
        (1.0 - self.read_share - self.trim_share).max(0.0)
    }
    /// Bytes of the buffer of a request. Trims need no more than a block.
    pub fn buffer_bytes(&self) -> u32 {
        match &self.trace {
            _ if self.trim_share >= 1.0 => self.block_size.max().min(4096),
            Some(trace) if self.trims() => trace.largest_transfer().max(4096),
            _ => self.block_size.max(),
        }
    }
    /// True if its writes have buffers of their own: it also reads, and verification does not stamp
    /// the whole content of each write.
    pub fn has_write_buffers(&self) -> bool {
        self.read_share > 0.0 && self.write_share() > 0.0 && !self.verify
    }
    /// Bytes that its streams move, all together; 0: no limit.
    pub fn bytes_of_streams(&self) -> u64 {
        self.stop.bytes_per_stream.saturating_mul(u64::from(self.streams))
    }
    /// Bytes that the streams of several points move, all together.
    pub fn bytes_together<'p>(points: impl IntoIterator<Item = &'p Self>) -> u64 {
        points.into_iter().map(Self::bytes_of_streams).fold(0, u64::saturating_add)
    }
    /// Sizes of reads, and of writes.
    pub fn sizes_by_direction(&self) -> [SizeMix; 2] {
        let all = &self.block_size.sizes;
        let index = self.own_writes.map_or(all.len(), |own| own.first_size as usize);
        match all.split_at_checked(index) {
            Some((reads, writes)) if !writes.is_empty() => {
                [reads, writes].map(|sizes| SizeMix { sizes: sizes.to_vec() })
            }
            _ => [self.block_size.clone(), self.block_size.clone()],
        }
    }
    /// Arrivals of requests, as stored: `closed`, `closed, weight 8 in flow 0`.
    pub fn arrivals_text(&self) -> String {
        let tie = self.flow.map_or_else(String::new, |flow| {
            format!(", weight {} in flow {}", flow.weight, flow.group)
        });
        format!("{}{tie}", self.arrivals.text())
    }
    /// Offered load of an open loop over all streams, I/Os per second.
    pub fn offered_io_per_s(&self) -> Option<f64> {
        match self.arrivals {
            Arrivals::Fixed { rate } | Arrivals::Poisson { rate } => {
                Some(rate * f64::from(self.streams))
            }
            Arrivals::Closed
            | Arrivals::Paced { .. }
            | Arrivals::ThinkTime { .. }
            | Arrivals::Recorded { .. } => None,
        }
    }
    /// One point for each stream if each has its own file, otherwise the point itself.
    pub fn by_file(&self) -> Vec<Self> {
        if !self.layout.is_per_stream() {
            return vec![self.clone()];
        }
        let streams = u64::from(self.streams);
        let length_bytes = self.area.length_bytes / streams;
        let own = |number: u64| Self {
            area: Extent { offset_bytes: 0, length_bytes },
            streams: 1,
            workers: 1,
            stop: Stop { bytes: self.stop.bytes.div_ceil(streams), ..self.stop },
            seed: Seed(self.seed).derive("file").derive(&number.to_string()).0,
            ..self.clone()
        };
        (0..streams).map(own).collect()
    }

    /// Maximum time of all its segments with their warm-ups, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.total_warm_up_ns().saturating_add(self.stop.duration_ns)
    }

    /// Unrecorded warm-up of all its segments or rounds, nanoseconds.
    pub fn total_warm_up_ns(&self) -> u64 {
        let each = match self.stop.segment_warm_up_ns {
            0 => SEGMENT_WARM_UP.0,
            own => own,
        };
        match self.stop.interleaved_segments {
            0 | 1 if self.stop.steady.is_some() => {
                let later = SEGMENT_WARM_UP.0.min(self.warm_up_ns);
                self.warm_up_ns.saturating_add(later * u64::from(STEADY_ROUNDS - 1))
            }
            0 | 1 => self.warm_up_ns,
            segments => self.warm_up_ns.max(each.saturating_mul(u64::from(segments))),
        }
    }
    /// One segment of the point: an equal part of its time, with its own random draws, so that it
    /// does not repeat requests whose data a cache may still contain.
    pub fn segment(&self, number: u32) -> Self {
        let segments = u64::from(self.stop.interleaved_segments.max(1));
        let seed = Seed(self.seed).derive("visit").derive(&number.to_string());
        let warm_up = self.total_warm_up_ns() / segments;
        // Segments at equal distances would be in step with anything periodic.
        let drawn = seed.derive("lead-in").0 % (warm_up / 2).max(1);
        Self {
            warm_up_ns: warm_up - warm_up / 4 + drawn,
            stop: Stop { duration_ns: self.stop.duration_ns / segments, ..self.stop },
            seed: seed.0,
            ..self.clone()
        }
    }
    /// The segment, lengthened for a queue that is replaced once in `turnover`: the warm-up grows
    /// by that time plus an eighth, and the window lasts at least as long as that.
    pub fn settling(self, turnover: Nanos) -> Self {
        let least = turnover.0 + turnover.0 / 8;
        let duration_ns = self.stop.duration_ns.max(least);
        let stop = Stop { duration_ns, ..self.stop };
        Self { warm_up_ns: self.warm_up_ns + least, stop, ..self }
    }
    /// Round of a load that runs until it is steady, by number from 0, with its own random draws.
    pub fn round(&self, number: u32) -> Self {
        let seed = Seed(self.seed).derive("round").derive(&number.to_string()).0;
        Self { seed, ..self.clone() }
    }
    /// Round of a point that ends once it is steady, by number from 0: an equal part of its time,
    /// with its own random draws. Rounds after the first have a short warm-up.
    pub fn steady_round(&self, number: u32) -> Self {
        let later = SEGMENT_WARM_UP.0.min(self.warm_up_ns);
        let duration_ns = self.stop.duration_ns / u64::from(STEADY_ROUNDS);
        Self {
            warm_up_ns: if number == 0 { self.warm_up_ns } else { later },
            stop: Stop { duration_ns, ..self.stop },
            ..self.round(number)
        }
    }
    /// Rounds `from` to before `to` of the point in one go, with the time of all earlier rounds as
    /// additional warm-up.
    pub fn steady_part(&self, from: u32, to: u32) -> Self {
        let round = self.stop.duration_ns / u64::from(STEADY_ROUNDS);
        let duration_ns = round * u64::from(to.saturating_sub(from));
        Self {
            warm_up_ns: self.warm_up_ns + round * u64::from(from),
            stop: Stop { duration_ns, interleaved_segments: 1, ..self.stop },
            ..self.clone()
        }
    }
    /// The same point measured in one go.
    pub fn in_one_go(&self) -> Self {
        Self { stop: Stop { interleaved_segments: 1, ..self.stop }, ..self.clone() }
    }
    /// Largest number of requests in flight over all streams.
    pub fn in_flight_max(&self) -> u32 {
        self.queue_depth.saturating_mul(self.streams)
    }
}

/// A resolved list of points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this form.
    pub version: u32,
    /// `standard`, `quick`, …
    pub name: String,
    /// Seed that all points' seeds are derived from.
    pub seed: u64,
    /// True if the steps on a target end with the first whose offered load was not reached.
    #[serde(default)]
    pub ends_when_not_followed: bool,
    /// Comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Limits of the response time. After the points, a search finds the highest open-loop rate
    /// that meets all limits; empty if the plan does not search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<Limit>,
    /// Maximum measured time of that search, ns; 0 without a search.
    #[serde(default, skip_serializing_if = "is_default")]
    pub answer_within_ns: u64,
    /// Requirements that its points must meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// Names of the files that points create, by target; the default for targets without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_names: Vec<String>,
    /// Suffix of the names, after the numbers of streams.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file_suffix: String,
    /// True if the files that points create are kept after the last point.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_files: bool,
    /// Stamp of verified writes; `None` for another one in each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<u64>,
    /// Steps that prepare the machine, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<serde_json::Value>,
    /// Loads that bring the targets into a known state of wear; those of a group run together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub precondition: Vec<Point>,
    /// The points, in order of execution.
    pub points: Vec<Point>,
}

impl Plan {
    /// The text that is stored, printed and hashed.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// SHA-256 of the text, lower-case hexadecimal.
    pub fn hash(&self) -> String {
        hash_of(&self.text())
    }

    /// Reads a plan from its stored text. Refuses plans that `resolve` would never make, for
    /// example with numbers that overflow, wrong indices, or streams without room.
    ///
    /// # Errors
    /// If the text is not a plan of a known version, or was altered.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let plan: Self = serde_json::from_str(text).map_err(|e| format!("not a plan: {e}"))?;
        if plan.version != 1 {
            return Err("the plan was written by a newer version of qdepth".to_owned());
        }
        plan.check().map_err(|why| format!("not a plan written by qdepth: {why}"))?;
        Ok(plan)
    }

    /// Reads the plan of a stored run, and compares its text with the stored hash.
    ///
    /// # Errors
    /// Like [`from_text`](Self::from_text), and if the hash differs.
    pub fn stored(text: &str, hash: &str) -> Result<Self, String> {
        let found = hash_of(text);
        if found != hash {
            return Err(format!(
                "the stored plan is not the one that was measured: its SHA-256 is {found}, but \
                 {hash} was stored. Start a new run"
            ));
        }
        Self::from_text(text)
    }

    /// The points in lists that run at the same time, in order of execution.
    pub fn groups(&self) -> impl Iterator<Item = &[Point]> {
        self.points.chunk_by(|a, b| a.group == b.group)
    }

    /// The groups in lists whose segments are interleaved; a group with a single segment is alone
    /// in its list.
    pub fn sweeps(&self) -> Vec<Vec<&[Point]>> {
        let mut sweeps: Vec<Vec<&[Point]>> = Vec::new();
        for group in self.groups() {
            let of_sweep = |sweep: &&mut Vec<&[Point]>| {
                let former = sweep.last().and_then(|former| former.first());
                former.zip(group.first()).is_some_and(|(a, b)| self.take_turns(a, b))
            };
            match sweeps.last_mut().filter(of_sweep) {
                Some(sweep) => sweep.push(group),
                None => sweeps.push(vec![group]),
            }
        }
        sweeps
    }

    /// True if the segments of both are interleaved: variants of a comparison at one load and queue
    /// depth, so that drift affects all of them alike; otherwise points of one sweep. Short
    /// segments of one sweep alone would be too close together to show drift, so all points of such
    /// a plan, which takes seconds, are interleaved.
    fn take_turns(&self, a: &Point, b: &Point) -> bool {
        let segments =
            |point: &Point| (point.stop.interleaved_segments, point.stop.segment_warm_up_ns);
        let columns = self.comparison.as_ref().map_or(0, |comparison| comparison.variants.len());
        let alike = if columns > 1 {
            a.profile == b.profile && self.intensity(a) == self.intensity(b)
        } else {
            let short = a.stop.segment_warm_up_ns > 0;
            (a.target, a.variant) == (b.target, b.variant) && (short || a.profile == b.profile)
        };
        a.stop.interleaved_segments > 1 && segments(a) == segments(b) && alike
    }

    /// Queue depth of each drive if the point loads an array, otherwise the point's own.
    fn intensity(&self, point: &Point) -> u32 {
        let variants = self.comparison.as_ref().map(|comparison| &comparison.variants);
        let compared =
            variants.zip(point.variant).and_then(|(all, number)| all.get(number as usize));
        point.queue_depth / compared.map_or(1, |variant| variant.times.max(1))
    }

    /// True if the plan or one of its variants has steps that prepare the machine.
    pub fn prepares(&self) -> bool {
        let of_variants = self.comparison.iter().flat_map(|comparison| &comparison.variants);
        !self.prepare.is_empty() || of_variants.into_iter().any(|v| !v.prepare.is_empty())
    }

    /// True if points or steps may end before their time.
    pub fn may_end_early(&self) -> bool {
        self.ends_when_not_followed || self.points.iter().any(|point| point.stop.may_end_early())
    }

    /// Maximum time of all points, ns, without preparation.
    pub fn duration_ns(&self) -> u64 {
        let length = |p: &Point| p.delay_ns + p.total_warm_up_ns() + p.stop.duration_ns;
        self.groups().map(|group| group.iter().map(length).max().unwrap_or(0)).sum()
    }
}

fn hash_of(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
