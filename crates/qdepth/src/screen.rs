//! Progress display for the user. Everything goes to standard error; results go to standard output.

use std::cell::RefCell;
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use qdepth_lab::events::observer::{Observer, RecordedIo};
use qdepth_lab::request::words::{format_duration, run_location};
use qdepth_measure::{Bytes, Code, Finding, Instant};
use qdepth_record::event::{
    FindingRaised, Phase, PhaseStarted, PointEnded, PointStarted, RunEvent, RunStarted,
};
use qdepth_report::{Lang, finding_text, phase_text};
use qdepth_workload::Point;

use crate::flags::RunOptions;
use crate::terminal::{self, Region};

mod lines;
mod live;
#[cfg(test)]
mod tests;

use lines::{Size, lines, load, number, target_among, variant_suffix};
use live::Live;

/// Interval for redrawing the live lines.
const DRAWN_EVERY: Duration = Duration::from_millis(500);

/// Display of a run's progress on standard error, live or as plain lines.
#[derive(Debug)]
pub(crate) struct Screen {
    quiet: bool,
    /// True if events leave no lines, because the run takes seconds and prints everything at its
    /// end.
    leaves_no_lines: bool,
    /// True if lines are appended instead of redrawn in place.
    is_plain: bool,
    /// True if points and findings appear only live, because a table lists them at the end.
    has_table: bool,
    /// True if events are printed to standard output as the result.
    prints_events: bool,
    /// First error of printing an event.
    unprinted: RefCell<Option<anyhow::Error>>,
    shown: Arc<Shown>,
    ticker: RefCell<Option<Ticker>>,
}

/// State shared by the redrawing thread and the observer.
#[derive(Debug)]
struct Shown {
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    live: Live,
    region: Region,
}

impl Shown {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(qdepth_linux::now().since(self.began).0)
    }
}

impl State {
    /// Redraws the live lines below `above`, which is printed permanently.
    fn draw(&mut self, above: &[String], now: Duration) {
        let (width, height) = terminal::size();
        // Keeps the last column free: terminals differ in when they wrap after it.
        let size = Size { width: width.saturating_sub(1).max(1), height };
        let lines = lines(&self.live, now, size);
        let above: Vec<String> =
            above.iter().flat_map(|line| terminal::wrap(line, size.width)).collect();
        self.region.draw(&above, &lines, width);
    }
}

/// Thread that redraws the live lines every `DRAWN_EVERY` until it is dropped.
#[derive(Debug)]
struct Ticker {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(shown: Arc<Shown>) -> Self {
        let (end, ended) = channel::<()>();
        let tick = move || {
            while ended.recv_timeout(DRAWN_EVERY) == Err(RecvTimeoutError::Timeout) {
                shown.state().draw(&[], shown.now());
            }
        };
        let thread = std::thread::Builder::new().name("screen".to_owned()).spawn(tick);
        // If no thread can be started, the lines change with events only.
        Self { end: Some(end), thread: thread.ok() }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.end.take());
        self.thread.take().map(JoinHandle::join);
    }
}

impl Screen {
    pub(crate) fn new() -> Self {
        let shown = Shown { began: qdepth_linux::now(), state: Mutex::default() };
        Self {
            quiet: false,
            leaves_no_lines: false,
            is_plain: !terminal::is_drawn_on(),
            has_table: false,
            prints_events: false,
            unprinted: RefCell::default(),
            shown: Arc::new(shown),
            ticker: RefCell::default(),
        }
    }

    /// Screen that prints nothing but warnings, for callers that parse standard error.
    pub(crate) fn quiet() -> Self {
        let mut screen = Self::new();
        (screen.quiet, screen.is_plain) = (true, true);
        screen
    }

    /// Screen whose live lines disappear at the end, for a run of a few seconds.
    pub(crate) fn passing() -> Self {
        let mut screen = Self::new();
        screen.leaves_no_lines = true;
        screen
    }

    /// Screen that the options of a run select.
    pub(crate) fn from_options(options: &RunOptions) -> Self {
        let mut screen = Self::new();
        screen.is_plain |= options.plain || options.quiet;
        screen.quiet = options.quiet;
        // Events replace every other output.
        screen.prints_events = options.prints_events_alone();
        let has_table = !screen.prints_events && !options.json && options.repeat.is_none();
        screen.has_table = has_table && !screen.is_plain && std::io::stdout().is_terminal();
        screen
    }

