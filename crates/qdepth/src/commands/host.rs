//! `qdepth host`: what this machine is to a measurement.

use anyhow::Result;

use crate::commands::read::print;
use crate::ended::Status;
use crate::flags::HostCommand;
use crate::lab::calibrate::{calibrate, cpus};

pub(crate) fn host(command: &HostCommand) -> Result<Status> {
    let HostCommand::Calibrate(options) = command;
    let more: Vec<u32> = (2..=cpus()).collect();
    print(&calibrate(options.engine.choice().first(), &more)?.text())?;
    Ok(Status::Valid)
}
