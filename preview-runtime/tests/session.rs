//! A session without its process: messages in, messages and pixels out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use frame_memory::{FrameCopyOutcome, FrameMemory, FrameMemoryReader};
use preview_runtime::session::PreviewRuntimeSession;
use serde_json::{Map, Value, json};
use shared_protocol::{
    preview_wire::{
        FromPreview, InstanceBox, PreviewEditKey, PreviewInputEvent, PreviewMode, PreviewProblem,
        PreviewScreen, SceneInstance, SceneOverride, SceneOverrideStatus, SceneTarget, ToPreview,
    },
    v0::JsonPointer,
};
use std::{os::fd::AsFd, path::Path};

const WIDTH: u32 = 400;
const HEIGHT: u32 = 560;

/// A session with the main side of its protocol.
struct Host {
    session: PreviewRuntimeSession,
    reader: FrameMemoryReader,
    revision: u64,
    pixels: Vec<[u8; 4]>,
    instances: Vec<InstanceBox>,
    problems: Vec<PreviewProblem>,
    frames: usize,
}

impl Host {
    fn new(files: &[(&str, &str)]) -> Self {
        let memory = FrameMemory::new(WIDTH as usize, HEIGHT as usize).unwrap();
        let mut host = Self {
            session: PreviewRuntimeSession::default(),
            reader: memory.reader().unwrap(),
            revision: 0,
            pixels: vec![[0; 4]; (WIDTH * HEIGHT) as usize],
            instances: Vec::new(),
            problems: Vec::new(),
            frames: 0,
        };
        let screen = PreviewScreen::new(WIDTH, HEIGHT, 1.0, false).unwrap();
        let descriptor = memory.as_fd().try_clone_to_owned().unwrap();
        host.session.handle_message(ToPreview::Screen { generation: 1, screen }, Some(descriptor)).unwrap();
        for (file, text) in files {
            host.session
                .handle_message(ToPreview::Component { file: (*file).into(), text: (*text).into() }, None)
                .unwrap();
        }
        host
    }

    /// Creates a session with the components of the example.
    fn with_kit() -> Self {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../main-process/workspace/example/components");
        let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                (
                    path.file_name().unwrap().to_string_lossy().into_owned(),
                    std::fs::read_to_string(&path).unwrap(),
                )
            })
            .collect();
        files.sort();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        Self::new(&files)
    }

    fn send(&mut self, message: ToPreview) -> Vec<FromPreview> {
        self.session.handle_message(message, None).unwrap();
        self.settle()
    }

    fn settle(&mut self) -> Vec<FromPreview> {
        self.session.paint_if_changed().unwrap();
        let messages: Vec<FromPreview> = self.session.drain().collect();
        for message in &messages {
            match message {
                FromPreview::Frame { .. } => {
                    assert_eq!(self.reader.copy_frame(&mut self.pixels), FrameCopyOutcome::Frame);
                    self.frames += 1;
                }
                FromPreview::Instances { instances, .. } => self.instances.clone_from(instances),
                FromPreview::Problems { problems } => self.problems.clone_from(problems),
                _ => {}
            }
        }
        messages
    }

    fn show(&mut self, instances: Vec<SceneInstance>, overrides: Vec<SceneOverride>) -> Vec<FromPreview> {
        self.revision += 1;
        let target = SceneTarget::Route { route: "home".into() };
        self.send(ToPreview::Scene { revision: self.revision, target, instances, overrides })
    }

    fn input(&mut self, events: Vec<PreviewInputEvent>) -> Vec<FromPreview> {
        self.send(ToPreview::Input { events })
    }

    fn centre(&self, id: &str) -> (f32, f32) {
        let [x, y, width, height] = self.of(id).rect;
        (x + width / 2.0, y + height / 2.0)
    }

    fn of(&self, id: &str) -> &InstanceBox {
        self.instances
            .iter()
            .find(|instance| instance.id == id)
            .unwrap_or_else(|| panic!("{id}: {:?}", self.instances))
    }

    fn click(&mut self, id: &str) -> Vec<FromPreview> {
        let (x, y) = self.centre(id);
        self.input(vec![
            PreviewInputEvent::Move { x, y },
            PreviewInputEvent::Press { x, y },
            PreviewInputEvent::Release { x, y },
        ])
    }
}

