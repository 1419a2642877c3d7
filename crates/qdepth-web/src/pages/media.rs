//! Catalogue of emulated devices, and details of one.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use qdepth_media::{Description, parameters};
use qdepth_report::{Cell, Rows, html_table};

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
    let origin = |parameter: &qdepth_media::Parameter| {
        let own = of_format.and_then(|format| format.parameters.get(parameter.name));
        let sourced = own.or_else(|| description.parameters.get(parameter.name));
        sourced.map_or("default", |sourced| sourced.from.as_str())
    };
    let own = Rows::from_items(parameters(&description.kind).unwrap_or_default())
        .text(words.parameter, |parameter| Cell::head(parameter.name))
        .number(words.value, "", |parameter| values.get(parameter.name).to_string())
        .text(words.unit, |parameter| parameter.unit)
        .text(words.meaning, |parameter| parameter.meaning)
        .text(words.from, |parameter| origin(parameter))
        .table(emulated(words.parameter));
    let promises = Rows::from_items(description.data_sheet.promises())
        .text(words.parameter, |(name, ..)| Cell::head(*name))
        .number(words.value, "", |(_, promise, _)| promise.value.to_string())
        .text(words.unit, |(.., unit)| *unit)
        .text(words.from, |(_, promise, _)| promise.from.clone())
        .table(emulated(words.data_sheet));
    let tables = std::iter::once(own).chain((!promises.rows.is_empty()).then_some(promises));
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
        tables: tables.map(|table| html_table(&table)).collect::<Result<_, _>>()?,
    };
    Ok(html(StatusCode::OK, page.render()?))
}

fn emulated(caption: &str) -> String {
    format!("{caption} (EMULATED)")
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
