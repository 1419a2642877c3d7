//! Command-line parsing like `getopt_long_only`: one hyphen or two, `--name=value` or `--name
//! value`, and unique prefixes of names.

use super::options::{ProgramOption, Takes, names, program_options, stands_alone};

/// Word of the command line, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A job file.
    File(String),
    /// An option of fio itself.
    Own(&'static ProgramOption, Option<String>),
    /// An option of a job.
    Job(String, Option<String>),
    /// Not an option: as written, and the reason.
    Unknown(String, String),
}

/// Maximum number of misspelt options with a suggestion: a generated file may contain thousands.
pub(super) const SUGGESTIONS_MAX: usize = 100;

/// The words in order; after `--` all are files.
pub(super) fn words(list: &[String]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut unknown = 0;
    let mut rest = list.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            found.extend(rest.by_ref().cloned().map(Word::File));
            break;
        }
        let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
            found.push(Word::File(word.clone()));
            continue;
        };
        if option.is_empty() {
            found.push(Word::File(word.clone()));
            continue;
        }
        let read = option_word(word, option, &mut rest, unknown < SUGGESTIONS_MAX);
        unknown += usize::from(matches!(read, Word::Unknown(..)));
        found.push(read);
    }
    found
}

fn option_word<'a>(
    word: &str,
    option: &str,
    rest: &mut impl Iterator<Item = &'a String>,
    suggest: bool,
) -> Word {
    let (written, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (option, None),
    };
    let hyphens = &word[..word.len() - option.len()];
    let short = (hyphens == "-").then(|| letter(written)).flatten();
    let name = match short.map_or_else(|| full_name(written, suggest), Ok) {
        Ok(name) => name,
        Err(why) => return Word::Unknown(format!("{hyphens}{written}"), why),
    };
    let own = program_options().iter().find(|known| known.name == name);
    let takes = match own {
        Some(own) => own.takes,
        None if stands_alone(name) => Takes::Attached,
        None => Takes::Value,
    };
    let value = match (value, takes) {
        (Some(value), _) => Some(value),
        (None, Takes::Value) => match rest.next() {
            Some(value) => Some(value.clone()),
            None => {
                return Word::Unknown(format!("{hyphens}{name}"), "needs a value".to_owned());
            }
        },
        (None, _) => None,
    };
    match own {
        Some(own) => Word::Own(own, value),
        None => Word::Job(name.to_owned(), value),
    }
}

fn letter(written: &str) -> Option<&'static str> {
    let mut letters = written.chars();
    let (first, more) = (letters.next()?, letters.next());
    let known = program_options().iter().find(|own| more.is_none() && own.letter == first);
    known.map(|own| own.name.as_str())
}

/// Full name of an option: an exact match or the only one with this prefix; otherwise the reason,
/// with a suggestion if requested.
fn full_name(written: &str, suggest: bool) -> Result<&'static str, String> {
    let all = || program_options().iter().map(|own| own.name.as_str()).chain(names());
    if let Some(name) = all().find(|name| *name == written) {
        return Ok(name);
    }
    let begin: Vec<&str> = all().filter(|name| name.starts_with(written)).collect();
    match begin.as_slice() {
        [only] => Ok(only),
        [] => {
            let near = suggest.then(|| super::options::nearest_of(written, all())).flatten();
            Err(match near {
                Some(near) => format!("there is no such option; did you mean --{near}?"),
                None => "there is no such option".to_owned(),
            })
        }
        several => Err(format!("ambiguous: --{}", several.join(", --"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<Word> {
        words(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn job(name: &str, value: Option<&str>) -> Word {
        Word::Job(name.to_owned(), value.map(str::to_owned))
    }

    fn own(name: &str) -> &'static ProgramOption {
        program_options().iter().find(|own| own.name == name).unwrap()
    }

    #[test]
    fn options_are_parsed_like_getopt() {
        let wanted = [job("direct", Some("1")), job("iodepth", Some("4"))];
        for line in ["-direct=1 -iodepth 4", "--direct 1 --iodepth=4", "-direct 1 --iodepth 4"] {
            assert_eq!(read(line), wanted, "{line}");
        }
        assert_eq!(read("-thread x.fio"), [job("thread", None), Word::File("x.fio".to_owned())]);
        assert_eq!(read("-o out"), [Word::Own(own("output"), Some("out".to_owned()))]);
        assert_eq!(
            read("--minimal -v"),
            [Word::Own(own("minimal"), None), Word::Own(own("version"), None)]
        );
        let ambiguous = read("--iodept 4 --iod 4");
        assert!(
            matches!(
                &ambiguous[..],
                [Word::Unknown(..), Word::File(_), Word::Unknown(..), Word::File(_)]
            ),
            "{ambiguous:?}"
        );
        assert!(matches!(&read("--bs")[..], [Word::Unknown(name, _)] if name == "--bs"));
        let near = read("--ioengin_=x");
        assert!(matches!(&near[..], [Word::Unknown(_, why)] if why.contains("--ioengine?")));
    }
}
