//! Examples: three for each command, shown by its help and its manual page. A test parses each of
//! them.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::flags::needed::Needed;
use crate::flags::{Flags, own_options};

/// Width of the help, in columns.
const COLUMNS: usize = 80;

/// By command: command lines, each with what it does.
const EXAMPLES: &str = include_str!("examples.txt");

/// Each command with its examples; the program has an empty name.
fn examples() -> impl Iterator<Item = (&'static str, Vec<(&'static str, &'static str)>)> {
    EXAMPLES.split("\n\n").filter_map(|block| {
        let (name, lines) = block.strip_prefix('[')?.split_once("]\n")?;
        Some((name, lines.lines().filter_map(|line| line.split_once("  # ")).collect()))
    })
}

/// An example of the command of these words: of its subcommand if there is one.
pub(crate) fn example(words: &[String]) -> Option<&'static str> {
    let examples_of = |command: &str| examples().find(|(name, _)| *name == command);
    let (_, all) = words.get(1).and_then(|word| examples_of(word)).or_else(|| examples_of(""))?;
    let lines = || all.iter().map(|(line, _)| *line);
    let sub = words.get(2).map(String::as_str);
    lines().find(|line| sub.is_some() && line.split(' ').nth(2) == sub).or_else(|| lines().next())
}

fn shown(examples: &[(&str, &str)]) -> String {
    let lines =
        examples.iter().map(|(line, says)| match line.chars().count() + says.chars().count() {
            0..=73 if says.chars().count() <= 36 => format!("  {line:<40}  {says}"),
            _ => format!("  {line}\n      {says}"),
        });
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Groups of commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "answer", "fit-for", "plan", "plans", "profiles"]),
    ("Results", &["list", "show", "report", "export", "note", "retract", "logbook", "serve"]),
    ("Compare", &["compare", "trend", "steady"]),
    ("Emulate", &["media", "predict", "reproduce", "serve-medium"]),
    ("Machine", &["host", "certify"]),
    ("Other tools", &["fio", "ior", "mdtest", "iometer", "import", "schema", "completions", "man"]),
];

/// Commands that share a line of the help, so that it fits one screen: the second is the next of
/// its group.
const PAIRS: [(&str, &str, &str); 4] = [
    ("plans", "profiles", "List the test plans or load profiles, or print one"),
    ("note", "retract", "Add a note to a run, or exclude it from comparisons"),
    ("ior", "mdtest", "Run an IOR or mdtest command line and print its table"),
    ("completions", "man", "Print shell completions or manual pages"),
];

/// Help of the program, with its commands in groups.
fn template(command: &Command) -> String {
    let line = |name: &str| {
        if PAIRS.iter().any(|(_, second, _)| *second == name) {
            return None;
        }
        if let Some((first, second, about)) = PAIRS.iter().find(|(first, ..)| *first == name) {
            return Some(format!("  {:<16}  {about}", format!("{first}, {second}")));
        }
        let found = command.find_subcommand(name).and_then(Command::get_about);
        Some(format!("  {name:<16}  {}", found.map(ToString::to_string).unwrap_or_default()))
    };
    let groups = GROUPS.map(|(heading, names)| {
        let lines: Vec<String> = names.iter().filter_map(|name| line(name)).collect();
        format!("{heading}:\n{}\n", lines.join("\n"))
    });
    let commands = groups.join("\n");
    let usage = "{about}\n\n{usage-heading} qdepth [OPTIONS] [COMMAND]";
    format!("{usage}\n\n{commands}\nOptions:\n{{options}}{{after-help}}")
}

/// Options of `qdepth run` that `qdepth plan` accepts, so that a command line can be previewed,
/// but that do not change what it prints.
const RUN_ONLY: &str = "logbook events plain quiet verbose no_report report limit lang keep \
                        stop_on_throttle expect repeat resume engine no_pin cpus";

