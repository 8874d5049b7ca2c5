//! Somebody at the window, with a mouse and a keyboard of flesh and plastic: every press goes through the display. What
//! came of it is read from the main process, so nothing is ever waited for by the clock.

use super::{
    client::Client,
    home::{HomeFixture, Outcome, Running},
    screen::ScreenFixture,
};
use serde_json::{Value, json};
use shared_protocol::{
    Edge, ElementId, GraphDocument, Node, NodeId, Placement, Revision,
    messages::{DesignerActivity, OnScreenView},
};
use std::{cell::RefCell, path::Path, time::Duration};
use test_support::{try_wait_for_within, wait_for, wait_until};

/// How long a press may go without effect before it is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(8);

pub(crate) struct DesignerFixture<'a> {
    screen: &'a ScreenFixture,
    main: Option<Running>,
    client: RefCell<Client>,
    window: String,
}

/// A point of the board.
pub(crate) type At = (i32, i32);

impl<'a> DesignerFixture<'a> {
    /// Opens the workspace in a window as large as the screen.
    pub(crate) fn sit_down(
        screen: &'a ScreenFixture,
        home: &HomeFixture,
        workspace: &Path,
        size: (usize, usize),
    ) -> Self {
        Self::begin(screen, Running::start(screen.command(home, workspace)), home, workspace, size)
    }

    /// The same without naming a workspace, as at the first start: the welcome page stands over the example.
    pub(crate) fn arrive(screen: &'a ScreenFixture, home: &HomeFixture, size: (usize, usize)) -> Self {
        Self::arrive_with(screen, home, None, size)
    }

    /// The same, with a folder named that is no workspace.
    pub(crate) fn arrive_with(
        screen: &'a ScreenFixture,
        home: &HomeFixture,
        folder: Option<&Path>,
        size: (usize, usize),
    ) -> Self {
        let mut command = screen.bare_command(home);
        command.args(folder);
        let main = Running::start(command);
        let example = home.path("data/draftboard/example");
        wait_until("the example", || example.join("draftboard.toml").is_file());
        let designer = Self::begin(screen, main, home, &example, size);
        designer.wait("the welcome page", |seen| seen.doing == DesignerActivity::Typing);
        designer
    }

    fn begin(
        screen: &'a ScreenFixture,
        main: Running,
        home: &HomeFixture,
        workspace: &Path,
        size: (usize, usize),
    ) -> Self {
        let renderer = screen.renderer_shown(main.pid(), None);
        let window = screen.window_of(renderer).expect("it is shown");
        let client = wait_for("an answer", || Client::connect(home, workspace).ok());
        let designer = Self { screen, main: Some(main), client: RefCell::new(client), window };
        designer.tool(&["windowfocus", "--sync", &designer.window]);
        let (width, height) = (size.0.to_string(), size.1.to_string());
        designer.tool(&["windowmove", &designer.window, "0", "0"]);
        designer.tool(&["windowsize", &designer.window, &width, &height]);
        designer.wait("a board in the large window", |seen| seen.area.w > size.0 as f32 / 2.0);
        designer
    }

    /// From now on reads from another workspace that the window has open.
    pub(crate) fn follow(&self, home: &HomeFixture, workspace: &Path) {
        let found = || workspace.is_dir().then(|| Client::connect(home, workspace).ok()).flatten();
        *self.client.borrow_mut() = wait_for("the other workspace", found);
        self.wait("its board", |seen| seen.doing == DesignerActivity::Nothing);
    }

    pub(crate) fn main_pid(&self) -> u32 {
        self.main.as_ref().expect("it runs").pid()
    }

    pub(crate) fn request(&self, request: Value) -> Result<Value, Value> {
        self.client.borrow_mut().request(request).unwrap()
    }

    /// Saves a picture of all that is shown.
    pub(crate) fn picture(&self, path: &Path) {
        let path = path.to_str().unwrap();
        self.screen.tool("import", &["-window", "root", path]);
    }

    pub(crate) fn leave(mut self) -> Outcome {
        self.main.take().expect("it runs").stop()
    }

    fn tool(&self, arguments: &[&str]) {
        self.screen.tool("xdotool", arguments);
    }

    // ---- what is there -----------------------------------------------------------------------------------------------

    fn ask(&self, request: &str) -> Value {
        self.client.borrow_mut().request(json!({ request: {} })).unwrap().unwrap()
    }

    pub(crate) fn document(&self) -> GraphDocument {
        serde_json::from_value(self.ask("readDocument")).unwrap()
    }

