//! Values that fio accepts although its documentation does not mention them.

use qdepth_foreign::fio::{
    CommandLine, Converted, FioEntry, FioLogColumns, FioMoment, JobSet, MissingFile, WindowValue,
    export_fio_json,
};
use qdepth_record::{DirectionRecord, PointRecord};
use qdepth_workload::{
    Arrivals, Choices, Distribution, Extent, Point, Request, RequestStream, TargetShape, resolve,
};

use crate::fio_jobs::{around, no_file};

const GIB: u64 = 1 << 30;

/// Jobs on `/dev/sdx` with 64 GiB, and on missing files.
fn convert(text: &str) -> Converted {
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let jobs = JobSet::read(&CommandLine::default(), &files, &around(&no_file));
    let whole = |path: &str| path.starts_with("/dev/").then_some(64 * GIB);
    jobs.and_then(|set| set.convert("jobs", 7, &whole, MissingFile::Refused)).expect(text)
}

fn remarks(converted: &Converted) -> String {
    let lines: Vec<String> = converted.remarks.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Sizes and weights of the only load, as the plan runs them.
fn sizes(bssplit: &str) -> Vec<(u32, u32)> {
    let text = format!("[a]\nfilename=/dev/sdx\nrw=randread\nnorandommap\nbssplit={bssplit}\n");
    let length_bytes = 64 * GIB;
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes }, 512);
    let plan = resolve(&convert(&text).plan, &Choices::default(), &[shape]).expect("a plan");
    plan.points[0].block_size.sizes.clone()
}

#[test]
fn block_size_shares_need_not_reach_100_percent() {
    let (small, large) = (4096, 8192);
    for (text, expected) in [
        ("4k/50:8k/48", vec![(small, 50), (large, 50)]),
        ("8k/10:4k/40", vec![(large, 10), (small, 90)]),
        ("4k/60:8k/60", vec![(small, 60), (large, 40)]),
        ("4k/50:8k/50:", vec![(small, 50), (large, 50)]),
        ("4k/50%:8k/50%", vec![(small, 50), (large, 50)]),
        ("20k-30k/4:4k/96", vec![(20480, 4), (small, 96)]),
        ("4k/30,8k/70", vec![(small, 1)]),
        ("4k/90:8k:16k", vec![(small, 180), (large, 10), (16384, 10)]),
    ] {
        assert_eq!(sizes(text), expected, "{text}");
    }
}

#[test]
fn block_sizes_up_to_four_gib_are_accepted() {
    for (kind, size, bytes) in
        [("read", "2g", 2 * GIB), ("write", "2300m", 2300 << 20), ("trim", "3g", 3 * GIB)]
    {
        let converted = convert(&format!("[a]\nfilename=/dev/sdx\nrw={kind}\nbs={size}\n"));
        let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 64 * GIB }, 512);
        let plan = resolve(&converted.plan, &Choices::default(), &[shape]).expect("a plan");
        assert_eq!(u64::from(plan.points[0].block_size.max()), bytes);
        let buffer = if kind == "trim" { 4096 } else { bytes };
        assert_eq!(u64::from(plan.points[0].buffer_bytes()), buffer, "{kind}");
    }
}

#[test]
fn text_after_a_number_gives_a_remark() {
    let converted = convert(
        "[a]\nfilename=/dev/sdx\nrw=randread\nioengine=libaio\niodepth=128*1\nruntime=40+20\n\
         time_based\n",
    );
    let load = &converted.plan.steps[0].loads[0];
    assert_eq!((load.queue_depth, load.duration.map(|ns| ns.0)), (128, Some(40_000_000_000)));
    assert_eq!(remarks(&converted).matches("only the number before the sign counts").count(), 2);
}

