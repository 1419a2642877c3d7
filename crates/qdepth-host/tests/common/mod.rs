//! Test bench of real loop devices, always undone in reverse order.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use qdepth_host::consent::{self, Consent};
use qdepth_host::guard::{Claim, Writing, clear_for_writing};
use qdepth_host::system::System;
use qdepth_host::target::{Inspected, inspect};
use qdepth_host::{Guard, Problem};
use sha2::{Digest, Sha256};

pub(crate) const MIB: u64 = 1 << 20;

/// Runs a shell line; returns its output, or the error text.
pub(crate) fn sh(line: &str) -> Result<String, String> {
    let output = System::real().run("sh", &["-c", line]).map_err(|error| error.to_string())?;
    match output.status {
        Some(0) => Ok(output.stdout.trim().to_owned()),
        status => Err(format!("`{line}` ended with {status:?}: {}", output.stderr.trim())),
    }
}

/// Claims a single target.
pub(crate) fn claim_for_writing(
    system: &System,
    target: &Inspected,
    consent: Option<&Consent>,
    writing: &Writing<'_>,
) -> Result<Claim, Problem> {
    Ok(clear_for_writing(system, target, consent, writing)?.claim(writing)?)
}

pub(crate) fn has(tool: &str) -> bool {
    sh(&format!("command -v {tool}")).is_ok()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(crate) struct Bench {
    pub(crate) system: System,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) results: tempfile::TempDir,
    undo: RefCell<Vec<String>>,
    count: RefCell<u32>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.undo_all();
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            system: System::real(),
            dir: tempfile::tempdir().unwrap(),
            results: tempfile::tempdir().unwrap(),
            undo: RefCell::default(),
            count: RefCell::new(0),
        }
    }

    pub(crate) fn undo_all(&self) {
        while let Some(line) = self.undo.borrow_mut().pop() {
            // Another process, for example udev, may keep the device busy for a moment.
            let again = format!("for i in $(seq 30); do {{ {line}; }} && exit 0; sleep 0.1; done");
            if let Err(error) = sh(&format!("{again}; exit 1")) {
                println!("UNDO FAILED: {error}");
            }
        }
    }

    pub(crate) fn later(&self, line: impl Into<String>) {
        self.undo.borrow_mut().push(line.into());
    }

    pub(crate) fn fresh(&self, name: &str) -> PathBuf {
        *self.count.borrow_mut() += 1;
        self.dir.path().join(format!("{}-{name}", self.count.borrow()))
    }

    pub(crate) fn image(&self, size: u64) -> PathBuf {
        let path = self.fresh("image");
        File::create(&path).unwrap().set_len(size).unwrap();
        path
    }

    pub(crate) fn attach(&self, image: &Path) -> PathBuf {
        let node = sh(&format!("losetup -f --show {}", image.display())).unwrap();
        self.later(format!("losetup -d {node}"));
        PathBuf::from(node)
    }

    /// Loop device with a high number, so that another test's search for a free device does not
    /// take it while it is detached and attached again.
    pub(crate) fn attach_apart(&self, image: &Path) -> PathBuf {
        *self.count.borrow_mut() += 1;
        let number = 1000 + std::process::id() % 50_000 * 20 + *self.count.borrow() % 20;
        let node = format!("/dev/loop{number}");
        sh(&format!("losetup {node} {}", image.display())).unwrap();
        let remove =
            "import fcntl, sys; fcntl.ioctl(open('/dev/loop-control'), 0x4C81, int(sys.argv[1]))";
        self.later(format!("losetup -d {node}; python3 -c \"{remove}\" {number}"));
        PathBuf::from(node)
    }

    /// A blank loop device.
    pub(crate) fn device(&self, size: u64) -> PathBuf {
        self.attach(&self.image(size))
    }

    /// An empty directory, as text.
    pub(crate) fn mount_place(&self) -> String {
        let place = self.fresh("mount");
        fs::create_dir(&place).unwrap();
        place.display().to_string()
    }

    pub(crate) fn mount(&self, what: &Path) -> PathBuf {
        let place = PathBuf::from(self.mount_place());
        sh(&format!("mount -o ro {} {} && sync", what.display(), place.display())).unwrap();
        self.later(format!("umount {}", place.display()));
        place
    }

    /// Creates a GPT with two partitions that the kernel knows; returns their nodes.
    pub(crate) fn partition(&self, device: &Path) -> (PathBuf, PathBuf) {
        let node = device.display();
        sh(&format!("sgdisk -n 1:1M:+40M -n 2:0:+10M {node} && partx -u {node}")).unwrap();
        self.later(format!("partx -d {node}"));
        (PathBuf::from(format!("{node}p1")), PathBuf::from(format!("{node}p2")))
    }

    pub(crate) fn writing(&self) -> Writing<'_> {
        Writing {
            run_id: "matrix",
            now: Timestamp::now(),
            results_dir: self.results.path(),
            direct: true,
        }
    }

    pub(crate) fn consent(&self, target: &Inspected, overwrite: &[&str]) -> Option<Consent> {
        let device = target.block_device()?;
        let token = consent::tokens(&self.system, device).remove(0);
        let last: String = token.chars().skip(token.chars().count() - 4).collect();
        let overwrite: Vec<String> = overwrite.iter().map(|name| (*name).to_owned()).collect();
        Some(Consent::on_terminal(&self.system, device, &token, &last, &overwrite).unwrap())
    }

    pub(crate) fn claim(&self, path: &Path, with_consent: bool) -> Result<Claim, Problem> {
        let target = inspect(&self.system, path)?;
        let consent = if with_consent { self.consent(&target, &[]) } else { None };
        claim_for_writing(&self.system, &target, consent.as_ref(), &self.writing())
    }

    /// Other names of a device or file: description, path, and a descriptor that keeps the path
    /// valid.
    pub(crate) fn spellings(&self, path: &Path) -> Vec<(&'static str, PathBuf, Option<OwnedFd>)> {
        let (link, chain) = (self.fresh("by-id-link"), self.fresh("link-to-a-link"));
        symlink(path, &link).unwrap();
        symlink(&link, &chain).unwrap();
        let here = std::env::current_dir().unwrap();
        let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
        let relative = up.join(path.strip_prefix("/").unwrap());
        let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
        // By process id instead of `self`, so that child processes can use the names.
        let process = format!("/proc/{}", std::process::id());
        let by_fd = PathBuf::from(format!("{process}/fd/{}", fd.as_raw_fd()));
        let by_root = PathBuf::from(format!("{process}/root{}", path.display()));
        let folder = path.parent().unwrap();
        let dots = folder.join(".").join("..").join(folder.file_name().unwrap_or_default());
        let dots = PathBuf::from(format!("{}//{}", dots.display(), file_name(path)));
        let bound = self.fresh("bound-node");
        if path.is_dir() {
            fs::create_dir(&bound).unwrap();
        } else {
            File::create(&bound).unwrap();
        }
        sh(&format!("mount --bind {} {}", path.display(), bound.display())).unwrap();
        self.later(format!("umount {}", bound.display()));
        let mut all = vec![
            ("kernel name", path.to_owned(), None),
            ("by-id link", link, None),
            ("link to a link", chain, None),
            ("relative path", relative, None),
            ("path with dots", dots, None),
            ("root of a process", by_root, None),
            ("descriptor", by_fd, Some(fd)),
            ("bind-mounted node", bound, None),
        ];
        if let Some(number) = self.system.block_node(path) {
            let copy = self.fresh("node-copy");
            sh(&format!("mknod {} b {} {}", copy.display(), number.major, number.minor)).unwrap();
            all.push(("mknod copy", copy, None));
        }
        all
    }
}

