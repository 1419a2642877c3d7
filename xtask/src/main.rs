//! `cargo xtask`: what the project does to itself.

mod bench;
mod command;
mod test;
mod tidy;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask test | tidy | bench agree [PAIRS] | bench core [PAIRS]";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let pairs = |word: Option<&&str>| word.map_or(Ok(10), |w| w.parse::<usize>());
    match words.as_slice() {
        ["test"] => test::test(),
        ["tidy"] => tidy::tidy(),
        ["bench", "agree", rest @ ..] => bench::agree(pairs(rest.first())?),
        ["bench", "core", rest @ ..] => bench::core(pairs(rest.first())?),
        _ => bail!(USAGE),
    }
}
