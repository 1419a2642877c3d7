//! Iometer's configuration files (`.icf`) as plans: a text of keys, which begin with `'`, and of
//! the values below them; versions of 1998 to 2014. Written from files and from Iometer's user
//! guide.

mod read;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use thiserror::Error;

use read::read;

/// Why a configuration cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {what}")]
pub struct IcfRefusal {
    /// The line, from 1.
    pub line: usize,
    /// What stands there, and the nearest way.
    pub what: String,
}

/// A plan that was made of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IcfPlan {
    /// The plan as TOML.
    pub toml: String,
    /// The targets by their names in the file; the plan numbers them in this order.
    pub targets: Vec<String>,
    /// What is done in another way than Iometer does it.
    pub remarks: Vec<String>,
}

/// A line of an access specification; shares in per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Access {
    size: u64,
    share: u32,
    read: u32,
    random: u32,
    delay_ms: u64,
    burst: u32,
    align: u64,
}

/// An access specification.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spec {
    name: String,
    line: usize,
    lines: Vec<Access>,
}

/// How the load rises from test to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cycle {
    start: u32,
    end: u32,
    step: u32,
    exponential: bool,
}

impl Cycle {
    /// Its values up to the end, or to `most`, which comes last where the steps pass it.
    fn values(self, most: u32) -> Vec<u32> {
        let (mut values, mut next) = (Vec::new(), self.start.max(1));
        let end = self.end.min(most);
        while next <= end && values.len() < 1_000 {
            values.push(next);
            let step = self.step.max(1);
            next = match self.exponential {
                true => next.saturating_mul(step.max(2)),
                false => next.saturating_add(step),
            };
        }
        if values.last().is_none_or(|last| *last < end) {
            values.push(end.max(1));
        }
        values
    }
}

/// What varies from test to test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Varied {
    workers: bool,
    outstanding: bool,
    targets: bool,
}

/// A worker.
#[derive(Clone, Debug, Default, PartialEq)]
struct Worker {
    name: String,
    line: usize,
    outstanding: u32,
    /// Sectors of 512 B; 0: all.
    sectors: u64,
    first_sector: u64,
    pattern: u32,
    seed: Option<u64>,
    specs: Vec<(usize, String)>,
    targets: Vec<String>,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
struct Icf {
    title: String,
    seconds: u64,
    ramp_up_s: u64,
    varied: Varied,
    workers_cycle: Cycle,
    depths: Cycle,
    specs: Vec<Spec>,
    workers: Vec<Worker>,
    managers: usize,
}

/// Reads a configuration as a plan of this name.
///
/// # Errors
/// [`IcfRefusal`], which names the line and what stands there.
pub fn icf_plan(name: &str, text: &str) -> Result<IcfPlan, IcfRefusal> {
    let icf = read(text)?;
    let (toml, remarks, profiles) = (String::new(), Vec::new(), Vec::new());
    let mut plan = Making { icf: &icf, toml, remarks, profiles };
    let targets = icf.targets();
    plan.remarks_of_all();
    plan.head(name, &targets)?;
    plan.steps(&targets)?;
    let Making { mut toml, remarks, .. } = plan;
    let notes: String = remarks.iter().map(|remark| format!("# {}\n", one_line(remark))).collect();
    toml.insert_str(0, &notes);
    Ok(IcfPlan { toml, targets, remarks })
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl Icf {
    /// Names of all targets, in the order in which workers name them.
    fn targets(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for target in self.workers.iter().flat_map(|worker| &worker.targets) {
            if !all.contains(target) {
                all.push(target.clone());
            }
        }
        all
    }

    fn spec(&self, line: usize, name: &str) -> Result<Option<&Spec>, IcfRefusal> {
        if name.eq_ignore_ascii_case("idle") {
            return Ok(None);
        }
        let found = self.specs.iter().find(|spec| spec.name.eq_ignore_ascii_case(name));
        // Files of 1998 give specifications no names: where there is one alone, it is meant.
        let alone =
            || self.specs.first().filter(|only| self.specs.len() == 1 && only.name.is_empty());
        let what = format!("no access specification is called `{name}`");
        found.or_else(alone).map(Some).ok_or(IcfRefusal { line, what })
    }
}

/// A plan that is being made.
struct Making<'a> {
    icf: &'a Icf,
    toml: String,
    remarks: Vec<String>,
    /// Those that are written, without their names.
    profiles: Vec<String>,
}

impl Making<'_> {
    fn remark(&mut self, what: &str) {
        if !self.remarks.iter().any(|said| said == what) {
            self.remarks.push(what.to_owned());
        }
    }

