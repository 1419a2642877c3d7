//! Target of a first measurement: a temporary file in the current directory, as large as can be
//! filled in a second, or else existing storage.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::Timestamp;
use qdepth_files::Folder;
use qdepth_host::guard::claim_read_only;
use qdepth_host::label::LABEL_BYTES;
use qdepth_host::measurement_file::{self, NAME, Wanted};
use qdepth_host::readable::largest_file;
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind, inspect};
use qdepth_host::{Guard, Problem, Refusal};
use qdepth_measure::pattern::Pattern;
use qdepth_measure::{Bytes, Nanos};
use qdepth_workload::{Choices, PlanFile, shipped_plan_text};

use crate::request::PlanRequest;

/// Name of the shipped plan.
pub(crate) const PLAN: &str = "first";

const MIB: u64 = 1 << 20;
/// Possible sizes of a temporary file, in MiB; the largest that fits is used.
const SIZES_MIB: [u64; 8] = [256, 128, 64, 32, 16, 8, 4, 2];
/// Smallest existing file that is read: a smaller one would be answered by the drive's cache.
const OTHERS_MIN: u64 = 8 * MIB;
/// Bytes written to estimate how fast a file can be filled.
const PROBE: u64 = 8 * MIB;
/// Time limit for filling a file.
const FILLING: Nanos = Nanos::from_secs(1);

/// Target of the first measurement and its description.
pub struct Survey {
    /// Plan to measure.
    pub plan: PlanRequest,
    /// Description of the target, for example `temporary file of 256MiB`.
    pub what: String,
}

/// Chooses the target.
///
/// # Errors
/// A refusal if no file can be created and nothing can be read.
pub fn survey(system: &System) -> Result<Survey> {
    let here = inspect(system, Path::new("."))?;
    let refusal = match size_of_own(system, &here) {
        Ok(Own::Kept(bytes)) => {
            let what = format!("{NAME}, {}, kept by an earlier run", Bytes(bytes));
            return Ok(Survey { plan: plan_request(".", Some(bytes))?, what });
        }
        Ok(Own::Provision(bytes)) => {
            let what = format!("temporary file of {}", Bytes(bytes));
            return Ok(Survey { plan: plan_request(".", Some(bytes))?, what });
        }
        Err(Problem::Refused(refusal)) => refusal,
        Err(failed @ Problem::Failed(_)) => return Err(failed.into()),
    };
    if let Some(name) = largest_file(&here, OTHERS_MIN) {
        let what = format!("{}, an existing file, only read", Path::new(&name).display());
        let file = Path::new(".").join(name);
        return Ok(Survey { plan: plan_request(file, None)?, what });
    }
    if let Some(device) = readable_device(system, &here) {
        let what = format!("{}, the device below this directory, only read", device.display());
        return Ok(Survey { plan: plan_request(device, None)?, what });
    }
    Err(nothing_to_read(&here, refusal).into())
}

/// A measurement file of qdepth's that exists, or the size of one that can be created.
enum Own {
    Kept(u64),
    Provision(u64),
}

fn size_of_own(system: &System, here: &Inspected) -> Result<Own, Problem> {
    let wanted = |size_bytes| Wanted {
        size_bytes,
        run_id: "",
        now: Timestamp::now(),
        keep: false,
        direct: true,
    };
    let kept = inspect(system, &Path::new(".").join(NAME)).ok().and_then(|file| match file.kind {
        Kind::RegularFile { size_bytes, .. } => size_bytes.checked_sub(LABEL_BYTES),
        Kind::Directory(_) | Kind::BlockDevice(_) => None,
    });
    if let Some(bytes) = kept.filter(|bytes| *bytes > 0)
        && measurement_file::clear(system, here, &wanted(bytes), 0)
            .is_ok_and(|cleared| cleared.bytes_to_fill() == 0)
    {
        return Ok(Own::Kept(bytes));
    }
    let mut most = u64::MAX;
    let mut refused = None;
    for bytes in SIZES_MIB.map(|size| size * MIB) {
        if bytes > most {
            continue;
        }
        match measurement_file::clear(system, here, &wanted(bytes), 0) {
            // The speed is measured only if there is room.
            Ok(_) if most == u64::MAX => {
                most = filled_in(FILLING, bytes);
                if bytes <= most {
                    return Ok(Own::Provision(bytes));
                }
            }
            Ok(_) => return Ok(Own::Provision(bytes)),
            Err(Problem::Refused(refusal)) => {
                let bounds = refusal.guard == Guard::G13Bounds;
                refused = Some(refusal);
                if !bounds {
                    break;
                }
            }
            Err(failed) => return Err(failed),
        }
    }
    let found = "no file can be created here";
    Err(refused
        .unwrap_or_else(|| Refusal::new(Guard::G14Place, found, "Use another directory"))
        .into())
}

/// Number of bytes that can be filled in this time, estimated by writing a little to an unnamed
/// file; the smallest size if that fails.
fn filled_in(time: Nanos, room: u64) -> u64 {
    let least = SIZES_MIB[SIZES_MIB.len() - 1] * MIB;
    let probe = || -> Result<u64> {
        let bytes = PROBE.min(room);
        let mut file = Folder::open(Path::new("."))?.nameless()?;
        let mut block = vec![0; MIB as usize];
        Pattern::new(1).fill(&mut block, 0.0);
        let began = qdepth_linux::now();
        for _ in 0..bytes / MIB {
            file.write_all(&block)?;
        }
        file.sync_data()?;
        let took = qdepth_linux::now().since(began);
        Ok((bytes as f64 * time.as_secs_f64() / took.as_secs_f64().max(1e-6)) as u64)
    };
    probe().unwrap_or(least).max(least)
}

/// The single device below, if all guards permit reading it. Permissions alone do not decide,
/// because a container may deny it even to root.
fn readable_device(system: &System, here: &Inspected) -> Option<PathBuf> {
    let devices = here.devices();
    let [device] = devices.as_slice() else { return None };
    let path = PathBuf::from(format!("/dev/{device}"));
    let device = inspect(system, &path).ok()?;
    claim_read_only(system, &device, true).is_ok().then_some(path)
}

fn plan_request(target: impl Into<PathBuf>, file_size: Option<u64>) -> Result<PlanRequest> {
    let text = shipped_plan_text(PLAN).unwrap_or_default();
    let file: PlanFile =
        text.parse().context("the shipped plan cannot be read (internal error)")?;
    let file = PlanFile { file_size: file_size.map(Bytes), ..file };
    Ok(PlanRequest { file, choices: Choices::default(), targets: vec![target.into()] })
}

fn nothing_to_read(here: &Inspected, refusal: Refusal) -> Refusal {
    let path = here.path.display();
    let found = format!(
        "no file of at least 2MiB can be created in {path} ({}), and it contains no readable file \
         of at least {}",
        refusal.found,
        Bytes(OTHERS_MIN)
    );
    // For root, reading the device was refused before.
    let device =
        here.devices().into_iter().next().filter(|_| !rustix::process::geteuid().is_root());
    let device = device.map_or_else(String::new, |device| {
        format!(", or read the device below as root: qdepth run first /dev/{device} --read-only")
    });
    let remedy = format!(
        "Name a directory with free space on the same storage: qdepth run first DIR{device}"
    );
    Refusal::new(refusal.guard, found, remedy)
}
