//! `qdepth-pdf FOLDER OUTPUT.pdf`: typesets `FOLDER/document.typ`, with the pictures beside it, as
//! a tagged PDF. `qdepth report --format pdf` writes the folder and calls this program.
//!
//! It is a program of its own because Typst takes longer to build than all the rest of qdepth. It
//! knows nothing of reports: words and layout come with the folder, the fonts from the machine.

mod fonts;
mod typeset;

use std::path::Path;
use std::process::ExitCode;

use qdepth_files::{Lines, Output, Privacy, visible};

use crate::typeset::PdfError;

const USAGE: &str = "usage: qdepth-pdf FOLDER OUTPUT.pdf
Typesets FOLDER/document.typ, as `qdepth report --format typst` writes it, as a PDF.
Exit status: 0 written; 2 wrong usage; 3 refused, nothing was changed; 4 failed.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--version" | "-V"] => {
            print_and_exit(&format!("qdepth-pdf {}", env!("CARGO_PKG_VERSION")), 0)
        }
        ["--help" | "-h"] => print_and_exit(USAGE, 0),
        [folder, output] => match write(Path::new(folder), Path::new(output)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => print_and_exit(&format!("qdepth-pdf: {error}"), error.status()),
        },
        _ => print_and_exit(USAGE, 2),
    }
}

#[expect(clippy::print_stderr, reason = "the one place where the program says something")]
fn print_and_exit(text: &str, status: u8) -> ExitCode {
    eprintln!("{}", visible(text, Lines::Many));
    ExitCode::from(status)
}

/// Typesets the folder; a PDF that is there is replaced in one step.
fn write(folder: &Path, output: &Path) -> Result<(), PdfError> {
    let file = Output::file(output, Privacy::Private)?;
    let pdf = typeset::pdf(folder, fonts::installed()?)?;
    file.write(&pdf)?;
    Ok(())
}
