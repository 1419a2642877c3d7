//! fio's jobs that trim, use the null engine, search a queue depth, or repeat written data.

use qdepth_foreign::Remark;
use qdepth_foreign::fio::{
    CommandLine, Converted, Engine, FioRefusals, JobSet, MissingFile, Surroundings,
};
use qdepth_workload::{Choices, Extent, Plan, TargetShape, resolve};

#[cfg(test)]
fn convert(text: &str) -> Result<Converted, FioRefusals> {
    let around = Surroundings {
        variable: &|_| None,
        include: &|_| Err("there is no such file".to_owned()),
        trace: &|_| Err("no trace".to_owned()),
        is_directory: &|_| true,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    };
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let set = JobSet::read(&CommandLine::default(), &files, &around)?;
    let whole = |path: &str| path.starts_with("/dev/").then_some(64 << 30);
    set.convert("jobs", 77, &whole, MissingFile::Refused)
}

#[cfg(test)]
fn plan(text: &str) -> (Plan, Converted) {
    let converted = convert(text).expect("a job file");
    let all = Extent { offset_bytes: 0, length_bytes: 1 << 40 };
    let shapes = vec![TargetShape::whole(all, 512); converted.targets.len()];
    (resolve(&converted.plan, &Choices::default(), &shapes).expect("a plan"), converted)
}

const JOB: &str = "[a]\nfilename=/dev/sdx\nsize=1m\n";

#[test]
fn trims_use_third_values_and_trimwrite_pairs() {
    let (all, converted) = plan(&format!(
        "{JOB}rw=randtrim\nbs=4k,8k,16k\nrate_iops=10,20,30\niodepth=8\nioengine=libaio\n"
    ));
    let point = &all.points[0];
    assert_eq!((point.trim_share, point.read_share, point.trims_first), (1.0, 0.0, false));
    assert_eq!(point.block_size.single(), Some(16 << 10));
    assert_eq!(point.arrivals.rate(), Some(30.0));
    assert_eq!((point.queue_depth, converted.engine), (1, None), "one at a time, as in fio");
    let said = |what: Remark| converted.remarks.iter().any(|remark| remark.what == what.into());
    assert!(said(Remark::OneTrimAtATime));

    let (pairs, _) = plan(&format!("{JOB}rw=trimwrite\nbs=4k\nrate_iops=25\nloops=3\n"));
    let point = &pairs.points[0];
    assert!(point.trims_first && (point.write_share() - 0.5).abs() < 1e-12);
    assert_eq!(point.arrivals.rate(), Some(50.0), "so many of each");
    assert_eq!(point.stop.bytes_per_stream, 6 << 20, "trims and writes are counted apart");

    let ring = format!("{JOB}rw=trim\nioengine=io_uring\niodepth=8\nsqthread_poll\n");
    let (ring, converted) = plan(&ring);
    assert_eq!((ring.points[0].queue_depth, converted.engine), (8, Some(Engine::IoUring)));

    let text = qdepth_foreign::fio::as_fio(&all, &converted.targets);
    assert!(text.contains("rw=randtrim\n") && text.contains("rate=,,491520\n"), "{text}");
    assert!(qdepth_foreign::fio::as_fio(&pairs, &converted.targets).contains("rw=trimwrite\n"));
}

#[test]
fn unsupported_trim_options_are_refused() {
    for (more, says) in [
        ("rw=trimwrite\nbs=4k,4k,16k", "the same block size"),
        ("rw=randtrimwrite\nrate_iops=10,20,30", "the same rate"),
        ("rw=randtrimwrite\nverify=crc32c", "cannot be verified"),
        ("rw=randwrite\ntrim_percentage=10\nverify=crc32c", "which trims what it writes"),
        ("rw=randtrim\nnum_range=8", "which trims more at once"),
        ("rw=trimread", "must be"),
    ] {
        let refused = convert(&format!("{JOB}{more}\n")).expect_err(more).to_string();
        assert!(refused.contains(says), "{more}: {refused}");
    }
    // A job that only trims verifies nothing, and options that already apply may be given.
    let (all, said) = plan(&format!("{JOB}rw=randtrim\nverify=crc32c\nnum_range=1\n"));
    assert!(!all.points[0].verify && all.points.len() == 1);
    assert!(
        said.remarks.iter().any(|said| said.what == Remark::TrimsNotVerified.into()),
        "{said:?}"
    );
    plan(&format!("{JOB}rw=randwrite\ntrim_percentage=0\nverify_only=0\natomic=0\nfdp=0\n"));
}

