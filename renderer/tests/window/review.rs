//! Reviewing, by accessible names: the queue, ghosts, ticks, decisions, and each way in which a person could be led to say
//! yes to something else than what they saw.

use crate::{
    proposals::{NOW, revision},
    shop::Shop,
};
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    AddNode, BoardPoint, Command, EdgeEndpointRef, NodeId, NodeRef, PropValue, ProposalId, ProposalState,
    ProposalSubject,
    decisions::{
        AcceptProposal, CommentOnProposal, DropCode, EditProposal, PersonDecision, ProposalDecision,
        RebaseProposal, RejectProposal, RevertProposal, ReviewRequest, WindowRequest,
    },
    messages::FromRenderer,
    proposal::{ProposalComment, Risk},
    requests::SetAgentMode,
    review::{ConfirmationCode, ProposalOfOperation},
};

fn add(shop: &Shop, type_id: &str, label: &str, parent: Option<NodeId>, at: (i32, i32)) -> Command {
    let mut add = AddNode::new(shop.infrastructure, type_id.parse().unwrap());
    add.label = Some(label.into());
    add.parent = parent.map(Into::into);
    add.at = Some(BoardPoint { x: at.0, y: at.1 });
    Command::AddNode(add)
}

fn size(node: NodeId, value: &str) -> Command {
    let set = [(shared_protocol::PropKey::parse("instance_type").unwrap(), PropValue::text(value))];
    Command::UpdateNode {
        node: node.into(),
        label: None,
        name: None,
        set: set.into_iter().collect(),
        unset: Default::default(),
        references: Default::default(),
    }
}

/// Adds a bucket and a server, makes another one larger, removes the worker.
fn commands(shop: &Shop) -> Vec<Command> {
    vec![
        add(shop, "aws/storage/s3_bucket", "Thumbnails", None, (700, 420)),
        add(shop, "aws/compute/instance", "Cache", Some(shop.subnet), (24, 260)),
        size(shop.web, "t3.large"),
        Command::Remove { nodes: vec![shop.worker.into()], edges: Vec::new() },
    ]
}

fn reviewing() -> (Shop, ProposalId) {
    reviewing_as((1440.0, 900.0), Theme::Light)
}

fn reviewing_as(size: (f32, f32), theme: Theme) -> (Shop, ProposalId) {
    let mut shop = Shop::open_as(size, theme, |_| {});
    let commands = commands(&shop);
    let id = shop.main.propose(17, "Add a cache", &commands);
    shop.settle();
    show_queue(&mut shop);
    assert!(shop.shows("Review (1)"), "a quiet badge");
    shop.window.get_by_label("Review proposal 17").click();
    shop.settle();
    (shop, id)
}

fn show_queue(shop: &mut Shop) {
    shop.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::R);
    shop.settle();
}

fn click(shop: &mut Shop, label: &str) {
    shop.window.get_by_label(label).click();
    // A row that opens, scrolls and takes the keyboard needs a few frames.
    shop.window.run_steps(6);
    shop.settle();
}

fn is_disabled(shop: &Shop, label: &str) -> bool {
    shop.window.get_by_label(label).accesskit_node().is_disabled()
}

/// Clicks the row of an element.
fn look(shop: &mut Shop, text: &str) {
    shop.window.get_by_role_and_label(egui::accesskit::Role::Button, text).click_accesskit();
    shop.window.run_steps(6);
    shop.settle();
}

fn accepted(shop: &Shop) -> Vec<shared_protocol::proposal::ReviewVerdict> {
    let accept = |request: &WindowRequest| match request {
        WindowRequest::Decision(PersonDecision::Proposal(ProposalDecision::AcceptProposal(
            AcceptProposal { verdict },
        ))) => Some(verdict.clone()),
        _ => None,
    };
    shop.main.reviews.heard.iter().filter_map(accept).collect()
}

fn hold(shop: &mut Shop, label: &str) {
    let at = shop.window.get_by_label(label).rect().center();
    shop.window.hover_at(at);
    shop.window.step();
    let press = |pressed| egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    shop.window.event(press(true));
    // Longer than it takes, whatever a step is.
    let steps = (1.2 / f64::from(shop.window.input().predicted_dt)).ceil() as usize;
    shop.window.run_steps(steps.clamp(4, 400));
    shop.window.event(press(false));
    shop.window.run_steps(2);
    shop.settle();
}

#[test]
fn the_queue_says_who_what_and_how_risky_and_opens_the_proposal() {
    let (shop, _) = reviewing();
    assert!(shop.shows("Proposal 17, Add a cache"), "in the queue");
    assert!(shop.shows("Proposal 17, version 1 · claude-code 2.1 (unverified)"), "opened");
    assert!(shop.shows("destructive"));
    assert!(shop.shows("The agent's reasons (unverified)"));
    assert!(shop.shows("Orders are slow at noon."));
    assert!(shop.shows("Proposed, adds s3 bucket"), "a ghost on the board, by name");
    assert!(shop.shows("Proposed, removes"), "and a strike");
}

