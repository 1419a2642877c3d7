//! Parser of mdtest's options: `-n 10`, `-n10`, `-n=10`, combined flags (`-FC`), `--long`.

use qdepth_measure::pattern::{LEAST_BYTES, SECTOR_BYTES};

use super::{Mdtest, MdtestRefusal};
use crate::ior::REPETITIONS_MAX;
use crate::ior::options::{size, whole};
use crate::remark::{Remark, Remarked};

/// Help text on the support for each option.
pub const MDTEST_HELP: &str = include_str!("../../data/mdtest-options.txt");

/// Default of `-n`; mdtest itself does nothing without it.
const ITEMS: u64 = 1_000;
/// Maximum delay and deadline, s.
const SECONDS_MAX: u64 = 86_400;
type Flag = (char, fn(&mut Mdtest) -> &mut bool);
type Number = (&'static str, fn(&mut Mdtest) -> &mut u64);

const FLAGS: [Flag; 14] = [
    ('C', |mdtest| &mut mdtest.creates),
    ('T', |mdtest| &mut mdtest.stats),
    ('E', |mdtest| &mut mdtest.reads),
    ('r', |mdtest| &mut mdtest.removes),
    ('D', |mdtest| &mut mdtest.directories_only),
    ('F', |mdtest| &mut mdtest.files_only),
    ('P', |mdtest| &mut mdtest.rate_and_time),
    ('R', |mdtest| &mut mdtest.random),
    ('u', |mdtest| &mut mdtest.unique),
    ('X', |mdtest| &mut mdtest.verify),
    ('Y', |mdtest| &mut mdtest.sync),
    ('Z', |mdtest| &mut mdtest.time),
    ('h', |mdtest| &mut mdtest.help),
    ('?', |mdtest| &mut mdtest.help),
];
/// Flags without an effect: they matter for trees and for mdtest's own output only.
const WITHOUT_EFFECT: &str = "Ltv";

const NUMBERS: [Number; 10] = [
    ("n", |mdtest| &mut mdtest.items),
    ("I", |mdtest| &mut mdtest.items),
    ("w", |mdtest| &mut mdtest.write_bytes),
    ("e", |mdtest| &mut mdtest.read_bytes),
    ("N", |mdtest| &mut mdtest.stride),
    ("i", |mdtest| &mut mdtest.iterations),
    ("p", |mdtest| &mut mdtest.delay_s),
    ("W", |mdtest| &mut mdtest.stonewall_s),
    ("V", |mdtest| &mut mdtest.verbose),
    ("random-seed", |mdtest| &mut mdtest.random_seed),
];

/// Options that are not supported, unless their value is the default, and the reason.
const REFUSED: [(&str, &str, &str); 14] = [
    ("z", "0", "qdepth creates one directory, or one per task (-u): remove it"),
    ("b", "1", "qdepth creates one directory, or one per task (-u): remove it"),
    ("B", "0", "phases never overlap: remove it"),
    ("f", "0", "run each number of tasks separately: mpirun -n N, or --tasks N of qdepth"),
    ("l", "0", "run each number of tasks separately: mpirun -n N, or --tasks N of qdepth"),
    ("s", "1", "run each number of tasks separately: mpirun -n N, or --tasks N of qdepth"),
    ("c", "", "each task creates its own entries: remove it"),
    ("g", "", "set the layout of the directory beforehand (lfs setstripe)"),
    ("k", "", "files are created by open: remove it"),
    ("S", "", "each task has its own files; to share one, use qdepth ior"),
    ("U", "", "renaming is not measured: remove it"),
    ("y", "", "use -Y, which syncs after each phase"),
    ("verify-write", "", "verify the data when it is read, with -E -X"),
    ("gpuDirect", "", "transfers use the memory of the host: remove it"),
];

impl Mdtest {
    /// Parses the words of a command line, without the program's name.
    ///
    /// # Errors
    /// [`MdtestRefusal`] with the option.
    pub fn read(words: &[String]) -> Result<Self, MdtestRefusal> {
        let mut mdtest = Self {
            command_line: words.iter().map(|word| format!(" '{word}'")).collect(),
            directory: "./out".to_owned(),
            items: ITEMS,
            iterations: 1,
            ..Self::default()
        };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
                mdtest.option(name, value, &mut rest)?;
                continue;
            }
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                return Err(MdtestRefusal(format!("mdtest has no argument `{word}`")));
            };
            for (at, letter) in letters.char_indices() {
                let (name, attached) = letters[at..].split_at(letter.len_utf8());
                let attached = Some(attached).filter(|attached| !attached.is_empty());
                let attached = attached.map(|value| value.strip_prefix('=').unwrap_or(value));
                if mdtest.option(name, attached, &mut rest)? {
                    break;
                }
            }
        }
        mdtest.complete()
    }

    /// Applies an option. Returns true if it has a value, which is attached or the next word.
    fn option<'a>(
        &mut self,
        name: &str,
        attached: Option<&str>,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<bool, MdtestRefusal> {
        let option = if name.len() == 1 { format!("-{name}") } else { format!("--{name}") };
        let letter = name.chars().next().filter(|_| name.len() == 1);
        if let Some((_, field)) = FLAGS.iter().find(|(flag, _)| Some(*flag) == letter) {
            *field(self) = true;
            return Ok(false);
        }
        match name {
            "verify-read" => self.verify = true,
            "help" => self.help = true,
            "warningAsErrors" => self.remark(&option, Remark::WarningsAreFindings),
            _ if letter.is_some_and(|letter| WITHOUT_EFFECT.contains(letter)) => {
                if letter == Some('t') {
                    self.remark(&option, Remark::TreeNotTimed);
                }
            }
            _ => return self.with_value(&option, name, attached, rest).map(|()| true),
        }
        Ok(false)
    }

    fn with_value<'a>(
        &mut self,
        option: &str,
        name: &str,
        attached: Option<&str>,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), MdtestRefusal> {
        let refused = REFUSED.iter().find(|(known, ..)| *known == name);
        let refuse =
            |why: &str| MdtestRefusal(format!("mdtest's option {option} is not supported: {why}"));
        if let Some((_, "", why)) = refused {
            return Err(refuse(why));
        }
        let mut value = || {
            let value = attached.map(str::to_owned).or_else(|| rest.next().cloned());
            value.ok_or_else(|| MdtestRefusal(format!("mdtest's option {option} needs a value")))
        };
        if let Some((_, default, why)) = refused {
            return if value()? == *default { Ok(()) } else { Err(refuse(why)) };
        }
        if let Some((_, field)) = NUMBERS.iter().find(|(known, _)| *known == name) {
            let value = value()?;
            let number = if value == "0" { Some(0) } else { size(&value) };
            *field(self) = number.ok_or_else(|| {
                MdtestRefusal(format!("mdtest's option {option}: `{value}` is not a valid value"))
            })?;
            return Ok(());
        }
        match name {
            "a" if value()?.eq_ignore_ascii_case("POSIX") => {}
            "a" => return Err(refuse("qdepth uses POSIX: use -a POSIX")),
            "d" => self.directory = value()?,
            "x" => self.status_file = Some(value()?),
            "G" if whole(&value()?).is_none_or(|seed| seed >= 0) => {
                self.remark(option, Remark::PayloadIncompressible);
            }
            "G" => {}
            "dataPacketType" => {
                value()?;
                self.remark(option, Remark::PayloadIncompressible);
            }
            "print-all-procs"
            | "showRankStatistics"
            | "saveRankPerformanceDetails"
            | "savePerOpDataCSV" => {
                return Err(refuse("`qdepth report` and `qdepth export` have the details"));
            }
            _ => return Err(MdtestRefusal(format!("unknown option of mdtest: {option}"))),
        }
        Ok(())
    }

    fn remark(&mut self, option: &str, remark: Remark) {
        self.remarks.push((option.to_owned(), Remarked::from(remark)));
    }

    /// Applies the defaults, and checks the options together.
    fn complete(mut self) -> Result<Self, MdtestRefusal> {
        if self.help {
            return Ok(self);
        }
        if !(self.creates || self.stats || self.reads || self.removes) {
            (self.creates, self.stats, self.reads, self.removes) = (true, true, true, true);
        }
        // Only where there are files to read.
        self.reads &= !self.directories_only || self.files_only;
        let both = self.files_only == self.directories_only;
        (self.files_only, self.directories_only) = match both {
            true => (false, false),
            false => (self.files_only, self.directories_only),
        };
        if self.write_bytes == 0 && self.read_bytes == 0 {
            self.remarks.retain(|(_, said)| said.remark != Remark::PayloadIncompressible);
        }
        if !self.unique {
            self.remarks.retain(|(_, said)| said.remark != Remark::TreeNotTimed);
        }
        match self.conflict() {
            Some(why) => Err(MdtestRefusal(why.to_owned())),
            None => Ok(self),
        }
    }

    fn conflict(&self) -> Option<&'static str> {
        // A last part that no run recognises as its own data.
        let is_cut = |bytes: u64| (1..LEAST_BYTES as u64).contains(&(bytes % SECTOR_BYTES as u64));
        let later = self.stats || self.reads || self.removes;
        [
            (self.items == 0, "-n must be at least 1: use -n 1000"),
            (
                !(1..=u64::from(REPETITIONS_MAX)).contains(&self.iterations),
                "-i must be between 1 and 1000, because each repetition is a separate step",
            ),
            (
                self.delay_s.max(self.stonewall_s) > SECONDS_MAX,
                "-p and -W must be at most 86400 s, a day",
            ),
            (
                self.iterations > 1 && self.removes && !self.creates,
                "-r with -i: the first repetition removes all entries. Remove -i",
            ),
            (
                self.directory.contains('@') || self.directory.is_empty(),
                "-d must be one directory: run several separately",
            ),
            (
                self.write_bytes > u64::from(u32::MAX) || self.read_bytes > u64::from(u32::MAX),
                "-w and -e must be below 4 GiB: use qdepth ior for large files",
            ),
            (
                self.creates && self.reads && self.read_bytes > self.write_bytes,
                "-e must be at most -w, the size of the files",
            ),
            (
                is_cut(self.write_bytes) && (self.keeps() || self.verify),
                "-w: the last part of a file would be too short for the pattern by which a later \
                 run recognises its data: add 16 bytes",
            ),
            (
                is_cut(self.read_bytes) && self.verify && self.reads,
                "-e: the last part of the data would be too short for verification: add 16 bytes",
            ),
            (
                self.stonewall_s > 0 && self.creates && (later || !self.files_only),
                "-W ends the creation of files early, so later phases must know their number: run \
                 it with -F -C -x FILE, then -T, -E and -r with -x FILE in separate runs",
            ),
        ]
        .into_iter()
        .find_map(|(wrong, why)| wrong.then_some(why))
    }
}
