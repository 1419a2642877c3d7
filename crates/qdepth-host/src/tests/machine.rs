//! A simulated machine made of files, for tests of code that reads sysfs and procfs.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::loop_device::LoopHolds;
use crate::sysfs::DeviceNumber;
use crate::system::{Output, System};

pub(crate) struct FakeMachine {
    pub(crate) system: System,
    dir: tempfile::TempDir,
}

const PARTITION_SECTORS: u64 = 1_000_000;

impl FakeMachine {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let machine = Self { system: System::staged(dir.path()), dir };
        machine.file("/proc/self/mountinfo", "");
        machine.file("/proc/swaps", "Filename Type Size Used Priority\n");
        machine
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.system.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, path: &str, to: &str) {
        let path = self.system.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(to, path).unwrap();
    }

    /// Adds a disk of 1 GiB with its node; the minor number is derived from the name.
    pub(crate) fn disk(mut self, name: &str, number: &str) -> Self {
        self.add(name, number, &format!("devices/virtual/block/{name}"));
        self.link(&format!("/sys/block/{name}"), &format!("../devices/virtual/block/{name}"));
        self
    }

    pub(crate) fn partition(mut self, disk: &str, name: &str, number: &str) -> Self {
        let path = format!("devices/virtual/block/{disk}/{name}");
        self.add(name, number, &path);
        self.file(&format!("/sys/{path}/partition"), "1\n");
        // Each partition has about half of the disk.
        let number: u64 = name.trim_start_matches(disk).trim_matches('p').parse().unwrap_or(1);
        let start = 2048 + (number - 1) * PARTITION_SECTORS;
        self.file(&format!("/sys/{path}/start"), &format!("{start}\n"));
        self.file(&format!("/sys/{path}/size"), &format!("{PARTITION_SECTORS}\n"));
        self
    }

    fn add(&mut self, name: &str, number: &str, path: &str) {
        self.file(&format!("/sys/{path}/dev"), number);
        self.file(&format!("/sys/{path}/size"), "2097152\n");
        self.link(&format!("/sys/class/block/{name}"), &format!("../../{path}"));
        self.link(&format!("/sys/dev/block/{number}"), &format!("../../{path}"));
        let number: DeviceNumber = number.parse().unwrap();
        self.system = self.system.clone().with_node(&format!("/dev/{name}"), number);
    }

    pub(crate) fn attribute(self, name: &str, key: &str, text: &str) -> Self {
        self.file(&format!("/sys/class/block/{name}/{key}"), text);
        self
    }

    pub(crate) fn with_file(self, path: &str, text: &str) -> Self {
        self.file(path, text);
        self
    }

    pub(crate) fn with_output(mut self, command: &str, status: i32, stdout: &str) -> Self {
        let stdout = stdout.to_owned();
        let output = Output { status: Some(status), stdout, stderr: String::new() };
        self.system = self.system.with_output(command, output);
        self
    }

    pub(crate) fn with_loop(mut self, name: &str, holds: LoopHolds) -> Self {
        self.system = self.system.with_loop(name, holds);
        self
    }

    /// Answers of one command line, in sequence.
    pub(crate) fn with_outputs(mut self, line: &str, stdouts: &[&str]) -> Self {
        let output = |stdout: &&str| Output {
            status: Some(0),
            stdout: (*stdout).to_owned(),
            stderr: String::new(),
        };
        self.system = self.system.with_outputs(line, stdouts.iter().map(output));
        self
    }

    /// Adds an NVMe namespace below PCIe functions, root first, each with its speed and width.
    pub(crate) fn pcie(mut self, name: &str, number: &str, path: &[(&str, &str, &str)]) -> Self {
        let (controller, mut folder) = (name.trim_end_matches("n1"), "devices/pci".to_owned());
        for (address, speed, width) in path {
            folder = format!("{folder}/{address}");
            self.file(&format!("/sys/{folder}/current_link_speed"), speed);
            self.file(&format!("/sys/{folder}/current_link_width"), width);
        }
        let folder = format!("{folder}/nvme/{controller}/{name}");
        self.add(name, number, &folder);
        self.link(&format!("/sys/{folder}/device"), "..");
        self
    }

    /// Makes a disk an NVMe namespace with this number.
    pub(crate) fn nvme(self, name: &str, controller: &str, namespace: u32) -> Self {
        let path = format!("/sys/devices/virtual/nvme/{controller}");
        self.file(&format!("{path}/state"), "live\n");
        self.link(
            &format!("/sys/devices/virtual/block/{name}/device"),
            &format!("../../nvme/{controller}"),
        );
        self.attribute(name, "nsid", &format!("{namespace}\n"))
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }
}
