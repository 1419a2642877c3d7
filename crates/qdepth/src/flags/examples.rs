//! Examples: three for each command, shown by its help and its manual page. A test parses each of
//! them.

use clap::{Command, CommandFactory};

use crate::flags::{Flags, own_options};

/// A command, and command lines with what they do.
type Examples = (&'static str, [[&'static str; 2]; 3]);

pub(crate) const EXAMPLES: &[Examples] = &[
    (
        "",
        [
            ["qdepth", "first number in five seconds"],
            ["qdepth run /mnt/scratch", "2 to 3 min, with a report"],
            ["qdepth plans", "all test plans"],
        ],
    ),
    (
        "run",
        [
            ["qdepth run", "five load profiles, this directory"],
            ["qdepth run disk-mark /mnt/scratch", "the eight CrystalDiskMark numbers"],
            ["qdepth run standard /dev/nvme1n1 --read-only", "a device, reads only"],
        ],
    ),
    (
        "plan",
        [
            ["qdepth plan standard /mnt/scratch", "bytes written, and the guards' answers"],
            ["qdepth plans standard", "a shipped plan as TOML"],
            ["qdepth plan quick /mnt/scratch --json", "the resolved plan"],
        ],
    ),
    (
        "plans",
        [
            ["qdepth plans", "all test plans"],
            ["qdepth plans area", "one of them as TOML"],
            ["qdepth run area /mnt/scratch --file-size 8GiB", "run one of them in 8 GiB"],
        ],
    ),
    (
        "profiles",
        [
            ["qdepth profiles", "all load profiles"],
            ["qdepth profiles database", "one of them as TOML"],
            ["qdepth run --profile database,streaming", "run two of them"],
        ],
    ),
    (
        "fio",
        [
            ["qdepth fio jobs.fio", "run a job file"],
            ["qdepth fio --convert jobs.fio", "print it as a plan"],
            ["qdepth fio --output-format=json jobs.fio", "print fio's JSON"],
        ],
    ),
    (
        "ior",
        [
            ["qdepth ior -a POSIX -t 1m -b 16m -N 4 -F -o dir/file", "four ranks, one file each"],
            ["qdepth ior --convert -t 1m -b 16m -o dir/file", "print it as a plan"],
            ["qdepth ior --no-report -w -t 4m -b 1g -o dir/file", "write only, no report"],
        ],
    ),
    (
        "iometer",
        [
            ["qdepth iometer night.icf", "print the plan"],
            ["qdepth plan night.toml", "preview the plan"],
            ["qdepth run night.toml /mnt/scratch", "run the plan"],
        ],
    ),
    (
        "import",
        [
            ["qdepth import fio.json", "results of fio"],
            ["qdepth import results.csv", "results of Iometer"],
            ["qdepth import *.json --logbook old.db", "into another logbook"],
        ],
    ),
    (
        "list",
        [
            ["qdepth list", "the runs of qdepth.db"],
            ["qdepth list --logbook old.db", "another logbook"],
            ["qdepth show latest", "the last run"],
        ],
    ),
    (
        "logbook",
        [
            ["qdepth logbook check", "verify qdepth.db"],
            ["qdepth logbook merge other.db", "add the runs of another logbook"],
            ["qdepth logbook prune --keep-last 10 --dry-run", "show what would be deleted"],
        ],
    ),
    (
        "note",
        [
            ["qdepth note latest 'new firmware'", "note for the last run"],
            ["qdepth note 019a 'second drive of the array'", "note for run 019a…"],
            ["qdepth show latest", "shows the notes"],
        ],
    ),
    (
        "retract",
        [
            ["qdepth retract latest 'a backup was running'", "the last run"],
            ["qdepth retract 019a 'wrong drive'", "run 019a…"],
            ["qdepth list", "shows which runs are retracted"],
        ],
    ),
    (
        "show",
        [
            ["qdepth show", "the last run"],
            ["qdepth show --findings", "all findings, and what to do"],
            ["qdepth show 019a --lang ja", "run 019a…, in Japanese"],
        ],
    ),
    (
        "report",
        [
            ["qdepth report", "the last run as a page"],
            ["qdepth report --format pdf,md --lang en,ja", "PDF and Markdown, two languages"],
            ["qdepth report latest --redact -o public.html", "without names and serial numbers"],
        ],
    ),
    (
        "export",
        [
            ["qdepth export", "the last run as JSON"],
            ["qdepth export latest --csv", "CSV, one row for each point"],
            ["qdepth export --all --csv", "every point of every run"],
        ],
    ),
    (
        "compare",
        [
            ["qdepth compare latest~1 latest", "the last two runs"],
            ["qdepth compare before.db:all after.db:all", "all runs of two logbooks"],
            ["qdepth compare note=before note=after --markdown", "by notes, as Markdown"],
        ],
    ),
    (
        "steady",
        [
            ["qdepth steady", "the last run"],
            ["qdepth steady 019a", "run 019a…"],
            ["qdepth run pts-wsat media:sas-2-ssd-400gb", "a run with a long series"],
        ],
    ),
    (
        "trend",
        [
            ["qdepth trend", "the plan and target of the last run"],
            ["qdepth trend quick /mnt/scratch", "one plan and target"],
            ["qdepth trend quick /mnt/scratch --json", "as JSON"],
        ],
    ),
    (
        "predict",
        [
            ["qdepth predict mydrive.toml", "plan standard on your model"],
            ["qdepth predict quick mydrive.toml", "another plan"],
            ["qdepth predict 'mydrive.toml*2' as raid0", "an array of two"],
        ],
    ),
    (
        "media",
        [
            ["qdepth media", "all emulated devices"],
            ["qdepth media p3700-800gb", "parameters and sources of one"],
            ["qdepth run quick media:p3700-800gb", "run a plan on it"],
        ],
    ),
    (
        "reproduce",
        [
            ["qdepth reproduce", "all published figures"],
            ["qdepth reproduce p3700 --all", "all figures of one document"],
            ["qdepth reproduce --html page.html", "a page with diagrams"],
        ],
    ),
    (
        "host",
        [
            ["qdepth host", "this machine and its storage"],
            ["qdepth host check", "what would disturb a measurement"],
            ["qdepth host tune --apply", "apply settings, until `host undo`"],
        ],
    ),
    (
        "certify",
        [
            ["qdepth certify", "test this machine (2 min)"],
            ["qdepth certify --duration 3min", "a longer repeatability test"],
            ["qdepth certify -o certificate.html", "also write a page"],
        ],
    ),
    (
        "serve",
        [
            ["qdepth serve", "the runs of qdepth.db"],
            ["qdepth serve --port 0", "any free port; prints the URL"],
            ["qdepth serve --logbook old.db", "another logbook"],
        ],
    ),
    (
        "serve-medium",
        [
            ["qdepth serve-medium media:p3700-800gb --socket s", "for any NBD client"],
            [
                "qdepth serve-medium media:p4800x-375gb --socket s --once",
                "exit when the client leaves",
            ],
            ["qdepth media", "all emulated devices"],
        ],
    ),
    (
        "schema",
        [
            ["qdepth schema plan", "plan files"],
            ["qdepth schema run", "run --json, export --json"],
            ["qdepth schema host", "host --json"],
        ],
    ),
    (
        "completions",
        [
            ["qdepth completions bash", "bash-completion/completions/qdepth"],
            ["qdepth completions zsh", "_qdepth in a directory of $fpath"],
            ["qdepth completions fish", "fish/completions/qdepth.fish"],
        ],
    ),
    (
        "man",
        [
            ["qdepth man", "the program"],
            ["qdepth man run", "the command run"],
            ["qdepth man --names", "names of all pages"],
        ],
    ),
];

