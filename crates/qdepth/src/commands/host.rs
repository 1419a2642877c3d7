//! `qdepth host`: describes this machine, checks it for interference, and tunes it.

use anyhow::Result;
use jiff::Timestamp;
use qdepth_files::{Input, Privacy, Scratch, limit};
use qdepth_host::environment::{inventory, redact, storage};
use qdepth_host::prepare::{Devices, PrepareError, Step, Watch, apply, journal, tuning};
use qdepth_host::recording::Recording;
use qdepth_host::system::System;
use qdepth_linux::MPI_SHIM;
use qdepth_record::export_host_json;
use qdepth_report::{Lang, host_tables, reason_text};
use qdepth_workload::TomlError;

use crate::commands::engines;
use crate::commands::read::print_list;
use crate::exit_status::Status;
use crate::flags::{
    CalibrateOptions, CheckOptions, HostCommand, HostOptions, InventoryOptions, JournalOption,
    PrepareOptions, TuneOptions,
};
use crate::result_file::ResultFile;
use crate::screen::Screen;
use crate::terminal::{print, print_line, print_raw};
use qdepth_lab as lab;
use qdepth_lab::failure::Usage;
use qdepth_lab::instrument::calibrate::{calibrate, cpus};
use qdepth_lab::ranks::shim;
use qdepth_lab::target::preparation::{STEPS_LISTED, may_be_done, open_journal, shown, take_back};

/// Number of rounds of `qdepth host calibrate`; they take some seconds in total.
const ROUNDS: u32 = 9;

pub(crate) fn host(options: &HostOptions) -> Result<Status> {
    match &options.command {
        None => print_result(&options.inventory),
        Some(HostCommand::Calibrate(CalibrateOptions { target: Some(target), .. })) => {
            engines::compare(target)
        }
        Some(HostCommand::Calibrate(options)) => {
            let doubled = std::iter::successors(Some(2), |workers| Some(2 * workers));
            let mut more: Vec<u32> = doubled.take_while(|workers| *workers < cpus()).collect();
            more.extend((cpus() > 1).then(cpus));
            print(&calibrate(options.engine.engine.first(), &more, ROUNDS)?.text())?;
            Ok(Status::Valid)
        }
        Some(HostCommand::Mpi(options)) => mpi(&options.mpicc),
        Some(HostCommand::Check(options)) => check(options),
        Some(HostCommand::Tune(options)) => tune(options),
        Some(HostCommand::Prepare(options)) => prepare(options),
        Some(HostCommand::Undo(journal)) => undo(journal),
    }
}

/// Prints what would disturb a measurement.
fn check(options: &CheckOptions) -> Result<Status> {
    let engine = options.engine.engine.first();
    let checked =
        lab::instrument::check::check(&System::real(), &Screen::new(), engine, options.duration)?;
    if options.json {
        print_raw(&checked.json())?;
    } else {
        print(&checked.text(|why| reason_text(why, Lang::En)))?;
    }
    Ok(Status::Valid)
}

/// Prints the recommended settings; applies them with `--apply`.
fn tune(options: &TuneOptions) -> Result<Status> {
    let system = System::real();
    let devices = if options.devices.is_empty() {
        storage(&system)
    } else {
        let name = |word: &String| word.trim_start_matches("/dev/").to_owned();
        options.devices.iter().map(name).collect()
    };
    if let Some(unknown) = devices.iter().find(|d| !system.exists(format!("/sys/class/block/{d}")))
    {
        anyhow::bail!(Usage(format!("there is no block device {unknown}; `lsblk` lists them")));
    }
    let steps = tuning(&system, &devices);
    if steps.is_empty() {
        print("nothing to tune: all settings that exist here are already correct")?;
        return Ok(Status::Valid);
    }
    show(&steps, options.apply)?;
    if options.apply {
        take(&system, &steps, Devices::default(), &options.journal)?;
    }
    Ok(Status::Valid)
}

/// Prints the steps of a preparation; with `--apply`, runs them if every guard agrees.
fn prepare(options: &PrepareOptions) -> Result<Status> {
    let path = options.file.display();
    let text = Input::file(&options.file, limit::PREPARATION).text()?;
    let steps = qdepth_host::prepare::read(&text).map_err(|error| {
        let why = match error {
            PrepareError::Toml(error) => TomlError::new(&text, &error, STEPS_LISTED).to_string(),
            PrepareError::Value { number, .. } => match line_of_step(&text, number) {
                Some(line) => format!("line {line}: {error}"),
                None => error.to_string(),
            },
            error => error.to_string(),
        };
        Usage(format!("{path}: {why}"))
    })?;
    let system = System::real();
    show(&steps, options.apply)?;
    if options.apply {
        let devices = may_be_done(&system, &steps, &options.consent.words(), &Screen::new())?;
        take(&system, &steps, devices, &options.journal)?;
    }
    Ok(Status::Valid)
}

