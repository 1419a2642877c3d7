//! The parsers, each with inputs that it takes.

use std::io::Write;

use qdepth_foreign::fio::{CommandLine, JobSet, MissingFile, Surroundings};
use qdepth_foreign::ior::Ior;
use qdepth_foreign::mdtest::Mdtest;
use qdepth_logbook::Logbook;
use qdepth_measure::LatencyHistogram;
use qdepth_media::Description;
use qdepth_record::{PointRecord, RunRecord, export_csv, export_json};
use qdepth_workload::{
    Choices, Extent, Plan, PlanFile, TargetShape, resolve, shipped_plan_names, shipped_plan_text,
    shipped_profile_names, shipped_profile_text,
};

use crate::nbd;

/// A parser.
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Inputs that it takes.
    pub inputs: fn() -> Vec<Vec<u8>>,
    /// Takes an input.
    pub take: fn(&[u8]),
}

const fn target(name: &'static str, inputs: fn() -> Vec<Vec<u8>>, take: fn(&[u8])) -> Target {
    Target { name, inputs, take }
}

/// All of them.
pub const TARGETS: &[Target] = &[
    target("plan-file", plans, plan_file),
    target("stored-plan", stored_plans, stored_plan),
    target("fio-job-file", || of_texts(FIO_JOBS), fio_job_file),
    target("fio-command-line", fio_lines, fio_command_line),
    target("ior-command-line", ior_lines, ior_command_line),
    target("imported-json", imported_json, |input| import("result.json", input)),
    target("imported-log", imported_logs, |input| import("a_lat.1.log", input)),
    target("imported-csv", imported_csv, |input| import("results.csv", input)),
    target("medium", media, medium),
    target("preparation", preparations, preparation),
    target("paper", papers, paper),
    target("histogram", histograms, histogram),
    target("logbook", logbooks, logbook),
    target("nbd-client", nbd::inputs, nbd::take),
];

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<Vec<u8>> {
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn words(input: &[u8]) -> Vec<String> {
    shlex::split(&text(input)).unwrap_or_else(|| vec![text(input)])
}

fn plans() -> Vec<Vec<u8>> {
    let plans = shipped_plan_names().filter_map(shipped_plan_text);
    of_texts(plans.chain(shipped_profile_names().filter_map(shipped_profile_text)))
}

const SHAPE: TargetShape =
    TargetShape::whole(Extent { offset_bytes: 1 << 20, length_bytes: 64 << 30 }, 512);

fn plan_file(input: &[u8]) {
    let Ok(file) = toml::from_str::<PlanFile>(&text(input)) else { return };
    for targets in [&[SHAPE][..], &[SHAPE, SHAPE]] {
        let Ok(plan) = resolve(&file, &Choices::default(), targets) else { continue };
        // A resolved plan can be stored and read back, and fits.
        let back = Plan::from_text(&plan.text());
        assert!(back.as_ref() == Ok(&plan), "{back:?}");
        assert!(plan.fits(targets).is_ok());
    }
}

fn stored_plans() -> Vec<Vec<u8>> {
    let plan = |text| {
        let file: PlanFile = toml::from_str(text).ok()?;
        Some(resolve(&file, &Choices::default(), &[SHAPE]).ok()?.text().into_bytes())
    };
    shipped_plan_names().filter_map(shipped_plan_text).filter_map(plan).collect()
}

fn stored_plan(input: &[u8]) {
    let Ok(plan) = Plan::from_text(&text(input)) else { return };
    let _ = plan.fits(&[SHAPE]);
    let _ = (plan.duration_ns(), plan.hash(), plan.groups().count());
    for point in plan.points.iter().filter(|point| point.streams < 64) {
        // No request lies outside of its area, whatever was altered.
        let mut stream = qdepth_workload::RequestStream::new(point, point.streams - 1);
        for _ in 0..8 {
            let request = stream.draw();
            let end = request.offset.checked_add(u64::from(request.size));
            let area = point.area.end_bytes();
            assert!(end.zip(area).is_some_and(|(end, area)| end <= area), "{request:?}");
        }
    }
}

const FIO_JOBS: [&str; 4] = [
    "[global]\nbs=4k\nsize=1g\niodepth=32\ndirect=1\n[reads]\nrw=randread\n[writes]\nstonewall\n\
     rw=write\nbs=128k\n",
    "[mix]\nrw=randrw:8\nrwmixread=70\nbssplit=4k/60:64k/40\nrandom_distribution=zipf:1.2\n\
     runtime=30\ntime_based\n",
    "[r]\nfilename=/dev/nvme0n1:/tmp/x\nrate_iops=1000,500\nthinktime=10ms\nverify=crc32c\n\
     size=${SIZE}%\n",
    "; a remark\n[a]\nrw=read\nbs=$((4*1024))\nnumjobs=4\noffset_increment=1g\nwrite_lat_log=x\n",
];

fn around() -> Surroundings<'static> {
    Surroundings {
        variable: &|name| Some(name.repeat(3)),
        include: &|name| {
            if name.len() < 4 { Ok(format!("[{name}]\nbs=4k\n")) } else { Err("no".to_owned()) }
        },
        trace: &|_| Err("no trace".to_owned()),
        is_directory: &|_| true,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    }
}

