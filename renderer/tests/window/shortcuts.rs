//! Keys and the clipboard.

use crate::shop::{Shop, response};
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Command, ElementId, GraphFragment,
    command::NodeAlignment,
    messages::{ToRenderer, WorkspaceStatus},
    requests::{RedoLast, RunCommand, SaveFiles, UndoLast, WorkbenchRequest},
};

fn undoable(shop: &mut Shop) {
    let status = WorkspaceStatus {
        undo: Some("adds Web".into()),
        redo: Some("moves Web".into()),
        ..WorkspaceStatus::default()
    };
    shop.main.send(ToRenderer::Status(status));
    shop.window.run();
}

#[test]
fn undo_redo_and_save() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND, Key::Z);
    assert!(shop.main.requests().is_empty(), "there is nothing to undo");
    undoable(&mut shop);
    shop.press_with(Modifiers::COMMAND, Key::Z);
    assert_eq!(shop.main.requests(), [WorkbenchRequest::UndoLast(UndoLast {})]);
    shop.press_with(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    shop.press_with(Modifiers::COMMAND, Key::Y);
    assert_eq!(
        shop.main.requests(),
        [WorkbenchRequest::RedoLast(RedoLast {}), WorkbenchRequest::RedoLast(RedoLast {})]
    );
    shop.press_with(Modifiers::COMMAND, Key::S);
    assert_eq!(shop.settle(), [WorkbenchRequest::SaveFiles(SaveFiles {})]);
    assert!(shop.shows("Saved 1 file"));
}

#[test]
fn a_field_that_is_typed_in_keeps_its_keys() {
    let mut shop = Shop::open();
    undoable(&mut shop);
    shop.select("EC2 instance Web");
    shop.retype("Label", "Web server");
    for key in [Key::Delete, Key::Backspace, Key::F, Key::ArrowLeft] {
        shop.press(key);
    }
    shop.press_with(Modifiers::COMMAND, Key::Z);
    assert!(shop.main.requests().is_empty());
    // Saving takes what is half typed along.
    shop.retype("Label", "Front");
    shop.press_with(Modifiers::COMMAND, Key::S);
    let requests = shop.main.requests();
    assert!(
        matches!(
            &requests[..],
            [
                WorkbenchRequest::RunCommand(RunCommand { command: Command::UpdateNode { .. } }),
                WorkbenchRequest::SaveFiles(SaveFiles {})
            ]
        ),
        "{requests:?}"
    );
}

#[test]
fn delete_duplicate_and_nudge_act_on_the_selection() {
    let mut shop = Shop::open();
    shop.press(Key::Delete);
    assert!(shop.main.requests().is_empty(), "nothing is selected");
    shop.select("S3 bucket Pictures");
    let before = shop.main.snapshot.placement(shop.bucket).unwrap();
    shop.press(Key::ArrowRight);
    // A second press while the first is under way waits for it.
    shop.press_with(Modifiers::SHIFT, Key::ArrowDown);
    let requests = shop.settle();
    assert_eq!(requests.len(), 2, "{requests:?}");
    let after = shop.main.snapshot.placement(shop.bucket).unwrap();
    assert_eq!((after.x - before.x, after.y - before.y), (1, 10));
    shop.press_with(Modifiers::COMMAND, Key::D);
    let requests = shop.settle();
    assert!(
        matches!(&requests[..], [WorkbenchRequest::RunCommand(RunCommand { command: Command::Duplicate { nodes, .. } })] if nodes.len() == 1)
    );
    // What came into being is selected now.
    shop.press(Key::Delete);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::Remove { nodes, .. } })] = &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_ne!(nodes[..], [shop.bucket.into()]);
    assert!(shop.main.snapshot.node(shop.bucket).is_some());
}

#[test]
fn align_needs_two() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    shop.press_with(Modifiers::ALT, Key::A);
    assert!(shop.main.requests().is_empty());
    shop.press_with(Modifiers::COMMAND, Key::A);
    shop.press_with(Modifiers::ALT, Key::A);
    let requests = shop.main.requests();
    let [
        WorkbenchRequest::RunCommand(RunCommand {
            command: Command::Align { nodes, to: NodeAlignment::Left },
        }),
    ] = &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(nodes.len(), 3, "what stands inside something selected moves with it");
}

