//! The plans and profiles that come with the program: the same files that are manual, examples and
//! fixtures, embedded.

macro_rules! embed {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, ".toml")))),+]
    };
}

const PLANS: &[(&str, &str)] = embed!("plans":
    "first", "disk-mark", "standard", "quick", "latency", "write-pressure", "isolation", "devices",
    "arrays", "saturation", "processes", "area", "options", "frequency", "media-comparison",
    "bandwidth", "metadata", "pts-iops", "pts-throughput", "pts-latency", "pts-wsat", "pts-hir",
    "pts-xsr",
    "answer",
    "etcd", "postgres-wal", "mysql-redo", "kafka",
    "redis-aof", "rocksdb", "sqlite", "fit", "fit-read");
const PROFILES: &[(&str, &str)] = embed!("profiles":
    "database", "file-server", "file-copy", "streaming", "restore",
    "latency-read", "latency-write", "jesd219",
    "random-4k-read", "random-4k-mixed", "random-4k-write",
    "random-8k-read", "random-8k-mixed", "random-8k-write",
    "random-64k-read", "random-64k-mixed", "random-64k-write",
    "sequential-1m-read", "sequential-1m-write");

fn find(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Names of the shipped plans.
pub fn shipped_plan_names() -> impl Iterator<Item = &'static str> {
    PLANS.iter().map(|(name, _)| *name)
}
/// The TOML text of a shipped plan.
pub fn shipped_plan_text(name: &str) -> Option<&'static str> {
    find(PLANS, name)
}
/// The title of a shipped plan or profile.
pub fn shipped_title(text: &str) -> &str {
    let titles = text.lines().filter_map(|line| line.strip_prefix("title = \""));
    titles.filter_map(|rest| rest.strip_suffix('"')).next().unwrap_or_default()
}
/// Names of the shipped profiles.
pub fn shipped_profile_names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}
/// The TOML text of a shipped profile.
pub fn shipped_profile_text(name: &str) -> Option<&'static str> {
    find(PROFILES, name)
}
