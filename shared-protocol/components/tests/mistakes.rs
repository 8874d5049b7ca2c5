//! Every mistake is reported with its position and the expected value.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use components::{ComponentLibrary, read};
use serde_json::json;

/// A component with this view, and one prop of each kind.
fn file(view: &str) -> String {
    let indented: String = view.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "format: 1\nid: ui.test\ntitle: Test\nprops:\n  title: {{ control: string, default: Hi }}\n  size: {{ control: number }}\n  children: {{ control: slot }}\nview:\n{indented}"
    )
}

/// Returns the only problem of a file as displayed.
fn only(file: &str, text: &str) -> String {
    let problems = read(file, text).unwrap_err();
    assert_eq!(problems.0.len(), 1, "{problems}");
    problems.to_string()
}

fn check(view: &str, expected: &[&str]) {
    let found = only("x.component.yaml", &file(view));
    for part in expected {
        assert!(found.contains(part), "{part:?} is not in {found}");
    }
}

#[test]
fn a_good_file_is_read() {
    let component = read(
        "x.component.yaml",
        &file("type: column\nstyle: { gap: 2, padding: [1, 2], background: '=props.title' }\nchildren:\n  - { type: text, text: =props.title }\n  - { type: slot }"),
    )
    .unwrap();
    assert_eq!(
        (component.id.as_str(), component.props.len(), component.view.children.len()),
        ("ui.test", 3, 2)
    );
}

#[test]
fn nodes() {
    check(
        "type: colum\nchildren: []",
        &["x.component.yaml:9:9: unknown node type `colum`; expected `column`"],
    );
    check("type: text", &["x.component.yaml:9:3: `text` is missing; expected the text to show"]);
    check("type: text\ntext: a\nchildren: []", &[":11:3: unknown key `children` in `text`"]);
    check("children: []", &[":9:3: `type` is missing; expected one of box, row"]);
    check(
        "type: box\nchildren: { type: text }",
        &[":10:13: found a mapping for `children`; expected a list of nodes"],
    );
    check("type: box\nchildren:\n  - 3", &[":11:7: found a number for a node; expected a mapping"]);
    check(
        "type: slot\nslot: footer",
        &[":10:9: unknown slot `footer`; expected the name of a prop whose control"],
    );
    check("type: each\nitems: [1]\nas: props", &[":11:7", "is not a valid name"]);
    check("type: component\ncomponent: 1x", &[":10:14", "is not a valid component id"]);
}

#[test]
fn styles() {
    check("type: box\nstyle: { color: red }", &[":10:12: unknown style `color`; expected `colour`"]);
    check(
        "type: box\nstyle: { background: red }",
        &[":10:24: \"red\" is not valid for the style `background`; expected a colour token"],
    );
    check("type: box\nstyle: { padding: [1, 2, 3] }", &["expected one number, [vertical, horizontal]"]);
    check("type: box\nstyle: { padding: -1 }", &["-1 is not valid for", "from 0 to 64"]);
    check("type: box\nstyle: { width: 1e9 }", &["points from 0 to 10000"]);
    check(
        "type: box\nstyle: { width: .nan }",
        &["x.component.yaml:10:19: .nan is not allowed; expected a finite number"],
    );
    check("type: box\nstyle: { radius: big }", &["expected one of none, small, medium"]);
    check("type: box\nstates: { hovered: {} }", &["unknown key `hovered` in `states`; expected `hover`"]);
}

#[test]
fn expressions() {
    check(
        "type: text\ntext: =props.titel",
        &[":10:9: `=props.titel` uses `props.titel`, which is not declared; expected `title`"],
    );
    check("type: text\ntext: =item.name", &["uses `item`, which is not defined"]);
    check("type: text\ntext: =props.title|shout", &["uses the unknown filter `shout`"]);
    check("type: text\ntext: '=props.title ~'", &["fails: syntax error"]);
    check(&format!("type: text\ntext: ={}", "1+".repeat(600)), &["more than the 1000 allowed"]);
    check("type: text\ntext: \"=\\u202eprops.title\"", &["U+202E"]);
}

#[test]
fn deceptive_characters() {
    check(
        "type: text\ntext: \"a\\u202eb\"",
        &[":10:9: `text` contains the invisible character U+202E; expected a string without"],
    );
    check("type: text\ntext: \"a\\u200bb\"", &["U+200B"]);
}