#[test]
fn copy_and_paste_go_through_text() {
    let mut shop = Shop::open();
    shop.select("Subnet Private A");
    shop.window.event(Event::Copy);
    shop.window.step();
    let copied = shop.window.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    let text = copied.expect("something was copied");
    let fragment: GraphFragment = serde_json::from_str(&text).unwrap();
    assert_eq!(fragment.0.nodes.len(), 3, "the subnet and the two instances in it");
    shop.window.event(Event::Paste(text));
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::Paste { parent, .. } })] = &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert!(parent.is_some(), "a subnet stands in a network");
    assert_eq!(shop.main.snapshot.nodes_on(shop.infrastructure).count(), 9);

    shop.window.event(Event::Paste("just words".into()));
    assert!(shop.settle().is_empty());
    assert!(shop.shows("The clipboard contains no nodes"));
}

#[test]
fn the_command_palette_finds_commands_and_nodes() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.get_by_label("Search and commands").type_text("new boa");
    shop.window.run();
    shop.press(Key::Enter);
    assert!(shop.shows("New board"));
    shop.press(Key::Escape);
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.get_by_label("Search and commands").type_text("buy");
    shop.window.run();
    shop.press(Key::Enter);
    shop.window.run();
    assert_eq!(shop.field("Name"), "buy", "on the other board, selected");
    // By its type, from another board; and what can be added here.
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.get_by_label("Search and commands").type_text("s3 bucket");
    shop.window.run();
    shop.press(Key::Enter);
    shop.window.run();
    assert_eq!(shop.field("Label"), "Pictures");
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.get_by_label("Search and commands").type_text("add sqs");
    shop.window.run();
    shop.picture("search-light");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::AddNode(add) })] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(add.type_id.as_str(), "aws/messaging/sqs_queue");
}

#[test]
fn the_sheet_lists_every_shortcut() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::SHIFT, Key::Questionmark);
    assert!(shop.shows("Ctrl+Shift+L") && shop.shows("Keyboard shortcuts"));
    shop.press(Key::Escape);
    assert!(!shop.shows("Ctrl+Shift+L"));
}

#[test]
fn escape_deselects() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    assert!(shop.selected().contains(&ElementId::Node(shop.web)));
    shop.press(Key::Escape);
    assert!(shop.selected().is_empty());
}

#[test]
fn enter_leads_into_containers_and_out_of_them() {
    let mut shop = Shop::open();
    shop.select("VPC Shop network");
    shop.press(Key::Enter);
    assert_eq!(shop.selected(), [ElementId::Node(shop.subnet)].into());
    shop.press(Key::Enter);
    assert_eq!(shop.selected(), [ElementId::Node(shop.web)].into(), "the uppermost");
    shop.press(Key::Enter);
    assert_eq!(shop.selected(), [ElementId::Node(shop.web)].into(), "there is nothing in it");
    shop.press_with(Modifiers::SHIFT, Key::Enter);
    shop.press_with(Modifiers::SHIFT, Key::Enter);
    assert_eq!(shop.selected(), [ElementId::Node(shop.network)].into());
    shop.press_with(Modifiers::SHIFT, Key::Enter);
    assert_eq!(shop.selected(), [ElementId::Node(shop.network)].into(), "the board is no node");
}

#[test]
fn c_adds_a_note_at_the_pointer_to_be_written_on() {
    let mut shop = Shop::open();
    let at = shop.rect_of("S3 bucket Pictures").center_bottom() + egui::vec2(0.0, 260.0);
    shop.window.hover_at(at);
    shop.window.run();
    shop.press(Key::C);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::AddNode(add) })] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert_eq!(add.type_id.as_str(), "notes/sticky");
    let note = shop.main.snapshot.nodes().find(|node| Some(node.id) == shop.newest()).unwrap().id;
    assert!(shop.main.snapshot.absolute_placement(note).is_some());
    shop.type_keys("Who pays?");
    shop.press_with(Modifiers::COMMAND, Key::Enter);
    shop.click_at(at + egui::vec2(-300.0, 60.0));
    let requests = shop.settle();
    assert!(
        matches!(
            &requests[..],
            [WorkbenchRequest::RunCommand(RunCommand { command: Command::UpdateNode { .. } })]
        ),
        "what was typed is on the note: {requests:?}"
    );
}

