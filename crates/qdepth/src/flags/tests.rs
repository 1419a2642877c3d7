//! The command line as a whole.

use clap::{Arg, CommandFactory};

use super::Flags;
use super::resumed::APPLIES;

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

#[test]
fn a_resumed_run_takes_no_option_that_it_would_ignore() {
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
    let both = ["qdepth", "run", "--resume", "somewhere", "--request-size=4KiB"];
    let told = Flags::read_from(both).unwrap_err().to_string();
    assert!(told.contains("PLAN | TARGET") && told.contains("--request-size"), "{told}");
}
