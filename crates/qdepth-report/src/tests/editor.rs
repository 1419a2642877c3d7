//! Editorial tests: too many figures in a sentence, long headings and titles, tall legends,
//! paragraphs with the same beginning, pages of parameters.

use qdepth_record::{Observation, PointRecord, RunRecord};

use crate::compose;
use crate::document::{Block, Document, Table};
use crate::presentation::Presentation;
use crate::section::explain;
use crate::tests::fixture;
use crate::view::View;
use crate::words::Lang;

const PRODUCTS: [&str; 3] =
    ["Intel P3700 800 GB", "Intel Optane P4800X 375 GB", "SAS-2.0 SSD 400 GB"];

/// Three drives with names as long as those of products.
fn run() -> RunRecord {
    let mut run = fixture::run(3);
    for (target, product) in run.targets.iter_mut().zip(PRODUCTS) {
        (target.name, target.expression) = (product.into(), product.into());
        let fact = |key: &str, value: &str, subject: &str| Observation {
            subject: subject.into(),
            key: key.into(),
            value: Ok(value.into()),
            source: qdepth_record::source::DESCRIPTION.into(),
        };
        // The data path limits each load.
        target.facts = [
            ("host", "read_us", "0 µs"),
            ("host", "write_us", "0 µs"),
            ("host", "us_per_kib", "0 µs"),
            (product, "command_us", "100000 µs"),
        ]
        .map(|(subject, key, value)| fact(key, value, subject))
        .to_vec();
    }
    run
}

/// The second target is ahead.
fn points() -> Vec<PointRecord> {
    let mut points = fixture::points(3);
    for point in points.iter_mut().filter(|point| point.target == 1) {
        for slice in &mut point.intervals {
            (slice.reads, slice.writes) = (slice.reads * 2, slice.writes * 2);
        }
        for direction in [&mut point.reads, &mut point.writes] {
            direction.completed *= 2;
            direction.bytes *= 2;
        }
    }
    points
}

fn document(lang: Lang) -> Document {
    compose(&run(), &points(), lang)
}

fn blocks(document: &Document) -> impl Iterator<Item = &Block> {
    let sections = document.sections.iter().flat_map(|section| &section.blocks);
    document.answer.iter().chain(sections)
}

fn tables(document: &Document) -> impl Iterator<Item = &Table> {
    blocks(document).filter_map(|b| if let Block::Table(table) = b { Some(table) } else { None })
}

/// Figures in a sentence, without those in names.
fn figures(sentence: &str) -> usize {
    let bare = PRODUCTS.iter().fold(sentence.to_owned(), |text, name| text.replace(name, ""));
    let bare = bare.replace(',', "").replace("±\u{a0}", "±");
    // A half-width belongs to its figure.
    let parts = bare.split('±').enumerate();
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let own = |(index, part): (usize, &str)| match index == 0 {
        true => part.to_owned(),
        false => part.trim_start_matches(digits).to_owned(),
    };
    let bare: String = parts.map(own).collect();
    let words = bare.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let counts = |word: &&str| word.chars().any(|c| c.is_ascii_digit());
    // A queue depth is not a result.
    let queue_depth = ["1", "2", "4", "8", "16", "32", "64", "128", "256"];
    words.filter(counts).filter(|word| !queue_depth.contains(word)).count()
}

#[test]
fn answer_sentences_have_at_most_three_figures() {
    let few = |answer: &str| {
        let sentences = answer.split(". ").flat_map(|text| text.split('。'));
        let mut counts = sentences.filter(|text| !text.is_empty()).map(figures);
        counts.all(|figures| (1..=3).contains(&figures))
    };
    for lang in Lang::ALL {
        let first = &document(lang).summary[0];
        assert!(few(first), "{first}");
        assert!(first.contains(PRODUCTS[1]), "the one that is ahead: {first}");
        // If no target is ahead of all others, the largest values stand for all.
        let even = compose(&run(), &fixture::points(3), lang).summary.swap_remove(0);
        assert!(few(&even), "{even}");
    }
}