#[test]
fn a_connection_is_made_from_the_keyboard() {
    let mut shop = Shop::open();
    shop.press(Key::L);
    assert!(!shop.shows("Connect to"), "nothing is selected");
    shop.select("EC2 instance Web");
    shop.press(Key::L);
    assert!(shop.shows("Connect to"));
    shop.type_keys("pict");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::Connect { source, target, .. } })] =
        &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!((&source.node, &target.node), (&shop.web.into(), &shop.bucket.into()));
    assert_eq!(shop.main.snapshot.edges_of(shop.web).count(), 1);
    // Esc closes it and asks for nothing.
    shop.press(Key::L);
    shop.press(Key::Escape);
    assert!(!shop.shows("Connect to") && shop.settle().is_empty());
}

#[test]
fn enter_chooses_what_was_typed_before_it_even_in_one_frame() {
    let mut shop = Shop::open();
    shop.select("EC2 instance Web");
    shop.press(Key::L);
    shop.window.event(Event::Text("pict".into()));
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [WorkbenchRequest::RunCommand(RunCommand { command: Command::Connect { target, .. } })] =
        &requests[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(target.node, shop.bucket.into());
}

/// The text that one window puts on the system's clipboard.
fn copied(shop: &mut Shop) -> String {
    shop.window.event(Event::Copy);
    shop.window.step();
    let text = shop.window.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    text.expect("something was copied")
}

#[test]
fn what_is_copied_in_one_window_is_pasted_in_another_and_on_another_board() {
    let (mut here, mut there) = (Shop::open(), Shop::open());
    here.select("Subnet Private A");
    let text = copied(&mut here);
    let json: serde_json::Value = serde_json::from_str(&text).expect("plain JSON, for any program");
    assert_eq!(json["nodes"].as_array().map(Vec::len), Some(3));
    let before = there.main.snapshot.nodes_on(there.infrastructure).count();
    there.select("VPC Shop network");
    there.window.event(Event::Paste(text.clone()));
    there.settle();
    let nodes: Vec<_> = there.main.snapshot.nodes_on(there.infrastructure).cloned().collect();
    assert_eq!(nodes.len(), before + 3, "with all that is in it");
    assert!(nodes.iter().all(|node| node.id != here.web || node.label == "Web"), "under ids of its own");
    // A board of another kind refuses what cannot stand there, and says so.
    there.window.get_by_label("Shop front").click();
    there.window.run();
    there.window.event(Event::Paste(text));
    let requests = there.settle();
    assert!(
        matches!(
            &requests[..],
            [WorkbenchRequest::RunCommand(RunCommand { command: Command::Paste { .. } })]
        ),
        "{requests:?}"
    );
    assert_eq!(there.main.snapshot.node_count(), before + 3 + 2, "nothing was added");
    assert!(there.shows("cannot be placed"));
}

#[test]
fn an_unexpected_end_is_told_and_its_report_can_be_copied() {
    let mut shop = Shop::open();
    shop.main.send(ToRenderer::CrashReport { headline: "serve: panicked".into() });
    shop.window.run();
    assert!(shop.shows("Draftboard ended unexpectedly") && shop.shows("serve: panicked"));
    shop.window.get_by_label("Show report").click();
    shop.window.run();
    assert!(shop.shows("Collecting the report") || shop.shows("Report a problem"));
    let request = shop.main.request_id(|request| matches!(request, WorkbenchRequest::ReportProblem(_)));
    let result = response(Ok("Draftboard 9.9.9"));
    shop.main.send(ToRenderer::Response { request, result });
    shop.window.run();
    shop.window.get_by_label("Copy report").click();
    shop.window.run();
    assert!(shop.shows("Copied"));
    shop.window.get_by_label("Close").click();
    shop.window.run();
    assert!(!shop.shows("Copied"));
}