#[test]
fn an_empty_queue_says_how_an_agent_can_propose() {
    let mut shop = Shop::open();
    show_queue(&mut shop);
    assert!(shop.shows("Agents cannot propose changes"));
    shop.window.get_by_label("Enable guarded mode").click();
    let asked = shop.settle();
    assert!(matches!(
        asked[..],
        [shared_protocol::requests::WorkbenchRequest::SetAgentMode(SetAgentMode {
            mode: shared_protocol::mcp::McpMode::Guarded
        })]
    ));
}

#[test]
fn accepting_takes_exactly_what_is_ticked_and_nothing_destructive_is_by_itself() {
    let (mut shop, id) = reviewing();
    assert!(shop.main.snapshot.node(shop.worker).is_some());
    // All but one: the removal is not ticked beforehand.
    click(&mut shop, "Accept 5 of 6");
    let verdicts = accepted(&shop);
    let [verdict] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert!(!verdict.chosen.as_ref().unwrap().contains(&ProposalSubject::Node(shop.worker)));
    assert!(verdict.confirmed.is_empty());
    assert!(shop.main.snapshot.nodes().any(|node| node.label == "Cache"));
    assert!(shop.main.snapshot.node(shop.worker).is_some(), "it is still there");
    assert!(shop.shows("Accepted part of proposal 17"));
    // What is left is another version, and still open.
    let left = &shop.main.reviews.opened[&id];
    assert_eq!((left.elements.len(), &left.brief.state), (1, &ProposalState::Open));
    assert!(shop.shows("Proposal 17, version 2"), "asked for by its stamp");
    click(&mut shop, "Undo");
    assert!(!shop.shows("Undo of"), "the toast is gone");
}

#[test]
fn what_takes_something_away_is_included_by_holding_and_not_by_a_click() {
    // High enough that nothing has to be scrolled.
    let (mut shop, _) = reviewing_as((1440.0, 1400.0), Theme::Light);
    let tick = "Tick removes ec2 instance worker";
    let row = "removes ec2 instance worker";
    let rect = |shop: &Shop, label: &str| {
        shop.window.get_by_role_and_label(egui::accesskit::Role::Button, label).rect()
    };
    let before = rect(&shop, row);
    assert!(!shop.shows("Hold to include"));
    click(&mut shop, tick);
    assert_eq!(rect(&shop, row), before, "the row stays under the pointer");
    let button = shop.window.get_by_label("Hold to include removes ec2 instance worker");
    assert!(button.accesskit_node().is_focused(), "the keyboard is on it");
    let gap = button.rect().top() - before.bottom();
    assert!((0.0..16.0).contains(&gap), "directly below the row: {gap}");
    assert!(shop.shows("Removals must be confirmed one by one."));
    click(&mut shop, "Tick all except removals");
    assert!(shop.shows("Accept 5 of 6"));
    click(&mut shop, "Hold to include removes ec2 instance worker");
    assert!(shop.shows("Accept 5 of 6"), "a click is not enough");
    hold(&mut shop, "Hold to include removes ec2 instance worker");
    click(&mut shop, "Accept all 6");
    let verdicts = accepted(&shop);
    let [verdict] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!(verdict.chosen, None);
    assert_eq!(verdict.confirmed.iter().collect::<Vec<_>>(), [&ProposalSubject::Node(shop.worker)]);
    assert!(shop.main.snapshot.node(shop.worker).is_none());
    assert!(!shop.shows("Proposed, "), "the ghosts are gone with the decision");
}

#[test]
fn typing_the_name_includes_it_too_and_another_name_does_not() {
    let (mut shop, _) = reviewing();
    look(&mut shop, "removes ec2 instance worker");
    for (name, ticked) in [("web", 5), ("worker", 6)] {
        shop.retype("Name of the removed element", name);
        shop.press(Key::Enter);
        shop.settle();
        assert!(shop.shows(&format!("{ticked} of 6 ticked")), "{name}");
    }
}

#[test]
fn enter_decides_nothing_however_often_it_is_pressed() {
    let (mut shop, _) = reviewing();
    for _ in 0..6 {
        shop.press(Key::Enter);
        shop.settle();
    }
    assert_eq!(shop.main.reviews.decisions(), Vec::<&WindowRequest>::new());
    shop.press(Key::Escape);
    shop.settle();
    // With everything included, too.
    look(&mut shop, "removes ec2 instance worker");
    hold(&mut shop, "Hold to include removes ec2 instance worker");
    for key in [Key::Enter, Key::Enter, Key::A, Key::J, Key::K, Key::Enter, Key::Space, Key::Enter] {
        shop.press(key);
        shop.settle();
    }
    assert_eq!(shop.main.reviews.decisions(), Vec::<&WindowRequest>::new());
}

#[test]
fn enter_opens_the_decision_on_the_safe_choice_and_tab_leads_on() {
    let (mut shop, _) = reviewing();
    shop.press(Key::Enter);
    shop.settle();
    assert!(shop.window.get_by_label("Decide later").accesskit_node().is_focused());
    shop.press(Key::Tab);
    shop.settle();
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(accepted(&shop).len(), 1, "whoever goes there means it");
}

