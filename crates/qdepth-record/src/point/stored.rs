//! SQL columns of a point: one per field, and those that do not correspond to a single field.

use super::fields::rows;
use super::record::PointRecord;
use crate::fields::{Column, Stored, Stores, columns};

rows!(columns record PointRecord in "point" and OTHERS;);

macro_rules! kernel {
    ($name:literal, $meaning:literal, $field:ident) => {
        Column {
            name: $name,
            meaning: $meaning,
            get: |point| point.kernel.as_ref().map_or(Stored::Null, |all| all.$field.stored()),
            set: |point, value| {
                if value != Stored::Null {
                    point.kernel.get_or_insert_default().$field = u64::restored(value)?;
                }
                Ok(())
            },
        }
    };
}

macro_rules! gaps {
    ($name:literal, $meaning:literal, $index:literal) => {
        Column {
            name: $name,
            meaning: $meaning,
            get: |point| point.gaps[$index].stored(),
            set: |point, value| {
                point.gaps[$index] = u64::restored(value)?;
                Ok(())
            },
        }
    };
}

const OTHERS: &[Column<PointRecord>] = &[
    gaps!("gaps_100ms", "Intervals without a completion longer than 100 ms.", 0),
    gaps!("gaps_1s", "Intervals without a completion longer than 1 s.", 1),
    gaps!("gaps_10s", "Intervals without a completion longer than 10 s.", 2),
    kernel!(
        "kernel_reads",
        "Reads that the kernel counted on the device; this and the next three are NULL if the \
         counters could not be read.",
        reads
    ),
    kernel!("kernel_read_bytes", "Bytes that the kernel counted as read.", read_bytes),
    kernel!("kernel_writes", "Writes that the kernel counted.", writes),
    kernel!("kernel_written_bytes", "Bytes that the kernel counted as written.", written_bytes),
];
