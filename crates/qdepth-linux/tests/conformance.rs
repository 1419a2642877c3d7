//! Every engine on a real file, under the same conformance suite as emulated devices.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use qdepth_engine::{Completions, Slot, conformance};
use qdepth_linux::{
    Engine, EngineChoice, KernelTarget, Namespace, OpenError, OpenOptions, WithBuffers,
};
use qdepth_measure::Nanos;
use qdepth_workload::{CacheAdvice, Direction, IoFlag, Payload, Request};

fn options(engine: Engine) -> OpenOptions {
    OpenOptions {
        slots: 64,
        size_max: 4096,
        payload: Payload::default(),
        seed: 1,
        engine: EngineChoice::Only(engine),
        trims: false,
        data_sync: false,
        own_writes: false,
        operation: qdepth_workload::Operation::Transfer,
        namespace: None,
    }
}

fn file(bytes: usize) -> OwnedFd {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&vec![7; bytes]).expect("written");
    file.into()
}

#[test]
fn every_engine_passes_the_conformance_check() {
    for engine in [Engine::IoUring, Engine::LinuxAio, Engine::Threads] {
        let mut target = KernelTarget::open(file(1 << 20), &options(engine)).expect("opens");
        assert_eq!(target.engine(), engine);
        conformance::check(target.as_target(), 64, 1 << 20)
            .unwrap_or_else(|e| panic!("{engine:?}: {e}"));
    }
}

#[test]
fn special_engines_pass_the_conformance_check() {
    let sync = OpenOptions { slots: 1, ..options(Engine::Sync) };
    let mut target = KernelTarget::open(file(1 << 20), &sync).expect("opens");
    conformance::check(target.as_target(), 1, 1 << 20).expect("sync");
    assert!(KernelTarget::open(file(1 << 20), &options(Engine::Sync)).is_err(), "one at a time");
    let mut target =
        KernelTarget::open(file(1 << 20), &options(Engine::IoUringSqPoll)).expect("opens");
    conformance::check(target.as_target(), 64, 1 << 20).expect("io_uring-sqpoll");
}

#[test]
fn mapped_file_passes_the_conformance_check() {
    let mmap = OpenOptions { slots: 1, ..options(Engine::Mmap) };
    let mut target = KernelTarget::open(file(1 << 20), &mmap).expect("opens");
    conformance::check(target.as_target(), 1, 1 << 20).expect("mmap");
    assert!(KernelTarget::open(file(1 << 20), &options(Engine::Mmap)).is_err(), "one at a time");
    let why = KernelTarget::open(file(0), &mmap).err().expect("refused").to_string();
    assert!(why.contains("a mapping cannot extend a file"), "{why}");
}

/// The result of one request.
fn result(target: &mut KernelTarget, direction: Direction, offset: u64) -> i32 {
    let target = target.as_target();
    target.submit(Slot(0), Request { direction, offset, size: 4096 });
    let mut done = Completions::with_capacity(1);
    let until = target.now() + Nanos::from_secs(5);
    target.wait(until, &mut done).expect("not broken");
    done.as_slice()[0].result
}

/// Storage that compresses would otherwise be measured with the zeros of a file never written.
#[test]
fn mixed_loads_do_not_write_what_they_read() {
    use Engine::{IoUring, IoUringSqPoll, LinuxAio, Mmap, Sync, Threads};
    for engine in [IoUring, IoUringSqPoll, LinuxAio, Mmap, Sync, Threads] {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(8192).expect("extended");
        let other = file.try_clone().expect("a descriptor");
        let own_writes = OpenOptions { slots: 1, own_writes: true, ..options(engine) };
        let mut target = KernelTarget::open(file.into(), &own_writes).expect("opens");
        let payload = target.write_buffer(Slot(0)).to_vec();
        assert_eq!(result(&mut target, Direction::Read, 0), 4096, "{engine:?}");
        assert_eq!(result(&mut target, Direction::Write, 4096), 4096, "{engine:?}");
        let mut written = [0; 4096];
        other.read_exact_at(&mut written, 4096).expect("read");
        assert!(written[..] == payload && written != [0; 4096], "{engine:?}");
    }
}

