//! From the text of job files to sections: comments, headers, globals, inclusion, variables.
//! Every limit here keeps memory and time bounded, whatever the text.

use std::rc::Rc;

use super::options::canonical;
use super::refusal::FioRefusal;
use super::setting::{Section, Setting};
use super::surroundings::Surroundings;
use super::variables::{Budget, expand};

/// Longest job file, with what it includes, bytes.
const TEXT_MAX: usize = 1 << 20;
/// Most sections over all files.
const SECTIONS_MAX: usize = 1024;
/// Most options in force in a section.
const SETTINGS_MAX: usize = 1024;
/// Options that say nothing where they are empty.
const MAY_BE_EMPTY: &[&str] = &["filename", "directory", "description", "name"];
/// Files within files.
const DEPTH_MAX: u32 = 16;

/// Reads job files one after the other, as they stand on the command line.
pub(super) struct Reader<'a> {
    around: &'a Surroundings<'a>,
    budget: Budget,
    read_bytes: usize,
    pub(super) globals: Vec<Rc<Setting>>,
    pub(super) sections: Vec<Section>,
    /// The only sections that are jobs; none: all are.
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

    /// True if a section is to be a job.
    pub(super) fn wants(&self, section: &String) -> bool {
        self.only.is_empty() || self.only.contains(section)
    }

    /// One job file. Its globals hold for no other file, those of the command line (which are
    /// there already) for all. Its globals are returned.
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
            return Err(FioRefusal::at(file, 0, "job files of more than 1 MiB are not read"));
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
        let Some(end) = rest.rfind(']') else {
            return Err(FioRefusal::at(file, line, "the name of a section ends with `]`"));
        };
        let name = &rest[..end];
        if name.len() > 255 {
            return Err(FioRefusal::at(file, line, "a section's name has at most 255 bytes"));
        }
        // As in fio, every name that begins so is a global section.
        if name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("global")) {
            *scope = OptionScope::Globals;
            return Ok(());
        }
        if self.sections.len() >= SECTIONS_MAX {
            return Err(FioRefusal::at(file, line, format!("more than {SECTIONS_MAX} sections")));
        }
        *scope = OptionScope::Job;
        self.begin_job(name, file, line);
        Ok(())
    }

    /// A job begins with every global option so far.
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
            return Err(FioRefusal::at(
                file,
                line,
                format!("files include each other {DEPTH_MAX} deep"),
            ));
        }
        // As in fio: from here, or else from beside the file that asks.
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
            return Err(FioRefusal::at(
                file,
                line,
                format!("`{text}` is before the first [section]; add [global] above it"),
            ));
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

    /// Adds an option, with variables put in and its name made the first of its names.
    pub(super) fn add(
        &mut self,
        section: &str,
        file: &Rc<str>,
        line: u32,
        name: &str,
        value: Option<&str>,
        global: bool,
    ) -> Result<(), FioRefusal> {
        // As in fio, what is left out may say what it likes.
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
        // What no name is known for is looked at with its job, whose engine may explain it.
        let known = canonical(name).unwrap_or(name).to_owned();
        let expanded = value
            .map(|value| expand(value, self.around, &mut self.budget))
            .transpose()
            .map_err(|why| written.refuse(section, why))?;
        let is_empty = expanded.as_deref() == Some("") && value != Some("");
        let is_lost = is_empty && !MAY_BE_EMPTY.contains(&known.as_str());
        // As written, so that it is refused with its job and all else that is wrong there.
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
