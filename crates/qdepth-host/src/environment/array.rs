//! Devices that are built on others: MD arrays, logical volumes, multipath.

use qdepth_record::{Observation, Reason};
use serde_json::Value;

use super::fact::{UNKNOWN, fact, file_fact, unless_empty};
use super::unknown::printed;
use crate::sysfs;
use crate::system::System;

/// Facts about the construction of a device; empty for a drive.
pub(super) fn facts(system: &System, name: &str) -> Vec<Observation> {
    let base = format!("/sys/class/block/{name}");
    if system.exists(format!("{base}/md")) {
        return md(system, name, &base);
    }
    if let Some(uuid) = system.read_trimmed(format!("{base}/dm/uuid")) {
        return mapped(system, name, &base, &uuid);
    }
    if name.starts_with("nvme") { paths_of_namespace(system, name) } else { Vec::new() }
}

/// MD (Documentation/admin-guide/md.rst, *MD devices in sysfs*).
fn md(system: &System, name: &str, base: &str) -> Vec<Observation> {
    let keys = [
        ("level", "level"),
        ("chunk_bytes", "chunk_size"),
        ("members", "raid_disks"),
        ("metadata", "metadata_version"),
        ("layout", "layout"),
        ("state", "array_state"),
        ("consistency_policy", "consistency_policy"),
        ("bitmap", "bitmap/location"),
        ("background_work", "sync_action"),
        ("degraded", "degraded"),
        ("stripe_cache", "stripe_cache_size"),
        ("uuid", "uuid"),
    ];
    // A stripe has no redundancy to restore, and therefore no such file.
    let optional = ["background_work", "degraded", "stripe_cache", "uuid", "bitmap"];
    let all =
        keys.iter().map(|(key, file)| file_fact(system, name, key, &format!("{base}/md/{file}")));
    all.filter(|seen| seen.value.is_ok() || !optional.contains(&&*seen.key)).collect()
}

/// Device mapper. The type (volume, multipath, encryption) is the beginning of the UUID.
fn mapped(system: &System, name: &str, base: &str, uuid: &str) -> Vec<Observation> {
    let source = format!("{base}/dm/uuid");
    let (prefix, _) = uuid.split_once('-').unwrap_or((uuid, ""));
    let kind = match prefix {
        "LVM" => "logical-volume",
        "mpath" => "multipath",
        "CRYPT" => "encrypted",
        other if other.starts_with("part") => "partition",
        other => other,
    };
    let mut facts = vec![
        fact(name, "kind", Ok(kind.to_owned()), &source),
        file_fact(system, name, "mapped_name", &format!("{base}/dm/name")),
    ];
    match prefix {
        "LVM" => facts.extend(volume(system, name, base)),
        "mpath" => facts.push(paths(system, name)),
        _ => {}
    }
    facts
}

/// The stripes of a logical volume, as LVM reports them.
fn volume(system: &System, name: &str, base: &str) -> Vec<Observation> {
    let args = [
        "--reportformat",
        "json",
        "--units",
        "b",
        "--nosuffix",
        "-o",
        "lv_name,vg_name,lv_dm_path,segtype,stripes,stripe_size,devices",
    ];
    let source = "lvs --reportformat json";
    let mapped = system.read_trimmed(format!("{base}/dm/name")).unwrap_or_default();
    let row = printed(system, "lvs", &args)
        .and_then(|text| row_of(&text, &format!("/dev/mapper/{mapped}")));
    let column = |key: &str, column: &str| {
        let lacks = || Reason::ToolLacks { tool: "lvs".to_owned(), name: column.to_owned() };
        let value = row.clone().and_then(|row| {
            unless_empty(row[column].as_str().unwrap_or_default().to_owned(), lacks())
        });
        fact(name, key, value, source)
    };
    vec![
        column("volume", "lv_name"),
        column("volume_group", "vg_name"),
        column("segment_type", "segtype"),
        column("stripes", "stripes"),
        column("stripe_bytes", "stripe_size"),
        column("extents", "devices"),
    ]
}

fn row_of(text: &str, path: &str) -> Result<Value, Reason> {
    let tool = "lvs".to_owned();
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(_) => return Err(Reason::ToolUnreadable { tool }),
    };
    let reports = json["report"].as_array().into_iter().flatten();
    let mut rows = reports.flat_map(|report| report["lv"].as_array().into_iter().flatten());
    rows.find(|row| row["lv_dm_path"].as_str() == Some(path))
        .cloned()
        .ok_or_else(|| Reason::ToolDoesNotList { tool, name: path.to_owned() })
}

/// Paths of a multipath device, each with its state.
fn paths(system: &System, name: &str) -> Observation {
    let source = format!("/sys/class/block/{name}/slaves");
    let path = |slave: &String| {
        let state = system.read_trimmed(format!("/sys/class/block/{slave}/device/state"));
        format!("{slave} {}", state.as_deref().unwrap_or(UNKNOWN))
    };
    let all: Vec<String> = sysfs::slaves_of(system, name).iter().map(path).collect();
    fact(name, "paths", unless_empty(all.join(", "), Reason::NoPath {}), &source)
}

/// Controllers that lead to one NVMe namespace, if there are several.
fn paths_of_namespace(system: &System, name: &str) -> Vec<Observation> {
    let controllers = sysfs::nvme_controllers(system, name);
    if controllers.len() < 2 {
        return Vec::new();
    }
    let path = |controller: &String| {
        let at = |key: &str| system.read_trimmed(format!("/sys/class/nvme/{controller}/{key}"));
        let unknown = || UNKNOWN.to_owned();
        let (by, state) = (at("transport"), at("state"));
        format!("{controller} {} {}", by.unwrap_or_else(unknown), state.unwrap_or_else(unknown))
    };
    let all: Vec<String> = controllers.iter().map(path).collect();
    let policy = format!("/sys/class/block/{name}/device/iopolicy");
    vec![
        fact(name, "paths", Ok(all.join(", ")), "/sys/class/nvme"),
        file_fact(system, name, "path_policy", &policy),
    ]
}
