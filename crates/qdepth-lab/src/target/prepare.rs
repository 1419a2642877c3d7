//! Preparation of targets: inspection, guards, claim, and a measurement file if needed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use jiff::Timestamp;
use qdepth_files::{Input, limit};
use qdepth_host::consent::Consent;
use qdepth_host::extents::unwritten_share;
use qdepth_host::guard::{
    self, Claim, Direct, Writing, claim_read_only, clear_for_writing, open_to_consent,
};
use qdepth_host::measurement_file::{self, MeasurementFile, Wanted};
use qdepth_host::own_files::{self, OwnFiles};
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, Kind, inspect};
use qdepth_host::{Problem, Refusal};
use qdepth_linux::errno_name;
use qdepth_media::{TargetExpression, Wear, is_emulated};
use qdepth_record::event::Phase;
use qdepth_record::phase_step::FILL;
use qdepth_record::{PhaseStep, TargetKind};
use qdepth_workload::{Extent, TargetShape, WrittenTargets};
use rustix::fs::{FlockOperation, flock};

use crate::Lab;
use crate::events::observer::Progress;
use crate::failure::Usage;
use crate::monitor::monitors::DriveHealth;
use crate::request::provision::{Provision, is_written};
use crate::target::consent::consent_for;

/// Smallest size and alignment of direct I/O on a file if the device below is unknown.
const FILE_BLOCK: u32 = 512;

/// Bytes reserved for labels at each end of a device that is written.
const LABEL_ROOM: u64 = 1 << 20;

/// A target as found, unchanged.
pub enum ResolvedTarget {
    /// Storage of this machine.
    Real(Inspected),
    /// An emulated device in virtual time, which needs no guards.
    Emulated(TargetExpression),
}

impl ResolvedTarget {
    /// The target on storage; `None` for an emulated device.
    pub fn real(&self) -> Option<&Inspected> {
        match self {
            Self::Real(inspected) => Some(inspected),
            Self::Emulated(_) => None,
        }
    }
}

/// Parses the expression of an emulated target, and reads the device models that it names.
pub fn target_expression(text: &str) -> Result<TargetExpression> {
    let file = |path: &str| {
        Input::file(path, limit::DESCRIPTION).text().map_err(|error| error.to_string())
    };
    Ok(TargetExpression::read_with(text, &file)?)
}

/// Finds the target that an expression names.
pub fn find(system: &System, expression: &Path) -> Result<ResolvedTarget> {
    match expression.to_str().filter(|text| is_emulated(text)) {
        Some(text) => Ok(ResolvedTarget::Emulated(target_expression(text)?)),
        None => Ok(ResolvedTarget::Real(inspect(system, expression)?)),
    }
}

/// Properties of a target after its preparation, as far as they can be determined without touching
/// it: a plan that does not fit must be refused before anything is written.
pub fn previewed(target: &ResolvedTarget, provision: &Provision) -> Result<TargetShape> {
    let target = match target {
        ResolvedTarget::Real(inspected) => inspected,
        ResolvedTarget::Emulated(medium) => return Ok(medium.shape()?),
    };
    let (length_bytes, block_bytes) = match &target.kind {
        Kind::Directory(_) | Kind::RegularFile { size_bytes: 0, .. } => {
            (provision.bytes(), FILE_BLOCK)
        }
        Kind::RegularFile { size_bytes, .. } => (*size_bytes, FILE_BLOCK),
        Kind::BlockDevice(device) => (
            device.identity.size_bytes.saturating_sub(2 * LABEL_ROOM),
            device.logical_block_bytes as u32,
        ),
    };
    let whole = TargetShape::whole(Extent { offset_bytes: 0, length_bytes }, block_bytes);
    let holds_files =
        matches!((&target.kind, provision), (Kind::Directory(_), Provision::OwnFiles(_)));
    Ok(TargetShape { holds_files, ..whole })
}

/// A target that may be measured.
pub(crate) struct Prepared {
    pub(crate) expression: PathBuf,
    pub(crate) shape: TargetShape,
    pub(crate) storage: PreparedStorage,
}

/// Real or emulated storage.
#[expect(clippy::large_enum_variant, reason = "a run has a handful of them")]
pub(crate) enum PreparedStorage {
    Real(Real),
    Emulated(Emulation),
}

/// Storage of this machine that every guard has passed.
pub(crate) struct Real {
    pub(crate) inspected: Inspected,
    /// Last health values of the drives below.
    pub(crate) health: RefCell<DriveHealth>,
    /// Share that was never written at the last check; `None` if unknown.
    pub(crate) unwritten: Cell<Option<f64>>,
    storage_claim: StorageClaim,
}

