//! What the window remembers: told to main as a text, and taken up again from it.

use crate::shop::{Shop, open};
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;

/// Closes the window and opens another one over the same main, as main would start it.
fn reopen(shop: &mut Shop, theme: Theme) {
    shop.selected();
    shop.reopen_with(|main, link| {
        main.send_workspace();
        open(link, (1440.0, 900.0), theme)
    });
}

#[test]
fn panels_tabs_and_theme_come_back() {
    let mut shop = Shop::open();
    shop.window.get_by_label("Outline").click();
    shop.window.run();
    shop.window.get_by_label("3 errors").click();
    shop.window.run();
    shop.window.get_by_label("Log").click();
    shop.settle();
    shop.press_with(Modifiers::COMMAND, Key::Num2);
    shop.window.get_by_label("View").click();
    shop.window.run();
    shop.window.get_by_label_contains("Dark theme").click();
    shop.window.run();
    assert!(!shop.shows("Board name"), "the inspector is closed");
    reopen(&mut shop, Theme::Light);
    assert!(shop.shows("Web in outline"), "the outline is in front");
    assert!(shop.shows("No operations yet"), "the log is open");
    assert!(!shop.shows("Board name"), "the inspector is still closed");
    assert_eq!(shop.window.ctx.theme(), Theme::Dark, "against the system");
}

#[test]
fn a_panel_is_as_wide_as_it_was_made() {
    let mut shop = Shop::open();
    assert!(!shop.told_window().contains("size"), "nobody chose a size");
    let edge = shop.window.get_by_label("Search types").rect().right() + 8.0;
    let (from, to) = (egui::pos2(edge, 500.0), egui::pos2(edge + 70.0, 500.0));
    shop.drag(from, to);
    let wide = shop.window.get_by_label("Search types").rect().width();
    assert!(shop.told_window().contains("\"size\""), "{}", shop.told_window());
    reopen(&mut shop, Theme::Light);
    let again = shop.window.get_by_label("Search types").rect().width();
    assert!(wide > 240.0 && (wide - again).abs() < 2.0, "{wide} then {again}");
}

#[test]
fn what_cannot_be_read_is_nothing() {
    for text in ["", "{", "{\"theme\":\"plaid\"}", "null"] {
        let shop = Shop::open_as((1440.0, 900.0), Theme::Dark, |main| main.presence.window = text.into());
        assert!(shop.shows("Search types") && shop.shows("Board name"));
        assert_eq!(shop.window.ctx.theme(), Theme::Dark);
    }
}

#[test]
fn settings_are_searched_changed_and_kept() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND, Key::Comma);
    assert!(shop.shows("UI scale") && shop.shows("Reduce motion"));
    shop.type_keys("anim");
    assert!(!shop.shows("UI scale") && shop.shows("Reduce motion"), "found by another word");
    shop.window.get_by_label("Reduce motion").click();
    shop.window.run();
    assert_eq!(shop.window.ctx.global_style().animation_time, 0.0);
    shop.retype("Search settings", "scale");
    shop.window.get_by_label("150 %").click();
    shop.window.run();
    assert_eq!(shop.window.ctx.zoom_factor(), 1.5);
    shop.retype("Search settings", "no such thing");
    assert!(shop.shows("No matching settings"));
    shop.press(Key::Escape);
    shop.window.run();
    reopen(&mut shop, Theme::Light);
    assert_eq!(shop.window.ctx.zoom_factor(), 1.5);
    assert_eq!(shop.window.ctx.global_style().animation_time, 0.0);
    shop.press_with(Modifiers::COMMAND, Key::Comma);
    shop.window.get_by_label("Reset all").click();
    shop.window.run();
    assert_eq!(shop.window.ctx.zoom_factor(), 1.0);
}

#[test]
fn settings_are_the_users_and_hold_in_every_workspace() {
    let dark = r#"{"theme":"dark","reduced_motion":true}"#;
    let mut shop = Shop::open_as((1440.0, 900.0), Theme::Light, |main| main.presence.settings = dark.into());
    let now = |shop: &Shop| (shop.window.ctx.theme(), shop.window.ctx.global_style().animation_time);
    assert_eq!(now(&shop), (Theme::Dark, 0.0));
    shop.selected();
    assert_eq!(shop.main.presence.settings, "", "nothing was changed here");
    shop.window.get_by_label("View").click();
    shop.window.run();
    shop.window.get_by_label_contains("Light theme").click();
    shop.window.run();
    assert!(!shop.told_window().contains("theme"), "{}", shop.told_window());
    assert!(shop.main.presence.settings.contains("\"light\""), "{}", shop.main.presence.settings);
    // Main may send another workspace before it has heard of the change.
    shop.main.presence.settings = dark.into();
    shop.main.send_workspace_at("/home/ada/other");
    shop.settle();
    assert_eq!(now(&shop), (Theme::Light, 0.0));
}
