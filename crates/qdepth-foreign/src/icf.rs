//! Conversion of Iometer configuration files (`.icf`) to plans: text of keys, which start with `'`,
//! and values below them; versions of 1998 to 2014. Written from files and from Iometer's user
//! guide.

mod configuration;
mod read;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use qdepth_measure::{Bytes, Nanos};
use qdepth_workload::{
    AreaSpec, Arrivals, LoadSpec, PlanFile, Profile, SizeSpec, StepSpec, TargetsSpec,
    WriteTomlError,
};

use crate::remark::{Remark, Remarked};
pub use configuration::IcfRefusal;
use configuration::{Access, Icf, Spec, Worker};
use read::read;

/// Plan of an Iometer configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct IcfPlan {
    /// The plan.
    pub plan: PlanFile,
    /// Target names of the file, in the order of their numbers in the plan.
    pub targets: Vec<String>,
    /// Differences from Iometer.
    pub remarks: Vec<Remark>,
}

/// Converts a configuration to a plan called `name`.
///
/// # Errors
/// [`IcfRefusal`] with the line and its problem.
pub fn icf_plan(name: &str, text: &str) -> Result<IcfPlan, IcfRefusal> {
    let icf = read(text)?;
    let mut making = PlanBuilder { icf: &icf, plan: head(&icf, name)?, remarks: Vec::new() };
    let targets = icf.targets();
    making.remarks_of_all();
    making.steps(&targets)?;
    let PlanBuilder { plan, remarks, .. } = making;
    Ok(IcfPlan { plan, targets, remarks })
}

impl IcfPlan {
    /// Text of the plan file, with remarks and target names as comments.
    ///
    /// # Errors
    /// If a number cannot be written in TOML.
    pub fn text(&self) -> Result<String, WriteTomlError> {
        let sentences = self.remarks.iter().map(|remark| Remarked::from(*remark).to_string());
        let remarks = sentences.map(|sentence| format!("# {}\n", one_line(&sentence)));
        let numbered = self.targets.iter().zip(1..);
        let targets =
            numbered.map(|(target, number)| format!("# target {number}: {}\n", one_line(target)));
        let notes: String = remarks.chain(targets).collect();
        Ok(notes + &self.plan.to_toml()?)
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Head of the plan, before its profiles and steps.
fn head(icf: &Icf, name: &str) -> Result<PlanFile, IcfRefusal> {
    if icf.workers.is_empty() && icf.specs.is_empty() {
        let what = "it contains neither a worker nor an access specification".to_owned();
        return Err(IcfRefusal { line: 1, what });
    }
    let seconds = if icf.seconds == 0 { 60 } else { icf.seconds };
    // TOML integers are signed.
    let seed = icf.workers.iter().find_map(|worker| worker.seed).map(|seed| seed >> 1);
    Ok(PlanFile {
        name: slug(name),
        title: Some(icf.title.clone()).filter(|title| !title.is_empty()),
        targets: TargetsSpec::Together,
        warm_up: Some(Nanos::from_secs(icf.ramp_up_s)),
        duration: Some(Nanos::from_secs(seconds)),
        seed,
        ..PlanFile::default()
    })
}

/// Plan under construction.
struct PlanBuilder<'a> {
    icf: &'a Icf,
    plan: PlanFile,
    remarks: Vec<Remark>,
}

impl PlanBuilder<'_> {
    fn remark(&mut self, what: Remark) {
        if !self.remarks.contains(&what) {
            self.remarks.push(what);
        }
    }

    fn remarks_of_all(&mut self) {
        let icf = self.icf;
        if icf.seconds == 0 {
            self.remark(Remark::NoRunTime);
        }
        if icf.managers > 1 {
            self.remark(Remark::ManagersOnThisMachine);
        }
        if icf.workers.iter().any(|worker| worker.pattern != 1) {
            self.remark(Remark::PayloadNeverRepeats);
        }
        if icf.workers.iter().any(|worker| worker.queue_depth == 0) {
            self.remark(Remark::OneOutstandingByDefault);
        }
    }

