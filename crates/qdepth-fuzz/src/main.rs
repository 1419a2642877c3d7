//! `qdepth-fuzz [--minutes N] [--seed N] [TARGET…]`: alters inputs and gives them to the parsers,
//! in turn, until the time is over. An input that goes wrong is kept in the corpus.

#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::process::ExitCode;

use qdepth_fuzz::{Alterations, TARGETS, Target, corpus, cpu_nanoseconds, give, kept};

/// Inputs of a target before the next one has its turn.
const TURN: u32 = 500;

struct FuzzOptions {
    minutes: f64,
    seed: u64,
    targets: Vec<&'static Target>,
}

fn options() -> Result<FuzzOptions, String> {
    let mut options = FuzzOptions { minutes: 1.0, seed: 1, targets: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = |what: &str| {
            let text = words.next().unwrap_or_default();
            text.parse::<f64>().map_err(|_| format!("{what} {text}: a number"))
        };
        match word.as_str() {
            "--minutes" => options.minutes = number("--minutes")?,
            "--seed" => options.seed = number("--seed")? as u64,
            name => {
                let found = TARGETS.iter().find(|target| target.name == name);
                let known = || TARGETS.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
                options
                    .targets
                    .push(found.ok_or_else(|| format!("{name} is none of {}", known()))?);
            }
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().collect();
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(why) => {
            println!("{why}");
            return ExitCode::from(2);
        }
    };
    let end = cpu_nanoseconds() + (options.minutes * 60e9) as u64;
    let mut alterations = Alterations::new(options.seed);
    let inputs: Vec<Vec<Vec<u8>>> =
        options.targets.iter().map(|t| [kept(t), (t.inputs)()].concat()).collect();
    let (mut given, mut wrong) = (0_u64, 0_u64);
    while cpu_nanoseconds() < end {
        for (target, inputs) in options.targets.iter().zip(&inputs) {
            for _ in 0..TURN {
                let input = alterations.next(inputs);
                given += 1;
                if let Err(what) = give(target, &input) {
                    wrong += 1;
                    println!("{}: {what:?}: {}", target.name, keep(target, &input));
                }
            }
        }
    }
    let seconds = cpu_nanoseconds() / 1_000_000_000;
    println!("TRIES fuzz {given} wrong={wrong} cpu-seconds={seconds} targets={}", inputs.len());
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Puts an input into the corpus; where.
#[expect(clippy::disallowed_methods, reason = "the corpus is a folder of the repository")]
fn keep(target: &Target, input: &[u8]) -> String {
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folder = corpus(target);
    let file = folder.join(format!("{sum:016x}"));
    let put = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, input));
    put.map_or_else(|why| why.to_string(), |()| file.display().to_string())
}
