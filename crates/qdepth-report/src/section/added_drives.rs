//! Drives that are added one by one: the rate of each number of drives, the part that limits it,
//! and the tree of links with their rates.

use qdepth_measure::{DriveLink, DriveRate, Estimate, LimitingPart, limiting_part};
use qdepth_record::{PointRecord, RunRecord, TargetRecord};

use crate::document::{Block, Cell, Section, Table};
use crate::number::{self, MIB, rounded};
use crate::rows::{Rows, RunColumns as _};
use crate::section::naming::{list, names};
use crate::trace;
use crate::view::{Load, Point, View, point};
use crate::words::{counted, fill_in};

/// Link of the tree, or a drive without a known one.
struct Link {
    /// Address of the upper end; the name of the drive for its own link.
    name: String,
    description: String,
    link: DriveLink,
}

/// Number of drives at the same time.
struct Step<'v, 'a> {
    point: &'v Point<'a>,
    parts: Vec<&'a PointRecord>,
    /// Main value of the last drive beyond those before it.
    gain: f64,
    /// `None` if one of the results that it follows from is invalid.
    limit: Option<LimitingPart>,
}

/// True if the run adds drives one by one.
pub(crate) fn is_measured(view: &View<'_>) -> bool {
    view.compared.is_some_and(|compared| compared.record.of == "saturation")
        && !view.loads.is_empty()
}

/// The links above all drives, from the root of the tree to the drives; a link that both of its
/// ends report is listed once.
fn links(view: &View<'_>) -> Vec<Link> {
    let run = view.run;
    let fact = |subject: &str, key: &str| {
        let mut facts = run.environment.iter().filter(|f| f.subject == subject && f.key == key);
        facts.find_map(|fact| fact.value.as_deref().ok())
    };
    let path = |target: &TargetRecord| {
        let path = target.facts.iter().find_map(|seen| fact(&seen.subject, "pcie_path"));
        path.unwrap_or_default().split(' ').collect::<Vec<_>>()
    };
    let paths: Vec<Vec<&str>> = run.targets.iter().map(path).collect();
    let below = |address: &str| {
        let all = paths.iter().enumerate().filter(|(_, path)| path.contains(&address));
        all.map(|(drive, _)| drive).collect::<Vec<_>>()
    };
    let mut links: Vec<Link> = Vec::new();
    for (drive, target) in run.targets.iter().enumerate() {
        for address in paths[drive].iter().copied() {
            let rate = fact(address, "link_bytes_per_s").and_then(|rate| rate.parse().ok());
            let (name, drives) = match rate {
                Some(_) => (address.to_owned(), below(address)),
                None => (String::new(), vec![drive]),
            };
            let link = DriveLink { bytes_per_s: rate.unwrap_or(f64::INFINITY), drives };
            let description = fact(address, "link").unwrap_or_default().to_owned();
            if links.iter().all(|other| other.link != link) {
                links.push(Link { name, description, link });
            }
        }
        if let Some(own) = links.last_mut().filter(|own| own.link.drives == [drive]) {
            own.name = view.shown(&target.name);
        }
    }
    links
}

/// Throughput of a point, bytes per second.
fn bytes_per_s(record: &PointRecord) -> Estimate {
    let rate = point(record).mib_per_s;
    let interval = rate.interval.map(|(low, high)| (low * MIB, high * MIB));
    Estimate { value: rate.value * MIB, interval, ..rate }
}