#[test]
fn percent_sizes_are_rounded_to_blocks() {
    // 33 % of 20 MiB + 1,000 B is 6,920,931 B.
    let whole = |_: &str| Some((20 << 20) + 1000);
    let convert = |text: &str| {
        let files = [("jobs.fio".to_owned(), text.to_owned())];
        let jobs = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).expect("jobs");
        jobs.convert("jobs", 7, &whole, MissingFile::Refused).expect("a plan")
    };
    let all = "filename=/dev/sdx\nrw=read\nbs=64k\n";
    let three = convert(&format!("[a]\n{all}numjobs=3\nsize=33%\noffset_increment=33%\n"));
    let areas: Vec<(u64, String)> = three
        .plan
        .own_profiles
        .iter()
        .map(|profile| {
            let offset = profile.area.offset.map_or(0, |bytes| bytes.0);
            (offset, profile.area.size.clone().unwrap_or_default())
        })
        .collect();
    let size = (105 * 65536).to_string();
    let bytes = |text: &str| text.parse::<qdepth_measure::Bytes>().map(|bytes| bytes.0.to_string());
    assert_eq!(
        areas.iter().map(|(offset, _)| *offset).collect::<Vec<_>>(),
        [0, 6_946_816, 13_893_632]
    );
    assert!(areas.iter().all(|(_, length)| bytes(length) == Ok(size.clone())), "{areas:?}");
    let twice = convert(&format!("[a]\n{all}size=200%\n"));
    assert_eq!(twice.plan.own_profiles[0].area.size.as_deref(), Some("full"));
}

#[test]
fn create_only_jobs_give_later_jobs_their_size() {
    let text = "[lay]\ncreate_only=1\nnumjobs=2\nfilename=/x/f\nsize=8m\n\
                [read]\nstonewall\nrw=read\nfilename=/x/f\n";
    let made = convert(text);
    assert_eq!(made.plan.steps.len(), 1);
    assert_eq!(made.plan.own_profiles[0].area.size.as_deref(), Some("8MiB"));
    assert_eq!(made.idle.iter().map(|origin| origin.thread).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(made.origins[0].thread, 3);
    assert!(remarks(&made).contains("create_only=1: nothing is measured"));
    let alone = convert("[lay]\ncreate_only=1\nfilename=/x/f\nsize=8m\n");
    assert!(alone.plan.steps.is_empty());
    assert_eq!((alone.created[0].path.as_str(), alone.created[0].bytes), ("/x/f", 8 << 20));
    let device = convert("[lay]\ncreate_only=1\nfilename=/dev/sdx\n");
    assert!(device.created.is_empty());
    let nothing = convert("[lay]\ncreate_only=1\nioengine=null\nsize=8m\n");
    assert!(nothing.created.is_empty());
}

#[test]
fn rate_with_thinktime_takes_the_slower() {
    let arrivals = |rate: u32| {
        let text = format!(
            "[a]\nfilename=/dev/sdx\nrw=randread\nrate_iops={rate}\nthinktime=1ms\n\
             thinktime_blocks=4\n"
        );
        let converted = convert(&text);
        (converted.plan.own_profiles[0].arrivals, remarks(&converted))
    };
    // Pauses allow 4,000 I/Os per second.
    let (fast, note) = arrivals(5000);
    assert_eq!(fast, Some(Arrivals::ThinkTime { time_ns: 1_000_000, requests: 4 }));
    assert!(note.contains("than the rate, which has no effect"), "{note}");
    let (slow, note) = arrivals(1000);
    assert_eq!(slow, Some(Arrivals::Fixed { rate: 1000.0 }));
    assert!(note.contains("than the pauses, which have no effect"), "{note}");
}

#[test]
fn filenames_accumulate_and_verify_only_reads_own_writes() {
    let two = convert(
        "[global]\nfilename=/dev/sdx\n[a]\nrw=read\niodepth=2\nioengine=libaio\n\
                       filename=/dev/sdy\nfilename=/dev/sdx\n",
    );
    assert_eq!(two.targets, ["/dev/sdx", "/dev/sdy"]);
    let text = "[global]\nfilename=/x/f\nsize=1m\nverify=md5\n[w]\nrw=write\ndo_verify=0\n\
                [v]\nstonewall\nrw=write\nverify_only\n";
    let made = convert(text);
    let reads: Vec<f64> = made.plan.own_profiles.iter().map(|profile| profile.read).collect();
    assert_eq!(reads, [0.0, 100.0]);
    let appended = convert("[a]\nfilename=/x/f\nsize=1m\nrw=write\nfile_append=1\n");
    assert!(remarks(&appended).contains("filled before the measurement"));
}

#[test]
fn appending_to_a_file_of_others_is_refused() {
    let text = "[a]\nfilename=/there\nrw=write\nsize=1m\nfile_append=1\n";
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).expect("jobs");
    let refused = set.convert("jobs", 7, &|_| Some(1 << 20), MissingFile::Refused);
    let why = refused.expect_err("a file of others").to_string();
    assert!(why.contains("file_append: refused: /there already has 1048576 B"), "{why}");
}