fn instance(id: &str, component: &str, parent: Option<&str>, props: Value) -> SceneInstance {
    SceneInstance {
        id: id.into(),
        component: component.into(),
        props: props.as_object().cloned().unwrap_or_default(),
        parent: parent.map(Into::into),
        slot: None,
    }
}

fn component(id: &str, rest: &str) -> String {
    format!("format: 1\nid: {id}\ntitle: T\n{rest}\n")
}

#[test]
fn the_kit_has_no_problems_in_any_variant() {
    let mut host = Host::with_kit();
    host.settle();
    assert_eq!(host.problems, []);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../main-process/workspace/example/components");
    let mut shown = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let component = components::read(&name, &std::fs::read_to_string(&path).unwrap()).unwrap();
        let alone = SceneTarget::Component { component: component.id.clone() };
        let variants = component.variants.iter().map(|variant| SceneTarget::Variant {
            component: component.id.clone(),
            variant: variant.id.clone(),
        });
        for target in variants.chain([alone]) {
            let what = format!("{name}, {target:?}");
            host.revision += 1;
            host.send(ToPreview::Scene {
                revision: host.revision,
                target,
                instances: vec![],
                overrides: vec![],
            });
            assert_eq!(host.problems, [], "{what}");
            let [_, _, width, height] = host.instances[0].rect;
            assert!(width > 4.0 && height > 4.0, "{what}");
            shown += 1;
        }
    }
    assert!(shown > 50, "{shown}");
}

#[test]
fn a_page_is_shown_where_its_instances_say() {
    let mut host = Host::with_kit();
    let messages = host.show(
        vec![
            instance("page", "ui.route", None, json!({"title": "Home"})),
            instance("card", "ui.card", Some("page"), json!({"title": "Waiting"})),
            instance("button", "ui.button", Some("card"), json!({"label": "Open"})),
            instance("strange", "ui.unheard", Some("page"), json!({})),
        ],
        vec![],
    );
    assert!(matches!(messages[0], FromPreview::Frame { generation: 1, sequence: 1, revision: 1, .. }));
    let parents: Vec<(&str, Option<&str>)> =
        host.instances.iter().map(|instance| (instance.id.as_str(), instance.parent.as_deref())).collect();
    assert_eq!(
        parents,
        [("page", None), ("card", Some("page")), ("button", Some("card")), ("strange", Some("page"))]
    );
    let inside = |inner: &InstanceBox, outer: &InstanceBox| {
        let ([x, y, w, h], [ox, oy, ow, oh]) = (inner.rect, outer.rect);
        x >= ox && y >= oy && x + w <= ox + ow + 0.01 && y + h <= oy + oh + 0.01
    };
    assert!(inside(host.of("card"), host.of("page")) && inside(host.of("button"), host.of("card")));
    assert_eq!(host.of("button").file, "button.component.yaml");
    // The button is blue in its middle, left of its label.
    let [x, y, _, height] = host.of("button").rect;
    let pixel = host.pixels[((y + height / 2.0) as u32 * WIDTH + x as u32 + 5) as usize];
    assert_eq!(pixel, [0x32, 0x57, 0xe8, 255]);
}

#[test]
fn nothing_is_drawn_when_nothing_changes() {
    let mut host = Host::with_kit();
    host.show(vec![instance("b", "ui.button", None, json!({}))], vec![]);
    let frames = host.frames;
    assert_eq!(host.send(ToPreview::Ping { number: 4 }), [FromPreview::Pong { number: 4 }]);
    assert_eq!(host.settle(), []);
    host.input(vec![PreviewInputEvent::Move { x: 399.0, y: 299.0 }]);
    assert_eq!(host.frames, frames);
    // Several changes at once produce one frame.
    for number in 0..10 {
        host.revision += 1;
        let props = json!({"label": number.to_string()}).as_object().unwrap().clone();
        host.session
            .handle_message(ToPreview::Props { revision: host.revision, instance: "b".into(), props }, None)
            .unwrap();
    }
    host.settle();
    assert_eq!(host.frames, frames + 1);
}

