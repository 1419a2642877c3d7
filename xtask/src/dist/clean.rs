//! A clean Debian, in which the package is installed as a user does it: nothing that builds programs
//! is there, and nothing of this machine but its kernel.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{output, show, there_is};

/// The release whose packages the program must start with.
const RELEASE: &str = "bookworm";

/// Installs the package, asks for the five-second answer as root and as an ordinary user, and takes
/// it out again. What it cannot do here is said.
pub(super) fn installed_in_debian(to: &Path, package: &Path) -> Result<()> {
    let lacks = ["debootstrap", "unshare", "chroot"].into_iter().find(|name| !there_is(name));
    let root = output("id", &["-u"], &[0])?.trim() == "0";
    if lacks.is_some() || !root {
        let why = lacks.map_or("not root".to_owned(), |name| format!("{name} is not installed"));
        println!("SKIPPED: a clean Debian {RELEASE}: {why}");
        return Ok(());
    }
    let debian = to.join(RELEASE);
    let place = debian.display().to_string();
    if !debian.join("usr/bin/dpkg").exists() {
        let lines = output("apt-get", &["indextargets", "--format", "$(REPO_URI)"], &[0])?;
        let mirror = lines.lines().next().unwrap_or_default();
        show("debootstrap", &["--variant=minbase", RELEASE, &place, mirror])?;
    }
    fs::copy(package, debian.join("qdepth.deb"))?;
    // Mounts are of this shell's own namespace, and go with it.
    let mounts = format!(
        "mount -t proc proc '{place}/proc' && mount --rbind /sys '{place}/sys' && \
         mount --rbind /dev '{place}/dev'"
    );
    let inside = "set -e; dpkg -i /qdepth.deb >/dev/null; cd /root; qdepth --version; \
                  status=0; qdepth --json >first.json || status=$?; [ $status -le 1 ]; \
                  grep -q '\"io_per_s\"' first.json; rm first.json; \
                  mkdir -p /home/nobody; chown nobody /home/nobody; cd /home/nobody; \
                  status=0; setpriv --reuid=nobody --regid=nogroup --clear-groups qdepth || status=$?; \
                  [ $status -le 1 ]; ls /usr/share/man/man1/qdepth-run.1* \
                  /usr/share/bash-completion/completions/qdepth >/dev/null; \
                  dpkg -P qdepth >/dev/null; [ ! -e /usr/bin/qdepth ]";
    let line = format!("{mounts} && exec chroot '{place}' /bin/sh -c \"$0\"");
    if let Err(why) = show("unshare", &["--mount", "sh", "-c", &line, inside]) {
        bail!("a clean Debian {RELEASE}: {why}");
    }
    println!("a clean Debian {RELEASE}: installed, answers as root and as nobody, and goes");
    Ok(())
}