fn refusal(text: &str) -> String {
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).expect("jobs");
    let refused = set.convert("jobs", 7, &|_| None, MissingFile::Refused);
    refused.expect_err(text).to_string()
}

/// Blocks that nobody wrote would pass.
#[test]
fn verify_only_reads_areas_of_several_writers() {
    let writers = "[global]\nfilename=/x/a\nverify=md5\nrw=write\n[w]\nsize=1m\n\
                   [x]\noffset=1m\nsize=1m\n";
    let verified =
        |size: &str| format!("{writers}[v]\nstonewall\nsize={size}\nrw=read\nverify_only\n");
    convert(&verified("2m"));
    let why = refusal(&verified("3m"));
    assert!(why.contains("verify_only: refused"), "{why}");
}

#[test]
fn verify_only_needs_an_earlier_writer_of_everything() {
    let written = "[global]\nverify=md5\n[w]\nfilename=/x/a\nsize=1m\nrw=write\ndo_verify=0\n";
    let gone = "[v]\nverify=md5\nfilename=/x/b\nsize=1m\nrw=read\nverify_state_load=1\n";
    assert!(refusal(gone).contains("verify_state_load: refused: its file does not exist"));
    for job in [
        "[v]\nstonewall\nfilename=/x/b\nsize=1m\nrw=read\nverify_only\n",
        "[v]\nstonewall\nfilename=/x/a\nsize=2m\nrw=read\nverify_only\n",
        "[v]\nfilename=/x/a\nsize=1m\nrw=read\nverify_only\n",
    ] {
        let why = refusal(&format!("{written}{job}"));
        assert!(why.contains("verify_only: refused"), "{why}");
    }
}

/// Another run wrote the file. Blocks that it may have left out may hold what fills new files.
#[test]
fn verify_only_of_another_run_checks_all() {
    let checks = |job: &str| {
        let text = format!("[v]\nfilename=/there\nverify=md5\n{job}");
        let files = [("jobs.fio".to_owned(), text)];
        let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).expect("jobs");
        let made =
            set.convert("jobs", 7, &|_| Some(1 << 20), MissingFile::Refused).expect("a plan");
        assert!(made.plan.stamp.is_some(), "a number that both runs know");
        let profile = &made.plan.own_profiles[0];
        assert!(profile.read >= 100.0, "it writes nothing");
        [profile.verify_unwritten, profile.verify_laid_out]
    };
    let [all, with_laid_out] = [[Some(true), None], [Some(true), Some(true)]];
    assert_eq!(checks("rw=write\nverify_only\n"), all);
    assert_eq!(checks("rw=randwrite\nverify_only\n"), all);
    assert_eq!(checks("rw=read\n"), all);
    assert_eq!(checks("rw=randrw\nverify_only\n"), with_laid_out);
    assert_eq!(checks("rw=randwrite\nnorandommap\nverify_only\n"), with_laid_out);
    assert_eq!(checks("rw=randwrite\nrandom_distribution=zipf:1.1\nverify_only\n"), with_laid_out);
    assert_eq!(checks("rw=write\nsize=1m\nio_size=64k\nverify_only\n"), with_laid_out);
    assert_eq!(checks("rw=read\nverify_state_load=1\n"), with_laid_out);
}

#[test]
fn created_files_have_the_length_of_their_job() {
    let area = |read: &str| {
        let lay = "[lay]\ncreate_only=1\nfilename=/x/a:/x/b\nsize=8m\n";
        let made = convert(&format!("{lay}[r]\nstonewall\nrw=read\nfilename=/x/a\n{read}"));
        made.plan.own_profiles[0].area.size.clone().unwrap_or_default()
    };
    // Two files share the size.
    assert_eq!([area(""), area("size=50%\n")], ["4MiB", "2MiB"]);
    for (job, why) in [
        ("filename=/dev/shm/f\nsize=1m", "qdepth creates no file in /dev"),
        ("filename=/x/f\nsize=0", "add size="),
        ("nrfiles=4\nsize=4m", "refused with nrfiles"),
    ] {
        let refused = refusal(&format!("[lay]\ncreate_only=1\n{job}\n"));
        assert!(refused.contains(why), "{refused}");
    }
}

