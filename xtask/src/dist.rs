//! `cargo xtask dist`: builds packages in `target/dist` (`.deb`, `.rpm`, `.whl`, and a tar archive
//! with a static program) with manual pages, completions, licences, a bill of materials and
//! checksums. Each package that can be installed here is installed in an empty root and run.
//! `--pdf` includes qdepth-pdf, and builds its packages in `target/dist-pdf`. `--aarch64` packs a
//! static program for that architecture in `target/dist-aarch64`, and runs it in QEMU. `--quick`
//! packs the debug build to test the packing itself; its packages are named `debug-…`.

#![expect(clippy::disallowed_methods, reason = "packing files is what this is for")]

mod clean;
mod machine;
mod steps;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::command::{NameWithoutBlanks, PDF, install, output, root, show, there_is};
use machine::{AARCH64, Machine, X86_64};
use steps::{BIN, archive, cargo, epoch};

/// Directory of manual pages in a package.
const MAN: &str = "usr/share/man/man1";
/// Completions for each shell: path, and a line that runs the program to get them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("usr/share/bash-completion/completions/qdepth", "eval \"$(qdepth completions bash)\"\n"),
    (
        "usr/share/zsh/vendor-completions/_qdepth",
        "#compdef qdepth\neval \"$(qdepth completions zsh)\"\n",
    ),
    ("usr/share/fish/vendor_completions.d/qdepth.fish", "qdepth completions fish | source\n"),
];
const DOCS: &str = "usr/share/doc/qdepth";
/// Size limits of an installed package, without and with qdepth-pdf, bytes. Typst alone takes 23 MB
/// when built for size: 11 of code, 9 of tables of languages, styles and syntaxes.
const INSTALLED_MAX: [u64; 2] = [15_000_000, 40_000_000];
/// Debian packages needed for packing, each with a program or file that shows that it is installed.
const PACKAGES: &[(&str, &str)] = &[
    ("binutils", "objdump"),
    ("cpio", "cpio"),
    ("debootstrap", "debootstrap"),
    ("musl-tools", "musl-gcc"),
    ("python3-venv", "/usr/lib/python3.11/ensurepip/__init__.py"),
    ("rpm", "rpmbuild"),
];
const WHEEL: &str = include_str!("dist/wheel.py");
const READER: &str = include_str!("dist/reader.py");

