//! The live screen in terminals: content of a tmux pane during a run and after it.

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::common::{Workspace, pause, program, sh};

    /// A terminal of this size, in which the program runs.
    struct Terminal {
        socket: String,
    }

    impl Terminal {
        /// `None` if tmux is not installed.
        fn start(
            workspace: &Workspace,
            (width, height): (u32, u32),
            before: &str,
            words: &str,
        ) -> Option<Self> {
            if sh("command -v tmux").is_err() {
                println!("SKIPPED: the live screen in a terminal: tmux is not installed");
                return None;
            }
            let folder = workspace.path().file_name().unwrap().to_string_lossy().into_owned();
            let socket = format!("qdepth-{}", folder.trim_start_matches('.'));
            let line = format!("{before} {} {words}; echo ended $?", program());
            workspace.write("line.sh", &format!("{line}\nexec sleep 600\n"));
            let tmux = format!(
                "cd {} && env -u COLUMNS -u LINES -u TMUX tmux -L {socket} -f /dev/null \
                 new-session -d -x {width} -y {height} 'sh line.sh'",
                workspace.path().display()
            );
            sh(&tmux).unwrap();
            Some(Self { socket })
        }

        fn tmux(&self, words: &str) -> String {
            sh(&format!("tmux -L {} {words}", self.socket)).unwrap()
        }

        fn resize(&self, width: u32, height: u32) {
            self.tmux(&format!("resize-window -x {width} -y {height}"));
        }

        /// Content of the screen and its history, and true if no line wraps.
        fn seen(&self) -> (String, bool) {
            // The screen may be redrawn between the two captures.
            for _ in 0..20 {
                let [as_is, joined, again] =
                    ["-p -S -", "-p -S - -J", "-p -S -"].map(|how| self.capture(how));
                if as_is == again {
                    let whole = as_is == joined;
                    return (as_is, whole);
                }
            }
            panic!("never the same twice");
        }

        fn capture(&self, how: &str) -> String {
            let text = self.tmux(&format!("capture-pane {how}"));
            text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
        }

        /// Captures the screen until it contains this text; returns all captures.
        #[track_caller]
        fn until(&self, text: &str) -> Vec<String> {
            let began = Instant::now();
            let mut all = Vec::new();
            loop {
                let (seen, whole) = self.seen();
                assert!(whole, "a line is wider than the terminal:\n{seen}");
                let is_there = seen.contains(text);
                all.push(seen);
                if is_there {
                    return all;
                }
                let last = all.last().map_or("", String::as_str);
                assert!(began.elapsed() < Duration::from_secs(120), "no `{text}`:\n{last}");
                pause(100);
            }
        }
    }

    impl Drop for Terminal {
        fn drop(&mut self) {
            let _ = sh(&format!("tmux -L {} kill-server", self.socket));
        }
    }

    const RUN: &str = "run quick . --area 16MiB --profile database --queue-depth 1,2 \
                       --warm-up 3s --duration 6s --no-report";

    /// True for a line with the remaining time, which is the last of the live lines.
    fn is_live(line: &&str) -> bool {
        line.ends_with(" left") || line.contains(" left  ")
    }

    #[test]
    fn run_phases_are_visible_at_three_terminal_sizes() {
        std::thread::scope(|scope| {
            for size in [(80, 24), (120, 40), (40, 20)] {
                scope.spawn(move || a_run_is_seen_in(size));
            }
        });
    }

    fn a_run_is_seen_in(size: (u32, u32)) {
        let workspace = Workspace::new();
        let Some(terminal) = Terminal::start(&workspace, size, "", RUN) else { return };
        let all = terminal.until("ended ");
        let during = |text: &str| all.iter().filter(|seen| seen.contains(text)).count();
        assert!(during("measuring  ") > 1, "{size:?}: {all:?}");
        assert!(during("warm-up  ") > 1, "{size:?}: {all:?}");
        assert!(all.iter().any(|seen| seen.contains('█')), "{size:?}: {all:?}");
        // One live screen at a time, and none at the end.
        let live: Vec<usize> =
            all.iter().map(|seen| seen.lines().filter(is_live).count()).collect();
        assert!(live.iter().filter(|count| **count == 1).count() > 4, "{size:?}: {live:?}");
        assert!(live.iter().all(|count| *count <= 1) && live.last() == Some(&0), "{live:?}");
        let last = all.last().unwrap();
        assert!(!last.contains("measuring  "), "{last}");
        assert!(last.contains("Database") && last.contains("IOPS"), "{last}");
        assert!(last.contains("logbook  qdepth.db"), "{last}");
        // At the end, points appear only in the table.
        assert!(!last.contains("Database     QD 1 "), "{last}");
    }

    #[test]
    fn narrower_terminal_gets_lines_in_new_width() {
        let workspace = Workspace::new();
        let Some(terminal) = Terminal::start(&workspace, (120, 40), "", RUN) else { return };
        terminal.until("measuring  ");
        terminal.resize(50, 20);
        let began = Instant::now();
        loop {
            pause(500);
            let (seen, _) = terminal.seen();
            let live = (seen.lines().filter(is_live).count(), seen.matches("point ").count());
            if live == (1, 1) {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(6), "{live:?}: {seen}");
        }
    }

    #[test]
    fn emulated_run_leaves_marked_lines_and_intact_table() {
        let workspace = Workspace::new();
        let words = "run quick media:p3700-800gb --profile database --queue-depth 1,8 --no-report";
        let Some(terminal) = Terminal::start(&workspace, (40, 20), "", words) else { return };
        let all = terminal.until("ended ");
        let last = all.last().unwrap();
        assert!(last.contains("EMULATED") && last.contains("Database"), "{last}");
    }

    #[test]
    fn plain_output_keeps_lines_without_redrawing() {
        let words = RUN.replace("--warm-up 3s --duration 6s", "--warm-up 1s --duration 2s");
        for (before, plain) in [("TERM=dumb", ""), ("", "--plain")] {
            let workspace = Workspace::new();
            let words = format!("{words} {plain}");
            let Some(terminal) = Terminal::start(&workspace, (80, 24), before, &words) else {
                return;
            };
            let all = terminal.until("ended ");
            assert!(all.iter().all(|seen| !seen.lines().any(|line| is_live(&line))), "{all:?}");
            assert!(all.last().unwrap().contains("point 2 of 2: "), "{all:?}");
        }
        // Nor without a terminal.
        let told = Workspace::new().run(&words).expect_finished().err;
        assert!(!told.contains(['\u{1b}', '\r']), "{told}");
        assert!(told.contains("point 1 of 2: Database, QD 1"), "{told}");
    }
}