    /// A new node is called after its type, which may be its name already.
    pub(crate) fn label_of(&self, id: NodeId) -> String {
        let document = self.document();
        document.nodes.iter().find(|node| node.id == id).expect("it is there").label.clone()
    }

    pub(crate) fn saved(&self) -> bool {
        let view = self.ask("describeInstance");
        view["saved"] == view["revision"]
    }

    pub(crate) fn sees(&self) -> Option<OnScreenView> {
        serde_json::from_value(self.ask("describeInstance")["onScreen"].clone()).unwrap()
    }

    /// Waits until what is on the screen is as wanted.
    pub(crate) fn wait(&self, what: &str, wanted: impl Fn(&OnScreenView) -> bool) -> OnScreenView {
        wait_for(what, || self.sees().filter(|seen| wanted(seen)))
    }

    /// Does something until it has had its effect: a double click can be too slow on a slow machine.
    fn until(&self, what: &str, act: impl Fn(), wanted: impl Fn(&OnScreenView) -> bool) {
        for _ in 0..4 {
            act();
            if try_wait_for_within(TRY_AGAIN, || self.sees().filter(&wanted)).is_some() {
                return;
            }
        }
        panic!("in vain: {what}; seen: {:?}", self.sees());
    }

    /// Waits for the operation after this revision.
    fn changed_since(&self, before: Revision) -> GraphDocument {
        wait_for("a change", || Some(self.document()).filter(|now| now.revision > before))
    }

    // ---- the keyboard ------------------------------------------------------------------------------------------------

    pub(crate) fn press(&self, keys: &str) {
        self.tool(&["key", keys]);
    }

    pub(crate) fn write(&self, text: &str) {
        self.tool(&["type", "--delay", "4", text]);
    }

    /// Opens something that text is written in, writes, and confirms.
    fn fill_in(&self, what: &str, open: impl Fn(), text: &str) {
        self.until(what, open, |seen| seen.doing == DesignerActivity::Typing);
        self.write(text);
        self.until(
            "taking what was written",
            || self.press("Return"),
            |seen| seen.doing == DesignerActivity::Nothing,
        );
    }

    /// Runs a command of the window by its name.
    pub(crate) fn command(&self, name: &str) {
        self.fill_in("commands", || self.press("ctrl+k"), name);
    }

    /// Selects a node by its label, from the keyboard.
    pub(crate) fn go_to(&self, label: &str) {
        let wanted = [ElementId::Node(labelled(&self.document(), label).id)];
        self.fill_in("search", || self.press("ctrl+k"), label);
        self.wait("the node that was searched for", |seen| seen.selection == wanted);
    }

    /// Adds a node in what is selected, from the keyboard.
    pub(crate) fn add_by_keyboard(&self, type_id: &str) -> NodeId {
        let before = self.document();
        self.fill_in("search", || self.press("ctrl+k"), &format!("add {type_id}"));
        self.added(&before, type_id)
    }

    pub(crate) fn rename_by_keyboard(&self, label: &str) {
        let before = self.document().revision;
        self.fill_in("rename", || self.press("F2"), label);
        self.changed_since(before);
    }

    pub(crate) fn connect_by_keyboard(&self, from: &str, to: &str) {
        self.go_to(from);
        let before = self.document().revision;
        self.fill_in("connect to", || self.press("l"), to);
        self.changed_since(before);
    }

    fn added(&self, before: &GraphDocument, type_id: &str) -> NodeId {
        let now = self.changed_since(before.revision);
        let is_new = |node: &&Node| before.nodes.iter().all(|old| old.id != node.id);
        let node = now.nodes.iter().find(is_new).expect("there is a new node");
        assert_eq!(node.type_id.as_str(), type_id);
        self.wait("what was added is selected", |seen| seen.selection == [ElementId::Node(node.id)]);
        node.id
    }

    // ---- the mouse ---------------------------------------------------------------------------------------------------

    fn point_at(&self, (x, y): At) {
        let seen = self.sees().expect("a board is shown");
        let OnScreenView { area, viewport, .. } = seen;
        let across = area.w / 2.0 + (x as f32 - viewport.x) * viewport.zoom;
        let down = area.h / 2.0 + (y as f32 - viewport.y) * viewport.zoom;
        // Near the edge a drag would move the view.
        let inner = |at: f32, length: f32| (30.0..length - 30.0).contains(&at);
        assert!(inner(across, area.w) && inner(down, area.h), "{x}, {y} is not in view: {seen:?}");
        let (left, top) = ((area.x + across).round().to_string(), (area.y + down).round().to_string());
        self.tool(&["mousemove", "--window", &self.window, &left, &top]);
    }

