//! The real window on a real display, with real presses: an example that is changed and kept, the same example built from
//! nothing, by mouse and by keyboard, and the first minute of somebody new.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use journal::read_board;
use serde_json::{Value, json};
use shared_protocol::{GraphDocument, Node, NodeId, messages::DesignerActivity};
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};
use support::{
    designer::{At, DesignerFixture, Side, absolute, edge_between, labelled},
    home::{HomeFixture, finished},
    screen::{ScreenFixture, USUAL},
};
use test_support::{processes, requirements::TERRAFORM, try_wait_for_within, wait_for};

/// Room for the whole example at full size.
const LARGE: (usize, usize) = (2200, 1300);
const BUCKET: &str = "aws/storage/s3_bucket";
/// What a person should need at most; printed, not asserted.
const BUILT_WITHIN: Duration = Duration::from_secs(120);

fn board(workspace: &Path, name: &str) -> (String, GraphDocument) {
    let text = fs::read_to_string(workspace.join(format!("boards/{name}.board.json"))).unwrap();
    let document = read_board(&text, &name.parse().unwrap()).unwrap();
    (text, document)
}

fn save(designer: &DesignerFixture<'_>) {
    designer.press("ctrl+s");
    wait_for("the files", || designer.saved().then_some(()));
}

#[test]
fn the_example_is_changed_by_mouse_and_kept() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "three-tier");
    let Some(screen) = ScreenFixture::open(&home, LARGE) else { return };
    let designer = DesignerFixture::sit_down(&screen, &home, &workspace, LARGE);
    let three_tiers = board(&workspace, "three-tier").1;
    let all = three_tiers.layout.iter().map(|(id, _)| absolute(&three_tiers, *id));
    let all = all.reduce(|a, b| a.union(b)).unwrap();
    designer.press("shift+1");
    designer.wait("all of the example", |seen| {
        let (right, bottom) = (seen.visible.x + seen.visible.w, seen.visible.y + seen.visible.h);
        seen.board == three_tiers.boards[0].id
            && seen.visible.x < all.x as f32
            && seen.visible.y < all.y as f32
            && right > all.right() as f32
            && bottom > all.bottom() as f32
    });

    // Add, rename, connect.
    let bucket = designer.add_by_mouse(BUCKET, (760, -170));
    designer.rename_by_mouse(bucket, "Door pictures");
    designer.connect_by_mouse("App server 1", Side::Right, "Door pictures");

    // Into another container and back again.
    let before = designer.document();
    let (server, subnet) = (labelled(&before, "Web server 1"), labelled(&before, "App, zone a"));
    let (from, to) = (absolute(&before, server.id), absolute(&before, subnet.id));
    let moved = designer.drag((from.x + 100, from.y + 50), (to.x + 108, to.y + 160));
    assert_eq!(labelled(&moved, "Web server 1").parent, Some(subnet.id));
    designer.press("ctrl+z");
    let undone =
        wait_for("the undone move", || Some(designer.document()).filter(|now| now.revision > moved.revision));
    assert_eq!((&undone.nodes, &undone.layout), (&before.nodes, &before.layout));

    save(&designer);
    let kept = designer.document();
    let (text, file) = board(&workspace, "three-tier");
    assert_eq!(labelled(&file, "Door pictures").id, bucket);
    assert!(edge_between(&file, "App server 1", "Door pictures").is_some());
    assert_eq!(labelled(&file, "Web server 1").parent, Some(labelled(&file, "Web, zone a").id));
    assert_eq!(file.nodes.len(), three_tiers.nodes.len() + 1);
    assert_eq!(designer.leave().code, Some(0));
    home.assert_deserted();

    // Opened again it is the same, and saving it again writes the same.
    let designer = DesignerFixture::sit_down(&screen, &home, &workspace, LARGE);
    assert_eq!(designer.document(), kept);
    designer.press("ctrl+s");
    assert_eq!(designer.leave().code, Some(0));
    assert_eq!(board(&workspace, "three-tier").0, text);
}

// ---- from nothing ------------------------------------------------------------------------------------------------------

/// What is to be built, as the example's own file has it: the boxes of [`PLACES`] and what leads where.
struct Plan {
    nodes: Vec<Node>,
    edges: Vec<(String, String)>,
}

