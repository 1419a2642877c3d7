//! Storage topology, drawn from the facts of the machine: the machine, its drives with their
//! connections, arrays, and file systems.

use std::fmt::Write as _;

use qdepth_record::Observation;

use qdepth_document::data_uri;

use crate::document::{Block, Drawing, Logo};
use crate::figure::{FONT, GRID, INK, escaped};
use crate::number;
use crate::section::machine::{has, subjects, value};
use crate::view::View;

use super::picture_size;

/// Largest number of boxes in a column that remain readable.
const MOST: usize = 16;
const WIDE: f64 = 190.0;
const HIGH: f64 = 46.0;
const GAP: [f64; 2] = [70.0, 12.0];

/// A box: its name, its properties, the boxes that it is built on, and the label of the connecting
/// line.
struct Node {
    name: String,
    facts: String,
    on: Vec<String>,
    link: String,
}

/// The picture; `None` if no drive was seen, or too many.
pub(crate) fn drawing(view: &View<'_>) -> Option<Block> {
    let words = view.words.paper.slots;
    if let Some(own) = view.topology {
        let (id, title) = ("topology".to_owned(), words.topology.to_owned());
        let svg = framed(own, &title);
        let own = Some(own.clone());
        return Some(Block::Drawing(Drawing { id, description: title.clone(), title, svg, own }));
    }
    let facts: Vec<Observation> = view.observations().cloned().collect();
    let columns = columns(&facts);
    let drives = columns.get(1).map_or(0, Vec::len);
    if drives == 0 || columns.iter().any(|column| column.len() > MOST) {
        return None;
    }
    let names = columns.iter().skip(1).flatten().map(|node| node.name.as_str());
    let description = names.collect::<Vec<_>>().join(view.words.list[0]);
    let (id, title) = ("topology".to_owned(), words.topology.to_owned());
    let svg = svg(&columns, &title, &description);
    Some(Block::Drawing(Drawing { id, title, description, svg, own: None }))
}

/// A publisher's picture as an image, so that nothing in it is executed.
fn framed(own: &Logo, title: &str) -> String {
    let (width, height) = picture_size::width_and_height(own).unwrap_or((800.0, 450.0));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {width} \
         {height}\" role=\"img\" aria-label=\"{}\"><image href=\"{}\" width=\"{width}\" \
         height=\"{height}\"/></svg>",
        escaped(title),
        data_uri(own),
    )
}

