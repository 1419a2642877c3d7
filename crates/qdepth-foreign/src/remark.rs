//! Table of the stored codes of differences from other programs. The catalogues have a sentence for
//! each under `[remarks]`.

use std::fmt;

use qdepth_words::{Lang, entry, fill, words};
use serde::Deserialize;

macro_rules! remarks {
    ($($variant:ident = $code:literal $([$($value:literal),+])?;)+) => {
        /// A difference from what was requested, or missing input. Its text form is stored in the
        /// logbook and in JSON and never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        pub enum Remark {
            $(#[doc = concat!("`", $code, "`")] #[serde(rename = $code)] $variant),+
        }

        impl Remark {
            /// All remarks, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Stored code.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// Names of the values in its sentence.
            pub const fn values(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($($value),+)?]),+ }
            }
        }
    };
}

// Stored code, and the values in its sentence.
remarks! {
    // Submission and completion of requests.
    RefilledAtOnce = "refilled-at-once";
    SubmittedInOneCall = "submitted-in-one-call";
    AllCompletionsReaped = "all-completions-reaped";
    CompletionsReapedAtOnce = "completions-reaped-at-once";
    ScheduleKeptByWorker = "schedule-kept-by-worker";
    OverlapsNotSerialized = "overlaps-not-serialized";
    FilesRegistered = "files-registered";
    BuffersRegistered = "buffers-registered";
    PollingThreadUnpinned = "polling-thread-unpinned";
    SynchronousNotPolled = "synchronous-not-polled";
    OwnSynchronousEngine = "own-synchronous-engine";
    OneRequestOutstanding = "one-request-outstanding";
    PageCacheNotMapped = "page-cache-not-mapped";
    BuffersNotPipes = "buffers-not-pipes";
    NullIsEmulated = "null-is-emulated";
    NoFileTouched = "no-file-touched";
    OneTrimAtATime = "one-trim-at-a-time";
    TrimsAtIodepth = "trims-at-iodepth";
    ThinkTimeSlept = "think-time-slept";
    PausesLimitRate = "pauses-limit-rate";
    RateWithoutPauses = "rate-without-pauses";
    RateOrPauses = "rate-or-pauses";
    FreeDirectionApart = "free-direction-apart";
    FlowWithinStep = "flow-within-step";
    DepthsDoubled = "depths-doubled";
    // Offsets.
    OwnRandomGenerator = "own-random-generator";
    RunLengthsInTheMean = "run-lengths-in-the-mean";
    PlacesDrawnIndependently = "places-drawn-independently";
    NormalInZones = "normal-in-zones";
    PopularPlacesScattered = "popular-places-scattered";
    RestOfValueIgnored = "rest-of-value-ignored";
    SizesOfWholeUnits = "sizes-of-whole-units";
    SizesOfReadsAndWrites = "sizes-of-reads-and-writes";
    OffsetShareOfNothing = "offset-share-of-nothing";
    EachFileReplayedAlone = "each-file-replayed-alone";
    // Files and directories.
    FilesLaidOut = "files-laid-out";
    FileWrittenInFull = "file-written-in-full";
    FilesInMeasurementFile = "files-in-measurement-file";
    FileSystemNotFilled = "file-system-not-filled";
    FileNotThereYet = "file-not-there-yet";
    FileNotExtended = "file-not-extended" ["bytes"];
    FileStaysBetweenLoops = "file-stays-between-loops";
    OwnFilesRemoved = "own-files-removed";
    FilesJoined = "files-joined";
    FilesJoinedForAll = "files-joined-for-all";
    FilesOfMeanLength = "files-of-mean-length";
    DirectoryNotThere = "directory-not-there" ["name"];
    EntriesClosedAtOnce = "entries-closed-at-once";
    EntriesMadeBefore = "entries-made-before";
    GuardsDecide = "guards-decide";
    // Payload, syncs and verification.
    NoLifetimeHint = "no-lifetime-hint";
    PayloadDrawnOnce = "payload-drawn-once";
    CompressibleInEachBlock = "compressible-in-each-block";
    CompressibleWithoutPattern = "compressible-without-pattern";
    OwnStamps = "own-stamps";
    OwnChecksum = "own-checksum";
    VerifiedAtEnd = "verified-at-end";
    VerifiedByReader = "verified-by-reader";
    NoVerifyState = "no-verify-state";
    MismatchEndsNoJob = "mismatch-ends-no-job";
    MismatchNotDumped = "mismatch-not-dumped";
    TrimsNotVerified = "trims-not-verified";
    // End of a job.
    ErrorsEndNoJob = "errors-end-no-job";
    SlowRequestRecorded = "slow-request-recorded";
    RuntimeAWeekAtMost = "runtime-a-week-at-most";
    IosOfMeanSize = "ios-of-mean-size";
    EndsWithItsBytes = "ends-with-its-bytes";
    NotEndedWhenSteady = "not-ended-when-steady";
    NotRunAfterExitall = "not-run-after-exitall";
    // Memory, CPUs, priorities and the clock.
    OwnBuffers = "own-buffers";
    BuffersOnOwnNode = "buffers-on-own-node";
    NoFileMapped = "no-file-mapped";
    MemoryNotLocked = "memory-not-locked";
    NiceUnchanged = "nice-unchanged";
    CpusOfAllJobs = "cpus-of-all-jobs";
    NoPriorityHint = "no-priority-hint";
    PrioritiesReportedTogether = "priorities-reported-together";
    OwnClock = "own-clock";
    // Reports and logs.
    LatenciesRecorded = "latencies-recorded";
    SeriesRecorded = "series-recorded";
    SeriesOfHundredMs = "series-of-100-ms";
    EveryJobReported = "every-job-reported";
    LogRowsWithoutOffset = "log-rows-without-offset";
    LogsInUnixTime = "logs-in-unix-time";
    UnitsOfTextFixed = "units-of-text-fixed";
    LogsUncompressed = "logs-uncompressed";
    NoTraceWritten = "no-trace-written";
    MergedTraceNotWritten = "merged-trace-not-written";
    NoLogOfAllJobs = "no-log-of-all-jobs";
    OneResultAtEnd = "one-result-at-end";
    NoSuchOutput = "no-such-output";
    IdleTimeNotReported = "idle-time-not-reported";
    // IOR's command line.
    WarningsAreFindings = "warnings-are-findings";
    SummaryAtEnd = "summary-at-end";
    WholeSeconds = "whole-seconds";
    RoomEndsPhase = "room-ends-phase" ["transfers"];
    ReadsOfNextNode = "reads-of-next-node";
    RandomWithinOwnBlocks = "random-within-own-blocks";
    RandomWithinOwnPart = "random-within-own-part";
    PayloadIncompressible = "payload-incompressible";
    KeptFileMadeAnew = "kept-file-made-anew";
    TreeNotTimed = "tree-not-timed";
    // Iometer's configurations.
    NoRunTime = "no-run-time";
    ManagersOnThisMachine = "managers-on-this-machine";
    PayloadNeverRepeats = "payload-never-repeats";
    OneOutstandingByDefault = "one-outstanding-by-default";
    NoWorkerInFile = "no-worker-in-file";
    NoTargetInFile = "no-target-in-file";
    IdleTestLeftOut = "idle-test-left-out";
    MeanRandomShare = "mean-random-share";
    LeastAlignment = "least-alignment";
    // Results of other programs.
    NoPercentiles = "no-percentiles";
    CompletionLatency = "completion-latency";
    TotalLatency = "total-latency";
    MixedStandsAsReads = "mixed-stands-as-reads";
    LogsWithoutLoad = "logs-without-load";
}