fn shown(examples: &[[&str; 2]; 3]) -> String {
    let lines = examples.map(|[line, says]| match line.chars().count() + says.chars().count() {
        0..=73 if says.chars().count() <= 36 => format!("  {line:<40}  {says}"),
        _ => format!("  {line}\n      {says}"),
    });
    format!("Examples:\n{}", lines.join("\n"))
}

/// Groups of commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "plan", "plans", "profiles"]),
    ("Results", &["list", "show", "report", "export", "note", "retract", "logbook", "serve"]),
    ("Compare", &["compare", "trend", "steady"]),
    ("Emulate", &["media", "predict", "reproduce", "serve-medium"]),
    ("Machine", &["host", "certify"]),
    ("Other tools", &["fio", "ior", "iometer", "import", "schema", "completions", "man"]),
];

/// Help of the program, with its commands in groups.
fn template(command: &Command) -> String {
    let about = |name: &str| {
        let found = command.find_subcommand(name).and_then(Command::get_about);
        format!("  {name:<12}  {}", found.map(ToString::to_string).unwrap_or_default())
    };
    let groups = GROUPS.map(|(heading, names)| {
        let lines: Vec<String> = names.iter().map(|name| about(name)).collect();
        format!("{heading}:\n{}\n", lines.join("\n"))
    });
    let commands = groups.join("\n");
    let usage = "{about}\n\n{usage-heading} {usage}";
    format!("{usage}\n\n{commands}\nOptions:\n{{options}}{{after-help}}")
}

/// The command line with its examples.
pub(crate) fn with_examples() -> Command {
    let mut command = Flags::command();
    let template = template(&command);
    command = command.help_template(template);
    for (name, examples) in EXAMPLES {
        command = match *name {
            "" => command.after_help(shown(examples)),
            name => command.mut_subcommand(name, |sub| {
                let behind = sub.get_after_help().map(ToString::to_string);
                let ours = (name == "fio").then(own_options);
                let ours = ours.map(|ours| format!("Options of qdepth:\n{ours}"));
                let all: Vec<String> =
                    [ours, Some(shown(examples)), behind].into_iter().flatten().collect();
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
    fn every_command_has_three_examples_that_are_command_lines() {
        let command = with_examples();
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            let name = sub.get_name();
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&name));
            assert_eq!(groups.count(), 1, "{name} is in one group");
            assert!(EXAMPLES.iter().any(|(known, _)| *known == name), "{name} has no examples");
            let help = sub.clone().render_help().to_string();
            assert!(help.contains("Examples:"), "{name}: {help}");
        }
        for [line, _] in EXAMPLES.iter().flat_map(|(_, examples)| examples) {
            let words = shlex::split(line).expect("a shell line");
            let parsed = Flags::read_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn the_short_help_is_shorter_and_no_group_swallows_another() {
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
