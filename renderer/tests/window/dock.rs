//! Docking: panels are dragged, resized, folded, closed, brought back by commands, and stand there again after a restart.

use crate::shop::{Shop, open};
use egui::{Key, Modifiers, Pos2, Theme, pos2, vec2};
use egui_kittest::kittest::Queryable;

const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

pub(crate) fn run_command(shop: &mut Shop, words: &str) {
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.get_by_label("Search and commands").type_text(words);
    shop.window.run();
    shop.press(Key::Enter);
    shop.window.run();
}

fn tab(shop: &Shop, name: &str) -> Pos2 {
    shop.window.get_by_role_and_label(egui::accesskit::Role::Tab, name).rect().center()
}

fn has_tab(shop: &Shop, name: &str) -> bool {
    shop.window.query_by_role_and_label(egui::accesskit::Role::Tab, name).is_some()
}

fn restart(shop: &mut Shop) {
    shop.selected();
    shop.reopen_with(|main, link| {
        main.send_workspace();
        open(link, (1440.0, 900.0), Theme::Light)
    });
}

#[test]
fn a_panel_is_dragged_elsewhere_and_stays_there() {
    let mut shop = Shop::open();
    // Onto the tabs of the inspector.
    let (from, to) = (tab(&shop, "Outline"), tab(&shop, "Inspector") + vec2(60.0, 0.0));
    shop.drag(from, to);
    assert!(tab(&shop, "Outline").x > 1100.0, "{:?}", tab(&shop, "Outline"));
    assert!(shop.shows("Web in outline"), "what was dropped is in front");
    assert!(shop.shows("Search types"), "the palette has its place for itself");
    shop.picture("dock-tabs-light");
    // To the lower half of the palette: one above the other.
    let palette = shop.window.get_by_label("Search types").rect();
    let (from, to) = (tab(&shop, "Outline"), pos2(palette.center().x, 690.0));
    shop.drag(from, to);
    let (above, below) = (tab(&shop, "Palette"), tab(&shop, "Outline"));
    assert!((above.x - below.x).abs() < 20.0 && below.y > above.y + 200.0, "{above:?} {below:?}");
    shop.picture("dock-split-light");
    restart(&mut shop);
    assert!((tab(&shop, "Outline") - below).length() < 4.0, "{:?} {below:?}", tab(&shop, "Outline"));
    run_command(&mut shop, "reset layout");
    assert!((tab(&shop, "Outline").y - tab(&shop, "Palette").y).abs() < 1.0);
}

#[test]
fn wherever_it_is_dropped_the_board_and_every_panel_are_still_there() {
    for (x, y) in
        [(720.0, 300.0), (720.0, 860.0), (5.0, 400.0), (1430.0, 300.0), (600.0, 80.0), (720.0, 450.0)]
    {
        let mut shop = Shop::open();
        let from = tab(&shop, "Palette");
        shop.drag(from, pos2(x, y));
        for name in ["Palette", "Outline", "Inspector"] {
            assert!(has_tab(&shop, name), "{name} after a drop at {x}, {y}");
        }
        if has_tab(&shop, "Canvas") {
            let canvas = tab(&shop, "Canvas");
            shop.click_at(canvas);
        }
        assert!(shop.shows("Board Production"), "after a drop at {x}, {y}");
    }
}

#[test]
fn panels_are_folded_closed_and_brought_back_by_keyboard() {
    let mut shop = Shop::open();
    shop.press_with(CTRL_SHIFT, Key::M);
    assert!(shop.shows("Errors 3"));
    let focused = shop.window.get_by_role_and_label(egui::accesskit::Role::Tab, "Problems (3)").is_focused();
    assert!(focused, "the keyboard is where the panel is");
    shop.press(Key::Delete);
    assert!(!has_tab(&shop, "Problems (3)") && has_tab(&shop, "Log"), "closed, its neighbour is not");
    assert!(shop.main.requests().iter().all(|request| !format!("{request:?}").contains("Remove")));
    shop.press_with(CTRL_SHIFT, Key::M);
    shop.press_with(CTRL_SHIFT, Key::M);
    assert!(!has_tab(&shop, "Problems (3)") && !has_tab(&shop, "Log"), "folded with its group");
    shop.press_with(Modifiers::COMMAND, Key::Num3);
    assert!(has_tab(&shop, "Problems (3)"));
    for (key, name) in [(Key::Num1, "Palette"), (Key::Num2, "Inspector")] {
        shop.press_with(Modifiers::COMMAND, key);
        assert!(!has_tab(&shop, name), "{name}");
    }
    restart(&mut shop);
    assert!(!has_tab(&shop, "Palette") && !has_tab(&shop, "Inspector") && has_tab(&shop, "Problems (3)"));
    run_command(&mut shop, "left panels");
    assert!(has_tab(&shop, "Palette"));
    shop.select("S3 bucket Pictures");
    shop.window.get_by_label("Collapse palette").click();
    shop.window.run();
    assert!(!has_tab(&shop, "Palette"));
    shop.press_with(CTRL_SHIFT, Key::I);
    run_command(&mut shop, "close panel");
    assert!(!has_tab(&shop, "Inspector"));
    run_command(&mut shop, "right panels");
    assert!(has_tab(&shop, "Inspector"), "an empty side shows what belongs there");
}

#[test]
fn a_tab_offers_to_move_without_dragging() {
    let mut shop = Shop::open();
    let at = tab(&shop, "Outline");
    shop.right_click_at(at);
    shop.window.get_by_label("Move to the bottom").click();
    shop.window.run();
    assert!(tab(&shop, "Outline").y > 600.0);
    assert!(shop.shows("Web in outline"));
}

#[test]
fn panels_keep_their_size_when_the_window_grows_and_give_way_when_it_is_small() {
    let mut shop = Shop::open();
    let width = |shop: &Shop| shop.window.get_by_label("Search types").rect().width();
    let before = width(&shop);
    shop.window.set_size(vec2(2200.0, 1200.0));
    shop.window.run();
    assert!((width(&shop) - before).abs() < 40.0, "{before} then {}", width(&shop));
    shop.window.set_size(vec2(430.0, 500.0));
    shop.window.run();
    assert!(has_tab(&shop, "Palette") && !has_tab(&shop, "Inspector"), "room for one beside the board");
    shop.press_with(CTRL_SHIFT, Key::I);
    assert!(has_tab(&shop, "Inspector") && !has_tab(&shop, "Palette"), "the one asked for last");
    shop.window.set_size(vec2(1440.0, 900.0));
    shop.window.run();
    assert!(has_tab(&shop, "Inspector") && has_tab(&shop, "Palette"), "nothing was closed");
}

#[test]
fn an_older_state_loses_no_panel() {
    let old = r#"{"layout":{"row":[{"tabs":{"panels":[{"panel":"astrolabe"},{"panel":"log"}]}},
        {"tabs":{"panels":[{"panel":"canvas","closed":true}],"folded":true}}]}}"#;
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Dark, |main| main.presence.window = old.into());
    assert!(shop.shows("Board Production") && has_tab(&shop, "Log") && has_tab(&shop, "Inspector"));
    for (key, name) in [(Key::P, "Palette"), (Key::O, "Outline"), (Key::M, "Problems (3)")] {
        shop.press_with(CTRL_SHIFT, key);
        assert!(has_tab(&shop, name), "{name}");
    }
}
