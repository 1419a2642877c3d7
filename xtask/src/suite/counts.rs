//! Results of a test run, parsed from its output.

use anyhow::{Result, bail};

/// Prefix of the line that a failed test of figures prints (crates/qdepth/tests/common/turns.rs).
const OF_FIGURES: &str = "TEST OF FIGURES: ";
/// Suffix of that line.
const STOLEN: &str = " % stolen";

/// Steal time during a test, per cent, above which a wrong figure proves nothing: qdepth itself
/// warns of such a point (docs/method/thresholds.md).
const STOLEN_MAX: f64 = 0.5;

/// Beginnings of the lines that follow a panic message.
const PANIC_ENDS: [&str; 4] = ["stack backtrace:", "note: ", "---- ", "failures:"];
/// Characters of a panic message's line that are repeated at the end.
const PANIC_LINE_CHARS: usize = 1500;
/// Characters of a failure's line in the final list. CI shows only the last 2,000 bytes of a log.
const SUMMARY_CHARS: usize = 160;

/// Failed test of figures, with the steal time during it, per cent.
pub struct TimingTest {
    pub name: String,
    pub stolen: f64,
}

/// A failed test or check, with the lines that say why.
#[derive(Debug, PartialEq)]
pub struct Failure {
    pub name: String,
    pub lines: Vec<String>,
}

impl Failure {
    fn summary(&self) -> String {
        let lines = self.lines.iter().filter_map(|line| line.rsplit(" panicked at ").next());
        let lines = lines.map(str::trim).filter(|line| !line.is_empty());
        let text = format!("{}: {}", self.name, lines.collect::<Vec<_>>().join(" | "));
        text.chars().take(SUMMARY_CHARS).collect()
    }
}

/// Counts of a test run.
#[derive(Default)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Output of failed tests, repeated at the end.
    pub outputs: Vec<String>,
    /// Printed last, because long outputs get cut before them.
    pub failures: Vec<Failure>,
    /// Failed tests that compare figures with a known truth.
    pub timing_tests: Vec<TimingTest>,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.outputs.extend(other.outputs);
        self.failures.extend(other.failures);
        self.timing_tests.extend(other.timing_tests);
    }

    /// Counts a check that is not a cargo test; `None` if it cannot run here.
    pub fn check(&mut self, what: &str, answer: Result<Option<()>>) {
        match answer {
            Ok(Some(())) => self.passed += 1,
            Ok(None) => {
                println!("SKIPPED: {what} is not to be had here");
                self.skipped += 1;
            }
            Err(why) => self.fail(what, &why),
        }
    }

    pub fn fail(&mut self, what: &str, why: &anyhow::Error) {
        println!("{what}: FAILED: {why:#}");
        self.failures.push(Failure { name: what.to_owned(), lines: vec![format!("{why:#}")] });
        self.failed += 1;
    }

    /// Reclassifies tests of figures that failed under steal time as skipped; returns a line for
    /// each.
    pub fn skip_under_steal_time(&mut self) -> Vec<String> {
        let void: Vec<TimingTest> =
            self.timing_tests.drain(..).filter(|test| test.stolen > STOLEN_MAX).collect();
        self.failures.retain(|failure| !void.iter().any(|test| test.name == failure.name));
        let line = |TimingTest { name, stolen }| {
            format!("SKIPPED: {name}: its figures are void, {stolen:.1} % of the CPUs was stolen")
        };
        let lines: Vec<String> = void.into_iter().map(line).collect();
        self.failed -= lines.len() as u64;
        self.skipped += lines.len() as u64;
        lines
    }

    /// Prints failures, first in full, then in one line each, and counts; an error if a test
    /// failed.
    pub fn close(self) -> Result<()> {
        self.outputs.iter().for_each(|line| println!("{line}"));
        for failure in &self.failures {
            println!("{}:\n{}", failure.name, failure.lines.join("\n"));
        }
        println!();
        self.failures.iter().for_each(|failure| println!("FAILED {}", failure.summary()));
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        if self.failed > 0 {
            bail!("{} tests failed", self.failed);
        }
        Ok(())
    }
}

/// State of parsing the output of tests.
#[derive(Default)]
pub struct Failing {
    /// True inside the list of failures.
    is: bool,
    /// Name of the test whose output follows.
    name: String,
    /// True inside a panic message.
    panics: bool,
}

