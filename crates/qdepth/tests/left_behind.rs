//! A server that never answers: a child process uses its files, so that it can be left behind.

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use crate::common::{Workspace, codes, has_tools, pause, points, program, sh};

    /// A FUSE server that only answers what mounting needs. Not even SIGKILL ends a call to it.
    const SILENT: &str = r#"
import ctypes, os, struct, sys
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
mount = ctypes.CDLL(None).mount
assert mount(b"silent", sys.argv[1].encode(), b"fuse.silent", 0, options) == 0
while True:
    _, call, number = struct.unpack_from("<IIQ", os.read(device, 1 << 20))
    if call == 26:  # FUSE_INIT
        answer = struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 16, 12, 65536, 1, 0, 0, *[0] * 8)
        os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, number) + answer)
"#;

    /// Mount of a server that does not answer, until the end of the test.
    fn silent(workspace: &Workspace) -> PathBuf {
        let (script, mount) = (workspace.write("silent.py", SILENT), workspace.join("silent"));
        std::fs::create_dir(&mount).unwrap();
        let (at, here) = (mount.display(), workspace.path().display());
        let line = format!("python3 {here}/{script} {at} >/dev/null 2>&1 & echo $!");
        let server = sh(&line).unwrap();
        workspace.later(format!("kill {server}; umount -l {at}"));
        let is_mounted = format!("grep -q ' {at} ' /proc/mounts");
        sh(&format!("for i in $(seq 50); do {is_mounted} && exit; sleep 0.1; done; exit 1"))
            .unwrap();
        mount
    }

    #[test]
    fn unanswering_file_is_named_within_seconds() {
        let test = "unanswering_file_is_named_within_seconds";
        if !has_tools(test, &["python3"]) {
            return;
        }
        let workspace = Workspace::new();
        let run = "run media:null --queue-depth 1 --duration 1s";
        workspace.run(&format!("{run} --no-report")).expect_finished();
        let at = silent(&workspace);
        let at = at.display();
        std::os::unix::fs::symlink(workspace.join("silent"), workspace.join("link")).unwrap();
        let began = Instant::now();
        let started: Vec<_> = [
            (format!("{run} --report {at}/out"), "/out"),
            (format!("{run} --no-report --events link/events"), "link/events"),
            (format!("{run} --no-report --logbook {at}/book.db"), "/book.db"),
            (format!("report -o {at}/out.md"), "/out.md"),
            (format!("fio --no-report --name=a --size=1m --output={at}/fio"), "/fio"),
            (format!("ior --no-report -- -t 4k -b 4k -o f -O summaryFile={at}/ior"), "/ior"),
            (format!("run {at}/target --duration 1s"), "silent"),
        ]
        .into_iter()
        .map(|(words, name)| (workspace.start(&words), name))
        .collect();
        for (run, name) in started {
            let ended = run.wait_at_most(Duration::from_secs(20)).expect(4);
            let said = ended.err.lines().last().unwrap_or_default();
            let is_named = said.contains(name) && said.contains(" does not respond, so");
            assert!(is_named, "{name}: {}", ended.err);
        }
        let took = began.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?}");
    }

    #[test]
    fn frozen_file_system_is_named_within_seconds() {
        let test = "frozen_file_system_is_named_within_seconds";
        if !has_tools(test, &["fsfreeze", "mkfs.ext4", "losetup"]) || sh("losetup -f").is_err() {
            return;
        }
        let workspace = Workspace::new();
        let run = "run media:null --queue-depth 1 --duration 1s --no-report";
        workspace.run(run).expect_finished();
        let here = workspace.path().display();
        let line = "truncate -s 64M image && mkfs.ext4 -q image && mkdir frozen && \
                    mount -o loop image frozen && cp qdepth.db frozen/book.db && \
                    fsfreeze -f frozen";
        workspace.later(format!("fsfreeze -u {here}/frozen; umount {here}/frozen"));
        sh(&format!("cd {here} && {line}")).unwrap();
        let all = [
            format!("{run} --events frozen/events"),
            "list --logbook frozen/book.db".to_owned(),
            "report -o frozen/out.md".to_owned(),
            "run frozen --duration 1s --no-report --file-size 16MiB".to_owned(),
        ];
        for run in all.map(|words| workspace.start(&words)) {
            let ended = run.wait_at_most(Duration::from_secs(20)).expect(4);
            assert!(ended.err.contains("frozen") && ended.err.contains("fsfreeze -u"));
        }
    }

    /// Matches the whole command line, because the measuring process is a child of the started one.
    fn count(workspace: &Workspace) -> usize {
        let here = workspace.path().display();
        let line = format!("pgrep -f '[r]un {here}/served/disk' | wc -l");
        sh(&line).unwrap().parse().unwrap()
    }

    fn words(workspace: &Workspace, engine: &str) -> String {
        let queue_depth = if engine == "sync" { "1" } else { "4,8" };
        format!(
            "run {}/served/disk --profile random-4k-read --queue-depth {queue_depth} --read-only \
             --duration 2s --warm-up 0s --engine {engine}",
            workspace.path().display()
        )
    }

    #[test]
    fn program_ends_with_every_engine_when_server_hangs() {
        let test = "program_ends_with_every_engine_when_server_hangs";
        if !has_tools(test, &["nbdkit", "nbdfuse"]) {
            return;
        }
        for engine in ["io_uring", "linux-aio", "threads", "sync"] {
            let workspace = Workspace::new();
            let served = workspace.served("memory 64M");
            let mut run = workspace.start(&words(&workspace, engine));
            run.wait_for_err("point 1 of");
            pause(500);
            served.signal("STOP");
            let began = Instant::now();
            let ended = run.wait_at_most(Duration::from_secs(60));
            let took = began.elapsed();
            let stored = workspace.run("export").expect(0).json();
            served.signal("CONT");
            println!("{engine}: ended {:.1} s after the server", took.as_secs_f64());
            // Two points of 2 s, each abandoned at most 10 s after its end.
            assert!(took < Duration::from_secs(4 + 15 + 10), "{engine}: {took:?}");
            if engine == "sync" {
                // The worker itself is blocked.
                assert!(ended.expect(4).err.contains("the target does not respond"));
                continue;
            }
            ended.expect(1);
            let first = &points(&stored)[0];
            assert!(codes(first).contains(&"hung".to_owned()), "{engine}: {stored:#}");
        }
    }

    #[test]
    fn second_interrupt_ends_io_to_unresponsive_server() {
        let test = "second_interrupt_ends_io_to_unresponsive_server";
        if !has_tools(test, &["nbdkit", "nbdfuse"]) {
            return;
        }
        let workspace = Workspace::new();
        let served = workspace.served("memory 64M");
        let words = words(&workspace, "sync").replace("--duration 2s", "--duration 60s");
        let mut run = workspace.start(&words);
        run.wait_for_err("point 1 of");
        pause(500);
        served.signal("STOP");
        pause(500);
        run.signal("INT");
        pause(500);
        run.signal("INT");
        let ended = run.wait_at_most(Duration::from_secs(10));
        served.signal("CONT");
        ended.expect(130);
    }

    /// Some programs ignore SIGCHLD when they start others: the kernel then forgets the status of
    /// children.
    #[test]
    fn killed_child_is_noticed_despite_ignored_sigchld() {
        let test = "killed_child_is_noticed_despite_ignored_sigchld";
        if !has_tools(test, &["nbdkit", "nbdfuse", "pkill"]) {
            return;
        }
        let workspace = Workspace::new();
        let _served = workspace.served("memory 64M");
        let program = program();
        let ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); \
                      os.execv(sys.argv[1], sys.argv[1:])";
        let words = words(&workspace, "threads").replace("--duration 2s", "--duration 60s");
        let here = workspace.path().display();
        let line = format!(
            "cd {here}; python3 -c '{ignore}' {program} {words} >out 2>&1 & started=$!; sleep 3; \
             pkill -KILL -P $started; (sleep 20; kill -KILL $started) >/dev/null 2>&1 & \
             wait $started"
        );
        let began = Instant::now();
        let said = sh(&line).unwrap_err();
        let took = began.elapsed();
        assert!(said.contains("137") && took < Duration::from_secs(15), "{took:?}: {said}");
    }

    #[test]
    fn measuring_child_process_ends_with_its_parent() {
        let test = "measuring_child_process_ends_with_its_parent";
        if !has_tools(test, &["nbdkit", "nbdfuse"]) {
            return;
        }
        for (signal, status) in [("TERM", Some(143)), ("INT", Some(130)), ("KILL", None)] {
            let workspace = Workspace::new();
            let _served = workspace.served("memory 64M");
            let mut run = workspace.start(&words(&workspace, "io_uring"));
            run.wait_for_err("point 1 of");
            assert_eq!(count(&workspace), 2);
            run.signal(signal);
            let ended = run.wait_at_most(Duration::from_secs(30));
            assert_eq!(ended.status, status, "{signal}: {}", ended.err);
            let gone = || count(&workspace) == 0;
            assert!(
                (0..50).any(|_| gone() || {
                    pause(100);
                    false
                }),
                "{signal}"
            );
        }
    }
}
