//! `export_entity_markdown`: an entity and its dependencies as Markdown.

use super::traversal::{TraversalDirection, traverse};
use crate::{
    Bundle, BundleEntity, Bundles,
    arguments::CallArguments,
    calendar,
    envelope::{BundleToolResponse, ToolResult},
};
use shared_protocol::OrderedValue;
use std::{fmt::Write as _, time::SystemTime};

const MAX_DEPENDENCIES: usize = 500;
/// The maximum characters of an inline text; a longer one gets its own heading.
const MAX_INLINE_CHARS: usize = 200;

pub(super) fn export(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let (entity_type, id) = (arguments.required_text("entityType")?, arguments.required_text("entityId")?);
    let with_dependencies = arguments.flag("includeDependencies", true)?;
    let depth = arguments.clamped("dependencyDepth", 2, 5)?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = bundle
        .entity(entity_type, id)
        .ok_or_else(|| crate::envelope::entity_not_found(bundle.id(), entity_type, id))?;
    let depth = if with_dependencies { depth } else { 0 };
    let (reached, _) = traverse(bundle, &[entity], TraversalDirection::Outgoing, depth, MAX_DEPENDENCIES);
    let dependencies: Vec<&BundleEntity> = reached.iter().map(|reached| reached.entity).collect();
    let markdown = document(bundle, entity, &dependencies, SystemTime::now());
    let included: Vec<OrderedValue> = dependencies
        .iter()
        .map(|entity| {
            OrderedValue::map([("entityType", entity.entity_type().into()), ("id", entity.id().into())])
        })
        .collect();
    let meta = [
        ("characterCount", markdown.encode_utf16().count().into()),
        ("dependencyCount", included.len().into()),
    ];
    let data = OrderedValue::map([
        ("markdown", markdown.into()),
        ("entityType", entity_type.into()),
        ("entityId", id.into()),
        ("includedDependencies", included.into()),
    ]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta(meta))
}

fn document(
    bundle: &Bundle,
    entity: &BundleEntity,
    dependencies: &[&BundleEntity],
    now: SystemTime,
) -> String {
    let mut text = String::new();
    write_entity(&mut text, bundle, entity, 1);
    text.push_str("---\n\n");
    if !dependencies.is_empty() {
        text.push_str("# Related Entities\n\n");
        let mut types: Vec<&str> = Vec::new();
        for dependency in dependencies {
            if !types.contains(&dependency.entity_type()) {
                types.push(dependency.entity_type());
            }
        }
        for entity_type in types {
            let _ = writeln!(text, "## {entity_type}s\n");
            for dependency in dependencies.iter().filter(|entity| entity.entity_type() == entity_type) {
                write_entity(&mut text, bundle, dependency, 3);
                text.push('\n');
            }
        }
        text.push_str("---\n\n");
    }
    let count = match dependencies.len() {
        0 => String::new(),
        1 => " (includes 1 dependency)".to_owned(),
        count => format!(" (includes {count} dependencies)"),
    };
    let _ = write!(text, "*Exported from {} on {}{count}*", bundle.id(), calendar::format_time(now));
    text
}

fn write_entity(text: &mut String, bundle: &Bundle, entity: &BundleEntity, level: usize) {
    let title = ["title", "name"].into_iter().find_map(|key| entity.data().text(key)).unwrap_or(entity.id());
    let _ = writeln!(text, "{} {title}\n> {}\n", "#".repeat(level), entity.entity_type());
    let fields = fields(bundle, entity);
    let in_header = |schema: Option<&OrderedValue>| {
        schema.and_then(|schema| schema.text("x-sdd-displayLocation")) == Some("header")
    };
    let (header, body): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(_, _, schema)| in_header(*schema));
    let header: Vec<String> = header
        .into_iter()
        .map(|(name, value, schema)| {
            let is_date =
                schema.and_then(|schema| schema.text("format")).is_some_and(|f| f.starts_with("date"));
            let shown = plain(value);
            let shown = if is_date { calendar::short_date(&shown).unwrap_or(shown) } else { shown };
            format!("**{}:** {shown}", label(name, schema))
        })
        .collect();
    if !header.is_empty() {
        let _ = writeln!(text, "{}\n", header.join(" | "));
    }
    let heading = "#".repeat(level + 1);
    for (name, value, schema) in body {
        write_field(text, &heading, &label(name, schema), value);
    }
}

