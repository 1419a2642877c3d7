//! `qdepth media`: lists the emulated devices, and describes a device model.

use anyhow::{Result, bail};
use qdepth_files::{Input, limit, shell_word};
use qdepth_media::{Checked, Description, TargetExpression, is_file, name_and_format, parameters};
use qdepth_papers::{Reference, Use, compare};

use crate::commands::fit::fit_medium;
use crate::exit_status::Status;
use crate::flags::read_plan::read_words;
use crate::flags::{MediaCommand, MediaOptions};
use crate::layout::wrapped;
use crate::terminal::print;
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;
use qdepth_papers::emulate;

pub(crate) fn media(options: &MediaOptions) -> Result<Status> {
    if let Some(MediaCommand::Fit(options)) = &options.command {
        return fit_medium(options);
    }
    match &options.name {
        Some(name) => print(&describe_medium(name.trim_start_matches("media:"))?)?,
        None => print(&list()?)?,
    }
    Ok(Status::Valid)
}

/// Headings of the list: by the data that the emulation was compared with.
fn heading(checked: Checked) -> &'static str {
    match checked {
        Checked::OwnRuns => "Fitted to measured runs, with a known error:",
        Checked::Published => "Compared with published measurements:",
        Checked::Reproduced => "Fitted to published measurements, with none left for validation:",
        Checked::DataSheetOnly => "From data sheets; never compared with a measurement:",
        Checked::Class => "A class of drives, not one model:",
        Checked::Definition => "Exact by definition:",
        Checked::Not => "Not compared with anything:",
    }
}

/// Syntax of target expressions, below the list.
const EXPRESSIONS: &str = "
Formats of a device: media:NAME/FORMAT
Arrays:    raid0(media:NAME*2), raid1, raid5, raid10, independent(media:NAME*4)
Volumes:   xfs(media:NAME), md, imsm, xvm, gpfs-1m, gpfs-4m
Wrappers:  delay(…, 100us), fault(…, errors=1000), pressure(…, 500MB/s)
Settings:  'media:NAME @area=full', @cpu=1.6GHz, @settings=default, @host=NAME,
           @processes=4, @state=fresh, @cooling=restricted, @PARAMETER=NUMBER

qdepth run quick media:NAME measures one; qdepth media NAME describes one";

fn list() -> Result<String> {
    let mut lines = vec!["EMULATED devices".to_owned()];
    let mut group = None;
    for (name, description) in Description::all()? {
        if group.replace(description.checked()) != Some(description.checked()) {
            lines.extend([String::new(), heading(description.checked()).to_owned()]);
        }
        lines.extend(wrapped(&format!("  {name:<25}{}", description.title), 80, &" ".repeat(27)));
        let formats: Vec<&str> = description.formats.keys().map(String::as_str).collect();
        if !formats.is_empty() {
            lines.push(format!("    formats: {}", formats.join(", ")));
        }
    }
    lines.push(EXPRESSIONS.to_owned());
    Ok(lines.join("\n"))
}

fn describe_medium(name: &str) -> Result<String> {
    if name.contains('(') {
        TargetExpression::read(name)?;
        bail!(Usage(format!(
            "{name} is a target expression, not a device model. Preview it with `qdepth plan quick \
             {}`, or describe one device, for example `qdepth media p3700-800gb`",
            shell_word(name)
        )));
    }
    let (name, format) = name_and_format(name);
    let description = if is_file(name) {
        let text = Input::file(name, limit::DESCRIPTION).text()?;
        Description::read(name, &text)?
    } else {
        Description::shipped(name)?
    };
    let values = description.numbers(name, format, &std::collections::BTreeMap::new())?;
    let mut lines = vec![format!("{name}: {} (EMULATED)", description.title)];
    let remarks = [
        ("", description.about.clone()),
        ("checked: ", description.checked().words().to_owned()),
        ("compared with ", description.compared_with.clone()),
        ("host ", description.host.clone().unwrap_or_default()),
    ];
    lines.extend(
        remarks.iter().filter(|(_, text)| !text.is_empty()).map(|(k, t)| format!("{k}{t}")),
    );
    for format in description.formats.iter() {
        lines.push(format!("format {}: {}", format.0, format.1.title));
    }
    for parameter in parameters(&description.kind).unwrap_or_default() {
        let of_format = format.or(description.default_format.as_deref());
        let of_format = of_format
            .and_then(|f| description.formats.get(f))
            .and_then(|f| f.parameters.get(parameter.name));
        let sourced = of_format.or_else(|| description.parameters.get(parameter.name));
        lines.push(format!(
            "  {:<26} {:>10} {:<7} {} [{}]",
            parameter.name,
            values.get(parameter.name),
            parameter.unit,
            parameter.meaning,
            sourced.map_or("default", |s| s.from.as_str())
        ));
    }
    for (key, promise, unit) in description.data_sheet.promises() {
        lines.push(format!("data sheet: {key} {} {unit} [{}]", promise.value, promise.from));
    }
    for (key, number) in &description.computer {
        lines.push(format!("computer: {key} {} [{}]", number.value, number.from));
    }
    for divergence in &description.divergences {
        lines.push(format!("known divergence: {divergence}"));
    }
    match &description.fit {
        Some(known) => lines.push(format!(
            "error on {} held-out points: {:.1} % (root mean square); measured range {:.0} to \
             {:.0} bytes, {:.0} to {:.0} in flight; day-to-day variation {:.1} %",
            known.held_out,
            known.error * 100.0,
            known.request_bytes[0],
            known.request_bytes[1],
            known.in_flight[0],
            known.in_flight[1],
            known.day_to_day * 100.0
        )),
        None => lines.extend(achieved(name)?),
    }
    Ok(lines.join("\n"))
}

/// Meaning of each use of a published figure.
const USES: [(Use, &str); 4] = [
    (Use::Calibrated, "calibrated against"),
    (Use::Predicted, "predicted, not used for fitting"),
    (Use::ReproducedNotValidated, "reproduced, not validated: as many parameters as figures"),
    (Use::Tabled, "tabled: parameters were taken from them"),
];

/// Errors against all published figures of the device, from a new emulation.
fn achieved(name: &str) -> Result<Vec<String>> {
    let reference = Reference::shipped()?.of_medium(name);
    if reference.published.is_empty() {
        return Ok(vec!["model error: unknown (no published figures)".to_owned()]);
    }
    let signals = Signals::watch()?;
    let comparison = compare(&reference, emulate(&reference, &read_words, signals.stop())?);
    let line = |(used, says): &(Use, &str)| {
        let errors = comparison.errors_of(*used);
        let (worst, id) = errors.worst.zip(errors.worst_at)?;
        let of_use = comparison.figures.iter().filter(|f| f.published.used == *used);
        let mut citations: Vec<String> = Vec::new();
        for figure in of_use {
            let citation = format!("{}, {}", figure.published.document, figure.published.section);
            if !citations.contains(&citation) {
                citations.push(citation);
            }
        }
        Some(format!(
            "error of {} published figures ({says}): mean {:.1} %, worst {:.1} % ({id}); from {}",
            errors.count,
            errors.mean? * 100.0,
            worst * 100.0,
            citations.join("; ")
        ))
    };
    let mut lines: Vec<String> = USES.iter().filter_map(line).collect();
    lines.push("compare each with the emulated figure: qdepth reproduce --all".to_owned());
    Ok(lines)
}
