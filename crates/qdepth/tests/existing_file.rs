//! An existing foreign file is written only if the user names it exactly; otherwise it stays as it
//! was.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::{Ended, Workspace, consent_lines, has_tools, sh, token};

const BYTES: usize = 16 << 20;
const JOB: &str = "--name=w --rw=randwrite --bs=4k --filename=precious --runtime=1 --time_based";

/// Consent token and content of the file.
fn named(workspace: &Workspace) -> (String, Vec<u8>) {
    let path = fs::canonicalize(workspace.join("precious")).expect("a file");
    (token(&path), fs::read(path).expect("a file"))
}

fn with_file() -> Workspace {
    let workspace = Workspace::new();
    fs::write(workspace.join("precious"), b"the only copy\n\0\0".repeat(BYTES / 16))
        .expect("a file");
    workspace
}

fn refused(workspace: &Workspace, words: &str, says: &[&str]) -> Ended {
    let (_, before) = named(workspace);
    let ended = workspace.run(words).expect(3);
    for part in says {
        assert!(ended.err.contains(part), "`{part}` is not in\n{}", ended.err);
    }
    assert_eq!(
        fs::read(workspace.join("precious")).expect("a file"),
        before,
        "written to by `{words}`"
    );
    ended
}

#[test]
fn too_small_file_is_refused_without_consent_instructions() {
    let workspace = Workspace::new();
    workspace.write("notes.txt", "hello\n");
    let path = fs::canonicalize(workspace.join("notes.txt")).expect("a file");
    for words in ["run notes.txt".to_owned(), format!("run notes.txt --destroy {}", token(&path))] {
        let ended = workspace.run(&words).expect(2);
        assert!(ended.err.contains("too small"), "{}", ended.err);
        assert!(!ended.err.contains("--destroy"), "{}", ended.err);
        assert_eq!(fs::read(&path).expect("a file"), b"hello\n");
    }
}

/// A run has its own logbook open for writing.
#[test]
fn logbook_as_target_is_refused_and_unchanged() {
    let workspace = Workspace::new();
    workspace.run("run quick --file-size 16MiB --warm-up 10ms --duration 60ms --no-report");
    let path = fs::canonicalize(workspace.join("qdepth.db")).expect("a logbook");
    let before = fs::read(&path).expect("a logbook");
    let token = token(&path);
    for words in ["", &format!("--destroy {token}")] {
        let ended = workspace.run(&format!("run write-pressure ./qdepth.db {words}")).expect(3);
        assert!(ended.err.contains("guard G2"), "{}", ended.err);
    }
    assert!(fs::read(&path).expect("a logbook") == before);
}

#[test]
fn existing_file_is_written_only_with_its_consent() {
    let workspace = with_file();
    let (token, before) = named(&workspace);
    let right = format!("--destroy {token}");
    // A single refusal names everything missing, and the command line to type.
    let line = format!("{JOB} --no-report {right} --consent FILE");
    let first = refused(&workspace, &format!("fio {JOB} --no-report"), &["guard G8", &line]);
    workspace.write("consent", &consent_lines(&first.err));
    refused(&workspace, &format!("fio {JOB} --no-report {right}"), &["guard G9", "no terminal"]);
    for wrong in [format!("{token}0"), token.replace("precious", "preciou?"), BYTES.to_string()] {
        let words = format!("fio {JOB} --no-report --destroy {wrong} --consent consent");
        refused(&workspace, &words, &["guard G8", &right]);
    }
    let with_all = format!("fio {JOB} --no-report --output-format=json {right} --consent consent");
    let made = workspace.run(&with_all).expect(0).json();
    assert_eq!(made["jobs"][0]["error"], 0);
    let (after, now) = named(&workspace);
    assert_eq!(after, token, "the same file of the same length");
    let same = before.chunks(4096).zip(now.chunks(4096)).filter(|(a, b)| a == b).count();
    assert!(same < BYTES / 4096, "nothing was written");
    // The file gets no mark of qdepth: the next run asks for consent again.
    refused(
        &workspace,
        &format!("run --profile database --queue-depth 1 {line}", line = "precious"),
        &["guard G8", &right],
    );
}

#[test]
fn read_only_file_needs_no_consent() {
    let workspace = with_file();
    let (_, before) = named(&workspace);
    fs::write(workspace.join("read"), &before).unwrap();
    let read = "--name=r --rw=randread --filename=read";
    let common = "fio --bs=4k --runtime=1 --time_based --no-report --output-format=json";
    let words = format!("{common} {read} --name=w --rw=randwrite --filename=new --size=16m");
    workspace.run(&format!("{words} --parse-only")).expect(0);
    let made = workspace.run(&words).expect(0).json();
    let moved = |job: usize, way: &str| made["jobs"][job][way]["total_ios"].as_u64().unwrap();
    assert!(moved(0, "read") > 0 && moved(1, "write") > 0, "{made:#}");
    assert_eq!((moved(0, "write"), moved(1, "read")), (0, 0));
    assert_eq!(fs::read(workspace.join("read")).unwrap(), before, "it was only read");
    // With two existing files, consent refers to the one that is written.
    let words = format!("{common} {read} --name=w --rw=randwrite --filename=precious");
    let refused = refused(&workspace, &words, &["guard G8", "precious"]);
    assert!(!refused.err.contains("/read:"), "{}", refused.err);
    let planned = workspace.run(&words.replacen("fio", "fio --parse-only", 1));
    assert!(!planned.err.contains("/read:"), "{}", planned.err);
}

