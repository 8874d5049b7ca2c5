//! Sample values that satisfy the rules of a property.

use authority::{Snapshot, check_prop};
use shared_protocol::{
    PropValue, TypeDef,
    registry::{PropDef, PropKind},
};
use std::{collections::BTreeMap, sync::Arc};
use terraform::schema::{BlockSchema, ProviderAttributeKind, ProviderSchemaEntry, schemas};

const TEXTS: [&str; 22] = [
    "example",
    "Example1",
    "example-one",
    "00000000-0000-0000-0000-000000000000",
    "10.0.1.10",
    "westeurope",
    "P14D",
    "PT1M",
    "arn:aws:iam::123456789012:role/example",
    "ami-0123456789abcdef0",
    "t3.micro",
    "db.t3.micro",
    "cache.t3.micro",
    "example.com",
    "admin@example.com",
    "https://example.com",
    "1.33",
    "long-enough-password-1",
    "2030-01-01T00:00:00Z",
    "/healthz",
    "example/web:1.0",
    "10.0.0.0/24",
];

pub(super) fn sample(snapshot: &Snapshot, def: &TypeDef, prop: &PropDef) -> PropValue {
    let takes = |value: &PropValue| check_prop(snapshot.registry(), def, &prop.key, value).is_ok();
    let candidates: Vec<PropValue> = match prop.kind {
        PropKind::Select => vec![PropValue::text(prop.options[0].value.clone())],
        PropKind::Multiselect => vec![PropValue::List(vec![PropValue::text(prop.options[0].value.clone())])],
        PropKind::Boolean => vec![PropValue::Bool(true)],
        PropKind::Number => {
            let least = prop.min.unwrap_or(1.0).max(1.0);
            vec![PropValue::number(least).unwrap(), PropValue::number(prop.max.unwrap_or(1.0)).unwrap()]
        }
        PropKind::Cidr => vec![PropValue::text("10.0.0.0/24")],
        PropKind::List => TEXTS.iter().map(|text| PropValue::List(vec![PropValue::text(*text)])).collect(),
        PropKind::Tags | PropKind::Object => {
            vec![PropValue::Object(BTreeMap::from([(Arc::from("Team"), PropValue::text("shop"))]))]
        }
        PropKind::Json => vec![json(def, prop)],
        _ => {
            let hint = Some(prop.placeholder.as_str()).filter(|text| !text.is_empty());
            hint.into_iter().chain(TEXTS).map(PropValue::text).collect()
        }
    };
    candidates
        .into_iter()
        .find(|value| takes(value))
        .unwrap_or_else(|| panic!("no sample for {}.{}", def.id, prop.key))
}

fn json(def: &TypeDef, prop: &PropDef) -> PropValue {
    let schema = def.terraform_types().next().and_then(|terraform| schemas().get(terraform));
    match schema.and_then(|schema| schema.find(prop.argument())) {
        Some(ProviderSchemaEntry::Block(block)) => PropValue::List(vec![object(block)]),
        _ if prop.argument().ends_with("[]") => PropValue::List(Vec::new()),
        _ if prop.key.as_str() == "container_definitions" => {
            PropValue::parse_json(r#"[{"name":"app","image":"example/app:1","essential":true}]"#).unwrap()
        }
        _ => PropValue::parse_json(r#"{"Version":"2012-10-17","Statement":[]}"#).unwrap(),
    }
}

/// Returns an object with all required values of a block.
fn object(schema: &BlockSchema) -> PropValue {
    let attributes = schema.attributes.iter().filter(|(_, attribute)| attribute.required);
    let mut fields: BTreeMap<Arc<str>, PropValue> = attributes
        .map(|(name, attribute)| {
            let value = match attribute.kind {
                ProviderAttributeKind::Number => PropValue::from(1),
                ProviderAttributeKind::Boolean => PropValue::Bool(true),
                ProviderAttributeKind::Texts => PropValue::List(vec![PropValue::text("example")]),
                ProviderAttributeKind::Numbers => PropValue::List(vec![PropValue::from(1)]),
                ProviderAttributeKind::Map => PropValue::Object(BTreeMap::new()),
                ProviderAttributeKind::Text | ProviderAttributeKind::Any => PropValue::text("example"),
            };
            (Arc::from(name.as_str()), value)
        })
        .collect();
    for (name, block) in schema.blocks.iter().filter(|(_, block)| block.required) {
        fields.insert(Arc::from(name.as_str()), PropValue::List(vec![object(block)]));
    }
    PropValue::Object(fields)
}
