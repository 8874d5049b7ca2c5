//! `get_bundle_schema`, `get_entity_schema`, `get_entity_relations`.

use crate::{
    Bundle, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
    model::RelationDefinition,
    schema::EntitySchema,
};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

pub(super) fn bundle(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let metadata = |key: &str| bundle.manifest.metadata(key).map(OrderedValue::from);
    let manifest = OrderedValue::map_of_present([
        ("name", metadata("name")),
        ("bundleType", metadata("bundleType")),
        ("version", metadata("version")),
        ("description", metadata("description")),
    ]);
    let definition = bundle.definition().map(|definition| definition.data().clone());
    let data =
        OrderedValue::map_of_present([("manifest", Some(manifest)), ("bundleTypeDefinition", definition)]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()))
}

pub(super) fn entity(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let entity_type = arguments.required_text("entityType")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let schema = find(bundle, entity_type)?;
    let data = OrderedValue::map([("entityType", entity_type.into()), ("schema", (*schema.data).clone())]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()))
}

/// Returns the schema of a type, or the reason why there is none.
pub(crate) fn find<'a>(bundle: &'a Bundle, entity_type: &str) -> Result<&'a EntitySchema, Refusal> {
    if let Some(schema) = bundle.schemas.get(entity_type) {
        return Ok(schema);
    }
    let details = [("bundleId", bundle.id().into()), ("entityType", entity_type.into())];
    let refusal = match bundle.manifest.schema_path(entity_type) {
        None => {
            Refusal::new(RefusalCode::NotFound, format!("No schema defined for entity type: {entity_type}"))
        }
        Some(path) => Refusal::new(
            RefusalCode::Internal,
            format!("Failed to load schema for {entity_type}: {path} cannot be read; see validate_bundle"),
        ),
    };
    Err(refusal.details(details))
}

pub(super) fn relations(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let entity_type = arguments.text("entityType")?;
    let direction = arguments.one_of("direction", &["outgoing", "incoming", "both"], "both")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let relations: Vec<OrderedValue> = bundle
        .relations()
        .iter()
        .filter_map(|relation| match entity_type {
            None => Some(relation_data(relation, None)),
            Some(wanted) => {
                let found = if relation.from_entity == wanted {
                    "outgoing"
                } else if relation.to_entity == wanted {
                    "incoming"
                } else {
                    return None;
                };
                // A relation from a type to itself is both outgoing and incoming.
                let fits = direction == "both"
                    || direction == found
                    || (relation.from_entity == relation.to_entity && direction == "incoming");
                fits.then(|| relation_data(relation, Some(found)))
            }
        })
        .collect();
    let total = relations.len();
    let data = OrderedValue::map([
        ("entityType", entity_type.unwrap_or("all").into()),
        ("direction", direction.into()),
        ("relations", relations.into()),
    ]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta([("total", total.into())]))
}

fn relation_data(relation: &RelationDefinition, direction: Option<&str>) -> OrderedValue {
    OrderedValue::map_of_present([
        ("name", Some(relation.name.as_str().into())),
        ("fromEntity", Some(relation.from_entity.as_str().into())),
        ("fromField", Some(relation.from_field.as_str().into())),
        ("toEntity", Some(relation.to_entity.as_str().into())),
        ("multiplicity", relation.multiplicity.as_deref().map(OrderedValue::from)),
        ("direction", direction.map(OrderedValue::from)),
    ])
}