fn convert(line: &CommandLine, files: &[(String, String)]) {
    let Ok(set) = JobSet::read(line, files, &around()) else { return };
    let whole = |_: &str| Some(1 << 40);
    let Ok(converted) = set.convert("jobs", 1, &whole, MissingFile::Refused) else { return };
    reads_back(&converted.plan);
}

/// Checks that a printed plan reads back as the same plan.
fn reads_back(plan: &PlanFile) {
    let text = plan.to_toml();
    assert!(text.is_ok(), "{text:?}: {plan:?}");
    let text = text.unwrap_or_default();
    assert_eq!(text.parse::<PlanFile>().as_ref(), Ok(plan), "{text}");
}

fn fio_job_file(input: &[u8]) {
    convert(&CommandLine::default(), &[("jobs.fio".to_owned(), text(input))]);
}

fn fio_lines() -> Vec<Vec<u8>> {
    of_texts([
        "--name=a --rw=randread --bs=4k --size=1g --iodepth=32 --direct=1",
        "jobs.fio --output-format=json --output=x --section=reads",
        "--name=a --rw=write --bs=128k --name=b --rw=read --rate_iops=100 --runtime=10 \
         --time_based",
    ])
}

fn fio_command_line(input: &[u8]) {
    if let Ok(line) = CommandLine::read(&words(input)) {
        convert(&line, &[("jobs.fio".to_owned(), FIO_JOBS[0].to_owned())]);
    }
}

fn ior_lines() -> Vec<Vec<u8>> {
    of_texts([
        "-a POSIX -t 1m -b 16m -s 4 -F -o dir/file -wrk",
        "-t=4k -b=1g -z -C -Q 2 -g -e -i 3 -d 1 -D 10 -O summaryFile=x -o file",
        "-n 10 -w 3901 -e 3901 -t -P -F -N 1 -d dir -x file -C -Y -W 300 -a POSIX",
        "--posix.odirect -w -r -R -W -G 77 -N 4 -o a@b",
        "-f tests\nIOR START\ntransferSize=4k\nblockSize=1m\nrepetitions=3\nRUN\nIOR STOP\n",
    ])
}

/// The first line has the options; `-f` reads the others.
fn ior_command_line(input: &[u8]) {
    let text = text(input);
    let (line, script) = text.split_once('\n').unwrap_or((&text, ""));
    // mdtest has the same syntax.
    if let Some(mdtest) = Mdtest::read(&words(line.as_bytes())).ok().filter(|m| !m.help) {
        reads_back(&mdtest.plan(3));
    }
    let Ok(ior) = Ior::read(&words(line.as_bytes())) else { return };
    let tests = match &ior.script {
        _ if ior.help => return,
        Some(file) => ior.tests_of(file, script).unwrap_or_default(),
        None => vec![ior],
    };
    for ior in tests.iter().take(4) {
        reads_back(&ior.plan(1));
        reads_back(&ior.plan(3));
        let _ = (ior.names().len(), ior.bytes_per_task());
    }
}

fn import(name: &str, input: &[u8]) {
    let Ok(all) = qdepth_foreign::import(&[(name.to_owned(), input.to_vec())]) else { return };
    for imported in all.iter().take(4) {
        let _ = imported.record("id", "2025-03-01T10:00:00Z", "0");
    }
}

fn imported_json() -> Vec<Vec<u8>> {
    let latency = r#"{"min":1,"max":9000,"mean":100.5,"stddev":3.0,"N":10,"percentile":{"50.000000":90,"99.000000":800},"bins":{"90":9,"8000":1}}"#;
    let side = format!(
        r#"{{"io_bytes":40960,"total_ios":10,"short_ios":0,"runtime":1000,"iops":10.0,"bw_bytes":40960,"clat_ns":{latency},"lat_ns":{latency}}}"#
    );
    vec![format!(
        r#"{{"fio version":"fio-3.33","timestamp":1700000000,"global options":{{"bs":"4k"}},"jobs":[{{"jobname":"a","error":0,"job options":{{"rw":"randread","iodepth":"4"}},"read":{side},"write":{side},"usr_cpu":1.0,"sys_cpu":2.0}}]}}"#
    )
    .into_bytes()]
}

