pub(crate) mod machine;

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::consent::{self, Consent};
use crate::identity::{DeviceIdentity, Identity};
use crate::label::{LABEL_BYTES, Label};
use crate::monitor::{CpuTimes, KernelStat};
use crate::refusal::{Guard, Refusal};
use crate::target::{BlockDevice, Partition};
use crate::tests::machine::FakeMachine;
use crate::{environment, mounts, sysfs};

pub(crate) fn device(machine: &FakeMachine, name: &str) -> BlockDevice {
    let number = sysfs::number_of(&machine.system, name).unwrap();
    let partition =
        sysfs::whole_of(&machine.system, name).map(|whole| Partition { number: 1, whole });
    BlockDevice {
        identity: DeviceIdentity::read(&machine.system, number).unwrap(),
        logical_block_bytes: 512,
        max_request_bytes: None,
        model: None,
        read_only: false,
        partition,
        link: None,
    }
}

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

#[test]
fn consent_needs_complete_serial_number() {
    let machine = FakeMachine::new()
        .disk("sda", "8:0")
        .attribute("sda", "device/serial", " S4NX 1234 \n")
        .partition("sda", "sda1", "8:1")
        .disk("sdb", "8:16");
    let (whole, part) = (device(&machine, "sda"), device(&machine, "sda1"));
    let bare = device(&machine, "sdb");
    assert_eq!(consent::tokens(&machine.system, &whole), ["S4NX_1234"]);
    assert_eq!(consent::tokens(&machine.system, &part), ["S4NX_1234-part1@2048"]);
    let bare_token = consent::tokens(&machine.system, &bare).remove(0);
    assert!(bare_token.starts_with("/dev/sdb:1073741824:"), "{bare_token}");
    let give = |device: &BlockDevice, typed: &str, last: &str| {
        Consent::on_terminal(&machine.system, device, typed, last, &[])
    };
    give(&whole, "S4NX_1234", "1234").unwrap();
    give(&part, "S4NX_1234-part1@2048", "2048").unwrap();
    give(&bare, &bare_token, &bare_token[bare_token.len() - 4..]).unwrap();
    for typed in
        ["", "yes", "y", "*", "S4NX*", "/dev/sda", "/dev/sda:1073741824", "S4NX_123", "ALL"]
    {
        let last: String =
            typed.chars().rev().take(4).collect::<Vec<_>>().into_iter().rev().collect();
        let refusal = give(&whole, typed, &last).unwrap_err();
        assert_eq!(refusal.guard, Guard::G9Consent);
        assert!(refusal.to_string().contains("--destroy S4NX_1234"), "{refusal}");
    }
    for last in ["", "234", "4321", "S4NX_1234"] {
        assert!(give(&whole, "S4NX_1234", last).is_err(), "{last}");
    }
    for (typed, last) in [("S4NX_1234", "1234"), ("S4NX_1234-part1", "art1")] {
        assert!(give(&part, typed, last).is_err(), "{typed} is not this partition");
    }
}

#[test]
fn duplicate_serial_is_not_a_consent_token() {
    let machine = FakeMachine::new()
        .disk("nvme0n1", "259:0")
        .attribute("nvme0n1", "device/serial", "SAME1234")
        .attribute("nvme0n1", "wwid", "eui.01")
        .disk("nvme0n2", "259:1")
        .attribute("nvme0n2", "device/serial", "SAME1234");
    assert_eq!(consent::tokens(&machine.system, &device(&machine, "nvme0n1")), ["eui.01"]);
    let second = device(&machine, "nvme0n2");
    let token = consent::tokens(&machine.system, &second).remove(0);
    assert!(token.starts_with("/dev/nvme0n2:1073741824:"), "{token}");
}

#[test]
fn consent_file_is_valid_only_as_written() {
    let machine = FakeMachine::new().disk("sdb", "8:16");
    let device = device(&machine, "sdb");
    let typed = consent::tokens(&machine.system, &device).remove(0);
    let give = |text: &str, now: Timestamp| {
        Consent::from_file(&machine.system, &device, &typed, text, now, &[])
    };
    let good = consent::template(&machine.system, &device, now());
    let consent = give(&good, now()).unwrap();
    let later = now().checked_add(SignedDuration::from_hours(2)).unwrap();
    assert_eq!(consent.check(&machine.system, &device, now()), Ok(()));
    let over: Refusal = consent.check(&machine.system, &device, later).unwrap_err();
    assert_eq!(over.guard, Guard::G9Consent);
    assert!(give(&good, later).is_err(), "expired");
    let earlier = now().checked_sub(SignedDuration::from_hours(48)).unwrap();
    assert!(give(&good, earlier).is_err(), "more than a day away");
    for (from, to) in [
        ("/dev/sdb:", "/dev/sdc:"),
        ("size_bytes = 1073741824", "size_bytes = 1"),
        ("size_bytes", "size"),
        ("expires", "# expires"),
        ("2026", "someday"),
        ("destroy", "expires"),
    ] {
        assert!(give(&good.replacen(from, to, 1), now()).is_err(), "{from} → {to}");
    }
}

