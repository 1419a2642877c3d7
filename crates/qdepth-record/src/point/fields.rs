//! What there is of a point, a row each. A new field is a row here; whoever makes records is told
//! by the compiler.

// The rows, for a macro of `crate::fields`: the record, its columns, its entry and its row of
// tables are made in files of their own, each of which the next may use.
macro_rules! rows {
    ($make:ident $($head:tt)*) => { $make! { $($head)*
    run "Id of the run, UUID version 7."
        cell |shown| Some(text(&shown.run.id)),;
    emulated "Whether time was invented: then nothing here was measured on storage."
        cell |shown| Some(Value::Flag(Some(shown.run.emulated))),;
    index "Its place in the plan, from 0."
        kept u32 = "place": first,
        shown u32 = |shown| shown.point.index,;
    target "The target, `target.place`."
        kept u32 = "target": first,;
    target "Name of its target."
        shown String = |shown| target_name(shown.run, shown.point),;
    target_kind "`kind` of its target."
        cell |shown| Some(text(target_of(shown).map_or("", |target| target.kind.as_str()))),;
    area_bytes "The area under load."
        cell |shown| Some(Value::Whole(target_of(shown).map(|target| target.area_bytes))),;
    engine "The engine that measured it."
        cell |shown| Some(text(target_of(shown).map_or("", |target| &target.engine))),;
    emulated "Whether time was invented: then nothing here was measured on storage."
        shown bool = |shown| shown.run.emulated,
        cell |_| None,;
    profile "Name of the load profile."
        kept String = "profile": first,
        shown String = |shown| shown.point.profile.clone(),;
    profile_title "Title of the load profile for people."
        kept String = "profile_title": first,
        shown String = |shown| shown.point.profile_title.clone(),;
    random_share "Share of random accesses, 0..1."
        kept f64 = "random_share": first,
        shown f64 = |shown| finite(shown.point.random_share),;
    read_share "Share of reads, 0..1."
        kept f64 = "read_share": first,
        shown f64 = |shown| finite(shown.point.read_share),;
    trim_share "Share of trims, 0..1: requests that discard what is stored."
        part f64: first,
        shown f64 = |shown| finite(shown.point.trim_share),
        older default,;
    request_size "Request size or weighted mix, as written."
        kept String = "request_size": first,
        shown String = |shown| shown.point.request_size.clone(),;
    request_size_mean_bytes "Mean request size in bytes."
        kept f64 = "request_size_mean_bytes": first,;
    request_size_bytes "Mean request size in bytes; of one size that size."
        shown Option<f64> =
            |shown| Some(shown.point.request_size_mean_bytes).filter(|size| size.is_finite()),;
    arrivals "How requests arrive: `closed`, `fixed 1000/s`, `poisson 1000/s`, `paced 1000/s`."
        kept String = "arrivals": first,
        shown String = |shown| shown.point.arrivals.clone(),;
    reported_as_throughput "1 where the throughput is the main result (sequential profiles), 0 \
                            where the transaction rate is."
        kept bool = "reported_as_throughput": first,;
    reported_as "Which figure the plan tells of it: `rate` or `throughput`; empty in documents of \
                 versions that did not say so."
        shown String = |shown| reported_as(shown.point).to_owned(),
        older default,;
    outstanding "Outstanding I/Os of each stream."
        kept u32 = "outstanding": first,
        shown u32 = |shown| shown.point.outstanding,;
    offered_io_per_s "Offered load of an open loop over all streams, I/Os per second; null in a \
                      closed loop."
        kept Option<f64> = "offered_io_per_s": both,
        shown Option<f64> = |shown| shown.point.offered_io_per_s,;
    streams "Number of streams, each on an area of its own."
        kept u32 = "streams": first,
        shown u32 = |shown| shown.point.streams,;
    workers "Threads that the streams were dealt to."
        kept u32 = "workers": sum_32,
        shown u32 = |shown| shown.point.workers,;
    group "Points with the same number ran at the same time."
        kept u32 = "load_group": first,
        shown u32 = |shown| shown.point.group,;
    variant "Index of the column of the run's comparison that it belongs to, with the others of \
             its group; null where nothing is compared."
        kept Option<u32> = "variant": first,
        shown Option<u32> = |shown| shown.point.variant,;
    step "Name of the step, as hashed; empty where the plan has none."
        kept String = "step": first,;
    step "Name of the step; empty where the plan has none."
        shown String = |shown| shown_step(&shown.point.step),;
    direct "Whether direct I/O was in effect."
        kept bool = "direct": least,
        shown bool = |shown| shown.point.direct,;
    started_at "When it began, RFC 3339, UTC."
        kept String = "started_at": first,
        shown String = |shown| shown.point.started_at.clone(),
        cell |shown| Some(time(&shown.point.started_at)),;
    delay_ns "How long after its group it began (`delay` of its load), ns; null where it began \
              with it, and in versions that did not keep it."
        kept Option<u64> = "delay_ns": first,
        shown Option<u64> = |shown| shown.point.delay_ns,
        older default,;
    warm_up_ns "Unrecorded lead-in, ns."
        kept u64 = "warm_up_ns": first,
        shown u64 = |shown| shown.point.warm_up_ns,;
    duration_ns "Length of the measured window, ns."
        kept u64 = "duration_ns": most,
        shown u64 = |shown| shown.point.duration_ns,;
    ended_by "What ended the window: `duration`, `precision`, `steady`, `bytes`, `rate`, \
              `interrupted` or `failure`."
        kept EndedBy = "ended_by": ended_by,
        shown String = |shown| shown.point.ended_by.as_str().to_owned(),;
    tolerance "Half-width of the 95 % interval of the rate, over the rate, that was to end it; \
               null where it was to last its time."
        kept Option<f64> = "tolerance": first,
        shown Option<f64> = |shown| shown.point.tolerance.map(finite),;
    interim_checks "Number of times that the rate was compared with the tolerance."
        kept u32 = "interim_checks": most,
        shown u32 = |shown| shown.point.interim_checks,;
    io_per_s "Transaction rate, I/Os per second: reads, writes and trims completed in full."
        shown f64 = |shown| shown.summary.io_per_s.value,;
    interval "95 % interval of `io_per_s`, low and high; null where none can be given honestly."
        shown Option<[f64; 2]> =
            |shown| shown.summary.io_per_s.interval.map(|(low, high)| [low, high]),;
    io_per_s_low "Low end of the 95 % interval of `io_per_s`; null where none can be given \
                  honestly."
        cell |shown| Some(maybe_real(shown.summary.io_per_s.interval.map(|(low, _)| low))),;
    io_per_s_high "High end of it."
        cell |shown| Some(maybe_real(shown.summary.io_per_s.interval.map(|(_, high)| high))),;
    mib_per_s "Throughput, MiB/s (2^20 bytes)."
        shown f64 = |shown| shown.summary.mib_per_s,;
    reads "Reads."
        part DirectionRecord: direction,;
    writes "Writes."
        part DirectionRecord: direction,;
    trims "Trims: what was stored was discarded."
        part DirectionRecord: direction,;
    syncs "Flushes (fsync, fdatasync)."
        part DirectionRecord: direction,;
    reads "Reads completed in full."
        shown u64 = |shown| shown.point.reads.completed,;
    writes "Writes completed in full."
        shown u64 = |shown| shown.point.writes.completed,;
    trims "Trims completed in full."
        shown u64 = |shown| shown.point.trims.completed,
        older default,;
    syncs "Flushes completed."
        shown u64 = |shown| shown.point.syncs.completed,;
    read_bytes "Bytes of the reads."
        shown u64 = |shown| shown.point.reads.bytes,;
    written_bytes "Bytes of the writes."
        shown u64 = |shown| shown.point.writes.bytes,;
    trimmed_bytes "Bytes of the trims."
        shown u64 = |shown| shown.point.trims.bytes,
        older default,;
    service_time_ns "Completed − issued, ns."
        shown LatencyByDirection = |shown| by_direction(&shown.summary.service_time),;
    response_time_ns "Completed − intended, ns; in a closed loop the same as the service time."
        shown LatencyByDirection = |shown| by_direction(&shown.summary.response_time),;
    cpu_ns_per_io "CPU time of the worker by I/O, ns; null without I/Os."
        shown Option<CpuPerIo> = |shown| CpuPerIo::from_summary(&shown.summary),;
    errors "I/Os that failed within the window; in no rate and no latency."
        shown Vec<ErrorEntry> = |shown| errors(shown.point),;
    failed "I/Os that failed within the window."
        cell |shown| Some(whole(shown.summary.failed)),;
    short "Transfers that came back short and were completed by further requests."
        shown u64 = |shown| {
            transfers(shown.point).map(|(_, each)| each.short).fold(0, u64::saturating_add)
        },;
    issued "Requests issued, from the first of the warm-up to the last."
        kept u64 = "issued": sum,;
    completed_outside "Completions outside the window (warm-up and drain), in full."
        kept u64 = "completed_outside": sum,;
    failed_outside "Failures outside the window."
        kept u64 = "failed_outside": sum,;
    abandoned "Requests that never came back."
        kept u64 = "abandoned": sum,
        shown u64 = |shown| shown.point.abandoned,;
    in_flight_integral_ns "Time-integral of the I/Os in flight over the window, I/O·ns."
        kept f64 = "in_flight_integral_ns": sum_real,;
    latency_in_window_ns "Sum of the parts of all latencies that lie in the window, ns: equals the \
                          integral."
        kept f64 = "latency_in_window_ns": sum_real,;
    mean_in_flight "Mean number of I/Os in flight; null for a window without length."
        shown Option<f64> = |shown| shown.summary.mean_in_flight,;
    longest_gap_ns "Longest interval without a completion, ns."
        kept u64 = "longest_gap_ns": least,
        shown u64 = |shown| shown.point.longest_gap_ns,;
    gaps "Intervals without a completion longer than 100 ms, 1 s, 10 s."
        part [u64; 3]: least_each,;
    backlog_max "Most arrivals due and not issued (open loop)."
        kept u64 = "backlog_max": most,;
    cpu_user_ns "CPU time of the workers in user mode within the window, ns."
        kept u64 = "cpu_user_ns": sum,;
    cpu_system_ns "CPU time of the workers in the kernel within the window, ns."
        kept u64 = "cpu_system_ns": sum,;
    cpu_user_ns_per_io "CPU time of the workers in user mode by I/O."
        cell |shown| Some(maybe_real(shown.summary.cpu_user_ns_per_io)),;
    cpu_system_ns_per_io "CPU time of the workers in the kernel by I/O."
        cell |shown| Some(maybe_real(shown.summary.cpu_system_ns_per_io)),;
    kernel "Kernel's counters of the device below, where they could be read."
        part Option<KernelCounts>: nothing,;
    intervals "The series."
        part Vec<IntervalRecord>: series,;
    monitors "What the monitors said of the machine, by the second."
        part Vec<MonitorRecord>: first,
        shown Vec<MonitorEntry> =
            |shown| shown.point.monitors.iter().map(|monitor| monitor_entry(&monitor)).collect(),;
    expected "What was expected of it; null where nothing was."
        shown Option<ExpectedEntry> = |shown| {
            let expected = shown.run.expected_at(shown.point.index);
            expected.map(|it| expected_entry(&(it, shown.summary.io_per_s.value)))
        },;
    grade "`A` (valid), `B` (valid with warnings) or `C` (invalid)."
        shown String = |shown| shown.summary.grade.to_string(),;
    findings "Doubts."
        part Vec<Finding>: added,
        shown Vec<FindingEntry> = |shown| shown.point.findings.iter().map(finding_entry).collect(),;
    findings "Codes of its findings, with spaces between them."
        cell |shown| Some(owned(codes(&shown.point.findings))),;
    } };
}
pub(super) use rows;
