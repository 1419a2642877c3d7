//! Limits of the process and of its outputs: the program ends with a message and a failure status,
//! and keeps every finished point.

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::common::{Ended, Workspace, codes, has_tools, points, program, sh};

    const POINT: &str = "--profile database --queue-depth 1 --duration 20ms";

    /// Runs the program after a shell line that sets limits or redirects.
    fn limited(workspace: &Workspace, line: &str) -> Ended {
        let program = program();
        let output = Command::new("bash")
            .args(["-c", &line.replace("qdepth", &program)])
            .current_dir(workspace.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn in_words(ended: &Ended, words: &str) {
        assert_eq!(ended.status, Some(4), "{}\n{}", ended.out, ended.err);
        assert!(ended.err.contains(words), "no `{words}` in {}", ended.err);
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
    }

    /// Number of finished points in the logbook.
    fn kept(workspace: &Workspace) -> usize {
        points(&workspace.run("export").expect(0).json()).len()
    }

    #[test]
    fn consent_in_container_mentions_hidden_programs() {
        let test = "consent_in_container_mentions_hidden_programs";
        if !has_tools(test, &["losetup", "unshare"]) {
            return;
        }
        let workspace = Workspace::new();
        let node = workspace.device("image", 8 << 20);
        let line = |before: &str| format!("{before} qdepth run {} {POINT}", node.display());
        let outside = limited(&workspace, &line(""));
        let inside = limited(&workspace, &line("unshare --pid --fork --mount-proc"));
        assert_eq!((outside.status, inside.status), (Some(3), Some(3)), "{}", inside.err);
        let is_mentioned = |ended: &Ended| ended.err.contains("no program outside it writes");
        assert!(is_mentioned(&inside), "{}", inside.err);
        // The suite itself may run in a container.
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
        let is_first = namespace.as_os_str() == "pid:[4026531836]";
        assert_eq!(is_mentioned(&outside), !is_first, "{}", outside.err);
    }

    #[test]
    fn file_size_limit_is_reported() {
        let workspace = Workspace::new();
        let ended =
            limited(&workspace, &format!("ulimit -f 512; exec qdepth run . {POINT} --area 8MiB"));
        in_words(&ended, "ulimit -f");
        assert!(!workspace.has("qdepth-report.html"));
        // The same for a result file: no part of it is left.
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report")).expect_finished();
        in_words(&limited(&workspace, "ulimit -f 1; exec qdepth report"), "ulimit -f");
        let left: Vec<_> = std::fs::read_dir(workspace.path()).unwrap().flatten().collect();
        let names = left.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<String> = names.filter(|name| name.starts_with(".qdepth")).collect();
        assert!(left.is_empty() && !workspace.has("qdepth-report.html"), "{left:?}");
        assert_eq!(kept(&workspace), 1);
    }

    #[test]
    fn closed_output_does_not_end_a_run() {
        let workspace = Workspace::new();
        for to in ["2>&1 | true", "2>/dev/full", "2>&-", "2>&1 | head -c 1"] {
            limited(&workspace, &format!("qdepth run media:p3700-800gb {POINT} --no-report {to}"));
        }
        assert_eq!(workspace.run("list").expect(0).out.matches("complete").count(), 4);
        // Errors other than a closed pipe are failures.
        in_words(&limited(&workspace, "qdepth list >/dev/full"), "cannot write to standard output");
        assert_eq!(
            limited(&workspace, "qdepth export | true; exit ${PIPESTATUS[0]}").status,
            Some(0)
        );
    }

    #[test]
    fn open_file_limit_is_reported() {
        let workspace = Workspace::new();
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report")).expect_finished();
        for most in 3..40 {
            let line =
                format!("ulimit -n {most}; exec qdepth run . {POINT} --area 8MiB --no-report");
            let ended = limited(&workspace, &line);
            match ended.status {
                Some(0 | 1) if most > 10 => break,
                // A shared library of the C compiler may be the first file that cannot be opened.
                Some(127) => {}
                _ => {
                    // A limit that shows before the start is a refusal, and the message says so.
                    let refused = ended.err.contains("nothing was changed");
                    let status = if refused { 3 } else { 4 };
                    assert_eq!(ended.status, Some(status), "{most}: {}", ended.err);
                    let told = ["ulimit -n", "Too many open files", "open files"];
                    assert!(told.iter().any(|t| ended.err.contains(t)), "{most}: {}", ended.err);
                }
            }
            assert!(most < 39, "never enough: {}", ended.err);
        }
        assert!(!workspace.has("qdepth-measurement-file") && kept(&workspace) == 1);
    }

    #[test]
    fn memory_exhaustion_is_reported() {
        let workspace = Workspace::new();
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report")).expect_finished();
        std::fs::File::create(workspace.join("large")).unwrap().set_len(900 << 20).unwrap();
        let ended = limited(&workspace, "ulimit -v 400000; exec qdepth import large");
        in_words(&ended, "ulimit -v");
        assert_eq!(kept(&workspace), 1);
    }

    /// Each command ends soon in little memory: finished, or with the reason.
    #[test]
    fn commands_under_memory_limits_finish_or_report() {
        let workspace = Workspace::new();
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report")).expect_finished();
        // Below 40 MB the executable itself does not fit, and the kernel kills the process.
        for kilobytes in [40_000, 60_000, 100_000, 200_000, 400_000, 600_000, 900_000] {
            for line in every_command() {
                let line = format!("ulimit -v {kilobytes}; timeout -k 1 20 qdepth {line}");
                let ended = limited(&workspace, &line);
                finishes_or_names(&ended, &["memory", "Resource temporarily unavailable"], &line);
            }
        }
    }

    /// The commands, with loads of all engines.
    fn every_command() -> Vec<String> {
        let load = format!("run . {POINT} --area 8MiB --no-report");
        vec![
            load.clone(),
            format!("{load} --engine threads"),
            format!("{load} --engine linux-aio"),
            format!("{load} --engine sync"),
            "run quick media:p3700-800gb --profile database --duration 100ms".to_owned(),
            "run bandwidth . --threads 4 --transfer 64KiB --bytes-per-thread 256KiB".to_owned(),
            format!("{load} --repeat 2"),
            "list".to_owned(),
            "show latest".to_owned(),
            "export latest --csv".to_owned(),
            "report latest --replace".to_owned(),
            "plan quick".to_owned(),
            "host".to_owned(),
            "media".to_owned(),
            "fio --name=a --size=4m --rw=randread --bs=4k --number_ios=8".to_owned(),
            "ior -t 1m -b 4m".to_owned(),
        ]
    }

    /// Fails unless the program finished, or named the limit in one of these words.
    #[track_caller]
    fn finishes_or_names(ended: &Ended, words: &[&str], line: &str) {
        let in_words = words.iter().any(|words| ended.err.contains(words));
        let is_right =
            matches!(ended.status, Some(0 | 1)) || matches!(ended.status, Some(3..=5)) && in_words;
        let is_fault = ended.err.contains("internal error");
        assert!(is_right && !is_fault, "{line}: {ended:?}");
    }

    /// A control group with a limit, of either version; `None` if there is no such controller.
    struct Group(PathBuf);

    impl Group {
        /// `old` and `new` are the files of the limit and what is written to them.
        fn new(controller: &str, old: &[(&str, &str)], new: &[(&str, &str)]) -> Option<Self> {
            // Tests run concurrently in one process, and two of them use the same controller.
            static MADE: AtomicUsize = AtomicUsize::new(0);
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            // The name must not contain the word that shell lines replace by the program.
            let name = format!("limit-of-{controller}-{}-{number}", std::process::id());
            let root = Path::new("/sys/fs/cgroup");
            let unified = root.join("cgroup.controllers").exists();
            let above = if unified { root.to_owned() } else { root.join(controller) };
            if !above.join("cgroup.procs").exists() {
                return None;
            }
            let _ = std::fs::write(root.join("cgroup.subtree_control"), format!("+{controller}"));
            let place = above.join(name);
            std::fs::create_dir(&place).ok()?;
            let group = Self(place);
            let limits = if unified { new } else { old };
            let set = |(file, value): &(&str, &str)| std::fs::write(group.0.join(file), value);
            limits.iter().all(|limit| set(limit).is_ok()).then_some(group)
        }

        /// Shell prefix that runs a command in the group, or not at all.
        fn within(&self) -> String {
            format!("echo $$ >{}/cgroup.procs || exit 99; exec", self.0.display())
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir(&self.0);
        }
    }

    /// The memory for I/Os in flight is checked against the group's limit before anything is
    /// created.
    #[test]
    fn cgroup_memory_limit_is_checked_before_any_change() {
        let limit = "209715200";
        let (old, new) = ([("memory.limit_in_bytes", limit)], [("memory.max", limit)]);
        let Some(group) = Group::new("memory", &old, &new) else {
            return println!("SKIPPED: memory of a control group: there is none here");
        };
        let workspace = Workspace::new();
        let asked = "qdepth run . --profile database --queue-depth 512 --block-size 1MiB \
                     --duration 20ms --area 64MiB --no-report";
        let ended = limited(&workspace, &format!("{} {asked}", group.within()));
        assert_eq!(ended.status, Some(3), "{}", ended.err);
        assert!(ended.err.contains("the control group has"), "{}", ended.err);
        assert!(!workspace.has("qdepth-measurement-file"));
    }

    #[test]
    fn small_stack_is_sufficient() {
        let workspace = Workspace::new();
        for words in ["plans", "run quick media:p3700-800gb --duration 1s", "report latest"] {
            let line = format!("ulimit -s 64; exec timeout 60 qdepth {words}");
            limited(&workspace, &line).expect(0);
        }
    }

    #[test]
    fn cgroup_thread_limit_is_reported() {
        for limit in [4, 6, 9, 14, 20] {
            let limit = limit.to_string();
            let (old, new) = ([("pids.max", &*limit)], [("pids.max", &*limit)]);
            let Some(group) = Group::new("pids", &old, &new) else {
                return println!("SKIPPED: threads of a control group: there is none here");
            };
            let workspace = Workspace::new();
            let line = format!(
                "{} timeout 60 qdepth run bandwidth . --threads 40 --transfer 64KiB \
                 --bytes-per-thread 256KiB --no-report",
                group.within()
            );
            in_words(&limited(&workspace, &line), "pids.max");
            let entries = std::fs::read_dir(workspace.path()).unwrap().flatten();
            let left = entries.filter(|e| !e.file_name().to_string_lossy().contains(".db"));
            assert_eq!(left.count(), 0, "{limit}: what was made is removed");
        }
    }

    /// Every command ends soon under any limit on threads, successfully or with a message.
    #[test]
    fn commands_under_thread_limits_finish_or_report() {
        let workspace = Workspace::new();
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report")).expect_finished();
        for limit in [2, 3, 4, 6, 9, 20, 64] {
            let limit = limit.to_string();
            let (old, new) = ([("pids.max", &*limit)], [("pids.max", &*limit)]);
            let Some(group) = Group::new("pids", &old, &new) else {
                return println!("SKIPPED: threads of a control group: there is none here");
            };
            for line in every_command() {
                let asked = format!("{} timeout -k 1 15 qdepth {line}", group.within());
                let ended = limited(&workspace, &asked);
                finishes_or_names(&ended, &["threads", "Resource temporarily unavailable"], &line);
            }
        }
    }

    /// A load generator with a twelfth of a CPU raises a finding, and the storage is not blamed. At
    /// queue depth 32 even a disk of 10,000 IOPS keeps it busier than that; at depth 1 a slow disk
    /// does not.
    #[test]
    fn cgroup_cpu_quota_raises_a_finding() {
        let old = [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "8000")];
        let Some(group) = Group::new("cpu", &old, &[("cpu.max", "8000 100000")]) else {
            return println!("SKIPPED: CPU of a control group: there is none here");
        };
        let workspace = Workspace::new();
        let asked = "qdepth run . --profile latency-read --queue-depth 32 --duration 2s \
                     --area 8MiB --no-report --json";
        let ended = limited(&workspace, &format!("{} {asked}", group.within())).expect(1);
        let document = ended.json();
        let codes = codes(&points(&document)[0]);
        assert!(codes.iter().any(|code| code == "generator-stopped"), "{codes:?}");
        assert!(!codes.iter().any(|code| code == "stall"), "{codes:?}");
    }

    #[test]
    fn full_file_system_is_reported_and_run_kept() {
        let workspace = Workspace::new();
        let Some(small) = small(&workspace, "16k") else { return };
        let line = format!("run media:p3700-800gb {POINT} --report small/report.html");
        let ended = workspace.run(&line);
        in_words(&ended, "No space left on device");
        assert!(ended.err.contains("small/report.html") && ended.err.contains("`qdepth report`"));
        assert_eq!((kept(&workspace), std::fs::read_dir(&small).unwrap().count()), (1, 0));
    }

    #[test]
    fn failed_logbook_creation_leaves_no_file() {
        let workspace = Workspace::new();
        let Some(small) = small(&workspace, "8k") else { return };
        let _ = sh(&format!("cat /dev/zero > {}/filler 2>&1", small.display()));
        let ended = workspace
            .run(&format!("run media:p3700-800gb {POINT} --no-report --logbook small/new.db"));
        in_words(&ended, "full");
        assert!(!workspace.has("small/new.db"));
    }

    /// Mounts a file system of this size; `None` if that is not possible.
    fn small(workspace: &Workspace, size: &str) -> Option<PathBuf> {
        if !has_tools("a full file system", &["mount"]) {
            return None;
        }
        let small = workspace.join("small");
        std::fs::create_dir(&small).unwrap();
        sh(&format!("mount -t tmpfs -o size={size} none {}", small.display())).unwrap();
        workspace.later(format!("umount {}", small.display()));
        Some(small)
    }

    #[test]
    fn events_without_space_are_reported_once_and_whole() {
        let workspace = Workspace::new();
        let Some(small) = small(&workspace, "8k") else { return };
        let line = "run quick media:p3700-800gb --profile database --no-report \
                    --events small/events.jsonl";
        let ended = workspace.run(line).expect(0);
        let told = "--events small/events.jsonl: ";
        assert_eq!(ended.err.matches(told).count(), 1, "{}", ended.err);
        assert!(ended.err.contains("could not be written (No space left"), "{}", ended.err);
        let text = std::fs::read_to_string(small.join("events.jsonl")).unwrap();
        assert!(text.ends_with('\n') && text.len() > 4096, "{text}");
        for line in text.lines() {
            serde_json::from_str::<serde_json::Value>(line)
                .unwrap_or_else(|e| panic!("{e}: {line}"));
        }
        let ended = limited(
            &workspace,
            &format!("{} >/dev/full", line.replace("small/events.jsonl", "-")).replacen(
                "run",
                "qdepth run",
                1,
            ),
        );
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_eq!(ended.err.matches("--events: lines are missing").count(), 1, "{}", ended.err);
    }

    #[test]
    fn full_logbook_error_repeats_the_given_command() {
        let workspace = Workspace::new();
        let Some(small) = small(&workspace, "2m") else { return };
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report")).expect_finished();
        workspace.run(&format!("run media:p3700-800gb {POINT} --no-report --logbook other.db"));
        sh(&format!("cp {} {}", workspace.join("qdepth.db").display(), small.display())).unwrap();
        let _ = sh(&format!("cat /dev/zero > {}/filler 2>&1", small.display()));
        let at = "--logbook small/qdepth.db";
        for line in [
            format!("note latest words {at}"),
            format!("retract latest words {at}"),
            format!("logbook merge other.db {at}"),
            format!("logbook prune --plan quick {at}"),
        ] {
            let ended = workspace.run(&line).expect(4);
            let next = format!("free some space, then run `qdepth {line}`");
            assert!(ended.err.contains(&next), "{line}: {}", ended.err);
            assert!(!ended.err.contains("--resume"), "{line}: {}", ended.err);
        }
    }

    #[test]
    fn dumb_terminal_gets_no_escape_codes() {
        let workspace = Workspace::new();
        if !has_tools("a terminal", &["script"]) {
            return;
        }
        workspace.run("run quick media:p3700-800gb --no-report").expect_finished();
        let shown = |term: &str| {
            limited(&workspace, &format!("TERM={term} script -qec 'qdepth show' /dev/null")).out
        };
        assert!(shown("xterm").contains('\u{1b}'), "a terminal has colours");
        assert!(!shown("dumb").contains('\u{1b}'), "{}", shown("dumb"));
    }

    #[test]
    fn foreign_control_characters_never_reach_the_terminal() {
        let workspace = Workspace::new();
        let evil = "a\u{1b}[2J\u{1b}]0;x\u{7}b\u{202e}c";
        let file = |name: &str, text: &str| std::fs::write(workspace.join(name), text).unwrap();
        file(&format!("{evil}.toml"), "name = 3");
        file("evil.toml", &format!("name = \"{evil}\"\nouts = \"{evil}\""));
        file(
            "named.toml",
            "name = \"a\\u001b[2Jb\\u202ec\"\nprofiles = [\"database\"]\nqueue_depth = [1]\n\
             duration = \"10ms\"\n",
        );
        file("evil.fio", &format!("[{evil}]\n{evil}={evil}\n"));
        file("evil.paper", &format!("tit = \"{evil}\"\n"));
        file("evil.recording", &format!("{evil}\n"));
        file("evil.media.toml", &format!("title = \"{evil}\"\n{evil}"));
        workspace.run("run named.toml media:p3700-800gb --no-report");
        let lines: [&[&str]; 14] = [
            &["plan", &format!("{evil}.toml")],
            &["plan", evil],
            &["plan", "evil.toml"],
            &["plan", "named.toml", "media:p3700-800gb"],
            &["fio", "evil.fio"],
            &["fio", &format!("--{evil}=1")],
            &["import", evil],
            &["list"],
            &["show"],
            &["report", "--paper", "evil.paper"],
            &["host", "--recorded", "evil.recording"],
            &["media", "evil.media.toml"],
            &["run", "media:p3700-800gb", "--engine", evil],
            &["list", "--logbook", evil],
        ];
        for words in lines {
            let output = Command::new(env!("CARGO_BIN_EXE_qdepth"))
                .args(words)
                .current_dir(workspace.path())
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let obeyed = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
            assert!(!said.contains(obeyed), "{words:?}: {said:?}");
            assert!(!said.is_empty(), "{words:?}");
        }
    }
}
