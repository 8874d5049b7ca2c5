//! Setting, clearing and promoting overrides. Promoting writes the value to the property of the node.

use super::{CommandDraft, nodes};
use crate::overrides::{describe_key, locator_of, set_at_path};
use shared_protocol::{
    Change, NodeId, Override, OverrideKey, OverrideResolution, OverrideSelector, PropKey, PropValue, Refusal,
    RefusalCode, SetOverride, limits::MAX_BATCH_COMMANDS, overrides::PromotionFailure, text::count_noun,
    v0::ValidationCode,
};
use std::{collections::BTreeMap, sync::Arc};

pub(super) fn set(draft: &mut CommandDraft, set: &[SetOverride]) -> Result<String, Refusal> {
    if set.len() > MAX_BATCH_COMMANDS {
        let message = format!("the command sets {} overrides; the limit is {MAX_BATCH_COMMANDS}", set.len());
        return Err(Refusal::new(RefusalCode::LimitExceeded, message).hint("Set them in several commands."));
    }
    for one in set {
        set_one(draft, one)?;
    }
    Ok(match set {
        [one] => format!("Override {}", describe_key(&draft.state, &one.key())),
        _ => format!("Override {}", count_noun(set.len(), "value")),
    })
}

fn set_one(draft: &mut CommandDraft, one: &SetOverride) -> Result<(), Refusal> {
    let key = one.key();
    let mut after = Override {
        value: one.value.clone(),
        component: one.component.clone(),
        locator: one.locator.clone().filter(|locator| *locator != PropValue::Null),
    };
    let (scope, instance) = (key.scope, Arc::clone(&key.instance));
    if let Ok(found) = draft.state.instance(scope, &instance) {
        after.component.get_or_insert_with(|| Arc::from(found.def.id.as_str()));
    }
    if after.locator.is_none() {
        after.locator = locator_of(&draft.state, scope, &instance);
    }
    if let OverrideResolution::Orphaned(reason) = draft.state.resolve_override(&key, &after) {
        let message =
            format!("{} cannot be overridden: {}", describe_key(&draft.state, &key), reason.describe());
        let refusal = Refusal::new(RefusalCode::NotFound, message).field(key.path.as_str());
        let first = key.path.tokens().next().unwrap_or_default();
        return Err(match draft.state.instance(scope, &instance) {
            Ok(found) => {
                let known = found.def.props.iter().map(|prop| prop.key.as_str());
                refusal.suggest(crate::rules::similar(&first, known))
            }
            Err(_) => refusal,
        });
    }
    check_value(draft, &key, &after)?;
    // An override that a locator rebound to this instance moves to the new key.
    let former = draft.state.override_for(&key).filter(|(kept, _)| **kept != key);
    if let Some((former, before)) = former.map(|(kept, over)| (kept.clone(), Arc::clone(over))) {
        draft.push(Change::Override { key: former, before: Some(before), after: None })?;
    }
    let before = draft.state.overrides.get(&key).cloned();
    if before.as_deref() == Some(&after) {
        return Ok(());
    }
    draft.push(Change::Override { key, before, after: Some(Arc::new(after)) })
}

/// The property as a whole must stay valid with the override applied.
fn check_value(draft: &CommandDraft, key: &OverrideKey, over: &Override) -> Result<(), Refusal> {
    let Ok(mut found) = draft.state.instance(key.scope, &key.instance) else { return Ok(()) };
    let Some(prop) = key.path.tokens().next().and_then(|first| PropKey::parse(first).ok()) else {
        return Ok(());
    };
    let laid = set_at_path(&mut found.props, &key.path, &over.value);
    match (laid, found.props.get(&prop)) {
        // Null unsets the property.
        (Some(()), None | Some(PropValue::Null)) => Ok(()),
        (Some(()), Some(value)) => crate::check_prop(draft.state.registry(), found.def, &prop, value),
        // Values that a component computes for its parts are known to the preview only.
        (None, _) if key.is_nested_part() => Ok(()),
        (None, _) => Err(value_not_found(draft, key)),
    }
}

fn value_not_found(draft: &CommandDraft, key: &OverrideKey) -> Refusal {
    let message = format!("there is no value at {}", describe_key(&draft.state, key));
    Refusal::new(RefusalCode::NotFound, message).field(key.path.as_str())
}

pub(super) fn clear(draft: &mut CommandDraft, which: &OverrideSelector) -> Result<String, Refusal> {
    let keys = draft.state.select_overrides(which);
    let mut cleared = 0;
    for key in &keys {
        let Some(before) = draft.state.overrides.get(key).cloned() else { continue };
        draft.push(Change::Override { key: key.clone(), before: Some(before), after: None })?;
        cleared += 1;
    }
    Ok(match &keys[..] {
        [key] => format!("Clear the override of {}", describe_key(&draft.state, key)),
        _ => format!("Clear {}", count_noun(cleared, "override")),
    })
}

/// Writes overrides to the properties of nodes. An override of a component itself, or of a part of one, belongs in the
/// component's file, which this crate does not read.
pub(super) fn promote(draft: &mut CommandDraft, which: &OverrideSelector) -> Result<String, Refusal> {
    let keys = draft.state.select_overrides(which);
    if keys.is_empty() {
        return Err(Refusal::new(RefusalCode::NotFound, "there is no matching override to promote"));
    }
    let mut failed: Vec<PromotionFailure> = Vec::new();
    for key in &keys {
        if let Err((code, message)) = promote_one(draft, key) {
            failed.push(PromotionFailure::new(key, code, message));
        }
    }
    if !failed.is_empty() {
        return Err(Refusal::promotion_failed(failed, keys.len()));
    }
    Ok(match &keys[..] {
        [key] => format!("Promote {}", describe_key(&draft.state, key)),
        _ => format!("Promote {}", count_noun(keys.len(), "override")),
    })
}

fn promote_one(draft: &mut CommandDraft, key: &OverrideKey) -> Result<(), (ValidationCode, String)> {
    let not_found = |message: &str| (ValidationCode::NotFound, message.to_owned());
    let unfit = |refusal: Refusal| (ValidationCode::Unpromotable, refusal.message);
    let over = draft.state.overrides.get(key).cloned();
    let over = over.ok_or_else(|| not_found("the override does not exist"))?;
    let instance = match draft.state.resolve_override(key, &over) {
        OverrideResolution::Applies(instance) => instance,
        OverrideResolution::Orphaned(reason) => return Err(not_found(reason.describe())),
    };
    let Ok(node) = instance.parse::<NodeId>() else {
        let message = "it is not on a board: edit the file of its component instead";
        return Err((ValidationCode::Unpromotable, message.to_owned()));
    };
    let found = draft.node(node).map_err(unfit)?.clone();
    let mut props = draft.state.plain_props(&found);
    let first = key.path.tokens().next().and_then(|first| PropKey::parse(first).ok());
    let laid = set_at_path(&mut props, &key.path, &over.value);
    let entry = laid.and(first).and_then(|prop| props.remove_entry(&prop));
    let (prop, value) = entry.ok_or_else(|| unfit(value_not_found(draft, key)))?;
    let def = draft.type_of(&found).map_err(unfit)?;
    nodes::set_props(draft, node, &def, &BTreeMap::from([(prop, value)])).map_err(unfit)?;
    draft.push(Change::Override { key: key.clone(), before: Some(over), after: None }).map_err(unfit)
}
