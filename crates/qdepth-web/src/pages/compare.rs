//! Comparison of selected runs, judged like `qdepth compare`.

use askama::Template;
use http::StatusCode;
use qdepth_record::Document;
use qdepth_report::{
    Side, compose_versus, html_part, html_table, versus, versus_sentences, versus_table,
};

use crate::answer::html;
use crate::pages::{Frame, PageError, PageRequest, PageResult, THRESHOLD, fill};
use crate::query::Query;
use crate::source::Compared;

/// Characters of an id that distinguish runs for a reader.
const SHORT: usize = 13;
/// Maximum number of runs of a comparison.
const MOST: usize = 20;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage<'a> {
    frame: Frame<'a>,
    runs: Vec<Chosen>,
    left_out: Vec<Chosen>,
    exchange: Option<String>,
    pairs: Vec<Pair>,
}

struct Chosen {
    letter: char,
    name: String,
    address: String,
    what: String,
}

/// Comparison of a pair of runs. A single pair shows the complete page of `qdepth compare`; of
/// several pairs, each shows its verdict and its table.
#[derive(Default)]
struct Pair {
    report: String,
    table: String,
    sentences: Vec<String>,
    /// Link to the full comparison, if the page shows only a summary.
    whole: String,
}

pub(crate) fn page(request: &PageRequest<'_>) -> PageResult {
    let ids: Vec<&str> = request.query.all("run").filter(|id| !id.is_empty()).collect();
    if ids.len() > MOST {
        let why = fill(request.words.too_many_why, "n", &ids.len().to_string());
        let why = fill(&why, "most", &MOST.to_string());
        return Err(PageError::Refused { title: request.words.too_many, why });
    }
    let (runs, earlier) =
        if ids.is_empty() { Default::default() } else { request.source.compared(&ids)? };
    let (retracted, mut runs): (Vec<Compared>, Vec<Compared>) =
        runs.into_iter().partition(|(run, _)| run.retracted().is_some());
    let exchanged = request.query.first("exchange").is_some();
    runs.sort_by(|a, b| a.0.started_at.cmp(&b.0.started_at));
    if exchanged {
        runs.reverse();
    }
    let mut frame = request.frame(request.words.compare).with_aids();
    if runs.iter().any(|(run, _)| run.emulated) {
        frame.mark = "EMULATED".to_owned();
    }
    let pairs = match runs.split_first() {
        Some((base, others)) => {
            let alone = others.len() == 1;
            let pair = |other: &Compared| pair(request, [base, other], &earlier, alone);
            others.iter().map(pair).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    let exchange = (runs.len() == 2).then(|| exchange(request, exchanged));
    let left_out = letters(request, &retracted);
    let page = ComparePage { frame, runs: letters(request, &runs), left_out, exchange, pairs };
    Ok(html(StatusCode::OK, page.render()?))
}

fn exchange(request: &PageRequest<'_>, exchanged: bool) -> String {
    let query: &Query = &request.query;
    let query = if exchanged { query.without("exchange") } else { query.with("exchange", "yes") };
    query.address(request.path)
}

fn letters(request: &PageRequest<'_>, runs: &[Compared]) -> Vec<Chosen> {
    let chosen = |(letter, (run, _)): (char, &Compared)| Chosen {
        letter,
        name: run.id.chars().take(SHORT).collect(),
        address: request.link(&format!("/runs/{}", run.id)),
        what: format!(
            "{} · {} · {}",
            run.started_at.chars().take(16).collect::<String>().replace('T', " "),
            run.plan_name,
            run.targets.iter().map(|target| target.name.as_str()).collect::<Vec<_>>().join(", ")
        ),
    };
    ('A'..).zip(runs).map(chosen).collect()
}

fn pair(
    request: &PageRequest<'_>,
    [a, b]: [&Compared; 2],
    earlier: &[Document],
    alone: bool,
) -> Result<Pair, PageError> {
    let name = |(run, _): &Compared| run.id.chars().take(SHORT).collect::<String>();
    let (name_a, name_b) = (name(a), name(b));
    let (of_a, of_b) = (std::slice::from_ref(&a.1), std::slice::from_ref(&b.1));
    let (side_a, side_b) = (Side { name: &name_a, runs: of_a }, Side { name: &name_b, runs: of_b });
    let judged = versus(side_a, side_b, earlier, THRESHOLD, 1);
    if alone {
        let report = html_part(&compose_versus(&judged, request.lang))?;
        return Ok(Pair { report, ..Pair::default() });
    }
    let both = request.query.without("run").and("run", &*a.0.id).and("run", &*b.0.id);
    Ok(Pair {
        table: html_table(&versus_table(&judged, request.lang))?,
        sentences: versus_sentences(&judged, request.lang),
        whole: both.address(request.path),
        ..Pair::default()
    })
}
