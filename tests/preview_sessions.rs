//! Preview sessions through the real executable: what they show follows the workspace, survives kills, and is bounded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use support::{
    client::Client,
    home::{HomeFixture, Running, serving},
};
use test_support::{
    processes::{self, cpu_ticks},
    wait_for, wait_until,
};

struct PreviewFixture {
    home: HomeFixture,
    workspace: PathBuf,
    running: Running,
    client: Client,
}

impl PreviewFixture {
    fn new() -> Self {
        let home = HomeFixture::new();
        let workspace = home.workspace("app", "interface");
        let running = started(&home, &workspace);
        let client = Client::connect(&home, &workspace).unwrap();
        Self { home, workspace, running, client }
    }

    fn ask(&mut self, request: Value) -> Value {
        self.client.request(request).unwrap().unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    fn node(&mut self, name: &str) -> String {
        let document = self.ask(json!({ "readDocument": {} }));
        let nodes = document["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    }

    fn begin(&mut self, shows: Value) -> u64 {
        let screen = json!({ "width": 640, "height": 480, "quarters": 4, "dark": false });
        self.ask(json!({ "startPreview": { "shows": shows, "screen": screen } })).as_u64().unwrap()
    }

    fn session(&mut self, id: u64) -> Value {
        let all = self.ask(json!({ "listPreviews": {} }));
        all["sessions"].as_array().unwrap().iter().find(|session| session["id"] == id).unwrap().clone()
    }

    fn until_ready(&mut self, id: u64) {
        wait_for("a preview that is ready", || (self.session(id)["state"] == "Ready").then_some(()));
    }

    fn shot(&mut self, id: u64, name: &str) -> Vec<u8> {
        let path = self.home.path(name);
        self.ask(json!({ "capturePreview": { "session": id, "path": path } }));
        let png = fs::read(path).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        png
    }

    /// A picture once it is other than this one.
    fn next_shot(&mut self, id: u64, name: &str, before: &[u8]) -> Vec<u8> {
        wait_for("another picture", || {
            let png = self.shot(id, name);
            (png != before).then_some(png)
        })
    }

    fn knows_component(&mut self, id: &str) -> bool {
        let all = self.ask(json!({ "listPreviews": {} }))["components"].clone();
        all.as_array().unwrap().iter().any(|known| known["id"] == id)
    }

    /// The previews of this Draftboard: of each, the innermost process, which draws.
    fn previews(&self) -> Vec<u32> {
        let outermost = processes::roles_of(self.running.pid(), "preview");
        outermost.into_iter().map(|pid| processes::innermost_of_role(pid, "preview")).collect()
    }
}

fn started(home: &HomeFixture, workspace: &Path) -> Running {
    let running = Running::start(serving(home, workspace));
    assert!(running.line().unwrap().contains("ready"));
    running
}

/// The preview has no files: main records its end for it.
#[test]
fn a_preview_that_a_signal_ends_is_recorded_by_main() {
    let mut bench = PreviewFixture::new();
    let home_page = bench.node("home");
    let session = bench.begin(json!({ "route": home_page }));
    bench.until_ready(session);
    let [pid] = bench.previews()[..] else { panic!("{:?}", bench.previews()) };
    processes::crash(pid);
    let (name, text) = wait_for("the report", || bench.home.crash_reports().pop());
    assert!(name.contains("-preview-") && text.contains("signal 6"), "{name}: {text}");
}

#[test]
fn a_page_follows_the_workspace_and_comes_back_after_every_kill() {
    let mut bench = PreviewFixture::new();
    let (home_page, open) = (bench.node("home"), bench.node("open"));
    let started_at = Instant::now();
    let session = bench.begin(json!({ "route": home_page }));
    bench.until_ready(session);
    println!("start to ready, asked over a socket: {:?}", started_at.elapsed());
    let first = bench.shot(session, "first.png");
    let watched: Vec<u32> = bench.previews().into_iter().chain([bench.running.pid()]).collect();
    let ran: Vec<u64> = watched.iter().map(|pid| cpu_ticks(*pid).unwrap()).collect();
    // The idle time is what is measured; a loop that does not wait would use up most of it.
    std::thread::sleep(IDLE_TIME);
    let idle: Vec<u64> = watched.iter().zip(&ran).map(|(pid, ran)| cpu_ticks(*pid).unwrap() - ran).collect();
    assert!(idle.iter().all(|ticks| *ticks < MAX_IDLE_TICKS), "preview and main use {idle:?} ticks");

    bench.ask(json!({ "runCommand": { "command": { "updateNode": { "node": open, "set": { "label": "Open the door" } } } } }));
    let edited = bench.next_shot(session, "edited.png", &first);
    let set = json!([{ "instance": open, "path": "/label", "value": "Overridden" }]);
    bench.ask(json!({ "runCommand": { "command": { "setOverrides": { "set": set } } } }));
    let overridden = bench.next_shot(session, "overridden.png", &edited);

    // The preview is killed: it comes back by itself and shows the same.
    let [pid] = bench.previews()[..] else { panic!("{:?}", bench.previews()) };
    processes::kill(pid);
    let again = wait_for("another process", || bench.previews().into_iter().find(|other| *other != pid));
    bench.until_ready(session);
    assert_eq!(bench.shot(session, "again.png"), overridden);

    // One that stands still is ended within its budget, and comes back.
    processes::stop(again);
    bench.ask(json!({ "runCommand": { "command": { "updateNode": { "node": open, "set": { "variant": "secondary" } } } } }));
    wait_for("a third process", || bench.previews().into_iter().find(|other| *other != again));
    bench.until_ready(session);
    bench.ask(json!({ "runCommand": { "command": { "updateNode": { "node": open, "set": { "variant": "primary" } } } } }));
    wait_for("the picture before", || (bench.shot(session, "back.png") == overridden).then_some(()));

    // Main is killed: no preview outlives it, and overrides are there and apply.
    let orphans = bench.previews();
    processes::kill(bench.running.pid());
    for pid in orphans {
        wait_for("the end of the preview", || (!Path::new(&format!("/proc/{pid}")).exists()).then_some(()));
    }
    let PreviewFixture { home, workspace, running, .. } = bench;
    drop(running);
    let running = started(&home, &workspace);
    let client = Client::connect(&home, &workspace).unwrap();
    let mut bench = PreviewFixture { home, workspace, running, client };
    let session = bench.begin(json!({ "route": home_page }));
    bench.until_ready(session);
    wait_for("the picture before", || (bench.shot(session, "restarted.png") == overridden).then_some(()));
    let file = fs::read_to_string(bench.workspace.join(".draftboard/overrides.v0.json")).unwrap();
    assert!(file.contains("Overridden"), "{file}");
}

#[test]
fn components_are_shown_by_themselves_reloaded_and_promoted_into() {
    let mut bench = PreviewFixture::new();
    let session = bench.begin(json!({ "variant": { "component": "ui.button", "variant": "danger" } }));
    bench.until_ready(session);
    let variant = bench.shot(session, "variant.png");
    let plain = bench.begin(json!({ "component": { "component": "ui.button" } }));
    bench.until_ready(plain);
    let before = bench.shot(plain, "plain.png");
    assert_ne!(before, variant);

    // An override of a component by itself, promoted, is in its file, comments and all.
    let set =
        json!([{ "scope": "component", "instance": "ui.button", "path": "/label", "value": "Promoted" }]);
    bench.ask(json!({ "runCommand": { "command": { "setOverrides": { "set": set } } } }));
    let overridden = bench.next_shot(plain, "overridden.png", &before);
    bench.ask(json!({ "runCommand": { "command": { "promoteOverrides": "all" } } }));
    let file = bench.workspace.join("components/button.component.yaml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("default: Promoted") && text.starts_with("# A button."), "{text}");
    wait_for("the same picture from the file", || {
        (bench.shot(plain, "promoted.png") == overridden).then_some(())
    });
    bench.ask(json!({ "undoLast": {} }));
    assert!(!fs::read_to_string(&file).unwrap().contains("Promoted"));
    wait_for("the override again", || (bench.shot(plain, "undone.png") == overridden).then_some(()));

    // Somebody breaks the file, and mends it.
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("view:", "vieww:")).unwrap();
    wait_for("the mistake", || {
        let problems = bench.session(plain)["problems"].clone();
        problems
            .as_array()
            .unwrap()
            .iter()
            .any(|problem| problem["file"] == "components/button.component.yaml")
            .then_some(())
    });
    fs::write(&file, &good).unwrap();
    wait_for("the picture again", || (bench.shot(plain, "mended.png") == overridden).then_some(()));
}

/// One pixel, red and blue.
const RED: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82";
const BLUE: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc``\xf8\x0f\x00\x01\x03\x01\x00\x08\x89\xc2\xec\x00\x00\x00\x00IEND\xaeB`\x82";

#[test]
fn a_picture_is_shown_when_it_comes_and_when_it_changes() {
    let mut bench = PreviewFixture::new();
    let text = "format: 1\nid: x.picture\ntitle: Picture\nview: { type: image, source: images/p.png, style: { width: 200, height: 200 } }\n";
    fs::write(bench.workspace.join("components/picture.component.yaml"), text).unwrap();
    wait_until("the component", || bench.knows_component("x.picture"));
    let session = bench.begin(json!({ "component": { "component": "x.picture" } }));
    bench.until_ready(session);
    let problems = wait_for("that it is missing", || {
        let problems = bench.session(session)["problems"].clone();
        problems.as_array().is_some_and(|all| !all.is_empty()).then_some(problems)
    });
    assert!(problems.to_string().contains("images/p.png"), "{problems}");
    let missing = bench.shot(session, "missing.png");
    fs::create_dir_all(bench.workspace.join("images")).unwrap();
    fs::write(bench.workspace.join("images/p.png"), RED).unwrap();
    let red = bench.next_shot(session, "red.png", &missing);
    wait_for("nothing to be missing", || {
        bench.session(session)["problems"].as_array().is_some_and(Vec::is_empty).then_some(())
    });
    fs::write(bench.workspace.join("images/p.png"), BLUE).unwrap();
    bench.next_shot(session, "blue.png", &red);
}

/// How long nothing happens, and the ticks that a process may use up meanwhile: a quarter of them.
const IDLE_TIME: Duration = Duration::from_secs(2);
const MAX_IDLE_TICKS: u64 = 50;

/// What a component may cost, in hundredths of a second of a processor: two seconds, and some for starting and for the kernel
/// to notice.
const MOST_TICKS: u64 = 350;

/// Components that were made to do harm: each is refused, or shown within its bounds, or ended within its budget; another
/// session goes on, and main answers all the while.
#[test]
fn hostile_components_are_bounded_and_nobody_else_notices() {
    let mut bench = PreviewFixture::new();
    let page = bench.node("home");
    let good = bench.begin(json!({ "route": page }));
    bench.until_ready(good);
    let [good_pid] = bench.previews()[..] else { panic!("{:?}", bench.previews()) };
    let file = bench.workspace.join("components/hostile.component.yaml");
    let component = |props: &str, view: &str| {
        format!("format: 1\nid: x.hostile\ntitle: Hostile\nprops:\n  a: {props}\nview: {view}\n")
    };
    let list =
        |count: usize| format!("{{ control: json, default: {:?} }}", (0..count).rev().collect::<Vec<_>>());
    let each = |inside: &str| format!("{{ type: each, items: =props.a, children: [{inside}] }}");
    let text = "{ control: string, default: xxxxxxxxxx }";
    let sorts = "=props.a|sort|sort|sort|sort|sort|sort|sort|sort|list|length";
    let laughs = "=((props.a * 1000) * 1000) * 1000";
    let cases = [
        ("ten megabytes", component(text, "{ type: box }") + &"# more\n".repeat(1_500_000), "refused"),
        (
            "a hundred thousand nodes",
            component(&list(320), &each(&each("{ type: text, text: x }"))),
            "truncated",
        ),
        (
            "recursion",
            component(text, "{ type: column, children: [{ type: component, component: x.hostile }] }"),
            "contains itself",
        ),
        ("billion laughs", component(text, &format!("{{ type: text, text: '{laughs}' }}")), "message"),
        (
            "sizes that are no numbers",
            component(text, "{ type: box, style: { width: \"=0.0 / 0.0\", height: \"=1e300 * 1e300\" } }"),
            "message",
        ),
        (
            "an enormous text",
            component(
                &format!("{{ control: string, default: {} }}", "x".repeat(900_000)),
                "{ type: text, text: =props.a }",
            ),
            "",
        ),
        (
            "letters that run backwards",
            component(text, "{ type: text, text: \"\u{202e}\u{200b}evil\" }"),
            "refused",
        ),
        (
            "work without end",
            component(&list(4_000), &each(&format!("{{ type: text, text: '{sorts}' }}"))),
            "",
        ),
    ];
    // Files are read in the order of their names: once this one is known, the other was read or refused.
    let marker = bench.workspace.join("components/marker.component.yaml");
    for (name, text, expected) in cases {
        fs::write(&file, text).unwrap();
        fs::write(&marker, "format: 1\nid: x.marker\ntitle: Marker\nview: { type: box }\n").unwrap();
        wait_until("the file behind it", || bench.knows_component("x.marker"));
        let outcome = bench.outcome_of("x.hostile");
        assert!(outcome.contains(expected), "{name}: {outcome}");
        // The other one takes in the new components, in the same process.
        bench.until_ready(good);
        assert!(processes::is_alive(good_pid), "{name}: the other one goes on");
        fs::remove_file(&file).unwrap();
        fs::remove_file(&marker).unwrap();
        wait_until("the components to be gone", || {
            !bench.knows_component("x.hostile") && !bench.knows_component("x.marker")
        });
    }
}

impl PreviewFixture {
    /// What becomes of a component by itself: refused, ready with its problems, or ended with the reason. Main answers
    /// meanwhile, and no process runs for longer than it may.
    fn outcome_of(&mut self, component: &str) -> String {
        let before = self.previews();
        let screen = json!({ "width": 640, "height": 480, "quarters": 4, "dark": false });
        let start = json!({ "startPreview": { "shows": { "component": { "component": component } }, "screen": screen } });
        let Ok(answer) = self.client.request(start).unwrap() else { return "refused".to_owned() };
        let session = answer.as_u64().unwrap();
        let outcome = wait_for("an outcome", || {
            for pid in self.previews().into_iter().filter(|pid| !before.contains(pid)) {
                let ran = cpu_ticks(pid).unwrap_or_default();
                assert!(ran <= MOST_TICKS, "{component} ran for {ran} hundredths of a second");
            }
            let view = self.session(session);
            match &view["state"] {
                Value::String(state) if state == "Ready" => Some(format!("ready: {}", view["problems"])),
                Value::Object(state) => Some(format!("ended: {}", state["Failed"]["what"])),
                _ => None,
            }
        });
        self.ask(json!({ "closePreview": { "session": session } }));
        outcome
    }
}
