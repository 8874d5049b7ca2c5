//! The inspector: what is typed becomes a command, and nothing else does.

use crate::shop::Shop;
use egui::Key;
use egui_kittest::kittest::Queryable;
use shared_protocol::{Command, PropKey, Value, messages::Request};

fn key(text: &str) -> PropKey {
    PropKey::parse(text).unwrap()
}

fn updates(requests: &[Request]) -> Vec<&Command> {
    requests
        .iter()
        .filter_map(|request| {
            if let Request::Run(command @ Command::UpdateNode { .. }) = request {
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
    assert_eq!(set.get(&key("cidr_block")), Some(&Value::text("10.1.0.0/16")));
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
    assert!(shop.shows("is not an address range"), "said while typing");
    shop.press(Key::Enter);
    let requests = shop.settle();
    assert!(updates(&requests).is_empty(), "{requests:?}");
    assert!(shop.shows("is not an address range"), "and after");
    let stored = shop.main.snapshot.node(shop.network).unwrap().props.get(&key("cidr_block")).cloned();
    assert_eq!(stored, Some(Value::text("10.1.0.0/16")));
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
    assert!(shop.shows("is called worker already"));
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
    assert_eq!(set.get(&key("tone")), Some(&Value::text("blue")));
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
    let [Request::Run(Command::Batch { commands, .. })] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(commands.len(), 2);
}

#[test]
fn nothing_selected_shows_the_board() {
    let mut shop = Shop::open();
    assert_eq!(shop.field("Title"), "Production");
    shop.retype("Title", "Live");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [Request::Run(Command::UpdateBoard { title, .. })] = &requests[..] else { panic!("{requests:?}") };
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
    assert_eq!(set.get(&key("background")), Some(&Value::text("#3366ff")));

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
