//! Names and places that were left to the workbench, and the conflict report of a proposal.

use super::proposals::{NOW, Room, agent, code, verdict};
use crate::proposals::{DraftSelector, field_clashes, open};
use shared_protocol::{Node, Proposal, ProposalId, ProposalState, ProposalSubject, RefusalCode};

/// A bucket whose name and place are left open.
fn bucket(bucket: &str) -> String {
    format!(
        r#"{{"addNode":{{"board":"main","type":"aws/storage/s3_bucket","props":{{"bucket":"{bucket}"}}}}}}"#
    )
}

fn named(room: &Room, name: &str) -> Node {
    room.bench.state.node(room.bench.node(name)).unwrap().clone()
}

fn why(room: &Room, id: ProposalId) -> Vec<String> {
    match &room.get(id).state {
        ProposalState::Stale { why } => why.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_agents_may_both_add_a_first_one() {
    let mut room = Room::new();
    room.propose("one", &bucket("one-bucket")).unwrap();
    let first = room.submit("one").unwrap();
    room.propose("two", &bucket("another-bucket")).unwrap();
    let second = room.submit("two").unwrap();
    let seen = verdict(&room.queue, &second);
    room.accept(&verdict(&room.queue, &first)).unwrap();

    let now = Proposal::clone(room.get(second.id));
    assert_eq!((&now.state, now.version), (&ProposalState::Open, 2));
    let told: Vec<&str> = now.steps.iter().map(|step| step.summary.as_str()).collect();
    assert!(told.iter().any(|step| step.contains("s3_bucket was renamed to s3_bucket_2")), "{told:?}");
    assert_eq!(code(room.accept(&seen)), RefusalCode::Stale, "what was seen had another name");
    let opened = open(&room.queue, &room.bench.state, &now, 1).unwrap();
    assert!(opened.conflicts.is_empty() && opened.elements[0].text.contains("s3_bucket_2"), "{opened:?}");
    room.accept(&verdict(&room.queue, &now)).unwrap();
    let (one, other) = (named(&room, "s3_bucket").id, named(&room, "s3_bucket_2").id);
    let place = |id| room.bench.state.placement(id).unwrap();
    assert!(!place(one).overlaps(place(other)), "nor does one lie upon the other");
}

#[test]
fn a_place_that_was_left_open_is_chosen_again_and_one_that_was_given_stays() {
    for (at, moves) in [("", true), (r#","at":{"x":900,"y":40}"#, false)] {
        let mut room = Room::new();
        let command = |name: &str| {
            let props = r#""props":{"bucket":"some-bucket"}"#;
            format!(
                r#"{{"addNode":{{"board":"main","type":"aws/storage/s3_bucket","name":"{name}",{props}{at}}}}}"#
            )
        };
        room.propose("one", &command("mine")).unwrap();
        let proposal = room.submit("one").unwrap();
        room.edit(&command("theirs"));
        let now = Proposal::clone(room.get(proposal.id));
        assert_eq!((&now.state, now.version), (&ProposalState::Open, if moves { 2 } else { 1 }));
        room.accept(&verdict(&room.queue, &now)).unwrap();
        let place = |name: &str| room.bench.state.placement(room.bench.node(name)).unwrap();
        assert_eq!(place("mine").overlaps(place("theirs")), !moves);
    }
}

#[test]
fn a_container_grows_around_what_was_put_elsewhere() {
    let mut room = Room::new();
    let add = |name: &str| {
        format!(
            r#"{{"addNode":{{"board":"main","type":"aws/compute/instance","parent":"a","name":"{name}","props":{{"ami":"ami-0123456789abcdef0"}}}}}}"#
        )
    };
    room.propose("one", &add("mine")).unwrap();
    let proposal = room.submit("one").unwrap();
    room.edit(&add("theirs"));
    room.edit(&add("more"));
    let now = Proposal::clone(room.get(proposal.id));
    assert_eq!(now.state, ProposalState::Open);
    room.accept(&verdict(&room.queue, &now)).unwrap();
    let place = |name: &str| room.bench.state.placement(room.bench.node(name)).unwrap();
    for other in ["theirs", "more"] {
        assert!(!place("mine").overlaps(place(other)));
    }
    let (subnet, mine) = (place("a"), place("mine"));
    assert!(mine.right() <= subnet.w && mine.bottom() <= subnet.h, "{mine:?} in {subnet:?}");
}

#[test]
fn what_was_built_on_something_that_would_go_is_noticed() {
    let mut room = Room::new();
    room.propose("one", r#"{"remove":{"nodes":["a"]}}"#).unwrap();
    let proposal = room.submit("one").unwrap();
    room.edit(r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web"}}"#);
    assert_eq!(why(&room, proposal.id), ["ada: a is now used by web"]);
}

#[test]
fn a_name_that_was_given_is_kept_and_the_clash_is_told() {
    let mut room = Room::new();
    let proposal = room.open();
    room.edit(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"web"}}"#);
    assert_eq!(why(&room, proposal.id), ["ada: the name web is taken by another element"]);
    let refusal = room.queue.rebase_stale((proposal.id, 1), &room.bench.state).unwrap_err();
    assert!(refusal.message.contains("the name web is taken"), "{refusal}");
    room.edit(r#"{"updateNode":{"node":"web","name":"files"}}"#);
    let again = room.queue.rebase_stale((proposal.id, 1), &room.bench.state).unwrap();
    room.accept(&verdict(&room.queue, &again)).unwrap();
}

#[test]
fn a_draft_goes_on_although_its_name_was_taken() {
    let mut room = Room::new();
    room.propose("one", &bucket("one-bucket")).unwrap();
    let own = room.propose("one", &bucket("another-bucket")).unwrap();
    let overlay = room.queue.overlay(&room.bench.state, &own).unwrap();
    let first = overlay.nodes().find(|node| node.name.as_str() == "s3_bucket").unwrap().id;
    // A later call renames it, so the first name does not matter.
    let rename = format!(r#"{{"updateNode":{{"node":"{first}","name":"files"}}}}"#);
    room.propose("one", &rename).unwrap();
    for name in ["s3_bucket", "s3_bucket_2"] {
        room.edit(&format!(
            r#"{{"addNode":{{"board":"main","type":"aws/storage/s3_bucket","name":"{name}"}}}}"#
        ));
    }
    assert!(room.queue.overlay(&room.bench.state, &own).is_ok(), "it can be read");
    room.propose("one", r#"{"updateNode":{"node":"files","label":"Files"}}"#).unwrap();
    let proposal = room.submit("one").unwrap();
    room.accept(&verdict(&room.queue, &proposal)).unwrap();
    assert_eq!(named(&room, "files").label, "Files");
    // The first bucket had the third name until it was renamed.
    named(&room, "s3_bucket_4");
}

#[test]
fn a_stale_one_says_who_did_what_to_each_element() {
    let mut room = Room::new();
    let batch = r#"{"batch":{"commands":[
        {"updateNode":{"node":"net","label":"Theirs","set":{"cidr_block":"10.1.0.0/16"}}},
        {"updateNode":{"node":"a","label":"Also theirs"}}]}}"#;
    room.propose("one", batch).unwrap();
    let proposal = room.submit("one").unwrap();
    room.edit(
        r#"{"batch":{"commands":[
        {"updateNode":{"node":"net","set":{"cidr_block":"10.9.0.0/16"}}},
        {"updateNode":{"node":"a","label":"Mine"}}]}}"#,
    );
    let why = why(&room, proposal.id);
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why.iter().all(|reason| reason.starts_with("ada: ")), "{why:?}");
    assert!(
        why.iter().any(|reason| reason.contains("cidr_block of net: ") && reason.contains("10.9.0.0/16"))
    );
    assert!(why.iter().any(|reason| reason.contains("labels a “Mine”")), "{why:?}");
    let opened = open(&room.queue, &room.bench.state, room.get(proposal.id), 1).unwrap();
    assert!(
        opened.conflicts.iter().any(|reason| reason == "label of a was changed in the meantime"),
        "{opened:?}"
    );
    let told: Vec<_> = opened
        .clashes
        .iter()
        .map(|clash| {
            let (before, now, proposed) = (&clash.before, &clash.now, &clash.proposed);
            (
                clash.name.as_str(),
                clash.field.as_str(),
                before.as_deref(),
                now.as_deref(),
                proposed.as_deref(),
            )
        })
        .collect();
    let label = named(&room, "net").label;
    assert!(
        told.contains(&("net", "cidr_block", None, Some("10.9.0.0/16"), Some("10.1.0.0/16"))),
        "{told:?}"
    );
    assert!(
        told.iter().any(|clash| clash.0 == "a" && clash.3 == Some("Mine") && clash.4 == Some("Also theirs"))
    );
    assert!(!told.iter().any(|clash| clash.1 == "label" && clash.0 == "net"), "{label} is as it was");
}

