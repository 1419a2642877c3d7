//! The comparison as a table and sentences.

use crate::compare::matched::{CPU_PER_IO, with_loads};
use crate::compare::{Versus, VersusDifference, VersusRow, VersusSide, VersusUnmatched, is_rate};
use crate::document::{Cell, Table};
use crate::number::{percent, thousands};
use crate::rows::Rows;
use crate::words::{CompareWords, Lang, counted, fact_value, fill_in, in_brackets, span, words};

/// Largest number of differences and unmatched loads that are printed; the JSON has all.
const LISTED_MAX: usize = 8;
/// Largest number of runs of a side that a command lists.
const NAMED_MAX: usize = 3;
/// Largest number of devices that the name of a side in a title lists.
const CALLED: usize = 2;

/// Table with one row per figure that both sides have.
pub fn versus_table(versus: &Versus, lang: Lang) -> Table {
    table_of(versus, &versus.rows.iter().collect::<Vec<_>>(), lang)
}

/// A comparison for the terminal: the largest loss and gain, and a table of figures that differ or
/// are undecided; of all figures with `all`.
pub fn versus_on_screen(versus: &Versus, lang: Lang, all: bool) -> (Vec<String>, Table) {
    let words = words(lang).compare;
    let single = are_single(versus);
    let is_left_out = |row: &VersusRow| single && is_undecidable(row);
    let is_listed = |row: &&VersusRow| all || row.verdict != "equal" && !is_left_out(row);
    let listed: Vec<&VersusRow> = versus.rows.iter().filter(is_listed).collect();
    let mut table = table_of(versus, &listed, lang);
    // Words of their own, so that no row is wider than 80 columns.
    let [depth, figure, verdict] = [7, 6, 1].map(|from_end| table.columns.len() - from_end);
    words.queue_depth_short.clone_into(&mut table.columns[depth].heading);
    for (row, cells) in listed.iter().zip(&mut table.rows) {
        cells.cells[figure].text = figure_in(&words.figures_short, row.figure).to_owned();
        let text = match (row.verdict, row.more_runs) {
            ("equal", _) => words.equal_short.to_owned(),
            ("inconclusive", Some(n)) => fill_in(words.open_short, &[("n", n.to_string())]),
            _ => continue,
        };
        cells.cells[verdict].text = text;
    }
    let largest = |verdict: &str| farthest(versus.rows.iter().filter(|row| row.verdict == verdict));
    let mut first: Vec<String> =
        directions(versus).into_iter().filter_map(largest).map(|row| headline(lang, row)).collect();
    if versus.rows.is_empty() {
        first.push(nothing(versus, words));
    } else if first.is_empty() && single {
        first.push(observed(versus, lang));
    } else if first.is_empty() {
        first.push(first_cells(versus, lang).swap_remove(0));
        // Too few runs decide nothing, but readers must see a large difference.
        let is_beyond = |[low, high]: [f64; 2]| low > 1.0 || high < 1.0;
        let beyond =
            versus.rows.iter().filter(|row| row.confidence_interval.is_some_and(is_beyond));
        let beyond = farthest(beyond.filter(|row| row.verdict == "inconclusive"));
        first.extend(beyond.map(|row| of_farthest(lang, row, words.farthest[0])));
    }
    let left = versus.rows.len() - listed.len();
    let open = versus.rows.iter().any(is_left_out);
    let texts = if open { words.left_out_open } else { words.left_out };
    let left = (left > 0).then(|| counted(texts, left));
    first.extend(left);
    (first, table)
}

/// True for two single runs without a known variation of some figure from run to run.
fn are_single(versus: &Versus) -> bool {
    versus.sides.iter().all(|side| side.runs.len() == 1)
        && versus.rows.iter().any(|row| row.ratio.is_none())
}

