//! The processes of one Draftboard: who starts whom, who ends with whom, and who is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use journal::{Journal, read_board};
use serde_json::{Value, json};
use shared_protocol::{
    ElementId, GraphDocument,
    messages::{BoardViewport, OnScreenView, Presence},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use support::{
    client::{Client, record_of},
    home::{HomeFixture, Running, finished},
    screen::{ScreenFixture, USUAL},
};
use test_support::{processes, wait_for, wait_until};

/// What the window may take to come back; the bound that is asserted is generous, the figure is printed.
const BACK_WITHIN: Duration = Duration::from_secs(2);
const BACK_AT_MOST: Duration = Duration::from_secs(10);
const GONE_AT_MOST: Duration = Duration::from_secs(1);

/// How far two pictures are apart, from 0 to 255.
fn difference(left: &[u8], right: &[u8]) -> f64 {
    let sum: u64 = left.iter().zip(right).map(|(left, right)| u64::from(left.abs_diff(*right))).sum();
    sum as f64 / left.len().max(1) as f64
}

fn document(home: &HomeFixture, workspace: &Path) -> Value {
    Client::connect(home, workspace).unwrap().request(json!({ "readDocument": {} })).unwrap().unwrap()
}

fn board(workspace: &Path, name: &str) -> GraphDocument {
    let text = fs::read_to_string(workspace.join(format!("boards/{name}.board.json"))).unwrap();
    read_board(&text, &name.parse().unwrap()).unwrap()
}

fn journal(workspace: &Path) -> Journal {
    Journal::open(&workspace.join(".draftboard")).unwrap()
}

#[test]
fn a_killed_window_comes_back_where_it_was() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "example");
    let Some(screen) = ScreenFixture::open(&home, USUAL) else { return };
    // The designer was on the second board, with something selected and the view moved.
    assert_eq!(home.run(&["status", "-w", workspace.to_str().unwrap()]).code, Some(0));
    let spec = board(&workspace, "spec");
    let (id, node) = (spec.boards[0].id, spec.nodes[0].id);
    let (x, y) = (f32::from(spec.layout[0].1.x as i16), f32::from(spec.layout[0].1.y as i16));
    let was = Presence {
        board: Some(id),
        selection: vec![ElementId::Node(node)],
        viewports: vec![(id, BoardViewport { x, y, zoom: 0.75 })],
        ..Presence::default()
    };
    journal(&workspace).set_state("presence", &was).unwrap();

    let main = Running::start(screen.command(&home, &workspace));
    let first = screen.renderer_shown(main.pid(), None);
    let before = document(&home, &workspace);
    let view = listed(&home);
    assert_eq!((&view[0]["window"], &view[0]["pid"]), (&json!(true), &json!(main.pid())));

    // And then selects everything, in the window.
    let everything: BTreeSet<ElementId> = spec.nodes.iter().map(|node| ElementId::Node(node.id)).collect();
    let before_keys = screen.settled();
    let window = screen.window_of(first).expect("it is shown");
    screen.tool("xdotool", &["windowfocus", "--sync", &window]);
    screen.tool("xdotool", &["key", "ctrl+a"]);
    let mut client = Client::connect(&home, &workspace).unwrap();
    wait_until("main to be told of the selection", || {
        let instance = client.request(json!({ "describeInstance": {} })).unwrap().unwrap();
        let seen: Option<OnScreenView> = serde_json::from_value(instance["onScreen"].clone()).unwrap();
        let selected: BTreeSet<ElementId> = seen.into_iter().flat_map(|seen| seen.selection).collect();
        selected.is_superset(&everything)
    });
    let picture = screen.settled();
    assert!(difference(&before_keys, &picture) > 0.0, "the selection is shown");

    let killed = Instant::now();
    processes::kill(first);
    let second = screen.renderer_shown(main.pid(), Some(first));
    let took = killed.elapsed();
    let judged = if took < BACK_WITHIN { "within" } else { "NOT within" };
    println!("the window was back after {} ms, {judged} {} s", took.as_millis(), BACK_WITHIN.as_secs());
    assert!(took < BACK_AT_MOST);
    assert!(processes::is_alive(main.pid()) && !processes::is_alive(first) && second != first);
    assert_eq!(document(&home, &workspace), before);
    // The first frames of a window are not all of it: it has to come to look the same.
    wait_until("the window to look as it did", || difference(&picture, &screen.picture()) < 1.0);

    let ended = main.stop();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    home.assert_deserted();
    let kept: Presence = journal(&workspace).get_state("presence").unwrap().unwrap();
    assert_eq!(kept.board, was.board);
    let view = kept.viewports.iter().find(|(board, _)| *board == id).unwrap().1;
    let wanted = was.viewports[0].1;
    assert!(
        (view.x - wanted.x).abs() < 1.0
            && (view.y - wanted.y).abs() < 1.0
            && (view.zoom - wanted.zoom).abs() < 0.01
    );
    let kept: BTreeSet<ElementId> = kept.selection.into_iter().collect();
    assert!(kept.is_superset(&everything), "everything is selected still: {kept:?}");
}

