//! Preview sessions through the real executable: what they show follows the workspace, survives kills, and is bounded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};
use support::{
    client::Client,
    home::{Home, Running, serving},
    wait_for,
};

struct Bench {
    home: Home,
    workspace: PathBuf,
    running: Running,
    client: Client,
}

impl Bench {
    fn new() -> Self {
        let home = Home::new();
        let workspace = home.workspace("app", "interface");
        let running = started(&home, &workspace);
        let client = Client::connect(&home, &workspace).unwrap();
        Self { home, workspace, running, client }
    }

    fn ask(&mut self, request: Value) -> Value {
        self.client.request(request).unwrap().unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    fn preview(&mut self, request: Value) -> Value {
        self.ask(json!({ "preview": request }))
    }

    fn node(&mut self, name: &str) -> String {
        let document = self.ask(json!("document"))["document"].clone();
        let nodes = document["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    }

    fn begin(&mut self, shows: Value) -> u64 {
        let screen = json!({ "width": 640, "height": 480, "quarters": 4, "dark": false });
        self.preview(json!({ "start": { "shows": shows, "screen": screen } }))["preview"]["started"]
            .as_u64()
            .unwrap()
    }

    fn session(&mut self, id: u64) -> Value {
        let all = self.preview(json!("list"))["preview"]["all"].clone();
        all["sessions"].as_array().unwrap().iter().find(|session| session["id"] == id).unwrap().clone()
    }

    fn until_ready(&mut self, id: u64) {
        wait_for("a preview that is ready", || (self.session(id)["state"] == "Ready").then_some(()));
    }

    fn shot(&mut self, id: u64, name: &str) -> Vec<u8> {
        let path = self.home.path(name);
        self.preview(json!({ "shot": { "session": id, "path": path } }));
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

    /// The processes that are previews of this Draftboard.
    fn previews(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let parent =
                stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
            if String::from_utf8_lossy(&line).contains("--role\0preview")
                && parent == Some(self.running.pid())
            {
                found.push(pid);
            }
        }
        found
    }
}

fn started(home: &Home, workspace: &Path) -> Running {
    let running = Running::start(serving(home, workspace));
    assert!(running.line().unwrap().contains("ready"));
    running
}

/// What a process ran so far.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn signal(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_page_follows_the_workspace_and_comes_back_after_every_kill() {
    let mut bench = Bench::new();
    let (home_page, open) = (bench.node("home"), bench.node("open"));
    let started_at = Instant::now();
    let session = bench.begin(json!({ "route": home_page }));
    bench.until_ready(session);
    println!("start to ready, asked over a socket: {:?}", started_at.elapsed());
    let first = bench.shot(session, "first.png");
    let watched: Vec<u32> = bench.previews().into_iter().chain([bench.running.pid()]).collect();
    let ran: Vec<u64> = watched.iter().map(|pid| ticks(*pid)).collect();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let idle: Vec<u64> = watched.iter().zip(&ran).map(|(pid, ran)| ticks(*pid) - ran).collect();
    println!("idle for two seconds, in hundredths of a second of a processor (preview, main): {idle:?}");

    bench.ask(json!({ "run": { "updateNode": { "node": open, "set": { "label": "Open the door" } } } }));
    let edited = bench.next_shot(session, "edited.png", &first);
    let set = json!([{ "instance": open, "path": "/label", "value": "Overridden" }]);
    bench.ask(json!({ "run": { "setOverrides": { "set": set } } }));
    let overridden = bench.next_shot(session, "overridden.png", &edited);

    // The preview is killed: it comes back by itself and shows the same.
    let [pid] = bench.previews()[..] else { panic!("{:?}", bench.previews()) };
    signal(pid, "-KILL");
    let again = wait_for("another process", || bench.previews().into_iter().find(|other| *other != pid));
    bench.until_ready(session);
    assert_eq!(bench.shot(session, "again.png"), overridden);

    // One that stands still is ended within its budget, and comes back.
    signal(again, "-STOP");
    bench.ask(json!({ "run": { "updateNode": { "node": open, "set": { "variant": "secondary" } } } }));
    wait_for("a third process", || bench.previews().into_iter().find(|other| *other != again));
    bench.until_ready(session);
    bench.ask(json!({ "run": { "updateNode": { "node": open, "set": { "variant": "primary" } } } }));
    wait_for("the picture before", || (bench.shot(session, "back.png") == overridden).then_some(()));

    // Main is killed: no preview outlives it, and overrides are there and apply.
    let orphans = bench.previews();
    signal(bench.running.pid(), "-KILL");
    for pid in orphans {
        wait_for("the end of the preview", || (!Path::new(&format!("/proc/{pid}")).exists()).then_some(()));
    }
    let Bench { home, workspace, running, .. } = bench;
    drop(running);
    let running = started(&home, &workspace);
    let client = Client::connect(&home, &workspace).unwrap();
    let mut bench = Bench { home, workspace, running, client };
    let session = bench.begin(json!({ "route": home_page }));
    bench.until_ready(session);
    wait_for("the picture before", || (bench.shot(session, "restarted.png") == overridden).then_some(()));
    let file = fs::read_to_string(bench.workspace.join(".draftboard/overrides.v0.json")).unwrap();
    assert!(file.contains("Overridden"), "{file}");
}

#[test]
fn components_are_shown_by_themselves_reloaded_and_promoted_into() {
    let mut bench = Bench::new();
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
    bench.ask(json!({ "run": { "setOverrides": { "set": set } } }));
    let overridden = bench.next_shot(plain, "overridden.png", &before);
    bench.ask(json!({ "run": { "promoteOverrides": "all" } }));
    let file = bench.workspace.join("components/button.component.yaml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("default: Promoted") && text.starts_with("# A button."), "{text}");
    wait_for("the same picture from the file", || {
        (bench.shot(plain, "promoted.png") == overridden).then_some(())
    });
    bench.ask(json!("undo"));
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
