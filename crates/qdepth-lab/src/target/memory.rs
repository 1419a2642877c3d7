//! Checks before any claim that there is enough memory for the requests in flight: the kernel kills
//! a process if its control group has no memory left.

use anyhow::{Result, bail};
use qdepth_host::system::System;
use qdepth_measure::Bytes;
use qdepth_workload::{Plan, Point, map_bytes};

use crate::failure::Missing;

/// A version of control groups: location of its memory figures.
struct ControlGroups {
    /// Text before the path of the process's own group.
    before: &'static str,
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Name in `memory.stat` of file pages that the group can reclaim.
    cached: &'static str,
}

const GROUPS: [ControlGroups; 2] = [
    ControlGroups {
        before: "0::",
        root: "/sys/fs/cgroup",
        limit: "memory.max",
        used: "memory.current",
        cached: "inactive_file",
    },
    ControlGroups {
        before: ":memory:",
        root: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        used: "memory.usage_in_bytes",
        cached: "total_inactive_file",
    },
];

/// Most bytes for the I/Os in flight of a stream with more than one: a typing error must not take
/// all memory. Several streams or points at a time may take more, as people ask for: 16 jobs of 64
/// I/Os of 1 MiB.
const IN_FLIGHT_MAX: u64 = 512 << 20;

/// Compares the memory that the plan's points need at the same time with the limit of the program
/// and with the available memory.
pub(crate) fn is_enough(system: &System, plan: &Plan) -> Result<()> {
    let groups = plan.precondition_groups().chain(plan.groups());
    let of_point = |point: &Point| in_flight(point).saturating_add(map_bytes(point));
    let of_group = |group: &[Point]| group.iter().map(of_point).fold(0, u64::saturating_add);
    let needed = groups.map(of_group).max().unwrap_or(0);
    let of_stream = |point: &Point| u64::from(point.queue_depth).saturating_mul(bytes(point));
    let is_deep = |point: &&Point| point.queue_depth > 1 && of_stream(point) > IN_FLIGHT_MAX;
    if let Some(point) = plan.precondition.iter().chain(&plan.points).find(is_deep) {
        bail!(Missing(format!(
            "the I/Os in flight of a stream need {} of memory ({} × queue depth {}), but at most \
             {} are supported with a queue depth above 1; nothing was changed. Use a lower \
             --queue-depth or a smaller --block-size",
            Bytes(of_stream(point)),
            Bytes(point.buffer_bytes().into()),
            point.queue_depth,
            Bytes(IN_FLIGHT_MAX),
        )));
    }
    let Some((left, holder)) = left(system) else { return Ok(()) };
    if needed > left {
        let has_maps = plan.points.iter().any(|point| map_bytes(point) > 0);
        let maps = " and the maps of covered blocks (none with `norandommap`)";
        bail!(Missing(format!(
            "the I/Os in flight{} need {} of memory, but {holder} has only {} left; nothing was \
             changed. Use a lower --queue-depth or a smaller --block-size, or raise the limit",
            if has_maps { maps } else { "" },
            Bytes(needed),
            Bytes(left),
        )));
    }
    Ok(())
}

/// Bytes of the buffers of a point's requests.
fn in_flight(point: &Point) -> u64 {
    let slots = u64::from(point.streams).saturating_mul(u64::from(point.queue_depth));
    let slots = slots.saturating_mul(1 + u64::from(point.has_write_buffers()));
    slots.saturating_mul(bytes(point))
}

/// Bytes of a buffer.
fn bytes(point: &Point) -> u64 {
    u64::from(point.buffer_bytes()).next_multiple_of(4096)
}

/// Available bytes, and whose limit that is; `None` if unknown.
fn left(system: &System) -> Option<(u64, &'static str)> {
    let memory = system.read_file("/proc/meminfo").ok();
    let free = memory.as_deref().and_then(|text| figure(text, "MemAvailable:"));
    let free = free.map(|kib| (kib.saturating_mul(1024), "the machine"));
    let own = system.read_file("/proc/self/cgroup").unwrap_or_default();
    let groups = GROUPS.iter().filter_map(|group| {
        let line =
            own.lines().find_map(|line| line.split_once(group.before).map(|(_, path)| path))?;
        // The limit of any parent group applies, too.
        let above =
            std::iter::successors(Some(line), |path| path.rsplit_once('/').map(|(up, _)| up));
        above.filter_map(|path| of_group(system, path.trim_end_matches('/'), group)).min()
    });
    let groups = groups.map(|bytes| (bytes, "the control group"));
    groups.chain(free).min()
}

