//! Lines of the live screen, a pure function of state, time and terminal size. No line is wider
//! than the terminal; the least important parts are omitted first.

use std::collections::VecDeque;
use std::time::Duration;

use qdepth_files::{Lines, visible};
use qdepth_measure::Bytes;
use qdepth_record::event::{Machine, PointStarted};
use qdepth_report::{Lang, count, variant_in_words};
use unicode_width::UnicodeWidthStr;

use super::live::{Figures, Live, MINUTE, Phase, Writing, longest};
use crate::layout::shortened;
use crate::terminal::wrap;

/// Blanks between two parts of a line.
const GAP: usize = 2;
/// Maximum number of loads with a line each.
const LOADS_MAX: usize = 12;
/// Lines besides those of the loads and of machines.
const OTHER_LINES: usize = 6;
/// Maximum number of machines with a line each.
const MACHINES_MAX: usize = 8;
/// Smallest steal time that is shown, per cent of the CPU time.
const STOLEN_MIN: f64 = 0.5;
/// Minimum width of a sparkline or progress bar.
const DRAWN_MIN: usize = 8;
/// Minimum width of a name in a column.
const NAME_MIN: usize = 12;

/// Columns and lines of the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Current lines of the screen: as many recent messages as fit, then the live lines.
pub(super) fn lines(live: &Live, now: Duration, size: Size) -> Vec<String> {
    let lines = match &live.writing {
        Some(writing) => of_writing(writing, now, size.width),
        None => of_segment(live, now, size),
    };
    let lines = lines.iter().map(|line| shorten_line(line, size.width));
    let lines: Vec<String> = lines.collect();
    // One line stays free, because a terminal scrolls when its last line is drawn.
    let room = size.height.saturating_sub(lines.len() + 1);
    let messages: Vec<String> =
        live.messages.iter().flat_map(|text| wrap(text, size.width)).collect();
    let newest = messages.len().saturating_sub(room);
    messages.into_iter().skip(newest).chain(lines).collect()
}

fn of_writing(writing: &Writing, now: Duration, width: usize) -> Vec<String> {
    let Writing { phase, what, bytes, written, since } = writing;
    let seconds = now.saturating_sub(*since).as_secs_f64();
    let rate = *written as f64 / seconds.max(1e-3);
    let amount = match bytes {
        Some(all) => format!("{} of {}", Bytes(*written).for_people(), Bytes(*all).for_people()),
        None => Bytes(*written).for_people(),
    };
    let left = bytes.filter(|_| rate > 0.0).map(|all| {
        let ns = all.saturating_sub(*written) as f64 / rate * 1e9;
        format!("{} left", clock(ns as u64))
    });
    let bar = bytes.map(|all| (*written as f64 / all.max(1) as f64, amount.as_str()));
    // Same form as every other throughput.
    let mut parts = vec![(1, format!("{:.1} MiB/s", rate / f64::from(1 << 20)))];
    parts.extend(left.map(|left| (0, left)));
    let second = match bar {
        Some((share, amount)) => progress_line(share, amount, &parts, width),
        None => join_fitting(&[vec![(0, amount.clone())], parts].concat(), width),
    };
    let first = join_fitting(
        &[(0, (*phase).to_owned()), (0, visible(what, Lines::One).into_owned())],
        width,
    );
    // Not every preparation of a machine writes.
    if bytes.is_none() && *written == 0 { vec![first] } else { vec![first, second] }
}

fn of_segment(live: &Live, now: Duration, size: Size) -> Vec<String> {
    let loads = live.loads();
    let (Some(run), Some(phase)) = (&live.run, live.phase(now)) else { return Vec::new() };
    if loads.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![head(live, &loads, size.width)];
    lines.push(join_fitting(&phase_parts(phase, run.may_end_early), size.width));
    lines.extend(table(live, &loads, size));
    lines.extend(machines(live, size));
    let points = match run.search_ns {
        Some(_) => format!("{} points", live.done),
        None => format!("{} of {} points", live.done, run.points),
    };
    let (of_segment, of_plan) = live.left(now).unwrap_or_default();
    let ends_early = run.may_end_early || run.search_ns.is_some();
    let at_most = if ends_early { "at most " } else { "" };
    let virtual_time = if run.emulated { " virtual" } else { "" };
    let parts = [
        (0, format!("{at_most}{}{virtual_time} left", clock(of_plan))),
        (1, format!("this load {}", clock(of_segment))),
    ];
    let share = 1.0 - of_plan as f64 / longest(run).max(1) as f64;
    lines.push(progress_line(share, &points, &parts, size.width));
    lines
}

