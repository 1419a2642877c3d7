//! Output in fio's formats, compared with fio's own output of the same jobs: names, structure and
//! order, line by line and field by field. `FIO=/a/fio` selects another fio than the installed one.

use std::collections::BTreeMap;

use crate::common::{Workspace, sh};
use crate::fio::{as_fio, fields, forget_newer, form, is_older, out};
use serde_json::Value;

const BESIDE: &str = "--size=8m --runtime=600ms --time_based --ioengine=libaio --direct=1";

/// Jobs, each on its own file `FILE`; `BESIDE` stands for common options.
const SHAPES: &[&str] = &[
    "--name=a --rw=randread --iodepth=4",
    "--name=a --rw=randrw --lat_percentiles=1 --fsync=32 --description=words",
    "--group_reporting --name=a --rw=write --bs=64k --numjobs=2 BESIDE --name=b --rw=read BESIDE \
     --stonewall --name=c --rw=randread --rate_iops=500",
    "--name=a --rw=randwrite --verify=crc32c --size=4m --ioengine=io_uring --iodepth=8 --runtime=0",
    "--name=a --rw=randrw --unified_rw_reporting=both --percentile_list=50:99.9",
    "--name=a --rw=randrw --unified_rw_reporting=mixed --iodepth=2",
    "--name=a --rw=randread --rate_iops=200 --ss=iops:60% --ss_dur=2",
    "--name=a --rw=read --bs=64k --numjobs=2 --disk_util=0",
    "--name=a --rw=randread --latency_target=2s --latency_window=600ms --iodepth=1 --thread",
];

/// Lines without their figures: the text before the first. Omits slat, which qdepth does not
/// measure, and the classes of latency and samples, which differ between runs.
fn keys(text: &str) -> Vec<String> {
    let left_out = ["slat", "lat (", "|", "bw (", "iops", "fio-"];
    let kept = |line: &&str| {
        let line = line.trim();
        let out = left_out.iter().any(|word| line.starts_with(word));
        !(out || line.is_empty() || line.contains("Laying out"))
    };
    let key = |line: &str| {
        let line = line.replace("(nsec)", "()").replace("(usec)", "()").replace("(msec)", "()");
        // Older versions do not print it.
        let line = line.replace("/syncfs", "");
        let line = form(&line);
        line.split(['=', '|']).next().unwrap_or("").trim().to_owned()
    };
    let shown = text.lines().filter(kept);
    shown.map(key).collect()
}

/// Fields of the terse lines of this version, with all figures replaced alike.
fn terse(text: &str, version: u8) -> Vec<Vec<String>> {
    let start = format!("{version};");
    let kind = |field: &str| match form(field).replace("-9", "9") {
        figure if figure.starts_with("9%=") => figure,
        figure if figure.ends_with('%') => "share".to_owned(),
        figure if figure.starts_with("fio9") => "version".to_owned(),
        figure => figure,
    };
    let kinds = |line: &str| line.trim().split(';').map(kind).collect();
    text.lines().filter(|line| line.starts_with(&start)).map(kinds).collect()
}

fn json(text: &str) -> (Value, String) {
    let from = text.find("\n{\n").map_or(0, |at| at + 1);
    let to = text[from..].find("\n}").map_or(text.len(), |at| from + at + 2);
    let document = &text[from..to];
    (serde_json::from_str(document).unwrap_or_else(|why| panic!("{why}: {text}")), document.into())
}

/// Names in order, without those of options, figures and devices.
fn names(document: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut within = None;
    for line in document.lines() {
        let indent = line.len() - line.trim_start().len();
        let name = line.trim().strip_prefix('"').and_then(|line| line.split_once("\" :"));
        if within.is_some_and(|at| indent > at) {
            continue;
        }
        within = None;
        if let Some((name, _)) = name {
            list.push(name.to_owned());
            let skipped = ["job options", "global options", "percentile", "bins"];
            within = skipped.contains(&name).then_some(indent);
        }
    }
    list
}

fn fios() -> Vec<String> {
    let named = std::env::var("FIO").unwrap_or_else(|_| "fio".to_owned());
    named.split(':').map(str::to_owned).collect()
}

#[test]
fn every_fio_output_format_matches_in_order() {
    let workspace = Workspace::new();
    let folder = workspace.path().display().to_string();
    for (fio, (number, shape)) in
        fios().iter().flat_map(|fio| SHAPES.iter().enumerate().map(move |shape| (fio, shape)))
    {
        if sh(&format!("{fio} --version")).is_err() {
            println!("SKIPPED: forms of {fio}, which is not there");
            continue;
        }
        let older = is_older(fio);
        let words = |file: &str| {
            let beside = format!("--filename={file} {BESIDE}");
            let paced = format!("--name=c --filename={file}-paced {BESIDE}");
            let shape = shape.replace("BESIDE", &beside).replace("--name=c", &paced);
            shape.replacen("--name=a", &format!("--name=a {beside}"), 1)
        };
        for version in 3..=5 {
            let forms = if version == 3 { "normal,terse,json+" } else { "terse,json" };
            let more = format!("--output-format={forms} --terse-version={version}");
            let line = format!("cd {folder} && {fio} {more} {}", words(&format!("t{number}")));
            let (ours, theirs) = std::thread::scope(|scope| {
                let theirs = scope.spawn(|| sh(&line));
                let ours = as_fio(&workspace, &format!("{more} {}", words(&format!("o{number}"))));
                (ours, theirs.join().unwrap().unwrap())
            });
            assert_eq!(ours.status.code(), Some(0), "{shape}: {ours:?}");
            let ours = out(&ours);
            let place = format!("{fio}, version {version}, {shape}");
            if version == 3 {
                let text = |all: &str| {
                    let (before, rest) = all.split_once("\n3;").unwrap();
                    format!("{before}\n{}", rest.split_once("\n}").unwrap().1)
                };
                assert_eq!(keys(&text(&ours)), keys(&text(&theirs)), "{place}");
            }
            same_terse(&ours, &theirs, version, &place);
            same_json(&ours, &theirs, older, &place);
        }
    }
}

fn same_terse(ours: &str, theirs: &str, version: u8, place: &str) {
    let (ours, theirs) = (terse(ours, version), terse(theirs, version));
    assert_eq!(ours.len(), theirs.len(), "{place}");
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        assert_eq!(ours, theirs, "{place}");
    }
}

fn same_json(ours: &str, theirs: &str, older: bool, place: &str) {
    let ((made, made_text), (real, real_text)) = (json(ours), json(theirs));
    let (mut wanted, mut there) = (BTreeMap::new(), BTreeMap::new());
    fields("", &real, &mut wanted);
    fields("", &made, &mut there);
    if older {
        forget_newer(&made, &mut there);
    }
    assert_eq!(there, wanted, "{place}");
    let newer = [
        "job_start",
        "latency_target_ns",
        "latency_window_us",
        "global options",
        "read_sectors",
        "write_sectors",
    ];
    let order = |text: &str| -> Vec<String> {
        names(text).into_iter().filter(|name| !older || !newer.contains(&name.as_str())).collect()
    };
    assert_eq!(order(&made_text), order(&real_text), "{place}");
}
