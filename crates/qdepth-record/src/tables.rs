//! Runs as tables with typed columns: what columnar files hold, and CSV a part of. Names are those
//! of the JSON documents and of CSV.

use std::collections::BTreeMap;

use qdepth_measure::Finding;

use crate::field::{Field, Value, flag, owned, real, text, time, whole};
use crate::headline::RunHeadline;
use crate::point::{PointRecord, point_fields, transfers};
use crate::reason::Reason;
use crate::record::{IntervalRecord, Observation, RunRecord, RunState, TargetKind, TargetRecord};

/// Name of the form of the tables.
pub const TABLES_NAME: &str = "qdepth-tables";
/// Version of the form. Rises when a column goes away or changes its meaning; new columns do not
/// raise it.
pub const TABLES_VERSION: u32 = 1;

/// A run as it goes into the tables.
#[derive(Clone, Copy, Debug)]
pub struct TabledRun<'a> {
    /// Its line of the list.
    pub headline: &'a RunHeadline,
    /// The run.
    pub run: &'a RunRecord,
    /// Its points, in the order of the plan.
    pub points: &'a [PointRecord],
}

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableOf {
    /// A row a run.
    Runs,
    /// A row a target of a run.
    Targets,
    /// A row a fact of the machine, or of the storage below a target.
    Facts,
    /// A row a point, with all its figures.
    Points,
    /// A row a slice of a point's series.
    Intervals,
    /// A row a second of a monitor of a point.
    Monitors,
    /// A row a kind of failed I/Os of a point.
    Errors,
    /// A row a doubt about a point or a run.
    Findings,
}

impl TableOf {
    /// Every one there is.
    pub const ALL: [Self; 8] = [
        Self::Runs,
        Self::Targets,
        Self::Facts,
        Self::Points,
        Self::Intervals,
        Self::Monitors,
        Self::Errors,
        Self::Findings,
    ];

    /// Its name, which its file has too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Targets => "targets",
            Self::Facts => "facts",
            Self::Points => "points",
            Self::Intervals => "intervals",
            Self::Monitors => "monitors",
            Self::Errors => "errors",
            Self::Findings => "findings",
        }
    }

    /// What a row of it is, for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Runs => "a run",
            Self::Targets => "a target of a run",
            Self::Facts => "a fact of the machine, or of the storage below a target",
            Self::Points => "a point: a load profile at one intensity on one target",
            Self::Intervals => "a slice of a point's series",
            Self::Monitors => "what a monitor of the machine said at one moment of a point",
            Self::Errors => "failed I/Os of one kind of a point",
            Self::Findings => "a doubt about a point, or about a run",
        }
    }

    /// Gives the rows of a run to `row`, one after another.
    pub fn rows<'a>(self, tabled: TabledRun<'a>, mut row: impl FnMut(Vec<Field<'a>>)) {
        let TabledRun { headline, run, points } = tabled;
        match self {
            Self::Runs => row(run_fields(headline, run)),
            Self::Targets => run.targets.iter().for_each(|each| row(target_fields(run, each))),
            Self::Facts => {
                run.environment.iter().for_each(|fact| row(fact_fields(run, None, fact)));
                for target in &run.targets {
                    let facts = target.facts.iter();
                    facts.for_each(|fact| row(fact_fields(run, Some(target.index), fact)));
                }
            }
            Self::Points => points.iter().for_each(|point| {
                let mut fields = of_run_fields(headline, run);
                fields.extend(point_fields(run, point));
                row(fields);
            }),
            Self::Intervals => points.iter().for_each(|point| {
                let slices = (0_u64..).zip(&point.intervals);
                slices.for_each(|(slice, interval)| {
                    row(interval_fields(run, point, slice, interval))
                });
            }),
            Self::Monitors => points.iter().for_each(|point| {
                point.monitors.iter().for_each(|said| {
                    let mut fields = key(run, point);
                    fields.extend([
                        Field::new(
                            "at_ns",
                            "End of the second, ns from just before the load",
                            whole(said.at_ns),
                        ),
                        Field::new("name", "Of what and which, the unit last", text(&said.name)),
                        Field::new(
                            "value",
                            "A rate or share over the second, or the level at its end",
                            real(said.value),
                        ),
                    ]);
                    row(fields);
                });
            }),
            Self::Errors => points.iter().for_each(|point| errors(run, point, &mut row)),
            Self::Findings => {
                run.findings.iter().for_each(|finding| row(finding_fields(run, None, finding)));
                for point in points {
                    let findings = point.findings.iter();
                    findings.for_each(|finding| row(finding_fields(run, Some(point), finding)));
                }
            }
        }
    }

    /// Its columns, in order: a row whose values say nothing but their types.
    pub fn columns(self) -> Vec<Field<'static>> {
        let (headline, run, points) = something();
        let tabled = TabledRun { headline: &headline, run: &run, points: &points };
        let mut columns = Vec::new();
        self.rows(tabled, |row| {
            let typed = |field: Field<'_>| Field {
                name: field.name,
                description: field.description,
                value: match field.value {
                    Value::Text(_) => Value::Text(None),
                    Value::Whole(_) => Value::Whole(None),
                    Value::Real(_) => Value::Real(None),
                    Value::Flag(_) => Value::Flag(None),
                    Value::Time(_) => Value::Time(None),
                },
            };
            columns = row.into_iter().map(typed).collect();
        });
        columns
    }
}

