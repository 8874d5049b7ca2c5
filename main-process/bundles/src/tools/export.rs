//! `export_context`: entities with their dependencies as one document.

use super::traversal::{TraversalDirection, traverse};
use crate::{
    Bundle, BundleEntity, Bundles,
    arguments::CallArguments,
    calendar,
    envelope::{BundleToolResponse, ToolResult},
    model::ReferenceEdge,
    yaml,
};
use shared_protocol::{OrderedMembers, OrderedValue, Refusal, RefusalCode};
use std::{collections::HashSet, time::SystemTime};

const MAX_TARGETS: usize = 100;
const MAX_DEPENDENCIES: usize = 2_000;

pub(super) fn export(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let wanted = requested_targets(arguments)?;
    let with_schemas = arguments.flag("includeSchemas", true)?;
    let depth = arguments.clamped("dependencyDepth", 3, 5)?;
    let format = arguments.one_of("format", &["json", "yaml"], "json")?;
    let with_relations = arguments.flag("includeRelationMetadata", true)?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;

    let targets = targets(bundle, &wanted)?;
    let (reached, truncated) =
        traverse(bundle, &targets, TraversalDirection::Outgoing, depth, MAX_DEPENDENCIES);
    let dependencies: Vec<&BundleEntity> = reached.iter().map(|reached| reached.entity).collect();
    let exported: Vec<&BundleEntity> = targets.iter().chain(&dependencies).copied().collect();
    let relations = if with_relations { relations(bundle, &exported) } else { Vec::new() };
    let schemas = with_schemas.then(|| schemas(bundle, &exported));

    let meta = [
        ("targetCount", targets.len().into()),
        ("dependencyCount", dependencies.len().into()),
        ("relationCount", relations.len().into()),
        ("schemaCount", schemas.as_ref().map_or(0, OrderedMembers::len).into()),
        ("truncated", truncated.into()),
    ];
    let export_meta = OrderedValue::map([
        ("bundleId", bundle.id().into()),
        ("bundleName", bundle.manifest.metadata("name").unwrap_or_default().into()),
        ("exportedAt", calendar::iso(SystemTime::now()).into()),
        ("targetCount", targets.len().into()),
        ("dependencyCount", dependencies.len().into()),
        ("totalEntities", exported.len().into()),
        ("format", format.into()),
        ("version", "1.0".into()),
    ]);
    let list = |entities: &[&BundleEntity]| {
        entities.iter().map(|entity| entity_data(bundle, entity)).collect::<Vec<_>>()
    };
    let mut data = OrderedValue::map_of_present([
        ("exportMeta", Some(export_meta)),
        ("targets", Some(list(&targets).into())),
        ("dependencies", Some(list(&dependencies).into())),
        ("relations", Some(relations.into())),
        ("schemas", schemas.map(OrderedValue::Map)),
    ]);
    if format == "yaml" {
        let text = yaml::write(&data);
        if let OrderedValue::Map(members) = &mut data {
            members.set("yaml", text.into());
        }
    }
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta(meta))
}

fn requested_targets<'a>(arguments: &CallArguments<'a>) -> Result<Vec<(&'a str, &'a str)>, Refusal> {
    let targets = arguments.objects("targets")?;
    if targets.is_empty() || targets.len() > MAX_TARGETS {
        let message = format!("targets must name from 1 to {MAX_TARGETS} entities, not {}", targets.len());
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("targets"));
    }
    targets
        .iter()
        .map(|target| Ok((target.required_text("entityType")?, target.required_text("entityId")?)))
        .collect()
}

fn targets<'a>(bundle: &'a Bundle, wanted: &[(&str, &str)]) -> Result<Vec<&'a BundleEntity>, Refusal> {
    let mut found: Vec<&BundleEntity> = Vec::new();
    let mut missing = Vec::new();
    for (entity_type, id) in wanted {
        match bundle.entity(entity_type, id) {
            Some(entity) if found.iter().any(|known| known.id() == entity.id()) => {}
            Some(entity) => found.push(entity),
            None => missing
                .push(OrderedValue::map([("entityType", (*entity_type).into()), ("entityId", (*id).into())])),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let details = [("notFound", missing.into()), ("bundleId", bundle.id().into())];
    Err(Refusal::new(RefusalCode::NotFound, "Some target entities not found").details(details))
}

fn entity_data(bundle: &Bundle, entity: &BundleEntity) -> OrderedValue {
    let written = || {
        let (_, file) = bundle.file_of(entity.id())?;
        Some(OrderedValue::from(calendar::iso(file.stamp.modified())))
    };
    let modified = entity.data().get("lastModifiedDate").cloned().or_else(written);
    OrderedValue::map_of_present([
        ("entityType", Some(entity.entity_type().into())),
        ("id", Some(entity.id().into())),
        ("data", Some(entity.data().clone())),
        ("lastModified", modified),
    ])
}

/// Returns the references between exported entities.
fn relations(bundle: &Bundle, exported: &[&BundleEntity]) -> Vec<OrderedValue> {
    let ids: HashSet<&str> = exported.iter().map(|entity| entity.id()).collect();
    exported
        .iter()
        .flat_map(|entity| bundle.outgoing(entity))
        .filter(|edge| ids.contains(edge.to_id))
        .map(|edge| relation(bundle, edge))
        .collect()
}

fn relation(bundle: &Bundle, edge: ReferenceEdge<'_>) -> OrderedValue {
    let end = |entity_type: &str, id: &str| {
        OrderedValue::map([("entityType", entity_type.into()), ("entityId", id.into())])
    };
    let schema = bundle.schemas.get(edge.from.entity_type());
    let property = schema.and_then(|schema| schema.properties()).and_then(|all| all.get(edge.field));
    let name = property.and_then(|property| property.text("title")).unwrap_or(edge.field);
    OrderedValue::map([
        ("from", end(edge.from.entity_type(), edge.from.id())),
        ("to", end(edge.to_type, edge.to_id)),
        ("field", edge.field.into()),
        ("displayName", name.into()),
    ])
}

fn schemas(bundle: &Bundle, exported: &[&BundleEntity]) -> OrderedMembers {
    let mut schemas = OrderedMembers::default();
    for entity in exported {
        if let Some(schema) = bundle.schemas.get(entity.entity_type()) {
            schemas.set(entity.entity_type(), (*schema.data).clone());
        }
    }
    schemas
}
