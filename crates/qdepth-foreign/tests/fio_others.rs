//! Jobs without random offsets: replayed traces, operations on directory entries, and changes of
//! file sizes.

use qdepth_foreign::Remark;
use qdepth_foreign::fio::{CommandLine, Converted, JobSet, MissingFile, Surroundings};
use qdepth_workload::{Arrivals, Choices, Extent, Layout, Operation, Plan, TargetShape, resolve};

const TRACE: &str = "fio version 3 iolog\n0 /x/a add\n0 /dev/vdz add\n0 /x/a open\n\
                     1000 /x/a read 8192 4096\n1500 /dev/vdz write 4096 8192\n\
                     2000 /x/a write 16384 512\n2500 /x/a datasync 0 0\n9000 /dev/vdz close\n";

fn convert(text: &str) -> Result<Converted, String> {
    let around = Surroundings {
        variable: &|_| None,
        include: &|_| Err("none".to_owned()),
        trace: &|path| match path {
            "trace" => Ok(TRACE.as_bytes().to_vec()),
            _ => Err("there is no such file".to_owned()),
        },
        is_directory: &|path| path != "none",
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    };
    let files = [("jobs".to_owned(), text.to_owned())];
    let set = JobSet::read(&CommandLine::default(), &files, &around).map_err(|e| e.to_string())?;
    let whole = |path: &str| (path == "/dev/vdz").then_some(1 << 30);
    set.convert("jobs", 7, &whole, MissingFile::Refused).map_err(|why| why.to_string())
}

fn plan(text: &str) -> Plan {
    let converted = convert(text).expect(text);
    let whole = Extent { offset_bytes: 0, length_bytes: 1 << 40 };
    let shape = TargetShape { holds_files: true, ..TargetShape::whole(whole, 512) };
    resolve(&converted.plan, &Choices::default(), &vec![shape; converted.targets.len()])
        .expect("a plan")
}

#[test]
fn each_file_in_trace_becomes_a_timed_load() {
    let words = "[r]\nread_iolog=trace\nioengine=libaio\niodepth=8\ndirect=1\n";
    let made = plan(words);
    let [file, device] = made.points.as_slice() else { panic!("{} points", made.points.len()) };
    let text = |point: &qdepth_workload::Point| String::from(point.trace.clone().unwrap());
    assert_eq!(text(file), "0 r 8192 4096\n1000000 w 16384 512\n1500000 s 0 0\n");
    assert_eq!(text(device), "500000 w 4096 8192\n");
    assert!(made.points.iter().all(|p| p.arrivals == Arrivals::Recorded { speed: 1.0 }));
    assert_eq!((file.stop.bytes_per_stream, device.stop.bytes_per_stream), (4608, 8192));
    assert!(file.read_share > 0.0 && file.read_share < 1.0 && device.read_share == 0.0);
    assert_eq!((file.alignment_bytes, file.block_size.max(), file.queue_depth), (512, 4096, 8));
    // A trace has its own schedule, so that no direction has a load of its own.
    assert_eq!(plan(&format!("{words}rw=randrw\nrate=1m,\n")).points.len(), 2);
    // The stored plan equals the converted one.
    let stored = Plan::from_text(&made.text()).expect("the text is a plan");
    assert_eq!(stored.hash(), made.hash());

    let more = "replay_redirect=/dev/vdz\nreplay_skip=read,sync\nreplay_time_scale=200\nloops=3\n";
    let made = plan(&format!("{words}{more}"));
    let [point] = made.points.as_slice() else { panic!("{} points", made.points.len()) };
    assert_eq!(text(point), "500000 w 4096 8192\n1000000 w 16384 512\n");
    assert_eq!(point.arrivals, Arrivals::Recorded { speed: 2.0 });
    assert_eq!(point.stop.bytes_per_stream, 3 * 8704);
    assert_eq!(plan(&format!("{words}replay_no_stall=1\n")).points[0].arrivals, Arrivals::Closed);
}

#[test]
fn unsupported_replay_is_refused_at_its_line() {
    for (more, why) in [
        ("read_iolog=gone\n", "jobs:2: [r] read_iolog=gone: gone: there is no such file"),
        ("read_iolog=trace\nverify=md5\n", "combined with verify"),
        ("read_iolog=trace\nreplay_skip=reads\n", "read, write, trim or sync"),
        ("read_iolog=trace\nreplay_align=3\n", "a power of two"),
        ("read_iolog=trace\nreplay_skip=read,write\n", "no I/O is left"),
        ("replay_redirect=/dev/vdz\nfilename=/dev/vdz\n", "which is missing"),
    ] {
        let said = convert(&format!("[r]\n{more}")).expect_err(more);
        assert!(said.contains(why), "{said}");
    }
    let far = "[r]\nread_iolog=trace\nreplay_redirect=/dev/vdz\n";
    assert!(convert(far).is_ok());
}

