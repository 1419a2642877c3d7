//! Figures that do not come from the storage have grade C in every output, with the cause.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Workspace, codes, exclusive_turn, has_tools, points, sh};

const PLAN: &str = "name = \"causes\"\nqueue_depth = [2]\nwarm_up = \"50ms\"\n\
    duration = \"400ms\"\nfile_size = \"8MiB\"\n[[profile]]\nname = \"load\"\nrandom = 100\n\
    read = 100\nblock_size = \"4KiB\"\n";

#[cfg(test)]
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("plan.toml", PLAN);
    workspace
}

/// Asserts that every output shows the last run's point as C, and that outputs with causes name
/// this one.
#[cfg(test)]
fn is_c_everywhere(workspace: &Workspace, code: &str) {
    let document = workspace.run("export latest").expect(0).json();
    let point = &points(&document)[0];
    assert!(codes(point).contains(&code.to_owned()), "{point}");
    assert_eq!(point["grade"], "C", "{point}");
    let csv = workspace.run("export latest --csv").expect(0).out;
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let (heads, cells) = (lines.next().unwrap(), lines.next().unwrap());
    let grade = heads.iter().position(|head| head == "grade").unwrap();
    assert_eq!(cells[grade], "C", "{csv}");
    let shown = workspace.run("show latest").expect(0).out;
    assert!(shown.lines().any(|line| line.contains("load") && line.contains(" C")), "{shown}");
    workspace.run("report latest -o report.html --replace").expect(0);
    let page = fs::read_to_string(workspace.join("report.html")).unwrap();
    let title = match code {
        "cached-below" => "Memory answered, not storage",
        "not-direct" => "Direct I/O was not in effect",
        "foreign-io" => "Other programs used the device",
        _ => "Blocks were read that were never written",
    };
    assert!(page.contains(title), "{title} is not in the report");
}

#[test]
fn unwritten_blocks_are_grade_c_in_every_output() {
    let (_alone, workspace) = (exclusive_turn(), workspace());
    let sparse = workspace.join("sparse");
    fs::File::create(&sparse).unwrap().set_len(8 << 20).unwrap();
    workspace.run("run plan.toml sparse --read-only --no-report").expect(1);
    is_c_everywhere(&workspace, "unwritten-read");
    let fio = workspace
        .run(
            "fio --name=r --filename=sparse --rw=randread --bs=4k --direct=1 --runtime=1 --size=8m",
        )
        .expect(0);
    assert!(fio.err.contains("grade C, invalid (unwritten-read)"), "{}", fio.err);
}

#[test]
fn memory_and_cached_loop_devices_are_grade_c() {
    let test = "memory_and_cached_loop_devices_are_grade_c";
    if !has_tools(test, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), workspace());
    let place = |name: &str| -> PathBuf {
        let path = workspace.join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    let memory = place("memory");
    sh(&format!("mount -t tmpfs -o size=64m tmpfs {}", memory.display())).unwrap();
    workspace.later(format!("umount {}", memory.display()));
    workspace.run("run plan.toml memory --no-report").expect(1);
    is_c_everywhere(&workspace, "cached-below");

    let image = workspace.join("image");
    sh(&format!("dd if=/dev/urandom of={} bs=1M count=64 status=none", image.display())).unwrap();
    let node = sh(&format!("losetup -f --show {}", image.display())).unwrap();
    workspace.later(format!("losetup -d {node}"));
    workspace.run(&format!("run plan.toml {node} --read-only --no-report")).expect(1);
    is_c_everywhere(&workspace, "cached-below");
    sh(&format!("mkfs.ext4 -q {node}")).unwrap();
    workspace.mounted(Path::new(&node), "", "mounted");
    workspace.run("run plan.toml mounted --no-report").expect(1);
    is_c_everywhere(&workspace, "cached-below");
}