impl Counts {
    /// Counts a line of the virtual machine: `ok NAME`, or `not ok NAME` with lines that say why.
    pub fn guest_line(&mut self, line: &str, is_failing: &mut bool) {
        let failed = line.starts_with("not ok ");
        let ends = ["ok ", "qmp ", "guest done"].iter().any(|start| line.starts_with(start));
        *is_failing = failed || *is_failing && !ends;
        self.passed += u64::from(line.starts_with("ok "));
        self.failed += u64::from(failed);
        if failed {
            let name = line.replacen("not ok", "virtual machine:", 1);
            self.failures.push(Failure { name, lines: Vec::new() });
        } else if *is_failing && let Some(failure) = self.failures.last_mut() {
            failure.lines.push(line.to_owned());
        }
    }

    /// Parses a line of output.
    pub fn line(&mut self, line: &str, failing: &mut Failing) {
        failing.is = line == "failures:" || failing.is && !line.starts_with("test result: ");
        if failing.is {
            self.outputs.push(line.to_owned());
            let name =
                line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
            if let Some(name) = name {
                name.clone_into(&mut failing.name);
                self.failures.push(Failure { name: failing.name.clone(), lines: Vec::new() });
            }
            let begins = line.starts_with("thread '") && line.contains("panicked at ");
            // A test that returns an error prints it without a panic.
            failing.panics |= begins || line.starts_with("Error: ");
            if PANIC_ENDS.iter().any(|end| line.starts_with(end)) {
                failing.panics = false;
            } else if failing.panics
                && !line.is_empty()
                && let Some(failure) = self.failures.last_mut()
            {
                failure.lines.push(line.chars().take(PANIC_LINE_CHARS).collect());
            }
            let stolen = line.strip_prefix(OF_FIGURES).and_then(|rest| rest.strip_suffix(STOLEN));
            if let Some(stolen) = stolen.and_then(|share| share.parse().ok()) {
                self.timing_tests.push(TimingTest { name: failing.name.clone(), stolen });
            }
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += number_before(result, " passed");
            self.failed += number_before(result, " failed");
            self.skipped += number_before(result, " ignored");
        }
        self.skipped += u64::from(line.trim_start().starts_with("SKIPPED"));
    }
}

fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> Counts {
        let (mut counts, mut failing) = (Counts::default(), Failing::default());
        text.lines().for_each(|line| counts.line(line, &mut failing));
        counts
    }

    #[test]
    fn test_results_are_counted_and_failures_repeated() {
        let counts = counted(
            "test a ... ok\n  SKIPPED: b: not root\nfailures:\n---- c ----\nbecause\n\
             test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured\nbehind",
        );
        assert_eq!((counts.passed, counts.failed, counts.skipped), (12, 1, 3));
        assert_eq!(counts.outputs, ["failures:", "---- c ----", "because"]);
    }

    #[test]
    fn failed_checks_of_the_guest_are_repeated() {
        let (mut counts, mut is_failing) = (Counts::default(), false);
        for line in ["ok a", "    about a", "not ok b", "    because", "", "ok c", "    about c"] {
            counts.guest_line(line, &mut is_failing);
        }
        assert_eq!((counts.passed, counts.failed), (2, 1));
        let lines = ["    because", ""].map(str::to_owned).to_vec();
        assert_eq!(counts.failures, [Failure { name: "virtual machine: b".into(), lines }]);
        assert_eq!(counts.failures[0].summary(), "virtual machine: b: because");
    }

    #[test]
    fn panic_messages_are_repeated_without_stack_traces() {
        let counts = counted(
            "failures:\n---- m::c stdout ----\nwords\nthread 'm::c' (7) panicked at c.rs:1:2:\n\
             left\n\nright\n\n---- m::d stdout ----\nthread 'm::d' (8) panicked at d.rs:1:2:\n\
             here\nstack backtrace:\n   0: begin\nnote: more\n\ntest result: FAILED",
        );
        let summaries: Vec<String> = counts.failures.iter().map(Failure::summary).collect();
        assert_eq!(summaries, ["m::c: c.rs:1:2: | left | right", "m::d: d.rs:1:2: | here",]);
    }

    #[test]
    fn timing_failures_under_steal_time_are_skipped() {
        let mut counts = counted(
            "successes:\n---- s::a stdout ----\nTEST OF FIGURES: no failure\nfailures:\n\
             ---- s::b stdout ----\nwords\n---- s::c stdout ----\npanicked\n\
             TEST OF FIGURES: 12.0 % stolen\n---- s::d stdout ----\npanicked\n\
             TEST OF FIGURES: 0.4 % stolen\n\
             test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured\n",
        );
        let names: Vec<&str> = counts.timing_tests.iter().map(|test| &*test.name).collect();
        assert_eq!(names, ["s::c", "s::d"]);
        assert_eq!(counts.skip_under_steal_time().len(), 1);
        let failed: Vec<&str> = counts.failures.iter().map(|failure| &*failure.name).collect();
        assert_eq!(failed, ["s::b", "s::d"]);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (12, 2, 1));
    }
}