#[test]
fn the_window_goes_with_its_main_process() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "example");
    let Some(screen) = ScreenFixture::open(&home, USUAL) else { return };
    let mut main = Running::start(screen.command(&home, &workspace));
    let renderer = screen.renderer_shown(main.pid(), None);
    let killed = Instant::now();
    main.kill();
    wait_for("the end of the renderer", || (!processes::is_alive(renderer)).then_some(()));
    let took = killed.elapsed();
    println!("the renderer was gone {} ms after its main process", took.as_millis());
    assert!(took < GONE_AT_MOST, "{took:?}");
    home.assert_deserted();
    // What the killed one left behind is in nobody's way.
    let main = Running::start(screen.command(&home, &workspace));
    screen.renderer_shown(main.pid(), None);
    assert_eq!(main.stop().code, Some(0));
    home.assert_deserted();
}

#[test]
fn a_second_start_brings_the_first_window_to_the_front() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "example");
    let Some(screen) = ScreenFixture::open(&home, USUAL) else { return };
    let main = Running::start(screen.command(&home, &workspace));
    let renderer = screen.renderer_shown(main.pid(), None);
    let second = finished(screen.command(&home, &workspace));
    assert_eq!(second.code, Some(0), "{second:?}");
    assert!(second.out.contains("its window was brought to the front"), "{second:?}");
    assert_eq!(processes::roles_of(main.pid(), "renderer"), [renderer], "it is the same window");
    // Without a window it is refused as long as there is one.
    let third = home.run(&["serve", workspace.to_str().unwrap()]);
    assert_eq!(third.code, Some(1));
    assert!(third.err.contains(&format!("pid {}", main.pid())), "{third:?}");
    assert_eq!(main.stop().code, Some(0));
}

#[test]
fn a_window_that_cannot_be_shown_is_given_up_after_three_tries() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let mut command = home.command();
    command.arg(&workspace).env("DISPLAY", ":9873");
    let ended = finished(command);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for words in ["failed 3 times in a row", "No data is lost", "draftboard doctor", "draftboard serve"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    assert_eq!(ended.out, "");
    assert!(!ended.err.contains("no hello within"), "nobody waited for a hello: {}", ended.err);
    assert!(!ended.err.contains('\u{1b}'), "no colours where nobody sees them: {}", ended.err);
    home.assert_deserted();
    assert_eq!(record_of(&home, &workspace), None);
}

#[test]
fn without_a_display_it_says_what_works() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let workspace = workspace.to_str().unwrap();
    for arguments in [&[][..], &[workspace], &["open", workspace]] {
        let ended = home.run(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains("DISPLAY") && ended.err.contains("draftboard serve"), "{ended:?}");
    }
}

#[test]
fn a_workspace_is_served_once() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let first = Running::serve(&home, &workspace);
    let again = home.run(&["serve", workspace.to_str().unwrap(), "--json"]);
    assert_eq!(again.code, Some(1));
    assert_eq!(again.json()["error"]["code"], "CONFLICT");
    assert!(
        again.json()["error"]["message"].as_str().unwrap().contains(&format!("pid {}", first.pid())),
        "{again:?}"
    );
    // By another name it is the same.
    let link = home.path("link");
    std::os::unix::fs::symlink(&workspace, &link).unwrap();
    assert_eq!(home.run(&["serve", link.to_str().unwrap()]).code, Some(1));
    // There is no window that could come to the front, and it says so.
    let mut window = home.command();
    window.arg(&workspace).env("DISPLAY", ":9873");
    let refused = finished(window);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{refused:?}");
    assert!(
        refused.err.contains("without a window") && refused.err.contains(&format!("pid {}", first.pid())),
        "{refused:?}"
    );
    // The first one noticed nothing of it.
    assert!(document(&home, &workspace)["boards"].is_array());
    assert_eq!(first.stop().code, Some(0));
}

