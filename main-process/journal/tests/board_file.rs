//! Board files: a written board reads back unchanged, and an invalid file is refused with a position and a reason.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod common;

use common::{board_document, small_board};
use journal::{FileError, read_board, write_board};
use proptest::prelude::*;
use shared_protocol::BoardName;

fn main_board() -> BoardName {
    BoardName::parse("main").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_written_reads_back(mut document in board_document()) {
        let text = write_board(&document).unwrap();
        let read = read_board(&text, &main_board()).unwrap();
        prop_assert_eq!(&read, &document);
        prop_assert_eq!(write_board(&read).unwrap(), text.as_str());
        prop_assert!(text.ends_with("}\n"), "a newline at the end");
        let lines = 6 + document.nodes.len() + document.edges.len() + document.layout.len();
        let filled = [document.nodes.len(), document.edges.len(), document.layout.len()].iter().filter(|n| **n > 0).count();
        prop_assert_eq!(text.lines().count(), lines + 1 + filled, "one element a line: {}", text);
        document.nodes.reverse();
        document.edges.reverse();
        document.layout.reverse();
        prop_assert_eq!(write_board(&document).unwrap(), text, "the order of lists does not matter");
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}", at in any::<prop::sample::Index>(), junk in any::<char>()) {
        let _ = read_board(&text, &main_board());
        let valid = write_board(&small_board()).unwrap();
        let mut chars: Vec<char> = valid.chars().collect();
        let place = at.index(chars.len());
        chars[place] = junk;
        let _ = read_board(&chars.into_iter().collect::<String>(), &main_board());
    }
}

#[test]
fn the_format_is_this() {
    let expected = r#"{
  "format": 1,
  "board": {"id":"b-000000000007","kind":"infrastructure","title":"Main"},
  "nodes": {
    "n-0000000000z8": {"type":"aws/compute/instance","name":"node_0","label":"Network"},
    "n-00000000010d": {"type":"aws/compute/instance","name":"node_1","label":"Web \"é\"","parent":"n-0000000000z8","props":{"count":3,"size":"t3.micro"},"references":{"uses":["n-0000000000z8","n-0000000000z8"]}},
    "n-00000000011j": {"type":"aws/compute/instance","name":"node_2","parent":"n-0000000000z8"}
  },
  "edges": {
    "e-000000000005": {"from":"n-00000000010d:out","to":"n-00000000011j:in","label":"calls"}
  },
  "layout": {
    "n-0000000000z8": [0,20,184,64],
    "n-00000000010d": [20,20,184,64],
    "n-00000000011j": [300,20,184,64]
  }
}
"#;
    assert_eq!(write_board(&small_board()).unwrap(), expected);
    assert_eq!(read_board(expected, &main_board()).unwrap(), small_board());
    assert_eq!(read_board(&format!("\u{feff}{expected}"), &main_board()).unwrap(), small_board());
    assert_eq!(read_board(&expected.replace('\n', "\r\n"), &main_board()).unwrap(), small_board());
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let text = write_board(&small_board()).unwrap();
    let whole = text.trim_end().len();
    for (at, _) in text.char_indices().filter(|(at, _)| *at < whole) {
        let error = read_board(&text[..at], &main_board()).unwrap_err();
        assert!(matches!(error, FileError::Malformed { position: Some(_), .. }), "{at}: {error:?}");
    }
}

