//! Palette, outline, tabs, problems, log, notices.

use crate::shop::Shop;
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Actor, ActorKind, BoardKind, Command, ElementId, OperationKind, Refusal, RefusalCode, Revision,
    messages::{
        ConflictResolution, HeldBoard, HeldReason, OperationLogEntry, ToRenderer, WorkspaceNotice,
        WorkspaceStatus,
    },
    requests::{ResolveBoard, RevertOperation, RunCommand, WorkbenchRequest},
};

#[test]
fn the_window_shows_the_board() {
    let shop = Shop::open();
    for text in ["Production", "Shop front", "EC2 instance Web", "6 nodes · 0 edges", "Unsaved"] {
        assert!(shop.shows(text), "{text}");
    }
}

#[test]
fn the_palette_filters_and_adds() {
    let mut shop = Shop::open();
    assert!(shop.shows("Lambda function") && shop.shows("SQS queue"));
    shop.retype("Search types", "sqs");
    assert!(!shop.shows("Lambda function") && shop.shows("SQS queue"));
    shop.window.get_by_label("SQS queue").click();
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::AddNode(add) })] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(add.type_id.as_str(), "aws/messaging/sqs_queue");
    assert!(shop.field("Label").contains("SQS"), "it is selected");
}

#[test]
fn the_palette_shows_what_fits_the_board() {
    let mut shop = Shop::open();
    assert!(!shop.shows("Checkbox"));
    shop.window.get_by_label("Shop front").click();
    shop.window.run();
    assert!(shop.shows("Checkbox") && !shop.shows("Lambda function"));
}

#[test]
fn what_cannot_stand_there_is_refused_with_a_hint() {
    let mut shop = Shop::open();
    shop.retype("Search types", "aws/networking/subnet");
    shop.window.get_by_label("Subnet").click();
    assert!(shop.settle().is_empty(), "a subnet needs a network");
    assert!(shop.shows("Subnet cannot be placed directly on the board"));
    assert!(shop.shows("Allowed containers:"));
}

#[test]
fn tabs_switch_boards() {
    let mut shop = Shop::open();
    shop.window.get_by_label("Shop front").click();
    shop.window.run();
    assert!(shop.shows("Board Shop front") && shop.shows("2 nodes"));
    shop.window.get_by_label("Production").click();
    shop.window.run();
    assert!(shop.shows("Board Production"));
}

#[test]
fn a_new_board_is_asked_for_and_opened() {
    let mut shop = Shop::open();
    shop.window.get_by_label("New board").click();
    shop.window.run();
    shop.window.get_by_label("Spec").click();
    shop.window.run();
    shop.retype("Board title", "Wishes");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::AddBoard { kind, title, .. } })] =
        &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!((*kind, title.as_str()), (BoardKind::Spec, "Wishes"));
    assert!(shop.shows("Board Wishes"));
}

#[test]
fn the_outline_selects_and_walks_by_keyboard() {
    let mut shop = Shop::open();
    shop.window.get_by_label("Outline").click();
    shop.window.run();
    shop.window.get_by_label("Web in outline").click();
    shop.window.run();
    assert_eq!(shop.selected(), [ElementId::Node(shop.web)].into());
    shop.press(Key::ArrowDown);
    assert_eq!(shop.selected(), [ElementId::Node(shop.worker)].into());
    shop.press(Key::ArrowLeft);
    assert_eq!(shop.selected(), [ElementId::Node(shop.subnet)].into());
    shop.press(Key::ArrowLeft);
    assert!(!shop.shows("Web in outline"), "folded");
    shop.press(Key::ArrowRight);
    assert!(shop.shows("Web in outline"));
    assert!(shop.main.requests().is_empty(), "arrows do not nudge here");
}

#[test]
fn problems_jump() {
    let mut shop = Shop::open();
    shop.window.get_by_label("3 errors").click();
    shop.window.run();
    let row = shop.rect_of_containing("(Pictures").center();
    shop.click_at(row);
    assert_eq!(shop.selected(), [ElementId::Node(shop.bucket)].into());
    assert_eq!(shop.field("Label"), "Pictures");
}

