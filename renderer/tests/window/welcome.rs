//! The welcome page: the ways in, templates drawn small, recents, folders that are no workspace, and what it says when
//! something does not open.

use crate::shop::{Shop, response};
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::WindowRequest,
    messages::{FromRenderer, RecentWorkspace, ToRenderer, WelcomeFolder, WorkspaceTemplate},
    request::Request,
    requests::{
        CreateWorkspace, ForgetRecent, ImportFolder, ListRecents, ListTemplates, OpenExample, OpenWorkspace,
        OpenedWorkspace, StartDemo, StartedDemo, WorkbenchRequest,
    },
};
use test_support::requirements::NO_DESKTOP_SESSION;

const TITLE: &str = "Welcome to Draftboard";

fn recents() -> Vec<RecentWorkspace> {
    let recent = |name: &str, problem: Option<&str>| RecentWorkspace {
        path: format!("/home/ada/{name}"),
        name: name.into(),
        problem: problem.map(Into::into),
    };
    vec![recent("shop", None), recent("old", Some("The folder is not there any more."))]
}

/// Opens the page and answers what it asks for by itself.
fn welcome(shop: &mut Shop) {
    shop.press_with(Modifiers::COMMAND, Key::O);
    fill(shop);
}

fn fill(shop: &mut Shop) {
    shop.window.run();
    let document = shop.main.snapshot.to_document();
    let boards = [
        WorkspaceTemplate::ThreeTier,
        WorkspaceTemplate::Interface,
        WorkspaceTemplate::Spec,
        WorkspaceTemplate::Example,
    ];
    let mut asked = Vec::new();
    for said in shop.main.heard() {
        let FromRenderer::Request { id: request, request: WindowRequest::Workbench(what) } = said else {
            continue;
        };
        let result = match &what {
            WorkbenchRequest::ListRecents(_) => response(Ok(recents())),
            WorkbenchRequest::ListTemplates(_) => {
                response(Ok(boards.iter().map(|board| (*board, document.clone())).collect::<Vec<_>>()))
            }
            _ => continue,
        };
        asked.push(what);
        shop.main.send(ToRenderer::Response { request, result });
    }
    assert_eq!(
        asked,
        [WorkbenchRequest::ListRecents(ListRecents {}), WorkbenchRequest::ListTemplates(ListTemplates {})]
    );
    shop.window.run();
}

fn answer<R: Request<Frame = WorkbenchRequest> + Into<WorkbenchRequest>>(
    shop: &mut Shop,
    expected: R,
    result: Result<R::Response, Refusal>,
) {
    let expected = Into::into(expected);
    let request = shop.main.request_id(|request| *request == expected);
    shop.main.send(ToRenderer::Response { request, result: response(result) });
    shop.window.run();
}

fn click(shop: &mut Shop, label: &str) {
    shop.window.get_by_label(label).click();
    shop.window.run();
}

#[test]
fn recents_open_and_can_be_taken_off_the_list() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut shop = Shop::open_as((1440.0, 900.0), theme, |_| {});
        welcome(&mut shop);
        assert!(shop.shows(TITLE) && shop.shows("Open shop"));
        shop.picture(&format!("welcome-{word}"));
        click(&mut shop, "Remove old from the list");
        let left = recents().into_iter().take(1).collect();
        answer(&mut shop, ForgetRecent { path: "/home/ada/old".into() }, Ok(left));
        assert!(!shop.shows("Open old"));
        click(&mut shop, "Open shop");
        assert!(shop.shows("Opening /home/ada/shop…"));
        answer(&mut shop, OpenWorkspace { path: "/home/ada/shop".into() }, Ok(OpenedWorkspace::Opened));
        assert!(!shop.shows(TITLE));
    }
}

#[test]
fn every_way_in_has_a_name_and_the_keyboard_begins_at_the_first() {
    let mut shop = Shop::open();
    shop.main.send(ToRenderer::Welcome { folder: None });
    fill(&mut shop);
    let names = [
        "Show me a proposal",
        "Try the example",
        "Open Terraform folder…",
        "Connect an agent…",
        "Open folder…",
        "Blank…",
        "Three tiers…",
        "Interface…",
        "Spec…",
        "Example…",
    ];
    for name in names {
        assert!(shop.shows(name), "{name}");
    }
    shop.press(Key::Enter);
    shop.window.run();
    assert!(shop.shows("Setting up the demo…"));
    answer(&mut shop, StartDemo {}, Ok(StartedDemo { shows_tour: false }));
    assert!(!shop.shows(TITLE) && !shop.shows("An agent is proposing a change"));
}

#[test]
fn a_demo_that_cannot_start_says_why() {
    let mut shop = Shop::open();
    welcome(&mut shop);
    click(&mut shop, "Show me a proposal");
    let refusal = Refusal::new(RefusalCode::StorageError, "the demo was not set up: no space is left")
        .hint("Free some space.");
    answer(&mut shop, StartDemo {}, Err(refusal));
    assert!(shop.shows("The demo was not set up: no space is left") && shop.shows("Free some space."));
    assert!(!shop.shows("An agent is proposing a change"));
}

#[test]
fn the_guide_for_clients_opens_over_the_page_and_leads_back_to_it() {
    let mut shop = Shop::open();
    welcome(&mut shop);
    click(&mut shop, "Connect an agent…");
    assert!(shop.shows("Claude Desktop"));
    shop.press(Key::Escape);
    shop.window.run();
    assert!(!shop.shows("Claude Desktop") && shop.shows(TITLE));
}