#[test]
fn directory_entry_jobs_have_one_io_per_file() {
    let made = plan("[e]\nioengine=filedelete\nnrfiles=50\nfilesize=4k\nnumjobs=2\n");
    assert_eq!(made.points.len(), 2);
    for point in &made.points {
        assert_eq!((point.operation, point.layout), (Operation::RemoveFiles, Layout::Entries));
        assert_eq!((point.area.length_bytes, point.stop.bytes_per_stream), (204_800, 204_800));
        assert!(point.writes() && !point.direct && point.read_share >= 1.0);
    }
    let looks = plan("[e]\nioengine=dirstat\nnrfiles=5\n");
    assert!(!looks.points[0].writes(), "whoever looks changes nothing");
    let mixed = "[e]\nioengine=filestat\nnrfiles=5\n[d]\nsize=1m\n";
    assert!(convert(mixed).expect_err(mixed).contains("together with jobs of other engines"));
    let both = "[e]\nioengine=filestat\nrw=randrw\nnrfiles=5\n";
    assert!(convert(both).expect_err(both).contains("as reads or as writes"));
}

#[test]
fn truncate_and_fallocate_engines_are_write_operations() {
    let made = plan("[t]\nioengine=ftruncate\nrw=randwrite\nsize=1m\n");
    assert_eq!(
        (made.points[0].operation, made.points[0].layout),
        (Operation::Truncate, Layout::Area)
    );
    assert_eq!(
        plan("[f]\nioengine=falloc\nrw=write\nsize=1m\n").points[0].operation,
        Operation::Reserve
    );
    let holes = plan("[f]\nioengine=falloc\nrw=randtrim\nsize=1m\n");
    assert!(holes.points[0].operation.is_transfer() && holes.points[0].trims());
    let reads = "[t]\nioengine=ftruncate\nrw=read\nsize=1m\n";
    assert!(convert(reads).expect_err(reads).contains("rw=write"));
}

#[test]
fn writes_of_a_mix_have_separate_random_share() {
    let made = plan("[m]\nrw=randrw\npercentage_random=9,27,\nsize=1g\nbs=64k\n");
    let point = &made.points[0];
    let own = point.own_writes.expect("writes of their own");
    assert_eq!((point.random_share, own.random_share), (0.09, Some(0.27)));
    let made = plan("[o]\nrw=read\nbs=1m\nsize=1m\n");
    assert_eq!(
        made.points[0].area.length_bytes,
        1 << 20,
        "one place is one, where it was asked for"
    );
    let sizes = plan("[s]\nrw=randwrite\nbssplit=,4k/9:8k/91\nsize=1m\n");
    assert_eq!(sizes.points[0].block_size.sizes.len(), 2);
}

#[test]
fn offsets_in_absent_files_match_fio() {
    let begins = |text: &str| -> Vec<u64> {
        let made = plan(text);
        made.points.iter().map(|point| point.area.offset_bytes).collect()
    };
    // A percentage of a missing file is zero; later clones find the file that the first one
    // created.
    assert_eq!(begins("[a]\nsize=8m\noffset=50%\n"), [0]);
    assert_eq!(begins("[a]\nfilename=f\nsize=8m\nnumjobs=2\noffset_increment=25%\n"), [0, 2 << 20]);
    assert_eq!(begins("[a]\nfilename=f\nsize=8m\noffset=1m\n"), [1 << 20]);
    assert_eq!(begins("[a]\nfilename=/dev/vdz\nsize=8m\noffset=50%\n"), [512 << 20]);
    let told = convert("[a]\nsize=8m\noffset=50%\n").unwrap().remarks;
    assert!(told.iter().any(|told| told.what == Remark::OffsetShareOfNothing.into()), "{told:?}");
}

#[test]
fn fill_device_needs_a_size() {
    let made = plan("[a]\nrw=write\nfill_device=1\nsize=8m\n");
    assert_eq!(made.points[0].area.length_bytes, 8 << 20);
    let refused = convert("[a]\nrw=write\nfill_device=1\n").unwrap_err();
    assert!(refused.contains("add size="), "{refused}");
}

#[test]
fn unset_variables_are_refused_with_other_errors() {
    let text = "[global]\nbs=${BS}\nsize=1m\n[a]\nrw=${RW}\natomic=1\n[b]\nbs=4k\nioengine=dfs\n\
                pool=${POOL}\n";
    let refused = convert(text).unwrap_err();
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(lines.len(), 4, "{refused}");
    assert!(lines[0].starts_with("jobs:2: [a] bs=${BS}: the environment variable is not set"));
    assert!(lines[1].starts_with("jobs:5: [a] rw=${RW}: the environment variable is not set"));
    assert!(lines[2].contains("atomic=1: refused"), "{refused}");
    assert!(lines[3].contains("ioengine=dfs: refused") && lines[3].contains("mount it"));
}

#[test]
fn zone_sizes_and_non_storage_engines_are_refused() {
    let zones = convert("[a]\nsize=8z\n").unwrap_err();
    assert!(zones.contains("`8z` counts zones, which need zonemode=zbd"), "{zones}");
    for (engine, near) in [
        ("cpuio", "run it separately"),
        ("librpma_apm_client", "measures a network"),
        ("libiscsi", "iscsiadm"),
        ("rados", "rbd map"),
        ("dev-dax", "block device"),
    ] {
        let refused = convert(&format!("[a]\nsize=1m\nioengine={engine}\n")).unwrap_err();
        assert!(refused.contains(near), "{refused}");
    }
    assert!(convert("[a]\nsize=1m\nioengine=cpp_null\n").is_ok());
}
