//! Every kind of control of the inspector, the context menu, and renaming on the canvas.

use crate::shop::Shop;
use egui::{Key, accesskit::Role};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    BoardKind, Command, ElementId, NodeId, PropValue,
    requests::{RunCommand, WorkbenchRequest},
};

/// A shop whose window begins with one more node, selected.
fn with(kind: BoardKind, type_id: &str) -> (Shop, NodeId) {
    let mut made = None;
    let shop = Shop::open_as((1440.0, 1400.0), egui::Theme::Light, |main| {
        let board = match kind {
            BoardKind::Infrastructure => main.snapshot.boards().find(|board| board.kind == kind).unwrap().id,
            kind => main.add_board(kind, "Other"),
        };
        let parent = (type_id == "ui.grid").then(|| main.add(board, "ui.route", "Page", None, (0, 0)));
        let id = main.add(board, type_id, "Subject", parent, (0, 500));
        main.presence.board = Some(board);
        main.presence.selection = vec![ElementId::Node(id)];
        made = Some(id);
    });
    (shop, made.unwrap())
}

fn value(shop: &Shop, node: NodeId, key: &str) -> Option<PropValue> {
    shop.main.snapshot.node(node).unwrap().props.get(key).cloned()
}

fn list(items: &[&str]) -> Option<PropValue> {
    Some(PropValue::List(items.iter().map(|item| PropValue::text(*item)).collect()))
}

#[test]
fn list_rows_are_added_changed_and_removed() {
    let (mut shop, node) = with(BoardKind::Spec, "spec/requirement");
    for text in ["Fast", "Safe"] {
        shop.window.get_by_label("Add item to Acceptance criteria").click();
        shop.window.run();
        shop.type_keys(text);
        shop.press(Key::Enter);
        shop.settle();
    }
    assert_eq!(value(&shop, node, "acceptance"), list(&["Fast", "Safe"]));
    shop.retype("Acceptance criteria 1", "Very fast");
    shop.press(Key::Enter);
    assert_eq!(shop.settle().len(), 1);
    assert_eq!(value(&shop, node, "acceptance"), list(&["Very fast", "Safe"]));
    shop.window.get_by_label("Remove Acceptance criteria 1").click();
    shop.settle();
    assert_eq!(value(&shop, node, "acceptance"), list(&["Safe"]));
    shop.window.get_by_label("Remove Acceptance criteria 1").click();
    shop.settle();
    assert_eq!(value(&shop, node, "acceptance"), None, "an empty list is nothing set");
    shop.window.get_by_label("Add item to Acceptance criteria").click();
    shop.window.run();
    shop.press(Key::Escape);
    assert!(shop.settle().is_empty(), "a row that nothing was typed into is no row");
    assert!(shop.shows("Add item to Acceptance criteria"), "and it is gone");
}

#[test]
fn a_list_row_that_is_left_empty_goes() {
    let (mut shop, node) = with(BoardKind::Spec, "spec/requirement");
    shop.window.get_by_label("Add item to Acceptance criteria").click();
    shop.window.run();
    shop.type_keys("Fast");
    shop.press(Key::Enter);
    shop.settle();
    shop.retype("Acceptance criteria 1", " ");
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(value(&shop, node, "acceptance"), None);
}

#[test]
fn several_choices_are_kept_in_the_order_of_the_type() {
    let (mut shop, node) = with(BoardKind::Spec, "spec/requirement");
    let labels: Vec<String> = {
        let def = shop.main.snapshot.registry().get(&"spec/requirement".parse().unwrap()).unwrap();
        def.prop("verification").unwrap().options.iter().map(|choice| choice.label.clone()).collect()
    };
    // The default is to test; what is chosen besides is kept in the order of the type.
    shop.window.get_by_role_and_label(Role::CheckBox, &labels[1]).click();
    shop.settle();
    assert_eq!(value(&shop, node, "verification"), list(&["test", "inspection"]));
    shop.window.get_by_role_and_label(Role::CheckBox, &labels[0]).click();
    shop.settle();
    assert_eq!(value(&shop, node, "verification"), list(&["inspection"]));
    shop.window.get_by_role_and_label(Role::CheckBox, &labels[0]).click();
    shop.settle();
    assert_eq!(value(&shop, node, "verification"), list(&["test", "inspection"]));
    shop.window.get_by_label("Reset Verified by").click();
    shop.settle();
    assert_eq!(value(&shop, node, "verification"), None);
}

