//! Rendering as Markdown (CommonMark with GitHub's tables), with pictures in separate files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::document::{Align, Block, Document, Drawing, Fact, FindingGroup, Mark, Picture, Table};
use crate::html::without_hidden;
use qdepth_words::{in_brackets, with_subject, words};

/// Markdown text, and the pictures that it references in `folder`, by file name.
pub fn markdown(document: &Document, folder: &str) -> (String, BTreeMap<String, Vec<u8>>) {
    let mut writer =
        Writer { out: String::new(), pictures: BTreeMap::new(), folder, numbers: [0; 2], document };
    writer.head();
    for section in &document.sections {
        writer.line(&format!("## {}", plain(&section.title)));
        for block in &section.blocks {
            writer.block(block);
        }
    }
    let labels = &words(document.lang).paper.labels;
    writer.line(&format!("## {}", plain(labels.about)));
    writer.facts(&document.facts);
    writer.line(&format!("---\n\n{}", plain(&document.footer)));
    (without_hidden(writer.out), writer.pictures)
}

struct Writer<'a> {
    out: String,
    pictures: BTreeMap<String, Vec<u8>>,
    folder: &'a str,
    /// Numbers of tables and figures.
    numbers: [u32; 2],
    document: &'a Document,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push_str("\n\n");
    }

    fn head(&mut self) {
        let document = self.document;
        let (cover, labels) = (&document.cover, &words(document.lang).paper.labels);
        let running = [document.kind(), &*cover.organisation, &*cover.version, &*cover.date];
        let running: Vec<String> =
            running.into_iter().filter(|word| !word.is_empty()).map(plain).collect();
        self.line(&running.join(" | "));
        self.line(&format!("# {}", plain(&document.title)));
        self.line(&plain(&document.subtitle));
        for banner in &document.banners {
            self.line(&format!("> **{}** {}", plain(&banner.label), plain(&banner.text)));
        }
        if !document.question.is_empty() {
            self.line(&format!("*{}*", plain(&document.question)));
        }
        for sentence in &document.summary {
            self.line(&plain(sentence));
        }
        document.answer.iter().for_each(|block| self.block(block));
        if !cover.history.is_empty() {
            self.line(&format!("**{}**", plain(labels.document[4])));
            let rows = cover.history.iter().map(|r| {
                format!("| {} | {} | {} |", plain(&r.version), plain(&r.date), plain(&r.changes))
            });
            let head = format!("| {} |\n|---|---|---|", labels.history.map(plain).join(" | "));
            let rows: Vec<String> = std::iter::once(head).chain(rows).collect();
            self.line(&rows.join("\n"));
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.line(&plain(text)),
            Block::Reference { text, link } => self.line(&format!("{} <{link}>", plain(text))),
            Block::Drawing(Drawing { id, title, description, svg, .. }) => {
                self.picture(id, title, description, svg.clone());
            }
            Block::Heading(text) => self.line(&format!("### {}", plain(text))),
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table),
            Block::Pictures(pictures) => {
                for picture in pictures {
                    let Picture { id, title, description, .. } = picture;
                    self.picture(id, title, description, picture.svg());
                }
            }
            Block::SumUp { title, sentences } => {
                let texts: Vec<String> = sentences.iter().map(|text| plain(text)).collect();
                self.line(&format!("> **{}** {}", plain(title), texts.join("\n>\n> ")));
            }
            Block::Finding(group) => self.finding(group),
            Block::Attachment { caption, name, text } => {
                self.pictures.insert(name.clone(), text.clone().into_bytes());
                self.line(&format!(
                    "{} ([{}](<{}/{name}>))",
                    plain(caption),
                    plain(name),
                    self.folder
                ));
            }
            Block::Source { caption, name: _, text } => {
                // A fence longer than any run of backticks in the text.
                let fence = "`".repeat(longest_run(text).max(2) + 1);
                self.line(&format!("{}\n\n{fence}\n{}\n{fence}", plain(caption), text.trim_end()));
            }
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let lang = self.document.lang;
        let line = |fact: &Fact| {
            let value = if fact.literal { code(&fact.value) } else { plain(&fact.value) };
            format!("- {}", with_subject(lang, &format!("**{}**", plain(&fact.name)), &value))
        };
        let list: Vec<String> = facts.iter().map(line).collect();
        self.line(&list.join("\n"));
    }

    fn number(&mut self, kind: usize) -> String {
        self.numbers[kind] += 1;
        let label = words(self.document.lang).paper.labels.document[kind];
        format!("{label} {}", self.numbers[kind])
    }

    fn about(&self, number: &str, title: &str) -> String {
        with_subject(self.document.lang, number, &plain(title))
    }

    fn table(&mut self, table: &Table) {
        if !table.caption.is_empty() {
            let number = self.number(0);
            self.line(&format!("**{}**", self.about(&number, &table.caption)));
        }
        self.line(&table_text(table));
        if !table.note.is_empty() {
            self.line(&plain(&table.note));
        }
    }

    fn picture(&mut self, id: &str, title: &str, description: &str, svg: String) {
        let name = format!("{id}.svg");
        self.pictures.insert(name.clone(), svg.into_bytes());
        let number = self.number(1);
        self.line(&format!("**{}**", self.about(&number, title)));
        self.line(&format!("![{}](<{}/{name}>)", plain(description), self.folder));
    }

    fn finding(&mut self, group: &FindingGroup) {
        let severity = in_brackets(self.document.lang, &plain(&group.severity));
        self.line(&format!("### {}{severity}", plain(&group.title)));
        for case in &group.cases {
            self.line(&format!("{} — {}", plain(&case.explanation), plain(&case.location)));
        }
        self.line(&plain(&group.advice));
    }
}