/// Largest share of CPU time: of the last worker, of the machine, or of all workers in the time of
/// the machine's CPUs. Polling takes all of it always.
fn cpu_share(run: &RunRecord, measured: &Point<'_>, record: &PointRecord) -> f64 {
    let Some(target) = run.target(record.target) else { return 0.0 };
    if target.engine.ends_with("polled") {
        return 0.0;
    }
    // All I/Os of an emulated computer pass one part of its kernel.
    if let Some(us) = emulated_us(target, "shared_us") {
        return us * measured.summary.io_per_s.value / 1e6;
    }
    let cpus = run.environment.iter().find(|f| f.subject == "cpu" && f.key == "threads");
    let cpus = cpus.and_then(|fact| fact.value.as_deref().ok()?.parse::<f64>().ok());
    let share = |record: &PointRecord, cpus: f64| {
        let time = record.duration_ns.max(1) as f64 * cpus;
        (record.cpu_user_ns + record.cpu_system_ns) as f64 / time
    };
    let worker = share(record, f64::from(record.workers.max(1)));
    let workers = cpus.map_or(0.0, |cpus| share(measured.record, cpus));
    let busy = record.monitors.iter().filter(|monitor| monitor.name == "cpu busy_share");
    let busy: Vec<f64> = busy.map(|monitor| monitor.value).collect();
    worker.max(workers).max(busy.iter().sum::<f64>() / busy.len().max(1) as f64)
}

/// Share of the generator's ceiling that the last worker reaches; on emulated devices, share of
/// time in which the processes issue I/Os.
fn generator_share(run: &RunRecord, last: &Point<'_>) -> f64 {
    let (record, rate) = (last.record, last.summary.io_per_s.value);
    let Some(target) = run.target(record.target) else { return 0.0 };
    let both = emulated_us(target, "read_us").zip(emulated_us(target, "us_per_kib"));
    if let Some((each, per_kib)) = both {
        let busy = each + per_kib * record.block_size_mean_bytes / 1024.0;
        return rate * busy / 1e6 / f64::from(record.streams.max(1));
    }
    let in_flight = record.queue_depth.saturating_mul(record.streams);
    let ceiling = target.ceiling.iter().find(|(depth, _)| *depth == in_flight);
    ceiling.map_or(0.0, |(_, most)| rate / most)
}

/// Time of an emulated computer, microseconds.
fn emulated_us(target: &TargetRecord, key: &str) -> Option<f64> {
    let mut facts = target.facts.iter().filter(|fact| fact.subject == "host" && fact.key == key);
    facts.next()?.value.as_ref().ok()?.split(' ').next()?.parse().ok()
}

/// Each number of drives under a load, ascending.
fn steps<'v, 'a>(view: &'v View<'a>, load: &'v Load<'a>, links: &[Link]) -> Vec<Step<'v, 'a>> {
    let Some(compared) = view.compared else { return Vec::new() };
    let cells = load.points.iter().filter_map(|p| Some((p, compared.cell(p.record)?)));
    let mut cells: Vec<_> = cells.map(|(point, cell)| (point, cell.parts.clone())).collect();
    let alone: Vec<&PointRecord> =
        cells.iter().filter(|(_, parts)| parts.len() == 1).map(|(_, parts)| parts[0]).collect();
    cells.retain(|(_, parts)| parts.len() > 1 || parts[0].target == 0);
    cells.sort_by_key(|(_, parts)| parts.len());
    let links: Vec<DriveLink> = links.iter().map(|link| link.link.clone()).collect();
    let mut before = 0.0;
    let mut step = |(measured, parts): (&'v Point<'a>, Vec<&'a PointRecord>)| {
        let last = *parts.last()?;
        let rate = |part: &&PointRecord| {
            let alone = alone.iter().find(|alone| alone.target == part.target)?;
            let is_valid = point(alone).is_valid() && point(part).is_valid();
            Some((DriveRate { alone: bytes_per_s(alone), together: bytes_per_s(part) }, is_valid))
        };
        let rates: Vec<(DriveRate, bool)> = parts.iter().map(rate).collect::<Option<_>>()?;
        let is_valid = measured.is_valid() && rates.iter().all(|(_, is_valid)| *is_valid);
        let rates: Vec<DriveRate> = rates.into_iter().map(|(rate, _)| rate).collect();
        let cpu = cpu_share(view.run, measured, last);
        let generator = generator_share(view.run, &point(last));
        let limit = is_valid.then(|| limiting_part(&rates, &links, cpu, generator));
        let gain = measured.main().value - before;
        before = measured.main().value;
        Some(Step { point: measured, parts, gain, limit })
    };
    cells.into_iter().filter_map(&mut step).collect()
}

