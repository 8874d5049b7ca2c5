//! `read_entity`, `read_entities`.

use crate::{
    BundleEntity, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
};
use shared_protocol::{OrderedMembers, OrderedValue, Refusal, RefusalCode};

const MAX_IDS: usize = 50;

pub(super) fn read_one(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let (entity_type, id) = (arguments.required_text("entityType")?, arguments.required_text("id")?);
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = bundle
        .entity(entity_type, id)
        .ok_or_else(|| crate::envelope::entity_not_found(bundle.id(), entity_type, id))?;
    Ok(BundleToolResponse::new(entity.to_data()).with_bundle_id(bundle.id()))
}

pub(super) fn read_many(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let entity_type = arguments.required_text("entityType")?;
    let ids = arguments
        .texts("ids")?
        .ok_or_else(|| Refusal::new(RefusalCode::BadRequest, "ids is required").field("ids"))?;
    if ids.is_empty() || ids.len() > MAX_IDS {
        let message = format!("ids must name from 1 to {MAX_IDS} entities, not {}", ids.len());
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("ids"));
    }
    let fields = arguments.texts("fields")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let kind = bundle.kind(entity_type).ok_or_else(|| {
        Refusal::new(RefusalCode::NotFound, format!("Unknown entity type: {entity_type}"))
            .details([("bundleId", bundle.id().into()), ("entityType", entity_type.into())])
    })?;
    let mut entities = Vec::new();
    let mut missing = Vec::new();
    for &id in &ids {
        match kind.get(id) {
            Some(entity) => entities.push(match &fields {
                None => entity.to_data(),
                Some(fields) => select_fields(entity, fields, true),
            }),
            None => missing.push(id),
        }
    }
    let meta = [
        ("requested", ids.len().into()),
        ("found", entities.len().into()),
        ("notFound", OrderedValue::texts(missing)),
    ];
    let data = OrderedValue::map([("entityType", entity_type.into()), ("entities", entities.into())]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta(meta))
}

/// Returns an entity's id, optionally its type, and those of the requested fields that it has.
pub(super) fn select_fields(entity: &BundleEntity, fields: &[&str], with_type: bool) -> OrderedValue {
    let mut members = OrderedMembers::default();
    members.set("id", entity.id().into());
    if with_type {
        members.set("entityType", entity.entity_type().into());
    }
    for field in fields {
        if let Some(value) = entity.data().get(field) {
            members.set(field, value.clone());
        }
    }
    OrderedValue::Map(members)
}