fn of_group(system: &System, path: &str, groups: &ControlGroups) -> Option<u64> {
    let ControlGroups { root, limit, used, cached, .. } = groups;
    let read = |name: &str| system.read_trimmed(format!("{root}{path}/{name}"));
    // Without a limit the file holds a word instead of a number.
    let limit: u64 = read(limit)?.parse().ok()?;
    let used: u64 = read(used)?.parse().ok()?;
    let cached = read("memory.stat").and_then(|text| figure(&text, cached)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

/// The number after `word` at the beginning of a line.
fn figure(text: &str, word: &str) -> Option<u64> {
    let lines = text.lines().map(str::split_whitespace);
    lines
        .filter_map(|mut words| (words.next()? == word).then(|| words.next())?)
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files of their own")]
mod tests {
    use qdepth_workload::{
        Choices, Distribution, Extent, PlanFile, TargetShape, resolve, shipped_plan_text,
    };

    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let system = System::staged(root.path());
        (root, system)
    }

    #[test]
    fn smallest_memory_limit_of_all_cgroups_counts() {
        let info = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n");
        let (_root, system) = machine(&[info]);
        assert_eq!(left(&system), Some((8000 << 10, "the machine")));
        let (_root, system) = machine(&[
            info,
            ("proc/self/cgroup", "4:memory:/x\n0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "7\n"),
            ("sys/fs/cgroup/a/memory.max", "100000\n"),
            ("sys/fs/cgroup/a/memory.current", "90000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 20000\n"),
        ]);
        assert_eq!(left(&system), Some((30_000, "the control group")));
        assert_eq!(left(&machine(&[]).1), None);
    }

    #[test]
    fn deep_queue_of_huge_blocks_is_refused() {
        let file: PlanFile = shipped_plan_text("quick").unwrap().parse().unwrap();
        let whole = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 40 }, 512);
        let (_root, system) = machine(&[]);
        for (block_size, queue_depth, fits) in
            [("16MiB", 32, true), ("16MiB", 33, false), ("1GiB", 1, true), ("1GiB", 2, false)]
        {
            let choices = Choices {
                queue_depth: Some(vec![queue_depth]),
                block_size: Some(block_size.parse().unwrap()),
                ..Choices::default()
            };
            let plan = resolve(&file, &choices, std::slice::from_ref(&whole)).unwrap();
            let answer = is_enough(&system, &plan);
            assert_eq!(answer.is_ok(), fits, "{block_size} × {queue_depth}: {answer:?}");
        }
    }

    #[test]
    fn maps_of_covered_blocks_need_memory() {
        let file: PlanFile = shipped_plan_text("quick").unwrap().parse().unwrap();
        let whole = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 40 }, 512);
        let mut plan = resolve(&file, &Choices::default(), &[whole]).unwrap();
        let (_root, system) = machine(&[("proc/meminfo", "MemAvailable: 32000 kB\n")]);
        plan.points.truncate(1);
        let point = &mut plan.points[0];
        (point.alignment_bytes, point.queue_depth, point.streams) = (4096, 1, 2);
        point.area = Extent { offset_bytes: 0, length_bytes: 1 << 40 };
        point.block_size.sizes = vec![(4096, 1), (8192, 1)];
        is_enough(&system, &plan).unwrap();
        plan.points[0].distribution = Distribution::EachOnce;
        let error = is_enough(&system, &plan).unwrap_err().to_string();
        assert!(error.contains("34119810B") && error.contains("norandommap"), "{error}");
    }

    #[test]
    fn plan_without_enough_memory_is_refused() {
        let file: PlanFile = shipped_plan_text("quick").unwrap().parse().unwrap();
        let choices = Choices { queue_depth: Some(vec![1024]), ..Choices::default() };
        let whole = TargetShape::whole(Extent { offset_bytes: 0, length_bytes: 1 << 40 }, 512);
        let plan = resolve(&file, &choices, &[whole]).unwrap();
        let (_root, system) = machine(&[("proc/meminfo", "MemAvailable: 100 kB\n")]);
        let error = is_enough(&system, &plan).unwrap_err();
        assert!(error.is::<Missing>() && error.to_string().contains("--queue-depth"), "{error}");
        let (_root, system) = machine(&[("proc/meminfo", "MemAvailable: 99000000 kB\n")]);
        is_enough(&system, &plan).unwrap();
    }
}
