//! Errors of a plan, in the terms of fio's options.

use anyhow::Error;
use qdepth_foreign::fio::{FioRefusal, Job, JobSet};
use qdepth_lab::failure::Usage;
use qdepth_workload::ResolveError;

/// Terms of plans and qdepth's options, and fio's options for them.
const TERMS: [(&str, &str); 12] = [
    ("block size ", "bs="),
    ("block_size", "bs"),
    ("write_size", "bs"),
    ("queue depth ", "iodepth="),
    ("an area of ", "size="),
    ("a duration of ", "runtime="),
    ("a warm-up of ", "ramp_time="),
    ("delay ", "startdelay="),
    ("write_alignment ", "blockalign="),
    ("alignment ", "blockalign="),
    ("a rate of ", "rate_iops="),
    ("distribution each-once", "without norandommap, the job"),
];

/// The same error for somebody who knows the jobs and not the plan that was made of them.
pub(super) fn in_fio_terms(error: Error, set: &JobSet) -> Error {
    match error.downcast_ref::<ResolveError>() {
        Some(ResolveError::Value { profile, what }) => match job_of(profile, set) {
            Some(job) => Usage(refusal(job, translated(what)).to_string()).into(),
            None => error,
        },
        Some(ResolveError::Direct(first, other)) => {
            match job_of(first, set).zip(job_of(other, set)) {
                Some((first, other)) => {
                    let why = format!(
                        "direct: refused: [{}] has another value and runs on the same file at the \
                         same time. Use the same value, or stonewall",
                        first.name
                    );
                    Usage(refusal(other, why).to_string()).into()
                }
                None => error,
            }
        }
        _ => error,
    }
}

fn refusal(job: &Job, why: String) -> FioRefusal {
    let (file, line, section) = (job.file.clone(), job.line, job.name.clone());
    FioRefusal { file, line, section, why, option: String::new() }
}

/// Job of a profile, whose name begins with the number of the job.
fn job_of<'s>(profile: &str, set: &'s JobSet) -> Option<&'s Job> {
    let number: usize = profile.split('-').next()?.parse().ok()?;
    set.jobs.get(number.checked_sub(1)?)
}

/// Text with fio's options, without advice about those of qdepth.
fn translated(what: &str) -> String {
    let what = what.split(". Try --").next().unwrap_or(what);
    let translate = |text: String, (term, option): &(&str, &str)| text.replace(term, option);
    TERMS.iter().fold(what.to_owned(), translate)
}

#[cfg(test)]
mod tests {
    use qdepth_foreign::fio::{CommandLine, Surroundings};

    use super::*;

    fn set() -> JobSet {
        let text = "[fast]\nrw=read\nsize=1m\n[slow]\nrw=read\nsize=1m\n".to_owned();
        let around = Surroundings {
            variable: &|_| None,
            include: &|_| Err(String::new()),
            trace: &|_| Err(String::new()),
            is_directory: &|_| true,
            page_bytes: 4096,
            memory_mib: 1024,
            cpus: 2,
        };
        JobSet::read(&CommandLine::default(), &[("jobs.fio".to_owned(), text)], &around).unwrap()
    }

    #[test]
    fn plan_errors_name_jobs_and_fio_options() {
        let message = |error: ResolveError| in_fio_terms(error.into(), &set()).to_string();
        let value = |profile: &str, what: &str| ResolveError::Value {
            profile: profile.to_owned(),
            what: what.to_owned(),
        };
        assert_eq!(
            message(value("2-1-slow", "an area of 32KiB is too small. Try --area full")),
            "jobs.fio:4: [slow] size=32KiB is too small"
        );
        let deep = message(value("1-3-fast", "queue depth 20000: must be between 1 and 16384"));
        assert_eq!(deep, "jobs.fio:1: [fast] iodepth=20000: must be between 1 and 16384");
        let direct = message(ResolveError::Direct("1-1-fast".to_owned(), "2-1-slow".to_owned()));
        assert!(direct.starts_with("jobs.fio:4: [slow] direct: refused: [fast] has"), "{direct}");
        assert!(message(value("other", "a bug")).contains("profile `other`"));
    }
}
