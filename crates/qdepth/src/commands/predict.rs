//! `qdepth predict`: predicts the results of a plan for a fitted drive or an array of it, with a
//! 95 % CI that includes the error of the device model.

use anyhow::{Result, bail};
use qdepth_files::shell_word;
use qdepth_host::system::System;
use qdepth_linux::keep_freed;
use qdepth_media::fit::{Basis, FitError, Prediction, predict};
use qdepth_media::{Checked, TargetExpression, is_emulated};
use qdepth_report::three_digits;
use qdepth_workload::{Point, shipped_plan_text};
use serde_json::json;

use crate::commands::read::table;
use crate::exit_status::Status;
use crate::flags::PredictOptions;
use crate::flags::read_plan;
use crate::terminal::{print, print_raw, print_table};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::execute::emulated::on_all_processors;
use qdepth_lab::failure::Usage;
use qdepth_lab::target::prepare::ResolvedTarget;
use qdepth_lab::target::preview::{Preview, preview};

/// Default plan.
const DEFAULT_PLAN: &str = "standard";

pub(crate) fn predict_plan(options: &PredictOptions) -> Result<Status> {
    let mut load = options.load.clone();
    load.words = words(&options.load.words)?;
    let mut asked = read_plan::read(&load)?;
    // The rates of one target, whatever the plan would compare it with.
    asked.file.comparison = None;
    let Preview { plan, found, .. } = preview(&System::real(), &asked)?;
    let [ResolvedTarget::Emulated(medium)] = found.as_slice() else {
        bail!(Usage(
            "predict: exactly one emulated target is needed. Try `qdepth predict \
             'raid0(media:./mydrive.toml*2)'`"
                .to_owned()
        ));
    };
    can_be_predicted(medium, &plan.name)?;
    keep_freed();
    let signals = Signals::watch()?;
    let indices: Vec<usize> = (0..plan.points.len()).collect();
    let outcome = |index: &usize| (*index, predict(medium, &plan.points[*index], signals.stop()));
    let mut all = on_all_processors(&indices, outcome)?;
    all.sort_by_key(|(index, _)| *index);
    let mut rows = Vec::new();
    for (index, predicted) in all {
        match predicted {
            Ok(Some(predicted)) => rows.push((&plan.points[index], predicted)),
            Ok(None) => {}
            Err(FitError::Interrupted) if signals.caught().is_some() => {
                return Ok(Status::Interrupted(signals.caught().unwrap_or_default()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if options.json {
        print_raw(&document(medium, &plan.name, &rows)?)?;
    } else {
        print_predictions(medium, asked.file.title.as_deref().unwrap_or(&plan.name), &rows)?;
    }
    Ok(Status::Valid)
}

/// Refuses a target with models of unknown error, unless all are based on data sheets or classes.
fn can_be_predicted(medium: &TargetExpression, plan: &str) -> Result<()> {
    let (_, others) = medium.error_models();
    let checked = medium.checked();
    if !others || checked.iter().all(|(_, checked)| checked.is_unmeasured()) {
        return Ok(());
    }
    let media = checked.iter().map(|(name, checked)| format!("{name} ({})", checked.words()));
    let media: Vec<String> = media.collect();
    bail!(Usage(format!(
        "predict {text}: not all of its models were fitted to measured runs, so the error is \
         unknown: {}. Fit a model with `qdepth media fit RUN -o mydrive.toml`, or emulate without \
         CI: `qdepth run {plan} {word}`",
        media.join(", "),
        text = medium.text(),
        word = shell_word(medium.text()),
    )))
}

/// Translates `mydrive.toml*2 as raid0` to `raid0(media:./mydrive.toml*2)`, preceded by the plan
/// `standard` if none is named.
fn words(given: &[String]) -> Result<Vec<String>> {
    let mut words = given.to_vec();
    if let [.., drives, joint, array] = words.as_slice()
        && joint == "as"
    {
        let spelled = format!("{array}({})", medium(drives));
        words.truncate(words.len() - 3);
        words.push(spelled);
    }
    if let [] | [_] = words.as_slice()
        && words.first().is_none_or(|word| shipped_plan_text(word).is_some())
    {
        let plan = words.first().map(|plan| format!("{plan} ")).unwrap_or_default();
        bail!(Usage(format!(
            "predict: no device model is given. Make one of your drive: `qdepth run fit TARGET`, \
             then `qdepth media fit latest -o mydrive.toml`. Then run `qdepth predict \
             {plan}mydrive.toml` or `qdepth predict {plan}'mydrive.toml*2' as raid0`"
        )));
    }
    if let Some(last) = words.last_mut() {
        *last = medium(last);
    }
    if words.len() == 1 {
        words.insert(0, DEFAULT_PLAN.to_owned());
    }
    Ok(words)
}

/// Target expression of a model file; other words are unchanged.
fn medium(word: &str) -> String {
    let (file, count) = word.rsplit_once('*').unwrap_or((word, ""));
    // An unknown arrangement is reported by the reader of expressions.
    let is_file = file.ends_with(".toml") && !is_emulated(word) && !word.contains("(media:");
    match (is_file, count) {
        (false, _) => word.to_owned(),
        (true, "") => format!("media:{file}"),
        (true, count) => format!("media:{file}*{count}"),
    }
}

fn print_predictions(
    medium: &TargetExpression,
    title: &str,
    rows: &[(&Point, Prediction)],
) -> Result<()> {
    print(&format!("EMULATED: {} under \"{title}\"", medium.text()))?;
    let headings = ["profile", "QD", "unit", "predicted", "95 % CI", "basis"];
    let (mut reasons, link) = (Vec::new(), link_mib_per_s(medium));
    let cells = rows.iter().map(|(point, predicted)| {
        let throughput = point.reported_as_throughput;
        let mean = point.block_size.mean() / f64::from(1 << 20);
        let per = if throughput { mean } else { 1.0 };
        let (low, high) = predicted.interval();
        let most = link.map_or(f64::MAX, |mib| mib / (mean * one_way(point)));
        let high = high.min(most).max(predicted.io_per_s);
        let shown = |rate: f64| three_digits(rate * per);
        let stands = match &predicted.basis {
            Basis::Inside => "measured range",
            Basis::Extrapolated(why) => {
                reasons.extend(why.iter().map(|why| format!("extrapolated: {why}")));
                "EXTRAPOLATED"
            }
            Basis::NotKnown(why) => {
                reasons.extend(why.iter().map(|why| format!("not known: {why}")));
                "not known"
            }
            Basis::Assumed(why) => {
                let says = "its error was never measured; the 95 % CI is assumed (a factor of 2 is \
                            one standard deviation)";
                reasons.extend(
                    why.iter()
                        .map(|(medium, checked)| format!("{medium}: {}: {says}", checked.words())),
                );
                "ASSUMED"
            }
        };
        let known = !matches!(predicted.basis, Basis::NotKnown(_));
        let or = |text: String| if known { text } else { "–".to_owned() };
        vec![
            point.profile.clone(),
            point.queue_depth.to_string(),
            if throughput { "MiB/s" } else { "IOPS" }.to_owned(),
            or(shown(predicted.io_per_s)),
            or(format!("{} … {}", shown(low), shown(high))),
            stands.to_owned(),
        ]
    });
    let cells: Vec<Vec<String>> = cells.collect();
    print_table(&table(&headings, cells), false)?;
    reasons.sort();
    reasons.dedup();
    let mut lines = reasons;
    let (known, _) = medium.error_models();
    for (name, known) in known {
        lines.push(format!(
            "{name}: error {:.1} % (root mean square) on {} held-out points. The 95 % CI includes \
             it and the uncertainty of the parameters. It is not reliable where extrapolated",
            known.error * 100.0,
            known.held_out
        ));
    }
    if medium.drives() > 1 {
        lines.push(
            "several drives: effects that they share (host, bus, heat) were not measured"
                .to_owned(),
        );
    }
    print(&lines.join("\n"))
}

/// Rate of the link of a single drive, if its model has one.
fn link_mib_per_s(medium: &TargetExpression) -> Option<f64> {
    let mut links = medium.facts().into_iter().filter(|(_, key, _)| key == "link_mb_s");
    let (_, _, rate) = links.next().filter(|_| medium.drives() == 1)?;
    rate.split(' ').next()?.parse().ok().filter(|rate: &f64| *rate > 0.0)
}

/// Share of the I/Os that transfer data in the busier direction of a link.
fn one_way(point: &Point) -> f64 {
    point.read_share.max(1.0 - point.read_share - point.trim_share)
}

/// Basis of a device model without a known error.
fn rests_on(medium: &(String, Checked)) -> serde_json::Value {
    let (medium, checked) = medium;
    json!({ "code": checked.code(), "medium": medium })
}

fn document(
    medium: &TargetExpression,
    plan: &str,
    rows: &[(&Point, Prediction)],
) -> Result<String> {
    let points: Vec<serde_json::Value> = rows
        .iter()
        .map(|(point, predicted)| {
            let (low, high) = predicted.interval();
            let (standing, why) = match &predicted.basis {
                Basis::Inside => ("inside", json!([])),
                Basis::Extrapolated(why) => ("extrapolated", json!(why)),
                Basis::NotKnown(why) => ("not-known", json!(why)),
                Basis::Assumed(media) => ("assumed", media.iter().map(rests_on).collect()),
            };
            let known = !matches!(predicted.basis, Basis::NotKnown(_));
            let number = |value: f64| known.then_some(value);
            json!({
                "profile": point.profile,
                "queue_depth": point.queue_depth,
                "io_per_s": number(predicted.io_per_s),
                "io_per_s_low": number(low),
                "io_per_s_high": number(high),
                "bytes_per_s": number(predicted.bytes_per_s),
                "mean_ns": number(predicted.mean_ns),
                "standing": standing,
                "why": why,
            })
        })
        .collect();
    let all = json!({
        "emulated": true,
        "target": medium.text(),
        "plan": plan,
        "points": points,
    });
    Ok(serde_json::to_string_pretty(&all)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<String> {
        words(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn array_expressions_become_targets() {
        assert_eq!(read("my.toml*2 as raid0"), ["standard", "raid0(media:my.toml*2)"]);
        assert_eq!(read("quick ./my.toml"), ["quick", "media:./my.toml"]);
        assert_eq!(read("quick raid1(media:my.toml*2)"), ["quick", "raid1(media:my.toml*2)"]);
        assert!(words(&[]).is_err());
    }
}
