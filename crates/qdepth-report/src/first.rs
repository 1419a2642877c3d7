//! Texts below the first numbers, after a measurement of a few seconds: the bottleneck from two
//! points by Little's law, for a terminal, in English.

use qdepth_measure::{Code, Finding, Severity};
use qdepth_record::{PointRecord, RunRecord};

use crate::number::{self, TimeUnit, in_prose};
use crate::presentation::Presentation;
use crate::view::{Load, Point, View};
use crate::words::{Lang, finding_text};

/// Texts below the first numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstWords {
    /// Bottleneck of each load that was measured at queue depth 1 and at a high one.
    pub limits: Vec<String>,
    /// Why grades are not better, if they could be.
    pub grades: Option<String>,
    /// Notes on the confidence interval, or why there is none.
    pub notes: Vec<String>,
}

/// Conclusions from the first numbers, one or two sentences each.
pub fn first_words(run: &RunRecord, points: &[PointRecord]) -> FirstWords {
    let presentation = Presentation::from(Lang::En);
    let view = View::new(run, points, None, &presentation);
    let known = |(_, point): (_, &Point<'_>)| point.main().interval.is_some();
    let mut notes = Vec::new();
    if view.points().any(known) {
        notes.push("The 95 % CI covers these seconds; slower drift is not included.".to_owned());
    }
    if !view.points().all(known) {
        let none = "No CI (–): the segments are too short to compute it.";
        notes.push(none.to_owned());
    }
    FirstWords {
        limits: view.swept().filter_map(|load| of_load(&view, load)).collect(),
        grades: grades(&view),
        notes,
    }
}

/// Length of the line of warnings. Warnings that do not fit are counted.
const LETTERS: usize = 80;

/// Titles of findings, each once: invalidating ones, then warnings; first those about data that did
/// not come from the storage.
fn grades(view: &View<'_>) -> Option<String> {
    let mut seen: Vec<&Finding> = Vec::new();
    for finding in view.points().flat_map(|(_, point)| &point.record.findings) {
        // The table has a mark and a note for it.
        let in_table = finding.code == Code::IntervalNotAvailable;
        if !in_table && !seen.iter().any(|known| known.code == finding.code) {
            seen.push(finding);
        }
    }
    let invalid = |finding: &&Finding| finding.severity == Severity::Invalid;
    let (wrong, mut remarks): (Vec<&Finding>, Vec<_>) = seen.into_iter().partition(invalid);
    let answers = |code| matches!(code, Code::NotDirect | Code::Buffered | Code::UnwrittenRead);
    remarks.sort_by_key(|finding| !answers(finding.code));
    // A first measurement cannot know the state of wear.
    let of_run =
        view.run.findings.iter().filter(|finding| finding.code != Code::MediumStateUnknown);
    let of_run: Vec<&Finding> = of_run.collect();
    let titles = |findings: &[&Finding]| {
        let title = |finding: &&Finding| finding_text(finding, Lang::En).title;
        findings.iter().map(title).collect::<Vec<_>>().join("; ")
    };
    let mut sentences = Vec::new();
    if !of_run.is_empty() {
        sentences.push(format!("Run: {}.", titles(&of_run)));
    }
    if !wrong.is_empty() {
        sentences.push(format!("Invalid (grade C): {}.", titles(&wrong)));
    }
    if !remarks.is_empty() {
        let line = |named: usize| {
            let more = match remarks.len() - named {
                0 => String::new(),
                more => format!("; {more} more"),
            };
            format!("Grade B: {}{more}.", titles(&remarks[..named]))
        };
        let fits = |named: &usize| line(*named).chars().count() <= LETTERS;
        let named = (1..=remarks.len()).rev().find(fits).unwrap_or(1);
        sentences.push(line(named));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn of_load(view: &View<'_>, load: &Load<'_>) -> Option<String> {
    let (few, many) = (load.points.first()?, load.points.last()?);
    let shares = Shares::new(Measured::from_point(few)?, Measured::from_point(many)?)?;
    // All of these loads only read; the table shows the read share.
    let title = load.title.split_once(',').map_or(&*load.title, |(title, _)| title);
    if !few.is_valid() || !many.is_valid() {
        let many = many.record.queue_depth;
        return Some(format!("{title}: no conclusion, as a point at QD 1 or {many} is invalid."));
    }
    let near = many.record.findings.iter().any(|found| found.code == Code::GeneratorCeiling);
    let mut sentence = format!("{title}: {}.", shares.sentence(many.record.queue_depth, near));
    // Bytes fill a link, so the load with the highest throughput counts.
    let moved = |point: &Point<'_>| point.summary.mib_per_s;
    let fastest = view.points().map(|(_, point)| moved(point)).fold(0.0, f64::max);
    let link = (load.points.iter().find(|point| moved(point) >= fastest))
        .and_then(|point| link(view, point));
    if let Some(link) = link {
        sentence.push(' ');
        sentence.push_str(&link);
    }
    Some(sentence)
}

/// Figures at one queue depth.
#[derive(Clone, Copy)]
struct Measured {
    queue_depth: u32,
    io_per_s: f64,
    mean_ns: f64,
}

impl Measured {
    fn from_point(point: &Point<'_>) -> Option<Self> {
        Some(Self {
            queue_depth: point.record.queue_depth,
            io_per_s: point.summary.io_per_s.value,
            mean_ns: point.latency().mean_ns?,
        })
    }
}

/// Split of a request's time, from the mean latencies at queue depth 1 and at a high queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    /// Mean latency at queue depth 1, nanoseconds.
    alone_ns: f64,
    /// Mean latency at the high queue depth, nanoseconds.
    among_ns: f64,
    /// Rate at the high queue depth, relative to that at queue depth 1.
    growth: f64,
}

/// Ratio of rates below which a rate falls, and above whose inverse it rises.
const FALLING: f64 = 0.95;

impl Shares {
    /// `None` unless the first is at queue depth 1, the second is not, and both have a rate.
    fn new(few: Measured, many: Measured) -> Option<Self> {
        let alone = few.queue_depth == 1 && many.queue_depth > 1;
        let measured = alone && few.io_per_s > 0.0 && many.io_per_s > 0.0;
        measured.then_some(Self {
            alone_ns: few.mean_ns,
            among_ns: many.mean_ns,
            growth: many.io_per_s / few.io_per_s,
        })
    }

    /// Time that a request waits for others at the high queue depth, nanoseconds.
    fn waiting_ns(self) -> f64 {
        (self.among_ns - self.alone_ns).max(0.0)
    }

    /// The sentence; `near` is true if the load generator is near its limit.
    fn sentence(self, all: u32, near: bool) -> String {
        let unit = TimeUnit::suiting([self.alone_ns, self.among_ns]);
        let time = |ns: f64| format!("{} {}", unit.write(ns), unit.symbol());
        let waiting = self.waiting_ns();
        let head = format!("{} at QD 1, {} at QD {all}", time(self.alone_ns), time(self.among_ns));
        if near {
            return format!("{head}: the load generator is near its limit");
        }
        if waiting <= 0.0 {
            return format!("{head}: no I/O waits for another; a higher QD would be faster");
        }
        if waiting <= self.alone_ns {
            let waiting = time(waiting);
            let limit = "limited by latency; a higher QD would be faster";
            return format!("{head}, {waiting} of it waiting: {limit}");
        }
        if self.growth < FALLING {
            return format!("{head}: fewer IOPS than at QD 1, so I/Os slow one another down");
        }
        if self.growth * FALLING < 1.0 {
            return format!("{head}: no more IOPS than at QD 1, so more I/Os only wait");
        }
        // By Little's law, the number of I/Os in service is the high rate times the time of a
        // single I/O.
        let at_work = (f64::from(all) * self.alone_ns / self.among_ns).max(1.0);
        let served = number::three_digits(at_work);
        format!("{head}: limited by the device (about {served} I/Os at a time), not by latency")
    }
}

/// Throughput as a share of the capacity of the target's link, if that is known.
fn link(view: &View<'_>, point: &Point<'_>) -> Option<String> {
    let target = view.run.target(point.record.target)?;
    let fact = target.facts.iter().find(|fact| fact.key == "link_limit_bytes_per_s")?;
    let carries: f64 = fact.value.as_ref().ok()?.parse().ok()?;
    let share = point.summary.mib_per_s * f64::from(1 << 20) / carries;
    Some(format!(
        "{} MiB/s is {:.0} % of the link's capacity ({}/s).",
        in_prose(&point.mib_per_s),
        share * 100.0,
        number::decimal_bytes(carries)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn reasons_for_a_grade_are_listed_once() {
        let mut run = fixture::run(1);
        let mut points = fixture::points(1);
        let grades = |run: &RunRecord, points: &[PointRecord]| first_words(run, points).grades;
        let text = |points: &[PointRecord]| grades(&run, points).unwrap_or_default();
        let remarks = [Code::Pressure, Code::Steal, Code::UnwrittenRead, Code::Pressure];
        for point in &mut points {
            point.findings = remarks.into_iter().map(Finding::remark).collect();
        }
        let doubted = text(&points);
        assert_eq!(doubted, "Grade B: Blocks were read that were never written; 2 more.");
        points[0].findings.push(Finding::invalid(Code::ImplausiblyFast));
        assert!(
            text(&points)
                .starts_with("Invalid (grade C): Too fast to be storage. Grade B: Blocks ")
        );
        for point in &mut points {
            point.findings = vec![Finding::remark(Code::IntervalNotAvailable)];
        }
        assert_eq!(text(&points), "");
        run.findings.push(Finding::remark(Code::SmallArea));
        let of_run = "Run: Smaller area than the standard.";
        assert_eq!(grades(&run, &points).as_deref(), Some(of_run));
    }

    fn at(queue_depth: u32, io_per_s: f64) -> Measured {
        Measured { queue_depth, io_per_s, mean_ns: f64::from(queue_depth) * 1e9 / io_per_s }
    }

    #[test]
    fn single_server_causes_waiting_at_higher_depth() {
        // A single server with a service time of 100 µs: 10,000 per second at any queue depth.
        let shares = Shares::new(at(1, 10_000.0), at(32, 10_000.0)).unwrap();
        assert!((shares.waiting_ns() - 31.0 * 100_000.0).abs() < 1e-3);
        let sentence = shares.sentence(32, false);
        assert!(sentence.contains("no more IOPS than at QD 1"), "{sentence}");
        // Four servers.
        let sentence = Shares::new(at(1, 10_000.0), at(32, 40_000.0)).unwrap().sentence(32, false);
        assert!(sentence.contains("about 4.00 I/Os at a time"), "{sentence}");
        assert!(sentence.contains("limited by the device"), "{sentence}");
    }

    #[test]
    fn falling_rate_is_not_explained_by_parallelism() {
        let sentence = Shares::new(at(1, 10_000.0), at(32, 7_000.0)).unwrap().sentence(32, false);
        assert!(sentence.contains("fewer IOPS than at QD 1"), "{sentence}");
        assert!(!sentence.contains("parallelism"), "{sentence}");
    }

    #[test]
    fn storage_without_queueing_is_limited_by_latency() {
        // 32 servers with 100 µs each.
        let sentence = Shares::new(at(1, 10_000.0), at(32, 320_000.0)).unwrap().sentence(32, false);
        assert!(sentence.contains("no I/O waits for another"), "{sentence}");
        // At two thirds of that rate, a third of the time is waiting.
        let sentence = Shares::new(at(1, 10_000.0), at(32, 213_333.0)).unwrap().sentence(32, false);
        assert!(sentence.contains("limited by latency"), "{sentence}");
    }

    #[test]
    fn busy_generator_is_named_instead_of_storage() {
        let sentence = Shares::new(at(1, 10_000.0), at(32, 10_000.0)).unwrap().sentence(32, true);
        assert!(sentence.ends_with("the load generator is near its limit"), "{sentence}");
    }

    #[test]
    fn no_statement_without_a_single_depth_measurement() {
        assert_eq!(Shares::new(at(2, 10_000.0), at(32, 10_000.0)), None);
        assert_eq!(Shares::new(at(1, 10_000.0), at(1, 10_000.0)), None);
        assert_eq!(Shares::new(at(1, 0.0), at(32, 10_000.0)), None);
    }
}