#[test]
fn interaction() {
    let mut host = Host::with_kit();
    host.show(
        vec![
            instance("column", "ui.form", None, json!({})),
            instance("button", "ui.button", Some("column"), json!({"label": "Go"})),
            instance("off", "ui.button", Some("column"), json!({"label": "No", "disabled": true})),
            instance("box", "ui.checkbox", Some("column"), json!({"label": ""})),
            instance("field", "ui.input", Some("column"), json!({"label": "", "value": "a"})),
            instance(
                "choice",
                "ui.select",
                Some("column"),
                json!({"label": "", "options": ["x", "y"], "value": "y"}),
            ),
        ],
        vec![],
    );
    let action = |messages: Vec<FromPreview>| {
        messages.into_iter().find_map(|message| match message {
            FromPreview::Action { instance, action, value } => Some((instance, action, value)),
            _ => None,
        })
    };
    let before = host.pixels.clone();
    assert_eq!(action(host.click("button")), Some(("button".into(), "press".into(), Value::Null)));
    assert_ne!(host.pixels, before, "hovered and focused, it looks different");
    assert_eq!(action(host.click("off")), None);
    // A press released on another control has no effect.
    let ((x, y), (there, below)) = (host.centre("button"), host.centre("off"));
    assert_eq!(
        action(host.input(vec![
            PreviewInputEvent::Press { x, y },
            PreviewInputEvent::Release { x: there, y: below }
        ])),
        None
    );
    let [x, y, _, height] = host.of("box").rect;
    let tick = |host: &mut Host| {
        let (x, y) = (x + 10.0, y + height / 2.0);
        action(host.input(vec![PreviewInputEvent::Press { x, y }, PreviewInputEvent::Release { x, y }]))
            .unwrap()
            .2
    };
    assert_eq!(tick(&mut host), json!(true));
    assert_eq!(tick(&mut host), json!(false));
    host.click("field");
    host.input(vec![PreviewInputEvent::Type { text: "b\u{202e}c\n".into() }]);
    let typed = host.input(vec![
        PreviewInputEvent::Key { key: PreviewEditKey::Backspace },
        PreviewInputEvent::Type { text: "d".into() },
    ]);
    let last = typed.into_iter().filter_map(|message| action(vec![message])).next_back();
    assert_eq!(last, Some(("field".into(), "change".into(), json!("abd"))));
    let [x, y, _, height] = host.of("choice").rect;
    let (x, y) = (x + 20.0, y + height - 10.0);
    let closed = host.pixels.clone();
    let opened = host.input(vec![PreviewInputEvent::Press { x, y }, PreviewInputEvent::Release { x, y }]);
    assert_eq!(action(opened), None, "a list opens, and nothing is chosen yet");
    assert_ne!(host.pixels, closed);
    // The first choice is below the select.
    let (x, y) = (x, y + 10.0 + 4.0 + 4.0 + 17.0);
    let chosen = host.input(vec![PreviewInputEvent::Press { x, y }, PreviewInputEvent::Release { x, y }]);
    assert_eq!(action(chosen), Some(("choice".into(), "change".into(), json!("x"))));
    host.input(vec![PreviewInputEvent::Key { key: PreviewEditKey::Tab }]);
    assert_eq!(
        action(host.input(vec![PreviewInputEvent::Key { key: PreviewEditKey::Enter }])).unwrap().0,
        "button"
    );
    let edited = host.pixels.clone();
    host.send(ToPreview::Reset);
    assert_ne!(host.pixels, edited);
}

#[test]
fn inspection() {
    let mut host = Host::with_kit();
    host.show(
        vec![
            instance("card", "ui.card", None, json!({"title": "A"})),
            instance("button", "ui.button", Some("card"), json!({})),
        ],
        vec![],
    );
    host.send(ToPreview::Mode { mode: PreviewMode::Inspect });
    let frames = host.frames;
    let picked = host.click("button");
    let instance = Some("button".to_owned());
    assert_eq!(
        picked,
        [FromPreview::Hovered { instance: instance.clone() }, FromPreview::Picked { instance }]
    );
    let [x, y, ..] = host.of("card").rect;
    assert_eq!(
        host.input(vec![PreviewInputEvent::Press { x: x + 2.0, y: y + 2.0 }]),
        [FromPreview::Picked { instance: Some("card".into()) }]
    );
    assert_eq!(
        host.input(vec![PreviewInputEvent::Press { x: 399.0, y: 299.0 }]),
        [FromPreview::Picked { instance: None }]
    );
    assert_eq!(host.input(vec![PreviewInputEvent::Leave]), [FromPreview::Hovered { instance: None }]);
    assert_eq!(host.frames, frames, "outlines are the window's business");
}