/// Heading of the measured point.
fn head(live: &Live, loads: &[&PointStarted], width: usize) -> String {
    let points = live.run.as_ref().map_or(0, |run| run.points);
    let first_load = loads.first().map_or_else(String::new, |point| load(point));
    let (what, numbers) = match loads {
        [point] => (first_load, number(point, points)),
        [first, .., last] => {
            let alike = loads.iter().all(|point| load(point) == first_load);
            let count = loads.len();
            let what = if alike {
                format!("{first_load}, {count} at once")
            } else {
                format!("{count} loads at once")
            };
            (what, format!("points {} to {} of {points}", first.point + 1, last.point + 1))
        }
        [] => (String::new(), String::new()),
    };
    let mut parts = Vec::new();
    if live.is_emulated() {
        parts.push((0, "EMULATED".to_owned()));
    }
    parts.extend([(0, what), (1, numbers)]);
    if let [point] = loads {
        parts.push((2, target(live, point)));
    }
    join_fitting(&parts, width)
}

/// Number of a point among those of the plan, from 1; a search adds points to them.
pub(super) fn number(point: &PointStarted, points: u32) -> String {
    let number = point.point + 1;
    if number > points {
        format!("search, point {number}")
    } else {
        format!("point {number} of {points}")
    }
}

pub(super) fn load(point: &PointStarted) -> String {
    let text = match &*point.step {
        "" => format!("{}, QD {}", point.profile_title, point.queue_depth),
        step => format!("{} {step}", point.profile_title),
    };
    visible(&(text + &variant_suffix(point)), Lines::One).into_owned()
}

/// Suffix of a load in a comparison.
pub(super) fn variant_suffix(point: &PointStarted) -> String {
    let variant = point.variant.as_ref();
    variant.map_or_else(String::new, |variant| format!(", {}", variant_in_words(Lang::En, variant)))
}

/// Target of a load, if a run has several targets and the column does not name it.
pub(super) fn target_among(live: &Live, point: &PointStarted) -> Option<String> {
    let several = live.run.as_ref().is_some_and(|run| run.targets.len() > 1);
    (several && point.variant.is_none()).then(|| target(live, point))
}

fn target(live: &Live, point: &PointStarted) -> String {
    let names = live.run.as_ref().map(|run| run.targets.as_slice()).unwrap_or_default();
    let name = names.get(point.target as usize).map_or("", String::as_str);
    visible(name, Lines::One).into_owned()
}