pub fn dist(words: &[&str]) -> Result<()> {
    let (mut quick, mut pdf, mut machine, mut folder) = (false, false, &X86_64, "target/dist");
    match words {
        [] => {}
        ["--quick"] => quick = true,
        ["--pdf"] => (pdf, folder) = (true, "target/dist-pdf"),
        ["--quick", "--pdf"] => (quick, pdf, folder) = (true, true, "target/dist-pdf"),
        ["--aarch64"] => (machine, folder) = (&AARCH64, "target/dist-aarch64"),
        _ => bail!("cargo xtask dist [--quick] [--pdf] | --aarch64"),
    }
    install(PACKAGES);
    install(machine.packages);
    let to = root().join(folder);
    let mut programs = vec![match machine.emulator {
        Some(_) => build_static(machine)?,
        None => build(quick)?,
    }];
    if pdf {
        programs.push(build_pdf(quick)?);
    }
    let stage = to.join("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let version = staged(&stage, &programs, machine, quick)?;
    let bytes = size(&stage)?;
    println!("{bytes} bytes are installed");
    let most = INSTALLED_MAX[usize::from(pdf)];
    if !quick && bytes > most {
        bail!("{bytes} bytes are installed, and {most} are the most");
    }
    let mut made = vec![if quick || pdf {
        archive(&to, &stage, &version, machine, "linux")?
    } else {
        let installed = stage.join(BIN).join("qdepth");
        if machine.emulator.is_none() {
            fs::copy(build_static(machine)?, &installed)?;
        }
        let made = archive(&to, &stage, &version, machine, "linux-static")?;
        fs::copy(&programs[0], &installed)?;
        made
    }];
    made.extend(deb(&to, &stage, &version, machine)?);
    made.extend(wheel(&to, &stage, &version, machine)?);
    made.extend(rpm(&to, &stage, &version, machine)?);
    checked(&to, &made, &version, machine)?;
    if machine.emulator.is_none() {
        clean::installed_in_debian(&to, &made, pdf)?;
    }
    if quick {
        made = made.iter().map(|package| named_debug(package)).collect::<Result<_>>()?;
    }
    let bill = to.join("qdepth.cdx.json");
    fs::copy(stage.join(DOCS).join("qdepth.cdx.json"), &bill)?;
    made.push(bill);
    sums(&to, &made)
}

/// Renames a package of the debug build to `debug-…`, so that nobody publishes it.
fn named_debug(package: &Path) -> Result<PathBuf> {
    let name = package.file_name().unwrap_or_default().to_string_lossy();
    let renamed = package.with_file_name(format!("debug-{name}"));
    fs::rename(package, &renamed)?;
    Ok(renamed)
}

/// Builds the program for a package, or takes the debug build of the tests; returns its path.
fn build(quick: bool) -> Result<PathBuf> {
    if quick {
        show("cargo", &["build", "--locked", "--workspace", "--bin", "qdepth"])?;
        return Ok(root().join("target/debug/qdepth"));
    }
    // Identical functions of different types are merged, which saves 0.4 MB.
    let folded = ["-C", "link-arg=-Wl,--icf=all", "-C", "link-arg=-Wl,-O2"];
    cargo(&["--package", "qdepth", "--bin", "qdepth"], "dist", &folded)?;
    Ok(root().join("target/dist/qdepth"))
}

/// Builds the program without shared libraries, for any Linux system; returns its path.
fn build_static(machine: &Machine) -> Result<PathBuf> {
    let target = format!("{}-unknown-linux-musl", machine.name);
    if there_is("rustup") {
        show("rustup", &["target", "add", &target])?;
    }
    cargo(&["--package", "qdepth", "--bin", "qdepth", "--target", &target], "dist", &[])?;
    let program = root().join("target").join(target).join("dist/qdepth");
    let needed = output("objdump", &["-p", &program.display().to_string()], &[0])?;
    if needed.contains("NEEDED") {
        bail!("the static program needs shared libraries: {needed}");
    }
    Ok(program)
}

/// Builds the PDF program; returns its path.
fn build_pdf(quick: bool) -> Result<PathBuf> {
    let (profile, folder) = if quick { ("dev", "debug") } else { ("dist", "dist") };
    // A static relocation model saves 1.7 MB. It is acceptable here, because the program reads only
    // a folder that qdepth wrote.
    cargo(&PDF, profile, &["-C", "relocation-model=static"])?;
    Ok(root().join("target").join(folder).join("qdepth-pdf"))
}

/// Writes all files of a package into a folder, and returns the version.
fn staged(stage: &Path, programs: &[PathBuf], machine: &Machine, quick: bool) -> Result<String> {
    let put = |name: &str, bytes: &[u8]| -> Result<()> {
        let path = stage.join(name);
        fs::create_dir_all(path.parent().unwrap_or(stage))?;
        fs::write(&path, bytes).with_context(|| path.display().to_string())
    };
    for program in programs {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        put(&format!("{BIN}/{name}"), &fs::read(program)?)?;
        let installed = stage.join(BIN).join(&*name);
        fs::set_permissions(&installed, fs::Permissions::from_mode(0o755))?;
        if quick {
            show("strip", &[&installed.display().to_string()])?;
        }
    }
    let installed = stage.join(BIN).join("qdepth");
    let run = |words: &[&str]| machine.output(&installed, words);
    let pages = run(&["man", "--names"])?;
    for page in pages.lines() {
        let words: Vec<&str> = page.split(' ').skip(1).collect();
        let text = run(&[&["man"], &words[..]].concat())?;
        put(&format!("{MAN}/{}.1", page.replace(' ', "-")), text.as_bytes())?;
    }
    show("gzip", &["-rn9", &stage.join(MAN).display().to_string()])?;
    for (path, line) in COMPLETIONS {
        put(path, line.as_bytes())?;
    }
    for name in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        put(&format!("{DOCS}/{name}"), &fs::read(root().join(name))?)?;
    }
    let parts = parts(programs, machine)?;
    put(&format!("{DOCS}/qdepth.cdx.json"), format!("{}\n", bill(&parts)).as_bytes())?;
    put(&format!("{DOCS}/licences.md"), licences(&parts).as_bytes())?;
    let version = run(&["-V"])?;
    version.split_whitespace().nth(1).map(str::to_owned).context("`qdepth -V` has no version")
}

