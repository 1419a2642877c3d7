//! A folder as Typst sees it, and the PDF that comes of it.

use std::path::{Path, PathBuf};

use qdepth_files::{How, Input, limit};
use typst::diag::{FileError, FileResult, SourceDiagnostic};
use typst::foundations::{Bytes, Datetime, Duration, Smart};
use typst::syntax::{FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World, WorldExt};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards};

/// The file of the folder that is typeset.
const MAIN: &str = "document.typ";

/// Why there is no PDF.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PdfError {
    /// A font is not installed.
    #[error(
        "the font {name} is not installed (looked in {}); install Noto Sans CJK (Debian and \
         Ubuntu: apt install fonts-noto-cjk; Fedora: google-noto-sans-cjk-fonts), or name its \
         folder in QDEPTH_FONTS",
        list(folders)
    )]
    NoFont {
        /// File of the face.
        name: &'static str,
        /// Searched folders.
        folders: Vec<PathBuf>,
    },
    /// A file could not be read, or the PDF not be written.
    #[error(transparent)]
    File(#[from] qdepth_files::FileError),
    /// The markup could not be typeset.
    #[error("cannot typeset {MAIN}: {0}")]
    Typst(String),
}

impl PdfError {
    /// The exit status: 3 where what is needed is missing, 4 where the work failed.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::NoFont { .. } => 3,
            Self::File(error) if error.how != How::Failed => 3,
            Self::File(_) | Self::Typst(_) => 4,
        }
    }
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Typesets `document.typ` of the folder. The same folder and fonts give the same bytes: nothing
/// of the machine, nor the time, is in them.
///
/// # Errors
/// [`PdfError::File`] without the file, [`PdfError::Typst`] where its markup is wrong.
pub(crate) fn pdf(folder: &Path, fonts: Vec<Font>) -> Result<Vec<u8>, PdfError> {
    let world = Folder::new(folder, fonts)?;
    let document = typst::compile::<PagedDocument>(&world).output;
    let document = document.map_err(|errors| PdfError::Typst(world.render(&errors)))?;
    let written = |standards: PdfStandards| {
        let creator = Smart::Custom(Some(format!("qdepth-pdf {}", env!("CARGO_PKG_VERSION"))));
        typst_pdf::pdf(&document, &PdfOptions { creator, standards, ..PdfOptions::default() })
    };
    // Accessible by ISO 14289-1 (PDF/UA-1); what lacks something for that, as a picture of
    // somebody's without words, is a tagged PDF all the same.
    let accessible = PdfStandards::new(&[PdfStandard::Ua_1]).ok().map(&written);
    if let Some(Ok(pdf)) = accessible {
        return Ok(pdf);
    }
    written(PdfStandards::default()).map_err(|errors| PdfError::Typst(world.render(&errors)))
}

struct Folder {
    root: PathBuf,
    library: LazyHash<Library>,
    book: LazyHash<FontBook>,
    fonts: Vec<Font>,
    main: Source,
}

impl Folder {
    fn new(root: &Path, fonts: Vec<Font>) -> Result<Self, PdfError> {
        let path = root.join(MAIN);
        let text = Input::file(&path, limit::MARKUP).text()?;
        let name = VirtualPath::new(MAIN).map_err(|error| PdfError::Typst(error.to_string()))?;
        let id = FileId::new(RootedPath::new(VirtualRoot::Project, name));
        Ok(Self {
            root: root.to_owned(),
            library: LazyHash::new(Library::default()),
            book: LazyHash::new(FontBook::from_fonts(&fonts)),
            fonts,
            main: Source::new(id, text),
        })
    }

    /// The errors with their lines.
    fn render(&self, errors: &[SourceDiagnostic]) -> String {
        let message = |error: &SourceDiagnostic| {
            let line = self.range(error.span).and_then(|r| self.main.lines().byte_to_line(r.start));
            let line = line.map_or_else(String::new, |line| format!("line {}: ", line + 1));
            let hints = error.hints.iter().map(|hint| format!(" ({})", hint.v));
            format!("{line}{}{}", error.message, hints.collect::<String>())
        };
        errors.iter().map(message).collect::<Vec<_>>().join("; ")
    }
}

impl World for Folder {
    fn library(&self) -> &LazyHash<Library> {
        &self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &self.book
    }

    fn main(&self) -> FileId {
        self.main.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.main.id() {
            return Ok(self.main.clone());
        }
        let text =
            String::from_utf8(self.file(id)?.to_vec()).map_err(|_| FileError::InvalidUtf8)?;
        Ok(Source::new(id, text))
    }

    /// Only what lies in the folder: no package, nothing above it.
    fn file(&self, id: FileId) -> FileResult<Bytes> {
        if *id.get().root() != VirtualRoot::Project {
            return Err(FileError::AccessDenied);
        }
        let path = id.get().vpath().realize(&self.root).map_err(FileError::Realize)?;
        let bytes = Input::file(&path, limit::MARKUP).bytes();
        let bytes = bytes.map_err(|error| FileError::Other(Some(error.to_string().into())))?;
        Ok(Bytes::new(bytes))
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.fonts.get(index).cloned()
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        None
    }
}
