//! Published drives, fitted by the general method to the tables of a single drive only, with
//! predictions of their arrays. `media/calibration.toml` lists the figures; nothing that the
//! shipped device models know of these drives is used.

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "reads what was published, as no medium may")]
mod published {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use qdepth_media::TargetExpression;
    use qdepth_media::fit::{Basis, Kind, Observed, Provenance, description, fit, predict};
    use qdepth_workload::{Choices, PlanFile, Point, TargetShape, resolve, shipped_profile_text};

    /// Standard error of a printed figure: formats that should not differ do so by 2.6 to 4 %.
    const PRINTED: f64 = 0.03;

    /// Published figure, and its point.
    #[derive(Debug)]
    struct Figure {
        id: String,
        target: String,
        point: Point,
        io_per_s: f64,
    }

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn text(file: &str) -> String {
        std::fs::read_to_string(root().join(file)).unwrap()
    }

    /// Value (middle of a range) and unit of each published figure, by id.
    fn values() -> BTreeMap<String, (f64, String)> {
        let table = text("reference/published.csv");
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let column = |name: &str| headers.iter().position(|h| h == name).unwrap();
        let (id, unit, value, high) =
            (column("id"), column("unit"), column("value"), column("high"));
        let rows = reader.records().map(Result::unwrap);
        rows.filter_map(|row| {
            let low: f64 = row[value].parse().ok()?;
            let middle = row[high].parse().map_or(low, |high: f64| low.midpoint(high));
            Some((row[id].to_owned(), (middle, row[unit].to_owned())))
        })
        .collect()
    }

    /// Point of a load as in the documents: aligned to 4 KiB, or to its own size.
    fn point(load: &str, queue_depth: u32, shape: TargetShape, aligned: bool) -> Point {
        let mut text = shipped_profile_text(load).unwrap().to_owned();
        if aligned && !text.contains("alignment") {
            let size = text.lines().find_map(|l| l.strip_prefix("block_size = ")).unwrap();
            text = text.replacen("block_size", &format!("alignment = {size}\nblock_size"), 1);
        }
        let body: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        let plan = format!(
            "name = \"published\"\nqueue_depth = [{queue_depth}]\n[[profile]]\n{}",
            body.join("\n")
        );
        let file: PlanFile = toml::from_str(&plan).unwrap();
        resolve(&file, &Choices::default(), &[shape]).unwrap().points.remove(0)
    }

    /// Figures of one list of a fit, in order.
    fn figures(name: &str, list: &str) -> Vec<Figure> {
        let calibration: toml::Table = toml::from_str(&text("media/calibration.toml")).unwrap();
        let fits = calibration["fit"].as_array().unwrap();
        let entry = fits.iter().find(|fit| fit["name"].as_str() == Some(name)).unwrap();
        let aligned = entry.get("request_aligned").is_some();
        let values = values();
        let lines = entry[list].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        lines
            .map(|line| {
                let parts: Vec<&str> = line.split('|').map(str::trim).collect();
                let (value, unit) = &values[parts[0]];
                let medium = TargetExpression::read(parts[1]).unwrap();
                let shape = medium.shape().unwrap();
                let point = point(parts[2], parts[3].parse().unwrap(), shape, aligned);
                let bytes = f64::from(point.block_size.max());
                let io_per_s = match unit.as_str() {
                    "MB/s" => value * 1_048_576.0 / bytes,
                    "ms" => 1e3 / value,
                    _ => *value,
                };
                Figure { id: parts[0].to_owned(), target: parts[1].to_owned(), point, io_per_s }
            })
            .collect()
    }

    fn observed(figure: &Figure) -> Observed {
        Observed {
            point: figure.point.clone(),
            io_per_s: figure.io_per_s,
            spread: PRINTED,
            read_ns: None,
            write_ns: None,
            late_ns: None,
            thirds: None,
            cpu_ns: None,
        }
    }