/// True for a figure of two single runs without a known run-to-run variation, whose difference does
/// not exceed the uncertainty within the runs: no table can say more of it.
fn is_undecidable(row: &VersusRow) -> bool {
    let decided = row.within.is_some_and(|[low, high]| high < 1.0 || low > 1.0);
    row.verdict == "inconclusive" && row.ratio.is_none() && !decided
}

/// The largest loss and the largest gain of two single runs that exceed their own uncertainty.
fn observed(versus: &Versus, lang: Lang) -> String {
    let words = words(lang).compare;
    let beyond = |index: usize| {
        let rows = versus.rows.iter().filter_map(|row| Some((row, row.within?)));
        let is_beyond = |[low, high]: [f64; 2]| if index == 0 { high < 1.0 } else { low > 1.0 };
        let far = |row: &VersusRow| (row.means[1] / row.means[0]).ln().abs();
        let (row, ends) = rows
            .filter(|(_, ends)| is_beyond(*ends))
            .max_by(|(a, _), (b, _)| far(a).total_cmp(&far(b)))?;
        let [a, b] = row.means.map(|mean| shown(row.figure, mean));
        let share = ("share", percent((row.means[1] / row.means[0] - 1.0).abs()));
        let values = [vec![share, ("a", a), ("b", b)], values_of(lang, row, ends)].concat();
        Some(fill_in(words.observed[index], &values))
    };
    let found: Vec<String> = [0, 1].into_iter().filter_map(beyond).collect();
    let has_interval = versus.rows.iter().any(|row| row.within.is_some());
    let text = match (found.is_empty(), has_interval) {
        (false, _) => words.single_runs[0],
        (true, true) => words.single_runs[1],
        (true, false) => words.single_runs[2],
    };
    fill_in(text, &[("found", found.join(words.clause))])
}

/// Headline, for example `B is 34 % slower: …`.
fn headline(lang: Lang, row: &VersusRow) -> String {
    let words = words(lang).compare;
    let ratio = row.ratio.unwrap_or(f64::NAN);
    let own = vec![("share", percent((ratio - 1.0).abs())), ("ratio", format!("{ratio:.3}"))];
    let values =
        [own, values_of(lang, row, row.confidence_interval.unwrap_or([f64::NAN; 2]))].concat();
    let texts = if row.is_rate() { words.headline } else { words.headline_time };
    fill_in(texts[usize::from(row.verdict == "faster")], &values)
}

/// Values of a sentence on a row: load, queue depth, figure, and the ends of an interval.
fn values_of(lang: Lang, row: &VersusRow, [low, high]: [f64; 2]) -> Vec<(&'static str, String)> {
    vec![
        ("load", row.load.in_words(lang)),
        ("queue_depth", row.load.queue_depth.to_string()),
        ("figure", figure(words(lang).compare, row.figure).to_owned()),
        ("low", format!("{low:.3}")),
        ("high", format!("{high:.3}")),
    ]
}

/// Table of the listed rows.
pub(super) fn table_of(versus: &Versus, listed: &[&VersusRow], lang: Lang) -> Table {
    let words = words(lang).compare;
    let [a, b] = called(versus, lang);
    let caption = fill_in(words.caption, &[("a", a), ("b", b)]);
    let several = listed.iter().any(|row| row.target > 0);
    with_loads(Rows::from_items(listed), lang, several, |row| (&row.load, row.target))
        .text(words.figure, |row| figure(words, row.figure))
        .number("A", "", |row| shown(row.figure, row.means[0]))
        .number("B", "", |row| shown(row.figure, row.means[1]))
        .number(words.quotient, "", |row| {
            let of_means = row.means[1] / row.means[0];
            format!("{:.3}", row.ratio.unwrap_or(of_means))
        })
        .text(words.interval, |row| {
            let ends = row.confidence_interval.map(|ends| ends.map(|end| format!("{end:.3}")));
            ends.map(|ends| span(lang, ends))
        })
        .text(words.verdict, |row| {
            let verdict = judged(words, versus, row);
            if row.verdict == "slower" { Cell::alarm(verdict) } else { Cell::plain(verdict) }
        })
        .table(marked(lang, versus.emulated, caption))
        .with_note(note(words, listed, lang))
}