/// Columns of the picture: machine, drives, arrays, file systems.
fn columns(facts: &[Observation]) -> Vec<Vec<Node>> {
    let fact = |subject: &str, key: &str| {
        let mut found = facts.iter().filter(|f| f.subject == subject && f.key == key);
        found.find_map(|fact| fact.value.clone().ok()).unwrap_or_default()
    };
    let name = [fact("host", "product"), fact("host", "name")];
    let machine = Node {
        name: name.into_iter().find(|name| !name.is_empty()).unwrap_or_default(),
        facts: fact("cpu", "model"),
        on: Vec::new(),
        link: String::new(),
    };
    let root = machine.name.clone();
    let size = |facts: &[&Observation]| {
        let bytes = value(facts, "size_bytes").and_then(|bytes| bytes.parse().ok());
        bytes.map(number::decimal_bytes).unwrap_or_default()
    };
    let joined = |parts: [&str; 2]| {
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let plain = subjects(facts, |facts| has(facts, "size_bytes") && !has(facts, "built_on"));
    let drives = plain.iter().map(|(name, facts)| Node {
        name: name.clone(),
        facts: joined([value(facts, "model").unwrap_or_default(), &size(facts)]),
        on: vec![root.clone()],
        link: value(facts, "link").unwrap_or_default().to_owned(),
    });
    let built = subjects(facts, |facts| has(facts, "built_on"));
    let arrays = built.iter().map(|(name, facts)| Node {
        name: name.clone(),
        facts: joined([value(facts, "level").unwrap_or_default(), &size(facts)]),
        on: parts(value(facts, "built_on").unwrap_or_default()),
        link: String::new(),
    });
    let mounted = subjects(facts, |facts| has(facts, "mount_point") || has(facts, "source"));
    let mounts = mounted.iter().filter(|(_, facts)| has(facts, "type")).map(|(name, facts)| Node {
        name: value(facts, "mount_point")
            .unwrap_or_else(|| name.strip_prefix("mount ").unwrap_or(name))
            .to_owned(),
        facts: value(facts, "type").unwrap_or_default().to_owned(),
        on: parts(value(facts, "devices").or(value(facts, "source")).unwrap_or_default()),
        link: String::new(),
    });
    let mut all = vec![vec![machine], drives.collect(), arrays.collect(), mounts.collect()];
    all.retain(|column: &Vec<Node>| !column.is_empty());
    all
}

/// Device names in a fact.
fn parts(text: &str) -> Vec<String> {
    let words = text.split([',', ' ', ';']).filter(|word| !word.is_empty());
    words.map(|word| word.trim_start_matches("/dev/").to_owned()).collect()
}

fn svg(columns: &[Vec<Node>], title: &str, description: &str) -> String {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let width = columns.len() as f64 * (WIDE + GAP[0]) - GAP[0] + 4.0;
    let height = rows * (HIGH + GAP[1]) - GAP[1] + 4.0;
    let corner = |column: usize, row: usize| {
        let own = columns[column].len() as f64 * (HIGH + GAP[1]) - GAP[1];
        let x = 2.0 + column as f64 * (WIDE + GAP[0]);
        (x, (height - own) / 2.0 + row as f64 * (HIGH + GAP[1]))
    };
    let mut body = String::new();
    let all = || {
        columns
            .iter()
            .enumerate()
            .flat_map(|(c, nodes)| nodes.iter().enumerate().map(move |(r, node)| (c, r, node)))
    };
    // Writing into a String cannot fail.
    for (column, row, node) in all() {
        let (x, y) = corner(column, row);
        for (from, below, _) in all().filter(|(_, _, other)| node.on.contains(&other.name)) {
            let (left, top) = corner(from, below);
            let _ = write!(
                body,
                "<path d=\"M{} {}L{x} {}\" fill=\"none\" stroke=\"{INK}\"/>",
                left + WIDE,
                top + HIGH / 2.0,
                y + HIGH / 2.0,
            );
        }
        let _ = write!(
            body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"4\" fill=\"{GRID}\" \
             stroke=\"{INK}\"/><text x=\"{0}\" y=\"{1}\" font-size=\"12\" \
             font-weight=\"bold\">{2}</text><text x=\"{0}\" y=\"{3}\" font-size=\"10\">{4}</text>",
            x + 8.0,
            y + 18.0,
            fitting(&node.name, 25),
            y + 34.0,
            fitting([&*node.facts, &*node.link].join(" ").trim(), 34),
        );
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {width} \
         {height}\" font-family=\"{FONT}\" fill=\"{INK}\" role=\"img\" \
         aria-labelledby=\"topology-t topology-d\"><title id=\"topology-t\">{}</title><desc \
         id=\"topology-d\">{}</desc>{body}</svg>",
        escaped(title),
        escaped(description),
    )
}

/// Cuts text to the number of letters that fit in a box.
fn fitting(text: &str, letters: usize) -> String {
    let short = match text.chars().count() > letters {
        true => text.chars().take(letters - 1).chain(['…']).collect(),
        false => text.to_owned(),
    };
    escaped(&short)
}

#[cfg(test)]
mod tests {
    use crate::compose;
    use crate::document::Block;
    use crate::html;
    use crate::tests::fixture;
    use crate::words::Lang;

    #[test]
    fn topology_draws_arrays_and_file_systems_over_drives() {
        let mut run = fixture::run(1);
        let seen = |subject: &str, key: &str, value: &str| {
            fixture::observation(subject, key, Ok(value), "/sys")
        };
        run.environment.extend([
            seen("nvme0n1", "link", "PCIe 3.0 x4"),
            seen("md0", "size_bytes", "800000000000"),
            seen("md0", "built_on", "nvme0n1"),
            seen("mount /data", "source", "/dev/md0"),
            seen("mount /data", "type", "xfs"),
            // A model name made to inject markup.
            seen("sda", "size_bytes", "800000000000"),
            seen("sda", "model", "\u{1b}[2J<b>&\"x"),
        ]);
        let document = compose(&run, &fixture::points(1), Lang::En);
        let blocks = document.sections.iter().flat_map(|section| &section.blocks);
        let drawn = blocks.filter_map(|b| if let Block::Drawing(d) = b { Some(d) } else { None });
        let drawn: Vec<_> = drawn.collect();
        let svg = &drawn[0].svg;
        assert_eq!(drawn.len(), 1);
        assert_eq!(drawn[0].description, "nvme0n1, sda, md0, /data");
        assert!(svg.contains("[2J&lt;b&gt;&amp;") && !svg.contains('\u{1b}'), "{svg}");
        assert_eq!(svg.matches("<rect").count(), 5, "{svg}");
        assert_eq!(svg.matches("<path").count(), 4, "each but the machine stands on one: {svg}");
        assert!(html(&document).unwrap().contains("id=\"topology\""));
    }
}
