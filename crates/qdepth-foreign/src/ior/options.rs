//! IOR's options, as its user guide lists them (ior.readthedocs.io, "Options"), read as its own
//! parser does: `-t 1m`, `-t1m`, `-t=1m`, flags in one word (`-wrk`), `-O name=value`, `--long`.

use super::{Ior, IorRefusal, Summary};

/// Options of one letter that take no value, and what they set.
const FLAGS: &str = "BCFKYZegkmruvwxzRWlcE";
/// Those that take one.
const VALUES: &str = "abdijoqstDGNOQTX";

impl Ior {
    /// Reads the words of a command line, without the program's name.
    ///
    /// # Errors
    /// [`IorRefusal`], which names the option.
    pub fn read(words: &[String]) -> Result<Self, IorRefusal> {
        let mut ior = Self { command_line: words.join(" "), ..Self::default() };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if let Some(long) = word.strip_prefix("--") {
                ior.long(long)?;
                continue;
            }
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                return Err(IorRefusal::Unknown(word.clone()));
            };
            ior.letters(letters, &mut rest)?;
        }
        ior.complete()
    }

    fn letters<'a>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), IorRefusal> {
        for (place, letter) in letters.char_indices() {
            if FLAGS.contains(letter) {
                self.flag(letter)?;
                continue;
            }
            let option = format!("-{letter}");
            if !VALUES.contains(letter) {
                return Err(IorRefusal::Unknown(option));
            }
            let attached = &letters[place + letter.len_utf8()..];
            let attached = attached.strip_prefix('=').unwrap_or(attached);
            let value = match attached {
                "" => rest.next().cloned().ok_or_else(|| IorRefusal::NoValue(option.clone()))?,
                attached => attached.to_owned(),
            };
            return self.value(&option, letter, &value);
        }
        Ok(())
    }

    fn flag(&mut self, letter: char) -> Result<(), IorRefusal> {
        let unsupported = |why| Err(IorRefusal::Unsupported(format!("-{letter}"), why));
        match letter {
            'B' => self.direct = true,
            'C' => self.reorder = true,
            'Z' => self.reorder_random = true,
            'F' => self.file_per_process = true,
            'Y' => self.fsync_each = true,
            'e' => self.fsync = true,
            'g' => self.barriers = true,
            'k' | 'K' => self.keep = true,
            'r' => self.reads = true,
            'w' => self.writes = true,
            'v' => self.verbose += 1,
            'z' => self.random = true,
            'R' => self.check_read = true,
            'W' => self.check_write = true,
            'E' => return unsupported("a file of somebody else would be overwritten"),
            'c' => {
                return unsupported("collective transfers are those of MPI-IO, and this is POSIX");
            }
            'l' => {
                return unsupported(
                    "what is written never compresses; --data of profiles says otherwise",
                );
            }
            'm' => return unsupported("a new set of files for each repetition would be kept"),
            'u' => return unsupported("give a directory for each process with -o a@b@c"),
            _ => return unsupported("it is of an older IOR"),
        }
        Ok(())
    }

    fn value(&mut self, option: &str, letter: char, value: &str) -> Result<(), IorRefusal> {
        let bad = || IorRefusal::Value(option.to_owned(), value.to_owned());
        let whole = || value.parse::<u32>().map_err(|_| bad());
        let unsupported = |why| Err(IorRefusal::Unsupported(option.to_owned(), why));
        match letter {
            'a' if value.eq_ignore_ascii_case("POSIX") => {}
            'a' => return unsupported("the backend is POSIX"),
            't' => self.transfer = size(value).ok_or_else(bad)?,
            'b' => self.block = size(value).ok_or_else(bad)?,
            's' => self.segments = whole()?,
            'i' => self.repetitions = whole()?,
            'N' => self.tasks = Some(whole()?),
            'Q' => self.task_offset = whole()?,
            'D' => self.deadline_s = whole()?,
            'G' | 'X' => self.seed = value.parse::<i64>().map_err(|_| bad())?.unsigned_abs(),
            'o' => self.files = value.split('@').map(str::to_owned).collect(),
            'O' => self.directives(value)?,
            'd' | 'j' | 'T' if value == "0" => {}
            'd' => return unsupported("repetitions follow each other without a delay"),
            'j' => return unsupported("ranks that lag are in the report"),
            _ => return unsupported("-D bounds the time of a phase"),
        }
        Ok(())
    }

    /// `-O name=value,name=value`.
    fn directives(&mut self, text: &str) -> Result<(), IorRefusal> {
        for directive in text.split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, "1"));
            let name = name.trim();
            let option = || format!("-O {name}");
            let bad = || IorRefusal::Value(option(), value.to_owned());
            let on = || match value.trim() {
                "1" => Ok(true),
                "0" => Ok(false),
                _ => Err(bad()),
            };
            match name.to_ascii_lowercase().as_str() {
                "useo_direct" => self.direct = on()?,
                "summaryfile" => self.summary_file = Some(value.to_owned()),
                "summaryformat" => {
                    self.summary = match value.to_ascii_lowercase().as_str() {
                        "default" => Summary::Default,
                        "json" => Summary::Json,
                        "csv" => Summary::Csv,
                        _ => return Err(bad()),
                    }
                }
                "fsync" => self.fsync = on()?,
                "keepfile" => self.keep = on()?,
                "filepreproc" | "fileperproc" => self.file_per_process = on()?,
                "reordertasks" | "reordertasksconstant" => self.reorder = on()?,
                "randomoffset" => self.random = on()?,
                "stonewallingwearout" if !on()? => {}
                "stonewallingwearout" => {
                    return Err(IorRefusal::Unsupported(
                        option(),
                        "a phase that -D ends stops every rank at that time",
                    ));
                }
                _ => return Err(IorRefusal::Unknown(option())),
            }
        }
        Ok(())
    }

    fn long(&mut self, long: &str) -> Result<(), IorRefusal> {
        match long {
            "posix.odirect" => self.direct = true,
            _ => return Err(IorRefusal::Unknown(format!("--{long}"))),
        }
        Ok(())
    }
}

/// Bytes as IOR writes them: a whole number, with k, m, g or t for powers of 1024.
fn size(text: &str) -> Option<u64> {
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
