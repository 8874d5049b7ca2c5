//! Trace links across domains: their file and their review status.

use super::AuthorityFixture;
use crate::trace_links::{CurrentTraceLinkEnd, TraceLinkFileError, TraceLinkIndex, TraceLinks, node_now};
use shared_protocol::{
    RefusalCode,
    bundle::EntityRef,
    trace_link::{MAX_RELATION_CHARS, TraceLinkEnd, TraceLinkEndState, TraceLinkFingerprint},
};

const VPC: &str =
    r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net","label":"Network"}}"#;

fn requirement() -> TraceLinkEnd {
    TraceLinkEnd::Entity(EntityRef {
        bundle: "lockers".to_owned(),
        entity_type: "Requirement".to_owned(),
        id: "REQ-deposit".to_owned(),
    })
}

/// One requirement with this statement; it does not exist when the statement is empty.
fn now<'a>(
    bench: &'a AuthorityFixture,
    statement: &'a str,
) -> impl Fn(&TraceLinkEnd) -> Option<CurrentTraceLinkEnd> + 'a {
    move |end| match end {
        TraceLinkEnd::Node(node) => node_now(&bench.state, *node),
        TraceLinkEnd::Entity(_) if statement.is_empty() => None,
        TraceLinkEnd::Entity(entity) => Some(CurrentTraceLinkEnd {
            title: entity.id.clone(),
            board: None,
            fingerprint: TraceLinkFingerprint::hash(statement.as_bytes()),
        }),
    }
}

fn linked() -> (AuthorityFixture, TraceLinks) {
    let mut bench = AuthorityFixture::with_board();
    bench.json(VPC);
    let node = TraceLinkEnd::Node(bench.node("net"));
    let print = |end: &TraceLinkEnd| now(&bench, "A")(end).unwrap().fingerprint;
    let mut links = TraceLinks::default();
    let (from, to) = ((requirement(), print(&requirement())), (node.clone(), print(&node)));
    links.add(11, from, to, "runs on").unwrap();
    (bench, links)
}

#[test]
fn a_file_is_read_as_it_was_written_and_has_a_line_for_each_link() {
    let (mut bench, mut links) = linked();
    bench.json(&VPC.replace("\"net\"", "\"other\""));
    let other = TraceLinkEnd::Node(bench.node("other"));
    let print = |end: &TraceLinkEnd| now(&bench, "A")(end).unwrap().fingerprint;
    let id = links.add(12, (requirement(), print(&requirement())), (other.clone(), print(&other)), "runs on");
    let text = links.to_text().unwrap();
    assert_eq!(TraceLinks::parse(&text).unwrap(), links);
    assert_eq!(text.lines().filter(|line| line.contains("\"relation\"")).count(), 2);
    assert!(text.ends_with("}\n"));
    links.remove(id.unwrap()).unwrap();
    let left = links.iter().next().unwrap().id;
    links.remove(left).unwrap();
    assert_eq!(links.to_text(), None);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let (_, links) = linked();
    let text = links.to_text().unwrap();
    let line = text.lines().find(|line| line.contains("relation")).unwrap();
    let cases = [
        (text.replace("runs on", "runs on\" x"), "line 4"),
        (text.replace("\"relation\"", "\"relations\""), "unknown field `relations`"),
        (text.replace("\"format\": 1", "\"format\": 2"), "update Draftboard"),
        (text.replace(line, &format!("{line},\n{line}")), "is used twice"),
        (text.replace("\"seen\":[\"", "\"seen\":[\"z"), "16 hexadecimal digits"),
    ];
    for (text, expected) in cases {
        let error: TraceLinkFileError = TraceLinks::parse(&text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (bench, mut links) = linked();
    let known = links.iter().next().unwrap().clone();
    let seen = known.seen.0;
    let end = |end: &TraceLinkEnd| (end.clone(), seen);
    let cases = [
        (end(&known.from), end(&known.to), "runs on", RefusalCode::Conflict),
        (end(&known.from), end(&known.from), "is", RefusalCode::ValidationError),
        (end(&known.to), end(&known.from), "  ", RefusalCode::ValidationError),
        (end(&known.to), end(&known.from), "two\nlines", RefusalCode::ValidationError),
        (end(&known.to), end(&known.from), &"x".repeat(MAX_RELATION_CHARS + 1), RefusalCode::ValidationError),
    ];
    for (from, to, relation, code) in cases {
        assert_eq!(links.add(1, from, to, relation).unwrap_err().code, code, "{relation:?}");
    }
    assert_eq!(links.iter().len(), 1);
    assert_eq!(
        links.remove(shared_protocol::TraceLinkId::from_bits(5)).unwrap_err().code,
        RefusalCode::NotFound
    );
    drop(bench);
}

#[test]
fn a_link_is_suspect_from_a_change_of_an_end_until_somebody_has_looked() {
    let (mut bench, mut links) = linked();
    let id = links.iter().next().unwrap().id;
    let mut standing = TraceLinkIndex::from_links(&links, now(&bench, "A"));
    assert!(!standing.get(id).unwrap().is_suspect());

    let moved = r#"{"place":{"items":[{"node":"net","x":500,"y":500,"w":200,"h":120}]}}"#;
    bench.json(moved);
    assert!(!standing.update(bench.log.last().unwrap(), now(&bench, "A")), "where it stands says nothing");

    bench.json(r#"{"updateNode":{"node":"net","label":"The network"}}"#);
    assert!(standing.update(bench.log.last().unwrap(), now(&bench, "A")));
    let view = standing.get(id).unwrap();
    assert_eq!((view.from.state, view.to.state), (TraceLinkEndState::Same, TraceLinkEndState::Changed));
    assert_eq!(view.suspect_reason().unwrap(), "The network changed");
    assert_eq!(
        standing,
        TraceLinkIndex::from_links(&links, now(&bench, "A")),
        "following is the same as looking at all"
    );

    let seen = |end: &TraceLinkEnd| now(&bench, "A")(end).unwrap().fingerprint;
    let link = links.get(id).unwrap().clone();
    links.mark_reviewed(id, (seen(&link.from), seen(&link.to))).unwrap();
    assert!(!TraceLinkIndex::from_links(&links, now(&bench, "A")).get(id).unwrap().is_suspect());

    let changed = TraceLinkIndex::from_links(&links, now(&bench, "B"));
    assert_eq!(changed.get(id).unwrap().from.state, TraceLinkEndState::Changed);
}

#[test]
fn a_link_outlives_its_ends_and_says_so() {
    let (mut bench, links) = linked();
    let id = links.iter().next().unwrap().id;
    let mut standing = TraceLinkIndex::from_links(&links, now(&bench, "A"));
    bench.json(r#"{"remove":{"nodes":["net"]}}"#);
    assert!(standing.update(bench.log.last().unwrap(), now(&bench, "A")));
    assert_eq!(standing.get(id).unwrap().to.state, TraceLinkEndState::Gone);
    let gone = TraceLinkIndex::from_links(&links, now(&bench, ""));
    assert_eq!(gone.get(id).unwrap().suspect_reason().unwrap().matches("no longer exists").count(), 2);
}
