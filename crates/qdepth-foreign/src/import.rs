//! Results of other programs, read into records: fio's JSON and logs, Iometer's CSV. What the
//! program did not say is not invented: latencies that came as figures stay figures
//! ([`StatedLatency`](qdepth_record::StatedLatency)), without a histogram.

use std::fmt;

use qdepth_measure::{Code, Finding};

use qdepth_record::{
    MEASUREMENT_VERSION, PointRecord, RunRecord, RunState, TargetKind, TargetRecord,
};

/// Largest file that is read, bytes.
const FILE_MAX: usize = 256 << 20;

/// A file that is no result that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// The file as named.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}; fio's JSON (--output-format=json), fio's logs (NAME_lat.1.log) and Iometer's result CSV can be read",
            self.file, self.why
        )
    }
}

impl std::error::Error for ImportError {}

/// One run of another program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// `fio`, `Iometer`.
    pub program: String,
    /// Its version, as it says; empty where it does not.
    pub version: String,
    /// When it ran, RFC 3339, where it says so.
    pub started_at: Option<String>,
    /// The files that it was read from.
    pub file: String,
    /// Names of the targets; points hold places in this list.
    pub targets: Vec<String>,
    /// What was measured.
    pub points: Vec<PointRecord>,
    /// What the program did not say and what was read otherwise, in words.
    pub remarks: Vec<String>,
}

/// Reads files: name and bytes of each. Logs that belong together become one run.
///
/// # Errors
/// Where a file is none of those that are known. Nothing is returned then.
pub fn import(files: &[(String, Vec<u8>)]) -> Result<Vec<Imported>, ImportError> {
    let mut runs = Vec::new();
    let mut logs = Vec::new();
    for (name, bytes) in files {
        let error = |why: String| ImportError { file: name.clone(), why };
        if bytes.len() > FILE_MAX {
            return Err(error("is larger than 256 MiB".to_owned()));
        }
        let text = String::from_utf8_lossy(bytes);
        if crate::iometer::is_it(&text) {
            runs.push(crate::iometer::read(name, &text).map_err(error)?);
        } else if crate::fio::import_log::is_it(name, &text) {
            logs.push((name.as_str(), text));
        } else {
            runs.extend(crate::fio::import_json::read(name, &text).map_err(error)?);
        }
    }
    if !logs.is_empty() {
        runs.push(
            crate::fio::import_log::read(&logs).map_err(|(file, why)| ImportError { file, why })?,
        );
    }
    for run in &mut runs {
        let mark = Finding::remark(Code::Imported).label("program", &run.program);
        for point in &mut run.points {
            point.findings.push(mark.clone().label("file", &run.file));
        }
    }
    Ok(runs)
}

impl Imported {
    /// The run as it is stored: sealed, with the mark of where it comes from. `id` is a UUID,
    /// `now` RFC 3339, `qdepth_version` that of the program that imports.
    pub fn record(&self, id: &str, now: &str, qdepth_version: &str) -> RunRecord {
        let mut mark = Finding::remark(Code::Imported)
            .label("program", &self.program)
            .label("file", &self.file);
        if !self.version.is_empty() {
            mark = mark.label("version", &self.version);
        }
        if !self.remarks.is_empty() {
            mark = mark.label("remarks", self.remarks.join("; "));
        }
        let target = |(index, name): (usize, &String)| TargetRecord {
            index: index as u32,
            spelling: name.clone(),
            name: name.clone(),
            kind: if name.starts_with("/dev/") {
                TargetKind::BlockDevice
            } else {
                TargetKind::File
            },
            area_bytes: 0,
            engine: self.program.clone(),
            ceiling: Vec::new(),
            facts: Vec::new(),
        };
        let version = self.version.trim_start_matches("fio-");
        RunRecord {
            id: id.to_owned(),
            started_at: self.started_at.clone().unwrap_or_else(|| now.to_owned()),
            ended_at: Some(now.to_owned()),
            state: RunState::Running,
            qdepth_version: qdepth_version.to_owned(),
            measurement_version: MEASUREMENT_VERSION,
            plan_name: format!("imported: {} {version}", self.program).trim_end().to_owned(),
            plan_hash: String::new(),
            plan_text: String::new(),
            seed: 0,
            emulated: false,
            points_planned: self.points.len() as u32,
            engine_choice: "auto".to_owned(),
            comparison: None,
            environment: Vec::new(),
            targets: self.targets.iter().enumerate().map(target).collect(),
            expected: Vec::new(),
            findings: vec![mark],
        }
    }
}

/// The place of a target in the list, which gets it where it is new.
pub(crate) fn place_of(targets: &mut Vec<String>, name: &str) -> u32 {
    let place = targets.iter().position(|known| known == name).unwrap_or_else(|| {
        targets.push(name.to_owned());
        targets.len() - 1
    });
    place as u32
}
