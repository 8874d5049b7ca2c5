//! Parses generated files with an independent parser and checks them against the provider schemas.

use hcl_edit::{
    expr::Expression,
    structure::{Body, Structure},
};
use terraform::schema::{AttributeSchema, BlockSchema, ProviderAttributeKind, schemas};

/// Returns everything in a file that its provider would reject.
pub(crate) fn check(text: &str) -> Vec<String> {
    let body: Body = match text.parse() {
        Ok(body) => body,
        Err(error) => return vec![format!("does not parse: {error}")],
    };
    let mut findings = Vec::new();
    for block in body.blocks() {
        let kind = block.ident.as_str();
        if !matches!(kind, "resource" | "data") {
            continue;
        }
        let labels: Vec<&str> = block.labels.iter().map(|label| label.as_str()).collect();
        let name = if kind == "data" { format!("data.{}", labels[0]) } else { labels[0].to_owned() };
        match schemas().get(&name) {
            Some(schema) => check_body(&block.body, schema, &labels.join("."), &mut findings, true),
            None => findings.push(format!("{name}: no such type")),
        }
    }
    findings
}

const META: [&str; 5] = ["provider", "depends_on", "count", "for_each", "lifecycle"];

fn check_body(body: &Body, schema: &BlockSchema, path: &str, findings: &mut Vec<String>, top: bool) {
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                let name = attribute.key.as_str();
                if top && META.contains(&name) {
                    continue;
                }
                match schema.attributes.get(name) {
                    Some(found) => check_kind(&attribute.value, found, &format!("{path}.{name}"), findings),
                    None => findings.push(format!("{path}: no argument `{name}`")),
                }
            }
            Structure::Block(block) => {
                let name = block.ident.as_str();
                let inner = format!("{path}.{name}");
                match (schema.blocks.get(name), schema.attributes.get(name)) {
                    (Some(found), _) => check_body(&block.body, found, &inner, findings, false),
                    // Lists of objects may also be written as blocks.
                    (None, Some(AttributeSchema { kind: ProviderAttributeKind::Any, .. })) => {}
                    _ => findings.push(format!("{path}: no block `{name}`")),
                }
            }
        }
    }
    for (name, attribute) in &schema.attributes {
        if attribute.required && !body.has_attribute(name) {
            findings.push(format!("{path}: `{name}` is missing"));
        }
    }
    for (name, block) in &schema.blocks {
        let count = body.get_blocks(name).count();
        if block.required && count == 0 {
            findings.push(format!("{path}: block `{name}` is missing"));
        }
        if !block.many && count > 1 {
            findings.push(format!("{path}: block `{name}` stands {count} times"));
        }
    }
}

fn check_kind(value: &Expression, attribute: &AttributeSchema, path: &str, findings: &mut Vec<String>) {
    let fits = match (value, attribute.kind) {
        (Expression::Array(items), ProviderAttributeKind::Texts | ProviderAttributeKind::Numbers) => {
            let inner = if attribute.kind == ProviderAttributeKind::Texts {
                ProviderAttributeKind::Text
            } else {
                ProviderAttributeKind::Number
            };
            let item = AttributeSchema { required: false, kind: inner };
            for value in items {
                check_kind(value, &item, path, findings);
            }
            true
        }
        (Expression::String(_) | Expression::StringTemplate(_), kind) => {
            matches!(kind, ProviderAttributeKind::Text | ProviderAttributeKind::Any)
        }
        (Expression::Number(_), kind) => {
            matches!(kind, ProviderAttributeKind::Number | ProviderAttributeKind::Any)
        }
        (Expression::Bool(_), kind) => {
            matches!(kind, ProviderAttributeKind::Boolean | ProviderAttributeKind::Any)
        }
        (Expression::Object(_), kind) => {
            matches!(kind, ProviderAttributeKind::Map | ProviderAttributeKind::Any)
        }
        (Expression::Array(_), kind) => kind == ProviderAttributeKind::Any,
        _ => true,
    };
    if !fits {
        findings.push(format!("{path}: {value} is not of the kind {:?}", attribute.kind));
    }
}
