//! fio's job files: accepted and refused options, their messages, and the resulting plan.

use qdepth_foreign::Remark;
use qdepth_foreign::fio::{CommandLine, Converted, FioRefusals, JobSet, MissingFile, Surroundings};
use qdepth_measure::Bytes;
use qdepth_workload::{
    Arrivals, Choices, Distribution, Durability, Extent, Plan, Point, RequestStream, TargetShape,
    Zone, resolve,
};

pub(crate) fn around<'a>(include: &'a dyn Fn(&str) -> Result<String, String>) -> Surroundings<'a> {
    Surroundings {
        variable: &|name| (name == "DEPTH").then(|| "16".to_owned()),
        include,
        trace: &|_| Err("no trace".to_owned()),
        is_directory: &|_| true,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    }
}

pub(crate) fn no_file(_: &str) -> Result<String, String> {
    Err("there is no such file".to_owned())
}

fn read(text: &str) -> Result<JobSet, FioRefusals> {
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    JobSet::read(&CommandLine::default(), &files, &around(&no_file))
}

fn convert(text: &str) -> Result<Converted, FioRefusals> {
    let whole = |path: &str| {
        let here = path.starts_with("/dev/") && path != "/dev/nvme9n1";
        here.then_some(64 << 30)
    };
    read(text)?.convert("jobs", 77, &whole, MissingFile::Refused)
}

/// The plan that would run.
fn plan(text: &str) -> (Plan, Converted) {
    let converted = convert(text).expect("a job file");
    let file = &converted.plan;
    let shape = |name: &String| {
        let made = file.file_size.map_or(0, |bytes| bytes.0);
        let length_bytes = if name.starts_with("/dev/") { 64 << 30 } else { made };
        TargetShape::whole(Extent { offset_bytes: 0, length_bytes }, 512)
    };
    let shapes: Vec<TargetShape> = converted.targets.iter().map(shape).collect();
    let plan = resolve(file, &Choices::default(), &shapes).expect("a plan");
    assert_eq!(plan.points.len(), converted.origins.len());
    (plan, converted)
}

fn refusal(text: &str) -> String {
    convert(text).expect_err(text).to_string()
}

/// Job file N of the write-pressure set (60 files, N = 10, 20 … 600).
fn write_pressure(n: u32) -> String {
    format!(
        "[global]\nthread\ndirect=1\ngroup_reporting\nnorandommap=1\nrandrepeat=0\nrefill_buffers\n\
         ioengine=libaio\ngtod_reduce=0\ntime_based\nblocksize=8k\nruntime=10\nlog_avg_msec=500\n\n\
         [Random_Write]\nrw=randwrite\nnumjobs=8\niodepth=8\nwrite_bw_log=nvme0n1_WPT_{n}MBs\n\
         rate=,{}k\nfilename=/dev/nvme0n1\n\n[Random_Read]\nrw=randread\nnumjobs=1\niodepth=1\n\
         write_lat_log=nvme0n1_WPT_{n}MBs\n\
         percentile_list=99:99.9:99.99:99.999:99.9999:99.99999:99.999999:99.9999999\n\
         filename=/dev/nvme0n1\n",
        125 * n
    )
}

#[test]
fn write_pressure_jobs_become_nine_simultaneous_loads() {
    for n in (10..=600).step_by(10) {
        let (plan, converted) = plan(&write_pressure(n));
        assert_eq!(plan.groups().count(), 1);
        assert_eq!(plan.points.len(), 9);
        assert_eq!(converted.targets, ["/dev/nvme0n1"]);
        for writer in &plan.points[..8] {
            let rate = f64::from(n) * 125.0 * 1024.0 / 8192.0;
            assert_eq!(writer.arrivals, Arrivals::Fixed { rate });
            assert_eq!((writer.queue_depth, writer.streams), (8, 1));
            assert_eq!(writer.area, Extent { offset_bytes: 0, length_bytes: 64 << 30 });
            assert_eq!(writer.distribution, Distribution::Uniform);
        }
        let reader = &plan.points[8];
        assert_eq!((reader.arrivals, reader.queue_depth), (Arrivals::Closed, 1));
        assert_eq!(reader.stop.duration_ns, 10_000_000_000);
        assert_eq!(converted.origins[8].thread, 9);
        assert!(converted.origins.iter().all(|origin| origin.group == 0));
        assert_eq!(plan.seed, 77, "randrepeat=0 asks for a seed of its own");
    }
}

#[test]
fn global_options_apply_below_and_last_value_wins() {
    let set = read(
        "[global]\nbs=8k\n[a]\nrw=randread\n[global]\nbs=16k\niodepth=4\nioengine=libaio\n\
         [b]\n[c]\nbs=4k\nbs=2k\n",
    );
    let jobs = set.expect("jobs").jobs;
    let sizes: Vec<u64> = jobs.iter().map(|job| job.sizes.parts[0].bytes).collect();
    assert_eq!(sizes, [8192, 16384, 2048]);
    assert_eq!(jobs.iter().map(|job| job.depth).collect::<Vec<_>>(), [1, 4, 4]);
    assert_eq!(jobs[2].report.written, [("bs".to_owned(), "2k".to_owned())]);
}