#[test]
fn what_does_not_open_says_why_and_is_no_dead_end() {
    let mut shop = Shop::open();
    welcome(&mut shop);
    click(&mut shop, "Open old");
    let refusal = Refusal::new(RefusalCode::StorageError, "the journal of /home/ada/old is in use");
    answer(&mut shop, OpenWorkspace { path: "/home/ada/old".into() }, Err(refusal));
    assert!(shop.shows("The journal of /home/ada/old is in use"));
    shop.picture("welcome-refused-light");
    answer(&mut shop, ListRecents {}, Ok(recents()));
    click(&mut shop, "Try the example");
    answer(&mut shop, OpenExample {}, Ok(()));
    assert!(!shop.shows(TITLE) && shop.shows("Board Production"));
}

#[test]
fn a_folder_that_is_no_workspace_comes_with_what_can_be_done() {
    let path = "/home/ada/infra".to_owned();
    for (has_terraform, word) in [(true, "terraform"), (false, "plain")] {
        let mut shop = Shop::open();
        welcome(&mut shop);
        click(&mut shop, "Open shop");
        let folder = WelcomeFolder { path: path.clone(), has_terraform, is_workspace: false };
        answer(
            &mut shop,
            OpenWorkspace { path: "/home/ada/shop".into() },
            Ok(OpenedWorkspace::NeedsChoice(folder)),
        );
        fill(&mut shop);
        assert!(shop.shows("/home/ada/infra is not a workspace yet") && shop.shows("Choose another folder…"));
        shop.picture(&format!("welcome-folder-{word}"));
        if has_terraform {
            click(&mut shop, "Import Terraform files");
            assert!(
                shop.main
                    .requests()
                    .contains(&WorkbenchRequest::ImportFolder(ImportFolder { path: path.clone() }))
            );
        } else {
            assert!(!shop.shows("Import Terraform files"));
            click(&mut shop, "Create a workspace here");
            let new = CreateWorkspace { path: path.clone(), template: WorkspaceTemplate::Blank };
            answer(&mut shop, new, Ok(OpenedWorkspace::Opened));
            assert!(!shop.shows(TITLE));
        }
    }
}

#[test]
fn a_template_and_a_terraform_folder_ask_for_a_folder() {
    if !NO_DESKTOP_SESSION.is_available() {
        return;
    }
    let mut shop = Shop::open();
    welcome(&mut shop);
    click(&mut shop, "Three tiers…");
    shop.retype("Path", "/home/ada/next");
    shop.press(Key::Enter);
    let request = CreateWorkspace { path: "/home/ada/next".into(), template: WorkspaceTemplate::ThreeTier };
    answer(&mut shop, request, Ok(OpenedWorkspace::Opened));
    assert!(!shop.shows(TITLE));
    welcome(&mut shop);
    click(&mut shop, "Open Terraform folder…");
    shop.retype("Path", "/home/ada/infra");
    shop.press(Key::Enter);
    shop.window.run();
    assert!(
        shop.main
            .requests()
            .contains(&WorkbenchRequest::ImportFolder(ImportFolder { path: "/home/ada/infra".into() }))
    );
}

#[test]
fn it_fits_small_windows() {
    for theme in [Theme::Light, Theme::Dark] {
        for (size, scale) in [((1024.0, 640.0), 1.0), ((1024.0, 700.0), 2.0), ((800.0, 500.0), 1.0)] {
            let mut shop = Shop::open_as(size, theme, |_| {});
            shop.window.set_pixels_per_point(scale);
            shop.window.run();
            welcome(&mut shop);
            let whole = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(size.0, size.1) / scale);
            let close = shop.rect_of("Close the welcome page");
            assert!(whole.contains_rect(close), "{close:?} in {whole:?}");
            shop.picture(&format!("welcome-{}-{scale}-{theme:?}", size.0));
            shop.press(Key::Escape);
            shop.window.run();
            assert!(!shop.shows(TITLE));
        }
    }
}

#[test]
fn a_workspace_that_is_there_already_can_be_opened() {
    let mut shop = Shop::open();
    let path = "/home/ada/shop".to_owned();
    welcome(&mut shop);
    click(&mut shop, "Open shop");
    let there = WelcomeFolder { path: path.clone(), has_terraform: false, is_workspace: true };
    answer(&mut shop, OpenWorkspace { path: path.clone() }, Ok(OpenedWorkspace::NeedsChoice(there)));
    fill(&mut shop);
    assert!(shop.shows("/home/ada/shop is already a workspace"));
    click(&mut shop, "Open this workspace");
    answer(&mut shop, OpenWorkspace { path }, Ok(OpenedWorkspace::Opened));
    assert!(!shop.shows(TITLE));
}

#[test]
fn a_file_that_cannot_be_imported_keeps_its_name() {
    let mut shop = Shop::open();
    welcome(&mut shop);
    click(&mut shop, "Open shop");
    let message = "broken.tf: HCL parse error in line 1, column 3\n  |\n1 | a {\n  |   ^---";
    let refusal = Refusal::new(RefusalCode::ValidationError, message);
    answer(&mut shop, OpenWorkspace { path: "/home/ada/shop".into() }, Err(refusal));
    assert!(shop.shows("broken.tf: HCL parse error in line 1, column 3"));
    assert!(shop.shows("  |\n1 | a {\n  |   ^---"), "in lines of their own");
    shop.picture("welcome-import-refused");
}

#[test]
fn the_page_stands_still_while_recents_arrive() {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND, Key::O);
    shop.window.run();
    shop.window.run();
    let before = shop.rect_of("Show me a proposal");
    fill(&mut shop);
    shop.window.run();
    assert!(shop.shows("Open shop"));
    assert_eq!(shop.rect_of("Show me a proposal"), before);
}