#[test]
fn null_engine_becomes_a_marked_emulated_device() {
    let (plan, converted) =
        plan("[null]\nioengine=null\nsize=100g\nrw=randread\nfilename=/dev/sda\n");
    assert_eq!(converted.targets, ["media:null@service_us=1@servers=1"]);
    assert_eq!(plan.points[0].area.length_bytes, 100 << 30);
    let said = converted.remarks.iter().find(|remark| remark.location.contains("ioengine=null"));
    assert!(said.unwrap().what.to_string().starts_with("EMULATED"), "{:?}", converted.remarks);
}

#[test]
fn latency_target_becomes_steps_of_queue_depths() {
    let job = "[a]\nfilename=/dev/sdx\nrw=randread\nioengine=libaio\niodepth=12\n\
               latency_target=500000\nlatency_window=5000000\nlatency_percentile=99.9\n";
    let (searching, converted) = plan(job);
    let depths: Vec<u32> = searching.points.iter().map(|point| point.queue_depth).collect();
    assert_eq!(depths, [1, 2, 4, 8, 12]);
    let groups: Vec<u32> = searching.points.iter().map(|point| point.group).collect();
    assert_eq!(groups, [0, 1, 2, 3, 4], "one after the other");
    assert!(searching.points.iter().all(|point| point.stop.duration_ns == 5_000_000_000));
    assert!(converted.origins.windows(2).all(|two| two[0] == two[1]), "all are one clone");
    for more in ["numjobs=2\n", "[b]\nfilename=/dev/sdy\n", "latency_run=1\n"] {
        let refused = convert(&format!("{job}{more}")).expect_err(more).to_string();
        assert!(refused.contains("latency_"), "{more}: {refused}");
    }
}

#[test]
fn unselected_sections_are_not_checked() {
    let words = ["--section=b".to_owned(), "jobs.fio".to_owned()];
    let line = CommandLine::read(&words).expect("a command line");
    let around = Surroundings {
        variable: &|_| None,
        include: &|_| Err(String::new()),
        trace: &|_| Err("no trace".to_owned()),
        is_directory: &|_| true,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    };
    let text = "[a]\nrw=${UNSET}\nqqq=1\n[b]\nrw=read\nsize=1m\n[c]\nbs=x\n";
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let set = JobSet::read(&line, &files, &around).expect("b alone");
    assert_eq!(set.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["b"]);

    let beside = "[global]\nfilename=f\nsize=1m\n[a]\nrw=randwrite\ndirect=1\n[b]\nrw=randtrim\n";
    assert!(plan(beside).0.points.iter().all(|point| point.direct));
}

#[test]
fn deduplication_working_set_can_be_shared() {
    let job = "[a]\nfilename=f\nrw=write\nbs=4k\nsize=100m\ndedupe_percentage=40\n";
    let repeats = |more: &str| plan(&format!("{job}{more}")).0.points[0].payload.duplicates;
    let duplicates = repeats("").expect("some repeat");
    assert_eq!((duplicates.contents, duplicates.common), (1, false));
    assert!((duplicates.share - 0.4).abs() < 1e-12);
    let more = "dedupe_mode=working_set\ndedupe_global=1\ndedupe_working_set_percentage=50\n";
    let duplicates = repeats(more).expect("some repeat");
    assert_eq!((duplicates.contents, duplicates.common), (12_800, true));
    let refused = convert(&format!("{job}verify=crc32c\n")).expect_err("both").to_string();
    assert!(refused.contains("there are no duplicates"), "{refused}");
}

#[test]
fn random_trimwrites_have_the_size_of_trims() {
    let (made, _) = plan(&format!("{JOB}rw=randtrimwrite\nbs=4k,4k,8k\n"));
    assert_eq!(made.points[0].block_size.single(), Some(8192));
    convert(&format!("{JOB}rw=trimwrite\nbs=4k,4k,8k\n")).expect_err("in sequence");
}