#[test]
fn consent_is_invalid_for_a_replaced_file() {
    let workspace = with_file();
    let (token, before) = named(&workspace);
    let first = refused(&workspace, &format!("fio {JOB} --no-report"), &["guard G8"]);
    workspace.write("consent", &consent_lines(&first.err));
    let words = format!("fio {JOB} --no-report --destroy {token} --consent consent");
    fs::write(workspace.join("other"), &before).unwrap();
    fs::rename(workspace.join("other"), workspace.join("precious")).unwrap();
    assert_ne!(named(&workspace).0, token, "another inode");
    refused(&workspace, &words, &["guard G8"]);
    // A file system gives a free inode to the next file; the digest of its creation differs.
    let digest = |token: &str| token.rsplit(':').next().unwrap().to_owned();
    let (token, _) = named(&workspace);
    fs::remove_file(workspace.join("precious")).unwrap();
    fs::write(workspace.join("precious"), &before).unwrap();
    assert_ne!(digest(&named(&workspace).0), digest(&token));
    let words = format!("fio {JOB} --no-report --destroy {token} --consent consent");
    refused(&workspace, &words, &["guard G8"]);
    let (token, _) = named(&workspace);
    let words = format!("fio {JOB} --no-report --destroy {token} --consent consent");
    refused(&workspace, &words, &["guard G9", "the consent file names"]);
    fs::hard_link(workspace.join("precious"), workspace.join("twin")).unwrap();
    // Reasons that no consent removes come before errors in the consent.
    refused(&workspace, &words, &["guard G8", "more than one name"]);
    let text = fs::read_to_string(workspace.join("consent")).unwrap();
    let lines = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    workspace.write("consent", &format!("destroy = \"{token}\"\n{lines}\n"));
    refused(&workspace, &words, &["guard G8", "more than one name"]);
}

/// ext4 with inodes of 128 bytes keeps no times of creation, so the file's handle decides.
#[test]
fn consent_is_invalid_for_a_file_created_anew() {
    let test = "consent_is_invalid_for_a_file_created_anew";
    if !has_tools(test, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let workspace = Workspace::new();
    let node = workspace.device("image", 64 << 20);
    sh(&format!("mkfs.ext4 -q -I 128 {}", node.display())).unwrap();
    let at = workspace.mounted(&node, "", "at");
    let create = || fs::write(at.join("precious"), vec![7; 8 << 20]).expect("a file");
    create();
    let (first, again) = (token(at.join("precious")), token(at.join("precious")));
    assert_eq!(first, again);
    let inode = || fs::metadata(at.join("precious")).unwrap().ino();
    let before = inode();
    // The kernel frees an inode some time after its name is removed.
    for _ in 0..50 {
        fs::remove_file(at.join("precious")).unwrap();
        crate::common::pause(20);
        create();
        if inode() == before {
            break;
        }
    }
    let job = JOB.replace("precious", "at/precious");
    let ended = workspace.run(&format!("fio {job} --no-report --destroy {first}")).expect(3);
    assert!(ended.err.contains("guard G8"), "{}", ended.err);
    let second = token(at.join("precious"));
    let kept = |token: &str| token.rsplit_once(':').unwrap().0.to_owned();
    assert_eq!(kept(&first), kept(&second), "path, length and inode are the same");
    assert_ne!(first, second);
}

#[test]
fn all_missing_consents_are_reported_together() {
    let test = "all_missing_consents_are_reported_together";
    if !has_tools(test, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let workspace = with_file();
    let node = workspace.device("image", 64 << 20).display().to_string();
    sh(&format!("mkfs.ext4 -q {node}")).unwrap();
    let (file, _) = named(&workspace);
    let device = token(&node);
    let lacks =
        format!("--destroy {device} --overwrite-signature ext4 --destroy {file} --consent FILE");
    let words = format!("run {node} precious --profile database --queue-depth 1");
    refused(&workspace, &words, &["writing to /dev/", "precious was not created", &lacks]);
}

/// A name with a line break would add a line to a consent file, and bytes that are not text may be
/// in the name.
#[test]
fn hostile_file_names_add_no_consent_lines() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let workspace = Workspace::new();
    for (name, logbook) in [("x\nsize_bytes = 1", &b"q.db"[..]), ("x", b"\xff.db")] {
        workspace.write(name, &"x".repeat(1 << 20));
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_qdepth"))
            .current_dir(workspace.join(""))
            .args(["run", "latency", name, "--profile", "latency-write", "--no-report"])
            .arg("--logbook")
            .arg(OsStr::from_bytes(logbook))
            .output()
            .expect("the program");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(3), "{said}");
        assert!(said.contains("guard G8") && said.contains("for example: "), "{said}");
        let (_, consent) = said.split_once("with a file that contains\n").expect("what to write");
        let keys: Vec<&str> = consent.lines().take(3).filter_map(|l| l.split(' ').next()).collect();
        assert_eq!(keys, ["destroy", "size_bytes", "expires"], "{said}");
    }
}

/// Storage that deduplicates would store equal writes once.
#[test]
fn every_written_block_differs_from_all_others() {
    let workspace = Workspace::new();
    workspace.write(
        "own.toml",
        "name = \"own\"\nqueue_depth = [1, 4]\nwarm_up = \"0s\"\nduration = \"300ms\"\n\
         file_size = \"1MiB\"\n[[profile]]\nname = \"w\"\nrandom = 0\nread = 0\n\
         block_size = \"16KiB\"\n",
    );
    workspace.run("run own.toml . --keep --no-report");
    let written = std::fs::read(workspace.join("qdepth-measurement-file")).unwrap();
    let blocks: Vec<&[u8]> = written[..1 << 20].chunks(4096).collect();
    let different: std::collections::BTreeSet<&[u8]> = blocks.iter().copied().collect();
    assert_eq!(different.len(), blocks.len());
}
