//! File systems: mount point, options, and units of storage.

use std::collections::BTreeSet;
use std::path::Path;

use qdepth_record::{Observation, Reason};

use super::fact::{fact, unless_empty};
use super::unknown::{printed, unreadable};
use crate::mounts::{self, Mount};
use crate::system::System;
use crate::target::FileSystem;

/// File systems that many machines share, each with the command that shows its striping, if there
/// is one (`DIR` is the mount point).
const SHARED: [(&str, &[&str]); 7] = [
    ("lustre", &["lfs", "getstripe", "-d", "DIR"]),
    ("beegfs", &["beegfs-ctl", "--getentryinfo", "DIR"]),
    ("ceph", &["getfattr", "-n", "ceph.dir.layout", "--only-values", "DIR"]),
    ("gpfs", &[]),
    ("nfs", &[]),
    ("nfs4", &[]),
    ("cifs", &[]),
];

pub(super) fn of_target(system: &System, found: &FileSystem) -> Vec<Observation> {
    let source = "/proc/self/mountinfo";
    let mount = found.mount_point.display().to_string();
    let observation = |key: &str, value: &str| {
        let value = unless_empty(value.to_owned(), Reason::MountNotFound {});
        fact("file_system", key, value, source)
    };
    let devices = unless_empty(found.devices.join(" "), Reason::NoBlockDevice {});
    let mut facts = vec![
        observation("type", &found.kind),
        observation("mount_point", &mount),
        observation("source", &found.source),
        observation("options", &found.options),
        fact("file_system", "devices", devices, source),
    ];
    facts.extend(units(system, "file_system", &found.kind, &found.mount_point));
    facts
}

/// Every file system on storage, once, at its first mount point.
pub(super) fn mounted(system: &System) -> Vec<Observation> {
    let mounts = mounts::own(system);
    let mut seen = BTreeSet::new();
    let stored = mounts.iter().filter(|mount| {
        mount.source.starts_with('/') || SHARED.iter().any(|(kind, _)| *kind == mount.kind)
    });
    let first = stored.filter(|mount| seen.insert((mount.number, mount.source.clone())));
    first.flat_map(|mount| of_mount(system, mount)).collect()
}

fn of_mount(system: &System, mount: &Mount) -> Vec<Observation> {
    let subject = format!("mount {}", mount.mount_point.display());
    let source = "/proc/self/mountinfo";
    let devices: Vec<String> = mounts::devices_below(system, mount).into_iter().collect();
    let devices = unless_empty(devices.join(" "), Reason::NoBlockDevice {});
    let mut facts = vec![
        fact(&subject, "type", Ok(mount.kind.clone()), source),
        fact(&subject, "source", Ok(mount.source.clone()), source),
        fact(&subject, "options", Ok(mount.options.clone()), source),
        fact(&subject, "devices", devices, source),
    ];
    facts.extend(units(system, &subject, &mount.kind, &mount.mount_point));
    facts
}

/// Block and stripe size of a shared file system.
fn units(system: &System, subject: &str, kind: &str, mount_point: &Path) -> Vec<Observation> {
    let Some((_, command)) = SHARED.iter().find(|(known, _)| *known == kind) else {
        return Vec::new();
    };
    let path = mount_point.display().to_string();
    // GPFS reports its block size there, other file systems their preferred I/O size.
    let size = match system.file_system_block(mount_point) {
        Err(error) => Err(unreadable(&path, &error)),
        Ok(None) => Err(Reason::NotRecorded {}),
        Ok(Some(bytes)) => Ok(bytes.to_string()),
    };
    let mut facts = vec![fact(subject, "block_size_bytes", size, "statfs(2)")];
    if let [program, words @ ..] = command {
        let args: Vec<&str> =
            words.iter().map(|word| if *word == "DIR" { path.as_str() } else { word }).collect();
        let layout = printed(system, program, &args)
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        facts.push(fact(subject, "striping", layout, &crate::system::line(program, &args)));
    }
    facts
}
