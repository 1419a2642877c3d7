//! What was measured, as fio's JSON and logs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::Privacy;
use qdepth_foreign::fio::{
    Converted, FioEntry, FioLog, FioMoment, JobSet, Origin, OutputFormat, export_fio_json,
    export_fio_log,
};
use qdepth_logbook::record::{PointRecord, RunRecord};

use crate::result_file::ResultFile;
use crate::screen::Screen;

/// The document of a run.
pub(super) fn json(
    format: OutputFormat,
    set: &JobSet,
    converted: &Converted,
    run: &RunRecord,
    points: &[PointRecord],
) -> String {
    let ended = run.ended_at.as_deref().unwrap_or(&run.started_at);
    let moment = ended.parse::<Timestamp>().unwrap_or_else(|_| Timestamp::now());
    let moment = FioMoment {
        unix_ms: moment.as_millisecond(),
        text: moment.strftime("%a %b %e %H:%M:%S %Y").to_string(),
    };
    let version = format!("fio-3.33 (made by qdepth {})", run.qdepth_version);
    let entries = entries(set, converted, points);
    let plus = format == OutputFormat::JsonPlus;
    export_fio_json(&version, &moment, &set.globals, &entries, points, plus)
}

/// The clones of all jobs in the order in which they are written.
fn clones(converted: &Converted) -> Vec<Origin> {
    let mut list = converted.origins.clone();
    list.sort_by_key(|origin| origin.thread);
    list.dedup();
    list
}

/// Places, in the list of points, of those that a clone consists of.
fn places(converted: &Converted, points: &[PointRecord], clone: &Origin) -> Vec<usize> {
    let of_clone = |point: &PointRecord| converted.origins.get(point.index as usize) == Some(clone);
    points.iter().enumerate().filter(|(_, point)| of_clone(point)).map(|(at, _)| at).collect()
}

/// fio's list of jobs: clones that follow one another in a group and ask for it are one.
fn entries(set: &JobSet, converted: &Converted, points: &[PointRecord]) -> Vec<FioEntry> {
    let mut entries: Vec<FioEntry> = Vec::new();
    let mut open_group = None;
    for clone in clones(converted) {
        let job = &set.jobs[clone.job];
        let places = places(converted, points, &clone);
        let together = job.group_reporting && open_group == Some(clone.group);
        open_group = job.group_reporting.then_some(clone.group);
        let started =
            places.first().and_then(|at| points[*at].started_at.parse::<Timestamp>().ok());
        match entries.last_mut() {
            Some(entry) if together => {
                entry.points.extend(places);
                // As fio does: options and percentiles are those of the last.
                entry.options.clone_from(&job.report.written);
                entry.percentiles.clone_from(&job.report.percentiles);
            }
            _ => entries.push(FioEntry {
                name: job.name.clone(),
                description: job.description.clone(),
                group: clone.group,
                start_ms: started.map_or(0, Timestamp::as_millisecond),
                options: job.report.written.clone(),
                percentiles: job.report.percentiles.clone(),
                percentiles_of: [job.report.percentiles_of[0], job.report.percentiles_of[1]],
                depth: job.depth,
                points: places,
            }),
        }
    }
    entries
}

/// The logs that jobs ask for, named as fio names them: `NAME_bw.1.log`. Clones that name the same
/// file follow one another in it.
pub(super) struct Logs(BTreeMap<String, ResultFile>);

impl Logs {
    /// Looks at all names before the first job is measured.
    pub(super) fn open(set: &JobSet, converted: &Converted) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (path, ..) in wanted(set, converted) {
            if let Entry::Vacant(place) = files.entry(path) {
                let file = ResultFile::file(place.key(), Privacy::Private)?;
                place.insert(file);
            }
        }
        Ok(Self(files))
    }

    /// Writes them.
    pub(super) fn write(
        &self,
        set: &JobSet,
        converted: &Converted,
        points: &[PointRecord],
        screen: &Screen,
    ) -> Result<()> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for (path, clone, log) in wanted(set, converted) {
            let window_ms = set.jobs[clone.job].report.log_window_ms;
            let rows = places(converted, points, &clone);
            let rows = rows.iter().map(|at| export_fio_log(log, &points[*at], window_ms));
            texts.entry(path).or_default().extend(rows);
        }
        for (path, text) in &texts {
            self.0.get(path).map_or(Ok(()), |file| file.write(text))?;
        }
        if let Some(first) = texts.keys().next() {
            screen.say(&format!("logs     {} in fio's form, as {first}", texts.len()));
        }
        Ok(())
    }
}

/// Each log that each clone asks for: the name of its file, and what it holds.
fn wanted(set: &JobSet, converted: &Converted) -> Vec<(String, Origin, FioLog)> {
    let mut all = Vec::new();
    for clone in clones(converted) {
        let report = &set.jobs[clone.job].report;
        let [bandwidth, latency, iops] = &report.logs;
        let kinds = [
            (bandwidth, "bw", FioLog::Bandwidth),
            (latency, "lat", FioLog::Latency),
            (latency, "clat", FioLog::Latency),
            (iops, "iops", FioLog::Iops),
        ];
        for (name, kind, log) in kinds {
            let Some(name) = name else { continue };
            let number = format!(".{}", clone.thread);
            let number = if report.per_job_logs { number.as_str() } else { "" };
            all.push((format!("{name}_{kind}{number}.log"), clone, log));
        }
    }
    all
}