#[test]
fn lost_pages_of_a_mapping_are_errors() {
    let file = file(16 << 10);
    let other = File::from(file.try_clone().expect("a descriptor"));
    let mmap = OpenOptions { slots: 1, ..options(Engine::Mmap) };
    let mut target = KernelTarget::open(file, &mmap).expect("opens");
    target.advise(CacheAdvice::Random).expect("accepted");
    assert_eq!(result(&mut target, Direction::Write, 8192), 4096);
    other.set_len(4096).expect("cut short");
    for _ in 0..2 {
        assert_eq!(result(&mut target, Direction::Read, 0), 4096);
        assert_eq!(result(&mut target, Direction::Read, 8192), -5, "EIO");
        assert_eq!(result(&mut target, Direction::Write, 8192), -5, "EIO");
        assert_eq!(result(&mut target, Direction::Write, 2048), -5, "half of it");
    }
    other.set_len(16 << 10).expect("long again");
    assert_eq!(result(&mut target, Direction::Write, 8192), 4096);
    assert_eq!(result(&mut target, Direction::Read, 1 << 20), -14, "outside of the file");
}

#[test]
fn transfers_with_a_flag_pass_the_conformance_check() {
    for (engine, slots) in [(Engine::IoUring, 64), (Engine::LinuxAio, 64), (Engine::Sync, 1)] {
        let options = OpenOptions { slots, ..options(engine) };
        let mut target = KernelTarget::open(file(1 << 20), &options).expect("opens");
        match target.set_io_flag(IoFlag::Dontcache, 4096) {
            Ok(()) => conformance::check(target.as_target(), slots, 1 << 20)
                .unwrap_or_else(|e| panic!("{engine:?}: {e}")),
            Err(why) => println!("SKIPPED: {engine:?}: {why}"),
        }
    }
    let mut threads = KernelTarget::open(file(4096), &options(Engine::Threads)).expect("opens");
    let why = threads.set_io_flag(IoFlag::Atomic, 4096).expect_err("refused").to_string();
    assert!(why.contains("atomic") || why.contains("the engine threads"), "{why}");
}

const NAMESPACE: Namespace = Namespace { id: 1, block_bytes: 512 };

fn commands(size_max: u32) -> OpenOptions {
    let namespace = Some(NAMESPACE);
    OpenOptions { size_max, namespace, ..options(Engine::IoUringPassthrough) }
}

/// `/dev/null` answers every command with success (Linux 6.1), so this tests everything but the
/// drive.
fn takes_all_commands(write: bool) -> Result<KernelTarget, OpenError> {
    let null = File::options().read(true).write(write).open("/dev/null").expect("opens");
    KernelTarget::open(null.into(), &commands(4096))
}

#[test]
fn nvme_commands_pass_the_conformance_check() {
    let mut target = match takes_all_commands(true) {
        Ok(target) => target,
        Err(why) => return println!("SKIPPED: commands to /dev/null: {why}"),
    };
    assert_eq!(target.engine(), Engine::IoUringPassthrough);
    conformance::check(target.as_target(), 64, 1 << 20).expect("io_uring-passthrough");
}

#[test]
fn partial_block_and_forbidden_write_commands_are_refused() {
    for (write, direction, offset, size, result) in [
        (true, Direction::Read, 512, 512, 512),
        (true, Direction::Write, 4096, 4096, 4096),
        (true, Direction::Sync, 0, 0, 0),
        (true, Direction::Read, 100, 512, -22),
        (true, Direction::Write, 512, 100, -22),
        (false, Direction::Read, 512, 512, 512),
        (false, Direction::Write, 512, 512, -9),
    ] {
        let mut target = match takes_all_commands(write) {
            Ok(target) => target,
            Err(why) => return println!("SKIPPED: commands to /dev/null: {why}"),
        };
        let target = target.as_target();
        target.submit(Slot(3), Request { direction, offset, size });
        let mut done = Completions::with_capacity(1);
        let until = target.now() + Nanos::from_secs(5);
        target.wait(until, &mut done).expect("not broken");
        let completion = done.as_slice()[0];
        assert_eq!((completion.slot, completion.result), (Slot(3), result), "{direction:?}");
    }
}

