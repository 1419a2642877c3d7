//! Sections of reports, each with its tables, pictures and sentences.

pub(crate) mod added_drives;
pub(crate) mod answer;
pub(crate) mod bandwidth;
pub(crate) mod bars;
pub(crate) mod columns;
pub(crate) mod comparison;
pub(crate) mod date;
pub(crate) mod explain;
pub(crate) mod findings;
pub(crate) mod grid;
pub(crate) mod letters;
pub(crate) mod machine;
pub(crate) mod monitors;
pub(crate) mod naming;
pub(crate) mod observed;
pub(crate) mod over_time;
pub(crate) mod paper;
pub(crate) mod pressure;
pub(crate) mod promised;
pub(crate) mod pts;
pub(crate) mod published;
pub(crate) mod steps;
pub(crate) mod sum_box;
pub(crate) mod summary;
pub(crate) mod sweep;
pub(crate) mod timeline;
