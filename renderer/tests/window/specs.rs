//! Spec bundles: finding, reading, editing, making and deleting entities, findings, coverage, maps.

use crate::{
    dock::run_command,
    parcels::{Locker, Parcels, finding, reference},
    shop::Shop,
};
use egui::{Key, Modifiers, Theme, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    BoardKind, Change, PropValue, Refusal, RefusalCode,
    bundle::BundlesView,
    messages::{ProblemSeverity, ToRenderer},
    requests::{DrawMap, ListEntities, ShowEntity, WorkbenchRequest},
};

const PICKUP: &str = "REQ-pickup-001 Open the cell with a code";

/// A window that shows the navigator, without the inspector, whose fields have names like those of entities.
fn navigating() -> Locker {
    let mut locker = Locker::open();
    locker.shop.press_with(Modifiers::COMMAND, Key::Num2);
    show_navigator(&mut locker);
    locker
}

fn show_navigator(locker: &mut Locker) {
    let tab = locker.shop.window.get_by_role_and_label(Role::Tab, "Specs").rect().center();
    locker.shop.click_at(tab);
    locker.settle();
}

/// A window with an entity open.
fn reading(row: &str) -> Locker {
    let mut locker = navigating();
    locker.click(row);
    locker
}

fn editing(row: &str) -> Locker {
    let mut locker = reading(row);
    locker.click("Edit entity");
    locker
}

fn has_tab(locker: &Locker, name: &str) -> bool {
    locker.shop.window.query_by_role_and_label(Role::Tab, name).is_some()
}

fn is_enabled(locker: &Locker, name: &str) -> bool {
    !locker.shop.window.get_by_label(name).accesskit_node().is_disabled()
}

/// The rows of the navigator that are drawn.
fn rows(locker: &Locker) -> Vec<String> {
    let all = locker.shop.window.query_all_by_role(Role::TreeItem);
    all.filter_map(|node| node.accesskit_node().label()).collect()
}

/// What was asked to be changed since the last time: dry runs, then real ones.
fn changes(locker: &mut Locker) -> (Vec<String>, Vec<String>) {
    let all = std::mem::take(&mut locker.parcels.changes);
    let (dry, real): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, dry_run)| *dry_run);
    let texts = |all: Vec<(String, bool)>| all.into_iter().map(|(text, _)| text).collect();
    (texts(dry), texts(real))
}

