//! Sample values that satisfy the rules of a property.

use authority::{Snapshot, check_prop};
use shared_protocol::{
    TypeDef, Value,
    registry::{PropDef, PropKind},
};
use std::{collections::BTreeMap, sync::Arc};
use terraform::schema::{AttributeKind, BlockSchema, SchemaEntry, schemas};

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

pub(super) fn sample(snapshot: &Snapshot, def: &TypeDef, prop: &PropDef) -> Value {
    let takes = |value: &Value| check_prop(snapshot.registry(), def, &prop.key, value).is_ok();
    let candidates: Vec<Value> = match prop.kind {
        PropKind::Select => vec![Value::text(prop.options[0].value.clone())],
        PropKind::Multiselect => vec![Value::List(vec![Value::text(prop.options[0].value.clone())])],
        PropKind::Boolean => vec![Value::Bool(true)],
        PropKind::Number => {
            let least = prop.min.unwrap_or(1.0).max(1.0);
            vec![Value::number(least).unwrap(), Value::number(prop.max.unwrap_or(1.0)).unwrap()]
        }
        PropKind::Cidr => vec![Value::text("10.0.0.0/24")],
        PropKind::List => TEXTS.iter().map(|text| Value::List(vec![Value::text(*text)])).collect(),
        PropKind::Tags | PropKind::Object => {
            vec![Value::Object(BTreeMap::from([(Arc::from("Team"), Value::text("shop"))]))]
        }
        PropKind::Json => vec![json(def, prop)],
        _ => {
            let hint = Some(prop.placeholder.as_str()).filter(|text| !text.is_empty());
            hint.into_iter().chain(TEXTS).map(Value::text).collect()
        }
    };
    candidates
        .into_iter()
        .find(|value| takes(value))
        .unwrap_or_else(|| panic!("no sample for {}.{}", def.id, prop.key))
}

fn json(def: &TypeDef, prop: &PropDef) -> Value {
    let schema = def.terraform_types().next().and_then(|terraform| schemas().get(terraform));
    match schema.and_then(|schema| schema.find(prop.argument())) {
        Some(SchemaEntry::Block(block)) => Value::List(vec![object(block)]),
        _ if prop.argument().ends_with("[]") => Value::List(Vec::new()),
        _ if prop.key.as_str() == "container_definitions" => {
            Value::parse_json(r#"[{"name":"app","image":"example/app:1","essential":true}]"#).unwrap()
        }
        _ => Value::parse_json(r#"{"Version":"2012-10-17","Statement":[]}"#).unwrap(),
    }
}

/// Returns an object with all required values of a block.
fn object(schema: &BlockSchema) -> Value {
    let attributes = schema.attributes.iter().filter(|(_, attribute)| attribute.required);
    let mut fields: BTreeMap<Arc<str>, Value> = attributes
        .map(|(name, attribute)| {
            let value = match attribute.kind {
                AttributeKind::Number => Value::from(1),
                AttributeKind::Boolean => Value::Bool(true),
                AttributeKind::Texts => Value::List(vec![Value::text("example")]),
                AttributeKind::Numbers => Value::List(vec![Value::from(1)]),
                AttributeKind::Map => Value::Object(BTreeMap::new()),
                AttributeKind::Text | AttributeKind::Any => Value::text("example"),
            };
            (Arc::from(name.as_str()), value)
        })
        .collect();
    for (name, block) in schema.blocks.iter().filter(|(_, block)| block.required) {
        fields.insert(Arc::from(name.as_str()), Value::List(vec![object(block)]));
    }
    Value::Object(fields)
}
