//! `qdepth media fit`: a medium of one's own drive, from measured runs.

use anyhow::Result;
use qdepth_files::Privacy;
use qdepth_linux::keep_freed;
use qdepth_media::Description;
use qdepth_media::fit::{FitError, Fitted, Kind, Missed, description, fit};

use crate::commands::read::{chosen_all, table};
use crate::exit_status::Status;
use crate::flags::FitOptions;
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::{print, print_table};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Missing;
use qdepth_lab::request::own_medium::{Seen, seen};

pub(crate) fn fit_medium(options: &FitOptions) -> Result<Status> {
    let file = ResultFile::file(&options.output, Privacy::Public)?;
    let runs = chosen_all(&options.runs, &options.logbook)?;
    let (screen, signals) = (Screen::new(), Signals::watch()?);
    let seen = seen(&runs)?;
    let kind = options.kind.or(seen.kind.as_ref().map(|(kind, _)| *kind));
    screen.print_line(&format!(
        "fitting {} to {} points of {}",
        kind.map_or_else(|| "each kind of medium".to_owned(), |kind| format!("a {kind} medium")),
        seen.observed.len(),
        seen.provenance.title
    ));
    let capacity = seen.provenance.capacity_bytes;
    keep_freed();
    let fitted = match fit(&seen.observed, kind, capacity, signals.stop()) {
        Ok(fitted) => fitted,
        Err(FitError::Interrupted) => match signals.caught() {
            Some(signal) => return Ok(Status::Interrupted(signal)),
            None => return Err(FitError::Interrupted.into()),
        },
        Err(error) => return Err(Missing(error.to_string()).into()),
    };
    let text = description(&fitted, &seen.observed, &seen.provenance);
    let name = options.output.display().to_string();
    Description::read(&name, &text)?;
    print_fit(&fitted, &seen, options.kind)?;
    file.write(&text)?;
    screen.print_line(&format!(
        "medium   {name}; as a target `media:{}`, its predictions with intervals by `qdepth \
         predict`",
        if name.contains('/') { name.clone() } else { format!("./{name}") }
    ));
    Ok(Status::Valid)
}

fn print_fit(fitted: &Fitted, seen: &Seen, asked: Option<Kind>) -> Result<()> {
    print(&format!("EMULATED medium of {}", seen.provenance.title))?;
    let why = match (asked, &seen.kind) {
        (Some(_), _) => "as asked".to_owned(),
        (None, Some((_, why))) => format!("{why}; --kind says otherwise"),
        (None, None) => "the simplest of those that miss the points kept back least; --kind says \
                         otherwise"
            .to_owned(),
    };
    print(&format!("kind: {} ({why})", fitted.kind))?;
    let rows = fitted.determined.iter().map(|parameter| {
        let (low, high) = parameter.interval;
        vec![
            parameter.name.clone(),
            figure(parameter.value),
            format!("{} … {}", figure(low), figure(high)),
            match parameter.how {
                "not" => "not by these points".to_owned(),
                how => how.to_owned(),
            },
        ]
    });
    let headings = ["parameter", "value", "95 % CI", "determined"];
    print_table(&table(&headings, rows.collect()), false)?;
    let mut lines = Vec::new();
    lines.push(format!(
        "error at the {} points that were fitted: mean {:.1} %",
        fitted.points.len() - fitted.kept_back(),
        fitted.mean_error(false) * 100.0
    ));
    lines.push(format!(
        "error at the {} points that were kept back: mean {:.1} %, worst {}",
        fitted.kept_back(),
        fitted.mean_error(true) * 100.0,
        worst(fitted)
    ));
    lines.push(match fitted.unexplained.as_slice() {
        [] => "points that it cannot explain: none".to_owned(),
        odd => {
            let odd: Vec<String> = odd.iter().map(missed).collect();
            format!("points that it cannot explain: {}", odd.join("; "))
        }
    });
    if !seen.left_out.is_empty() {
        lines.push(format!("invalid points, left out: {}", seen.left_out.join("; ")));
    }
    if !seen.remarked.is_empty() {
        lines.push(format!("points with a remark: {}", seen.remarked.join("; ")));
    }
    if !fitted.teaches.is_empty() {
        let further: Vec<String> = fitted
            .teaches
            .iter()
            .map(|load| format!("{} ({:.0} % narrower)", load.label, load.gain * 100.0))
            .collect();
        lines.push(format!("further points that would teach most: {}", further.join("; ")));
    }
    print(&lines.join("\n"))
}

fn worst(fitted: &Fitted) -> String {
    let back = fitted.points.iter().filter(|point| point.kept_back);
    let worst = back.max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
    worst.map_or_else(String::new, missed)
}

fn missed(point: &Missed) -> String {
    format!("{} {:+.0} %", point.label, point.error() * 100.0)
}

/// Four digits.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