/// A title, with the mark of an emulation.
pub(super) fn marked(lang: Lang, emulated: bool, title: String) -> String {
    if emulated { title + &in_brackets(lang, "EMULATED") } else { title }
}

fn note(compare: &CompareWords, listed: &[&VersusRow], lang: Lang) -> String {
    let intervals = listed.iter().any(|row| row.confidence_interval.is_some());
    let more = listed.iter().any(|row| row.more_runs.is_some());
    let [of_runs, corrected] = compare.note;
    let notes = [(intervals, of_runs), (intervals, corrected), (more, compare.note_more)];
    let notes = notes.into_iter().filter_map(|(is_needed, note)| is_needed.then_some(note));
    notes.collect::<Vec<_>>().join(words(lang).gap)
}

pub(super) fn figure(words: &CompareWords, name: &str) -> &'static str {
    figure_in(&words.figures, name)
}

fn figure_in(texts: &[&'static str; 5], name: &str) -> &'static str {
    let names = ["io_per_s", "mib_per_s", "mean_response_ns", "p99_response_ns", CPU_PER_IO];
    let index = names.iter().position(|known| *known == name);
    index.map_or("", |index| texts[index])
}

fn judged(words: &CompareWords, versus: &Versus, row: &VersusRow) -> String {
    let index = match (row.verdict, row.more_runs) {
        ("faster", _) => 0,
        ("slower", _) => 1,
        ("equal", _) => 2,
        (_, None) => 3,
        (_, Some(_)) => 4,
    };
    let values = [
        ("threshold", percent(versus.threshold)),
        ("n", row.more_runs.map_or_else(String::new, |more| more.to_string())),
    ];
    fill_in(words.verdicts[index], &values)
}

/// Value of a figure in the unit of its column.
pub(super) fn shown(figure: &str, value: f64) -> String {
    three(if is_rate(figure) { value } else { value / 1e3 })
}

/// Formats at least three digits, and no decimals if the integer part has more.
fn three(value: f64) -> String {
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    thousands(value, decimals)
}

/// Summary of the table in sentences, then notes to it.
pub fn versus_sentences(versus: &Versus, lang: Lang) -> Vec<String> {
    answer(versus, lang).into_iter().chain(versus_notes(versus, lang)).collect()
}

/// The differences that people can change. Parameters of different emulated drives follow from the
/// choice of the drive, and the plan's hash from the seed that it contains.
pub(super) fn causes(versus: &Versus) -> Vec<VersusDifference> {
    let of_target = |each: &VersusDifference| each.subject.starts_with("target ");
    let is_other = |each: &VersusDifference| of_target(each) && each.key == "name";
    let are_others = versus.emulated && versus.differences.iter().any(is_other);
    let follows = |each: &VersusDifference| {
        are_others && of_target(each) && !["name", "product"].contains(&&*each.key)
    };
    let mut all = versus.differences.clone();
    all.retain(|each| !follows(each));
    let index = |key: &str| all.iter().position(|each| each.subject == "run" && each.key == key);
    if let (Some(plan), Some(seed)) = (index("plan"), index("seed")) {
        let seed = all.remove(seed);
        let values = all[plan].values.iter_mut().zip(seed.values);
        values.for_each(|(plan, seed)| *plan = format!("{plan} (seed {seed})"));
    }
    all
}

/// Other differences between the sides, and loads that only one of them has.
pub fn versus_notes(versus: &Versus, lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    let mut all = Vec::new();
    let known = |value: &str| {
        if value.is_empty() { words.unknown.to_owned() } else { fact_value(lang, value) }
    };
    let causes = causes(versus);
    all.extend(causes.iter().take(LISTED_MAX).map(|difference| {
        let [a, b] = &difference.values;
        let what = format!("{} {}", difference.subject, difference.key);
        fill_in(words.differs, &[("what", what), ("a", known(a)), ("b", known(b))])
    }));
    all.extend(versus.unmatched.iter().take(LISTED_MAX).map(|alone| {
        let text = if alone.invalid_elsewhere { words.invalid_elsewhere } else { words.alone };
        let other = if alone.side == "a" { "B" } else { "A" };
        let values = [
            ("side", alone.side.to_uppercase()),
            ("other", other.to_owned()),
            ("load", unmatched(lang, alone)),
        ];
        fill_in(text, &values)
    }));
    let left =
        causes.len().saturating_sub(LISTED_MAX) + versus.unmatched.len().saturating_sub(LISTED_MAX);
    all.extend((left > 0).then(|| format!("… +{left} (--json)")));
    all
}

/// A load that only one side has.
pub(super) fn unmatched(lang: Lang, alone: &VersusUnmatched) -> String {
    let index = [("index", (alone.target + 1).to_string())];
    let target = fill_in(words(lang).tables.target_fallback, &index);
    let load = alone.load.in_words(lang);
    format!("{load} × {}{}", alone.load.queue_depth, in_brackets(lang, &target))
}

/// Verdict over all figures, and its index among the words.
fn over_all(versus: &Versus) -> (usize, &'static str) {
    let count = |verdict: &str| versus.count(verdict);
    match (count("slower"), count("faster"), count("inconclusive")) {
        (slower @ 1.., faster, _) if faster > slower => (4, "faster"),
        (1.., ..) => (0, "slower"),
        (0, 1.., _) => (1, "faster"),
        (0, 0, 0) => (2, "equal"),
        _ => (3, "inconclusive"),
    }
}

/// Slower and faster; the one with more figures first.
fn directions(versus: &Versus) -> [&'static str; 2] {
    if over_all(versus).1 == "faster" { ["faster", "slower"] } else { ["slower", "faster"] }
}

/// The figure that supports the overall verdict most, if B is slower or faster.
pub(super) fn decisive(versus: &Versus) -> Option<&VersusRow> {
    farthest(versus.rows.iter().filter(|row| row.verdict == directions(versus)[0]))
}

/// Cells of the overall verdict, and of the figure that supports it most.
fn first_cells(versus: &Versus, lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    let count = |verdict: &str| versus.count(verdict);
    let (index, verdict) = over_all(versus);
    let values = [
        ("n", count(verdict).to_string()),
        ("of", versus.rows.len().to_string()),
        ("threshold", percent(versus.threshold)),
    ];
    let opposite = directions(versus)[1];
    let other = (count(opposite) > 0).then(|| ("other", count(opposite).to_string()));
    let others = versus.rows.len() - count(verdict);
    let others = (others > 0).then(|| ("others", others.to_string()));
    let values: Vec<_> = values.into_iter().chain(other).chain(others).collect();
    let mut all = vec![fill_in(words.lead[index], &values)];
    let largest = |(verdict, text): (&str, &str)| {
        let row = farthest(versus.rows.iter().filter(|row| row.verdict == verdict))?;
        Some(of_farthest(lang, row, text))
    };
    all.extend(directions(versus).into_iter().zip(words.farthest).filter_map(largest));
    all
}

/// The row whose ratio is farthest from 1.
pub(super) fn farthest<'a>(rows: impl Iterator<Item = &'a VersusRow>) -> Option<&'a VersusRow> {
    let far = |row: &VersusRow| row.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    rows.filter(|row| row.ratio.is_some()).max_by(|a, b| far(a).total_cmp(&far(b)))
}

