//! A preparation's way through the guards.

use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_host::guard::{Writing, clear_for_writing};
use qdepth_host::system::System;
use qdepth_host::target::inspect;

use crate::ended::Usage;
use crate::flags::ConsentOptions;
use crate::lab::prepare::{Made, Order, all_different, consent_for};
use crate::screen::Screen;

/// Asks every guard of every device whose contents a preparation destroys, and the user. Each is
/// held while the others are asked, and let go at the end: the programs that prepare open them
/// for themselves.
pub(crate) fn may_be_destroyed(
    system: &System,
    devices: &[String],
    options: &ConsentOptions,
    screen: &Screen,
) -> Result<()> {
    let order = Order {
        run_id: "preparation",
        results_dir: Path::new("."),
        writes: true,
        made: Made::MeasurementFile(0),
        keep: false,
        destroy: &options.destroy,
        consent: options.consent.as_deref(),
        overwrite: &options.overwrite_signature,
    };
    let writing = Writing {
        run_id: order.run_id,
        now: Timestamp::now(),
        results_dir: order.results_dir,
        direct: false,
    };
    let mut found = Vec::new();
    for device in devices {
        found.push(inspect(system, Path::new(device))?);
    }
    all_different(&found.iter().collect::<Vec<_>>())?;
    let mut held = Vec::new();
    for target in &found {
        let device = target
            .block_device()
            .ok_or_else(|| Usage(format!("{} is no block device", target.spelling.display())))?;
        let consent = consent_for(system, device, &order, screen)?;
        held.push(clear_for_writing(system, target, consent.as_ref(), &writing)?);
    }
    drop(held);
    Ok(())
}