    fn remarks_of_all(&mut self) {
        let icf = self.icf;
        if icf.seconds == 0 {
            self.remark("the file says no run time: 60 s each (`duration`)");
        }
        if icf.managers > 1 {
            self.remark("workers of all managers run on this machine, at the same time");
        }
        if icf.workers.iter().any(|worker| worker.pattern != 1) {
            self.remark("what is written never compresses; Iometer repeats a pattern, or a buffer");
        }
        if icf.workers.iter().any(|worker| worker.outstanding == 0) {
            self.remark("a worker without a number of outstanding I/Os has one");
        }
    }

    fn head(&mut self, name: &str, targets: &[String]) -> Result<(), IcfRefusal> {
        let icf = self.icf;
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        for (number, target) in targets.iter().enumerate() {
            let _ = writeln!(self.toml, "# target {}: {}", number + 1, one_line(target));
        }
        let _ = writeln!(self.toml, "name = {}", quoted(&slug(name)));
        if !icf.title.is_empty() {
            let _ = writeln!(self.toml, "title = {}", quoted(&icf.title));
        }
        let seconds = if icf.seconds == 0 { 60 } else { icf.seconds };
        let _ = writeln!(
            self.toml,
            "targets = \"together\"\nwarm_up = \"{}s\"\nduration = \"{seconds}s\"",
            icf.ramp_up_s
        );
        let seeds: Vec<u64> = icf.workers.iter().filter_map(|worker| worker.seed).collect();
        if let Some(seed) = seeds.first() {
            let _ = writeln!(self.toml, "seed = {}", seed >> 1);
        }
        if icf.workers.is_empty() && icf.specs.is_empty() {
            let what = "holds neither a worker nor an access specification".to_owned();
            return Err(IcfRefusal { line: 1, what });
        }
        Ok(())
    }

    fn steps(&mut self, targets: &[String]) -> Result<(), IcfRefusal> {
        let icf = self.icf;
        if icf.workers.is_empty() {
            self.remark("the file has specifications and no worker: one, with one outstanding I/O");
            for spec in &icf.specs {
                let profile = self.profile(spec, &Worker::default())?;
                let load = format!("{{ profile = \"{profile}\", outstanding = 1 }}");
                self.step(&spec.name, &[load]);
            }
            return Ok(());
        }
        if targets.is_empty() {
            self.remark("the file names no target: each worker uses the first of the command line");
        }
        let several = icf.workers.iter().find(|worker| worker.targets.len() > 1);
        if let Some(worker) = several.filter(|_| icf.varied.targets) {
            let what = format!(
                "worker `{}` has several targets, and their number is cycled: write a file for \
                 each number, with NORMAL or CYCLE_OUTSTANDING_IOS",
                worker.name
            );
            return Err(IcfRefusal { line: worker.line, what });
        }
        let most = icf.workers.len() as u32;
        let workers = match icf.varied.workers {
            true => icf.workers_cycle.values(most),
            false => vec![most],
        };
        let depths = match icf.varied.outstanding {
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

    /// The loads of so many workers, each with its specification of this number.
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
            let outstanding = depth.unwrap_or(worker.outstanding).max(1);
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
            for target in worker.targets.iter().filter_map(|name| target_number(targets, name)) {
                loads.push(format!(
                    "{{ profile = \"{profile}\", outstanding = {outstanding}, target = {target} }}"
                ));
            }
            if worker.targets.is_empty() {
                loads.push(format!(
                    "{{ profile = \"{profile}\", outstanding = {outstanding}, target = 1 }}"
                ));
            }
        }
        if loads.is_empty() {
            self.remark("a test in which every worker is idle is left out");
            return Ok(());
        }
        let mut title = names.join(", ");
        if icf.varied.workers {
            let _ = write!(title, ", {workers} workers");
        }
        if let Some(depth) = depth {
            let _ = write!(title, ", {depth} outstanding");
        }
        self.step(&title, &loads);
        Ok(())
    }

    fn step(&mut self, title: &str, loads: &[String]) {
        let title = toml::Value::String(one_line(title));
        let loads = loads.join(",\n    ");
        let _ = write!(self.toml, "\n[[step]]\ntitle = {title}\nload = [\n    {loads},\n]\n");
    }

