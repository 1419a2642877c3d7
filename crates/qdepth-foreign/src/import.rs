//! Import of results of other programs: fio's JSON and logs, Iometer's CSV. Missing data is not
//! invented: latency figures stay figures ([`StatedLatency`](qdepth_record::StatedLatency)),
//! without a histogram.

use qdepth_measure::{Code, Finding};
use qdepth_record::{PointRecord, PointSummary};

use crate::imported::Imported;
use crate::{fio, iometer};

/// Largest file that is read, bytes.
const FILE_MAX: usize = 256 << 20;

/// File that is not a known result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}: {why}. qdepth imports fio's JSON (--output-format=json), fio's logs (NAME_lat.1.log) \
     and Iometer's result CSV"
)]
pub struct ImportError {
    /// File as given by the user.
    pub file: String,
    /// Problem.
    pub why: String,
}

/// Imports files (name and bytes of each). Logs that belong together become one run.
///
/// # Errors
/// If any file has an unknown format. Nothing is imported then.
pub fn import(files: &[(String, Vec<u8>)]) -> Result<Vec<Imported>, ImportError> {
    let mut runs = Vec::new();
    let mut logs = Vec::new();
    for (name, bytes) in files {
        let error = |why: String| ImportError { file: name.clone(), why };
        if bytes.len() > FILE_MAX {
            return Err(error("it is larger than 256 MiB".to_owned()));
        }
        let text = String::from_utf8_lossy(bytes);
        if iometer::is_it(&text) {
            runs.push(iometer::read(name, &text).map_err(error)?);
        } else if fio::import_log::is_it(name, &text) {
            logs.push((name.as_str(), text));
        } else {
            runs.extend(fio::import_json::read(name, &text).map_err(error)?);
        }
    }
    if !logs.is_empty() {
        runs.push(fio::import_log::read(&logs).map_err(|(file, why)| ImportError { file, why })?);
    }
    for run in &mut runs {
        let mark = Finding::remark(Code::Imported).label("program", &run.program);
        for point in &mut run.points {
            point.findings.extend(impossible(point));
            point.findings.push(mark.clone().label("file", &run.file));
        }
    }
    Ok(runs)
}

/// Maximum plausible throughput, MiB/s: ten times the memory bandwidth of the largest servers.
const MIB_PER_S_MAX: f64 = 1e7;
/// Maximum plausible IOPS: about a hundred cycles per I/O on a thousand cores.
const IO_PER_S_MAX: f64 = 2e10;

/// Finding for a rate that no host reaches.
fn impossible(point: &PointRecord) -> Option<Finding> {
    let summary = PointSummary::from_point(point);
    let (throughput, rate) = (summary.mib_per_s, summary.io_per_s.value);
    (throughput > MIB_PER_S_MAX || rate > IO_PER_S_MAX).then(|| {
        Finding::invalid(Code::AboveLinkLimit)
            .value("mib_per_s", throughput)
            .value("link_mib_per_s", MIB_PER_S_MAX)
    })
}
