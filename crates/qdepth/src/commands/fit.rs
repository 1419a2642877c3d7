//! `qdepth media fit`: fits a device model to measured runs of a drive.

use anyhow::{Context, Result};
use qdepth_files::{Privacy, shell_word};
use qdepth_host::system::System;
use qdepth_linux::keep_freed;
use qdepth_media::fit::{
    Export, FitError, Fitted, Kind, MaximumRates, PointError, description, fit, maximum_rates,
};
use qdepth_media::{Description, TargetExpression};
use qdepth_record::TargetRecord;

use crate::commands::read::{chosen_all, table};
use crate::exit_status::Status;
use crate::flags::FitOptions;
use crate::result_file::ResultFile;
use crate::screen::{Screen, counted};
use crate::terminal::{print, print_raw, print_table};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Missing;
use qdepth_lab::request::own_medium::{Seen, measured_disk, seen};

pub(crate) fn fit_medium(options: &FitOptions) -> Result<Status> {
    let file = ResultFile::file(&options.output, Privacy::Public)?;
    let runs = chosen_all(&options.runs, &options.logbook)?;
    let (screen, signals) = (Screen::new(), Signals::watch()?);
    let seen = seen(&runs)?;
    let kind = options.kind.or(seen.kind.as_ref().map(|(kind, _)| *kind));
    screen.print_line(&format!(
        "fitting {} to {} of {}",
        kind.map_or_else(|| "a model of each kind".to_owned(), |kind| format!("a {kind} model")),
        counted(seen.observed.len()),
        seen.provenance.title
    ));
    let capacity = seen.provenance.capacity_bytes;
    keep_freed();
    let fitted = match fit(&seen.observed, kind, capacity, signals.stop()) {
        Ok(fitted) => fitted,
        Err(error) => return ended(&signals, error),
    };
    let text = description(&fitted, &seen.observed, &seen.provenance);
    let name = options.output.display().to_string();
    Description::read(&name, &text)?;
    let settings = match options.export {
        None => None,
        Some(export) => {
            let medium = TargetExpression::read_with("media:fitted.toml", &|_| Ok(text.clone()))?;
            let target = runs.iter().find_map(|(run, _)| run.targets.first());
            match maximum_rates(&medium, signals.stop()) {
                Ok(rates) => Some(settings(export, &rates, target.context("no target")?)?),
                Err(error) => return ended(&signals, error),
            }
        }
    };
    match &settings {
        // Alone and not wrapped, so that a shell or a file can take it.
        Some(settings) => print_raw(settings.trim_end())?,
        None => print_fit(&fitted, &seen, options.kind)?,
    }
    file.write(&text)?;
    screen.print_line(&format!(
        "model    {name}: predict other loads with `qdepth predict {name}`, or use it as target \
         `media:{}`",
        if name.contains('/') { name.clone() } else { format!("./{name}") }
    ));
    Ok(Status::Valid)
}

fn ended(signals: &Signals, error: FitError) -> Result<Status> {
    match (error, signals.caught()) {
        (FitError::Interrupted, Some(signal)) => Ok(Status::Interrupted(signal)),
        (FitError::Interrupted, None) => Err(FitError::Interrupted.into()),
        (error, _) => Err(Missing(error.to_string()).into()),
    }
}

/// Settings of another program for the disk of the run.
fn settings(export: Export, rates: &MaximumRates, target: &TargetRecord) -> Result<String> {
    let disk = measured_disk(&System::real(), target);
    let disk = disk.map_or_else(|| "MAJ:MIN".to_owned(), |number| number.to_string());
    let settings = rates.settings(export, &disk, &target.expression);
    Ok(settings.map_err(|missing| {
        Missing(format!(
            "these settings need reads and writes, and no {missing} were measured; measure them \
             with `qdepth run fit {}`, or write the limits of what was measured with \
             --export io.max",
            shell_word(&target.expression)
        ))
    })?)
}

fn print_fit(fitted: &Fitted, seen: &Seen, asked: Option<Kind>) -> Result<()> {
    print(&format!("EMULATED: model of {}", seen.provenance.title))?;
    let why = match (asked, &seen.kind) {
        (Some(_), _) => "set by --kind".to_owned(),
        (None, Some((_, why))) => format!("{why}; --kind overrides it"),
        (None, None) => "fewest parameters of the kinds that fit the held-out points best; --kind \
                         overrides it"
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
        "error on the {} fitted points: mean {:.1} %",
        fitted.points.len() - fitted.held_out(),
        fitted.mean_error(false) * 100.0
    ));
    lines.push(format!(
        "error on the {} held-out points: mean {:.1} %, worst {}",
        fitted.held_out(),
        fitted.mean_error(true) * 100.0,
        worst(fitted)
    ));
    lines.push(match fitted.unexplained.as_slice() {
        [] => "unexplained points: none".to_owned(),
        odd => {
            let odd: Vec<String> = odd.iter().map(missed).collect();
            format!("unexplained points: {}", odd.join("; "))
        }
    });
    if !seen.left_out.is_empty() {
        lines.push(format!("invalid points, omitted: {}", seen.left_out.join("; ")));
    }
    if !seen.remarked.is_empty() {
        lines.push(format!("points with warnings: {}", seen.remarked.join("; ")));
    }
    if !fitted.informative_points.is_empty() {
        let further: Vec<String> = fitted
            .informative_points
            .iter()
            .map(|load| format!("{} (uncertainty -{:.0} %)", load.label, load.gain * 100.0))
            .collect();
        lines.push(format!("most informative further points: {}", further.join("; ")));
    }
    print(&lines.join("\n"))
}

fn worst(fitted: &Fitted) -> String {
    let back = fitted.points.iter().filter(|point| point.held_out);
    let worst = back.max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
    worst.map_or_else(String::new, missed)
}

fn missed(point: &PointError) -> String {
    format!("{} {:+.0} %", point.label, point.error() * 100.0)
}

/// Formats a value with about four significant digits.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
