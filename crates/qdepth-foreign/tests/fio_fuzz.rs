//! No text makes the reader of job files panic, hang or use unlimited memory. Inputs that once did
//! are stored in `fio_corpus` and replayed.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use qdepth_foreign::fio::{CommandLine, JobSet, MissingFile, Surroundings};
use qdepth_workload::PlanFile;

fn try_it(text: &str) {
    let around = Surroundings {
        variable: &|name| Some(name.repeat(3)),
        include: &|name| {
            if name.len() < 4 { Ok(format!("[{name}]\nbs=4k\n")) } else { Err("no".to_owned()) }
        },
        trace: &|_| Err("no trace".to_owned()),
        is_directory: &|_| true,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    };
    let files = [("jobs.fio".to_owned(), text.to_owned())];
    let Ok(set) = JobSet::read(&CommandLine::default(), &files, &around) else { return };
    if let Ok(converted) = set.convert("jobs", 1, &|_| Some(1 << 40), MissingFile::Refused) {
        // The printed plan can be read as a plan.
        let text = converted.plan.to_toml().expect("TOML has its numbers");
        let read: Result<PlanFile, _> = text.parse();
        assert_eq!(read.as_ref(), Ok(&converted.plan), "{text}");
    }
}

#[test]
fn fuzz_corpus_parses_without_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio_corpus");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the corpus") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("a file");
        try_it(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count >= 8, "{count} files");
}

fn line() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "bs",
        "size",
        "rw",
        "iodepth",
        "numjobs",
        "rate",
        "rate_iops",
        "runtime",
        "bssplit",
        "bsrange",
        "filename",
        "offset",
        "io_size",
        "percentile_list",
        "random_distribution",
        "rwmixread",
        "stonewall",
        "time_based",
        "name",
        "loops",
        "number_ios",
        "ba",
        "fsync",
        "ioengine",
        "kb_base",
        "directory",
        "offset_increment",
        "description",
    ]);
    let value = prop_oneof![
        "[0-9]{1,20}[kmgtpKMib%s]{0,3}",
        "[-+*/%^()0-9k$. ]{0,24}",
        "[a-z0-9:/,.%-]{0,24}",
        "\\PC{0,24}",
        Just("randrw".to_owned()),
        Just("libaio".to_owned()),
        Just("zipf:1.2".to_owned()),
        Just("${HOME}$ncpus".to_owned()),
    ];
    prop_oneof![
        4 => (name, value).prop_map(|(name, value)| format!("{name}={value}")),
        1 => "\\[[a-z\\]]{0,8}\\]".prop_map(|header| header),
        1 => "\\PC{0,40}",
        1 => "include [a-z]{1,5}",
    ]
}

proptest! {
    #[test]
    fn job_file_lines_parse_without_panic(lines in prop::collection::vec(line(), 0..40)) {
        try_it(&format!("[job]\n{}", lines.join("\n")));
    }

    #[test]
    fn single_options_parse_without_panic(line in line()) {
        try_it(&format!("[job]\nsize=1g\nruntime=1\n{line}\n"));
    }

    #[test]
    fn any_job_text_parses_without_panic(text in "\\PC{0,400}") {
        try_it(&text);
    }

    #[test]
    fn any_command_line_words_parse_without_panic(
        words in prop::collection::vec("(--)?[a-z_-]{0,12}(=\\PC{0,12})?", 0..12),
    ) {
        let _ = CommandLine::read(&words);
    }
}