/// Bytes after which each load ends.
fn ends(job: &str) -> Vec<Option<u64>> {
    let converted = convert(&format!("[a]\nfilename=/x/f\n{job}\n"));
    let loads = converted.plan.steps.iter().flat_map(|step| &step.loads);
    loads.map(|load| load.bytes_per_stream.map(|bytes| bytes.0)).collect()
}

#[test]
fn jobs_end_after_whole_blocks_of_each_loop() {
    const MIB: u64 = 1 << 20;
    assert_eq!(ends("size=8m\nnumber_ios=100\nloops=3"), [Some(300 * 4096)]);
    assert_eq!(ends("bs=1m\nsize=1536k"), [Some(MIB)]);
    assert_eq!(ends("bs=1m\nsize=8m\nio_size=1536k"), [Some(3 * MIB / 2)]);
    let verified = ends("rw=write\nsize=1m\nloops=2\nverify=crc32c");
    assert_eq!(verified, [Some(2 * MIB); 2]);
    assert_eq!(ends("filesize=1m\nsize=25%"), [Some(MIB / 4)]);
    // As in fio, a gap behind the last block that fits ends a pass.
    let gaps = |size: &str| ends(&format!("rw=read:512k\nbs=1m\n{size}"))[0];
    assert_eq!(gaps("size=5m\nloops=2"), Some(6 * MIB));
    assert_eq!(gaps("size=7m"), Some(5 * MIB));
    assert_eq!((gaps("size=6m"), gaps("size=5m\nio_size=12m")), (Some(6 * MIB), Some(12 * MIB)));
    let mixed = "size=1m\nbssplit=4k/50:8k/50\nnumber_ios=10";
    assert_eq!(ends(mixed), [Some(61440)]);
    assert!(remarks(&convert(&format!("[a]\n{mixed}\n"))).contains("mean block size"));
}

#[test]
fn unaligned_offsets_and_lists_are_accepted() {
    let converted = convert("[a]\nrw=write\nsize=1m\noffset=3k\n");
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: GIB }, 512);
    let plan = resolve(&converted.plan, &Choices::default(), &[shape]).expect("a plan");
    assert_eq!(plan.points[0].area.offset_bytes, 3072);
    assert_eq!(plan.points[0].alignment_bytes, 1024);
    let converted = convert("[a]\nsize=1m\npercentile_list=99.0,50\n");
    assert!(remarks(&converted).contains("percentile_list"));
}

#[test]
fn other_block_alignment_has_no_random_map() {
    let distribution = |job: &str| {
        let converted = convert(&format!("[a]\nfilename=/dev/sdx\nrw=randread\n{job}\n"));
        converted.plan.own_profiles[0].distribution.clone()
    };
    assert_eq!(distribution("bs=4k"), Some(qdepth_workload::Distribution::EachOnce));
    assert_eq!(distribution("bs=4k\nba=8k"), None);
}

#[test]
fn options_without_effect_have_remarks() {
    for (option, sentence) in [
        ("rate_ignore_thinktime", "rate or its pauses"),
        ("unit_base=1", "powers of 1024"),
        ("significant_figures=6", "four digits"),
        ("kb_base=1000", "powers of 1024"),
        ("log_alternate_epoch_clock_id=1", "Unix times"),
    ] {
        let converted = convert(&format!("[a]\nsize=1m\n{option}\n"));
        assert!(remarks(&converted).contains(sentence), "{option}");
    }
}

#[test]
fn jobs_that_fio_refuses_are_refused() {
    for (job, why) in [
        ("allow_file_create=0", "missing or empty"),
        ("iodepth=0", "at least 1"),
        ("buffer_pattern=hello", "not a number"),
        ("buffer_pattern='none'", "no trace"),
    ] {
        let files = [("jobs.fio".to_owned(), format!("[a]\nfilename=/x/f\nsize=1m\n{job}\n"))];
        let jobs = JobSet::read(&CommandLine::default(), &files, &around(&no_file));
        let converted =
            jobs.and_then(|set| set.convert("jobs", 7, &|_| None, MissingFile::Refused));
        let refusal = converted.expect_err(job).to_string();
        assert!(refusal.contains(why), "{refusal}");
    }
}

