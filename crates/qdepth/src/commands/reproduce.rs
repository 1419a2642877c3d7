//! `qdepth reproduce`: published figures beside emulated ones. Touches no storage.

use anyhow::Result;
use qdepth_reference::{Comparison, Reference, compare};
use qdepth_report::{Lang, compose_reproduction, reproduction_tables};

use crate::commands::read::{print, print_any_table, write_page};
use crate::ended::{Status, Usage};
use crate::flags::ReproduceOptions;
use crate::lab::emulate::emulate;
use crate::lab::execute::Signals;

pub(crate) fn reproduce(options: &ReproduceOptions) -> Result<Status> {
    let mut reference = Reference::shipped()?;
    for replacement in &options.target {
        replace(&mut reference, replacement)?;
    }
    if let Some(document) = &options.document {
        reference = reference.of_document(document).map_err(|error| Usage(error.to_string()))?;
    }
    let signals = Signals::watch()?;
    let emulation = emulate(&reference, signals.stop())?;
    if let Some(signal) = signals.caught() {
        return Ok(Status::Interrupted(signal));
    }
    let comparison = compare(&reference, emulation);
    if options.json {
        print(&qdepth_reference::json(&comparison))?;
    } else {
        show(&comparison, options.all)?;
    }
    if let Some(path) = &options.html {
        let version = env!("CARGO_PKG_VERSION");
        let page = compose_reproduction(&comparison, version, &command(options), Lang::En);
        write_page(&page, path)?;
    }
    Ok(if comparison.reached() { Status::Valid } else { Status::Invalid })
}

/// `NAME=SPELLING`.
fn replace(reference: &mut Reference, replacement: &str) -> Result<()> {
    let usage = || Usage(format!("--target {replacement}: NAME=SPELLING is expected"));
    let (name, spelling) = replacement.split_once('=').ok_or_else(usage)?;
    let known = reference.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ");
    let target = reference.targets.iter_mut().find(|target| target.name == name);
    let target = target.ok_or_else(|| {
        Usage(format!("--target {replacement}: there is no target `{name}`; there are: {known}"))
    })?;
    spelling.clone_into(&mut target.spelling);
    Ok(())
}

/// What made the comparison, as typed.
fn command(options: &ReproduceOptions) -> String {
    let mut words = vec!["qdepth reproduce".to_owned()];
    words.extend(options.document.clone());
    let quoted = |target: &String| format!("--target '{}'", target.replace('\'', "'\\''"));
    words.extend(options.target.iter().map(quoted));
    words.join(" ")
}

fn show(comparison: &Comparison, all: bool) -> Result<()> {
    let (tables, summary) = reproduction_tables(comparison, all, Lang::En);
    for table in tables {
        print(&format!("{} (EMULATED)", table.caption))?;
        print_any_table(&table)?;
    }
    for sentence in summary {
        print(&sentence)?;
    }
    Ok(())
}
