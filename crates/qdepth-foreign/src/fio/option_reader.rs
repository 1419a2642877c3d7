//! Typed values of a section's options.

mod dependent;
mod least;
pub(super) mod pattern;
mod priority;
mod settling;

use std::cell::RefCell;

use qdepth_measure::Nanos;
use qdepth_workload::{FlowSpec, Way};

use pattern::pattern_files;

use super::access::Access;
use super::job_parts::{FioLogColumns, Reporting, Span, Verification, WindowValue};
use super::number::{Base, before_sign, size, size as size_of, time_ns, time_with};
use super::refusal::{FioRefusal, FioRefusals, FioRemark};
use super::setting::{Section, Setting, each_once};
use super::values::{
    Amount, SizePart, Sizes, Trims, by_direction, number, percentage, sizes, texts,
};
use crate::remark::Remark;

/// fio's default percentiles.
const PERCENTILES: &str = "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99";
/// Maximum time of a job, ns: a week.
const RUNTIME_MAX_NS: u64 = 7 * 86_400_000_000_000;
/// Think time, ns, and the number of requests between two pauses.
type Pauses = (u64, u32);

/// Reader of a section's options.
pub(super) struct OptionReader<'a> {
    pub(super) section: &'a Section,
    pub(super) base: Base,
    /// Invalid values, which were replaced by the default.
    pub(super) refused: RefCell<FioRefusals>,
}

impl OptionReader<'_> {
    pub(super) fn new(section: &Section, base: Base) -> OptionReader<'_> {
        OptionReader { section, base, refused: RefCell::default() }
    }

    fn note_refused(&self, refusal: FioRefusal) {
        self.refused.borrow_mut().add(refusal.into());
    }

    pub(super) fn get(&self, name: &str) -> Option<&Setting> {
        self.section.get(name)
    }

    /// Value parsed by `read`; `default` if the option is absent.
    pub(super) fn value<T>(
        &self,
        name: &str,
        default: T,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> T {
        let Some(setting) = self.get(name) else { return default };
        let Some(value) = setting.value.as_deref() else {
            let why = format!("needs a value: {name}=…");
            self.note_refused(setting.refuse(&self.section.name, why));
            return default;
        };
        read(number_in(name, value)).unwrap_or_else(|why| {
            self.note_refused(setting.refuse(&self.section.name, why));
            default
        })
    }

    /// Value as written; `None` without the option, or without a value.
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.value.as_deref()
    }

    /// True for the second of two words; the first is the default.
    pub(super) fn is_second(&self, name: &str, words: [&str; 2]) -> bool {
        let [first, second] = words;
        self.value(name, false, |text| match text {
            text if text == first => Ok(false),
            text if text == second => Ok(true),
            other => Err(format!("`{other}`: must be {first} or {second}")),
        })
    }

    /// Switch; an option without a value means yes.
    pub(super) fn switch(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            Some(Setting { value: None, .. }) => true,
            _ => self.value(name, default, yes_or_no),
        }
    }

    pub(super) fn amount(&self, name: &str, default: Amount) -> Amount {
        self.value(name, default, |text| Amount::read(text, self.base))
    }

    pub(super) fn whole(&self, name: &str, default: u64) -> u64 {
        self.value(name, default, |text| size(text, self.base))
    }

    pub(super) fn refuse(&self, name: &str, why: impl Into<String>) -> FioRefusal {
        self.section.refuse_option(name, why)
    }
}

/// Part of an option's value that fio reads.
fn number_in<'t>(name: &str, text: &'t str) -> &'t str {
    match name {
        "iodepth" | "numjobs" | "size" | "io_size" | "offset" | "loops" | "number_ios"
        | "fsync" | "fdatasync" => before_sign(text, false),
        "runtime" | "ramp_time" | "startdelay" | "thinktime" => before_sign(text, true),
        "percentile_list" => text.split(',').next().unwrap_or(text),
        _ => text,
    }
}