#[test]
fn overrides_apply_and_say_when_they_do_not() {
    let mut host = Host::with_kit();
    let over = |instance: &str, path: &str, value: Value| SceneOverride {
        instance: instance.into(),
        path: JsonPointer::parse(path).unwrap(),
        value,
    };
    let scene = vec![instance("b", "ui.button", None, json!({"label": "Short"}))];
    host.show(scene.clone(), vec![]);
    let narrow = host.pixels.clone();
    let messages = host.show(
        scene,
        vec![
            over("b", "/label", json!("A much longer label")),
            over("b", "/nothing", json!(1)),
            over("gone", "/label", json!("x")),
        ],
    );
    use SceneOverrideStatus::{Applied, InstanceMissing, PathInvalid};
    let told = FromPreview::Overrides { revision: 2, statuses: vec![Applied, PathInvalid, InstanceMissing] };
    assert!(messages.contains(&told), "{messages:?}");
    assert_ne!(host.pixels, narrow);
    host.send(ToPreview::Overrides { revision: 3, overrides: vec![] });
    assert_eq!(host.pixels, narrow);
}

#[test]
fn slots_loops_and_nested_components() {
    let outer = component(
        "x.outer",
        "props: { items: { control: json, default: [] }, side: { control: slot } }\nview:\n  type: column\n  children:\n    - type: each\n      items: =props.items\n      as: item\n      children:\n        - type: component\n          component: x.inner\n          props: { text: =item.name }\n          children: [{ type: text, text: =item.extra }]\n    - { type: slot, slot: side, children: [{ type: text, text: nothing }] }",
    );
    let inner = component(
        "x.inner",
        "props: { text: { control: string }, children: { control: slot } }\nview: { type: row, children: [{ type: text, text: =props.text }, { type: slot }] }",
    );
    let mut host = Host::new(&[("o.component.yaml", &outer), ("i.component.yaml", &inner)]);
    let items = json!({"items": [{"name": "one", "extra": "1"}, {"name": "two", "extra": "2"}]});
    let mut child = instance("child", "x.inner", Some("o"), json!({"text": "in the slot"}));
    child.slot = Some("side".into());
    host.show(vec![instance("o", "x.outer", None, items), child], vec![]);
    assert_eq!(host.problems, []);
    let ids: Vec<&str> = host.instances.iter().map(|instance| instance.id.as_str()).collect();
    assert_eq!(ids, ["o", "o/x.inner[0]", "o/x.inner[1]", "child"]);
    let second = host.of("o/x.inner[1]");
    assert_eq!((second.file.as_str(), second.line), ("o.component.yaml", 12));
}

/// The id of a part must not depend on its line.
#[test]
fn parts_keep_their_names_when_lines_move_and_are_told_apart_on_one() {
    let inner =
        component("x.inner", "props: { text: { control: string } }\nview: { type: text, text: =props.text }");
    let ids = |view: &str| {
        let outer = component("x.outer", view);
        let mut host = Host::new(&[("o.component.yaml", &outer), ("i.component.yaml", &inner)]);
        host.show(vec![instance("o", "x.outer", None, json!({}))], vec![]);
        assert_eq!(host.problems, []);
        host.instances.iter().map(|instance| instance.id.clone()).collect::<Vec<_>>()
    };
    let line = "view: { type: row, children: [{ type: component, component: x.inner }, { type: component, component: x.inner }, { type: component, component: x.inner, id: last }] }";
    let parts = ["o", "o/x.inner", "o/x.inner:2", "o/#last"];
    assert_eq!(ids(line), parts);
    let moved = "description: More lines above\nview:\n  type: column\n  children:\n    - { type: text, text: New above }\n    - type: box\n      children:\n        - { type: component, component: x.inner }\n    - { type: component, component: x.inner, props: { text: two } }\n    - { type: component, id: last, component: x.inner }";
    assert_eq!(ids(moved), parts);
    // Nesting deeper than the id limit still gives unique ids.
    let deep: Vec<(String, String)> = (0..30)
        .map(|level| {
            let view = format!("view: {{ type: component, component: x.a-rather-long-name-{} }}", level + 1);
            (format!("{level}.component.yaml"), component(&format!("x.a-rather-long-name-{level}"), &view))
        })
        .collect();
    let mut files: Vec<(&str, &str)> =
        deep.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let last = component("x.a-rather-long-name-30", "view: { type: text, text: end }");
    files.push(("last.component.yaml", &last));
    let mut host = Host::new(&files);
    host.show(vec![instance("o", "x.a-rather-long-name-0", None, json!({}))], vec![]);
    let ids: std::collections::BTreeSet<&str> =
        host.instances.iter().map(|found| found.id.as_str()).collect();
    assert_eq!((ids.len(), host.instances.len()), (31, 31));
    assert!(
        ids.iter()
            .all(|id| id.len() <= shared_protocol::preview_wire::MAX_PREVIEW_ID_CHARS && id.starts_with('o'))
    );
}

