//! Options of other programs' jobs that qdepth implements differently: codes in JSON, sentences for
//! people.

use std::fs;

use crate::common::Workspace;

const JOB: &str = "--name=a --filename=media\\:p3700-1600gb --size=1g --rw=randread \
                   --time_based --runtime=300ms --fallocate=none";

/// The report of the last run, as text.
fn report(workspace: &Workspace, lang: &str) -> String {
    let name = format!("{lang}.md");
    workspace.run(&format!("report --format md --lang {lang} -o {name}")).expect(0);
    fs::read_to_string(workspace.join(&name)).unwrap().replace('\\', "")
}

#[test]
fn remark_is_json_code_and_translated_sentence() {
    let workspace = Workspace::new();
    let ran = workspace.run(&format!("fio --json --no-report --debug=io {JOB}")).expect(0).json();
    let findings = ran["findings"].as_array().unwrap();
    let what = |option: &str| {
        let texts = findings.iter().map(|finding| &finding["labels"]);
        let mut found = texts
            .filter(|texts| texts["option"].as_str().is_some_and(|text| text.ends_with(option)));
        found.next().unwrap()["what"].as_str().unwrap()
    };
    assert_eq!(what("[a] fallocate=none"), "file-written-in-full");
    assert_eq!(what("--debug"), "no-such-output");

    let [en, ja] = ["en", "ja"].map(|lang| report(&workspace, lang));
    let english = "a measurement file is always filled before the measurement";
    let japanese = "測定ファイルは必ず、測定前に全体を書き込みます。";
    assert!(en.contains(&format!("[a] fallocate=none: {english}.")), "{en}");
    assert!(ja.contains(&format!("[a] fallocate=none。{japanese}")), "{ja}");
    assert!(!ja.contains("measurement file") && !ja.contains("file-written-in-full"), "{ja}");

    // The terminal and the converted plan show the sentence.
    for words in ["--parse-only", "--convert"] {
        let printed = workspace.run(&format!("fio {words} {JOB}")).expect(0);
        assert!(format!("{printed:?}").contains(english), "{words}: {printed:?}");
    }
}

#[test]
fn figure_in_remark_equals_value_in_finding() {
    let workspace = Workspace::new();
    let words = format!("fio --json --no-report {}", JOB.replace("size=1g", "size=4t"));
    let ran = workspace.run(&words).expect(0).json();
    let mut findings = ran["findings"].as_array().unwrap().iter();
    let short = findings.find(|found| found["labels"]["what"] == "file-not-extended").unwrap();
    let bytes = short["values"]["bytes"].as_f64().unwrap();
    assert!((1.5e12..1.7e12).contains(&bytes), "{short:#}");
    let tib = format!("{:.2} TiB", bytes / f64::from(2).powi(40));
    let ja = report(&workspace, "ja");
    assert!(ja.contains(&format!("負荷はその終端（{tib}）で終わります")), "{tib}: {ja}");
}

#[test]
fn fio_import_gaps_are_reported_in_report_language() {
    let workspace = Workspace::new();
    let words = format!("fio --no-report --output-format=json --output=out.json {JOB}");
    workspace.run(&words).expect(0);
    workspace.run("import out.json").expect(0);
    let [en, ja] = ["en", "ja"].map(|lang| report(&workspace, lang));
    assert!(en.contains("(latency is fio's completion latency, like its percentiles)"), "{en}");
    assert!(ja.contains("（レイテンシはパーセンタイルと同じく fioの完了レイテンシ）"), "{ja}");
}
