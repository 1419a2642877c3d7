//! Parser of configurations: keys, and the values below them.

use super::configuration::{Access, Cycle, Icf, IcfRefusal, Spec, Varied, Worker};

/// Ignored keys: display, recording, structure of the file, ends of lists.
const SHOWN: &[&str] = &[
    "test setup",
    "end",
    "results display",
    "record",
    "update frequency",
    "bar chart",
    "access specifications",
    "manager list",
    "manager network address",
    "default disk workers to spawn",
    "default network workers to spawn",
    "default workers to spawn",
    "default target settings",
    "target assignments",
    "target manager",
];

/// Parses a whole file.
pub(crate) fn read(text: &str) -> Result<Icf, IcfRefusal> {
    let mut reader = Reader::default();
    reader.icf.depths = Cycle { end: 32, step: 2, exponential: true, ..Cycle::default() };
    let text = text.trim_start_matches('\u{feff}');
    for (number, line) in text.lines().enumerate() {
        reader.line(number + 1, line)?;
    }
    if !reader.is_one {
        let what = "this is not an Iometer configuration: no line `Version …` or `'TEST SETUP`";
        return Err(IcfRefusal { line: 1, what: what.to_owned() });
    }
    Ok(reader.icf)
}

#[derive(Default)]
struct Reader {
    icf: Icf,
    /// Current key, in lower case.
    key: String,
    is_one: bool,
}

impl Reader {
    fn line(&mut self, line: usize, text: &str) -> Result<(), IcfRefusal> {
        let value = text.trim();
        if let Some(key) = value.strip_prefix('\'') {
            // A key after a space is a column heading.
            if !key.starts_with([' ', '\t']) {
                return self.begin(line, key);
            }
            return Ok(());
        }
        if value.to_ascii_lowercase().starts_with("version ") {
            self.is_one = true;
            return Ok(());
        }
        if value.is_empty() { Ok(()) } else { self.value(line, value) }
    }

    fn begin(&mut self, line: usize, key: &str) -> Result<(), IcfRefusal> {
        let key = key.trim_end_matches(['=', ' ']).to_ascii_lowercase();
        self.is_one |= key.starts_with("test setup") || key.starts_with("access spec");
        match key.as_str() {
            "worker" => self.icf.workers.push(Worker { line, ..Worker::default() }),
            "access specification name,default assignment" => {
                self.icf.specs.push(Spec { line, ..Spec::default() });
            }
            _ if key.starts_with("manager id") => self.icf.managers += 1,
            _ if key.starts_with("size,") && !self.key.starts_with("access specification name") => {
                // Of 1998: lines without a name.
                self.icf.specs.push(Spec { line, ..Spec::default() });
            }
            _ => {}
        }
        let known = [
            "test description",
            "run time",
            "ramp up time",
            "worker cycling",
            "disk cycling",
            "target cycling",
            "queue depth cycling",
            "test type",
            "size,",
            "access specification name",
            "manager id",
            "worker",
            "number of outstanding ios",
            "# of outstanding ios",
            "disk maximum size",
            "assigned access specs",
            "target",
        ];
        if !known.iter().chain(SHOWN).any(|known| key.starts_with(known)) {
            let what = format!("`'{key}` is not a known key");
            return Err(IcfRefusal { line, what });
        }
        self.key = key;
        Ok(())
    }

    fn value(&mut self, line: usize, value: &str) -> Result<(), IcfRefusal> {
        let bad =
            |what: &str| Err(IcfRefusal { line, what: format!("`{value}` is not a valid {what}") });
        let key = std::mem::take(&mut self.key);
        let icf = &mut self.icf;
        match key.as_str() {
            "test description" => icf.title = value.to_owned(),
            "run time" => match numbers(value).as_deref() {
                Some([hours, minutes, seconds]) => {
                    icf.seconds = (hours.saturating_mul(60).saturating_add(*minutes))
                        .saturating_mul(60)
                        .saturating_add(*seconds);
                }
                _ => return bad("run time: hours, minutes, seconds"),
            },
            "test type" => icf.varied = varied(line, value)?,
            "queue depth cycling" => match cycle(value, true) {
                Some(cycle) => icf.depths = cycle,
                None => return bad("cycle: start, end, step, LINEAR or EXPONENTIAL"),
            },
            "worker cycling" => match cycle(value, false) {
                Some(cycle) => icf.workers_cycle = cycle,
                None => return bad("cycle: start, step, LINEAR or EXPONENTIAL"),
            },
            "access specification name,default assignment" => {
                let name = value.rsplit_once(',').map_or(value, |(name, _)| name).trim();
                icf.specs.last_mut().into_iter().for_each(|spec| spec.name = name.to_owned());
            }
            _ if key.starts_with("ramp up time") => match numbers(value).as_deref() {
                Some([seconds]) => icf.ramp_up_s = *seconds,
                _ => return bad("ramp up time in seconds"),
            },
            _ if key.starts_with("size,") => {
                let access = access(line, value)?;
                icf.specs.last_mut().into_iter().for_each(|spec| spec.lines.push(access));
            }
            _ => self.of_worker(line, &key, value)?,
        }
        self.key = key;
        Ok(())
    }

