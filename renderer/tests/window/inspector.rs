//! The inspector: what is typed becomes a command, and nothing else does.

use crate::shop::Shop;
use egui::Key;
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Actor, ActorKind, Command, ElementId, OperationKind, PropKey, PropValue, Revision,
    messages::OperationLogEntry,
    requests::{RunCommand, WorkbenchRequest},
};

fn key(text: &str) -> PropKey {
    PropKey::parse(text).unwrap()
}

fn updates(requests: &[WorkbenchRequest]) -> Vec<&Command> {
    requests
        .iter()
        .filter_map(|request| {
            if let WorkbenchRequest::RunCommand(RunCommand {
                command: command @ Command::UpdateNode { .. },
            }) = request
            {
                Some(command)
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn typing_a_value_sends_it_when_done() {
    let mut shop = Shop::open();
    shop.select("VPC Shop network");
    shop.retype("Address range", "10.1.0.0/16");
    assert!(shop.main.requests().is_empty(), "nothing is sent while somebody types");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [Command::UpdateNode { set, .. }] = updates(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!(set.get(&key("cidr_block")), Some(&PropValue::text("10.1.0.0/16")));
    assert_eq!(shop.field("Address range"), "10.1.0.0/16");
}

#[test]
fn a_wrong_value_says_why_and_the_last_valid_one_is_kept() {
    let mut shop = Shop::open();
    shop.select("VPC Shop network");
    shop.retype("Address range", "10.1.0.0/16");
    shop.press(Key::Enter);
    shop.settle();
    shop.retype("Address range", "10.1.0.0/99");
    assert!(shop.shows("is not a CIDR range"), "said while typing");
    shop.press(Key::Enter);
    let requests = shop.settle();
    assert!(updates(&requests).is_empty(), "{requests:?}");
    assert!(shop.shows("is not a CIDR range"), "and after");
    let stored = shop.main.snapshot.node(shop.network).unwrap().props.get(&key("cidr_block")).cloned();
    assert_eq!(stored, Some(PropValue::text("10.1.0.0/16")));
    shop.window.key_press(Key::Escape);
    shop.window.run();
    shop.select("EC2 instance Web");
    shop.select("VPC Shop network");
    assert_eq!(shop.field("Address range"), "10.1.0.0/16");
}

#[test]
fn escape_gives_up_what_was_typed() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    shop.retype("Label", "Something else");
    shop.press(Key::Escape);
    assert!(shop.settle().is_empty());
    assert_eq!(shop.field("Label"), "Web");
}

#[test]
fn another_node_of_the_same_type_shows_its_own_values() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    assert_eq!((shop.field("Label"), shop.field("Name")), ("Web".into(), "web".into()));
    // Half typed, then on to the other: what was typed goes to the first, and the second shows its own.
    shop.retype("Label", "Web server");
    shop.select("EC2 instance Worker");
    assert_eq!((shop.field("Label"), shop.field("Name")), ("Worker".into(), "worker".into()));
    let requests = shop.settle();
    let [Command::UpdateNode { node, label, .. }] = updates(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!((node, label.as_deref()), (&shop.web.into(), Some("Web server")));
    assert_eq!(shop.field("Label"), "Worker");
}

#[test]
fn a_change_from_outside_shows_at_once_and_does_not_fight_the_cursor() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    let rename = |label: Option<&str>, name: Option<&str>| Command::UpdateNode {
        node: shop.web.into(),
        name: name.map(|name| name.parse().unwrap()),
        label: label.map(Into::into),
        set: Default::default(),
        unset: Vec::new(),
        references: Default::default(),
    };
    let (first, second) = (rename(Some("Front"), None), rename(Some("Gate"), Some("gate")));
    shop.main.run(first);
    shop.window.run();
    assert_eq!(shop.field("Label"), "Front");
    shop.retype("Label", "Mine");
    shop.main.run(second);
    shop.window.run();
    assert_eq!((shop.field("Label"), shop.field("Name")), ("Mine".into(), "gate".into()));
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(shop.main.snapshot.node(shop.web).unwrap().label, "Mine");
}

#[test]
fn names_are_checked_as_they_are_typed() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    shop.retype("Name", "Not a name");
    assert!(shop.shows("expected a lower-case letter"));
    shop.retype("Name", "worker");
    assert!(shop.shows("is already named worker"));
    shop.press(Key::Escape);
    assert!(shop.settle().is_empty());
}

#[test]
fn a_choice_is_sent_at_once_and_can_be_reset() {
    let mut shop = Shop::open();
    shop.select("Sticky note Ask about retention");
    shop.window.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Tone").click();
    shop.window.run();
    shop.window.get_by_label("Blue").click();
    let requests = shop.settle();
    let [Command::UpdateNode { set, .. }] = updates(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!(set.get(&key("tone")), Some(&PropValue::text("blue")));
    shop.window.get_by_label("Reset Tone").click();
    let requests = shop.settle();
    let [Command::UpdateNode { unset, .. }] = updates(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!(unset, &[key("tone")]);
}

#[test]
fn several_of_one_type_are_changed_together() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    let at = shop.rect_of("EC2 instance Worker").center();
    shop.window.event(egui::Event::ModifiersChanged(egui::Modifiers::SHIFT));
    shop.click_with(at, egui::Modifiers::SHIFT);
    shop.window.event(egui::Event::ModifiersChanged(egui::Modifiers::NONE));
    shop.window.run();
    assert!(shop.shows("2 × EC2 instance"));
    shop.retype("Image", "ami-0123456789abcdef0");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::Batch { commands, .. } })] =
        &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(commands.len(), 2);
}

