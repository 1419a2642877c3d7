//! I/O priorities of a job, and of shares of its requests.

use qdepth_workload::{OtherPriority, Priorities, Priority, PriorityClass, Way};

use super::OptionReader;
use crate::fio::number::{Base, size};
use crate::fio::refusal::FioRefusal;
use crate::fio::values::{Engine, by_direction, percentage};

fn class(text: &str) -> Result<PriorityClass, String> {
    match text {
        "1" => Ok(PriorityClass::Realtime),
        "2" => Ok(PriorityClass::BestEffort),
        "3" => Ok(PriorityClass::Idle),
        _ => Err(format!("class `{text}`: must be 1, 2 or 3")),
    }
}

fn level(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(level @ 0..=7) => Ok(level),
        _ => Err(format!("`{text}`: must be between 0 and 7")),
    }
}

/// Parses `64k/25` or `64k/25/1/0`: a size, a share of its requests, their class and level.
fn of_size(text: &str, usual: Priority, base: Base) -> Result<(u32, f64, Priority), String> {
    let fields: Vec<&str> = text.split('/').collect();
    let (bytes, part, priority) = match *fields.as_slice() {
        [bytes, part] => (bytes, part, usual),
        // The hint after them is ignored with a remark.
        [bytes, part, class_text, at] | [bytes, part, class_text, at, _] => {
            (bytes, part, Priority { class: class(class_text)?, level: level(at)? })
        }
        _ => return Err(format!("`{text}`: use for example 64k/25 or 64k/25/1/0")),
    };
    let bytes = u32::try_from(size(bytes, base)?)
        .map_err(|_| format!("`{text}`: the size is too large"))?;
    Ok((bytes, percentage(part)?, priority))
}

/// Values for reads and writes; trims have no priority.
fn both<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<[T; 2], String> {
    let [reads, writes, _] = by_direction(text, parse)?;
    Ok([reads, writes])
}

impl OptionReader<'_> {
    /// Priorities from `prio`, `prioclass` and `cmdprio…`.
    pub(in crate::fio) fn priorities(
        &self,
        engine: Engine,
    ) -> Result<Option<Priorities>, FioRefusal> {
        let of_class = |text: &str| if text == "0" { Ok(None) } else { class(text).map(Some) };
        let asked = self.value("prioclass", None, of_class);
        // As in fio, a level without a class is best effort.
        let asked = asked.or(self.get("prio").map(|_| PriorityClass::BestEffort));
        let level_of = self.value("prio", 0, level);
        let usual = asked.map(|class| Priority { class, level: level_of });
        let others = self.other_priorities()?;
        if !others.is_empty() && !engine.has_priorities() {
            let name = ["cmdprio_bssplit", "cmdprio_percentage"];
            let name = name.into_iter().find(|name| self.get(name).is_some()).unwrap_or_default();
            return Err(self.refuse(name, "refused: as in fio, only with libaio and io_uring"));
        }
        let any = usual.is_some() || !others.is_empty();
        Ok(any.then_some(Priorities { usual, others }))
    }

    fn other_priorities(&self) -> Result<Vec<OtherPriority>, FioRefusal> {
        let highest = [PriorityClass::Realtime; 2];
        let classes = self.value("cmdprio_class", highest, |text| both(text, class));
        let levels = self.value("cmdprio", [0; 2], |text| both(text, level));
        let ways = [Way::Reads, Way::Writes];
        let usual = |way: usize| Priority { class: classes[way], level: levels[way] };
        let shares = self.value("cmdprio_percentage", [0.0; 2], |text| both(text, percentage));
        let split = |text: &str| {
            let (reads, writes) = text.split_once(',').unwrap_or((text, text));
            let mut all = Vec::new();
            for (way, list) in [reads, writes].into_iter().enumerate() {
                for part in list.split(':').map(str::trim).filter(|part| !part.is_empty()) {
                    let (bytes, share, priority) = of_size(part, usual(way), self.base)?;
                    all.push((ways[way], Some(bytes), share, priority));
                }
            }
            Ok(all)
        };
        let mut all = self.value("cmdprio_bssplit", Vec::new(), split);
        if !all.is_empty() && shares.iter().any(|share| *share > 0.0) {
            let why = "refused: as in fio, not together with cmdprio_percentage=";
            return Err(self.refuse("cmdprio_bssplit", why));
        }
        all.extend((0..2).map(|way| (ways[way], None, shares[way], usual(way))));
        let other =
            |(way, size_bytes, share, priority)| OtherPriority { way, size_bytes, share, priority };
        Ok(all.into_iter().map(other).filter(|other| other.share > 0.0).collect())
    }
}