    /// Prints where a run was stored.
    pub(crate) fn print_run_location(&self, logbook: &Path, id: &str) {
        self.print_line(&run_location(logbook, id));
    }

    /// Prints a line unless the screen is quiet.
    pub(crate) fn print_line(&self, line: &str) {
        if !self.quiet {
            self.print_above(line);
        }
    }

    fn print_above(&self, line: &str) {
        if self.is_plain {
            terminal::print_line(line);
        } else {
            let line = terminal::in_commands(line).into_owned();
            self.shown.state().draw(&[line], self.shown.now());
        }
    }

    /// Applies a change to the live state, and starts redrawing.
    fn apply(&self, change: impl FnOnce(&mut Live, Duration)) {
        let now = self.shown.now();
        let mut state = self.shown.state();
        change(&mut state.live, now);
        if !self.is_plain && self.ticker.borrow().is_none() {
            self.ticker.replace(Some(Ticker::start(Arc::clone(&self.shown))));
        }
    }

    /// Prints the pending points and findings permanently, because no table will list them.
    fn flush_messages(&self) {
        let messages = std::mem::take(&mut self.shown.state().live.messages);
        messages.iter().for_each(|line| self.print_line(line));
    }

    /// Stops redrawing and clears the live lines.
    fn stop_drawing(&self) {
        self.ticker.take();
        if !self.is_plain {
            self.shown.state().draw(&[], self.shown.now());
        }
    }

    /// Permanent lines of an event, if it has any; in plain mode also the start of a point.
    fn lines_of(&self, event: &RunEvent) -> Option<String> {
        if let RunEvent::VariantStarted(variant) = event {
            return Some(format!("variant    {}, on {}", variant.name, variant.target));
        }
        if let RunEvent::PhaseStarted(started) = event {
            return phase_line(started);
        }
        // Without live lines, one line must explain what takes these seconds.
        if self.leaves_no_lines && !(self.is_plain && matches!(event, RunEvent::RunStarted(_))) {
            return None;
        }
        let state = self.shown.state();
        let begun = |point: u32| state.live.begun.get(&point);
        let points = state.live.run.as_ref().map_or(0, |run| run.points);
        let on = |point: &PointStarted| {
            let target = target_among(&state.live, point);
            target.map_or_else(String::new, |target| format!(", {target}"))
        };
        match event {
            // The run that combines all variants has nothing left to measure.
            RunEvent::RunStarted(run) if run.points_done == run.points => None,
            RunEvent::RunStarted(run) => Some(begins(run)),
            RunEvent::PointStarted(point) if self.is_plain && !state.live.is_emulated() => {
                Some(measures(point, &on(point), points))
            }
            RunEvent::PointEnded(ended) => begun(ended.point).map(|point| {
                let emulated = if state.live.is_emulated() { "  EMULATED" } else { "" };
                format!("{}{emulated}", line(point, &on(point), ended))
            }),
            // A warning is printed for the first point only: the grades show where it recurs.
            RunEvent::FindingRaised(finding)
                if finding.severity == "remark" && state.live.remarked.contains(&finding.code) =>
            {
                None
            }
            RunEvent::FindingRaised(finding) => {
                let point = finding.point.and_then(begun);
                let about = point.map(|point| load(point) + &on(point));
                Some(finding_line(finding, about.as_deref().unwrap_or("the run")))
            }
            _ => None,
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A failed run may have pending lines.
        self.flush_messages();
        self.shown.state().live = Live::default();
        self.stop_drawing();
        if let Some(why) = self.unprinted.take() {
            self.print_above(&format!(
                "--events: lines are missing ({why:#}); the run is not affected"
            ));
        }
    }
}

impl Observer for Screen {
    fn event(&self, event: &RunEvent) {
        if self.prints_events {
            // A reader that has exited must not end the measurement.
            if let Err(error) = terminal::print_raw(&event.line()) {
                self.unprinted.borrow_mut().get_or_insert(error);
            }
        }
        if let RunEvent::Message(message) = event {
            return match message.is_warning {
                true => self.print_above(&message.text),
                false => self.print_line(&message.text),
            };
        }
        let line = self.lines_of(event);
        if matches!(event, RunEvent::RunEnded(ended) if ended.state == "failed") {
            self.flush_messages();
        }
        self.apply(|live, now| live.apply(event, now));
        let passes = matches!(event, RunEvent::PointEnded(_) | RunEvent::FindingRaised(_));
        match line {
            Some(line) if self.has_table && passes => self.apply(|live, _| live.print_above(line)),
            Some(line) => self.print_line(&line),
            None => {}
        }
        if matches!(event, RunEvent::PhaseEnded(_) | RunEvent::RunEnded(_)) {
            self.stop_drawing();
        }
    }