    /// Sets a value of the last worker.
    fn of_worker(&mut self, line: usize, key: &str, value: &str) -> Result<(), IcfRefusal> {
        let Some(worker) = self.icf.workers.last_mut() else { return Ok(()) };
        let refused = |what: String| Err(IcfRefusal { line, what });
        let number = |index: usize| cells(value).get(index).and_then(|cell| cell.parse().ok());
        let enabled = |index: usize| {
            cells(value).get(index).is_some_and(|cell| cell.eq_ignore_ascii_case("enabled"))
        };
        match key {
            "worker" => worker.name = value.to_owned(),
            "worker type" | "target type" if !value.eq_ignore_ascii_case("disk") => {
                return refused(format!(
                    "`{value}` of worker `{}`: qdepth does not measure networks. Remove the worker \
                     from the file",
                    worker.name
                ));
            }
            "assigned access specs" => worker.specs.push((line, value.to_owned())),
            "target" => worker.targets.push(value.to_owned()),
            _ if key.contains("outstanding ios") => {
                let Some(queue_depth) = number(0) else {
                    return refused(format!("`{value}` is not a valid number of outstanding I/Os"));
                };
                worker.queue_depth = u32::try_from(queue_depth).unwrap_or(u32::MAX);
                if enabled(1) {
                    return refused(format!(
                        "worker `{}` reopens its target after a number of I/Os (test connection \
                         rate), which qdepth does not support: set it to DISABLED",
                        worker.name
                    ));
                }
                if enabled(3) {
                    worker.seed = number(4);
                }
            }
            _ if key.starts_with("disk maximum size") => {
                let (Some(sectors), Some(first)) = (number(0), number(1)) else {
                    return refused(format!(
                        "`{value}` is not a size in sectors and a first sector"
                    ));
                };
                (worker.sectors, worker.first_sector) = (sectors, first);
                worker.pattern = number(2).unwrap_or(0).try_into().unwrap_or(0);
            }
            _ => {}
        }
        Ok(())
    }
}

fn cells(value: &str) -> Vec<&str> {
    value.split(',').map(str::trim).collect()
}

/// Parses integers separated by spaces.
fn numbers(value: &str) -> Option<Vec<u64>> {
    value.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn cycle(value: &str, ends: bool) -> Option<Cycle> {
    let words: Vec<&str> = value.split_whitespace().collect();
    let (kind, numbers) = words.split_last()?;
    let numbers: Option<Vec<u32>> = numbers.iter().map(|word| word.parse().ok()).collect();
    let exponential = match kind.to_ascii_uppercase().as_str() {
        "LINEAR" => false,
        "EXPONENTIAL" => true,
        _ => return None,
    };
    match numbers?.as_slice() {
        [start, end, step] if ends => {
            Some(Cycle { start: *start, end: *end, step: *step, exponential })
        }
        [start, step] if !ends => {
            Some(Cycle { start: *start, step: *step, exponential, ..Cycle::default() })
        }
        _ => None,
    }
}

fn varied(line: usize, value: &str) -> Result<Varied, IcfRefusal> {
    let no = Varied::default();
    Ok(match value.to_ascii_uppercase().as_str() {
        "NORMAL" => no,
        "CYCLE_WORKERS" => Varied { workers: true, ..no },
        "CYCLE_OUTSTANDING_IOS" => Varied { queue_depth: true, ..no },
        "CYCLE_OUTSTANDING_IOS_AND_TARGETS" => Varied { queue_depth: true, targets: true, ..no },
        "CYCLE_TARGETS" => Varied { targets: true, ..no },
        "CYCLE_WORKERS_AND_TARGETS" => Varied { workers: true, targets: true, ..no },
        "INCREMENT_TARGETS_PARALLEL" | "INCREMENT_TARGETS_SERIAL" => {
            let what = format!(
                "`{value}` uses more targets from test to test: write one file per number, or use \
                 CYCLE_OUTSTANDING_IOS"
            );
            return Err(IcfRefusal { line, what });
        }
        _ => return Err(IcfRefusal { line, what: format!("`{value}` is not a test type") }),
    })
}

/// Parses `size,% of size,% reads,% random,delay,burst,align,reply`. Files of 1998 use spaces and
/// lack the last two values.
fn access(line: usize, value: &str) -> Result<Access, IcfRefusal> {
    let refused = |what: String| Err(IcfRefusal { line, what });
    let words: Vec<&str> = value.split([',', ' ', '\t']).filter(|word| !word.is_empty()).collect();
    let all: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    let Some(all) = all.filter(|all| (4..=8).contains(&all.len())) else {
        return refused(format!("`{value}` is not a line of an access specification"));
    };
    let at = |index: usize| all.get(index).copied().unwrap_or(0);
    let share = |index: usize| u32::try_from(at(index)).ok().filter(|share| *share <= 100);
    let (Some(weight), Some(read), Some(random)) = (share(1), share(2), share(3)) else {
        return refused(format!("`{value}`: percentages must be between 0 and 100"));
    };
    if at(7) > 0 {
        return refused(format!(
            "`{value}`: a reply of {} B needs a network, which qdepth does not measure: set it to \
             0",
            at(7)
        ));
    }
    if at(0) == 0 || u32::try_from(at(0)).is_err() {
        return refused(format!("`{value}`: {} B is not a valid block size", at(0)));
    }
    let burst = u32::try_from(at(5)).unwrap_or(u32::MAX);
    let (size, delay_ms, align) = (at(0), at(4), at(6));
    Ok(Access { size, share: weight, read, random, delay_ms, burst, align })
}
