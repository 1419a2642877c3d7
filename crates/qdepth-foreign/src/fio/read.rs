//! Parser of job files: comments, headers, globals, includes, variables. All limits keep memory and
//! time bounded for any text.

use std::rc::Rc;

use super::options::canonical;
use super::refusal::FioRefusal;
use super::setting::{Section, Setting};
use super::surroundings::Surroundings;
use super::variables::{Budget, expand};

/// Maximum size of a job file with its includes, bytes.
const TEXT_MAX: usize = 1 << 20;
/// Maximum number of sections in all files.
const SECTIONS_MAX: usize = 1024;
/// Maximum number of options in effect in a section.
const SETTINGS_MAX: usize = 1024;
/// Options that may be empty, which has no effect.
const MAY_BE_EMPTY: &[&str] = &["filename", "directory", "description", "name"];
/// Maximum nesting of includes.
const DEPTH_MAX: u32 = 16;

/// Reads job files in the order of the command line.
pub(super) struct Reader<'a> {
    around: &'a Surroundings<'a>,
    budget: Budget,
    read_bytes: usize,
    pub(super) globals: Vec<Rc<Setting>>,
    pub(super) sections: Vec<Section>,
    /// Sections to run; all if empty.
    only: &'a [String],
}

/// Scope of the current options.
#[derive(Clone, Copy, PartialEq)]
enum OptionScope {
    Nowhere,
    Globals,
    Job,
}

impl<'a> Reader<'a> {
    pub(super) fn new(around: &'a Surroundings<'a>, only: &'a [String]) -> Self {
        Self {
            around,
            budget: Budget::default(),
            read_bytes: 0,
            globals: Vec::new(),
            sections: Vec::new(),
            only,
        }
    }

    /// True if a section is selected.
    pub(super) fn wants(&self, section: &String) -> bool {
        self.only.is_empty() || self.only.contains(section)
    }

    /// Parses a job file and returns its global options, which apply to this file only. Those of
    /// the command line are already present and apply to all files.
    pub(super) fn file(&mut self, name: &str, text: &str) -> Result<Vec<Rc<Setting>>, FioRefusal> {
        let (kept, before) = (self.globals.len(), self.sections.len());
        self.lines(&Rc::from(name), text, &mut OptionScope::Nowhere, 0)?;
        if before > 0
            && let Some(first) = self.sections.get_mut(before)
        {
            first.next_file = true;
        }
        Ok(self.globals.split_off(kept))
    }

