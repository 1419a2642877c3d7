//! What a person at the terminal sees while things run. Everything goes to standard error; results
//! go to standard output.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use qdepth_engine::Interval;
use qdepth_measure::Nanos;
use qdepth_workload::{Plan, Point};

use crate::terminal;

/// The terminal, or its absence.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: bool,
    quiet: bool,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), quiet: false }
    }

    /// One that tells nothing, for programs that read what the standard error says.
    pub(crate) fn quiet() -> Self {
        Self { terminal: false, quiet: true }
    }

    /// A line for the person.
    pub(crate) fn say(&self, line: &str) {
        if !self.quiet {
            terminal::say(line);
        }
    }

    /// A line that must reach a person, whoever reads the standard error: something is left behind.
    pub(crate) fn warn(&self, line: &str) {
        terminal::say(line);
    }

    /// What is about to be measured.
    pub(crate) fn begins(&self, plan: &Plan, hash: &str, emulated: bool) {
        self.say(&format!(
            "plan {} ({}), {}, {}{}{}, seed {}",
            plan.name,
            &hash[..12],
            counted(plan.points.len()),
            if plan.may_end_early() { "at most " } else { "" },
            long(plan.duration_ns()),
            if emulated { VIRTUAL } else { " in all" },
            plan.seed
        ));
    }

    /// Where a run was kept.
    pub(crate) fn kept(&self, logbook: &Path, id: &str) {
        self.say(&format!("logbook  {}  run {}", logbook.display(), &id[..13]));
    }

    /// Asks for a line; none where nobody can answer.
    pub(crate) fn ask(&self, question: &str) -> Option<String> {
        if !self.terminal || !std::io::stdin().is_terminal() {
            return None;
        }
        terminal::ask(question);
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).ok()?;
        Some(answer.trim().to_owned())
    }

    /// The bar of a file that is being filled; it appears with the first byte.
    pub(crate) fn filling(&self, path: &Path, bytes: u64) -> ProgressBar {
        self.writing(format!("filling the measurement file in {}", path.display()), bytes)
    }

    /// The bar of a target that is being preconditioned.
    pub(crate) fn preconditioning(&self, step: &str, bytes: u64) -> ProgressBar {
        self.writing(format!("preconditioning: {step}"), bytes)
    }

    /// The bar of rounds that go on until targets are steady: how many bytes that takes is not known.
    pub(crate) fn rounds(&self, step: &str) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, self.draw_target());
        bar.set_style(style("{msg} {binary_bytes}, {binary_bytes_per_sec}"));
        bar.set_message(terminal::shown(&format!("preconditioning: {step}")).into_owned());
        bar
    }

    fn writing(&self, what: String, bytes: u64) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(bytes), self.draw_target());
        bar.set_style(style(
            "{msg} {bar:30} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}",
        ));
        bar.set_message(terminal::shown(&what).into_owned());
        bar
    }

    /// The bar of a run.
    pub(crate) fn running(&self, plan: &Plan, done: usize) -> Running {
        let total = plan.duration_ns();
        let bar = ProgressBar::with_draw_target(Some(total / 1_000_000), self.draw_target());
        bar.set_style(style("{bar:24} {prefix}  {msg}"));
        let running =
            Running { bar, points: plan.points.len(), plain: !self.terminal && !self.quiet, total };
        running.bar.set_position(0);
        let _ = done;
        running
    }

    fn draw_target(&self) -> ProgressDrawTarget {
        if self.terminal {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Progress of a run.
#[derive(Debug)]
pub(crate) struct Running {
    bar: ProgressBar,
    points: usize,
    plain: bool,
    total: u64,
}

impl Running {
    /// Points begin that run at the same time; `before` is the planned time of those before them.
    pub(crate) fn group<'a>(
        &self,
        group: &[Point],
        target: impl Fn(u32) -> &'a str,
        before: Nanos,
    ) {
        let Some(first) = group.first() else { return };
        self.bar.set_position(before.0 / 1_000_000);
        let what = if first.step.is_empty() {
            format!("{} × {}", first.profile_title, first.outstanding)
        } else {
            first.step.clone()
        };
        let others = match group.len() {
            1 => String::new(),
            loads => format!(" ({loads} loads)"),
        };
        let target = target(first.target);
        let prefix = format!("point {}/{}  {what}{others}  {target}", first.index + 1, self.points);
        self.bar.set_prefix(terminal::shown(&prefix).into_owned());
    }

    /// An interval of the point at this place of the group has passed; the first is shown.
    pub(crate) fn interval(
        &self,
        place: usize,
        interval: &Interval,
        before: Nanos,
        warm_up: Nanos,
    ) {
        if place > 0 {
            return;
        }
        let seconds = interval.length.as_secs_f64().max(1e-9);
        let ios = (interval.completed[0] + interval.completed[1]) as f64;
        let bytes = (interval.bytes[0] + interval.bytes[1]) as f64;
        let at = before + warm_up + interval.start + interval.length;
        self.bar.set_position(at.0 / 1_000_000);
        let left = Duration::from_nanos(self.total.saturating_sub(at.0)).as_secs();
        self.bar.set_message(format!(
            "{:.0} IO/s  {:.1} MiB/s  {:.3} ms  {}:{:02} left",
            ios / seconds,
            bytes / seconds / f64::from(1 << 20),
            if ios > 0.0 { interval.service_time_sum as f64 / ios / 1e6 } else { 0.0 },
            left / 60,
            left % 60
        ));
    }

    /// A point has ended.
    pub(crate) fn ended(&self, line: &str) {
        if self.plain {
            terminal::say(line);
        } else {
            self.bar.println(terminal::shown(line));
        }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Behind a time that is a medium's.
pub(crate) const VIRTUAL: &str = " of virtual time, which passes faster than yours";

/// `1 point`, `30 points`.
pub(crate) fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}

/// Whole seconds, or minutes.
pub(crate) fn long(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}