#[test]
fn comments_variables_and_arithmetic_are_parsed() {
    let text = "; first\n# second\n[one] ; behind\n  ioengine=io_uring\n\
                iodepth=${DEPTH} # sixteen\n\
                size=8*$pagesize\nbs=(2*2k)\nruntime=(3*1000*1000)\nramp_time=500ms\n\
                filename=a\\:b:c\n";
    let job = read(text).expect("a job").jobs.remove(0);
    assert_eq!(job.depth, 16);
    assert_eq!(job.sizes.parts[0].bytes, 4096);
    assert_eq!(job.span.runtime_ns, Some(3_000_000_000));
    assert_eq!(job.span.ramp_ns, 500_000_000);
    assert_eq!(job.filenames, ["a:b", "c"]);
    assert_eq!(job.span.size.bytes(None), Some(32768));
}

#[test]
fn fio_refusal_names_option_section_and_line() {
    let cases = [
        (
            "[a]\niodept=4\n",
            "jobs.fio:2: [a] iodept=4: fio has no such option; did you mean `iodepth`?",
        ),
        ("[a]\n\nioengine=cpuio\n", "jobs.fio:3: [a] ioengine=cpuio: refused: qdepth has"),
        (
            "[a]\nthinktime=1\nthinktime_blocks=0\n",
            "jobs.fio:3: [a] thinktime_blocks=0: must be between 1 and",
        ),
        ("[a]\nthinktime=1\nthinktime_iotime=5\n", "jobs.fio:3: [a] thinktime_iotime=5: refused: "),
        ("[a]\nfilesize=4k-x\n", "jobs.fio:2: [a] filesize=4k-x: "),
        ("[a]\nstartdelay=1-2\n", "jobs.fio:2: [a] startdelay=1-2: "),
        ("[a]\nruntime=30s*2\n", "jobs.fio:2: [a] runtime=30s*2: "),
        ("[a]\nsize=1m,2m\n", "jobs.fio:2: [a] size=1m,2m: "),
        ("[a]\nrw=rw\nbs=4k:8k\nsize=1m\n", "jobs.fio:3: [a] bs=4k:8k: "),
        ("[a]\nsize=1m\n[b]\nsize=1m\n[c]\nsize=1m\nwait_for=a\n", "[c] wait_for=a: refused: "),
        ("[a]\ntrim_backlog=5\n", "jobs.fio:2: [a] trim_backlog=5: refused: blocks that are"),
        ("[a]\nverify=what\n", "jobs.fio:2: [a] verify=what: must be md5, "),
        ("[a]\nlatency_target=5ms\n", "jobs.fio:2: [a] latency_target=5ms: needs latency_window="),
        ("bs=4k\n", "jobs.fio:1: `bs=4k` is before the first [section]"),
        ("[a]\ndirect\n", ""),
        ("[a]\nbs\n", "jobs.fio:2: [a] bs: needs a value"),
        ("[a]\nbs=4x\n", "jobs.fio:2: [a] bs=4x: `4x` is not a size"),
        ("[a]\niodepth=${NOT_SET}\n", "the environment variable is not set"),
        ("[a\nbs=4k\n", "jobs.fio:1: the name of a section must end with `]`"),
        ("include other.fio\n", "jobs.fio:1: cannot include `other.fio`: there is no such file"),
        ("[a]\nbssplit=4k/120\n", "`120`: a share must be between 0 and 100"),
        ("[a]\nbs=4g\n", "at least 1 byte and less than 4 GiB"),
        ("[a]\ncreate_only=1\n", "[a] a.0.0 does not exist: add size="),
        (
            "[a]\nfilename=f\nsize=1m\nrw=read\nverify=md5\nverify_only\n",
            "verify_only: refused: its file does not exist",
        ),
        ("[a]\nrw=read\n", "[a] no size, and . has no file of this job: add size="),
        ("[a]\nrw=rw:8k\nbs=4k,8k\nsize=1m\n", "a gap needs a single block size"),
        ("[a]\nrw=rw\nbs=4k,8k\nnumber_ios=9\nsize=1m\n", "number_ios needs a single block size"),
    ];
    for (text, said) in cases.iter().filter(|(_, said)| !said.is_empty()) {
        let message = refusal(text);
        assert!(message.contains(said), "{message}\nnot: {said}");
    }
}

#[test]
fn options_without_effect_on_figures_are_remarks() {
    let (_, converted) = plan("[a]\nsize=1m\nfallocate=none\nmem=mmaphuge\ninvalidate=1\n");
    let remarks: Vec<String> = converted.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    let written = "a measurement file is always filled before the measurement";
    assert_eq!(remarks[0], format!("jobs.fio:3: [a] fallocate=none: {written}"));
}