fn phase_parts(phase: Phase, may_end_early: bool) -> Vec<(u8, String)> {
    let progress = |passed: u64, all: u64| match all {
        // Progress is in whole seconds, so shorter phases have none.
        ..1_000_000_000 => String::new(),
        _ => format!("{} of {}", seconds(passed), seconds(all)),
    };
    let (name, time, why) = match phase {
        Phase::WarmUp(passed, all) => ("warm-up", progress(passed, all), "not recorded"),
        Phase::Measuring(passed, all) if may_end_early => {
            ("measuring", format!("{} of at most {}", seconds(passed), seconds(all)), "")
        }
        Phase::Measuring(passed, all) => ("measuring", progress(passed, all), ""),
        Phase::Waiting => ("draining", String::new(), "waiting for I/Os in flight"),
    };
    let parts = [(0, name.to_owned()), (1, time), (2, why.to_owned())];
    parts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// A column of the table of loads.
struct Column {
    heading: &'static str,
    /// Columns of a higher rank are omitted first.
    rank: u8,
    least: usize,
    cells: Vec<String>,
    is_name: bool,
}

impl Column {
    fn width(&self) -> usize {
        let widest = self.cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        widest.max(self.heading.width()).max(self.least)
    }
}

/// Table with a line for each load, up to [`LOADS_MAX`], and a line for their sum.
fn table(live: &Live, loads: &[&PointStarted], size: Size) -> Vec<String> {
    let others = OTHER_LINES + live.machines.len().min(machines_max(size) + 1);
    let room = size.height.saturating_sub(others).clamp(1, LOADS_MAX);
    let shown = if loads.len() > room { room } else { loads.len() };
    let figures: Vec<Option<&Figures>> =
        loads.iter().map(|point| live.figures.get(&point.point)).collect();
    let names = names(live, loads);
    let mut columns = columns(&names[..shown], &figures[..shown], loads.len() > 1);
    let width = |columns: &[Column]| {
        columns.iter().map(Column::width).sum::<usize>() + GAP * columns.len().saturating_sub(1)
    };
    while width(&columns) > size.width && columns.len() > 1 {
        let names = columns.iter_mut().find(|column| column.is_name);
        if let Some(names) = names.filter(|names| names.width() > NAME_MIN) {
            let narrower = names.width() - 1;
            names.cells.iter_mut().for_each(|name| *name = shortened(name, narrower));
            names.least = NAME_MIN.min(narrower);
            continue;
        }
        let least = columns.iter().enumerate().max_by_key(|(_, column)| column.rank);
        let Some((index, _)) = least else { break };
        columns.remove(index);
    }
    let left = size.width.saturating_sub(width(&columns) + GAP).min(MINUTE);
    let mut lines = vec![row(&columns, |column| column.heading)];
    if left >= DRAWN_MIN.max("last minute".len()) {
        lines[0] = format!("{}  last minute", lines[0]);
    }
    for (index, figures) in figures[..shown].iter().enumerate() {
        let text = row(&columns, |column| &column.cells[index]);
        let rates = figures.map(|f| if loads.len() == 1 { &live.rates } else { &f.rates });
        let drawn = rates.filter(|_| left >= DRAWN_MIN).map(|rates| sparkline(rates, left));
        lines.push(drawn.map_or(text.clone(), |drawn| format!("{text}  {drawn}")));
    }
    if loads.len() > 1 {
        lines.push(together(&figures, loads.len() - shown));
    }
    lines
}

/// Maximum number of machines that are shown, so that the loads have room.
fn machines_max(size: Size) -> usize {
    (size.height / 4).min(MACHINES_MAX)
}

/// Line for each machine: throughput of its ranks if there are several machines, CPU load, steal
/// time, and temperature of its drives.
fn machines(live: &Live, size: Size) -> Vec<String> {
    let several = live.machines.len() > 1;
    let line = |machine: &Machine| {
        let share = |name: &str| machine.values.get(name).map(|share| share * 100.0);
        let mut parts = Vec::new();
        if several {
            parts.push((0, visible(&machine.host, Lines::One).into_owned()));
            parts.push((0, format!("{} IOPS", whole(machine.io_per_s))));
            let mib = machine.bytes_per_s / f64::from(1 << 20);
            parts.push((2, format!("{mib:.1} MiB/s")));
        }
        parts.extend(share("cpu busy_share").map(|busy| (1, format!("CPU {busy:.0} %"))));
        let stolen = share("cpu steal_share").filter(|stolen| *stolen >= STOLEN_MIN);
        parts.extend(stolen.map(|stolen| (3, format!("steal {stolen:.1} %"))));
        let heat = machine.values.iter().filter_map(|(name, celsius)| {
            let device = name.strip_suffix(" celsius")?;
            Some((2, format!("{} {celsius:.0} °C", visible(device, Lines::One))))
        });
        parts.extend(heat);
        join_fitting(&parts, size.width)
    };
    let most = machines_max(size);
    let lines = live.machines.values().take(most).map(line);
    let more = live.machines.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("{more} more machines not shown"));
    lines.chain(more).filter(|line| !line.is_empty()).collect()
}

/// Names that distinguish the loads of a group.
fn names(live: &Live, loads: &[&PointStarted]) -> Vec<String> {
    let targets: Vec<String> = loads.iter().map(|point| target(live, point)).collect();
    let what: Vec<String> = loads.iter().map(|point| load(point)).collect();
    let same = |texts: &[String]| texts.windows(2).all(|pair| pair[0] == pair[1]);
    if same(&what) {
        targets
    } else if same(&targets) {
        what
    } else {
        what.iter().zip(&targets).map(|(what, target)| format!("{what} on {target}")).collect()
    }
}

fn columns(names: &[String], figures: &[Option<&Figures>], has_names: bool) -> Vec<Column> {
    let cells = |text: &dyn Fn(&qdepth_record::event::Interval) -> String| {
        let cell = |figures: &Option<&Figures>| {
            figures.and_then(|figures| figures.last.as_ref()).map_or_else(|| "–".to_owned(), text)
        };
        figures.iter().map(cell).collect::<Vec<String>>()
    };
    let number =
        |heading, rank, least, cells| Column { heading, rank, least, cells, is_name: false };
    let mut columns = Vec::new();
    if has_names {
        let cells = names.to_vec();
        columns.push(Column { heading: "", rank: 1, least: 0, cells, is_name: true });
    }
    let rate = cells(&|i| whole(i.io_per_s().iter().sum()));
    columns.push(number("IOPS", 0, 9, rate));
    let mib =
        cells(&|i| format!("{:.1}", i.bytes_per_s().iter().sum::<f64>() / f64::from(1 << 20)));
    columns.push(number("MiB/s", 4, 8, mib));
    columns.push(number("response", 1, 8, cells(&|i| time(i.response_time_mean_ns))));
    let interval = cells(&|i| i.io_per_s_confidence_interval.map_or_else(String::new, half_width));
    // The columns appear once an interval is known.
    if interval.iter().any(|text| text.starts_with('±')) {
        let mean = cells(&|i| {
            i.io_per_s_confidence_interval
                .map_or_else(String::new, |[low, high]| whole((low + high) / 2.0))
        });
        columns.push(number("mean", 3, 9, mean));
        columns.push(number("± 95 %", 2, 6, interval));
    }
    columns
}