/// Reads a switch; any number other than 0 means yes, as in fio.
fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => match other.parse::<i64>() {
            Ok(number) => Ok(number != 0),
            Err(_) => Err(format!("`{other}`: must be 0 or 1")),
        },
    }
}
/// The section's own options, each once, as fio reports them.
fn written(section: &Section) -> Vec<(String, String)> {
    each_once(&section.settings[section.inherited..])
}

impl OptionReader<'_> {
    pub(super) fn span(&self, smallest: u64) -> Span {
        let (size, io_size) = self.lengths();
        let runtime_ns = self.value("runtime", 0, time_ns).min(RUNTIME_MAX_NS);
        let runtime_ns = Some(runtime_ns).filter(|ns| *ns > 0);
        Span {
            size,
            creates_files: self.switch("allow_file_create", true),
            offset: self.amount("offset", Amount::Bytes(0)),
            offset_align: match self.whole("offset_align", 0) {
                // As in fio, 0 means the smallest request.
                0 => smallest,
                align => align,
            },
            offset_increment: self.amount("offset_increment", Amount::Bytes(0)),
            io_size,
            delay_ns: self.value("startdelay", 0, time_ns),
            requests: self.get("number_ios").map(|_| self.whole("number_ios", 0)),
            loops: self.whole("loops", 1).max(1),
            runtime_ns,
            // As in fio, time_based has no effect without a runtime.
            time_based: runtime_ns.is_some() && self.switch("time_based", false),
            ramp_ns: self.value("ramp_time", 0, time_ns),
        }
    }

    /// Length of the area, and of a pass if different: with `filesize`, `size` is the length of a
    /// pass.
    fn lengths(&self) -> (Amount, Option<Amount>) {
        let given = |name: &str, default| self.get(name).map(|_| self.amount(name, default));
        let whole = Amount::Share(100.0);
        let size = given("size", whole);
        let io_size = given("io_size", Amount::Bytes(0));
        if self.get("filesize").is_none() {
            return (size.unwrap_or(whole), io_size);
        }
        let each = self.value("filesize", 0, |text| match text.split_once('-') {
            None => size_of(text, self.base),
            Some((low, high)) => Ok(size_of(low, self.base)?.midpoint(size_of(high, self.base)?)),
        });
        let named = self.filenames().len() as u64;
        let files = if named > 0 { named } else { self.whole("nrfiles", 1).max(1) };
        let all = each.saturating_mul(files);
        let size = size.and_then(|size| size.bytes(Some(all))).map(Amount::Bytes);
        (Amount::Bytes(all), io_size.or(size))
    }

    /// Names of the job's files. As in fio, the option adds to those given before, also by global
    /// sections.
    pub(super) fn filenames(&self) -> Vec<String> {
        let given = self.section.settings.iter().filter(|setting| setting.name == "filename");
        let mut names: Vec<String> = Vec::new();
        for name in given.filter_map(|setting| setting.value.as_deref()).flat_map(texts) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The rate, or the think time: if a job has both, the one that allows fewer requests. fio
    /// makes up for pauses that are shorter than its schedule.
    pub(super) fn rate_or_think(
        &self,
        rate: Option<f64>,
        remarks: &mut Vec<FioRemark>,
    ) -> Result<(Option<f64>, Option<Pauses>), FioRefusal> {
        let think = self.think()?;
        let (Some(wanted), Some((time_ns, requests))) = (rate, think) else {
            return Ok((rate, think));
        };
        let is_slower = f64::from(requests) / (time_ns as f64 / 1e9) < wanted;
        let what = if is_slower { Remark::PausesLimitRate } else { Remark::RateWithoutPauses };
        let setting = self.get("thinktime");
        remarks.extend(setting.map(|setting| setting.remark(&self.section.name, what)));
        Ok(if is_slower { (None, think) } else { (rate, None) })
    }

    /// Think time (microseconds without a unit), and the number of requests between two pauses.
    fn think(&self) -> Result<Option<Pauses>, FioRefusal> {
        let time = self.value("thinktime", 0, |text| time_with(text, 1e3));
        if time == 0 {
            return Ok(None);
        }
        let blocks = self.whole("thinktime_blocks", 1);
        match u32::try_from(blocks) {
            Ok(blocks) if blocks > 0 => Ok(Some((time, blocks))),
            _ => Err(self.refuse("thinktime_blocks", "must be between 1 and 4294967295")),
        }
    }

    /// Coupling of the job with others; the pause is in microseconds.
    pub(super) fn flow(&self) -> Option<FlowSpec> {
        let up_to = |most: u32| {
            move |text: &str| match text.parse::<u32>() {
                Ok(number) if number <= most => Ok(number),
                _ => Err(format!("must be between 0 and {most}")),
            }
        };
        let weight = self.value("flow", 0, up_to(1000));
        let group = self.value("flow_id", 0, up_to(u32::MAX));
        let pause_us = self.value("flow_sleep", 0, up_to(u32::MAX));
        let pause = (pause_us > 0).then(|| Nanos::from_micros(pause_us.into()));
        (weight > 0).then_some(FlowSpec { group, weight, pause })
    }

    pub(super) fn reporting(&self) -> Reporting {
        Reporting {
            percentiles: self.percentiles(),
            percentiles_of: [
                self.switch("clat_percentiles", true),
                self.switch("lat_percentiles", false),
                self.switch("slat_percentiles", false),
            ],
            logs: self.logs(),
            trace: self.text("write_iolog").map(str::to_owned),
            compresses_logs: self.switch("log_store_compressed", false),
            log_window_ms: self.whole("log_avg_msec", 0),
            log_columns: self.log_columns(),
            per_job_logs: self.switch("per_job_logs", true),
            logs_since_1970: self.switch("log_unix_epoch", false)
                || self.switch("log_alternate_epoch", false),
            histogram_log: self.histogram_log(),
            disks: self.switch("disk_util", true),
            unified: self.unified(),
            continues_on: self.continues_on(),
            written: written(self.section),
            inherited: each_once(&self.section.settings[..self.section.inherited]),
        }
    }

    fn read_share(&self) -> f64 {
        let position =
            |name: &str| self.section.settings.iter().rposition(|setting| setting.name == name);
        if position("rwmixwrite") > position("rwmixread") {
            return 100.0 - self.value("rwmixwrite", 50.0, percentage);
        }
        self.value("rwmixread", 50.0, percentage)
    }

    /// Request sizes with weights, and the alignment of random requests.
    pub(super) fn sizes(
        &self,
        Access { read, trims: trimming, random, random_writes, .. }: &Access,
    ) -> Result<Sizes, FioRefusal> {
        let read = *read;
        let name = ["bssplit", "bsrange", "bs"].into_iter().find(|name| self.get(name).is_some());
        let name = name.unwrap_or("bs");
        let usual = || vec![SizePart { bytes: 4096, weight: 1 }];
        let [reads, writes, trims] =
            self.value(name, [usual(), usual(), usual()], |text| sizes(name, text, self.base));
        let aligned =
            self.value("ba", [0; 3], |text| by_direction(text, |part| size_of(part, self.base)));
        let with = |parts: Vec<SizePart>, asked: u64| {
            let smallest = parts.iter().map(|part| part.bytes).min().unwrap_or(4096);
            (parts, if asked > 0 { asked } else { smallest })
        };
        let (reads, writes) = (with(reads, aligned[0]), with(writes, aligned[1]));
        let trims = with(trims, aligned[2]);
        match trimming {
            Trims::None => {}
            // As in fio, random ones both have the size of the trim.
            Trims::BeforeWrites if trims != writes && *random <= 0.0 => {
                return Err(self.refuse(
                    name,
                    "refused: trimmed blocks are then written, so both need the same block size",
                ));
            }
            Trims::All | Trims::BeforeWrites => {
                return Ok(Sizes { parts: trims.0, alignment: trims.1, writes: None });
            }
        }
        let is_mix = read > 0.0 && read < 100.0;
        let apart = reads != writes || random_writes.is_some();
        let own = (is_mix && apart).then(|| writes.clone());
        let (parts, alignment) = if read > 0.0 { reads } else { writes };
        Ok(Sizes { parts, alignment, writes: own })
    }

    /// Requests per second, both directions together, and the resulting share of reads: in a mix
    /// each direction keeps its own rate, whatever `rwmixread` is. If only one direction of a mix
    /// has a rate, also that direction.
    pub(super) fn rate(
        &self,
        Access { read, trims: trimming, .. }: &Access,
        sizes: &Sizes,
    ) -> Result<(Option<f64>, f64, Option<Way>), FioRefusal> {
        let read = *read;
        for name in ["rate_iops", "rate"] {
            if self.get(name).is_none() {
                continue;
            }
            let [reads, writes, trims] = self.value(name, [None; 3], |text| rates(text, self.base));
            let trims = trims.map(|rate| rate * requests(&sizes.parts, name));
            let reads = reads.map(|rate| rate * requests(&sizes.parts, name));
            let writes = writes.map(|rate| rate * requests(sizes.of_writes(), name));
            return match (reads, writes) {
                _ if *trimming == Trims::All => Ok((trims, read, None)),
                _ if *trimming == Trims::BeforeWrites => match writes.zip(trims) {
                    Some((writes, trims)) if (writes - trims).abs() > 1e-9 * writes => Err(self
                        .refuse(
                            name,
                            "refused: trimmed blocks are then written, so both need the same rate",
                        )),
                    both => Ok((both.map(|(writes, trims)| writes + trims), read, None)),
                },
                _ if read >= 100.0 => Ok((reads, read, None)),
                _ if read <= 0.0 => Ok((writes, read, None)),
                (None, None) => Ok((None, read, None)),
                (Some(reads), Some(writes)) => {
                    Ok((Some(reads + writes), reads / (reads + writes) * 100.0, None))
                }
                _ if self.verifies()? => Err(self.refuse(
                    name,
                    "refused: with verify, set a rate for both directions or for neither",
                )),
                (Some(reads), None) => Ok((Some(reads), read, Some(Way::Reads))),
                (None, Some(writes)) => Ok((Some(writes), read, Some(Way::Writes))),
            };
        }
        Ok((None, read, None))
    }

    pub(super) fn direct(&self) -> bool {
        let buffered = self.switch("buffered", true);
        // As in fio, atomic writes are direct.
        self.switch("direct", !buffered) || self.switch("atomic", false)
    }

    /// Random seed; fio's default seed becomes 1.
    pub(super) fn seed(&self) -> Option<u64> {
        if self.get("randseed").is_some() {
            return Some(self.whole("randseed", 1));
        }
        self.switch("randrepeat", true).then_some(1)
    }

    /// Number of writes between two flushes, and true if they flush data only.
    pub(super) fn flushes(&self) -> Result<(u32, bool), FioRefusal> {
        let (full, data) = (self.whole("fsync", 0), self.whole("fdatasync", 0));
        if full > 0 && data > 0 {
            return Err(self.refuse("fdatasync", "fsync and fdatasync cannot be combined"));
        }
        let every = u32::try_from(full.max(data));
        Ok((every.map_err(|_| self.refuse("fsync", "too many writes"))?, data > 0))
    }

    /// True if reads are verified.
    pub(super) fn verifies(&self) -> Result<bool, FioRefusal> {
        let known = |text: &str| match text {
            "0" | "null" => Ok(false),
            "md5" | "crc64" | "crc32c" | "crc32c-intel" | "crc32" | "crc16" | "crc7" | "xxhash"
            | "sha1" | "sha256" | "sha512" | "sha3-224" | "sha3-256" | "sha3-384" | "sha3-512"
            | "meta" | "1" | "pattern" | "pattern_hdr" => Ok(true),
            _ => Err("must be md5, crc…, xxhash, sha…, meta or pattern".to_owned()),
        };
        let verifies = self.value("verify", false, known);
        let trims = self.access().trims;
        // As in fio, a job with only trims does not verify.
        if trims == Trims::All {
            return Ok(false);
        }
        if verifies && trims != Trims::None {
            return Err(self.refuse("verify", "refused: trimmed blocks cannot be verified"));
        }
        Ok(verifies)
    }

    pub(super) fn verification(&self, read: f64) -> Result<Option<Verification>, FioRefusal> {
        if !self.verifies()? {
            return Ok(None);
        }
        let text = |name| {
            let value = self.get(name).and_then(|setting| setting.value.as_deref());
            value.unwrap_or_default().replace("-intel", "")
        };
        Ok(Some(Verification {
            by: ["verify", "verify_pattern"].map(text).join("\n"),
            reads_back: read < 100.0 && self.switch("do_verify", true),
            only: self.switch("verify_only", false),
            loads_state: self.switch("verify_state_load", false),
        }))
    }

    pub(super) fn compressible(&self) -> Result<f64, FioRefusal> {
        let pattern = self.get("buffer_pattern").is_some();
        self.value("buffer_pattern", (), |text| pattern_files(text).map(|_| ()));
        if self.switch("zero_buffers", false)
            || (pattern && self.get("buffer_compress_percentage").is_none())
        {
            return Ok(100.0);
        }
        let share = self.whole("buffer_compress_percentage", 0);
        if share > 100 {
            return Err(self.refuse("buffer_compress_percentage", "must be between 0 and 100"));
        }
        Ok(share as f64)
    }

    fn percentiles(&self) -> Vec<f64> {
        let read = |text: &str| {
            let list: Vec<f64> = text.split(':').map(number).collect::<Result<_, _>>()?;
            let good = list.len() <= 20 && list.iter().all(|p| *p > 0.0 && *p <= 100.0);
            if good {
                Ok(list)
            } else {
                Err("must be at most 20 values above 0 and up to 100".to_owned())
            }
        };
        let default = read(PERCENTILES).unwrap_or_default();
        let mut list = self.value("percentile_list", default, read);
        list.sort_by(f64::total_cmp);
        list
    }

    /// Columns of the logs' rows.
    fn log_columns(&self) -> FioLogColumns {
        FioLogColumns {
            offsets: self.switch("log_offset", false),
            priorities: self.switch("log_prio", false),
            issued: self.switch("log_issue_time", false),
            value: self.value("log_window_value", WindowValue::Mean, window_value),
        }
    }

    /// Names of the logs: the value, or the job's name if there is none.
    fn logs(&self) -> [Option<String>; 3] {
        let log = |name: &str| match self.get(name) {
            None => None,
            Some(Setting { value: None, .. }) => Some(self.section.name.clone()),
            Some(_) => self.value(name, None, |text| Ok(Some(text.to_owned()))),
        };
        ["write_bw_log", "write_lat_log", "write_iops_log"].map(log)
    }
}

