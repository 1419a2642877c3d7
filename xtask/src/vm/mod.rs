//! `cargo xtask vm`: runs the tests that need NVMe, MD or device mapper in a virtual machine with
//! emulated drives, without KVM and without touching a device of this machine.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::command::{NameWithoutBlanks, is_installed, output, root, show};
use crate::suite::Counts;

/// Debian packages of the guest and its emulator, each with a program that shows that it is
/// installed.
pub const PACKAGES: &[(&str, &str)] = &[
    ("qemu-system-x86", "qemu-system-x86_64"),
    ("busybox-static", "busybox"),
    ("cpio", "cpio"),
    ("zstd", "zstd"),
    ("kmod", "modprobe"),
    ("nvme-cli", "nvme"),
    ("smartmontools", "smartctl"),
    ("lvm2", "lvm"),
    ("mdadm", "mdadm"),
    ("xfsprogs", "mkfs.xfs"),
    ("dosfstools", "mkfs.vfat"),
    ("btrfs-progs", "mkfs.btrfs"),
    ("parted", "parted"),
];
const DRIVES: usize = 4;
const DRIVE_BYTES: u64 = 1 << 30;
/// Kernel parameter: the NVMe driver reserves a polled queue on each drive with more than one
/// queue.
const POLL_QUEUES: &str = "nvme.poll_queues=1";
const QUEUES: usize = 3;
/// Queues of the last drive, which leave none for polling.
const QUEUES_WITHOUT_POLLING: usize = 1;
/// Drives that the guest adds behind a switch, after the checks that count drives.
const SWITCHED: usize = 8;
/// Time limit of the guest, which takes 10 to 17 minutes on two busy cores.
const LIMIT: Duration = Duration::from_secs(2100);

/// Runs the guest. Returns `None`, and reports a skipped test, if it cannot run here.
pub fn vm() -> Result<Option<Counts>> {
    let missing = PACKAGES.iter().filter(|(_, program)| !is_installed(program));
    let missing: Vec<&str> = missing.map(|(name, _)| *name).collect();
    if !missing.is_empty() || !cfg!(target_arch = "x86_64") {
        println!("SKIPPED: virtual machine (missing: {})", missing.join(", "));
        return Ok(None);
    }
    let folder = root().join("target/vm");
    std::fs::create_dir_all(&folder)?;
    // Builds with the features of the whole workspace, as the tests do.
    let built = ["build", "--quiet", "--workspace", "--bin", "qdepth", "--example", "both_ways"];
    show("cargo", &built)?;
    let project = NameWithoutBlanks::new()?;
    let image = [
        "xtask/src/vm/image.sh",
        "target/vm",
        "target/debug/qdepth",
        "target/debug/examples/both_ways",
        "xtask/src/vm",
    ];
    let image = image.map(|path| project.path(Path::new(path)).display().to_string());
    let made = output("bash", &image.each_ref().map(String::as_str), &[0]);
    made.context("its image could not be made")?;
    run(&folder).map(Some)
}

/// Starts the machine, shows the guest's output, and counts its results.
fn run(folder: &Path) -> Result<Counts> {
    let control = folder.join("control");
    let _ = std::fs::remove_file(&control);
    let mut machine = start(folder, &control)?;
    let process = machine.id();
    let (ended, end) = channel::<()>();
    std::thread::spawn(move || {
        if end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").arg(process.to_string()).status();
        }
    });
    let mut counts = Counts::default();
    let (mut done, mut is_failing) = (false, false);
    let console = machine.stdout.take().context("the machine has no console")?;
    for line in BufReader::new(console).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).trim_end().to_owned();
        counts.guest_line(&line, &mut is_failing);
        done |= line.starts_with("guest done");
        if let Some(command) = line.strip_prefix("qmp ") {
            control_machine(&control, command)?;
        }
        println!("vm: {line}");
    }
    drop(ended);
    machine.wait()?;
    if !done {
        counts.fail("virtual machine", &anyhow!("the guest did not come to its end"));
    }
    Ok(counts)
}

fn start(folder: &Path, control: &Path) -> Result<Child> {
    let kernel = std::fs::read_dir(folder.join("kernel/boot"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.display().to_string().contains("vmlinuz"))
        .context("the package holds no kernel")?;
    let mut qemu = Command::new("qemu-system-x86_64");
    qemu.args(["-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"])
        .args(["-m", "1280", "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"])
        .arg("-qmp")
        .arg(format!("unix:{},server=on,wait=off", control.display()))
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(folder.join("initrd.img"))
        .arg("-append")
        .arg(format!("console=ttyS0 quiet loglevel=3 mitigations=off panic=-1 {POLL_QUEUES}"));
    let drive_of = |id: &str| -> Result<String> {
        let image = folder.join(format!("{id}.img"));
        let _ = std::fs::remove_file(&image);
        File::create(&image)?.set_len(DRIVE_BYTES)?;
        let file = image.display();
        let options = "format=raw,if=none,cache=unsafe,aio=threads,discard=unmap";
        Ok(format!("file={file},id={id},{options}"))
    };
    for drive in 0..DRIVES {
        let queues = if drive + 1 == DRIVES { QUEUES_WITHOUT_POLLING } else { QUEUES };
        qemu.arg("-drive")
            .arg(drive_of(&format!("d{drive}"))?)
            .arg("-device")
            .arg(format!("pcie-root-port,id=port{drive},chassis={drive},slot={drive}"))
            .arg("-device")
            .arg(format!(
                "nvme,id=nvme{drive},drive=d{drive},serial=QD{drive:04},bus=port{drive},\
                 max_ioqpairs={queues}"
            ));
    }
    qemu.args(["-device", "pcie-root-port,id=up,chassis=99"])
        .args(["-device", "x3130-upstream,id=switch,bus=up"]);
    for drive in 0..SWITCHED {
        let port = format!("xio3130-downstream,id=down{drive},bus=switch,chassis=10{drive}");
        let id = format!("s{drive}");
        qemu.arg("-drive").arg(drive_of(&id)?).arg("-device").arg(port);
    }
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("QEMU cannot be started")
}

/// Gives the machine a command of the guest, in QEMU's machine protocol: to pull a drive, or to
/// limit its rates.
fn control_machine(control: &Path, command: &str) -> Result<()> {
    let mut stream = UnixStream::connect(control)?;
    let mut answers = BufReader::new(stream.try_clone()?).lines();
    answers.next();
    for command in ["{\"execute\": \"qmp_capabilities\"}", command] {
        writeln!(stream, "{command}")?;
        let answered = answers.by_ref().map_while(Result::ok).any(|line| {
            serde_json::from_str::<Value>(&line).is_ok_and(|json| json.get("return").is_some())
        });
        if !answered {
            bail!("QEMU did not answer {command}");
        }
    }
    Ok(())
}
