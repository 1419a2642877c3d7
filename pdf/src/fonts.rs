//! The fonts of a report: Noto Sans CJK, whose Latin letters are those of Source Sans, from where
//! the machine keeps its fonts. One family for every language, so that pages differ in words alone.

use std::path::{Path, PathBuf};

use qdepth_files::{Input, limit, must_be_trusted};
use typst::foundations::Bytes;
use typst::text::Font;

use crate::typeset::PdfError;

/// The faces, by the names that distributions give the files: collections, or Japanese alone.
const FACES: [[&str; 3]; 2] = [
    ["NotoSansCJK-Regular.ttc", "NotoSansCJKjp-Regular.otf", "NotoSansJP-Regular.otf"],
    ["NotoSansCJK-Bold.ttc", "NotoSansCJKjp-Bold.otf", "NotoSansJP-Bold.otf"],
];
/// Font folders (Filesystem Hierarchy Standard 4.11.4), unless `QDEPTH_FONTS` names one.
const FOLDERS: [&str; 2] = ["/usr/share/fonts", "/usr/local/share/fonts"];
/// Deeper nesting is a loop of links.
const DEPTH: u32 = 6;

/// The faces that are installed, of every language of the collection.
///
/// # Errors
/// [`PdfError::NoFont`] where one is missing.
pub(crate) fn installed() -> Result<Vec<Font>, PdfError> {
    let folders: Vec<PathBuf> = match std::env::var_os("QDEPTH_FONTS") {
        Some(own) => vec![PathBuf::from(own)],
        None => FOLDERS.map(PathBuf::from).to_vec(),
    };
    let mut fonts = Vec::new();
    for names in FACES {
        let file = folders.iter().find_map(|folder| find(folder, &names, DEPTH));
        let file =
            file.ok_or_else(|| PdfError::NoFont { name: names[0], folders: folders.clone() })?;
        must_be_trusted(&file)?;
        let bytes = Input::file(&file, limit::MARKUP).bytes()?;
        fonts.extend(Font::iter(Bytes::new(bytes)));
    }
    Ok(fonts)
}

/// The first of the names below the folder, in the order of paths.
fn find(folder: &Path, names: &[&str], depth: u32) -> Option<PathBuf> {
    let here = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    if here.is_some() || depth == 0 {
        return here;
    }
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut below: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    below.sort();
    below.iter().find_map(|path| find(path, names, depth - 1))
}
