//! What the window looks like, drawn on the CPU. The pictures go to `draftboard-pictures` in the temporary folder, for
//! people to look at; what is asserted is that drawing works at every size and in both themes.

use crate::shop::{Main, Shop};
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Actor, ActorKind, OperationKind, Refusal, RefusalCode, Revision,
    messages::{HeldBoard, HeldReason, OperationLogEntry, ToRenderer, WorkspaceNotice, WorkspaceStatus},
    requests::WorkbenchRequest,
};

const THEMES: [(Theme, &str); 2] = [(Theme::Light, "light"), (Theme::Dark, "dark")];

#[test]
fn draws_in_both_themes_and_sizes() {
    for (theme, word) in THEMES {
        for size in [(1440.0, 900.0), (1024.0, 700.0), (800.0, 500.0)] {
            let mut shop = Shop::open_as(size, theme, |_| {});
            shop.settle();
            shop.picture(&format!("board-{word}-{}", size.0));
            shop.window.get_by_label("Outline").click();
            shop.window.run();
            shop.window.get_by_label("Web in outline").click();
            shop.settle();
            shop.picture(&format!("node-{word}-{}", size.0));
        }
    }
}

fn log(main: &mut Main) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    let entry = |revision: u64, kind, summary: &str| OperationLogEntry {
        revision: Revision(revision),
        time: now - (20 - revision) * 100_000,
        actor: Actor::new(ActorKind::Window, "ada"),
        kind,
        summary: summary.into(),
        changes: 1,
    };
    main.log = vec![
        entry(12, OperationKind::Undo(Revision(11)), "Move Web"),
        entry(11, OperationKind::Edit, "Move Web"),
        entry(10, OperationKind::Edit, "Add Sticky note"),
    ];
}

#[test]
fn draws_what_opens_over_it() {
    for (theme, word) in THEMES {
        let mut shop = Shop::open_as((1024.0, 700.0), theme, |main| {
            log(main);
            let board = main.snapshot.boards().find(|board| board.title == "Shop front").unwrap().id;
            let message =
                "shop-front.json was changed by somebody else in the same places as your unsaved work".into();
            let held = HeldBoard { board, name: "shop-front".into(), why: HeldReason::Conflict, message };
            let message = "The module pricing.json cannot be read; its types are missing.".into();
            let notices = vec![WorkspaceNotice { message, file: Some("modules/pricing.json".into()) }];
            main.status = WorkspaceStatus { held: vec![held], notices, ..WorkspaceStatus::default() };
        });
        shop.window.get_by_label("3 errors").click();
        shop.settle();
        let refusal =
            Refusal::new(RefusalCode::ContainmentError, "a database cannot stand on the board itself")
                .hint("It stands in Subnet, Frame.")
                .suggest(["aws/database/dynamodb_table".to_owned()]);
        shop.press_with(Modifiers::COMMAND, Key::S);
        let request = shop.main.request_id(|request| matches!(request, WorkbenchRequest::SaveFiles(_)));
        shop.main.send(ToRenderer::Response { request, result: Err(refusal) });
        shop.settle();
        shop.picture(&format!("problems-{word}"));
        shop.window.get_by_label("Log").click();
        shop.settle();
        shop.picture(&format!("log-{word}"));
        shop.window.get_by_label("Dismiss").click();
        shop.press_with(Modifiers::COMMAND, Key::K);
        shop.picture(&format!("commands-{word}"));
        shop.press(Key::Escape);
        shop.press(Key::Tab);
        shop.picture(&format!("quick-add-{word}"));
        shop.press(Key::Escape);
        shop.press_with(Modifiers::SHIFT, Key::Questionmark);
        shop.picture(&format!("shortcuts-{word}"));
        shop.press(Key::Escape);
        shop.window.get_by_label("New board").click();
        shop.window.run();
        shop.picture(&format!("new-board-{word}"));
        shop.press(Key::Escape);
        shop.window.get_by_label("Edit").click();
        shop.window.run();
        shop.picture(&format!("menu-{word}"));
    }
}

