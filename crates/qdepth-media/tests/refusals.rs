//! Invalid input is refused with the field, the value, the permitted values and the most similar
//! name; nothing panics.

use proptest::prelude::*;
use qdepth_media::{Description, TargetExpression};

#[cfg(test)]
fn refusal(expression: &str) -> String {
    match TargetExpression::read(expression).and_then(|s| s.shape()) {
        Ok(_) => panic!("{expression} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_refusal_suggests_a_correction() {
    for (expression, words) in [
        ("media:p3700-80gb", &["emulated device `p3700-80gb`", "Did you mean `p3700-800gb`"][..]),
        ("media:iodrive-320gb/improved", &["Did you mean `improved-write`"]),
        ("media:p3700-800gb/improved", &["no formatting options"]),
        ("media:p3700-800gb @die=3", &["`die`", "Did you mean `dies`"]),
        ("media:p3700-800gb @dies=0", &["dies = 0", "1 to 65536"]),
        ("media:p3700-800gb @cpu=99GHz", &["@cpu = 99", "0.1 to 10 GHz"]),
        ("media:p3700-800gb @area=900GiB", &["`@area=900GiB`", "only 800 GB", "@area=full"]),
        ("media:p3700-800gb @state=old", &["`old`", "fresh, preconditioned, steady"]),
        ("media:p3700-800gb @host=rx2530", &["Did you mean `rx2530-m1`"]),
        ("media:p3700-800gb @cooling", &["name=value"]),
        ("raid1(media:p3700-800gb)", &["but has 1", "'raid1(media:p3700-800gb*2)'"]),
        ("raid5(media:null*2)", &["raid5 needs at least 3", "Write 'raid5(media:null*3)'"]),
        ("raid10(media:p3700-800gb*5)", &["but has 5", "even number", "b*6)'"]),
        ("raid0(media:p3700-800gb*0)", &["between 1 and 64"]),
        ("raid6(media:p3700-800gb*4)", &["arrangement `raid6`", "raid5"]),
        ("raid0(media:p3700-800gb*2, stripe=1000)", &["a multiple of 4KiB"]),
        ("raid0(independent(media:p3700-800gb*2)*2)", &["outermost"]),
        ("fault(media:null, sometimes)", &["errors=N"]),
        ("delay(media:null)", &["100us"]),
        ("pressure(media:fixed, 100MB/s)", &["one solid-state drive"]),
        ("raid0(media:null*2", &["a closing parenthesis is missing. Write 'raid0(media:null*2)'"]),
        ("raid0(delay(media:null, 1us", &["Write 'raid0(delay(media:null, 1us))'"]),
        ("raid0(media:null*2)x", &["may follow the last `)`"]),
        ("media:", &["emulated device ``"]),
    ] {
        let said = refusal(expression);
        for word in words {
            assert!(said.contains(word), "{expression}: `{said}` lacks `{word}`");
        }
    }
}

#[test]
fn data_sheet_promises_are_positive_and_not_inherited() {
    let described = |sheet: &str| {
        let text = format!("title = \"D\"\nlike = \"p3700-800gb\"\n[data_sheet]\n{sheet}\n");
        Description::read("own", &text)
    };
    for (sheet, word) in [
        ("random_read_4k_io_s = { value = 0, from = \"x\" }", "data_sheet.random_read_4k_io_s"),
        ("sequential_read_mb_s = { value = -1, from = \"x\" }", "above 0"),
        ("sequential_read_mb_s = { value = inf, from = \"x\" }", "above 0"),
        ("sequential_read_mb_s = 2800", "sequential_read_mb_s"),
        ("random_trim_io_s = { value = 1, from = \"x\" }", "random_trim_io_s"),
    ] {
        let said = described(sheet).expect_err(sheet).to_string();
        assert!(said.contains(word), "{sheet}: `{said}` lacks `{word}`");
    }
    assert_eq!(described("").unwrap().data_sheet.promises().count(), 0, "those of another drive");
    let facts = |text: &str| {
        let facts = TargetExpression::read(text).unwrap().facts();
        let promised = facts.into_iter().filter(|(_, key, _)| key.starts_with("data_sheet_"));
        promised.map(|(subject, key, value)| format!("{subject} {key} {value}")).collect::<Vec<_>>()
    };
    let facts_800 = facts("media:p3700-800gb");
    let read = "p3700-800gb data_sheet_sequential_read_mb_s 2800 MB/s (10^6 bytes)";
    assert!(facts_800.len() == 4 && facts_800[0] == read, "{facts_800:?}");
    assert_eq!(facts("media:iodrive-320gb"), [""; 0]);
}

proptest! {
    #[test]
    fn any_expression_text_parses_without_panic(
        text in "(media:|raid0\\(|raid5\\(|delay\\(|@|\\*|,|\\)|=|[a-z0-9µ/ -]){0,24}",
    ) {
        let _ = TargetExpression::read(&text).and_then(|s| s.shape());
    }

    #[test]
    fn any_parameter_value_is_accepted_without_panic(
        value in -1e9f64..1e9,
        name in "(dies|spare_gb|die_chunk_kib|die_program_us|capacity_gb|link_mb_s|buffer_chunks)",
    ) {
        let _ = TargetExpression::read(&format!("media:p3700-800gb @{name}={value}"));
    }
}
