//! Verification detects every corruption between a write and the read that checks it, and raises no
//! false alarm.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::sync::Arc;

use qdepth_engine::{Completion, Completions, Slot, Target, TargetFailure};
use qdepth_linux::{
    Engine, EngineChoice, KernelTarget, NOT_AS_WRITTEN, OpenOptions, Verifying, WithBuffers,
};
use qdepth_measure::{Instant, Nanos, SplitMix};
use qdepth_workload::{BLOCKS_MAX, Direction, Generations, Payload, Request};

const BLOCK: usize = 512;
const BLOCKS: u64 = 64;
const STAMP: u64 = 0x5eed;

/// Direct access to the stored bytes, for damaging them.
trait Medium {
    fn read(&self, offset: u64, length: usize) -> Vec<u8>;
    fn write(&self, offset: u64, bytes: &[u8]);
}

impl Medium for RefCell<Vec<u8>> {
    fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        self.borrow()[offset as usize..][..length].to_vec()
    }
    fn write(&self, offset: u64, bytes: &[u8]) {
        self.borrow_mut()[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }
}

impl Medium for File {
    fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.read_exact_at(&mut bytes, offset).expect("read");
        bytes
    }
    fn write(&self, offset: u64, bytes: &[u8]) {
        self.write_all_at(bytes, offset).expect("written");
    }
}

/// Storage in memory, whose clock counts requests.
struct InMemory {
    medium: Rc<RefCell<Vec<u8>>>,
    buffer: Vec<u8>,
    done: Option<Completion>,
    now: Instant,
}

impl WithBuffers for InMemory {
    fn target(&mut self) -> &mut dyn Target {
        self
    }
    fn buffer(&mut self, _: Slot) -> &mut [u8] {
        &mut self.buffer
    }
}

impl Target for InMemory {
    fn now(&mut self) -> Instant {
        self.now
    }
    fn submit(&mut self, slot: Slot, request: Request) {
        let length = request.size as usize;
        match request.direction {
            Direction::Write => self.medium.write(request.offset, &self.buffer[..length]),
            Direction::Read => {
                let found = self.medium.read(request.offset, length);
                self.buffer[..length].copy_from_slice(&found);
            }
            Direction::Trim | Direction::Sync => {}
        }
        self.now = self.now + Nanos(1);
        self.done = Some(Completion { slot, result: length as i32, at: self.now });
    }
    fn wait(&mut self, _: Instant, done: &mut Completions) -> Result<(), TargetFailure> {
        self.done.take().into_iter().for_each(|completion| done.push(completion));
        Ok(())
    }
}

struct Draws(SplitMix);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.draw() % limit
    }
}

/// Performs a request, and returns its result.
fn perform_request(target: &mut impl Target, direction: Direction, block: u64) -> i32 {
    let request = Request { direction, offset: block * BLOCK as u64, size: BLOCK as u32 };
    target.submit(Slot(0), request);
    let mut done = Completions::with_capacity(1);
    let until = target.now() + Nanos::from_secs(5);
    while done.as_slice().is_empty() {
        target.wait(until, &mut done).expect("not broken");
    }
    done.as_slice()[0].result
}

const KINDS: [&str; 11] = [
    "flipped-bit",
    "lost-overwrite",
    "stale",
    "torn",
    "zeroed",
    "misdirected",
    "swapped",
    "shifted",
    "byte",
    "duplicated",
    "of-another-run",
];

struct Campaign<'a> {
    medium: &'a dyn Medium,
    draws: Draws,
    /// Recent versions of each block, oldest first.
    versions: BTreeMap<u64, Vec<Vec<u8>>>,
    tried: BTreeMap<&'static str, u64>,
    missed: u64,
    false_alarms: u64,
}

