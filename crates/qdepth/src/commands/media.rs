//! `qdepth media`: lists the emulated devices, and describes a device model.

use anyhow::Result;
use qdepth_files::{Input, limit};
use qdepth_media::{Checked, Description, is_file, name_and_format, parameters};
use qdepth_papers::{Reference, Use, compare};

use crate::commands::fit::fit_medium;
use crate::exit_status::Status;
use crate::flags::read_plan::read_words;
use crate::flags::{MediaCommand, MediaOptions};
use crate::terminal::print;
use qdepth_lab::events::signals::Signals;
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

fn list() -> Result<String> {
    let mut lines =
        vec!["EMULATED devices, for example `qdepth run standard media:NAME`".to_owned()];
    for (name, description) in Description::all()? {
        let (standing, checked) = (standing(&description), description.checked().words());
        let formats: Vec<&str> = description.formats.keys().map(String::as_str).collect();
        let formats = if formats.is_empty() {
            String::new()
        } else {
            format!("; formats {}", formats.join(", "))
        };
        lines.push(format!(
            "  {name:<24} {} ({standing}; checked: {checked}{formats})",
            description.title
        ));
    }
    lines.push(
        "Arrays: raid0(media:NAME*2), raid1(…), raid5(…), raid10(…), independent(media:NAME*4). \
         Wrappers: delay(…, 100us), fault(…, errors=1000), pressure(…, 500MB/s). Settings after \
         the target: @area=full, @cpu=1.6GHz, @settings=default, @processes=4, @state=fresh, \
         @PARAMETER=NUMBER."
            .to_owned(),
    );
    Ok(lines.join("\n"))
}

/// Basis of the parameters of a device model.
fn standing(description: &Description) -> &'static str {
    let of_formats = description.formats.values().flat_map(|format| format.parameters.values());
    let mut all = description.parameters.values().chain(of_formats);
    if description.checked() == Checked::Class {
        "generic: represents a class"
    } else if description.fit.is_some() {
        "fitted to measured runs"
    } else if all.any(|number| number.from == "calibrated") {
        "calibrated"
    } else {
        "from data sheets, priors and definitions"
    }
}

fn describe_medium(name: &str) -> Result<String> {
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
        return Ok(vec!["error: unknown, because there are no published figures".to_owned()]);
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
