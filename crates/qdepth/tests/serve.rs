//! Web pages of the logbook, requested over a socket as browsers and attackers would.

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::path::Path;
    use std::time::Duration;

    use serde_json::Value;

    use crate::common::{Running, Workspace, pause, sh};

    const QUICK: &str = "--profile database --duration 1s --no-report";

    /// A server on a logbook, and its address.
    struct Served {
        running: Running,
        port: u16,
        url: String,
    }

    impl Served {
        fn start(workspace: &Workspace, words: &str) -> Self {
            let mut running = workspace.start(&format!("serve --port 0 {words}"));
            running.wait_for_err("Stop with Ctrl-C");
            let out = running.out();
            let url = out.lines().next().expect("an address").to_owned();
            let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
            let port = port.split('/').next().unwrap().parse().expect("a port");
            Self { running, port, url }
        }

        fn connect(&self) -> TcpStream {
            let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream
        }

        /// Sends these bytes, and returns everything received until the connection closes.
        fn raw(&self, bytes: &[u8]) -> String {
            let mut stream = self.connect();
            let _ = stream.write_all(bytes);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8_lossy(&answer).into_owned()
        }

        /// Sends a request head, in which `{host}` stands for the server's name.
        fn asked(&self, head: &str) -> Answer {
            let host = format!("127.0.0.1:{}", self.port);
            let head = head.replace("{host}", &host);
            Answer::parse(&self.raw(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()))
        }

        fn get(&self, path: &str) -> Answer {
            self.asked(&format!("GET {path} HTTP/1.1\r\nHost: {{host}}"))
        }

        fn json(&self, path: &str) -> Value {
            serde_json::from_str(&self.get(path).ok().body).unwrap()
        }

        /// Stops the server as a user does.
        fn end(self) {
            self.running.signal("INT");
            self.running.wait_at_most(Duration::from_secs(20)).expect(0);
        }
    }

    #[derive(Debug)]
    struct Answer {
        status: u16,
        head: String,
        body: String,
    }

    impl Answer {
        fn parse(text: &str) -> Self {
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
            let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
            Self { status, head: head.to_lowercase(), body: body.to_owned() }
        }

        #[track_caller]
        fn ok(self) -> Self {
            assert_eq!(self.status, 200, "{}\n{}", self.head, self.body);
            self
        }
    }

    fn id(run: &Value) -> &str {
        run["id"].as_str().unwrap()
    }

    /// Server with a logbook of two runs, and its list of runs.
    fn two_runs() -> (Workspace, Served, Value) {
        let workspace = Workspace::new();
        for _ in 0..2 {
            workspace
                .run(&format!("run quick media:p3700-800gb --queue-depth 1 {QUICK}"))
                .expect(0);
        }
        let served = Served::start(&workspace, "");
        let runs = served.json("/api/runs");
        (workspace, served, runs)
    }

    #[test]
    fn new_logbook_appears_in_both_languages() {
        let workspace = Workspace::new();
        let served = Served::start(&workspace, "--logbook later.db");
        assert_eq!(served.url, format!("http://127.0.0.1:{}/", served.port));
        assert_eq!(served.json("/api/runs")["runs"], Value::Array(Vec::new()));
        let empty = served.get("/").ok().body;
        assert!(empty.contains("no logbook here yet") && empty.contains("later.db"));
        assert_eq!(served.get("/api/runs/latest").status, 404);

        for depth in ["1", "1,8"] {
            let words = format!("run quick media:p3700-800gb --queue-depth {depth} {QUICK}");
            workspace.run(&format!("{words} --logbook later.db")).expect(0);
        }
        let runs = served.json("/api/runs");
        let listed = workspace.run("list --json --logbook later.db").expect(0);
        assert_eq!(served.get("/api/runs").ok().body, listed.out);
        let runs = runs["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2);
        assert!(runs[0]["started_at"].as_str() >= runs[1]["started_at"].as_str(), "newest first");
        assert_eq!(runs[0]["points_done"], 2);
        assert_eq!(
            (runs[0]["state"].as_str(), &runs[0]["emulated"]),
            (Some("complete"), &true.into())
        );
        for id in [id(&runs[0]), "latest"] {
            let exported =
                workspace.run(&format!("export {id} --json --logbook later.db")).expect(0);
            let answer = served.get(&format!("/api/runs/{id}")).ok();
            assert!(answer.head.contains("content-type: application/json"));
            assert!(answer.body == exported.out, "byte by byte what export prints");
        }
        let page = served.get(&format!("/runs/{}", id(&runs[0]))).ok().body;
        for part in ["EMULATED", "<svg", "Database", "class=\"figure\"", "lang=\"en\""] {
            assert!(page.contains(part), "{part}");
        }
        let ja = served.get(&format!("/runs/{}?lang=ja", id(&runs[0]))).ok().body;
        assert!(ja.contains("<html lang=\"ja\">") && ja.contains("計測一覧"));
        let both = format!("/compare?run={}&run={}", id(&runs[0]), id(&runs[1]));
        let compared = served.get(&both).ok().body;
        assert!(compared.contains("B ÷ A") && compared.contains("EMULATED"), "{compared}");
        // The oldest is A.
        let first = compared.find("<dt>A</dt>").unwrap();
        assert!(
            compared[first..]
                .starts_with(&format!("<dt>A</dt><dd><a href=\"/runs/{}\"", id(&runs[1])))
        );
        // The verdict precedes the figures, like on the page of `qdepth compare`.
        let (verdict, figures) = (compared.find("<h1>Is B ("), compared.find("B ÷ A"));
        assert!(verdict.is_some() && verdict < figures, "{compared}");
        for path in [format!("/runs/{}", id(&runs[0])), both, "/trend".to_owned()] {
            let page = served.get(&path).ok().body;
            assert!(
                page.contains("src=\"/report.js\"") && page.contains(" data-aids=\""),
                "{path}"
            );
        }
        let before = served.get("/runs/latest~1").ok().body;
        assert!(before.contains(&format!("/api/runs/{}\"", id(&runs[1]))), "{before}");
        for (name, why) in [("latest~2", "has 2 runs"), ("latest~x", "add a number")] {
            let answer = served.get(&format!("/runs/{name}"));
            assert!(answer.status == 404 && answer.body.contains(why), "{}", answer.body);
        }
        let media = served.get("/media").ok().body;
        assert!(media.contains("/media/p3700-800gb") && media.contains("EMULATED"));
        assert!(served.get("/media/p3700-800gb?lang=ja").ok().body.contains("data sheet"));
        let host = runs[0]["host"].as_str().unwrap();
        assert!(served.get("/machines").ok().body.contains(&format!("<h2>{host}</h2>")));
        served.end();
    }

    #[test]
    fn served_runs_can_be_searched_and_filtered() {
        let workspace = Workspace::new();
        for medium in ["p3700-800gb", "iodrive-320gb"] {
            workspace.run(&format!("run quick media:{medium} --queue-depth 1 {QUICK}")).expect(0);
        }
        let served = Served::start(&workspace, "");
        let rows = |query: &str| {
            let page = served.get(&format!("/?{query}")).ok().body;
            page.matches("type=\"checkbox\"").count()
        };
        let day = &served.json("/api/runs")["runs"][0]["started_at"];
        let day = &day.as_str().unwrap()[..10];
        for (query, found) in [
            ("", 2),
            ("q=iodrive", 1),
            ("q=IODRIVE+quick", 1),
            ("q=iodrive+p3700", 0),
            ("target=p3700", 1),
            ("plan=quick", 2),
            ("plan=qui", 0),
            ("state=complete", 2),
            ("state=killed", 0),
            (&format!("since={day}&until={day}"), 2),
            ("until=2001-01-01", 0),
            ("since=2101-01-01", 0),
            ("page=999999999999999999999", 2),
            ("page=-1", 2),
            ("q=%3Cscript%3Ealert(1)%3C/script%3E", 0),
        ] {
            assert_eq!(rows(query), found, "{query}");
        }
        let page = served.get("/?q=%3Cscript%3Ealert(1)%3C/script%3E").ok().body;
        assert!(!page.contains("<script>alert"), "what is searched is text");
        served.end();
    }

    /// Follows every link of the site: none leads elsewhere, no page contains a script or style,
    /// and all declare their type.
    #[test]
    fn every_link_stays_on_server_without_scripts() {
        let workspace = Workspace::new();
        workspace.run(&format!("run quick media:p3700-800gb --queue-depth 1 {QUICK}")).expect(0);
        let served = Served::start(&workspace, "");
        let (mut seen, mut left) = (Vec::new(), vec!["/".to_owned()]);
        while let Some(address) = left.pop() {
            let path = address.split('#').next().unwrap().to_owned();
            if seen.contains(&path) || path.is_empty() {
                continue;
            }
            seen.push(path.clone());
            let answer = served.get(&path).ok();
            for header in [
                "content-security-policy: default-src 'none';",
                "x-content-type-options: nosniff",
                "referrer-policy: no-referrer",
                "cache-control: no-store",
            ] {
                assert!(answer.head.contains(header), "{path}: {header} in {}", answer.head);
            }
            assert!(!answer.head.contains("unsafe-inline"), "{path}");
            if !answer.head.contains("text/html") {
                continue;
            }
            let page = answer.body;
            for bad in ["<style", " style=", " onclick=", " onload=", "javascript:", "src=\"http"] {
                assert!(!page.contains(bad), "{path}: {bad}");
            }
            let scripts = page.matches("<script").count();
            assert_eq!(scripts, page.matches("<script src=\"/").count(), "{path}");
            assert!(page.contains("<html lang=") && page.contains("name=\"viewport\""), "{path}");
            for link in page.split("href=\"").skip(1) {
                let link = link.split('"').next().unwrap().replace("&#38;", "&");
                let ours = link.starts_with('/') && !link.starts_with("//");
                assert!(
                    ours || link.starts_with(['#']) || link.starts_with("data:"),
                    "{path}: {link}"
                );
                left.extend(ours.then_some(link));
            }
        }
        assert!(seen.len() > 40, "{}", seen.len());
        served.end();
    }

    #[test]
    fn trend_of_plan_omits_retracted_runs() {
        let workspace = Workspace::new();
        let run = format!("run quick media:p3700-800gb --queue-depth 1 {QUICK}");
        workspace.run(&run).expect(0);
        let served = Served::start(&workspace, "");
        assert!(served.get("/trend").ok().body.contains("There are none."), "one run");
        for _ in 0..2 {
            workspace.run(&run).expect(0);
        }
        let runs = served.json("/api/runs");
        let short = |at: usize| id(&runs["runs"][at]).chars().take(13).collect::<String>();
        workspace.run(&format!("retract {} the cable was loose", short(0))).expect(0);
        let page = served.get("/trend").ok().body;
        for (at, told) in [(0, false), (1, true), (2, true)] {
            assert_eq!(page.contains(&short(at)), told, "run {at}: {page}");
        }
        assert!(page.contains("EMULATED") && page.contains("<svg"), "{page}");
        // The runs are equal, and are drawn so.
        assert!(page.contains(">0.99<") && page.contains(">1.01<"), "{page}");
        let told = served.get("/trend?plan=quick&lang=ja").ok().body;
        assert!(told.contains("計測ごとの推移"), "{told}");
        let other = served.get("/trend?plan=other").ok().body;
        assert!(other.contains("There are none.") && other.contains("plan=quick"), "{other}");
        // Same runs as those of the command.
        let trend = workspace.run("trend --json");
        assert_eq!(trend.json()["runs"].as_array().unwrap().len(), 2);
        served.end();
    }

    #[test]
    fn trend_uses_newest_run_or_named_target() {
        let workspace = Workspace::new();
        let brief = "--queue-depth 1 --profile database --duration 60ms --no-report";
        let run =
            |target: &str| workspace.run(&format!("run quick {target} {brief}")).expect_finished();
        std::fs::create_dir(workspace.join("d1")).unwrap();
        for target in ["media:iodrive-320gb", "media:iodrive-320gb", "d1 --area 16MiB"] {
            run(target);
        }
        let served = Served::start(&workspace, "");
        let runs = served.json("/api/runs");
        let shown = runs["runs"][0]["targets"][0].as_str().unwrap().to_owned();
        assert!(shown.starts_with("d1 ("), "{shown}");
        let trend = |words: &[&str]| {
            let line = [&["trend", "--json", "--logbook", "qdepth.db"], words].concat();
            let ended = workspace.start_words(&line).wait().expect(5);
            let told = ended.json();
            (told["target"].as_str().unwrap().to_owned(), told["runs"].as_array().unwrap().len())
        };
        // The newest was measured once, and both say so.
        assert_eq!(trend(&[]), ("d1".to_owned(), 1));
        let once = served.get("/trend").ok().body;
        assert!(once.contains(&format!("quick on {shown} was measured once")), "{once}");
        assert!(once.contains("target=media%3Aiodrive-320gb+%28EMULATED%29"), "{once}");
        run("d1 --area 16MiB");
        assert_eq!(trend(&[]), ("d1".to_owned(), 2));
        let newest = id(&served.json("/api/runs")["runs"][0]).to_owned();
        for query in ["", "?target=d1", "?plan=quick&target=d1"] {
            let page = served.get(&format!("/trend{query}")).ok().body;
            assert!(page.contains(&newest) && !page.contains("measured once"), "{query}: {page}");
        }
        assert_eq!((trend(&["quick", "d1"]).1, trend(&["quick", &shown]).1), (2, 2));
        let medium = "media:iodrive-320gb";
        for typed in [medium, &format!("{medium} (EMULATED)")] {
            assert_eq!(trend(&["quick", typed]), (medium.to_owned(), 2));
            let query = typed.replace(' ', "+");
            let page = served.get(&format!("/trend?plan=quick&target={query}")).ok().body;
            assert!(page.contains("<svg") && !page.contains(&newest), "{typed}: {page}");
        }
        // With several runs, each has its verdict and a link to the full comparison.
        let several = served.get("/compare?run=latest~1&run=latest~2&run=latest").ok().body;
        assert_eq!(several.matches("Full comparison</a>").count(), 2, "{several}");
        let whole =
            several.split("<p><a href=\"/compare?").nth(1).unwrap().split('"').next().unwrap();
        let whole = served.get(&format!("/compare?{}", whole.replace("&#38;", "&"))).ok().body;
        assert!(whole.contains("<h1>Is B ("), "{whole}");
        // Of many runs only the newest are read, and the page says so.
        for _ in 0..59 {
            run(medium);
        }
        for (lang, said) in [("en", "newest 60 of 61 runs"), ("ja", "61 件のうち、最新の 60 件")]
        {
            let page = served.get(&format!("/trend?lang={lang}")).ok().body;
            assert!(page.contains(said), "{page}");
        }
        served.end();
    }

    #[test]
    fn request_errors_are_explained_on_the_page() {
        let (_place, served, runs) = two_runs();
        let many = "run=latest&".repeat(21);
        for (path, status, said) in [
            ("/runs/01", 409, "<h1>Several runs match this ID</h1>"),
            ("/compare?run=01", 409, "<h1>Several runs match this ID</h1>"),
            ("/runs/nothing", 404, "<h1>Run not found</h1>"),
            ("/runs/nothing?lang=ja", 404, "<h1>該当する計測がありません</h1>"),
            ("/nothing", 404, "<h1>Page not found</h1>"),
            (&format!("/compare?{many}"), 400, "<h1>Too many runs selected</h1>"),
            (&format!("/compare?{many}"), 400, "21 runs are selected; a page compares at most 20"),
            ("/?since=yesterday", 400, "`yesterday` is not a valid date: use YYYY-MM-DD"),
            ("/?until=2026-13-01&lang=ja", 400, "`2026-13-01`は日付ではありません"),
            ("/?state=bogus", 400, "`bogus` is not a run state. The states are running, complete,"),
            ("/api/runs?state=bogus", 400, "`bogus` is not a run state"),
            ("/api/runs?since=yesterday", 400, "`yesterday` is not a valid date"),
            ("/api/runs?plam=quick", 400, "`plam` is not a filter. The filters are q,"),
            ("/api/runs/01/events", 409, "Type more of the ID"),
            ("/api/runs/nothing/events", 404, "no run `nothing`"),
            ("/live?run=nothing", 404, "<h1>Run not found</h1>"),
        ] {
            let answer = served.get(path);
            assert_eq!(answer.status, status, "{path}: {}", answer.body);
            assert!(answer.body.contains(said), "{path}: {}", answer.body);
            for wrong in ["No run matches", "cannot be read", "条件に合う"] {
                assert!(!answer.body.contains(wrong), "{path}: {wrong}");
            }
        }
        let newest = id(&runs["runs"][0]);
        for (query, found) in [
            ("plan=quick", 2),
            ("plan=other", 0),
            ("target=P3700&state=complete&lang=ja", 2),
            ("target=iodrive", 0),
            (&format!("q={newest}"), 1),
            ("until=2001-01-01", 0),
        ] {
            let listed = served.json(&format!("/api/runs?{query}"));
            assert_eq!(listed["runs"].as_array().unwrap().len(), found, "{query}");
        }
        served.end();
    }

    #[test]
    fn active_run_has_live_page_until_killed() {
        let workspace = Workspace::new();
        let served = Served::start(&workspace, "");
        let words = "run quick . --area 16MiB --queue-depth 1 --duration 60s --no-report";
        let running = workspace.start(&format!("{words} --profile database"));
        let began = std::time::Instant::now();
        let id = loop {
            let runs = served.json("/api/runs");
            if runs["runs"][0]["state"] == "running" {
                break id(&runs["runs"][0]).to_owned();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no run: {}", running.err());
            pause(50);
        };
        for name in [&*id, &id[..13], "latest"] {
            let told = streamed(&served, &format!("/api/runs/{name}/events"), "run-started");
            assert!(told.contains("text/event-stream") && told.contains(&id), "{name}: {told}");
            let live = served.get(&format!("/live?run={name}")).ok().body;
            assert!(
                live.contains(&format!("data-events=\"/api/runs/{id}/events?lang=en\"")),
                "{name}"
            );
        }
        let during = served.get("/runs/latest").ok().body;
        assert!(
            during.contains("still in progress") && during.contains("has not ended"),
            "{during}"
        );
        running.kill();
        assert_eq!(served.json("/api/runs?state=killed")["runs"][0]["id"], id);
        assert!(served.get("/?state=killed").ok().body.contains(&id));
        assert_eq!(served.get("/api/runs/latest/events").status, 404);
        for (lang, said) in [("en", "This run was killed"), ("ja", "強制終了")] {
            let page = served.get(&format!("/runs/latest?lang={lang}")).ok().body;
            assert!(page.contains(said), "{page}");
            for wrong in ["still measuring", "has not ended", "計測は進行中"] {
                assert!(!page.contains(wrong), "{wrong}: {page}");
            }
        }
        workspace.run("report latest -o killed.html").expect(0);
        let report = std::fs::read_to_string(workspace.join("killed.html")).unwrap();
        assert!(report.contains("process was killed") && !report.contains("still in progress"));
        served.end();
    }

    #[test]
    fn damaged_logbook_shows_readable_runs() {
        let (workspace, served, runs) = two_runs();
        let [newest, oldest] = [0, 1].map(|place| id(&runs["runs"][place]).to_owned());
        // A different start time of the first run, which only its own row contains.
        let started = runs["runs"][1]["started_at"].as_str().unwrap();
        let other = started.replacen("20", "19", 1);
        let file = workspace.join("qdepth.db");
        let mut bytes = std::fs::read(&file).unwrap();
        let is_it = |at: &usize| bytes[*at..].starts_with(started.as_bytes());
        let places: Vec<usize> = (0..bytes.len()).filter(is_it).collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at..at + started.len()].copy_from_slice(other.as_bytes());
        }
        std::fs::write(&file, bytes).unwrap();
        let runs = served.json("/api/runs");
        let damaged = |at: usize| runs["runs"][at]["damaged"].as_bool().unwrap();
        assert_eq!((damaged(0), damaged(1)), (false, true));
        assert!(served.get("/").ok().body.contains("damaged"));
        served.get(&format!("/runs/{oldest}")).ok();
        served.get(&format!("/runs/{newest}")).ok();
        // Not even a file of ours any more.
        std::fs::write(workspace.join("qdepth.db"), vec![7_u8; 9000]).unwrap();
        let answer = served.get("/");
        assert_eq!(answer.status, 500);
        assert!(answer.body.contains("cannot be read") && answer.body.contains("qdepth.db"));
        assert_eq!(served.get("/api/runs").status, 500);
        served.get("/media").ok();
        served.end();
    }

    #[test]
    fn only_logbooks_are_served() {
        let workspace = Workspace::new();
        workspace.write("plan.toml", "name = \"x\"");
        let ended = workspace.run("serve --port 0 --logbook plan.toml").expect(2);
        assert!(ended.err.contains("plan.toml is not a qdepth logbook"), "{}", ended.err);
        assert_eq!(ended.out, "");
        let other = Served::start(&workspace, "");
        let ended = workspace.run(&format!("serve --port {}", other.port)).expect(4);
        assert!(ended.err.contains("--port 0"), "{}", ended.err);
        assert_eq!(ended.err.matches("in use").count(), 1, "{}", ended.err);
        other.end();
    }

    #[test]
    fn invalid_and_foreign_requests_are_refused() {
        let workspace = Workspace::new();
        std::fs::write(workspace.join("secret"), "TOP SECRET").unwrap();
        let served = Served::start(&workspace, "");
        let host = "Host: {host}";
        for (head, status) in [
            ("GET / HTTP/1.1\r\nHost: evil.example", 421),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:1", 421),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1", 421),
            ("GET / HTTP/1.1", 400),
            ("GET / HTTP/1.0", 400),
            ("GET / HTTP/1.1\r\nHost: {host}\r\nHost: evil.example", 400),
            ("GET http://evil.example/ HTTP/1.1\r\nHost: {host}", 421),
            ("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0", 405),
            ("DELETE /runs/latest HTTP/1.1\r\nHost: {host}", 405),
            ("OPTIONS / HTTP/1.1\r\nHost: {host}", 405),
            ("TRACE / HTTP/1.1\r\nHost: {host}", 405),
            ("CONNECT {host} HTTP/1.1\r\nHost: {host}", 405),
            ("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example", 403),
            ("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: null", 403),
            (
                "GET / HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: cross-site\r\n\
                 Sec-Fetch-Mode: no-cors",
                403,
            ),
            ("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}", 200),
            (
                "GET / HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: cross-site\r\n\
                 Sec-Fetch-Mode: navigate",
                200,
            ),
            ("GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\n\r\nhello", 413),
            ("GET / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", 413),
            ("GET /../../../../etc/passwd HTTP/1.1\r\nHost: {host}", 404),
            ("GET /%2e%2e/%2e%2e/secret HTTP/1.1\r\nHost: {host}", 404),
            ("GET /runs/..%2f..%2fsecret HTTP/1.1\r\nHost: {host}", 404),
            ("GET /media/..%2fsecret HTTP/1.1\r\nHost: {host}", 404),
            ("GET /media/secret.toml HTTP/1.1\r\nHost: {host}", 404),
            ("GET /api/runs/%00 HTTP/1.1\r\nHost: {host}", 404),
            ("GET /api/runs/%ff%fe HTTP/1.1\r\nHost: {host}", 400),
            ("GET //evil.example/ HTTP/1.1\r\nHost: {host}", 404),
            ("HEAD / HTTP/1.1\r\nHost: {host}", 200),
        ] {
            let answer = served.asked(head);
            assert_eq!(answer.status, status, "{head}: {}", answer.head);
            assert!(
                !answer.body.contains("TOP SECRET") && !answer.body.contains("root:"),
                "{head}"
            );
        }
        // Bytes after a refused request are not taken for another request.
        let smuggled = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nContent-Length: 4\r\n\
             Transfer-Encoding: chunked\r\n\r\n\
             0\r\n\r\nGET /media HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\n\r\n",
            served.port
        );
        let answer = served.raw(smuggled.as_bytes());
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        let junk: Vec<u8> = (0..=255).cycle().take(5000).collect();
        assert!(!served.raw(&junk).contains("200 OK"));
        let long = format!("GET /?q={} HTTP/1.1\r\n{host}", "a".repeat(9000));
        assert_eq!(served.asked(&long).status, 414);
        let large = format!("GET / HTTP/1.1\r\n{host}\r\nX: {}", "a".repeat(100_000));
        assert!([431, 0].contains(&served.asked(&large).status), "too large a head");
        let many = format!("GET / HTTP/1.1\r\n{host}{}", "\r\nX: y".repeat(200));
        assert!([431, 400].contains(&served.asked(&many).status), "too many lines");
        assert_eq!(served.get("/").status, 200, "and it is still there");
        served.end();
    }

    /// Peak memory of a process, kB.
    fn memory_kb(running: &Running) -> u64 {
        let path = format!("/proc/{}/status", running.id());
        let text = std::fs::read_to_string(Path::new(&path)).unwrap();
        let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Raises the limit on open descriptors, and returns it: at most the system's limit.
    fn descriptors(wanted: u64) -> u64 {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let most = getrlimit(Resource::Nofile).maximum.unwrap_or(wanted).min(wanted);
        let limit = Rlimit { current: Some(most), maximum: getrlimit(Resource::Nofile).maximum };
        setrlimit(Resource::Nofile, limit).unwrap();
        most
    }

    #[test]
    fn many_slow_connections_do_not_block_the_server() {
        const CROWD: usize = 10_000;
        let workspace = Workspace::new();
        let served = Served::start(&workspace, "");
        served.get("/").ok();
        let before = memory_kb(&served.running);
        // Other tests of this program open files meanwhile.
        let at_once = descriptors(CROWD as u64 + 500) as usize - 500;
        // Connections that are silent or stop inside a request head; more than the server has
        // slots.
        let mut crowd = std::collections::VecDeque::new();
        for number in 0..CROWD {
            let mut stream = served.connect();
            match number % 3 {
                0 => drop(stream.write_all(b"GET / HTTP/1.1\r\nHost: 127")),
                1 => drop(stream.write_all(&[b'a'; 16_000])),
                _ => {}
            }
            crowd.push_back(stream);
            if crowd.len() > at_once {
                crowd.pop_front();
            }
            if number % 1_000 == 0 {
                served.get("/").ok();
            }
        }
        served.get("/media").ok();
        let more = memory_kb(&served.running).saturating_sub(before);
        println!("{CROWD} connections, {} at once: {more} kB more", crowd.len());
        assert!(more < 32 << 10, "{more} kB more");
        drop(crowd);
        served.get("/").ok();
        served.end();
    }

    #[test]
    fn endless_request_head_is_cut_off() {
        let workspace = Workspace::new();
        let served = Served::start(&workspace, "");
        let mut slow = served.connect();
        // A byte now and then, for longer than a head may take.
        for byte in b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A-Header: aaaaaaaaaaaaaaaaaaaaaaaa" {
            if slow.write_all(&[*byte]).is_err() {
                break;
            }
            pause(200);
        }
        let mut answer = Vec::new();
        let _ = slow.read_to_end(&mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
        served.end();
    }

    #[test]
    fn requests_from_other_machines_need_the_token() {
        let workspace = Workspace::new();
        let served = Served::start(&workspace, "--address 0.0.0.0");
        let said = served.running.err();
        assert!(said.contains("not encrypted"), "{said}");
        let token = served.url.split_once("?qdepth_token=").expect("a token").1.to_owned();
        assert_eq!(served.get("/").status, 401);
        assert_eq!(served.get("/api/runs").status, 401);
        assert_eq!(served.get("/?qdepth_token=guess").status, 401);
        let entered = served.get(&format!("//evil.example/?qdepth_token={token}&q=a"));
        assert_eq!(entered.status, 303);
        assert!(entered.head.contains("location: /evil.example/?q=a"), "{}", entered.head);
        assert!(entered.head.contains("httponly; samesite=strict"), "{}", entered.head);
        let cookie =
            format!("GET / HTTP/1.1\r\nHost: {{host}}\r\nCookie: a=b; qdepth_token={token}");
        served.asked(&cookie).ok();
        let bearer =
            format!("GET /api/runs HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {token}");
        served.asked(&bearer).ok();
        assert_eq!(served.asked(&cookie.replace("{host}", "evil.example")).status, 421);
        served.end();
    }

    /// Reads an endless response until it contains this text.
    fn streamed(served: &Served, path: &str, until: &str) -> String {
        let mut stream = served.connect();
        let host = format!("127.0.0.1:{}", served.port);
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let (mut all, mut piece) = (String::new(), [0_u8; 4096]);
        while !all.contains(until) {
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "ended without {until}: {all}");
            all.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        all
    }

    #[test]
    fn running_measurement_is_served_live_with_metrics() {
        let workspace = Workspace::new();
        let served = Served::start(&workspace, "");
        assert!(served.get("/live").ok().body.contains("No run is in progress"));
        assert!(served.get("/metrics").ok().body.contains("\nqdepth_runs 0\n"));
        let words = "run quick . --area 16MiB --queue-depth 1,2 --duration 3s --no-report";
        let running = workspace.start(&format!("{words} --profile database --events told.jsonl"));
        let began = std::time::Instant::now();
        let id = loop {
            let runs = served.json("/api/runs");
            if runs["runs"][0]["state"] == "running" {
                break id(&runs["runs"][0]).to_owned();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no run: {}", running.err());
            pause(50);
        };
        let page = served.get("/live").ok().body;
        assert!(page.contains(&format!("data-events=\"/api/runs/{id}/events?lang=en\"")), "{page}");
        let events = format!("/api/runs/{id}/events");
        let told = streamed(&served, &events, "\"sample\"");
        assert!(told.contains("content-type: text/event-stream") && told.contains("run-started"));
        let told = streamed(&served, &events, "\"machine\"");
        assert!(told.contains("\"cpu busy_share\":"), "{told}");
        assert!(!told.contains("\"words\""), "{told}");
        let told = streamed(&served, &format!("{events}?lang=ja"), "\"sample\"");
        assert!(told.contains("\"words\":\"データベース × "), "{told}");
        let metrics = served.get("/metrics").ok().body;
        for name in ["points_planned{run=\"", "ios_total{", "io_per_second{", "cpu_busy_ratio{"] {
            assert!(metrics.contains(&format!("qdepth_{name}")), "{name}: {metrics}");
        }
        assert!(metrics.contains(",host=\"") && metrics.contains("qdepth_queue_depth{"));
        let all = streamed(&served, &events, "event: end");
        assert_eq!(all.matches("\"point-ended\"").count(), 2, "{all}");
        let ended = running.wait_at_most(Duration::from_secs(60)).expect_finished();
        assert!(ended.out.contains("Database"), "the table is printed as well");
        assert_eq!(served.get(&events).status, 404);
        // The file has the same lines, and each conforms to the schema.
        let lines = std::fs::read_to_string(workspace.join("told.jsonl")).unwrap();
        let schema = workspace.run("schema events").expect(0).out;
        let names: Vec<String> = lines
            .lines()
            .map(|line| {
                serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(
            (names.first().unwrap().as_str(), names.last().unwrap().as_str()),
            ("phase-started", "run-ended")
        );
        assert!(
            lines.contains("\"phase\":\"provisioning\"") && names.contains(&"run-started".into())
        );
        assert!(names.iter().filter(|name| *name == "sample").count() >= 4, "{names:?}");
        for name in names {
            assert!(schema.contains(&format!("\"{name}\"")), "{name}");
        }
        for line in lines.lines() {
            assert!(all.contains(line), "{line}");
        }
        served.end();
    }

    #[test]
    fn event_output_never_overwrites_other_files() {
        let workspace = Workspace::new();
        let words = format!("run quick media:p3700-800gb --queue-depth 1 {QUICK} --events");
        let ended = workspace.run(&format!("{words} -")).expect(0);
        assert!(ended.out.lines().all(|line| line.starts_with("{\"event\":")), "{}", ended.out);
        assert!(ended.out.contains("\"emulated\":true"));
        workspace.write("mine", "my own words");
        let ended = workspace.run(&format!("{words} mine")).expect(2);
        assert!(ended.err.contains("contains something else"), "{}", ended.err);
        assert_eq!(std::fs::read_to_string(workspace.join("mine")).unwrap(), "my own words");
    }

    #[test]
    fn notes_and_retractions_are_shown_on_pages() {
        let (workspace, served, runs) = two_runs();
        let [newest, oldest] = [0, 1].map(|place| id(&runs["runs"][place]).to_owned());
        workspace.run(&format!("note {oldest} old firmware")).expect(0);
        workspace.run("retract latest cable was loose").expect(0);
        let evil = format!("{oldest} evil\u{202e}gnp\u{1b}[2J");
        let words: Vec<&str> = evil.split(' ').collect();
        let noted = workspace.start_words(&[&["note"], &words[..]].concat()).wait();
        noted.expect(0);
        let pages = ["/?q=evil", &format!("/runs/{oldest}")].map(|path| served.get(path).ok().body);
        for page in pages {
            assert!(page.contains("evil\u{fffd}gnp\u{fffd}[2J"), "{page}");
        }
        workspace.run("note nothing words").expect(2);
        workspace.run("note latest words --logbook none.db").expect(2);
        assert!(!workspace.has("none.db"), "a note makes no logbook");
        let runs = served.json("/api/runs");
        assert_eq!(runs["runs"][0]["retracted"], "cable was loose");
        assert_eq!(runs["runs"][1]["notes"][0], "old firmware");
        assert!(served.get("/?q=firmware").ok().body.contains("old firmware"));
        assert!(served.get("/runs/latest").ok().body.contains("cable was loose"));
        assert!(workspace.run("list").expect(0).out.contains("retracted"));
        assert!(workspace.run("show latest").expect(0).out.contains("RETRACTED: cable was loose"));
        let page = served.get(&format!("/compare?run={oldest}&run={newest}")).ok().body;
        assert!(page.contains("Excluded because") && !page.contains("<dt>B</dt>"), "{page}");
        let ended = workspace.run(&format!("compare {oldest} {newest}")).expect(2);
        assert!(ended.err.contains("was retracted (cable was loose)"), "{}", ended.err);
        served.end();
    }

    #[test]
    fn runs_are_pruned_by_rules_and_merged() {
        let workspace = Workspace::new();
        for medium in ["p3700-800gb", "p3700-800gb", "iodrive-320gb"] {
            workspace.run(&format!("run quick media:{medium} --queue-depth 1 {QUICK}")).expect(0);
        }
        let count = || {
            let ended = workspace.run("list --json").expect(0);
            ended.json()["runs"].as_array().unwrap().len()
        };
        std::fs::copy(workspace.join("qdepth.db"), workspace.join("all.db")).unwrap();
        workspace.run("logbook prune").expect(2);
        let none = workspace.run("list --plan other").expect(0);
        assert!(
            none.out.is_empty() && none.err.contains("none of the 3 runs of qdepth.db"),
            "{none:?}"
        );
        let ended = workspace.run("logbook prune --keep-last 1 --dry-run").expect(0);
        assert!(ended.out.contains("1 run would be removed"), "{}", ended.out);
        assert_eq!(count(), 3);
        workspace.run("logbook prune --before 2001-01-01").expect(0);
        assert_eq!(count(), 3);
        workspace.run("logbook prune --keep-last 1 --target p3700").expect(0);
        assert_eq!(count(), 2);
        workspace.run("logbook check").expect(0);
        let ended = workspace.run("logbook merge all.db").expect(0);
        assert!(ended.out.contains("added 1 run of all.db"), "{}", ended.out);
        assert_eq!(count(), 3);
        workspace.run("logbook check").expect(0);
    }

    /// Errors in a browser: violations of the page's policy, and failed scripts.
    fn complaints(workspace: &Workspace, url: &str, size: &str) -> Vec<String> {
        let profile = workspace.join("profile");
        let line = format!(
            "timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr \
             --user-data-dir={} --window-size={size} --screenshot={} '{url}' 2>&1",
            profile.display(),
            workspace.join("shot.png").display()
        );
        let said = sh(&line).unwrap();
        assert!(workspace.has("shot.png"), "{said}");
        said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect()
    }

    #[test]
    fn served_pages_cause_no_browser_errors() {
        if sh("command -v chromium").is_err() {
            println!("SKIPPED: pages in a browser: chromium is not installed");
            return;
        }
        let workspace = Workspace::new();
        workspace.run(&format!("run quick media:p3700-800gb --queue-depth 1,8 {QUICK}")).expect(0);
        let served = Served::start(&workspace, "");
        for path in ["?lang=ja", "runs/latest", "live"] {
            let said = complaints(&workspace, &format!("{}{path}", served.url), "390,844");
            assert!(said.is_empty(), "{path}: {said:?}");
        }
        served.end();
    }
}
