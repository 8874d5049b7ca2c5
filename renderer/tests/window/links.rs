//! Links across domains: shown at both ends and among the problems, made and cleared by a person.

use crate::{
    parcels::{Locker, reference},
    shop::Shop,
};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    TraceLinkId,
    messages::ToRenderer,
    requests::{ChangeLinks, WorkbenchRequest},
    trace_link::{
        TraceLink, TraceLinkChange, TraceLinkEnd, TraceLinkEndState, TraceLinkEndView, TraceLinkFingerprint,
        TraceLinkView, TraceLinksView,
    },
};

fn tell(
    shop: &mut Shop,
    from: TraceLinkEnd,
    to: TraceLinkEnd,
    states: (TraceLinkEndState, TraceLinkEndState),
) -> TraceLinkId {
    let (id, seen) = (TraceLinkId::from_bits(5), TraceLinkFingerprint::hash(b""));
    let end = |title: &str, state| TraceLinkEndView { title: title.to_owned(), board: None, state };
    let link = TraceLink { id, from, to, relation: "is realised by".to_owned(), seen: (seen, seen) };
    let view = TraceLinkView { link, from: end("Open the cell", states.0), to: end("Web", states.1) };
    shop.main.send(ToRenderer::Links(Box::new(TraceLinksView { links: vec![view], problem: None })));
    shop.settle();
    id
}

fn asked(requests: Vec<WorkbenchRequest>) -> Vec<TraceLinkChange> {
    let link = |request| match request {
        WorkbenchRequest::ChangeLinks(ChangeLinks { change }) => Some(change),
        _ => None,
    };
    requests.into_iter().filter_map(link).collect()
}

fn requirement() -> TraceLinkEnd {
    TraceLinkEnd::Entity(reference("Requirement", "REQ-pickup-001"))
}

#[test]
fn a_suspect_link_says_why_at_its_node_and_somebody_says_that_it_holds() {
    let mut shop = Shop::open();
    let web = TraceLinkEnd::Node(shop.web);
    let id = tell(&mut shop, requirement(), web, (TraceLinkEndState::Changed, TraceLinkEndState::Same));
    shop.select("EC2 instance Web");
    assert!(shop.shows("Open the cell") && shop.shows("is realised by this"));
    assert!(shop.shows("Open the cell changed since this link was last confirmed"));
    shop.window.get_by_label("Confirm: Open the cell is realised by Web").click_accesskit();
    assert_eq!(asked(shop.settle()), [TraceLinkChange::Clear { links: vec![id] }]);
    shop.window.get_by_label("Remove the link to Open the cell").click_accesskit();
    assert_eq!(asked(shop.settle()), [TraceLinkChange::Remove { link: id }]);
}

#[test]
fn what_is_gone_cannot_hold_and_what_holds_needs_no_button() {
    let mut shop = Shop::open();
    let web = TraceLinkEnd::Node(shop.web);
    for states in [
        (TraceLinkEndState::Gone, TraceLinkEndState::Same),
        (TraceLinkEndState::Same, TraceLinkEndState::Same),
    ] {
        tell(&mut shop, requirement(), web.clone(), states);
        shop.select("EC2 instance Web");
        assert!(shop.shows("Open the cell"));
        assert!(shop.window.query_by_label_contains("Confirm:").is_none(), "{states:?}");
    }
}

#[test]
fn suspect_links_are_among_the_problems() {
    let mut shop = Shop::open();
    let web = TraceLinkEnd::Node(shop.web);
    let id = tell(&mut shop, requirement(), web, (TraceLinkEndState::Same, TraceLinkEndState::Changed));
    crate::dock::run_command(&mut shop, "Problems");
    shop.settle();
    shop.window.get_by_label("Links 1").click_accesskit();
    shop.settle();
    assert!(shop.shows("Open the cell is realised by Web"));
    shop.window.get_by_label("Confirm: Open the cell is realised by Web").click_accesskit();
    assert_eq!(asked(shop.settle()), [TraceLinkChange::Clear { links: vec![id] }]);
}

#[test]
fn a_node_is_linked_to_an_entity_by_keyboard() {
    let mut locker = Locker::open();
    let web = locker.shop.web;
    locker.shop.select("EC2 instance Web");
    locker.shop.press_with(Modifiers::SHIFT, Key::L);
    locker.settle();
    locker.shop.retype("Link relation", "serves");
    locker.shop.retype("Link to", "open the cell");
    locker.settle();
    locker.shop.press(Key::Enter);
    let expected = TraceLinkChange::Add {
        from: TraceLinkEnd::Node(web),
        to: requirement(),
        relation: "serves".to_owned(),
    };
    assert_eq!(asked(locker.settle()), [expected]);
    assert!(!locker.shows("Link relation"));
}