/// Line of the header of a step, both from 1; `None` if the steps are an inline list.
fn line_of_step(text: &str, number: usize) -> Option<usize> {
    let is_header = |line: &str| line.replace(' ', "").starts_with("[[prepare]]");
    let mut headers = text.lines().enumerate().filter(|(_, line)| is_header(line));
    headers.nth(number.checked_sub(1)?).map(|(index, _)| index + 1)
}

fn show(steps: &[Step], apply: bool) -> Result<()> {
    print(&shown(steps).join("\n"))?;
    if !apply {
        print("\nnothing was changed; --apply runs these steps")?;
    }
    Ok(())
}

fn take(
    system: &System,
    steps: &[Step],
    mut devices: Devices,
    option: &JournalOption,
) -> Result<()> {
    let mut journal = open_journal(&option.journal)?;
    let screen = Screen::new();
    // A signal may end the process at any step: the journal records each finished step.
    let watch = Watch { print_line: &|line| screen.print_line(line), stop: &|| false };
    for step in steps {
        apply(system, step, &mut devices, &mut journal, watch)?;
    }
    journal.close()?;
    screen.print_line(&if journal::is_open(&option.journal) {
        format!("done; `qdepth host undo` undoes it (journal {})", option.journal.display())
    } else {
        "done; it cannot be undone".to_owned()
    });
    Ok(())
}

/// Undoes the changes recorded in the journal.
fn undo(option: &JournalOption) -> Result<Status> {
    if !journal::is_open(&option.journal) {
        print("there is nothing to undo")?;
        return Ok(Status::Valid);
    }
    print_line(
        "undoing; first, measurement files that are left on the devices are read completely, which \
         may take long",
    );
    let (lines, failed) = take_back(&System::real(), &option.journal)?;
    print(&lines.join("\n"))?;
    if failed > 0 {
        anyhow::bail!(
            "{failed} actions failed and stay in the journal. Remove the cause, then run `qdepth \
             host undo` again"
        );
    }
    Ok(Status::Valid)
}

/// Prints the inventory of the machine.
fn print_result(options: &InventoryOptions) -> Result<Status> {
    let record = options.record.as_ref().map(|path| ResultFile::file(path, Privacy::Private));
    let record = record.transpose()?;
    let system = chosen_system(options)?;
    let mut facts = inventory(&system);
    if let Some(record) = record {
        record.write(system.tape().text())?;
    }
    if options.redact {
        redact(&mut facts);
    }
    if options.json {
        let version = env!("CARGO_PKG_VERSION");
        let now = Timestamp::now().to_string();
        print_raw(export_host_json(&facts, version, &now, options.redact).trim_end())?;
        return Ok(Status::Valid);
    }
    for table in host_tables(&facts, options.all, Lang::En) {
        print_list(&table)?;
    }
    Ok(Status::Valid)
}

/// This machine, or a recorded one.
fn chosen_system(options: &InventoryOptions) -> Result<System> {
    let Some(path) = &options.recorded else {
        return Ok(if options.record.is_some() { System::recording() } else { System::real() });
    };
    let text = Input::at(path, limit::RECORDING).text()?;
    let recording = Recording::parse(&text).map_err(|error| {
        Usage(format!("the recording {} cannot be read: {error}", path.display()))
    })?;
    Ok(System::recorded(recording))
}

/// Compiles the shim that gives qdepth access to the site's MPI, into the user's cache directory.
fn mpi(mpicc: &str) -> Result<Status> {
    let library = ResultFile::file(shim::created_path()?, Privacy::Program)?;
    let folder = Scratch::new()?;
    let [source, made] = ["qdepth-mpi.c", "libqdepth-mpi.so"].map(|name| folder.path().join(name));
    ResultFile::file(&source, Privacy::Private)?.write(MPI_SHIM)?;
    let words = ["-shared", "-fPIC", "-O2", "-o"].map(std::ffi::OsStr::new);
    let words: Vec<_> = words.into_iter().chain([made.as_os_str(), source.as_os_str()]).collect();
    // The MPI compiler of a site is often found only through the user's PATH.
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(mpicc));
    let found =
        found.filter(|path| path.is_file()).find_map(|path| path.to_str().map(str::to_owned));
    let compiler = found.unwrap_or_else(|| mpicc.to_owned());
    let output = System::real().run(&compiler, &words)?;
    if output.status != Some(0) {
        anyhow::bail!("{compiler} could not compile the MPI shim: {}", output.stderr.trim());
    }
    library.write(Input::file(&made, limit::MADE).bytes()?)?;
    let shim = library.path().display();
    print(&format!("{shim}: mpirun -n 8 qdepth run bandwidth DIR"))?;
    Ok(Status::Valid)
}

#[cfg(test)]
mod tests {
    use super::line_of_step;

    #[test]
    fn impossible_step_has_its_line() {
        let text = "# Two steps.\n[[prepare]]\nstep = \"trim\"\n\n[[ prepare ]]\n";
        assert_eq!(
            [0, 1, 2, 3].map(|step| line_of_step(text, step)),
            [None, Some(2), Some(5), None]
        );
        assert_eq!(line_of_step("prepare = []", 1), None);
    }
}