#[test]
fn keys_go_through_the_elements_and_tick() {
    let (mut shop, _) = reviewing();
    shop.press(Key::J);
    shop.press(Key::J);
    shop.settle();
    assert!(shop.shows("Show on the board"), "the second is open");
    shop.press(Key::A);
    shop.settle();
    assert!(shop.shows("4 of 6 ticked"));
    shop.press(Key::A);
    shop.settle();
    assert!(shop.shows("5 of 6 ticked"));
    shop.press(Key::K);
    shop.press(Key::A);
    shop.settle();
    assert!(shop.shows("5 of 6 ticked"), "the first takes something away: a key is not enough");
}

#[test]
fn a_tick_takes_along_what_it_needs_and_says_so() {
    let mut shop = Shop::open();
    let commands = [
        add(&shop, "aws/networking/subnet", "Private B", Some(shop.network), (40, 420)),
        add(&shop, "aws/compute/eip", "Address", None, (700, 420)),
    ];
    let id = shop.main.propose(3, "An address", &commands);
    let opened = shop.main.reviews.opened[&id].clone();
    let address = opened.elements.iter().find(|element| element.text.contains("address")).unwrap().clone();
    let ProposalSubject::Node(address_id) = address.subject else { panic!() };
    let end = |node: NodeId| EdgeEndpointRef { node: NodeRef::Id(node), port: None };
    let mut all = commands.to_vec();
    all.push(Command::Connect { source: end(shop.web), target: end(address_id), label: String::new() });
    shop.main.revise(id, &all);
    shop.settle();
    shop.main.reviews.heard.clear();
    show_queue(&mut shop);
    assert!(shop.shows("Review (1)"), "a quiet badge");
    click(&mut shop, "Review proposal 3");
    click(&mut shop, "Tick none");
    let edge = shop.main.reviews.opened[&id]
        .elements
        .iter()
        .find(|e| e.text.starts_with("connects"))
        .unwrap()
        .clone();
    click(&mut shop, &format!("Tick {}", edge.text));
    assert!(shop.shows("Also ticked as a dependency: adds"), "{}", edge.text);
    click(&mut shop, &format!("Tick {}", address.text));
    assert!(shop.shows("Also unticked as a dependent: connects"));
    click(&mut shop, "Tick none");
    assert!(is_disabled(&shop, "Accept nothing"));
}

#[test]
fn a_version_that_came_while_somebody_looked_switches_the_decision_off() {
    let (mut shop, id) = reviewing();
    let mut more = commands(&shop);
    more.push(Command::Remove { nodes: vec![shop.bucket.into()], edges: Vec::new() });
    shop.main.revise(id, &more);
    shop.settle();
    assert!(shop.shows("Changed while you were reviewing"));
    assert!(shop.shows("now also removes s3 bucket pictures"), "what is other is named");
    assert!(is_disabled(&shop, "Accept 5 of 6"), "what is shown is still the old one");
    assert!(is_disabled(&shop, "Reject…"));
    shop.press(Key::Enter);
    shop.settle();
    assert!(!shop.shows("Decide later"));
    assert_eq!(shop.main.reviews.decisions(), Vec::<&WindowRequest>::new());
    click(&mut shop, "View version 2");
    // Marks stay on what is as it was; what is new is not ticked.
    click(&mut shop, "Accept 5 of 7");
    let verdicts = accepted(&shop);
    let now = shop.main.snapshot.node(shop.bucket).is_some();
    assert!(verdicts.len() == 1 && verdicts[0].version == 2 && now, "{verdicts:?}");
}

#[test]
fn between_the_news_and_the_new_version_nothing_can_be_decided() {
    let (mut shop, id) = reviewing();
    shop.main.reviews.silent = true;
    let again = commands(&shop);
    shop.main.revise(id, &again[..2]);
    shop.window.run();
    assert!(shop.shows("The proposal changed. Loading the new version…"));
    assert!(is_disabled(&shop, "Accept 5 of 6"));
}

#[test]
fn a_decision_binds_to_what_was_shown_and_is_sent_once() {
    let (mut shop, id) = reviewing();
    let shown = shop.main.reviews.opened[&id].clone();
    shop.main.reviews.silent = true;
    shop.window.get_by_label("Accept 5 of 6").click();
    shop.window.run();
    assert!(is_disabled(&shop, "Accept 5 of 6"), "it is under way");
    let sent: Vec<_> = shop.main.heard();
    let verdicts: Vec<_> =
        sent.iter()
            .filter_map(|message| match message {
                FromRenderer::Request {
                    request:
                        WindowRequest::Decision(PersonDecision::Proposal(ProposalDecision::AcceptProposal(
                            accept,
                        ))),
                    ..
                } => Some(accept.verdict.clone()),
                _ => None,
            })
            .collect();
    let [verdict] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!(
        (verdict.proposal, verdict.version, verdict.hash, verdict.base),
        (id, 1, shown.hash, shown.brief.base)
    );
}

