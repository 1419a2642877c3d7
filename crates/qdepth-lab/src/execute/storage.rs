//! Open files with which workers measure a point in real time.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::thread::park_timeout;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use qdepth_host::own_entries::EntryUse;
use qdepth_host::own_files::OwnFiles;
use qdepth_host::reach::Commands;
use qdepth_host::system::System;
use qdepth_linux::{EngineChoice, Namespace, O_DSYNC, entry_name};
use qdepth_measure::Nanos;
use qdepth_workload::{CacheAdvice, Durability, Layout, Operation, Point};
use rustix::fs::{
    Advice, AtFlags, Mode, OFlags, Statx, StatxFlags, fadvise, fcntl_getfl, fcntl_setfl, fstat,
    ftruncate, statx,
};

use crate::Lab;
use crate::execute::dropping::drop_pages;
use crate::execute::measure_options::MeasureOptions;
use crate::ranks::all_ranks::AllRanks;
use crate::target::prepare::{Prepared, Real};

/// Time in which a delay ends after a signal.
const STOP_WITHIN: Duration = Duration::from_millis(50);

/// Open files of a point.
pub(crate) struct Storage<'a> {
    pub(crate) real: &'a Real,
    /// True if direct I/O is in effect.
    pub(crate) direct: bool,
    /// One file for all workers, or one for each.
    files: Vec<Opened>,
    /// Original length of the file, if the point changes it.
    length: Option<u64>,
    /// The NVMe namespace, if the engine sends commands.
    namespace: Option<Namespace>,
}

/// An open file, and how long opening took; zero if it was open before.
struct Opened {
    /// Number of the worker; the first if all share the file.
    stream: usize,
    file: OwnedFd,
    took: Nanos,
}

impl<'a> Storage<'a> {
    /// Creates or opens the files of a point, and sets direct I/O as requested.
    pub(crate) fn ready(
        real: &'a Real,
        point: &Point,
        options: MeasureOptions<'_>,
    ) -> Result<Self> {
        if matches!(options.engine, EngineChoice::Only(engine) if engine.sends_commands()) {
            return Self::of_commands(options.lab.system, real);
        }
        let files = match (real.claim(), real.own_files()) {
            (Some(claim), _) => {
                let file = claim.file.try_clone();
                let file = file.context("cannot duplicate the target's descriptor")?;
                let file = durable(file, point.durability)?;
                vec![Opened { stream: 0, file, took: Nanos::ZERO }]
            }
            (None, Some(files)) => own(&mut files.borrow_mut(), point, options.lab)?,
            (None, None) => Vec::new(),
        };
        let mut direct = point.direct;
        for Opened { file, .. } in &files {
            direct &= set_direct(file, point.direct).with_context(|| {
                format!("cannot set up {}", real.inspected.expression.display())
            })?;
            advise(file, point.advice);
            if point.drop_cache {
                drop_pages(file, point).context("cannot write back the target's pages")?;
            }
        }
        let moves_end = !point.operation.is_transfer() && !point.operation.is_of_entries();
        let length = match files.first().filter(|_| moves_end) {
            Some(opened) => Some(fstat(&opened.file).context("cannot get the status of the file")?),
            None => None,
        };
        let length = length.and_then(|stat| u64::try_from(stat.st_size).ok());
        Ok(Self { real, direct, files, length, namespace: None })
    }

    /// The character device for the commands of an NVMe namespace, next to the claim on its block
    /// device.
    fn of_commands(system: &System, real: &'a Real) -> Result<Self> {
        let claim = real.claim().context("NVMe commands need a device")?;
        let commands = Commands::find(system, &real.inspected)?;
        let Commands { namespace: id, block_bytes, .. } = commands;
        let file = commands.open(system, claim)?;
        let files = vec![Opened { stream: 0, file, took: Nanos::ZERO }];
        Ok(Self {
            real,
            direct: true,
            files,
            length: None,
            namespace: Some(Namespace { id, block_bytes }),
        })
    }

    /// The file of the worker with this number, and the namespace if it takes commands.
    pub(crate) fn file(&self, worker: usize) -> io::Result<(OwnedFd, Option<Namespace>)> {
        let own = self.files.iter().find(|opened| opened.stream == worker);
        let file = own.or(self.files.first());
        let file = file.ok_or_else(|| io::Error::other("the target has no file"))?;
        Ok((file.file.try_clone()?, self.namespace))
    }