#[test]
fn heads_props_and_variants() {
    let head = |text: &str| only("a.component.yaml", &format!("{text}view: {{ type: box }}\n"));
    assert!(head("id: ui.a\ntitle: A\n").contains("`format` is missing; expected format: 1"));
    assert!(head("format: 2\nid: ui.a\ntitle: A\n").contains("1:9: unsupported format version"));
    assert!(head("format: 1\nid: 1a\ntitle: A\n").contains("2:5:"));
    assert!(
        head("format: 1\nid: ui.a\ntitle: A\nprop: {}\n")
            .contains("unknown key `prop` in a component; expected `props`")
    );
    let prop = |text: &str| head(&format!("format: 1\nid: ui.a\ntitle: A\nprops:\n  p: {text}\n"));
    assert!(prop("{}").contains("has neither `control` nor `exposure`"));
    assert!(prop("{ control: text }").contains("expected one of string, number, boolean, select"));
    assert!(prop("{ control: select }").contains("or a mapping with `kind`"));
    assert!(prop("{ control: { kind: select } }").contains("has no `options`"));
    assert!(
        prop("{ control: { kind: string, rows: 3 } }")
            .contains("unknown key `rows` in the control `string`; expected one of placeholder, multiline")
    );
    assert!(
        prop("{ control: number, default: x }")
            .contains("5:34: found a string for the prop `p`; expected a number")
    );
    assert!(
        prop("{ control: { kind: select, options: [a, b] }, default: c }").contains("expected one of a, b")
    );
    assert!(prop("{ control: number, constraints: { min: 3, max: 1 } }").contains("greater than"));
    assert!(prop("{ control: string, constraints: { pattern: '(' } }").contains("pattern"));
    assert!(prop("{ control: color, default: red }").contains("a colour such as"));
    assert!(prop("{ exposure: hidden }").contains("inspectOnly or opaque"));
    let variant = |text: &str| {
        head(&format!(
            "format: 1\nid: ui.a\ntitle: A\nprops: {{ p: {{ control: number }} }}\nvariants: {text}\n"
        ))
    };
    assert!(variant("[{ id: a, props: { q: 1 } }]").contains("has no prop `q`"));
    assert!(variant("[{ id: a, props: { p: x } }]").contains("expected a number"));
    assert!(variant("[{ id: a }, { id: a }]").contains("each id once"));
}

#[test]
fn all_control_kinds_are_there() {
    let text = r##"{"format":1,"id":"ui.all","title":"All","props":{
        "a":{"control":{"kind":"string","placeholder":"p","multiline":true},"default":"x","constraints":{"required":true,"pattern":"^x"}},
        "b":{"control":{"kind":"number","step":0.5,"unit":"px"},"default":2},
        "c":{"control":{"kind":"boolean"},"default":true},
        "d":{"control":{"kind":"select","options":["one",{"value":"two","label":"Two","description":"2"}]},"default":"two"},
        "e":{"control":{"kind":"color","format":"hex"},"default":"#123456"},
        "f":{"control":{"kind":"slot","slotName":"footer","editable":false}},
        "g":{"control":{"kind":"json"},"default":[1,{"a":null}]},
        "h":{"exposure":{"kind":"inspectOnly","displayHint":"code"}},
        "i":{"exposure":{"kind":"opaque","reason":"a handler"}}},
        "view":{"type":"slot","slot":"footer"}}"##;
    let component = read("all.component.json", text).unwrap();
    let exposures = component.props.iter().map(|prop| serde_json::to_value(&prop.exposure).unwrap());
    let exposures: Vec<_> = exposures.collect();
    assert_eq!(exposures[3]["control"]["options"][0]["label"], "One");
    let kinds: Vec<_> =
        exposures.iter().filter_map(|exposure| exposure["control"]["kind"].as_str()).collect();
    assert_eq!(kinds, ["string", "number", "boolean", "select", "color", "slot", "json"]);
    assert_eq!(exposures[7]["kind"], "inspectOnly");
    assert_eq!(exposures[8], json!({ "kind": "opaque", "reason": "a handler" }));
}

#[test]
fn between_files() {
    let component = |id: &str, view: &str| format!("format: 1\nid: {id}\ntitle: T\nview: {view}\n");
    let mut library = ComponentLibrary::default();
    library.insert(
        "a.component.yaml",
        &component("ui.a", "{ type: box, children: [{ type: component, component: ui.b }] }"),
    );
    library.insert(
        "b.component.yaml",
        &component(
            "ui.b",
            "{ type: if, condition: true, then: [], else: [{ type: component, component: ui.a }] }",
        ),
    );
    library.insert("c.component.yaml", &component("ui.a", "{ type: box }"));
    library.insert("d.component.yaml", &component("ui.d", "{ type: component, component: ui.none }"));
    library.insert(
        "e.component.yaml",
        &component("ui.e", "{ type: component, component: ui.d, props: { x: 1 } }"),
    );
    library.insert("f.component.yaml", &component("ui.f", "{ type: component, component: ui.f }"));
    library.rebuild_index();
    let found: Vec<String> = library.problems().map(ToString::to_string).collect();
    let has = |part: &str| assert!(found.iter().any(|problem| problem.contains(part)), "{part}: {found:#?}");
    has("b.component.yaml:4:53: the component contains itself: ui.a → ui.b → ui.a");
    has("f.component.yaml:4:7: the component contains itself: ui.f → ui.f");
    has("c.component.yaml:1:1: `ui.a` is already the id of a.component.yaml");
    has("unknown component `ui.none`");
    has("`ui.d` has no prop `x`");
    assert_eq!(found.len(), 5, "{found:#?}");
    library.remove("b.component.yaml");
    library.remove("f.component.yaml");
    library.rebuild_index();
    assert!(library.problems().all(|problem| !problem.message.contains("itself")));
}
