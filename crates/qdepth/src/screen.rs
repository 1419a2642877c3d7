//! What a person at the terminal sees while things run. Everything goes to standard error; results
//! go to standard output.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use qdepth_record::event::{Interval, PointEnded, PointStarted, RunEvent, RunStarted};

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
    started: Option<RunStarted>,
    /// Points that have begun.
    begun: BTreeMap<u32, PointStarted>,
    /// The one that is shown.
    shown: u32,
}

impl Run {
    /// The first of the points that run at the same time as this one.
    fn first_beside(&self, point: &PointStarted) -> u32 {
        let beside = self.begun.values().find(|other| other.group == point.group);
        beside.map_or(point.point, |first| first.point)
    }
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
        let (Some(started), Some(point)) = (&run.started, run.begun.get(&index)) else { return };
        let what = match &*point.step {
            "" => format!("{} × {}", point.profile_title, point.outstanding),
            step => step.to_owned(),
        };
        let others = match run.begun.values().filter(|other| other.group == point.group).count() {
            1 => String::new(),
            loads => format!(" ({loads} loads)"),
        };
        let target = started.targets.get(point.target as usize).map_or("", String::as_str);
        let prefix = format!("point {}/{}  {what}{others}  {target}", index + 1, started.points);
        self.bar.borrow().set_prefix(terminal::shown(&prefix).into_owned());
    }

    /// Shows an interval of a point; of those that run at the same time, of the first.
    fn interval(&self, run: &mut Run, interval: &Interval) {
        let Some(point) = run.begun.get(&interval.point) else { return };
        if run.first_beside(point) != interval.point {
            return;
        }
        let at = point.window_at_ns() + interval.end_ns;
        if run.shown != interval.point {
            self.show(run, interval.point);
        }
        let planned_ns = run.started.as_ref().map_or(0, |started| started.planned_ns);
        let bar = self.bar.borrow();
        bar.set_position(at / 1_000_000);
        let left = Duration::from_nanos(planned_ns.saturating_sub(at)).as_secs();
        bar.set_message(format!(
            "{:.0} IO/s  {:.1} MiB/s  {:.3} ms  {}:{:02} left",
            interval.io_per_s().iter().sum::<f64>(),
            interval.bytes_per_s().iter().sum::<f64>() / f64::from(1 << 20),
            interval.service_time_mean_ns.unwrap_or(0.0) / 1e6,
            left / 60,
            left % 60
        ));
    }
}

impl Observer for Screen {
    fn event(&self, event: &RunEvent) {
        if self.prints_events {
            // Whoever reads may be gone: the measurement goes on.
            let _ = terminal::print_document(&event.line());
        }
        let run = &mut *self.run.borrow_mut();
        match event {
            RunEvent::RunStarted(started) => {
                self.say(&begins(started));
                self.begin(Some(started.planned_ns / 1_000_000), "{bar:24} {prefix}  {msg}", "");
                *run = Run { started: Some(started.clone()), ..Run::default() };
            }
            RunEvent::PointStarted(point) => {
                run.begun.insert(point.point, point.clone());
                self.bar.borrow().set_position(point.planned_before_ns / 1_000_000);
                let first = run.first_beside(point);
                self.show(run, first);
            }
            RunEvent::Interval(interval) => self.interval(run, interval),
            RunEvent::PointEnded(ended) => {
                if let Some(point) = run.begun.get(&ended.point) {
                    let is_emulated = run.started.as_ref().is_some_and(|run| run.emulated);
                    let emulated = if is_emulated { "  EMULATED" } else { "" };
                    self.say(&format!("{}{emulated}", line(point, ended)));
                }
            }
            RunEvent::FindingRaised(_) => {}
            RunEvent::RunEnded(_) => self.bar.borrow().finish_and_clear(),
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
fn begins(run: &RunStarted) -> String {
    format!(
        "plan {} ({}), {}, {}{}{}, seed {}",
        run.plan,
        run.plan_hash.get(..12).unwrap_or(&run.plan_hash),
        counted(run.points as usize),
        if run.may_end_early { "at most " } else { "" },
        long(run.planned_ns),
        if run.emulated { VIRTUAL } else { " in all" },
        run.seed,
    )
}

/// A point that has ended.
fn line(point: &PointStarted, ended: &PointEnded) -> String {
    let PointStarted { profile_title, outstanding, .. } = point;
    let what = match &*point.step {
        "" => format!("{profile_title:<12} × {outstanding:<4}"),
        step => format!("{profile_title:<12} {step}"),
    };
    let PointEnded { io_per_s, mib_per_s, grade, .. } = ended;
    let ms = ended.service_time_mean_ns.unwrap_or(0.0) / 1e6;
    format!("{what} {io_per_s:>10.0} IO/s {mib_per_s:>9.1} MiB/s {ms:>9.3} ms  {grade}")
}

/// Behind a time that is a medium's.
pub(crate) const VIRTUAL: &str = " of virtual time, which passes faster than yours";

/// `1 point`, `30 points`.
pub(crate) fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}
