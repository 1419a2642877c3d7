//! `qdepth-pdf FOLDER OUTPUT.pdf`: typesets `FOLDER/document.typ`, with the pictures beside it, as
//! a tagged PDF. `qdepth report --format pdf` writes the folder and calls this program.
//!
//! It is a program of its own because Typst takes longer to build than all the rest of qdepth. It
//! knows nothing of reports: words and layout come with the folder, the fonts from the machine.

mod fonts;
mod typeset;

use std::path::Path;
use std::process::ExitCode;

use crate::typeset::PdfError;

const USAGE: &str = "usage: qdepth-pdf FOLDER OUTPUT.pdf
Typesets FOLDER/document.typ, as `qdepth report --format typst` writes it, as a PDF.
Exit status: 0 written; 2 wrong usage; 3 refused, nothing was changed; 4 failed.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--version" | "-V"] => say(&format!("qdepth-pdf {}", env!("CARGO_PKG_VERSION")), 0),
        ["--help" | "-h"] => say(USAGE, 0),
        [folder, output] => match write(Path::new(folder), Path::new(output)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => say(&format!("qdepth-pdf: {error}"), error.status()),
        },
        _ => say(USAGE, 2),
    }
}

#[expect(clippy::print_stderr, reason = "the one place where the program says something")]
fn say(text: &str, status: u8) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(status)
}

/// Typesets the folder; a PDF that is there is replaced in one step.
fn write(folder: &Path, output: &Path) -> Result<(), PdfError> {
    let pdf = typeset::pdf(folder, fonts::installed()?)?;
    let partial = output.with_extension("pdf.partial");
    std::fs::write(&partial, pdf)
        .and_then(|()| std::fs::rename(&partial, output))
        .inspect_err(|_| {
            // It may not have been made.
            let _ = std::fs::remove_file(&partial);
        })
        .map_err(|source| PdfError::Write { path: output.to_owned(), source })
}