fn file_name(path: &Path) -> std::path::Display<'_> {
    Path::new(path.file_name().unwrap()).display()
}

/// Offset of the first partition that [`Bench::partition`] creates, bytes.
pub(crate) const PARTITION_START: u64 = MIB;
/// Size of the tests' swap areas, the smallest that `mkswap` makes, KiB.
pub(crate) const SWAP_KIB: u64 = 40;
/// Bytes of such an area that the kernel writes at any moment while it is in use: all but its
/// header.
pub(crate) const SWAP_PAGES: Range<u64> = 4096..SWAP_KIB << 10;

/// SHA-256 of all bytes of a device or file.
pub(crate) fn checksum(path: &Path) -> String {
    checksum_without(path, &(0..0))
}

/// SHA-256 of a device or file without some bytes.
pub(crate) fn checksum_without(path: &Path, without: &Range<u64>) -> String {
    let mut file = File::open(path).unwrap();
    let mut hash = Sha256::new();
    hash_rest(&mut (&mut file).take(without.start), &mut hash);
    file.seek(SeekFrom::Start(without.end)).unwrap();
    hash_rest(&mut file, &mut hash);
    format!("{:?}", hash.finalize())
}

fn hash_rest(from: &mut impl Read, hash: &mut Sha256) {
    let mut buffer = vec![0; 1 << 20];
    loop {
        match from.read(&mut buffer).unwrap() {
            0 => return,
            length => hash.update(&buffer[..length]),
        }
    }
}

/// Guard that refused, and its message; any other outcome is an error.
pub(crate) fn refused(result: Result<Claim, Problem>) -> Result<(Guard, String), String> {
    match result {
        Err(Problem::Refused(refusal)) => Ok((refusal.guard, refusal.to_string())),
        Err(Problem::Failed(failure)) => Err(format!("failed: {failure}")),
        Ok(claim) => Err(format!("ACCEPTED {}", claim.identity)),
    }
}