#[test]
fn a_refused_decision_is_told_and_may_be_made_again() {
    let (mut shop, id) = reviewing();
    // Main's proposal is another than the one shown, and the news of it was lost.
    let other = crate::proposals::opened(&shop.main.snapshot, id, 2, &commands(&shop)[..1]);
    let stamp = shop.main.reviews.opened[&id].brief.stamp;
    shop.main.reviews.opened.insert(id, other);
    shop.main.reviews.opened.get_mut(&id).unwrap().brief.stamp = stamp;
    click(&mut shop, "Accept 5 of 6");
    assert!(shop.shows("It is not what was looked at"));
    assert!(shop.shows("Changed while you were reviewing"), "and read again by itself");
}

#[test]
fn an_expired_or_decided_one_cannot_be_decided() {
    let (mut shop, id) = reviewing();
    shop.main.change(id, |opened| opened.brief.expires = 5);
    shop.settle();
    assert!(shop.shows("The proposal has expired."));
    assert!(is_disabled(&shop, "Accept 5 of 6"));
    shop.main.change(id, |opened| {
        opened.brief.expires = NOW;
        opened.brief.state = ProposalState::Withdrawn;
    });
    shop.settle();
    assert!(shop.shows("Not accepted: the proposal was withdrawn."));
    for gone in ["Accept", "Reject", "Edit…", "ticked", "Consequences", "removes ec2 instance worker", "Plan"]
    {
        assert!(!shop.shows(gone), "{gone}");
    }
    assert!(!shop.shows("Proposed, "), "no ghosts of what cannot happen");
}

#[test]
fn a_rest_that_was_withdrawn_has_one_outcome() {
    let (mut shop, id) = reviewing();
    click(&mut shop, "Accept 5 of 6");
    assert!(shop.shows("Partly accepted: the remaining changes are shown"));
    shop.main.change(id, |opened| opened.brief.state = ProposalState::Withdrawn);
    shop.settle();
    assert!(shop.shows("Partly accepted; the rest was withdrawn."));
    for gone in ["what is shown here is the rest", "0 of", "Accept nothing", "It is withdrawn", "expires"] {
        assert!(
            !shop.window.query_all_by_label_contains(gone).any(|node| node.rect().left() > 1000.0),
            "{gone}"
        );
    }
}

#[test]
fn a_long_press_of_a_removals_tick_opens_it_and_the_space_bar_holds() {
    let (mut shop, _) = reviewing();
    hold(&mut shop, "Tick removes ec2 instance worker");
    let button = "Hold to include removes ec2 instance worker";
    assert!(shop.window.get_by_label(button).accesskit_node().is_focused());
    assert!(shop.shows("5 of 6 ticked"));
    shop.press(Key::Space);
    shop.settle();
    assert!(shop.shows("5 of 6 ticked"), "a key alone is not enough");
    shop.window.key_down(Key::Space);
    let steps = (1.2 / f64::from(shop.window.input().predicted_dt)).ceil() as usize;
    shop.window.run_steps(steps.clamp(4, 400));
    shop.window.key_up(Key::Space);
    shop.settle();
    assert!(shop.shows("6 of 6 ticked"));
}

#[test]
fn rows_show_all_of_their_text_and_say_what_depends_on_a_removal() {
    let mut shop = Shop::open_as((1024.0, 700.0), Theme::Light, |_| {});
    let remove = Command::Remove { nodes: vec![shop.subnet.into()], edges: Vec::new() };
    shop.main.propose(9, "Tidy up", &[remove]);
    shop.settle();
    show_queue(&mut shop);
    click(&mut shop, "Review proposal 9");
    let opened = shop.main.reviews.opened.values().next().unwrap().clone();
    let longest = opened.elements.iter().map(|element| element.text.clone()).max_by_key(String::len).unwrap();
    let row = |text: &str| shop.window.get_by_role_and_label(egui::accesskit::Role::Button, text).rect();
    assert!(row(&longest).height() > 40.0, "{longest}: {:?}", row(&longest));
    assert!(shop.shows("Checks passed: no new problems."));
    assert!(shop.shows("The checks do not detect whether the removed elements are still needed."));
    assert!(shop.shows("nothing else depends on it") && shop.shows("goes with private_a"));
}

#[test]
fn a_stale_one_says_why_and_is_looked_at_again() {
    let (mut shop, id) = reviewing();
    shop.main.change(id, |opened| {
        opened.brief.state = ProposalState::Stale { why: vec!["web was changed since".into()] };
    });
    shop.settle();
    assert!(shop.shows("The workspace changed since this was proposed"));
    assert!(shop.shows("web was changed since"));
    assert!(is_disabled(&shop, "Accept 5 of 6"));
    assert!(!is_disabled(&shop, "Reject…"));
    click(&mut shop, "Rebase");
    assert!(matches!(
        shop.main.reviews.heard.last(),
        Some(WindowRequest::Review(ReviewRequest::RebaseProposal(RebaseProposal { version: 1, .. })))
    ));
    assert!(!is_disabled(&shop, "Accept 5 of 6"), "the reviewer asked for this version");
    shop.main.change(id, |opened| opened.conflicts = vec!["n-1 is gone".into()]);
    shop.settle();
    assert!(shop.shows("The proposal conflicts with the current workspace"));
    assert!(is_disabled(&shop, "Accept 5 of 6"));
}