#[test]
fn target_without_nvme_commands_is_refused_with_reason() {
    let refusal = |file: OwnedFd, options: OpenOptions| {
        KernelTarget::open(file, &options).err().map(|why| why.to_string()).unwrap_or_default()
    };
    let why = refusal(file(4096), commands(4096));
    assert!(why.contains("io_uring-passthrough: the first command, a read of 4096 B"), "{why}");
    let why = refusal(file(4096), commands(1000));
    assert!(why.contains("I/Os of 1000 B are not 1 to 65536 blocks of 512 B"), "{why}");
    let why = refusal(file(4096), options(Engine::IoUringPassthrough));
    assert!(why.contains("the target does not accept NVMe commands"), "{why}");
}

#[test]
fn errors_and_ends_of_files_are_completions() {
    for engine in [Engine::IoUring, Engine::LinuxAio, Engine::Threads] {
        let read_only: OwnedFd = File::open("/dev/zero").expect("opens").into();
        for (file, direction, offset, result) in [
            (read_only, Direction::Write, 0, -9),
            (file(6000), Direction::Read, 4096, 1904),
            (file(6000), Direction::Read, 8192, 0),
        ] {
            let mut target = KernelTarget::open(file, &options(engine)).expect("opens");
            let target = target.as_target();
            target.submit(Slot(3), Request { direction, offset, size: 4096 });
            let mut done = Completions::with_capacity(1);
            let until = target.now() + Nanos::from_secs(5);
            target.wait(until, &mut done).expect("not broken");
            assert_eq!(done.as_slice()[0].result, result, "{engine:?}");
        }
    }
}

#[test]
fn verification_compares_read_data_with_written_data() {
    use std::os::unix::fs::FileExt;

    use qdepth_engine::{Completions, Slot, Target};
    use qdepth_linux::{NOT_AS_WRITTEN, Verifying};
    use qdepth_measure::Nanos;
    use qdepth_workload::{Direction, Generations, Request};
    let storage = tempfile::tempfile().expect("a temporary file");
    storage.write_all_at(&vec![0; 64 << 10], 0).expect("written");
    let other = storage.try_clone().expect("a second descriptor");
    let mut plain = KernelTarget::open(storage.into(), &options(Engine::IoUring)).expect("opens");
    let writes = std::sync::Arc::new(Generations::new(4096, 64 << 10, 7));
    let mut run = |stamp: u64, direction: Direction| -> Vec<i32> {
        let mut target = Verifying::new(&mut plain, 64, stamp, writes.clone());
        for slot in 0..16_u32 {
            let offset = u64::from(slot) * 4096;
            target.submit(Slot(slot), Request { direction, offset, size: 4096 });
        }
        let mut all = Vec::new();
        while all.len() < 16 {
            let mut done = Completions::with_capacity(16);
            let until = target.now() + Nanos::from_secs(5);
            target.wait(until, &mut done).expect("not broken");
            assert!(!done.as_slice().is_empty(), "five seconds for a request");
            all.extend(done.as_slice().iter().map(|d| (d.slot.0, d.result)));
        }
        all.sort_unstable();
        all.into_iter().map(|(_, result)| result).collect()
    };
    assert_eq!(run(1, Direction::Read), [-NOT_AS_WRITTEN; 16], "nothing was written yet");
    assert_eq!(run(1, Direction::Write), [4096; 16]);
    assert_eq!(run(1, Direction::Read), [4096; 16]);
    assert_eq!(run(2, Direction::Read), [-NOT_AS_WRITTEN; 16], "another run wrote it");
    // A flipped bit, and a block at the wrong place.
    let mut byte = [0];
    other.read_exact_at(&mut byte, 3 * 4096 + 77).expect("read");
    other.write_all_at(&[byte[0] ^ 1], 3 * 4096 + 77).expect("written");
    let mut block = vec![0; 4096];
    other.read_exact_at(&mut block, 4096).expect("read");
    other.write_all_at(&block, 9 * 4096).expect("written");
    let mut expected = [4096; 16];
    (expected[3], expected[9]) = (-NOT_AS_WRITTEN, -NOT_AS_WRITTEN);
    assert_eq!(run(1, Direction::Read), expected);
    // A write that never reached the device: the previous data remain.
    let mut before = vec![0; 4096];
    other.read_exact_at(&mut before, 5 * 4096).expect("read");
    assert_eq!(run(1, Direction::Write), [4096; 16]);
    assert_eq!(run(1, Direction::Read), [4096; 16]);
    other.write_all_at(&before, 5 * 4096).expect("written");
    expected = [4096; 16];
    expected[5] = -NOT_AS_WRITTEN;
    assert_eq!(run(1, Direction::Read), expected);
}