#[test]
fn title_has_at_most_two_lines() {
    for lang in Lang::ALL {
        let title = document(lang).title;
        assert!(title.chars().count() < 80, "{title}");
        assert!(["P3700", "P4800X", "SAS-2.0"].iter().all(|name| title.contains(name)), "{title}");
        // The part that distinguishes two names remains.
        let mut alike = run();
        alike.targets[1].name = "Intel P3700 1600 GB".into();
        let title = compose(&alike, &points(), lang).title;
        assert!(title.contains("Intel P3700 800 GB"), "{title}");
        let long = |number: u32| format!("/mnt/a-directory-of-a-long-name-{number} (ext4 on vda)");
        (0..3).for_each(|index| alike.targets[index].name = long(index as u32));
        let title = compose(&alike, &points(), lang).title;
        assert!(title.contains(&long(0)[..20]) && title.chars().count() < 100, "{title}");
    }
}

#[test]
fn title_names_the_common_part_of_targets() {
    let title = |names: [&str; 2]| {
        let mut run = run();
        run.targets.truncate(2);
        run.targets.iter_mut().zip(names).for_each(|(target, name)| target.name = name.into());
        let mut points = points();
        points.retain(|point| point.target < 2);
        compose(&run, &points, Lang::En).title
    };
    let drive = "Fusion-io ioDrive 320 GB";
    let options = ["Advertised Capacity", "Maximum Write Performance"];
    let [first, second] = options.map(|option| format!("{drive}, {option}"));
    assert_eq!(title([&first, &second]), format!("Storage performance of {drive}"));
    let array = format!("RAID 0 (4 × {})", PRODUCTS[1]);
    assert_eq!(title([PRODUCTS[1], &array]), format!("Storage performance of {}", PRODUCTS[1]));
}

#[test]
fn sentence_names_at_most_six_loads() {
    let mut points = points();
    let mut more = points.clone();
    more.iter_mut().for_each(|point| {
        (point.profile, point.profile_title) =
            (format!("{}-2", point.profile), format!("{} again", point.profile_title));
        point.index += 1000;
    });
    points.extend(more);
    let document = compose(&run(), &points, Lang::En);
    assert!(document.summary[1].contains("under 10 load profiles with"), "{:?}", document.summary);
    let conclusion = document.sections.iter().find(|section| section.id == "conclusion").unwrap();
    let Block::Paragraph(text) = &conclusion.blocks[0] else { panic!() };
    assert_eq!(text.matches(" reaches ").count(), 6, "{text}");
    assert!(text.ends_with("The key figures list 4 more."), "{text}");
}

#[test]
fn ratio_headings_use_letters_for_long_names() {
    for lang in Lang::ALL {
        let document = document(lang);
        let heads = tables(&document).flat_map(|table| &table.columns).map(|c| &*c.heading);
        let long: Vec<&str> = heads.filter(|head| head.contains('÷') && head.len() > 8).collect();
        assert_eq!(long, Vec::<&str>::new());
        // Each table explains the letters.
        for table in tables(&document) {
            let says = |letter: char, name: &str| {
                let heads = table.columns.iter().map(|column| &*column.heading);
                heads.chain([&*table.note]).any(|text| {
                    [": ", "："].iter().any(|sign| text.contains(&format!("{letter}{sign}{name}")))
                })
            };
            if table.columns.iter().any(|column| column.heading.contains('÷')) {
                let all = ['A', 'B', 'C'].into_iter().zip(PRODUCTS);
                assert!(all.clone().all(|(letter, name)| says(letter, name)), "{}", table.caption);
            }
        }
    }
}

#[test]
fn diagrams_have_at_most_six_lines() {
    let document = document(Lang::En);
    for block in blocks(&document) {
        let Block::Pictures(pictures) = block else { continue };
        for picture in pictures {
            let named = picture.figure.series.iter().filter(|series| !series.name.is_empty());
            assert!(named.count() <= 6, "{}", picture.title);
        }
    }
}

