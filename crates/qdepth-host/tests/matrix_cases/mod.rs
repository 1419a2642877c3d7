//! Cases that must be refused, each with the guard that refuses.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use qdepth_host::Guard;
use qdepth_host::measurement_file::{self, Wanted};
use qdepth_host::system::System;
use qdepth_host::target::inspect;

use super::common::{Bench, MIB, PARTITION_START, SWAP_KIB, SWAP_PAGES, checksum_without, sh};

/// Target in a state that must be refused.
pub(crate) struct Prepared {
    /// Target to test, under every name.
    pub(crate) target: PathBuf,
    /// Device or file whose bytes must not change; `None` for a disk too large to read.
    pub(crate) bytes: Option<PathBuf>,
    /// Bytes of it that the kernel may change.
    pub(crate) changing: Range<u64>,
    /// True if the correct consent is given, which must not help.
    pub(crate) consent: bool,
}

impl Prepared {
    fn new(target: PathBuf) -> Result<Self, String> {
        Ok(Self { bytes: Some(target.clone()), target, changing: 0..0, consent: true })
    }

    /// Digest of what must not change; `None` for a disk too large to read.
    pub(crate) fn checksum(&self) -> Option<String> {
        self.bytes.as_deref().map(|bytes| checksum_without(bytes, &self.changing))
    }
}

type Prepare = fn(&Bench) -> Result<Prepared, String>;

/// One row of the matrix.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) guard: Guard,
    pub(crate) tools: &'static [&'static str],
    pub(crate) prepare: Prepare,
}

const fn case(
    name: &'static str,
    guard: Guard,
    tools: &'static [&'static str],
    prepare: Prepare,
) -> Case {
    Case { name, guard, tools, prepare }
}