#[test]
fn draws_every_kind_of_control() {
    for (theme, word) in THEMES {
        let mut shop = Shop::open_as((1440.0, 900.0), theme, |_| {});
        shop.select("VPC Shop network");
        shop.retype("Address range", "10.1.0.0/99");
        shop.settle();
        shop.picture(&format!("invalid-{word}"));
        shop.press(Key::Escape);
        shop.window.get_by_label("Add tag to Tags").click();
        shop.window.run();
        shop.type_keys("team");
        shop.press(Key::Enter);
        shop.settle();
        shop.retype("Tags team", "web");
        shop.settle();
        shop.picture(&format!("tags-{word}"));
        shop.press(Key::Enter);
        shop.settle();
        let tags = shop.main.snapshot.node(shop.network).unwrap().props.get("tags").map(ToString::to_string);
        assert_eq!(tags.as_deref(), Some(r#"{"team":"web"}"#));
        shop.window.get_by_label("Shop front").click();
        shop.settle();
        shop.select("Page Home");
        shop.settle();
        shop.picture(&format!("page-{word}"));
        shop.press_with(Modifiers::COMMAND, Key::A);
        shop.settle();
        shop.picture(&format!("several-{word}"));
    }
}

#[test]
fn draws_connections_menus_and_ghosts() {
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Light, |main| {
        let board = main.snapshot.boards().find(|board| board.title == "Production").unwrap().id;
        let web = main.snapshot.nodes().find(|node| node.label == "Web").unwrap().id;
        let address = main.add(board, "aws/compute/eip", "Shop address", None, (700, 400));
        main.connect(web, address);
        let edge = main.snapshot.edges_on(board).next().unwrap().id;
        main.presence.selection = vec![shared_protocol::ElementId::Edge(edge)];
    });
    shop.picture("edge-light");
    let from = shop.window.get_by_label("Internet gateway").rect().center();
    let to = shop.rect_of("S3 bucket Pictures").center_bottom() + egui::vec2(-60.0, 240.0);
    for at in [from, from + egui::vec2(60.0, 0.0), to] {
        shop.window.event(egui::Event::PointerMoved(at));
        shop.window.run();
        if at == from {
            let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
            shop.window.event(egui::Event::PointerButton { pos: at, button, pressed: true, modifiers });
            shop.window.run();
        }
    }
    shop.picture("ghost-light");
}

#[test]
fn draws_what_is_empty() {
    let (main, link) = Main::new();
    main.send_workspace();
    let mut window = crate::shop::open(link, (1024.0, 700.0), Theme::Light);
    crate::shop::picture(&mut window, "no-boards-light");
    let (mut main, link) = Main::new();
    main.add_board(shared_protocol::BoardKind::Infrastructure, "Empty");
    main.send_workspace();
    let mut window = crate::shop::open(link, (1024.0, 700.0), Theme::Dark);
    crate::shop::picture(&mut window, "empty-board-dark");
    let (_main, link) = Main::new();
    let mut window = crate::shop::open(link, (1024.0, 700.0), Theme::Light);
    crate::shop::picture(&mut window, "opening-light");
}

#[test]
fn draws_large() {
    for (theme, word) in THEMES {
        for (scale, size) in
            [(1.5, (1440.0, 900.0)), (2.0, (1440.0, 900.0)), (1.5, (1024.0, 700.0)), (2.0, (1024.0, 700.0))]
        {
            // A window of so many pixels, at this scale.
            let mut shop = Shop::open_as(size, theme, |main| {
                let bucket = main.snapshot.nodes().find(|node| node.label == "Pictures").unwrap().id;
                main.presence.selection = vec![shared_protocol::ElementId::Node(bucket)];
            });
            shop.window.set_pixels_per_point(scale);
            shop.window.run();
            shop.window.get_by_label("3 errors").click();
            shop.settle();
            shop.picture(&format!("large-{word}-{}-{scale}", size.0));
            shop.press_with(Modifiers::COMMAND, Key::Comma);
            shop.picture(&format!("large-settings-{word}-{}-{scale}", size.0));
            shop.press(Key::Escape);
            shop.press_with(Modifiers::COMMAND, Key::K);
            shop.picture(&format!("large-search-{word}-{}-{scale}", size.0));
            shop.press(Key::Escape);
            shop.press_with(Modifiers::SHIFT, Key::Questionmark);
            shop.picture(&format!("large-shortcuts-{word}-{}-{scale}", size.0));
            shop.press(Key::Escape);
            shop.window.get_by_label("Edit").click();
            shop.window.run();
            shop.picture(&format!("large-menu-{word}-{}-{scale}", size.0));
        }
    }
}

#[test]
fn draws_the_settings() {
    for (theme, word) in THEMES {
        let mut shop = Shop::open_as((1024.0, 700.0), theme, |_| {});
        shop.press_with(Modifiers::COMMAND, Key::Comma);
        shop.picture(&format!("settings-{word}"));
        shop.window.get_by_label("High contrast").click();
        shop.window.run();
        shop.press(Key::Escape);
        shop.select("S3 bucket Pictures");
        shop.picture(&format!("high-contrast-from-{word}"));
    }
}