/// Returns the non-empty fields of an entity in schema order, each with its subschema.
fn fields<'a>(
    bundle: &'a Bundle,
    entity: &'a BundleEntity,
) -> Vec<(&'a str, &'a OrderedValue, Option<&'a OrderedValue>)> {
    let id_field = bundle.kind(entity.entity_type()).map_or("id", |kind| &kind.info.id_field);
    let properties = bundle.schemas.get(entity.entity_type()).and_then(|schema| schema.properties());
    let members = || entity.data().as_map().into_iter().flat_map(|map| map.iter());
    let declared = properties
        .into_iter()
        .flat_map(|properties| properties.iter())
        .filter_map(|(name, schema)| Some((name, entity.data().get(name)?, Some(schema))));
    let others = members()
        .filter(|(name, _)| properties.is_none_or(|properties| properties.get(name).is_none()))
        .map(|(name, value)| (name, value, None));
    declared.chain(others).filter(|(name, value, _)| *name != id_field && is_shown(value)).collect()
}

fn is_shown(value: &OrderedValue) -> bool {
    match value {
        OrderedValue::Null | OrderedValue::Bool(false) => false,
        OrderedValue::Text(text) => !text.trim().is_empty(),
        OrderedValue::List(items) => !items.is_empty(),
        OrderedValue::Map(members) => !members.is_empty(),
        _ => true,
    }
}

fn write_field(text: &mut String, heading: &str, label: &str, value: &OrderedValue) {
    let _ = match value {
        OrderedValue::Text(long) if long.contains('\n') || long.chars().count() > MAX_INLINE_CHARS => {
            writeln!(text, "{heading} {label}\n\n{long}\n")
        }
        OrderedValue::List(items) if items.iter().any(|item| item.as_map().is_some()) => {
            let _ = writeln!(text, "{heading} {label}\n");
            for (index, item) in items.iter().enumerate() {
                write_item(text, index + 1, item);
            }
            Ok(())
        }
        OrderedValue::List(items) => {
            let items: Vec<String> = items.iter().map(|item| format!("- {}", plain(item))).collect();
            writeln!(text, "{heading} {label}\n\n{}\n", items.join("\n"))
        }
        OrderedValue::Map(_) => {
            writeln!(text, "{heading} {label}\n\n```json\n{}\n```\n", value.to_pretty_json())
        }
        other => writeln!(text, "**{label}:** {}\n", plain(other)),
    };
}

/// Writes an object in a list: its name, then its members.
fn write_item(text: &mut String, number: usize, item: &OrderedValue) {
    let names = ["name", "title", "id"];
    let named = names.into_iter().find(|key| item.text(key).is_some());
    let title = named.and_then(|key| item.text(key)).map_or_else(|| plain(item), str::to_owned);
    let _ = writeln!(text, "**{number}. {title}**");
    let members = item.as_map().into_iter().flat_map(|members| members.iter());
    for (key, value) in members.filter(|(key, value)| Some(*key) != named && is_shown(value)) {
        let label = humanise(key);
        match value {
            OrderedValue::List(items) => {
                let _ = writeln!(text, "- *{label}:*");
                for item in items {
                    let _ = writeln!(text, "  - {}", plain(item));
                }
            }
            other => {
                let _ = writeln!(text, "- *{label}:* {}", plain(other));
            }
        }
    }
    text.push('\n');
}

/// Returns a value on one line.
fn plain(value: &OrderedValue) -> String {
    match value {
        OrderedValue::Text(text) => text.to_string(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

fn label(name: &str, schema: Option<&OrderedValue>) -> String {
    let declared = schema.and_then(|schema| schema.text("title").or_else(|| schema.text("displayName")));
    declared.map_or_else(|| humanise(name), str::to_owned)
}

/// Converts a key to a label: `acceptanceCriteria` becomes `Acceptance Criteria`.
pub(crate) fn humanise(name: &str) -> String {
    let mut label = String::new();
    let mut previous_lower = false;
    for c in name.chars() {
        if c == '_' || c == '-' {
            label.push(' ');
        } else if label.is_empty() || label.ends_with(' ') || (c.is_uppercase() && previous_lower) {
            if !label.is_empty() && !label.ends_with(' ') {
                label.push(' ');
            }
            label.extend(c.to_uppercase());
        } else {
            label.push(c);
        }
        previous_lower = c.is_lowercase() || c.is_numeric();
    }
    label
}