#[test]
fn nothing_selected_shows_the_board() {
    let mut shop = Shop::open();
    assert_eq!(shop.field("Title"), "Production");
    shop.retype("Title", "Live");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::UpdateBoard { title, .. } })] =
        &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(title.as_deref(), Some("Live"));
}

#[test]
fn a_colour_is_written_as_hex_and_sent_once_when_let_go() {
    let mut shop = Shop::open();
    shop.window.get_by_label("Shop front").click();
    shop.settle();
    shop.select("Page Home");
    assert!(shop.settle().is_empty(), "showing a colour changes nothing");
    shop.retype("Background", "#3366ff");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [Command::UpdateNode { set, .. }] = updates(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!(set.get(&key("background")), Some(&PropValue::text("#3366ff")));

    let swatch = shop.window.get_by_label("Background swatch").rect();
    shop.click_at(swatch.center());
    assert!(shop.settle().is_empty(), "opening the picker changes nothing");
    let slider = shop.window.get_by_role_and_label(egui::accesskit::Role::Slider, "Red").rect();
    let mut at = slider.left_center() + egui::vec2(60.0, 0.0);
    let button = egui::PointerButton::Primary;
    let press = |at, pressed| egui::Event::PointerButton {
        pos: at,
        button,
        pressed,
        modifiers: egui::Modifiers::NONE,
    };
    shop.window.hover_at(at);
    shop.window.run();
    shop.window.event(press(at, true));
    for _ in 0..6 {
        at += egui::vec2(8.0, 0.0);
        shop.window.event(egui::Event::PointerMoved(at));
        shop.window.run();
    }
    assert!(shop.main.requests().is_empty(), "nothing while it is dragged");
    shop.picture("colour-light");
    shop.window.event(press(at, false));
    let requests = shop.settle();
    assert_eq!(updates(&requests).len(), 1, "{requests:?}");
}

#[test]
fn where_something_comes_from_is_told_and_leads_to_the_log() {
    let entry = |revision: u64, name: &str, summary: &str| OperationLogEntry {
        revision: Revision(revision),
        time: 0,
        actor: Actor::new(ActorKind::Window, name),
        kind: OperationKind::Edit,
        summary: summary.into(),
        changes: 1,
    };
    let mut shop = Shop::open();
    let board = shop.main.snapshot.provenance(ElementId::Board(shop.infrastructure));
    let node = shop.main.snapshot.provenance(ElementId::Node(shop.bucket));
    assert!(node.created.0 > board.created.0 && node.changed == node.created);
    shop.main.log = vec![entry(node.created.0, "ada", "Add S3 bucket pictures")];
    shop.select("S3 bucket Pictures");
    shop.settle();
    assert!(shop.shows(&format!("Added by ada (window) in revision {}", node.created)));
    assert!(!shop.shows("Last changed"), "nobody has");
    shop.retype("Label", "Photos");
    shop.press(Key::Enter);
    shop.window.run();
    let changed = shop.main.snapshot.revision().next();
    shop.main.log.insert(0, entry(changed.0, "bob", "Label pictures"));
    shop.settle();
    assert_eq!(shop.main.snapshot.provenance(ElementId::Node(shop.bucket)).changed, changed);
    let said = format!("Last changed by bob (window) in revision {changed}");
    assert!(shop.shows(&said) && shop.shows("Label pictures"));
    // Below the properties, of which there may be many.
    shop.window.get_by_label_contains(&said).scroll_to_me();
    shop.settle();
    let at = shop.rect_of_containing(&said).center();
    shop.picture("provenance-light");
    shop.click_at(at);
    shop.settle();
    assert!(shop.shows(&format!("Operation {changed}: Label pictures")), "the log is open at it");
    shop.picture("provenance-log-light");
}

#[test]
fn what_is_no_longer_in_the_log_still_has_its_revision() {
    let mut shop = Shop::open();
    shop.select("S3 bucket Pictures");
    shop.settle();
    let created = shop.main.snapshot.provenance(ElementId::Node(shop.bucket)).created;
    assert!(shop.shows(&format!("Added in revision {created}")));
}

#[test]
fn a_property_becomes_a_variable_and_back() {
    let mut shop = Shop::open();
    shop.select("S3 bucket Pictures");
    shop.window.get_by_label("Name as a variable").click();
    let requests = shop.settle();
    let [
        WorkbenchRequest::RunCommand(RunCommand {
            command: Command::SetVariable { key: set, variable: true, .. },
        }),
    ] = &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(*set, key("bucket"));
    assert!(shop.shows("Default of variable pictures_bucket"));
    assert!(!shop.shows("Name is required"), "its value comes from outside");
    shop.picture("variable-light");
    shop.window.get_by_label("Name as a variable").click();
    let requests = shop.settle();
    assert!(matches!(
        &requests[..],
        [WorkbenchRequest::RunCommand(RunCommand { command: Command::SetVariable { variable: false, .. } })]
    ));
    assert!(shop.shows("Name is required"));
    // Several at once: one command, whatever each was before.
    let (web, worker) = (shop.web, shop.worker);
    let at = shop.rect_of("EC2 instance Web").center();
    shop.click_at(at);
    let at = shop.rect_of("EC2 instance Worker").center();
    shop.click_with(at, egui::Modifiers::SHIFT);
    shop.window.get_by_label("Image as a variable").click();
    shop.settle();
    let is_variable = |shop: &Shop, id| shop.main.snapshot.node(id).unwrap().variables.contains("ami");
    assert!(is_variable(&shop, web) && is_variable(&shop, worker));
    assert!(shop.shows("Default of one variable per node"));
    assert!(!shop.shows("Subnet as a variable"), "a reference cannot be one");
}