/// The running Draftboards of this home. Others of the same user are listed as well, wherever their records are.
fn listed(home: &HomeFixture) -> Vec<Value> {
    let all = home.run(&["status", "--json"]).data();
    let is_ours = |view: &&Value| Path::new(view["workspace"].as_str().unwrap()).starts_with(home.path(""));
    all.as_array().unwrap().iter().filter(is_ours).cloned().collect()
}

#[test]
fn two_workspaces_are_served_side_by_side() {
    let home = HomeFixture::new();
    let workspaces: Vec<PathBuf> = ["one", "two"].iter().map(|name| home.workspace(name, "blank")).collect();
    let running: Vec<Running> = workspaces.iter().map(|workspace| Running::serve(&home, workspace)).collect();
    let listed_now = listed(&home);
    let found: Vec<(String, u64)> = listed_now
        .iter()
        .map(|view| (view["workspace"].as_str().unwrap().to_owned(), view["pid"].as_u64().unwrap()))
        .collect();
    let expected: Vec<(String, u64)> = workspaces
        .iter()
        .zip(&running)
        .map(|(workspace, running)| (workspace.to_str().unwrap().to_owned(), u64::from(running.pid())))
        .collect();
    assert_eq!(found, expected);
    assert!(listed_now.iter().all(|view| view["window"] == false));
    // What is done in one is not done in the other.
    let add = json!({"runCommand": {"command": {"addBoard": {"kind": "spec", "title": "Only here"}}}});
    Client::connect(&home, &workspaces[0]).unwrap().request(add).unwrap().unwrap();
    let count = |workspace: &PathBuf| document(&home, workspace)["boards"].as_array().unwrap().len();
    assert_eq!((count(&workspaces[0]), count(&workspaces[1])), (2, 1));
    for running in running {
        assert_eq!(running.stop().code, Some(0));
    }
    assert_eq!(listed(&home), Vec::<Value>::new());
}

fn leftovers(home: &HomeFixture) -> Vec<String> {
    let names =
        fs::read_dir(home.runtime()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.ends_with(".lock")).collect()
}

#[test]
fn an_asked_end_is_clean_and_a_killed_one_is_cleaned_up() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    // As soon as it says that it is ready it can be stopped: no moment between is left out.
    for _ in 0..10 {
        let ended = Running::serve(&home, &workspace).stop();
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
        assert_eq!(leftovers(&home), Vec::<String>::new());
    }
    let mut killed = Running::serve(&home, &workspace);
    killed.kill();
    assert_eq!(leftovers(&home).len(), 2, "a socket and a record: {:?}", leftovers(&home));
    // Neither a list nor a command is misled by them.
    assert_eq!(listed(&home), Vec::<Value>::new());
    assert_eq!(home.run(&["log", "-w", workspace.to_str().unwrap()]).code, Some(0));
    let mut killed = Running::serve(&home, &workspace);
    let old = fs::read_to_string(record_of(&home, &workspace).unwrap()).unwrap();
    killed.kill();
    let next = Running::serve(&home, &workspace);
    let new = fs::read_to_string(record_of(&home, &workspace).unwrap()).unwrap();
    assert_ne!(old, new, "another pid and another token");
    assert!(document(&home, &workspace)["boards"].is_array());
    assert_eq!(next.stop().code, Some(0));
    assert_eq!(leftovers(&home), Vec::<String>::new());
    home.assert_deserted();
}

#[test]
fn a_request_to_quit_ends_it_as_well() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let mut running = Running::serve(&home, &workspace);
    let answer = Client::connect(&home, &workspace).unwrap().request(json!({ "quit": {} })).unwrap();
    assert_eq!(answer, Ok(json!(null)));
    assert_eq!(running.end().code, Some(0));
    assert_eq!(leftovers(&home), Vec::<String>::new());
}