#[test]
fn later_global_section_leaves_earlier_jobs() {
    let text = "[global]\nrw=read\n[a]\nsize=1m\n[global]\nrw=write\n[b]\nsize=2m\n";
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let jobs = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).expect("jobs");
    let expected = "fio --name=a --rw=read --size=1m --name=b --rw=write --size=2m";
    assert_eq!(jobs.command_line(), expected);
}

/// The plan of jobs on `/dev/sdx`, as it runs.
fn points(job: &str) -> Vec<Point> {
    let converted = convert(&format!("[a]\nfilename=/dev/sdx\n{job}\n"));
    let shape = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 64 * GIB }, 512);
    resolve(&converted.plan, &Choices::default(), &[shape]).expect("a plan").points
}

#[test]
fn sequential_mixes_have_positions_per_direction() {
    let mix = points("rw=rw\nbs=8k").remove(0);
    assert_eq!(mix.block_size.single(), Some(8192));
    let mut stream = RequestStream::new(&mix, 0);
    let mut next = [0, 0];
    for _ in 0..100 {
        let Request { direction, offset, size } = stream.draw();
        assert_eq!(offset, next[direction as usize]);
        next[direction as usize] += u64::from(size);
    }
    assert!(points("rw=randrw\nbs=8k")[0].own_writes.is_none());
}

#[test]
fn random_map_covers_mixed_sizes_once() {
    let distribution = |job: &str| points(job)[0].distribution.clone();
    assert_eq!(distribution("rw=randread\nbssplit=4k/50:8k/50"), Distribution::EachOnce);
    assert_eq!(distribution("rw=randrw\nbsrange=4k-16k"), Distribution::EachOnce);
    let free = "rw=randread\nbssplit=4k/50:8k/50\nnorandommap";
    assert_eq!(distribution(free), Distribution::Uniform);
}

#[test]
fn only_end_fsync_flushes_after_the_last_write() {
    let fsync = |job: &str| points(&format!("rw=write\n{job}"))[0].fsync;
    let every = fsync("fsync=4");
    assert_eq!((every.every_writes, every.at_end), (4, false));
    assert!(fsync("fsync=4\nend_fsync=1").at_end && fsync("fsync_on_close=1").at_end);
}

#[test]
fn existing_short_files_are_listed_as_missing() {
    let files = [("jobs.fio".to_owned(), "[a]\nfilename=/there\nsize=4m\n".to_owned())];
    let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).unwrap();
    let short = set.convert("t", 1, &|_| Some(1 << 20), MissingFile::Refused).unwrap();
    let short: Vec<_> = short.missing.iter().map(|file| (&*file.path, file.bytes)).collect();
    assert_eq!(short, [("/there", 4 << 20)]);
}

#[test]
fn continued_errors_have_keys_of_their_own() {
    let json = |continues| {
        let entry = FioEntry { continues, ..FioEntry::default() };
        export_fio_json("fio-3.42", &FioMoment::default(), &[], &[entry], &[], None, false)
    };
    assert!(json(true).contains("\"total_err\" : 0") && json(true).contains("\"first_error\" : 0"));
    assert!(!json(false).contains("total_err"));
    let files = |value: &str| format!("[a]\nsize=1m\ncontinue_on_error={value}\n");
    convert(&files("read,write"));
}

#[test]
fn verify_only_counts_the_writes_left_out() {
    let files = [("jobs.fio".to_owned(), "[a]\nrw=randrw\nverify=md5\nverify_only\n".to_owned())];
    let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).unwrap();
    let writes_left_out = set.jobs[0].writes_left_out();
    let reads = DirectionRecord { completed: 8, bytes: 32_768, ..DirectionRecord::default() };
    let point = PointRecord { reads, ..PointRecord::default() };
    let entry = FioEntry { writes_left_out, points: vec![0], ..FioEntry::default() };
    let moment = FioMoment::default();
    let json = export_fio_json("fio-3.42", &moment, &[], &[entry], &[point], None, false);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let writes = &json["jobs"][0]["write"];
    assert_eq!((&writes["total_ios"], &writes["io_bytes"]), (&4.into(), &16_384.into()));
    assert_eq!((&writes["runtime"], &writes["clat_ns"]["N"]), (&0.into(), &0.into()));
}

