//! What each doubt means and what to do about it, in English.

use qdepth_measure::Code;

/// Title, explanation and advice; see [`super::fill`] for `{name}` and `[optional parts]`.
pub(super) fn english(code: Code) -> [&'static str; 3] {
    laws(code)
        .or_else(|| answers(code))
        .or_else(|| accidents(code))
        .or_else(|| surroundings(code))
        .unwrap_or_else(|| rest(code))
}

/// Doubts that the arithmetic of a point raises.
fn laws(code: Code) -> Option<[&'static str; 3]> {
    Some(match code {
        Code::LittlesLaw => [
            "Little's law does not hold",
            "The I/Os counted in flight do not agree with the sum of their latencies[: they differ by {difference}]. One of the two was counted wrongly.",
            "Do not use this point. It is an error of the measuring program or of its clock: please report it with the logbook.",
        ],
        Code::DepthNotReached => [
            "Fewer I/Os were in flight than asked",
            "The load intensity was not kept up[: {asked} outstanding I/Os were asked, {mean} were in flight on average]. The point shows a lower intensity than its label says.",
            "Look for a limit below: the queue depth of device or driver, the number of request tags, or a file system that turns requests into synchronous ones.",
        ],
        Code::QueueUnsettled => [
            "The queue had not settled",
            "Latencies are too short for the I/Os that were in flight[: their mean is {mean_ns}, {settled_ns} by Little's law][; {share} is missing]. The window began while the queue was still filling, or is short beside a latency.",
            "Do not use the latencies; the rate is less touched. Measure longer, after a longer lead-in: `--warm-up` of twice the latency by Little's law, `--duration` of ten times.",
        ],
        Code::Conservation => [
            "The counts of I/Os do not add up",
            "Requests and completions do not balance[ ({law})][: {expected} expected, {counted} counted].",
            "Do not use this point. It is an error of the measuring program: please report it with the logbook.",
        ],
        Code::BytesLaw => [
            "The bytes do not match the I/Os",
            "The bytes moved are not the number of I/Os times their size[: {expected_bytes} expected, {counted_bytes} counted].",
            "Do not use this point. It is an error of the measuring program: please report it with the logbook.",
        ],
        Code::GeneratorCeiling => [
            "The measuring program was near its own limit",
            "Without storage below it, the generator reaches a rate too near to the measured one[: {ceiling_io_per_s} against {io_per_s}, {ratio} times as much]. Part of what is shown may be the cost of the generator and not of the storage.",
            "Read the figure as “at least this much”. More worker threads or larger requests raise the ceiling.",
        ],
        Code::AboveLinkLimit => [
            "Faster than the link",
            "The throughput is above what the link to the device can carry[: {mib_per_s} measured, {link_mib_per_s} possible]. A cache in memory answered.",
            "Do not use this point as a figure of the device. Check that direct I/O reaches it and that no cache lies between.",
        ],
        Code::IntervalNotAvailable => [
            "No 95 % interval",
            "The series is too short, or its parts depend too much on one another, for an honest interval[ ({samples} slices, autocorrelation {autocorrelation})]. The value is printed with three digits, and how far it would move on repetition is not known.",
            "Measure longer (the point's duration), or repeat the run and compare.",
        ],
        Code::PrecisionNotReached => [
            "The precision asked for was not reached",
            "When the time allowed was over, the rate was not known[ to ±{asked_share}][; its 95 % interval is ±{reached_share}]. The value stands, with the interval that is printed, if one is.",
            "Allow more time (the duration is the most that a point may take), ask for less, or find what makes the storage vary.",
        ],
        Code::TooFewSamples => [
            "Too few samples for a percentile",
            "Not even the 99th percentile has ten samples beyond it[: there are {samples} I/Os in all]. The tail of the latency is not shown.",
            "Measure longer if the tail of the latency matters.",
        ],
        Code::Saturated => [
            "The offered load could not be issued",
            "Requests fell due faster than they could be issued[: up to {backlog_max} waited, {limit} may be in flight]. Response times grow with the length of the measurement and have no steady value.",
            "Use a lower arrival rate, or read the point as overload.",
        ],
        Code::ClockDrift => [
            "The clocks drifted apart",
            "The measuring clock and the kernel's raw clock came apart[ by {drift}][: {why}]. All rates and times of the point carry that error.",
            "Check the clock source of the machine (in virtual machines especially) and measure again.",
        ],
        _ => return None,
    })
}