/// A run that has a row in each table.
fn something() -> (RunHeadline, RunRecord, Vec<PointRecord>) {
    let fact = || Observation {
        subject: String::new(),
        key: String::new(),
        value: Ok(String::new()),
        source: String::new(),
    };
    let target = TargetRecord {
        index: 0,
        expression: String::new(),
        name: String::new(),
        kind: TargetKind::File,
        area_bytes: 0,
        engine: String::new(),
        ceiling: Vec::new(),
        facts: vec![fact()],
    };
    let finding = || Finding::remark(qdepth_measure::Code::Buffered);
    let mut point = PointRecord {
        intervals: vec![IntervalRecord::default()],
        monitors: vec![Default::default()],
        findings: vec![finding()],
        ..PointRecord::default()
    };
    point.reads.errors.push(crate::record::ErrorCount { errno: 5, count: 1 });
    let run = RunRecord {
        id: String::new(),
        started_at: String::new(),
        ended_at: None,
        state: RunState::Running,
        qdepth_version: String::new(),
        measurement_version: 0,
        plan_name: String::new(),
        plan_hash: String::new(),
        plan_text: String::new(),
        seed: 0,
        emulated: false,
        points_planned: 0,
        engine_choice: String::new(),
        comparison: None,
        environment: vec![fact()],
        targets: vec![target],
        expected: Vec::new(),
        findings: vec![finding()],
    };
    let headline = RunHeadline {
        id: String::new(),
        started_at: String::new(),
        ended_at: None,
        state: RunState::Running,
        alive: false,
        plan: String::new(),
        host: String::new(),
        targets: Vec::new(),
        points_done: 0,
        points_planned: 0,
        emulated: false,
        damaged: false,
        notes: Vec::new(),
        retracted: None,
    };
    (headline, run, vec![point])
}

const RUN: &str = "Id of the run, UUID version 7";
const EMULATED: &str = "Whether time was invented: then nothing here was measured on storage";
const STATE: &str = "`running`, `sealed`, `interrupted`, `failed`, or `killed`";
const RETRACTED: &str =
    "Why it is not to be relied on (`qdepth retract`); null where nobody retracted it";
const HASH: &str = "SHA-256 of the plan's text";
const HOST: &str = "Name of the machine";
const VERSION: &str = "Version of the program";
const MEANING: &str = "Version of the meaning of the figures";