pub(crate) const CASES: &[Case] = &[
    case("root disk", Guard::G11System, &[], root_disk),
    case("results disk", Guard::G11System, &["mkfs.ext4"], results_disk),
    case("mounted ext4", Guard::G4Mounts, &["mkfs.ext4"], |b| mounted(b, "mkfs.ext4 -q", 64)),
    case("mounted xfs", Guard::G4Mounts, &["mkfs.xfs"], |b| mounted(b, "mkfs.xfs -q", 300)),
    case("mounted btrfs", Guard::G4Mounts, &["mkfs.btrfs"], |b| mounted(b, "mkfs.btrfs -q", 128)),
    case("whole disk of a mounted partition", Guard::G4Mounts, &["sgdisk", "partx"], |b| {
        mounted_partition(b, true)
    }),
    case("mounted partition", Guard::G4Mounts, &["sgdisk", "partx"], |b| {
        mounted_partition(b, false)
    }),
    case("second btrfs member", Guard::G4Mounts, &["mkfs.btrfs"], second_btrfs_member),
    case("mounted in another mount namespace", Guard::G4Mounts, &["unshare"], other_namespace),
    case("swap device", Guard::G5Swap, &["mkswap", "swapon"], swap_device),
    case("swap partition", Guard::G5Swap, &["sgdisk", "swapon"], |b| swap_partition(b, false)),
    case("whole disk of a swap partition", Guard::G5Swap, &["sgdisk", "swapon"], |b| {
        swap_partition(b, true)
    }),
    case("swap file", Guard::G5Swap, &["mkswap", "swapon"], swap_file),
    case("backing file of a loop device", Guard::G6Backing, &[], loop_file),
    case("backing device of a loop device", Guard::G6Backing, &[], |b| loop_on_loop(b, false)),
    case("backing device, its node since removed", Guard::G6Backing, &[], |b| {
        loop_on_loop(b, true)
    }),
    case("disk whose partition backs a loop device", Guard::G6Backing, &["sgdisk"], loop_on_part),
    case("unmounted ext4", Guard::G7Contents, &["mkfs.ext4"], |b| formatted(b, "mkfs.ext4 -q", 64)),
    case("unmounted xfs", Guard::G7Contents, &["mkfs.xfs"], |b| formatted(b, "mkfs.xfs -q", 300)),
    case("unmounted btrfs", Guard::G7Contents, &["mkfs.btrfs"], |b| {
        formatted(b, "mkfs.btrfs -q", 128)
    }),
    case("unmounted swap", Guard::G7Contents, &["mkswap"], |b| formatted(b, "mkswap", 64)),
    case("NTFS", Guard::G7Contents, &["mkfs.ntfs"], |b| formatted(b, "mkfs.ntfs -q -F -f", 64)),
    case("FAT", Guard::G7Contents, &["mkfs.vfat"], |b| formatted(b, "mkfs.vfat", 64)),
    case("LUKS", Guard::G7Contents, &["cryptsetup"], luks),
    case("LVM physical volume", Guard::G7Contents, &["pvcreate"], lvm),
    case("MD member 1.2", Guard::G7Contents, &[], |b| md(b, 4096)),
    case("MD member 1.0", Guard::G7Contents, &[], |b| md(b, 64 * MIB - 8192)),
    case("MD member 0.90", Guard::G7Contents, &[], |b| magic(b, &[(64 * MIB - 65536, MD_MAGIC)])),
    case("ZFS member", Guard::G7Contents, &[], zfs),
    case("Ceph BlueStore", Guard::G7Contents, &[], |b| {
        magic(b, &[(0, b"bluestore block device\n")])
    }),
    case("bcache", Guard::G7Contents, &[], |b| magic(b, &[(4096 + 24, BCACHE)])),
    case("APFS", Guard::G7Contents, &[], |b| magic(b, &[(32, b"NXSB"), (36, &[0, 16, 0, 0])])),
    case("Oracle ASM", Guard::G7Contents, &[], |b| magic(b, &[(32, b"ORCLDISK")])),
    case("VMFS", Guard::G7Contents, &[], |b| magic(b, &[(2 << 20, b"\x5e\xf1\xab\x2f")])),
    case("GPT only", Guard::G7Contents, &["sgdisk"], |b| formatted(b, "sgdisk -n 1:0:0", 64)),
    case("backup GPT only", Guard::G7Contents, &["sgdisk"], backup_gpt),
    case("MBR only", Guard::G7Contents, &[], |b| magic(b, &[(446, MBR_ENTRY), (510, b"\x55\xaa")])),
    case("one byte at the start", Guard::G7Contents, &[], |b| magic(b, &[(3 << 20, b"x")])),
    case("one byte at the end", Guard::G7Contents, &[], |b| magic(b, &[(64 * MIB - 1, b"x")])),
    case("data in the middle", Guard::G7Contents, &[], data_in_the_middle),
    case("device without consent", Guard::G9Consent, &[], |b| {
        Ok(Prepared { consent: false, ..Prepared::new(b.device(64 * MIB))? })
    }),
    case("read-only device", Guard::G2Exclusive, &["blockdev"], read_only_device),
    case("device too small", Guard::G13Bounds, &[], |b| Prepared::new(b.device(MIB))),
    case("device held by another program", Guard::G2Exclusive, &["python3"], held_device),
    case("device open for writing elsewhere", Guard::G2Exclusive, &["python3"], |b| {
        let device = b.device(64 * MIB);
        opened(b, &device)?;
        Prepared::new(device)
    }),
    case("own file open for writing elsewhere", Guard::G2Exclusive, &["python3"], |b| {
        let prepared = own_file(b, false)?;
        opened(b, &prepared.target)?;
        Ok(prepared)
    }),
    case("hard-linked file", Guard::G8Ownership, &[], hard_link),
    case("file of somebody else", Guard::G8Ownership, &[], |b| {
        let path = b.fresh("thesis");
        fs::write(&path, vec![7; 8192]).unwrap();
        Prepared::new(path)
    }),
    case("file with a broken label", Guard::G8Ownership, &[], |b| own_file(b, true)),
    case("file locked by flock", Guard::G2Exclusive, &["python3"], |b| {
        locked_file(b, "fcntl.flock(f, fcntl.LOCK_SH)")
    }),
    case("file with another program's record lock", Guard::G2Exclusive, &["python3"], |b| {
        locked_file(b, "fcntl.lockf(f, fcntl.LOCK_SH, 1, 100)")
    }),
    case("file with another program's OFD lock", Guard::G2Exclusive, &["python3"], |b| {
        // F_OFD_SETLK with struct flock: a read lock on byte 100, as on the image of a virtual
        // machine.
        locked_file(b, "fcntl.fcntl(f, 37, struct.pack('hhqqi4x', 0, 0, 100, 1, 0))")
    }),
    case("file of the system", Guard::G14Place, &[], |_| {
        Prepared::new(PathBuf::from("/etc/os-release").canonicalize().map_err(|e| e.to_string())?)
    }),
    case("directory", Guard::G1Resolve, &[], |b| {
        Ok(Prepared { bytes: None, ..Prepared::new(b.results.path().to_owned())? })
    }),
];

