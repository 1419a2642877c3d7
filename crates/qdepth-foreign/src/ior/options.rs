//! Parser of IOR's options and scripts (`-f`), like IOR's own: `-t 1m`, `-t1m`, `-t=1m`, combined
//! flags (`-wrk`, `-z-k`), `-O name=value`, `--long`.

use super::{Hog, Ior, IorRefusal, Packet};
use crate::remark::Remark;

/// Short options without a value.
const FLAGS: &str = "BCFKYZegkmruvwxzRWcEyHInpqSVP";
/// Short options with a value.
const VALUES: &str = "aAbdijlMoqstDGfNOQTXUJ";

/// Help text on the support for each option.
pub const IOR_HELP: &str = include_str!("../../data/ior-options.txt");

/// Switch: letter, name in settings and in JSON, field.
type Switch = (Option<char>, &'static str, fn(&mut Ior) -> &mut bool);

pub(super) const SWITCHES: [Switch; 16] = [
    (Some('B'), "useO_DIRECT", |ior| &mut ior.direct),
    (Some('F'), "filePerProc", |ior| &mut ior.file_per_process),
    (Some('Y'), "fsyncperwrite", |ior| &mut ior.fsync_each),
    (Some('e'), "fsync", |ior| &mut ior.fsync),
    (Some('g'), "intraTestBarriers", |ior| &mut ior.barriers),
    (Some('k'), "keepFile", |ior| &mut ior.keep),
    (Some('K'), "keepFileWithError", |ior| &mut ior.keep_with_error),
    (Some('r'), "readFile", |ior| &mut ior.reads),
    (Some('w'), "writeFile", |ior| &mut ior.writes),
    (Some('R'), "checkRead", |ior| &mut ior.check_read),
    (Some('W'), "checkWrite", |ior| &mut ior.check_write),
    (Some('E'), "useExistingTestFile", |ior| &mut ior.use_existing),
    (Some('m'), "multiFile", |ior| &mut ior.multi_file),
    (Some('u'), "uniqueDir", |ior| &mut ior.unique_dir),
    (Some('x'), "singleXferAttempt", |ior| &mut ior.single_attempt),
    (None, "stoneWallingWearOut", |ior| &mut ior.wear_out),
];

/// Count: letter, names in settings, field.
type Count = (char, &'static [&'static str], fn(&mut Ior) -> &mut u32);

pub(super) const COUNTS: [Count; 10] = [
    ('C', &["reordertasks", "reordertasksconstant"], |ior| &mut ior.reorder),
    ('Z', &["reordertasksrandom"], |ior| &mut ior.reorder_random),
    ('z', &["randomoffset"], |ior| &mut ior.random),
    ('v', &["verbose"], |ior| &mut ior.verbose),
    ('Q', &["taskpernodeoffset"], |ior| &mut ior.task_offset),
    ('s', &["segmentcount"], |ior| &mut ior.segments),
    ('i', &["repetitions"], |ior| &mut ior.repetitions),
    ('T', &["maxtimeduration"], |ior| &mut ior.most_minutes),
    ('D', &["deadlineforstonewalling"], |ior| &mut ior.deadline_s),
    ('j', &["outlierthreshold"], |ior| &mut ior.outlier_s),
];

