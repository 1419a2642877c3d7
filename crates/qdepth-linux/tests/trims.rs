//! Trimmed parts of a file read as zeros, for each engine that supports trims.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use qdepth_engine::{Completions, Slot};
use qdepth_linux::{Engine, EngineChoice, KernelTarget, OpenOptions};
use qdepth_measure::Nanos;
use qdepth_workload::{Direction, Payload, Request};

#[cfg(test)]
fn open(engine: Engine, file: &File) -> Result<KernelTarget, qdepth_linux::OpenError> {
    let options = OpenOptions {
        slots: 1,
        size_max: 16 << 10,
        payload: Payload::default(),
        seed: 1,
        engine: EngineChoice::Only(engine),
        trims: true,
        data_sync: false,
        own_writes: false,
        operation: qdepth_workload::Operation::Transfer,
        namespace: None,
    };
    KernelTarget::open(file.try_clone().expect("a descriptor").into(), &options)
}

#[cfg(test)]
fn result(target: &mut KernelTarget, request: Request) -> i32 {
    let target = target.as_target();
    target.submit(Slot(0), request);
    let mut done = Completions::with_capacity(1);
    while done.as_slice().is_empty() {
        let until = target.now() + Nanos::from_secs(5);
        target.wait(until, &mut done).expect("not broken");
    }
    done.as_slice()[0].result
}

#[test]
fn trimmed_range_reads_zeros_and_keeps_file_length() {
    for engine in [Engine::IoUring, Engine::IoUringSqPoll, Engine::Threads, Engine::Sync] {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&[7; 64 << 10]).expect("written");
        let mut target = open(engine, &file).unwrap_or_else(|why| panic!("{engine:?}: {why}"));
        let trim = Request { direction: Direction::Trim, offset: 8 << 10, size: 16 << 10 };
        assert_eq!(result(&mut target, trim), 16 << 10, "{engine:?}: all of it, as a transfer");
        // Ring entries are reused, so no field of a trim may remain.
        let write = Request { direction: Direction::Write, offset: 0, size: 4096 };
        for request in [write, Request { direction: Direction::Read, ..write }, trim] {
            assert_eq!(result(&mut target, request), request.size as i32, "{engine:?}");
        }
        let mut found = vec![1; 64 << 10];
        file.read_exact_at(&mut found, 0).expect("as long as before");
        assert!(found[8 << 10..24 << 10].iter().all(|byte| *byte == 0), "{engine:?}");
        assert!(found[24 << 10..].iter().all(|byte| *byte == 7), "{engine:?}: and no more");
    }
}

#[test]
fn trim_over_two_gib_is_done_in_pieces() {
    for engine in [Engine::IoUring, Engine::Threads, Engine::Sync] {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(5 << 30).expect("a sparse file");
        let mut target = open(engine, &file).unwrap_or_else(|why| panic!("{engine:?}: {why}"));
        let trim = Request { direction: Direction::Trim, offset: 0, size: 3 << 30 };
        assert_eq!(result(&mut target, trim), 1 << 30, "{engine:?}");
        let trim = Request { size: i32::MAX as u32, ..trim };
        assert_eq!(result(&mut target, trim), i32::MAX, "{engine:?}");
    }
}

#[test]
fn engines_without_trim_support_are_refused() {
    let file = tempfile::tempfile().expect("a temporary file");
    for engine in [Engine::LinuxAio, Engine::IoUringPolled] {
        let why = open(engine, &file).err().map(|why| why.to_string()).unwrap_or_default();
        assert!(why.contains("not support trims"), "{engine:?}: {why}");
    }
}
