//! Provenance of numbers: a device model marks a number `calibrated` exactly if the calibration
//! program fits it.

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Calibration {
        fit: Vec<Fit>,
    }

    #[derive(Deserialize)]
    struct Fit {
        parameter: Vec<Free>,
    }

    #[derive(Deserialize)]
    struct Free {
        file: String,
        format: Option<String>,
        name: String,
    }

    fn media() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../media"))
    }

    /// File, section and name of each number that a calibration fits.
    fn free() -> BTreeSet<(String, String, String)> {
        let text = fs::read_to_string(media().join("calibration.toml")).unwrap();
        let calibration: Calibration = toml::from_str(&text).unwrap();
        let parameter = |free: Free| {
            let section = free.format.map_or("[parameters]".to_owned(), |format| {
                format!("[format.{format}.parameters]")
            });
            (free.file, section, free.name)
        };
        calibration.fit.into_iter().flat_map(|fit| fit.parameter).map(parameter).collect()
    }

    /// File, section, name, value as written, and provenance of every number.
    fn numbers() -> Vec<[String; 5]> {
        let mut all = Vec::new();
        for entry in fs::read_dir(media()).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_stem().unwrap().to_string_lossy().into_owned();
            let mut section = String::new();
            for line in fs::read_to_string(&path).unwrap().lines() {
                if line.starts_with('[') {
                    line.trim().clone_into(&mut section);
                }
                let Some((name, rest)) = line.split_once(" = { value = ") else { continue };
                let (value, from) = rest.split_once(", from = \"").unwrap();
                let from = from.trim_end_matches("\" }");
                all.push([&file, &section, name, value, from].map(str::to_owned));
            }
        }
        all
    }

    #[test]
    fn calibrated_numbers_come_from_a_fit() {
        let free = free();
        let mut seen = 0;
        for [file, section, name, value, from] in numbers() {
            let is = free.contains(&(file.clone(), section.clone(), name.clone()));
            let says = from.contains("calibrated");
            assert!(!says || is, "{file} {section} {name}: no fit finds it");
            assert!(says || !is, "{file} {section} {name}: {from}");
            // The program writes four digits; people write fewer.
            let digits = value.trim_start_matches(['0', '.']).replace('.', "").len();
            assert!(!says || digits >= 4, "{file} {section} {name} = {value} was set by hand");
            seen += usize::from(says);
        }
        assert!(seen > 50, "only {seen} calibrated numbers were found");
    }

    /// Every number was fitted by a repeatable program, or fixed before any comparison.
    #[test]
    fn no_number_is_set_by_hand() {
        for [file, section, name, _, from] in numbers() {
            assert!(!from.contains("by hand"), "{file} {section} {name}: {from}");
        }
    }
}
