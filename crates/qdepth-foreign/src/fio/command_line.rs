//! fio's command line: job files, jobs written as options, and what is to become of the result.

use std::rc::Rc;

use super::getopt::{Word, words};
use super::options::ProgramOption;
use super::refusal::{FioRefusal, FioRefusals, FioRemark};
use crate::remark::Remark;

/// A form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputFormat {
    /// fio's semicolons, in this version: 2 to 5.
    Terse(u8),
    /// fio's JSON.
    Json,
    /// fio's JSON with every bucket of the latencies.
    JsonPlus,
    /// fio's text for people.
    Normal,
}

/// Information command, instead of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inform {
    /// The version.
    Version,
    /// Usage of fio.
    Help,
    /// Help on all options, or on one.
    Options(Option<String>),
    /// The engines.
    Engines,
    /// The jobs as a command line.
    CommandLine,
}

/// Request of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Job files, in order.
    pub files: Vec<String>,
    /// Jobs written as options: each option with its value, the first is the name. Those before
    /// the first job are a job `global`, which holds for all that follows and for job files.
    pub jobs: Vec<Vec<(String, Option<String>)>>,
    /// Only these sections; all where it is empty.
    pub sections: Vec<String>,
    /// Output file; `None` for standard output.
    pub output: Option<String>,
    /// The forms that were asked for, in the order in which fio prints them; none asks for none.
    pub formats: Vec<OutputFormat>,
    /// No job may write.
    pub read_only: bool,
    /// Read, and end.
    pub parse_only: bool,
    /// Information command, if any.
    pub inform: Option<Inform>,
    /// Differences from fio.
    pub remarks: Vec<FioRemark>,
}

impl CommandLine {
    /// Reads the words behind `fio`.
    ///
    /// # Errors
    /// Every option that is unknown or cannot be honoured.
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
            "version" => self.inform = Some(Inform::Version),
            "help" => self.inform = Some(Inform::Help),
            "cmdhelp" => {
                self.inform = Some(Inform::Options(value.filter(|name| name != "all")));
            }
            "enghelp" => self.inform = Some(Inform::Engines),
            "showcmd" => self.inform = Some(Inform::CommandLine),
            "status-interval" => self.remark(name, Remark::OneResultAtEnd),
            "debug" => self.remark(name, Remark::NoSuchOutput),
            "idle-prof" => self.remark(name, Remark::IdleTimeNotReported),
            _ if option.ignored => {}
            _ => return Err(refuse(&format!("--{name}"), "refused: qdepth has no such thing")),
        }
        Ok(())
    }

    fn remark(&mut self, name: &str, what: Remark) {
        let location = format!("command line: --{name}");
        self.remarks.push(FioRemark { location, what: what.into() });
    }
}

/// Forms as they were asked for, which options may say in any order.
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
                    let why = format!("`{text}`: the versions are 2, 3, 4 and 5");
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

/// The place that settings of the command line come from.
pub(super) fn origin() -> Rc<str> {
    Rc::from("command line")
}