impl Ior {
    /// Parses the words of a command line, without the program's name.
    ///
    /// # Errors
    /// [`IorRefusal`] with the option.
    pub fn read(words: &[String]) -> Result<Self, IorRefusal> {
        let mut ior = Self { command_line: words.join(" "), ..Self::without_options() };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if let Some(long) = word.strip_prefix("--") {
                ior.long(long, &mut rest)?;
                continue;
            }
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                return Err(IorRefusal::Unknown(word.clone()));
            };
            ior.letters(letters, &mut rest)?;
        }
        ior.complete()
    }

    /// Tests of a script (`-f`), with these options as defaults.
    ///
    /// # Errors
    /// [`IorRefusal::Script`] with file and line.
    pub fn tests_of(&self, file: &str, text: &str) -> Result<Vec<Self>, IorRefusal> {
        let mut tests = Vec::new();
        let mut now = Self { script: None, ..self.clone() };
        // Settings after the last RUN form another test, as in IOR.
        let (mut begun, mut open) = (false, true);
        let mut last = 0;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            let at = |refusal| IorRefusal::Script(file.to_owned(), number + 1, Box::new(refusal));
            match words.as_str() {
                "" => {}
                "ior start" => begun = true,
                _ if !begun => {}
                "ior stop" => break,
                "run" => {
                    tests.push(now.clone().complete().map_err(at)?);
                    open = false;
                }
                _ => {
                    now.directives(line).map_err(at)?;
                    open = true;
                }
            }
            last = number + 1;
        }
        if open {
            let at = |refusal| IorRefusal::Script(file.to_owned(), last, Box::new(refusal));
            tests.push(now.complete().map_err(at)?);
        }
        Ok(tests)
    }

    fn letters<'a>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), IorRefusal> {
        for (offset, letter) in letters.char_indices() {
            let attached = &letters[offset + letter.len_utf8()..];
            if FLAGS.contains(letter) {
                let Some(count) = attached.strip_prefix('=') else {
                    self.flag(letter, None)?;
                    continue;
                };
                let option = format!("-{letter}");
                let count = whole(count)
                    .and_then(|count| u32::try_from(count).ok())
                    .ok_or(IorRefusal::Value(option, count.to_owned()))?;
                return self.flag(letter, Some(count));
            }
            if letter == 'h' {
                self.help = true;
                continue;
            }
            if letter == '-' && offset > 0 {
                continue;
            }
            let option = format!("-{letter}");
            if !VALUES.contains(letter) {
                return Err(IorRefusal::Unknown(option));
            }
            let attached = attached.strip_prefix('=').unwrap_or(attached);
            let value = match attached {
                "" => rest.next().cloned().ok_or_else(|| IorRefusal::NoValue(option.clone()))?,
                attached => attached.to_owned(),
            };
            return self.value(&option, letter, &value);
        }
        Ok(())
    }

    /// Counts a flag, or sets it to `to`.
    fn flag(&mut self, letter: char, to: Option<u32>) -> Result<(), IorRefusal> {
        let on = to != Some(0);
        if let Some((_, _, field)) = SWITCHES.iter().find(|(known, ..)| *known == Some(letter)) {
            *field(self) = on;
            return Ok(());
        }
        if let Some(field) = counted(letter) {
            let count = field(self);
            *count = to.unwrap_or(*count + 1);
        } else if on {
            return Err(IorRefusal::Unsupported(format!("-{letter}"), why_not(letter)));
        }
        Ok(())
    }

    fn value(&mut self, option: &str, letter: char, value: &str) -> Result<(), IorRefusal> {
        let bad = || IorRefusal::Value(option.to_owned(), value.to_owned());
        let count = || whole(value).and_then(|number| u32::try_from(number).ok()).ok_or_else(bad);
        if let Some(field) = counted(letter) {
            *field(self) = count()?;
            return Ok(());
        }
        match letter {
            'a' => self.api(option, value)?,
            't' => self.transfer = size(value).ok_or_else(bad)?,
            'b' => self.block = size(value).ok_or_else(bad)?,
            'N' => self.tasks = Some(count()?),
            'd' => {
                self.delay_s = count()?;
                if value.contains('.') {
                    self.remark("-d", Remark::WholeSeconds);
                }
            }
            'A' => self.reference = whole(value).ok_or_else(bad)?,
            'X' => self.reorder_seed = whole(value).ok_or_else(bad)?,
            'G' => self.signed(whole(value).ok_or_else(bad)?),
            'M' => self.hog = Some(hog(value).ok_or_else(bad)?),
            'l' => self.packet = packet(value).ok_or_else(bad)?,
            'f' => self.script = Some(value.to_owned()),
            'o' => self.files = value.split('@').map(str::to_owned).collect(),
            'O' => self.directives(value)?,
            _ => return Err(IorRefusal::Unsupported(option.to_owned(), why_not(letter))),
        }
        Ok(())
    }

    pub(super) fn api(&self, option: &str, value: &str) -> Result<(), IorRefusal> {
        let why = match value.to_ascii_uppercase().as_str() {
            "POSIX" => return Ok(()),
            "MMAP" => "qdepth does not map files; use -a POSIX, which goes through the page cache",
            "DUMMY" => {
                "it transfers no data; `qdepth host calibrate` measures the cost of the load \
                 generator"
            }
            "AIO" => "use -a POSIX, with `qdepth ior --engine libaio` before IOR's options",
            _ => "qdepth uses POSIX: use -a POSIX",
        };
        Err(IorRefusal::Unsupported(format!("{option} {value}"), why))
    }

    /// Sets the signature (`-G`) of 32 bits; 0 means none.
    pub(super) fn signed(&mut self, number: i64) {
        self.signature = Some(number as u32).filter(|number| *number != 0);
    }

    fn long<'a>(
        &mut self,
        long: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), IorRefusal> {
        let (name, attached) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let option = format!("--{name}");
        let on = attached.as_deref() != Some("0");
        match name {
            "help" => self.help = true,
            "posix.odirect" => self.direct = on,
            "collective" if on => return Err(IorRefusal::Unsupported(option, why_not('c'))),
            "collective" | "gpuDirect" | "dryRun" | "warningAsErrors" if !on => {}
            "warningAsErrors" => self.remark(&option, Remark::WarningsAreFindings),
            "dataPacketType" | "random-offset-seed" | "randomPrefill" => {
                let value = attached.or_else(|| rest.next().cloned());
                let value = value.ok_or_else(|| IorRefusal::NoValue(option.clone()))?;
                let bad = || IorRefusal::Value(option.clone(), value.clone());
                match name {
                    "dataPacketType" => self.packet = packet(&value).ok_or_else(bad)?,
                    "random-offset-seed" => {
                        self.random_seed = Some(whole(&value).ok_or_else(bad)?);
                    }
                    _ => {
                        let why = "write the file before, in a separate run with -w -k";
                        return Err(IorRefusal::Unsupported(option, why));
                    }
                }
            }
            "dryRun" => {
                let why = "use `qdepth ior --convert` before IOR's options, which prints the plan";
                return Err(IorRefusal::Unsupported(option, why));
            }
            "gpuDirect" => {
                let why = "transfers use the memory of the host";
                return Err(IorRefusal::Unsupported(option, why));
            }
            _ if name.starts_with("posix.") => {
                let why = "set it for the directory beforehand (lfs setstripe, beegfs-ctl)";
                return Err(IorRefusal::Unsupported(option, why));
            }
            _ => return Err(IorRefusal::Unknown(option)),
        }
        Ok(())
    }
}