fn emulated(run: &RunRecord) -> Field<'static> {
    Field::new("emulated", EMULATED, flag(run.emulated))
}

fn key<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    vec![
        Field::new("run", RUN, text(&run.id)),
        emulated(run),
        Field::new(
            "point",
            "Place of the point in the plan, from 0: `index` of the points",
            whole(point.index),
        ),
    ]
}

fn run_fields<'a>(headline: &'a RunHeadline, run: &'a RunRecord) -> Vec<Field<'a>> {
    let retracted = headline.retracted.as_deref().unwrap_or_default();
    let whole_32 = |figure: u32| whole(figure);
    vec![
        Field::new("run", RUN, text(&run.id)),
        emulated(run),
        Field::new("started_at", "When it began", time(&run.started_at)),
        Field::new(
            "ended_at",
            "When it ended; null while running, or where it was killed",
            Value::Time(run.ended_at.as_deref()),
        ),
        Field::new("state", STATE, text(headline.state_text())),
        Field::new(
            "damaged",
            "Whether something of it is not what was written, and is left out",
            flag(headline.damaged),
        ),
        Field::new("retracted", RETRACTED, text(retracted)),
        Field::new(
            "notes",
            "What persons noted of it, a line each",
            owned(headline.notes.join("\n")),
        ),
        Field::new("plan", "Name of the plan", text(&run.plan_name)),
        Field::new("plan_hash", HASH, text(&run.plan_hash)),
        Field::new("seed", "Digits of the 64-bit seed", owned(run.seed.to_string())),
        Field::new("host", HOST, text(&headline.host)),
        Field::new(
            "targets",
            "Names of the targets, a line each",
            owned(headline.targets.join("\n")),
        ),
        Field::new(
            "engine_choice",
            "How requests were to reach the kernel, as asked",
            text(&run.engine_choice),
        ),
        Field::new("points_done", "Points measured in full", whole_32(headline.points_done)),
        Field::new("points_planned", "Points of the plan", whole_32(run.points_planned)),
        Field::new("version", VERSION, text(&run.qdepth_version)),
        Field::new("measurement_version", MEANING, whole_32(run.measurement_version)),
    ]
}

/// What a point's row has of its run, besides what CSV has.
fn of_run_fields<'a>(headline: &'a RunHeadline, run: &'a RunRecord) -> Vec<Field<'a>> {
    let retracted = headline.retracted.as_deref().unwrap_or_default();
    vec![
        Field::new("plan", "Name of the run's plan", text(&run.plan_name)),
        Field::new("plan_hash", HASH, text(&run.plan_hash)),
        Field::new("host", HOST, text(&headline.host)),
        Field::new("run_started_at", "When the run began", time(&run.started_at)),
        Field::new("state", STATE, text(headline.state_text())),
        Field::new("retracted", RETRACTED, text(retracted)),
        Field::new("version", VERSION, text(&run.qdepth_version)),
        Field::new("measurement_version", MEANING, whole(run.measurement_version)),
    ]
}

fn target_fields<'a>(run: &'a RunRecord, target: &'a TargetRecord) -> Vec<Field<'a>> {
    vec![
        Field::new("run", RUN, text(&run.id)),
        emulated(run),
        Field::new("index", "Its place in the run, from 0", whole(target.index)),
        Field::new(
            "name",
            "Its name, unique within the run: `target` of the points",
            text(&target.name),
        ),
        Field::new("expression", "As the user spelled it", text(&target.expression)),
        Field::new(
            "kind",
            "`directory`, `file`, `block-device` or `emulated`",
            text(target.kind.as_str()),
        ),
        Field::new("area_bytes", "The area under load", whole(target.area_bytes)),
        Field::new("engine", "The engine that measured it", text(&target.engine)),
    ]
}

