//! Options that depend on other options or on the machine, or that have several parts.

use std::rc::Rc;

use qdepth_measure::Bytes;
use qdepth_workload::{CacheAdvice, Durability, IoFlag, Operation, StridesSpec};

use super::{OptionReader, number_in};
use crate::fio::access::Access;
use crate::fio::job_parts::{Duplicates, ExitScope, LatencyGoal, Unified};
use crate::fio::number::{size, time_ns, time_with};
use crate::fio::refusal::{FioRefusal, FioRemark};
use crate::fio::setting::Setting;
use crate::fio::values::{Caching, Engine, Sizes, Trims, number, operation, percentage};
use crate::remark::Remark;

/// Shortest measurement of a depth, ns: the minimum length of a point.
const GOAL_WINDOW_LEAST_NS: u64 = 10_000_000;

impl OptionReader<'_> {
    /// Access pattern from `rw`, with the number after its colon.
    pub(in crate::fio) fn access(&self) -> Access {
        let mixed = self.read_share();
        let known = |text: &str| {
            let (kind, behind) = text.split_once(':').unwrap_or((text, ""));
            let (random, read) = match kind {
                "read" => (0.0, 100.0),
                "write" => (0.0, 0.0),
                "randread" => (100.0, 100.0),
                "randwrite" => (100.0, 0.0),
                "rw" | "readwrite" => (0.0, mixed),
                "randrw" => (100.0, mixed),
                "trim" | "trimwrite" => (0.0, 0.0),
                "randtrim" | "randtrimwrite" => (100.0, 0.0),
                _ => {
                    return Err(
                        "must be read, write, trim, rw or trimwrite, optionally with the prefix \
                         rand (randread …)"
                            .to_owned(),
                    );
                }
            };
            let trims = match kind.trim_start_matches("rand") {
                "trim" => Trims::All,
                "trimwrite" => Trims::BeforeWrites,
                _ => Trims::None,
            };
            let access = Access { random, read, trims, ..Access::READ };
            match behind {
                "" => Ok(access),
                run if random > 0.0 => match size(run, self.base)? {
                    0 => Err("must be at least 1 I/O".to_owned()),
                    length => Ok(Access { random: random / length as f64, ..access }),
                },
                text => match text.strip_prefix('-') {
                    Some(back) => Ok(Access { back: Some(size(back, self.base)?), ..access }),
                    None => Ok(Access { gap: size(text, self.base)?, ..access }),
                },
            }
        };
        let access = self.value("rw", Access::READ, known);
        // For reads, writes and trims; missing values are defaults.
        let share = |text: &str| {
            let parts: Vec<&str> = text.split(',').map(str::trim).collect();
            let last = parts.iter().rfind(|part| !part.is_empty()).copied().unwrap_or("100");
            let percent = |index: usize| match parts.get(index).copied() {
                Some("") => Ok(100.0),
                part => number(part.unwrap_or(last).trim_end_matches('%')),
            };
            let (reads, writes, trims) = (percent(0)?, percent(1)?, percent(2)?);
            let chosen = match access.trims {
                Trims::None if access.read > 0.0 => reads,
                Trims::None => writes,
                Trims::All | Trims::BeforeWrites => trims,
            };
            let is_mix = access.read > 0.0 && access.read < 100.0;
            let own = (is_mix && (reads - writes).abs() > f64::EPSILON).then_some(writes);
            let good = |share: f64| (0.0..=100.0).contains(&share);
            let all = good(chosen) && own.is_none_or(good);
            if all { Ok((chosen, own)) } else { Err("must be between 0 and 100".to_owned()) }
        };
        // fio uses it only if `rw` is random.
        let (wanted, own) = self.value("percentage_random", (100.0, None), share);
        let portion = |wanted: f64| access.random * wanted / 100.0;
        let random_writes = own.filter(|_| access.random > 0.0).map(portion);
        Access { random: portion(wanted), random_writes, ..access }
    }

    /// Operation of the requests, from the engine's name.
    pub(in crate::fio) fn operation(&self, access: &Access) -> Result<Operation, FioRefusal> {
        let asked = self.value("ioengine", Operation::Transfer, |text| Ok(operation(text)));
        let pure = access.read <= 0.0 || access.read >= 100.0;
        let writes = access.read <= 0.0;
        match asked {
            // Its trims punch holes, like those of any other engine.
            Operation::Reserve if access.trims == Trims::All => Ok(Operation::Transfer),
            Operation::Reserve | Operation::Truncate if !writes || access.trims != Trims::None => {
                Err(self
                    .refuse("rw", "refused: falloc and ftruncate write; use rw=write or randwrite"))
            }
            operation if operation.is_of_entries() && (!pure || access.trims != Trims::None) => {
                Err(self.refuse(
                    "rw",
                    "refused: operations on entries count either as reads or as writes",
                ))
            }
            operation if !operation.is_transfer() && self.verifies()? => Err(self
                .refuse("verify", "refused: this engine transfers no data that could be verified")),
            operation => Ok(operation),
        }
    }

    /// Zones of `zonemode=strided`: bytes accessed in each, and bytes skipped to the next.
    pub(in crate::fio) fn zones(
        &self,
        access: &Access,
        sizes: &Sizes,
    ) -> Result<Option<StridesSpec>, FioRefusal> {
        let strided = self.value("zonemode", false, |text| Ok(text == "strided"));
        if !strided {
            return Ok(None);
        }
        let zone = self.whole("zonesize", 0);
        let range = self.whole("zonerange", zone);
        let skip = self.whole("zoneskip", 0);
        let random = access.random >= 100.0;
        if zone == 0 || range == 0 || (zone > range && !random) {
            let why = "refused: zonesize= must be above 0 and at most zonerange=";
            return Err(self.refuse("zonemode", why));
        }
        if (access.random > 0.0 && !random) || access.gap > 0 || access.back.is_some() {
            let why = "refused: zones are accessed either sequentially or at random, without gaps";
            return Err(self.refuse("zonemode", why));
        }
        if sizes.writes.is_some() {
            let why = "refused: reads and writes of zones need the same block size";
            return Err(self.refuse("zonemode", why));
        }
        let skip = if random { skip } else { range - zone + skip };
        let range = random.then_some(Bytes(range));
        Ok(Some(StridesSpec { zone: Bytes(zone), skip: Bytes(skip), range }))
    }

    /// I/O engine with its polling mode. fio discards one range at a time with any engine; here,
    /// `io_uring` discards asynchronously.
    pub(in crate::fio) fn engine(&self, trims: Trims) -> Engine {
        let engine = self.value("ioengine", Engine::Synchronous, Engine::read);
        let (polled, kernel) = (self.switch("hipri", false), self.switch("sqthread_poll", false));
        match engine {
            Engine::Null => Engine::Null,
            Engine::IoUring if trims == Trims::All => Engine::IoUring,
            _ if trims != Trims::None => Engine::Synchronous,
            // A mapping always uses the page cache.
            Engine::Mapped if self.direct() => Engine::Synchronous,
            Engine::IoUring if polled => Engine::IoUringPolled,
            Engine::IoUring if kernel => Engine::IoUringKernelPolled,
            Engine::Passthrough if polled => Engine::PassthroughPolled,
            other => other,
        }
    }

    /// Durability that a write waits for.
    pub(in crate::fio) fn durability(&self) -> Durability {
        self.value("sync", Durability::None, |text| match text {
            "0" | "none" => Ok(Durability::None),
            "1" | "sync" => Ok(Durability::Sync),
            "dsync" => Ok(Durability::Dsync),
            _ => Err("must be none, sync or dsync".to_owned()),
        })
    }

    /// Use of the page cache. `uncached` has no effect on direct I/O, and `atomic` none on reads.
    pub(in crate::fio) fn caching(&self, access: &Access) -> Result<Caching, FioRefusal> {
        let direct = self.direct();
        let drops = self.switch("invalidate", true) && !direct;
        let pattern =
            if access.random > 0.0 { CacheAdvice::Random } else { CacheAdvice::Sequential };
        let advice = self.value("fadvise_hint", pattern, |text| match text {
            "0" | "none" => Ok(CacheAdvice::None),
            "1" => Ok(pattern),
            "sequential" => Ok(CacheAdvice::Sequential),
            "random" => Ok(CacheAdvice::Random),
            _ => Err("must be 0, 1, sequential or random".to_owned()),
        });
        let advice = if direct { CacheAdvice::None } else { advice };
        let engine = self.value("ioengine", Engine::Synchronous, Engine::read);
        let (name, io_flag, has_flags) = if self.switch("atomic", false) {
            ("atomic", IoFlag::Atomic, self.text("ioengine") == Some("pvsync2"))
        } else if self.switch("uncached", false) && !direct {
            ("uncached", IoFlag::Dontcache, engine == Engine::Synchronous)
        } else {
            return Ok(Caching { drops, advice, io_flag: IoFlag::None });
        };
        if !has_flags && !engine.has_priorities() {
            let why = "refused: needs ioengine=io_uring, libaio or pvsync2";
            return Err(self.refuse(name, why));
        }
        let writes = access.read < 100.0 && access.trims == Trims::None;
        let is_moot = io_flag == IoFlag::Atomic && !writes;
        Ok(Caching { drops, advice, io_flag: if is_moot { IoFlag::None } else { io_flag } })
    }

    /// CPU list from `cpus_allowed`, `cpumask` (bit 0 is CPU 0) or `numa_cpu_nodes`.
    pub(in crate::fio) fn cpus(&self) -> Option<String> {
        let mask = |text: &str| {
            let bits = match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => text.parse::<u64>(),
            };
            let bits = bits.ok().filter(|bits| *bits > 0);
            let bits =
                bits.ok_or_else(|| format!("`{text}` is not a mask of CPUs, for example 0x0f"))?;
            let set = (0..u64::BITS).filter(|cpu| bits >> cpu & 1 == 1);
            Ok(Some(set.map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",")))
        };
        let nodes = |text: &str| {
            let text = text.replace(' ', "");
            Ok((text != "all").then(|| format!("node:{text}")))
        };
        let on_nodes = self.value("numa_cpu_nodes", None, nodes);
        let masked = self.value("cpumask", on_nodes, mask);
        self.value("cpus_allowed", masked, |text| Ok(Some(text.replace([' ', ';'], ""))))
    }

    /// Histogram logs, which fio writes if their window has a length.
    pub(in crate::fio) fn histogram_log(&self) -> Option<(String, u64, u32)> {
        let coarse = |text: &str| match text.parse::<u32>() {
            Ok(coarse @ 0..=6) => Ok(coarse),
            _ => Err("must be between 0 and 6".to_owned()),
        };
        let coarse = self.value("log_hist_coarseness", 0, coarse);
        let name = match self.get("write_hist_log") {
            None => return None,
            Some(Setting { value: None, .. }) => self.section.name.clone(),
            Some(Setting { value: Some(name), .. }) => name.clone(),
        };
        let window_ms = self.whole("log_hist_msec", 0);
        (window_ms > 0).then_some((name, window_ms, coarse))
    }

    /// Writes with duplicate contents.
    pub(in crate::fio) fn duplicates(&self) -> Result<Option<Duplicates>, FioRefusal> {
        let of_writes = self.value("dedupe_percentage", 0.0, percentage);
        let working_set = self.value("dedupe_working_set_percentage", 5.0, percentage);
        let is_set = self.value("dedupe_mode", false, |text| match text {
            "repeat" => Ok(false),
            "working_set" => Ok(true),
            _ => Err("must be repeat or working_set".to_owned()),
        });
        let common = self.switch("dedupe_global", false);
        if of_writes > 0.0 && self.verifies()? {
            let why = "refused: verify stamps each block, so there are no duplicates";
            return Err(self.refuse("dedupe_percentage", why));
        }
        let working_set = is_set.then_some(working_set);
        Ok((of_writes > 0.0).then_some(Duplicates { share: of_writes, working_set, common }))
    }

    /// Latency goal of a queue depth search; times without a unit are in microseconds.
    pub(in crate::fio) fn goal(&self) -> Result<Option<LatencyGoal>, FioRefusal> {
        let time = |text: &str| time_with(text, 1e3);
        let target_ns = self.value("latency_target", 0, time);
        let window_ns = self.value("latency_window", 0, time);
        let share = |text: &str| match number(text)? {
            share if share > 0.0 && share <= 100.0 => Ok(share),
            _ => Err("must be above 0 and up to 100".to_owned()),
        };
        let percentile = self.value("latency_percentile", 100.0, share);
        if target_ns == 0 {
            return Ok(None);
        }
        if window_ns < GOAL_WINDOW_LEAST_NS {
            let why = "needs latency_window=, the time to measure each depth: at least 10ms";
            return Err(self.refuse("latency_target", why));
        }
        Ok(Some(LatencyGoal { target_ns, window_ns, percentile }))
    }

    /// Reporting of reads and writes.
    pub(in crate::fio) fn unified(&self) -> Unified {
        self.value("unified_rw_reporting", Unified::Apart, |text| match text {
            "none" | "0" => Ok(Unified::Apart),
            "mixed" | "1" => Ok(Unified::Mixed),
            "both" | "2" => Ok(Unified::Both),
            _ => Err("must be none, mixed or both".to_owned()),
        })
    }

    /// Pattern for unnamed files, with `$jobname`, `$jobnum` and `$filenum`.
    pub(in crate::fio) fn file_format(&self) -> String {
        let usual = "$jobname.$jobnum.$filenum".to_owned();
        self.value("filename_format", usual, |text| Ok(text.to_owned()))
    }

    /// Errors after which success is reported: of reads, of writes, and of data that differs.
    pub(in crate::fio) fn continues_on(&self) -> [bool; 3] {
        // As in fio, a second word has no effect.
        let first = |text: &str| text.split([',', ':']).next().unwrap_or(text).to_owned();
        self.value("continue_on_error", [false; 3], |text| match first(text).as_str() {
            "none" | "0" => Ok([false; 3]),
            "read" => Ok([true, false, false]),
            "write" => Ok([false, true, false]),
            "io" => Ok([true, true, false]),
            "verify" => Ok([false, false, true]),
            "all" | "1" => Ok([true; 3]),
            _ => Err("must be none, read, write, io, verify or all".to_owned()),
        })
    }

    /// Jobs that end together with this one.
    pub(in crate::fio) fn ends_all(&self) -> Option<ExitScope> {
        let what = self.value("exit_what", ExitScope::Group, |text| match text {
            "group" => Ok(ExitScope::Group),
            "stonewall" => Ok(ExitScope::Step),
            "all" => Ok(ExitScope::Run),
            _ => Err("must be group, stonewall or all".to_owned()),
        });
        self.switch("exitall", false).then_some(what)
    }

    /// Differences from fio beyond those of single options.
    pub(in crate::fio) fn notes(&self, engine: Engine) -> Vec<FioRemark> {
        let mut notes = Vec::new();
        let mut note = |name: &str, what: Remark| {
            notes.extend(self.get(name).map(|setting| setting.remark(&self.section.name, what)));
        };
        self.engine_notes(engine, &mut note);
        self.hint_notes(&mut note);
        if self.value("verify", false, |text| Ok(text != "0" && text != "null")) {
            note(
                "verify",
                match self.access().trims {
                    Trims::All => Remark::TrimsNotVerified,
                    _ => Remark::OwnChecksum,
                },
            );
        }
        if self.text("rw").is_some_and(|text| text.starts_with("rand") && text.contains(':')) {
            note("rw", Remark::RunLengthsInTheMean);
        }
        if self.text("bs").is_some_and(|text| text.contains('-')) {
            note("bs", Remark::SizesOfReadsAndWrites);
        }
        if self.text("kb_base") == Some("1000") {
            note("kb_base", Remark::UnitsOfTextFixed);
        }
        if self.whole("log_avg_msec", 0) > 0 {
            note("log_offset", Remark::LogRowsWithoutOffset);
        }
        if self.value("runtime", 0, time_ns) > super::RUNTIME_MAX_NS {
            note("runtime", Remark::RuntimeAWeekAtMost);
        } else if self.value("runtime", 0, time_ns) == 0 {
            note("time_based", Remark::EndsWithItsBytes);
        }
        self.files_notes(&mut note);
        note("buffer_pattern", Remark::CompressibleWithoutPattern);
        if self.switch("stonewall", false) {
            note("flow", Remark::FlowWithinStep);
        }
        let hinted = |text: &str| text.split([',', ':']).any(|part| part.split('/').count() == 5);
        if self.text("cmdprio_bssplit").is_some_and(hinted) {
            note("cmdprio_bssplit", Remark::NoPriorityHint);
        }
        for name in ["cmdprio_percentage", "cmdprio_bssplit"] {
            note(name, Remark::PrioritiesReportedTogether);
        }
        note("latency_target", Remark::DepthsDoubled);
        let is_cut = |setting: &&Rc<Setting>| {
            let is_last =
                self.get(&setting.name).is_some_and(|last| std::ptr::eq(last, &***setting));
            is_last && self.text(&setting.name).is_some_and(|t| number_in(&setting.name, t) != t)
        };
        let cut =
            |setting: &Rc<Setting>| setting.remark(&self.section.name, Remark::RestOfValueIgnored);
        notes.extend(self.section.settings.iter().filter(is_cut).map(cut));
        notes
    }

    /// Differences in the handling of single requests.
    fn hint_notes(&self, note: &mut impl FnMut(&str, Remark)) {
        if self.switch("bs_unaligned", false) {
            note("bs_unaligned", Remark::SizesOfWholeUnits);
        }
        if self.text("write_hint").is_some_and(|hint| !matches!(hint, "none" | "not-set")) {
            note("write_hint", Remark::NoLifetimeHint);
        }
        if self.switch("create_only", false) {
            note("create_only", Remark::FilesLaidOut);
        }
    }

    fn engine_notes(&self, engine: Engine, note: &mut impl FnMut(&str, Remark)) {
        let trims = self.access().trims;
        if engine == Engine::Null {
            note("ioengine", Remark::NullIsEmulated);
            note("filename", Remark::NoFileTouched);
        } else if trims != Trims::None && engine == Engine::Synchronous {
            note("iodepth", Remark::OneTrimAtATime);
        } else if trims != Trims::None {
            note("rw", Remark::TrimsAtIodepth);
        } else if engine == Engine::Mapped {
            note("iodepth", Remark::OneRequestOutstanding);
        } else if engine == Engine::Synchronous {
            let what = match self.text("ioengine") {
                Some("mmap") => Remark::PageCacheNotMapped,
                Some("splice") => Remark::BuffersNotPipes,
                Some("filecreate" | "dircreate") => Remark::EntriesClosedAtOnce,
                Some("filestat" | "filedelete" | "dirstat" | "dirdelete") => {
                    Remark::EntriesMadeBefore
                }
                _ => Remark::OwnSynchronousEngine,
            };
            note("ioengine", what);
            note("iodepth", Remark::OneRequestOutstanding);
            if self.switch("hipri", false) {
                note("hipri", Remark::SynchronousNotPolled);
            }
        }
    }

    fn files_notes(&self, note: &mut impl FnMut(&str, Remark)) {
        let operation = self.value("ioengine", Operation::Transfer, |text| Ok(operation(text)));
        if self.whole("nrfiles", 1) > 1 && !operation.is_of_entries() {
            note("nrfiles", Remark::FilesJoinedForAll);
            note("file_service_type", Remark::FilesJoined);
        }
        if self.text("filesize").is_some_and(|text| text.contains('-')) {
            note("filesize", Remark::FilesOfMeanLength);
        }
        match self.text("random_distribution") {
            Some(text) if text.starts_with("normal") => {
                note("random_distribution", Remark::NormalInZones);
            }
            Some(text) if !text.starts_with("zoned") && text.matches(':').count() > 1 => {
                note("random_distribution", Remark::PopularPlacesScattered);
            }
            _ => {}
        }
    }
}