/// What the launcher asks for, without a window.
#[test]
fn workspaces_are_made_opened_listed_and_forgotten_from_a_running_draftboard() {
    let home = HomeFixture::new();
    let (first, second) = (home.workspace("first", "blank"), home.path("second"));
    let running = Running::serve(&home, &first);
    let mut client = Client::connect(&home, &first).unwrap();
    let made = client.request(json!({"createWorkspace": {"path": second, "template": "threeTier"}})).unwrap();
    assert_eq!(made, Ok(json!("opened")));
    // The old connection belongs to the old workspace.
    let mut client = Client::connect(&home, &second).unwrap();
    let again = client.request(json!({"createWorkspace": {"path": second, "template": "spec"}})).unwrap();
    assert!(again.unwrap_err()["message"].as_str().unwrap().contains("is already a workspace"));
    fs::remove_dir_all(&first).unwrap();
    let refused = client.request(json!({"openWorkspace": { "path": first }})).unwrap().unwrap_err();
    assert!(refused["message"].is_string(), "{refused}");
    let listed = client.request(json!({ "listRecents": {} })).unwrap().unwrap();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|recent| recent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["second", "first"]);
    assert!(listed[0]["problem"].is_null() && listed[1]["problem"].is_string(), "{listed}");
    let left = client.request(json!({"forgetRecent": { "path": first }})).unwrap().unwrap();
    assert_eq!(left.as_array().unwrap().len(), 1);
    let example = client.request(json!({ "openExample": {} })).unwrap();
    assert_eq!(example, Ok(json!(null)));
    drop(running);
}

#[test]
fn a_last_workspace_that_does_not_open_is_no_dead_end() {
    let home = HomeFixture::new();
    let Some(screen) = ScreenFixture::open(&home, USUAL) else { return };
    let gone = home.workspace("gone", "blank");
    drop(Running::serve(&home, &gone));
    fs::remove_dir_all(&gone).unwrap();
    let running = Running::start(screen.bare_command(&home));
    let example = home.path("data").join("draftboard").join("example");
    wait_for("the example", || {
        Some(&example).filter(|folder| folder.is_dir()).and_then(|_| record_of(&home, &example))
    });
    let listed =
        Client::connect(&home, &example).unwrap().request(json!({ "listRecents": {} })).unwrap().unwrap();
    let failed = listed.as_array().unwrap().iter().find(|recent| recent["name"] == "gone");
    assert!(failed.unwrap()["problem"].is_string(), "{listed}");
    drop(running);
}

// ---- crash reports ----------------------------------------------------------------------------------------------------

/// Only builds for development can be told to panic.
const PANIC: &str = "DRAFTBOARD_TEST_PANIC";

#[test]
fn a_panic_leaves_a_report_without_secrets_and_report_prints_it() {
    let home = HomeFixture::new();
    let private = home.path("home").join("plans").display().to_string();
    let message = format!(
        "cannot read \"hunter2\" with token=sesame from {private} key 0123456789abcdef0123456789abcdef"
    );
    for role in ["command-line", "serve", "bridge"] {
        let mut command = home.command();
        command.env(PANIC, format!("{role}:{message}")).env("SECRET_IN_ENVIRONMENT", "swordfish");
        command.arg(match role {
            "serve" => "serve",
            "bridge" => "mcp",
            _ => "status",
        });
        assert_eq!(finished(command).code, Some(101), "{role}");
    }
    let reports = home.crash_reports();
    assert_eq!(reports.len(), 3, "{reports:?}");
    for (name, text) in &reports {
        let file = fs::metadata(home.path("state/draftboard/crashes").join(name)).unwrap();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777, 0o600);
        for there in [
            "What: panicked: cannot read",
            "Version: ",
            "System: Linux",
            "Thread: main",
            "Location: ",
            "Backtrace",
        ] {
            assert!(text.contains(there), "{there}: {text}");
        }
        for gone in [
            "hunter2",
            "sesame",
            "0123456789abcdef",
            "plans",
            "swordfish",
            home.path("home").to_str().unwrap(),
        ] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
    }
    let told = home.run(&["report"]);
    assert_eq!(told.code, Some(0));
    assert!(told.out.contains(&reports[2].1) && told.out.contains("Nothing was sent"), "{}", told.out);
    assert!(home.run(&["report", "--json"]).data()["report"].as_str().unwrap().contains("Role: bridge"));
}

