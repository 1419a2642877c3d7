//! What a person at the terminal sees while things run. Everything goes to standard error; results
//! go to standard output.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use qdepth_record::RunEvent;

use crate::terminal;
use qdepth_lab::observer::{Observer, Preparing};
use qdepth_lab::words::{kept, long};

/// The terminal, or its absence.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: bool,
    quiet: bool,
    /// Whether the lines of events are the result.
    prints_events: bool,
    bar: RefCell<ProgressBar>,
    run: RefCell<Run>,
}

/// What is known of the run that is measured.
#[derive(Debug, Default)]
struct Run {
    emulated: bool,
    targets: Vec<String>,
    points: u32,
    planned_ns: u64,
    /// Points that have begun.
    begun: BTreeMap<u32, Begun>,
    /// The one that is shown.
    shown: u32,
}

#[derive(Debug)]
struct Begun {
    profile: String,
    outstanding: u32,
    step: String,
    target: u32,
    group: u32,
    /// Planned time of the run before its window begins, ns.
    before_ns: u64,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            quiet: false,
            prints_events: false,
            bar: RefCell::new(ProgressBar::hidden()),
            run: RefCell::default(),
        }
    }

    /// One that tells nothing, for programs that read what the standard error says.
    pub(crate) fn quiet() -> Self {
        Self { terminal: false, quiet: true, ..Self::new() }
    }

    /// One that prints the lines of events where that is asked: then nothing else is a result.
    pub(crate) fn printing_events(self, prints_events: bool) -> Self {
        Self { prints_events, ..self }
    }

    /// Where a run was kept.
    pub(crate) fn kept(&self, logbook: &Path, id: &str) {
        self.say(&kept(logbook, id));
    }

    /// A line for the person.
    pub(crate) fn say(&self, line: &str) {
        if !self.quiet {
            self.bar.borrow().suspend(|| terminal::say(line));
        }
    }

    fn begin(&self, bytes: Option<u64>, template: &str, what: &str) {
        let draw_target = if self.terminal {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(bytes, draw_target);
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(terminal::shown(what).into_owned());
        self.bar.replace(bar);
    }

    /// The point that its figures are shown of, and those beside it.
    fn show(&self, run: &mut Run, index: u32) {
        run.shown = index;
        let Some(point) = run.begun.get(&index) else { return };
        let what = match &*point.step {
            "" => format!("{} × {}", point.profile, point.outstanding),
            step => step.to_owned(),
        };
        let others = match run.begun.values().filter(|other| other.group == point.group).count() {
            1 => String::new(),
            loads => format!(" ({loads} loads)"),
        };
        let target = run.targets.get(point.target as usize).map_or("", String::as_str);
        let prefix = format!("point {}/{}  {what}{others}  {target}", index + 1, run.points);
        self.bar.borrow().set_prefix(terminal::shown(&prefix).into_owned());
    }

    /// Shows a slice of a point; of those that run at the same time, of the first.
    fn slice(&self, run: &mut Run, slice: &Slice) {
        let Some(point) = run.begun.get(&slice.point) else { return };
        let is_of_group = |(_, other): &(&u32, &Begun)| other.group == point.group;
        if run.begun.iter().find(is_of_group).is_some_and(|(first, _)| *first != slice.point) {
            return;
        }
        let at = point.before_ns + slice.end_ns;
        if run.shown != slice.point {
            self.show(run, slice.point);
        }
        let seconds = (slice.length_ns as f64 / 1e9).max(1e-9);
        let bar = self.bar.borrow();
        bar.set_position(at / 1_000_000);
        let left = Duration::from_nanos(run.planned_ns.saturating_sub(at)).as_secs();
        bar.set_message(format!(
            "{:.0} IO/s  {:.1} MiB/s  {:.3} ms  {}:{:02} left",
            slice.ios as f64 / seconds,
            slice.bytes as f64 / seconds / f64::from(1 << 20),
            slice.mean_ns / 1e6,
            left / 60,
            left % 60
        ));
    }
}

/// What an interval event tells.
struct Slice {
    point: u32,
    end_ns: u64,
    length_ns: u64,
    ios: u64,
    bytes: u64,
    mean_ns: f64,
}