/// Doubts about who answered: the storage, or something in front of it.
fn answers(code: Code) -> Option<[&'static str; 3]> {
    Some(match code {
        Code::ForeignIo => [
            "Other programs used the device",
            "While the point ran, the kernel counted[ {share}] more I/O on the device than was issued here[ ({kernel_bytes} against {our_bytes})]. Something else was using it.",
            "Find the other user (iotop, a backup, a scrub, a swap partition), stop it and measure again.",
        ],
        Code::KernelSawLess => [
            "Part of the load never reached the device",
            "The kernel counted[ {share}] less I/O on the device than was issued here[ ({kernel_bytes} against {our_bytes})]. A cache answered, or requests were merged.",
            "Use direct I/O on an area that was written before. If requests were merged, the transaction rate is that of the layer above the device.",
        ],
        Code::ImplausiblyFast => [
            "Too fast to be storage",
            "Half of all I/Os were answered[ within {median_ns}], which no storage device does. Memory answered.",
            "Check that direct I/O is in effect, that the area was written before, and that the target is not a file system in memory.",
        ],
        Code::NotDirect => [
            "Direct I/O was not in effect",
            "Direct I/O was asked for but could not be had[: {why}]. The page cache of the machine took part.",
            "Choose a target that allows direct I/O, or ask for buffered I/O on purpose.",
        ],
        Code::Buffered => [
            "Buffered I/O",
            "Buffered I/O was asked for. The page cache answers part of the requests, and an error of a write may show later or not at all.",
            "Do not compare with direct figures. Memory size and what was read before are part of this result.",
        ],
        Code::UnwrittenRead => [
            "Blocks were read that were never written",
            "Reads hit blocks that hold no data[: {unwritten_share} of them]. A device or file system answers those without reading its medium.",
            "Write the whole area once before reading from it.",
        ],
        Code::CompressiblePayload => [
            "The data may be compressed or deduplicated",
            "Part of what is written compresses away[ ({ratio} to 1)] or repeats, as the profile asks. A store that compresses or deduplicates has less to do than its figures say.",
            "Use a random payload, or state the ratio together with the figure.",
        ],
        Code::BelowExpected => [
            "Slower than its kind",
            "The target reached only[ {share}] of the rate that the EMULATED medium[ {medium}] has at this point[: {io_per_s} measured, {expected_io_per_s} expected]. The emulation itself is off by up to 12 %, in single points by more.",
            "Look for what holds the target back: its link (width and generation), its temperature, its firmware, its wear, the machine's power settings, other users of it; or it is not of that kind. `qdepth media` says how far the emulated medium can be trusted.",
        ],
        Code::SmallArea => [
            "Smaller area than the standard",
            "The measured area is smaller than the standard one, or than the one that its plan has of itself[: {bytes} instead of {standard_bytes}]. Caches of device and controller cover more of it, and seeks are shorter.",
            "Do not compare with figures from the standard area. Give the measurement more space if you can.",
        ],
        Code::MediumStateUnknown => [
            "The state of the medium is not known",
            "Nothing is known of what the medium had been through: fresh, written once, or in its steady state. Flash memory writes several times faster when fresh.",
            "For figures that others can repeat, purge the medium and precondition it first (`--precondition`), and say so.",
        ],
        Code::NotSteady => [
            "No steady state was reached",
            "Rounds went on until the rate would be steady, and ended without that[: it is {course}][, with {io_per_s} IO/s][; {range_share} apart][, the line moves by {slope_share}][; {rounds} rounds][, the area written {times_written} times]. The figures are those of a state that changes.",
            "Go on for longer (a longer `--duration`; a step `until-steady` with more `rounds` in the plan), purge first, or quote the figures with this remark. Around a cycle, measure whole cycles.",
        ],
        _ => return None,
    })
}