/// Loops without output also count against the budget.
#[test]
fn loops_without_elements_end_in_time() {
    let view = "props: { a: { control: json, default: [] } }\nview:\n  type: each\n  items: =props.a\n  as: one\n  children:\n    - type: each\n      items: =props.a\n      as: two\n      children:\n        - type: each\n          items: =props.a\n          as: three\n          children:\n            - { type: if, condition: false, then: [] }";
    let text = component("x.loops", view);
    let mut host = Host::new(&[("l.component.yaml", &text)]);
    let list: Vec<usize> = (0..2_000).collect();
    host.show(vec![instance("o", "x.loops", None, json!({ "a": list }))], vec![]);
    assert!(
        host.problems.iter().any(|problem| problem.message.contains("took longer")),
        "{:?}",
        host.problems
    );
}

#[test]
fn a_picture_that_is_not_there_is_named_with_its_place() {
    let text = component(
        "x.picture",
        "view:\n  type: column\n  children:\n    - { type: image, source: images/none.png, style: { height: 20 } }",
    );
    let mut host = Host::new(&[("p.component.yaml", &text)]);
    host.show(vec![instance("o", "x.picture", None, json!({}))], vec![]);
    let [problem] = &host.problems[..] else { panic!("{:?}", host.problems) };
    assert!(problem.message.contains("images/none.png"), "{}", problem.message);
    assert_eq!((problem.file.as_str(), problem.instance.as_deref()), ("p.component.yaml", Some("o")));
    assert!(problem.line > 3);
}

#[test]
fn mistakes_are_told_with_their_place_and_the_rest_goes_on() {
    let broken = component(
        "x.broken",
        "props: { n: { control: json, default: {} } }\nview:\n  type: row\n  children:\n    - { type: text, text: =props.n.missing.deep }\n    - { type: text, text: fine }",
    );
    let mut host = Host::new(&[("b.component.yaml", &broken), ("bad.component.yaml", "format: 1\n")]);
    host.show(vec![instance("b", "x.broken", None, json!({}))], vec![]);
    let told: Vec<(&str, u32, Option<&str>)> = host
        .problems
        .iter()
        .map(|problem| (problem.file.as_str(), problem.line, problem.instance.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("bad.component.yaml", 1, None),
            ("bad.component.yaml", 1, None),
            ("bad.component.yaml", 1, None),
            ("b.component.yaml", 8, Some("b"))
        ]
    );
    assert!(host.of("b").rect[2] > 20.0);
    host.session
        .handle_message(ToPreview::ComponentRemoved { file: "bad.component.yaml".into() }, None)
        .unwrap();
    host.settle();
    assert_eq!(host.problems.len(), 1);
}