/// An emulated device, and the state that carries over from point to point.
pub(crate) struct Emulation {
    pub(crate) medium: TargetExpression,
    pub(crate) wear: RefCell<Option<Vec<Wear>>>,
}

enum StorageClaim {
    Claim(Claim),
    File(MeasurementFile),
    OwnFiles(RefCell<OwnFiles>),
}

impl Real {
    /// The device below, if there is a single one.
    pub(crate) fn device(&self) -> Option<String> {
        let devices = self.inspected.devices();
        (devices.len() == 1).then(|| devices[0].clone())
    }

    /// The claim on the target; `None` if points create files of their own.
    pub(crate) fn claim(&self) -> Option<&Claim> {
        match &self.storage_claim {
            StorageClaim::Claim(claim) => Some(claim),
            StorageClaim::File(file) => Some(&file.claim),
            StorageClaim::OwnFiles(_) => None,
        }
    }

    /// The directory in which points create files.
    pub(crate) fn own_files(&self) -> Option<&RefCell<OwnFiles>> {
        match &self.storage_claim {
            StorageClaim::OwnFiles(files) => Some(files),
            StorageClaim::Claim(_) | StorageClaim::File(_) => None,
        }
    }

    /// Removes a measurement file unless it must be kept, and releases the lock, which a ring may
    /// otherwise hold for some time after the program's end.
    fn put_back(self) -> Result<()> {
        let locked = self.claim().map(|claim| claim.file.try_clone());
        let removed = match self.storage_claim {
            StorageClaim::File(file) => file.remove(),
            StorageClaim::OwnFiles(files) => files.into_inner().end(),
            StorageClaim::Claim(_) => Ok(()),
        };
        if let Some(Ok(locked)) = locked {
            let _ = flock(&locked, FlockOperation::Unlock);
        }
        Ok(removed?)
    }
}

impl Prepared {
    /// The target on storage; `None` for an emulated device.
    pub(crate) fn real(&self) -> Option<&Real> {
        match &self.storage {
            PreparedStorage::Real(real) => Some(real),
            PreparedStorage::Emulated(_) => None,
        }
    }

    pub(crate) fn kind(&self) -> TargetKind {
        match self.real().map(|real| &real.inspected.kind) {
            Some(Kind::Directory(_)) => TargetKind::Directory,
            Some(Kind::RegularFile { .. }) => TargetKind::File,
            Some(Kind::BlockDevice(_)) => TargetKind::BlockDevice,
            None => TargetKind::Emulated,
        }
    }

    /// True if the kernel's counters of the device are those of the target only.
    pub(crate) fn is_device(&self) -> bool {
        self.kind() == TargetKind::BlockDevice
    }

    /// Practical limit of the link, bytes per second; `None` unless the target is a device with a
    /// known link.
    pub(crate) fn link(&self) -> Option<f64> {
        let device = self.real()?.inspected.block_device()?;
        device.link.as_ref().map(|link| link.practical_bytes_per_s)
    }

    /// Reason why direct I/O is not in effect, if it is not.
    pub(crate) fn not_direct(&self) -> Option<String> {
        let real = self.real()?;
        let answer = match real.own_files() {
            Some(files) => files.borrow().not_direct(),
            None => match real.claim()?.direct {
                Direct::Refused(answer) => Some(answer),
                Direct::Yes | Direct::NotAsked => None,
            },
        };
        answer.map(|answer| errno_name(answer.raw_os_error()))
    }

    /// Restores the target to its original state.
    pub(crate) fn put_back(self) -> Result<()> {
        match self.storage {
            PreparedStorage::Real(real) => real.put_back(),
            PreparedStorage::Emulated(_) => Ok(()),
        }
    }
}

/// Options of the preparation of targets.
#[derive(Clone, Copy)]
pub(crate) struct PrepareOptions<'a> {
    pub(crate) lab: Lab<'a>,
    pub(crate) run_id: &'a str,
    pub(crate) results_dir: &'a Path,
    pub(crate) writes: &'a WrittenTargets,
    pub(crate) provision: &'a Provision,
    pub(crate) keep: bool,
}

/// Targets that have passed all guards, before anything is written.
pub(crate) struct ClearedTargets<'a> {
    options: PrepareOptions<'a>,
    real: Vec<(Inspected, Cleared)>,
    emulated: Vec<Prepared>,
}

/// Asks all guards of all targets before the first is written, then makes each ready. A signal ends
/// the filling of a measurement file.
pub(crate) fn prepare(
    expressions: &[PathBuf],
    options: PrepareOptions<'_>,
) -> Result<Vec<Prepared>> {
    clear_targets(expressions, options)?.make_ready()
}

