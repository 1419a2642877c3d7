//! The command line as a whole.

mod reference;

use clap::{Arg, CommandFactory};
use qdepth_linux::{Engine, EngineChoice};

use super::resumed::APPLIES;
use super::{Command, Flags};

/// A value that some option of this kind takes.
fn value(arg: &Arg) -> Option<&'static str> {
    let takes = arg.get_action().takes_values();
    let first = arg.get_possible_values().first().map(|value| value.get_name().to_owned());
    let values = ["1", "1s", "4KiB", "2%", "99.9", "p99=2ms", "name"];
    takes.then(|| {
        let parses = |value: &&str| {
            let name = format!("--{}={value}", arg.get_long().unwrap_or_default());
            Flags::read_from(["qdepth", "run", &name]).is_ok()
        };
        let of_list = first.map(|value| &*Box::leak(value.into_boxed_str()));
        values.into_iter().chain(of_list).find(parses).expect("a value that parses")
    })
}

/// The command lines of a document: of its consoles, and between backticks.
fn command_lines(text: &str) -> Vec<String> {
    let consoles = text.lines().filter_map(|line| line.strip_prefix("$ "));
    let spans = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let all = consoles.chain(spans).map(|line| line.split(" # ").next().unwrap_or(line).trim());
    all.filter(|line| *line == "qdepth" || line.starts_with("qdepth ")).map(str::to_owned).collect()
}

#[test]
fn commands_in_readme_and_cookbook_parse() {
    let cookbook = include_str!("../../../../docs/cookbook.md");
    let texts = [include_str!("../../../../README.md"), cookbook];
    let mut lines = 0;
    for line in texts.iter().flat_map(|text| command_lines(text)) {
        lines += 1;
        // Placeholders for the reader to fill in.
        let line = line.replace("--destroy …", "--destroy SERIAL").replace(" > run.json", "");
        let line = line.replace(" …", "").replace("{1,2,3,4}", "1").replace("\u{a0}", " ");
        let words = shlex::split(&line).unwrap_or_else(|| panic!("{line}: no shell line"));
        let parsed = Flags::read_from(&words);
        assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        let Ok(Flags { command: Some(Command::Run(run)), .. }) = parsed else { continue };
        let plan = super::read_plan::plan_word(&run.load).0.to_owned();
        let own = plan.ends_with(".toml");
        assert!(own || qdepth_workload::shipped_plan_text(&plan).is_some(), "{line}: {plan}");
    }
    assert!(lines >= 60, "{lines}");
}

#[test]
fn resume_refuses_options_without_effect() {
    let command = Flags::command();
    let run = command.find_subcommand("run").unwrap();
    let mut refused = 0;
    for arg in run.get_arguments().filter(|arg| arg.get_id() != "resume") {
        let Some(long) = arg.get_long() else { continue };
        let given = value(arg).map_or(format!("--{long}"), |value| format!("--{long}={value}"));
        let alone = Flags::read_from(["qdepth", "run", &given]);
        assert!(alone.is_ok(), "{given}: {}", alone.unwrap_err());
        let resumed = Flags::read_from(["qdepth", "run", "--resume", &given]);
        let applies = APPLIES.contains(&&*long.replace('-', "_"));
        assert_eq!(resumed.is_ok(), applies, "--resume {given}");
        refused += u32::from(!applies);
    }
    assert!(refused >= 20, "{refused}");
    // Options for the output are not part of the plan.
    let outputs = ["--plain", "--no-report", "--json", "--events=e.jsonl"];
    for given in outputs {
        assert!(Flags::read_from(["qdepth", "run", "--resume", given]).is_ok(), "{given}");
    }
    let both = ["qdepth", "run", "--resume", "somewhere", "--block-size=4KiB"];
    let message = Flags::read_from(both).unwrap_err().to_string();
    assert!(message.contains("PLAN | TARGET") && message.contains("--block-size"), "{message}");
}

#[test]
fn fio_option_aliases_have_the_same_meaning() {
    let depth = |option: &str| {
        let flags = Flags::read_from(["qdepth", "run", option, "--bs=4KiB"]);
        let Ok(Flags { command: Some(Command::Run(run)), .. }) = flags else { panic!("{option}") };
        (run.load.queue_depth, run.load.block_size.map(|size| size.0))
    };
    let wanted = depth("--queue-depth=1,8");
    assert_eq!(wanted.1, Some(4096));
    for option in ["--qd=1,8", "--iodepth=1,8", "--outstanding=1,8"] {
        assert_eq!(depth(option), wanted, "{option}");
    }
}

#[test]
fn every_engine_is_chosen_by_its_name() {
    let names = Engine::ALL.map(|engine| EngineChoice::Only(engine).name());
    for name in names.into_iter().chain(["auto"]) {
        let flags = Flags::read_from(["qdepth", "run", "--engine", name]);
        let Ok(Flags { command: Some(Command::Run(run)), .. }) = flags else { panic!("{name}") };
        assert_eq!(run.engine.name(), name);
    }
}