#[test]
fn hostile_components_end_in_a_bounded_page() {
    let cases = [
        // A list of lists of lists.
        (
            "items",
            "type: each\n  items: =props.list\n  children: [{ type: each, items: =props.list, children: [{ type: each, items: =props.list, children: [{ type: text, text: x }] }] }]",
        ),
        // A component in itself.
        (
            "itself",
            "type: column\n  children: [{ type: component, component: x.itself }, { type: component, component: x.itself }]",
        ),
        // An endless text.
        ("text", "type: text\n  text: =props.long"),
        // Invalid sizes from a prop.
        ("size", "type: box\n  style: { width: =props.number, height: =props.number }"),
    ];
    for (name, view) in cases {
        let text = component(
            &format!("x.{name}"),
            &format!(
                "props: {{ list: {{ control: json }}, long: {{ control: string }}, number: {{ control: json }} }}\nview:\n  {view}"
            ),
        );
        let mut host = Host::new(&[("x.component.yaml", &text)]);
        let list: Vec<u32> = (0..500).collect();
        let props = json!({"list": list, "long": "wide ".repeat(100_000), "number": "NaN%"});
        host.show(vec![instance("x", &format!("x.{name}"), None, props)], vec![]);
        assert_eq!(host.frames, 1, "{name}");
        if name != "text" {
            assert!(!host.problems.is_empty(), "{name}");
        }
    }
    let mut host = Host::with_kit();
    // Parents that do not exist, come later, or refer to themselves.
    let circle: Vec<SceneInstance> = [("a", "b"), ("b", "a"), ("c", "c")]
        .map(|(id, parent)| instance(id, "ui.card", Some(parent), json!({})))
        .into();
    host.show(circle, vec![]);
    assert_eq!(host.frames, 1);
    // Deep nesting.
    let deep: Vec<SceneInstance> = (0..2_000)
        .map(|number: u32| {
            let parent = number.checked_sub(1).map(|parent| format!("n{parent}"));
            instance(&format!("n{number}"), "ui.card", parent.as_deref(), json!({}))
        })
        .collect();
    host.show(deep, vec![]);
    assert!(
        host.problems.iter().any(|problem| problem.message.contains("levels deep")),
        "{:?}",
        host.problems
    );
}

#[test]
fn messages_that_cannot_be_are_refused() {
    let mut session = PreviewRuntimeSession::default();
    let screen = PreviewScreen { width: 1 << 20, height: 1 << 20, quarters: 16, dark: false };
    assert!(session.handle_message(ToPreview::Screen { generation: 1, screen }, None).is_err());
    let screen = PreviewScreen::new(10, 10, 1.0, false).unwrap();
    assert!(session.handle_message(ToPreview::Screen { generation: 1, screen }, None).is_err());
    let small = FrameMemory::new(2, 2).unwrap().as_fd().try_clone_to_owned().unwrap();
    assert!(session.handle_message(ToPreview::Screen { generation: 1, screen }, Some(small)).is_err());
    let many = vec![PreviewInputEvent::Leave; 10_000];
    assert!(session.handle_message(ToPreview::Input { events: many }, None).is_err());
    let nowhere = vec![
        PreviewInputEvent::Move { x: f32::NAN, y: f32::INFINITY },
        PreviewInputEvent::Scroll { dy: f32::NAN },
    ];
    session.handle_message(ToPreview::Input { events: nowhere }, None).unwrap();
    session
        .handle_message(ToPreview::Props { revision: 1, instance: "gone".into(), props: Map::new() }, None)
        .unwrap();
    let picture = ToPreview::Image { path: "x.png".into(), png: "not base64!".into() };
    session.handle_message(picture, None).unwrap();
    session.paint_if_changed().unwrap();
    assert!(matches!(session.drain().next(), Some(FromPreview::Log { .. })));
}

