//! Installation of each package in a clean Debian, as a user would do it: without build tools, and
//! sharing only the kernel with this machine.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::command::{NameWithoutBlanks, output, show, there_is};

/// Debian release on which the program must run.
const RELEASE: &str = "bookworm";
/// Additional packages: fonts for PDF, and tools that install other kinds of packages.
const WITH: &str = "--include=fonts-noto-cjk,python3-venv,rpm";
/// Recipe with a container whose system corresponds to this Debian.
const KUBERNETES: &str = include_str!("../../../docs/recipes/kubernetes.md");

/// Shell line that runs a command in a root directory. Its mounts are in a private namespace and
/// disappear with it.
pub(super) const IN_ROOT: &str = "mount -t proc proc \"$0/proc\" && mount --rbind /sys \
     \"$0/sys\" && mount --rbind /dev \"$0/dev\" && exec chroot \"$0\" \"$@\"";

/// Test script: the five-second measurement as root and as an ordinary user, manual pages, and
/// completions.
const FIRST_MINUTE: &str = "cd /root; status=0; qdepth --json >first.json || status=$?; \
     [ $status -le 1 ]; grep -q '\"io_per_s\"' first.json; rm first.json; \
     mkdir -p /home/nobody; chown nobody /home/nobody; cd /home/nobody; status=0; \
     setpriv --reuid=nobody --regid=nogroup --clear-groups qdepth || status=$?; [ $status -le 1 ]; \
     ls /usr/share/man/man1/qdepth-run.1.gz >/dev/null; \
     bash -c '. /usr/share/bash-completion/completions/qdepth; complete -p qdepth' >/dev/null; ";

/// Test script: a white paper of several pages in both languages.
const WHITE_PAPERS: &str = "cd /root; rm -f paper.db en.pdf ja.pdf; qdepth run latency \
     media:p3700-800gb --duration 200ms --no-report --logbook paper.db >/dev/null; for lang in en \
     ja; do qdepth report --logbook paper.db --format pdf --lang $lang -o $lang.pdf >/dev/null; [ \
     \"$(head -c 5 $lang.pdf)\" = %PDF- ]; [ $(stat -c %s $lang.pdf) -gt 50000 ]; done; ";

/// Installs, tests and removes each package, and prints which tests cannot run here.
pub(super) fn installed_in_debian(to: &Path, made: &[PathBuf], sets_pdf: bool) -> Result<()> {
    let lacks = ["debootstrap", "unshare", "chroot"].into_iter().find(|name| !there_is(name));
    let root = output("id", &["-u"], &[0])?.trim() == "0";
    if lacks.is_some() || !root {
        let why = lacks.map_or("not root".to_owned(), |name| format!("{name} is not installed"));
        println!("SKIPPED: a clean Debian {RELEASE}: {why}");
        return Ok(());
    }
    // debootstrap splits paths at blanks.
    let project = NameWithoutBlanks::new()?;
    let debian = project.path(&to.join(RELEASE));
    if !debian.join("usr/bin/rpm").exists() {
        let lines = output("apt-get", &["indextargets", "--format", "$(REPO_URI)"], &[0])?;
        let mirror = lines.lines().next().unwrap_or_default();
        let folder = debian.display().to_string();
        show("debootstrap", &["--variant=minbase", WITH, RELEASE, &folder, mirror])?;
    }
    let papers = if sets_pdf { WHITE_PAPERS } else { "" };
    let container = container()?;
    for package in made {
        let name = package.file_name().context("a package without a name")?;
        fs::copy(package, debian.join(name))?;
        let name = name.to_string_lossy();
        let (install, tried, remove) = match package.extension().and_then(|kind| kind.to_str()) {
            Some("deb") => (
                format!("dpkg -i /{name} >/dev/null"),
                format!("{FIRST_MINUTE}{container}"),
                "dpkg -P qdepth >/dev/null",
            ),
            Some("rpm") => (
                format!("rpm --install --force-debian --nodeps /{name}"),
                String::new(),
                "rpm --erase --force-debian --nodeps qdepth",
            ),
            Some("whl") => (
                format!(
                    "python3 -m venv /opt/qdepth; \
                     /opt/qdepth/bin/pip install --quiet --no-index --no-deps /{name}; \
                     PATH=/opt/qdepth/bin:$PATH"
                ),
                String::new(),
                "rm -r /opt/qdepth",
            ),
            _ => continue,
        };
        let script = format!(
            "set -e; {install}; qdepth --version; {tried}{papers}cd /; {remove}; rm /{name}; hash \
             -r; ! command -v qdepth"
        );
        inside(&debian, &script).with_context(|| format!("{name} in a clean Debian {RELEASE}"))?;
        println!("{name}: installed in a clean Debian {RELEASE}, does its work, and goes");
    }
    Ok(())
}

/// Runs a script in the clean Debian.
fn inside(debian: &Path, script: &str) -> Result<()> {
    let folder = debian.display().to_string();
    show("unshare", &["--mount", "sh", "-c", IN_ROOT, &folder, "/bin/sh", "-c", script])
}

/// Test script: the command of the recipe's job, as its user in a volume of its group, with a
/// smaller file.
fn container() -> Result<String> {
    let args = KUBERNETES.lines().find_map(|line| line.trim().strip_prefix("args: ["));
    let args = args.and_then(|args| args.strip_suffix(']')).context("the page has no args")?;
    let args = args.replace(", ", " ").replace("--file-size 8GiB", "--file-size 256MiB");
    if !args.starts_with("run ") || !args.contains("256MiB") {
        bail!("the page's container runs {args}");
    }
    Ok(format!(
        "install -d -m 2775 -g 1000 /data; cd /data; status=0; \
         setpriv --reuid=1000 --regid=1000 --clear-groups qdepth {args} >/tmp/run.json \
         || status=$?; [ $status -le 1 ]; grep -q '\"io_per_s\"' /tmp/run.json; ls qdepth.db \
         qdepth-report.html; rm -r /data /tmp/run.json; "
    ))
}
