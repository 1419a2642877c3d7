//! Guard G7: contents of the device. Looks for known signatures, and for bytes that are neither
//! zero nor written by qdepth.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use qdepth_measure::{SplitMix, pattern};

use crate::aligned::AlignedBuffer;
use crate::label::{LABEL_BYTES, Label};
use crate::refusal::{Guard, Refusal};
use crate::sysfs;
use crate::system::{Output, System};

const BLOCK: usize = LABEL_BYTES as usize;
const WINDOW: u64 = 1 << 20;
const READ_WHOLE: u64 = 1 << 30;
const ENDS: u64 = 16 << 20;
const RANDOM_WINDOWS: usize = 64;

/// Name for data without a known signature.
pub(super) const UNKNOWN_DATA: &str = "data";

/// Names of all signatures on the device and in its partitions, like those of `wipefs` and `blkid`
/// (`ext4`, `gpt`, `LVM2_member`), sorted, each once.
pub(super) fn signatures(
    system: &System,
    file: &File,
    kernel_name: &str,
) -> Result<Vec<String>, Refusal> {
    // Through the held descriptor: the tools must examine the held device, not the current owner of
    // its name.
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    let mut names = wipefs(&run(system, "wipefs", &["-J", "--no-act", &path])?)?;
    let mut add = |range: Option<[u64; 2]>| -> Result<(), Refusal> {
        let found = blkid(system, &path, range, &["TYPE", "PTTYPE"])?;
        names.extend(found.into_iter().map(|(_, value)| value));
        Ok(())
    };
    add(None)?;
    for partition in sysfs::partitions_of(system, kernel_name) {
        let bytes = |key: &str| sysfs::own_bytes(system, &partition, key);
        let (Some(start), Some(size)) = (bytes("start"), bytes("size")) else { continue };
        add(Some([start, size]))?;
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn run(system: &System, tool: &str, args: &[&str]) -> Result<Output, Refusal> {
    system.run(tool, args).map_err(|error| cannot_check(error.to_string()))
}

fn cannot_check(why: String) -> Refusal {
    Refusal::new(
        Guard::G7Contents,
        format!("the contents of the device cannot be checked: {why}"),
        "Install util-linux (wipefs and blkid), and check that the device can be read",
    )
}

fn ended(tool: &str, output: &Output) -> Refusal {
    let status = output.status.map_or("a signal".to_owned(), |status| format!("status {status}"));
    cannot_check(format!("{tool} ended with {status} {}", output.stderr.trim()))
}

fn wipefs(output: &Output) -> Result<Vec<String>, Refusal> {
    let stray = || ended("wipefs", output);
    if output.status != Some(0) {
        return Err(stray());
    }
    if output.stdout.trim().is_empty() {
        return Ok(Vec::new());
    }
    let value: serde_json::Value = serde_json::from_str(&output.stdout).map_err(|_| stray())?;
    let Some(list) = value["signatures"].as_array() else { return Err(stray()) };
    Ok(list
        .iter()
        .map(|signature| signature["type"].as_str().unwrap_or("unknown").to_owned())
        .collect())
}

/// Properties with these keys of a device, or of a range of it: start and length in bytes. Exit
/// status 0: found; 2: nothing found, or, with a message, not readable; 8: contradictory signatures
/// (blkid(8)).
pub(crate) fn blkid(
    system: &System,
    path: &str,
    range: Option<[u64; 2]>,
    keys: &[&str],
) -> Result<Vec<(String, String)>, Refusal> {
    let range = range.map(|range| range.map(|bytes| bytes.to_string()));
    let mut words = vec!["-p", "-o", "export"];
    words.extend(range.iter().flat_map(|[start, size]| ["-O", start, "-S", size]));
    words.push(path);
    let output = run(system, "blkid", &words)?;
    match output.status {
        Some(0) => {
            let property = |line: &str| {
                let (key, value) = line.split_once('=')?;
                keys.contains(&key).then(|| (key.to_owned(), value.to_owned()))
            };
            Ok(output.stdout.lines().filter_map(property).collect())
        }
        Some(2) if output.stderr.trim().is_empty() => Ok(Vec::new()),
        Some(8) => Ok(vec![("TYPE".to_owned(), "ambivalent".to_owned())]),
        _ => Err(ended("blkid", &output)),
    }
}

/// Offset of the first sector that is neither zero nor written by qdepth; `None` if there is none.
/// A device of more than 1 GiB is sampled: its first and last 16 MiB, and 64 random windows of 1
/// MiB.
pub(super) fn first_data(file: &File, size_bytes: u64) -> Result<Option<u64>, Refusal> {
    let mut buffer = AlignedBuffer::new(WINDOW as usize);
    for offset in windows(size_bytes, uuid::Uuid::new_v4().as_u64_pair().0) {
        let length = (size_bytes - offset).min(WINDOW);
        let bytes = &mut buffer.bytes_mut()[..length as usize];
        file.read_exact_at(bytes, offset)
            .map_err(|error| cannot_check(format!("reading at byte {offset}: {error}")))?;
        let is_foreign =
            |sector: &[u8]| sector.iter().any(|byte| *byte != 0) && !pattern::is_ours(sector);
        let mut blocks = (offset..).step_by(BLOCK).zip(bytes.chunks(BLOCK));
        let foreign = blocks.find(|(_, block)| {
            Label::decode(block).is_none() && block.chunks(pattern::SECTOR_BYTES).any(is_foreign)
        });
        if let Some((offset, _)) = foreign {
            return Ok(Some(offset));
        }
    }
    Ok(None)
}

/// Start offsets of the windows, each within the device.
pub(super) fn windows(size_bytes: u64, seed: u64) -> Vec<u64> {
    if size_bytes <= READ_WHOLE {
        return (0..size_bytes).step_by(WINDOW as usize).collect();
    }
    let mut starts: Vec<u64> = (0..ENDS).step_by(WINDOW as usize).collect();
    let tail = size_bytes.saturating_sub(ENDS) / 4096 * 4096;
    starts.extend((tail..size_bytes).step_by(WINDOW as usize));
    let places = size_bytes / WINDOW;
    let mut draws = SplitMix(seed);
    for _ in 0..RANDOM_WINDOWS {
        starts.push(draws.draw() % places * WINDOW);
    }
    starts.retain(|start| *start < size_bytes);
    starts
}
