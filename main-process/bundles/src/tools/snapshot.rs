//! `get_bundle_snapshot`: a whole bundle in one response.

use super::{list::sorted_types, read::select_fields};
use crate::{
    BundleFinding, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
    model::ReferenceEdge,
};
use shared_protocol::{OrderedMembers, OrderedValue};

pub(super) fn get(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let wanted_types = arguments.texts("entityTypes")?;
    let detail = arguments.one_of("includeEntityData", &["full", "summary", "ids"], "full")?;
    let with_schemas = arguments.flag("includeSchemas", true)?;
    let with_graph = arguments.flag("includeRefGraph", true)?;
    let with_diagnostics = arguments.flag("includeDiagnostics", true)?;
    let most = arguments.count("maxEntities", 5000, 10_000)?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;

    let all_types = sorted_types(bundle);
    let mut types: Vec<&str> = match &wanted_types {
        None => all_types.clone(),
        Some(wanted) => wanted.iter().copied().filter(|name| all_types.contains(name)).collect(),
    };
    types.sort_unstable();
    types.dedup();
    let mut entities = OrderedMembers::default();
    let (mut returned, mut total) = (0, 0);
    for name in &types {
        let Some(kind) = bundle.kind(name) else { continue };
        total += kind.ids().len();
        let list: Vec<OrderedValue> = kind
            .sorted_entities()
            .take(most - returned)
            .map(|entity| match detail {
                "full" => entity.to_data(),
                "summary" => select_fields(entity, &["title", "name", "state"], true),
                _ => select_fields(entity, &[], true),
            })
            .collect();
        returned += list.len();
        entities.set(name, list.into());
    }
    let mut schemas = OrderedMembers::default();
    for name in types.iter().filter(|_| with_schemas) {
        if let Some(schema) = bundle.schemas.get(*name) {
            schemas.set(name, (*schema.data).clone());
        }
    }
    let schema_count = schemas.len();
    let graph = with_graph
        .then(|| OrderedValue::map([("edges", bundle.edges().map(edge_data).collect::<Vec<_>>().into())]));
    let diagnostics: Vec<OrderedValue> =
        bundle.diagnostics().iter().filter(|_| with_diagnostics).map(BundleFinding::to_data).collect();
    let data = OrderedValue::map_of_present([
        ("manifest", Some(bundle.manifest.data().clone())),
        ("bundleTypeDefinition", bundle.definition().map(|definition| definition.data().clone())),
        ("entities", Some(OrderedValue::Map(entities))),
        ("schemas", with_schemas.then_some(OrderedValue::Map(schemas))),
        ("refGraph", graph),
    ]);
    let meta = [
        ("entityCount", returned.into()),
        ("totalEntities", total.into()),
        ("entityTypes", OrderedValue::texts(&types)),
        ("allEntityTypes", OrderedValue::texts(&all_types)),
        ("schemaCount", schema_count.into()),
        ("diagnosticCount", diagnostics.len().into()),
        ("includeEntityData", detail.into()),
        ("maxEntities", most.into()),
        ("truncated", (returned < total).into()),
    ];
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta(meta).diagnostics(diagnostics))
}

fn edge_data(edge: ReferenceEdge<'_>) -> OrderedValue {
    OrderedValue::map([
        ("fromEntityType", edge.from.entity_type().into()),
        ("fromId", edge.from.id().into()),
        ("fromField", edge.field.into()),
        ("toEntityType", edge.to_type.into()),
        ("toId", edge.to_id.into()),
    ])
}
