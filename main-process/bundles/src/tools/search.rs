//! `search_entities`: full-text search in one bundle or in all.

use super::list::page_meta;
use crate::{
    Bundle, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
    search,
};
use shared_protocol::OrderedValue;

pub(super) fn search(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let query = arguments.required_text("query")?;
    let entity_type = arguments.text("entityType")?;
    let bundle_id = arguments.text("bundleId")?;
    let limit = arguments.count("limit", 50, 100)?;
    let offset = arguments.count("offset", 0, usize::MAX)?;
    let hits = bundles.search_ranked(bundle_id, query, entity_type)?;
    let total = hits.len();
    let results: Vec<OrderedValue> =
        hits.iter().skip(offset).take(limit).map(|(bundle, hit)| result(bundle, hit)).collect();
    let returned = results.len();
    let answer =
        BundleToolResponse::new(OrderedValue::map([("query", query.into()), ("results", results.into())]));
    // Names the bundle if one was requested or only one is loaded.
    let only = bundles.resolve(bundle_id).ok();
    let answer = if let Some(only) = only { answer.with_bundle_id(only.id()) } else { answer };
    Ok(answer.meta(page_meta(total, limit, offset, returned)))
}

fn result(bundle: &Bundle, hit: &search::EntityHit<'_>) -> OrderedValue {
    let data = hit.entity.data();
    OrderedValue::map_of_present([
        ("bundleId", Some(bundle.id().into())),
        ("entityType", Some(hit.entity.entity_type().into())),
        ("id", Some(hit.entity.id().into())),
        ("title", data.text("title").or_else(|| data.text("statement")).map(OrderedValue::from)),
        ("name", data.text("name").map(OrderedValue::from)),
        ("match", Some(hit.field.into())),
    ])
}