/// Crates in the programs: name and version, with licence.
type Parts = BTreeMap<(String, String), String>;

/// Crates that the programs depend on, without build tools and tests.
fn parts(programs: &[PathBuf], machine: &Machine) -> Result<Parts> {
    let words = ["tree", "--locked", "--edges", "normal", "--prefix", "none", "--no-dedupe"];
    let target = format!("{}-unknown-linux-gnu", machine.name);
    let form = ["--target", &target, "--format", "{p}|{l}"];
    let mut parts = Parts::new();
    for (name, workspace) in [("qdepth", &["--package", "qdepth"][..]), ("qdepth-pdf", &PDF[..2])] {
        if programs.iter().any(|program| program.ends_with(name)) {
            let all = output("cargo", &[&words[..], &form, workspace].concat(), &[0])?;
            let part = |line: &str| {
                let (package, licence) = line.split_once('|')?;
                let (name, version) = package.split_once(" v")?;
                let version = version.split(' ').next()?;
                Some(((name.to_owned(), version.to_owned()), licence.to_owned()))
            };
            parts.extend(all.lines().filter_map(part));
        }
    }
    Ok(parts)
}

/// Bill of materials in CycloneDX 1.5 format.
fn bill(parts: &Parts) -> Value {
    let component = |((name, version), licence): (&(String, String), &String)| {
        json!({
            "type": "library",
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
            "licenses": [{ "expression": licence.replace('/', " OR ") }],
        })
    };
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "qdepth" } },
        "components": parts.iter().map(component).collect::<Vec<_>>(),
    })
}

fn licences(parts: &Parts) -> String {
    let row = |((name, version), licence): (&(String, String), &String)| {
        format!("| {name} | {version} | {licence} |\n")
    };
    let head =
        "# Licences of what qdepth is made of\n\n| crate | version | licence |\n|---|---|---|\n";
    parts.iter().map(row).fold(head.to_owned(), |text, row| text + &row)
}

fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        bytes += if path.is_dir() { size(&path)? } else { path.metadata()?.len() };
    }
    Ok(bytes)
}

fn deb(to: &Path, stage: &Path, version: &str, machine: &Machine) -> Result<Option<PathBuf>> {
    if !there_is("dpkg-deb") {
        println!("SKIPPED: .deb: dpkg-deb is not installed");
        return Ok(None);
    }
    let control = stage.join("DEBIAN");
    fs::create_dir_all(&control)?;
    let sets_pdf = stage.join(BIN).join("qdepth-pdf").exists();
    let fonts = if sets_pdf { ", fonts-noto-cjk" } else { "" };
    let libraries = if machine.emulator.is_some() { "" } else { "Depends: libc6, libgcc-s1\n" };
    let debian = machine.debian;
    let text = format!(
        "Package: qdepth\nVersion: {version}\nArchitecture: {debian}\nMaintainer: qdepth \
         developers\n{libraries}Recommends: smartmontools, nvme-cli{fonts}\nSection: admin\n\
         Priority: optional\nHomepage: https://github.com/qdepth/qdepth\nInstalled-Size: {}\n\
         Description: storage performance at every queue depth\n Measured, explained, published.\n",
        size(stage)? / 1024
    );
    fs::write(control.join("control"), text)?;
    let made = to.join(format!("qdepth_{version}_{debian}.deb"));
    let (from, file) = (stage.display().to_string(), made.display().to_string());
    let date = format!("SOURCE_DATE_EPOCH={}", epoch()?);
    show("env", &[&date, "dpkg-deb", "--root-owner-group", "--build", &from, &file])?;
    fs::remove_dir_all(&control)?;
    Ok(Some(made))
}