#[test]
fn adjacent_paragraphs_begin_differently() {
    let (run, points) = (run(), points());
    for lang in Lang::ALL {
        let presentation = Presentation::from(lang);
        let view = View::new(&run, &points, None, &presentation);
        let paragraphs: Vec<String> =
            view.swept().map(|load| explain::of_load(&view, load).concat()).collect();
        let begins = |text: &String| text.chars().take(60).collect::<String>();
        for pair in paragraphs.windows(2) {
            assert_ne!(begins(&pair[0]), begins(&pair[1]));
        }
        assert!(paragraphs.iter().all(|text| !text.is_empty()), "{paragraphs:?}");
    }
}

#[test]
fn device_parameters_are_an_attachment() {
    let mut run = run();
    run.emulated = true;
    run.targets.iter_mut().for_each(|target| target.kind = qdepth_record::TargetKind::Emulated);
    for lang in Lang::ALL {
        let document = compose(&run, &points(), lang);
        let parameters = document.sections.iter().find(|section| section.id == "parameters");
        let [Block::Attachment { text, .. }] = &*parameters.unwrap().blocks else {
            panic!("a file")
        };
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert!(rows.len() >= 6 && rows.iter().all(|row| row.contains("EMULATED")), "{text}");
        assert!(rows.iter().all(|row| !row.starts_with(',')), "each says whose it is: {text}");
    }
}

/// Running text of a document.
fn prose(document: &Document) -> Vec<&str> {
    let mut all: Vec<&str> = document.summary.iter().map(String::as_str).collect();
    for block in blocks(document) {
        match block {
            Block::Paragraph(text) => all.push(text),
            Block::SumUp { sentences, .. } => all.extend(sentences.iter().map(String::as_str)),
            Block::Table(table) if !table.note.is_empty() => all.push(&table.note),
            _ => {}
        }
    }
    all
}

/// True if a text ends as a sentence does, and no sentence in it begins with a small letter. Names
/// of devices, which have digits, may.
fn is_of_sentences(text: &str) -> bool {
    let text = text.trim_end().trim_end_matches(['”', ')', '）', '`', '*']);
    let mut first_words = text.split(". ").skip(1).filter_map(|rest| rest.split([' ', ':']).next());
    let is_name = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let is_small = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
    text.ends_with(['.', '?', ':', '。', '：', '？'])
        && !first_words.any(|word| is_small(word) && !is_name(word))
}

#[test]
fn all_running_text_is_made_of_sentences() {
    assert!(!is_of_sentences("It reaches 58,000 IOPS (QD 8). latency"));
    assert!(!is_of_sentences("It reaches 58,000 IOPS. latency is low."));
    let of_load = |targets: u32| {
        let points = fixture::points(targets).into_iter();
        points.filter(|point| point.profile_title == "Database").collect::<Vec<_>>()
    };
    let mut texts = 0;
    for lang in [Lang::En, Lang::Ja] {
        let composed =
            |targets, points: &[PointRecord]| compose(&fixture::run(targets), points, lang);
        let campaign =
            |id: &str| (RunRecord { id: id.to_owned(), ..fixture::run(2) }, fixture::points(2));
        let documents = [
            document(lang),
            composed(1, &fixture::points(1)),
            composed(2, &fixture::troubled(fixture::points(2))),
            composed(7, &fixture::points(7)),
            composed(1, &of_load(1)),
            composed(2, &of_load(2)),
            composed(3, &of_load(3)),
            composed(1, &[fixture::one_point(8)]),
            composed(1, &[]),
            crate::compose_campaign(&[campaign("a"), campaign("b")], lang),
            crate::section::pressure::tests::example(lang),
        ];
        let all = documents.iter().flat_map(prose);
        let all: Vec<&str> =
            all.filter(|text| !text.ends_with("github.com/qdepth/qdepth")).collect();
        let broken: Vec<_> = all.iter().filter(|text| !is_of_sentences(text)).collect();
        assert!(broken.is_empty(), "{broken:#?}");
        texts += all.len();
    }
    assert!(texts > 300, "{texts}");
}
