//! `qdepth reproduce`: compares published figures with emulated ones. Touches no storage.

use anyhow::Result;
use qdepth_files::Privacy;
use qdepth_papers::{Comparison, Reference, compare};
use qdepth_report::Lang;

use crate::commands::report::{OutputFiles, typesetter};
use crate::exit_status::Status;
use crate::flags::read_plan::read_words;
use crate::flags::{Format, ReproduceOptions};
use crate::result_file::ResultFile;
use crate::terminal::{print, print_raw, print_table};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;
use qdepth_papers::{compose_edition, compose_reproduction, emulate, reproduction_tables};

pub(crate) fn reproduce(options: &ReproduceOptions) -> Result<Status> {
    let mut reference = Reference::shipped()?;
    for replacement in &options.target {
        replace(&mut reference, replacement)?;
    }
    if let Some(document) = document(options, &reference) {
        reference = reference.of_document(&document).map_err(|error| Usage(error.to_string()))?;
    }
    let wanted = options.paper.is_some() && options.format.contains(&Format::Pdf);
    let typesetter = wanted.then(typesetter).transpose()?;
    let html = options.html.as_ref().map(|path| ResultFile::file(path, Privacy::Public));
    let html = html.transpose()?;
    let (formats, languages) = (&options.format, &options.lang);
    let opened =
        |name| OutputFiles::open(formats, languages, Some(name), Privacy::Public, typesetter);
    let edition = options.paper.as_deref().map(opened).transpose()?;
    let signals = Signals::watch()?;
    let emulation = emulate(&reference, &read_words, signals.stop())?;
    if let Some(signal) = signals.caught() {
        return Ok(Status::Interrupted(signal));
    }
    let comparison = compare(&reference, emulation);
    if options.json {
        print_raw(&qdepth_papers::json(&comparison))?;
    } else {
        show(&comparison, options)?;
    }
    let version = env!("CARGO_PKG_VERSION");
    if let Some(html) = html {
        let page = compose_reproduction(&comparison, version, &command(options), lang(options));
        html.write(qdepth_report::html(&page)?)?;
    }
    if let Some(edition) = edition {
        let document = |lang| compose_edition(&comparison, version, &command(options), lang);
        edition.write(document)?;
    }
    Ok(if comparison.reached() { Status::Valid } else { Status::Invalid })
}

/// Id of the requested document: by its name, or by the file name of the edition.
fn document(options: &ReproduceOptions, reference: &Reference) -> Option<String> {
    let edition = options.paper.as_deref().and_then(|name| name.file_stem()?.to_str());
    let known = |name: &&str| reference.documents.iter().any(|document| document.id == *name);
    options.document.clone().or_else(|| edition.filter(known).map(str::to_owned))
}

/// Replaces the expression of a target (`--target NAME=EXPRESSION`).
fn replace(reference: &mut Reference, replacement: &str) -> Result<()> {
    let usage = || Usage(format!("--target {replacement}: use NAME=EXPRESSION"));
    let (name, expression) = replacement.split_once('=').ok_or_else(usage)?;
    let known = reference.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
    let target = reference.targets.iter_mut().find(|target| target.name == name);
    let target = target.ok_or_else(|| {
        Usage(format!(
            "--target {replacement}: there is no target `{name}`; the targets are {known}"
        ))
    })?;
    expression.clone_into(&mut target.expression);
    // Plans with this column are dropped: they would still measure the original expression.
    reference.plans.retain(|plan| !plan.columns.iter().any(|column| column == name));
    Ok(())
}

/// Command of the comparison, as typed.
fn command(options: &ReproduceOptions) -> String {
    let mut words = vec!["qdepth reproduce".to_owned()];
    words.extend(options.document.clone());
    words.extend(options.paper.iter().map(|name| format!("--paper {}", name.display())));
    let quoted = |target: &String| format!("--target '{}'", target.replace('\'', "'\\''"));
    words.extend(options.target.iter().map(quoted));
    words.join(" ")
}

/// Language of the page: the first requested, or the default.
fn lang(options: &ReproduceOptions) -> Lang {
    options.lang.first().copied().unwrap_or_default()
}

fn show(comparison: &Comparison, options: &ReproduceOptions) -> Result<()> {
    let (tables, summary) = reproduction_tables(comparison, options.all, lang(options));
    for table in tables {
        print(&format!("{} (EMULATED)", table.caption))?;
        print_table(&table, false)?;
    }
    for sentence in summary {
        print(&sentence)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