    /// Clicks at a place of the window, from its left upper corner.
    pub(crate) fn click_at(&self, x: i32, y: i32) {
        self.tool(&["mousemove", "--window", &self.window, &x.to_string(), &y.to_string()]);
        self.tool(&["click", "1"]);
    }

    fn double_click(&self, at: At) {
        self.point_at(at);
        self.tool(&["click", "--repeat", "2", "--delay", "30", "1"]);
    }

    /// From one point of the board to another, as one gesture and one operation.
    pub(crate) fn drag(&self, from: At, to: At) -> GraphDocument {
        let before = self.document().revision;
        self.point_at(from);
        self.tool(&["mousedown", "1"]);
        // Far enough to be meant as a drag, and seen as one before it is over.
        let part = |from: i32, to: i32| from + (to - from) / 3;
        self.point_at((part(from.0, to.0), part(from.1, to.1)));
        self.wait("a drag under way", |seen| seen.doing == DesignerActivity::Dragging);
        self.point_at(to);
        self.tool(&["mouseup", "1"]);
        let now = self.changed_since(before);
        self.wait("the end of the drag", |seen| seen.doing == DesignerActivity::Nothing);
        assert_eq!(now.revision, before.next(), "one gesture is one operation");
        now
    }

    /// Adds a node with its middle at an empty place, by a double click and its name.
    pub(crate) fn add_by_mouse(&self, type_id: &str, middle: At) -> NodeId {
        let before = self.document();
        self.fill_in("quick add", || self.double_click(middle), type_id);
        self.added(&before, type_id)
    }

    /// Writes on the label where it stands.
    pub(crate) fn rename_by_mouse(&self, node: NodeId, label: &str) {
        let document = self.document();
        let place = absolute(&document, node);
        let is_container = document.nodes.iter().any(|inner| inner.parent == Some(node)) || place.h > 100;
        let at = if is_container {
            (place.x + 60, place.y + 18)
        } else {
            (place.x + 90, place.y + place.h / 2 - 8)
        };
        self.fill_in("rename", || self.double_click(at), label);
        self.changed_since(document.revision);
    }

    /// Draws an edge from the port in the middle of a side to another node.
    pub(crate) fn connect_by_mouse(&self, from: &str, side: Side, to: &str) {
        let document = self.document();
        let start = absolute(&document, labelled(&document, from).id);
        let end = absolute(&document, labelled(&document, to).id);
        let port = match side {
            Side::Right => (start.right(), start.y + start.h / 2),
            Side::Bottom => (start.x + start.w / 2, start.bottom()),
        };
        let now = self.drag(port, (end.x + end.w / 2, end.y + end.h / 2));
        assert_eq!(now.edges.len(), document.edges.len() + 1, "from {from} to {to}");
    }
}

impl Drop for DesignerFixture<'_> {
    /// What was to be seen when a test failed says more than its message.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = std::thread::current().name().unwrap_or_default().to_owned();
            let path = format!("{}/{test}.png", env!("CARGO_TARGET_TMPDIR"));
            drop(self.screen.tool("import", &["-window", "root", &path]));
            // Main may be gone by now.
            let seen = self.client.borrow_mut().request(json!({ "describeInstance": {} }));
            println!("the window as it was: {path}\n{seen:?}");
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Right,
    Bottom,
}

pub(crate) fn labelled<'d>(document: &'d GraphDocument, label: &str) -> &'d Node {
    let found = document.nodes.iter().find(|node| node.label == label);
    found.unwrap_or_else(|| panic!("there is no {label}"))
}

/// Where a node stands on its board.
pub(crate) fn absolute(document: &GraphDocument, id: NodeId) -> Placement {
    let relative = document.layout.iter().find(|(node, _)| *node == id).expect("it has a place").1;
    let parent = document.nodes.iter().find(|node| node.id == id).and_then(|node| node.parent);
    match parent.map(|parent| absolute(document, parent)) {
        Some(around) => relative.moved_by(around.x, around.y),
        None => relative,
    }
}

pub(crate) fn edge_between<'d>(document: &'d GraphDocument, from: &str, to: &str) -> Option<&'d Edge> {
    let (from, to) = (labelled(document, from).id, labelled(document, to).id);
    document.edges.iter().find(|edge| edge.source.node == from && edge.target.node == to)
}
