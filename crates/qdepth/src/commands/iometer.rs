//! `qdepth iometer`: converts an Iometer configuration to a plan.

use anyhow::{Context, Result};
use qdepth_files::{Input, limit};
use qdepth_foreign::icf_plan;
use qdepth_lab::failure::Usage;

use crate::exit_status::Status;
use crate::flags::IometerOptions;
use crate::terminal::{print_line, print_raw};

pub(crate) fn iometer(options: &IometerOptions) -> Result<Status> {
    let path = options.file.display();
    let bytes = Input::at(&options.file, limit::ICF).bytes()?;
    let text = String::from_utf8_lossy(&bytes);
    let name = options.file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let made = icf_plan(&name, &text).map_err(|refusal| Usage(format!("{path}, {refusal}")))?;
    let text = made.text().with_context(|| format!("{path}: cannot write the plan as TOML"))?;
    print_raw(text.trim_end())?;
    if made.targets.len() > 1 {
        let names = made.targets.join(", ");
        print_line(&format!(
            "`qdepth run` needs the same number of targets, in this order: {names}"
        ));
    }
    Ok(Status::Valid)
}