impl Plan {
    fn read(home: &HomeFixture) -> Self {
        let example = board(&home.workspace("plan", "example"), "three-tier").1;
        let mut nodes: Vec<Node> = example.nodes.clone();
        nodes.retain(|node| PLACES.iter().any(|(label, _)| *label == node.label));
        // Containers before what stands in them.
        let depth = |node: &Node| std::iter::successors(node.parent, |id| parent_of(&example, *id)).count();
        nodes.sort_by_key(|node| (depth(node), node.label.clone()));
        let label = |id: NodeId| Some(nodes.iter().find(|node| node.id == id)?.label.clone());
        let edges = example.edges.iter();
        let edges =
            edges.filter_map(|edge| Some((label(edge.source.node)?, label(edge.target.node)?))).collect();
        Self { nodes, edges }
    }

    fn parent(&self, node: &Node) -> Option<&str> {
        let parent = self.nodes.iter().find(|other| Some(other.id) == node.parent)?;
        Some(parent.label.as_str())
    }

    /// Types, labels, nesting and edges are those of the plan.
    fn assert_built(&self, built: &GraphDocument) {
        let described = |nodes: &[Node]| -> BTreeMap<String, (String, Option<String>)> {
            let label = |id: NodeId| nodes.iter().find(|node| node.id == id).map(|node| node.label.clone());
            let of = |node: &Node| (node.type_id.to_string(), node.parent.and_then(label));
            nodes.iter().map(|node| (node.label.clone(), of(node))).collect()
        };
        assert_eq!(described(&built.nodes), described(&self.nodes));
        let label = |id: NodeId| built.nodes.iter().find(|node| node.id == id).unwrap().label.clone();
        let edges = built.edges.iter().map(|edge| (label(edge.source.node), label(edge.target.node)));
        let wanted: BTreeSet<(String, String)> = self.edges.iter().cloned().collect();
        assert_eq!(edges.collect::<BTreeSet<_>>(), wanted);
    }
}

fn parent_of(document: &GraphDocument, id: NodeId) -> Option<NodeId> {
    document.nodes.iter().find(|node| node.id == id)?.parent
}

/// Builds on an empty board, saves, and compares what is in the file.
fn build(how: &str, size: (usize, usize), builder: impl Fn(&DesignerFixture<'_>, &Plan)) {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let Some(screen) = ScreenFixture::open(&home, size) else { return };
    let designer = DesignerFixture::sit_down(&screen, &home, &workspace, size);
    let plan = Plan::read(&home);
    let started = Instant::now();
    builder(&designer, &plan);
    save(&designer);
    let took = started.elapsed();
    let judged = if took < BUILT_WITHIN { "within" } else { "NOT within" };
    println!(
        "{} nodes and {} edges built by {how} in {:.1} s, {judged} {} s",
        plan.nodes.len(),
        plan.edges.len(),
        took.as_secs_f32(),
        BUILT_WITHIN.as_secs()
    );
    let name = designer.document().boards[0].name.to_string();
    plan.assert_built(&board(&workspace, &name).1);
    assert_eq!(designer.leave().code, Some(0));
    home.assert_deserted();
}

#[test]
fn the_example_is_built_from_nothing_by_keyboard() {
    build("keyboard", USUAL, |designer, plan| {
        for node in &plan.nodes {
            match plan.parent(node) {
                Some(parent) => designer.go_to(parent),
                None => {
                    designer.press("Escape");
                    designer.wait("nothing selected", |seen| seen.selection.is_empty());
                }
            }
            let made = designer.add_by_keyboard(node.type_id.as_str());
            if designer.label_of(made) != node.label {
                designer.rename_by_keyboard(&node.label);
            }
        }
        for (from, to) in &plan.edges {
            designer.connect_by_keyboard(from, to);
        }
    });
}

/// Where things go when they are drawn by hand: the middle of each, and the far corner of the network.
const PLACES: [(&str, At); 17] = [
    ("Locker network", (-400, 20)),
    ("Web, zone a", (-72, -14)),
    ("Web, zone b", (-72, 230)),
    ("App, zone a", (296, -14)),
    ("App, zone b", (296, 230)),
    ("Gateway", (-604, 110)),
    ("Load balancer", (-372, 110)),
    ("Locker database", (596, 110)),
    ("DB subnets", (596, 260)),
    ("Web server 1", (-72, 0)),
    ("Web server 2", (-72, 244)),
    ("App server 1", (296, 0)),
    ("App server 2", (296, 244)),
    ("Notifications", (296, -270)),
    ("Notifier", (596, -270)),
    ("Notifier role", (596, -400)),
    ("Parcel photos", (-72, -270)),
];
const FAR_CORNER: At = (720, 380);

#[test]
fn the_example_is_built_from_nothing_by_mouse() {
    build("mouse", LARGE, |designer, plan| {
        let places: BTreeMap<&str, At> = PLACES.into_iter().collect();
        for node in &plan.nodes {
            let made = designer.add_by_mouse(node.type_id.as_str(), places[node.label.as_str()]);
            if plan.parent(node).is_none() && node.type_id.as_str().ends_with("/vpc") {
                let place = absolute(&designer.document(), made);
                designer.drag((place.right(), place.bottom()), FAR_CORNER);
            }
            if designer.label_of(made) != node.label {
                designer.rename_by_mouse(made, &node.label);
            }
        }
        for (from, to) in &plan.edges {
            let side = if from == "Gateway" { Side::Bottom } else { Side::Right };
            designer.connect_by_mouse(from, side, to);
        }
    });
}

// ---- the first minute --------------------------------------------------------------------------------------------------

const LAPTOP: (usize, usize) = (1440, 900);
/// A person does not press two keys within one frame.
const PRESS: Duration = Duration::from_millis(250);

/// Numbered pictures of a walk, for `scripts/film`, which sets `DRAFTBOARD_FILM` to a folder; else none.
struct Film {
    folder: Option<PathBuf>,
    number: Cell<u32>,
}

impl Film {
    fn new() -> Self {
        Self { folder: std::env::var_os("DRAFTBOARD_FILM").map(PathBuf::from), number: Cell::new(1) }
    }

    fn take(&self, designer: &DesignerFixture<'_>, name: &str) {
        let Some(folder) = &self.folder else { return };
        // Whatever moves comes to rest. Only a film waits here, never a test.
        std::thread::sleep(Duration::from_millis(700));
        let number = self.number.replace(self.number.get() + 1);
        designer.picture(&folder.join(format!("{number:02}-{name}.png")));
    }

    /// The command for the look that `DRAFTBOARD_FILM_DARK` asks for; none without a film.
    fn theme(&self) -> Option<&'static str> {
        let dark = std::env::var_os("DRAFTBOARD_FILM_DARK").is_some();
        self.folder.is_some().then_some(if dark { "Dark theme" } else { "Light theme" })
    }
}

