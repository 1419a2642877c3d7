//! Pages and reports in Chromium, checked by axe-core: no serious or critical problem, no script
//! error, and controls do what their labels say. `cargo xtask test` fetches the tools from npm.

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::common::{Running, Workspace, sh};

    const OPTIONS: &str = "media:iodrive-320gb/advertised media:iodrive-320gb/maximum-write";
    const QUICK: &str = "--profile database --duration 1s --no-report";

    /// True if a browser can be automated here; otherwise prints that the test is skipped.
    fn has_tools(test: &str) -> bool {
        let modules = format!("{}/axe-core", modules());
        let there = ["chromium", "node"].iter().all(|tool| {
            let is_there = sh(&format!("command -v {tool}")).is_ok();
            if !is_there {
                println!("SKIPPED: {test}: {tool} is not installed");
            }
            is_there
        });
        let fetched = std::path::Path::new(&modules).is_dir();
        if there && !fetched {
            println!("SKIPPED: {test}: axe-core is not there; `cargo xtask test` fetches it");
        }
        there && fetched
    }

    fn modules() -> String {
        format!("{}/../npm/node_modules", env!("CARGO_TARGET_TMPDIR"))
    }

    /// Runs the browser script on these addresses, and returns its output.
    fn run_browser(mode: &str, addresses: &[String]) -> String {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/look.mjs");
        let quoted: Vec<String> = addresses.iter().map(|address| format!("'{address}'")).collect();
        let modules = modules();
        let line = format!(
            "NODE_PATH='{modules}' timeout 300 node '{script}' {mode} {} 2>&1",
            quoted.join(" ")
        );
        sh(&line).unwrap()
    }

    /// Takes screenshots of pages (name, address). They replace those of the documentation if
    /// requested (see CONTRIBUTING.md); otherwise they are discarded.
    fn pictures(workspace: &Workspace, pages: &[(&str, String)]) {
        let folder = match std::env::var_os("QDEPTH_WRITE_REFERENCE") {
            Some(_) => concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images").into(),
            None => workspace.path().to_owned(),
        };
        let file = |name: &str| folder.join(format!("{name}.webp"));
        let word = |(name, address): &(&str, String)| format!("{}={address}", file(name).display());
        let words: Vec<String> = pages.iter().map(word).collect();
        assert_eq!(run_browser("pictures", &words), "");
        for (name, _) in pages {
            let size = std::fs::metadata(file(name)).unwrap().len();
            assert!((4_000..100_000).contains(&size), "{name} has {size} bytes");
        }
    }

    fn served(workspace: &Workspace) -> (Running, String) {
        let mut running = workspace.start("serve --port 0");
        running.wait_for_err("Stop with Ctrl-C");
        let address = running.out().lines().next().unwrap().to_owned();
        (running, address)
    }

    fn end(running: Running) {
        running.signal("INT");
        running.wait_at_most(Duration::from_secs(20)).expect(0);
    }

    #[test]
    fn every_page_and_report_passes_accessibility_checks() {
        if !has_tools("pages and reports as axe-core sees them") {
            return;
        }
        let workspace = Workspace::new();
        for depth in ["1,8", "1", "1"] {
            let words = format!("run quick media:p3700-800gb --queue-depth {depth} {QUICK}");
            workspace.run(&words).expect(0);
        }
        workspace.run("note latest one of two").expect(0);
        workspace.run("report latest~2 --lang en,ja --output report").expect(0);
        let (running, base) = served(&workspace);
        let id = |n: usize| {
            workspace.run("list --json").json()["runs"][n]["id"].as_str().unwrap().to_owned()
        };
        let compare = format!("compare?run={}&run={}", id(0), id(1));
        let pages = [
            "",
            "runs/latest",
            &compare,
            "live",
            "media",
            "media/p3700-800gb",
            "machines",
            "trend",
        ];
        let mut addresses = Vec::new();
        for page in pages {
            let and = if page.contains('?') { "&" } else { "?" };
            addresses.push(format!("{base}{page}"));
            addresses.push(format!("{base}{page}{and}lang=ja"));
        }
        let short = "--duration 100ms --warm-up 20ms --no-report";
        let loads = "--profile database,streaming --queue-depth 1,8,64";
        for (name, words) in [
            ("pressure", format!("write-pressure media:p3700-800gb media:p4800x-375gb {short}")),
            ("options", format!("options {OPTIONS} {loads} {short}")),
            ("seven", format!("quick {} {loads} {short}", "media:p3700-800gb ".repeat(7))),
            ("course", format!("pts-wsat media:sas-2-ssd-400gb {short}")),
        ] {
            // The status is ignored: points this short may be invalid.
            workspace.run(&format!("run {words} --logbook {name}.db"));
            let report = format!("report --logbook {name}.db --lang en,ja --output {name}");
            workspace.run(&report).expect(0);
        }
        workspace.run("report latest latest~1 --lang en,ja --output campaign").expect(0);
        workspace.run("compare latest latest~1 --output compared.html");
        let edition = "reproduce write-pressure --paper edition --format html --lang en,ja";
        workspace.run(edition);
        let files = sh(&format!("ls {}/*.html", workspace.path().display())).unwrap();
        assert_eq!(files.lines().count(), 15, "{files}");
        addresses.extend(files.lines().map(|file| format!("file://{file}")));
        assert_eq!(run_browser("pages", &addresses), "");
        let report = |name: &str| format!("file://{}", workspace.join(name).display());
        assert_eq!(
            run_browser("scales", &["pressure.en.html", "pressure.ja.html"].map(report)),
            ""
        );
        assert_eq!(run_browser("compare", std::slice::from_ref(&base)), "");
        let aided = [format!("{base}runs/{}", id(2)), report("report.en.html")];
        assert_eq!(run_browser("aids", &aided), "");
        let run = format!("{base}runs/{}", id(2));
        pictures(&workspace, &[("serve-runs", base), ("serve-run", run)]);
        end(running);
    }

    /// Plan of a single point that only reads, for this duration without a pause.
    fn reads_for(workspace: &Workspace, duration: &str) -> &'static str {
        let plan = format!(
            "name = \"steadily\"\nprofiles = [\"random-4k-read\"]\nqueue_depth = [1]\n\
             warm_up = \"0s\"\nduration = \"{duration}\"\n"
        );
        workspace.write("steadily.toml", &plan);
        // An existing file is read even if the file system is nearly full.
        let bytes: Vec<u8> = (0..=250).cycle().take(16 << 20).collect();
        std::fs::write(workspace.join("data"), bytes).unwrap();
        "run steadily.toml data --no-report"
    }

    #[test]
    fn live_page_updates_within_two_seconds() {
        if !has_tools("the live page in a browser") {
            return;
        }
        let workspace = Workspace::new();
        let words = reads_for(&workspace, "60s");
        let mut measured = workspace.start(&format!("{words} --events told.jsonl"));
        let (running, base) = served(&workspace);
        measured.wait_for_err("point 1 of");
        let live = format!("{base}live");
        let told = workspace.join("told.jsonl").display().to_string();
        assert_eq!(run_browser("live", &[live.clone(), told]), "");
        pictures(&workspace, &[("serve-live", live)]);
        measured.signal("INT");
        measured.wait_at_most(Duration::from_secs(60)).expect(130);
        end(running);
    }
}