    /// True if closing restores the length of the file.
    pub(crate) fn restores_length(&self) -> bool {
        self.length.is_some()
    }

    /// Closes the files, and returns the times for opening and closing each. A file whose end was
    /// moved gets its original length back, which later points rely on.
    pub(crate) fn close(self) -> Vec<(Nanos, Nanos)> {
        if let (Some(length), Some(opened)) = (self.length, self.files.first()) {
            // If that fails, the next guard reports the changed length.
            let _ = ftruncate(&opened.file, length);
        }
        let own_files = self.real.own_files();
        let close = |Opened { file, took, .. }| {
            // The status may wait for a server, as closing does.
            let before = qdepth_linux::now();
            if let Some(files) = own_files {
                files.borrow_mut().note_closed(&file);
            }
            drop(file);
            (took, qdepth_linux::now().since(before))
        };
        self.files.into_iter().map(close).collect()
    }
}

/// Waits for the delay that all points have, if they have their own files: they replace files of
/// earlier points, which others may change until then. Returns the points without that delay.
pub(crate) fn after_delay(targets: &[Prepared], group: &[Point], lab: Lab<'_>) -> Vec<Point> {
    let real = |point: &Point| targets[point.target as usize].real();
    let has_own = |point: &Point| real(point).is_some_and(|real| real.own_files().is_some());
    let delay = group.iter().map(|point| point.delay_ns).min().unwrap_or(0);
    if delay == 0 || !group.iter().all(has_own) {
        return group.to_vec();
    }
    let (began, stop) = (qdepth_linux::now(), lab.signals.stop());
    let is_over =
        || qdepth_linux::now().since(began) >= Nanos(delay) || stop.load(Ordering::Relaxed);
    let wait = || {
        while !is_over() {
            park_timeout(STOP_WITHIN);
        }
    };
    // The other ranks begin after the leader.
    if lab.all_ranks.is_none_or(AllRanks::is_leader) {
        AllRanks::alive_during(lab.all_ranks, stop, wait);
    }
    let later = |point: &Point| Point { delay_ns: point.delay_ns - delay, ..point.clone() };
    group.iter().map(later).collect()
}

/// The files of a point that has its own: a point that writes creates them, a point that reads
/// opens them. A missing file is filled without measuring, for example if the run was resumed after
/// it had been written.
fn own(files: &mut OwnFiles, point: &Point, lab: Lab<'_>) -> Result<Vec<Opened>> {
    let all_ranks = lab.all_ranks;
    let names: Vec<(String, u64)> = match point.layout {
        Layout::Area => bail!("the point has no files of its own (internal error)"),
        Layout::Entries => return entries(files, point),
        Layout::SharedFile | Layout::SharedEntries => {
            vec![(files.name(None), point.area.length_bytes)]
        }
        Layout::FilePerStream | Layout::EntriesPerStream => {
            let length = point.area.length_bytes / u64::from(point.streams);
            (0..point.streams).map(|number| (files.name(Some(number)), length)).collect()
        }
    };
    let of_entries = point.layout.is_of_entries();
    if point.writes() && !of_entries {
        files.remove_unchanged()?;
    }
    let clock = qdepth_linux::now;
    let mut opened = Vec::new();
    let shared = !point.layout.is_per_stream();
    for (stream, (name, length_bytes)) in names.into_iter().enumerate() {
        if !shared && all_ranks.is_some_and(|all_ranks| !all_ranks.has(point, stream)) {
            continue;
        }
        // The leader creates a shared file before it tells the others to begin.
        let leads = !shared || all_ranks.is_none_or(AllRanks::is_leader);
        let makes = point.writes() && leads;
        if of_entries {
            // Checking, filling or removing a million files takes long.
            let work = || directory(files, point, &name, length_bytes, leads);
            let file = AllRanks::alive_during(all_ranks, lab.signals.stop(), work)?;
            opened.push(Opened { stream, file, took: Nanos::ZERO });
            continue;
        }
        if !point.writes() && !files.has(&name) {
            if point.verify {
                bail!(
                    "{name} is gone, but this point verifies it against what the run wrote: an \
                     interrupted run removes its files. Start a new run, or keep the files (ior -k)"
                );
            }
            let file = files.create(&name, point.direct)?;
            files.fill(&file, &name, length_bytes)?;
        }
        let before = clock();
        let file = if makes {
            files.create(&name, point.direct)?
        } else {
            files.open(&name, point.direct, point.writes())?
        };
        opened.push(Opened { stream, file, took: clock().since(before) });
    }
    Ok(opened)
}

