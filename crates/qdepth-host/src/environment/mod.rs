//! Inventory of the machine and its storage: facts with their sources. A fact that cannot be read
//! is kept with the reason.

mod array;
pub mod cpu;
mod device;
mod fact;
mod file_system;
pub mod health;
mod memory;
mod software;
mod unknown;

use std::collections::BTreeSet;

use qdepth_record::Observation;
use sha2::{Digest, Sha256};

use crate::sysfs;
use crate::system::System;
use crate::target::{Inspected, Kind};

pub use device::device_facts;
pub(crate) use device::sensor;
pub(crate) use unknown::{error_output, unreadable};

/// Facts of this machine: CPU, memory, kernel, system, hypervisor, clock.
pub fn observe(system: &System) -> Vec<Observation> {
    let mut facts = software::software(system);
    facts.extend(cpu::cpu(system));
    facts.extend(memory::memory(system));
    facts
}

/// Facts about the machine and all of its storage: devices, arrays, file systems.
pub fn inventory(system: &System) -> Vec<Observation> {
    let mut facts = observe(system);
    for name in storage(system) {
        facts.extend(of_device(system, &name));
    }
    facts.extend(file_system::mounted(system));
    facts
}

/// Whole block devices in use, without empty loop devices and RAM disks.
pub fn storage(system: &System) -> Vec<String> {
    let holds = |name: &String| {
        let size = system.read_trimmed(format!("/sys/block/{name}/size"));
        !name.starts_with("ram") && size.is_some_and(|sectors| sectors != "0")
    };
    sysfs::whole_devices(system).into_iter().filter(holds).collect()
}

/// Facts of a target and of the storage below it, down to the drives.
pub fn target_facts(system: &System, target: &Inspected) -> Vec<Observation> {
    let mut facts = Vec::new();
    match &target.kind {
        Kind::BlockDevice(_) => {}
        Kind::RegularFile { file_system, .. } | Kind::Directory(file_system) => {
            facts.extend(file_system::of_target(system, file_system));
        }
    }
    for name in with_all_below(system, target.devices()) {
        facts.extend(of_device(system, &name));
    }
    facts
}

fn of_device(system: &System, name: &str) -> Vec<Observation> {
    let mut facts = device_facts(system, name);
    facts.extend(array::facts(system, name));
    facts
}

/// Devices and everything that they are built on, each once, upper devices first.
pub fn with_all_below(system: &System, names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    let mut left: Vec<String> = names.into_iter().rev().collect();
    while let Some(name) = left.pop() {
        if seen.insert(name.clone()) {
            left.extend(sysfs::slaves_of(system, &name).into_iter().rev());
            all.push(name);
        }
    }
    all
}

/// Replaces names of this machine or its owner (host name, serials, UUIDs, network sources) with
/// pseudonyms. The same name gets the same pseudonym everywhere.
pub fn redact(facts: &mut [Observation]) {
    let names: BTreeSet<String> = facts
        .iter()
        .filter(|fact| is_name(fact))
        .filter_map(|fact| fact.value.clone().ok())
        .filter(|name| name.len() >= 4)
        .collect();
    for fact in facts {
        let texts = match &mut fact.value {
            Ok(value) => vec![value],
            Err(reason) => reason.values_mut(),
        };
        for text in texts {
            for name in &names {
                if text.contains(name.as_str()) {
                    *text = text.replace(name.as_str(), &mark(name));
                }
            }
        }
    }
}

fn is_name(fact: &Observation) -> bool {
    let key = fact.key.as_str();
    match fact.subject.as_str() {
        "host" => key == "name",
        "identity" => matches!(key, "machine" | "storage" | "file_system"),
        _ => matches!(key, "serial" | "wwid" | "uuid"),
    }
}

/// The first 8 digits of the SHA-256 of a name.
fn mark(name: &str) -> String {
    let digest = Sha256::digest(name);
    let hex: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("redacted-{hex}")
}
