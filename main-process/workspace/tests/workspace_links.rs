//! Links across domains: kept in a file of the workspace, changed by operations, suspect when an end changes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use journal::WorkspacePath;
use shared_protocol::{
    Actor, ActorKind, BoardId, NodeId, Refusal, RefusalCode, TraceLinkId,
    bundle::EntityRef,
    trace_link::{TraceLinkChange, TraceLinkEnd, TraceLinkEndState, TraceLinkView},
};
use std::{fs, path::Path};
use workspace::{TimeAndSeed, Workspace, WorkspaceTemplate, create};
use workspace_fixture::{WorkspaceFixture, copy};

fn ask(bench: &mut WorkspaceFixture, request: &TraceLinkChange) -> Result<(), Refusal> {
    let (actor, moment) = (Actor::new(ActorKind::Terminal, "ada"), bench.moment());
    bench.workspace().change_links(request, &actor, moment).map(drop)
}

fn links(bench: &WorkspaceFixture) -> Vec<TraceLinkView> {
    bench.ws().links().links.clone()
}

fn file(bench: &WorkspaceFixture) -> Option<String> {
    fs::read_to_string(bench.root().join("links.json")).ok()
}

fn look(bench: &mut WorkspaceFixture) {
    let moment = bench.moment();
    bench.workspace().file_changed(&WorkspacePath::parse("links.json").unwrap(), moment);
}

/// Two notes and a link between them.
fn linked() -> (WorkspaceFixture, NodeId, NodeId, TraceLinkId) {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    let (a, b) = (bench.find("a").unwrap().id, bench.find("b").unwrap().id);
    let request = TraceLinkChange::Add {
        from: TraceLinkEnd::Node(a),
        to: TraceLinkEnd::Node(b),
        relation: "runs on".into(),
    };
    ask(&mut bench, &request).unwrap();
    let id = links(&bench)[0].link.id;
    (bench, a, b, id)
}

#[test]
fn a_link_is_on_the_disk_at_once_and_undo_takes_it_back() {
    let (mut bench, ..) = linked();
    assert_eq!(file(&bench).unwrap().matches("runs on").count(), 1);
    bench.undo();
    assert_eq!((file(&bench), links(&bench).len()), (None, 0));
    bench.redo();
    bench.reopen();
    assert_eq!(links(&bench).len(), 1);
    assert!(!links(&bench)[0].is_suspect());
}

#[test]
fn a_changed_end_makes_it_suspect_until_somebody_says_that_it_holds() {
    let (mut bench, _, _, id) = linked();
    bench.label("b", "Another");
    assert_eq!(links(&bench)[0].to.state, TraceLinkEndState::Changed);
    bench.undo();
    assert!(!links(&bench)[0].is_suspect(), "as it was when somebody looked");
    bench.redo();
    ask(&mut bench, &TraceLinkChange::Clear { links: vec![id] }).unwrap();
    assert!(!links(&bench)[0].is_suspect());
    bench.undo();
    assert!(links(&bench)[0].is_suspect(), "saying so is taken back as well");
}

#[test]
fn what_is_gone_is_named_and_cannot_hold() {
    let (mut bench, _, b, id) = linked();
    bench.run(r#"{"remove":{"nodes":["b"]}}"#);
    assert_eq!(links(&bench)[0].to.state, TraceLinkEndState::Gone);
    let refusal = ask(&mut bench, &TraceLinkChange::Clear { links: vec![id] }).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ReferenceError);
    bench.undo();
    assert!(!links(&bench)[0].is_suspect(), "it is back");
    let gone = TraceLinkChange::Add {
        from: TraceLinkEnd::Node(NodeId::from_bits(1)),
        to: TraceLinkEnd::Node(b),
        relation: "is".into(),
    };
    assert_eq!(ask(&mut bench, &gone).unwrap_err().code, RefusalCode::NotFound);
    ask(&mut bench, &TraceLinkChange::Remove { link: id }).unwrap();
    assert_eq!(file(&bench), None);
}

#[test]
fn what_others_write_is_taken_in_and_a_broken_file_stops_changes_until_it_is_mended() {
    let (mut bench, _, _, id) = linked();
    let good = file(&bench).unwrap();
    fs::write(bench.root().join("links.json"), good.replace("runs on", "needs")).unwrap();
    look(&mut bench);
    assert_eq!(links(&bench)[0].link.relation, "needs");
    assert_eq!(bench.log()[0].actor.kind, ActorKind::External);

    fs::write(bench.root().join("links.json"), "{").unwrap();
    look(&mut bench);
    assert!(links(&bench).is_empty());
    assert!(bench.ws().status().notices.iter().any(|notice| notice.file.as_deref() == Some("links.json")));
    assert_eq!(
        ask(&mut bench, &TraceLinkChange::Remove { link: id }).unwrap_err().code,
        RefusalCode::Conflict
    );

    fs::write(bench.root().join("links.json"), good).unwrap();
    look(&mut bench);
    assert_eq!(links(&bench).len(), 1);
    assert!(bench.ws().status().notices.is_empty());
}

#[test]
fn an_entity_is_linked_to_what_realises_it() {
    const THREAT: &str = "specs/parcel/bundle/threats/THR-jam.yaml";
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bundles/tests/fixtures/bundles/parcel");
    let mut bench = WorkspaceFixture::with_files(|root| {
        fs::create_dir_all(root.join("specs")).unwrap();
        copy(&fixture, &root.join("specs/parcel"));
    });
    bench.add("main", "a");
    let of = |id: &str| {
        let (bundle, entity_type) = ("parcel".to_owned(), "Threat".to_owned());
        TraceLinkEnd::Entity(EntityRef { bundle, entity_type, id: id.to_owned() })
    };
    let to = TraceLinkEnd::Node(bench.find("a").unwrap().id);
    let add = |from, to| TraceLinkChange::Add { from, to, relation: "is held off by".into() };
    assert_eq!(ask(&mut bench, &add(of("THR-none"), to.clone())).unwrap_err().code, RefusalCode::NotFound);
    ask(&mut bench, &add(of("THR-jam"), to)).unwrap();
    let file = bench.root().join(THREAT);
    let text = fs::read_to_string(&file).unwrap();
    let edit = |bench: &mut WorkspaceFixture, text: &str| {
        fs::write(&file, text).unwrap();
        bench.look_at(THREAT);
        links(bench)[0].clone()
    };
    let reordered: String = text.lines().rev().map(|line| format!("{line} # as before\n")).collect();
    assert!(!edit(&mut bench, &reordered).is_suspect(), "order and comments say nothing");
    let view = edit(&mut bench, &text.replace("Radio jamming", "Jamming"));
    assert_eq!((view.from.state, view.from.title.as_str()), (TraceLinkEndState::Changed, "Jamming"));
    assert_eq!(view.describe(), "Jamming is held off by a");
    bench.undo();
    assert!(!links(&bench)[0].is_suspect());
}

#[test]
fn the_example_is_linked_and_nothing_in_it_is_suspect() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("example");
    create(&root, WorkspaceTemplate::Example, BoardId::from_bits(1)).unwrap();
    let workspace = Workspace::open(&root, TimeAndSeed { time: 1, seed: 1 }).unwrap();
    let links = &workspace.links().links;
    assert!(links.len() >= 3);
    for link in links {
        assert_eq!(link.suspect_reason(), None, "{}", link.describe());
    }
}
