//! The tables of runs as Parquet files: the bytes of [`Sheet`], a group of rows after another.
//!
//! Nothing here does I/O or reads a clock: bytes are handed out, and what is held of a table is one
//! group of rows. Of the format only what the tables need is written (docs/design/0037-parquet.md):
//! flat columns, each with one page a group; texts by a dictionary, all else plain; gzip.

mod column;
mod page;
mod sheet;
mod thrift;

pub use sheet::Sheet;
