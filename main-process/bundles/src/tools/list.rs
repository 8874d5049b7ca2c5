//! `list_bundles`, `list_entities`, `list_entity_summaries`.

use crate::{
    Bundle, Bundles, Data,
    arguments::Arguments,
    collation,
    data::Members,
    envelope::{Answer, Refusal},
    model::Kind,
};

pub(super) fn bundles(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    arguments.expect_only(&[])?;
    let list: Vec<Data> = bundles
        .iter()
        .map(|bundle| {
            Data::map_of_some([
                ("id", Some(bundle.id().into())),
                ("name", bundle.manifest.metadata("name").map(Data::from)),
                ("bundleType", bundle.manifest.metadata("bundleType").map(Data::from)),
                ("tags", Some(Data::texts(&bundle.tags))),
                ("description", bundle.description.as_deref().map(Data::from)),
                ("path", Some(bundle.root().display().to_string().into())),
                ("entityTypes", Some(Data::texts(bundle.entity_types()))),
                ("entityCount", Some(bundle.entity_count().into())),
            ])
        })
        .collect();
    let count = list.len();
    Ok(Answer::new(Data::map([("bundles", list.into())])).meta([("count", count.into())]))
}

pub(super) fn entities(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
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
        let answer = Answer::new(Data::map([("entityTypes", Data::texts(types))]));
        return Ok(answer.of(bundle.id()).meta(meta));
    };
    let kind = bundle.kind(entity_type);
    let total = kind.map_or(0, |kind| kind.ids().len());
    let ids: Vec<&str> = kind.into_iter().flat_map(Kind::ids).skip(offset).take(limit).collect();
    let returned = ids.len();
    let data = Data::map([("entityType", entity_type.into()), ("ids", Data::texts(ids))]);
    Ok(Answer::new(data).of(bundle.id()).meta(page(total, limit, offset, returned)))
}

/// Returns the ids of one type, or the types, for every bundle.
fn all_entities(bundles: &Bundles, entity_type: Option<&str>) -> Answer {
    let mut data = Members::default();
    for bundle in bundles.iter() {
        match entity_type {
            None => {
                let types = Data::map([("entityTypes", Data::texts(sorted_types(bundle)))]);
                data.set(bundle.id(), types);
            }
            Some(entity_type) => {
                if let Some(kind) = bundle.kind(entity_type) {
                    data.set(bundle.id(), Data::texts(kind.ids()));
                }
            }
        }
    }
    Answer::new(Data::Map(data)).meta([("bundleCount", bundles.iter().len().into())])
}

pub(super) fn summaries(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let entity_type = arguments.text("entityType")?;
    let include = arguments.texts("include")?.unwrap_or_else(|| vec!["id", "title"]);
    let limit = arguments.clamped("limit", 50, 200)?;
    let offset = arguments.count("offset", 0, usize::MAX)?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let mut kinds: Vec<&Kind> =
        bundle.kinds.iter().filter(|kind| entity_type.is_none_or(|wanted| &*kind.name == wanted)).collect();
    kinds.sort_by_key(|kind| collation::key(&kind.name));
    let total: usize = kinds.iter().map(|kind| kind.ids().len()).sum();
    let items: Vec<Data> = kinds
        .iter()
        .flat_map(|kind| kind.sorted())
        .skip(offset)
        .take(limit)
        .map(|entity| {
            let mut item = Members::default();
            item.set("entityType", entity.entity_type().into());
            item.set("id", entity.id().into());
            for field in include.iter().filter(|field| **field != "id") {
                if let Some(value) = entity.data().get(field) {
                    item.set(field, value.clone());
                }
            }
            Data::Map(item)
        })
        .collect();
    let returned = items.len();
    let data = Data::map([("items", items.into())]);
    Ok(Answer::new(data).of(bundle.id()).meta(page(total, limit, offset, returned)))
}

pub(super) fn sorted_types(bundle: &Bundle) -> Vec<&str> {
    let mut types: Vec<&str> = bundle.entity_types().collect();
    types.sort_unstable();
    types
}

pub(super) fn page(total: usize, limit: usize, offset: usize, returned: usize) -> [(&'static str, Data); 5] {
    [
        ("total", total.into()),
        ("limit", limit.into()),
        ("offset", offset.into()),
        ("returned", returned.into()),
        ("hasMore", (offset.saturating_add(returned) < total).into()),
    ]
}
