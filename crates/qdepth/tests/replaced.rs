//! Results never replace foreign files.

use std::fs;

use crate::common::Workspace;

const RUN: &str = "run quick media:p3700-800gb --queue-depth 1 --duration 1s";

/// All options that name a result file.
const WAYS: [&str; 6] = [
    "report latest -o FILE.html",
    "report latest -o FILE.md",
    "report latest --format json -o FILE.json",
    "trend -o FILE.html",
    "compare latest~1 latest -o FILE.html",
    "run quick media:p3700-800gb --queue-depth 1 --duration 1s --report FILE.html",
];

#[test]
fn no_option_replaces_foreign_file_without_consent() {
    let workspace = Workspace::new();
    for _ in 0..2 {
        workspace.run(&format!("{RUN} --no-report")).expect(0);
    }
    for way in WAYS {
        let line = way.replace("FILE", "notes");
        let name = line.split(' ').find(|word| word.starts_with("notes.")).unwrap().to_owned();
        let path = workspace.join(&name);
        fs::write(&path, "a day of work").unwrap();
        let refused = workspace.run(&line).expect(3);
        assert!(refused.err.contains("--replace"), "{line}: {}", refused.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), "a day of work", "{line}");
        // A comparison of two runs may be inconclusive, which is status 5.
        for again in [&format!("{line} --replace"), &line] {
            let ended = workspace.run(again);
            assert!(matches!(ended.status, Some(0 | 5)), "{again}: {ended:?}");
            assert!(fs::read(&path).unwrap().len() > 20, "{again}");
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn logbook_and_events_need_different_files() {
    let workspace = Workspace::new();
    let refused = workspace.run(&format!("{RUN} --no-report --logbook f --events f")).expect(2);
    assert!(refused.err.contains("another purpose"), "{}", refused.err);
}