#[test]
fn refusals_say_where_and_what() {
    let text = write_board(&small_board()).unwrap();
    let mut wrong = Vec::new();
    let deep = format!("{}1{}", "[".repeat(33), "]".repeat(33));
    for (from, to, words) in [
        ("\"label\":\"calls\"", "\"lable\":\"calls\"", "line 10, column 83: unknown field `lable`"),
        ("\"format\": 1,", "\"format\": 1, \"format\": 1,", "duplicate field `format`"),
        ("\"format\": 1,", "\"format\": 0,", "expected \"format\": 1, found 0"),
        ("\"format\": 1,", "", "missing field `format`"),
        ("\"name\":\"node_2\"", "\"name\":\"Node 2\"", "is not a name: expected a lower-case letter"),
        ("\"name\":\"node_2\",", "\"name\":\"node_2\",\"name\":\"x\",", "duplicate field `name`"),
        ("\"n-00000000011j\": {", "\"n-00000000010d\": {", "n-00000000010d appears twice"),
        ("\"n-00000000011j\": {", "\"n-11j\": {", "line 7, column 11: \"n-11j\" is not a node id"),
        ("\"count\":3", "\"count\":3,\"count\":4", "count appears twice"),
        ("\"count\":3", "\"count\":{\"a\":1,\"a\":2}", "\"a\" appears twice"),
        ("\"count\":3", "\"count\":9007199254740993", "write it as text"),
        ("\"count\":3", "\"count\":1e999", "out of range"),
        ("\"count\":3", &format!("\"count\":{deep}"), "nested deeper than 32"),
        ("\"count\":3", &format!("\"count\":\"{}\"", "x".repeat(70_000)), "more than 65536 bytes"),
        ("\"title\":\"Main\"", &format!("\"title\":\"{}\"", "x".repeat(201)), "more than 200 characters"),
        ("\"title\":\"Main\"", "\"title\":null", "invalid type: null"),
        ("\"parent\":\"n-0000000000z8\"}", "\"parent\":null}", "invalid type: null"),
        (
            "\"parent\":\"n-0000000000z8\"}",
            "\"parent\":\"n-000000000000\"}",
            "line 7, column 5: n-00000000011j: its parent",
        ),
        ("\"parent\":\"n-0000000000z8\"}", "\"parent\":\"n-00000000011j\"}", "nested in itself"),
        ("[\"n-0000000000z8\",\"n-0000000000z8\"]", "[]", "omit the key"),
        ("[\"n-0000000000z8\",\"n-0000000000z8\"]", "[\"n-000000000000\"]", "it refers to n-000000000000"),
        (
            "n-00000000011j:in",
            "n-000000000000:in",
            "line 10, column 5: e-000000000005: it ends at n-000000000000",
        ),
        ("n-00000000011j:in", "n-00000000011j", "node, colon, port"),
        ("n-00000000011j:in", "n-00000000011j:In", "is not a port id"),
        ("\"n-00000000011j\": [", "\"n-000000000000\": [", "it has a `layout` entry but is not in `nodes`"),
        ("[300,20,184,64]", "[300,20,184]", "invalid length 3"),
        ("[300,20,184,64]", "[300,20,184,64,1]", "trailing characters"),
        ("[300,20,184,64]", "[300,20,184,6]", "w and h from 16"),
        ("[300,20,184,64]", "[3000000,20,184,64]", "within ±1000000"),
        ("[300,20,184,64]", "[3.5,20,184,64]", "invalid type: floating point"),
        ("\"infrastructure\"", "\"infra\"", "unknown variant `infra`"),
        ("\"edges\": {", "\"edges\": [], \"x\": {", "expected an object"),
    ] {
        assert!(text.contains(from), "{from}");
        let read = read_board(&text.replacen(from, to, 1), &main_board());
        let error = read.map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        if !error.starts_with("boards/main.board.json") || !error.contains(words) {
            wrong.push(format!("{from} → {to:.60}: {error}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}",
        wrong.join(
            "
"
        )
    );
}

#[test]
fn edges_and_layout_may_be_left_out() {
    let text = r#"{"format":1,"board":{"id":"b-000000000007","kind":"spec","title":""},"nodes":{}}"#;
    let read = read_board(text, &main_board()).unwrap();
    assert!(read.nodes.is_empty() && read.layout.is_empty());
}

#[test]
fn a_newer_file_is_refused_politely_whatever_else_is_new() {
    let error = read_board(r#"{"format": 2, "world": {}, "nodes": []}"#, &main_board()).unwrap_err();
    assert!(matches!(error, FileError::Newer { found: 2, .. }));
    assert!(error.to_string().contains("update Draftboard"));
}

#[test]
fn a_merge_conflict_is_called_by_its_name() {
    let text = write_board(&small_board()).unwrap();
    let edges = "  \"edges\": {\n";
    let conflict = format!("<<<<<<< HEAD\n{edges}=======\n  \"edges\": {{ \n>>>>>>> theirs\n");
    let error = read_board(&text.replace(edges, &conflict), &main_board()).unwrap_err().to_string();
    assert!(error.contains("line 9, column 1: unresolved merge conflict"), "{error}");
}

#[test]
fn only_one_whole_board_is_written() {
    let mut two = small_board();
    two.boards.push(two.boards[0].clone());
    let mut none = small_board();
    none.boards.clear();
    let mut stray = small_board();
    stray.nodes[1].board = shared_protocol::BoardId::from_bits(8);
    for document in [two, none, stray] {
        assert!(matches!(write_board(&document), Err(FileError::NotOneBoard { .. })));
    }
}
