//! fio job files: parsed, checked against the features of qdepth, and converted to a plan. Pure
//! functions: text in, text and plans out.
//!
//! Written from the published format and from the observed behaviour of fio 3.33 and 3.42; no code
//! of fio was copied. Start with [`JobSet::read`], then [`JobSet::convert`].

mod access;
mod blktrace;
mod command_line;
mod convert;
mod disk;
mod export_job;
mod figure;
mod getopt;
pub(crate) mod import_json;
pub(crate) mod import_log;
mod job;
mod job_parts;
mod json;
mod load;
mod log;
mod normal;
mod number;
mod option_reader;
mod options;
mod plan;
mod read;
mod refusal;
mod replay;
mod replay_log;
mod setting;
mod surroundings;
mod terse;
mod values;
mod variables;

pub use command_line::{CommandLine, InfoCommand, OutputFormat};
pub use convert::{Converted, MissingFile};
pub use disk::FioDisk;
pub use export_job::as_fio;
pub use job::Job;
pub use job_parts::{
    Duplicates, ExitScope, FioLogColumns, LatencyGoal, MinimumRate, Reporting, Span, Unified,
    Verification, WindowValue,
};
pub use json::{FioEntry, FioMoment, FioPriority, export_fio_json};
pub use load::{NewFile, Origin};
pub use log::{
    FIO_TRACE_VERSION, FioIo, FioLog, export_fio_histograms, export_fio_io_windows, export_fio_ios,
    export_fio_log, export_fio_trace,
};
pub use normal::{export_fio_heads, export_fio_normal};
pub use options::fio_options;
pub use refusal::{FioRefusal, FioRefusals, FioRemark};
pub use replay_log::Replay;
pub use surroundings::Surroundings;
pub use terse::export_fio_terse;
pub use values::{Amount, Distribution, Engine, SizePart, Sizes, Trims};

use crate::remark::{Remark, Remarked};
use option_reader::pattern::pattern_files;
use read::Reader;

/// Jobs of a command line and its files, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSet {
    /// Options of global sections: name and value, each once.
    pub globals: Vec<(String, String)>,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Paths of existing files that jobs without `filename` may write to.
    pub own_files: Vec<String>,
}

impl JobSet {
    /// Parses the jobs of a command line. `files` has the name and text of each job file.
    ///
    /// # Errors
    /// If a text is not a job file, or an option is not supported.
    pub fn read(
        line: &CommandLine,
        files: &[(String, String)],
        around: &Surroundings<'_>,
    ) -> Result<Self, FioRefusals> {
        let mut reader = Reader::new(around, &line.sections);
        from_command_line(line, &mut reader)?;
        let mut globals = reader.globals.clone();
        for (name, text) in files {
            globals.extend(reader.file(name, text)?);
        }
        let mut jobs = Vec::new();
        let mut refused = FioRefusals::default();
        for section in reader.sections.iter().filter(|section| reader.wants(&section.name)) {
            let Some(mut job) = refused.keep(Job::from_section(section)) else { continue };
            if refused.keep(replay::into(&mut job, section, around)).is_none() {
                continue;
            }
            let missing = |folder: &&String| !(around.is_directory)(folder.as_str());
            if let Some(folder) = job.directories.iter().find(missing) {
                let what = Remarked::named(Remark::DirectoryNotThere, folder);
                match section.get("directory").filter(|_| line.parse_only) {
                    // As in fio, the file may exist when the job runs.
                    Some(setting) => job.remarks.push(setting.remark(&section.name, what)),
                    None => {
                        refused.add(section.refuse_option("directory", what.to_string()).into())
                    }
                }
            }
            if let Some(pattern) = section.get("buffer_pattern") {
                let files = pattern.value.as_deref().and_then(|text| pattern_files(text).ok());
                let read = |file: &str| (around.trace)(file).err();
                for why in files.into_iter().flatten().filter_map(read) {
                    refused.add(pattern.refuse(&section.name, why).into());
                }
            }
            job.stonewall |= section.next_file;
            if line.read_only && job.writes() {
                refused.add(section.refuse("this job writes, but --readonly is set").into());
            }
            jobs.push(job);
        }
        if jobs.is_empty() && refused.list().is_empty() && !line.parse_only {
            refused.add(nothing(line, &reader.sections).into());
        }
        refused.or(Self { globals: setting::each_once(&globals), jobs, own_files: Vec::new() })
    }
}

impl JobSet {
    /// The jobs as a command line of fio: global options before the first.
    pub fn command_line(&self) -> String {
        let words = |list: &[(String, String)]| -> Vec<String> {
            let word = |(name, value): &(String, String)| match value.as_str() {
                "" => format!("--{name}"),
                value => format!("--{name}={value}"),
            };
            list.iter().map(word).collect()
        };
        let mut all = vec!["fio".to_owned()];
        // A global section between two jobs does not apply to those before it.
        let is_common = |job: &Job| job.report.inherited == self.globals;
        let have_common = self.jobs.iter().all(is_common);
        all.extend(words(&self.globals).into_iter().filter(|_| have_common));
        for job in &self.jobs {
            all.push(format!("--name={}", job.name));
            all.extend(words(&job.report.inherited).into_iter().filter(|_| !have_common));
            all.extend(words(&job.report.written));
        }
        all.join(" ")
    }
}

fn from_command_line(line: &CommandLine, reader: &mut Reader<'_>) -> Result<(), FioRefusal> {
    let origin = command_line::origin();
    for job in &line.jobs {
        let name = job.first().and_then(|(_, value)| value.as_deref()).unwrap_or("");
        let global = name == "global";
        if !global {
            reader.begin_job(name, &origin, 0);
        }
        let skip = usize::from(global);
        for (option, value) in job.iter().skip(skip) {
            reader.add(name, &origin, 0, option, value.as_deref(), global)?;
        }
    }
    Ok(())
}

/// Error of a command line without jobs.
fn nothing(line: &CommandLine, sections: &[setting::Section]) -> FioRefusal {
    let names: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
    let why = match names.as_slice() {
        [] => "there is no job: add a section [NAME] to a file, or --name=NAME".to_owned(),
        names => {
            format!("no job matches --section; the jobs are {}", names.join(", "))
        }
    };
    FioRefusal::at(line.files.first().map_or("command line", String::as_str), 0, why)
}
