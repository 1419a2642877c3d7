//! `qdepth report`: writes a report of runs (HTML, PDF, Markdown), and its figures as CSV and JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::ValueEnum;
use qdepth_files::{Folder, Input, Privacy, Scratch, limit, must_be_trusted};
use qdepth_host::system::{Output, System};
use qdepth_logbook::Logbook;
use qdepth_media::Description;
use qdepth_papers::Reference;
use qdepth_record::{PointRecord, RunRecord};
use qdepth_report::{
    DataSheet, Document, Lang, Logo, LogoKind, Paper, PaperError, Presentation, PublishedDrive,
    Text, compose_campaign, has_write_pressure, unique,
};
use qdepth_workload::TomlError;

use crate::commands::read::{chosen_all, must_have_timelines};
use crate::exit_status::Status;
use crate::flags::{Format, ReportOptions, must_have_no_limit};
use crate::result_file::ResultFile;
use crate::terminal::print;
use qdepth_lab::failure::{Missing, Usage};
use qdepth_papers::drive;

/// Program that typesets PDF: next to `qdepth`, or in a system directory of programs.
const TYPESETTER: &str = "qdepth-pdf";
/// Time limit for typesetting. A paper of 1,000 points has hundreds of pages: a minute on one core,
/// longer on a busy machine.
const TYPESETTING_LIMIT: Duration = Duration::from_secs(1800);
const STEM: &str = "qdepth-report";
/// Path that stands for standard output.
const STANDARD: &str = "-";

pub(crate) fn report(options: &ReportOptions) -> Result<Status> {
    let runs = chosen_all(&options.runs, &options.logbook)?;
    if !options.limit.is_empty() && !runs.iter().any(|(run, all)| has_write_pressure(run, all)) {
        must_have_no_limit(&options.limit, "these runs")?;
    }
    must_have_points(&runs, &options.point)?;
    let alive = Logbook::open_read_only(&options.logbook.logbook)?.alive();
    let (mut paper, logo, topology) = paper(options.paper.as_deref())?;
    let published = published(&options.published)?;
    let columns = qdepth_papers::columns(runs.iter().map(|(run, _)| run));
    paper.data_sheet.extend(published.iter().filter_map(data_sheet));
    let formats = formats(&options.format, options.output.as_deref())?;
    let found = formats.contains(&Format::Pdf).then(typesetter).transpose();
    let instead = found.as_ref().err().map(|_| in_html(&formats, options.output.as_deref()));
    let (typesetter, missing) = found.map_or_else(|why| (None, Some(why)), |found| (found, None));
    let (formats, output) = instead.unwrap_or((formats, options.output.clone()));
    let presentation = |lang| Presentation {
        lang,
        limits: options.limit.clone(),
        paper: paper.clone(),
        logo: logo.clone(),
        topology: topology.clone(),
        published: published.clone(),
        columns: columns.clone(),
        over_time: options.point.clone(),
        redact: options.redact,
        alive: Some(alive.clone()),
    };
    // An unredacted report reveals details of the machine, so only its owner may read it.
    let privacy = if options.redact { Privacy::Public } else { Privacy::Private };
    let output = output.as_deref();
    let sheets = OutputFiles::open(&formats, &options.lang, output, privacy, typesetter)?;
    sheets.write(|lang| compose_campaign(&runs, presentation(lang)))?;
    match missing {
        None => Ok(Status::Valid),
        Some(missing) => bail!("{missing}. The report was written in HTML instead"),
    }
}

/// Refuses points without latency samples over time, and points of more than one run.
fn must_have_points(runs: &[(RunRecord, Vec<PointRecord>)], wanted: &[u32]) -> Result<(), Usage> {
    match runs {
        _ if wanted.is_empty() => Ok(()),
        [(run, points)] => must_have_timelines(run, points, wanted).map(drop),
        _ => Err(Usage("--point needs exactly one run: name one".to_owned())),
    }
}

