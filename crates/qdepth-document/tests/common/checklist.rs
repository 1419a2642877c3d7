//! Every element of the published reports (structure, tables, diagrams; items 34 to 150 of
//! docs/method/checklist.md), with its location in our documents, or the reason for its absence.

/// Location of an item in our documents.
pub(crate) enum Stands {
    /// In a run's paper: ids of sections.
    Paper(&'static [&'static str]),
    /// In the paper of a run under write pressure: ids of sections or pictures.
    Pressure(&'static [&'static str]),
    /// In our edition of the published report: titles of diagrams, tables or sections.
    Edition(&'static [&'static str]),
    /// On the cover, in HTML and in print: texts of the pages.
    Cover(&'static [&'static str]),
    /// Absent, for this reason.
    Not(&'static str),
}
pub(crate) use Stands::{Cover, Edition, Not, Paper, Pressure};

const SALES: &str = "what a vendor sells, and where, is not a measurement: it goes into the \
                     introduction of the paper's file";
const TOOLS: &str = "commands of other tools: a plan is printed whole under `reproduce`, with the \
                     command that repeats it";

/// First item, last item, and their location.
const ITEMS: &[(u32, u32, Stands)] = &[
    (34, 34, Cover(&["White paper", "Version 1.0b", "2026-11-21"])),
    (35, 35, Cover(&["aria-label=\"Contents\""])),
    (36, 36, Cover(&["Document history", "Second series"])),
    (37, 37, Paper(&["introduction"])),
    (38, 38, Paper(&["media"])),
    (39, 39, Not(SALES)),
    (
        40,
        40,
        Not("qdepth needs no software of the vendor; versions that it reads are under \
             `environment`"),
    ),
    (41, 41, Paper(&["method"])),
    (42, 42, Paper(&["environment"])),
    (43, 44, Paper(&["diagrams"])),
    (45, 45, Edition(&["Two PCIe-SSDs"])),
    (46, 46, Edition(&["Four PCIe-SSDs"])),
    (47, 47, Edition(&["Storage capacity share under load"])),
    (48, 48, Edition(&["Access of several processes to a PCIe-SSD"])),
    (49, 49, Paper(&["best-practice"])),
    (50, 50, Edition(&["Comparison with other storage media"])),
    (51, 51, Paper(&["conclusion"])),
    (52, 52, Paper(&["literature"])),
    (53, 53, Paper(&["contact"])),
    (54, 54, Cover(&["running", "Page {page} ({pages})"])),
    (55, 56, Not(SALES)),
    (57, 57, Paper(&["method"])),
    (58, 58, Paper(&["environment"])),
    (59, 59, Paper(&["key-figures"])),
    (60, 60, Edition(&["Comparison with other storage media"])),
    (
        61,
        63,
        Edition(&[
            "PCIe-SSDs of various capacities, Database",
            "PCIe-SSDs of various capacities, File copy",
        ]),
    ),
    (
        64,
        65,
        Edition(&[
            "PCIe-SSDs of various capacities, Streaming",
            "PCIe-SSDs of various capacities, Restore",
        ]),
    ),
    (66, 70, Edition(&["Two PCIe-SSDs, Database", "Two PCIe-SSDs, Restore"])),
    (71, 75, Edition(&["Four PCIe-SSDs, Database", "Four PCIe-SSDs, Restore"])),
    (
        76,
        78,
        Edition(&[
            "entire area, random, 100 % read",
            "entire area, random, 67 % read",
            "entire area, random, 100 % write",
        ]),
    ),
    (79, 79, Edition(&["One and four processes, random"])),
    (80, 80, Edition(&["Processors, random"])),
    (81, 81, Edition(&["Default and Performance settings, random"])),
    (82, 84, Cover(&["White paper", "Contents", "Document history"])),
    (85, 85, Paper(&["introduction", "media"])),
    (
        86,
        86,
        Not("formatting options of one vendor: an emulated device names its format in `media`"),
    ),
    (87, 87, Paper(&["method"])),
    (88, 88, Edition(&["ioDrive 320 GB, formatting options, Database"])),
    (89, 89, Edition(&["PCIe-SSDs in the RAID array and individually"])),
    (90, 90, Edition(&["Influence of nominal capacity"])),
    (91, 91, Edition(&["Comparison with other storage media"])),
    (92, 92, Paper(&["environment"])),
    (93, 94, Paper(&["literature", "contact"])),
    (95, 95, Edition(&["A single PCIe-SSD: Sequential accesses"])),
    (
        96,
        96,
        Not(
            "capacities by format are given, not measured: an emulated medium prints its own under \
             `media`",
        ),
    ),
    (97, 97, Paper(&["method"])),
    (98, 98, Paper(&["environment"])),
    (99, 101, Edition(&["in the printed classes of grey"])),
    (102, 102, Edition(&["Comparison with other storage media"])),
    (
        103,
        107,
        Edition(&[
            "ioDrive 320 GB, formatting options, Database",
            "ioDrive 320 GB, formatting options, Restore",
        ]),
    ),
    (
        108,
        112,
        Edition(&["ioDrive 320 GB, Advertised, Database", "ioDrive 320 GB, Advertised, Restore"]),
    ),
    (113, 117, Edition(&["ioDrive, Advertised, Database", "ioDrive, Advertised, Restore"])),
    (
        118,
        122,
        Not("four formats of two capacities at three intensities: the same values stand in the \
             diagrams of 103 to 117 and in the tables of the edition, without bars"),
    ),
    (123, 123, Edition(&["4.1 Test 1 Baseline", "4.2 Test 2 12 x XFS", "6 Conclusion"])),
    (124, 126, Paper(&["environment"])),
    (127, 127, Paper(&["method"])),
    (128, 128, Edition(&["4.1 Test 1 Baseline"])),
    (129, 130, Edition(&["read, 1 MB transfers, over IOR threads"])),
    (131, 140, Not(TOOLS)),
    (
        141,
        141,
        Not(
            "drawings of one machine's racks and slots: the environment lists what was read of the \
             machine",
        ),
    ),
    (
        142,
        142,
        Edition(&[
            "Test 2, 12 XFS, read",
            "Test 3, GPFS 1 MiB, write",
            "Test 5b, IMSM, read",
            "Test 6, XVM, write",
        ]),
    ),
    (143, 144, Pressure(&["write-pressure"])),
    (145, 145, Pressure(&["pressure-time-linear", "pressure-time-log"])),
    (146, 146, Pressure(&["environment"])),
    (147, 147, Pressure(&["pressure-load-linear"])),
    (148, 150, Not(TOOLS)),
];

/// Asserts that each item is listed once, with a reason or a location. `has` is true if the
/// location contains a name.
pub(crate) fn hold(has: impl Fn(&Stands, &str) -> bool) {
    let numbers: Vec<u32> = ITEMS.iter().flat_map(|(first, last, _)| *first..=*last).collect();
    assert_eq!(numbers, (34..=150).collect::<Vec<u32>>(), "each item once");
    for (first, last, stands) in ITEMS {
        let names = match stands {
            Paper(names) | Pressure(names) | Edition(names) | Cover(names) => *names,
            Not(why) => {
                assert!(why.len() > 30, "{first}: a reason");
                continue;
            }
        };
        let missing: Vec<_> = names.iter().filter(|name| !has(stands, name)).collect();
        assert!(missing.is_empty(), "items {first} to {last}: {missing:?}");
    }
}
