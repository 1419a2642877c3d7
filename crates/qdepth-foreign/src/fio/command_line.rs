//! Parser of fio's command line: job files, jobs as options, and output options.

use std::rc::Rc;

use super::getopt::{Word, words};
use super::options::ProgramOption;
use super::refusal::{FioRefusal, FioRefusals, FioRemark};
use crate::remark::Remark;

/// Output format of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputFormat {
    /// fio's terse format (separated by semicolons), version 2 to 5.
    Terse(u8),
    /// fio's JSON.
    Json,
    /// fio's JSON with all latency buckets (`json+`).
    JsonPlus,
    /// fio's text for people.
    Normal,
}

/// Information to print instead of measuring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InfoCommand {
    /// Version.
    Version,
    /// Usage of fio.
    Help,
    /// Help for all options, or for one.
    Options(Option<String>),
    /// List of engines.
    Engines,
    /// The jobs as a command line (`--showcmd`).
    CommandLine,
    /// Text of a compressed log.
    InflateLog(String),
}

/// Parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Job files, in order.
    pub files: Vec<String>,
    /// Jobs written as options: name and value, the job's name first. Options before the first job
    /// form a job `global` that applies to all following jobs and to the job files.
    pub jobs: Vec<Vec<(String, Option<String>)>>,
    /// Sections to run; all if empty.
    pub sections: Vec<String>,
    /// Output file; `None` for standard output.
    pub output: Option<String>,
    /// Requested output formats, in the order in which fio prints them; empty if not requested.
    pub formats: Vec<OutputFormat>,
    /// True if no job may write (`--readonly`).
    pub read_only: bool,
    /// True to exit after parsing (`--parse-only`).
    pub parse_only: bool,
    /// Information command, if any.
    pub info: Option<InfoCommand>,
    /// Differences from fio.
    pub remarks: Vec<FioRemark>,
    /// True if the seed of the random numbers is printed (`--debug=random`).
    pub shows_seeds: bool,
}

impl CommandLine {
    /// Parses the words after `fio`.
    ///
    /// # Errors
    /// All options that are unknown or not supported.
    pub fn read(list: &[String]) -> Result<Self, FioRefusals> {
        let mut line = Self::default();
        let mut output_options = OutputOptions::default();
        let mut refused = FioRefusals::default();
        for word in words(list) {
            let read = match word {
                Word::File(name) => {
                    line.files.push(name);
                    Ok(())
                }
                Word::Unknown(name, why) => Err(refuse(&name, why)),
                Word::Job(name, value) => {
                    line.job_option(name, value);
                    Ok(())
                }
                Word::Own(option, value) => line.own_option(option, value, &mut output_options),
            };
            refused.keep(read);
        }
        line.formats = output_options.formats(&mut refused);
        refused.or(line)
    }

    fn job_option(&mut self, name: String, value: Option<String>) {
        if name == "name" {
            self.jobs.push(vec![(name, value)]);
            return;
        }
        if self.jobs.is_empty() {
            self.jobs.push(vec![("name".to_owned(), Some("global".to_owned()))]);
        }
        if let Some(job) = self.jobs.last_mut() {
            job.push((name, value));
        }
    }

    fn own_option(
        &mut self,
        option: &ProgramOption,
        value: Option<String>,
        output_options: &mut OutputOptions,
    ) -> Result<(), FioRefusal> {
        let name = option.name.as_str();
        if let Some(why) = &option.refused {
            return Err(refuse(&format!("--{name}"), format!("refused: {why}")));
        }
        match name {
            "readonly" => self.read_only = true,
            "parse-only" => self.parse_only = true,
            "bandwidth-log" => self.remark(name, Remark::NoLogOfAllJobs),
            "output" => self.output = value,
            "section" => self.sections.extend(value),
            "output-format" => output_options.forms = value.unwrap_or_default(),
            "minimal" => output_options.forms = "terse".to_owned(),
            "append-terse" => output_options.and_terse = true,
            "terse-version" => output_options.version = value,
            "version" => self.info = Some(InfoCommand::Version),
            "help" => self.info = Some(InfoCommand::Help),
            "cmdhelp" => {
                self.info = Some(InfoCommand::Options(value.filter(|name| name != "all")));
            }
            "enghelp" => self.info = Some(InfoCommand::Engines),
            "inflate-log" => self.info = value.map(InfoCommand::InflateLog),
            "showcmd" => self.info = Some(InfoCommand::CommandLine),
            "status-interval" => self.remark(name, Remark::OneResultAtEnd),
            "debug" if value.as_deref() == Some("random") => self.shows_seeds = true,
            "debug" => self.remark(name, Remark::NoSuchOutput),
            "idle-prof" => self.remark(name, Remark::IdleTimeNotReported),
            _ if option.ignored => {}
            _ => return Err(refuse(&format!("--{name}"), "refused: qdepth does not support it")),
        }
        Ok(())
    }

    fn remark(&mut self, name: &str, what: Remark) {
        let location = format!("command line: --{name}");
        self.remarks.push(FioRemark { location, what: what.into() });
    }
}

/// Output options, collected because they can appear in any order.
#[derive(Default)]
struct OutputOptions {
    forms: String,
    and_terse: bool,
    version: Option<String>,
}

impl OutputOptions {
    fn formats(&self, refused: &mut FioRefusals) -> Vec<OutputFormat> {
        let version = match self.version.as_deref() {
            None => 3,
            Some(text) => match text.parse::<u8>() {
                Ok(version @ 2..=5) => version,
                _ => {
                    let why = format!("`{text}`: must be 2, 3, 4 or 5");
                    refused.add(refuse("--terse-version", why).into());
                    3
                }
            },
        };
        let mut formats = Vec::new();
        for word in self.forms.split(',').filter(|word| !word.is_empty()) {
            match word.trim() {
                "normal" => formats.push(OutputFormat::Normal),
                "terse" | "minimal" => formats.push(OutputFormat::Terse(version)),
                "json" => formats.push(OutputFormat::Json),
                "json+" => formats.push(OutputFormat::JsonPlus),
                other => {
                    let why = format!("`{other}`: must be normal, terse, json or json+");
                    refused.add(refuse("--output-format", why).into());
                }
            }
        }
        if self.and_terse {
            formats.push(OutputFormat::Terse(version));
            if self.forms.is_empty() {
                formats.push(OutputFormat::Normal);
            }
        }
        formats.sort_unstable();
        formats.dedup();
        if formats.contains(&OutputFormat::JsonPlus) {
            formats.retain(|format| *format != OutputFormat::Json);
        }
        formats
    }
}

fn refuse(name: &str, why: impl Into<String>) -> FioRefusal {
    FioRefusal { option: name.to_owned(), ..FioRefusal::at("command line", 0, why) }
}

/// Origin of settings from the command line.
pub(super) fn origin() -> Rc<str> {
    Rc::from("command line")
}
