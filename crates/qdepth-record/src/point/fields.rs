//! Fields of a point, one row each. A new field is a row here; the compiler then names all code
//! that creates records.

// The rows, for a macro of `crate::fields`: the record, its columns, its entry and its row of
// tables are made in files of their own, each of which the next may use.
macro_rules! rows {
    ($make:ident $($head:tt)*) => { $make! { $($head)*
    run "Id of the run, UUID version 7."
        cell |shown| Some(text(&shown.run.id)),;
    emulated "True if time was virtual: nothing was measured on storage."
        cell |shown| Some(Value::Flag(Some(shown.run.emulated))),;
    index "Index in the plan, from 0."
        kept u32 = "place": keep_first,
        shown u32 = |shown| shown.point.index,;
    target "Target, `target.place`."
        kept u32 = "target": keep_first,;
    target "Name of the target."
        shown String = |shown| target_name(shown.run, shown.point),;
    target_kind "`kind` of the target."
        cell |shown| Some(text(target_of(shown).map_or("", |target| target.kind.as_str()))),;
    area_bytes "Measurement area."
        cell |shown| Some(Value::Whole(target_of(shown).map(|target| target.area_bytes))),;
    engine "Engine."
        cell |shown| Some(text(target_of(shown).map_or("", |target| &target.engine))),;
    emulated "True if time was virtual: nothing was measured on storage."
        shown bool = |shown| shown.run.emulated,
        cell |_| None,;
    profile "Name of the load profile."
        kept String = "profile": keep_first,
        shown String = |shown| shown.point.profile.clone(),;
    profile_title "Title of the load profile."
        kept String = "profile_title": keep_first,
        shown String = |shown| shown.point.profile_title.clone(),;
    random_share "Share of random accesses, 0..1."
        kept f64 = "random_share": keep_first,
        shown f64 = |shown| finite(shown.point.random_share),;
    read_share "Share of reads, 0..1."
        kept f64 = "read_share": keep_first,
        shown f64 = |shown| finite(shown.point.read_share),;
    trim_share "Share of trims, 0..1."
        kept f64 = "trim_share": keep_first,
        shown f64 = |shown| finite(shown.point.trim_share),
        older default,;
    block_size "Block size or weighted mix, as in the plan."
        kept String = "block_size": keep_first,
        shown String = |shown| shown.point.block_size.clone(),;
    block_size_mean_bytes "Mean block size in bytes."
        kept f64 = "block_size_mean_bytes": keep_first,;
    block_size_bytes "Block size in bytes; the mean of a mix."
        shown Option<f64> =
            |shown| Some(shown.point.block_size_mean_bytes).filter(|size| size.is_finite()),;
    arrivals "Arrivals of I/Os: `closed`, `fixed 1000/s`, `poisson 1000/s`, `paced 1000/s`."
        kept String = "arrivals": keep_first,
        shown String = |shown| shown.point.arrivals.clone(),;
    reported_as_throughput "1 if throughput is the main figure (sequential profiles), 0 if it is \
                            IOPS."
        kept bool = "reported_as_throughput": keep_first,;
    reported_as "Main figure: `rate` (IOPS) or `throughput`; empty in documents of versions \
                 without this field."
        shown String = |shown| reported_as(shown.point).to_owned(),
        older default,;
    queue_depth "Queue depth of each stream."
        kept u32 = "queue_depth": keep_first,
        shown u32 = |shown| shown.point.queue_depth,;
    offered_io_per_s "Offered load of an open loop over all streams, I/Os per second; null in a \
                      closed loop."
        kept Option<f64> = "offered_io_per_s": both,
        shown Option<f64> = |shown| shown.point.offered_io_per_s,;
    streams "Number of streams, each on its own area."
        kept u32 = "streams": keep_first,
        shown u32 = |shown| shown.point.streams,;
    workers "Number of threads that drive the streams."
        kept u32 = "workers": sum_32,
        shown u32 = |shown| shown.point.workers,;
    group "Group; points with the same number ran at the same time."
        kept u32 = "load_group": keep_first,
        shown u32 = |shown| shown.point.group,;
    variant "Index of the variant in the run's comparison, shared by its group; null without a \
             comparison."
        kept Option<u32> = "variant": keep_first,
        shown Option<u32> = |shown| shown.point.variant,;
    step "Name of the step, as hashed; empty if the plan has no steps."
        kept String = "step": keep_first,;
    step "Name of the step; empty if the plan has no steps."
        shown String = |shown| shown_step(&shown.point.step),;
    direct "True if direct I/O was used."
        kept bool = "direct": minimum,
        shown bool = |shown| shown.point.direct,;
    started_at "Start, RFC 3339, UTC."
        kept String = "started_at": keep_first,
        shown String = |shown| shown.point.started_at.clone(),
        cell |shown| Some(time(&shown.point.started_at)),;
    delay_ns "Delay after the start of its group (`delay` of its load), ns; null without a delay, \
              and in versions without this field."
        kept Option<u64> = "delay_ns": keep_first,
        shown Option<u64> = |shown| shown.point.delay_ns,
        older default,;
    warm_up_ns "Warm-up, ns."
        kept u64 = "warm_up_ns": keep_first,
        shown u64 = |shown| shown.point.warm_up_ns,;
    duration_ns "Length of the measured window, ns."
        kept u64 = "duration_ns": maximum,
        shown u64 = |shown| shown.point.duration_ns,;
    ended_by "Reason for the end of the window: `duration`, `precision`, `steady`, `bytes`, \
              `rate`, `interrupted` or `failure`."
        kept EndedBy = "ended_by": ended_by,
        shown String = |shown| shown.point.ended_by.as_str().to_owned(),;
    tolerance "Relative half-width of the 95 % confidence interval of the IOPS at which the point \
               was to end; null if the point had a fixed duration."
        kept Option<f64> = "tolerance": keep_first,
        shown Option<f64> = |shown| shown.point.tolerance.map(finite),;
    interim_checks "Number of times that the rate was compared with the tolerance."
        kept u32 = "interim_checks": maximum,
        shown u32 = |shown| shown.point.interim_checks,;
    io_per_s "IOPS: completed reads, writes and trims per second."
        shown f64 = |shown| shown.summary.io_per_s.value,;
    confidence_interval "95 % confidence interval of `io_per_s`, low and high; null if it cannot \
        be determined."
        shown Option<[f64; 2]> =
            |shown| shown.summary.io_per_s.interval.map(|(low, high)| [low, high]),;
    io_per_s_low "Low end of the 95 % confidence interval of `io_per_s`; null if it cannot be \
                  determined."
        cell |shown| Some(maybe_real(shown.summary.io_per_s.interval.map(|(low, _)| low))),;
    io_per_s_high "High end of the 95 % confidence interval."
        cell |shown| Some(maybe_real(shown.summary.io_per_s.interval.map(|(_, high)| high))),;
    mib_per_s "Throughput, MiB/s (2^20 bytes)."
        shown f64 = |shown| shown.summary.mib_per_s,;
    reads "Reads."
        part DirectionRecord: direction,;
    writes "Writes."
        part DirectionRecord: direction,;
    trims "Trims."
        part DirectionRecord: direction,;
    syncs "Flushes (fsync, fdatasync)."
        part DirectionRecord: direction,;
    durability "Durability that a write waits for: `sync`, `dsync`, or its own sync, `fsync` or \
                `fdatasync`, whose end is the end of the write; null if the write is complete \
                when accepted."
        kept Option<String> = "durability": keep_first,
        shown Option<String> = |shown| shown.point.durability.clone(),
        older default,;
    write_part "Latencies of the writes without their syncs, where syncs belong to them."
        kept Option<EncodedHistogram> = "write_part": histogram,;
    write_part_ns "Latency of the writes without their syncs, ns; null if no sync belongs to a \
                   write."
        shown Option<Latency> = |shown| shown.summary.write_part.as_ref().map(latency),
        older default,;
    sync_part "Latencies of the syncs that belong to writes."
        kept Option<EncodedHistogram> = "sync_part": histogram,;
    sync_part_ns "Latency of the syncs that belong to writes, ns; null if none does. A write may \
                  also have waited for the sync of others."
        shown Option<Latency> = |shown| shown.summary.sync_part.as_ref().map(latency),
        older default,;
    reads "Completed reads."
        shown u64 = |shown| shown.point.reads.completed,;
    writes "Completed writes."
        shown u64 = |shown| shown.point.writes.completed,;
    trims "Completed trims."
        shown u64 = |shown| shown.point.trims.completed,
        older default,;
    syncs "Completed flushes."
        shown u64 = |shown| shown.point.syncs.completed,;
    read_bytes "Bytes of the reads."
        shown u64 = |shown| shown.point.reads.bytes,;
    written_bytes "Bytes of the writes."
        shown u64 = |shown| shown.point.writes.bytes,;
    trimmed_bytes "Bytes of the trims."
        shown u64 = |shown| shown.point.trims.bytes,
        older default,;
    latency_ns "Latency from submission to completion, ns."
        shown LatencyByDirection = |shown| by_direction(&shown.summary.latency),;
    response_time_ns "Latency from the scheduled time to completion, ns; in a closed loop equal \
                      to the latency from submission."
        shown LatencyByDirection = |shown| by_direction(&shown.summary.response_time),;
    cpu_ns_per_io "CPU time of the workers per I/O, ns; null without I/Os."
        shown Option<CpuPerIo> = |shown| CpuPerIo::from_summary(&shown.summary),;
    errors "I/Os that failed within the window; excluded from rates and latencies."
        shown Vec<ErrorEntry> = |shown| errors(shown.point),;
    failed "I/Os that failed within the window."
        cell |shown| Some(whole(shown.summary.failed)),;
    short "Short transfers that were completed by further I/Os."
        shown u64 = |shown| {
            let all = shown.point.directions();
            all.map(|(_, each)| each.short).into_iter().fold(0, u64::saturating_add)
        },;
    issued "I/Os issued, from the first of the warm-up to the last."
        kept u64 = "issued": sum,;
    completed_outside "Completions outside the window (warm-up and drain)."
        kept u64 = "completed_outside": sum,;
    failed_outside "Failures outside the window."
        kept u64 = "failed_outside": sum,;
    abandoned "I/Os that never completed."
        kept u64 = "abandoned": sum,
        shown u64 = |shown| shown.point.abandoned,;
    in_flight_integral_ns "Time-integral of the I/Os in flight over the window, I/O·ns."
        kept f64 = "in_flight_integral_ns": sum_real,;
    latency_in_window_ns "Sum of the parts of all latencies within the window, ns; equals the \
                          integral."
        kept f64 = "latency_in_window_ns": sum_real,;
    mean_in_flight "Mean number of I/Os in flight; null for a window of length 0."
        shown Option<f64> = |shown| shown.summary.mean_in_flight,;
    longest_gap_ns "Longest time without a completion, ns."
        kept u64 = "longest_gap_ns": minimum,
        shown u64 = |shown| shown.point.longest_gap_ns,;
    gaps "Number of times without a completion longer than 100 ms, 1 s, 10 s."
        part [u64; 3]: least_each,;
    backlog_max "Maximum number of I/Os that were due and not issued (open loop)."
        kept u64 = "backlog_max": maximum,;
    cpu_user_ns "CPU time of the workers in user mode within the window, ns."
        kept u64 = "cpu_user_ns": sum,;
    cpu_system_ns "CPU time of the workers in the kernel within the window, ns."
        kept u64 = "cpu_system_ns": sum,;
    cpu_user_ns_per_io "CPU time of the workers in user mode per I/O."
        cell |shown| Some(maybe_real(shown.summary.cpu_user_ns_per_io)),;
    cpu_system_ns_per_io "CPU time of the workers in the kernel per I/O."
        cell |shown| Some(maybe_real(shown.summary.cpu_system_ns_per_io)),;
    kernel "Kernel counters of the device below, if they could be read."
        part Option<KernelCounts>: reset,;
    intervals "Samples."
        part Vec<IntervalRecord>: series,;
    monitors "Monitored values of the machine, per second."
        part Vec<MonitorRecord>: keep_first,
        shown Vec<MonitorEntry> =
            |shown| shown.point.monitors.iter().map(|monitor| monitor_entry(&monitor)).collect(),;
    expected "Expected figures; null without a model."
        shown Option<ExpectedEntry> = |shown| {
            let expected = shown.run.expected_at(shown.point.index);
            expected.map(|it| expected_entry(&(it, shown.summary.io_per_s.value)))
        },;
    grade "`A` (valid), `B` (valid with warnings) or `C` (invalid)."
        shown String = |shown| shown.summary.grade.to_string(),;
    findings "Findings."
        part Vec<Finding>: add_missing,
        shown Vec<FindingEntry> = |shown| shown.point.findings.iter().map(finding_entry).collect(),;
    findings "Codes of the findings, separated by spaces."
        cell |shown| Some(owned(codes(&shown.point.findings))),;
    } };
}
pub(super) use rows;
