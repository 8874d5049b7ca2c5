//! The launcher: recents, templates, the example, and what it says when something does not open.

use crate::shop::Shop;
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Code, Refusal,
    messages::{Answer, FromRenderer, Recent, Request, Template, ToRenderer},
};

fn recents() -> Vec<Recent> {
    let recent = |name: &str, problem: Option<&str>| Recent {
        path: format!("/home/ada/{name}"),
        name: name.into(),
        problem: problem.map(Into::into),
    };
    vec![recent("shop", None), recent("old", Some("The folder is not there any more."))]
}

/// Opens the launcher and answers what it asks; gives back what else was asked.
fn launch(shop: &mut Shop) {
    shop.press_with(Modifiers::COMMAND, Key::O);
    shop.window.run();
    answer(shop, Request::Recents, Ok(Answer::Recents(recents())));
}

fn answer(shop: &mut Shop, expected: Request, result: Result<Answer, Refusal>) {
    let heard = shop.main.heard();
    let asked = heard.iter().find_map(|said| match said {
        FromRenderer::Request { id, request } if *request == expected => Some(*id),
        _ => None,
    });
    let request = asked.unwrap_or_else(|| panic!("{expected:?} was not asked for: {heard:?}"));
    shop.main.send(ToRenderer::Answer { request, result });
    shop.window.run();
}

#[test]
fn recents_open_and_can_be_taken_off_the_list() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut shop = Shop::open_as((1440.0, 900.0), theme, |_| {});
        launch(&mut shop);
        assert!(shop.shows("Choose a workspace") && shop.shows("Open shop"));
        shop.picture(&format!("launcher-page-{word}"));
        shop.window.get_by_label("Remove old from the list").click();
        shop.window.run();
        let left = recents().into_iter().take(1).collect();
        answer(&mut shop, Request::ForgetRecent("/home/ada/old".into()), Ok(Answer::Recents(left)));
        assert!(!shop.shows("Open old"));
        shop.window.get_by_label("Open shop").click();
        shop.window.run();
        assert!(shop.shows("Opening /home/ada/shop…"));
        answer(&mut shop, Request::Open("/home/ada/shop".into()), Ok(Answer::Done));
        assert!(!shop.shows("Choose a workspace"));
    }
}

#[test]
fn what_does_not_open_says_why_and_is_no_dead_end() {
    let mut shop = Shop::open();
    shop.main.send(ToRenderer::Launcher);
    shop.window.run();
    answer(&mut shop, Request::Recents, Ok(Answer::Recents(recents())));
    shop.window.get_by_label("Open old").click();
    shop.window.run();
    let refusal = Refusal::new(Code::NoWorkspace, "there is no draftboard.toml in /home/ada/old");
    answer(&mut shop, Request::Open("/home/ada/old".into()), Err(refusal));
    assert!(shop.shows("There is no draftboard.toml in /home/ada/old"));
    shop.picture("launcher-refused-light");
    answer(&mut shop, Request::Recents, Ok(Answer::Recents(recents())));
    shop.window.get_by_label("Open the example").click();
    shop.window.run();
    answer(&mut shop, Request::OpenExample, Ok(Answer::Done));
    assert!(!shop.shows("Choose a workspace") && shop.shows("Board Production"));
}

/// With a desktop session the system's dialog would open; without one ours asks.
fn has_desktop() -> bool {
    let bus = |folder| std::path::Path::new(&folder).join("bus").exists();
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(bus)
}

#[test]
fn a_template_asks_for_a_folder() {
    if has_desktop() {
        return;
    }
    let mut shop = Shop::open();
    launch(&mut shop);
    shop.window.get_by_label("Three-tier infrastructure…").click();
    shop.window.run();
    shop.retype("Path", "/home/ada/next");
    shop.press(Key::Enter);
    let request = Request::New { path: "/home/ada/next".into(), template: Template::ThreeTier };
    answer(&mut shop, request, Ok(Answer::Done));
    assert!(!shop.shows("Choose a workspace"));
}

#[test]
fn it_fits_small_windows() {
    for (size, scale) in [((1024.0, 700.0), 1.0), ((1024.0, 700.0), 2.0), ((800.0, 500.0), 1.0)] {
        let mut shop = Shop::open_as(size, Theme::Light, |_| {});
        shop.window.set_pixels_per_point(scale);
        shop.window.run();
        launch(&mut shop);
        shop.picture(&format!("launcher-{}-{scale}", size.0));
        shop.press(Key::Escape);
        assert!(!shop.shows("Choose a workspace"));
    }
}

#[test]
fn an_unexpected_end_is_told_and_its_report_can_be_copied() {
    let mut shop = Shop::open();
    shop.main.send(ToRenderer::CrashReport { headline: "serve: panicked".into() });
    shop.window.run();
    assert!(shop.shows("Draftboard ended unexpectedly") && shop.shows("serve: panicked"));
    shop.window.get_by_label("Show report").click();
    shop.window.run();
    assert!(shop.shows("Report a problem"));
    answer(&mut shop, Request::ProblemReport, Ok(Answer::ProblemReport("Draftboard 9.9.9".into())));
    shop.window.get_by_label("Copy report").click();
    shop.window.run();
    assert!(shop.shows("Copied"));
    shop.window.get_by_label("Close").click();
    shop.window.run();
    assert!(!shop.shows("Report a problem"));
}