#[test]
fn rejecting_needs_a_reason() {
    let (mut shop, id) = reviewing();
    click(&mut shop, "Reject…");
    assert!(is_disabled(&shop, "Reject with this reason"));
    shop.window
        .get_by_role_and_label(egui::accesskit::Role::MultilineTextInput, "Reason")
        .type_text("Too large");
    shop.settle();
    click(&mut shop, "Reject with this reason");
    let rejected = shop.main.reviews.heard.iter().any(|request| {
        matches!(request, WindowRequest::Decision(PersonDecision::Proposal(ProposalDecision::RejectProposal(RejectProposal { proposal, version: 1, reason }))) if *proposal == id && reason == "Too large")
    });
    assert!(rejected && shop.shows("Rejected proposal 17"));
    assert!(!shop.shows("Proposed, "));
    assert!(shop.main.snapshot.nodes().all(|node| node.label != "Cache"), "nothing changed");
}

#[test]
fn other_peoples_words_cannot_look_like_anything_else() {
    let (mut shop, id) = reviewing();
    let words = "Accept all 6\n\u{202e}yfitnedi\u{200b} [Accept](x) <b>**Accept**</b>";
    shop.main.change(id, |opened| {
        opened.rationale = words.into();
        opened.brief.title = "Safe\u{202e}\n\nAccepted by ada".into();
        opened.elements[1].text = "adds \u{200b}nothing\u{7}".into();
    });
    shop.settle();
    click(&mut shop, "View version 1");
    // It is one text, and no widget.
    let text = "Accept all 6\n\\u{202e}yfitnedi\\u{200b} [Accept](x) <b>**Accept**</b>";
    let found: Vec<_> = shop.window.query_all_by_label(text).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].accesskit_node().role(), egui::accesskit::Role::Label);
    drop(found);
    assert!(shop.window.query_by_label("Accept all 6").is_none());
    assert!(shop.window.query_by_label("Accept").is_none());
    assert!(shop.shows("Safe\\u{202e}  Accepted by ada"), "on one line");
    assert!(shop.shows("adds \\u{200b}nothing\\u{7}"));
}

#[test]
fn drafts_are_followed_as_they_are_written() {
    let mut shop = Shop::open();
    let all = commands(&shop);
    let id = shop.main.propose(4, "", &all[..1]);
    shop.main.change(id, |opened| opened.brief.state = ProposalState::Draft);
    shop.settle();
    assert!(shop.shows("Proposed, adds s3 bucket"), "a ghost without anybody having opened anything");
    assert!(shop.shows("Draft 4 · Untitled"));
    assert!(shop.window.query_by_label_contains("Accept").is_none());
    shop.main.revise(id, &all[..2]);
    shop.main.change(id, |opened| opened.brief.state = ProposalState::Draft);
    shop.settle();
    assert!(shop.shows("Proposed, adds ec2 instance"), "the next call shows, too");
    click(&mut shop, "Hide these ghosts");
    assert!(!shop.shows("Proposed, "));
    shop.main.revise(id, &all[..1]);
    shop.main.change(id, |opened| opened.brief.state = ProposalState::Draft);
    shop.settle();
    assert!(!shop.shows("Proposed, "), "and they stay away");
    show_queue(&mut shop);
    click(&mut shop, "View proposal 4");
    assert!(shop.shows("The proposal is a draft.") && shop.shows("Proposed, "));
}

#[test]
fn three_views_of_one_difference_and_a_blink() {
    let (mut shop, _) = reviewing();
    click(&mut shop, "List");
    assert!(shop.shows("Line adds s3 bucket"));
    assert!(!shop.shows("Board Production"), "the list has the room of the board");
    click(&mut shop, "Side by side");
    assert_eq!(shop.window.query_all_by_label("Board Production").count(), 2);
    click(&mut shop, "Overlay");
    assert!(!shop.shows("EC2 instance Cache"), "a ghost is no node");
    let key = |pressed| egui::Event::Key {
        key: Key::B,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    shop.window.event(key(true));
    shop.window.run();
    assert!(shop.shows("EC2 instance Cache") && shop.shows("Board after proposal 17"), "as it would be");
    shop.window.event(key(false));
    shop.window.run();
    assert!(!shop.shows("EC2 instance Cache"));
}

#[test]
fn locked_cameras_move_together() {
    let (mut shop, _) = reviewing();
    click(&mut shop, "Side by side");
    let place = |shop: &Shop| {
        let mut rects: Vec<egui::Rect> =
            shop.window.query_all_by_label_contains("EC2 instance Web").map(|node| node.rect()).collect();
        rects.sort_by(|a, b| a.left().total_cmp(&b.left()));
        rects
    };
    let before = place(&shop);
    let [left, right] = before[..] else { panic!("{before:?}") };
    let at = right.center();
    shop.window.hover_at(at);
    shop.window.run();
    shop.window.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, -40.0),
        modifiers: Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
    });
    shop.window.run();
    let after = place(&shop);
    let moved = (after[0].top() - left.top(), after[1].top() - right.top());
    assert!(moved.0 < -5.0 && (moved.0 - moved.1).abs() < 1.0, "{moved:?}");
}

