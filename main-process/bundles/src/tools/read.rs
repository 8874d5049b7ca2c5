//! `read_entity`, `read_entities`.

use crate::{
    Bundles, Data, Entity,
    arguments::Arguments,
    data::Members,
    envelope::{Answer, Code, Refusal},
};

const MOST: usize = 50;

pub(super) fn one(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let (entity_type, id) = (arguments.required_text("entityType")?, arguments.required_text("id")?);
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = bundle
        .entity(entity_type, id)
        .ok_or_else(|| Refusal::entity_not_found(bundle.id(), entity_type, id))?;
    Ok(Answer::new(entity.to_data()).of(bundle.id()))
}

pub(super) fn many(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let entity_type = arguments.required_text("entityType")?;
    let ids = arguments
        .texts("ids")?
        .ok_or_else(|| Refusal::new(Code::BadRequest, "ids is required").about("ids"))?;
    if ids.is_empty() || ids.len() > MOST {
        let message = format!("ids must name from 1 to {MOST} entities, not {}", ids.len());
        return Err(Refusal::new(Code::BadRequest, message).about("ids"));
    }
    let fields = arguments.texts("fields")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let kind = bundle.kind(entity_type).ok_or_else(|| {
        Refusal::new(Code::NotFound, format!("Unknown entity type: {entity_type}"))
            .with(Data::map([("bundleId", bundle.id().into()), ("entityType", entity_type.into())]))
    })?;
    let mut entities = Vec::new();
    let mut missing = Vec::new();
    for &id in &ids {
        match kind.get(id) {
            Some(entity) => entities.push(match &fields {
                None => entity.to_data(),
                Some(fields) => chosen(entity, fields, true),
            }),
            None => missing.push(id),
        }
    }
    let meta = [
        ("requested", ids.len().into()),
        ("found", entities.len().into()),
        ("notFound", Data::texts(missing)),
    ];
    let data = Data::map([("entityType", entity_type.into()), ("entities", entities.into())]);
    Ok(Answer::new(data).of(bundle.id()).meta(meta))
}

/// Returns an entity's id, optionally its type, and those of the requested fields that it has.
pub(super) fn chosen(entity: &Entity, fields: &[&str], with_type: bool) -> Data {
    let mut members = Members::default();
    members.set("id", entity.id().into());
    if with_type {
        members.set("entityType", entity.entity_type().into());
    }
    for field in fields {
        if let Some(value) = entity.data().get(field) {
            members.set(field, value.clone());
        }
    }
    Data::Map(members)
}