fn fact_fields<'a>(
    run: &'a RunRecord,
    target: Option<u32>,
    fact: &'a Observation,
) -> Vec<Field<'a>> {
    let value = fact.value.as_deref().unwrap_or_default();
    let why = fact.value.as_ref().err().map_or_else(String::new, Reason::json);
    vec![
        Field::new("run", RUN, text(&run.id)),
        emulated(run),
        Field::new(
            "target",
            "Index of the target that it is of; null of the machine and the run",
            Value::Whole(target.map(u64::from)),
        ),
        Field::new(
            "subject",
            "What it is about: `host`, `cpu`, `kernel`, a device",
            text(&fact.subject),
        ),
        Field::new("key", "Which fact, the unit last", text(&fact.key)),
        Field::new("value", "The value, as text; null where it could not be read", text(value)),
        Field::new(
            "unknown_because",
            "Why it could not be read, as a JSON object of its `code` and values",
            owned(why),
        ),
        Field::new(
            "source",
            "The file or command that it was read from, or a code with `run:` or `EMULATED:`",
            text(&fact.source),
        ),
    ]
}

fn interval_fields<'a>(
    run: &'a RunRecord,
    point: &'a PointRecord,
    slice: u64,
    interval: &IntervalRecord,
) -> Vec<Field<'a>> {
    let mut fields = key(run, point);
    fields.extend([
        Field::new("slice", "Its place in the series, from 0", whole(slice)),
        Field::new(
            "start_ns",
            "Beginning, ns from that of the measured window",
            whole(interval.start_ns),
        ),
        Field::new(
            "length_ns",
            "Length, ns; the last of a visit may be shorter",
            whole(interval.length_ns),
        ),
        Field::new("reads", "Reads completed", whole(interval.reads)),
        Field::new("writes", "Writes completed", whole(interval.writes)),
        Field::new("trims", "Trims completed", whole(interval.trims)),
        Field::new("read_bytes", "Bytes of the reads", whole(interval.read_bytes)),
        Field::new("written_bytes", "Bytes of the writes", whole(interval.written_bytes)),
        Field::new("trimmed_bytes", "Bytes of the trims", whole(interval.trimmed_bytes)),
    ]);
    fields
}

fn errors<'a>(run: &'a RunRecord, point: &'a PointRecord, row: &mut impl FnMut(Vec<Field<'a>>)) {
    for (direction, record) in transfers(point) {
        for error in &record.errors {
            let errno = u64::try_from(error.errno).ok();
            let mut fields = key(run, point);
            fields.extend([
                Field::new("direction", "`read`, `write`, `trim` or `sync`", text(direction)),
                Field::new(
                    "errno",
                    "Linux error number; 0 for all kinds beyond the sixteenth together",
                    Value::Whole(errno),
                ),
                Field::new("count", "How often", whole(error.count)),
            ]);
            row(fields);
        }
    }
}

fn finding_fields<'a>(
    run: &'a RunRecord,
    point: Option<&'a PointRecord>,
    finding: &'a Finding,
) -> Vec<Field<'a>> {
    let values: BTreeMap<&str, Option<f64>> =
        finding.values.iter().map(|(name, v)| (&**name, v.is_finite().then_some(*v))).collect();
    let json = |answer: serde_json::Result<String>| owned(answer.unwrap_or_default());
    vec![
        Field::new("run", RUN, text(&run.id)),
        emulated(run),
        Field::new(
            "point",
            "Place of the point in the plan, from 0; null of the run as a whole",
            Value::Whole(point.map(|point| point.index.into())),
        ),
        Field::new(
            "code",
            "What kind of doubt; a code never changes its meaning",
            text(finding.code_text()),
        ),
        Field::new("severity", "`remark` or `invalid`", text(finding.severity.as_str())),
        Field::new(
            "values",
            "Figures by name, as a JSON object",
            json(serde_json::to_string(&values)),
        ),
        Field::new(
            "labels",
            "Texts by name, as a JSON object",
            json(serde_json::to_string(&finding.labels)),
        ),
    ]
}
