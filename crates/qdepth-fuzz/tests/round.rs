//! A short, deterministic round of fuzzing for every parser, and replays of earlier failures.

use std::io::Write;

use qdepth_fuzz::{Alterations, TARGETS, cpu_nanoseconds, give, kept};

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
    let seconds = cpu_nanoseconds() / 1_000_000_000;
    let targets = TARGETS.len();
    let line = format!("TRIES fuzz {given} wrong=0 cpu-seconds={seconds} targets={targets}");
    writeln!(std::io::stdout(), "{line}").unwrap();
}

/// Mutations change the inputs, and are equal in each run.
#[test]
fn alterations_are_those_of_their_seed() {
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