/// Name of the part that limits.
fn part(view: &View<'_>, links: &[Link], limit: LimitingPart) -> String {
    let [drive, link, cpu, generator, unknown] = view.words.added_drives.parts;
    match limit {
        LimitingPart::Drive => drive.to_owned(),
        LimitingPart::Cpu => cpu.to_owned(),
        LimitingPart::Generator => generator.to_owned(),
        LimitingPart::Unknown => unknown.to_owned(),
        LimitingPart::Link(index) => {
            let Link { name, description, link: DriveLink { bytes_per_s, .. } } = &links[index];
            let rate = format!("{} GB/s", number::three_digits(bytes_per_s / 1e9));
            let values = [("name", name.clone()), ("link", description.clone()), ("rate", rate)];
            fill_in(link, &values)
        }
    }
}

/// The rate of all drives under each load, and the parts that limit; `None` for other runs.
pub(crate) fn sentence(view: &View<'_>) -> Option<String> {
    let words = view.words.added_drives;
    let links = is_measured(view).then(|| links(view))?;
    let of_load = |load: &Load<'_>| {
        let steps = steps(view, load, &links);
        let last = steps.last()?;
        let stretch = |steps: &[Step<'_, '_>]| {
            let (from, to) = (steps.first()?.parts.len(), steps.last()?.parts.len());
            let limit = steps[0].limit.filter(|limit| *limit != LimitingPart::Drive)?;
            let mut values = vec![("part", part(view, &links, limit))];
            let is_single = from == to && to < last.parts.len();
            values.push((if is_single { "only" } else { "from" }, from.to_string()));
            values.extend((!is_single).then(|| ("to", to.to_string())));
            let template = if to < last.parts.len() { words.between } else { words.from };
            Some(fill_in(template, &values))
        };
        let limits: Vec<String> =
            steps.chunk_by(|a, b| a.limit == b.limit).filter_map(stretch).collect();
        let mut values = vec![
            ("load", load.title.clone()),
            ("value", number::in_prose(last.point.main())),
            ("unit", load.unit().to_owned()),
            ("drives", counted(words.drives, last.parts.len())),
        ];
        values.extend((!last.point.is_valid()).then(|| ("grade", words.invalid.to_owned())));
        let unknown = steps.iter().filter(|step| step.limit.is_none());
        let unknown: Vec<String> =
            unknown.map(|step| counted(words.drives, step.parts.len())).collect();
        let limits = match limits.is_empty() {
            true => unknown.is_empty().then(|| words.none.to_owned()),
            false => Some(fill_in(words.limits, &[("items", list(view, limits))])),
        };
        let unreliable = [("items", names(view, unknown.clone()))];
        let unreliable = (!unknown.is_empty()).then(|| fill_in(words.unreliable, &unreliable));
        let all = std::iter::once(fill_in(words.reached, &values)).chain(limits).chain(unreliable);
        Some(all.collect::<Vec<_>>().join(view.words.gap))
    };
    let sentences: Vec<String> = view.swept().filter_map(of_load).collect();
    (!sentences.is_empty()).then(|| sentences.join(view.words.gap))
}

/// Table with one row per load and number of drives; `None` for other runs.
pub(crate) fn table(view: &View<'_>) -> Option<Table> {
    let (words, columns) = (view.words.added_drives, view.words.columns);
    let links = is_measured(view).then(|| links(view))?;
    let all = view
        .swept()
        .flat_map(|load| steps(view, load, &links).into_iter().map(move |step| (load, step)));
    let table = Rows::from_items(all)
        .groups(|(_, step)| step.parts.len() == 1)
        .text(columns.profile, |(load, _)| Cell::head(&*load.title))
        .number(words.count, "", |(_, step)| step.parts.len().to_string())
        .figures(
            |(_, step)| step.point.is_valid(),
            |rows| {
                rows.number(words.value, "", |(_, step)| rounded(step.point.main()).joined())
                    .number(words.gain, "", |(_, step)| number::three_digits(step.gain))
            },
        )
        .text(columns.unit, |(load, _)| load.unit())
        .text(words.limit, |(_, step)| {
            Cell::or_dash(step.limit.map(|limit| part(view, &links, limit)))
        })
        .traced(view, |(_, step)| trace::point_indices(view, step.point))
        .marked(view);
    Some(table.table("").with_note(words.note))
}