#[test]
fn json_is_checked_while_it_is_typed() {
    let (mut shop, node) = with(BoardKind::Infrastructure, "aws/messaging/sqs_queue");
    let role = Role::MultilineTextInput;
    shop.window.get_by_role_and_label(role, "Queue policy").focus();
    shop.window.run();
    shop.type_keys("{\"Version\": ");
    assert!(shop.shows("JSON") || shop.shows("Expected") || shop.shows("EOF"), "says why while typing");
    shop.type_keys("\"2012-10-17\"}");
    // Enter is a new line here; leaving the field is what ends it.
    shop.press(Key::Tab);
    shop.settle();
    let stored = value(&shop, node, "policy").map(|value| value.to_json());
    assert_eq!(stored.as_deref(), Some(r#"{"Version":"2012-10-17"}"#));
}

#[test]
fn an_object_is_json_in_braces() {
    let (mut shop, node) = with(BoardKind::Interface, "ui.grid");
    shop.window.get_by_role_and_label(Role::MultilineTextInput, "Breakpoints").focus();
    shop.window.run();
    shop.type_keys("[1]");
    shop.press(Key::Tab);
    shop.settle();
    assert_eq!(value(&shop, node, "breakpoints"), None, "a list is no object");
}

#[test]
fn a_secret_is_masked_until_it_is_revealed_and_masked_again_elsewhere() {
    let (mut shop, node) = with(BoardKind::Infrastructure, "aws/compute/rds_instance");
    shop.window.get_by_role_and_label(Role::CheckBox, "Password in Secrets Manager").click();
    shop.settle();
    let role = Role::PasswordInput;
    shop.window.get_by_role_and_label(role, "Password").focus();
    shop.window.run();
    shop.type_keys("correct horse");
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(value(&shop, node, "password"), Some(PropValue::text("correct horse")));
    assert!(!shop.says("correct horse"), "not even to a screen reader");
    shop.window.get_by_label("Reveal Password").click();
    shop.window.run();
    assert!(shop.says("correct horse"));
    shop.window.get_by_label("Hide Password").click();
    shop.window.run();
    assert!(!shop.says("correct horse"));
    shop.window.get_by_label("Reveal Password").click();
    shop.window.run();
    shop.select("Subnet Private A");
    shop.select("RDS instance Subject");
    assert!(!shop.says("correct horse"), "revealing ends with the selection");
}

#[test]
fn references_to_many_are_added_shown_and_removed() {
    let mut shop = Shop::open_as((1440.0, 1400.0), egui::Theme::Light, |main| {
        let board = main.snapshot.boards().find(|board| board.title == "Production").unwrap().id;
        let find = |main: &crate::shop::Main, label: &str| {
            main.snapshot.nodes().find(|node| node.label == label).map(|node| node.id)
        };
        let network = find(main, "Shop network");
        main.add(board, "aws/compute/security_group", "Open", network, (40, 500));
        main.add(board, "aws/compute/security_group", "Shut", network, (300, 500));
        main.presence.selection = vec![ElementId::Node(find(main, "Web").unwrap())];
    });
    let stored = |shop: &Shop| -> Vec<String> {
        let node = shop.main.snapshot.node(shop.web).unwrap();
        let ids = node.references.get("security_group_ids").cloned().unwrap_or_default();
        ids.iter().map(|id| shop.main.snapshot.node(*id).unwrap().label.clone()).collect()
    };
    for label in ["Shut", "Open"] {
        shop.window.get_by_role_and_label(Role::ComboBox, "Security groups").click();
        shop.window.run();
        shop.window.get_by_role_and_label(Role::Button, label).click();
        shop.settle();
    }
    assert_eq!(stored(&shop), ["Shut", "Open"]);
    shop.window.get_by_label("Remove Shut from Security groups").click();
    shop.settle();
    assert_eq!(stored(&shop), ["Open"]);
    shop.window.get_by_role_and_label(Role::Link, "Open").click();
    shop.settle();
    assert_eq!(shop.field("Label"), "Open", "it is shown");
}

#[test]
fn the_context_menu_acts_on_what_is_under_the_pointer() {
    let mut shop = Shop::open();
    let at = shop.rect_of("EC2 instance Web").center();
    shop.right_click_at(at);
    assert!(shop.shows("Zoom to selection"));
    shop.press(Key::Escape);
    assert!(!shop.shows("Zoom to selection"), "Esc closes it");
    assert_eq!(shop.selected(), [ElementId::Node(shop.web)].into(), "and only it");
    shop.right_click_at(at);
    shop.window.get_by_label_contains("Duplicate").click();
    let requests = shop.settle();
    assert!(
        matches!(
            &requests[..],
            [WorkbenchRequest::RunCommand(RunCommand { command: Command::Duplicate { .. } })]
        ),
        "{requests:?}"
    );
    let empty = shop.rect_of("S3 bucket Pictures").center_bottom() + egui::vec2(-60.0, 300.0);
    shop.right_click_at(empty);
    assert!(shop.shows("Quick add…") && !shop.shows("Zoom to selection"));
    shop.click_at(empty + egui::vec2(-150.0, 20.0));
    assert!(!shop.shows("Quick add…"), "a click elsewhere closes it");
}

#[test]
fn an_input_method_writes_a_label_on_the_canvas() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    shop.press(Key::F2);
    shop.window.run();
    shop.press_with(egui::Modifiers::COMMAND, Key::A);
    let preedit = egui::ImeEvent::Preedit { text: "cafe".into(), active_range_chars: None };
    for event in [preedit, egui::ImeEvent::Commit("café".into())] {
        shop.window.event(egui::Event::Ime(event));
        shop.window.run();
    }
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(shop.main.snapshot.node(shop.web).unwrap().label, "café");
}

#[test]
fn f2_renames_on_the_canvas() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    shop.press(Key::F2);
    shop.window.run();
    shop.press_with(egui::Modifiers::COMMAND, Key::A);
    shop.type_keys("Front");
    shop.press(Key::Enter);
    let requests = shop.settle();
    assert!(
        matches!(
            &requests[..],
            [WorkbenchRequest::RunCommand(RunCommand { command: Command::UpdateNode { .. } })]
        ),
        "{requests:?}"
    );
    assert_eq!(shop.main.snapshot.node(shop.web).unwrap().label, "Front");
    shop.press(Key::F2);
    shop.type_keys("Nothing");
    shop.press(Key::Escape);
    assert!(shop.settle().is_empty());
    assert_eq!(shop.main.snapshot.node(shop.web).unwrap().label, "Front");
}