/// Field of a count, by its letter.
fn counted(letter: char) -> Option<fn(&mut Ior) -> &mut u32> {
    COUNTS.iter().find(|(known, ..)| *known == letter).map(|(.., field)| *field)
}

/// Reason and alternative for an unsupported option.
fn why_not(letter: char) -> &'static str {
    match letter {
        'c' => "collective transfers need MPI-IO, but qdepth uses POSIX: remove it",
        'y' => "name the mount points with -o a/f@b/f and -F",
        'q' => "an error never ends a run, but is counted: remove it",
        'U' | 'H' => "hints belong to MPI-IO, but qdepth uses POSIX: remove it",
        _ => "it belongs to MPI-IO or HDF5, but qdepth uses POSIX: remove it",
    }
}

/// Data pattern, by the first letter of its name.
pub(super) fn packet(name: &str) -> Option<Packet> {
    match name.chars().next()? {
        't' => Some(Packet::Timestamp),
        'o' => Some(Packet::Offset),
        'i' => Some(Packet::Incompressible),
        'r' => Some(Packet::Random),
        _ => None,
    }
}

/// Parses `2g` or `75%`.
pub(super) fn hog(text: &str) -> Option<Hog> {
    if let Some(share) = text.strip_suffix('%') {
        let share: f64 = share.parse().ok()?;
        return (0.0..100.0).contains(&share).then_some(Hog::Share(share / 100.0));
    }
    size(text).map(Hog::Node)
}

/// Parses an integer as IOR does: sign, digits, suffix k, m, g or t; a decimal part is ignored.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let digits = match digits.split_once('.') {
        Some((whole, part)) if part.bytes().all(|byte| byte.is_ascii_digit()) => whole,
        _ => digits,
    };
    let number = if digits == "0" { 0 } else { i64::try_from(size(digits)?).ok()? };
    Some(sign * number)
}

/// Parses bytes as IOR does: an integer with suffix k, m, g or t (powers of 1024).
pub(crate) fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, shift) = match text.strip_suffix(['k', 'm', 'g', 't']) {
        Some(digits) if text.ends_with('k') => (digits, 10),
        Some(digits) if text.ends_with('m') => (digits, 20),
        Some(digits) if text.ends_with('g') => (digits, 30),
        Some(digits) => (digits, 40),
        None => (text.as_str(), 0),
    };
    let number: u64 = digits.parse().ok().filter(|number| *number > 0)?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes <= i64::MAX as u64)
}
