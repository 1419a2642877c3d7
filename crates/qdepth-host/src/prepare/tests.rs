//! Tests of steps, their undo, and the journal, on a simulated machine.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::path::Path;

use super::journal::Journal;
use super::*;
use crate::system::System;
use crate::tests::machine::FakeMachine;

const FILE: &str = "\
[[prepare]]\nstep = \"purge\"\ndevice = \"/dev/nvme0n1\"\nmethod = \"discard\"\n\
[[prepare]]\nstep = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\nchunk = \"128KiB\"\n\
members = [\"/dev/nvme0n1\", \"/dev/nvme1n1\"]\n\
[[prepare]]\nstep = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/md0\"\n\
options = [\"-K\", \"-d su=128k,sw=2\"]\n\
[[prepare]]\nstep = \"mount\"\nat = \"/mnt/x\"\ndevice = \"/dev/md0\"\noptions = \"noatime\"\n";

/// A step from its keys.
fn read_step(keys: &str) -> Step {
    read(&format!("[[prepare]]\n{keys}")).unwrap().remove(0)
}

/// Devices that a step needs, as if they had passed all guards.
pub(super) fn given(machine: &FakeMachine, step: &Step) -> Devices {
    Devices::find(&machine.system, &base_devices(std::slice::from_ref(step))).unwrap()
}

fn lines(step: &Step) -> Vec<String> {
    step.actions().iter().map(Action::text).collect()
}

#[test]
fn preparation_lists_its_commands() {
    let steps = read(FILE).unwrap();
    let base: Vec<String> =
        base_devices(&steps).into_iter().map(|node| node.as_str().to_owned()).collect();
    assert_eq!(base, ["/dev/nvme0n1", "/dev/nvme1n1"]);
    let all: Vec<String> = steps.iter().flat_map(lines).collect();
    assert_eq!(
        all,
        [
            "blkdiscard -f /dev/nvme0n1",
            "mdadm --create /dev/md0 --run --level=0 --raid-devices=2 \
             --chunk=128 /dev/nvme0n1 /dev/nvme1n1",
            "mkfs.xfs -f -K -d su=128k,sw=2 /dev/md0",
            "mkdir -p /mnt/x",
            "mount -o noatime /dev/md0 /mnt/x",
        ]
    );
    let back: Vec<String> = steps
        .iter()
        .rev()
        .flat_map(|step| step.undo(true))
        .map(|undo| undo.action.text())
        .collect();
    assert_eq!(
        back,
        [
            "umount /mnt/x",
            "rmdir /mnt/x",
            "wipefs -a /dev/md0",
            "mdadm --stop /dev/md0",
            "mdadm --zero-superblock /dev/nvme0n1",
            "mdadm --zero-superblock /dev/nvme1n1",
        ]
    );
}

#[test]
fn imsm_array_is_created_in_a_container() {
    let text = "step = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\n\
                members = [\"/dev/a\", \"/dev/b\"]\nmetadata = \"imsm\"";
    let step = read_step(text);
    assert_eq!(
        lines(&step),
        [
            "mdadm --create /dev/md/md0-imsm --run --metadata=imsm --raid-devices=2 /dev/a /dev/b",
            "mdadm --create /dev/md0 --run --level=0 --raid-devices=2 /dev/md/md0-imsm",
        ]
    );
}

