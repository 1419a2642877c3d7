//! Catalogue of emulated devices, and details of one.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use qdepth_media::{Description, parameters};
use qdepth_report::{Align, Cell, Column, Row, Table, html_table};

use crate::answer::html;
use crate::pages::{Frame, PageError, PageRequest, PageResult};

#[derive(Template)]
#[template(path = "media.html")]
struct MediaPage<'a> {
    frame: Frame<'a>,
    media: Vec<Medium>,
}

struct Medium {
    name: &'static str,
    address: String,
    title: String,
    formats: String,
}

#[derive(Template)]
#[template(path = "medium.html")]
struct MediumPage<'a> {
    frame: Frame<'a>,
    name: String,
    /// Headings with their contents; empty sections are omitted.
    sections: Vec<(&'static str, String)>,
    divergences: Vec<String>,
    tables: Vec<String>,
}

fn bug(error: impl std::fmt::Display) -> PageError {
    PageError::Unknown(error.to_string())
}

pub(crate) fn list(request: &PageRequest<'_>) -> PageResult {
    let medium = |(name, description): (&'static str, Description)| {
        let formats: Vec<&str> = description.formats.keys().map(String::as_str).collect();
        let address = request.link(&format!("/media/{name}"));
        Medium { name, address, title: description.title, formats: formats.join(", ") }
    };
    let media = Description::all().map_err(bug)?.into_iter().map(medium).collect();
    let mut frame = request.frame(request.words.media);
    frame.mark = "EMULATED".to_owned();
    Ok(html(StatusCode::OK, MediaPage { frame, media }.render()?))
}

/// Page of a shipped device; the name never opens a file.
pub(crate) fn detail(request: &PageRequest<'_>) -> PageResult {
    let (words, name) = (request.words, request.name);
    let description = Description::shipped(name).map_err(bug)?;
    let values = description.numbers(name, None, &BTreeMap::new()).map_err(bug)?;
    let of_format = description.default_format.as_ref();
    let of_format = of_format.and_then(|format| description.formats.get(format));
    let row = |parameter: qdepth_media::Parameter| {
        let own = of_format.and_then(|format| format.parameters.get(parameter.name));
        let sourced = own.or_else(|| description.parameters.get(parameter.name));
        let cells = [
            Cell::head(parameter.name),
            Cell::plain(values.get(parameter.name).to_string()),
            Cell::plain(parameter.unit),
            Cell::plain(parameter.meaning),
            Cell::plain(sourced.map_or("default", |sourced| sourced.from.as_str())),
        ];
        Row { cells: cells.into(), opens_group: false }
    };
    let rows = parameters(&description.kind).unwrap_or_default().into_iter().map(row).collect();
    let heads =
        [words.parameter, words.value, words.unit, words.meaning, words.from].map(str::to_owned);
    let mut tables = vec![table(words.parameter, &heads, rows)];
    let promise = |(name, promise, unit): (&str, &qdepth_media::Sourced, &str)| {
        let cells = [
            Cell::head(name),
            Cell::plain(promise.value.to_string()),
            Cell::plain(unit),
            Cell::plain(promise.from.clone()),
        ];
        Row { cells: cells.into(), opens_group: false }
    };
    let promises: Vec<Row> = description.data_sheet.promises().map(promise).collect();
    if !promises.is_empty() {
        let heads = [words.parameter, words.value, words.unit, words.from].map(str::to_owned);
        tables.push(table(words.data_sheet, &heads, promises));
    }
    let formats: Vec<String> = description
        .formats
        .iter()
        .map(|(name, format)| format!("{name}: {}", format.title))
        .collect();
    let sections = [
        (words.about, description.about.clone()),
        (words.compared_with, description.compared_with.clone()),
        (words.host, description.host.clone().unwrap_or_default()),
        (words.formats, formats.join("; ")),
    ];
    let mut frame = request.frame(description.title.clone());
    frame.mark = "EMULATED".to_owned();
    let page = MediumPage {
        frame,
        name: name.to_owned(),
        sections: sections.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
        divergences: description.divergences.clone(),
        tables: tables.iter().map(html_table).collect::<Result<_, _>>()?,
    };
    Ok(html(StatusCode::OK, page.render()?))
}

/// Table with names in the first column and numbers in the second.
fn table(caption: &str, heads: &[String], rows: Vec<Row>) -> Table {
    let column = |(index, heading): (usize, &String)| Column {
        heading: heading.clone(),
        unit: String::new(),
        align: if index == 1 { Align::Number } else { Align::Text },
        rank: 0,
    };
    Table {
        caption: format!("{caption} (EMULATED)"),
        columns: heads.iter().enumerate().map(column).collect(),
        rows,
        note: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use qdepth_media::Checked;
    use qdepth_report::Lang;
    use qdepth_words::fact_value;

    #[test]
    fn device_model_validation_has_text_in_every_language() {
        for checked in Checked::ALL {
            let code = checked.code();
            assert_eq!(fact_value(Lang::En, code), checked.words());
            assert_ne!(fact_value(Lang::Ja, code), code);
        }
    }
}