/// The directory of a point whose operations are on directory entries, with the entries that must
/// exist.
fn entries(files: &mut OwnFiles, point: &Point) -> Result<Vec<Opened>> {
    let (names, bytes) = needed_entries(point, point.area.length_bytes);
    let file = files.folder(point.index, names, bytes)?;
    Ok(vec![Opened { stream: 0, file, took: Nanos::ZERO }])
}

/// A directory that the points of a run share. Another rank is responsible for it unless this one
/// `leads`.
fn directory(
    files: &mut OwnFiles,
    point: &Point,
    name: &str,
    length_bytes: u64,
    leads: bool,
) -> Result<OwnedFd> {
    let how = match point.operation {
        _ if !leads => EntryUse::Join,
        operation if operation.makes_entries() => {
            EntryUse::Create { directories: operation.is_of_directories() }
        }
        Operation::RemoveFiles | Operation::RemoveDirectories => EntryUse::Remove,
        _ => EntryUse::Use,
    };
    let (names, bytes) = needed_entries(point, length_bytes);
    Ok(files.directory(name, how, names, bytes)?)
}

/// Names of the entries that must exist in a directory of this length, and the size of files.
fn needed_entries(point: &Point, length_bytes: u64) -> (impl Iterator<Item = String>, Option<u64>) {
    let (size, operation) = (u64::from(point.block_size.max()), point.operation);
    let count = if operation.needs_entries() { length_bytes / size } else { 0 };
    let names = (0..count).map(move |number| entry_name(operation, number));
    (names, (!operation.is_of_directories()).then_some(size))
}

/// Reopens the file for durable writes (`O_SYNC`, `O_DSYNC`), which only an open can request. It
/// uses the claimed descriptor, not a name.
fn durable(file: OwnedFd, durability: Durability) -> Result<OwnedFd> {
    let flag = match durability {
        Durability::None | Durability::Fsync | Durability::Fdatasync => return Ok(file),
        Durability::Sync => OFlags::SYNC,
        Durability::Dsync => O_DSYNC,
    };
    let flags = OFlags::RDWR | OFlags::CLOEXEC | flag;
    let again = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::open(again, flags, Mode::empty())
        .context("the target cannot be opened for durable writes (O_SYNC, O_DSYNC)")
}

/// Advice to the kernel about the requests of a point. It replaces that of the point before, which
/// stays with the open file.
fn advise(file: &OwnedFd, advice: CacheAdvice) {
    let advice = match advice {
        CacheAdvice::None => Advice::Normal,
        CacheAdvice::Sequential => Advice::Sequential,
        CacheAdvice::Random => Advice::Random,
    };
    // Advice that the file system does not know has no effect.
    let _ = fadvise(file, 0, None, advice);
}

/// Sets direct I/O, and returns whether it is in effect according to the kernel.
fn set_direct(file: &OwnedFd, asked: bool) -> Result<bool> {
    let flags = fcntl_getfl(file).context("cannot read the file's flags")?;
    let wanted = if asked { flags | OFlags::DIRECT } else { flags - OFlags::DIRECT };
    if wanted != flags && fcntl_setfl(file, wanted).is_err() && !asked {
        bail!("cannot turn off direct I/O");
    }
    let flags = fcntl_getfl(file).context("cannot read the file's flags")?;
    Ok(flags.contains(OFlags::DIRECT) && !ignores_direct(file))
}

/// True if the file system accepts direct I/O on this file but does buffered I/O, for example ext4
/// with a data journal: the file then has no alignment for direct I/O (statx(2), Linux 6.1).
fn ignores_direct(file: &OwnedFd) -> bool {
    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    let is_told = |found: &Statx| found.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    found.is_ok_and(|found| is_told(&found) && found.stx_dio_mem_align == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_syncs_do_not_wait_for_metadata() {
        let open = |durability| {
            let file = tempfile::tempfile().expect("a file");
            let file = durable(file.into(), durability).expect("opened again");
            fcntl_getfl(file).expect("flags")
        };
        let [data, all] = [Durability::Dsync, Durability::Sync].map(open);
        assert!(data.contains(O_DSYNC) && !data.contains(OFlags::SYNC), "{data:?}");
        assert!(all.contains(OFlags::SYNC), "{all:?}");
    }
}
