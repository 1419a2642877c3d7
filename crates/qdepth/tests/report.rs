//! Reports of runs on emulated devices in every format and language.

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};

    const PAPER: &str = r#"
title = { en = "Drives of the year", ja = "今年のドライブ" }
organisation = "ACME"
logo = "logo.svg"
contact = ["storage@acme.example"]
version = "1.0b"
date = "2026-11-21"
[[history]]
version = "1.0b"
date = "2026-11-21"
changes = { en = "Second series", ja = "第二の計測" }
"#;

    #[expect(clippy::disallowed_methods, reason = "the test runs the program as a user would")]
    fn qdepth(folder: &Path, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qdepth"));
        command.args(words).current_dir(folder).output().expect("it starts")
    }

    fn status(output: &Output) -> i32 {
        output.status.code().expect("it ended by itself")
    }

    fn stdout(output: &Output) -> String {
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn stderr(output: &Output) -> String {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn measured() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("paper.toml"), PAPER).unwrap();
        let logo = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"><path d=\"M0 \
                    0H9V9z\"/></svg>";
        std::fs::write(folder.path().join("logo.svg"), logo).unwrap();
        let words = ["run", "quick", "media:p3700-800gb", "--queue-depth", "1,8,64"];
        let more = ["--profile", "database,streaming", "--duration", "2s", "--no-report"];
        let output = qdepth(folder.path(), &[&words[..], &more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        folder
    }

    fn read(folder: &Path, name: &str) -> String {
        std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The keys of a publisher file that the example sets.
    #[test]
    fn example_paper_file_appears_in_both_languages() {
        let run = measured();
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/paper.toml");
        let words = ["report", "--paper", example, "--format", "html,md", "--lang", "en,ja"];
        let output = qdepth(run.path(), &[&words[..], &["-o", "paper"]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let both = ["EX-P3700-800", "Performance", "nvmexpress.org/specifications/", "*1", "1.0a"];
        let english =
            ["Products", "Order code", "10 drive writes per day", "Administration software"];
        let english_too = ["Configuration of the tests", "Power profile", "Latency", "Notes"];
        let english_last = ["The drive reaches its limit", "Use one drive for every two"];
        let japanese = ["製品の紹介", "オーダーコード", "10 回の書き込み", "管理ソフトウェア"];
        let japanese_too = ["テストの構成", "電力プロファイル", "注記", "キューが埋まる前に"];
        let parts = |lang| match lang {
            "en" => [&english[..], &english_too, &english_last, &both].concat(),
            _ => [&japanese[..], &japanese_too, &["プロセッサ 2 個につき"], &both].concat(),
        };
        for lang in ["en", "ja"] {
            for part in parts(lang) {
                assert!(read(run.path(), &format!("paper.{lang}.html")).contains(part), "{part}");
                let text = read(run.path(), &format!("paper.{lang}.md")).replace('\\', "");
                assert!(text.contains(part), "{lang}: {part}");
            }
        }
        let page = read(run.path(), "paper.en.html");
        let link = "<a href=\"https://nvmexpress.org/specifications/\">";
        assert!(page.contains(link), "a link that can be followed");
    }

    #[test]
    fn run_has_every_report_format_in_both_languages() {
        let run = measured();
        let folder = run.path();
        let words = ["report", "--format", "html,md,csv,json,typst", "--lang", "en,ja"];
        let words = [&words[..], &["--paper", "paper.toml", "-o", "out.html"]].concat();
        let output = qdepth(folder, &words);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 10);
        for (lang, title, change) in
            [("en", "Drives of the year", "Second series"), ("ja", "今年のドライブ", "第二の計測")]
        {
            let page = read(folder, &format!("out.{lang}.html"));
            assert!(page.contains(&format!("<html lang=\"{lang}\">")));
            for part in [title, change, "ACME", "storage@acme.example", "1.0b", "EMULATED"] {
                assert!(page.contains(part), "{lang}: {part}");
                let text = read(folder, &format!("out.{lang}.md"));
                // The dot and the at sign of the contact stay; markup in the text has no effect.
                assert!(text.contains(part), "{lang}: {part} in Markdown");
            }
            assert!(page.contains("src=\"data:image/svg+xml;base64,"));
            assert!(read(folder, &format!("out.{lang}.typst/document.typ")).contains(title));
            let csv = read(folder, &format!("out.{lang}.csv/load-1-rate.csv"));
            assert_eq!(csv.lines().count(), 4, "{csv}");
            assert!(csv.lines().skip(1).all(|row| row.starts_with("true,")), "{csv}");
            let json: serde_json::Value =
                serde_json::from_str(&read(folder, &format!("out.{lang}.json"))).unwrap();
            assert_eq!(json["schema"]["name"], "qdepth-figures");
            assert_eq!(json["figures"].as_array().unwrap().len(), 4);
            assert!(folder.join(format!("out.{lang}-figures/load-1-rate.svg")).is_file());
        }
        let first = read(folder, "out.ja.html");
        assert_eq!(status(&qdepth(folder, &words)), 0);
        assert_eq!(first, read(folder, "out.ja.html"), "the same run, the same bytes");
    }

    /// Command that a report prints after its label; the last word is the seed.
    fn printed(text: &str) -> &str {
        let (_, rest) = text.split_once("How to repeat this run").expect("it is printed");
        let rest = &rest[rest.find("qdepth run").expect("with its command")..];
        let end = rest.find(['`', '\n']).expect("and an end");
        rest[..end].trim()
    }

    /// The printed command of each kind of run gives the same plan in a shell.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a shell reads the printed command")]
    fn printed_command_gives_the_same_plan() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::copy(root.join("plans/quick.toml"), folder.join("my plan.toml")).unwrap();
        let medium = root.join("media/p4800x-375gb.toml");
        std::fs::copy(medium, folder.join("my drive's.toml")).unwrap();
        let two = ["media:p3700-800gb", "media:p4800x-375gb"];
        let array = ["--array", "raid0(media:p3700-800gb*2)"];
        let options = ["media:p3700-800gb @cpu=2.3GHz", "media:p3700-800gb"];
        let kinds: [&[&str]; 8] = [
            &["quick", two[0]],
            &["quick", two[0], two[1]],
            &["devices", two[0], two[0], array[0], array[1]],
            &["options", options[0], options[1]],
            &["processes", two[0], "--processes", "1,3"],
            &["area", two[0]],
            &["./my plan.toml", two[0], "--seed", "7", "--profile", "database"],
            &["quick", "media:./my drive's.toml", "--area", "3GiB"],
        ];
        let path = Path::new(env!("CARGO_BIN_EXE_qdepth")).parent().unwrap();
        for kind in kinds {
            let more = ["--queue-depth", "1", "--duration", "100ms", "--no-report", "--json"];
            let hash = |output: &Output| {
                assert!(matches!(status(output), 0 | 1), "{kind:?}: {}", stderr(output));
                let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                run["run"]["plan_hash"].as_str().unwrap().to_owned()
            };
            let first = hash(&qdepth(folder, &[&["run"], kind, &more].concat()));
            let output = qdepth(folder, &["report", "--format", "md", "-o", "out.md"]);
            assert_eq!(status(&output), 0, "{}", stderr(&output));
            let text = read(folder, "out.md");
            let line = printed(&text);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("PATH=\"$1:$PATH\"; {line} --no-report --json"), "sh"]);
            let again = shell.arg(path).current_dir(folder).output().unwrap();
            assert_eq!(first, hash(&again), "{kind:?}: {line}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "sha256sum is the oracle")]
    fn hash_of_results_matches_the_csv_export() {
        let run = measured();
        let folder = run.path();
        assert_eq!(status(&qdepth(folder, &["report"])), 0);
        let csv = qdepth(folder, &["export", "--csv"]);
        std::fs::write(folder.join("export.csv"), &csv.stdout).unwrap();
        let sum = Command::new("sha256sum").arg(folder.join("export.csv")).output().unwrap();
        let sum = stdout(&sum).chars().take(64).collect::<String>();
        assert!(read(folder, "qdepth-report.html").contains(&sum), "{sum}");
    }

    #[test]
    fn paper_of_several_runs_has_one_method_section() {
        let run = measured();
        let folder = run.path();
        let second = ["run", "quick", "media:iodrive-320gb", "--queue-depth", "1,8", "--no-report"];
        let second = [&second[..], &["--profile", "restore", "--duration", "2s"]].concat();
        assert_eq!(status(&qdepth(folder, &second)), 0);
        let runs = stdout(&qdepth(folder, &["list"]));
        let ids: Vec<&str> =
            runs.lines().filter_map(|line| line.split_whitespace().next()).collect();
        // The newest comes first.
        let ids: Vec<&str> = ids.into_iter().rev().filter(|id| id.starts_with("01")).collect();
        assert_eq!(ids.len(), 2, "{runs}");
        let words = ["report", ids[0], ids[1], "--format", "html,md,csv,json,typst"];
        let output = qdepth(folder, &[&words[..], &["--paper", "paper.toml"]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let page = read(folder, "qdepth-report.html");
        assert_eq!(page.matches("<section id=\"method\">").count(), 1);
        for part in ["<section id=\"run-1\">", "<section id=\"run-2\">", "Drives of the year"] {
            assert!(page.contains(part), "{part}");
        }
        for id in &ids {
            assert!(page.contains(*id), "{id}");
        }
        let name = "qdepth-report.csv/run-2-load-1-rate.csv";
        let other = "qdepth-report.csv/run-1-load-1-rate.csv";
        assert_ne!(read(folder, name), read(folder, other));
        let twice = qdepth(folder, &["report", ids[0], ids[0], "-o", "twice.html"]);
        assert_eq!(status(&twice), 2);
        assert!(stderr(&twice).contains("named twice"), "{}", stderr(&twice));
        assert!(!folder.join("twice.html").exists());
    }

    #[test]
    fn wrong_report_input_is_named_and_writes_nothing() {
        let run = measured();
        let folder = run.path();
        std::fs::write(folder.join("wrong.toml"), "titel = 1\n").unwrap();
        std::fs::write(folder.join("nologo.toml"), "logo = \"none.png\"\n").unwrap();
        let cases = [
            (vec!["report", "-o", "report.docx"], "`.docx`"),
            (vec!["report", "--paper", "wrong.toml"], "titel"),
            (vec!["report", "--paper", "none.toml"], "none.toml"),
            (vec!["report", "--paper", "nologo.toml"], "none.png"),
            (vec!["report", "--published", "p3700-80gb"], "Did you mean `p3700-800gb`?"),
        ];
        for (words, named) in cases {
            let output = qdepth(folder, &words);
            assert_eq!(status(&output), 2, "{words:?}: {}", stderr(&output));
            assert!(stderr(&output).contains(named), "{}", stderr(&output));
        }
        assert!(!folder.join("qdepth-report.html").exists());
    }

    /// DOM of the page in a browser; `None` without one.
    fn dom(folder: &Path, page: &str) -> Option<String> {
        let profile = format!("--user-data-dir={}", folder.join("browser").display());
        let address = format!("file://{}", folder.join(page).display());
        let words = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
        let words = [&words[..], &[&*profile, &*address]].concat();
        let read = ran(Path::new("chromium"), folder, &words)?;
        Some(stdout(&read))
    }

    #[test]
    fn page_is_complete_without_scripts() {
        let run = measured();
        assert_eq!(status(&qdepth(run.path(), &["report", "-o", "page.html"])), 0);
        let Some(aided) = dom(run.path(), "page.html") else {
            println!("SKIPPED: the page in a browser (chromium is not installed)");
            return;
        };
        // The page's own policy let its script run, to the end.
        for aid in ["Copy as CSV", "class=\"anchor", "class=\"contents", "aria-pressed=\"true\""] {
            assert!(aided.contains(aid), "{aid}");
        }
        let plain = read(run.path(), "page.html");
        assert!(!plain.contains("class=\"aids") && plain.contains("<h2>Key figures</h2>"));
        let tables = |page: &str| page.matches("<td").count();
        assert!(tables(&plain) > 50);
        assert_eq!(tables(&plain), tables(&aided));
    }

    /// Folder with `qdepth` and, if it was built, `qdepth-pdf`; true if it has both.
    fn programs() -> (tempfile::TempDir, bool) {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_qdepth"));
        let target = built.parent().unwrap();
        let programs = tempfile::tempdir_in(target).unwrap();
        std::fs::hard_link(&built, programs.path().join("qdepth")).unwrap();
        let pdf = target.join("qdepth-pdf");
        if pdf.is_file() {
            std::fs::hard_link(&pdf, programs.path().join("qdepth-pdf")).unwrap();
        }
        (programs, pdf.is_file())
    }

    #[expect(clippy::disallowed_methods, reason = "programs are run from other places")]
    fn ran(program: &Path, folder: &Path, words: &[&str]) -> Option<Output> {
        Command::new(program).args(words).current_dir(folder).output().ok()
    }

    /// True if a PDF was written; otherwise prints the reason.
    fn set(programs: &Path, folder: &Path, words: &[&str]) -> bool {
        let set = ran(&programs.join("qdepth"), folder, words).expect("it starts");
        if stderr(&set).contains("fonts-noto-cjk") {
            println!("SKIPPED: {}", stderr(&set));
            return false;
        }
        assert_eq!(status(&set), 0, "{}", stderr(&set));
        true
    }

    const NOT_BUILT: &str = "SKIPPED: qdepth-pdf was not built (`cargo xtask test` does)";

    /// `qdepth` finds `qdepth-pdf` in its own folder; without it, it refuses.
    #[test]
    fn pdf_is_made_by_program_in_same_directory() {
        let run = measured();
        let ((programs, built), (alone, _)) = (programs(), programs());
        let _ = std::fs::remove_file(alone.path().join("qdepth-pdf"));
        let words = ["report", "-o", "out.pdf", "--lang", "ja"];
        let installed =
            ["/usr/local/bin", "/usr/bin"].iter().any(|f| Path::new(f).join("qdepth-pdf").exists());
        if !installed {
            let refused = ran(&alone.path().join("qdepth"), run.path(), &words).unwrap();
            assert_eq!(status(&refused), 4);
            assert!(stderr(&refused).contains("`cargo pdf`"), "{}", stderr(&refused));
            assert!(stderr(&refused).contains("in HTML instead"), "{}", stderr(&refused));
            assert!(!run.path().join("out.pdf").exists() && run.path().join("out.html").exists());
            std::fs::remove_file(run.path().join("out.html")).unwrap();
        }
        if !built {
            println!("{NOT_BUILT}");
            return;
        }
        if !set(programs.path(), run.path(), &words) {
            return;
        }
        let bytes = std::fs::read(run.path().join("out.pdf")).unwrap();
        assert!(bytes.starts_with(b"%PDF-1.7") && bytes.len() < 2 << 20, "{} bytes", bytes.len());
        for mark in ["pdfuaid", "DisplayDocTitle"] {
            let is_there = bytes.windows(mark.len()).any(|at| at == mark.as_bytes());
            assert!(is_there, "no PDF/UA-1: {mark}");
        }
        assert!(set(programs.path(), run.path(), &words));
        assert_eq!(bytes, std::fs::read(run.path().join("out.pdf")).unwrap(), "the same bytes");
    }

    /// The extension determines a report's format, also in a run; formats that cannot be written
    /// are refused before the measurement.
    #[test]
    fn report_extension_of_run_selects_the_format() {
        let (folder, (programs, built)) = (tempfile::tempdir().unwrap(), programs());
        let run = |report: &str| {
            let line = "run quick media:null --profile database --queue-depth 1 --duration 50ms";
            let words: Vec<&str> = line.split(' ').chain(["--report", report]).collect();
            ran(&programs.path().join("qdepth"), folder.path(), &words).unwrap()
        };
        let begins = |name: &str| {
            let bytes = std::fs::read(folder.path().join(name)).unwrap();
            String::from_utf8_lossy(&bytes[..16]).into_owned()
        };
        for (name, beginning) in
            [("a.html", "<!DOCTYPE html>"), ("a.md", "White paper"), ("a.json", "{")]
        {
            let told = run(name);
            assert!(status(&told) <= 1, "{}", stderr(&told));
            assert!(begins(name).starts_with(beginning), "{name}: {}", begins(name));
        }
        std::fs::remove_file(folder.path().join("qdepth.db")).unwrap();
        let refused = [
            ("a.zip", ".html, .pdf, .md, .json"),
            ("nowhere/a.html", "nowhere"),
            ("-", "a file"),
            ("a.csv", "--report a.html"),
        ];
        for (name, lacks) in refused {
            let told = run(name);
            assert!((2..=3).contains(&status(&told)), "{name}: {}", stderr(&told));
            assert!(stderr(&told).contains(lacks), "{name}: {}", stderr(&told));
        }
        assert!(!folder.path().join("qdepth.db").exists(), "nothing was measured");
        if built {
            assert!(status(&run("a.pdf")) <= 1);
            assert!(begins("a.pdf").starts_with("%PDF-"), "{}", begins("a.pdf"));
        }
    }

    /// The text of these pages, as a reader of the PDF finds it.
    fn text(folder: &Path, pages: [&str; 2]) -> Option<String> {
        let words = ["-f", pages[0], "-l", pages[1], "out.pdf", "-"];
        let Some(read) = ran(Path::new("pdftotext"), folder, &words) else {
            println!("SKIPPED: the text of the PDF (pdftotext is not installed)");
            return None;
        };
        Some(stdout(&read))
    }

    #[test]
    fn first_page_contains_answer_for_three_drives() {
        let media = ["media:p3700-800gb", "media:p4800x-375gb", "media:iodrive-320gb/advertised"];
        holds_its_answer(&[&["run", "quick"], &media[..]].concat());
    }

    #[test]
    fn first_page_contains_answer_for_seven_drives() {
        let drives = ["p3700-800gb", "p3700-1600gb", "p3700-2tb", "iodrive-320gb"];
        let others = ["iodrive2-1200gb", "p4800x-375gb", "sas-12g-ssd-400gb"];
        let media: Vec<String> =
            drives.iter().chain(&others).map(|name| format!("media:{name}")).collect();
        let media = media.iter().map(String::as_str);
        let words = ["run", "devices"].into_iter().chain(media).collect::<Vec<_>>();
        holds_its_answer(&[&words[..], &["--queue-depth", "1,8", "--duration", "1s"]].concat());
    }

    /// Words of a PDF that end in the margin of 21 mm; a full stop of Japanese may hang into it.
    fn beyond_the_edge(folder: &Path) -> Vec<String> {
        let places = ran(Path::new("pdftotext"), folder, &["-bbox", "out.pdf", "-"]);
        let places = places.map_or_else(String::new, |places| stdout(&places));
        let end = |line: &str| line.split_once("xMax=\"")?.1.split('"').next()?.parse::<f64>().ok();
        let is_beyond = |line: &&str| end(line).is_some_and(|end| end > 595.3 - 50.0);
        places.lines().filter(is_beyond).map(str::to_owned).collect()
    }

    /// Asserts that the first page of this run's report ends with the table of the answer, in both
    /// languages, and that no page breaks a unit or word apart.
    fn holds_its_answer(words: &[&str]) {
        let (programs, built) = programs();
        if !built {
            println!("{NOT_BUILT}");
            return;
        }
        let run = tempfile::tempdir().unwrap();
        let output = qdepth(run.path(), &[words, &["--no-report"]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        for (lang, last_row, next) in [("en", "Restore", "Contents"), ("ja", "リストア", "目次")]
        {
            if !set(programs.path(), run.path(), &["report", "-o", "out.pdf", "--lang", lang]) {
                return;
            }
            let Some(first) = text(run.path(), ["1", "1"]) else { return };
            let Some(second) = text(run.path(), ["2", "2"]) else { return };
            assert!(first.contains(last_row), "{lang}: {first}");
            assert_eq!(beyond_the_edge(run.path()), Vec::<String>::new(), "{lang}");
            assert!(second.contains(next), "{lang}: {second}");
            let whole = text(run.path(), ["1", "99"]).unwrap_or_default();
            let torn = |line: &&str| {
                ["I/", "IO/", "MiB/", "プロファイ"].iter().any(|torn| line.ends_with(torn))
            };
            assert_eq!(whole.lines().find(torn), None, "{lang}");
        }
    }

    /// Run of a thousand points in virtual time: this number of targets, and these queue depths for
    /// each of the five profiles.
    fn thousand(targets: usize, queue_depth: &[u32]) -> tempfile::TempDir {
        let run = tempfile::tempdir().unwrap();
        let media = ["media:p3700-800gb", "media:p3700-2tb", "media:p4800x-375gb"];
        let media = media.into_iter().cycle().take(targets);
        let words = ["run", "standard"].into_iter().chain(media).collect::<Vec<_>>();
        let queue_depth = queue_depth.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        // Only the number of points matters, so each is short.
        let short = ["--duration", "20ms", "--warm-up", "10ms", "--no-report"];
        let more = [&["--queue-depth", &*queue_depth][..], &short].concat();
        let output = qdepth(run.path(), &[words, more].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        run
    }

    /// Shapes of a thousand points: one drive at two hundred depths, twenty drives, and fifty.
    fn shapes() -> [(usize, Vec<u32>); 3] {
        let powers = |end: u32, step: usize| (0..end).step_by(step).map(|n| 1 << n).collect();
        [(1, (1..=200).collect()), (20, powers(10, 1)), (50, powers(10, 3))]
    }

    #[test]
    fn thousand_points_make_small_page_and_short_paper() {
        let (programs, built) = programs();
        for (targets, queue_depth) in shapes() {
            let run = thousand(targets, &queue_depth);
            assert_eq!(status(&qdepth(run.path(), &["report", "-o", "page.html"])), 0);
            let page = read(run.path(), "page.html");
            assert!(page.len() <= 2 << 20, "{targets}: {} bytes", page.len());
            // The answer, its diagram and its table come first.
            let (head, rest) = page.split_once("</header>").unwrap();
            assert!(head.contains("id=\"answer\"") && head.contains("The answer in figures"));
            assert!(rest.contains("download=\"points-") && !rest.contains("id=\"answer\""));
            if built && !is_short(programs.path(), run.path(), targets) {
                return;
            }
        }
        if !built {
            println!("{NOT_BUILT}");
        }
    }

    /// True if the paper could be written; asserts at most 3 MiB and 30 pages.
    fn is_short(programs: &Path, run: &Path, targets: usize) -> bool {
        for lang in ["en", "ja"] {
            if !set(programs, run, &["report", "-o", "out.pdf", "--lang", lang]) {
                return false;
            }
            let size = std::fs::metadata(run.join("out.pdf")).unwrap().len();
            assert!(size <= 3 << 20, "{targets}, {lang}: {size} bytes");
            let Some(info) = ran(Path::new("pdfinfo"), run, &["out.pdf"]) else {
                println!("SKIPPED: pages of the PDF (pdfinfo is not installed)");
                return false;
            };
            let info = stdout(&info);
            let pages = info.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap();
            assert!(pages.trim().parse::<u32>().unwrap() <= 30, "{targets}, {lang}: {pages} pages");
        }
        true
    }
}