/// Replaces PDF by HTML in formats and output name, for use without the PDF program.
fn in_html(formats: &[Format], output: Option<&Path>) -> (Vec<Format>, Option<PathBuf>) {
    let mut formats: Vec<Format> =
        formats.iter().copied().filter(|format| *format != Format::Pdf).collect();
    if !formats.contains(&Format::Html) {
        formats.push(Format::Html);
    }
    let output = output.map(|path| match path.extension().is_some_and(|ending| ending == "pdf") {
        true => path.with_extension("html"),
        false => path.to_owned(),
    });
    (formats, output)
}

/// Output file of a page, checked before anything is read.
pub(crate) fn page(output: &Path, lang: Lang) -> Result<OutputFiles> {
    file(output, lang, "--output", &[Format::Html, Format::Pdf, Format::Md])
}

/// The same for the report of a run, which may be a JSON document.
pub(crate) fn run_page(output: &Path, lang: Lang) -> Result<OutputFiles> {
    file(output, lang, "--report", &[Format::Html, Format::Pdf, Format::Md, Format::Json])
}

fn file(output: &Path, lang: Lang, option: &str, known: &[Format]) -> Result<OutputFiles> {
    if output == Path::new(STANDARD) {
        bail!(Usage(
            "`-`: standard output is used for the text. Name a file for the page".to_owned()
        ));
    }
    let found = formats(&[], Some(output)).unwrap_or_default();
    let Some(format) = found.into_iter().find(|format| known.contains(format)) else {
        let endings: Vec<String> = known.iter().map(|kind| format!(".{}", kind.ending())).collect();
        bail!(Usage(format!(
            "{}: must end in {}. Try {option} {}",
            output.display(),
            endings.join(", "),
            output.with_extension("html").display()
        )));
    };
    let typesetter = (format == Format::Pdf).then(typesetter).transpose()?;
    // The name is used as given, even without an extension.
    let (privacy, path) = (Privacy::Private, output.to_owned());
    let sheet = Sheet { format, file: Some(ResultFile::file(output, privacy)?), path };
    Ok(OutputFiles { languages: vec![(lang, vec![sheet])], privacy, typesetter })
}

/// Output files of a document, one for each format and language.
pub(crate) struct OutputFiles {
    languages: Vec<(Lang, Vec<Sheet>)>,
    privacy: Privacy,
    /// PDF program, if a format needs it.
    typesetter: Option<String>,
}

struct Sheet {
    format: Format,
    path: PathBuf,
    /// `None` if the format is a folder of files.
    file: Option<ResultFile>,
}

impl OutputFiles {
    /// Checks all output names before anything is written.
    pub(crate) fn open(
        formats: &[Format],
        languages: &[Lang],
        output: Option<&Path>,
        privacy: Privacy,
        typesetter: Option<String>,
    ) -> Result<Self> {
        let alone = formats.len() == 1 && languages.len() == 1;
        if output == Some(Path::new(STANDARD)) && !(alone && formats[0].is_one_file()) {
            bail!(Usage(
                "-o - can write only one file: html, pdf or json, in one language".to_owned()
            ));
        }
        let paths = OutputPaths { output, alone, by_language: languages.len() > 1 };
        let sheet = |lang: Lang, format: Format| {
            let path = paths.path(lang.tag(), &format.ending());
            let file = (!format.is_a_folder()).then(|| ResultFile::at(&path, privacy));
            anyhow::Ok(Sheet { format, file: file.transpose()?, path })
        };
        let mut all = Vec::new();
        for &lang in languages {
            let sheets = formats.iter().map(|format| sheet(lang, *format));
            all.push((lang, sheets.collect::<Result<_>>()?));
        }
        Ok(Self { languages: all, privacy, typesetter })
    }

    /// Writes the document in every format, and prints the paths.
    pub(crate) fn write(&self, document: impl Fn(Lang) -> Document) -> Result<()> {
        let paths = self.write_all(document)?;
        let mut files = paths.iter().filter(|path| **path != Path::new(STANDARD));
        files.try_for_each(|path| print(&path.display().to_string()))
    }

    /// Writes the document in every format, and returns the paths.
    pub(crate) fn write_all(&self, document: impl Fn(Lang) -> Document) -> Result<Vec<&Path>> {
        let mut paths = Vec::new();
        for (lang, sheets) in &self.languages {
            let document = document(*lang);
            for sheet in sheets {
                self.write_sheet(&document, sheet)?;
                paths.push(sheet.path.as_path());
            }
        }
        Ok(paths)
    }

