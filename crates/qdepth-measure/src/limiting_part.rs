//! Judgement of the part that limits drives that are added one by one.

use crate::estimate::Estimate;

/// Share of a rate that drives must certainly lose together, compared with each alone, to be
/// limited by something that they share.
const LOSS: f64 = 0.03;
/// Shares of a link's capacity from which it is the limit, certainly, and if nothing else explains
/// the loss. Packets of 256 B with their headers take 0.9 of the capacity of PCIe, of 128 B 0.82.
const LINK: [f64; 2] = [0.87, 0.78];
/// Share above which the stated capacity of a link cannot be the real one, as in virtual machines.
const LINK_MAX: f64 = 1.05;
/// Share of the load generator's ceiling from which the generator is the limit.
const GENERATOR: f64 = 0.9;
/// Share of CPU time from which CPUs are the limit.
const CPU: f64 = 0.95;

/// Throughput of a drive, bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct DriveRate {
    /// Without other drives.
    pub alone: Estimate,
    /// With all drives of the step.
    pub together: Estimate,
}

/// Link above one or several drives.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveLink {
    /// Capacity after line coding, bytes per second.
    pub bytes_per_s: f64,
    /// Drives below, by their place in the order in which they are added.
    pub drives: Vec<usize>,
}

/// Part that limits the drive that was added last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitingPart {
    /// The drive: it reaches its own rate.
    Drive,
    /// A link, by its index.
    Link(usize),
    /// The CPUs that the workers use.
    Cpu,
    /// The load generator: a worker reaches its ceiling without storage.
    Generator,
    /// None of these: drives lose rate, and no known part is at its limit.
    Unknown,
}

/// The part that limits the last of these drives. `links` are ordered from the root of the tree to
/// the drives; the last link of a drive is its own. The shares are those of its worker or of the
/// whole machine: of the CPU time, and of the generator's ceiling.
pub fn limiting_part(
    drives: &[DriveRate],
    links: &[DriveLink],
    cpu_share: f64,
    generator_share: f64,
) -> LimitingPart {
    let Some(last) = drives.len().checked_sub(1) else { return LimitingPart::Unknown };
    let own = links.iter().rev().find(|link| link.drives.contains(&last));
    let above = |link: &DriveLink| link.drives.contains(&last);
    let limits = |link: &DriveLink| {
        let below: Vec<DriveRate> =
            link.drives.iter().filter_map(|drive| drives.get(*drive)).copied().collect();
        // A drive cannot lose rate to itself, but a bridge may be narrower than its connector.
        let narrow = own.is_some_and(|own| link.bytes_per_s < own.bytes_per_s);
        let used = below.iter().map(|drive| drive.together.value).sum::<f64>() / link.bytes_per_s;
        ((below.len() > 1 && lose(&below)) || (narrow && above(link)))
            .then_some(used)
            .filter(|used| (LINK[1]..=LINK_MAX).contains(used))
    };
    let mut busiest: Option<(usize, f64)> = None;
    for (index, used) in links.iter().enumerate().filter(|(_, link)| above(link)) {
        // Both ends of a link are listed; the one nearer to the root gives its name.
        if let Some(used) = limits(used)
            && busiest.is_none_or(|(_, most)| used > most)
        {
            busiest = Some((index, used));
        }
    }
    // A saturated link elsewhere explains the loss of the drives below it.
    let explained = |drive: usize| {
        links.iter().any(|link| link.drives.contains(&drive) && limits(link).is_some())
    };
    let rest: Vec<DriveRate> =
        (0..drives.len()).filter(|d| !explained(*d)).map(|d| drives[d]).collect();
    match busiest {
        Some((index, used)) if used >= LINK[0] => LimitingPart::Link(index),
        _ if generator_share >= GENERATOR => LimitingPart::Generator,
        _ if cpu_share >= CPU => LimitingPart::Cpu,
        Some((index, _)) => LimitingPart::Link(index),
        None if lose(&rest) => LimitingPart::Unknown,
        None => LimitingPart::Drive,
    }
}

