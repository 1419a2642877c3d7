//! Runs as tables with typed columns: what columnar files hold, and CSV a part of. Names are those
//! of the JSON documents and of CSV.

use std::collections::BTreeMap;

use qdepth_measure::Finding;

use crate::field::{Field, Value, flag, owned, text, whole};
use crate::fields::{Record, Stored};
use crate::headline::RunHeadline;
use crate::point::{PointRecord, point_fields, transfers};
use crate::reason::Reason;
use crate::record::{
    IntervalRecord, Observation, RunRecord, RunState, TargetRecord, monitor_cells, run_cells,
    target_cells,
};

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
            Self::Targets => run.targets.iter().for_each(|each| {
                let mut fields = of_run(run);
                fields.extend(target_cells(&each));
                row(fields);
            }),
            Self::Facts => {
                run.environment.iter().for_each(|fact| row(fact_fields(run, None, fact)));
                for target in &run.targets {
                    let facts = target.facts.iter();
                    facts.for_each(|fact| row(fact_fields(run, Some(target.index), fact)));
                }
            }
            Self::Points => {
                let of_run = of_run_fields(headline, run);
                for point in points {
                    let mut fields = of_run.clone();
                    fields.extend(point_fields(run, point));
                    row(fields);
                }
            }
            Self::Intervals => points.iter().for_each(|point| {
                let slices = (0_u64..).zip(&point.intervals);
                slices.for_each(|(slice, interval)| {
                    row(interval_fields(run, point, slice, interval))
                });
            }),
            Self::Monitors => points.iter().for_each(|point| {
                point.monitors.iter().for_each(|monitor| {
                    let mut fields = key(run, point);
                    fields.extend(monitor_cells(&monitor));
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
            columns = row.into_iter().map(Field::without_value).collect();
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
    let target = TargetRecord { facts: vec![fact()], ..TargetRecord::default() };
    let finding = || Finding::remark(qdepth_measure::Code::Buffered);
    let mut point = PointRecord {
        intervals: vec![IntervalRecord::default()],
        monitors: vec![Default::default()],
        findings: vec![finding()],
        ..PointRecord::default()
    };
    point.reads.errors.push(crate::record::ErrorCount { errno: 5, count: 1 });
    let run = RunRecord {
        environment: vec![fact()],
        targets: vec![target],
        findings: vec![finding()],
        ..RunRecord::default()
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

/// Which run it is of.
fn of_run(run: &RunRecord) -> Vec<Field<'_>> {
    let emulated = "Whether time was invented: then nothing here was measured on storage";
    vec![
        Field::new("run", "Id of the run, UUID version 7", text(&run.id)),
        Field::new("emulated", emulated, flag(run.emulated)),
    ]
}

fn key<'a>(run: &'a RunRecord, point: &'a PointRecord) -> Vec<Field<'a>> {
    let description = "Place of the point in the plan, from 0: `index` of the points";
    let mut fields = of_run(run);
    fields.push(Field::new("point", description, whole(point.index)));
    fields
}

/// Of a run what its row says, and what its line of the list does.
fn run_fields<'a>(headline: &'a RunHeadline, run: &'a RunRecord) -> Vec<Field<'a>> {
    let mut fields = run_cells(&run);
    fields.extend([
        Field::new(
            "state",
            "`running`, `sealed`, `interrupted`, `failed`, or `killed`",
            text(headline.state_text()),
        ),
        Field::new(
            "damaged",
            "Whether something of it is not what was written, and is left out",
            flag(headline.damaged),
        ),
        Field::new(
            "retracted",
            "Why it is not to be relied on (`qdepth retract`); null where nobody retracted it",
            text(headline.retracted.as_deref().unwrap_or_default()),
        ),
        Field::new(
            "notes",
            "What persons noted of it, a line each",
            owned(headline.notes.join("\n")),
        ),
        Field::new("host", "Name of the machine", text(&headline.host)),
        Field::new(
            "targets",
            "Names of the targets, a line each",
            owned(headline.targets.join("\n")),
        ),
        Field::new("points_done", "Points measured in full", whole(headline.points_done)),
    ]);
    in_order(fields, RUNS)
}

/// Columns of runs, which keep their places: those that came later stand at the end.
const RUNS: &str = "run emulated started_at ended_at state damaged retracted notes plan plan_hash \
                    seed host targets engine_choice points_done points_planned version \
                    measurement_version";
/// What a point's row has of its run, besides what CSV has.
const OF_RUN: &str = "plan plan_hash host run_started_at state retracted version \
                      measurement_version";
/// The first columns of slices.
const SLICES: &str = "start_ns length_ns reads writes trims";

fn position(field: &Field<'_>, names: &str) -> Option<usize> {
    names.split(' ').position(|name| name == field.name)
}

fn in_order<'a>(mut fields: Vec<Field<'a>>, names: &str) -> Vec<Field<'a>> {
    fields.sort_by_key(|field| position(field, names).unwrap_or(usize::MAX));
    fields
}

fn of_run_fields<'a>(headline: &'a RunHeadline, run: &'a RunRecord) -> Vec<Field<'a>> {
    let mut fields = run_fields(headline, run);
    let began = fields.iter_mut().filter(|field| field.name == "started_at");
    began.for_each(|field| field.name = "run_started_at".into());
    fields.retain(|field| position(field, OF_RUN).is_some());
    in_order(fields, OF_RUN)
}

fn fact_fields<'a>(
    run: &'a RunRecord,
    target: Option<u32>,
    fact: &'a Observation,
) -> Vec<Field<'a>> {
    let value = fact.value.as_deref().unwrap_or_default();
    let why = fact.value.as_ref().err().map_or_else(String::new, Reason::json);
    let mut fields = of_run(run);
    fields.extend([
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
    ]);
    fields
}

/// Of a slice what is a number.
fn interval_fields<'a>(
    run: &'a RunRecord,
    point: &'a PointRecord,
    slice: u64,
    interval: &IntervalRecord,
) -> Vec<Field<'a>> {
    let counts = IntervalRecord::columns().filter_map(|column| {
        let Stored::Whole(count) = (column.get)(interval) else { return None };
        let meaning = column.meaning.trim_end_matches('.');
        Some(Field::new(column.name, meaning, whole(count.cast_unsigned())))
    });
    let mut fields = key(run, point);
    fields.push(Field::new("slice", "Its place in the series, from 0", whole(slice)));
    fields.extend(in_order(counts.collect(), SLICES));
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
    let mut fields = of_run(run);
    fields.extend([
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
    ]);
    fields
}
