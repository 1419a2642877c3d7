//! Command lines of mdtest: the entries that they create, keep and remove, and the summary.

use std::fs;

use crate::common::{Workspace, counts, exclusive_turn, program, sh};

/// Names of the entries of a directory.
#[cfg(test)]
fn names(workspace: &Workspace, name: &str) -> Vec<String> {
    let entries = fs::read_dir(workspace.join(name)).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Mean rate in a row of the summary.
#[cfg(test)]
fn rate(text: &str, row: &str) -> f64 {
    let line = text.lines().find(|line| line.trim_start().starts_with(row)).unwrap();
    line.split_whitespace().nth(4).unwrap().parse().unwrap()
}

#[test]
fn mdtest_phases_find_what_earlier_runs_kept() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let mdtest = |options: &str| {
        let line = format!("mdtest --no-report --tasks 2 -n 50 -F -d md {options}");
        workspace.run(&line).expect_finished().out
    };
    for (line, directories) in [
        ("-x count", vec!["qdepth-mdtest"]),
        ("-u", vec!["qdepth-mdtest.00000000", "qdepth-mdtest.00000001"]),
    ] {
        let text = mdtest(&format!("-w 3901 -C -Y {line}"));
        assert!(text.contains("was launched with 2 total task(s) on 1 node(s)"), "{text}");
        assert!(text.contains("\n2 tasks, 100 files\n"), "{text}");
        assert!(rate(&text, "File creation") > 0.0 && rate(&text, "File stat") == 0.0, "{text}");
        assert_eq!(names(&workspace, "md"), directories);
        for directory in &directories {
            let all = names(&workspace, &format!("md/{directory}"));
            let each = 100 / directories.len();
            assert_eq!((all.len(), &*all[0]), (each, "f0000000000"), "{line}");
            let first = workspace.join(&format!("md/{directory}/f0000000000"));
            assert_eq!(fs::metadata(first).unwrap().len(), 3901);
        }
        for (phase, row) in [("-T -R", "File stat"), ("-e 3901 -E -X", "File read")] {
            let text = mdtest(&format!("{phase} {line}"));
            assert!(rate(&text, row) > 0.0 && rate(&text, "File creation") == 0.0, "{text}");
            assert_eq!(names(&workspace, "md"), directories, "{phase}");
        }
        let text = mdtest(&format!("-r {line}"));
        assert!(rate(&text, "File removal") > 0.0, "{text}");
        assert_eq!(names(&workspace, "md"), [""; 0]);
    }
    assert_eq!(fs::read_to_string(workspace.join("count")).unwrap(), "50");
    let shown = workspace.run("show").expect(0).out;
    assert!(shown.contains("File removal"), "{shown}");
}

#[test]
fn mdtest_link_runs_all_phases() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    sh(&format!("ln -s {} {}", program(), workspace.join("mdtest").display())).unwrap();
    let line = format!("cd {} && ./mdtest -n 20 -i 2 -P -d md", workspace.path().display());
    let text = sh(&line).unwrap();
    for row in ["Directory creation", "Directory stat", "Directory removal"].iter().chain(&[
        "File creation",
        "File stat",
        "File read",
        "File removal",
    ]) {
        assert!(rate(&text, row) > 0.0, "{row} in {text}");
    }
    assert!(text.contains("SUMMARY time (in ms/op): (of 2 iterations)"), "{text}");
    assert!(!workspace.join("md").exists(), "the directory did not exist before");
}

#[test]
fn mdtest_stonewall_creates_as_many_for_each() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let mdtest = |options: &str| {
        let line = format!("mdtest --no-report --tasks 2 -F -u -d md -x count {options}");
        workspace.run(&line).expect_finished().out
    };
    mdtest("-n 100000000 -C -W 1");
    let count: usize = fs::read_to_string(workspace.join("count")).unwrap().parse().unwrap();
    for task in 0..2 {
        assert_eq!(names(&workspace, &format!("md/qdepth-mdtest.0000000{task}")).len(), count);
    }
    assert!(mdtest("-n 100000000 -r").contains(&format!("2 tasks, {} files", 2 * count)));
    assert_eq!(names(&workspace, "md"), [""; 0]);
}

#[test]
fn mdtest_refuses_directories_with_foreign_files() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    let line = "mdtest --no-report -n 10 -F -d md";
    let missing = workspace.run(&format!("{line} -T")).expect(2).err;
    assert!(missing.contains("with -C"), "{missing}");
    fs::create_dir_all(workspace.join("md/qdepth-mdtest")).unwrap();
    let refused = |phase: &str, said: &str| {
        let ended = workspace.run(&format!("{line} {phase}")).expect(3);
        assert!(ended.err.contains(said), "{phase}: {}", ended.err);
    };
    for phase in ["-C", "-r", "-T"] {
        refused(phase, "was not created by qdepth");
    }
    fs::remove_dir(workspace.join("md/qdepth-mdtest")).unwrap();
    workspace.run(&format!("{line} -C")).expect_finished();
    workspace.write("md/qdepth-mdtest/notes", "the only copy");
    for phase in ["-C", "-r", "-T"] {
        refused(phase, "contains notes, which was not created by qdepth");
    }
    assert_eq!(names(&workspace, "md/qdepth-mdtest").len(), 11);
    fs::remove_file(workspace.join("md/qdepth-mdtest/notes")).unwrap();
    workspace.write("md/qdepth-mdtest/f0000000003", "the only copy");
    let ended = workspace.run(&format!("{line} -r"));
    assert!(ended.status != Some(0) && ended.err.contains("f0000000003"), "{}", ended.err);
    assert_eq!(names(&workspace, "md/qdepth-mdtest").len(), 10);
}

#[test]
fn metadata_plan_measures_threads_in_one_directory() {
    let (_alone, workspace) = (exclusive_turn(), Workspace::new());
    fs::create_dir(workspace.join("d")).unwrap();
    let text = include_str!("../../../plans/metadata.toml").replace("\"10000\"", "\"100\"");
    workspace.write("short.toml", &text);
    let document = workspace.run("run short.toml d --no-report --json").expect_finished().json();
    let found: Vec<u64> = counts(&document).iter().map(|count| count[1] + count[2]).collect();
    let expected = [1, 2, 4, 8, 16].map(|threads| [100 * threads; 3]).concat();
    assert_eq!(found, expected);
    assert_eq!(names(&workspace, "d"), [""; 0]);
}