fn row<'a>(columns: &'a [Column], text: impl Fn(&'a Column) -> &'a str) -> String {
    let cell = |column: &'a Column| {
        let text = text(column);
        let space = " ".repeat(column.width().saturating_sub(text.width()));
        if column.is_name { format!("{text}{space}") } else { format!("{space}{text}") }
    };
    columns.iter().map(cell).collect::<Vec<_>>().join("  ")
}

fn together(figures: &[Option<&Figures>], more: usize) -> String {
    let last = figures.iter().flatten().filter_map(|figures| figures.last.as_ref());
    let rates: Vec<f64> = last.map(|interval| interval.io_per_s().iter().sum()).collect();
    let rate = if rates.is_empty() { "–".to_owned() } else { whole(rates.iter().sum()) };
    match more {
        0 => format!("together {rate} IOPS"),
        more => format!("together {rate} IOPS, {more} more not shown"),
    }
}

/// Bars for the rates of the last minute, scaled from 0 to the maximum, newest on the right.
fn sparkline(rates: &VecDeque<f64>, width: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = rates.iter().copied().fold(0.0, f64::max).max(1e-9);
    // Each character covers an equal part of the minute, counted back from now.
    let slot = |seconds_ago: usize| seconds_ago * width / MINUTE;
    let mut slots: Vec<(f64, u32)> = vec![(0.0, 0); width];
    for (ago, rate) in rates.iter().rev().enumerate() {
        if let Some((sum, count)) = slots.get_mut(slot(ago)) {
            (*sum, *count) = (*sum + rate, *count + 1);
        }
    }
    let level = |(sum, count): &(f64, u32)| match count {
        0 => None,
        count => LEVELS.get(((sum / f64::from(*count) / top) * 7.0).round() as usize),
    };
    slots.iter().rev().filter_map(level).collect()
}

/// Line with a progress bar in the width that its texts leave free.
fn progress_line(share: f64, label: &str, parts: &[(u8, String)], width: usize) -> String {
    let text = join_fitting(&[vec![(0, label.to_owned())], parts.to_vec()].concat(), width);
    let room = width.saturating_sub(text.width() + GAP).min(30);
    if room < DRAWN_MIN {
        return text;
    }
    let full = ((share.clamp(0.0, 1.0) * room as f64) as usize).min(room);
    format!("{}{}  {text}", "█".repeat(full), "░".repeat(room - full))
}

/// Joins the parts that fit. Parts of the highest rank are omitted first, then the longest is
/// shortened in the middle.
fn join_fitting(parts: &[(u8, String)], width: usize) -> String {
    let mut kept: Vec<(u8, String)> =
        parts.iter().filter(|(_, text)| !text.is_empty()).cloned().collect();
    let needed = |kept: &[(u8, String)]| {
        kept.iter().map(|(_, text)| text.width()).sum::<usize>()
            + GAP * kept.len().saturating_sub(1)
    };
    while needed(&kept) > width {
        let least = kept.iter().enumerate().filter(|(_, (rank, _))| *rank > 0);
        let Some((index, _)) = least.max_by_key(|(_, (rank, _))| *rank) else { break };
        kept.remove(index);
    }
    let over = needed(&kept).saturating_sub(width);
    if over > 0
        && let Some((_, longest)) = kept.iter_mut().max_by_key(|(_, text)| text.width())
    {
        *longest = shortened(longest, longest.width().saturating_sub(over).max(1));
    }
    let texts: Vec<String> = kept.into_iter().map(|(_, text)| text).collect();
    texts.join("  ")
}

/// Shortens a line that is still too wide, for very narrow terminals.
fn shorten_line(line: &str, width: usize) -> String {
    let line = line.trim_end();
    if line.width() <= width { line.to_owned() } else { shortened(line, width) }
}

/// Whole seconds: `12 s`.
fn seconds(ns: u64) -> String {
    format!("{} s", ns / 1_000_000_000)
}

/// Clock time, rounded up to a second: `1:05`, `1:02:05`.
fn clock(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A rate in whole numbers, with a comma between thousands.
fn whole(value: f64) -> String {
    count(value.round_ties_even().max(0.0) as u64)
}

/// Milliseconds with three decimals: `0.498 ms`; a dash for `None`.
fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| format!("{:.3} ms", ns / 1e6))
}

/// Half-width of an interval relative to its middle: `±0.4 %`.
fn half_width([low, high]: [f64; 2]) -> String {
    format!("±{:.1} %", (high - low) / (high + low).max(1e-9) * 100.0)
}