#[test]
fn consent_file_can_name_several_devices() {
    let machine = FakeMachine::new().disk("sdb", "8:16").disk("sdc", "8:32");
    let devices = [device(&machine, "sdb"), device(&machine, "sdc")];
    let template = |device: &BlockDevice| consent::template(&machine.system, device, now());
    let both = devices.each_ref().map(template).concat();
    for device in &devices {
        let typed = consent::tokens(&machine.system, device).remove(0);
        let give = |text: &str| {
            Consent::from_file(&machine.system, device, &typed, text, now(), &[]).map(|_| ())
        };
        assert_eq!(give(&both), Ok(()));
        assert!(give(&both.replace(&typed, "another")).is_err());
    }
}

/// A partition or loop device that was moved keeps its name, size and sequence number.
#[test]
fn device_at_another_place_is_another_device() {
    let machine = FakeMachine::new()
        .disk("sda", "8:0")
        .partition("sda", "sda1", "8:1")
        .disk("loop1", "7:1")
        .attribute("loop1", "loop/backing_file", "/dev/sda1\n")
        .attribute("loop1", "loop/offset", "4096\n")
        .with_file("/proc/sys/kernel/random/boot_id", "first\n");
    let token = |name: &str| consent::tokens(&machine.system, &device(&machine, name)).remove(0);
    let found = |name: &str| device(&machine, name).identity;
    let then = ["sda", "sda1", "loop1"].map(|name| (found(name), token(name)));
    let places = then.each_ref().map(|(identity, _)| identity.place.as_deref());
    assert_eq!(places, [None, Some("sda@1048576"), Some("sda1@4096,sda@1052672")]);
    let differences = || {
        then.each_ref().map(|(then, typed)| {
            let name = &then.kernel_name;
            assert_eq!(then.difference(&found(name)).is_some(), token(name) != *typed, "{name}");
            then.difference(&found(name)).is_some()
        })
    };
    machine.file("/sys/class/block/loop1/loop/offset", "8192\n");
    assert_eq!(differences(), [false, false, true]);
    machine.file("/sys/class/block/loop1/loop/offset", "4096\n");
    assert_eq!(differences(), [false, false, false]);
    machine.file("/sys/class/block/sda1/start", "4096\n");
    assert_eq!(differences(), [false, true, true]);
    machine.file("/proc/sys/kernel/random/boot_id", "second\n");
    assert_ne!(token("sda"), then[0].1, "sequence numbers start again at each boot");
}

#[test]
fn changed_device_is_detected() {
    let machine = FakeMachine::new().disk("sdb", "8:16").attribute("sdb", "diskseq", "7");
    let then = device(&machine, "sdb").identity;
    assert_eq!(then.difference(&then), None);
    let machine = machine.attribute("sdb", "diskseq", "8");
    let difference = then.difference(&device(&machine, "sdb").identity).unwrap();
    assert!(difference.contains("diskseq"), "{difference}");
    let stored = Identity::Device(then.clone()).stored();
    assert_eq!(stored, "name=sdb size_bytes=1073741824 diskseq=7");
    // Hole 6: without a serial number the consent names the attachment, which changes.
    let now = device(&machine, "sdb");
    let token = consent::tokens(&machine.system, &now).remove(0);
    assert!(token.starts_with("/dev/sdb:1073741824:8:"), "{token}");
    for typed in ["/dev/sdb:1073741824:7", "/dev/sdb:1073741824"] {
        let last = &typed[typed.len() - 4..];
        assert!(Consent::on_terminal(&machine.system, &now, typed, last, &[]).is_err(), "{typed}");
    }
}

#[test]
fn unknown_facts_have_a_reason() {
    let machine = FakeMachine::new().disk("sda", "8:0").attribute("sda", "queue/rotational", "0\n");
    let facts = environment::observe(&machine.system);
    assert!(facts.len() > 20);
    assert!(facts.iter().all(|fact| fact.value.is_err()), "an empty machine says nothing");
    let facts = environment::device_facts(&machine.system, "sda");
    let value = |key: &str| facts.iter().find(|fact| fact.key == key).unwrap().value.clone();
    assert_eq!(value("rotational"), Ok("0".to_owned()));
    assert_eq!(value("size_bytes"), Ok("1073741824".to_owned()));
    assert!(value("model").is_err());
}