/// Proposals that wait, as a terminal lists them.
fn waiting(home: &HomeFixture, workspace: &Path) -> Vec<Value> {
    let mut list = home.command();
    list.args(["review", "list", "--json", "-w"]).arg(workspace).stdin(Stdio::null());
    finished(list).data().as_array().unwrap().clone()
}

fn labels(document: &GraphDocument) -> BTreeSet<&str> {
    document.nodes.iter().map(|node| node.label.as_str()).collect()
}

/// From an empty home: *Show me a proposal*, ghosts, the plan, a decision, undo. The agent is a process of its own that
/// speaks MCP over the bridge, and what it proposes is harmful in one place.
#[test]
fn the_first_minute_of_somebody_new() {
    let home = HomeFixture::new();
    let Some(screen) = ScreenFixture::open(&home, LAPTOP) else { return };
    let designer = DesignerFixture::arrive(&screen, &home, LAPTOP);
    let film = Film::new();
    if let Some(theme) = film.theme() {
        designer.press("Escape");
        designer.wait("the page is closed", |seen| seen.doing == DesignerActivity::Nothing);
        designer.command(theme);
        designer.press("ctrl+o");
        designer.wait("the welcome page", |seen| seen.doing == DesignerActivity::Typing);
    }
    film.take(&designer, "welcome");
    let started = Instant::now();
    let demo = home.path("data/draftboard/demo");
    // The keyboard is on the first choice.
    designer.press("Return");
    designer.follow(&home, &demo);
    let before = designer.document();
    assert!(labels(&before).contains("Database"));
    let submitted = || {
        film.take(&designer, "ghosts");
        waiting(&home, &demo).into_iter().find(|proposal| proposal["state"] == "open")
    };
    let proposal = wait_for("the proposal", submitted);
    assert_eq!(proposal["title"], "Serve reads from a cache", "{proposal}");
    assert_eq!(designer.document().revision, before.revision, "nothing has changed");
    film.take(&designer, "submitted");
    designer.command("Open newest proposal");
    film.take(&designer, "review");

    if TERRAFORM.is_available() {
        see_the_plan(&designer, &film);
    }

    // The removal waits for a tick of its own and is left out; the keyboard begins at the choice that does nothing.
    designer.press("j");
    film.take(&designer, "removal");
    let accepted = wait_for("a part is accepted", || {
        for keys in ["Return", "Tab", "Return"] {
            designer.press(keys);
            std::thread::sleep(PRESS);
        }
        let accepted = || Some(designer.document()).filter(|now| now.revision > before.revision);
        try_wait_for_within(Duration::from_secs(4), accepted)
    });
    let now = labels(&accepted);
    assert!(now.contains("Cache") && now.contains("Read service") && now.contains("Database"), "{now:?}");
    wait_for("the rest is withdrawn", || waiting(&home, &demo).is_empty().then_some(()));
    film.take(&designer, "decided");
    wait_for("the agent has ended", || {
        processes::roles_of(designer.main_pid(), "demo-agent").is_empty().then_some(())
    });
    designer.press("ctrl+z");
    let undone =
        wait_for("undo", || Some(designer.document()).filter(|now| now.revision > accepted.revision));
    assert_eq!((&undone.nodes, &undone.edges), (&before.nodes, &before.edges));
    film.take(&designer, "undone");
    println!("the first minute took {:.1} s", started.elapsed().as_secs_f32());

    // It leaves no trace among the person's own: neither a setting nor a recent workspace.
    // The film's theme is kept there as well.
    let settings = fs::read_to_string(home.path("config/draftboard/settings.toml")).unwrap_or_default();
    assert!(!settings.contains("guarded"), "the mode is the demo's alone: {settings}");
    let recents = designer.request(json!({ "listRecents": {} })).unwrap();
    let names: Vec<&str> =
        recents.as_array().unwrap().iter().map(|recent| recent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["example"]);
    assert_eq!(designer.leave().code, Some(0));
    home.assert_deserted();
}