#[test]
fn without_bundles_it_says_how_to_get_one() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::B);
    assert!(shop.shows("No specs") && shop.shows(r#"bundles = ["specs/*"]"#));
    let failed = vec![("specs/old".to_owned(), "there is no sdd-bundle.yaml".to_owned())];
    shop.main.send(ToRenderer::Bundles(Box::new(BundlesView { bundles: Vec::new(), failed })));
    shop.settle();
    assert!(shop.shows("specs/old") && shop.shows("there is no sdd-bundle.yaml"));
    shop.picture("specs-failed-light");
}

#[test]
fn the_tree_is_walked_and_filtered_by_keyboard() {
    let mut locker = navigating();
    assert_eq!(rows(&locker)[..3], ["Product", "Features", "FEAT-pickup Parcel pickup"]);
    locker.shop.retype("Filter entities", "codes");
    locker.settle();
    let found =
        ["Product", "Requirements", "REQ-pickup-002 Lock after three wrong codes", "Governance", "Decisions"];
    assert_eq!(rows(&locker)[..5], found);
    for _ in 0..3 {
        locker.shop.press(Key::ArrowDown);
    }
    locker.shop.press(Key::Enter);
    locker.settle();
    assert!(has_tab(&locker, "REQ-pickup-002"));
    locker.shop.press(Key::ArrowLeft);
    locker.shop.press(Key::ArrowLeft);
    locker.shop.retype("Filter entities", "");
    locker.settle();
    locker.click("Requirements");
    assert!(!rows(&locker).contains(&PICKUP.to_owned()), "folded");
}

#[test]
fn ten_thousand_entities_are_as_quick_as_seven() {
    let mut parcels = Parcels::default();
    for at in 0..10_000 {
        let id = format!("TASK-{at}");
        let data = format!(r#"{{"id":"{id}","title":"Work {at}"}}"#);
        parcels.entities.push((reference("Task", &id), format!("Work {at}"), data));
    }
    let mut locker = Locker::of(parcels, (1440.0, 900.0), Theme::Light);
    show_navigator(&mut locker);
    locker.click("Tasks");
    assert!((10..60).contains(&rows(&locker).len()), "{}", rows(&locker).len());
    locker.shop.press(Key::End);
    locker.settle();
    assert_eq!(rows(&locker).last().map(String::as_str), Some("TASK-9999 Work 9999"));
    locker.shop.retype("Filter entities", "work 7777");
    locker.shop.press(Key::Enter);
    locker.settle();
    assert!(has_tab(&locker, "TASK-7777"));
}

#[test]
fn an_entity_is_read_with_what_it_refers_to_and_what_refers_to_it() {
    let mut locker = reading(PICKUP);
    for text in
        ["Accepted", "Functional", "The right code opens the door", "Missing FEAT-gone", "Referenced by"]
    {
        assert!(locker.shows(text), "{text}");
    }
    assert!(locker.shows("FEAT-gone does not exist"), "the finding stands at its field");
    assert!(locker.shows("specs/parcel/bundle/requirements/REQ-pickup-001.yaml"));
    locker.click("Open FEAT-pickup");
    assert!(has_tab(&locker, "FEAT-pickup"));
    locker.click("Open ADR-0001");
    assert!(locker.shows("One-time code (chosen)") && locker.shows("cheap") && !locker.shows("lost keys"));
    locker.click("Physical key");
    assert!(locker.shows("lost keys"));
    locker.shop.press_with(Modifiers::ALT, Key::ArrowLeft);
    locker.shop.press_with(Modifiers::ALT, Key::ArrowLeft);
    assert!(has_tab(&locker, "REQ-pickup-001"));
    locker.click("Forward");
    assert!(has_tab(&locker, "FEAT-pickup"));
}

#[test]
fn answers_are_kept_until_the_bundle_changes() {
    let mut locker = reading(PICKUP);
    locker.click("FEAT-pickup Parcel pickup");
    locker.parcels.asked.clear();
    locker.click(PICKUP);
    assert_eq!(locker.parcels.asked, [], "nothing is asked twice");
    locker.parcels.generation = 2;
    locker.parcels.entities[2].1 = "Open it at once".into();
    locker.tell();
    let entities = WorkbenchRequest::from(ListEntities { bundle: "parcel".into() });
    let entity = WorkbenchRequest::from(ShowEntity { entity: reference("Requirement", "REQ-pickup-001") });
    assert_eq!(locker.parcels.asked.len(), 2, "{:?}", locker.parcels.asked);
    assert!(locker.parcels.asked.contains(&entities) && locker.parcels.asked.contains(&entity));
    assert!(locker.shows("REQ-pickup-001 Open it at once"));
}

#[test]
fn one_save_is_one_change_checked_while_typing() {
    let mut locker = editing(PICKUP);
    assert!(!is_enabled(&locker, "Save entity"), "nothing has changed");
    locker.shop.retype("Title", "Open");
    locker.parcels.check =
        (false, vec![finding(ProblemSeverity::Error, "REQ-pickup-001", "/title", "It is too short")]);
    locker.settle();
    let update = r#"[{"operation":"update","entityType":"Requirement","entityId":"REQ-pickup-001","fieldPath":"title","value":"Open"}]"#;
    assert_eq!(changes(&mut locker), (vec![update.to_owned()], vec![]));
    assert!(locker.shows("It is too short") && !is_enabled(&locker, "Save entity"));
    locker.picture("spec-edit-finding-light");
    locker.parcels.check = (true, Vec::new());
    locker.shop.retype("Title", "Open the door");
    locker.settle();
    assert!(!locker.shows("It is too short"));
    changes(&mut locker);
    locker.parcels.refuse =
        Some(Refusal::new(RefusalCode::Stale, "the file has changed").hint("Save again."));
    locker.click("Save entity");
    assert!(locker.shows("The file has changed"), "told on the page, and nothing is lost");
    assert_eq!(locker.shop.field("Title"), "Open the door");
    changes(&mut locker);
    locker.shop.press_with(Modifiers::COMMAND, Key::S);
    locker.settle();
    assert_eq!(changes(&mut locker), (vec![], vec![update.replace("\"Open\"", "\"Open the door\"")]));
    assert!(locker.shows("Edit entity"), "it can be read again");
}

#[test]
fn what_others_change_meanwhile_never_fights_what_is_typed() {
    let mut locker = editing(PICKUP);
    locker.shop.retype("Title", "Mine");
    locker.settle();
    let data = &mut locker.parcels.entities[2].2;
    *data = data
        .replace("Open the cell with a code", "Theirs")
        .replace("\"latencyMs\":2000", "\"latencyMs\":500");
    locker.parcels.generation = 2;
    locker.tell();
    assert_eq!(
        (locker.shop.field("Title").as_str(), locker.shop.field("Latency ms").as_str()),
        ("Mine", "500")
    );
    assert!(locker.shows("Changed elsewhere to “Theirs”"));
    let focused = locker.shop.window.get_by_role_and_label(Role::TextInput, "Title").is_focused();
    assert!(focused, "the keyboard stays where it was");
    locker.click("Take theirs for Title");
    assert_eq!(locker.shop.field("Title"), "Theirs");
    assert!(!is_enabled(&locker, "Save entity"));
    locker.click("Discard changes");
    assert!(locker.shows("Edit entity"));
}

#[test]
fn a_draft_waits_while_something_else_is_read() {
    let mut locker = editing(PICKUP);
    locker.shop.retype("Title", "Half a thought");
    locker.click("FEAT-pickup Parcel pickup");
    locker.click(PICKUP);
    assert_eq!(locker.shop.field("Title"), "Half a thought");
}

#[test]
fn references_are_picked_from_the_types_that_fit() {
    let mut locker = editing(PICKUP);
    locker.click("Remove FEAT-gone from Realizes");
    locker.click("Add to Realizes");
    assert!(locker.shows("Returns"), "a feature");
    assert!(locker.shop.window.query_by_role_and_label(Role::Button, "Courier").is_none(), "an actor");
    assert!(
        locker.shop.window.query_by_role_and_label(Role::Button, "Parcel pickup").is_none(),
        "there already"
    );
    locker.shop.type_keys("ret");
    locker.shop.press(Key::Enter);
    locker.settle();
    changes(&mut locker);
    locker.click("Save entity");
    let (_, real) = changes(&mut locker);
    assert!(
        real[0].contains(r#""fieldPath":"realizesFeatureIds","value":["FEAT-pickup","FEAT-returns"]"#),
        "{real:?}"
    );
}

#[test]
fn every_kind_of_field_has_its_control() {
    let mut locker = editing(PICKUP);
    locker.shop.retype("Latency ms", "12.5");
    locker.settle();
    assert!(locker.shows("Enter a whole number.") && !is_enabled(&locker, "Save entity"));
    locker.shop.retype("Latency ms", "125");
    locker.click("Kind");
    locker.click("Constraint");
    locker.click("Quality attributes Verifiable yes");
    locker.click("Remove Acceptance criteria 2");
    locker.click("Add to Acceptance criteria");
    locker.shop.retype("Acceptance criteria 3", "Light at night");
    let long = Role::MultilineTextInput;
    locker.shop.window.get_by_role_and_label(long, "Statement").focus();
    locker.shop.press_with(Modifiers::COMMAND, Key::A);
    locker.shop.type_keys("Short");
    locker.click("Preview Statement");
    assert!(locker.shop.window.query_by_role_and_label(long, "Statement").is_none());
    locker.shop.retype("Created", "");
    locker.shop.press(Key::Backspace);
    locker.settle();
    changes(&mut locker);
    locker.click("Save entity");
    let real = changes(&mut locker).1.concat();
    for part in [
        r#""fieldPath":"latencyMs","value":125"#,
        r#""fieldPath":"kind","value":"constraint""#,
        r#""fieldPath":"qualityAttributes","value":{"atomic":true,"verifiable":true}"#,
        r#""fieldPath":"acceptanceCriteria","value":["The right code opens the door","Three wrong codes lock the cell for ten minutes","Light at night"]"#,
        r#""fieldPath":"statement","value":"Short""#,
        r#""fieldPath":"createdDate"}"#,
    ] {
        assert!(real.contains(part), "{part}\n{real}");
    }
    assert_eq!(real.matches("fieldPath").count(), 6, "{real}");
}

#[test]
fn lists_of_objects_are_edited_item_by_item() {
    let mut locker = editing("PROF-BASIC Basic locker");
    locker.shop.retype("Conformance rules 2 Description", "Door closes");
    locker.click("Move Conformance rules 2 up");
    locker.click("Choose Conformance rules 1 Linked requirement");
    locker.shop.press(Key::ArrowDown);
    locker.shop.press(Key::Enter);
    locker.settle();
    changes(&mut locker);
    locker.click("Save entity");
    let real = changes(&mut locker).1.concat();
    let first = r#""value":[{"id":"RULE-02","description":"Door closes","severity":"low","linkedRequirement":"REQ-pickup-002"},"#;
    assert!(real.contains(first), "{real}");
}

#[test]
fn a_new_entity_begins_with_what_its_schema_requires() {
    let mut locker = navigating();
    locker.shop.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::E);
    locker.shop.type_keys("requ");
    locker.shop.press(Key::Enter);
    locker.settle();
    assert!(has_tab(&locker, "New Requirement"));
    assert_eq!(locker.shop.field("Id"), "REQ-", "from the template of ids");
    locker.shop.retype("Id", "REQ-light");
    locker.shop.retype("Title", "Light the cell");
    locker.click("Kind");
    locker.click("Functional");
    locker.picture("spec-new-light");
    changes(&mut locker);
    locker.parcels.entities.push((
        reference("Requirement", "REQ-light"),
        "Light the cell".into(),
        r#"{"id":"REQ-light","title":"Light the cell","kind":"functional"}"#.into(),
    ));
    locker.click("Create entity");
    let create = r#"[{"operation":"create","entityType":"Requirement","entityId":"REQ-light","data":{"id":"REQ-light","title":"Light the cell","kind":"functional"}}]"#;
    assert_eq!(changes(&mut locker).1, [create]);
    assert!(has_tab(&locker, "REQ-light") && locker.shows("Edit entity"), "what was made is shown");
}

#[test]
fn deleting_names_what_refers_and_asks_first() {
    let mut locker = reading(PICKUP);
    run_command(&mut locker.shop, "Delete entity");
    assert!(locker.shows("REQ-pickup-002 (Refers to)") && locker.shows("PROF-BASIC (Refers to)"));
    assert!(!is_enabled(&locker, "Delete"));
    locker.shop.press(Key::Escape);
    locker.click("FEAT-returns Returns");
    run_command(&mut locker.shop, "Delete entity");
    assert_eq!(changes(&mut locker).1, [""; 0], "not yet");
    locker.click("Delete");
    assert_eq!(
        changes(&mut locker).1,
        [r#"[{"entityId":"FEAT-returns","entityType":"Feature","operation":"delete"}]"#]
    );
    assert!(has_tab(&locker, "REQ-pickup-001"), "back to what was read before");
}

#[test]
fn findings_are_filtered_and_lead_to_their_field() {
    let mut locker = Locker::open();
    locker.click("4 errors, 1 warning");
    assert!(locker.shows("Boards 3"));
    locker.click("Specs 2");
    assert!(locker.shows("FEAT-gone does not exist") && locker.shows("No task fulfils it"));
    locker.click("Warnings 1");
    assert!(!locker.shows("FEAT-gone does not exist"));
    locker.click("All 2");
    locker.shop.retype("Filter findings", "gone");
    locker.settle();
    assert!(!locker.shows("No task fulfils it"));
    locker.picture("spec-findings-light");
    locker.click("Error: FEAT-gone does not exist (REQ-pickup-001)");
    assert!(has_tab(&locker, "REQ-pickup-001"));
}

#[test]
fn the_search_finds_entities_too() {
    let mut locker = Locker::open();
    locker.shop.press_with(Modifiers::COMMAND, Key::K);
    locker.shop.type_keys("one-time");
    locker.settle();
    assert!(locker.shows("Use one-time codes instead of physical keys"));
    locker.shop.press(Key::Enter);
    locker.settle();
    assert!(has_tab(&locker, "ADR-0001"));
}

#[test]
fn coverage_lists_what_nothing_refers_to() {
    let mut locker = navigating();
    locker.click("Coverage");
    assert!(locker.shows("2 of 4 relations fully covered"));
    locker.click("Requirement to feature, realizes feature: 1 of 2 covered");
    locker.click("Open FEAT-returns");
    assert!(has_tab(&locker, "FEAT-returns"));
}

#[test]
fn domain_knowledge_is_read_by_its_contents() {
    let mut locker = navigating();
    locker.click("Domain knowledge");
    assert!(locker.shows("Codes expire after 72 hours.") && locker.shows("30 cm"));
    locker.click("Go to Sensors");
    assert!(locker.shows("They report within a second."));
}

#[test]
fn a_map_is_asked_for_with_its_reach() {
    let mut locker = reading(PICKUP);
    run_command(&mut locker.shop, "Draw map");
    locker.click("Three steps");
    locker.parcels.asked.clear();
    locker.click("Draw");
    let around = Some(reference("Requirement", "REQ-pickup-001"));
    assert_eq!(
        locker.parcels.asked,
        [WorkbenchRequest::from(DrawMap { bundle: "parcel".into(), around, depth: 3 })]
    );
    assert!(locker.shows("Not here"), "a refusal is told");
    let board = locker.shop.main.snapshot.boards().find(|board| board.title == "Shop front").unwrap().id;
    locker.parcels.map = Some(board);
    locker.click("More actions for this entity");
    locker.click("Show on map");
    assert!(locker.shows("Board Shop front"), "it stands on no map, so one was drawn and is shown");
}

#[test]
fn a_node_of_a_map_leads_to_its_entity_and_back() {
    let mut locker = Locker::prepared(|main| {
        let board = main.add_board(BoardKind::Spec, "Parcels");
        let node = main.add(board, "spec/entity", "Open the cell", None, (0, 0));
        // As a map is drawn: nobody else may say which entity a node stands for.
        let props = [("bundle", "parcel"), ("entityType", "Requirement"), ("entityId", "REQ-pickup-001")];
        let changes = props.map(|(key, value)| Change::Prop {
            node,
            key: key.parse().unwrap(),
            before: None,
            after: Some(PropValue::text(value)),
        });
        let revision = main.snapshot.revision().next();
        main.snapshot.apply(revision, &changes).unwrap();
        main.presence.board = Some(board);
    });
    locker.shop.select("Requirement Open the cell");
    locker.settle();
    assert!(locker.shows("Accepted") && locker.shows("Open entity"), "in brief, in the inspector");
    locker.picture("spec-brief-light");
    locker.shop.press(Key::O);
    locker.settle();
    assert!(has_tab(&locker, "REQ-pickup-001"));
    locker.parcels.asked.clear();
    run_command(&mut locker.shop, "Show on map");
    locker.settle();
    assert!(locker.shows("Board Parcels"), "the node that stands for it is shown");
    let drawn = locker.parcels.asked.iter().any(|request| matches!(request, WorkbenchRequest::DrawMap(_)));
    assert!(!drawn, "nothing needs to be drawn");
}

#[test]
fn a_bundle_that_went_is_missed_and_not_guessed_at() {
    let mut locker = reading(PICKUP);
    locker.shop.main.send(ToRenderer::Bundles(Box::default()));
    locker.settle();
    assert!(locker.shows("Bundle not found") && locker.shows("No specs"));
}

#[test]
fn keys_do_not_reach_a_board_behind_a_page() {
    let mut locker = Locker::open();
    locker.shop.select("EC2 instance Web");
    show_navigator(&mut locker);
    locker.click(PICKUP);
    locker.shop.press(Key::Escape);
    locker.shop.press(Key::Delete);
    locker.shop.press(Key::Backspace);
    let asked = locker.settle();
    assert!(!asked.iter().any(|request| matches!(request, WorkbenchRequest::RunCommand(_))), "{asked:?}");
    locker.click("Production");
    assert!(
        locker.shop.window.query_all_by_label_contains("EC2 instance Web").next().is_some(),
        "the board is back"
    );
}

#[test]
fn looks() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        for size in [(1440.0, 900.0), (1024.0, 700.0)] {
            let mut locker = Locker::open_as(size, theme);
            show_navigator(&mut locker);
            for (row, name) in [
                (PICKUP, "requirement"),
                ("ADR-0001 Use one-time codes instead of physical keys", "adr"),
                ("PROF-BASIC Basic locker", "profile"),
            ] {
                locker.click(row);
                locker.picture(&format!("spec-{name}-{word}-{}", size.0));
            }
            locker.click("Edit entity");
            locker.picture(&format!("spec-edit-{word}-{}", size.0));
            locker.click("Coverage");
            locker.click("Task to requirement, fulfills requirement: 0 of 2 covered");
            locker.picture(&format!("spec-coverage-{word}-{}", size.0));
            locker.click("Domain knowledge");
            locker.picture(&format!("spec-knowledge-{word}-{}", size.0));
        }
    }
}