    /// Combines figures of the same load into one point, at the mean of their logarithms.
    fn merged(figures: &[&Figure]) -> Vec<Observed> {
        let mut all: Vec<(Observed, Vec<f64>)> = Vec::new();
        for figure in figures {
            let same = |point: &Point| {
                (&point.profile, point.queue_depth, point.streams)
                    == (&figure.point.profile, figure.point.queue_depth, figure.point.streams)
            };
            match all.iter_mut().find(|(load, _)| same(&load.point)) {
                Some((_, rates)) => rates.push(figure.io_per_s.ln()),
                None => all.push((observed(figure), vec![figure.io_per_s.ln()])),
            }
        }
        let mean = |(mut load, rates): (Observed, Vec<f64>)| {
            load.io_per_s = (rates.iter().sum::<f64>() / rates.len() as f64).exp();
            load
        };
        all.into_iter().map(mean).collect()
    }

    /// Errors of the predictions, and the number within their intervals.
    fn tried(name: &str) -> (Vec<f64>, usize) {
        let stop = AtomicBool::new(false);
        let known = figures(name, "figures");
        let mut asked = figures(name, "predictions");
        // Figures of several drives that calibrated the shipped device model are predicted here.
        let (known, arrays): (Vec<Figure>, Vec<Figure>) =
            known.into_iter().partition(|figure| figure.target.starts_with("media:"));
        asked.extend(arrays);
        let mut names: Vec<String> = known.iter().map(|figure| figure.target.clone()).collect();
        names.sort();
        names.dedup();
        // Formats of a drive are fitted separately; only one outside of a campaign.
        if std::env::var_os("QDEPTH_TRIES").is_none() {
            names.truncate(1);
        }
        let (mut errors, mut covered) = (Vec::new(), 0);
        for medium in names {
            let mut points: Vec<&Figure> = known.iter().filter(|f| f.target == medium).collect();
            // One drive under several processes is a single drive, too.
            let several = format!("{medium} @processes");
            points.extend(asked.iter().filter(|f| f.target.starts_with(&several)));
            let seen = merged(&points);
            let bytes =
                TargetExpression::read(&medium).unwrap().shape().unwrap().usable.length_bytes;
            let fitted = fit(&seen, Some(Kind::Flash), bytes, &stop).unwrap();
            let from = Provenance {
                title: medium.clone(),
                capacity_bytes: bytes,
                block_bytes: 512,
                day_to_day: (0.02, "assumed".to_owned()),
                ..Provenance::default()
            };
            let text = description(&fitted, &seen, &from);
            println!(
                "{medium}: {} points, fitted {:.3}, kept back {:.3}\n{text}",
                seen.len(),
                fitted.mean_error(false),
                fitted.error
            );
            for miss in &fitted.points {
                println!("  {} {:+.3} kept back: {}", miss.label, miss.error(), miss.held_out);
            }
            for figure in asked.iter().filter(|f| f.target.contains(&format!("({medium}*"))) {
                let mut expression = figure.target.replace(&medium, "media:fitted.toml");
                if !fitted.computer.is_empty() {
                    // Document 000: accesses were aligned to 4096 bytes, not to the stripe.
                    expression += " @file_start_bytes=4096";
                }
                let fitted =
                    TargetExpression::read_with(&expression, &|_| Ok(text.clone())).unwrap();
                let said = predict(&fitted, &figure.point, &stop).unwrap().unwrap();
                let error = said.io_per_s / figure.io_per_s - 1.0;
                let (low, high) = said.interval();
                let inside = figure.io_per_s > low && figure.io_per_s < high;
                println!(
                    "  {} {} {} {}: {error:+.3} {} {}",
                    figure.id,
                    figure.target,
                    figure.point.profile,
                    figure.point.queue_depth,
                    if inside { "inside" } else { "OUTSIDE" },
                    if said.basis == Basis::Inside { "" } else { "extrapolated" },
                );
                errors.push(error.abs());
                covered += usize::from(inside);
            }
        }
        (errors, covered)
    }

    fn campaign(name: &str, most: f64) {
        let (errors, covered) = tried(name);
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let worst = errors.iter().copied().fold(0.0, f64::max);
        println!(
            "TRIES fit-published-{name} {count} mean-error={:.1}% worst={:.0}% coverage={:.1}%",
            mean * 100.0,
            worst * 100.0,
            covered as f64 / count * 100.0
        );
        assert!(mean <= most, "{name}: mean error {mean}");
    }

    #[test]
    fn p3700_arrays_are_predicted_from_one_drive() {
        campaign("p3700", 0.09);
    }

    #[test]
    fn iodrive_arrays_are_predicted_from_one_drive() {
        campaign("iodrive", 0.25);
    }
}