fn wheel(to: &Path, stage: &Path, version: &str, machine: &Machine) -> Result<Option<PathBuf>> {
    if !there_is("python3") {
        println!("SKIPPED: .whl: python3 is not installed");
        return Ok(None);
    }
    let (script, reader) = (to.join("wheel.py"), to.join("reader.py"));
    fs::write(&script, WHEEL)?;
    fs::write(&reader, READER)?;
    let programs = stage.join(BIN);
    let tag = format!("py3-none-{}", platform(&programs, machine)?);
    let made = to.join(format!("qdepth-{version}-{tag}.whl"));
    let words = [&script, &programs, &reader, &made].map(|path| path.display().to_string());
    let [script, programs, reader, file] = words.each_ref().map(String::as_str);
    show("python3", &[script, programs, reader, file, version, &epoch()?, &tag])?;
    Ok(Some(made))
}

/// Platform tag of a wheel (PEP 600): it names the oldest glibc that has every symbol version the
/// programs need. Static programs have the oldest tag, because they need none.
fn platform(programs: &Path, machine: &Machine) -> Result<String> {
    let name = machine.name;
    if machine.emulator.is_some() {
        return Ok(format!("manylinux_2_17_{name}"));
    }
    if !there_is("objdump") {
        println!("objdump is not installed: the wheel does not say which glibc it needs");
        return Ok(format!("linux_{name}"));
    }
    let mut symbols = String::new();
    for program in fs::read_dir(programs)? {
        let program = program?.path().display().to_string();
        symbols += &output("objdump", &["-T", &program], &[0])?;
    }
    let minor = newest_glibc(&symbols).context("the program asks for no symbol of glibc")?;
    println!("the program starts with glibc 2.{minor} and newer");
    Ok(format!("manylinux_2_{minor}_{name}"))
}

/// Minor number of the newest glibc version among these symbols.
fn newest_glibc(symbols: &str) -> Option<u32> {
    let versions = symbols.split("GLIBC_2.").skip(1);
    let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    versions.filter_map(number).max()
}

fn rpm(to: &Path, stage: &Path, version: &str, machine: &Machine) -> Result<Option<PathBuf>> {
    if !there_is("rpmbuild") {
        println!("SKIPPED: .rpm: rpmbuild is not installed (Debian: apt install rpm)");
        return Ok(None);
    }
    // rpm splits its macros at blanks.
    let project = NameWithoutBlanks::new()?;
    let spec = to.join("qdepth.spec");
    let text = format!(
        "Name: qdepth\nVersion: {version}\nRelease: 1\nSummary: Storage performance at every queue \
         depth\nLicense: Apache-2.0 OR MIT\nURL: https://github.com/qdepth/qdepth\n\
         %define _build_id_links none\n%define __os_install_post %{{nil}}\n\
         %description\nMeasured, explained, published.\n%install\ncp -a {}/usr %{{buildroot}}/\n\
         %files\n/{BIN}/*\n/{MAN}/*\n{}/{DOCS}\n",
        project.path(stage).display(),
        COMPLETIONS.map(|(path, _)| format!("/{path}\n")).concat(),
    );
    fs::write(&spec, text)?;
    let top = project.path(&to.join("rpm"));
    let define = format!("_topdir {}", top.display());
    let date = format!("SOURCE_DATE_EPOCH={}", epoch()?);
    let spec = spec.display().to_string();
    let target = ["--target", machine.name];
    show(
        "env",
        &[&[&*date, "rpmbuild", "-bb", "--define", &define], &target[..], &[&spec]].concat(),
    )?;
    let name = format!("qdepth-{version}-1.{}.rpm", machine.name);
    let made = to.join(&name);
    fs::rename(top.join("RPMS").join(machine.name).join(&name), &made)?;
    Ok(Some(made))
}

