//! Steps, their ways back, and the journal, on a machine of files.

use std::path::Path;

use super::journal::Journal;
use super::*;
use crate::testing::FakeMachine;

const FILE: &str = "\
[[prepare]]\nstep = \"purge\"\ndevice = \"/dev/nvme0n1\"\nmethod = \"discard\"\n\
[[prepare]]\nstep = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"0\"\nchunk = \"128KiB\"\n\
members = [\"/dev/nvme0n1\", \"/dev/nvme1n1\"]\n\
[[prepare]]\nstep = \"file-system\"\nkind = \"xfs\"\ndevice = \"/dev/md0\"\noptions = [\"-K\", \"-d su=128k,sw=2\"]\n\
[[prepare]]\nstep = \"mount\"\nat = \"/mnt/x\"\ndevice = \"/dev/md0\"\noptions = \"noatime\"\n";

fn lines(step: &Step) -> Vec<String> {
    step.actions().iter().map(Action::text).collect()
}

#[test]
fn a_preparation_says_what_it_would_run() {
    let steps = read(FILE).unwrap();
    assert_eq!(base_devices(&steps), ["/dev/nvme0n1", "/dev/nvme1n1"]);
    let all: Vec<String> = steps.iter().flat_map(lines).collect();
    assert_eq!(
        all,
        [
            "blkdiscard -f /dev/nvme0n1",
            "mdadm --create /dev/md0 --run --level=0 --raid-devices=2 --chunk=128 /dev/nvme0n1 /dev/nvme1n1",
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
fn an_imsm_array_lies_in_a_container() {
    let step = Step::Array {
        device: "/dev/md0".into(),
        level: "0".into(),
        members: vec!["/dev/a".into(), "/dev/b".into()],
        chunk: None,
        metadata: Some("imsm".into()),
    };
    assert_eq!(
        lines(&step),
        [
            "mdadm --create /dev/md/md0-imsm --run --metadata=imsm --raid-devices=2 /dev/a /dev/b",
            "mdadm --create /dev/md0 --run --level=0 --raid-devices=2 /dev/md/md0-imsm",
        ]
    );
}

#[test]
fn what_cannot_be_is_said() {
    for (text, part) in [
        ("[[prepare]]\nstep = \"purge\"\ndevice = \"sda\"\nmethod = \"discard\"", "/dev"),
        ("[[prepare]]\nstep = \"purge\"\ndevice = \"/dev/../etc\"\nmethod = \"discard\"", "/dev"),
        (
            "[[prepare]]\nstep = \"array\"\ndevice = \"/dev/md0\"\nlevel = \"5\"\nmembers = [\"/dev/a\"]",
            "needs 3",
        ),
        ("[[prepare]]\nstep = \"file-system\"\nkind = \"zfs\"\ndevice = \"/dev/a\"", "xfs"),
        ("[[prepare]]\nstep = \"mount\"\nat = \"x\"\ndevice = \"/dev/a\"", "whole path"),
        ("[[prepare]]\nstep = \"setting\"\npath = \"/etc/passwd\"\nvalue = \"1\"", "below /sys"),
        ("[[prepare]]\nstep = \"dance\"", "dance"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
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

/// Every file of the machine with its text.
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
fn tuning_sets_what_differs_and_nothing_else() {
    let machine = machine();
    let steps = tuning(&machine.system, &["sda".to_owned()]);
    let told: Vec<String> = steps.iter().map(Step::describe).collect();
    assert_eq!(
        told,
        [
            "governor of CPU 0: powersave → performance",
            "idle state C6 off of CPU 0: 0 → 1",
            "huge pages for who asks: never → madvise",
            "scheduler of sda: mq-deadline → none",
            "no merging in the queue of sda: 0 → 2",
            "no throttling of write-back in the queue of sda: 2000 → 0",
            "CPUs of interrupt 40: 000000ff → 00000004",
        ]
    );
}

#[test]
fn each_queue_gets_what_its_drive_can() {
    let told = |machine: &FakeMachine, disk: &str| -> Vec<String> {
        let steps = tuning(&machine.system, &[disk.to_owned()]);
        steps.iter().map(Step::describe).filter(|line| line.contains(disk)).collect()
    };
    // A disk that turns keeps its scheduler, which has room for more requests.
    let disk = FakeMachine::new()
        .disk("sda", "8:0")
        .attribute("sda", "queue/rotational", "1\n")
        .attribute("sda", "queue/scheduler", "none [mq-deadline] bfq\n")
        .attribute("sda", "queue/nr_requests", "64\n")
        .attribute("sda", "queue/io_poll", "0\n");
    assert_eq!(told(&disk, "sda"), ["requests in the queue of sda: 64 → 512"]);
    // Without a scheduler there are as many as the drive has tags. Whether it can be polled is the kernel's to say.
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
    assert_eq!(told(&nvme("0\n"), "nvme0n1"), always);
    assert_eq!(told(&nvme("2\n"), "nvme0n1"), always);
    let full = nvme("0\n").attribute("nvme0n1", "queue/nr_requests", "1023\n");
    assert_eq!(told(&full, "nvme0n1"), always[1..]);
}

/// The kernel brings another number of requests with another scheduler.
#[test]
fn the_number_of_requests_comes_back_with_its_scheduler() {
    let machine = machine();
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let steps = tuning(&machine.system, &["sda".to_owned()]);
    let scheduler = steps.iter().find(|step| step.describe().contains("scheduler")).unwrap();
    apply(&machine.system, scheduler, &mut journal, Watch::NOBODY).unwrap();
    let requests = "/sys/block/sda/queue/nr_requests";
    std::fs::write(machine.system.path(requests), "1023\n").unwrap();
    let told = undo_all(&machine.system, &mut journal).unwrap();
    let lines: Vec<String> = told
        .iter()
        .map(|one| match one {
            Undone::Done(line) => line.clone(),
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

/// Applied up to every boundary between two steps, then undone by another process's eyes.
#[test]
fn what_was_done_when_it_was_killed_is_undone() {
    for killed_after in 0..=7 {
        let machine = machine();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("undo.jsonl");
        let steps = tuning(&machine.system, &["sda".to_owned()]);
        // A real kernel shows a choice in brackets; this one shows what was written.
        let written = |path: &str, text: &str| {
            std::fs::write(machine.system.path(path), text).unwrap();
        };
        written("/sys/block/sda/queue/scheduler", "mq-deadline\n");
        written("/sys/kernel/mm/transparent_hugepage/enabled", "never\n");
        let before = state(machine.root());
        let mut journal = Journal::open(&path).unwrap();
        for step in steps.iter().take(killed_after) {
            apply(&machine.system, step, &mut journal, Watch::NOBODY).unwrap();
        }
        drop(journal);
        assert_eq!(before == state(machine.root()), killed_after == 0);
        let told = undo_all(&machine.system, &mut Journal::open(&path).unwrap()).unwrap();
        // The fourth is the scheduler, which takes the number of requests with it.
        assert_eq!(told.len(), killed_after + usize::from(killed_after > 3));
        assert!(told.iter().all(|one| matches!(one, Undone::Done(_))), "{told:?}");
        assert_eq!(before, state(machine.root()), "killed after {killed_after}");
        assert!(killed_after == 0 || !path.exists(), "the journal goes with its last entry");
    }
}

/// A purge has no way back: after it nothing is to be taken back, and a run may begin.
#[test]
fn steps_without_a_way_back_leave_nothing_open() {
    let machine = machine().with_output("blkdiscard", 0, "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let purge = Step::Purge { device: "/dev/sda".into(), method: PurgeMethod::Discard };
    let mut journal = Journal::open(&path).unwrap();
    apply(&machine.system, &purge, &mut journal, Watch::NOBODY).unwrap();
    assert!(path.exists() && !journal::is_open(&path));
    journal.close().unwrap();
    assert!(!path.exists() && !journal::is_open(&path));
    let mut journal = Journal::open(&path).unwrap();
    let tune = &tuning(&machine.system, &[])[0];
    apply(&machine.system, tune, &mut journal, Watch::NOBODY).unwrap();
    journal.close().unwrap();
    assert!(journal::is_open(&path), "what is to be taken back stays");
    let mut journal = Journal::open(&path).unwrap();
    undo_all(&machine.system, &mut journal).unwrap();
    journal.close().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_kill_between_journal_and_action_leaves_nothing_to_do() {
    let machine = machine();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("undo.jsonl");
    let steps = tuning(&machine.system, &[]);
    let before = state(machine.root());
    let mut journal = Journal::open(&path).unwrap();
    journal.intend(&steps[0].undo(false)[0]).unwrap();
    drop(journal);
    // The last line was cut by the kill.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"id\":1,\"undo\":{\"only");
    std::fs::write(&path, text).unwrap();
    let told = undo_all(&machine.system, &mut Journal::open(&path).unwrap()).unwrap();
    assert!(matches!(told.as_slice(), [Undone::Nothing(_)]), "{told:?}");
    assert_eq!(before, state(machine.root()));
}

#[test]
fn what_somebody_else_changed_since_is_left() {
    let machine = machine();
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let steps = tuning(&machine.system, &[]);
    apply(&machine.system, &steps[0], &mut journal, Watch::NOBODY).unwrap();
    let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    machine.file(governor, "schedutil\n");
    let told = undo_all(&machine.system, &mut journal).unwrap();
    assert!(matches!(told.as_slice(), [Undone::Left(_)]), "{told:?}");
    assert_eq!(machine.system.read_trimmed(governor).as_deref(), Some("schedutil"));
}

#[test]
fn a_command_that_fails_stays_in_the_journal() {
    let machine = machine().with_output("mdadm", 0, "").with_output("wipefs", 1, "denied");
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("undo.jsonl")).unwrap();
    let file_system =
        Step::FileSystem { kind: "xfs".into(), device: "/dev/sda".into(), options: Vec::new() };
    let failed =
        apply(&machine.system, &file_system, &mut journal, Watch::NOBODY).unwrap_err().to_string();
    assert!(failed.contains("mkfs.xfs") && failed.contains("host undo"), "{failed}");
    let told = undo_all(&machine.system, &mut journal).unwrap();
    assert!(matches!(told.as_slice(), [Undone::Failed(..)]), "{told:?}");
    assert_eq!(journal.open_entries().unwrap().len(), 1);
}

proptest::proptest! {
    #[test]
    fn any_file_is_read(text in "(?s)(\\[\\[prepare\\]\\]\nstep = \"[a-z-]{0,12}\"\n([a-z]{1,8} = .{0,20}\n){0,4})*") {
        let _ = read(&text);
    }

    #[test]
    fn any_journal_is_read(text in "(?s)(\\{\"(id|undone)\":[0-9]{0,3}.{0,40}\n?){0,5}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("undo.jsonl");
        std::fs::write(&path, text).unwrap();
        let _ = Journal::open(&path).unwrap().open_entries().unwrap();
    }
}
