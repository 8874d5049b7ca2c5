//! `list_bundles`, `list_entities`, `list_entity_summaries`.

use crate::{
    Bundle, Bundles,
    arguments::CallArguments,
    collation,
    envelope::{BundleToolResponse, ToolResult},
    model::LoadedEntityType,
};
use shared_protocol::{OrderedMembers, OrderedValue};

pub(super) fn bundles(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    arguments.expect_only(&[])?;
    let list: Vec<OrderedValue> = bundles
        .iter()
        .map(|bundle| {
            OrderedValue::map_of_present([
                ("id", Some(bundle.id().into())),
                ("name", bundle.manifest.metadata("name").map(OrderedValue::from)),
                ("bundleType", bundle.manifest.metadata("bundleType").map(OrderedValue::from)),
                ("tags", Some(OrderedValue::texts(&bundle.tags))),
                ("description", bundle.description.as_deref().map(OrderedValue::from)),
                ("path", Some(bundle.root().display().to_string().into())),
                ("entityTypes", Some(OrderedValue::texts(bundle.entity_types()))),
                ("entityCount", Some(bundle.entity_count().into())),
            ])
        })
        .collect();
    let count = list.len();
    Ok(BundleToolResponse::new(OrderedValue::map([("bundles", list.into())])).meta([("count", count.into())]))
}

pub(super) fn entities(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let bundle_id = arguments.text("bundleId")?;
    let entity_type = arguments.text("entityType")?;
    let limit = arguments.count("limit", 100, 500)?;
    let offset = arguments.count("offset", 0, usize::MAX)?;
    if bundle_id == Some("all") || (bundle_id.is_none() && bundles.iter().len() > 1) {
        return Ok(all_entities(bundles, entity_type));
    }
    let bundle = bundles.resolve(bundle_id)?;
    let Some(entity_type) = entity_type else {
        let types = sorted_types(bundle);
        let meta = [("typeCount", types.len().into())];
        let answer =
            BundleToolResponse::new(OrderedValue::map([("entityTypes", OrderedValue::texts(types))]));
        return Ok(answer.with_bundle_id(bundle.id()).meta(meta));
    };
    let kind = bundle.kind(entity_type);
    let total = kind.map_or(0, |kind| kind.ids().len());
    let ids: Vec<&str> = kind.into_iter().flat_map(LoadedEntityType::ids).skip(offset).take(limit).collect();
    let returned = ids.len();
    let data = OrderedValue::map([("entityType", entity_type.into()), ("ids", OrderedValue::texts(ids))]);
    Ok(BundleToolResponse::new(data)
        .with_bundle_id(bundle.id())
        .meta(page_meta(total, limit, offset, returned)))
}

/// Returns the ids of one type, or the types, for every bundle.
fn all_entities(bundles: &Bundles, entity_type: Option<&str>) -> BundleToolResponse {
    let mut data = OrderedMembers::default();
    for bundle in bundles.iter() {
        match entity_type {
            None => {
                let types = OrderedValue::map([("entityTypes", OrderedValue::texts(sorted_types(bundle)))]);
                data.set(bundle.id(), types);
            }
            Some(entity_type) => {
                if let Some(kind) = bundle.kind(entity_type) {
                    data.set(bundle.id(), OrderedValue::texts(kind.ids()));
                }
            }
        }
    }
    BundleToolResponse::new(OrderedValue::Map(data)).meta([("bundleCount", bundles.iter().len().into())])
}

pub(super) fn summaries(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let entity_type = arguments.text("entityType")?;
    let include = arguments.texts("include")?.unwrap_or_else(|| vec!["id", "title"]);
    let limit = arguments.clamped("limit", 50, 200)?;
    let offset = arguments.count("offset", 0, usize::MAX)?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let mut kinds: Vec<&LoadedEntityType> =
        bundle.kinds.iter().filter(|kind| entity_type.is_none_or(|wanted| &*kind.name == wanted)).collect();
    kinds.sort_by_key(|kind| collation::sort_key(&kind.name));
    let total: usize = kinds.iter().map(|kind| kind.ids().len()).sum();
    let items: Vec<OrderedValue> = kinds
        .iter()
        .flat_map(|kind| kind.sorted_entities())
        .skip(offset)
        .take(limit)
        .map(|entity| {
            let mut item = OrderedMembers::default();
            item.set("entityType", entity.entity_type().into());
            item.set("id", entity.id().into());
            for field in include.iter().filter(|field| **field != "id") {
                if let Some(value) = entity.data().get(field) {
                    item.set(field, value.clone());
                }
            }
            OrderedValue::Map(item)
        })
        .collect();
    let returned = items.len();
    let data = OrderedValue::map([("items", items.into())]);
    Ok(BundleToolResponse::new(data)
        .with_bundle_id(bundle.id())
        .meta(page_meta(total, limit, offset, returned)))
}

pub(super) fn sorted_types(bundle: &Bundle) -> Vec<&str> {
    let mut types: Vec<&str> = bundle.entity_types().collect();
    types.sort_unstable();
    types
}

pub(super) fn page_meta(
    total: usize,
    limit: usize,
    offset: usize,
    returned: usize,
) -> [(&'static str, OrderedValue); 5] {
    [
        ("total", total.into()),
        ("limit", limit.into()),
        ("offset", offset.into()),
        ("returned", returned.into()),
        ("hasMore", (offset.saturating_add(returned) < total).into()),
    ]
}
