//! `--expect`: emulated results at the same points next to the measured ones. Both sides in virtual
//! time, so that the figures are exact.

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::common::Workspace;

    const LOAD: &str = "--duration 300ms --profile database,streaming --queue-depth 1,32";

    fn run(workspace: &Workspace, target: &str, medium: &str, more: &str) -> crate::common::Ended {
        workspace.run(&format!("run quick {target} --expect {medium} {LOAD} {more}"))
    }

    fn shares(document: &Value) -> Vec<f64> {
        let points = document["points"].as_array().unwrap();
        points.iter().map(|p| p["expected"]["share_reached"].as_f64().unwrap()).collect()
    }

    fn below(document: &Value) -> Vec<bool> {
        let is = |f: &Value| f["code"] == "below-expected";
        let points = document["points"].as_array().unwrap();
        points.iter().map(|p| p["findings"].as_array().unwrap().iter().any(is)).collect()
    }

    #[test]
    fn device_model_meets_its_own_expectation() {
        let workspace = Workspace::new();
        let document =
            run(&workspace, "media:p3700-800gb", "media:p3700-800gb", "--json").expect(0).json();
        let shares = shares(&document);
        assert_eq!(shares.len(), 4);
        assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.02), "{shares:?}");
        assert_eq!(below(&document), [false; 4]);
        let expected = &document["points"][0]["expected"];
        assert_eq!(
            (&expected["medium"], &expected["emulated"]),
            (&"media:p3700-800gb".into(), &true.into())
        );
    }

    /// The distance of a drive from its data sheet is unknown: half of the promised figures is no
    /// finding, but a disk's figures are.
    #[test]
    fn data_sheet_expectation_reports_only_large_shortfalls() {
        let workspace = Workspace::new();
        let shortfalls = |target: &str| {
            let medium = "media:intel-d7-p5500-7680gb";
            below(&run(&workspace, target, medium, "--json").expect(0).json())
        };
        let slow = "media:intel-d7-p5500-7680gb@die_read_us=120@command_us=2";
        assert_eq!(shortfalls(slow), [false; 4]);
        assert!(shortfalls("media:seagate-exos-x18-18tb").contains(&true));
    }

    #[test]
    fn slower_device_is_below_expectation_at_every_point() {
        let workspace = Workspace::new();
        run(&workspace, "media:sas-2-hdd-600gb", "media:p3700-800gb", "").expect(0);
        let document = workspace.run("export").expect(0).json();
        assert!(shares(&document).iter().all(|share| *share < 0.5), "{:?}", shares(&document));
        assert_eq!(below(&document), [true; 4]);
        let shown = workspace.run("show").expect(0).out;
        // Its heads are broken between words in 80 columns.
        let heads: Vec<&str> = shown.lines().skip_while(|line| !line.is_empty()).collect();
        let [_, first, second, ..] = heads.as_slice() else { panic!("{shown}") };
        assert!(first.contains("Expected") && second.contains("EMULATED"), "{shown}");
        assert!(first.contains("Share of") && second.contains("expected"), "{shown}");
        assert!(shown.contains("Relative to media:p3700-800gb (EMULATED)"), "{shown}");
        assert!(shown.contains("4 points are clearly slower"), "{shown}");
        let page =
            std::fs::read_to_string(workspace.dir.path().join("qdepth-report.html")).unwrap();
        assert!(page.contains("Expected EMULATED") && page.contains("Slower than expected"));
        let table = workspace.run("export --csv").expect(0).out;
        assert!(table.lines().nth(1).unwrap().contains("media:p3700-800gb"), "{table}");
    }

    #[test]
    fn invalid_expected_device_model_is_wrong_usage() {
        let workspace = Workspace::new();
        for (medium, says) in [
            ("media:p3700", "Did you mean"),
            ("independent(media:p3700-800gb*2)", "a target is a single device"),
        ] {
            let ended = run(&workspace, "media:p3700-800gb", medium, "").expect(2);
            assert!(ended.err.contains(says), "{}", ended.err);
        }
        let large = "run quick media:p3700-2tb --area full --expect media:p3700-800gb";
        let ended = workspace.run(large).expect(2);
        assert!(ended.err.contains("Use a smaller area"), "{}", ended.err);
        assert!(!workspace.dir.path().join("qdepth.db").exists());
    }
}