#[test]
fn a_refusal_is_a_notice_with_its_hint_and_can_be_dismissed() {
    let mut shop = Shop::open();
    shop.select("S3 bucket Pictures");
    shop.press(Key::Delete);
    let request = shop.main.request_id(|request| matches!(request, WorkbenchRequest::RunCommand(_)));
    let refusal = Refusal::new(RefusalCode::ReadOnly, "the board is held").hint("Decide its conflict first.");
    shop.main.send(ToRenderer::Response { request, result: Err(refusal) });
    shop.window.run();
    assert!(shop.shows("The board is held") && shop.shows("Decide its conflict first."));
    shop.window.get_by_label("Dismiss").click();
    shop.window.run();
    assert!(!shop.shows("The board is held"));
}

#[test]
fn a_notice_goes_by_itself() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND, Key::S);
    shop.main.serve();
    shop.window.run();
    assert!(shop.shows("Saved 1 file"));
    shop.window.run_steps(40);
    assert!(!shop.shows("Saved 1 file"));
}

#[test]
fn the_log_is_asked_for_while_it_is_open_and_reverts() {
    let mut shop = Shop::open();
    shop.main.log = vec![OperationLogEntry {
        revision: Revision(7),
        time: 0,
        actor: Actor::new(ActorKind::Terminal, "bob"),
        kind: OperationKind::Edit,
        summary: "adds Web".into(),
        changes: 2,
    }];
    shop.window.get_by_label("3 errors").click();
    shop.window.run();
    shop.window.get_by_label("Log").click();
    assert!(matches!(&shop.settle()[..], [WorkbenchRequest::ReadLog(_)]));
    shop.window.get_by_label("Revert adds Web").click();
    shop.window.run();
    assert_eq!(
        shop.main.requests(),
        [WorkbenchRequest::RevertOperation(RevertOperation { revision: Revision(7), partial: false })]
    );
    let again = shop.infrastructure;
    shop.main.run(Command::UpdateBoard { board: again.into(), title: Some("Live".into()), name: None });
    shop.window.run();
    assert!(
        matches!(&shop.main.requests()[..], [WorkbenchRequest::ReadLog(_)]),
        "asked again after a change"
    );
}

#[test]
fn a_held_board_waits_for_a_decision() {
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Dark, |main| {
        let board = main.snapshot.boards().find(|board| board.title == "Production").unwrap().id;
        let held = HeldBoard {
            board,
            name: "production".into(),
            why: HeldReason::Conflict,
            message: "changed on disk in the same places".into(),
        };
        main.status = WorkspaceStatus { held: vec![held], ..WorkspaceStatus::default() };
    });
    assert!(shop.shows("changed on disk in the same places") && shop.shows("Production (held)"));
    shop.select("S3 bucket Pictures");
    shop.press(Key::Delete);
    assert!(shop.main.requests().is_empty(), "nothing on it changes");
    shop.window.get_by_label("Keep mine · production").click();
    shop.window.run();
    assert_eq!(
        shop.main.requests(),
        [WorkbenchRequest::ResolveBoard(ResolveBoard {
            board: shop.infrastructure,
            keep: ConflictResolution::Mine
        })]
    );
}

#[test]
fn a_revert_that_is_in_conflict_offers_the_part_that_is_not() {
    let mut shop = Shop::open();
    shop.main.log = vec![OperationLogEntry {
        revision: Revision(7),
        time: 0,
        actor: Actor::new(ActorKind::Window, "ada"),
        kind: OperationKind::Edit,
        summary: "adds Web".into(),
        changes: 2,
    }];
    shop.window.get_by_label("3 errors").click();
    shop.window.run();
    shop.window.get_by_label("Log").click();
    shop.settle();
    shop.window.get_by_label("Revert adds Web").click();
    shop.window.run();
    let request = shop.main.request_id(|request| matches!(request, WorkbenchRequest::RevertOperation(_)));
    let refusal = Refusal::new(RefusalCode::Conflict, "Web was changed since");
    shop.main.send(ToRenderer::Response { request, result: Err(refusal) });
    shop.window.run();
    shop.picture("revert-light");
    shop.window.get_by_label("Revert partially").click();
    shop.window.run();
    assert_eq!(
        shop.main.requests(),
        [WorkbenchRequest::RevertOperation(RevertOperation { revision: Revision(7), partial: true })]
    );
    assert!(!shop.shows("Web was changed since"), "the notice is done with");
}