#[test]
fn a_signal_that_ends_main_is_found_by_the_next_start_and_reports_are_bounded() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let mut main = Running::serve(&home, &workspace);
    processes::crash(main.pid());
    let pid = main.pid();
    main.end();
    assert!(home.crash_reports().is_empty(), "it could not say so itself");
    let main = Running::serve(&home, &workspace);
    let reports = home.crash_reports();
    let [(name, text)] = &reports[..] else { panic!("{reports:?}") };
    assert!(name.ends_with(&format!("-serve-{pid}.txt")), "{name}");
    assert!(text.contains("ended without closing its workspace") && !text.contains("workspace/"), "{text}");
    assert_eq!(main.stop().code, Some(0));
    // An end that was asked for is none, and what was recorded is recorded once.
    assert_eq!(Running::serve(&home, &workspace).stop().code, Some(0));
    assert_eq!(home.crash_reports().len(), 1);
    for _ in 0..25 {
        let mut command = home.command();
        command.env(PANIC, "command-line:again").arg("status");
        assert_eq!(finished(command).code, Some(101));
    }
    assert_eq!(home.crash_reports().len(), 20);
}

#[test]
fn a_signal_that_ended_main_is_in_a_report_that_is_asked_for_before_the_next_start() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let running = Running::serve(&home, &workspace);
    assert!(home.run(&["report"]).out.contains("No crash was recorded"), "it runs");
    assert_eq!(running.stop().code, Some(0));
    let mut main = Running::serve(&home, &workspace);
    processes::crash(main.pid());
    main.end();
    for _ in 0..2 {
        let told = home.run(&["report"]);
        assert!(told.out.contains("ended without closing its workspace"), "{told:?}");
    }
    assert_eq!(home.crash_reports().len(), 1);
}

#[test]
fn a_window_that_a_signal_ends_is_recorded_by_main() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "example");
    let Some(screen) = ScreenFixture::open(&home, USUAL) else { return };
    let main = Running::start(screen.command(&home, &workspace));
    let first = screen.renderer_shown(main.pid(), None);
    processes::crash(first);
    screen.renderer_shown(main.pid(), Some(first));
    let reports = home.crash_reports();
    assert!(
        reports.iter().any(|(name, text)| name.contains("-renderer-") && text.contains("signal 6")),
        "{reports:?}"
    );
    // The window that came back was told of it; nobody is told again.
    wait_for("the offer", || home.path("state/draftboard/crashes/offered").exists().then_some(()));
    assert_eq!(main.stop().code, Some(0));
}

/// A folder that cannot be imported leaves what was open open, and nothing beside it.
#[test]
fn a_failed_import_makes_no_workspace() {
    let home = HomeFixture::new();
    let (first, infra) = (home.workspace("first", "blank"), home.path("infra"));
    fs::create_dir(&infra).unwrap();
    fs::write(infra.join("broken.tf"), "resource \"a\" {\n  b = [\n").unwrap();
    let running = Running::serve(&home, &first);
    let mut client = Client::connect(&home, &first).unwrap();
    let refused = client.request(json!({"importFolder": { "path": infra }})).unwrap().unwrap_err();
    assert!(
        refused["message"].as_str().unwrap().starts_with("broken.tf: HCL parse error in line 2"),
        "{refused}"
    );
    assert!(!home.path("infra-draftboard").exists());
    let listed = client.request(json!({ "listRecents": {} })).unwrap().unwrap();
    assert!(!listed.to_string().contains("infra-draftboard"), "{listed}");
    let shown = client.request(json!({ "describeInstance": {} })).unwrap().unwrap();
    assert_eq!(shown["workspace"], json!(first.canonicalize().unwrap()));

    fs::write(infra.join("broken.tf"), "resource \"terraform_data\" \"a\" {}\n").unwrap();
    let imported = client.request(json!({"importFolder": { "path": infra }})).unwrap().unwrap();
    assert!(imported["board"].is_string(), "{imported}");
    assert!(!home.path("infra-draftboard-2").exists());
    let made = document(&home, &home.path("infra-draftboard"));
    assert_eq!(made["nodes"].as_array().map(Vec::len), Some(1), "{made}");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_folder_that_does_not_exist_is_said_to_be_missing() {
    let home = HomeFixture::new();
    let gone = home.path("gone");
    let said = home.run(&["status", "-w", gone.to_str().unwrap()]);
    assert!(said.err.contains("does not exist") && said.err.contains("draftboard new"), "{said:?}");
    assert!(!said.err.contains("draftboard.toml"), "{said:?}");
}
