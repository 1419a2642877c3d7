//! Everything that `--parse-only` accepts can be run: fio's examples on small files for a short
//! time, and jobs with randomly drawn options.

use std::fs;

use crate::common::Workspace;

/// Options whose values in examples exceed a test's time or space, with their limits.
const MOST: &[(&str, u64)] = &[
    ("size", 4 << 20),
    ("io_size", 4 << 20),
    ("filesize", 1 << 20),
    ("offset", 1 << 20),
    ("offset_increment", 1 << 20),
    ("zonesize", 1 << 20),
    ("zoneskip", 1 << 20),
    ("zonerange", 1 << 20),
    ("numjobs", 2),
    ("number_ios", 100),
    ("nrfiles", 20),
    ("loops", 1),
    ("thinktime", 1000),
];
/// Options with replaced values.
const OTHER: &[(&str, &str)] = &[
    ("directory", "."),
    ("runtime", "300ms"),
    ("timeout", "300ms"),
    ("ramp_time", "100ms"),
    ("startdelay", "100ms"),
    ("cpus_allowed", "0"),
    ("numa_cpu_nodes", "0,0"),
];

/// Bytes of a size such as `128m`; `None` for a percentage.
fn number(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let unit = text[digits.len()..].to_ascii_lowercase();
    let shift = match unit.chars().next() {
        None => 0,
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        Some('t') => 40,
        Some(_) => return None,
    };
    digits.parse::<u64>().ok().map(|number| number << shift)
}

/// Replaces file names by local ones; a device for commands becomes an emulated one.
fn filename(value: &str, of_commands: bool) -> String {
    if of_commands {
        return "media\\:p3700-1600gb".to_owned();
    }
    let plain = |c: char| if c.is_alphanumeric() || "$.-".contains(c) { c } else { '_' };
    value
        .split(':')
        .map(|name| name.chars().map(plain).collect())
        .collect::<Vec<String>>()
        .join(":")
}

/// Adapts an example: no device, little space, and little time.
fn small(text: &str) -> String {
    let of_commands = text.contains("io_uring_cmd");
    let mut lines = Vec::new();
    let mut has = [false; 2];
    for line in text.lines() {
        let line = line.split([';', '#']).next().unwrap_or("").trim();
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let (name, value) = (name.trim(), value.trim());
        has[0] |= ["size", "filesize"].contains(&name);
        has[1] |= ["runtime", "timeout"].contains(&name);
        let most = MOST.iter().find(|(known, _)| *known == name).map(|(_, most)| *most);
        let other = OTHER.iter().find(|(known, _)| *known == name).map(|(_, other)| *other);
        lines.push(match (name, most, other) {
            ("filename", ..) => format!("filename={}", filename(value, of_commands)),
            (_, Some(most), _) if number(value).is_some_and(|number| number > most) => {
                format!("{name}={most}")
            }
            (_, _, Some(other)) => format!("{name}={other}"),
            _ => line.to_owned(),
        });
    }
    let more = ["size=4m", "runtime=300ms"].into_iter().zip(has).filter(|(_, has)| !has);
    let more: Vec<&str> = more.map(|(line, _)| line).collect();
    format!("[global]\n{}\n{}\n", more.join("\n"), lines.join("\n"))
}

#[test]
fn accepted_fio_examples_run_to_completion() {
    let Some(folder) = std::env::var_os("QDEPTH_FIO_EXAMPLES") else {
        println!("SKIPPED: the examples of fio (cargo xtask test fetches them)");
        return;
    };
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "fio")).collect();
    files.sort();
    let mut run = 0;
    for path in &files {
        let workspace = Workspace::new();
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = fs::read(path).unwrap();
        let job = workspace.write(name, &small(&String::from_utf8_lossy(&bytes)));
        // Option that the file's first lines prescribe.
        let more = if name.starts_with("xnvme-compare") { "--section=default" } else { "" };
        let read = workspace.run(&format!("fio --parse-only {more} {job}"));
        if read.status != Some(0) {
            assert_eq!(read.status, Some(2), "{name}: {}", read.err);
            continue;
        }
        let made = workspace.run(&format!("fio --no-report {more} {job}"));
        assert_eq!(made.status, Some(0), "{name}: {}", made.err);
        assert!(made.out.contains("Starting "), "{name}: {}", made.out);
        run += 1;
    }
    println!("{run} of {} examples are accepted, and run", files.len());
    assert!(run >= 42, "{run} of {}", files.len());
}