    fn write_sheet(&self, document: &Document, sheet: &Sheet) -> Result<()> {
        let Some(file) = &sheet.file else {
            let files = match sheet.format {
                Format::Csv => qdepth_report::figures_csv(document),
                _ => qdepth_report::typst(document),
            };
            return write_folder(&sheet.path, &files, self.privacy);
        };
        match sheet.format {
            Format::Md => {
                let folder = picture_folder(&sheet.path);
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let (text, pictures) = qdepth_report::markdown(document, &name);
                write_folder(&folder, &pictures, self.privacy)?;
                file.write(text)
            }
            Format::Pdf => {
                file.write(typeset(document, self.typesetter.as_deref().unwrap_or(TYPESETTER))?)
            }
            Format::Json => file.write(qdepth_report::figures_json(document)),
            Format::Html | Format::Csv | Format::Typst => {
                file.write(qdepth_report::html(document)?)
            }
        }
    }
}

/// Requested formats; by default the format of the output's extension, or HTML.
fn formats(asked: &[Format], output: Option<&Path>) -> Result<Vec<Format>> {
    let formats = unique(asked.iter().copied());
    let ending = output.and_then(Path::extension).and_then(|e| e.to_str());
    if let ([only], Some(output), Some(ending)) = (&*formats, output, ending)
        && Format::from_str(ending, false).is_ok_and(|named| named != *only)
    {
        bail!(Usage(format!(
            "--format {} contradicts the name {}. Try --output {}",
            only.ending(),
            output.display(),
            output.with_extension(only.ending()).display()
        )));
    }
    if !formats.is_empty() {
        return Ok(formats);
    }
    let Some(ending) = ending else { return Ok(vec![Format::Html]) };
    Format::from_str(ending, false).map(|format| vec![format]).map_err(|_| {
        let endings = Format::value_variants().iter().map(|format| format.ending());
        let endings = endings.collect::<Vec<_>>().join(", ");
        Usage(format!("`.{ending}` is not a known format. Use one of {endings}")).into()
    })
}

/// Destinations of files.
struct OutputPaths<'a> {
    output: Option<&'a Path>,
    /// True if there is a single output, which keeps the given name if that has an extension.
    alone: bool,
    by_language: bool,
}

impl OutputPaths<'_> {
    /// Path of one output: `report.html`, or `report.ja.pdf` if there are several languages.
    fn path(&self, lang: &str, ending: &str) -> PathBuf {
        match self.output {
            Some(output) if output == Path::new(STANDARD) => output.to_owned(),
            Some(output) if self.alone && output.extension().is_some() => output.to_owned(),
            output => {
                let stem = output.unwrap_or(Path::new(STEM));
                let stem = if stem.extension().is_some() {
                    stem.with_extension("")
                } else {
                    stem.to_owned()
                };
                let mut name = stem.file_name().unwrap_or(STEM.as_ref()).to_owned();
                if self.by_language {
                    name.push(format!(".{lang}"));
                }
                name.push(format!(".{ending}"));
                stem.with_file_name(name)
            }
        }
    }
}

/// Published figures of the named drives.
fn published(names: &[String]) -> Result<Vec<PublishedDrive>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let reference = Reference::shipped()?;
    let drive = |name: &String| {
        let name = name.strip_prefix("published:").unwrap_or(name);
        drive(&reference, name)
            .map_err(|error| Usage(format!("--published {name}: {error}")).into())
    };
    names.iter().map(drive).collect()
}

/// Data-sheet maxima of a published drive, if its description has them.
fn data_sheet(drive: &PublishedDrive) -> Option<DataSheet> {
    let medium = drive.name.split('/').next().unwrap_or(&drive.name);
    let described = Description::shipped(medium).ok()?.data_sheet;
    let mut sheet = DataSheet { name: Text::Same(drive.title.clone()), ..DataSheet::default() };
    for (name, promise, _) in described.promises() {
        sheet.promise(name, promise.value);
    }
    Some(sheet)
}

/// Leads to all keys of a publisher file.
const KEYS: &str = "docs/examples/paper.toml shows all keys";

