//! Every option of fio's core, and what is done with it here. An option is honoured, has no effect
//! on figures (a remark), or is refused; none is passed over in silence.

/// What is done with an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Read, and done.
    Honoured,
    /// Cannot change a figure here; why.
    Remark(&'static str),
    /// Says what is so anyway.
    Silent,
    /// Accepted only with one of these values, which ask for what is so anyway; else why not.
    Only(&'static [&'static str], &'static str),
    /// Cannot be done; why.
    Refused(&'static str),
}

use Rule::{Honoured, Only, Refused, Remark, Silent};

const OFF: &[&str] = &["0"];
const ON: &[&str] = &["1", ""];
const FULL: &str = "a measurement file is always written in full before it is measured";
const AT_ONCE: &str = "qdepth hands the kernel what is due in one call";
const LIST: &str = "this is not measured by qdepth";
const PRIVATE: &str = "qdepth keeps its own logs and states";

/// Other names of options.
const ALIASES: &[(&str, &str)] = &[
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blockalign", "ba"),
    ("readwrite", "rw"),
    ("bs_is_seq_rand", "bs_is_seq_rand"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("io_limit", "io_size"),
    ("nr_files", "nrfiles"),
    ("start_delay", "startdelay"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
    ("iomem", "mem"),
    ("disable_latency", "disable_lat"),
    ("hugepage_size", "hugepage-size"),
    ("write_barriers", "write_barrier"),
    ("threads", "thread"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("disable_bw", "disable_bw_measurement"),
    ("fill_fs", "fill_device"),
    ("fileoffset", "offset"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
];

/// Sorted by theme; a name occurs once.
const OPTIONS: &[(&str, Rule)] = &[
    // What the job is.
    ("name", Honoured),
    ("description", Honoured),
    ("filename", Honoured),
    ("directory", Honoured),
    ("rw", Honoured),
    ("bs", Honoured),
    ("bsrange", Honoured),
    ("bssplit", Honoured),
    ("ba", Honoured),
    ("percentage_random", Honoured),
    ("rwmixread", Honoured),
    ("rwmixwrite", Honoured),
    ("iodepth", Honoured),
    ("ioengine", Honoured),
    ("direct", Honoured),
    ("buffered", Honoured),
    ("numjobs", Honoured),
    ("size", Honoured),
    ("io_size", Honoured),
    ("offset", Honoured),
    ("offset_increment", Honoured),
    ("number_ios", Honoured),
    ("loops", Honoured),
    ("runtime", Honoured),
    ("time_based", Honoured),
    ("ramp_time", Honoured),
    ("rate", Honoured),
    ("thinktime", Honoured),
    ("thinktime_blocks", Honoured),
    ("thinktime_spin", Remark("a pause is waited for, and costs no CPU time")),
    ("startdelay", Honoured),
    ("wait_for", Honoured),
    ("filesize", Honoured),
    ("rate_iops", Honoured),
    ("cpumask", Honoured),
    ("cpus_allowed", Honoured),
    ("cpus_allowed_policy", Honoured),
    ("rate_process", Honoured),
    ("norandommap", Honoured),
    ("randrepeat", Honoured),
    ("allrandrepeat", Honoured),
    ("randseed", Honoured),
    ("random_distribution", Honoured),
    ("fsync", Honoured),
    ("fdatasync", Honoured),
    ("end_fsync", Honoured),
    ("fsync_on_close", Honoured),
    ("stonewall", Honoured),
    ("new_group", Honoured),
    ("group_reporting", Honoured),
    ("zero_buffers", Honoured),
    ("buffer_compress_percentage", Honoured),
    ("percentile_list", Honoured),
    ("clat_percentiles", Honoured),
    ("lat_percentiles", Honoured),
    ("slat_percentiles", Honoured),
    ("write_bw_log", Honoured),
    ("write_lat_log", Honoured),
    ("write_iops_log", Honoured),
    ("log_avg_msec", Honoured),
    ("per_job_logs", Honoured),
    ("unified_rw_reporting", Only(&["none", "0"], "reads and writes are reported apart")),
    ("kb_base", Honoured),
    // So anyway, or without effect on a figure.
    ("thread", Silent),
    (
        "refill_buffers",
        Remark("payload is random and incompressible, drawn once for each request in flight"),
    ),
    ("scramble_buffers", Silent),
    ("random_generator", Remark("draws come from xoshiro256++, with a seed")),
    ("unit_base", Silent),
    ("invalidate", Silent),
    ("disk_util", Silent),
    ("stats", Only(ON, "every job is reported")),
    ("clocksource", Remark("the clock is qdepth's own, checked against the kernel's")),
    ("gtod_reduce", Remark("every latency is recorded all the same")),
    ("gtod_cpu", Remark("every latency is recorded all the same")),
    ("disable_lat", Remark("every latency is recorded all the same")),
    ("disable_clat", Remark("every latency is recorded all the same")),
    ("disable_slat", Silent),
    ("disable_bw_measurement", Remark("the series is recorded all the same")),
    ("bwavgtime", Remark("the series has intervals of 100 ms")),
    ("iopsavgtime", Remark("the series has intervals of 100 ms")),
    ("significant_figures", Silent),
    ("log_max_value", Only(OFF, "a row of a log is the mean of its window")),
    ("log_entries", Silent),
    ("log_offset", Remark("rows are means of windows, which have no offset")),
    ("log_prio", Only(OFF, "requests have no priorities")),
    ("log_compression", Silent),
    ("log_compression_cpus", Silent),
    ("log_store_compressed", Only(OFF, "logs are text")),
    ("log_unix_epoch", Only(OFF, "times of a log count from the job's start")),
    ("log_alternate_epoch", Only(OFF, "times of a log count from the job's start")),
    ("log_alternate_epoch_clock_id", Silent),
    ("fallocate", Remark(FULL)),
    ("overwrite", Remark(FULL)),
    ("create_serialize", Remark(FULL)),
    ("create_fsync", Remark(FULL)),
    ("create_on_open", Only(OFF, FULL)),
    ("create_only", Only(OFF, "a job that only makes files measures nothing")),
    ("allow_file_create", Silent),
    ("allow_mounted_write", Remark("qdepth's guards decide what may be written")),
    ("unlink", Remark("files that qdepth made are removed, unless --keep")),
    ("unlink_each_loop", Only(OFF, "the file stays from loop to loop")),
    ("mem", Remark("buffers are aligned memory of qdepth's own")),
    ("iomem_align", Silent),
    ("mem_align", Silent),
    ("hugepage-size", Silent),
    ("lockmem", Only(OFF, "memory is not locked")),
    ("fadvise_hint", Only(ON, "no advice is given to the kernel")),
    ("serialize_overlap", Only(OFF, "requests in flight are not ordered")),
    ("iodepth_batch", Remark(AT_ONCE)),
    ("iodepth_batch_complete_max", Remark("every completion that is there is taken")),
    (
        "iodepth_batch_complete_min",
        Only(&["0", "1"], "a completion is taken as soon as it is there"),
    ),
    (
        "io_submit_mode",
        Remark("the schedule is kept by the worker itself: latencies count from the intended time"),
    ),
    ("registerfiles", Remark("files are registered where the kernel can")),
    ("fixedbufs", Remark("buffers are registered where the kernel can")),
    ("nonvectored", Silent),
    ("force_async", Only(OFF, "the kernel decides")),
    ("sqthread_poll", Only(OFF, "no kernel thread polls the queue")),
    ("hipri", Only(OFF, "completions are not polled")),
    ("userspace_reap", Silent),
    ("openfiles", Silent),
    ("error_dump", Silent),
    ("continue_on_error", Remark("a failed request never ends a job; it is a finding")),
    ("ignore_error", Remark("a failed request never ends a job; it is a finding")),
    ("do_verify", Honoured),
    ("verify", Honoured),
    (
        "verify_fatal",
        Remark("a read that differs never ends a job; it is an error of its own kind"),
    ),
    ("verify_dump", Only(OFF, "blocks that differ are not written out")),
    ("rate_cycle", Silent),
    ("rate_ignore_thinktime", Silent),
    ("block_error_percentiles", Silent),
    ("log_hist_msec", Only(OFF, PRIVATE)),
    ("log_hist_coarseness", Silent),
    ("nice", Only(OFF, "the priority of the worker is not changed")),
    ("prio", Only(OFF, "requests have no priorities")),
    ("thinktime_blocks_type", Silent),
    ("thinktime_iotime", Only(OFF, "a pause follows a number of requests, not a time")),
    ("file_append", Only(OFF, "requests stay within the file")),
    ("nrfiles", Only(&["1"], "a job works on one file, or on those of `filename`")),
    ("pre_read", Only(OFF, "nothing is read beforehand")),
    ("sync", Only(&["0", "none"], "writes are not synchronous; fsync=N forces them out")),
    ("atomic", Only(OFF, "writes are ordinary ones")),
    ("max_latency", Only(OFF, "a slow request is recorded, and ends nothing")),
    ("rate_min", Only(OFF, "a rate that is not reached is a finding, and ends nothing")),
    ("rate_iops_min", Only(OFF, "a rate that is not reached is a finding, and ends nothing")),
    ("exitall", Refused("every job of a group runs to its own end")),
    ("exitall_on_error", Remark("a failed request never ends a job; it is a finding")),
    ("bs_unaligned", Only(OFF, "direct I/O needs aligned requests")),
    ("fill_device", Only(OFF, "give the size: size=100%")),
    ("opendir", Refused(LIST)),
    ("lockfile", Only(&["none"], "requests are not ordered by a lock")),
    ("uid", Refused("qdepth does not change its user")),
    ("gid", Refused("qdepth does not change its group")),
];

/// Options that fio has, and that nothing here stands for.
const OTHERS: &[&str] = &[
    "filename_format",
    "unique_filename",
    "rw_sequencer",
    "iodepth_low",
    "offset_align",
    "file_service_type",
    "write_barrier",
    "sync_file_range",
    "verify_only",
    "verify_interval",
    "verify_offset",
    "verify_pattern",
    "verify_async",
    "verify_backlog",
    "verify_backlog_batch",
    "experimental_verify",
    "verify_state_load",
    "verify_state_save",
    "trim_percentage",
    "trim_verify_zero",
    "trim_backlog",
    "trim_backlog_batch",
    "write_iolog",
    "read_iolog",
    "read_iolog_chunked",
    "replay_no_stall",
    "replay_redirect",
    "replay_scale",
    "replay_align",
    "replay_time_scale",
    "replay_skip",
    "merge_blktrace_file",
    "merge_blktrace_scalars",
    "merge_blktrace_iters",
    "exec_prerun",
    "exec_postrun",
    "ioscheduler",
    "zonemode",
    "zonesize",
    "zonecapacity",
    "zonerange",
    "zoneskip",
    "read_beyond_wp",
    "max_open_zones",
    "job_max_open_zones",
    "ignore_zone_limits",
    "zone_reset_threshold",
    "zone_reset_frequency",
    "prioclass",
    "latency_target",
    "latency_window",
    "latency_percentile",
    "latency_run",
    "write_hint",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "exit_what",
    "write_hist_log",
    "buffer_pattern",
    "buffer_compress_chunk",
    "dedupe_percentage",
    "dedupe_mode",
    "dedupe_working_set_percentage",
    "dedupe_global",
    "profile",
    "cgroup",
    "cgroup_nodelete",
    "cgroup_weight",
    "flow_id",
    "flow",
    "flow_sleep",
    "flow_watermark",
    "steadystate",
    "steadystate_duration",
    "steadystate_ramp_time",
    "softrandommap",
    "bs_is_seq_rand",
    "verify_async_cpus",
    "verifysort",
    "verifysort_nr",
    "cpuload",
    "cpuchunks",
    "cpumode",
    "exit_on_io_done",
    "hostname",
    "port",
    "protocol",
    "listen",
    "pingpong",
    "window_size",
    "mss",
    "rbdname",
    "clientname",
    "pool",
    "namenode",
    "cmdprio_percentage",
    "cmdprio",
    "cmdprio_class",
    "cmdprio_bssplit",
    "uncached",
    "sqthread_poll_cpu",
    "md_per_io_size",
    "cmd_type",
    "hipri_percentage",
    "nowait",
    "donorname",
    "inplace",
    "log_window_value",
    "fdp",
    "job_start_clock_id",
    "norandommap_reset",
    "sprandom",
    "thinkcycles",
    "recover_zbd_write_error",
    "include",
];

/// The option's first name, where fio has it.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, first)| first);
    let known = OPTIONS.iter().map(|(known, _)| *known).chain(OTHERS.iter().copied());
    known.into_iter().find(|known| *known == name)
}

/// What is done with an option, by its first name.
pub(super) fn rule(name: &str) -> Rule {
    let found = OPTIONS.iter().find(|(known, _)| *known == name);
    found.map_or(Refused("fio has this option; qdepth has nothing that does it"), |(_, rule)| *rule)
}

/// The known name that is nearest to a misspelt one, where one is near.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    if name.len() > 40 {
        return None;
    }
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let known =
        OPTIONS.iter().map(|(known, _)| *known).chain(aliases).chain(OTHERS.iter().copied());
    let near = known.map(|known| (distance(name, known), known)).min()?;
    (near.0 <= 1 + name.len() / 4).then_some(near.1)
}

/// Levenshtein's distance, in bytes.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_stands_twice_and_aliases_lead_somewhere() {
        let mut names: Vec<&str> =
            OPTIONS.iter().map(|(name, _)| *name).chain(OTHERS.iter().copied()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for (alias, first) in ALIASES {
            assert_eq!(canonical(alias), Some(*first));
        }
    }

    #[test]
    fn a_misspelt_option_has_a_nearest_one() {
        assert_eq!(nearest("iodept"), Some("iodepth"));
        assert_eq!(nearest("block_size"), Some("blocksize"));
        assert_eq!(nearest("qqqqqqqqqq"), None);
    }
}