const MD_MAGIC: &[u8] = b"\xfc\x4e\x2b\xa9";
const BCACHE: &[u8] = b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81";
const MBR_ENTRY: &[u8] = b"\x00\x00\x02\x00\x83\x00\x21\x00\x00\x08\x00\x00\x00\x10\x00\x00";

fn root_disk(bench: &Bench) -> Result<Prepared, String> {
    let source = sh("findmnt -n -o SOURCE / || true")?;
    if bench.system.block_node(&source).is_none() {
        return Err(format!("the root file system is on `{source}`"));
    }
    // Never with consent: if G11 failed, G9 would still protect the disk.
    let target = PathBuf::from(source);
    Ok(Prepared { target, bytes: None, changing: 0..0, consent: false })
}

fn results_disk(bench: &Bench) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    sh(&format!("mkfs.ext4 -q {}", device.display()))?;
    let results = bench.results.path().display();
    sh(&format!("mount -o ro {} {results} && sync", device.display()))?;
    bench.later(format!("umount {results}"));
    Prepared::new(device)
}

fn formatted(bench: &Bench, tool: &str, mib: u64) -> Result<Prepared, String> {
    let device = bench.device(mib * MIB);
    sh(&format!("{tool} {} >/dev/null", device.display()))?;
    Prepared::new(device)
}

fn mounted(bench: &Bench, tool: &str, mib: u64) -> Result<Prepared, String> {
    let prepared = formatted(bench, tool, mib)?;
    bench.mount(&prepared.target);
    Ok(prepared)
}

fn mounted_partition(bench: &Bench, give_whole: bool) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    let (first, _) = bench.partition(&device);
    sh(&format!("mkfs.ext4 -q {}", first.display()))?;
    bench.mount(&first);
    Prepared::new(if give_whole { device } else { first })
}

fn second_btrfs_member(bench: &Bench) -> Result<Prepared, String> {
    let (first, second) = (bench.device(128 * MIB), bench.device(128 * MIB));
    let both = format!("{} {}", first.display(), second.display());
    // Without names, every device of the machine would be read, which other tests count as foreign
    // I/O.
    sh(&format!("mkfs.btrfs -q {both} && btrfs device scan {both} >/dev/null"))?;
    bench.mount(&first);
    Prepared::new(second)
}

/// Runs a shell line in the background until the bench is undone.
fn beside(bench: &Bench, line: String) -> Result<(), String> {
    let (ready, stop, gone) = (bench.fresh("ready"), bench.fresh("stop"), bench.fresh("gone"));
    let line = line.replace("READY", &ready.display().to_string());
    let line = line.replace("STOP", &stop.display().to_string());
    let gone_path = gone.clone();
    std::thread::spawn(move || {
        // Longer than a case that every command tests under every name.
        let hour = Duration::from_secs(3600);
        let _ = System::real().run_for("sh", &["-c", &line], hour);
        let _ = File::create(gone_path);
    });
    bench.later(format!(
        "touch {}; for i in $(seq 200); do [ -e {} ] && break; sleep 0.05; done",
        stop.display(),
        gone.display()
    ));
    let (sender, wait) = std::sync::mpsc::channel::<()>();
    for _ in 0..200 {
        if ready.exists() {
            drop(sender);
            return Ok(());
        }
        let _ = wait.recv_timeout(Duration::from_millis(50));
    }
    Err("the other program did not come up".to_owned())
}