impl Campaign<'_> {
    fn put(&self, block: u64, bytes: &[u8]) {
        self.medium.write(block * BLOCK as u64, bytes);
    }

    fn now(&self, block: u64) -> Vec<u8> {
        self.medium.read(block * BLOCK as u64, BLOCK)
    }

    fn write(&mut self, target: &mut impl Target, block: u64) {
        assert_eq!(perform_request(target, Direction::Write, block), BLOCK as i32);
        let now = self.now(block);
        let versions = self.versions.entry(block).or_default();
        // Keeps eight versions of a block.
        if versions.len() == 8 {
            versions.remove(0);
        }
        versions.push(now);
    }

    /// Damages a block that was just written; returns the blocks that are now corrupt.
    fn damage(&mut self, kind: &str, block: u64, other: u64) -> Vec<u64> {
        let (good, versions) = (self.now(block), &self.versions[&block]);
        let older = self.draws.below(versions.len() as u64 - 1) as usize;
        let (before, stale) = (versions[versions.len() - 2].clone(), versions[older].clone());
        let mut bad = good.clone();
        let at = self.draws.below(BLOCK as u64) as usize;
        match kind {
            "flipped-bit" => bad[at] ^= 1 << self.draws.below(8),
            "byte" => bad[at] = !bad[at],
            "lost-overwrite" => bad = before,
            "stale" => bad = stale,
            // The first part is new, the rest from the previous write.
            "torn" => {
                let cut = 8 + at / 8 * 8 % (BLOCK - 8);
                bad[cut..].copy_from_slice(&before[cut..]);
            }
            "zeroed" => bad.fill(0),
            "shifted" => bad.rotate_right(1 + at % (BLOCK - 1)),
            "of-another-run" => {
                qdepth_measure::stamp::stamp(&mut bad, block * BLOCK as u64, STAMP + 1, 1)
            }
            // The write went to another block, and this block keeps its old data.
            "misdirected" => {
                self.put(other, &good);
                self.put(block, &before);
                return vec![block, other];
            }
            "swapped" => {
                self.put(block, &self.now(other));
                self.put(other, &good);
                return vec![block, other];
            }
            "duplicated" => {
                self.put(other, &good);
                return vec![other];
            }
            kind => unreachable!("{kind}"),
        }
        self.put(block, &bad);
        vec![block]
    }

    fn round(&mut self, target: &mut impl Target) {
        let kind = KINDS[self.draws.below(KINDS.len() as u64) as usize];
        let block = self.draws.below(BLOCKS);
        let other = (block + 1 + self.draws.below(BLOCKS - 1)) % BLOCKS;
        for _ in 0..=self.draws.below(3) {
            self.write(target, block);
        }
        for intact in [block, other] {
            self.false_alarms +=
                u64::from(perform_request(target, Direction::Read, intact) != BLOCK as i32);
        }
        let (ours, theirs) = (self.now(block), self.now(other));
        for damaged in self.damage(kind, block, other) {
            *self.tried.entry(kind).or_default() += 1;
            let found = perform_request(target, Direction::Read, damaged);
            self.missed += u64::from(found != -NOT_AS_WRITTEN);
        }
        self.put(block, &ours);
        self.put(other, &theirs);
    }

    fn run(&mut self, inner: &mut impl WithBuffers, rounds: u64) {
        let writes = Arc::new(Generations::new(BLOCK as u64, BLOCKS * BLOCK as u64, 41));
        let mut target = Verifying::new(inner, 1, STAMP, writes);
        for block in (0..BLOCKS).chain(0..BLOCKS) {
            self.write(&mut target, block);
        }
        while self.tried.values().sum::<u64>() < rounds {
            self.round(&mut target);
        }
    }
}

/// Number of tries: `QDEPTH_TRIES`, or `few` by default.
fn tries(few: u64) -> u64 {
    std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

fn campaign(name: &str, medium: &dyn Medium, inner: &mut impl WithBuffers, rounds: u64) {
    let (draws, versions, tried) = (Draws(SplitMix(2)), BTreeMap::new(), BTreeMap::new());
    let mut campaign = Campaign { medium, draws, versions, tried, missed: 0, false_alarms: 0 };
    campaign.run(inner, rounds);
    let (missed, alarms) = (campaign.missed, campaign.false_alarms);
    let told = |(kind, count): (&&str, &u64)| format!("{kind}={count}");
    let kinds = campaign.tried.iter().map(told).collect::<Vec<_>>().join(" ");
    let all: u64 = campaign.tried.values().sum();
    let line = format!("TRIES {name} {all} missed={missed} false-alarms={alarms} {kinds}");
    writeln!(std::io::stdout(), "{line}").expect("standard output");
    assert_eq!(campaign.tried.len(), KINDS.len(), "{line}");
    assert_eq!((missed, alarms), (0, 0), "{line}");
}

#[test]
fn no_memory_corruption_passes_verification() {
    let medium = Rc::new(RefCell::new(vec![0; BLOCK * BLOCKS as usize]));
    let (now, buffer) = (Instant(0), vec![0; BLOCK]);
    let mut inner = InMemory { medium: medium.clone(), buffer, done: None, now };
    campaign("verify-corruptions", &*medium, &mut inner, tries(20_000));
}

fn opened(file: File) -> KernelTarget {
    let options = OpenOptions {
        slots: 1,
        size_max: BLOCK as u32,
        payload: Payload::default(),
        seed: 7,
        engine: EngineChoice::Only(Engine::Sync),
        trims: false,
        data_sync: false,
        own_writes: false,
        operation: qdepth_workload::Operation::Transfer,
        namespace: None,
    };
    KernelTarget::open(file.into(), &options).expect("opens")
}

#[test]
fn no_file_corruption_passes_verification() {
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(BLOCKS * BLOCK as u64).expect("a length");
    let medium = file.try_clone().expect("a second descriptor");
    let mut inner = opened(file);
    campaign("verify-corruptions-in-a-file", &medium, &mut inner, tries(20_000) / 10);
}

/// Without a counter for the block, and although blocks that were not written are not checked.
#[test]
fn corruption_far_into_a_file_is_found() {
    let end = BLOCKS_MAX + 2;
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(end * BLOCK as u64).expect("a length");
    let medium = file.try_clone().expect("a second descriptor");
    let mut inner = opened(file);
    let end_bytes = end * BLOCK as u64;
    let writes = Generations::new(BLOCK as u64, end_bytes, 41).knowing_written(end_bytes);
    let mut target = Verifying::new(&mut inner, 1, STAMP, Arc::new(writes)).only_written();
    for block in [0, end - 2] {
        assert_eq!(perform_request(&mut target, Direction::Write, block), BLOCK as i32);
        assert_eq!(perform_request(&mut target, Direction::Read, block), BLOCK as i32);
        assert_eq!(perform_request(&mut target, Direction::Read, block + 1), BLOCK as i32);
        medium.write(block * BLOCK as u64 + 77, b"x");
        assert_eq!(perform_request(&mut target, Direction::Read, block), -NOT_AS_WRITTEN);
    }
}
