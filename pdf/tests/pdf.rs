//! The program as `qdepth` calls it.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Command, Output};

    const MARKUP: &str = r#"#set document(title: "Drives", author: "ACME")
#set text(font: "Noto Sans CJK JP", lang: "ja")
= 測定結果
Rates in #text("IO/s").
#image("line.svg", alt: "A line that rises")
"#;
    const PICTURE: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 40"><path d="M0 40L100 0" stroke="black"/><text x="4" y="12" font-family="Noto Sans CJK JP" font-size="9">レート</text></svg>"#;

    fn folder(markup: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("document.typ"), markup).unwrap();
        std::fs::write(folder.path().join("line.svg"), PICTURE).unwrap();
        folder
    }

    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    fn run(program: &str, args: &[&Path], fonts: Option<&Path>) -> Option<Output> {
        let mut command = Command::new(program);
        command.args(args);
        if let Some(fonts) = fonts {
            command.env("QDEPTH_FONTS", fonts);
        }
        command.output().ok()
    }

    fn pdf(args: &[&Path], fonts: Option<&Path>) -> (Option<i32>, String) {
        let output = run(env!("CARGO_BIN_EXE_qdepth-pdf"), args, fonts).expect("the program");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Without fonts nothing can be set; any other refusal is a fault.
    fn has_no_fonts(status: Option<i32>, said: &str) -> bool {
        let lacks = status == Some(3) && said.contains("NotoSansCJK");
        if lacks {
            println!("SKIPPED: {said}");
        }
        lacks
    }

    #[test]
    fn directory_becomes_a_tagged_searchable_pdf() {
        let folder = folder(MARKUP);
        let (first, second) = (folder.path().join("a.pdf"), folder.path().join("b.pdf"));
        let (status, said) = pdf(&[folder.path(), &first], None);
        if has_no_fonts(status, &said) {
            return;
        }
        assert_eq!((status, said.as_str()), (Some(0), ""));
        assert_eq!(pdf(&[folder.path(), &second], None).0, Some(0));
        let bytes = std::fs::read(&first).unwrap();
        assert!(bytes.starts_with(b"%PDF-1.7"));
        assert_eq!(bytes, std::fs::read(&second).unwrap(), "the same folder, the same bytes");
        let has =
            |bytes: &[u8], what: &str| bytes.windows(what.len()).any(|at| at == what.as_bytes());
        assert!(has(&bytes, "pdfuaid") && has(&bytes, "DisplayDocTitle"), "PDF/UA-1");
        // Whole faces are 16 MB.
        assert!(bytes.len() < 100_000, "fonts are subsets: {} bytes", bytes.len());
        let Some(text) = run("pdftotext", &[&first, Path::new("-")], None) else {
            println!("SKIPPED: the text of the PDF (pdftotext is not installed)");
            return;
        };
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        for words in ["測定結果", "Rates in IO/s.", "レート"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let info = run("pdfinfo", &[&first], None).expect("beside pdftotext");
        let info = String::from_utf8_lossy(&info.stdout).into_owned();
        assert!(info.contains("Tagged:          yes") && info.contains("Drives"), "{info}");
    }

    #[test]
    fn picture_without_text_makes_an_inaccessible_pdf() {
        let folder = folder(&MARKUP.replace(", alt: \"A line that rises\"", ""));
        let output = folder.path().join("a.pdf");
        let (status, said) = pdf(&[folder.path(), &output], None);
        if has_no_fonts(status, &said) {
            return;
        }
        assert_eq!((status, said.as_str()), (Some(0), ""));
        let bytes = std::fs::read(&output).unwrap();
        assert!(!bytes.windows(7).any(|at| at == b"pdfuaid"));
    }

    #[test]
    fn markup_error_names_line_and_keeps_old_pdf() {
        const MISTAKEN: &str = "fine\n#nothing-of-that-name()\n";
        let folder = folder(MISTAKEN);
        let output = folder.path().join("a.pdf");
        std::fs::write(folder.path().join("document.typ"), "fine\n").unwrap();
        let (status, said) = pdf(&[folder.path(), &output], None);
        if has_no_fonts(status, &said) {
            return;
        }
        assert_eq!((status, said.as_str()), (Some(0), ""));
        let former = std::fs::read(&output).unwrap();
        std::fs::write(folder.path().join("document.typ"), MISTAKEN).unwrap();
        let (status, said) = pdf(&[folder.path(), &output], None);
        assert_eq!(status, Some(4));
        assert!(said.contains("line 2") && said.contains("nothing-of-that-name"), "{said}");
        assert_eq!(std::fs::read(&output).unwrap(), former);
    }

    #[test]
    fn missing_fonts_and_arguments_are_refused() {
        let folder = folder(MARKUP);
        let output = folder.path().join("a.pdf");
        let (status, said) = pdf(&[folder.path(), &output], Some(folder.path()));
        assert_eq!(status, Some(3));
        assert!(
            said.contains("NotoSansCJK-Regular.ttc") && said.contains("fonts-noto-cjk"),
            "{said}"
        );
        assert_eq!(pdf(&[], None).0, Some(2));
        assert!(!output.exists());
    }

    #[test]
    fn files_outside_the_directory_are_not_read() {
        for path in ["/etc/hostname", "../../etc/hostname", "@preview/cetz:0.3.0"] {
            let folder = folder(&format!("#import \"{path}\"\n"));
            let (status, said) = pdf(&[folder.path(), &folder.path().join("a.pdf")], None);
            assert!(matches!(status, Some(3 | 4)), "{path}: {said}");
        }
    }
}