/// Remark with the values for its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remarked {
    /// The remark.
    pub remark: Remark,
    /// Value of `{name}`.
    pub name: Option<String>,
    /// Value of the figure with this name.
    pub figure: Option<(&'static str, u64)>,
}

impl Remarked {
    pub(crate) fn named(remark: Remark, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::from(remark) }
    }

    pub(crate) fn counted(remark: Remark, figure: &'static str, value: u64) -> Self {
        Self { figure: Some((figure, value)), ..Self::from(remark) }
    }

    /// Sentence in a language.
    pub fn sentence(&self, lang: Lang) -> String {
        let code = self.remark.as_str();
        // A test checks that each code has a sentence.
        let template = entry(words(lang).remarks, code).unwrap_or(code);
        let figure = self.figure.map(|(name, value)| match name {
            "bytes" => (name, format!("{value} B")),
            _ => (name, value.to_string()),
        });
        let name = self.name.clone().map(|name| ("name", name));
        fill(template, &name.into_iter().chain(figure).collect())
    }
}

impl From<Remark> for Remarked {
    fn from(remark: Remark) -> Self {
        Self { remark, name: None, figure: None }
    }
}

/// Text for the user.
impl fmt::Display for Remarked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(Lang::default()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use qdepth_measure::{Code, label};

    use super::*;

    #[test]
    fn every_remark_has_text_in_every_language() {
        let mut codes: Vec<&str> = Remark::ALL.iter().map(|remark| remark.as_str()).collect();
        codes.sort_unstable();
        for lang in Lang::ALL {
            let worded: Vec<&str> = words(lang).remarks.iter().map(|(code, _)| *code).collect();
            assert_eq!(worded, codes, "{}", lang.tag());
        }
        let shared: Vec<&str> = label::all().filter(|code| codes.contains(code)).collect();
        assert!(shared.is_empty(), "codes of two meanings: {shared:?}");
    }

    #[test]
    fn all_remarks_have_different_texts() {
        for lang in Lang::ALL {
            let mut known = BTreeSet::new();
            let twice = words(lang).remarks.iter().find(|(_, sentence)| !known.insert(*sentence));
            assert_eq!(twice, None, "{}", lang.tag());
        }
    }

    #[test]
    fn placeholders_of_remarks_match_their_finding_values() {
        let row = Code::NotLiteral.meaning();
        let has = [row.values, row.labels].concat();
        for remark in Remark::ALL {
            let code = remark.as_str();
            let sentence = entry(words(Lang::default()).remarks, code).unwrap();
            let names = sentence.split('{').skip(1).filter_map(|rest| rest.split('}').next());
            assert_eq!(names.collect::<Vec<_>>(), remark.values(), "{code}");
            assert!(remark.values().iter().all(|name| has.contains(name)), "{code}");
        }
    }

    #[test]
    fn remark_texts_contain_names_and_figures() {
        let longer = Remarked::counted(Remark::FileNotExtended, "bytes", 1 << 20);
        let sentence = "it is not extended: the load ends at its end, at 1048576 B";
        assert_eq!(longer.to_string(), sentence);
        assert!(longer.sentence(Lang::Ja).contains("1048576 B"));
        let room = Remarked::counted(Remark::RoomEndsPhase, "transfers", 12);
        assert!(room.to_string().starts_with("there is room for 12 transfers of each task: "));
        let folder = Remarked::named(Remark::DirectoryNotThere, "a/b");
        assert!(folder.to_string().starts_with("`a/b` is not a directory"));
    }
}