/// Cached elements, boxes, glyphs and pixels never affect the result: after any change, the frame equals the frame of a
/// fresh session.
#[test]
fn a_changed_frame_is_the_same_as_one_drawn_afresh() {
    let page = |label: &str, tone: &str, number: u32, more: bool| {
        let mut page = vec![
            instance("page", "ui.route", None, json!({"title": "Home"})),
            instance("card", "ui.card", Some("page"), json!({})),
            instance("title", "ui.heading", Some("card"), json!({"text": label})),
            instance("state", "ui.badge", Some("card"), json!({"text": "Ready", "tone": tone})),
            instance("open", "ui.button", Some("card"), json!({"label": label, "icon": "unlock"})),
            instance("tile", "lockers.tile", Some("card"), json!({"number": number})),
            instance("code", "ui.input", Some("page"), json!({"label": "Code"})),
            instance("who", "ui.avatar", Some("page"), json!({"name": label})),
        ];
        if more {
            page.push(instance("last", "ui.text", Some("page"), json!({"text": "One more line of text."})));
        }
        page
    };
    let over = |instance: &str, path: &str, value: Value| SceneOverride {
        instance: instance.into(),
        path: JsonPointer::parse(path).unwrap(),
        value,
    };
    let steps: Vec<(Vec<SceneInstance>, Vec<SceneOverride>)> = vec![
        (page("Open", "neutral", 4, true), vec![]),
        (page("Open the locker now", "success", 4, true), vec![]),
        (page("Open the locker now", "success", 1234, true), vec![over("open", "/label", json!("Tried"))]),
        (page("Open the locker now", "success", 1234, true), vec![]),
        (page("A", "danger", 1, false), vec![]),
        (
            page("A", "danger", 1, false),
            vec![over("title", "/text", json!("Überschrift, lang genug für zwei"))],
        ),
        (page("Open", "neutral", 4, true), vec![]),
    ];
    let mut host = Host::with_kit();
    for (number, (instances, overrides)) in steps.into_iter().enumerate() {
        host.show(instances.clone(), overrides.clone());
        let mut fresh = Host::with_kit();
        fresh.show(instances.clone(), overrides.clone());
        assert!(host.pixels == fresh.pixels, "step {number}");
        assert_eq!(host.instances, fresh.instances, "step {number}");
        // Hover, press, release, type and scroll. One round is enough, because each step needs its own session.
        if number != 2 {
            continue;
        }
        let ((x, y), code) = (host.centre("open"), host.centre("code"));
        let (at_code, typed) = (
            PreviewInputEvent::Press { x: code.0, y: code.1 + 8.0 },
            PreviewInputEvent::Type { text: "12".into() },
        );
        let inputs = [
            PreviewInputEvent::Move { x, y },
            PreviewInputEvent::Press { x, y },
            PreviewInputEvent::Release { x, y },
            at_code,
            typed,
            PreviewInputEvent::Scroll { dy: 37.0 },
            PreviewInputEvent::Leave,
        ];
        for end in 1..=inputs.len() {
            host.input(vec![inputs[end - 1].clone()]);
            let mut fresh = Host::with_kit();
            fresh.show(instances.clone(), overrides.clone());
            for event in &inputs[..end] {
                fresh.input(vec![event.clone()]);
            }
            assert!(host.pixels == fresh.pixels, "step {number}, after {:?}", inputs[end - 1]);
        }
        host.send(ToPreview::Reset);
    }
}

/// Hostile files and values are reported or bounded, and the page beside them is drawn unchanged.
#[test]
fn a_hostile_set_beside_the_kit_leaves_the_page_as_it_is() {
    let page = || vec![instance("open", "ui.button", None, json!({"label": "Open"}))];
    let mut quiet = Host::with_kit();
    quiet.show(page(), vec![]);
    let mut host = Host::with_kit();
    let nodes = vec!["{ type: box }"; 100_000].join(", ");
    let laughs = format!("'a'{}", "|replace('a', 'aaaaaaaaaaaaaaaa')".repeat(12));
    let files = [
        ("large", component("x.large", &format!("view: {{ type: text, text: {} }}", "x".repeat(10 << 20)))),
        ("many", component("x.many", &format!("view: {{ type: box, children: [{nodes}] }}"))),
        ("laughs", component("x.laughs", &format!("view: {{ type: text, text: \"={laughs}\" }}"))),
        ("infinite", component("x.infinite", "view: { type: box, style: { width: .inf, height: .nan } }")),
        (
            "deceptive",
            component("x.deceptive", "view: { type: text, text: \"pay \u{202e}gro.elpmaxe\u{200b}\" }"),
        ),
        ("circle", component("x.circle", "view: { type: component, component: x.circle }")),
    ];
    for (name, text) in &files {
        let file = format!("{name}.component.yaml");
        host.session.handle_message(ToPreview::Component { file, text: text.clone() }, None).unwrap();
    }
    host.show(page(), vec![]);
    assert!(host.pixels == quiet.pixels);
    for (name, _) in files {
        let named = host.problems.iter().any(|problem| problem.file.starts_with(name));
        assert!(named || name == "laughs", "{name}: {:?}", host.problems);
    }
    assert!(host.problems.iter().all(|problem| problem.message.len() < 4_000));
    // The same through values of props and overrides.
    let deceptive = format!("pay \u{202e}\u{2066}{}\u{200b}", "wide ".repeat(200_000));
    let props = json!({"label": deceptive, "size": 1e308});
    host.show(
        vec![
            instance("open", "ui.button", None, props),
            instance("laughs", "x.laughs", None, json!({})),
            instance("\u{202e}gone", "x.nothing\u{200b}", None, json!({})),
        ],
        vec![SceneOverride {
            instance: "open".into(),
            path: JsonPointer::parse("/label").unwrap(),
            value: json!(vec!["\u{200b}"; 10_000]),
        }],
    );
    assert_eq!(host.frames, 2);
    assert!(host.problems.iter().any(|problem| problem.instance.as_deref() == Some("laughs")));
    host.show(page(), vec![]);
    assert!(host.pixels == quiet.pixels, "and nothing of it stays");
}