/// Section with the tree of links under each load; `None` for other runs.
pub(crate) fn section(view: &View<'_>) -> Option<Section> {
    let words = view.words.added_drives;
    let links = is_measured(view).then(|| links(view))?;
    let mut blocks = vec![Block::Paragraph(words.intro.to_owned())];
    blocks.extend(view.swept().filter_map(|load| tree(view, load, &links)).map(Block::Table));
    Some(Section::new("added-drives", words.section, blocks))
}

/// The links with the throughput of the drives below, when all drives ran.
fn tree(view: &View<'_>, load: &Load<'_>, links: &[Link]) -> Option<Table> {
    let words = view.words.added_drives;
    let all = steps(view, load, links).pop()?.parts;
    let depth = |link: &Link| {
        let above = |other: &&Link| {
            let drives = |drive| other.link.drives.contains(drive);
            other.link != link.link && link.link.drives.iter().all(drives)
        };
        links.iter().take_while(|other| other.link != link.link).filter(above).count()
    };
    let rate = |link: &Link| {
        let below = link.link.drives.iter().filter_map(|drive| all.get(*drive));
        below.map(|part| bytes_per_s(part).value).sum::<f64>()
    };
    let mib_per_s = |rate: f64| number::three_digits(rate / MIB);
    let capacity = |link: &Link| Some(link.link.bytes_per_s).filter(|rate| rate.is_finite());
    let table = Rows::from_items(links)
        .text(words.tree_part, |link| {
            Cell::head(format!("{}{}", "\u{a0}\u{a0}".repeat(depth(link)), link.name))
        })
        .text(words.tree_link, |link| Cell::unknown(&*link.description))
        .number(words.count, "", |link| link.link.drives.len().to_string())
        .number(words.capacity, number::MIB_PER_S, |link| {
            Cell::or_dash(capacity(link).map(mib_per_s))
        })
        .number(words.value, number::MIB_PER_S, |link| mib_per_s(rate(link)))
        .number(words.used, "%", |link| {
            let share = capacity(link).map(|most| rate(link) / most * 100.0);
            Cell::or_dash(share.map(|share| number::thousands(share, 0)))
        })
        .marked(view);
    Some(table.table(fill_in(words.tree_caption, &[("load", load.title.clone())])))
}

#[cfg(test)]
mod tests {
    use qdepth_measure::{Code, Finding};
    use qdepth_record::{ComparisonRecord, VariantRecord};

    use crate::tests::fixture;
    use crate::tests::refuter::record;
    use crate::words::Lang;
    use crate::{compose, markdown, on_screen};

    use super::*;

