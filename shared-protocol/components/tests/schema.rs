//! The published JSON Schema and the parser agree.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use components::{StyleKey, TOKENS, ViewKindName, read};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../schemas/component.schema.json")).unwrap()
}

fn words<'v>(values: impl IntoIterator<Item = &'v str>) -> BTreeSet<String> {
    values.into_iter().map(str::to_owned).collect()
}

#[test]
fn the_same_words() {
    let schema = schema();
    let styles = schema["$defs"]["style"]["properties"].as_object().unwrap();
    assert_eq!(words(styles.keys().map(String::as_str)), words(StyleKey::ALL.iter().map(|key| key.name())));
    let kinds = schema["$defs"]["node"]["properties"]["type"]["enum"].as_array().unwrap();
    assert_eq!(
        words(kinds.iter().map(|kind| kind.as_str().unwrap())),
        words(ViewKindName::NAMES.iter().copied())
    );
    let tokens = schema["$defs"]["colour"]["anyOf"][0]["enum"].as_array().unwrap();
    assert_eq!(
        words(tokens.iter().map(|token| token.as_str().unwrap())),
        words(TOKENS.iter().map(|(_, name)| *name))
    );
}

#[test]
fn the_same_verdicts() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let component = |view: Value| json!({"format": 1, "id": "ui.x", "title": "X", "props": {"title": {"control": "string"}, "items": {"control": "json", "default": []}}, "view": view});
    let good = [
        component(
            json!({"type": "column", "style": {"gap": 2, "padding": [1, 2], "width": "50%", "background": "#fff", "colour": "=props.title"}, "children": [{"type": "text", "text": "=props.title"}]}),
        ),
        component(
            json!({"type": "each", "items": "=props.items", "as": "row", "children": [{"type": "text", "text": "=row"}]}),
        ),
        component(
            json!({"type": "if", "condition": "=props.title", "then": [{"type": "icon", "icon": "check"}], "else": [{"type": "checkbox", "checked": true}]}),
        ),
        component(
            json!({"type": "button", "action": "open", "disabled": false, "states": {"hover": {"background": "hover"}}, "children": []}),
        ),
        component(json!({"type": "select", "options": ["a", "b"], "value": "a"})),
        component(
            json!({"type": "component", "component": "ui.y", "props": {"a": "=props.title"}, "slots": {"footer": []}}),
        ),
    ];
    for file in good {
        let errors: Vec<String> = validator.iter_errors(&file).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        read("x.component.json", &file.to_string()).unwrap();
    }
    let bad = [
        json!({"format": 1, "id": "ui.x", "title": "X"}),
        component(json!({"type": "colum"})),
        component(json!({"type": "text"})),
        component(json!({"type": "text", "text": "x", "children": []})),
        component(json!({"type": "box", "style": {"color": "red"}})),
        component(json!({"type": "box", "style": {"gap": -1}})),
        component(json!({"type": "box", "style": {"padding": [1, 2, 3]}})),
        component(json!({"type": "box", "style": {"width": 100000}})),
        component(json!({"type": "box", "states": {"hovered": {}}})),
        component(json!({"type": "each", "children": []})),
        json!({"format": 1, "id": "ui.x", "title": "X", "props": {"a": {}}, "view": {"type": "box"}}),
        json!({"format": 1, "id": "ui.x", "title": "X", "props": {"a": {"control": "text"}}, "view": {"type": "box"}}),
        json!({"format": 2, "id": "ui.x", "title": "X", "view": {"type": "box"}}),
    ];
    for file in bad {
        assert!(!validator.is_valid(&file), "{file}");
        assert!(read("x.component.json", &file.to_string()).is_err(), "{file}");
    }
}