fn of_farthest(lang: Lang, row: &VersusRow, text: &str) -> String {
    let ratio = row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"));
    let mut values = values_of(lang, row, row.confidence_interval.unwrap_or([f64::NAN; 2]));
    values.push(("ratio", ratio));
    fill_in(text, &values)
}

/// Names of the sides: their storage, if it differs and the names fit into a title.
pub(super) fn called(versus: &Versus, lang: Lang) -> [String; 2] {
    let [a, b] = &versus.sides;
    let few = |side: &VersusSide| (1..=CALLED).contains(&side.storage.len());
    if few(a) && few(b) && a.storage != b.storage {
        return [a, b].map(|side| side.storage.join(words(lang).list[0]));
    }
    [a, b].map(|side| short(&side.name))
}

fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Short name of a side: the IDs of runs are cut as in lists of runs.
pub(super) fn short(name: &str) -> String {
    let cut = |part| if is_id(part) { &part[..13] } else { part };
    name.split(',').map(cut).collect::<Vec<_>>().join(",")
}

/// Why there is nothing to compare.
fn nothing(versus: &Versus, words: &CompareWords) -> String {
    if versus.share_loads { words.nothing } else { words.nothing_shared }.to_owned()
}

/// Short IDs of a side's runs for a command. `None` if there are too many, if they are in another
/// logbook than the usual one, or if one has not the form of an ID: a shell might execute it.
fn ids(side: &VersusSide) -> Option<String> {
    let is_elsewhere = side.rerun_command.as_ref()?.contains(" --logbook ");
    let all_fit = side.runs.len() <= NAMED_MAX && side.runs.iter().all(|id| is_id(id));
    let short = || side.runs.iter().map(|id| short(id)).collect::<Vec<_>>().join(",");
    (!is_elsewhere && all_fit).then(short)
}

