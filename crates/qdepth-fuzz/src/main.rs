//! Coverage-guided fuzzing of one parser, with libFuzzer: `QDEPTH_FUZZ=TARGET qdepth-fuzz FOLDER…`.
//! `cargo xtask fuzz` builds this with coverage counters and runs it for each parser.
#![no_main]
#![expect(
    clippy::print_stdout,
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a program of its own, and libFuzzer's macro opens its files"
)]

use std::sync::OnceLock;

use qdepth_fuzz::{TARGETS, Target, write_inputs};

/// The parser that this process fuzzes.
static CHOSEN: OnceLock<&Target> = OnceLock::new();

/// Takes the target that `QDEPTH_FUZZ` names, and writes its inputs to the folder that
/// `QDEPTH_FUZZ_INPUTS` names. Any other name prints the names of all targets and ends the process.
fn choose() {
    let name = std::env::var("QDEPTH_FUZZ").unwrap_or_default();
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        TARGETS.iter().for_each(|target| println!("{}", target.name));
        std::process::exit(2);
    };
    if let Some(folder) = std::env::var_os("QDEPTH_FUZZ_INPUTS")
        && let Err(why) = write_inputs(target, folder.as_ref())
    {
        println!("{}: {why}", folder.display());
        std::process::exit(2);
    }
    let _ = CHOSEN.set(target);
}

libfuzzer_sys::fuzz_target!(
    init: choose(),
    |input: &[u8]| {
        if let Some(target) = CHOSEN.get() {
            (target.take)(input);
        }
    }
);