/// Typing edits a field at the caret and replaces the selection.
#[test]
fn a_field_is_edited_in_the_middle() {
    let text = component("x.field", "view: { type: input, value: abc, style: { width: 200 } }");
    let mut host = Host::new(&[("f.component.yaml", &text)]);
    host.show(vec![instance("f", "x.field", None, json!({}))], vec![]);
    let (x, y) = host.centre("f");
    host.input(vec![PreviewInputEvent::Press { x, y }, PreviewInputEvent::Release { x, y }]);
    let value = |messages: &[FromPreview]| {
        let changed = messages.iter().rev().find_map(|message| match message {
            FromPreview::Action { action, value, .. } if action == "change" => {
                value.as_str().map(str::to_owned)
            }
            _ => None,
        });
        changed.unwrap()
    };
    let key = |key: PreviewEditKey| PreviewInputEvent::Key { key };
    let typed = |text: &str| PreviewInputEvent::Type { text: text.into() };
    use PreviewEditKey::{Backspace, Delete, End, Home, Left, SelectAll, SelectHome, SelectLeft};
    assert_eq!(value(&host.input(vec![key(Left), typed("X")])), "abXc");
    assert_eq!(value(&host.input(vec![key(Backspace)])), "abc");
    assert_eq!(value(&host.input(vec![key(Home), key(Delete)])), "bc");
    let before = host.pixels.clone();
    host.input(vec![key(End), key(SelectLeft)]);
    assert_ne!(host.pixels, before, "what is selected is seen");
    assert_eq!(value(&host.input(vec![typed("YZ")])), "bYZ");
    assert_eq!(value(&host.input(vec![key(SelectHome), key(Delete)])), "");
    assert_eq!(value(&host.input(vec![typed("abc"), key(SelectAll), typed("Q")])), "Q");
    assert!(
        host.input(vec![key(Home), key(Backspace)]).iter().all(|m| !matches!(m, FromPreview::Action { .. }))
    );
}

#[test]
fn arrows_choose_in_a_select_and_end_at_its_ends() {
    let text = component("x.choice", "view: { type: select, options: [a, b], style: { width: 200 } }");
    let mut host = Host::new(&[("c.component.yaml", &text)]);
    host.show(vec![instance("c", "x.choice", None, json!({}))], vec![]);
    host.input(vec![PreviewInputEvent::Key { key: PreviewEditKey::Tab }]);
    let mut chosen = |key: PreviewEditKey| {
        let messages = host.input(vec![PreviewInputEvent::Key { key }]);
        messages.iter().find_map(|message| match message {
            FromPreview::Action { value, .. } => value.as_str().map(str::to_owned),
            _ => None,
        })
    };
    assert_eq!(chosen(PreviewEditKey::Down).as_deref(), Some("a"));
    assert_eq!(chosen(PreviewEditKey::Down).as_deref(), Some("b"));
    assert_eq!(chosen(PreviewEditKey::Down), None);
    assert_eq!(chosen(PreviewEditKey::Up).as_deref(), Some("a"));
}