#[test]
fn what_is_gone_is_told_by_name_where_there_is_one() {
    let mut room = Room::new();
    let proposal = room.open();
    room.edit(r#"{"remove":{"nodes":["a"]}}"#);
    let why = why(&room, proposal.id);
    assert!(why[0].starts_with("ada: "), "{why:?}");
    let mut other = Room::new();
    other.propose("one", r#"{"updateNode":{"node":"a","label":"Theirs"}}"#).unwrap();
    let proposal = other.submit("one").unwrap();
    other.edit(r#"{"remove":{"nodes":["a"]}}"#);
    match &other.get(proposal.id).state {
        ProposalState::Stale { why } => {
            assert!(why[0].contains("removes") && why[0].ends_with(" a"), "{why:?}")
        }
        state => panic!("{state:?}"),
    }
}

#[test]
fn secrets_stay_secret_in_a_clash() {
    let mut room = Room::new();
    let def = room.bench.state.registry().types().find(|def| def.prop("secret_string").is_some()).unwrap();
    let add =
        format!(r#"{{"addNode":{{"board":"main","type":"{}","name":"vault","parent":"box"}}}}"#, def.id);
    assert!(def.prop("secret_string").unwrap().sensitive);
    room.edit(r#"{"addNode":{"board":"main","type":"notes/frame","name":"box"}}"#);
    room.edit(&add);
    let set =
        |value: &str| format!(r#"{{"updateNode":{{"node":"vault","set":{{"secret_string":"{value}"}}}}}}"#);
    let command = serde_json::from_str(&set("theirs")).unwrap();
    let proposed = room
        .queue
        .propose(&room.bench.state, &agent("one"), DraftSelector::Current, &command, (NOW, 5))
        .unwrap();
    room.edit(&set("mine"));
    let told = field_clashes(&room.bench.state, &proposed.proposal);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(matches!(told[0].subject, ProposalSubject::Node(_)));
    let text = format!("{told:?}");
    assert!(!text.contains("mine") && !text.contains("theirs"), "{text}");
}

#[test]
fn an_added_element_has_no_clash() {
    let mut room = Room::new();
    room.propose("one", r#"{"addNode":{"board":"main","type":"notes/sticky","name":"fresh"}}"#).unwrap();
    room.propose("one", r#"{"updateNode":{"node":"fresh","label":"Fresh"}}"#).unwrap();
    let proposal = room.submit("one").unwrap();
    let opened = open(&room.queue, &room.bench.state, room.get(proposal.id), 1).unwrap();
    assert_eq!(opened.brief.counts.added, 1);
    assert_eq!(opened.clashes, Vec::new());
}