#[test]
fn buffered_btrfs_writes_and_foreign_io_are_invalid() {
    let test = "buffered_btrfs_writes_and_foreign_io_are_invalid";
    if !has_tools(test, &["losetup", "mkfs.btrfs"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), workspace());
    let node = workspace.device("image", 256 << 20);
    sh(&format!("mkfs.btrfs -q {}", node.display())).unwrap();
    let at = workspace.mounted(&node, "", "at");
    workspace.write("writes.toml", &PLAN.replace("read = 100", "read = 0"));
    let dirtied = || {
        let text = fs::read_to_string("/proc/vmstat").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("nr_dirtied "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let probe = format!("dd if=/dev/zero of={}/probe bs=1M count=16 oflag=direct", at.display());
    let pages = (0..5).map(|_| {
        let before = dirtied();
        sh(&probe).unwrap();
        dirtied() - before
    });
    // Older kernels use direct I/O for such files. Other programs of the machine also make pages
    // dirty, but not each time.
    if pages.min() >= Some(4096) {
        workspace.run("run writes.toml at --no-report").expect(1);
        is_c_everywhere(&workspace, "not-direct");
    }

    // A file without checksums uses direct I/O, while another process reads the device.
    sh(&format!("mkdir {0}/plain && chattr +C {0}/plain", at.display())).unwrap();
    workspace.run("run writes.toml at/plain --no-report");
    let document = workspace.run("export latest").expect(0).json();
    let found = codes(&points(&document)[0]);
    assert!(!found.contains(&"not-direct".to_owned()), "{found:?}");
    assert!(!found.contains(&"foreign-io".to_owned()), "{found:?}");
    let noise = format!(
        "while :; do dd if={} of=/dev/null bs=1M iflag=direct status=none; done",
        node.display()
    );
    let mut neighbour = std::process::Command::new("sh").args(["-c", &noise]).spawn().unwrap();
    workspace.run("run writes.toml at/plain --no-report");
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
    is_c_everywhere(&workspace, "foreign-io");
}

#[test]
fn holes_below_loop_device_are_grade_c() {
    let test = "holes_below_loop_device_are_grade_c";
    if !has_tools(test, &["losetup"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), workspace());
    let node = workspace.device("image", 64 << 20);
    workspace.run(&format!("run plan.toml {} --read-only --no-report", node.display())).expect(1);
    is_c_everywhere(&workspace, "unwritten-read");
}

#[test]
fn reflinks_and_compressed_data_are_grade_c() {
    let test = "reflinks_and_compressed_data_are_grade_c";
    if !has_tools(test, &["losetup", "mkfs.btrfs", "xfs_io"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), workspace());
    let node = workspace.device("image", 256 << 20);
    sh(&format!("mkfs.btrfs -q {}", node.display())).unwrap();
    let at = workspace.mounted(&node, "-o compress-force=zstd", "at");
    // Text is stored compressed, and all copies of an extent are read from one location.
    sh(&format!("cd {} && seq 2000000 | head -c 8M >text && sync text", at.display())).unwrap();
    workspace.run("run plan.toml at/text --read-only --no-report").expect(1);
    is_c_everywhere(&workspace, "cached-below");
    let copies = "touch copies && chattr +m copies && dd if=/dev/urandom of=copies bs=64k count=1 \
                  status=none && for i in $(seq 127); do xfs_io -c \"reflink copies 0 $((i*65536)) \
                  65536\" copies >/dev/null || exit 1; done; sync copies";
    sh(&format!("cd {} && {copies}", at.display())).unwrap();
    workspace.run("run plan.toml at/copies --read-only --no-report").expect(1);
    is_c_everywhere(&workspace, "cached-below");
    // Behind a loop device, and behind a file system on one.
    let inner = workspace.attach(&at.join("text"));
    workspace.run(&format!("run plan.toml {} --read-only --no-report", inner.display())).expect(1);
    is_c_everywhere(&workspace, "cached-below");
    let (packed, image) = (at.join("packed"), workspace.join("filled"));
    sh(&format!(
        "cd {2} && mkdir source && seq 2000000 | head -c 8M >source/text && \
         truncate -s 64M {0} && mkfs.ext4 -q -d source {0} && \
         cp --reflink=never {0} {1} && sync {1}",
        image.display(),
        packed.display(),
        workspace.join("").display()
    ))
    .unwrap();
    workspace.mounted(&workspace.attach(&packed), "", "inner");
    workspace.run("run plan.toml inner/text --read-only --no-report").expect(1);
    is_c_everywhere(&workspace, "cached-below");
}

#[test]
fn buffered_data_journal_is_grade_c() {
    let test = "buffered_data_journal_is_grade_c";
    if !has_tools(test, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let (_alone, workspace) = (exclusive_turn(), workspace());
    let node = workspace.device("image", 64 << 20);
    sh(&format!("mkfs.ext4 -q {}", node.display())).unwrap();
    workspace.mounted(&node, "-o data=journal", "at");
    workspace.run("run plan.toml at --no-report").expect(1);
    is_c_everywhere(&workspace, "not-direct");
}
