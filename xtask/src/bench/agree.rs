//! The same load on the same file by both programs.

use std::fs;

use anyhow::Result;

use super::programs::{Load, compare, ready, shared_file};
use crate::command::root;

/// qdepth and fio agree on the same file: rate and mean latency within 3 % (issue: median of at
/// least ten pairs).
pub fn agree(pairs: usize) -> Result<()> {
    ready()?;
    let folder = root().join("target/bench-agree");
    fs::create_dir_all(&folder)?;
    let file = shared_file(&folder)?;
    println!("8 KiB, 67 % read, 1 GiB file, direct; {pairs} pairs of 3 s each; ratio qdepth / fio");
    for outstanding in [1, 8, 32, 128] {
        let load = Load {
            target: &file,
            area_bytes: 1 << 30,
            size: "8KiB",
            read_percent: 67,
            outstanding,
            seconds: 3,
            core: None,
        };
        compare(&load, pairs, &folder)?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