fn window_value(text: &str) -> Result<WindowValue, String> {
    match text {
        "avg" | "average" | "0" => Ok(WindowValue::Mean),
        "max" | "1" => Ok(WindowValue::Max),
        "both" => Ok(WindowValue::Both),
        _ => Err("must be avg, max or both".to_owned()),
    }
}

/// Requests per second per unit of a rate. With several sizes, fio converts IOPS to bytes by the
/// smallest size.
fn requests(sizes: &[SizePart], name: &str) -> f64 {
    let weight: f64 = sizes.iter().map(|part| f64::from(part.weight)).sum();
    let bytes: f64 = sizes.iter().map(|part| part.bytes as f64 * f64::from(part.weight)).sum();
    let smallest = sizes.iter().map(|part| part.bytes).min().unwrap_or(1) as f64;
    let unit = if name == "rate_iops" { smallest } else { 1.0 };
    unit * weight / bytes
}

/// Rates `1m`, `1m,500k`, `,500k`, `1m,`: reads, writes, trims; the last one also applies to the
/// following ones.
pub(super) fn rates(text: &str, base: Base) -> Result<[Option<f64>; 3], String> {
    let rate = |text: &str| -> Result<Option<f64>, String> {
        match text {
            "" => Ok(None),
            text => match size(text, base)? {
                0 => Ok(None),
                rate => Ok(Some(rate as f64)),
            },
        }
    };
    by_direction(text, rate)
}
