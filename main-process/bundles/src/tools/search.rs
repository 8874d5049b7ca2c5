//! `search_entities`: full-text search in one bundle or in all.

use super::list::page;
use crate::{
    Bundle, Bundles, Data,
    arguments::Arguments,
    envelope::{Answer, Refusal},
    search,
};

pub(super) fn search(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let query = arguments.required_text("query")?;
    let entity_type = arguments.text("entityType")?;
    let bundle_id = arguments.text("bundleId")?;
    let limit = arguments.count("limit", 50, 100)?;
    let offset = arguments.count("offset", 0, usize::MAX)?;
    let hits = bundles.ranked(bundle_id, query, entity_type)?;
    let total = hits.len();
    let results: Vec<Data> =
        hits.iter().skip(offset).take(limit).map(|(bundle, hit)| result(bundle, hit)).collect();
    let returned = results.len();
    let answer = Answer::new(Data::map([("query", query.into()), ("results", results.into())]));
    // Names the bundle if one was requested or only one is loaded.
    let only = bundles.resolve(bundle_id).ok();
    let answer = if let Some(only) = only { answer.of(only.id()) } else { answer };
    Ok(answer.meta(page(total, limit, offset, returned)))
}

fn result(bundle: &Bundle, hit: &search::Hit<'_>) -> Data {
    let data = hit.entity.data();
    Data::map_of_some([
        ("bundleId", Some(bundle.id().into())),
        ("entityType", Some(hit.entity.entity_type().into())),
        ("id", Some(hit.entity.id().into())),
        ("title", data.text("title").or_else(|| data.text("statement")).map(Data::from)),
        ("name", data.text("name").map(Data::from)),
        ("match", Some(hit.field.into())),
    ])
}