fn other_namespace(bench: &Bench) -> Result<Prepared, String> {
    let prepared = formatted(bench, "mkfs.ext4 -q", 64)?;
    let place = bench.fresh("elsewhere");
    fs::create_dir(&place).unwrap();
    let (node, place) = (prepared.target.display(), place.display());
    let wait = "while [ ! -e STOP ]; do sleep 0.05; done";
    beside(
        bench,
        format!(
            "unshare -m --propagation private sh -c 'mount -o ro {node} {place} && sync && touch \
             READY && {wait}'"
        ),
    )?;
    Ok(prepared)
}

fn swap_on(bench: &Bench, path: &Path) -> Result<(), String> {
    let path = path.display();
    sh(&format!("mkswap {path} {SWAP_KIB} >/dev/null && swapon {path}"))?;
    bench.later(format!("swapoff {path}"));
    Ok(())
}

fn swap_device(bench: &Bench) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    swap_on(bench, &device)?;
    Ok(Prepared { changing: SWAP_PAGES, ..Prepared::new(device)? })
}

fn swap_partition(bench: &Bench, give_whole: bool) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    let (first, _) = bench.partition(&device);
    swap_on(bench, &first)?;
    let start = if give_whole { PARTITION_START } else { 0 };
    let changing = start + SWAP_PAGES.start..start + SWAP_PAGES.end;
    Ok(Prepared { changing, ..Prepared::new(if give_whole { device } else { first })? })
}

fn swap_file(bench: &Bench) -> Result<Prepared, String> {
    let path = bench.fresh("swap-file");
    fs::write(&path, vec![0; 16 << 20]).unwrap();
    sh(&format!("chmod 600 {}", path.display()))?;
    swap_on(bench, &path)?;
    Ok(Prepared { changing: SWAP_PAGES, ..Prepared::new(path)? })
}

fn loop_file(bench: &Bench) -> Result<Prepared, String> {
    let prepared = own_file(bench, false)?;
    bench.attach(&prepared.target);
    Ok(prepared)
}

fn loop_on_loop(bench: &Bench, remove_node: bool) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    let number = bench.system.block_node(&device).unwrap();
    let node = bench.fresh("node");
    sh(&format!("mknod {} b {} {}", node.display(), number.major, number.minor))?;
    bench.attach(if remove_node { &node } else { &device });
    fs::remove_file(&node).unwrap();
    Prepared::new(device)
}

fn loop_on_part(bench: &Bench) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    let (first, _) = bench.partition(&device);
    bench.attach(&first);
    Prepared::new(device)
}

fn luks(bench: &Bench) -> Result<Prepared, String> {
    let image = bench.image(64 * MIB);
    let (key, header) = (bench.fresh("key"), image.display());
    fs::write(&key, "matrix").unwrap();
    sh(&format!(
        "cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000 {header} {}",
        key.display()
    ))?;
    Prepared::new(bench.attach(&image))
}

fn lvm(bench: &Bench) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    let path = device.display();
    // Without the filter, LVM would read 128 KiB of every device, including those that other tests
    // measure or hold exclusively.
    let devices = format!(r#"use_devicesfile=0 global_filter=["a|^{path}$|","r|.*|"]"#);
    let config =
        format!("devices{{{devices}}} global{{event_activation=0}} backup{{backup=0 archive=0}}");
    sh(&format!("pvcreate -qq -y --config '{config}' {path} >/dev/null"))?;
    Prepared::new(device)
}

/// Device of 64 MiB with these bytes at these offsets.
fn magic(bench: &Bench, parts: &[(u64, &[u8])]) -> Result<Prepared, String> {
    let image = bench.image(64 * MIB);
    let file = File::options().write(true).open(&image).unwrap();
    for (offset, bytes) in parts {
        file.write_all_at(bytes, *offset).unwrap();
    }
    Prepared::new(bench.attach(&image))
}

