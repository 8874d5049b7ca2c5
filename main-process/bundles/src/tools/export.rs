//! `export_context`: entities with their dependencies as one document.

use super::traversal::{Direction, around};
use crate::{
    Bundle, Bundles, Data, Entity,
    arguments::Arguments,
    calendar,
    data::Members,
    envelope::{Answer, Code, Refusal},
    model::Edge,
    yaml,
};
use std::{collections::HashSet, time::SystemTime};

const MOST_TARGETS: usize = 100;
const MOST_DEPENDENCIES: usize = 2_000;

pub(super) fn export(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let wanted = wanted(arguments)?;
    let with_schemas = arguments.flag("includeSchemas", true)?;
    let depth = arguments.clamped("dependencyDepth", 3, 5)?;
    let format = arguments.one_of("format", &["json", "yaml"], "json")?;
    let with_relations = arguments.flag("includeRelationMetadata", true)?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;

    let targets = targets(bundle, &wanted)?;
    let (reached, truncated) = around(bundle, &targets, Direction::Outgoing, depth, MOST_DEPENDENCIES);
    let dependencies: Vec<&Entity> = reached.iter().map(|reached| reached.entity).collect();
    let exported: Vec<&Entity> = targets.iter().chain(&dependencies).copied().collect();
    let relations = if with_relations { relations(bundle, &exported) } else { Vec::new() };
    let schemas = with_schemas.then(|| schemas(bundle, &exported));

    let meta = [
        ("targetCount", targets.len().into()),
        ("dependencyCount", dependencies.len().into()),
        ("relationCount", relations.len().into()),
        ("schemaCount", schemas.as_ref().map_or(0, Members::len).into()),
        ("truncated", truncated.into()),
    ];
    let export_meta = Data::map([
        ("bundleId", bundle.id().into()),
        ("bundleName", bundle.manifest.metadata("name").unwrap_or_default().into()),
        ("exportedAt", calendar::iso(SystemTime::now()).into()),
        ("targetCount", targets.len().into()),
        ("dependencyCount", dependencies.len().into()),
        ("totalEntities", exported.len().into()),
        ("format", format.into()),
        ("version", "1.0".into()),
    ]);
    let list =
        |entities: &[&Entity]| entities.iter().map(|entity| entity_data(bundle, entity)).collect::<Vec<_>>();
    let mut data = Data::map_of_some([
        ("exportMeta", Some(export_meta)),
        ("targets", Some(list(&targets).into())),
        ("dependencies", Some(list(&dependencies).into())),
        ("relations", Some(relations.into())),
        ("schemas", schemas.map(Data::Map)),
    ]);
    if format == "yaml" {
        let text = yaml::write(&data);
        if let Data::Map(members) = &mut data {
            members.set("yaml", text.into());
        }
    }
    Ok(Answer::new(data).of(bundle.id()).meta(meta))
}

fn wanted<'a>(arguments: &Arguments<'a>) -> Result<Vec<(&'a str, &'a str)>, Refusal> {
    let targets = arguments.objects("targets")?;
    if targets.is_empty() || targets.len() > MOST_TARGETS {
        let message = format!("targets must name from 1 to {MOST_TARGETS} entities, not {}", targets.len());
        return Err(Refusal::new(Code::BadRequest, message).about("targets"));
    }
    targets
        .iter()
        .map(|target| Ok((target.required_text("entityType")?, target.required_text("entityId")?)))
        .collect()
}

fn targets<'a>(bundle: &'a Bundle, wanted: &[(&str, &str)]) -> Result<Vec<&'a Entity>, Refusal> {
    let mut found: Vec<&Entity> = Vec::new();
    let mut missing = Vec::new();
    for (entity_type, id) in wanted {
        match bundle.entity(entity_type, id) {
            Some(entity) if found.iter().any(|known| known.id() == entity.id()) => {}
            Some(entity) => found.push(entity),
            None => {
                missing.push(Data::map([("entityType", (*entity_type).into()), ("entityId", (*id).into())]))
            }
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let details = Data::map([("notFound", missing.into()), ("bundleId", bundle.id().into())]);
    Err(Refusal::new(Code::NotFound, "Some target entities not found").with(details))
}

fn entity_data(bundle: &Bundle, entity: &Entity) -> Data {
    let written = || {
        let (_, file) = bundle.file_of(entity.id())?;
        Some(Data::from(calendar::iso(file.stamp.modified())))
    };
    let modified = entity.data().get("lastModifiedDate").cloned().or_else(written);
    Data::map_of_some([
        ("entityType", Some(entity.entity_type().into())),
        ("id", Some(entity.id().into())),
        ("data", Some(entity.data().clone())),
        ("lastModified", modified),
    ])
}

/// Returns the references between exported entities.
fn relations(bundle: &Bundle, exported: &[&Entity]) -> Vec<Data> {
    let ids: HashSet<&str> = exported.iter().map(|entity| entity.id()).collect();
    exported
        .iter()
        .flat_map(|entity| bundle.outgoing(entity))
        .filter(|edge| ids.contains(edge.to_id))
        .map(|edge| relation(bundle, edge))
        .collect()
}

fn relation(bundle: &Bundle, edge: Edge<'_>) -> Data {
    let end = |entity_type: &str, id: &str| {
        Data::map([("entityType", entity_type.into()), ("entityId", id.into())])
    };
    let schema = bundle.schemas.get(edge.from.entity_type());
    let property = schema.and_then(|schema| schema.properties()).and_then(|all| all.get(edge.field));
    let name = property.and_then(|property| property.text("title")).unwrap_or(edge.field);
    Data::map([
        ("from", end(edge.from.entity_type(), edge.from.id())),
        ("to", end(edge.to_type, edge.to_id)),
        ("field", edge.field.into()),
        ("displayName", name.into()),
    ])
}

fn schemas(bundle: &Bundle, exported: &[&Entity]) -> Members {
    let mut schemas = Members::default();
    for entity in exported {
        if let Some(schema) = bundle.schemas.get(entity.entity_type()) {
            schemas.set(entity.entity_type(), (*schema.data).clone());
        }
    }
    schemas
}
