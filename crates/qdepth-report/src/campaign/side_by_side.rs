//! Curves of several runs in one diagram, for loads that they have in common.

use std::collections::BTreeSet;

use qdepth_record::{PointRecord, RunRecord, TargetRecord};

use super::runs::Campaign;
use crate::document::{Align, Block, Origin, Picture, Table};
use crate::section::sweep::pictures;
use crate::section::sweep::tables::key_figures;
use crate::view::{Load, View};
use crate::words::{fill_in, in_brackets};

/// Largest number of curves in one diagram: with more, every colour and marker is used twice.
const CURVES: usize = 12;
/// Largest number of table rows that fit on the first page next to a diagram.
const ROWS: usize = 16;

/// Diagrams of the loads that more than one run measured over queue depth.
pub(super) fn diagrams(campaign: &Campaign<'_, '_>) -> Vec<Block> {
    let Some(first) = campaign.views.first() else { return Vec::new() };
    let (run, points, runs) = joined(campaign, first);
    let view = View::new(&run, &points, None, campaign.presentation);
    let measured = |load: &&Load<'_>| {
        let load_runs: BTreeSet<usize> =
            load.points.iter().map(|point| runs[point.record.target as usize]).collect();
        let curves: BTreeSet<u32> = load.points.iter().map(|point| point.record.target).collect();
        load_runs.len() > 1 && curves.len() <= CURVES
    };
    let words = campaign.words;
    let mut blocks = vec![Block::Paragraph(words.side_by_side[1].to_owned())];
    for load in view.swept().filter(measured) {
        let drawn = pictures::of_load_without_percentiles(&view, load);
        if !drawn.is_empty() {
            let drawn = drawn.into_iter().map(|picture| of_all(campaign, picture));
            blocks.push(Block::Heading(load.title.clone()));
            blocks.push(Block::Pictures(drawn.collect()));
        }
    }
    // Without a diagram, the introduction is left out.
    if blocks.len() > 1 { blocks } else { Vec::new() }
}

/// The first of these diagrams, and the key figures of the loads that all runs have.
pub(super) fn answer(campaign: &Campaign<'_, '_>, diagrams: &[Block]) -> Vec<Block> {
    let drawn = diagrams.iter().find_map(|block| match block {
        Block::Pictures(pictures) => pictures.first(),
        _ => None,
    });
    let Some((first, picture)) = campaign.views.first().zip(drawn) else { return Vec::new() };
    let (mut run, mut points, _) = joined(campaign, first);
    let loads = |points: &[PointRecord], target| {
        let own = points.iter().filter(|point| point.target == target);
        own.map(|point| (point.profile.clone(), point.step.clone())).collect::<BTreeSet<_>>()
    };
    let of_all = run.targets.iter().map(|target| loads(&points, target.index));
    let shared = of_all.reduce(|all, own| &all & &own).unwrap_or_default();
    points.retain(|point| shared.contains(&(point.profile.clone(), point.step.clone())));
    run.points_planned = points.len() as u32;
    let view = View::new(&run, &points, None, campaign.presentation);
    let mut table = key_figures(&view);
    without_point_column(&mut table);
    table.caption = view.marked(table.caption);
    let is_small = (1..=ROWS).contains(&table.rows.len());
    // A longer table would not suit a phone.
    let table = is_small.then_some(Block::Table(table));
    std::iter::once(Block::Pictures(vec![picture.clone()])).chain(table).collect()
}

/// Merges all runs into one. Each target or column of a run becomes a target, named with its run.
/// Also returns the run of each target, by index.
fn joined(
    campaign: &Campaign<'_, '_>,
    first: &View<'_>,
) -> (RunRecord, Vec<PointRecord>, Vec<usize>) {
    let all_emulated = campaign.runs().all(|run| run.emulated);
    let mut run = RunRecord {
        targets: Vec::new(),
        comparison: None,
        emulated: all_emulated,
        ..first.run.clone()
    };
    let (mut points, mut runs) = (Vec::new(), Vec::new());
    for (run_index, view) in campaign.views.iter().enumerate() {
        for target in &view.targets {
            let values = [("name", view.target_name(*target)), ("run", campaign.number(run_index))];
            let name = fill_in(campaign.words.of_run, &values);
            let index = runs.len() as u32;
            runs.push(run_index);
            run.targets.extend(view.run.targets.first().map(|of_run| TargetRecord {
                index,
                // If only some runs are emulated, each of their curves says so.
                name: if all_emulated { name } else { view.marked(name) },
                facts: Vec::new(),
                ..of_run.clone()
            }));
            let own = view.swept().flat_map(|load| load.on(*target));
            points.extend(own.map(|point| PointRecord { target: index, ..point.record.clone() }));
        }
    }
    (run, points, runs)
}

/// Adapts a picture to several runs. Point numbers are those of a single run's plan, so they are
/// removed; the run's own diagrams have them.
fn of_all(campaign: &Campaign<'_, '_>, mut picture: Picture) -> Picture {
    picture.id = format!("runs-{}", picture.id);
    let mark = campaign.mark();
    let mark = in_brackets(campaign.presentation.lang, mark);
    if !campaign.mark().is_empty() && !picture.title.ends_with(&mark) {
        picture.title.push_str(&mark);
    }
    let emulated = campaign.runs().any(|run| run.emulated);
    picture.origin = Origin { run: String::new(), emulated };
    for mark in picture.figure.series.iter_mut().flat_map(|series| &mut series.marks) {
        mark.points.clear();
    }
    without_point_column(&mut picture.data);
    picture
}

/// Removes the column of point numbers, which are those of a single run's plan.
fn without_point_column(table: &mut Table) {
    table.retain_columns(|_, column| column.align != Align::Places);
}
