//! What limits a storage that was looked at for a few seconds: said beside the first numbers, for a
//! terminal, in English. It says what follows from two points by Little's law, and no more.

use qdepth_measure::{Code, Severity};
use qdepth_record::{PointRecord, RunRecord};

use crate::Telling;
use crate::number::{self, TimeUnit, in_prose};
use crate::view::{Load, Point, View};
use crate::words::{Lang, finding_text};

/// A sentence for each load that was measured at one and at many outstanding I/Os: what keeps it
/// from more. Before them what makes all of the figures doubtful, if anything does.
pub fn limits(run: &RunRecord, points: &[PointRecord]) -> Vec<String> {
    let telling = Telling::from(Lang::En);
    let view = View::new(run, points, None, &telling);
    let mut said: Vec<String> = doubts(&view);
    let known = |(_, point): (_, &Point<'_>)| point.main().interval.is_some();
    if view.points().any(known) {
        let of_these = "± 95 % is of these seconds, by how visits to a load in turn with the others \
                        differ: what changes more slowly is not in it.";
        said.push(of_these.to_owned());
    }
    if !view.points().all(known) {
        let none = "A – in place of an interval: a visit was too short for its requests to tell how \
                    far the rate may be off.";
        said.push(none.to_owned());
    }
    said.extend(view.swept().filter_map(|load| of_load(&view, load)));
    said
}

/// Each doubt that makes figures invalid, once.
fn doubts(view: &View<'_>) -> Vec<String> {
    let of_points = view.points().flat_map(|(_, point)| &point.record.findings);
    let mut seen: Vec<Code> = Vec::new();
    let mut said = Vec::new();
    for finding in view.run.findings.iter().chain(of_points) {
        let weighs = finding.severity == Severity::Invalid
            || matches!(finding.code, Code::NotDirect | Code::Buffered | Code::UnwrittenRead);
        if weighs && !seen.contains(&finding.code) {
            seen.push(finding.code);
            let text = finding_text(finding, Lang::En);
            said.push(format!("{}: {}", text.title, text.explanation));
        }
    }
    said
}

fn of_load(view: &View<'_>, load: &Load<'_>) -> Option<String> {
    let (few, many) = (load.points.first()?, load.points.last()?);
    let shares = Shares::of(
        (few.record.outstanding, few.summary.io_per_s.value),
        (many.record.outstanding, many.summary.io_per_s.value),
    )?;
    let mut said = format!("{}: {}.", load.title, shares.told(many.record.outstanding));
    for more in [ceiling(many), link(view, many)].into_iter().flatten() {
        said.push(' ');
        said.push_str(&more);
    }
    Some(said)
}

/// Where the time of a request goes, from the rate at one outstanding I/O and at many. Little's law:
/// outstanding I/Os are rate times time, so the times are `1 / rate` and `outstanding / rate`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    /// Time of a request that is alone, nanoseconds.
    alone_ns: f64,
    /// Time of one among many, nanoseconds.
    among_ns: f64,
}

impl Shares {
    /// None where the first is not alone, the second is, or nothing was measured.
    fn of((one, low): (u32, f64), (all, high): (u32, f64)) -> Option<Self> {
        let measured = one == 1 && all > 1 && low > 0.0 && high > 0.0;
        measured.then(|| Self { alone_ns: 1e9 / low, among_ns: f64::from(all) * 1e9 / high })
    }

    /// Time for which a request among many waits for others, nanoseconds.
    fn waiting_ns(self) -> f64 {
        (self.among_ns - self.alone_ns).max(0.0)
    }

    fn told(self, all: u32) -> String {
        let unit = TimeUnit::suiting([self.alone_ns, self.among_ns]);
        let time = |ns: f64| format!("{} {}", unit.write(ns), unit.symbol());
        let waiting = self.waiting_ns();
        let head = format!(
            "a read alone takes {}, with {all} outstanding {}",
            time(self.alone_ns),
            time(self.among_ns)
        );
        if waiting <= 0.0 {
            return format!("{head}: none waits for another, and more at a time would give more");
        }
        // By the same law: as many are at work as the rate at many times the time of one alone.
        let at_work = f64::from(all) * self.alone_ns / self.among_ns;
        // Fewer than one at a time says only that many at once slow one another down.
        let served = match at_work {
            ..1.0 => String::new(),
            _ => format!(" (about {} are served at a time)", number::three_digits(at_work)),
        };
        let split = format!("{head}, of which {} is waiting for others{served}", time(waiting));
        // Which of the two is the larger part.
        if waiting > self.alone_ns {
            format!("{split}: the rate at {all} is limited by what serves them, not by latency")
        } else {
            format!("{split}: latency is the limit, and more at a time would give more")
        }
    }
}

/// What the generator could do at best, where that is near.
fn ceiling(point: &Point<'_>) -> Option<String> {
    let of = |finding: &&qdepth_measure::Finding| finding.code == Code::GeneratorCeiling;
    let found = point.record.findings.iter().find(of)?;
    let text = finding_text(found, Lang::En);
    Some(text.explanation)
}

/// The rate as a share of what the link of the target carries, where that is known.
fn link(view: &View<'_>, point: &Point<'_>) -> Option<String> {
    let target = view.run.targets.iter().find(|target| target.index == point.record.target)?;
    let fact = target.facts.iter().find(|fact| fact.key == "link_limit_bytes_per_s")?;
    let carries: f64 = fact.value.as_ref().ok()?.parse().ok()?;
    let share = point.summary.mib_per_s * f64::from(1 << 20) / carries;
    Some(format!(
        "{} MiB/s is {:.0} % of what its link carries ({}/s).",
        in_prose(&point.mib_per_s),
        share * 100.0,
        number::decimal_bytes(carries)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_that_serves_one_at_a_time_makes_the_others_wait() {
        // A single server of 100 µs: 10,000 a second, however many ask.
        let shares = Shares::of((1, 10_000.0), (32, 10_000.0)).unwrap();
        assert!((shares.waiting_ns() - 31.0 * 100_000.0).abs() < 1e-3);
        let said = shares.told(32);
        assert!(said.contains("about 1.00 are served at a time"), "{said}");
        assert!(said.contains("limited by what serves them"), "{said}");
    }

    #[test]
    fn fewer_than_one_at_a_time_is_no_number_of_servers() {
        let said = Shares::of((1, 10_000.0), (32, 7_000.0)).unwrap().told(32);
        assert!(said.contains("with 32 outstanding"), "{said}");
        assert!(!said.contains("are served at a time"), "{said}");
    }

    #[test]
    fn a_storage_without_queues_is_limited_by_latency() {
        // 32 servers of 100 µs each.
        let said = Shares::of((1, 10_000.0), (32, 320_000.0)).unwrap().told(32);
        assert!(said.contains("none waits for another"), "{said}");
        // Half as fast again: a third of the time is waiting.
        let said = Shares::of((1, 10_000.0), (32, 213_333.0)).unwrap().told(32);
        assert!(said.contains("latency is the limit"), "{said}");
    }

    #[test]
    fn nothing_is_said_of_what_was_not_measured_alone() {
        assert_eq!(Shares::of((2, 10_000.0), (32, 10_000.0)), None);
        assert_eq!(Shares::of((1, 10_000.0), (1, 10_000.0)), None);
        assert_eq!(Shares::of((1, 0.0), (32, 10_000.0)), None);
    }
}