/// Installs each package in an empty root, and checks the version of the program there.
fn checked(to: &Path, made: &[PathBuf], version: &str, machine: &Machine) -> Result<()> {
    for package in made {
        let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let fresh = to.join("root");
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        fs::create_dir_all(&fresh)?;
        let (file, folder) = (package.display().to_string(), fresh.display().to_string());
        let ending = package.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("gz") => show("tar", &["-xf", &file, "-C", &folder])?,
            Some("deb") => show("dpkg-deb", &["-x", &file, &folder])?,
            Some("whl") if machine.emulator.is_some() => {
                show("python3", &["-m", "zipfile", "-e", &file, &folder])?;
                let scripts = fresh.join(format!("qdepth-{version}.data/scripts"));
                fs::rename(scripts, fresh.join("bin"))?;
                // Python's module extracts no modes.
                show("chmod", &["+x", &fresh.join("bin/qdepth").display().to_string()])?;
            }
            Some("whl") => {
                show("python3", &["-m", "venv", &folder])?;
                let pip = fresh.join("bin/pip").display().to_string();
                show(&pip, &["install", "--quiet", "--no-index", "--no-deps", &file])?;
                let python = fresh.join("bin/python").display().to_string();
                show(&python, &["-c", "import qdepth; assert qdepth.program()"])?;
            }
            Some("rpm") => {
                let unpacked = format!("cd '{folder}' && rpm2cpio '{file}' | cpio -idm --quiet");
                show("sh", &["-c", &unpacked])?;
            }
            _ => bail!("{name}: nobody knows how to install it"),
        }
        let program = fresh.join(if ending == Some("whl") { "bin" } else { BIN }).join("qdepth");
        let printed = machine.output(&program, &["--version"])?;
        if !printed.contains(version) {
            bail!("{name}: the program says {printed}");
        }
        let typesetter = program.with_file_name("qdepth-pdf");
        if to.join("stage").join(BIN).join("qdepth-pdf").exists() {
            show(&typesetter.display().to_string(), &["--version"])?;
        }
        println!("{name}: installed, and runs");
        fs::remove_dir_all(&fresh)?;
    }
    Ok(())
}

fn sums(to: &Path, made: &[PathBuf]) -> Result<()> {
    let names: Vec<String> = made
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let folder = to.display().to_string();
    let line = format!("cd '{folder}' && sha256sum {}", names.join(" "));
    let text = output("sh", &["-c", &line], &[0])?;
    fs::write(to.join("SHA256SUMS"), &text)?;
    print!("{text}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `qdepth --version` reports the optimisation level of one of them.
    #[test]
    fn measuring_crates_keep_optimisation_level_in_packages() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(!manifest.contains("[profile.dist.package"));
        for name in ["engine", "linux", "measure", "media", "workload"] {
            let table = format!("[profile.release.package.qdepth-{name}]\n");
            let (_, rest) = manifest.split_once(&table).unwrap();
            let table = rest.split('[').next().unwrap();
            assert!(table.contains("opt-level = 3\n"), "{name}: {table}");
        }
    }

    #[test]
    fn newest_glibc_version_is_compared_numerically() {
        let symbols = "0 DF *UND* 0 (GLIBC_2.2.5) read\n0 DF *UND* 0 (GLIBC_2.34) stat\n\
                       0 DF *UND* 0 (GLIBC_2.9) pipe2\n0 DF *UND* 0 (GCC_3.0) _Unwind\n";
        assert_eq!(newest_glibc(symbols), Some(34));
        assert_eq!(newest_glibc("static"), None);
    }
}
