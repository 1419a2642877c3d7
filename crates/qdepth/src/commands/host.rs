//! `qdepth host`: what this machine is, and what it is to a measurement.

use anyhow::{Context, Result};
use jiff::Timestamp;
use qdepth_host::environment::{inventory, redact};
use qdepth_host::recording::Recording;
use qdepth_host::system::System;
use qdepth_logbook::export_host_json;
use qdepth_report::{Lang, host_tables};

use crate::commands::read::{print, print_list};
use crate::ended::{Status, Usage};
use crate::flags::{HostCommand, HostOptions, InventoryOptions};
use crate::lab::calibrate::{calibrate, cpus};

pub(crate) fn host(options: &HostOptions) -> Result<Status> {
    match &options.command {
        None => tell(&options.inventory),
        Some(HostCommand::Calibrate(options)) => {
            let more: Vec<u32> = (2..=cpus()).collect();
            print(&calibrate(options.engine.choice().first(), &more)?.text())?;
            Ok(Status::Valid)
        }
    }
}

/// Tells what the machine is.
fn tell(options: &InventoryOptions) -> Result<Status> {
    let system = looked_at(options)?;
    let mut facts = inventory(&system);
    if let Some(path) = &options.record {
        std::fs::write(path, system.tape().text())
            .with_context(|| format!("cannot write the recording {}", path.display()))?;
    }
    if options.redact {
        redact(&mut facts);
    }
    if options.json {
        let version = env!("CARGO_PKG_VERSION");
        let now = Timestamp::now().to_string();
        print(export_host_json(&facts, version, &now, options.redact).trim_end())?;
        return Ok(Status::Valid);
    }
    for table in host_tables(&facts, options.all, Lang::En) {
        print_list(&table)?;
    }
    Ok(Status::Valid)
}

/// This machine, or one that was recorded.
fn looked_at(options: &InventoryOptions) -> Result<System> {
    let Some(path) = &options.recorded else {
        return Ok(if options.record.is_some() { System::recording() } else { System::real() });
    };
    let wrong =
        |why: String| Usage(format!("the recording {} cannot be read: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let recording = Recording::parse(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(System::recorded(recording))
}