/// Asks all guards of all targets.
pub(crate) fn clear_targets<'a>(
    expressions: &[PathBuf],
    options: PrepareOptions<'a>,
) -> Result<ClearedTargets<'a>> {
    let Lab { system, observer, request, .. } = options.lab;
    let mut found = Vec::new();
    for expression in expressions {
        found.push(find(system, expression)?);
    }
    of_one_kind(&found)?;
    let (mut real, mut emulated) = (Vec::new(), Vec::new());
    for (target, expression) in found.into_iter().zip(expressions) {
        match target {
            ResolvedTarget::Real(inspected) => real.push(inspected),
            ResolvedTarget::Emulated(medium) => {
                emulated.push(emulation(expression.clone(), medium)?)
            }
        }
    }
    let found = real;
    let mut consents = Vec::new();
    for (number, target) in found.iter().enumerate() {
        consents.push(match target.kind {
            Kind::Directory(_) => None,
            _ if is_written(options.writes, number, target) => {
                open_to_consent(system, target, &writing(options))?;
                consent_for(system, target, &request.consent, observer)?
            }
            _ => None,
        });
    }
    let cleared = clear_all(&found, &consents, options)?;
    Ok(ClearedTargets { options, real: found.into_iter().zip(cleared).collect(), emulated })
}

impl ClearedTargets<'_> {
    /// Makes each target ready.
    pub(crate) fn make_ready(self) -> Result<Vec<Prepared>> {
        let mut prepared = self.emulated;
        for (target, cleared) in self.real {
            let ready = make_ready(target, cleared, self.options);
            prepared.push(ready.map_err(|error| refusal_to_failure(error, !prepared.is_empty()))?);
        }
        Ok(prepared)
    }
}

/// Asks the guards of each target, and reports all missing consents at once.
fn clear_all(
    found: &[Inspected],
    consents: &[Option<Consent>],
    options: PrepareOptions<'_>,
) -> Result<Vec<Cleared>> {
    let mut cleared: Vec<Cleared> = Vec::new();
    let mut missing: Option<Refusal> = None;
    for (number, (target, consent)) in found.iter().zip(consents).enumerate() {
        let promised = promised(&found[..cleared.len()], &cleared, target);
        let (consent, count) = (consent.as_ref(), found.len());
        match clear(target, consent, options, promised, number, count) {
            // After the first missing consent, later targets are only asked for theirs.
            Ok(_) if missing.is_some() => {}
            Ok(clearance) => cleared.push(clearance),
            Err(error) => match error.downcast::<Refusal>() {
                Ok(refusal) if !refusal.lacks.is_empty() => {
                    missing = Some(match missing.take() {
                        Some(others) => others.and(refusal),
                        None => refusal,
                    });
                }
                Ok(_) if missing.is_some() => {}
                Ok(refusal) => return Err(refusal.into()),
                Err(error) => return Err(error),
            },
        }
    }
    missing.map_or(Ok(cleared), |refusal| Err(refusal.into()))
}

/// Checks that all targets are real or all are emulated.
pub(crate) fn of_one_kind(found: &[ResolvedTarget]) -> Result<()> {
    let emulated = found.iter().filter(|target| target.real().is_none()).count();
    if emulated > 0 && emulated < found.len() {
        bail!(Usage(
            "a run is either EMULATED or measured: use separate runs for emulated devices and real \
             storage"
                .to_owned()
        ));
    }
    Ok(())
}

pub(crate) fn emulation(expression: PathBuf, medium: TargetExpression) -> Result<Prepared> {
    let shape = medium.shape()?;
    let storage = PreparedStorage::Emulated(Emulation { medium, wear: RefCell::new(None) });
    Ok(Prepared { expression, shape, storage })
}

/// Checks that no two names lead to the same storage.
pub(crate) fn all_different(found: &[&Inspected]) -> Result<()> {
    let mut known = BTreeMap::new();
    for target in found {
        if let Some(twin) = known.insert(target.identity(), target) {
            bail!(Usage(format!(
                "{} and {} are the same target: name it only once",
                twin.expression.display(),
                target.expression.display()
            )));
        }
    }
    Ok(())
}

/// A target that has passed all guards, before anything is written to it.
enum Cleared {
    ReadOnly(Claim),
    Writing(guard::Cleared),
    File(measurement_file::Cleared),
    OwnFiles(OwnFiles),
}

/// Bytes that the measurement files of earlier targets will take on the file system of `target`.
fn promised(earlier: &[Inspected], cleared: &[Cleared], target: &Inspected) -> u64 {
    let bytes = |(other, cleared): (&Inspected, &Cleared)| match cleared {
        Cleared::File(file) if other.shares_file_system(target) => file.bytes_to_fill(),
        Cleared::OwnFiles(files) if other.shares_file_system(target) => files.bytes(),
        _ => 0,
    };
    earlier.iter().zip(cleared).map(bytes).sum()
}