/// True if the drives certainly reach less together than each alone.
fn lose(drives: &[DriveRate]) -> bool {
    let low = |rate: &Estimate| rate.interval.map_or(rate.value, |(low, _)| low);
    let high = |rate: &Estimate| rate.interval.map_or(rate.value, |(_, high)| high);
    let alone: f64 = drives.iter().map(|drive| low(&drive.alone)).sum();
    let together: f64 = drives.iter().map(|drive| high(&drive.together)).sum();
    together < alone * (1.0 - LOSS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use LimitingPart::{Cpu, Drive, Generator, Link, Unknown};

    const GB: f64 = 1e9;
    /// Gen4 lanes, bytes per second each.
    const LANE: f64 = 16e9 / 8.0 * 128.0 / 130.0;

    /// A machine whose parts and limits are known.
    struct Machine {
        /// Links with their capacities, root first.
        links: Vec<DriveLink>,
        /// Own rate of each drive, bytes per second.
        drives: Vec<f64>,
        /// Share of a link's capacity that data can take.
        payload: f64,
        /// Limit of all workers together, of each worker, and of a part that nobody reports.
        cpu: f64,
        worker: f64,
        hidden: f64,
        /// Largest deviation of a measured rate, as a share.
        noise: f64,
    }

    impl Machine {
        /// Groups of drives: lanes of the link above, and number of drives, on connectors of four
        /// lanes.
        fn new(groups: &[(f64, usize)], own: f64) -> Self {
            let (mut links, mut drives) = (Vec::new(), 0);
            for (lanes, count) in groups {
                let below: Vec<usize> = (drives..drives + count).collect();
                drives += count;
                let link = DriveLink { bytes_per_s: lanes * LANE, drives: below.clone() };
                links.extend([link.clone(), link]);
                let single = |d| DriveLink { bytes_per_s: 4.0 * LANE, drives: vec![d] };
                links.extend(below.into_iter().map(single));
            }
            let (drives, none) = (vec![own; drives], f64::INFINITY);
            let (payload, noise) = (0.9, 0.01);
            Self { links, drives, payload, cpu: none, worker: none, hidden: none, noise }
        }

        /// Rates of the first drives, shared fairly: all rise until a limit stops them.
        fn rates(&self, count: usize) -> Vec<f64> {
            let mut rates = vec![0.0; count];
            let everyone: Vec<usize> = (0..count).collect();
            let mut limits: Vec<(f64, Vec<usize>)> = self
                .links
                .iter()
                .map(|link| (link.bytes_per_s * self.payload, link.drives.clone()))
                .collect();
            limits.extend([(self.cpu, everyone.clone()), (self.hidden, everyone.clone())]);
            limits.extend(everyone.iter().map(|d| (self.drives[*d].min(self.worker), vec![*d])));
            let mut rising: Vec<usize> = everyone;
            while !rising.is_empty() {
                let room = |(most, below): &(f64, Vec<usize>)| {
                    let free = below.iter().filter(|d| rising.contains(d)).count();
                    (free > 0).then(|| ((most - used(below, &rates)) / free as f64).max(0.0))
                };
                let step = limits.iter().filter_map(room).fold(f64::INFINITY, f64::min);
                rising.iter().for_each(|d| rates[*d] += step);
                let is_full =
                    |(most, below): &&(f64, Vec<usize>)| used(below, &rates) >= most * (1.0 - 1e-9);
                let full: Vec<usize> =
                    limits.iter().filter(is_full).flat_map(|(_, below)| below.clone()).collect();
                rising.retain(|d| !full.contains(d));
            }
            rates
        }

        /// The limit of each step, where it changes: the number of drives, and the part.
        fn limits(&self) -> Vec<(usize, LimitingPart)> {
            let estimate = |value: f64, place: usize| {
                // Measured values deviate to both sides.
                let value = value * (1.0 + self.noise * [0.5, -0.7, 0.2][place % 3]);
                let half = value * self.noise;
                let interval = Some((value - half, value + half));
                Estimate { value, interval, degrees: 4, autocorrelation: 0.0 }
            };
            let alone = |drive: usize| {
                let only = self.links.iter().filter(|link| link.drives.contains(&drive));
                let links = only.map(|link| link.bytes_per_s * self.payload);
                links.fold(self.drives[drive].min(self.worker).min(self.cpu), f64::min)
            };
            let mut found: Vec<(usize, LimitingPart)> = Vec::new();
            for count in 1..=self.drives.len() {
                let rates = self.rates(count);
                let drive = |d: usize| DriveRate {
                    alone: estimate(alone(d), d),
                    together: estimate(rates[d], d + count),
                };
                let drives: Vec<DriveRate> = (0..count).map(drive).collect();
                let cpu = rates.iter().sum::<f64>() / self.cpu;
                let generator = rates[count - 1] / self.worker;
                let part = limiting_part(&drives, &self.links, cpu, generator);
                if found.last().is_none_or(|(_, last)| *last != part) {
                    found.push((count, part));
                }
            }
            found
        }
    }

    /// Rate of those of these drives that run.
    fn used(below: &[usize], rates: &[f64]) -> f64 {
        below.iter().filter_map(|drive| rates.get(*drive)).sum()
    }

    /// Machines, with the limit of each number of drives, where it changes.
    type Known = (&'static str, Machine, Vec<(usize, LimitingPart)>);

    fn machines() -> Vec<Known> {
        let with = |change: fn(&mut Machine), mut machine: Machine| {
            change(&mut machine);
            machine
        };
        // Each group adds two entries for its link, then one for each drive. CPUs are the limit
        // from 95 % of their time on.
        vec![
            ("no shared link", Machine::new(&[(16.0, 2)], 6.8 * GB), vec![(1, Drive)]),
            ("x8 above four", Machine::new(&[(8.0, 4)], 6.8 * GB), vec![(1, Drive), (3, Link(0))]),
            (
                "24 behind three x16",
                Machine::new(&[(16.0, 8); 3], 6.8 * GB),
                vec![
                    (1, Drive),
                    (5, Link(0)),
                    (9, Drive),
                    (13, Link(10)),
                    (17, Drive),
                    (21, Link(20)),
                ],
            ),
            ("24 slow ones", Machine::new(&[(16.0, 8); 3], 3.2 * GB), vec![(1, Drive)]),
            (
                "32 behind four x8, payload of 128 B",
                with(|m| m.payload = 0.82, Machine::new(&[(8.0, 8); 4], 6.2 * GB)),
                vec![
                    (1, Drive),
                    (3, Link(0)),
                    (9, Drive),
                    (11, Link(10)),
                    (17, Drive),
                    (19, Link(20)),
                    (25, Drive),
                    (27, Link(30)),
                ],
            ),
            (
                "32 that fill the CPUs",
                cpu(Machine::new(&[(16.0, 8); 4], 2.0 * GB), 41.0 * GB),
                vec![(1, Drive), (20, Cpu)],
            ),
            (
                "12 below an x4 uplink",
                Machine::new(&[(4.0, 12)], 3.0 * GB),
                vec![(1, Drive), (3, Link(0))],
            ),
            ("12 on two x8", Machine::new(&[(8.0, 6); 2], 1.5 * GB), vec![(1, Drive)]),
            (
                "narrow bridge",
                Machine::new(&[(2.0, 1), (2.0, 1)], 6.8 * GB),
                vec![(1, Link(0)), (2, Link(3))],
            ),
            (
                "worker at its ceiling",
                with(|m| m.worker = 2.0 * GB, Machine::new(&[(16.0, 8)], 6.8 * GB)),
                vec![(1, Generator)],
            ),
            (
                "uplink before CPUs",
                cpu(Machine::new(&[(8.0, 8), (16.0, 8)], 3.0 * GB), 30.0 * GB),
                vec![(1, Drive), (5, Link(0)), (9, Drive), (13, Cpu)],
            ),
            (
                "socket link that nobody reports",
                with(|m| m.hidden = 18.0 * GB, Machine::new(&[(16.0, 4); 2], 6.8 * GB)),
                vec![(1, Drive), (3, Unknown)],
            ),
        ]
    }

    #[test]
    fn limiting_part_is_named_in_twelve_topologies() {
        let machines = machines();
        assert_eq!(machines.len(), 12);
        let differs = |(name, machine, expected): &Known| {
            let found = machine.limits();
            (found != *expected).then(|| format!("{name}: {found:?}"))
        };
        let wrong: Vec<String> = machines.iter().filter_map(differs).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }

    fn cpu(machine: Machine, cpu: f64) -> Machine {
        Machine { cpu, ..machine }
    }

    #[test]
    fn link_below_its_load_is_not_blamed() {
        // A virtual machine states 2.5 GT/s, and moves more.
        let mut machine = Machine::new(&[(0.1, 4)], 3.0 * GB);
        machine.payload = 1e3;
        machine.hidden = 6.5 * GB;
        assert_eq!(machine.limits(), [(1, Drive), (3, Unknown)]);
        assert_eq!(limiting_part(&[], &[], 0.0, 0.0), Unknown);
    }
}
