//! A short, deterministic round of fuzzing for every parser, and replays of earlier failures.

mod alter;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use qdepth_fuzz::{TARGETS, Target, kept};
use rustix::time::{ClockId, clock_gettime};

use alter::Alterations;

/// A parser may take so long for one input.
const SLOW_NS: u64 = 1_000_000_000;

/// Failure of a parser on an input.
#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    /// It panicked; what it said.
    Panic(String),
    /// Time that it took, ns.
    Slow(u64),
}

/// Gives an input to a parser.
///
/// # Errors
/// If it panics, or takes too long.
fn give(target: &Target, input: &[u8]) -> Result<(), Wrong> {
    let before = cpu_nanoseconds(ClockId::ThreadCPUTime);
    let answer = catch_unwind(AssertUnwindSafe(|| (target.take)(input)));
    let took = cpu_nanoseconds(ClockId::ThreadCPUTime) - before;
    if let Err(payload) = answer {
        let text = payload.downcast_ref::<String>().cloned();
        let word = || payload.downcast_ref::<&str>().map_or("a panic", |text| text).to_owned();
        return Err(Wrong::Panic(text.unwrap_or_else(word)));
    }
    if took > SLOW_NS { Err(Wrong::Slow(took)) } else { Ok(()) }
}

/// CPU time, so that a busy machine makes no parser slow.
fn cpu_nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[test]
fn no_parser_panics_or_hangs() {
    let few: u64 = std::env::var("QDEPTH_TRIES").ok().and_then(|t| t.parse().ok()).unwrap_or(4_200);
    let each = few / TARGETS.len() as u64;
    let mut given = 0_u64;
    for target in TARGETS {
        let inputs = (target.inputs)();
        assert!(!inputs.is_empty(), "{}: no input", target.name);
        // Valid inputs, and inputs of earlier failures.
        for input in inputs.iter().chain(&kept(target)) {
            assert_eq!(give(target, input), Ok(()), "{}", target.name);
        }
        let mut alterations = Alterations::new(7);
        for _ in 0..each {
            let input = alterations.next(&inputs);
            let answer = give(target, &input);
            let text = String::from_utf8_lossy(&input);
            assert_eq!(answer, Ok(()), "{}: {text:?}", target.name);
            given += 1;
        }
    }
    let seconds = cpu_nanoseconds(ClockId::ProcessCPUTime) / 1_000_000_000;
    let targets = TARGETS.len();
    let line = format!("TRIES fuzz {given} wrong=0 cpu-seconds={seconds} targets={targets}");
    writeln!(std::io::stdout(), "{line}").unwrap();
}

/// Mutations change the inputs, and are equal in each run.
#[test]
fn mutations_are_determined_by_their_seed() {
    let inputs = vec![b"name = \"a\"\nnumber = 7\n".to_vec()];
    let draw = |seed| {
        let mut alterations = Alterations::new(seed);
        (0..100).map(|_| alterations.next(&inputs)).collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let changed = draw(1).iter().filter(|input| **input != inputs[0]).count();
    assert!(changed > 80, "{changed} of 100");
}