/// A version-1 superblock of an array, with the checksum that probers demand: the sum of its words.
fn md(bench: &Bench, offset: u64) -> Result<Prepared, String> {
    let mut block = [0_u8; 256];
    block[..4].copy_from_slice(MD_MAGIC);
    block[4] = 1;
    block[144..152].copy_from_slice(&(offset / 512).to_le_bytes());
    let words =
        block.chunks_exact(4).map(|w| u64::from(u32::from_le_bytes([w[0], w[1], w[2], w[3]])));
    let sum: u64 = words.sum();
    let folded = (sum & 0xffff_ffff) + (sum >> 32);
    block[216..220].copy_from_slice(&(folded as u32).to_le_bytes());
    magic(bench, &[(offset, &block)])
}

fn zfs(bench: &Bench) -> Result<Prepared, String> {
    let uberblock = 0x00ba_b10c_u64.to_le_bytes();
    let places: Vec<(u64, &[u8])> =
        (0..32).map(|n| (128 * 1024 + n * 1024, &uberblock[..])).collect();
    magic(bench, &places)
}

fn backup_gpt(bench: &Bench) -> Result<Prepared, String> {
    let image = bench.image(64 * MIB);
    sh(&format!("sgdisk -n 1:0:0 {} >/dev/null", image.display()))?;
    let file = File::options().write(true).open(&image).unwrap();
    file.write_all_at(&vec![0; 1 << 20], 0).unwrap();
    Prepared::new(bench.attach(&image))
}

fn data_in_the_middle(bench: &Bench) -> Result<Prepared, String> {
    let image = bench.image(64 * MIB);
    let file = File::options().write(true).open(&image).unwrap();
    file.write_all_at(&vec![1; 32 << 20], 16 * MIB).unwrap();
    Prepared::new(bench.attach(&image))
}

fn read_only_device(bench: &Bench) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    sh(&format!("blockdev --setro {}", device.display()))?;
    bench.later(format!("blockdev --setrw {}", device.display()));
    Prepared::new(device)
}

fn python(bench: &Bench, path: &Path, lock: &str) -> Result<(), String> {
    let path = path.display();
    beside(
        bench,
        format!(
            "exec python3 -c \"
import fcntl, os, struct, time
f = os.open('{path}', os.O_RDWR | (os.O_EXCL if '{path}'.startswith('/dev/') else 0))
{lock}
open('READY', 'w')
while not os.path.exists('STOP'): time.sleep(0.05)
\""
        ),
    )
}

/// Another process opens the path for writing, without a claim or a lock.
fn opened(bench: &Bench, path: &Path) -> Result<(), String> {
    let line = format!(
        "exec 7<>{} && touch READY && while [ ! -e STOP ]; do sleep 0.05; done",
        path.display()
    );
    beside(bench, line)
}

fn held_device(bench: &Bench) -> Result<Prepared, String> {
    let device = bench.device(64 * MIB);
    python(bench, &device, "pass")?;
    Prepared::new(device)
}

fn locked_file(bench: &Bench, lock: &str) -> Result<Prepared, String> {
    let prepared = own_file(bench, false)?;
    python(bench, &prepared.target, lock)?;
    Ok(prepared)
}

fn hard_link(bench: &Bench) -> Result<Prepared, String> {
    let prepared = own_file(bench, false)?;
    fs::hard_link(&prepared.target, bench.fresh("second-name")).unwrap();
    Ok(prepared)
}

/// Measurement file of qdepth that would be accepted without the case's change.
fn own_file(bench: &Bench, break_label: bool) -> Result<Prepared, String> {
    let place = bench.fresh("own-file");
    fs::create_dir(&place).unwrap();
    let size = 4 * MIB;
    let wanted = Wanted {
        size_bytes: size,
        run_id: "matrix",
        now: jiff::Timestamp::now(),
        keep: true,
        direct: false,
    };
    let target = inspect(&bench.system, &place).unwrap();
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    let cleared = measurement_file::clear(&bench.system, &target, &wanted, 0).unwrap();
    drop(cleared.make(&wanted, go_on).unwrap());
    let path = place.join(measurement_file::NAME);
    if break_label {
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(b"\x01", size + 100).unwrap();
    }
    Prepared::new(path)
}
