//! `qdepth predict`: what a medium of one's own drive, or an array of it, does under the points of
//! a plan, with an interval that holds the medium's own error.

use anyhow::{Result, bail};
use qdepth_host::system::System;
use qdepth_linux::keep_freed;
use qdepth_media::fit::{FitError, Prediction, Standing, predict};
use qdepth_media::{Checked, TargetExpression, is_emulated};
use qdepth_workload::{Point, shipped_plan_text};
use serde_json::json;

use crate::commands::fit::figure;
use crate::commands::read::table;
use crate::exit_status::Status;
use crate::flags::PredictOptions;
use crate::flags::read_plan;
use crate::terminal::{print, print_document, print_table};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::execute::emulated::on_all_processors;
use qdepth_lab::failure::Usage;
use qdepth_lab::target::prepare::ResolvedTarget;
use qdepth_lab::target::preview::{Preview, preview};

/// The plan where none is named.
const DEFAULT_PLAN: &str = "standard";

pub(crate) fn predict_plan(options: &PredictOptions) -> Result<Status> {
    let mut load = options.load.clone();
    load.words = words(&options.load.words)?;
    let asked = read_plan::read(&load)?;
    let Preview { plan, found, .. } = preview(&System::real(), &asked)?;
    let [ResolvedTarget::Emulated(medium)] = found.as_slice() else {
        bail!(Usage(
            "predict: one target that is emulated, for example `qdepth predict \
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
        print_document(&document(medium, &plan.name, &rows)?)?;
    } else {
        print_predictions(medium, asked.file.title.as_deref().unwrap_or(&plan.name), &rows)?;
    }
    Ok(Status::Valid)
}

/// Refuses a target of which nobody knows an error, nor that it rests on paper.
fn can_be_predicted(medium: &TargetExpression, plan: &str) -> Result<()> {
    let (_, others) = medium.known();
    let checked = medium.checked();
    if !others || checked.iter().all(|(_, checked)| checked.rests_on_paper()) {
        return Ok(());
    }
    let media = checked.iter().map(|(name, checked)| format!("{name} ({})", checked.words()));
    let media: Vec<String> = media.collect();
    bail!(Usage(format!(
        "predict {text}: a medium in it was not fitted to measured runs, so nobody knows its \
         error: {}; `qdepth media fit RUN -o mydrive.toml` makes one, and `qdepth run {plan} \
         {text}` emulates without an interval",
        media.join(", "),
        text = medium.text(),
    )))
}

/// `mydrive.toml*2 as raid0` is `raid0(media:./mydrive.toml*2)`, with the plan `standard` before it
/// where none is named.
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
            "predict: which medium? As `qdepth predict {plan}mydrive.toml`, `qdepth predict \
             {plan}mydrive.toml*2 as raid0`"
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

/// A file's name as the expression of a medium.
fn medium(word: &str) -> String {
    let (file, count) = word.rsplit_once('*').unwrap_or((word, ""));
    let is_file = file.ends_with(".toml") && !is_emulated(word);
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
    let headings = ["profile", "outstanding", "unit", "predicted", "95 % interval", "stands on"];
    let mut reasons: Vec<String> = Vec::new();
    let cells = rows.iter().map(|(point, predicted)| {
        let throughput = point.reported_as_throughput;
        let mean = point.request_size.mean() / f64::from(1 << 20);
        let per = if throughput { mean } else { 1.0 };
        let (low, high) = predicted.interval();
        let shown = |rate: f64| figure(rate * per);
        let stands = match &predicted.standing {
            Standing::Inside => "measured range",
            Standing::Extrapolated(why) => {
                reasons.extend(why.iter().map(|why| format!("extrapolated: {why}")));
                "EXTRAPOLATED"
            }
            Standing::NotKnown(why) => {
                reasons.extend(why.iter().map(|why| format!("not known: {why}")));
                "not known"
            }
            Standing::Assumed(why) => {
                let says = "its error was never measured; the interval is an assumption \
                            (a factor of 2 is one standard deviation), no finding";
                reasons.extend(
                    why.iter()
                        .map(|(medium, checked)| format!("{medium}: {}: {says}", checked.words())),
                );
                "ASSUMED"
            }
        };
        let known = !matches!(predicted.standing, Standing::NotKnown(_));
        let or = |text: String| if known { text } else { "–".to_owned() };
        vec![
            point.profile.clone(),
            point.outstanding.to_string(),
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
    let (known, _) = medium.known();
    for (name, known) in known {
        lines.push(format!(
            "{name}: error {:.1} % (root mean square) at {} points kept back from its fit; the \
             interval holds it and what is not known of its numbers, and no promise where \
             extrapolated",
            known.error * 100.0,
            known.kept_back
        ));
    }
    if medium.drives() > 1 {
        lines.push(
            "several drives: what they share (host, bus, heat) was not measured with one"
                .to_owned(),
        );
    }
    print(&lines.join("\n"))
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
            let (standing, why) = match &predicted.standing {
                Standing::Inside => ("inside", json!([])),
                Standing::Extrapolated(why) => ("extrapolated", json!(why)),
                Standing::NotKnown(why) => ("not-known", json!(why)),
                Standing::Assumed(media) => ("assumed", media.iter().map(rests_on).collect()),
            };
            let known = !matches!(predicted.standing, Standing::NotKnown(_));
            let number = |value: f64| known.then_some(value);
            json!({
                "profile": point.profile,
                "outstanding": point.outstanding,
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
    fn words_become_a_target() {
        assert_eq!(read("my.toml*2 as raid0"), ["standard", "raid0(media:my.toml*2)"]);
        assert_eq!(read("quick ./my.toml"), ["quick", "media:./my.toml"]);
        assert_eq!(read("quick raid1(media:my.toml*2)"), ["quick", "raid1(media:my.toml*2)"]);
        assert!(words(&[]).is_err());
    }
}