/// What went wrong while measuring.
fn accidents(code: Code) -> Option<[&'static str; 3]> {
    Some(match code {
        Code::IoErrors => [
            "I/Os failed",
            "[{failed} ]I/Os ended with an error[ ({errors})]. They are in no rate and no latency.",
            "Look into the kernel's log and the health data of the device before using any figure of it.",
        ],
        Code::ShortTransfers => [
            "Transfers came back short",
            "Transfers moved less than asked[ ({short} of them)] and were completed by further requests, which costs time.",
            "Often the end of a file or a full file system. Check the target's size.",
        ],
        Code::DeviceGone => [
            "The device was gone",
            "The target stopped answering as a device[: {evidence}].",
            "Check cables, power, temperature and the kernel's log. What was measured before is kept.",
        ],
        Code::Hung => [
            "I/Os never came back",
            "[{abandoned} ]I/Os had not come back when the time allowed was over[ ({waited_ns})]. They were given up, and the rate of the point is too high or too low by an unknown amount.",
            "Look into the kernel's log for time-outs and resets of the device.",
        ],
        Code::Stall => [
            "The storage paused",
            "For a while no I/O was completed at all[: the longest pause was {longest_ns}][; {over_100ms} lasted over 100 ms][, {over_1s} over 1 s][, {over_10s} over 10 s]. Means and percentiles hide this.",
            "Read the maximum beside the mean. Frequent causes: garbage collection, a full write cache, thermal throttling, resets.",
        ],
        Code::Interrupted => [
            "Stopped before its time",
            "The measurement was stopped by the user. The point rests on a shorter window than planned.",
            "Continue the run, or measure the point again.",
        ],
        Code::Imported => [
            "Measured by another program",
            "The run was measured by another program[: {program}][ {version}][, read from {file}][ ({remarks})]. qdepth's laws and witnesses did not watch it.",
            "Compare it as that program's word; measure with qdepth where it must be certain.",
        ],
        Code::NotLiteral => [
            "An option was taken in another sense",
            "An option of the job file was not done literally[: {option}][: {what}].",
            "Nothing needs to be done; where the option matters, run the job with its own program beside it.",
        ],
        Code::Resumed => [
            "Measured again after an interruption",
            "The run was interrupted at this point and continued later. Temperature and state of the medium may have changed in between.",
            "Compare with its neighbours; repeat the run if a step shows here.",
        ],
        Code::TargetFailed => [
            "The target failed",
            "The target could not be used any further[: {why}].",
            "See the reason given. What was measured before is kept.",
        ],
        Code::DeviceChanged => [
            "The device is not the same any more",
            "The identity of the target changed while the run went on[: it was {was}][; then: {is}].",
            "Do not use the figures together. Start a new run.",
        ],
        _ => return None,
    })
}

/// What else the machine and the drives were at.
fn surroundings(code: Code) -> Option<[&'static str; 3]> {
    Some(match code {
        Code::Throttled => [
            "Heat slowed something down",
            "Heat slowed the machine or a drive down, or was near to it[: {device}][; {transitions} times][; it reached {celsius} °C][ of the {warning_celsius} °C at which it warns].",
            "Give it more air, wait until it has cooled, and measure again; `--stop-on-throttle` ends a run at the first such point.",
        ],
        Code::HealthChanged => [
            "The drive reported trouble",
            "A counter of the drive's health rose while the point ran[: {counter}][ of {device}][ by {rise}].",
            "Look into the drive's log (`smartctl -x`, `nvme error-log`) before using any figure of it.",
        ],
        Code::Pressure => [
            "Tasks waited for CPU or memory",
            "Some task was ready and had no CPU[ for {cpu_share} of the time][, or waited for memory for {memory_share} of it]. The generator's own waiting is in this figure.",
            "Stop what else runs, or use fewer workers than CPUs.",
        ],
        Code::FarDrive => [
            "A drive on another NUMA node",
            "Workers run on another NUMA node than the drive that they load[: {device} is on node {node}][, the workers on CPUs {cpus}]. Each request and each byte of it crosses the link between the processors, which costs latency and, at high rates, throughput.",
            "Keep the workers on CPUs of the drive's node: `--cpus LIST`; `qdepth host` says which they are.",
        ],
        Code::FrequencyChanged => [
            "The CPUs changed their frequency",
            "The mean frequency of the CPUs changed[ by {share}] while the point ran. Latencies contain the time that the generator and the kernel need.",
            "Set the performance governor (`qdepth host tune`), and measure again.",
        ],
        Code::Swapping => [
            "The machine swapped",
            "Memory was written to or read from swap space[: {pages} pages]. That is I/O, and waiting.",
            "Free memory, or turn swap off while measuring.",
        ],
        Code::BackgroundWork => [
            "An array worked in the background",
            "An array below the target was rebuilt, checked or scrubbed while the point ran[: {device}].",
            "Wait until it is done (`cat /proc/mdstat`), and measure again.",
        ],
        _ => return None,
    })
}