/// Reads the publisher file and the pictures that it names: logo, then topology.
fn paper(path: Option<&Path>) -> Result<(Paper, Option<Logo>, Option<Logo>)> {
    let Some(path) = path else { return Ok(Default::default()) };
    let usage = |why: String| Usage(format!("--paper {}: {why}", path.display()));
    let text = Input::file(path, limit::PAPER).text()?;
    let paper = Paper::from_toml(&text).map_err(|error| match error {
        PaperError::Toml(error) => usage(TomlError::new(&text, &error, KEYS).to_string()),
        error @ PaperError::NoChapter { .. } => usage(error.to_string()),
    })?;
    let picture = |name: Option<&String>| -> Result<Option<Logo>> {
        let Some(name) = name else { return Ok(None) };
        let file = path.with_file_name(name);
        let bytes = Input::file(&file, limit::PICTURE).bytes()?;
        let kind = match bytes.as_slice() {
            [0x89, b'P', b'N', b'G', ..] => LogoKind::Png,
            [0xff, 0xd8, ..] => LogoKind::Jpeg,
            text if String::from_utf8_lossy(text).contains("<svg") => LogoKind::Svg,
            _ => {
                bail!(usage(format!("the picture {} is neither SVG, PNG nor JPEG", file.display())))
            }
        };
        Ok(Some(Logo { kind, bytes }))
    };
    let (logo, topology) = (picture(paper.logo.as_ref())?, picture(paper.topology.as_ref())?);
    Ok((paper, logo, topology))
}

/// Path of the PDF program, checked by running `--version`.
pub(crate) fn typesetter() -> Result<String> {
    let own = std::env::current_exe().ok().map(|program| program.with_file_name(TYPESETTER));
    let beside = own.filter(|program| program.is_file());
    beside.as_deref().map_or(Ok(()), must_be_trusted)?;
    let beside = beside.map(|program| program.display().to_string());
    let program = beside.unwrap_or_else(|| TYPESETTER.to_owned());
    match System::real().run(&program, &["--version"]) {
        Ok(Output { status: Some(0), .. }) => Ok(program),
        _ => bail!(Missing(format!(
            "PDF needs the program {TYPESETTER}, which is neither next to qdepth nor in \
             /usr/local/bin or /usr/bin. Build it with `cargo pdf` in the source directory (a few \
             minutes), or print the HTML report from a browser"
        ))),
    }
}

/// Folder for the pictures of a Markdown file: `report-figures` for `report.md`.
fn picture_folder(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or(STEM.as_ref()).to_owned();
    name.push("-figures");
    path.with_file_name(name)
}

/// Writes files into a folder, creating it if necessary; other files in it stay.
fn write_folder(folder: &Path, files: &BTreeMap<String, Vec<u8>>, privacy: Privacy) -> Result<()> {
    Folder::make(folder, privacy.of_folders())?;
    let open = |(name, bytes): (&String, _)| {
        ResultFile::file(folder.join(name), privacy).map(|file| (file, bytes))
    };
    let all: Vec<(ResultFile, &Vec<u8>)> = files.iter().map(open).collect::<Result<_>>()?;
    all.iter().try_for_each(|(file, bytes)| file.write(bytes))
}

/// Runs the PDF program and returns the PDF.
fn typeset(document: &Document, program: &str) -> Result<Vec<u8>> {
    let (markup, made) = (Scratch::new()?, Scratch::new()?);
    write_folder(markup.path(), &qdepth_report::typst(document), Privacy::Private)?;
    let pdf = made.path().join("document.pdf");
    let words = [markup.path().as_os_str(), pdf.as_os_str()];
    let output = System::real().run_for(program, &words, TYPESETTING_LIMIT)?;
    match output.status {
        Some(0) => Ok(Input::file(&pdf, limit::MADE).bytes()?),
        Some(3) => bail!(Missing(output.stderr.trim().to_owned())),
        _ => bail!("{program} failed: {}", output.stderr.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_format_gives_one_file() {
        let asked = [Format::Html, Format::Md, Format::Html];
        assert!(formats(&asked, None).unwrap() == [Format::Html, Format::Md]);
    }
}
