//! What people type: three examples of each command, shown by its help and its page of the manual.
//! A test reads each of them as a command line.

use clap::{Command, CommandFactory};

use crate::flags::{Flags, own_options};

/// A command, and command lines with what they do.
type Examples = (&'static str, [[&'static str; 2]; 3]);

pub(crate) const EXAMPLES: &[Examples] = &[
    (
        "",
        [
            ["qdepth", "five seconds to a first number of this directory's storage"],
            ["qdepth run /mnt/scratch", "two to three minutes, with a report"],
            ["qdepth plans", "every question there is a plan for"],
        ],
    ),
    (
        "run",
        [
            ["qdepth run", "five load profiles on this directory's storage"],
            ["qdepth run disk-mark /mnt/scratch", "the eight numbers of CrystalDiskMark"],
            ["qdepth run standard /dev/nvme1n1 --read-only", "a device, reading only"],
        ],
    ),
    (
        "plan",
        [
            ["qdepth plan standard /mnt/scratch", "what it would write, and what the guards say"],
            ["qdepth plan --show standard", "a shipped plan as TOML, to begin your own with"],
            ["qdepth plan quick /mnt/scratch --json", "the resolved plan, as it is hashed"],
        ],
    ),
    (
        "plans",
        [
            ["qdepth plans", "the shipped plans, with the question of each"],
            ["qdepth plan --show area", "one of them as TOML"],
            ["qdepth run area /mnt/scratch --file-size 8GiB", "one of them, in little space"],
        ],
    ),
    (
        "profiles",
        [
            ["qdepth profiles", "the shipped load profiles, with the question of each"],
            ["qdepth plan --show database", "one of them as TOML"],
            ["qdepth run --profile database,streaming", "only these"],
        ],
    ),
    (
        "fio",
        [
            ["qdepth fio jobs.fio", "measure a job file"],
            ["qdepth fio --convert jobs.fio", "print it as a plan, and measure nothing"],
            ["qdepth fio --output-format=json jobs.fio", "in fio's JSON"],
        ],
    ),
    (
        "ior",
        [
            ["qdepth ior -a POSIX -t 1m -b 16m -N 4 -F -o dir/file", "four ranks, a file each"],
            ["qdepth ior --convert -t 1m -b 16m -o dir/file", "print it as a plan"],
            ["qdepth ior --no-report -w -t 4m -b 1g -o dir/file", "write, without a report"],
        ],
    ),
    (
        "iometer",
        [
            ["qdepth iometer night.icf", "as a plan, with the names of its targets"],
            ["qdepth plan night.toml", "what it asks for, once it is kept in a file"],
            ["qdepth run night.toml /mnt/scratch", "measure it, on the target of this machine"],
        ],
    ),
    (
        "import",
        [
            ["qdepth import fio.json", "results of fio"],
            ["qdepth import results.csv", "results of Iometer"],
            ["qdepth import *.json --logbook old.db", "many, into a logbook of their own"],
        ],
    ),
    (
        "list",
        [
            ["qdepth list", "the runs of qdepth.db"],
            ["qdepth list --logbook old.db", "of another logbook"],
            ["qdepth show latest", "the last of them"],
        ],
    ),
    (
        "logbook",
        [
            ["qdepth logbook check", "whether qdepth.db is what was written"],
            ["qdepth logbook merge other.db", "add the runs of another"],
            ["qdepth logbook prune --keep-last 10 --dry-run", "what would be taken out"],
        ],
    ),
    (
        "note",
        [
            ["qdepth note latest 'new firmware'", "beside the last run"],
            ["qdepth note 019a 'second drive of the array'", "beside the run whose id begins so"],
            ["qdepth show latest", "shows the notes, too"],
        ],
    ),
    (
        "retract",
        [
            ["qdepth retract latest 'a backup was running'", "the last run"],
            ["qdepth retract 019a 'wrong drive'", "the run whose id begins so"],
            ["qdepth list", "shows what is retracted"],
        ],
    ),
    (
        "show",
        [
            ["qdepth show", "the last run"],
            ["qdepth show 019a", "the run whose id begins so"],
            ["qdepth show latest --lang ja", "in Japanese"],
        ],
    ),
    (
        "report",
        [
            ["qdepth report", "the last run as a page"],
            ["qdepth report --format pdf,md --lang en,ja", "as a white paper in two languages"],
            ["qdepth report latest --redact -o public.html", "without names and serial numbers"],
        ],
    ),
    (
        "export",
        [
            ["qdepth export", "the last run as JSON"],
            ["qdepth export latest --csv", "as CSV, a row for each point"],
            ["qdepth export --all --csv", "every point of every run"],
        ],
    ),
    (
        "compare",
        [
            ["qdepth compare latest~1 latest", "the last two runs"],
            ["qdepth compare before.db:all after.db:all", "two logbooks of several runs each"],
            ["qdepth compare note=before note=after --markdown", "for a pull request"],
        ],
    ),
    (
        "steady",
        [
            ["qdepth steady", "the points of the last run"],
            ["qdepth steady 019a", "of the run whose id begins so"],
            ["qdepth run pts-wsat media:sas-2-ssd-400gb", "a run to ask it of"],
        ],
    ),
    (
        "trend",
        [
            ["qdepth trend", "the plan and target of the last run"],
            ["qdepth trend quick /mnt/scratch", "of one plan and target"],
            ["qdepth trend quick /mnt/scratch --json", "for a program"],
        ],
    ),
    (
        "predict",
        [
            ["qdepth predict mydrive.toml", "the plan standard on a medium that was fitted"],
            ["qdepth predict quick mydrive.toml", "another plan"],
            ["qdepth predict 'mydrive.toml*2' as raid0", "two of them as an array"],
        ],
    ),
    (
        "media",
        [
            ["qdepth media", "the emulated drives"],
            ["qdepth media p3700-800gb", "the numbers of one, and where they are from"],
            ["qdepth run quick media:p3700-800gb", "measure it, in virtual time"],
        ],
    ),
    (
        "reproduce",
        [
            ["qdepth reproduce", "every published figure beside the emulated one"],
            ["qdepth reproduce p3700 --all", "of one document, figure by figure"],
            ["qdepth reproduce --html page.html", "with diagrams"],
        ],
    ),
    (
        "host",
        [
            ["qdepth host", "this machine and its storage"],
            ["qdepth host check", "what would disturb a measurement here"],
            ["qdepth host tune --apply", "set the machine up, until `qdepth host undo`"],
        ],
    ),
    (
        "certify",
        [
            ["qdepth certify", "prove the instrument here, in a minute"],
            ["qdepth certify --duration 3min", "more samples of the generator's scatter"],
            ["qdepth certify -o certificate.html", "as a page, beside the copy in the logbook"],
        ],
    ),
    (
        "serve",
        [
            ["qdepth serve", "the runs of qdepth.db as pages, on this computer only"],
            ["qdepth serve --port 0", "at any port that is free; the first line says which"],
            ["qdepth serve --logbook old.db", "of another logbook"],
        ],
    ),
    (
        "serve-medium",
        [
            ["qdepth serve-medium media:p3700-800gb --socket s", "for any NBD client"],
            ["qdepth serve-medium media:p4800x-375gb --socket s --once", "until it has left"],
            ["qdepth media", "what can be served"],
        ],
    ),
    (
        "schema",
        [
            ["qdepth schema plan", "of plan files, for an editor"],
            ["qdepth schema run", "of `run --json` and `export --json`"],
            ["qdepth schema host", "of `host --json`"],
        ],
    ),
    (
        "completions",
        [
            ["qdepth completions bash", "for bash: keep it in bash-completion/completions/qdepth"],
            ["qdepth completions zsh", "for zsh: keep it as _qdepth in a folder of $fpath"],
            ["qdepth completions fish", "for fish: keep it in fish/completions/qdepth.fish"],
        ],
    ),
    (
        "man",
        [
            ["qdepth man", "the page of the program"],
            ["qdepth man run", "the page of `qdepth run`"],
            ["qdepth man --names", "every page there is"],
        ],
    ),
];

fn shown(examples: &[[&str; 2]; 3]) -> String {
    let lines = examples.map(|[line, says]| format!("  {line}\n      {says}"));
    format!("Examples:\n{}", lines.join("\n"))
}

/// The command line with its examples.
pub(crate) fn with_examples() -> Command {
    let mut command = Flags::command();
    for (name, examples) in EXAMPLES {
        command = match *name {
            "" => command.after_help(shown(examples)),
            name => command.mut_subcommand(name, |sub| {
                let behind = sub.get_after_help().map(ToString::to_string);
                let ours = (name == "fio").then(own_options);
                let ours = ours.map(|ours| format!("Of qdepth's own:\n{ours}"));
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
        let bandwidth = group("Plans of bandwidth:");
        assert!(bandwidth.contains("--threads"), "{bandwidth}");
        let headings = ["Results:", "Writing to devices:", "Write pressure:", "Comparisons:"];
        for heading in headings {
            assert!(long.contains(heading), "{heading} is missing: {long}");
        }
    }
}
