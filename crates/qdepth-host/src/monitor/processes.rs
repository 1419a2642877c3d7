//! Other programs that use the CPUs or the disks, by name.

use std::collections::BTreeMap;

use crate::system::System;

/// Clock ticks per second in `/proc/PID/stat` (`USER_HZ`, 100 on every Linux platform).
const TICKS_PER_S: f64 = 100.0;
/// Shares of a CPU, and bytes per second, below which a program is not reported.
const CPU_MIN: f64 = 0.05;
const BYTES_MIN: f64 = 1e6;
/// Largest number of programs that are named.
const NAMED: usize = 3;
/// Number of processes above which none is examined: reading two files of each, before and after
/// each segment, would itself be a load.
const PROCESSES_MAX: usize = 1000;

/// Resources used so far by each process except this one; `None` if they were not examined.
#[derive(Clone, Debug, Default)]
pub struct Processes(Option<BTreeMap<u32, Used>>);

#[derive(Clone, Debug)]
struct Used {
    name: String,
    /// Start, in ticks since boot: the number of a process that ended is used again.
    started: u64,
    ticks: u64,
    /// Bytes read and written below the page cache; `None` if only root may read them.
    bytes: Option<u64>,
}

impl Processes {
    /// Reads `/proc/*/stat` and, if permitted, `/proc/*/io`; nothing on a host with more than 1,000
    /// processes.
    pub fn sample(system: &System) -> Self {
        let own = std::process::id();
        let numbers = system.list_dir("/proc").unwrap_or_default();
        let numbers = numbers.iter().filter_map(|name| name.parse().ok());
        let others: Vec<u32> = numbers.filter(|number| *number != own).collect();
        let looked_at = (others.len() <= PROCESSES_MAX).then_some(others);
        let used = |number| Some((number, used(system, number)?));
        Self(looked_at.map(|others| others.into_iter().filter_map(used).collect()))
    }

    /// The busiest programs between two samples `seconds` apart, for example `dd 45 % CPU, 210
    /// MB/s; …`; empty if none used much. Also empty if a sample is missing, because a single count
    /// covers the whole life of a process.
    pub fn busiest_since(&self, before: &Self, seconds: f64) -> String {
        let (Some(all), Some(before)) = (&self.0, &before.0) else { return String::new() };
        let mut by_name: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (number, now) in all {
            let then = before.get(number).filter(|then| then.started == now.started);
            let ticks = now.ticks.saturating_sub(then.map_or(0, |then| then.ticks));
            let bytes_then = then.and_then(|then| then.bytes).unwrap_or(0);
            let bytes = now.bytes.unwrap_or(0).saturating_sub(bytes_then);
            let entry = by_name.entry(&now.name).or_default();
            entry.0 += ticks as f64 / TICKS_PER_S / seconds.max(1e-3);
            entry.1 += bytes as f64 / seconds.max(1e-3);
        }
        let mut busy: Vec<(&str, f64, f64)> = by_name
            .into_iter()
            .map(|(name, (cpu, bytes))| (name, cpu, bytes))
            .filter(|(_, cpu, bytes)| *cpu >= CPU_MIN || *bytes >= BYTES_MIN)
            .collect();
        busy.sort_by(|(_, cpu, bytes), (_, other_cpu, other_bytes)| {
            other_cpu.total_cmp(cpu).then(other_bytes.total_cmp(bytes))
        });
        let text = |(name, cpu, bytes): &(&str, f64, f64)| {
            let cpu = (*cpu >= CPU_MIN).then(|| format!("{:.0} % CPU", cpu * 100.0));
            let bytes = (*bytes >= BYTES_MIN).then(|| format!("{:.0} MB/s", bytes / 1e6));
            let used: Vec<String> = cpu.into_iter().chain(bytes).collect();
            format!("{name} {}", used.join(", "))
        };
        busy.iter().take(NAMED).map(text).collect::<Vec<_>>().join("; ")
    }
}