    /// A profile of a specification on a worker's part of its targets; its name.
    fn profile(&mut self, spec: &Spec, worker: &Worker) -> Result<String, IcfRefusal> {
        let mix = Mix::from_spec(spec)?;
        if mix.random_differs {
            self.remark("lines of one specification are random in their mean share, each alike");
        }
        if mix.align_differs {
            self.remark("lines of one specification are aligned as the least of them");
        }
        let title = if spec.name.is_empty() { "without a name" } else { &spec.name };
        let title = toml::Value::String(one_line(title));
        let mut text = format!(
            "title = {title}\nrandom = {}\nread = {}\n\
             request_size = {}\nalignment = \"{}B\"\n",
            mix.random, mix.read, mix.sizes, mix.align
        );
        if let Some(sizes) = &mix.write_sizes {
            let _ = writeln!(text, "write_size = {sizes}\nwrite_alignment = \"{}B\"", mix.align);
        }
        let size = match worker.sectors {
            0 => "full".to_owned(),
            sectors => format!("{}B", sectors.saturating_mul(512)),
        };
        let _ = write!(text, "area = {{ size = \"{size}\"");
        if worker.first_sector > 0 {
            let _ = write!(text, ", offset = \"{}B\"", worker.first_sector.saturating_mul(512));
        }
        text.push_str(" }\n");
        if let Some((delay_ms, burst)) = mix.thinks {
            let delay_ns = delay_ms.saturating_mul(1_000_000);
            let _ = writeln!(
                text,
                "arrivals = {{ kind = \"think-time\", time_ns = {delay_ns}, requests = {burst} }}"
            );
        }
        let known = self.profiles.iter().position(|known| *known == text);
        let number = known.unwrap_or(self.profiles.len()) + 1;
        let name = format!("icf-{number}");
        if known.is_none() {
            let _ = write!(self.toml, "\n[[profile]]\nname = \"{name}\"\n{text}");
            self.profiles.push(text);
        }
        Ok(name)
    }
}

fn target_number(targets: &[String], name: &String) -> Option<usize> {
    targets.iter().position(|target| target == name).map(|place| place + 1)
}

/// The lines of a specification as one load.
struct Mix {
    read: f64,
    random: f64,
    random_differs: bool,
    sizes: String,
    write_sizes: Option<String>,
    align: u64,
    align_differs: bool,
    thinks: Option<(u64, u32)>,
}

impl Mix {
    fn from_spec(spec: &Spec) -> Result<Self, IcfRefusal> {
        let refused = |what: String| Err(IcfRefusal { line: spec.line, what });
        let lines: Vec<Access> = spec.lines.iter().copied().filter(|line| line.share > 0).collect();
        let Some(first) = lines.first().copied() else {
            return refused(format!("the specification `{}` has no lines", spec.name));
        };
        let alike =
            |field: fn(&Access) -> u64| lines.iter().all(|line| field(line) == field(&first));
        if !alike(|line| line.delay_ms) || !alike(|line| u64::from(line.burst)) {
            return refused(format!(
                "the lines of `{}` have several delays or bursts: give each a specification",
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
        // Where reads and writes have their own sizes, each way has its own mix of them.
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
            thinks: (first.delay_ms > 0).then_some((first.delay_ms, first.burst.max(1))),
        })
    }
}

/// Where Iometer aligns nothing, it takes whole sectors.
fn sectors(align: u64) -> u64 {
    if align == 0 { 512 } else { align }
}

/// Sizes with their weights.
fn mix(lines: &[Access], weight: impl Fn(&Access) -> u32) -> String {
    let mut sizes: Vec<(u64, u32)> = Vec::new();
    for line in lines.iter().filter(|line| weight(line) > 0) {
        match sizes.iter_mut().find(|(size, _)| *size == line.size) {
            Some((_, sum)) => *sum += weight(line),
            None => sizes.push((line.size, weight(line))),
        }
    }
    if let [(size, _)] = sizes.as_slice() {
        return format!("\"{size}B\"");
    }
    let entry =
        |(size, weight): &(u64, u32)| format!("{{ size = \"{size}B\", weight = {weight} }}");
    format!("[{}]", sizes.iter().map(entry).collect::<Vec<_>>().join(", "))
}

/// A name of lower case, digits and hyphens.
fn slug(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(kept).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "iometer".to_owned() } else { name.to_owned() }
}