/// Answer, with notes on its reliability.
pub(super) fn answer(versus: &Versus, lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    if versus.rows.is_empty() {
        return vec![nothing(versus, words)];
    }
    first_cells(versus, lang).into_iter().chain(versus_answer(versus, lang)).collect()
}

/// Number of figures with each verdict, and how reliable that is.
pub fn versus_answer(versus: &Versus, lang: Lang) -> Vec<String> {
    let words = words(lang).compare;
    let count = |verdict: &str| versus.count(verdict).to_string();
    if versus.rows.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    all.push(fill_in(
        words.summary,
        &[
            ("of", versus.rows.len().to_string()),
            ("slower", count("slower")),
            ("faster", count("faster")),
            ("equal", count("equal")),
            ("open", count("inconclusive")),
            ("threshold", percent(versus.threshold)),
        ],
    ));
    for (side, name) in versus.sides.iter().zip(words.sides).filter(|(side, _)| side.mixes) {
        let names = side.storage.join(words.clause);
        all.push(fill_in(words.mixed, &[("side", name.to_owned()), ("names", names)]));
    }
    if versus.sides.iter().all(|side| side.runs.len() == 1) {
        all.push(match versus.history_runs {
            0 => words.single.to_owned(),
            n => fill_in(words.history, &[("n", n.to_string())]),
        });
    }
    let mixes = versus.sides.iter().any(|side| side.mixes);
    // Variants of one plan share their runs: a further run would be one of both.
    let is_apart = versus.sides[0].runs != versus.sides[1].runs;
    if versus.count("inconclusive") > 0 && !mixes && is_apart {
        let [a, b] = versus.sides.each_ref().map(|side| side.rerun_command.clone());
        let is_same = a == b;
        let commands = if is_same { [None, None, a] } else { [a, b, None] };
        all.extend(words.sides.iter().zip(commands).filter_map(|(side, command)| {
            Some(fill_in(words.repeat, &[("side", (*side).to_owned()), ("command", command?)]))
        }));
        if let [Some(a), Some(b)] = versus.sides.each_ref().map(ids) {
            let command = match is_same {
                true => format!("qdepth compare {a},ID {b}"),
                false => format!("qdepth compare {a},ID_A {b},ID_B"),
            };
            all.push(fill_in(words.repeat_then, &[("command", command)]));
        }
    }
    all
}