/// Options for drawn jobs; each value is compatible with most of the others.
const DRAWN: &[(&str, &[&str])] = &[
    ("rw", &["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrimwrite"]),
    ("rw", &["read:4k", "write:8k", "randread:8", "rw:8k", "read:-8k", "write:-16k"]),
    ("bs", &["4k", "512", "64k", "1m", "4k,64k", "3k", "8k,,4k", "1000"]),
    ("bsrange", &["4k-64k", "1k-16k", "4k-8k,16k-32k"]),
    ("bssplit", &["4k/50:64k/50", "512/10:4k/", "4k/60:64k/40,128k"]),
    ("ba", &["512", "64k", "8k,4k"]),
    ("percentage_random", &["50", "0", "20,80"]),
    ("iodepth", &["1", "4", "32"]),
    ("ioengine", &["libaio", "io_uring", "psync", "posixaio", "mmap", "falloc", "ftruncate"]),
    ("ioengine", &["null", "filecreate", "filestat", "filedelete", "dircreate", "dirdelete"]),
    ("direct", &["1"]),
    ("sync", &["1", "dsync"]),
    ("numjobs", &["2"]),
    ("size", &["1m", "100k", "5000", "512"]),
    ("io_size", &["1m", "512", "50%", "32m"]),
    ("offset", &["4k", "1000", "33%"]),
    ("offset_increment", &["1m", "25%"]),
    ("number_ios", &["1", "1000"]),
    ("loops", &["3"]),
    ("ramp_time", &["100ms"]),
    ("rate", &["1m", "1m,2m", "100m"]),
    ("rate_iops", &["100", "1000,500"]),
    ("thinktime", &["100", "10000"]),
    ("flow", &["2", "8"]),
    ("startdelay", &["100ms"]),
    ("filesize", &["1m", "4k-64k"]),
    ("nrfiles", &["2", "10"]),
    ("fill_device", &["1"]),
    ("norandommap", &["1"]),
    ("random_distribution", &["zipf:1.2", "pareto:0.3", "normal:20", "zoned:50/5:50/95"]),
    ("exitall", &["1"]),
    ("fsync", &["1", "8"]),
    ("end_fsync", &["1"]),
    ("buffer_compress_percentage", &["50"]),
    ("dedupe_percentage", &["50"]),
    ("verify", &["crc32c", "pattern"]),
    ("cpus_allowed", &["0", "0-0"]),
    ("numa_cpu_nodes", &["0,0"]),
    ("write_bw_log", &["x"]),
    ("unified_rw_reporting", &["both"]),
    ("filename", &["f:g", "a"]),
    ("directory", &["d", "d:e"]),
    ("time_based", &["1"]),
    ("stonewall", &["1"]),
];

#[test]
fn accepted_random_fio_jobs_run_to_completion() {
    let tries = std::env::var("QDEPTH_TRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut accepted = 0;
    for _ in 0..tries {
        let workspace = Workspace::new();
        for folder in ["d", "e"] {
            fs::create_dir(workspace.join(folder)).unwrap();
        }
        let mut words = String::new();
        for job in 0..1 + draw(2) {
            words.push_str(&format!(" --name=j{job} --size=8m --runtime=200ms"));
            for _ in 0..1 + draw(4) {
                let (name, values) = DRAWN[draw(DRAWN.len())];
                words.push_str(&format!(" --{name}={}", values[draw(values.len())]));
            }
        }
        if workspace.run(&format!("fio --parse-only{words}")).status != Some(0) {
            continue;
        }
        accepted += 1;
        let made = workspace.run(&format!("fio --no-report{words}"));
        // A job that only reads finds no data that was written for verification.
        let is_unverified = words.contains("verify") && made.err.contains("EILSEQ");
        assert_eq!(made.status, Some(is_unverified.into()), "{words}: {}", made.err);
    }
    assert!(accepted * 2 > tries, "{accepted} of {tries} are jobs");
}
