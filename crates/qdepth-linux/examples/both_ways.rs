//! Every engine on an NVMe namespace, under the suite that all targets pass, and each reading what
//! the others wrote. Writes to a drive of `cargo xtask vm` (by its serial) and to no other.
//!
//! `both_ways DEVICE ENGINE…`, the device by the kernel's name: `both_ways nvme0n1 io_uring`

#![expect(clippy::disallowed_methods, reason = "a tool for those who work on the project")]
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::error::Error;
use std::fs::{OpenOptions as Open, read_to_string};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use qdepth_engine::{Completions, Slot, Target, conformance};
use qdepth_linux::{
    Engine, EngineChoice, KernelTarget, NOT_AS_WRITTEN, Namespace, OpenOptions, Verifying,
};
use qdepth_measure::Nanos;
use qdepth_workload::{Direction, Generations, Payload, Request};

const ENGINES: [Engine; 4] = [
    Engine::IoUring,
    Engine::IoUringPolled,
    Engine::IoUringPassthrough,
    Engine::IoUringPassthroughPolled,
];
const SLOTS: u32 = 32;
const BLOCK: u32 = 4096;
/// Blocks that are written, 3 apart, from the second MiB on.
const BLOCKS: u64 = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [device, names @ ..] = words.as_slice() else { return Err("no device".into()) };
    let serial = read_to_string(format!("/sys/block/{device}/device/serial"))?;
    if !serial.starts_with("QD000") {
        return Err(format!("{device} is not a drive of the virtual machine").into());
    }
    let engines: Vec<Engine> =
        ENGINES.into_iter().filter(|e| names.iter().any(|name| name == e.name())).collect();
    let mut targets = Vec::new();
    for engine in &engines {
        let mut target = open(device, *engine)?;
        conformance::check(target.as_target(), SLOTS, 64 << 20)
            .map_err(|why| format!("{}: {why}", engine.name()))?;
        targets.push(target);
    }
    for writer in 0..targets.len() {
        let stamp = writer as u64 + 1;
        all(&mut targets[writer], Direction::Write, stamp, BLOCK as i32)?;
        flush(&mut targets[writer], engines[writer])?;
        for reader in &mut targets {
            all(reader, Direction::Read, stamp, BLOCK as i32)?;
            // Another's stamp is not found: the check can fail.
            all(reader, Direction::Read, stamp + 100, -NOT_AS_WRITTEN)?;
        }
    }
    println!("{} engines agree on {device}", targets.len());
    Ok(())
}

fn open(device: &str, engine: Engine) -> Result<KernelTarget, Box<dyn Error>> {
    let number = |key: &str| -> Result<u32, Box<dyn Error>> {
        Ok(read_to_string(format!("/sys/block/{device}/{key}"))?.trim().parse()?)
    };
    let mut open = Open::new();
    open.read(true).write(true);
    let file = if engine.sends_commands() {
        open.open(format!("/dev/{}", device.replacen("nvme", "ng", 1)))?
    } else {
        open.custom_flags(libc::O_DIRECT).open(format!("/dev/{device}"))?
    };
    let options = OpenOptions {
        slots: SLOTS,
        size_max: BLOCK,
        payload: Payload::default(),
        seed: 1,
        engine: EngineChoice::Only(engine),
        trims: false,
        data_sync: false,
        own_writes: false,
        operation: qdepth_workload::Operation::Transfer,
        namespace: Some(Namespace {
            id: number("nsid")?,
            block_bytes: number("queue/logical_block_size")?,
        }),
    };
    let target = KernelTarget::open(file.into(), &options)?;
    println!("{}: {:?}", engine.name(), target.probe());
    Ok(target)
}

/// One request for each block, of which each must end so.
fn all(
    target: &mut KernelTarget,
    direction: Direction,
    stamp: u64,
    wanted: i32,
) -> Result<(), Box<dyn Error>> {
    let name = target.engine().name();
    // Each way writes and reads with numbers of its own: what the other wrote is as it was left.
    let writes = Arc::new(Generations::new(u64::from(BLOCK), 0, 0));
    let mut target = Verifying::new(target, SLOTS, stamp, writes);
    for first in (0..BLOCKS).step_by(SLOTS as usize) {
        for slot in 0..SLOTS {
            let offset = (1 << 20) + (first + u64::from(slot)) * 3 * u64::from(BLOCK);
            target.submit(Slot(slot), Request { direction, offset, size: BLOCK });
        }
        let mut left = SLOTS;
        let limit = target.now() + Nanos::from_secs(60);
        while left > 0 {
            let mut done = Completions::with_capacity(SLOTS as usize);
            target.wait(limit, &mut done)?;
            if let Some(bad) = done.as_slice().iter().find(|c| c.result != wanted) {
                return Err(format!("{name}: a {direction:?} ended with {}", bad.result).into());
            }
            if target.now() >= limit {
                return Err(format!("{name}: no answer within a minute").into());
            }
            left -= done.as_slice().len() as u32;
        }
    }
    Ok(())
}

fn flush(target: &mut KernelTarget, engine: Engine) -> Result<(), Box<dyn Error>> {
    if engine.polls_device() {
        return Ok(());
    }
    let target = target.as_target();
    target.submit(Slot(0), Request { direction: Direction::Sync, offset: 0, size: 0 });
    let mut done = Completions::with_capacity(1);
    let limit = target.now() + Nanos::from_secs(60);
    target.wait(limit, &mut done)?;
    match done.as_slice() {
        [flushed] if flushed.result == 0 => Ok(()),
        other => Err(format!("{}: a flush ended with {other:?}", engine.name()).into()),
    }
}
