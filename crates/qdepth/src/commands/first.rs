//! `qdepth` without arguments: a five-second measurement of the current directory. Nothing is
//! stored.

use anyhow::Result;
use qdepth_files::{Lines, visible};
use qdepth_host::system::System;
use qdepth_record::export_json;
use qdepth_report::FirstWords;
use unicode_width::UnicodeWidthStr;

use crate::commands::read::print_points;
use crate::commands::run::measure_on;
use crate::exit_status::Status;
use crate::flags::{FirstOptions, LOGBOOK_NAME, RunReport};
use crate::layout::shortened;
use crate::screen::Screen;
use crate::terminal::{self, print, print_raw};
use qdepth_lab::request::first::{Survey, survey};
use qdepth_lab::request::{FinishedRun, RunRequest};

pub(crate) fn first(options: &FirstOptions) -> Result<Status> {
    let Survey { plan, what } = survey(&System::real())?;
    let request = RunRequest { is_kept: false, ..RunRequest::new(plan, LOGBOOK_NAME.into()) };
    let screen = Screen::passing();
    measure_on(&screen, &screen, &RunReport::none(), &request, |ran| {
        print_result(*options, &what, ran)
    })
}

/// Prints the figures, the bottleneck, and suggested next commands.
fn print_result(
    options: FirstOptions,
    what: &str,
    FinishedRun { run, points, .. }: &FinishedRun,
) -> Result<()> {
    if options.json {
        return print_raw(export_json(run, points).trim_end());
    }
    let names: Vec<&str> = run.targets.iter().map(|target| target.name.as_str()).collect();
    let width = terminal::table_style(false).width;
    let name = visible(&names.join(", "), Lines::One).into_owned();
    let room = width.saturating_sub(what.width() + 2).max(NAME_MIN);
    print(&format!("{}: {what}", shortened(&name, room)))?;
    for table in qdepth_report::point_tables(run, points, qdepth_report::Lang::En) {
        print_points(&table)?;
    }
    for line in fitting(qdepth_report::first_words(run, points), width) {
        print(&line)?;
    }
    print(NEXT)
}

/// Narrowest width to which the target's name is shortened, in columns.
const NAME_MIN: usize = 16;

/// Lines left for sentences on a terminal of 24 lines: the prompt takes one, an idle standard error
/// another, and the table with its surroundings sixteen.
const LINES_OF_WORDS: usize = 6;

/// Sentences that fit at this width: the bottleneck first, then the findings, then the note on the
/// interval. They are printed in reverse order.
fn fitting(words: FirstWords, width: usize) -> Vec<String> {
    let height = |text: &String| terminal::wrap(text, width).len();
    let mut room = LINES_OF_WORDS.saturating_sub(words.limits.iter().map(height).sum());
    let mut fits = |text: &String| {
        let needs = height(text);
        let fits = needs <= room;
        room -= if fits { needs } else { 0 };
        fits
    };
    let grades: Vec<String> = words.grades.into_iter().filter(|text| fits(text)).collect();
    let notes: Vec<String> = words.notes.into_iter().filter(|text| fits(text)).collect();
    [notes, grades, words.limits].concat()
}

/// Suggested commands after the first number.
const NEXT: &str = "
Next, in this directory:
  qdepth run disk-mark  the eight CrystalDiskMark numbers, 1 min
  qdepth run            five load profiles and a report, 2 to 3 min
  qdepth plans          all test plans";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(limits: &[usize], grades: usize, notes: &[usize]) -> FirstWords {
        let text = |sign: &str, lines: usize| sign.repeat(38 * lines);
        FirstWords {
            limits: limits.iter().map(|lines| text("l ", *lines)).collect(),
            grades: Some(text("g ", grades)),
            notes: notes.iter().map(|lines| text("n ", *lines)).collect(),
        }
    }

    #[test]
    fn limits_of_storage_are_shown_before_other_lines() {
        for (words, wanted) in [
            (words(&[2, 2], 1, &[1]), "ngll"),
            (words(&[2, 2], 1, &[1, 1]), "ngll"),
            (words(&[2, 2], 3, &[1]), "nll"),
            (words(&[2, 3], 1, &[1]), "gll"),
            (words(&[4, 4], 1, &[1]), "ll"),
        ] {
            let lines = fitting(words, 80);
            let signs: String = lines.iter().map(|line| &line[..1]).collect();
            assert_eq!(signs, wanted);
            let height: usize = lines.iter().map(|line| terminal::wrap(line, 80).len()).sum();
            assert!(height <= LINES_OF_WORDS || wanted == "ll", "{height} lines for {wanted}");
        }
    }
}
