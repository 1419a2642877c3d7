//! Runs one point: opens the target's engine on a thread of its own, drives it, and hands the
//! intervals to the screen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result};
use qdepth_engine::{Interval, Outcome, measure};
use qdepth_host::Refusal;
use qdepth_host::guard::Claim;
use qdepth_host::system::System;
use qdepth_linux::{Engine, EngineChoice, KernelTarget, OpenOptions, Probe};
use qdepth_measure::{Code, Finding};
use qdepth_workload::Point;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::lab::prepare::Prepared;
use crate::lab::witnesses::{Seen, Witnesses};

/// Intervals that the screen may lag behind; later ones are not shown.
const SCREEN_LAG: usize = 64;

/// A point as measured, with what else was seen.
pub(crate) struct Measured {
    pub(crate) outcome: Outcome,
    pub(crate) engine: Engine,
    pub(crate) probe: Probe,
    /// Whether direct I/O was in effect.
    pub(crate) direct: bool,
    /// What else happened on the machine.
    pub(crate) seen: Seen,
    /// How the target's identity was no longer what it was, when the point ended.
    pub(crate) changed: Option<Changed>,
}

/// The target is not the one that was claimed.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    was: String,
    is: String,
    remedy: String,
}

impl Changed {
    fn of(claim: &Claim, refusal: Refusal) -> Self {
        let Refusal { found, remedy, .. } = refusal;
        Self { was: claim.identity.to_string(), is: found, remedy }
    }

    pub(crate) fn finding(&self) -> Finding {
        Finding::invalid(Code::DeviceChanged).label("was", &self.was).label("is", &self.is)
    }
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}. {}", self.is, self.remedy)
    }
}

impl std::error::Error for Changed {}

/// Measures a point on a prepared target.
pub(crate) fn execute(
    system: &System,
    prepared: &Prepared,
    point: &Point,
    engine: EngineChoice,
    stop: &AtomicBool,
    seen: &mut dyn FnMut(&Interval),
) -> Result<Measured> {
    let claim = prepared.claim();
    // In the middle of a run this is a failure: earlier points may have written.
    claim.check_identity(system).map_err(|refusal| Changed::of(claim, refusal))?;
    let direct = set_direct(prepared, point.direct)?;
    let file = claim.file.try_clone().context("cannot duplicate the target's descriptor")?;
    let options = OpenOptions {
        slots: point.in_flight_max(),
        size_max: point.request_size.max(),
        payload: point.payload,
        seed: point.seed,
        engine,
    };
    let devices = prepared.inspected.devices();
    let device = (devices.len() == 1).then(|| devices[0].clone());
    let before = Witnesses::look(system, device.as_deref());
    let (send, receive) = sync_channel(SCREEN_LAG);
    let measured = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // On its own thread, since a ring belongs to the thread that made it.
            let mut target = KernelTarget::open(file, &options)?;
            let mut show = |interval: &Interval| {
                let _ = send.try_send(*interval);
            };
            let outcome = measure(&mut target, point, stop, &mut show);
            Ok::<_, anyhow::Error>((outcome, target.engine(), target.probe().clone()))
        });
        loop {
            match receive.recv_timeout(Duration::from_millis(200)) {
                Ok(interval) => seen(&interval),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        worker.join().map_err(|_| anyhow::anyhow!("the worker ended by a bug of qdepth"))?
    });
    let (outcome, engine, probe) = measured?;
    let witnessed = before.until(&Witnesses::look(system, device.as_deref()));
    let changed = claim.check_identity(system).err().map(|refusal| Changed::of(claim, refusal));
    Ok(Measured { outcome, engine, probe, direct, seen: witnessed, changed })
}

/// Sets direct I/O as the point asks, and says whether it is in effect, as the kernel says.
fn set_direct(prepared: &Prepared, asked: bool) -> Result<bool> {
    let file = &prepared.claim().file;
    let flags = fcntl_getfl(file).context("cannot read the target's flags")?;
    let wanted = if asked { flags | OFlags::DIRECT } else { flags - OFlags::DIRECT };
    if wanted != flags && fcntl_setfl(file, wanted).is_err() && !asked {
        anyhow::bail!("cannot turn direct I/O off on {}", prepared.spelling.display());
    }
    let flags = fcntl_getfl(file).context("cannot read the target's flags")?;
    Ok(flags.contains(OFlags::DIRECT))
}

/// The signal that asked to stop: its number, and the flag that the loop looks at.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    stop: std::sync::Arc<AtomicBool>,
    terminated: std::sync::Arc<AtomicBool>,
}

impl Signals {
    /// From now on SIGINT and SIGTERM ask to stop; the second one ends the program at once.
    pub(crate) fn watch() -> Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag::{register, register_conditional_shutdown};
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the shutdown looks at the flag before it is set.
            register_conditional_shutdown(signal, 128 + signal, signals.stop.clone())
                .and_then(|_| register(signal, signals.stop.clone()))
                .context("cannot watch for signals")?;
        }
        register(SIGTERM, signals.terminated.clone()).context("cannot watch for signals")?;
        Ok(signals)
    }

    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The number of the signal that came, if one came.
    pub(crate) fn caught(&self) -> Option<i32> {
        let stopped = self.stop.load(Ordering::Relaxed);
        let terminated = self.terminated.load(Ordering::Relaxed);
        stopped.then_some(if terminated { 15 } else { 2 })
    }
}