/// The command with texts that differ from those of another command with the same options.
fn reworded(command: Command) -> Command {
    match command.get_name() {
        "answer" => command
            .mut_arg("at", |at| at.hide_short_help(false).help_heading(None::<&str>))
            .mut_arg("within", |within| within.hide_short_help(false).help_heading(None::<&str>))
            .mut_arg("words", |words| {
                words.help("Targets [default: .]; a plan file with `answer` may come first")
            }),
        "fit-for" => command
            .mut_arg("at", |at| at.hide(true))
            .mut_arg("within", |within| within.hide(true))
            .mut_arg("words", |words| {
                let names = Needed::Requirements.plans().join(", ");
                words.value_name("APPLICATION | TARGET").help(format!(
                    "Application ({names}) or a plan file with requirements, then targets"
                ))
            }),
        "plan" => command.mut_args(|arg| {
            let hidden = RUN_ONLY.split(' ').any(|id| arg.get_id() == id);
            if hidden { arg.hide(true) } else { arg }
        }),
        "logbook" => command.mut_subcommand("prune", |prune| {
            prune.override_usage("qdepth logbook prune [OPTIONS] <RULES>")
        }),
        "retract" => command.mut_arg("text", |text| text.help("Reason for the retraction")),
        _ => command,
    }
}

/// Commands that write no output file. They accept `--replace`, but their help does not show it.
const WITHOUT_FILES: [&str; 10] = [
    "plan",
    "plans",
    "profiles",
    "list",
    "show",
    "note",
    "retract",
    "schema",
    "steady",
    "serve-medium",
];

fn accepted_only() -> Arg {
    Arg::new("replace").long("replace").action(ArgAction::SetTrue).hide(true)
}

/// The command line with its examples.
pub(crate) fn with_examples() -> Command {
    let mut command = Flags::command().mut_subcommands(reworded).term_width(COLUMNS);
    for name in WITHOUT_FILES {
        command = command.mut_subcommand(name, |sub| sub.arg(accepted_only()));
    }
    let template = template(&command);
    command = command.help_template(template);
    for (name, examples) in examples() {
        command = match name {
            "" => command.after_help(shown(&examples)),
            name => command.mut_subcommand(name, |sub| {
                let behind = sub.get_after_help().map(ToString::to_string);
                let ours = (name == "fio").then(own_options);
                let ours = ours.map(|ours| format!("Options of qdepth:\n{ours}"));
                let all: Vec<String> =
                    [ours, Some(shown(&examples)), behind].into_iter().flatten().collect();
                sub.after_help(all.join("\n\n"))
            }),
        };
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_with_files_show_replace() {
        let mut command = with_examples();
        command.build();
        let shown = |name: &str| {
            let sub = command.find_subcommand(name).cloned().expect(name);
            sub.clone().render_long_help().to_string().contains("--replace")
        };
        assert_eq!(["report", "run", "list", "show"].map(shown), [true, true, false, false]);
        assert!(Flags::read_from(["qdepth", "list", "--replace"]).is_ok());
    }

    #[test]
    fn every_command_has_three_valid_examples() {
        let command = with_examples();
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let name = sub.get_name();
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name));
            assert_eq!(groups.count(), 1, "{name} is in one group");
            let own = examples().find(|(known, _)| *known == name);
            assert_eq!(own.map_or(0, |(_, examples)| examples.len()), 3, "{name}");
            let help = sub.clone().render_help().to_string();
            assert!(help.contains("Examples:"), "{name}: {help}");
        }
        for (line, _) in examples().flat_map(|(_, examples)| examples) {
            let words = shlex::split(line).expect("a shell line");
            let parsed = Flags::read_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    fn assert_fits(command: &mut Command) {
        let help = command.render_help().to_string();
        assert!(help.lines().count() <= 50, "{} lines: {help}", help.lines().count());
        let wide = help.lines().find(|line| line.chars().count() > COLUMNS);
        assert!(wide.is_none(), "{wide:?} is too wide: {help}");
        command.get_subcommands_mut().for_each(assert_fits);
    }

    #[test]
    fn short_help_of_every_command_fits_one_screen() {
        let mut command = with_examples();
        command.build();
        assert_fits(&mut command);
    }

    #[test]
    fn short_help_is_shorter_and_groups_are_complete() {
        let mut command = with_examples();
        let run = command.find_subcommand_mut("run").expect("`run`");
        let (short, long) = (run.render_help().to_string(), run.render_long_help().to_string());
        assert!(short.lines().count() < long.lines().count());
        let group = |heading: &str| {
            let rest = long.split_once(heading).map(|(_, rest)| rest).expect(heading);
            rest.split("\n\n\n")
                .next()
                .unwrap_or(rest)
                .split("\nOptions")
                .next()
                .unwrap()
                .to_owned()
        };
        let bandwidth = group("Bandwidth plans:");
        assert!(bandwidth.contains("--threads"), "{bandwidth}");
        let headings = ["Output:", "Writing to devices:", "Write pressure:", "Comparisons:"];
        for heading in headings {
            assert!(long.contains(heading), "{heading} is missing: {long}");
        }
    }
}