#[test]
fn an_edit_changes_the_proposal_and_not_the_workspace() {
    let (mut shop, id) = reviewing();
    let revision = shop.main.snapshot.revision();
    click(&mut shop, "Edit…");
    shop.select("EC2 instance Cache");
    shop.press(Key::Delete);
    shop.settle();
    let edits = shop.main.reviews.decisions();
    assert!(
        matches!(edits[..], [WindowRequest::Review(ReviewRequest::EditProposal(EditProposal { version: 1, commands, .. }))] if commands.len() == 1),
        "{edits:?}"
    );
    assert_eq!(shop.main.snapshot.revision(), revision);
    assert_eq!(shop.main.reviews.opened[&id].brief.version, 2);
    assert!(!shop.shows("Changed while you were reviewing"), "it was the reviewer");
    click(&mut shop, "Done editing");
    assert!(!shop.shows("EC2 instance Cache"));
}

#[test]
fn what_a_reviewer_edited_stays_ticked_and_is_accepted() {
    let (mut shop, id) = reviewing();
    assert!(shop.shows("5 of 6 ticked"));
    click(&mut shop, "Edit…");
    shop.select("EC2 instance Web");
    shop.press(Key::F2);
    shop.settle();
    shop.press_with(Modifiers::COMMAND, Key::A);
    shop.type_keys("Front");
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(shop.main.reviews.opened[&id].brief.version, 2, "{:?}", shop.main.reviews.decisions());
    click(&mut shop, "Done editing");
    assert!(shop.shows("5 of 6 ticked"), "the edited one among them");
    click(&mut shop, "Accept 5 of 6");
    assert_eq!(shop.main.snapshot.node(shop.web).unwrap().label, "Front", "what was edited was accepted");
}

/// Removes the subnet, with all that this takes along, and adds a bucket.
fn reviewing_a_removal() -> Shop {
    let mut shop = Shop::open();
    let commands = [
        add(&shop, "aws/storage/s3_bucket", "Thumbnails", None, (700, 420)),
        Command::Remove { nodes: vec![shop.subnet.into()], edges: Vec::new() },
    ];
    shop.main.propose(9, "Tidy up", &commands);
    shop.settle();
    show_queue(&mut shop);
    click(&mut shop, "Review proposal 9");
    shop
}

fn is_ticked(shop: &Shop, text: &str) -> bool {
    let label = format!("Tick {text}");
    let tick = shop.window.get_by_label(&label);
    tick.accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
}

#[test]
fn side_effects_are_ticked_with_their_cause_and_unticked_with_it() {
    let mut shop = reviewing_a_removal();
    let opened = shop.main.reviews.opened.values().next().unwrap().clone();
    let effects: Vec<String> = opened
        .elements
        .iter()
        .filter(|element| !element.effect_of.is_empty())
        .map(|element| element.text.clone())
        .collect();
    let cause = opened
        .elements
        .iter()
        .find(|e| e.subject == ProposalSubject::Node(shop.subnet))
        .unwrap()
        .text
        .clone();
    assert!(effects.len() >= 2, "{effects:?}");
    for effect in &effects {
        assert!(!is_ticked(&shop, effect), "{effect}: its cause is not ticked");
    }
    click(&mut shop, &format!("Tick {}", effects[0]));
    assert!(shop.shows("Side effect of a removal: "), "it leads to the cause");
    assert!(!is_ticked(&shop, &effects[0]));
    // One hold for the removal and all that goes with it. The row of the cause was opened by the click.
    hold(&mut shop, &format!("Hold to include {cause}"));
    for text in effects.iter().chain([&cause]) {
        assert!(is_ticked(&shop, text), "{text}: included with its cause");
    }
    click(&mut shop, &format!("Tick {cause}"));
    for text in effects.iter().chain([&cause]) {
        assert!(!is_ticked(&shop, text), "{text}: left out with its cause");
    }
    let total = opened.elements.len();
    click(&mut shop, &format!("Accept {} of {total}", total - effects.len() - 1));
    assert!(shop.main.snapshot.node(shop.subnet).is_some() && shop.main.snapshot.node(shop.web).is_some());
}

#[test]
fn the_queue_shows_the_gravest_first_then_the_oldest() {
    let mut shop = Shop::open();
    let harmless = [size(shop.web, "t3.large")];
    let grave = [Command::Remove { nodes: vec![shop.worker.into()], edges: Vec::new() }];
    for number in 1..=3 {
        shop.main.propose(number, "A size", &harmless);
    }
    shop.main.propose(4, "Tidy up", &grave);
    shop.settle();
    show_queue(&mut shop);
    let top = |number: u64| shop.window.get_by_label(&format!("Review proposal {number}")).rect().top();
    assert!(top(4) < top(1) && top(1) < top(2) && top(2) < top(3));
}

#[test]
fn the_status_bar_counts_what_waits_and_leads_there() {
    let mut shop = Shop::open();
    assert!(!shop.shows("to review"));
    let commands = commands(&shop);
    shop.main.propose(17, "Add a cache", &commands);
    shop.main.propose(18, "A size", &[size(shop.web, "t3.large")]);
    shop.settle();
    assert!(!shop.shows("Review proposal 17"), "the panel is not in front");
    click(&mut shop, "2 proposals to review");
    assert!(shop.shows("Review proposal 17"), "the queue is");
}

