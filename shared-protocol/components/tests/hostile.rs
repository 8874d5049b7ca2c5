//! Hostile files: each is rejected quickly, with a problem that names the reason.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use components::{ComponentLibrary, read};
use proptest::prelude::*;

fn view(view: &str) -> String {
    format!(r#"{{"format":1,"id":"ui.x","title":"X","view":{view}}}"#)
}

fn refused(text: &str, part: &str) {
    let problems = read("x.component.json", text).unwrap_err();
    assert!(
        problems.to_string().contains(part),
        "{}",
        problems.to_string().chars().take(300).collect::<String>()
    );
    assert!(problems.to_string().len() < 20_000);
}

#[test]
fn ten_megabytes() {
    refused(
        &view(&format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(10 << 20))),
        "bytes, more than the",
    );
}

#[test]
fn a_hundred_thousand_nodes() {
    let nodes = vec![r#"{"type":"box"}"#; 100_000].join(",");
    refused(&view(&format!(r#"{{"type":"box","children":[{nodes}]}}"#)), "bytes, more than the");
    let nodes = vec![r#"{"type":"box"}"#; 40_000].join(",");
    refused(&view(&format!(r#"{{"type":"box","children":[{nodes}]}}"#)), "values");
    let nodes = vec![r#"{"type":"box"}"#; 10_000].join(",");
    refused(&view(&format!(r#"{{"type":"box","children":[{nodes}]}}"#)), "more than 2000 nodes");
}

#[test]
fn depth() {
    let deep = |levels: usize| {
        view(&format!(
            "{}{}{}",
            r#"{"type":"box","children":["#.repeat(levels),
            r#"{"type":"box"}"#,
            "]}".repeat(levels)
        ))
    };
    refused(&deep(10_000), "levels deep");
    assert!(read("x.component.json", &deep(25)).is_ok());
    let yaml = format!("format: 1\nid: ui.x\ntitle: X\nview: {}", "[".repeat(50_000));
    assert!(read("x.component.yaml", &yaml).is_err());
}

#[test]
fn laughs() {
    let mut yaml = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let before = vec![format!("*a{}", level - 1); 10].join(",");
        yaml.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    assert!(read("x.component.yaml", &yaml).unwrap_err().to_string().contains("anchor"));
}

#[test]
fn sizes_that_are_no_sizes() {
    for size in ["1e999", "NaN", "-1", "1e308", "\"NaN%\"", "\"1e9%\"", "null", "[]", "\"-5%\""] {
        let text = view(&format!(r#"{{"type":"box","style":{{"width":{size}}}}}"#));
        assert!(read("x.component.json", &text).is_err(), "{size}");
    }
}

#[test]
fn enormous_and_deceptive_texts() {
    refused(&view(&format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(100_000))), "longer than");
    refused(&view(r#"{"type":"text","text":"pay \u202egro.elpmaxe"}"#), "U+202E");
    refused(r#"{"format":1,"id":"ui.x","title":"a\u200bb","view":{"type":"box"}}"#, "U+200B");
}

#[test]
fn many_mistakes_give_a_bounded_answer() {
    let nodes = vec![r#"{"type":"nothing"}"#; 1_900].join(",");
    let problems =
        read("x.component.json", &view(&format!(r#"{{"type":"box","children":[{nodes}]}}"#))).unwrap_err();
    assert_eq!(problems.0.len(), components::MAX_PROBLEMS);
}

#[test]
fn a_flood_of_files() {
    let mut library = ComponentLibrary::default();
    for number in 0..600 {
        library.insert(
            &format!("{number:04}.component.yaml"),
            &format!("format: 1\nid: ui.x{number}\ntitle: X\nview: {{ type: box }}\n"),
        );
    }
    library.rebuild_index();
    assert_eq!(library.components().count(), components::MAX_FILES);
    assert!(library.problems().any(|problem| problem.message.contains("component files")));
}

proptest! {
    #[test]
    fn any_text_ends_without_a_panic(text in "\\PC{0,200}") {
        let _ = read("x.component.json", &text);
        let _ = read("x.component.yaml", &text);
    }

    #[test]
    fn any_mixture_of_our_words_ends_without_a_panic(words in prop::collection::vec(
        prop::sample::select(vec![
            "format", "id", "title", "view", "type", "box", "text", "children", "style", "gap", "=props.a", ":", ": ", "\n",
            "  ", "- ", "{", "}", "[", "]", ",", "1", "\"", "props", "control", "string", "each", "items", "if", "|", "&a", "*a",
        ]), 0..60,
    )) {
        let text = words.concat();
        let _ = read("x.component.json", &text);
        let _ = read("x.component.yaml", &text);
    }
}