#[test]
fn problems_are_filtered_and_lead_to_their_field() {
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Light, |main| {
        // As if a module had dropped a property that was set.
        let mut document = main.snapshot.to_document();
        let node = document.nodes.iter_mut().find(|node| node.label == "Pictures").unwrap();
        node.props.insert("colour_of_old".parse().unwrap(), shared_protocol::PropValue::text("red"));
        let registry = std::sync::Arc::clone(main.snapshot.registry());
        main.snapshot = authority::Snapshot::from_document(document, registry).unwrap();
    });
    shop.window.get_by_label("3 errors, 1 warning").click();
    shop.window.run();
    shop.picture("problems-filter-light");
    shop.window.get_by_label("Warnings 1").click();
    shop.window.run();
    assert!(!shop.shows("Error: ") && shop.shows("Warning: "));
    shop.window.get_by_label("Remove unused property colour_of_old of Pictures").click();
    let requests = shop.settle();
    assert!(
        matches!(&requests[..], [WorkbenchRequest::RunCommand(RunCommand { command: Command::UpdateNode { unset, .. } })] if unset.len() == 1)
    );
    assert!(shop.shows("No problems of this severity"), "no warning is left");
    shop.window.get_by_label("Errors 3").click();
    shop.window.run();
    shop.window.get_by_label("Go to Image of Worker").click();
    shop.window.run();
    assert_eq!(shop.selected(), [ElementId::Node(shop.worker)].into());
    shop.type_keys("ami-0123456789abcdef0");
    assert_eq!(shop.field("Image"), "ami-0123456789abcdef0", "the keyboard is in the field");
}

#[test]
fn a_workspace_without_boards_asks_what_kind_to_begin_with() {
    let (main, link) = crate::shop::Main::new();
    main.send_workspace();
    let mut window = crate::shop::open(link, (1024.0, 700.0), Theme::Dark);
    crate::shop::picture(&mut window, "launcher-dark");
    window.get_by_label("New interface board").click();
    window.run();
    assert!(window.query_by_label_contains("Pages and components with a live preview.").is_some());
    crate::shop::picture(&mut window, "launcher-new-dark");
}

#[test]
fn the_health_of_the_workspace_is_told_with_a_way_to_mend_it() {
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Light, |main| {
        let message =
            "draftboard.toml: line 3 has no value; defaults are used until the file is fixed".into();
        let notice = WorkspaceNotice { message, file: Some("draftboard.toml".into()) };
        main.status = WorkspaceStatus { notices: vec![notice], ..WorkspaceStatus::default() };
        let broken = authority::ModuleSource { origin: "modules/pricing.json".into(), text: "{".into() };
        let mut modules = catalogue::built_in();
        modules.push(broken);
        let registry = authority::TypeRegistry::compose(&modules, &Default::default());
        main.snapshot = main.snapshot.clone().with_registry(std::sync::Arc::new(registry));
    });
    assert!(shop.shows("line 3 has no value") && shop.shows("modules/pricing.json"));
    shop.picture("health-light");
    shop.window.get_by_label("Copy path of draftboard.toml").click();
    let copied = (0..4).any(|_| {
        shop.window.step();
        let commands = &shop.window.output().platform_output.commands;
        commands.contains(&egui::OutputCommand::CopyText("/home/ada/shop/draftboard.toml".into()))
    });
    assert!(copied);
    shop.window.get_by_label("Show in Problems").click();
    shop.window.run();
    assert!(shop.shows("Errors 4"), "three of the boards and the module");
}