#[test]
fn several_named_files_stay_with_enough_depth() {
    let keeps = |depth: u32| {
        let text = format!("[a]\nfilename=a:b\nioengine=libaio\niodepth={depth}\nsize=1m\n");
        let files = [("jobs.fio".to_owned(), text)];
        let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file)).unwrap();
        set.keeps_files()
    };
    assert!(keeps(2) && !keeps(1), "each file has its own queue depth");
}

#[test]
fn slat_percentiles_are_zero_for_all_ios() {
    let reads = DirectionRecord { completed: 8, bytes: 32_768, ..DirectionRecord::default() };
    let point = PointRecord { reads, ..PointRecord::default() };
    let entry = FioEntry {
        submission_percentiles: true,
        percentiles: vec![50.0],
        points: vec![0],
        ..FioEntry::default()
    };
    let moment = FioMoment::default();
    let json = export_fio_json("fio-3.42", &moment, &[], &[entry], &[point], None, true);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let times = &json["jobs"][0]["read"]["slat_ns"];
    assert_eq!(
        (&times["N"], &times["bins"]["0"], &times["max"]),
        (&8.into(), &8.into(), &0.into())
    );
    assert_eq!(times["percentile"]["50.000000"], 0);
    assert_eq!(json["jobs"][0]["write"]["slat_ns"]["N"], 0);
}

#[test]
fn log_columns_follow_the_options() {
    let columns = |options: &str| {
        let text = format!("[a]\nsize=1m\nwrite_lat_log=l\n{options}");
        let files = [("jobs.fio".to_owned(), text)];
        let set = JobSet::read(&CommandLine::default(), &files, &around(&no_file));
        set.unwrap().jobs[0].report.log_columns
    };
    let all = "log_offset=1\nlog_prio=1\nlog_issue_time=1\nlog_window_value=both\n";
    let wanted =
        FioLogColumns { offsets: true, priorities: true, issued: true, value: WindowValue::Both };
    assert_eq!(columns(all), wanted);
    assert_eq!(columns("log_max_value=1\n").value, WindowValue::Max);
}

#[test]
fn traces_name_files_without_blanks() {
    let job = "size=1m\nwrite_iolog=trace\n";
    assert_eq!(points(job).len(), 1);
    let why = refusal(&format!("[a]\nfilename=a b\n{job}"));
    assert!(why.contains("a name with a blank"), "{why}");
}

#[test]
fn rate_of_one_direction_leaves_the_other_free() {
    let mix = "rw=randrw\nsize=1m\nrate_iops=100,\n";
    let [reads, writes] = points(mix).try_into().expect("a load for each direction");
    assert_eq!((reads.read_share, writes.read_share), (1.0, 0.0));
    assert_eq!(reads.arrivals, Arrivals::Fixed { rate: 100.0 });
    assert_eq!(writes.arrivals, Arrivals::Closed);
    // The free direction ends the job after its bytes.
    assert_eq!((reads.stop.bytes_per_stream, writes.stop.bytes_per_stream), (0, 1 << 20));
    assert!(writes.stop.ends_step && !reads.stop.ends_step);
    let converted = convert(&format!("[a]\n{mix}"));
    assert_eq!(converted.origins[0], converted.origins[1], "reported together");
    assert!(remarks(&converted).contains("runs freely"));
    let pauses = points(&format!("{mix}thinktime=1s\n"));
    assert_eq!(pauses.len(), 1, "the pauses allow less than the rate");
    let timed = points("rw=rw\nsize=1m\nrate=,1m\ntime_based\nruntime=1\n");
    assert_eq!(timed[0].arrivals, Arrivals::Closed);
    assert!(timed.iter().all(|point| !point.stop.ends_step), "both end by time");
    let other = refusal(&format!("[a]\n{mix}[b]\nsize=1m\nfilename=g\n"));
    assert!(other.contains("needs time_based"), "{other}");
}
