//! Metrics that are pushed to a collector, as a collector gets them.

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};
    use std::thread::spawn;

    use serde_json::Value;

    use crate::common::Workspace;

    /// What was pushed: each body with the line that it was asked with.
    type Pushes = Arc<Mutex<Vec<(String, Value)>>>;

    /// A collector that answers push number `n`, from 0, with `answers(n)`; and its address.
    fn collector(answers: fn(usize) -> &'static str) -> (String, Pushes) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let pushes = Pushes::default();
        let kept = pushes.clone();
        spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                take(stream.unwrap(), answers(number), &kept);
            }
        });
        (address, pushes)
    }

    fn take(mut stream: TcpStream, answer: &str, kept: &Pushes) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim().to_lowercase();
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        kept.lock().unwrap().push((first, serde_json::from_slice(&body).unwrap()));
        let _ = write!(stream, "HTTP/1.1 {answer}\r\nContent-Length: 2\r\n\r\n{{}}");
    }

    /// The values of a metric in a push, by an attribute; and whether it is a sum.
    fn values<'v>(push: &'v Value, name: &str) -> (Vec<&'v Value>, bool) {
        let metrics = push["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
        let metric = metrics.iter().find(|metric| metric["name"] == name);
        let metric = metric.unwrap_or_else(|| panic!("no {name} in {push}"));
        let data = if metric["sum"].is_null() { &metric["gauge"] } else { &metric["sum"] };
        (data["dataPoints"].as_array().unwrap().iter().collect(), !metric["sum"].is_null())
    }

    /// Of counts, which are whole.
    fn sum(push: &Value, name: &str) -> u64 {
        let number = |point: &&Value| point["asDouble"].as_f64().unwrap() as u64;
        values(push, name).0.iter().map(number).sum()
    }

    #[test]
    fn a_collector_gets_what_is_measured() {
        let workspace = Workspace::new();
        let (address, pushes) = collector(|_| "200 OK");
        let words = "run quick . --area 16MiB --profile database --outstanding 1,4 --duration 2s \
                     --no-report --events e.jsonl --otlp";
        workspace.run(&format!("{words} {address}")).expect_finished();
        let pushes = pushes.lock().unwrap();
        assert!(pushes.len() > 3, "{}", pushes.len());
        assert!(pushes.iter().all(|(line, _)| line.starts_with("POST /v1/metrics HTTP/1.1")));
        let (_, last) = pushes.last().unwrap();
        let told = std::fs::read_to_string(workspace.join("e.jsonl")).unwrap();
        let told: Vec<Value> = told.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let count = |event: &Value, name: &str| event[name].as_u64().unwrap_or(0);
        let all = |names: [&str; 2]| -> u64 {
            told.iter().map(|event| count(event, names[0]) + count(event, names[1])).sum()
        };
        assert!(all(["reads", "writes"]) > 0);
        assert_eq!(sum(last, "qdepth.io.count"), all(["reads", "writes"]));
        assert_eq!(sum(last, "qdepth.io.bytes"), all(["read_bytes", "written_bytes"]));
        assert_eq!(sum(last, "qdepth.points.done"), 2);
        let (points, is_sum) = values(last, "qdepth.io.count");
        let directions: BTreeSet<&str> = points
            .iter()
            .filter_map(|p| p["attributes"][0]["value"]["stringValue"].as_str())
            .collect();
        assert_eq!((directions.len(), is_sum), (3, true), "{last}");
        let nanoseconds = |key: &str| points[0][key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(nanoseconds("startTimeUnixNano") < nanoseconds("timeUnixNano"));
        let resource = last["resourceMetrics"][0]["resource"]["attributes"].to_string();
        let run = told.iter().find_map(|event| event["run"].as_str()).unwrap();
        for part in ["\"service.name\"", run, "\"qdepth.emulated\"", "{\"boolValue\":false}"] {
            assert!(resource.contains(part), "{part}: {resource}");
        }
        // A count never falls while a run goes on.
        let of_run = pushes.iter().filter(|(_, push)| push["resourceMetrics"][0].is_object());
        let counts: Vec<u64> = of_run.map(|(_, push)| sum(push, "qdepth.io.count")).collect();
        assert!(counts.is_sorted(), "{counts:?}");
    }

    #[test]
    fn an_emulated_run_says_so() {
        let workspace = Workspace::new();
        let (address, pushes) = collector(|_| "200 OK");
        let words = "run quick media:p3700-800gb --no-report --otlp";
        workspace.run(&format!("{words} {address}")).expect_finished();
        let pushes = pushes.lock().unwrap();
        assert!(pushes.last().unwrap().1.to_string().contains("{\"boolValue\":true}"));
    }

    #[test]
    fn a_collector_that_takes_nothing_is_a_refusal_and_one_that_fails_later_is_told() {
        let workspace = Workspace::new();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (ill, _) = collector(|_| "401 Unauthorized");
        for (address, why) in [
            (format!("http://{free}"), "refused"),
            (ill, "answers 401"),
            ("https://127.0.0.1:4318".to_owned(), "only http://"),
            ("localhost:4318".to_owned(), "only http://"),
            ("http://[::1".to_owned(), "is no address"),
            ("http://me:word@127.0.0.1:4318".to_owned(), "names a user"),
        ] {
            let refused = workspace.run(&format!("run quick . --otlp {address}")).expect(2);
            assert!(refused.err.contains(&address) && refused.err.contains(why), "{}", refused.err);
            assert!(refused.err.contains("Nothing was measured"), "{}", refused.err);
        }
        assert!(!workspace.join("qdepth.db").exists(), "nothing was begun");
        let (dying, pushes) = collector(|number| if number < 1 { "200 OK" } else { "503 Busy" });
        let words = "run quick media:p3700-800gb --no-report --otlp";
        let ended = workspace.run(&format!("{words} {dying}")).expect_finished();
        let pushed = pushes.lock().unwrap().len() - 1;
        assert!(
            ended.err.contains(&format!("did not take {pushed} of {pushed} pushes")),
            "{}",
            ended.err
        );
    }
}