/// A table as Markdown, below its caption.
pub fn table_markdown(table: &Table) -> String {
    without_hidden(format!("**{}**\n\n{}", plain(&table.caption), table_text(table)))
}

fn table_text(table: &Table) -> String {
    let mut out = String::from("|");
    for column in &table.columns {
        let unit =
            if column.unit.is_empty() { String::new() } else { format!(" [{}]", column.unit) };
        // Writing into a String cannot fail.
        let _ = write!(out, " {} |", plain(&format!("{}{unit}", column.heading)));
    }
    out.push_str("\n|");
    for column in &table.columns {
        out.push_str(match column.align {
            Align::Text => "---|",
            Align::Number | Align::Places => "--:|",
            Align::Centre => ":-:|",
        });
    }
    for row in &table.rows {
        out.push_str("\n|");
        for cell in &row.cells {
            let text = plain(&cell.text);
            let _ = match cell.mark {
                _ if text.is_empty() => write!(out, " |"),
                Mark::Struck => write!(out, " ~~{text}~~ |"),
                Mark::Alarm => write!(out, " **{text}** |"),
                Mark::Shade(class) => write!(out, " {text} {} |", "▒".repeat(class.into())),
                Mark::Plain | Mark::Unknown | Mark::Head => write!(out, " {text} |"),
            };
        }
    }
    out
}

/// Escapes a text so that it has no meaning in Markdown or HTML.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            // Some renderers turn bare URLs into links.
            ':' if ends_in_a_dead_scheme(&out) => out.push_str("&#58;"),
            letter => out.push(letter),
        }
    }
    out
}

/// URL schemes that must not become links: qdepth's texts have none of them, but some renderers
/// would follow them.
const DEAD: [&str; 7] = ["javascript", "vbscript", "data", "file", "ftp", "xmpp", "blob"];

fn ends_in_a_dead_scheme(text: &str) -> bool {
    let word = text.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    DEAD.iter().any(|dead| dead.eq_ignore_ascii_case(word))
}

/// Code span. Not for tables, where a `|` would end the cell.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace('\n', " "))
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_reach_a_terminal() {
        let table = Table { caption: "a\u{1b}cb\u{202e}c\u{9b}".into(), ..Table::default() };
        let text = table_markdown(&table);
        assert!(text.contains("a\u{fffd}cb\u{fffd}c\u{fffd}"), "{text:?}");
    }

    #[test]
    fn foreign_text_never_becomes_an_active_link() {
        for hostile in [
            "[x](javascript:alert(1))",
            "[x]: javascript:alert(1)",
            "<javascript:alert(1)>",
            "see JavaScript:alert(1) or data:text/html,x",
            "<a href=\"javascript:alert(1)\">x</a>",
            "![x](file:///etc/passwd)",
        ] {
            let text = plain(hostile);
            let lower = text.to_ascii_lowercase();
            assert!(DEAD.iter().all(|dead| !lower.contains(&format!("{dead}:"))), "{text}");
            assert!(!text.contains('<') && !text.replace("\\]", "").contains(']'), "{text}");
        }
        // Safe links, and text that merely resembles a scheme, stay unchanged.
        for fine in
            ["https://example.org/a", "mailto:lab@example.org", "media:null", "metadata: 4:1"]
        {
            assert_eq!(plain(fine), fine);
        }
    }
}
