//! Links: what a wrong one says, word for word, and that right ones come back as they were.

use palimpsest_spec::{Correction, Kind, Settings, VERSION};
use palimpsest_tasks::tasks;
use proptest::prelude::*;

/// The sentences that a link draws.
fn told(link: &str) -> Vec<String> {
    Settings::from_link(link).1.iter().map(Correction::to_string).collect()
}

/// The one sentence that a link draws, and the value of a key after it.
fn one(link: &str, key: &str) -> (String, String) {
    let (settings, notes) = Settings::from_link(link);
    assert_eq!(notes.len(), 1, "{link}: {notes:?}");
    assert_eq!(Settings::from_text_strict(link), Err(notes.clone()), "the command line refuses what a link corrects");
    (notes[0].to_string(), settings.get(key).map(|value| value.to_string()).unwrap_or_default())
}

macro_rules! says {
    ($($name:ident: $link:literal => $sentence:literal, $key:literal = $value:literal;)+) => {
        $(#[test]
        fn $name() {
            assert_eq!(one($link, $key), ($sentence.to_owned(), $value.to_owned()));
        })+
    };
}

says! {
    pairs_out_of_range: "pairs=900" => "pairs=900 is out of range 1 to 16 for length 64: using 16", "pairs" = "16";
    pairs_far_out_of_range: "pairs=1e9" => "pairs=1e9 is out of range 1 to 16 for length 64: using 16", "pairs" = "16";
    negative: "batch=-3" => "batch=-3 is out of range 1 to 1024: using 1", "batch" = "1";
    not_a_multiple: "key=30" => "key=30 is not a multiple of 4 from 4 to 128: using 32", "key" = "32";
    not_whole: "steps=10.4" => "steps=10.4 is not a whole number from 1 to 1000000: using 10", "steps" = "10";
    word_twice: "lengths=64,64,128,64" => "lengths=64,64,128,64 is a list with 64 more than once, where each may come once: using 64,128", "lengths" = "64,128";
    not_a_number: "lr=fast" => "lr=fast is not a number: using 0.003", "lr" = "0.003";
    nan: "lr=NaN" => "lr=NaN is not a number: using 0.003", "lr" = "0.003";
    infinite: "clip=inf" => "clip=inf is not a number: using 1", "clip" = "1";
    empty: "batch=" => "batch= is empty: using 64", "batch" = "64";
    no_equals_sign: "batch" => "batch= is empty: using 64", "batch" = "64";
    not_a_flag: "output_gate=maybe" => "output_gate=maybe is not 0 or 1: using 1", "output_gate" = "1";
    misspelt_word: "schedule=cosin" => "schedule=cosin is not one of cosine, wsd, constant: using cosine", "schedule" = "cosine";
    unknown_word: "schedule=zigzag" => "schedule=zigzag is not one of cosine, wsd, constant: using cosine", "schedule" = "cosine";
    misspelt_key: "pair=8" => "pair is not a setting: read as pairs", "pairs" = "8";
    misspelt_key_given_too: "pair=8&pairs=2" => "pair is not a setting: ignored, did you mean pairs?", "pairs" = "2";
    misspelt_task: "tsk=needle" => "tsk is not a setting: read as task", "task" = "needle";
    unknown_key: "frobnicate=1" => "frobnicate is not a setting: ignored", "lr" = "0.003";
    of_another_task: "writes=9" => "writes is a setting of task=overwrite, not of task=mqar: ignored", "lr" = "0.003";
    twice: "lr=0.1&lr=0.01" => "lr is given 2 times: using the last, 0.01", "lr" = "0.01";
    too_new: "v=7&lr=0.01" => "v=7 is newer than the version known here: reading it as v=1", "lr" = "0.01";
    no_version: "v=x" => "v=x is not a known version: reading it as v=1", "lr" = "0.003";
    no_name: "=4" => "a value without a name: ignored", "lr" = "0.003";
    default_no_longer_fits: "length=8" => "pairs=4, the default, is out of range 1 to 2 for length 8: using 2", "pairs" = "2";
    layer_not_there: "layer=5" => "layer=5 is out of range 1 to 2 for layers=2: using 2", "layer" = "2";
    head_not_there: "head=3&heads=1" => "head=3 is out of range 1 to 1 for heads=1: using 1", "head" = "1";
    seeds_beyond_the_last: "seed=4294967294&seeds=3" =>
        "seeds=3 is more than there are from seed=4294967294 on, where 4294967295 is the last: using 2", "seeds" = "2";
    control_characters: "lr=%1b[31m%00" => "lr=\u{fffd}[31m\u{fffd} is not a number: using 0.003", "lr" = "0.003";
    turned_around: "lr=%E2%80%AE1" => "lr=\u{fffd}1 is not a number: using 0.003", "lr" = "0.003";
    not_utf8: "lr=%ff" => "lr=\u{fffd} is not a number: using 0.003", "lr" = "0.003";
    long_value: "lr=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz" =>
        "lr=abcdefghijklmnopqrstuvwxyzabcdefghijklmn… is not a number: using 0.003", "lr" = "0.003";
}

