//! `get_context`: an entity and its neighbourhood.

use super::{
    read::select_fields,
    traversal::{ReachedEntity, TraversalDirection, traverse},
};
use crate::{
    Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
};
use shared_protocol::{OrderedMembers, OrderedValue};

pub(super) fn get(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let (entity_type, id) = (arguments.required_text("entityType")?, arguments.required_text("id")?);
    let depth = arguments.count("depth", 1, 3)?;
    let most = arguments.count("maxRelated", 20, 100)?;
    let detail = arguments.one_of("includeRelated", &["full", "summary", "ids"], "full")?;
    let fields = arguments.texts("fields")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = bundle
        .entity(entity_type, id)
        .ok_or_else(|| crate::envelope::entity_not_found(bundle.id(), entity_type, id))?;
    let target = match &fields {
        Some(fields) => select_fields(entity, fields, false),
        None => {
            let mut members = OrderedMembers::default();
            members.set("id", entity.id().into());
            entity.data().members().for_each(|(key, value)| {
                members.set(key, value.clone());
            });
            OrderedValue::Map(members)
        }
    };
    // A depth of 0 would return no context and is treated as 1.
    let (reached, truncated) = traverse(bundle, &[entity], TraversalDirection::Both, depth.max(1), most);
    let related: Vec<OrderedValue> = reached.iter().map(|reached| related(reached, detail)).collect();
    let meta = [
        ("relatedCount", related.len().into()),
        ("maxRelated", most.into()),
        ("truncated", truncated.into()),
        ("includeRelated", detail.into()),
        ("depth", depth.into()),
    ];
    let data = OrderedValue::map([("target", target), ("related", related.into())]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta(meta))
}

fn related(reached: &ReachedEntity<'_>, detail: &str) -> OrderedValue {
    let entity = reached.entity;
    let data = match detail {
        "full" => Some(entity.data().clone()),
        "summary" => Some(select_fields(entity, &["title", "name", "state"], false)),
        _ => None,
    };
    OrderedValue::map_of_present([
        ("id", Some(entity.id().into())),
        ("entityType", Some(entity.entity_type().into())),
        ("relation", Some(if reached.is_target { "references" } else { "referencedBy" }.into())),
        ("field", Some(reached.edge.field.into())),
        ("distance", Some(reached.distance.into())),
        ("via", (reached.distance > 1).then(|| reached.via.id().into())),
        ("data", data),
    ])
}
