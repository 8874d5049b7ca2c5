//! Parses props with their controls, and variants.

use super::fields::{MappingFields, check_text, closest_word, display_text};
use crate::{
    Colour, ComponentProp, ComponentVariant, MAX_PROPS, MAX_VARIANTS, SourcePosition,
    limits::{MAX_NAME_CHARS, MAX_OPTIONS},
    problem::ProblemCollector,
    source::{SourceNode, SourceValue},
};
use serde_json::{Map, Value, json};
use shared_protocol::text::capitalize;
use shared_protocol::v0::{ControlDefinition, PropConstraints, PropExposure};

/// The control kinds, with the keys that each accepts besides `kind`.
const CONTROLS: &[(&str, &[&str])] = &[
    ("string", &["placeholder", "multiline"]),
    ("number", &["step", "unit"]),
    ("boolean", &[]),
    ("select", &["options"]),
    ("color", &["format"]),
    ("slot", &["slotName", "editable"]),
    ("json", &[]),
];

pub(super) fn props(source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Vec<ComponentProp> {
    let SourceValue::Map(entries) = &source.data else {
        findings.add_mismatch(source, "`props`", "a mapping of names to props");
        return Vec::new();
    };
    if entries.len() > MAX_PROPS {
        findings.add(
            source.place,
            format!("{} props, more than the {MAX_PROPS} allowed", entries.len()),
            "fewer",
        );
        return Vec::new();
    }
    let mut props = Vec::new();
    for (key, value) in entries {
        if is_name(&key.text) {
            props.extend(prop(&key.text, key.place, value, findings));
        } else {
            let message = format!("{:.60?} is not a valid prop name", key.text);
            findings.add(key.place, message, "a letter, then letters, digits or _");
        }
    }
    props
}

/// Returns whether an expression can use a text as a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_CHARS
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn prop(
    name: &str,
    place: SourcePosition,
    source: &SourceNode,
    findings: &mut ProblemCollector<'_>,
) -> Option<ComponentProp> {
    let mut fields = MappingFields::from_source(source, "a prop", findings)?;
    let control = fields.take_field("control");
    let exposure = fields.take_field("exposure");
    let constraints = fields.take_field("constraints").and_then(|source| constraints(source, findings));
    let label = fields.take_field("label").and_then(|source| display_text(source, "`label`", findings));
    let description =
        fields.take_field("description").and_then(|source| display_text(source, "`description`", findings));
    let group = fields.take_field("group").and_then(|source| display_text(source, "`group`", findings));
    let order = fields.take_field("order").and_then(|source| match source.data {
        SourceValue::Number(order) => Some(order),
        _ => {
            findings.add_mismatch(source, "`order`", "a number");
            None
        }
    });
    let default = fields.take_field("default");
    fields.finish("a prop", findings);
    let exposure = match (control, exposure) {
        (Some(source), None) => {
            PropExposure::Editable { control: control_of(source, findings)?, constraints }
        }
        (None, Some(source)) => exposure_of(source, findings)?,
        (None, None) => {
            let message = format!("the prop `{name}` has neither `control` nor `exposure`");
            findings.add(place, message, "one of them");
            return None;
        }
        (Some(_), Some(source)) => {
            let message = "the prop has both `control` and `exposure`";
            findings.add(source.place, message, "only `control`, which makes it editable");
            return None;
        }
    };
    let prop = ComponentProp {
        name: name.to_owned(),
        label: label.map(str::to_owned),
        description: description.map(str::to_owned),
        group: group.map(str::to_owned),
        order,
        exposure,
        default: None,
        place,
    };
    let default = default.filter(|source| check_value(&prop, source, findings)).map(SourceNode::to_json);
    Some(ComponentProp { default, ..prop })
}

fn control_of(source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Option<ControlDefinition> {
    let kinds: Vec<&str> = CONTROLS.iter().map(|(kind, _)| *kind).collect();
    let one_of = format!("one of {}", kinds.join(", "));
    // The short form: the kind alone.
    if let SourceValue::Text(kind) = &source.data {
        if kind != "select" && kinds.contains(&kind.as_str()) {
            return decode(&json!({ "kind": kind }), source.place, findings);
        }
        findings.add(
            source.place,
            format!("`{kind:.40}` alone is not a control"),
            format!("{one_of}, or a mapping with `kind`"),
        );
        return None;
    }
    let SourceValue::Map(entries) = &source.data else {
        findings.add_mismatch(source, "`control`", one_of);
        return None;
    };
    let kind = entries.iter().find(|(key, _)| key.text == "kind").map(|(_, value)| value);
    let known = match kind {
        Some(SourceNode { data: SourceValue::Text(kind), .. }) => {
            CONTROLS.iter().find(|(name, _)| name == kind)
        }
        _ => None,
    };
    let Some((kind, keys)) = known else {
        findings.add(kind.map_or(source.place, |kind| kind.place), "unknown control kind", one_of);
        return None;
    };
    for (key, _) in entries {
        if key.text != "kind" && !keys.contains(&key.text.as_str()) {
            let expected = if keys.is_empty() {
                "only `kind`".to_owned()
            } else {
                format!("one of {}", keys.join(", "))
            };
            findings.add(
                key.place,
                format!("unknown key `{:.40}` in the control `{kind}`", key.text),
                expected,
            );
            return None;
        }
    }
    let mut json = source.to_json();
    if *kind == "select" {
        options(
            entries.iter().find(|(key, _)| key.text == "options").map(|(_, value)| value),
            &mut json,
            source.place,
            findings,
        )?;
    }
    decode(&json, source.place, findings)
}

/// Parses options. A plain string is both the value and, capitalised, the label.
fn options(
    source: Option<&SourceNode>,
    json: &mut Value,
    place: SourcePosition,
    findings: &mut ProblemCollector<'_>,
) -> Option<()> {
    let expected = "a list of options, each a string or { value, label }";
    let Some(SourceNode { data: SourceValue::List(items), .. }) = source else {
        findings.add(
            source.map_or(place, |source| source.place),
            "the select control has no `options`",
            expected,
        );
        return None;
    };
    if items.is_empty() || items.len() > MAX_OPTIONS {
        findings.add(
            place,
            format!("the select control has {} options", items.len()),
            format!("1 to {MAX_OPTIONS} options"),
        );
        return None;
    }
    let mut options = Vec::new();
    for item in items {
        options.push(match &item.data {
            SourceValue::Text(value) => json!({ "value": value, "label": capitalize(value) }),
            SourceValue::Map(_) => {
                let mut fields = MappingFields::from_source(item, "an option", findings)?;
                let value = display_text(fields.require("value", expected, findings)?, "`value`", findings)?;
                let label = display_text(fields.require("label", expected, findings)?, "`label`", findings)?;
                let mut option = json!({ "value": value, "label": label });
                if let Some(description) = fields.take_field("description") {
                    option["description"] =
                        Value::from(display_text(description, "`description`", findings)?);
                }
                fields.finish("an option", findings);
                option
            }
            _ => {
                findings.add_mismatch(item, "an option", expected);
                return None;
            }
        });
    }
    json["options"] = Value::Array(options);
    Some(())
}

fn exposure_of(source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Option<PropExposure> {
    let expected = "inspectOnly or opaque; a prop with `control` is editable";
    let json = match &source.data {
        SourceValue::Text(kind) if kind == "inspectOnly" || kind == "opaque" => json!({ "kind": kind }),
        SourceValue::Map(_) => {
            let mut fields = MappingFields::from_source(source, "`exposure`", findings)?;
            let kind = display_text(fields.require("kind", expected, findings)?, "`kind`", findings)?;
            if kind != "inspectOnly" && kind != "opaque" {
                findings.add(source.place, format!("`{kind:.40}` is not a valid exposure"), expected);
                return None;
            }
            if kind == "inspectOnly" {
                fields.take_field("displayHint")
            } else {
                fields.take_field("reason")
            };
            fields.finish("`exposure`", findings);
            source.to_json()
        }
        _ => {
            findings.add_mismatch(source, "`exposure`", expected);
            return None;
        }
    };
    decode(&json, source.place, findings)
}

fn constraints(source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Option<PropConstraints> {
    let mut fields = MappingFields::from_source(source, "`constraints`", findings)?;
    for key in ["required", "min", "max", "pattern"] {
        fields.take_field(key);
    }
    fields.finish("`constraints`", findings);
    decode(&source.to_json(), source.place, findings)
}

fn decode<T: for<'de> serde::Deserialize<'de>>(
    json: &Value,
    place: SourcePosition,
    findings: &mut ProblemCollector<'_>,
) -> Option<T> {
    match serde_json::from_value(json.clone()) {
        Ok(decoded) => Some(decoded),
        Err(error) => {
            findings.add(place, error.to_string(), "a valid value");
            None
        }
    }
}

fn check_value(prop: &ComponentProp, source: &SourceNode, findings: &mut ProblemCollector<'_>) -> bool {
    let PropExposure::Editable { control, .. } = &prop.exposure else { return true };
    let expected = match (control, &source.data) {
        (ControlDefinition::String { .. }, SourceValue::Text(text)) => {
            return check_text(text, source.place, "the string", findings);
        }
        (ControlDefinition::String { .. }, _) => "a string".to_owned(),
        (ControlDefinition::Number { .. }, SourceValue::Number(_))
        | (ControlDefinition::Boolean, SourceValue::Bool(_)) => {
            return true;
        }
        (ControlDefinition::Number { .. }, _) => "a number".to_owned(),
        (ControlDefinition::Boolean, _) => "true or false".to_owned(),
        (ControlDefinition::Select { options }, data) => {
            if let SourceValue::Text(text) = data
                && options.iter().any(|option| option.value == *text)
            {
                return true;
            }
            let values: Vec<&str> = options.iter().map(|option| option.value.as_str()).collect();
            format!("one of {}", values.join(", "))
        }
        (ControlDefinition::Color { .. }, SourceValue::Text(text))
            if text.is_empty() || Colour::parse(text).is_some() =>
        {
            return true;
        }
        (ControlDefinition::Color { .. }, _) => {
            "a colour such as #2b6cb0, or a token such as primary".to_owned()
        }
        (ControlDefinition::Slot { .. }, _) => "no value; fill the slot with instances".to_owned(),
        (ControlDefinition::Json, _) => return true,
    };
    findings.add_mismatch(source, &format!("the prop `{}`", prop.name), expected);
    false
}

pub(super) fn variants(
    source: &SourceNode,
    props: &[ComponentProp],
    findings: &mut ProblemCollector<'_>,
) -> Vec<ComponentVariant> {
    let SourceValue::List(items) = &source.data else {
        findings.add_mismatch(source, "`variants`", "a list of { id, title, props }");
        return Vec::new();
    };
    if items.len() > MAX_VARIANTS {
        findings.add(
            source.place,
            format!("{} variants, more than the {MAX_VARIANTS} allowed", items.len()),
            "fewer",
        );
        return Vec::new();
    }
    let mut variants: Vec<ComponentVariant> = Vec::new();
    for item in items {
        if let Some(variant) = variant(item, props, findings) {
            if variants.iter().any(|other| other.id == variant.id) {
                findings.add(item.place, format!("duplicate variant id `{}`", variant.id), "each id once");
            }
            variants.push(variant);
        }
    }
    variants
}

fn variant(
    source: &SourceNode,
    props: &[ComponentProp],
    findings: &mut ProblemCollector<'_>,
) -> Option<ComponentVariant> {
    let mut fields = MappingFields::from_source(source, "a variant", findings)?;
    let id_source = fields.require("id", "an id such as primary", findings);
    let title = fields.take_field("title").and_then(|source| display_text(source, "`title`", findings));
    let set = fields.take_field("props");
    fields.finish("a variant", findings);
    let id = display_text(id_source?, "`id`", findings)?;
    if !id.starts_with(|c: char| c.is_ascii_alphanumeric())
        || id.len() > MAX_NAME_CHARS
        || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    {
        findings.add(
            id_source?.place,
            format!("{id:.60?} is not a valid variant id"),
            "letters, digits, - and _",
        );
        return None;
    }
    let mut values = Map::new();
    if let Some(set) = set {
        let SourceValue::Map(entries) = &set.data else {
            findings.add_mismatch(set, "`props`", "a mapping of props to values");
            return None;
        };
        let names: Vec<&str> = props.iter().map(|prop| prop.name.as_str()).collect();
        for (key, value) in entries {
            let Some(prop) = props.iter().find(|prop| prop.name == key.text) else {
                findings.add(
                    key.place,
                    format!("the component has no prop `{:.40}`", key.text),
                    one_of_props(&key.text, &names),
                );
                continue;
            };
            if check_value(prop, value, findings) {
                values.insert(key.text.clone(), value.to_json());
            }
        }
    }
    let title = title.map_or_else(|| id.to_owned(), str::to_owned);
    Some(ComponentVariant { id: id.to_owned(), title, props: values, place: source.place })
}

pub(super) fn one_of_props(word: &str, names: &[&str]) -> String {
    match closest_word(word, names) {
        Some(near) => format!("`{near}`"),
        None if names.is_empty() => "a prop that is declared under `props`".to_owned(),
        None => format!("one of {}", names.join(", ")),
    }
}