    fn lines(
        &mut self,
        file: &Rc<str>,
        text: &str,
        scope: &mut OptionScope,
        depth: u32,
    ) -> Result<(), FioRefusal> {
        self.read_bytes = self.read_bytes.saturating_add(text.len());
        if self.read_bytes > TEXT_MAX {
            return Err(FioRefusal::at(file, 0, "a job file must be at most 1 MiB"));
        }
        for (index, line) in text.lines().enumerate() {
            let number = index as u32 + 1;
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                self.header(file, number, rest, scope)?;
            } else if let Some(name) = included(line) {
                self.include(file, number, name, scope, depth)?;
            } else {
                self.option(file, number, line, *scope)?;
            }
        }
        Ok(())
    }

    fn header(
        &mut self,
        file: &Rc<str>,
        line: u32,
        rest: &str,
        scope: &mut OptionScope,
    ) -> Result<(), FioRefusal> {
        let refused = |why: &str| Err(FioRefusal::at(file, line, why));
        let Some(end) = rest.rfind(']') else {
            return refused("the name of a section must end with `]`");
        };
        let name = &rest[..end];
        if name.len() > 255 {
            return refused("the name of a section must be at most 255 bytes");
        }
        // As in fio, every name with this prefix is a global section.
        if name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("global")) {
            *scope = OptionScope::Globals;
            return Ok(());
        }
        if self.sections.len() >= SECTIONS_MAX {
            return refused(&format!("more than {SECTIONS_MAX} sections"));
        }
        *scope = OptionScope::Job;
        self.begin_job(name, file, line);
        Ok(())
    }

    /// Starts a job with all global options so far.
    pub(super) fn begin_job(&mut self, name: &str, file: &Rc<str>, line: u32) {
        self.sections.push(Section {
            name: name.to_owned(),
            file: file.clone(),
            line,
            settings: self.globals.clone(),
            inherited: self.globals.len(),
            next_file: false,
        });
    }

    fn include(
        &mut self,
        file: &Rc<str>,
        line: u32,
        name: &str,
        scope: &mut OptionScope,
        depth: u32,
    ) -> Result<(), FioRefusal> {
        if depth >= DEPTH_MAX {
            let why = format!("includes are nested more than {DEPTH_MAX} deep");
            return Err(FioRefusal::at(file, line, why));
        }
        // As in fio: relative to the working directory, or to the including file.
        let beside = file.rsplit_once('/').map(|(folder, _)| format!("{folder}/{name}"));
        let found =
            (self.around.include)(name).map(|text| (name.to_owned(), text)).or_else(|why| {
                let beside = beside.filter(|_| !name.starts_with('/'));
                let text = beside.and_then(|path| {
                    let text = (self.around.include)(&path).ok()?;
                    Some((path, text))
                });
                text.ok_or(why)
            });
        let (name, text) = found
            .map_err(|why| FioRefusal::at(file, line, format!("cannot include `{name}`: {why}")))?;
        self.lines(&Rc::from(name), &text, scope, depth + 1)
    }

    fn option(
        &mut self,
        file: &Rc<str>,
        line: u32,
        text: &str,
        scope: OptionScope,
    ) -> Result<(), FioRefusal> {
        if scope == OptionScope::Nowhere {
            let why = format!("`{text}` is before the first [section]; add [global] above it");
            return Err(FioRefusal::at(file, line, why));
        }
        let section = self.section_name(scope);
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text, None),
        };
        self.add(&section, file, line, name, value, scope == OptionScope::Globals)
    }

    fn section_name(&self, scope: OptionScope) -> String {
        match self.sections.last() {
            Some(section) if scope == OptionScope::Job => section.name.clone(),
            _ => "global".to_owned(),
        }
    }

    /// Adds an option, with variables expanded and aliases replaced.
    pub(super) fn add(
        &mut self,
        section: &str,
        file: &Rc<str>,
        line: u32,
        name: &str,
        value: Option<&str>,
        global: bool,
    ) -> Result<(), FioRefusal> {
        // As in fio, sections that are not selected may contain anything.
        let left_out = |job: &Section| !global && !self.wants(&job.name);
        if self.sections.last().is_some_and(left_out) {
            return Ok(());
        }
        let written = Setting {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            file: file.clone(),
            line,
            is_lost: false,
        };
        // Unknown names are checked with the job, because they may belong to its engine.
        let known = canonical(name).unwrap_or(name).to_owned();
        let expanded = value
            .map(|value| expand(value, self.around, &mut self.budget))
            .transpose()
            .map_err(|why| written.refuse(section, why))?;
        let is_empty = expanded.as_deref() == Some("") && value != Some("");
        let is_lost = is_empty && !MAY_BE_EMPTY.contains(&known.as_str());
        // Keep the original text, so that it is refused together with the job's other errors.
        let value = if is_lost { written.value.clone() } else { expanded };
        let setting = Rc::new(Setting { name: known, value, is_lost, ..written });
        let list = match self.sections.last_mut() {
            Some(job) if !global => &mut job.settings,
            _ => &mut self.globals,
        };
        if list.len() >= SETTINGS_MAX {
            return Err(setting.refuse(section, format!("more than {SETTINGS_MAX} options")));
        }
        list.push(setting);
        Ok(())
    }
}

/// Text before `;` or `#`, trimmed.
fn without_comment(line: &str) -> &str {
    let end = line.find([';', '#']).unwrap_or(line.len());
    line[..end].trim_matches(|c: char| c.is_whitespace() || c.is_control())
}

fn included(line: &str) -> Option<&str> {
    let name = line.strip_prefix("include")?;
    name.starts_with([' ', '\t']).then(|| name.trim())
}
