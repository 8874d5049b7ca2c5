//! The effective types as a v0 component registry.

use super::MAX_RESOURCE_BYTES;
use crate::escape::escape_hidden;
use crate::escape::escape_hidden_json;
use authority::Snapshot;
use serde_json::{Value, json};
use shared_protocol::{
    TypeDef,
    registry::{ExposureLevel, PropDef, PropKind},
};

pub(super) fn registry(snapshot: &Snapshot) -> Value {
    let (mut components, mut bytes, mut left_out) = (serde_json::Map::new(), 0, 0);
    for def in snapshot.registry().types() {
        let entry = component(def);
        bytes += entry.to_string().len() + def.id.as_str().len() + 4;
        if bytes > MAX_RESOURCE_BYTES {
            left_out += 1;
        } else {
            components.insert(def.id.to_string(), entry);
        }
    }
    let mut registry = json!({ "schemaVersion": "v0", "components": components });
    if left_out > 0 {
        let status = format!("truncated: {left_out} types omitted; call get_available_resource_types");
        registry["status"] = json!(status);
    }
    registry
}

fn component(def: &TypeDef) -> Value {
    let props: serde_json::Map<String, Value> = def
        .props
        .iter()
        .enumerate()
        .map(|(order, prop)| (prop.key.to_string(), definition(prop, order)))
        .collect();
    let mut entry = json!({
        "typeId": def.id, "displayName": escape_hidden(&def.title), "tags": [escape_hidden(&def.category)], "props": props,
    });
    if !def.description.is_empty() {
        entry["description"] = json!(escape_hidden(&def.description));
    }
    entry
}

fn definition(prop: &PropDef, order: usize) -> Value {
    let mut entry = json!({ "propName": prop.key, "label": escape_hidden(&prop.label), "order": order, "exposure": exposure(prop) });
    for (key, text) in [("description", &prop.description), ("group", &prop.group)] {
        if !text.is_empty() {
            entry[key] = json!(escape_hidden(text));
        }
    }
    entry
}

fn exposure(prop: &PropDef) -> Value {
    match prop.exposure {
        ExposureLevel::Opaque => json!({ "kind": "opaque", "reason": escape_hidden(&prop.reason) }),
        ExposureLevel::ReadOnly => json!({ "kind": "inspectOnly", "displayHint": "summary" }),
        // v0 has no control for references to nodes.
        ExposureLevel::Editable if prop.kind == PropKind::Reference => {
            json!({ "kind": "inspectOnly", "displayHint": "summary" })
        }
        ExposureLevel::Editable => {
            let mut exposure = json!({ "kind": "editable", "control": control(prop) });
            if let Some(default) = prop.default.as_ref().filter(|_| !prop.sensitive) {
                exposure["uiDefaultValue"] =
                    escape_hidden_json(serde_json::to_value(default).unwrap_or_default());
            }
            if let Some(constraints) = constraints(prop) {
                exposure["constraints"] = constraints;
            }
            exposure
        }
    }
}

fn constraints(prop: &PropDef) -> Option<Value> {
    let mut constraints = serde_json::Map::new();
    if prop.required {
        constraints.insert("required".to_owned(), json!(true));
    }
    for (key, number) in [("min", prop.min), ("max", prop.max)] {
        if let Some(number) = number {
            constraints.insert(key.to_owned(), json!(number));
        }
    }
    if let Some(pattern) = &prop.pattern {
        constraints.insert("pattern".to_owned(), json!(pattern));
    }
    (!constraints.is_empty()).then_some(Value::Object(constraints))
}

fn control(prop: &PropDef) -> Value {
    match prop.kind {
        PropKind::Multiline => json!({ "kind": "string", "multiline": true }),
        PropKind::Text | PropKind::Cidr => match prop.placeholder.as_str() {
            "" => json!({ "kind": "string" }),
            placeholder => json!({ "kind": "string", "placeholder": escape_hidden(placeholder) }),
        },
        PropKind::Number => {
            let mut control = json!({ "kind": "number" });
            if let Some(step) = prop.step {
                control["step"] = json!(step);
            }
            if !prop.unit.is_empty() {
                control["unit"] = json!(escape_hidden(&prop.unit));
            }
            control
        }
        PropKind::Boolean => json!({ "kind": "boolean" }),
        PropKind::Select => {
            let option = |choice: &shared_protocol::registry::OptionDef| json!({ "value": choice.value, "label": escape_hidden(&choice.label) });
            json!({ "kind": "select", "options": prop.options.iter().map(option).collect::<Vec<_>>() })
        }
        PropKind::Colour => json!({ "kind": "color", "format": "hex" }),
        PropKind::Slot => json!({ "kind": "slot" }),
        PropKind::Multiselect
        | PropKind::Tags
        | PropKind::List
        | PropKind::Object
        | PropKind::Json
        | PropKind::Reference => json!({ "kind": "json" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use authority::TypeRegistry;
    use serde::Deserialize;
    use shared_protocol::v0::{PropExposure, SchemaVersion};
    use std::{collections::BTreeMap, sync::Arc};

    /// The registry of v0 as far as Draftboard fills it.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct ComponentRegistry {
        #[serde(rename = "schemaVersion")]
        _schema_version: SchemaVersion,
        components: BTreeMap<String, ComponentRegistryEntry>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct ComponentRegistryEntry {
        type_id: String,
        #[serde(rename = "displayName")]
        _display_name: String,
        #[serde(rename = "tags")]
        _tags: Vec<String>,
        #[serde(default, rename = "description")]
        _description: String,
        props: BTreeMap<String, PropDefinition>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct PropDefinition {
        prop_name: String,
        #[serde(rename = "label")]
        _label: String,
        #[serde(default, rename = "description")]
        _description: String,
        #[serde(default, rename = "group")]
        _group: String,
        #[serde(rename = "order")]
        _order: u64,
        #[serde(rename = "exposure")]
        _exposure: PropExposure,
    }

    #[test]
    fn the_built_in_types_make_a_valid_v0_registry() {
        let registry = TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new());
        let value = super::registry(&Snapshot::new(Arc::new(registry)));
        let read: ComponentRegistry = serde_json::from_value(value.clone()).unwrap();
        assert!(read.components.len() > 40);
        for (id, entry) in &read.components {
            assert_eq!(*id, entry.type_id);
            assert!(entry.props.iter().all(|(name, prop)| *name == prop.prop_name), "{id}");
        }
        assert!(value.get("status").is_none());
        let wire = serde_json::to_string(&value.to_string()).unwrap();
        assert!(wire.len() < 1 << 20, "{}", wire.len());
    }
}
