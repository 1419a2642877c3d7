//! Emulated devices in real time, measured by fio, which is independent of qdepth. Lower limits are
//! strict, because no I/O may end before the device permits; upper limits are loose, for a busy
//! machine.

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::common::{Workspace, has_tools, sh};

    /// fio's figures: rate, mean latency in µs, errors that verifying found.
    fn fio(workspace: &Workspace, options: &str) -> (f64, f64, i64) {
        let socket = workspace.dir.path().join("socket");
        let out = workspace.dir.path().join("fio.json");
        let line = format!(
            "fio --name=monitor --verify_state_save=0 --ioengine=nbd \
             --uri='nbd+unix:///?socket={}' --output-format=json --output={} {options}",
            socket.display(),
            out.display()
        );
        sh(&line).unwrap();
        let text = std::fs::read_to_string(out).unwrap();
        let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let job = &document["jobs"][0];
        let mean = job["read"]["lat_ns"]["mean"].as_f64().unwrap() / 1e3;
        (job["read"]["iops"].as_f64().unwrap(), mean, job["error"].as_i64().unwrap())
    }

    #[test]
    fn fio_measures_served_device_times_and_reads_data() {
        if !has_tools("a served medium under fio", &["fio"]) {
            return;
        }
        let workspace = Workspace::new();
        let medium = "media:fixed@service_us=20000@servers=4@host=none";
        let mut serving = workspace.start(&format!("serve-medium {medium} --socket socket --json"));
        serving.wait_for_err("EMULATED");
        // Eight before four servers of 20 ms: 200 a second, 40 ms each. Not faster.
        let load = "--rw=randread --bs=8k --iodepth=8 --size=1g --time_based --runtime=3";
        let (rate, mean, _) = fio(&workspace, load);
        assert!(rate <= 205.0 && rate > 100.0, "{rate} IOPS");
        assert!((39_000.0..100_000.0).contains(&mean), "{mean} µs");
        let verify = "--rw=randwrite --bs=16k --iodepth=64 --size=3m --offset=7g --verify=crc32c";
        assert_eq!(fio(&workspace, verify).2, 0);
        serving.signal("INT");
        let ended = serving.wait_at_most(std::time::Duration::from_secs(30)).expect_finished();
        let served = ended.json();
        // The round-trip time was measured before: above zero, and far below 20 ms.
        let number = |key: &str| served[key].as_u64().unwrap();
        assert!((1_000..5_000_000).contains(&number("lead_ns")), "{served}");
        assert_eq!(number("medium_read_8k_ns"), 20_000_000);
        assert_eq!(served["can_be_faithful"].as_bool(), Some(true));
        assert_eq!(
            (served["emulated"].as_bool(), served["errors"].as_u64()),
            (Some(true), Some(0))
        );
        assert_eq!(served["written_bytes"].as_u64(), Some(3 << 20));
        assert!(!workspace.dir.path().join("socket").exists(), "the socket is removed");
    }

    /// A device faster than a socket cannot be served, which the program says before the first
    /// client connects.
    #[test]
    fn device_too_fast_for_serving_is_announced() {
        let workspace = Workspace::new();
        let mut serving = workspace
            .start("serve-medium media:null --socket socket --busy-poll --lead 3us --json");
        serving.wait_for_err("CANNOT BE FAITHFUL");
        serving.signal("INT");
        let ended = serving.wait_at_most(std::time::Duration::from_secs(30)).expect_finished();
        let served = ended.json();
        assert_eq!(served["can_be_faithful"].as_bool(), Some(false));
        assert_eq!(served["lead_ns"].as_u64(), Some(3000));
    }

    #[test]
    fn wrong_serve_medium_usage_leaves_no_files() {
        let workspace = Workspace::new();
        std::fs::write(workspace.dir.path().join("taken"), "mine").unwrap();
        for (medium, socket, says, status) in [
            ("media:p3700-80gb", "socket", "Did you mean `p3700-800gb`", 2),
            ("independent(media:null*2)", "socket", "Serve each drive separately", 2),
            ("media:null", "taken", "Choose another path", 3),
            ("media:null --cpu 999", "socket", "--cpu 999", 2),
        ] {
            let words = format!("serve-medium {medium} --socket {socket}");
            let ended = workspace.run(&words).expect(status);
            assert!(ended.err.contains(says), "{}", ended.err);
        }
        assert!(!workspace.dir.path().join("socket").exists());
        assert_eq!(std::fs::read_to_string(workspace.dir.path().join("taken")).unwrap(), "mine");
    }
}