    /// Four drives below one link of eight lanes: two reach their own rate, more share the link.
    fn measured() -> (RunRecord, Vec<PointRecord>) {
        let (drives, uplink) = (4, "0000:40:01.1");
        let mut run = fixture::run(drives);
        let fact = |subject: &str, key: &str, value: &str| {
            fixture::observation(subject, key, Ok(value), "")
        };
        for (number, target) in run.targets.iter_mut().enumerate() {
            let (name, address) = (format!("nvme{number}n1"), format!("0000:4{number}:00.0"));
            let path = format!("{uplink} {address}");
            target.name.clone_from(&name);
            target.facts = vec![fact(&name, "size_bytes", "1")];
            run.environment.push(fact(&name, "pcie_path", &path));
            run.environment.push(fact(&address, "link", "PCIe 4.0 x4"));
            run.environment.push(fact(&address, "link_bytes_per_s", "7876923077"));
        }
        run.environment.push(fact(uplink, "link", "PCIe 4.0 x8"));
        run.environment.push(fact(uplink, "link_bytes_per_s", "15753846154"));
        let variant = |role: &str, target, parts| VariantRecord {
            name: String::new(),
            role: role.into(),
            target,
            parts,
            times: 1,
        };
        let variants: Vec<VariantRecord> = (0..drives)
            .map(|drive| variant("variant", drive, 1))
            .chain((2..=drives).map(|count| variant("together", 0, count)))
            .collect();
        let mut points = Vec::new();
        for (number, variant) in (0..).zip(&variants) {
            let each = 6.8e9_f64.min(14.2e9 / f64::from(variant.parts)) / 8192.0 / 10.0;
            let counts: Vec<u64> = (0..20).map(|n| each as u64 + n % 2 * 100).collect();
            for part in 0..variant.parts {
                let at = record(points.len() as u32, variant.target + part, 8, &counts);
                points.push(PointRecord { variant: Some(number), group: number, ..at });
            }
        }
        run.points_planned = points.len() as u32;
        run.comparison = Some(ComparisonRecord {
            of: "saturation".into(),
            variants,
            base: 0,
            base_above: false,
            shaded: false,
            latency_profiles: Vec::new(),
            published: Vec::new(),
        });
        (run, points)
    }

    #[test]
    fn shared_link_is_named_with_its_number() {
        let (run, points) = measured();
        let shown = on_screen(&run, &points, Lang::En);
        let limit = "Limited by the link 0000:40:01.1 (PCIe 4.0 x8, 15.8 GB/s) from drive 3 on.";
        assert!(shown.sentence.contains(limit), "{}", shown.sentence);
        assert_eq!(shown.tables[0].rows.len(), 4);
        let page = markdown(&compose(&run, &points, Lang::En), "report").0;
        let rows: Vec<&str> = page.lines().filter(|line| line.contains("| PCIe 4.0")).collect();
        assert!(!page.contains("would fill many pages"), "tables of few points are short");
        assert_eq!(rows[0], "| 0000:40:01.1 | PCIe 4.0 x8 | 4 | 15,000 | 13,600 | 90 |");
        assert_eq!(rows[4], "| \u{a0}\u{a0}nvme3n1 | PCIe 4.0 x4 | 1 | 7,510 | 3,390 | 45 |");
        let shown = on_screen(&run, &points, Lang::Ja);
        assert!(shown.sentence.contains("3 台目以降の接続 0000:40:01.1"), "{}", shown.sentence);
    }

    #[test]
    fn incomplete_or_unplaced_drives_have_no_link() {
        let (mut run, mut points) = measured();
        run.environment.retain(|fact| fact.key != "pcie_path");
        // The run was interrupted while all four drives ran.
        points.pop();
        let shown = on_screen(&run, &points, Lang::En);
        assert!(shown.sentence.contains("Limited by an unknown part from drive 3 on."));
        assert_eq!(shown.tables[0].rows.len(), 3);
        assert!(on_screen(&run, &[], Lang::En).tables.len() < 2);
    }

    #[test]
    fn invalid_results_name_no_limit() {
        let (run, mut points) = measured();
        // The second drive alone.
        points[1].findings.push(Finding::invalid(Code::ForeignIo));
        let sentence = on_screen(&run, &points, Lang::En).sentence;
        let none = "The results with 2 drives, 3 drives and 4 drives are invalid (grade C) and \
                    show no limit.";
        assert!(sentence.contains(none) && !sentence.contains("Limited"), "{sentence}");
        let together = points.last_mut().expect("points");
        together.findings.push(Finding::invalid(Code::ForeignIo));
        let sentence = on_screen(&run, &points, Lang::En).sentence;
        assert!(sentence.contains("IOPS with 4 drives (invalid, grade C)."), "{sentence}");
    }
}