impl Observer for Screen {
    fn event(&self, event: &RunEvent) {
        if self.prints_events {
            // Whoever reads may be gone: the measurement goes on.
            let _ = terminal::print_document(&event.line());
        }
        let run = &mut *self.run.borrow_mut();
        match event {
            RunEvent::RunStarted { targets, emulated, points, planned_ns, .. } => {
                let (emulated, points, planned_ns) = (*emulated, *points, *planned_ns);
                let targets = targets.clone();
                *run = Run { emulated, targets, points, planned_ns, ..Run::default() };
                self.say(&begins(event));
                self.begin(Some(planned_ns / 1_000_000), "{bar:24} {prefix}  {msg}", "");
            }
            RunEvent::PointStarted { point, planned_before_ns, .. } => {
                run.begun.extend(begun(event).map(|begun| (*point, begun)));
                self.bar.borrow().set_position(planned_before_ns / 1_000_000);
                let of_group = |begun: &Begun| {
                    run.begun.get(point).is_some_and(|started| started.group == begun.group)
                };
                let first = run.begun.iter().find(|(_, begun)| of_group(begun));
                let first = first.map_or(*point, |(first, _)| *first);
                self.show(run, first);
            }
            RunEvent::Interval {
                point,
                end_ns,
                length_ns,
                reads,
                writes,
                read_bytes,
                written_bytes,
                service_time_mean_ns,
            } => {
                let slice = Slice {
                    point: *point,
                    end_ns: *end_ns,
                    length_ns: *length_ns,
                    ios: reads + writes,
                    bytes: read_bytes + written_bytes,
                    mean_ns: service_time_mean_ns.unwrap_or(0.0),
                };
                self.slice(run, &slice);
            }
            RunEvent::PointEnded { point, .. } => {
                if let Some(line) = run.begun.get(point).and_then(|point| line(point, event)) {
                    let emulated = if run.emulated { "  EMULATED" } else { "" };
                    self.say(&format!("{line}{emulated}"));
                }
            }
            RunEvent::FindingRaised { .. } => {}
            RunEvent::RunEnded { .. } => self.bar.borrow().finish_and_clear(),
        }
    }

    fn preparing(&self, news: Preparing<'_>) {
        match news {
            Preparing::Filling { path, bytes } => {
                let what = format!("filling the measurement file in {}", path.display());
                self.begin(Some(bytes), TO_AN_END, &what);
            }
            Preparing::Preconditioning { step, bytes } => {
                let template = if bytes.is_some() { TO_AN_END } else { OPEN };
                self.begin(bytes, template, &format!("preconditioning: {step}"));
            }
            Preparing::Written(bytes) => self.bar.borrow().set_position(bytes),
            Preparing::Over => self.bar.borrow().finish_and_clear(),
        }
    }

    fn say(&self, line: &str) {
        Self::say(self, line);
    }

    fn warn(&self, line: &str) {
        self.bar.borrow().suspend(|| terminal::say(line));
    }

    fn ask(&self, question: &str) -> Option<String> {
        if !self.terminal || !std::io::stdin().is_terminal() {
            return None;
        }
        terminal::ask(question);
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).ok()?;
        Some(answer.trim().to_owned())
    }
}

const TO_AN_END: &str =
    "{msg} {bar:30} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}";
const OPEN: &str = "{msg} {binary_bytes}, {binary_bytes_per_sec}";

/// What is about to be measured.
fn begins(event: &RunEvent) -> String {
    let RunEvent::RunStarted {
        plan,
        plan_hash,
        emulated,
        points,
        planned_ns,
        seed,
        may_end_early,
        ..
    } = event
    else {
        return String::new();
    };
    format!(
        "plan {plan} ({}), {}, {}{}{}, seed {seed}",
        plan_hash.get(..12).unwrap_or(plan_hash),
        counted(*points as usize),
        if *may_end_early { "at most " } else { "" },
        long(*planned_ns),
        if *emulated { VIRTUAL } else { " in all" },
    )
}

fn begun(event: &RunEvent) -> Option<Begun> {
    let RunEvent::PointStarted {
        profile_title,
        outstanding,
        step,
        target,
        group,
        planned_before_ns,
        warm_up_ns,
        ..
    } = event
    else {
        return None;
    };
    Some(Begun {
        profile: profile_title.clone(),
        outstanding: *outstanding,
        step: step.clone(),
        target: *target,
        group: *group,
        before_ns: planned_before_ns + warm_up_ns,
    })
}

/// A point that has ended.
fn line(point: &Begun, event: &RunEvent) -> Option<String> {
    let RunEvent::PointEnded { io_per_s, mib_per_s, service_time_mean_ns, grade, .. } = event
    else {
        return None;
    };
    let what = match &*point.step {
        "" => format!("{:<12} × {:<4}", point.profile, point.outstanding),
        step => format!("{:<12} {step}", point.profile),
    };
    let ms = service_time_mean_ns.unwrap_or(0.0) / 1e6;
    Some(format!("{what} {io_per_s:>10.0} IO/s {mib_per_s:>9.1} MiB/s {ms:>9.3} ms  {grade}"))
}

/// Behind a time that is a medium's.
pub(crate) const VIRTUAL: &str = " of virtual time, which passes faster than yours";

/// `1 point`, `30 points`.
pub(crate) fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}
