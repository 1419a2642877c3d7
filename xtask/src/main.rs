//! `cargo xtask`: what the project does to itself.

#![expect(clippy::disallowed_methods, reason = "a tool of ours, on files of ours")]

mod bench;
mod book;
mod command;
mod dist;
mod media;
mod test;
mod tidy;
mod trust;
mod vm;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask test [--quick] | tidy | vm | book | dist [--quick] [--pdf] | trust [--short] [NAME…] | bench agree [PAIRS] | bench engine [ROUNDS] | bench fio [PAIRS] | bench instructions | bench live [PAIRS] | bench logbook | bench many | bench pacing | bench report | bench same [COMPARISONS] | bench until [TARGET] | bench media | calibrate [--check] [FIT…]";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let pairs = |word: Option<&&str>| word.map_or(Ok(10), |w| w.parse::<usize>());
    match words.as_slice() {
        ["test"] => test::test(),
        ["test", "--quick"] => test::quick(),
        ["tidy"] => tidy::tidy(),
        ["trust", rest @ ..] => trust::trust(rest),
        ["book"] => book::book(),
        ["dist", rest @ ..] => dist::dist(rest),
        ["vm"] => match vm::vm()? {
            Some(vm::Counts { passed, failed: 0 }) => {
                println!("{passed} checks of the virtual machine passed");
                Ok(())
            }
            Some(vm::Counts { failed, .. }) => {
                bail!("{failed} checks of the virtual machine failed")
            }
            None => Ok(()),
        },
        ["bench", "agree", rest @ ..] => bench::agree(pairs(rest.first())?),
        ["bench", "engine", rest @ ..] => {
            bench::engine(rest.first().map_or(Ok(2), |word| word.parse())?)
        }
        ["bench", "until", rest @ ..] => bench::until(rest.first().copied()),
        ["bench", "fio", rest @ ..] => {
            bench::job_file(rest.first().map_or(Ok(5), |word| word.parse())?)
        }
        ["bench", "instructions"] => match (bench::instructions()?, bench::inlined()?) {
            (Some(_), Some(_)) => Ok(()),
            (None, _) => bail!("valgrind is not installed"),
            (_, None) => bail!("objdump is not installed, or knows no syscall of this CPU"),
        },
        ["bench", "live", rest @ ..] => {
            bench::live(rest.first().map_or(Ok(40), |word| word.parse())?)
        }
        ["bench", "logbook"] => bench::logbook(),
        ["bench", "many"] => bench::many(),
        ["bench", "pacing"] => bench::pacing(),
        ["bench", "report"] => bench::report(),
        ["bench", "same", rest @ ..] => {
            bench::same(rest.first().map_or(Ok(20), |word| word.parse())?)
        }
        ["bench", "media"] => media::speed(),
        ["calibrate", rest @ ..] => media::calibrate(rest),
        _ => bail!(USAGE),
    }
}