#[test]
fn pcie_link_limits_the_throughput() {
    let machine = FakeMachine::new()
        .disk("nvme0n1", "259:0")
        .attribute("nvme0n1", "device/device/current_link_speed", "16.0 GT/s PCIe\n")
        .attribute("nvme0n1", "device/device/current_link_width", "4\n");
    let link = sysfs::link_of(&machine.system, "nvme0n1").unwrap();
    assert_eq!(link.description, "PCIe 4.0 x4");
    assert!((6.9e9..7.2e9).contains(&link.practical_bytes_per_s), "{link:?}");
}

#[test]
fn kernel_counters_are_subtracted() {
    let before = KernelStat::parse("1 0 8 0 2 0 16 0 0 5 0").unwrap();
    let after = KernelStat::parse("11 0 88 0 4 0 32 0 1 9 0 0 0 0 0 0 0").unwrap();
    let counts = after.since(&before);
    assert_eq!((counts.reads, counts.read_bytes), (10, 80 * 512));
    assert_eq!((counts.writes, counts.written_bytes), (2, 16 * 512));
    let before = CpuTimes::parse("cpu  10 0 0 90 0 0 0 0 0 0\n").unwrap();
    let after = CpuTimes::parse("cpu  20 0 0 170 0 0 0 10 0 0\n").unwrap();
    assert_eq!(after.steal_share_since(&before), Some(0.1));
    assert_eq!(after.steal_share_since(&after), None);
}

#[test]
fn kernel_escape_sequences_are_decoded() {
    assert_eq!(mounts::unescape(r"/a\040b\134c"), r"/a b\c");
    assert_eq!(mounts::unescape(r"\04 \999 \777"), r"\04 \999 \777");
    let line = r"36 35 98:0 /r /mnt\0402 rw,noatime shared:1 - ext3 /dev/root rw,errors=continue";
    let mount = mounts::parse(line).remove(0);
    assert_eq!(mount.mount_point, Path::new("/mnt 2"));
    assert_eq!((mount.kind.as_str(), mount.id), ("ext3", 36));
}

#[test]
fn bind_mount_reveals_original_file_path() {
    let text = "1 0 8:1 / / rw - ext4 a rw\n2 1 8:1 /etc/shadow /tmp/x rw - ext4 a rw\n\
                3 1 8:2 / /data rw - ext4 b rw\n4 1 8:1 /usr /mnt rw - ext4 a rw\n";
    let mounts = mounts::parse(text);
    let aliases = |path: &str| {
        let path = Path::new(path);
        mounts::aliases(&mounts, mounts::holding(&mounts, path).unwrap(), path)
    };
    assert_eq!(aliases("/tmp/x"), [Path::new("/etc/shadow")]);
    assert_eq!(aliases("/mnt/lib"), [Path::new("/usr/lib")]);
    assert_eq!(aliases("/data/file"), Vec::<std::path::PathBuf>::new());
    assert_eq!(aliases("/home/me"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn corrupted_label_is_rejected() {
    let label = Label::new("run\n1", "2026-01-01T00:00:00Z", 1 << 30);
    let block = label.encode();
    assert_eq!(Label::decode(&block), Some(label));
    for byte in (0..LABEL_BYTES as usize).step_by(97) {
        let mut bad = block;
        bad[byte] ^= 4;
        assert_eq!(Label::decode(&bad), None, "byte {byte}");
    }
    assert_eq!(Label::decode(&[]), None);
}

proptest! {
    #[test]
    fn any_mountinfo_text_parses_without_panic(text in "(?s).{0,300}") {
        let _ = mounts::parse(&text);
        let _ = mounts::unescape(&text);
    }

    #[test]
    fn any_counter_text_parses_without_panic(text in "(cpu )?[0-9 x\n-]{0,200}") {
        let _ = KernelStat::parse(&text);
        let _ = CpuTimes::parse(&text);
    }

    #[test]
    fn any_device_number_parses_without_panic(text in ".{0,40}") {
        let _ = text.parse::<sysfs::DeviceNumber>();
    }

    #[test]
    fn any_consent_never_panics(text in "(?s)((destroy|size_bytes|expires) ?=.{0,30}\n|.{0,50})*") {
        let machine = FakeMachine::new().disk("sdb", "8:16");
        let device = device(&machine, "sdb");
        let typed = "/dev/sdb:1073741824";
        let _ = Consent::from_file(&machine.system, &device, typed, &text, now(), &[]);
    }

    #[test]
    fn any_machine_text_is_observed_without_panic(text in "(?s).{0,300}") {
        let machine = FakeMachine::new()
            .with_file("/proc/cpuinfo", &text)
            .with_file("/proc/meminfo", &text);
        let _ = environment::observe(&machine.system);
    }

    #[test]
    fn label_round_trip_is_lossless(run in ".{0,300}", at in ".{0,300}", size: u64) {
        let label = Label::new(&run, &at, size);
        prop_assert_eq!(Label::decode(&label.encode()), Some(label));
    }
}
