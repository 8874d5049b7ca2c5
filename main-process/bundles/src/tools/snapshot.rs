//! `get_bundle_snapshot`: a whole bundle in one response.

use super::{list::sorted_types, read::chosen};
use crate::{
    Bundles, Data, Diagnostic,
    arguments::Arguments,
    data::Members,
    envelope::{Answer, Refusal},
    model::Edge,
};

pub(super) fn get(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
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
    let mut entities = Members::default();
    let (mut returned, mut total) = (0, 0);
    for name in &types {
        let Some(kind) = bundle.kind(name) else { continue };
        total += kind.ids().len();
        let list: Vec<Data> = kind
            .sorted()
            .take(most - returned)
            .map(|entity| match detail {
                "full" => entity.to_data(),
                "summary" => chosen(entity, &["title", "name", "state"], true),
                _ => chosen(entity, &[], true),
            })
            .collect();
        returned += list.len();
        entities.set(name, list.into());
    }
    let mut schemas = Members::default();
    for name in types.iter().filter(|_| with_schemas) {
        if let Some(schema) = bundle.schemas.get(*name) {
            schemas.set(name, (*schema.data).clone());
        }
    }
    let schema_count = schemas.len();
    let graph =
        with_graph.then(|| Data::map([("edges", bundle.edges().map(edge_data).collect::<Vec<_>>().into())]));
    let diagnostics: Vec<Data> =
        bundle.diagnostics().iter().filter(|_| with_diagnostics).map(Diagnostic::to_data).collect();
    let data = Data::map_of_some([
        ("manifest", Some(bundle.manifest.data().clone())),
        ("bundleTypeDefinition", bundle.definition().map(|definition| definition.data().clone())),
        ("entities", Some(Data::Map(entities))),
        ("schemas", with_schemas.then_some(Data::Map(schemas))),
        ("refGraph", graph),
    ]);
    let meta = [
        ("entityCount", returned.into()),
        ("totalEntities", total.into()),
        ("entityTypes", Data::texts(&types)),
        ("allEntityTypes", Data::texts(&all_types)),
        ("schemaCount", schema_count.into()),
        ("diagnosticCount", diagnostics.len().into()),
        ("includeEntityData", detail.into()),
        ("maxEntities", most.into()),
        ("truncated", (returned < total).into()),
    ];
    Ok(Answer::new(data).of(bundle.id()).meta(meta).diagnostics(diagnostics))
}

fn edge_data(edge: Edge<'_>) -> Data {
    Data::map([
        ("fromEntityType", edge.from.entity_type().into()),
        ("fromId", edge.from.id().into()),
        ("fromField", edge.field.into()),
        ("toEntityType", edge.to_type.into()),
        ("toId", edge.to_id.into()),
    ])
}
