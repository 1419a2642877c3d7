//! No option of fio is ignored silently: each changes the job, has a remark on its different
//! implementation, is refused, or is listed as having no effect.

use qdepth_foreign::fio::{CommandLine, Job, JobSet, Surroundings, fio_options};

/// Values of every kind; for each option, at least one differs from its default.
const VALUES: &[&str] = &[
    "1",
    "0",
    "2",
    "3",
    "7",
    "4k",
    "64k",
    "50",
    "20",
    "100%",
    "10%",
    "1ms",
    "30s",
    "randrw",
    "write",
    "trim",
    "io_uring",
    "libaio",
    "md5",
    "file.name",
    "a/b",
    "zipf:1.2",
    "sequence:1,0",
    "lfsr",
    "poisson",
    "strided",
    "all",
    "identical",
    "mixed",
    "working_set",
    "split",
    "0-1",
    "dsync",
    "99:99.9",
    "4k/50:8k/50",
    "8k-16k",
    "iops:2%",
    "read",
    "repeat",
    "3m",
    "4k,8k",
    "$jobnum",
    "0xff",
    "stonewall",
    "log",
    "1000",
];

/// Options that other options require.
const BESIDE: &[&str] = &[
    "",
    "rw=randrw\nruntime=10s\n",
    "rw=randwrite\nioengine=libaio\niodepth=4\n",
    "rw=randtrim\n",
    "rw=read\nzonemode=strided\nzonesize=1m\nzonerange=2m\n",
    "rw=randwrite\nthinktime=1ms\nflow=3\nexitall\nnumjobs=2\n",
    "rw=randwrite\nprioclass=2\ncmdprio_percentage=20\nioengine=io_uring\n",
    "rw=randwrite\ndedupe_percentage=50\ndedupe_mode=working_set\nverify=0\n",
    "rw=write\nverify=md5\n",
    "latency_target=1ms\nlatency_window=1s\nioengine=libaio\niodepth=8\n",
    "write_hist_log=x\nlog_hist_msec=100\nwrite_bw_log=x\n",
    "ioengine=io_uring\niodepth=4\nrw=randwrite\ncmdprio_percentage=20\n",
    "ioengine=libaio\niodepth=4\nrw=randread\nread_iolog=trace\n",
    "ioengine=libaio\nrw=randread\nread_iolog=trace:trace\nmerge_blktrace_file=x\n",
    "offset=10%\nnumjobs=2\n",
    "randrepeat=0\n",
    "random_distribution=sequence:2,1\nrw=randread\n",
    "nrfiles=4\n",
    "rw=randwrite\ndedupe_percentage=50\n",
    "ss_dur=60\n",
    "steadystate=bw_slope:5%\nss_dur=60\n",
    "rate_min=1m\n",
];

const TRACE: &str = "fio version 3 iolog\n0 /a add\n0 /a open\n0 /a read 8192 4096\n\
                     500 /a write 65537 4096\n700 /a close\n";

/// Reads two jobs, the second with the option.
fn jobs(beside: &str, option: &str) -> Result<JobSet, String> {
    let text = format!(
        "[a]\nname=a\nsize=64m\nfilename=f\nrw=read\n[b]\nsize=64m\nfilename=f\n{beside}{option}"
    );
    let around = Surroundings {
        variable: &|_| None,
        include: &|_| Err("none".to_owned()),
        trace: &|_| Ok(TRACE.as_bytes().to_vec()),
        is_directory: &|_| true,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
    };
    let files = [("jobs".to_owned(), text)];
    JobSet::read(&CommandLine::default(), &files, &around).map_err(|why| why.to_string())
}

/// Second job, without its remarks and the copy of its option text.
fn bare(set: &JobSet) -> Job {
    let mut job = set.jobs.last().expect("two jobs").clone();
    job.report.written.clear();
    job.remarks.clear();
    // Affects only the printed result.
    job.thread = false;
    job
}

/// Effects of an option, over all tested values.
#[derive(Debug, Default)]
struct Became {
    changed: bool,
    remarked: bool,
    refused: bool,
}

/// Tries an option with all values and companions, until its effects satisfy `enough`.
fn became(name: &str, enough: impl Fn(&Became) -> bool) -> Became {
    let mut all = Became::default();
    for beside in BESIDE {
        if enough(&all) {
            break;
        }
        let Ok(base) = jobs(beside, "") else { panic!("{beside} is not a job") };
        let alone = std::iter::once(name.to_owned());
        for option in alone.chain(VALUES.iter().map(|value| format!("{name}={value}"))) {
            match jobs(beside, &format!("{option}\n")) {
                Err(_) => all.refused = true,
                Ok(set) => {
                    all.changed |= bare(&set) != bare(&base);
                    let remarks = &set.jobs.last().expect("two jobs").remarks;
                    let names_it = |remark: &qdepth_foreign::fio::FioRemark| {
                        remark.to_string().contains(&format!("] {name}"))
                    };
                    all.remarked |= remarks.iter().any(names_it);
                }
            }
        }
    }
    all
}

#[test]
fn each_fio_option_behaves_as_the_table_says() {
    // Options that are tested elsewhere, because they concern a section or the whole set of jobs.
    const ELSEWHERE: &[&str] = &["name", "include"];
    let table = fio_options(None);
    let mut wrong = Vec::new();
    for line in table.lines() {
        let (name, said) = line.split_once(':').expect("a name and what is done with it");
        let (name, said) = (name.trim(), said.trim());
        if ELSEWHERE.contains(&name) {
            continue;
        }
        let (word, remarked) =
            (said.split([':', ' ', ',']).next(), said.contains("with a difference"));
        let good = |became: &Became| match word {
            Some("honoured") => became.changed || became.remarked,
            Some("accepted") if remarked => became.remarked,
            Some("accepted") => !became.changed,
            Some("only") => became.refused,
            Some("refused") => became.refused && !became.changed && !became.remarked,
            _ => false,
        };
        // An option without effect must have none with any companion.
        let never = matches!(word, Some("refused")) || (word == Some("accepted") && !remarked);
        let became = became(name, |became| !never && good(became));
        let good = good(&became);
        if !good {
            wrong.push(format!("{name}: {said}: {became:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} options:\n{}", wrong.len(), wrong.join("\n"));
}