#[test]
fn invalid_preparation_is_refused_with_a_reason() {
    for (text, part) in [
        ("[[prepare]]\nstep = \"purge\"\ndevice = \"sda\"\nmethod = \"discard\"", "/dev"),
        ("[[prepare]]\nstep = \"purge\"\ndevice = \"/dev/../etc\"\nmethod = \"discard\"", "/dev"),
        (
            "[[prepare]]\nstep = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"5\"\n\
             members = [\"/dev/a\"]",
            "at least 3",
        ),
        ("[[prepare]]\nstep = \"file-system\"\nkind = \"zfs\"\ndevice = \"/dev/a\"", "xfs"),
        ("[[prepare]]\nstep = \"mount\"\nat = \"x\"\ndevice = \"/dev/a\"", "absolute path"),
        (
            "[[prepare]]\nstep = \"setting\"\npath = \"/etc/passwd\"\nvalue = \"1\"",
            "docs/preparation.md lists them",
        ),
        ("[[prepare]]\nstep = \"mount\"\nat = \"/etc/x\"\ndevice = \"/dev/a\"", "system directory"),
        ("[[prepare]]\nstep = \"mount\"\nat = \"/m/../etc\"\ndevice = \"/dev/a\"", "absolute path"),
        (
            "[[prepare]]\nstep = \"mount\"\nat = \"/mnt/x\"\ndevice = \"/dev/a\"",
            "mount it yourself",
        ),
        (
            "[[prepare]]\nstep = \"array\"\ndevice = \"/dev/sda\"\nlevel = \"0\"\n\
             members = [\"/dev/a\", \"/dev/b\"]",
            "not the node of an array",
        ),
        ("[[prepare]]\nstep = \"dance\"", "dance"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// Hole 3: a setting must be on the list, with an allowed value.
#[test]
fn setting_must_be_on_the_list() {
    let set = |path: &str, value: &str| {
        read(&format!(
            "[[prepare]]\nstep = \"setting\"\npath = \"{path}\"\nvalue = \"{value}\"\n\
             about = \"harmless\""
        ))
    };
    for (path, value) in [
        (concat!("/proc/self/", "root", "/dev/loop7"), "1"),
        ("/proc/self/fd/3", "1"),
        ("/proc/1/cwd/sys/block/sda/queue/scheduler", "none"),
        ("/proc/sysrq-trigger", "b"),
        ("/proc/sys/kernel/core_pattern", "|/tmp/x"),
        ("/sys/block/sda/device/delete", "1"),
        ("/sys/block/../../etc/passwd", "none"),
        ("/sys/block/sda/../sdb/queue/scheduler", "none"),
        ("/sys/block//queue/scheduler", "none"),
        ("/sys/block/./queue/scheduler", "none"),
        ("/sys/block/sda/queue/scheduler/", "none"),
        ("/sys/block/sda/queue/write_cache", "write through"),
        ("//sys/block/sda/queue/scheduler", "none"),
        ("sys/block/sda/queue/scheduler", "none"),
        ("/sys/power/state", "mem"),
        ("/sys/devices/system/cpu/cpu0x/cpufreq/scaling_governor", "performance"),
    ] {
        let no = set(path, value).unwrap_err().to_string();
        assert!(no.contains("not a setting that a preparation may change"), "{path}: {no}");
    }
    for (path, value, possible) in [
        ("/sys/block/sda/queue/nomerges", "3", "0 to 2"),
        ("/sys/block/sda/queue/nr_requests", "-1", "1 to 65536"),
        ("/sys/block/sda/queue/nr_requests", "+1", "1 to 65536"),
        ("/sys/block/sda/queue/scheduler", "../../x", "a name"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "fast", "performance"),
        ("/proc/irq/4/smp_affinity", "ff /x", "hexadecimal"),
        ("/proc/sys/vm/dirty_ratio", "", "0 to 100"),
    ] {
        let no = set(path, value).unwrap_err().to_string();
        assert!(no.contains(possible), "{path}: {no}");
    }
    // The description is qdepth's, whatever the author of the step writes.
    let steps = set("/proc/sys/vm/dirty_ratio", "5").unwrap();
    assert_eq!(steps[0].describe(), "dirty pages at which writers wait, %: 5");
    assert_eq!(lines(&steps[0]), ["echo 5 > /proc/sys/vm/dirty_ratio"]);
}

/// Hole 3: links in procfs or sysfs, and mounts over their files, lead nowhere else.
#[test]
fn setting_path_must_be_a_kernel_file() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "kept\n").unwrap();
    let root = Path::new("/");
    for path in [
        format!("/proc/self/root{}", secret.display()),
        format!("/proc/self/cwd/../../../../../../../..{}", secret.display()),
        secret.display().to_string(),
        "/proc/self/fd/0".to_owned(),
        "/sys/../etc/passwd".to_owned(),
        "/dev/null".to_owned(),
        "/sys/block".to_owned(),
    ] {
        let path = Path::new(&path);
        let read = crate::kernel_file::read(root, true, path);
        assert!(read.is_err(), "{}: {read:?}", path.display());
        let written = crate::kernel_file::write(root, true, path, "lost");
        assert!(written.is_err(), "{}: {written:?}", path.display());
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "kept\n");
    let ratio = crate::kernel_file::read(root, true, Path::new("/proc/sys/vm/dirty_ratio"));
    assert!(ratio.unwrap().parse::<u32>().is_ok());
    // Bytes that are not text, or are too long, are not accepted as a value.
    let machine = FakeMachine::new().with_file("/sys/long", &"1".repeat(5000));
    std::fs::write(machine.system.path("/sys/raw"), [0x1b, b'[', 0xff]).unwrap();
    for path in ["/sys/long", "/sys/raw"] {
        assert!(machine.system.read_setting(path).is_err(), "{path}");
    }
}

/// Hole 3: a setting without a readable value could not be undone.
#[test]
fn setting_without_readable_value_is_not_changed() {
    let machine = machine();
    let path = "/sys/block/sda/queue/scheduler";
    std::fs::write(machine.system.path(path), [0xff, 0xfe, 0x1b]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let step = read_step(&format!("step = \"setting\"\npath = \"{path}\"\nvalue = \"none\""));
    let failed =
        apply(&machine.system, &step, &mut Devices::default(), &mut journal, Watch::SILENT)
            .unwrap_err();
    assert!(failed.to_string().contains("does not contain text"), "{failed}");
    assert_eq!(std::fs::read(machine.system.path(path)).unwrap(), [0xff, 0xfe, 0x1b]);
    assert!(journal.open_entries().unwrap().is_empty());
}

/// Hole 4: no option can name another device or a file.
#[test]
fn option_cannot_name_a_file_or_device() {
    let make = |kind: &str, option: &str| {
        read(&format!(
            "[[prepare]]\nstep = \"file-system\"\nkind = \"{kind}\"\ndevice = \"/dev/a\"\n\
             options = [\"{option}\"]"
        ))
    };
    for (kind, option) in [
        ("btrfs", "/dev/loop18"),
        ("btrfs", "loop18"),
        ("btrfs", "-r /etc"),
        ("btrfs", "--rootdir=/etc"),
        ("btrfs", "-L /dev/loop18"),
        ("btrfs", "-- loop18"),
        ("btrfs", "-d single loop18"),
        ("xfs", "-r rtdev=/dev/loop18"),
        ("xfs", "-l logdev=/dev/loop18"),
        ("xfs", "-l logdev=loop18"),
        ("xfs", "-d name=loop18"),
        ("xfs", "-d file=1,name=x"),
        ("xfs", "-p proto"),
        ("xfs", "-c options=x"),
        ("xfs", "-d su=128k,sw=../x"),
        ("xfs", "-l"),
        ("ext4", "-z undo"),
        ("ext4", "-z /tmp/undo"),
        ("ext4", "-J device=loop18"),
        ("ext4", "-J device=UUID=1"),
        ("ext4", "-l badblocks"),
        ("ext4", "-d /etc"),
        ("ext4", "-E offset=1048576"),
        ("ext4", "-F"),
        ("ext4", "-S"),
        ("ext4", "1024"),
        ("ext4", "-L -F"),
    ] {
        let no = make(kind, option).expect_err(option).to_string();
        assert!(no.contains(&format!("mkfs.{kind}")), "{option}: {no}");
    }
    for (kind, option, line) in [
        (
            "xfs",
            "-K -d su=128k,sw=2 -m reflink=0",
            "mkfs.xfs -f -K -d su=128k,sw=2 -m reflink=0 /dev/a",
        ),
        (
            "ext4",
            "-E stride=32,stripe_width=64 -O ^has_journal",
            "mkfs.ext4 -F -E stride=32,stripe_width=64 -O ^has_journal /dev/a",
        ),
        ("btrfs", "-d raid0 --csum xxhash", "mkfs.btrfs -f -d raid0 --csum xxhash /dev/a"),
    ] {
        assert_eq!(lines(&make(kind, option).unwrap()[0]), [line]);
    }
}

/// Hole 4, for all other words.
#[test]
fn mount_and_array_words_cannot_name_files() {
    for options in [
        "bind",
        "loop",
        "logdev=loop18",
        "rtdev=/dev/loop18",
        "device=/dev/loop18",
        "journal_path=/x",
        "journal_dev=0x700",
        "remount",
        "noatime,x-mount.mkdir",
        "helper=x",
        "subvol=/",
        "rbind",
        "errors=panic",
        "",
        "noatime,,",
        "data=/x",
    ] {
        let text = format!(
            "step = \"mount\"\nat = \"/mnt/x\"\ndevice = \"/dev/a\"\noptions = \"{options}\""
        );
        let no = read(&format!("[[prepare]]\n{text}")).expect_err(options).to_string();
        assert!(no.contains("does not allow the mount option"), "{options}: {no}");
    }
    for keys in [
        "step = \"volume\"\ngroup = \"../x\"\nname = \"v\"\ndevices = [\"/dev/a\"]",
        "step = \"volume\"\ngroup = \"g\"\nname = \"-n\"\ndevices = [\"/dev/a\"]",
        "step = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0 /dev/x\"\n\
         members = [\"/dev/a\", \"/dev/b\"]",
        "step = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\nmetadata = \"1.2 /dev/x\"\n\
         members = [\"/dev/a\", \"/dev/b\"]",
        "step = \"purge\"\ndevice = \"/dev/a /dev/b\"\nmethod = \"discard\"",
        "step = \"purge\"\ndevice = \"/dev/./a\"\nmethod = \"discard\"",
    ] {
        assert!(read(&format!("[[prepare]]\n{keys}")).is_err(), "{keys}");
    }
}

proptest::proptest! {
    /// Whatever is requested, only devices and mount points have a `/` in a command.
    #[test]
    fn no_option_text_becomes_a_path(
        kind in "xfs|ext4|btrfs",
        options in proptest::collection::vec(
            "(-[a-zA-Z]|--[a-z]{2,8}|[a-z]{1,7}=?/?[a-z0-9/]{0,6}|\
             -[dlmEJ] [a-z]{1,9}=[/a-z0-9,=.]{0,12})",
            0..4,
        ),
    ) {
        let options: Vec<String> = options.iter().map(|option| format!("{option:?}")).collect();
        let text = format!(
            "[[prepare]]\nstep = \"file-system\"\nkind = \"{kind}\"\ndevice = \"/dev/a\"\n\
             options = [{}]",
            options.join(", ")
        );
        if let Ok(steps) = read(&text) {
            let Action::Run { words, .. } = &steps[0].actions()[0] else { panic!("no command") };
            let devices = words.iter().filter(|word| matches!(word, Word::Device(_))).count();
            proptest::prop_assert_eq!(devices, 1);
            let is_clean = |w: &Word| matches!(w, Word::Device(_)) || !w.text().contains('/');
            proptest::prop_assert!(words.iter().all(is_clean));
        }
    }
}

/// The documentation page names every setting.
#[test]
fn settings_are_all_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/preparation.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(settings().len(), 58);
    for (path, _, _) in settings() {
        let (folder, file) = path.rsplit_once('/').unwrap();
        let line = page.lines().find(|line| line.contains(&format!("`{folder}/`")));
        assert!(line.is_some_and(|line| line.contains(&format!("`{file}`"))), "{path}");
    }
}

fn machine() -> FakeMachine {
    let cpu = "/sys/devices/system/cpu/cpu0";
    FakeMachine::new()
        .disk("sda", "8:0")
        .attribute("sda", "queue/rotational", "0\n")
        .attribute("sda", "queue/scheduler", "none [mq-deadline] bfq\n")
        .attribute("sda", "queue/nomerges", "0\n")
        .attribute("sda", "queue/nr_requests", "64\n")
        .attribute("sda", "queue/wbt_lat_usec", "2000\n")
        .with_file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n")
        .with_file(&format!("{cpu}/cpufreq/scaling_governor"), "powersave\n")
        .with_file(&format!("{cpu}/cpuidle/state0/name"), "C1\n")
        .with_file(&format!("{cpu}/cpuidle/state0/latency"), "1\n")
        .with_file(&format!("{cpu}/cpuidle/state0/disable"), "0\n")
        .with_file(&format!("{cpu}/cpuidle/state1/name"), "C6\n")
        .with_file(&format!("{cpu}/cpuidle/state1/latency"), "133\n")
        .with_file(&format!("{cpu}/cpuidle/state1/disable"), "0\n")
        .with_file(
            "/proc/interrupts",
            "      CPU0\n 40:  1  PCI-MSI nvme0q1\n 41: 2 PCI-MSI nvme0q2\n 42: 1 eth0\n",
        )
        .with_file("/proc/irq/40/affinity_hint", "00000004\n")
        .with_file("/proc/irq/40/smp_affinity", "000000ff\n")
        .with_file("/proc/irq/41/affinity_hint", "00000000\n")
        .with_file("/proc/irq/41/smp_affinity", "000000ff\n")
}

/// All files of the machine with their contents.
fn state(root: &Path) -> Vec<(String, String)> {
    let (mut all, mut left) = (Vec::new(), vec![root.to_owned()]);
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                left.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                all.push((
                    path.display().to_string(),
                    text.replace(['[', ']'], "").trim().to_owned(),
                ));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn tuning_changes_only_differing_settings() {
    let machine = machine();
    let steps = tuning(&machine.system, &["sda".to_owned()]);
    let descriptions: Vec<String> = steps.iter().map(Step::describe).collect();
    assert_eq!(
        descriptions,
        [
            "governor of CPU 0: powersave → performance",
            "idle state 1 off of CPU 0: 0 → 1",
            "huge pages for who asks: never → madvise",
            "scheduler of sda: mq-deadline → none",
            "no merging in the queue of sda: 0 → 2",
            "no throttling of write-back in the queue of sda: 2000 → 0",
            "CPUs of interrupt 40: 000000ff → 00000004",
        ]
    );
}

#[test]
fn cpu_settings_omit_those_without_change() {
    let described = |machine: &FakeMachine| -> Vec<(&str, Vec<String>)> {
        let text = |setting: Setting| format!("{} {}", setting.name(), setting.value());
        let all = super::cpu_settings(&machine.system).into_iter();
        all.map(|(name, settings)| (name, settings.into_iter().map(text).collect())).collect()
    };
    let governor = || "governor of CPU 0 performance".to_owned();
    let as_found = ("as found", Vec::new());
    let fast = ("performance", vec![governor()]);
    let awake = "idle state 1 off of CPU 0 1".to_owned();
    let awake = ("performance without deep idle", vec![governor(), awake]);
    assert_eq!(described(&machine()), [as_found.clone(), fast.clone(), awake.clone()]);
    let folder = "/sys/devices/system/cpu/cpu0/cpufreq";
    let machine = machine()
        .with_file(&format!("{folder}/cpuinfo_max_freq"), "3500000\n")
        .with_file(&format!("{folder}/scaling_min_freq"), "800000\n")
        .with_file(&format!("{folder}/scaling_max_freq"), "3500000\n")
        .with_file(&format!("{folder}/scaling_available_governors"), "performance powersave\n");
    let slow = vec![governor(), "most frequency of CPU 0, kHz 1700000".to_owned()];
    // The governor is powersave already.
    let slow = ("performance at half frequency", slow);
    assert_eq!(described(&machine), [as_found, fast, awake, slow]);
}

#[test]
fn tuning_of_queue_depends_on_its_drive() {
    let described = |machine: &FakeMachine, disk: &str| -> Vec<String> {
        let steps = tuning(&machine.system, &[disk.to_owned()]);
        steps.iter().map(Step::describe).filter(|line| line.contains(disk)).collect()
    };
    // A rotational disk keeps its scheduler, which has room for more requests.
    let disk = FakeMachine::new()
        .disk("sda", "8:0")
        .attribute("sda", "queue/rotational", "1\n")
        .attribute("sda", "queue/scheduler", "none [mq-deadline] bfq\n")
        .attribute("sda", "queue/nr_requests", "64\n")
        .attribute("sda", "queue/io_poll", "0\n");
    assert_eq!(described(&disk, "sda"), ["requests in the queue of sda: 64 → 512"]);
    // Without a scheduler, the number of requests is that of the drive's tags. Only the kernel
    // decides if it can be polled.
    let nvme = |poll_queues: &str| {
        FakeMachine::new()
            .disk("nvme0n1", "259:0")
            .attribute("nvme0n1", "queue/rotational", "0\n")
            .attribute("nvme0n1", "queue/scheduler", "[none] mq-deadline\n")
            .attribute("nvme0n1", "queue/nr_requests", "128\n")
            .attribute("nvme0n1", "mq/0/nr_tags", "1023\n")
            .attribute("nvme0n1", "queue/io_poll", "0\n")
            .attribute("nvme0n1", "queue/rq_affinity", "1\n")
            .with_file("/sys/module/nvme/parameters/poll_queues", poll_queues)
    };
    let always = [
        "requests in the queue of nvme0n1: 128 → 1023",
        "completions to the issuing CPU in the queue of nvme0n1: 1 → 2",
    ];
    assert_eq!(described(&nvme("0\n"), "nvme0n1"), always);
    assert_eq!(described(&nvme("2\n"), "nvme0n1"), always);
    let full = nvme("0\n").attribute("nvme0n1", "queue/nr_requests", "1023\n");
    assert_eq!(described(&full, "nvme0n1"), always[1..]);
}

/// The kernel sets another number of requests with another scheduler.
#[test]
fn undo_restores_request_count_with_scheduler() {
    let machine = machine();
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let steps = tuning(&machine.system, &["sda".to_owned()]);
    let scheduler = steps.iter().find(|step| step.describe().contains("scheduler")).unwrap();
    apply(&machine.system, scheduler, &mut Devices::default(), &mut journal, Watch::SILENT)
        .unwrap();
    let requests = "/sys/block/sda/queue/nr_requests";
    std::fs::write(machine.system.path(requests), "1023\n").unwrap();
    let outcomes = undo_all(&machine.system, &mut journal).unwrap();
    let lines: Vec<String> = outcomes
        .iter()
        .map(|undone| match undone {
            UndoResult::Done(line) => line.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        lines,
        [
            "echo mq-deadline > /sys/block/sda/queue/scheduler",
            "echo 64 > /sys/block/sda/queue/nr_requests",
        ]
    );
}

/// Applies steps up to every boundary between two actions, and then undoes them in a new process.
#[test]
fn undo_after_kill_restores_all_finished_steps() {
    for killed_after in 0..=7 {
        let machine = machine();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("undo.jsonl");
        let steps = tuning(&machine.system, &["sda".to_owned()]);
        // A real kernel shows a choice in brackets; this one shows the written text.
        let written = |path: &str, text: &str| {
            std::fs::write(machine.system.path(path), text).unwrap();
        };
        written("/sys/block/sda/queue/scheduler", "mq-deadline\n");
        written("/sys/kernel/mm/transparent_hugepage/enabled", "never\n");
        let before = state(machine.root());
        let mut journal = Journal::open(&path).unwrap();
        for step in steps.iter().take(killed_after) {
            apply(&machine.system, step, &mut Devices::default(), &mut journal, Watch::SILENT)
                .unwrap();
        }
        drop(journal);
        assert_eq!(before == state(machine.root()), killed_after == 0);
        let outcomes = undo_all(&machine.system, &mut Journal::open(&path).unwrap()).unwrap();
        // The fourth step is the scheduler, which also changes the number of requests.
        assert_eq!(outcomes.len(), killed_after + usize::from(killed_after > 3));
        assert!(
            outcomes.iter().all(|undone| matches!(undone, UndoResult::Done(_))),
            "{outcomes:?}"
        );
        assert_eq!(before, state(machine.root()), "killed after {killed_after}");
        assert!(killed_after == 0 || !path.exists(), "the journal goes with its last entry");
    }
}

/// A tool outlives a qdepth that is killed, and still changes the machine: it has the journal, and
/// with it the lock, as its standard input, which is empty.
#[test]
fn tools_keep_the_journal_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let journal = Journal::open(&path).unwrap();
    let words = ["-c", "readlink /proc/$$/fd/0; cat"].map(str::to_owned);
    let tool = journal.run(&System::real(), "sh", &words).unwrap();
    assert_eq!(tool.stdout.trim_end(), path.display().to_string());
    let refused = Journal::open(&path).unwrap_err().to_string();
    assert!(refused.contains("or a tool that it started, uses the undo journal"), "{refused}");
    drop(journal);
    Journal::open(&path).unwrap();
}

/// A purge cannot be undone: afterwards nothing is left to undo, and a run may begin.
#[test]
fn irreversible_steps_leave_no_journal_entry() {
    let machine = machine().with_output("blkdiscard", 0, "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let purge = read_step("step = \"purge\"\ndevice = \"/dev/sda\"\nmethod = \"discard\"");
    let mut journal = Journal::open(&path).unwrap();
    apply(&machine.system, &purge, &mut given(&machine, &purge), &mut journal, Watch::SILENT)
        .unwrap();
    assert!(path.exists() && !journal::is_open(&path));
    journal.close().unwrap();
    assert!(!path.exists() && !journal::is_open(&path));
    let mut journal = Journal::open(&path).unwrap();
    let tune = &tuning(&machine.system, &[])[0];
    apply(&machine.system, tune, &mut Devices::default(), &mut journal, Watch::SILENT).unwrap();
    journal.close().unwrap();
    assert!(journal::is_open(&path), "what is to be taken back stays");
    let mut journal = Journal::open(&path).unwrap();
    undo_all(&machine.system, &mut journal).unwrap();
    journal.close().unwrap();
    assert!(!path.exists());
}

#[test]
fn undo_after_kill_before_action_changes_nothing() {
    let machine = machine();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let steps = tuning(&machine.system, &[]);
    let before = state(machine.root());
    let mut journal = Journal::open(&path).unwrap();
    let undo = steps[0].undo(false).remove(0);
    journal.intend(&journal::Entry::new(undo, [].into(), None)).unwrap();
    drop(journal);
    // The last line was cut by the kill.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"id\":1,\"undo\":{\"only");
    std::fs::write(&path, text).unwrap();
    let outcomes = undo_all(&machine.system, &mut Journal::open(&path).unwrap()).unwrap();
    assert!(matches!(outcomes.as_slice(), [UndoResult::Nothing(_)]), "{outcomes:?}");
    assert_eq!(before, state(machine.root()));
}

#[test]
fn setting_with_foreign_change_is_not_undone() {
    let machine = machine();
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let steps = tuning(&machine.system, &[]);
    apply(&machine.system, &steps[0], &mut Devices::default(), &mut journal, Watch::SILENT)
        .unwrap();
    let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    machine.file(governor, "schedutil\n");
    let outcomes = undo_all(&machine.system, &mut journal).unwrap();
    assert!(matches!(outcomes.as_slice(), [UndoResult::Left(..)]), "{outcomes:?}");
    assert_eq!(machine.system.read_trimmed(governor).as_deref(), Some("schedutil"));
}

#[test]
fn failed_undo_command_stays_in_journal() {
    let machine = machine().with_output("mdadm", 0, "").with_output("wipefs", 1, "denied");
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let file_system = read_step("step = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/sda\"");
    let failed = apply(
        &machine.system,
        &file_system,
        &mut given(&machine, &file_system),
        &mut journal,
        Watch::SILENT,
    )
    .unwrap_err()
    .to_string();
    assert!(failed.contains("mkfs.xfs") && failed.contains("host undo"), "{failed}");
    let outcomes = undo_all(&machine.system, &mut journal).unwrap();
    assert!(matches!(outcomes.as_slice(), [UndoResult::Failed(..)]), "{outcomes:?}");
    assert_eq!(journal.open_entries().unwrap().len(), 1);
}

/// Hole 8: a step does not create what already exists, and its undo does not remove it.
#[test]
fn existing_array_or_volume_fails_the_step() {
    let machine = machine().disk("sdb", "8:16").disk("md0", "9:0").with_output("vgs", 0, "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let members = "[\"/dev/sda\", \"/dev/sdb\"]";
    for keys in [
        format!("step = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\nmembers = {members}"),
        format!("step = \"volume\"\ngroup = \"g\"\nname = \"v\"\ndevices = {members}"),
    ] {
        let step = read_step(&keys);
        let mut journal = Journal::open(&path).unwrap();
        let mut devices = given(&machine, &step);
        let failed = apply(&machine.system, &step, &mut devices, &mut journal, Watch::SILENT);
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("already"), "{failed}");
        assert!(journal.open_entries().unwrap().is_empty());
    }
}

/// Hole 5: a device without a consent, which no earlier step created, is given to no program.
#[test]
fn no_program_gets_a_device_without_consent() {
    let machine = machine().with_output("blkdiscard", 0, "");
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let purge = read_step("step = \"purge\"\ndevice = \"/dev/sda\"\nmethod = \"discard\"");
    let mut none = Devices::default();
    let failed = apply(&machine.system, &purge, &mut none, &mut journal, Watch::SILENT);
    assert!(failed.unwrap_err().to_string().contains("no step created it"));
    // Nor is a device that has been replaced.
    for (key, text) in [("diskseq", "9\n"), ("size", "4096\n"), ("device/serial", "OTHER1\n")] {
        let machine = machine_of("7");
        let mut devices = given(&machine, &purge);
        machine.file(&format!("/sys/class/block/sda/{key}"), text);
        let failed = apply(&machine.system, &purge, &mut devices, &mut journal, Watch::SILENT);
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("/dev/sda is no longer the same device"), "{key}: {failed}");
    }
}

fn machine_of(diskseq: &str) -> FakeMachine {
    FakeMachine::new()
        .disk("sda", "8:0")
        .attribute("sda", "diskseq", diskseq)
        .attribute("sda", "device/serial", "S1\n")
        .with_file("/proc/sys/kernel/random/boot_id", "first\n")
        .with_output("mkfs.xfs", 0, "")
        .with_output("wipefs", 0, "")
        .with_output("blkid", 0, "TYPE=xfs\nUUID=ours\n")
}

/// Results of the undo of a step on a machine that changed since.
fn undone_after(
    machine: FakeMachine,
    step: &Step,
    change: impl FnOnce(FakeMachine, &Path) -> FakeMachine,
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let mut journal = Journal::open(&path).unwrap();
    let mut devices = given(&machine, step);
    apply(&machine.system, step, &mut devices, &mut journal, Watch::SILENT).unwrap();
    drop(journal);
    let machine = change(machine, &path);
    let outcomes = undo_all(&machine.system, &mut Journal::open(&path).unwrap()).unwrap();
    format!("{outcomes:?}")
}

/// Hole 8: an undo undoes exactly what was done, or nothing.
#[test]
fn undo_leaves_a_different_device_unchanged() {
    let step = read_step("step = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/sda\"");
    let undone = |change: &dyn Fn(&FakeMachine)| {
        let machine = machine_of("7");
        undone_after(machine, &step, |machine, _| {
            change(&machine);
            machine
        })
    };
    let boot = |machine: &FakeMachine| {
        machine.file("/proc/sys/kernel/random/boot_id", "second\n");
        machine.file("/sys/class/block/sda/diskseq", "1\n");
    };
    assert!(undone(&|_| ()).contains("Done"));
    assert!(undone(&|m| m.file("/sys/class/block/sda/diskseq", "8\n")).contains("and is now 8"));
    assert!(undone(&boot).contains("Done"), "a drive is known by its serial after a boot");
    let other = undone(&|machine| {
        boot(machine);
        machine.file("/sys/class/block/sda/device/serial", "S2\n");
    });
    assert!(other.contains("Nothing"), "{other}");
}

/// Undo of a volume on a device that has this label then.
fn volume_undone_with(label: &str, at: impl FnOnce(&Path)) -> String {
    let text = "step = \"volume\"\ngroup = \"g\"\nname = \"v\"\ndevices = [\"/dev/sda\"]";
    let tools = ["pvcreate", "vgcreate", "lvcreate", "pvs", "pvremove"];
    let machine =
        tools.iter().fold(machine_of("7"), |machine, tool| machine.with_output(tool, 0, ""));
    undone_after(machine, &read_step(text), |machine, journal| {
        at(journal);
        machine.with_output("blkid", 0, label)
    })
}

#[test]
fn undo_keeps_a_label_that_another_wrote() {
    let done = "Done(\"pvremove -y /dev/sda\")";
    let own = volume_undone_with("TYPE=xfs\nUUID=ours\n", |_| ());
    assert!(own.contains(done), "{own}");
    let other = volume_undone_with("TYPE=LVM2_member\nUUID=theirs\n", |_| ());
    assert!(!other.contains(done) && other.contains("UUID=theirs"), "{other}");
}

/// Removes from a journal what a kill of qdepth while a tool runs leaves unwritten.
fn interrupt(journal: &Path) {
    let text = std::fs::read_to_string(journal).unwrap();
    let kept = text.lines().filter(|line| !line.contains("\"made\":["));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    assert!(kept.len() < text.len());
    std::fs::write(journal, kept).unwrap();
}

/// Undo of an interrupted step on a device with these contents before and after it.
fn interrupted(step: &str, before: &str, after: &str) -> String {
    let tools = ["pvcreate", "vgcreate", "lvcreate", "pvs", "pvremove", "parted"];
    let machine =
        tools.iter().fold(machine_of("7"), |machine, tool| machine.with_output(tool, 0, ""));
    undone_after(machine.with_output("blkid", 0, before), &read_step(step), |machine, journal| {
        interrupt(journal);
        machine.with_output("blkid", 0, after)
    })
}

#[test]
fn undo_of_interrupted_step_removes_what_it_makes() {
    let volume = "step = \"volume\"\ngroup = \"g\"\nname = \"v\"\ndevices = [\"/dev/sda\"]";
    let label = "step = \"partition\"\ndevice = \"/dev/sda\"";
    let xfs = "step = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/sda\"";
    let new = "UUID=new\n";
    for (step, before, after, undo) in [
        (xfs, "", "TYPE=xfs\n", "Done(\"wipefs -a /dev/sda\")"),
        (xfs, "TYPE=ext4\n", "TYPE=xfs\n", "Done(\"wipefs -a /dev/sda\")"),
        (xfs, "", "TYPE=ext4\n", "Left"),
        (xfs, "", "TYPE=xfs\nPTTYPE=dos\n", "Left"),
        (xfs, "TYPE=xfs\n", "TYPE=xfs\n", "Left"),
        (volume, "", "TYPE=LVM2_member\n", "Done(\"pvremove -y /dev/sda\")"),
        (volume, "TYPE=LVM2_member\n", "TYPE=LVM2_member\n", "Left"),
        (label, "", "PTTYPE=gpt\n", "Done(\"wipefs -a /dev/sda\")"),
        (label, "", "TYPE=iso9660\nPTTYPE=gpt\n", "Left"),
    ] {
        let undone = interrupted(step, before, &format!("{after}{new}"));
        assert!(undone.contains(undo), "{step}: {before} {after}: {undone}");
    }
}

#[test]
fn interrupted_partition_is_the_only_one() {
    let step = read_step("step = \"partition\"\ndevice = \"/dev/sda\"");
    let mut entry = journal::Entry::new(step.undo(false).remove(0), [].into(), None);
    entry.makes = made::possible(&step, &[]);
    for (found, is_made) in [
        ("a partition of 1046478848 B at byte 2097152", true),
        ("a partition of 1046478848 B at byte 1048576", false),
        ("a partition of 1046478848 B at byte 2097152 with TYPE=ext4 UUID=theirs", false),
    ] {
        assert_eq!(made::is_made(&entry, found), is_made, "{found}");
    }
}

#[test]
fn node_without_an_array_does_not_exist() {
    let step = read_step(
        "step = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\n\
         members = [\"/dev/sda\", \"/dev/sdb\"]",
    );
    let result = |state: &str| {
        let machine = machine().disk("sdb", "8:16").disk("md0", "9:0").with_output("mdadm", 0, "");
        machine.file("/sys/block/md0/md/array_state", state);
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
        let mut devices = given(&machine, &step);
        let applied = apply(&machine.system, &step, &mut devices, &mut journal, Watch::SILENT);
        let undone = undo_all(&machine.system, &mut journal).unwrap();
        (applied.is_ok(), format!("{undone:?}"))
    };
    let (applied, undone) = result("clear\n");
    assert!(applied && undone.contains("Nothing(\"mdadm --stop /dev/md0\")"), "{undone}");
    assert!(!result("inactive\n").0);
}

/// Contents that somebody else stored there since the preparation must stay.
#[test]
fn undo_compares_contents_before_every_removal() {
    let steps = [
        "step = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/a\"",
        "step = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\n\
         members = [\"/dev/a\", \"/dev/b\"]",
        "step = \"volume\"\ngroup = \"g\"\nname = \"v\"\ndevices = [\"/dev/a\", \"/dev/b\"]",
    ];
    let compared: Vec<String> = steps
        .iter()
        .flat_map(|step| read_step(step).undo(true))
        .filter(|undo| made::wiped(&undo.action).is_some())
        .map(|undo| undo.action.text())
        .collect();
    assert_eq!(
        compared,
        [
            "wipefs -a /dev/a",
            "mdadm --zero-superblock /dev/a",
            "mdadm --zero-superblock /dev/b",
            "pvremove -y /dev/a",
            "pvremove -y /dev/b",
        ]
    );
}

/// A step that fails has not made what was on the device before.
#[test]
fn undo_of_a_failed_step_wipes_nothing() {
    let step = read_step("step = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/sda\"");
    let machine = machine_of("7").with_output("mkfs.xfs", 1, "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let mut journal = Journal::open(&path).unwrap();
    let mut devices = given(&machine, &step);
    apply(&machine.system, &step, &mut devices, &mut journal, Watch::SILENT).unwrap_err();
    drop(journal);
    let outcomes = undo_all(&machine.system, &mut Journal::open(&path).unwrap()).unwrap();
    assert!(matches!(outcomes.as_slice(), [UndoResult::Left(..)]), "{outcomes:?}");
}

/// Hole 8: the journal is executed as root, so only its owner may write to it.
#[test]
fn journal_writable_by_others_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let begin = |text: &str, mode: u32| {
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert!(
            text.is_empty() || journal::is_open(&path),
            "what is not understood may hold something"
        );
        Journal::open(&path).map(|_| ()).map_err(|no| no.to_string())
    };
    assert_eq!(begin("", 0o600), Ok(()));
    assert!(begin("", 0o622).unwrap_err().contains("chmod go-w"));
    assert!(begin("{\"journal\":1}\n", 0o600).unwrap_err().contains("version"));
    let old = "{\"id\":0,\"undo\":{\"only_if\":{\"exists\":\"/dev/sda\"},\
               \"action\":{\"run\":[\"rm\"]}}}\n";
    assert!(begin(old, 0o600).unwrap_err().contains("cannot be read"));
    let unknown = "{\"journal\":3}\n{\"run\":\"rm\"}\n{\"undone\":0}\n";
    assert!(begin(unknown, 0o600).unwrap_err().contains("line 2"));
    if rustix::process::geteuid().is_root() {
        assert_eq!(begin("", 0o600), Ok(()));
        std::os::unix::fs::chown(&path, Some(1000), None).unwrap();
        let no = Journal::open(&path).unwrap_err().to_string();
        assert!(no.contains("user 1000"), "{no}");
    }
}

proptest::proptest! {
    #[test]
    fn any_preparation_file_parses_without_panic(
        text in "(?s)(\\[\\[prepare\\]\\]\nstep = \"[a-z-]{0,12}\"\n\
                 ([a-z]{1,8} = .{0,20}\n){0,4})*",
    ) {
        let _ = read(&text);
    }

    #[test]
    fn any_journal_never_panics(text in "(?s)(\\{\"(id|undone)\":[0-9]{0,3}.{0,40}\n?){0,5}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("undo.jsonl");
        std::fs::write(&path, text).unwrap();
        if let Ok(journal) = Journal::open(&path) {
            let _ = journal.open_entries().unwrap();
        }
    }
}
