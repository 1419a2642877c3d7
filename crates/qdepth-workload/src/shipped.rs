//! The plans and profiles that come with the program: the same files that are manual, examples and
//! fixtures, embedded.

macro_rules! embed {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $name, ".toml")))),+]
    };
}

const PLANS: &[(&str, &str)] = embed!("plans":
    "first", "disk-mark", "standard", "quick", "latency", "write-pressure", "devices", "arrays",
    "processes", "area", "options", "media-comparison", "bandwidth", "pts-iops", "pts-throughput",
    "pts-latency", "pts-wsat", "pts-hir", "pts-xsr", "fit", "fit-read");
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
/// The question that a shipped plan or profile answers: what its file begins with.
pub fn shipped_question(text: &str) -> String {
    let words = text.lines().map_while(|line| line.strip_prefix('#'));
    let all = words.map(str::trim).collect::<Vec<_>>().join(" ");
    // What the documents say of it is for those who change it.
    all.split(" (docs/method/checklist.md").next().unwrap_or_default().to_owned()
}
/// Names of the shipped profiles.
pub fn shipped_profile_names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}
/// The TOML text of a shipped profile.
pub fn shipped_profile_text(name: &str) -> Option<&'static str> {
    find(PROFILES, name)
}
