//! Changes one value in the text of a component file and leaves everything else as it is, comments included.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstRootNode},
};

/// A component file that is to be edited.
pub(super) struct ComponentFileEdit<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> ComponentFileEdit<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text }
    }

    /// Returns the text with another value at a path of keys and list indices. The result must be a valid component.
    pub(super) fn with_value(&self, way: &[&str], value: &serde_json::Value) -> Result<String, String> {
        let text = if self.file.ends_with(".json") {
            set_in_json(self.text, way, value)?
        } else {
            bundles::set_in_yaml(self.text, way, value)?
        };
        match components::read(self.file, &text) {
            Ok(_) => Ok(text),
            Err(problems) => Err(problems.0.first().map_or_else(String::new, ToString::to_string)),
        }
    }
}

fn set_in_json(text: &str, way: &[&str], value: &serde_json::Value) -> Result<String, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let (last, parents) = way.split_last().ok_or("it names no place")?;
    let mut at = root.value().ok_or("the file is empty")?;
    for parent in parents {
        at = child(&at, parent).ok_or_else(|| format!("there is no `{parent}`"))?;
    }
    let object = at.as_object().ok_or_else(|| format!("`{last}` has no place"))?;
    match object.get(last) {
        Some(member) => member.set_value(input(value)),
        None => drop(object.append(last, input(value))),
    }
    Ok(root.to_string())
}

fn child(of: &CstNode, step: &str) -> Option<CstNode> {
    match of.as_array() {
        Some(list) => list.elements().into_iter().nth(step.parse().ok()?),
        None => of.as_object()?.get(step)?.value(),
    }
}

fn input(value: &serde_json::Value) -> CstInputValue {
    match value {
        serde_json::Value::Null => CstInputValue::Null,
        serde_json::Value::Bool(value) => CstInputValue::Bool(*value),
        serde_json::Value::Number(number) => CstInputValue::Number(number.to_string()),
        serde_json::Value::String(text) => CstInputValue::String(text.clone()),
        serde_json::Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        serde_json::Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_is_named_is_touched() {
        let yaml = "# mine\nformat: 1\nid: x.y\ntitle: Y\nprops:\n  label: { control: string, default: Old } # here\n  \
            size: { control: number }\nview: { type: text, text: =props.label }\n";
        let edited = ComponentFileEdit::new("components/y.component.yaml", yaml);
        let text = edited.with_value(&["props", "label", "default"], &json!("New")).unwrap();
        assert_eq!(text, yaml.replace("Old", "New"));
        let text = edited.with_value(&["props", "size", "default"], &json!(4)).unwrap();
        assert!(
            text.starts_with("# mine\n") && text.contains("# here") && text.contains("default: 4"),
            "{text}"
        );
        assert!(edited.with_value(&["props", "size", "default"], &json!("no number")).is_err());

        let json = "{\n  \"format\": 1, \"id\": \"x.y\", \"title\": \"Y\",\n  \"props\": { \"label\": { \"control\": \"string\" } },\n  \
            \"view\": { \"type\": \"text\", \"text\": \"=props.label\" }\n}\n";
        let edited = ComponentFileEdit::new("components/y.component.json", json);
        let text = edited.with_value(&["props", "label", "default"], &json!("New")).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["props"]["label"]["default"], "New");
    }

    #[test]
    fn places_in_lists_are_found_in_both_forms() {
        let yaml = "format: 1\nid: x.y\ntitle: Y\nview: # all of it\n  type: row\n  children:\n    \
            - { type: text, text: One }\n    - { type: component, component: ui.badge } # the badge\n";
        let way = ["view", "children", "1", "props"];
        let text = ComponentFileEdit::new("y.component.yaml", yaml)
            .with_value(&way, &json!({ "text": "Hot" }))
            .unwrap();
        assert!(
            text.contains("# all of it") && text.contains("# the badge") && text.contains("Hot"),
            "{text}"
        );
        let json = r#"{ "format": 1, "id": "x.y", "title": "Y", "view": { "type": "row", "children": [
            { "type": "component", "component": "ui.badge", "props": { "text": "Old" } } ] } }"#;
        let way = ["view", "children", "0", "props", "text"];
        let text = ComponentFileEdit::new("y.component.json", json).with_value(&way, &json!("Hot")).unwrap();
        assert_eq!(text, json.replace("Old", "Hot"));
        assert!(
            ComponentFileEdit::new("y.component.json", json)
                .with_value(&["view", "children", "4", "x"], &json!(1))
                .is_err()
        );
    }
}