/// Goes to the button by its command, presses it and the one that it brings up, and reads what Terraform says.
fn see_the_plan(designer: &DesignerFixture<'_>, film: &Film) {
    let planned = || {
        designer.command("Go to plan");
        film.take(designer, "plan-asked");
        std::thread::sleep(PRESS);
        designer.press("Return");
        std::thread::sleep(PRESS);
        designer.press("Return");
        let lines = |run: u64| designer.request(json!({"readRunLines": {"run": run, "from": 0}}));
        try_wait_for_within(Duration::from_secs(6), || {
            let mut texts = (1..4).filter_map(|run| lines(run).ok()).map(|lines| lines.to_string());
            texts.find(|text| text.contains("Plan: "))
        })
    };
    let text = wait_for("a plan", planned);
    // The database goes, and both that need it are made anew.
    assert!(text.contains("Plan: 4 to add, 1 to change, 3 to destroy."), "{text}");
    film.take(designer, "plan");
}

/// `draftboard FOLDER` on a folder of Terraform files: the window opens with what can be done, and importing leaves the
/// folder as it was.
#[test]
fn a_folder_of_terraform_files_becomes_a_workspace_beside_it() {
    let home = HomeFixture::new();
    let folder = home.path("infra");
    fs::create_dir(&folder).unwrap();
    let text = "resource \"terraform_data\" \"queue\" {\n  input = \"jobs\"\n}\n";
    fs::write(folder.join("main.tf"), text).unwrap();
    let refused = home.run(&["serve", folder.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for words in ["has no draftboard.toml", "draftboard new ", "draftboard import "] {
        assert!(refused.err.contains(words), "{refused:?}");
    }
    let Some(screen) = ScreenFixture::open(&home, LAPTOP) else { return };
    let designer = DesignerFixture::arrive_with(&screen, &home, Some(&folder), LAPTOP);
    // The keyboard focus is on *Import Terraform files*.
    designer.press("Return");
    designer.follow(&home, &home.path("infra-draftboard"));
    let document = wait_for("the import", || Some(designer.document()).filter(|now| !now.nodes.is_empty()));
    assert_eq!(document.boards.len(), 1);
    assert_eq!(document.nodes[0].type_id.as_str(), "terraform/core/terraform_data");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((left.len(), fs::read_to_string(folder.join("main.tf")).unwrap()), (1, text.to_owned()));
    assert_eq!(designer.leave().code, Some(0));
    home.assert_deserted();
}