#[test]
fn what_is_layout_alone_is_one_line() {
    let mut shop = Shop::open();
    let place = |node: NodeId, x: i32| shared_protocol::command::PlaceNode {
        node: node.into(),
        x,
        y: 80,
        w: None,
        h: None,
    };
    let commands = [
        Command::Place { items: vec![place(shop.web, 60), place(shop.bucket, 760)] },
        size(shop.worker, "t3.small"),
    ];
    shop.main.propose(9, "Tidy up", &commands);
    shop.settle();
    show_queue(&mut shop);
    assert!(shop.shows("Review (1)"), "a quiet badge");
    click(&mut shop, "Review proposal 9");
    assert!(shop.shows("moves or resizes 2 elements"));
    assert!(!shop.shows("Tick moves or resizes web"));
    click(&mut shop, "Tick moves or resizes 2 elements");
    assert!(shop.shows("1 of 3 ticked"));
    click(&mut shop, "moves or resizes 2 elements");
    assert!(shop.shows("Tick moves or resizes web"));
}

#[test]
fn comments_go_to_an_element() {
    let (mut shop, id) = reviewing();
    shop.main.change(id, |opened| {
        let about = Some(ProposalSubject::Node(shop.web));
        opened.comments.push(ProposalComment {
            by: "ada".into(),
            time: NOW,
            about,
            text: "why so large?".into(),
        });
    });
    shop.settle();
    let element = shop.main.reviews.opened[&id]
        .elements
        .iter()
        .find(|e| e.subject == ProposalSubject::Node(shop.web))
        .unwrap();
    let text = element.text.replace('→', "->");
    look(&mut shop, &text);
    assert!(shop.shows("why so large?"));
    shop.retype("Comment", "use a small one");
    shop.press(Key::Enter);
    shop.settle();
    let said = shop.main.reviews.heard.iter().any(|request| {
        matches!(request, WindowRequest::Review(ReviewRequest::CommentOnProposal(CommentOnProposal { about: Some(ProposalSubject::Node(node)), text, .. }))
            if *node == shop.web && text == "use a small one")
    });
    assert!(said, "{:?}", shop.main.reviews.heard);
}

#[test]
fn a_comment_that_was_not_taken_stays_typed_and_what_is_decided_takes_none() {
    let (mut shop, id) = reviewing();
    look(&mut shop, "removes ec2 instance worker");
    // Decided elsewhere, and the window was not told yet.
    let rejected = ProposalState::Rejected { reason: "No".into(), by: "bob".into() };
    shop.main.reviews.opened.get_mut(&id).unwrap().brief.state = rejected.clone();
    shop.retype("Comment", "use a small one");
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(shop.field("Comment"), "use a small one");
    shop.main.change(id, |opened| opened.brief.state = rejected);
    shop.settle();
    assert!(shop.window.query_by_label("Comment").is_none());
}

#[test]
fn texts_of_files_are_shown_line_by_line_and_in_full() {
    let (mut shop, id) = reviewing();
    let before: String = (1..=400).map(|line| format!("line {line} of many words that fill it\n")).collect();
    let after = before.replace("line 390 of", "line 390 hidden in");
    shop.main.change(id, |opened| {
        let text = authority::unified_diff("specs/a.yaml", &before, &after);
        let path = shared_protocol::SourcePath::parse("specs/a.yaml").unwrap();
        let like = opened.elements[0].clone();
        opened.elements.push(shared_protocol::review::ProposedElement {
            subject: ProposalSubject::Source(path),
            text: "changes specs/a.yaml".into(),
            board: None,
            differences: vec![shared_protocol::review::FieldChange {
                field: "script".into(),
                before: None,
                after: Some(format!("{}the end", "word ".repeat(2_000))),
            }],
            files: vec![shared_protocol::review::FileLineCounts::from_text("specs/a.yaml", text)],
            risks: Vec::new(),
            destructive: false,
            needs: Vec::new(),
            effect_of: Vec::new(),
            ..like
        });
    });
    shop.settle();
    click(&mut shop, "View version 1");
    look(&mut shop, "changes specs/a.yaml");
    assert!(shop.shows("specs/a.yaml  +1 −1, in full"));
    assert!(shop.shows("+line 390 hidden in many words that fill it"));
    assert!(shop.shows("the end"), "a long value, too");
}

#[test]
fn a_stale_one_shows_what_was_what_is_and_what_would_be() {
    let (mut shop, id) = reviewing();
    shop.main.change(id, |opened| {
        opened.brief.state =
            ProposalState::Stale { why: vec!["bob: instance_type of web: t3.micro → t3.nano".into()] };
        opened.clashes = vec![shared_protocol::review::FieldClash {
            subject: ProposalSubject::Node(shop.web),
            name: "web".into(),
            field: "instance_type".into(),
            before: Some("t3.micro".into()),
            now: Some("t3.nano".into()),
            proposed: Some("t3.large".into()),
            by: Some("bob".into()),
        }];
    });
    shop.settle();
    for text in [
        "bob: instance_type of web: t3.micro -> t3.nano",
        "instance_type of web",
        "When it was proposed",
        "Now, by bob",
        "t3.nano",
        "Proposed",
        "t3.large",
    ] {
        assert!(shop.shows(text), "{text}");
    }
}

