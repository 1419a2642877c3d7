//! fio's command line: job files, jobs written as options, and what is to become of the result.

use std::rc::Rc;

use super::options::{canonical, nearest};
use super::refusal::FioRefusal;

/// The form of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Normal,
    /// fio's JSON.
    Json,
    /// fio's JSON with every bucket of the latencies.
    JsonPlus,
}

/// What a command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Job files, in order.
    pub files: Vec<String>,
    /// Jobs written as options: each option with its value.
    pub jobs: Vec<Vec<(String, Option<String>)>>,
    /// Only these sections; all where it is empty.
    pub sections: Vec<String>,
    /// Where the result goes; standard output where it is none.
    pub output: Option<String>,
    /// Its form.
    pub format: OutputFormat,
    /// No job may write.
    pub read_only: bool,
    /// Read, and end.
    pub parse_only: bool,
}

/// Options that say how fio itself works, and that have no effect here.
const WITHOUT_EFFECT: &[&str] = &[
    "eta",
    "eta-newline",
    "eta-interval",
    "max-jobs",
    "alloc-size",
    "warnings-fatal",
    "aux-path",
    "bandwidth-log",
    "idle-prof",
    "inflate-log",
];
const REFUSED: &[(&str, &str)] = &[
    ("client", "jobs run on this machine"),
    ("server", "jobs run on this machine"),
    ("daemonize", "jobs run in the foreground"),
    ("minimal", "terse output is not made; --output-format=json is"),
    ("append-terse", "terse output is not made; --output-format=json is"),
    ("terse-version", "terse output is not made; --output-format=json is"),
    ("status-interval", "one document is made, at the end"),
    ("showcmd", "--convert prints what would run"),
    ("debug", "qdepth has no such output"),
    ("trigger", "no trigger is run"),
    ("trigger-file", "no trigger is run"),
    ("trigger-timeout", "no trigger is run"),
    ("trigger-remote", "no trigger is run"),
    ("cmdhelp", "see fio's manual; qdepth says of every option what it does with it"),
    ("enghelp", "see fio's manual; qdepth fio --help names the engines"),
    ("crctest", "see fio"),
    ("cpuclock-test", "see fio"),
];

impl CommandLine {
    /// Reads the words behind `fio`.
    ///
    /// # Errors
    /// Where an option is unknown or cannot be honoured.
    pub fn read(words: &[String]) -> Result<Self, FioRefusal> {
        let mut line = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                line.files.push(word.clone());
                continue;
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            if ["output", "section", "output-format"].contains(&name) {
                let value = value.or_else(|| words.next().cloned());
                line.result(name, value)?;
            } else {
                line.option(name, value)?;
            }
        }
        Ok(line)
    }

    fn result(&mut self, name: &str, value: Option<String>) -> Result<(), FioRefusal> {
        let value = value.ok_or_else(|| refuse(name, "a value is missing"))?;
        match name {
            "output" => self.output = Some(value),
            "section" => self.sections.push(value),
            _ => {
                self.format = match value.as_str() {
                    "normal" => OutputFormat::Normal,
                    "json" => OutputFormat::Json,
                    "json+" => OutputFormat::JsonPlus,
                    _ => return Err(refuse(name, "normal, json and json+ are possible")),
                }
            }
        }
        Ok(())
    }

    fn option(&mut self, name: &str, value: Option<String>) -> Result<(), FioRefusal> {
        if let Some((_, why)) = REFUSED.iter().find(|(known, _)| *known == name) {
            return Err(refuse(name, format!("refused: {why}")));
        }
        match name {
            "readonly" => self.read_only = true,
            "parse-only" => self.parse_only = true,
            "name" => self.jobs.push(vec![("name".to_owned(), value)]),
            _ if WITHOUT_EFFECT.contains(&name) => {}
            _ if canonical(name).is_none() => {
                let hint = match nearest(name) {
                    Some(near) => format!("there is no such option; did you mean --{near}?"),
                    None => "there is no such option".to_owned(),
                };
                return Err(refuse(name, hint));
            }
            _ => match self.jobs.last_mut() {
                Some(job) => job.push((name.to_owned(), value)),
                None => {
                    return Err(refuse(
                        name,
                        "an option of a job stands behind --name=JOB, or behind --name=global to hold for all of them",
                    ));
                }
            },
        }
        Ok(())
    }
}

fn refuse(name: &str, why: impl Into<String>) -> FioRefusal {
    FioRefusal {
        file: "command line".to_owned(),
        line: 0,
        section: String::new(),
        option: format!("--{name}"),
        why: why.into(),
    }
}

/// The place that settings of the command line come from.
pub(super) fn origin() -> Rc<str> {
    Rc::from("command line")
}
