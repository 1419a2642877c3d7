//! A run of another program, as read from its results.

use jiff::Timestamp;
use qdepth_measure::{Code, Finding, label};
use qdepth_record::{
    MEASUREMENT_VERSION, PointRecord, RunRecord, RunState, TargetKind, TargetRecord,
};

use crate::remark::Remark;

/// One run of another program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// `fio`, `Iometer`.
    pub program: String,
    /// Its version, as it says; empty where it does not.
    pub version: String,
    /// Start, RFC 3339; `None` if the document does not contain it.
    pub started_at: Option<String>,
    /// The files that it was read from.
    pub file: String,
    /// Names of the targets; points hold places in this list.
    pub targets: Vec<String>,
    /// Measured points.
    pub points: Vec<PointRecord>,
    /// Remarks on missing or reinterpreted data.
    pub remarks: Vec<Remark>,
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

/// The place of a target in the list, which gets it where it is new.
pub(crate) fn target_index(targets: &mut Vec<String>, name: &str) -> u32 {
    let index = targets.iter().position(|known| known == name).unwrap_or_else(|| {
        targets.push(name.to_owned());
        targets.len() - 1
    });
    index as u32
}

/// RFC 3339 of seconds since 1970.
pub(crate) fn rfc3339(seconds: i64) -> Option<String> {
    let moment = Timestamp::from_second(seconds).ok()?;
    (seconds >= 0).then(|| moment.to_string())
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn seconds_become_a_date() {
        assert_eq!(rfc3339(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(rfc3339(951_827_696).as_deref(), Some("2000-02-29T12:34:56Z"));
        assert_eq!(rfc3339(1_795_278_890).as_deref(), Some("2026-11-21T16:34:50Z"));
        assert_eq!(rfc3339(-1), None);
    }
}