#[test]
fn codes_are_shown_with_what_they_are_for_and_can_be_cancelled() {
    let mut shop = Shop::open();
    let purpose = "accept 3 elements of proposal 17".into();
    shop.main.reviews.codes = vec![ConfirmationCode { code: "482-913".into(), purpose, expires: NOW }];
    shop.main.tell_queue();
    shop.window.run_steps(4);
    assert!(
        shop.shows("482-913")
            && shop.shows("is the code to accept 3 elements of proposal 17 from a terminal")
    );
    shop.window.get_by_label("Cancel the code 482-913").click();
    shop.window.run_steps(4);
    shop.main.serve();
    assert!(
        matches!(shop.main.reviews.heard.last(), Some(WindowRequest::Review(ReviewRequest::DropCode(DropCode { code }))) if code == "482-913")
    );
}

#[test]
fn decided_ones_can_be_reverted() {
    let (mut shop, id) = reviewing();
    look(&mut shop, "removes ec2 instance worker");
    hold(&mut shop, "Hold to include removes ec2 instance worker");
    click(&mut shop, "Accept all 6");
    click(&mut shop, "Decided");
    shop.window.get_by_label("Revert proposal 17").click();
    assert_eq!(shop.settle(), [], "nothing but the proposal itself is taken back");
    let last = shop.main.reviews.heard.last();
    assert!(
        matches!(last, Some(WindowRequest::Review(ReviewRequest::RevertProposal(RevertProposal { proposal, partial: false }))) if *proposal == id),
        "{last:?}"
    );
}

#[test]
fn what_was_only_done_has_no_revert_and_what_was_partly_accepted_has_one() {
    let (mut shop, id) = reviewing();
    click(&mut shop, "Accept 5 of 6");
    assert!(shop.shows("Partly accepted: the remaining changes are shown"));
    shop.main.change(id, |opened| opened.brief.state = ProposalState::Expired);
    let done = shop.main.propose(18, "Save", &[]);
    shop.main.change(done, |opened| {
        opened.brief.act = Some(shared_protocol::proposal::ProposedAction::Save);
        opened.brief.state = ProposalState::Accepted;
        opened.brief.decided = Some(shared_protocol::proposal::ProposalAcceptance {
            version: 1,
            hash: opened.hash,
            revision: None,
            subjects: vec![ProposalSubject::Act],
            by: "ada".into(),
            time: NOW,
        });
    });
    shop.settle();
    click(&mut shop, "Decided");
    assert!(shop.window.query_by_label("Revert proposal 17").is_some(), "a part of it is in the workspace");
    assert!(shop.window.query_by_label("Revert proposal 18").is_none(), "it would take back something else");
    assert!(shop.window.query_by_label("View proposal 18").is_some());
}

#[test]
fn the_inspector_says_which_proposal_something_came_from() {
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Light, |main| {
        main.reviews.origins = (1..30)
            .map(|number| ProposalOfOperation {
                revision: revision(number),
                proposal: ProposalId::from_bits(17),
                number: 17,
                title: "Add a cache".into(),
                client: "claude-code".into(),
                reviewer: "ada".into(),
                time: NOW,
            })
            .collect();
        main.log = (1..30)
            .map(|number| shared_protocol::messages::OperationLogEntry {
                revision: revision(number),
                time: NOW,
                actor: shared_protocol::Actor::new(shared_protocol::ActorKind::Window, "ada"),
                kind: shared_protocol::OperationKind::Edit,
                summary: "Accept “Add a cache”".into(),
                changes: 1,
            })
            .collect();
        let web = main.snapshot.nodes().find(|node| node.label == "Web").unwrap().id;
        main.presence.selection = vec![shared_protocol::ElementId::Node(web)];
    });
    shop.settle();
    assert!(shop.shows("From proposal 17 by claude-code, accepted by ada"));
}

#[test]
fn pictures_of_a_review() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        for size in [(1440.0, 900.0), (1024.0, 700.0)] {
            let (mut shop, id) = reviewing_as(size, theme);
            shop.main.change(id, |opened| opened.brief.risks = vec![Risk::Destructive, Risk::Security]);
            shop.settle();
            let name = |what: &str| format!("review-{what}-{word}-{}", size.0);
            shop.picture(&name("overlay"));
            shop.press(Key::J);
            shop.press(Key::J);
            shop.settle();
            shop.picture(&name("element"));
            click(&mut shop, "Side by side");
            shop.picture(&name("side-by-side"));
            click(&mut shop, "List");
            shop.picture(&name("list"));
            click(&mut shop, "Overlay");
            let mut more = commands(&shop);
            more.push(Command::Remove { nodes: vec![shop.bucket.into()], edges: Vec::new() });
            shop.main.revise(id, &more);
            shop.settle();
            shop.picture(&name("changed"));
        }
        let mut shop = Shop::open_as((1024.0, 700.0), theme, |_| {});
        show_queue(&mut shop);
        shop.picture(&format!("review-empty-{word}"));
    }
}
