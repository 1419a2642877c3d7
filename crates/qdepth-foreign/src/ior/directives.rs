//! Settings by name: from `-O name=value,name=value` and from scripts.

use super::options::{COUNTS, SWITCHES, hog, packet, size, whole};
use super::{Hog, Ior, IorRefusal, Summary};
use crate::remark::Remark;

impl Ior {
    /// `name=value,name=value`.
    pub(super) fn directives(&mut self, text: &str) -> Result<(), IorRefusal> {
        for directive in text.split(',') {
            let (name, value) = directive.split_once('=').unwrap_or((directive, "1"));
            self.directive(name.trim(), value.trim())?;
        }
        Ok(())
    }

    fn directive(&mut self, name: &str, value: &str) -> Result<(), IorRefusal> {
        if let Some(module) = name.strip_prefix("--") {
            let words = [format!("--{module}={value}")];
            let of_module = Self::read(&words).map(|read| read.direct)?;
            self.direct |= of_module;
            return Ok(());
        }
        let known = name.to_ascii_lowercase();
        let option = format!("-O {name}");
        let bad = || IorRefusal::Value(option.clone(), value.to_owned());
        if let Some(done) = self.name_of(&known, value) {
            return done.then_some(()).ok_or_else(bad);
        }
        if known == "api" {
            return self.api(&option, value);
        }
        let number = || whole(value).ok_or_else(bad);
        let count = || u32::try_from(number()?).map_err(|_| bad());
        if let Some(switch) = self.switch(&known) {
            *switch = number()? > 0;
            return Ok(());
        }
        if let Some(counter) = self.count(&known) {
            *counter = count()?;
            return Ok(());
        }
        match known.as_str() {
            "blocksize" => self.block = size(value).ok_or_else(bad)?,
            "transfersize" => self.transfer = size(value).ok_or_else(bad)?,
            "intertestdelay" => self.delay_s = count()?,
            "numtasks" => self.tasks = Some(count()?).filter(|tasks| *tasks > 0),
            "refnum" => self.reference = number()?,
            "reordertasksrandomseed" => self.reorder_seed = number()?,
            "settimestampsignature" => self.signed(number()?),
            "stonewallingwearoutiterations" => {
                self.pairs = Some(number()?.unsigned_abs()).filter(|pairs| *pairs > 0);
            }
            "memorypernode" => self.hog = Some(hog(value).ok_or_else(bad)?),
            "memorypertask" => self.hog = Some(Hog::Task(size(value).ok_or_else(bad)?)),
            "warningaserrors" => self.remark(&option, Remark::WarningsAreFindings),
            "summaryalways" => self.remark(&option, Remark::SummaryAtEnd),
            _ => return self.other(&option, &known, value),
        }
        Ok(())
    }

    /// Sets a string or keyword. Returns true if the value is valid; `None` if the setting is of
    /// another type.
    fn name_of(&mut self, known: &str, value: &str) -> Option<bool> {
        let is_name = !value.is_empty();
        let name = || is_name.then(|| value.to_owned());
        match known {
            "summaryfile" => self.summary_file = name(),
            "stonewallingstatusfile" => self.status_file = name(),
            "saverankperformancedetailscsv" => self.ranks_file = name(),
            "testfile" => self.files = value.split('@').map(str::to_owned).collect(),
            "debug" | "platform" => {}
            "summaryformat" => {
                let forms = [("default", Summary::Default), ("json", Summary::Json)];
                let form = value.to_ascii_lowercase();
                let all = forms.into_iter().chain([("csv", Summary::Csv)]);
                let found = all.into_iter().find(|(name, _)| *name == form);
                self.summary = found.map_or(self.summary, |(_, form)| form);
                return Some(found.is_some());
            }
            "datapackettype" => {
                let found = packet(value);
                self.packet = found.unwrap_or(self.packet);
                return Some(found.is_some());
            }
            _ => return None,
        }
        Some(is_name)
    }

    fn switch(&mut self, known: &str) -> Option<&mut bool> {
        // Some versions of IOR have this misspelling.
        let known = if known == "filepreproc" { "fileperproc" } else { known };
        let found = SWITCHES.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, _, field)| field(self))
    }

    fn count(&mut self, known: &str) -> Option<&mut u32> {
        let found = COUNTS.iter().find(|(_, names, _)| names.contains(&known));
        found.map(|(.., field)| field(self))
    }

    /// Unsupported settings, accepted only with a value that disables them.
    fn other(&self, option: &str, known: &str, value: &str) -> Result<(), IorRefusal> {
        let why = match known {
            "collective" => "collective transfers need MPI-IO, but qdepth uses POSIX",
            "dualmount" => "name the mount points with -o a/f@b/f and -F",
            "interiodelay" => "use a plan: `qdepth ior --convert`, and arrivals = think-time there",
            "mintimeduration" => "a phase ends after its bytes: increase them with -s, and add -D",
            "allocatebufferongpu" | "gpuid" | "gpudirect" => "transfers use the memory of the host",
            "saveperopdatacsv" => "the logbook has histograms and a time series: `qdepth export`",
            "numnodes" | "numtasksonnode0" => "the MPI launcher places the ranks",
            _ => return Err(IorRefusal::Unknown(option.to_owned())),
        };
        let nothing = ["0", "-1"].contains(&value);
        if nothing { Ok(()) } else { Err(IorRefusal::Unsupported(option.to_owned(), why)) }
    }
}
