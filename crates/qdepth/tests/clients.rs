//! Programs that run fio and parse its output, with a link named `fio` to qdepth.

use std::fs;

use crate::common::{Workspace, has_tools, sh};

/// Workspace whose PATH finds the link before any other fio.
#[cfg(test)]
struct Link(Workspace);

#[cfg(test)]
impl Link {
    fn new() -> Self {
        let workspace = Workspace::new();
        fs::create_dir(workspace.join("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_qdepth"), workspace.join("bin/fio"))
            .unwrap();
        Self(workspace)
    }

    fn sh(&self, script: &str) -> String {
        let folder = self.0.join(".");
        let script = format!(
            "cd '{}' && export PATH=\"$PWD/bin:$PATH\" PYTHONIOENCODING=utf-8 MPLBACKEND=Agg \
             && {script}",
            folder.display()
        );
        sh(&script).unwrap_or_else(|why| panic!("{script}: {why}"))
    }

    /// Creates a file to read.
    fn file(&self, mib: u32) {
        self.sh(&format!("dd if=/dev/urandom of=data bs=1M count={mib} status=none"));
    }
}

/// Sorted names of a directory's entries.
#[cfg(test)]
fn names(link: &Link, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(link.0.join(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn bench_fio_and_fio_plot_work_with_qdepth() {
    let test = "bench_fio_and_fio_plot_work_with_qdepth";
    let tools = format!("{}/../readers/bin", env!("CARGO_TARGET_TMPDIR"));
    if sh(&format!("test -x '{tools}'/bench-fio")).is_err() {
        println!("SKIPPED: {test}: fio-plot is not there; `cargo xtask test` fetches it");
        return;
    }
    let link = Link::new();
    link.file(16);
    link.sh(&format!(
        "'{tools}'/bench-fio -d $PWD/data --type file --mode randread --iodepth 1 4 --numjobs 1 2 \
         --size 16M --runtime 1 --time-based -o $PWD/out --loginterval 200 --quiet"
    ));
    let made = names(&link, "out/data/4k");
    let count = |end: &str| made.iter().filter(|name| name.ends_with(end)).count();
    assert_eq!(count(".json"), 4, "{made:?}");
    // Logs of each job: two depths with one, and two with two.
    assert_eq!(
        (count("_bw.1.log"), count("_bw.2.log"), count("_lat.2.log")),
        (4, 2, 2),
        "{made:?}"
    );
    for graph in ["-l -n 1", "-L -t iops", "-g -t iops lat -d 1 4 -n 1", "-H -d 4 -n 1"] {
        let picture = format!("picture{}.png", graph.split(' ').next().unwrap());
        link.sh(&format!(
            "'{tools}'/fio-plot -i out/data/4k -T test -r randread {graph} -o {picture} > said 2>&1"
        ));
        let bytes = fs::read(link.0.join(&picture)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{graph}");
    }
}

#[test]
fn tools_of_the_fio_package_read_the_output() {
    let test = "tools_of_the_fio_package_read_the_output";
    if !has_tools(test, &["fio_jsonplus_clat2csv", "fio2gnuplot"]) {
        return;
    }
    let link = Link::new();
    link.file(16);
    let job = "--filename=data --rw=randread --bs=4k --iodepth=4 --ioengine=libaio --direct=1 \
               --time_based --runtime=1 --size=16M";
    link.sh(&format!(
        "fio --name=j {job} --output-format=json+ --output=plus.json --lat_percentiles=1 \
         --write_bw_log=j --log_avg_msec=200"
    ));
    link.sh("fio_jsonplus_clat2csv plus.json clat.csv");
    let table = fs::read_to_string(link.0.join("clat_job0.csv")).unwrap();
    let mut rows = table.lines();
    let place = rows.next().unwrap().split(", ").position(|name| name == "read_lat_ns_cumulative");
    let last = rows.last().unwrap().split(", ").nth(place.unwrap()).unwrap().to_owned();
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(link.0.join("plus.json")).unwrap()).unwrap();
    assert_eq!(last, document["jobs"][0]["read"]["total_ios"].to_string(), "all are counted");
    link.sh("fio2gnuplot -b -o drawn > said 2>&1");
    let average = fs::read_to_string(link.0.join("_bw.average"))
        .or_else(|_| fs::read_to_string(link.0.join("drawn.average")));
    assert!(average.is_ok_and(|text| text.lines().count() >= 1), "{:?}", names(&link, "."));
}

/// YABS parses fio's terse line (by position, with `cut` and `awk`), and dbench its text.
#[test]
fn benchmark_scripts_find_figures_in_fio_output() {
    let link = Link::new();
    let line = "--ioengine=libaio --iodepth=16 --size=16M --runtime=1 --gtod_reduce=1 --direct=1";
    let terse = link.sh(&format!(
        "fio --name=rand_rw_4k --rw=randrw --rwmixread=50 --bs=4k --numjobs=2 {line} \
         --filename=yabs.fio --group_reporting --minimal 2> /dev/null | grep rand_rw_4k"
    ));
    let fields: Vec<&str> = terse.trim().split(';').collect();
    let figure = |place: usize| fields[place - 1].parse::<f64>().unwrap();
    let (read_iops, write_iops) = (figure(8), figure(49));
    assert!(read_iops > 0.0 && write_iops > 0.0, "{terse}");
    for (kib, iops) in [(figure(7), read_iops), (figure(48), write_iops)] {
        assert!((kib / iops - 4.0).abs() < 0.05, "KiB/s {kib} and IOPS {iops} of 4 KiB");
    }
    let found = |rw: &str, more: &str, pick: &str| {
        let job = format!(
            "fio --randrepeat=0 --verify=0 --name=j --filename=dbench {line} --readwrite={rw} \
             --time_based {more} | {pick}"
        );
        link.sh(&job).trim().to_owned()
    };
    let of_iops = "grep -E 'read ?:' | grep -Eoi 'IOPS=[0-9k.]+' | cut -d= -f2";
    assert!(!found("randread", "--bs=4K", of_iops).is_empty());
    let of_latency = "grep ' lat.*avg' | grep -Eoi 'avg=[0-9.]+' | cut -d= -f2";
    let job = found("randread", "--bs=4K --gtod_reduce=0", of_latency);
    assert!(job.parse::<f64>().is_ok_and(|mean| mean > 0.0), "`{job}`");
    let of_all = "grep -E 'WRITE:' | grep -Eoi '(aggrb|bw)=[0-9GMKiBs/.]+' | cut -d= -f2";
    let more = "--bs=1M --thread --numjobs=4 --offset_increment=2M";
    let rate = found("write", more, of_all);
    assert!(rate.ends_with("iB/s"), "`{rate}`");
}

/// kbench: job files that include others of their directory, common options on the command line,
/// and parsed fields of the JSON.
#[test]
fn kbench_finds_figures_in_fio_json() {
    let link = Link::new();
    let common = "stonewall=1\nrandrepeat=0\nverify=0\nioengine=libaio\ndirect=1\ntime_based=1\n\
                  ramp_time=100ms\nruntime=500ms\n";
    fs::create_dir(link.0.join("fio")).unwrap();
    link.0.write("fio/common-include.fio", common);
    for (kind, include) in [
        ("iops", "bs=4K\niodepth=64\n"),
        ("bw", "bs=128k\niodepth=64\n"),
        ("lat", "bs=4k\niodepth=1\n"),
    ] {
        link.0.write(&format!("fio/{kind}-include.fio"), include);
        let job = |name: &str, rw: &str| {
            format!(
                "[{name}-{kind}]\nreadwrite={rw}\ninclude {kind}-include.fio\n\
                 include common-include.fio\n\n"
            )
        };
        let jobs = [
            job("rand-read", "randread"),
            job("rand-write", "randwrite"),
            job("seq-read", "read"),
            job("seq-write", "write"),
        ];
        link.0.write(&format!("fio/{kind}.fio"), &jobs.concat());
        link.sh(&format!(
            "fio fio/{kind}.fio --idle-prof=percpu --filename=volume.img --size=64M \
             --output-format=json --output=out-{kind}.json"
        ));
        let text = fs::read_to_string(link.0.join(&format!("out-{kind}.json"))).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (place, way) in ["read", "write", "read", "write"].into_iter().enumerate() {
            let figures = &document["jobs"][place][way];
            for figure in [&figures["iops_mean"], &figures["bw_mean"], &figures["lat_ns"]["mean"]] {
                assert!(figure.as_f64().unwrap() > 0.0, "{kind} {place}: {figures:#}");
            }
        }
    }
}
