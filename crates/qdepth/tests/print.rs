//! Printed pages: parts that belong together stay on one sheet.

#[cfg(test)]
mod tests {
    use crate::common::{Workspace, sh};

    /// Text of the printed sheets; `None` if printing is not possible here.
    fn sheets(workspace: &Workspace, page: &str) -> Option<Vec<String>> {
        for tool in ["chromium", "pdftotext"] {
            if sh(&format!("command -v {tool}")).is_err() {
                println!("SKIPPED: sheets of a printed page ({tool} is not installed)");
                return None;
            }
        }
        let folder = workspace.path().display();
        sh(&format!(
            "cd {folder} && chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer \
             --user-data-dir={folder}/browser --print-to-pdf={page}.pdf file://{folder}/{page} \
             2>&1 && pdftotext -layout {page}.pdf {page}.txt"
        ))
        .unwrap();
        let text = std::fs::read_to_string(workspace.join(&format!("{page}.txt"))).unwrap();
        let sheets = text.split('\u{c}').filter(|sheet| !sheet.trim().is_empty());
        Some(sheets.map(str::to_owned).collect())
    }

    /// Texts between these tags, without inner tags and blanks, which may differ on a sheet.
    fn between(page: &str, tag: &str) -> Vec<String> {
        let (opens, closes) = (format!("<{tag}>"), format!("</{tag}>"));
        let parts = page.split(&opens).skip(1);
        let whole = parts.filter_map(|part| part.split(&closes).next());
        let plain = |text: &str| {
            let parts = text.split('<').enumerate();
            let parts = parts.map(|(place, part)| match place {
                0 => part,
                _ => part.split_once('>').map_or("", |(_, rest)| rest),
            });
            dense(&parts.collect::<String>().replace("&#38;", "&"))
        };
        whole.map(plain).collect()
    }

    fn dense(text: &str) -> String {
        text.split_whitespace().collect()
    }

    fn is_well_printed(workspace: &Workspace, page: &str) {
        let Some(sheets) = sheets(workspace, page) else { return };
        let html = std::fs::read_to_string(workspace.join(page)).unwrap();
        let heads: Vec<String> =
            ["h2", "h3", "figcaption"].iter().flat_map(|tag| between(&html, tag)).collect();
        assert!(heads.len() > 20 && sheets.len() > 5, "{} of {}", heads.len(), sheets.len());
        for (place, sheet) in sheets.iter().enumerate() {
            let mut lines: Vec<&str> =
                sheet.lines().filter(|line| !line.trim().is_empty()).collect();
            let number = format!("{}/{}", place + 1, sheets.len());
            assert_eq!(lines.pop().map(dense), Some(number), "{page}: {sheet}");
            assert_eq!(dense(lines.remove(0)), "EMULATED", "{page}: {sheet}");
            let last = dense(lines.last().unwrap_or(&""));
            assert!(!heads.contains(&last), "{page}: sheet {} ends with {last}", place + 1);
        }
        // At most one sheet of eight may be nearly empty: nobody would read to the last.
        let few =
            |sheet: &&String| sheet.lines().filter(|line| !line.trim().is_empty()).count() < 9;
        let empty = sheets.iter().rev().skip(1).filter(few).count();
        assert!(empty <= sheets.len() / 8, "{page}: {empty} of {} are nearly empty", sheets.len());
    }

    #[test]
    fn no_printed_page_ends_with_a_heading() {
        let workspace = Workspace::new();
        let media = "media:p3700-800gb media:p4800x-375gb media:sas-2-ssd-400gb";
        workspace.run(&format!("run quick {media} --no-report")).expect(0);
        workspace.run("report --lang en,ja -o page").expect(0);
        for page in ["page.en.html", "page.ja.html"] {
            is_well_printed(&workspace, page);
        }
    }
}