/// Remarks on the machine, and on what could not be observed.
fn rest(code: Code) -> [&'static str; 3] {
    match code {
        Code::Steal => [
            "CPU time was stolen",
            "The hypervisor took CPU time away from this machine[ ({share} of the time)]. Latencies contain waiting that is not the storage's.",
            "Measure on a quiet host, or with CPUs reserved for this machine.",
        ],
        Code::GeneratorCpu => [
            "The worker had no CPU time left",
            "The thread that issues the I/Os was busy nearly all the time[ ({share})]. The generator, not the storage, may be the limit.",
            "Use more worker threads or a faster CPU, and read the figure as “at least this much”.",
        ],
        Code::EngineFallback => [
            "Another I/O engine was used",
            "io_uring could not be used here[ ({why})][; {engine} was used instead]. Its cost per I/O is higher, which shows at high rates.",
            "Compare only with figures of the same engine, or allow io_uring (containers often forbid it).",
        ],
        Code::EngineFeature => [
            "A feature of the I/O engine is missing",
            "Something that the engine would use is not to be had here[: {feature}][ ({why})]. The measurement went on without it.",
            "Compare only with figures taken under the same conditions.",
        ],
        Code::SeriesTruncated => [
            "Part of the time series was lost",
            "Intervals of the series could not be kept[: {lost_intervals} are lost]. Totals and histograms are complete; the 95 % interval rests on fewer data.",
            "Nothing needs to be done for the mean values. A longer interval length keeps the series complete.",
        ],
        Code::WitnessMissing => [
            "Something could not be observed",
            "A witness could not be read[: {witness}][ ({why})]. A disturbance of this kind would have gone unnoticed.",
            "Give the program the right to read it, or accept that this cause is not excluded.",
        ],
        Code::GeneratorStopped => [
            "The measuring program stood still",
            "The generator itself did not run for a while[: for {longest_ns} at the longest][, {times} times over 100 ms][; a worker was ready and waited for a CPU during {waited_share} of the time]. It was stopped, starved of CPU time, or suspended with its machine; what the storage did meanwhile is not known, and it is not blamed.",
            "Do not use this point. Look for a stopped process (Ctrl-Z, a debugger), a limit on CPU time (cgroup, container), other programs on the CPUs, or a machine that slept; then measure again.",
        ],
        Code::RecordDamaged => [
            "A record of the logbook is damaged",
            "What is stored is not what was written[: {record}][ ({parts})]. A damaged point is left out; a damaged record of the run itself (plan, targets, environment) is shown, but not to be relied on.",
            "`qdepth logbook check` lists what is damaged. Restore a copy of the logbook, or measure again; and find out what altered the file.",
        ],
        Code::Unknown => [
            "A doubt of a newer version",
            "A newer version of qdepth stored a finding[ (`{code}`)] that this version has no words for. Its weight counts.",
            "Read this run with the version that measured it.",
        ],
        // Every other code is worded above; a test holds each to a text of its own.
        _ => [
            "A doubt without a description",
            "This version has no words for this doubt.",
            "See the logbook.",
        ],
    }
}