    fn steps(&mut self, targets: &[String]) -> Result<(), IcfRefusal> {
        let icf = self.icf;
        if icf.workers.is_empty() {
            self.remark(Remark::NoWorkerInFile);
            for spec in &icf.specs {
                let profile = self.profile(spec, &Worker::default())?;
                let load = LoadSpec { profile, queue_depth: 1, ..LoadSpec::default() };
                self.step(&spec.name, vec![load]);
            }
            return Ok(());
        }
        if targets.is_empty() {
            self.remark(Remark::NoTargetInFile);
        }
        let several = icf.workers.iter().find(|worker| worker.targets.len() > 1);
        if let Some(worker) = several.filter(|_| icf.varied.targets) {
            let what = format!(
                "worker `{}` has several targets, and the test cycles their number: write one file \
                 per number, with NORMAL or CYCLE_OUTSTANDING_IOS",
                worker.name
            );
            return Err(IcfRefusal { line: worker.line, what });
        }
        let most = icf.workers.len() as u32;
        let workers = if icf.varied.workers { icf.workers_cycle.values(most) } else { vec![most] };
        let depths = match icf.varied.queue_depth {
            true => icf.depths.values(u32::MAX).into_iter().map(Some).collect(),
            false => vec![None],
        };
        let tests = icf.workers.iter().map(|worker| worker.specs.len()).max().unwrap_or(0);
        for test in 0..tests {
            for count in &workers {
                for depth in &depths {
                    self.test(test, *count as usize, *depth, targets)?;
                }
            }
        }
        if tests == 0 {
            let what = "no worker has an access specification".to_owned();
            return Err(IcfRefusal { line: icf.workers[0].line, what });
        }
        Ok(())
    }

    /// Adds the step of test number `test`: this number of workers, each with its specification for
    /// it.
    fn test(
        &mut self,
        test: usize,
        workers: usize,
        depth: Option<u32>,
        targets: &[String],
    ) -> Result<(), IcfRefusal> {
        let (mut loads, mut names) = (Vec::new(), Vec::<&str>::new());
        let icf = self.icf;
        for worker in icf.workers.iter().take(workers) {
            let Some((line, name)) = worker.specs.get(test) else { continue };
            let Some(spec) = icf.spec(*line, name)? else { continue };
            let profile = self.profile(spec, worker)?;
            let queue_depth = depth.unwrap_or(worker.queue_depth).max(1);
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
            let named = worker.targets.iter().filter_map(|name| target_number(targets, name));
            let alone = worker.targets.is_empty().then_some(1);
            loads.extend(named.chain(alone).map(|target| LoadSpec {
                profile: profile.clone(),
                queue_depth,
                target: Some(target),
                ..LoadSpec::default()
            }));
        }
        if loads.is_empty() {
            self.remark(Remark::IdleTestLeftOut);
            return Ok(());
        }
        let mut title = names.join(", ");
        if icf.varied.workers {
            let _ = write!(title, ", {workers} workers");
        }
        if let Some(depth) = depth {
            let _ = write!(title, ", queue depth {depth}");
        }
        self.step(&title, loads);
        Ok(())
    }

    fn step(&mut self, title: &str, loads: Vec<LoadSpec>) {
        self.plan.steps.push(StepSpec { title: one_line(title), loads, ..StepSpec::default() });
    }

    /// Adds a profile of an access specification on a worker's targets; returns its name.
    fn profile(&mut self, spec: &Spec, worker: &Worker) -> Result<String, IcfRefusal> {
        let mix = Mix::from_spec(spec)?;
        if mix.random_differs {
            self.remark(Remark::MeanRandomShare);
        }
        if mix.align_differs {
            self.remark(Remark::LeastAlignment);
        }
        let title = if spec.name.is_empty() { "without a name" } else { &spec.name };
        let bytes = |sectors: u64| Bytes(sectors.saturating_mul(512));
        let size = match worker.sectors {
            0 => "full".to_owned(),
            sectors => bytes(sectors).to_string(),
        };
        let offset = (worker.first_sector > 0).then(|| bytes(worker.first_sector));
        let named = |name: String| Profile {
            name,
            title: Some(one_line(title)),
            alignment: Some(Bytes(mix.align)),
            write_size: mix.write_sizes.clone(),
            write_alignment: mix.write_sizes.is_some().then_some(Bytes(mix.align)),
            area: AreaSpec { size: Some(size.clone()), offset },
            arrivals: mix.thinks,
            ..Profile::new(mix.random, mix.read, mix.sizes.clone())
        };
        let profiles = &mut self.plan.own_profiles;
        if let Some(known) = profiles.iter().find(|known| **known == named(known.name.clone())) {
            return Ok(known.name.clone());
        }
        let name = format!("icf-{}", profiles.len() + 1);
        profiles.push(named(name.clone()));
        Ok(name)
    }
}