fn imported_logs() -> Vec<Vec<u8>> {
    of_texts(["1, 2000, 0, 4096, 0\n2, 2100, 1, 4096, 4096\n500, 99999, 0, 65536, 8192, 0\n"])
}

fn imported_csv() -> Vec<Vec<u8>> {
    of_texts(["'Test Type,Test Description\n0,first\n'Version\n1.1.0\n'Time Stamp\n\
               2025-03-01 10:00:00:000\n'Access specifications\n\
               'Access specification name,default assignment\n4K,NONE\n\
               'size,% of size,% reads,% random,delay,burst,align,reply\n4096,100,67,100,0,1,0,0\n\
               'End access specifications\n'Results\n'Target Type,Target Name,Access Specification \
               Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps,Read MBps,Write \
               MBps,Transactions per Second,Connections per Second,Average Response Time\n\
               ALL,All,4K,1,1,1,100.5,67,33,0.4,0.3,0.1,100,0,9.9\n'End Test\n"])
}

fn media() -> Vec<Vec<u8>> {
    of_texts(qdepth_media::catalogue().filter_map(qdepth_media::description_text))
}

fn medium(input: &[u8]) {
    let _ = Description::read("fuzzed", &text(input));
}

fn preparations() -> Vec<Vec<u8>> {
    of_texts([
        "[[prepare]]\nstep = \"purge\"\ndevice = \"/dev/nvme0n1\"\nmethod = \"discard\"\n\
         [[prepare]]\nstep = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\nchunk = \"128KiB\"\n\
         members = [\"/dev/nvme0n1\", \"/dev/nvme1n1\"]\n",
        "[[prepare]]\nstep = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/md0\"\n\
         options = [\"-K\"]\n[[prepare]]\nstep = \"mount\"\nat = \"/mnt/x\"\n\
         device = \"/dev/md0\"\noptions = \"noatime\"\n",
    ])
}

fn preparation(input: &[u8]) {
    let Ok(steps) = qdepth_host::prepare::read(&text(input)) else { return };
    for step in &steps {
        let _ = (step.describe(), step.destroys().len());
    }
}

fn papers() -> Vec<Vec<u8>> {
    of_texts([
        "title = \"A drive\"\norganization = \"ACME\"\n[[data-sheet]]\nname = \"P3700\"\n\
         sequential-read-mb-s = 2800\n",
        "version = \"1\"\nlanguage = \"ja\"\n",
    ])
}

fn paper(input: &[u8]) {
    let _ = qdepth_report::Paper::from_toml(&text(input));
}

fn histograms() -> Vec<Vec<u8>> {
    let mut histogram = LatencyHistogram::new();
    for value in [1, 500, 513, 100_000, 1 << 41, u64::MAX] {
        histogram.record(qdepth_measure::Nanos(value));
    }
    let mut bytes = Vec::new();
    histogram.encode(&mut bytes);
    vec![bytes]
}

fn histogram(input: &[u8]) {
    let Ok(histogram) = LatencyHistogram::decode(input) else { return };
    let _ = (histogram.quantile(0.5), histogram.bucket_sum());
    let mut bytes = Vec::new();
    histogram.encode(&mut bytes);
    let again = LatencyHistogram::decode(&bytes);
    assert!(again.as_ref() == Ok(&histogram), "it does not come back");
}

fn logbooks() -> Vec<Vec<u8>> {
    let made = || -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().ok()?;
        let file = folder.path().join("q.db");
        let mut logbook = Logbook::open(&file).ok()?;
        let run = RunRecord {
            id: "01890000-0000-7000-8000-000000000001".to_owned(),
            started_at: "2025-03-01T10:00:00Z".to_owned(),
            qdepth_version: "0".to_owned(),
            measurement_version: 1,
            plan_name: "quick".to_owned(),
            seed: 7,
            emulated: true,
            points_planned: 2,
            engine_choice: "auto".to_owned(),
            ..RunRecord::default()
        };
        logbook.begin_run(&run).ok()?;
        drop(logbook);
        std::fs::read(file).ok()
    };
    made().into_iter().collect()
}

fn logbook(input: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let file = folder.path().join("q.db");
    let put = std::fs::File::create(&file).and_then(|mut made| made.write_all(input));
    if put.is_err() {
        return;
    }
    let Ok(logbook) = Logbook::open_read_only(&file) else { return };
    let _ = (logbook.runs(), logbook.check());
    let Ok((run, points)) = logbook.measured("latest") else { return };
    let points: Vec<PointRecord> = points;
    let _ = (export_json(&run, &points), export_csv(&run, &points));
}