/// The numbers depend on the default rule's inputs, so only their frame is known.
#[test]
fn what_no_gpu_can_hold_is_made_smaller() {
    let (sentence, layers) = one("layers=24&width=1024&mlp=8", "layers");
    assert!(sentence.starts_with("layers=24 is more than fits: 6"), "{sentence}");
    assert!(sentence.ends_with(" million parameters, where 34 million are the most: using 1"), "{sentence}");
    assert_eq!(layers, "1");
    let (sentence, batch) = one("batch=1024&length=32768", "batch");
    assert!(sentence.starts_with("batch=1024 is more than fits: one tensor would take "), "{sentence}");
    assert!(sentence.ends_with(&format!(" GB, where 1.1 GB is the most: using {batch}")), "{sentence}");
    assert!((4..40).contains(&batch.parse::<u32>().unwrap()), "{sentence}");
    let (sentence, batch) = one("length=4096&backend=cpu", "batch");
    assert!(sentence.starts_with("batch=64, the default, is more than fits: the model would take "), "{sentence}");
    assert!(sentence.ends_with(&format!(" GB, where 2.1 GB is the most on the CPU: using {batch}")), "{sentence}");
    assert!((2..64).contains(&batch.parse::<u32>().unwrap()), "{sentence}");
    let largest = "vocab=16384&length=32768&pairs=4096&batch=1024&layers=24&width=1024&heads=16&key=128&value=128&mlp=8";
    let (settings, notes) = Settings::from_link(largest);
    assert_eq!(Settings::from_text_strict(&settings.to_link()), Ok(settings));
    assert!(notes.iter().any(|note| note.sentence.starts_with("width=1024 is more than fits: ")), "{notes:?}");
    assert!(notes.iter().any(|note| note.sentence.starts_with("length=32768 is more than fits: ")), "{notes:?}");
}

/// The command line uses nothing of what is wrong, and says so in other words.
#[test]
fn a_refusal_says_what_would_be_valid() {
    let refusal = |link: &str| Settings::from_text_strict(link).unwrap_err()[0].refusal.clone();
    assert_eq!(refusal("pairs=900"), "pairs=900 is out of range 1 to 16 for length 64: nearest valid: 16");
    assert_eq!(refusal("steps=4.5"), "steps=4.5 is not a whole number from 1 to 1000000: nearest valid: 5");
    let slug = palimpsest_rules::rules()[0].slug();
    let twice = format!("rules={slug},{slug}");
    assert_eq!(refusal(&twice), format!("{twice} is a list with {slug} more than once, where each may come once: nearest valid: {slug}"));
    assert_eq!(refusal("lr=fast"), "lr=fast is not a number: valid is 0.003, for one");
    assert_eq!(refusal("pair=8"), "pair is not a setting: did you mean pairs?");
    assert_eq!(refusal("frobnicate=1"), "frobnicate is not a setting: leave it out");
    assert_eq!(refusal("lr=0.1&lr=0.01"), "lr is given 2 times: give it once");
    assert_eq!(refusal("v=7"), "v=7 is newer than the version known here: the known version is 1");
}

#[test]
fn a_misspelt_rule_becomes_the_nearest() {
    for rule in palimpsest_rules::rules() {
        let (settings, notes) = Settings::from_link(&format!("rule={}", rule.slug().to_uppercase()));
        assert_eq!(settings.rule().slug(), rule.slug());
        assert_eq!(notes.len(), 1);
        assert!(notes[0].sentence.ends_with(&format!(": using {}", rule.slug())), "{}", notes[0]);
    }
}

#[test]
fn rules_in_turn_drop_what_is_none() {
    let slugs: Vec<&str> = palimpsest_rules::rules().iter().map(|rule| rule.slug()).take(2).collect();
    let (settings, notes) = Settings::from_link(&format!("rules={},nonesuch,{}&seeds=2", slugs[1], slugs[0]));
    assert_eq!(settings.rules_in_turn().iter().map(|rule| rule.slug()).collect::<Vec<_>>(), [slugs[1], slugs[0]]);
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0]
            .sentence
            .starts_with(&format!("rules={},nonesuch,{} is wrong in nonesuch, where each must be one of ", slugs[1], slugs[0]))
    );
    let runs: Vec<(&str, u64)> = settings.in_turn().iter().map(|run| (run.rule().slug(), run.seed())).collect();
    assert_eq!(runs, [(slugs[1], 0), (slugs[1], 1), (slugs[0], 0), (slugs[0], 1)]);
}