fn wanted(options: PrepareOptions<'_>) -> Wanted<'_> {
    let PrepareOptions { run_id, provision, keep, .. } = options;
    let (size_bytes, now) = (provision.bytes(), Timestamp::now());
    Wanted { size_bytes, run_id, now, keep, direct: true }
}

fn writing(options: PrepareOptions<'_>) -> Writing<'_> {
    let PrepareOptions { run_id, results_dir, .. } = options;
    Writing { run_id, now: Timestamp::now(), results_dir, direct: true }
}

/// Asks the guards of the target with this number, one of `count`.
fn clear(
    target: &Inspected,
    consent: Option<&Consent>,
    options: PrepareOptions<'_>,
    promised: u64,
    number: usize,
    count: usize,
) -> Result<Cleared> {
    let PrepareOptions { lab: Lab { system, .. }, run_id, provision, keep, .. } = options;
    let writes = is_written(options.writes, number, target);
    let makes_file = match target.kind {
        Kind::Directory(_) => true,
        Kind::RegularFile { size_bytes, .. } => size_bytes == 0 && writes,
        Kind::BlockDevice(_) => false,
    };
    Ok(match provision {
        Provision::OwnFiles(files) if matches!(target.kind, Kind::Directory(_)) => {
            let (size_bytes, naming) = (files.bytes, files.naming(number, count));
            let wanted = own_files::Wanted { size_bytes, run_id, naming, writes, keep };
            Cleared::OwnFiles(own_files::clear(system, target, &wanted, promised)?)
        }
        _ if makes_file => {
            let wanted = wanted(options);
            Cleared::File(measurement_file::clear(system, target, &wanted, promised)?)
        }
        _ if writes => {
            Cleared::Writing(clear_for_writing(system, target, consent, &writing(options))?)
        }
        _ => Cleared::ReadOnly(claim_read_only(system, target, true)?),
    })
}

/// Makes a target ready. Writes the first bytes.
fn make_ready(
    inspected: Inspected,
    cleared: Cleared,
    options: PrepareOptions<'_>,
) -> Result<Prepared> {
    let Lab { observer, signals, .. } = options.lab;
    let storage_claim = match cleared {
        Cleared::ReadOnly(claim) => StorageClaim::Claim(claim),
        Cleared::Writing(cleared) => StorageClaim::Claim(cleared.claim(&writing(options))?),
        Cleared::File(cleared) => {
            let (path, bytes) = (&*inspected.expression, options.provision.bytes());
            let step = PhaseStep::new(FILL).label("directory", path.display().to_string());
            let mut filling = Progress::begin(observer, Phase::Provisioning, step, Some(bytes));
            let mut progress = |bytes| {
                filling.reach(bytes);
                match signals.caught() {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            };
            let made = cleared.make(&wanted(options), &mut progress);
            drop(filling);
            StorageClaim::File(made?)
        }
        Cleared::OwnFiles(files) => StorageClaim::OwnFiles(RefCell::new(files)),
    };
    let expression = inspected.expression.clone();
    let mut real =
        Real { inspected, health: RefCell::default(), unwritten: Cell::new(None), storage_claim };
    let unwritten =
        |claim: &Claim| unwritten_share(&claim.file, claim.usable.offset, claim.usable.length);
    real.unwritten = Cell::new(real.claim().and_then(unwritten));
    let shape = shape(&real);
    Ok(Prepared { expression, shape, storage: PreparedStorage::Real(real) })
}

/// Converts a refusal to a failure if targets were already made ready, because a refusal says that
/// nothing was changed.
pub(crate) fn refusal_to_failure(error: anyhow::Error, changed: bool) -> anyhow::Error {
    if !changed {
        return error;
    }
    match error.downcast::<Problem>() {
        Ok(Problem::Refused(refusal)) => anyhow::anyhow!(
            "{} ({}), after other targets had already been prepared. {}",
            refusal.found,
            refusal.guard,
            refusal.remedy
        ),
        Ok(failed) => failed.into(),
        Err(error) => error,
    }
}

fn shape(real: &Real) -> TargetShape {
    let Some(claim) = real.claim() else {
        let length_bytes = real.own_files().map_or(0, |files| files.borrow().bytes());
        let whole = Extent { offset_bytes: 0, length_bytes };
        return TargetShape { holds_files: true, ..TargetShape::whole(whole, FILE_BLOCK) };
    };
    let usable = claim.usable;
    let block_bytes = match (&real.inspected.kind, &claim.direct) {
        (Kind::BlockDevice(device), _) => device.logical_block_bytes as u32,
        (_, Direct::Refused(_)) => 1,
        _ => FILE_BLOCK,
    };
    let usable = Extent { offset_bytes: usable.offset, length_bytes: usable.length };
    TargetShape::whole(usable, block_bytes)
}
