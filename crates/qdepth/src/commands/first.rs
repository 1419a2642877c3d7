//! `qdepth` alone: five seconds to a first number of this directory's storage. Nothing is kept.

use anyhow::Result;
use qdepth_host::system::System;
use qdepth_record::export_json;

use crate::commands::read::print_points;
use crate::commands::run::measure;
use crate::exit_status::Status;
use crate::flags::{FirstOptions, RunOptions};
use crate::terminal::{print, print_document};
use qdepth_lab::first::{Look, look};
use qdepth_lab::request::{Ran, RunRequest};

pub(crate) fn first(options: &FirstOptions) -> Result<Status> {
    let Look { plan, what } = look(&System::real())?;
    let run = RunOptions { no_report: true, ..RunOptions::usual()? };
    let request = RunRequest { is_kept: false, ..run.request_of(plan) };
    measure(&run, &request, |ran| tell(*options, &what, ran))
}

/// Numbers, what limits them, and what to type next.
fn tell(options: FirstOptions, what: &str, Ran { run, points, .. }: &Ran) -> Result<()> {
    if options.json {
        return print_document(export_json(run, points).trim_end());
    }
    let names: Vec<&str> = run.targets.iter().map(|target| target.name.as_str()).collect();
    print(&format!("{}: {what}", names.join(", ")))?;
    for table in qdepth_report::point_tables(run, points, qdepth_report::Lang::En) {
        print_points(&table)?;
    }
    for sentence in qdepth_report::limits(run, points) {
        print(&sentence)?;
    }
    print(NEXT)
}

/// What to type after the first number.
const NEXT: &str = "
Next, each in this directory:
  qdepth run disk-mark  the eight numbers of CrystalDiskMark, in a minute
  qdepth run            five load profiles at 1 to 512 outstanding I/Os, with a
                        report: two to three minutes
  qdepth plans          every question there is a plan for";