    fn wants_ios(&self) -> bool {
        false
    }

    fn ios(&self, _: &Point, _: Vec<RecordedIo>) {}

    fn ask(&self, question: &str) -> Option<String> {
        if !std::io::stderr().is_terminal() || self.quiet || !std::io::stdin().is_terminal() {
            return None;
        }
        // The lock on the state pauses redrawing while the user types.
        let mut state = self.shown.state();
        state.region.draw(&[], &[], terminal::size().0);
        terminal::ask(question);
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).ok()?;
        Some(answer.trim().to_owned())
    }
}

/// Permanent line of a phase; filling files has only live lines.
fn phase_line(started: &PhaseStarted) -> Option<String> {
    let step = phase_text(Lang::En, started);
    match (started.phase, started.bytes) {
        (Phase::Preparation, _) => Some(format!("prepare    {step}")),
        (Phase::Provisioning, _) => None,
        (Phase::Preconditioning, None) => Some(format!("precondition  {step}")),
        (Phase::Preconditioning, Some(bytes)) => {
            Some(format!("precondition  {step}, {} in total", Bytes(bytes)))
        }
    }
}

/// Message at the start of a run.
fn begins(run: &RunStarted) -> String {
    let search =
        run.search_ns.map(|ns| format!(", then a search of at most {}", format_duration(ns)));
    format!(
        "plan {} ({}), {}, {}{}{}{}, seed {}",
        run.plan,
        run.plan_hash.get(..12).unwrap_or(&run.plan_hash),
        counted(run.points as usize),
        if run.may_end_early { "at most " } else { "" },
        format_duration(run.planned_ns),
        if run.emulated { VIRTUAL } else { " in all" },
        search.unwrap_or_default(),
        run.seed,
    )
}

/// Load, padded so that a list of points is aligned.
fn what(point: &PointStarted, on: &str) -> String {
    let PointStarted { profile_title, queue_depth, .. } = point;
    let load = match &*point.step {
        "" => format!("{profile_title:<12} QD {queue_depth:<4}"),
        step => format!("{profile_title:<12} {step}"),
    };
    let rest = variant_suffix(point) + on;
    if rest.is_empty() { load } else { load.trim_end().to_owned() + &rest }
}

/// Line for a point that begins.
fn measures(point: &PointStarted, on: &str, points: u32) -> String {
    format!("{}: {}{on}", number(point, points), load(point))
}

/// Line for a finished point: IOPS, throughput, mean latency, grade.
fn line(point: &PointStarted, on: &str, ended: &PointEnded) -> String {
    let PointEnded { io_per_s, mib_per_s, grade, .. } = ended;
    let ms = ended.response_time_mean_ns.unwrap_or(0.0) / 1e6;
    let what = what(point, on);
    format!("{what} {io_per_s:>10.0} IOPS {mib_per_s:>9.1} MiB/s {ms:>9.3} ms  {grade}")
}

/// Line for a finding when it is raised; the table at the end adds its figures.
fn finding_line(finding: &FindingRaised, about: &str) -> String {
    let known = finding.code.parse::<Code>().map(Finding::remark).ok();
    let title = known.map_or_else(String::new, |known| finding_text(&known, Lang::En).title);
    let severity = if finding.severity == "remark" { "warning" } else { "invalid" };
    format!("  {severity}: {about}: {title} ({})", finding.code)
}

/// Suffix of a duration in virtual time.
pub(crate) const VIRTUAL: &str = " of virtual time";

/// Number of points with its noun: `1 point`, `30 points`.
pub(crate) fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}