/// Number of a target in the plan, from 1.
fn target_number(targets: &[String], name: &String) -> Option<u32> {
    (1..).zip(targets).find(|(_, target)| *target == name).map(|(number, _)| number)
}

/// Lines of an access specification, combined to one load.
struct Mix {
    read: f64,
    random: f64,
    random_differs: bool,
    sizes: SizeSpec,
    write_sizes: Option<SizeSpec>,
    align: u64,
    align_differs: bool,
    thinks: Option<Arrivals>,
}

impl Mix {
    fn from_spec(spec: &Spec) -> Result<Self, IcfRefusal> {
        let refused = |what: String| Err(IcfRefusal { line: spec.line, what });
        let lines: Vec<Access> = spec.lines.iter().copied().filter(|line| line.share > 0).collect();
        let Some(first) = lines.first().copied() else {
            return refused(format!("the access specification `{}` has no lines", spec.name));
        };
        let alike =
            |field: fn(&Access) -> u64| lines.iter().all(|line| field(line) == field(&first));
        if !alike(|line| line.delay_ms) || !alike(|line| u64::from(line.burst)) {
            return refused(format!(
                "the lines of `{}` have different delays or bursts: write one specification for \
                 each",
                spec.name
            ));
        }
        let all: f64 = lines.iter().map(|line| f64::from(line.share)).sum();
        let mean = |field: fn(&Access) -> u32| {
            lines.iter().map(|line| f64::from(line.share) * f64::from(field(line))).sum::<f64>()
                / all
        };
        let (read, random) = (mean(|line| line.read), mean(|line| line.random));
        let reads = |line: &Access| line.share * line.read;
        let writes = |line: &Access| line.share * (100 - line.read);
        // If reads and writes differ in sizes, each direction gets its own mix.
        let apart = !alike(|line| u64::from(line.read)) && read > 0.0 && read < 100.0;
        let (sizes, write_sizes) = match apart {
            true => (mix(&lines, reads), Some(mix(&lines, writes))),
            false => (mix(&lines, |line| line.share), None),
        };
        Ok(Self {
            read,
            random,
            random_differs: !alike(|line| u64::from(line.random)),
            sizes,
            write_sizes,
            align: lines.iter().map(|line| sectors(line.align)).min().unwrap_or(512),
            align_differs: !alike(|line| sectors(line.align)),
            thinks: (first.delay_ms > 0).then(|| Arrivals::ThinkTime {
                time_ns: first.delay_ms.saturating_mul(1_000_000),
                requests: first.burst.max(1),
            }),
        })
    }
}

/// Alignment, bytes; Iometer aligns to sectors by default.
fn sectors(align: u64) -> u64 {
    if align == 0 { 512 } else { align }
}

/// Sizes with their weights.
fn mix(lines: &[Access], weight: impl Fn(&Access) -> u32) -> SizeSpec {
    let mut sizes: Vec<(u64, u32)> = Vec::new();
    for line in lines.iter().filter(|line| weight(line) > 0) {
        match sizes.iter_mut().find(|(size, _)| *size == line.size) {
            Some((_, sum)) => *sum += weight(line),
            None => sizes.push((line.size, weight(line))),
        }
    }
    SizeSpec::weighted(sizes.into_iter().map(|(size, weight)| (Bytes(size), weight)))
}

/// Name in lower-case letters, digits and hyphens.
fn slug(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(kept).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "iometer".to_owned() } else { name.to_owned() }
}