#[test]
fn percent_signs_and_question_marks_are_read() {
    assert_eq!(told("?v=1&lr=1%65-2&output%5Fgate=0"), Vec::<String>::new());
    let (settings, _) = Settings::from_link("?v=1&lr=1%65-2&output%5Fgate=0");
    assert_eq!((settings.lr(), settings.output_gate()), (0.01, false));
    assert_eq!(told(" \n"), Vec::<String>::new());
}

#[test]
fn a_megabyte_of_anything_is_read_in_no_time() {
    let start = std::time::Instant::now();
    let junk: String = (0..1 << 20).map(|i: u32| char::from((i.wrapping_mul(2_654_435_761) >> 24) as u8 % 95 + 32)).collect();
    for text in [junk, "a&".repeat(1 << 19), "=".repeat(1 << 20), "é".repeat(1 << 19), "pairs=1&".repeat(1 << 17), "%".repeat(1 << 20)] {
        let (settings, notes) = Settings::from_link(&text);
        assert!(
            notes[0].sentence.starts_with(&format!("the settings are {} bytes long: only the first ", text.trim().len())),
            "{}",
            notes[0]
        );
        assert!(notes.len() <= 21);
        assert!(notes.iter().all(|note| note.sentence.len() < 400 && !note.sentence.contains(|c: char| c.is_control())));
        assert_eq!(Settings::from_link(&settings.to_link()), (settings, Vec::new()));
    }
    assert!(start.elapsed().as_secs() < 5);
    let many: String = (0..100).map(|i| format!("zzzzzz{i}=1&")).collect();
    assert_eq!(told(&many).last().map(String::as_str), Some("80 more parts are wrong too"));
}

#[test]
fn the_default_link_is_the_version() {
    assert_eq!(Settings::default().to_link(), format!("v={VERSION}"));
    assert_eq!(Settings::from_link(""), (Settings::default(), Vec::new()));
}

/// A link with any rows of any task at any valid values, from numbers in 0..1.
fn link(task: usize, picks: &[(usize, f64)]) -> String {
    let task = tasks()[task % tasks().len()];
    let (base, _) = Settings::from_link(&format!("task={}", task.slug()));
    let rows = base.rows();
    let mut parts = vec![format!("task={}", task.slug())];
    for (pick, share) in picks {
        let row = &rows[pick % rows.len()];
        let value = match &row.kind {
            Kind::Int { min, max, step } => {
                (f64::from(*min) + (share.powi(4) * f64::from((max - min) / step)).floor() * f64::from(*step)).to_string()
            }
            Kind::Float { min, max, .. } => (min + share * (max - min)).to_string(),
            Kind::Flag => share.round().to_string(),
            Kind::Choice(choices) => choices[(share * choices.len() as f64) as usize].word.to_owned(),
            Kind::Words(choices) => {
                choices.iter().take((share * choices.len() as f64) as usize).map(|c| c.word).collect::<Vec<_>>().join(",")
            }
        };
        if row.key != "task" && !parts.iter().any(|part| part.starts_with(&format!("{}=", row.key))) {
            parts.push(format!("{}={value}", row.key));
        }
    }
    parts.join("&")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn links_come_back_as_they_were(task in 0usize..8, picks in prop::collection::vec((0usize..64, 0.0f64..1.0), 0..24)) {
        let link = link(task, &picks);
        let (settings, _) = Settings::from_link(&link);
        let written = settings.to_link();
        prop_assert!(written.chars().all(|c| c.is_ascii_alphanumeric() || "_-.,=&".contains(c)), "{}", written);
        prop_assert_eq!(Settings::from_text_strict(&written), Ok(settings.clone()));
        prop_assert_eq!(Settings::from_link(&written).0.to_link(), written.clone());
        let bytes = postcard::to_allocvec(&settings).unwrap();
        prop_assert_eq!(postcard::from_bytes::<Settings>(&bytes).unwrap(), settings.clone());
        // one by one, in the order of the link, they end at the same settings or at others that are valid
        let mut one_by_one = Settings::default();
        for part in written.split('&').skip(1) {
            let (key, value) = part.split_once('=').unwrap();
            one_by_one.set(key, value).unwrap();
        }
        prop_assert_eq!(Settings::from_text_strict(&one_by_one.to_link()), Ok(one_by_one));
    }

    #[test]
    fn any_text_becomes_valid_settings(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            let (settings, notes) = Settings::from_link(&text);
            prop_assert_eq!(Settings::from_text_strict(&settings.to_link()), Ok(settings.clone()));
            prop_assert!(settings.task().check(&settings.task_settings()).is_ok());
            prop_assert!(notes.iter().all(|note| !note.sentence.contains(|c: char| c.is_control())));
        }
    }
}
