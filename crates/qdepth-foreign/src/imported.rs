//! Imported run of another program.

use jiff::Timestamp;
use qdepth_measure::{Code, Finding, label};
use qdepth_record::{
    DirectionRecord, MEASUREMENT_VERSION, PointRecord, RunRecord, RunState, TargetKind,
    TargetRecord,
};

use crate::remark::Remark;

/// Imported run of another program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Program: `fio` or `Iometer`.
    pub program: String,
    /// Version of the program; empty if unknown.
    pub version: String,
    /// Start, RFC 3339; `None` if the document does not contain it.
    pub started_at: Option<String>,
    /// Source files.
    pub file: String,
    /// Names of the targets; points contain indices into this list.
    pub targets: Vec<String>,
    /// Measured points.
    pub points: Vec<PointRecord>,
    /// Remarks on missing or reinterpreted data.
    pub remarks: Vec<Remark>,
}

impl Imported {
    /// Record of the run: complete and marked as imported. `id` is a UUID, `now` a time in
    /// RFC 3339, `qdepth_version` that of the importing program.
    pub fn record(&self, id: &str, now: &str, qdepth_version: &str) -> RunRecord {
        let mut mark = Finding::remark(Code::Imported)
            .label("program", &self.program)
            .label("file", &self.file);
        if !self.version.is_empty() {
            mark = mark.label("version", &self.version);
        }
        if !self.remarks.is_empty() {
            let codes: Vec<&str> = self.remarks.iter().map(|remark| remark.as_str()).collect();
            mark = mark.label("remarks", codes.join(label::BETWEEN));
        }
        let target = |(index, name): (usize, &String)| TargetRecord {
            index: index as u32,
            expression: name.clone(),
            name: name.clone(),
            kind: if name.starts_with("/dev/") {
                TargetKind::BlockDevice
            } else {
                TargetKind::File
            },
            engine: self.program.clone(),
            ..TargetRecord::default()
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
            points_planned: self.points.len() as u32,
            engine_choice: "auto".to_owned(),
            targets: self.targets.iter().enumerate().map(target).collect(),
            findings: vec![mark],
            ..RunRecord::default()
        }
    }
}

/// Point of these reads, writes and trims, from which its shares, mean size and number of requests
/// follow. Unknown settings are those of a single request at a time.
pub(crate) fn point(name: String, [reads, writes, trims]: [DirectionRecord; 3]) -> PointRecord {
    let sum = |field: fn(&DirectionRecord) -> u64| {
        [&reads, &writes, &trims].into_iter().map(field).fold(0, u64::saturating_add)
    };
    let (requests, bytes) = (sum(|side| side.completed), sum(|side| side.bytes));
    let of_requests = |value: u64, none: f64| {
        if requests == 0 { none } else { value as f64 / requests as f64 }
    };
    let mean = of_requests(bytes, 0.0);
    PointRecord {
        profile: name.clone(),
        profile_title: name,
        read_share: of_requests(reads.completed, 1.0),
        trim_share: of_requests(trims.completed, 0.0),
        block_size: format!("{mean:.0}B"),
        block_size_mean_bytes: mean,
        arrivals: "closed".to_owned(),
        queue_depth: 1,
        streams: 1,
        issued: requests,
        reads,
        writes,
        trims,
        ..PointRecord::default()
    }
}

/// Index of a target in the list; a new target is appended.
pub(crate) fn target_index(targets: &mut Vec<String>, name: &str) -> u32 {
    let index = targets.iter().position(|known| known == name).unwrap_or_else(|| {
        targets.push(name.to_owned());
        targets.len() - 1
    });
    index as u32
}

/// Formats Unix seconds in RFC 3339.
pub(crate) fn rfc3339(seconds: i64) -> Option<String> {
    let moment = Timestamp::from_second(seconds).ok()?;
    (seconds >= 0).then(|| moment.to_string())
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn unix_seconds_become_rfc3339_dates() {
        assert_eq!(rfc3339(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(rfc3339(951_827_696).as_deref(), Some("2000-02-29T12:34:56Z"));
        assert_eq!(rfc3339(1_795_278_890).as_deref(), Some("2026-11-21T16:34:50Z"));
        assert_eq!(rfc3339(-1), None);
    }
}