fn used(system: &System, number: u32) -> Option<Used> {
    let stat = system.read_file(format!("/proc/{number}/stat")).ok()?;
    // The name may contain parentheses and spaces, so it ends at the last parenthesis.
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11).map(str::parse::<u64>);
    let ticks = fields.next()?.ok()?.saturating_add(fields.next()?.ok()?);
    let started = fields.nth(6)?.ok()?;
    let io = system.read_file(format!("/proc/{number}/io")).ok();
    let bytes = io.map(|text| {
        let lines = text.lines().filter_map(|line| {
            line.strip_prefix("read_bytes: ").or_else(|| line.strip_prefix("write_bytes: "))
        });
        lines.filter_map(|count| count.trim().parse::<u64>().ok()).fold(0, u64::saturating_add)
    });
    Some(Used { name: name.to_owned(), started, ticks, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::FakeMachine;

    fn machine(number: u32, name: &str, ticks: u64, written: u64) -> FakeMachine {
        started_at(77, number, name, ticks, written)
    }

    fn started_at(start: u64, number: u32, name: &str, ticks: u64, written: u64) -> FakeMachine {
        let zeros = "0 ".repeat(10);
        let stat = format!("{number} ({name}) S {zeros}{ticks} {ticks} 0 0 20 0 1 0 {start}\n");
        let io = format!("rchar: 9\nread_bytes: 0\nwrite_bytes: {written}\n");
        FakeMachine::new()
            .with_file(&format!("/proc/{number}/stat"), &stat)
            .with_file(&format!("/proc/{number}/io"), &io)
    }

    #[test]
    fn busy_programs_are_named_with_their_usage() {
        let at = |ticks, written| {
            Processes::sample(&machine(4_000_000, "a (b) c", ticks, written).system)
        };
        // 200 ticks in user and kernel mode, and 400 MB, in 4 s.
        assert_eq!(
            at(100, 400_000_000).busiest_since(&at(0, 0), 4.0),
            "a (b) c 50 % CPU, 100 MB/s"
        );
        assert_eq!(at(2, 1000).busiest_since(&at(0, 0), 4.0), "");
        // A new process with the same number has used its resources in this interval.
        let other = Processes::sample(&started_at(76, 4_000_000, "x", 50, 0).system);
        assert_eq!(at(100, 0).busiest_since(&other, 4.0), "a (b) c 50 % CPU");
        // Kernel threads change their names.
        let renamed = Processes::sample(&machine(4_000_000, "kworker/0:1+x", 50, 0).system);
        assert_eq!(at(100, 0).busiest_since(&renamed, 4.0), "a (b) c 25 % CPU");
    }

    #[test]
    fn host_with_too_many_processes_is_not_sampled() {
        let stat = |number: usize| (format!("/proc/{number}/stat"), "1 (x) S 0 0\n".to_owned());
        let with = |count: usize| {
            let files = (1..=count).map(|number| stat(4_000_000 + number));
            files.fold(FakeMachine::new(), |machine, (path, text)| machine.with_file(&path, &text))
        };
        let zeros = "0 ".repeat(19);
        let busy = with(PROCESSES_MAX - 1)
            .with_file("/proc/3999999/stat", &format!("3999999 (x) S {zeros}\n"));
        let few = Processes::sample(&busy.system);
        assert_eq!(few.0.as_ref().unwrap().len(), 1);
        let more = busy.with_file("/proc/3999998/stat", "1 (x) S 0 0\n");
        assert!(Processes::sample(&more.system).0.is_none());
        // Some processes ended in between; what the others used before does not count.
        let after = Processes::sample(&machine(3_999_999, "x", 900, 0).system);
        assert_eq!(after.busiest_since(&Processes::sample(&more.system), 1.0), "");
        assert_eq!(after.busiest_since(&few, 1.0), "x 1800 % CPU");
    }

    #[test]
    fn own_process_is_not_sampled() {
        let all = Processes::sample(&System::real());
        let all = all.0.unwrap();
        assert!(!all.contains_key(&std::process::id()) && !all.is_empty());
    }
}