#[test]
fn stonewalls_and_files_start_steps_and_groups() {
    let text =
        "[a]\nsize=1m\n[b]\nsize=1m\n[c]\nstonewall\nnumjobs=2\nsize=1m\n[d]\nsize=1m\nnew_group\n";
    let (made, converted) = plan(text);
    let steps: Vec<usize> = made.groups().map(<[_]>::len).collect();
    assert_eq!(steps, [2, 3]);
    let groups: Vec<u32> = converted.origins.iter().map(|origin| origin.group).collect();
    assert_eq!(groups, [0, 0, 1, 1, 2]);
    let file = |name: &str| (name.to_owned(), "[a]\nsize=1m\n".to_owned());
    let set =
        JobSet::read(&CommandLine::default(), &[file("1.fio"), file("2.fio")], &around(&no_file));
    let jobs = set.expect("jobs").jobs;
    assert_eq!(jobs.iter().map(|job| job.stonewall).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn clones_without_file_have_separate_areas() {
    let (apart, converted) = plan("[a]\nrw=randwrite\nnumjobs=3\nsize=1m\ndirectory=/mnt\n");
    assert_eq!(converted.targets, ["/mnt"]);
    let starts: Vec<u64> = apart.points.iter().map(|point| point.area.offset_bytes).collect();
    assert_eq!(starts, [0, 1 << 20, 2 << 20]);
    let (shared, _) = plan(
        "[a]\nrw=randread\nnumjobs=3\nsize=1g\nfilename=/dev/sdx\noffset=50%\n\
         offset_increment=1g\n",
    );
    let starts: Vec<u64> =
        shared.points.iter().map(|point| point.area.offset_bytes >> 30).collect();
    assert_eq!(starts, [32, 33, 34]);
}

#[test]
fn absent_file_is_a_shared_area_in_directory() {
    let text = "[write]\nfilename=/mnt/x/f\nrw=write\nsize=2m\n\
                [other]\nfilename=/mnt/x/g\nrw=write\nsize=1m\n\
                [read]\nstonewall\nfilename=/mnt/x/f\nrw=read\nsize=3m\n";
    let (made, converted) = plan(text);
    assert_eq!(converted.targets, ["/mnt/x"]);
    let starts: Vec<u64> = made.points.iter().map(|point| point.area.offset_bytes >> 20).collect();
    assert_eq!(starts, [0, 3, 0]);
}

#[test]
fn byte_and_time_limits_are_distinguished() {
    let (by_bytes, _) = plan("[a]\nsize=8m\nio_size=2m\nloops=3\n");
    assert_eq!(by_bytes.points[0].stop.bytes_per_stream, 6 << 20);
    let (by_time, _) = plan("[a]\nsize=8m\ntime_based\nruntime=2\n");
    assert_eq!(
        (by_time.points[0].stop.bytes_per_stream, by_time.points[0].stop.duration_ns),
        (0, 2_000_000_000)
    );
    let (counted, _) = plan("[a]\nsize=8m\nnumber_ios=10\nbs=8k\n");
    assert_eq!(counted.points[0].stop.bytes_per_stream, 81920);
}

#[test]
fn pauses_delays_and_file_sizes_are_converted() {
    let text = "[global]\nfilename=f\nsize=4m\nfilesize=8m\nrw=randread\n\
                [a]\nthinktime=100\nthinktime_blocks=8\n[b]\nwait_for=a\nthinktime=2ms\n\
                [c]\nstartdelay=500ms\n";
    let (plan, _) = plan(text);
    let [a, b, c] = plan.points.as_slice() else { panic!("{} points", plan.points.len()) };
    assert_eq!(a.arrivals, Arrivals::ThinkTime { time_ns: 100_000, requests: 8 });
    assert_eq!(b.arrivals, Arrivals::ThinkTime { time_ns: 2_000_000, requests: 1 });
    assert_eq!((a.group, b.group, c.group), (0, 1, 1));
    assert_eq!((a.delay_ns, b.delay_ns, c.delay_ns), (0, 0, 500_000_000));
    // The file is as long as `filesize` says, and a pass moves `size`.
    assert_eq!((c.area.length_bytes, c.stop.bytes_per_stream), (8 << 20, 4 << 20));
}

#[test]
fn equal_cpu_options_of_all_jobs_are_converted() {
    let cpus =
        |text: &str| convert(&format!("[global]\nfilename=f\nsize=1m\n{text}")).map(|c| c.cpus);
    assert_eq!(cpus("[a]\n[b]\n"), Ok(None));
    assert_eq!(cpus("cpus_allowed=0-3,8\n[a]\n[b]\n"), Ok(Some(("0-3,8".to_owned(), false))));
    let split = "cpus_allowed_policy=split\n";
    assert_eq!(cpus(&format!("cpumask=0x0d\n{split}[a]\n")), Ok(Some(("0,2,3".to_owned(), true))));
    let differ = "[a]\ncpus_allowed=1\n[b]\ncpus_allowed=2\n";
    assert_eq!(cpus(differ), Ok(Some(("1,2".to_owned(), false))));
    let converted = convert(&format!("[global]\nfilename=f\nsize=1m\n{differ}")).expect("a plan");
    assert!(converted.remarks.iter().any(|remark| remark.location.contains("[b] cpus_allowed")));
    for wrong in ["cpumask=0", "cpumask=0xx", "cpus_allowed_policy=any"] {
        assert!(cpus(&format!("{wrong}\n[a]\n")).is_err(), "{wrong}");
    }
}

#[test]
fn mixes_rates_and_distributions_are_converted() {
    let text = "[a]\nsize=64m\nrw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40\nnorandommap\n\
                rate_iops=100,300\nrandom_distribution=zipf:1.2\n\
                [b]\nsize=64m\nrw=randwrite\nrate=1m\nrate_process=poisson\nbs=4k\n";
    let (made, _) = plan(text);
    let mixed = &made.points[0];
    assert!((mixed.read_share - 0.25).abs() < 1e-12, "each direction keeps its rate");
    assert_eq!(mixed.block_size.sizes, [(4096, 60), (65536, 40)]);
    assert_eq!(mixed.distribution, Distribution::Zipf { exponent: 1.2 });
    let mean = 4096.0 * 0.6 + 65536.0 * 0.4;
    let Arrivals::Fixed { rate } = mixed.arrivals else { panic!("{:?}", mixed.arrivals) };
    assert!((rate - 400.0 * 4096.0 / mean).abs() < 1e-9);
    assert_eq!(made.points[1].arrivals, Arrivals::Poisson { rate: 256.0 });
    assert_eq!(made.points[1].distribution, Distribution::EachOnce);
}

#[test]
fn several_files_share_depth_rate_and_bytes() {
    let (made, converted) = plan(
        "[a]\nioengine=libaio\niodepth=8\nrw=randread\nrate_iops=1000\nsize=2g\n\
         filename=/dev/sda:/dev/sdb\n",
    );
    assert_eq!(converted.targets, ["/dev/sda", "/dev/sdb"]);
    for point in &made.points {
        assert_eq!(point.queue_depth, 4);
        assert_eq!(point.arrivals, Arrivals::Fixed { rate: 500.0 });
        assert_eq!(Bytes(point.area.length_bytes), Bytes::gib(1));
    }
    assert!(
        refusal("[a]\niodepth=1\nioengine=libaio\nfilename=/dev/a:/dev/b\n").contains("less than")
    );
}

#[test]
fn command_line_jobs_come_before_file_jobs() {
    let words = [
        "--name=global",
        "--bs=16k",
        "--name=x",
        "--rw=write",
        "--size=1m",
        "--output-format",
        "json",
        "a.fio",
    ];
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let line = CommandLine::read(&words).expect("a command line");
    assert_eq!(line.files, ["a.fio"]);
    let files = [("a.fio".to_owned(), "[y]\nsize=1m\n".to_owned())];
    let jobs = JobSet::read(&line, &files, &around(&no_file)).expect("jobs").jobs;
    assert_eq!(jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    assert!(jobs.iter().all(|job| job.sizes.parts[0].bytes == 16384));
    let unknown = CommandLine::read(&["--outpt=x".to_owned()]).expect_err("no option");
    assert!(unknown.to_string().contains("--outpt"), "{unknown}");
    let outside = CommandLine::read(&["--bs=4k".to_owned()]).expect("globals");
    let outside = JobSet::read(&outside, &[], &around(&no_file)).expect_err("no job");
    assert!(outside.to_string().contains("--name"), "{outside}");
}

#[test]
fn recursive_include_is_refused() {
    let itself = |_: &str| Ok("[a]\nsize=1m\ninclude again\n".to_owned());
    let files = [("jobs.fio".to_owned(), "include again\n".to_owned())];
    let answer = JobSet::read(&CommandLine::default(), &files, &around(&itself));
    assert!(answer.expect_err("no end").to_string().contains("16 deep"));
}

#[test]
fn plan_to_job_file_round_trip_is_lossless() {
    let text = "[a]\nioengine=io_uring\niodepth=8\nrw=randrw\nrwmixread=70\nbs=8k\nnorandommap\n\
                size=1g\n\
                filename=/dev/sda\nruntime=5\ntime_based\nrate_iops=700,300\n\
                flow=3\nflow_sleep=50\n\
                [b]\nstonewall\nrw=write\nbs=64k\nsize=1g\noffset=1g\nfilename=/dev/sda\n\
                runtime=5\ntime_based\n";
    let (first, converted) = plan(text);
    let (again, _) = plan(&qdepth_foreign::fio::as_fio(&first, &converted.targets));
    for (a, b) in first.points.iter().zip(&again.points) {
        assert_eq!(
            (a.group, a.area, a.queue_depth, a.arrivals, a.read_share, &a.distribution),
            (b.group, b.area, b.queue_depth, b.arrivals, b.read_share, &b.distribution)
        );
        assert_eq!(
            (&a.block_size, a.stop, a.warm_up_ns, a.flow),
            (&b.block_size, b.stop, b.warm_up_ns, b.flow)
        );
    }
}

#[test]
fn unsupported_engine_is_refused_without_its_options() {
    let refused = |text: &str| {
        let all = convert(text).expect_err("nothing stands for this engine").list().to_vec();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    };
    let rdma = "[global]\nioengine=rdma\n[receiver]\nverb=read\nport=[port]\n";
    let exec = "[a]\nprogram=/bin/x\nsize=1m\nioengine=exec\n";
    for (text, option, line) in [(rdma, "ioengine=rdma", 2), (exec, "ioengine=exec", 4)] {
        let refusal = refused(text);
        assert_eq!((refusal.option.as_str(), refusal.line), (option, line), "{refusal}");
    }
    let misspelt = refused("[a]\nsize=1m\niodept=4\n");
    assert_eq!((misspelt.option.as_str(), misspelt.line), ("iodept=4", 3), "{misspelt}");
}

#[test]
fn zones_and_absent_devices_convert_to_plan() {
    // Like fio's JESD219 example: no size, and a device that this machine may lack.
    let text = "[x]\nioengine=libaio\ndirect=1\nrw=randrw\nnorandommap\nrwmixread=40\niodepth=8\n\
                random_distribution=zoned:50/5:30/15:20/\nfilename=/dev/nvme9n1\nloops=2\n";
    let (made, converted) = plan(text);
    assert_eq!(converted.targets, ["/dev/nvme9n1"]);
    let zone = |access, area| Zone { access, area };
    let zones = vec![zone(50.0, 5.0), zone(30.0, 15.0), zone(20.0, 80.0)];
    assert_eq!(made.points[0].distribution, Distribution::Zones { zones });
    let point = &made.points[0];
    assert_eq!(point.stop.bytes_per_stream, 2 * point.area.length_bytes, "two passes over all");
    let (absolute, _) = plan(
        "[x]\nrw=randread\nsize=1g\nnorandommap\nrandom_distribution=zoned_abs:60/256m:40/10g\n",
    );
    let zones = vec![zone(60.0, 25.0), zone(40.0, 75.0)];
    assert_eq!(absolute.points[0].distribution, Distribution::Zones { zones });
    assert!(convert("[x]\nsize=1g\nrw=randread\nrandom_distribution=zoned:50/5,10/3\n").is_err());
}

/// The jobs of a command line, with the text of its only file.
fn typed(line: &str, file: &str) -> Result<JobSet, FioRefusals> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let line = CommandLine::read(&words)?;
    let files: Vec<(String, String)> =
        line.files.iter().map(|name| (name.clone(), file.to_owned())).collect();
    JobSet::read(&line, &files, &around(&no_file))
}

#[test]
fn options_before_first_job_apply_to_all_jobs() {
    let file = "[a]\nrw=read\n[b]\nbs=64k\n";
    for line in [
        "-direct=1 -bs 8k jobs.fio",
        "jobs.fio --direct=1 --bs=8k",
        "--name=global --direct=1 -bs=8k jobs.fio",
    ] {
        let jobs = typed(line, file).expect(line).jobs;
        assert!(jobs.iter().all(|job| job.direct), "{line}");
        assert_eq!(
            jobs.iter().map(|job| job.sizes.parts[0].bytes).collect::<Vec<_>>(),
            [8192, 65536]
        );
    }
    let line = "-filename=/dev/sda -direct=1 -iodepth 1 -thread -rw=randrw -rwmixread=70 \
                -ioengine=psync -bs=16k -size=200G -numjobs=30 -runtime=100 -group_reporting \
                -name=mytest";
    let job = typed(line, "").expect("as many write it").jobs.remove(0);
    assert_eq!((job.name.as_str(), job.clones, job.read), ("mytest", 30, 70.0));
    assert!(job.thread && job.group_reporting && job.direct);
}

#[test]
fn all_refused_options_are_reported_together() {
    let text = "[global]\nuid=3\niodept=4\n[a]\nbs=4x\nrw=randtrm\n[b]\nlatency_target=5ms\n";
    let all = convert(text).expect_err("five of them").list().to_vec();
    let places: Vec<(u32, &str)> =
        all.iter().map(|refusal| (refusal.line, refusal.option.as_str())).collect();
    let wanted = ["uid=3", "iodept=4", "bs=4x", "rw=randtrm", "latency_target=5ms"];
    assert_eq!(all.len(), wanted.len(), "{places:?}");
    for option in wanted {
        assert!(places.iter().any(|(line, known)| *known == option && *line > 0), "{option}");
    }
    let words = ["--outpt=x", "--qqq=4", "--client=h"].map(str::to_owned);
    assert_eq!(CommandLine::read(&words).expect_err("three").list().len(), 3);
}

#[test]
fn include_is_relative_and_global_name_is_ignored() {
    let beside = |name: &str| match name {
        "folder/more.fio" => Ok("[global]\nbs=8k\nname=all\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let files = [("folder/jobs.fio".to_owned(), "include more.fio\n[a]\n[b]\nname=c\n".to_owned())];
    let jobs = JobSet::read(&CommandLine::default(), &files, &around(&beside)).expect("jobs").jobs;
    assert_eq!(jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(jobs[0].sizes.parts[0].bytes, 8192);
}

#[test]
fn files_gaps_and_patterns_are_converted() {
    let (files, converted) = plan("[a]\nrw=randread\nnrfiles=8\nfilesize=1m\nsize=4m\n");
    assert_eq!(files.points[0].area.length_bytes, 8 << 20);
    assert!(converted.remarks.iter().any(|remark| remark.location.contains("nrfiles=8")));
    let (gap, _) = plan("[a]\nrw=write:12k\nbs=4k\nsize=1m\n");
    assert_eq!(gap.points[0].alignment_bytes, 16 << 10);
    assert_eq!(gap.points[0].stop.bytes_per_stream, 1 << 20, "fio goes round until all is moved");
    let (run, _) = plan("[a]\nrw=randread:8\nsize=1m\nnorandommap\n");
    assert!((run.points[0].random_share - 0.125).abs() < 1e-12);
    let (several, _) = plan("[a]\nrw=randwrite\nbssplit=4k/50:8k/50\nsize=1m\n");
    assert_eq!(several.points[0].distribution, Distribution::EachOnce);
    let (pattern, _) = plan("[a]\nrw=write\nbuffer_pattern=0xdeadbeef\nsize=1m\n");
    assert!((pattern.points[0].payload.compressible_share - 1.0).abs() < 1e-12);
    let (normal, _) = plan("[a]\nrw=randread\nsize=1g\nrandom_distribution=normal:10\n");
    let Distribution::Zones { zones } = &normal.points[0].distribution else { panic!("no zones") };
    let middle: f64 = zones[51..77].iter().map(|zone| zone.access).sum();
    assert!((middle - 68.9).abs() < 1.0, "one deviation either way holds {middle} %");
    let (clones, _) = plan("[a]\nrw=write\nnumjobs=3\nsize=1m\nfilename_format=$jobname\n");
    assert!(clones.points.iter().all(|point| point.area.offset_bytes == 0), "they share a file");
}

#[test]
fn sync_option_and_exitall_are_converted() {
    for (word, durability) in
        [("1", Durability::Sync), ("dsync", Durability::Dsync), ("0", Durability::None)]
    {
        let (made, _) = plan(&format!("[a]\nrw=write\nsync={word}\nsize=1m\n"));
        assert_eq!(made.points[0].durability, durability);
    }
    let timed = "[global]\nsize=1m\ntime_based\n[a]\nruntime=5\nexitall\n[b]\nruntime=60\n";
    let (made, _) = plan(timed);
    assert!(made.points.iter().all(|point| point.stop.duration_ns == 5_000_000_000));
    let by_bytes = "[global]\nsize=1m\n[a]\nexitall\n[b]\n";
    assert!(plan(by_bytes).0.points.iter().all(|point| point.stop.ends_step));
}

#[test]
fn verified_job_can_mix_or_end_by_time() {
    for more in ["rw=randrw", "rw=randwrite\nruntime=2\ntime_based", "rw=write\nnorandommap"] {
        let (made, _) = plan(&format!("[a]\nsize=1m\nverify=crc32c\n{more}\n"));
        assert_eq!(made.points.len(), 2, "{more}: written, and read back");
        assert!(made.points.iter().all(|point| point.verify && !point.verify_unwritten));
        assert!(!made.points[1].writes() && made.points[1].stop.bytes_per_stream <= 1 << 20);
    }
}

#[test]
fn every_fio_option_is_known_by_each_name() {
    let table = qdepth_foreign::fio::fio_options(None);
    assert!(table.lines().count() > 250, "{}", table.lines().count());
    for (name, said) in [("bs", "honoured"), ("blocksize", "honoured"), ("uid", "refused: ")] {
        let line = qdepth_foreign::fio::fio_options(Some(name));
        assert!(line.lines().count() == 1 && line.contains(said), "{line}");
    }
    assert_eq!(qdepth_foreign::fio::fio_options(Some("qqq")), "");
}

#[test]
fn random_zones_cover_each_block_once_in_order() {
    let base = "[a]\nrw=randread\nbs=4k\nsize=256k\nzonemode=strided\nzonerange=64k\n";
    let zones = |options: &str, count: usize| -> Vec<(u64, Vec<u64>)> {
        let (plan, _) = plan(&format!("{base}{options}"));
        let point = &plan.points[0];
        let mut stream = RequestStream::new(point, 0);
        let mut drawn: Vec<(u64, Vec<u64>)> = Vec::new();
        for _ in 0..count {
            let block = (stream.draw().offset - point.area.offset_bytes) >> 12;
            match drawn.last_mut() {
                Some((zone, blocks)) if *zone == block / 16 => blocks.push(block % 16),
                _ => drawn.push((block / 16, vec![block % 16])),
            }
        }
        drawn.iter_mut().for_each(|(_, blocks)| blocks.sort_unstable());
        drawn
    };
    let all: Vec<u64> = (0..16).collect();
    let whole = zones("zonesize=64k\n", 5 * 16);
    assert_eq!(whole, [0, 1, 2, 3, 0].map(|zone| (zone, all.clone())));
    let twice: Vec<u64> = (0..16).flat_map(|block| [block, block]).collect();
    assert_eq!(zones("zonesize=128k\n", 32), [(0, twice)]);
    for (zone, mut blocks) in zones("zonesize=32k\nzoneskip=64k\n", 16) {
        assert!(zone % 2 == 0 && blocks.len() == 8, "zone {zone}");
        blocks.dedup();
        assert_eq!(blocks.len(), 8, "a block of zone {zone} was visited twice");
    }
}

#[test]
fn last_randrepeat_of_either_name_counts() {
    for (text, seed) in [
        ("allrandrepeat=0", 77),
        ("randrepeat=0\nallrandrepeat=1", 1),
        ("allrandrepeat=1\nrandrepeat=0", 77),
    ] {
        let (plan, _) = plan(&format!("[a]\nrw=randread\nsize=1m\n{text}\n"));
        assert_eq!(plan.seed, seed, "{text}");
    }
}

#[test]
fn sequence_and_lfsr_match_fio() {
    let distribution = |text: &str| {
        let (plan, _) = plan(&format!("[a]\nrw=randread\nsize=48k\nbs=4k\n{text}\n"));
        plan.points[0].distribution.clone()
    };
    let text = "random_distribution=sequence:2,0,1\nrandom_sequence_stride=1";
    let sequence = Distribution::Sequence { places: vec![2, 0, 1], advances: true };
    assert_eq!(distribution(text), sequence);
    assert_eq!(distribution("norandommap"), Distribution::Uniform);
    assert_eq!(distribution("norandommap\nrandom_generator=lfsr"), Distribution::EachOnce);
    let said = refusal("[a]\nrw=randread\nsize=48k\nrandom_distribution=sequence:1,x\n");
    assert!(said.contains("`x` is not the number of a place"), "{said}");
}

#[test]
fn strided_zones_and_skips_match_fio() {
    let strided = "[a]\nrw=read\nbs=64k\nsize=64m\nzonemode=strided\nzonesize=1m\nzoneskip=3m\n";
    let (plan_of, _) = plan(strided);
    let point = &plan_of.points[0];
    assert_eq!(point.strides.map(|s| (s.zone_bytes, s.skip_bytes)), Some((1 << 20, 3 << 20)));
    let offsets = |point: &Point, count: usize| -> Vec<u64> {
        let mut stream = RequestStream::new(point, 0);
        let start = point.area.offset_bytes;
        (0..count).map(|_| (stream.draw().offset - start) >> 16).collect()
    };
    // Offsets that fio 3.33 wrote into its log of requests.
    let went = offsets(point, 257);
    assert_eq!(went[14..19], [14, 15, 64, 65, 66]);
    assert_eq!(went[256], 0, "behind the last of sixteen zones is the first");
    let (with_range, _) = plan(&format!("{strided}zonerange=2m\nzoneskip=2m\n"));
    assert_eq!(with_range.points[0].strides, point.strides);

    let (back, _) = plan("[a]\nrw=read:-128k\nbs=64k\nsize=64m\n");
    assert_eq!(offsets(&back.points[0], 4), [1023, 1022, 1021, 1020]);
    assert_eq!(offsets(&back.points[0], 1025)[1023..], [0, 1023]);
    let (gaps, _) = plan("[a]\nrw=read:-256k\nbs=64k\nsize=2m\n");
    assert_eq!(offsets(&gaps.points[0], 3), [27, 24, 21], "three at a time, as fio does");
    for (text, says) in [
        ("rw=read:-64k\nbs=64k", "overlap"),
        (
            "rw=randread\npercentage_random=50\nzonemode=strided\nzonesize=1m",
            "either sequentially or at random",
        ),
        ("rw=read\nzonemode=strided\nzonesize=2m\nzonerange=1m", "at most zonerange"),
        ("rw=read\nzonemode=zbd", "does not follow the write pointers"),
    ] {
        let said = refusal(&format!("[a]\nsize=64m\n{text}\n"));
        assert!(said.contains(says), "{said}");
    }
    // A gap, with an area that does not begin at a multiple of request plus gap.
    let (aside, _) = plan("[a]\nfilename=/there\nrw=write:112k\nbs=16k\noffset=120k\nsize=1m\n");
    assert_eq!(aside.points[0].area.offset_bytes, 120 << 10);
    let mut stream = RequestStream::new(&aside.points[0], 0);
    assert_eq!([0; 3].map(|_: u64| stream.draw().offset >> 10), [120, 248, 376]);
}

#[test]
fn hyphen_in_bs_separates_read_and_write_sizes() {
    let (reads, converted) = plan("[a]\nrw=randread\nbs=4k-64k\nsize=1m\n");
    assert_eq!(reads.points[0].block_size.single(), Some(4096));
    assert!(converted.remarks.iter().any(|said| said.what == Remark::SizesOfReadsAndWrites.into()));
    let (writes, _) = plan("[a]\nrw=randwrite\nbs=4k-64k\nsize=1m\n");
    assert_eq!(writes.points[0].block_size.single(), Some(65536));
}

#[test]
fn absent_file_is_accepted_and_short_file_remarked() {
    let text = "[a]\nrw=read\nfilename=/later\n[b]\nrw=randread\nio_size=1m\n";
    let set = read(text).unwrap();
    let refused = set.convert("t", 1, &|_| None, MissingFile::Refused).unwrap_err();
    assert_eq!(refused.list().len(), 2, "{refused}");
    let later = set.convert("t", 1, &|_| None, MissingFile::Later).unwrap();
    assert_eq!(later.targets, ["/later", "b.0.0"]);
    assert!(later.remarks.iter().all(|said| said.what == Remark::FileNotThereYet.into()));
    assert_eq!(later.remarks.len(), 2);
    let set = read("[a]\nrw=read\nfilename=/there\nsize=4m\n").unwrap();
    let short = set.convert("t", 1, &|_| Some(1 << 20), MissingFile::Refused).unwrap();
    let what = &short.remarks[0].what;
    assert_eq!((what.remark, what.figure), (Remark::FileNotExtended, Some(("bytes", 1 << 20))));
}

#[test]
fn exitall_ends_loads_selected_by_exit_what() {
    let two =
        |more: &str| format!("[global]\nsize=1m\n{more}\n[a]\nrw=read\n[b]\nrw=write\nbs=8k\n");
    let ends = |text: &str| -> Vec<bool> {
        plan(text).0.points.iter().map(|point| point.stop.ends_step).collect()
    };
    assert_eq!(ends(&two("")), [false, false]);
    assert_eq!(ends(&two("exitall")), [true, true]);
    let all = two("exitall\nexit_what=all") + "[z]\nstonewall\n";
    assert_eq!(ends(&all), [true, true], "nothing is behind what ends all");
    assert!(refusal(&two("exitall").replace("[b]", "[b]\nnew_group")).contains("exit_what="));
    let (_, converted) = plan(&all);
    let not_run = Remark::NotRunAfterExitall.into();
    let said = converted.remarks.iter().filter(|remark| remark.what == not_run);
    assert_eq!(said.count(), 1, "{:?}", converted.remarks);
}

#[test]
fn percentages_apply_per_direction_and_align_to_blocks() {
    let random = |rw: &str| {
        let (made, _) = plan(&format!("[a]\nrw={rw}\npercentage_random=,98,\nsize=1m\n"));
        made.points[0].random_share * 100.0
    };
    assert_eq!([random("randwrite").round() as u32, random("randread").round() as u32], [98, 100]);
    let (mix, _) = plan("[a]\nrw=randrw\npercentage_random=,98,\nsize=1m\n");
    assert_eq!(mix.points[0].own_writes.and_then(|own| own.random_share), Some(0.98));
    let at = |more: &str| {
        let text = format!("[a]\nfilename=/dev/sdx\nrw=read\nbs=1m\noffset=33%\n{more}");
        plan(&text).0.points[0].area.offset_bytes
    };
    assert_eq!(at(""), (64_u64 << 30).div_ceil(100).saturating_mul(33).next_multiple_of(1 << 20));
    assert_eq!(at("offset_align=1g\n") % (1 << 30), 0);
    let set = read("[a]\nrw=read\nfilename=/dev/later\nsize=50%\noffset=50%\n").unwrap();
    assert!(set.convert("t", 1, &|_| None, MissingFile::Later).is_err(), "half of what?");
    assert!(set.convert("t", 1, &|_| None, MissingFile::AnyLength).is_ok());
}
