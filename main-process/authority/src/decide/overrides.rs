//! Overrides: setting, clearing, and making them what a board says itself.

use super::{Draft, draft::counted, nodes};
use crate::overrides::{lay_over, locator_of, node_of, words};
use shared_protocol::{
    Change, Code, NodeId, Override, OverrideKey, OverrideScope, PropKey, Refusal, SetOverride, Standing,
    TypeDef, TypeId, Value, WhichOverrides, limits::MAX_BATCH,
};
use std::{collections::BTreeMap, sync::Arc};

pub(super) fn set(draft: &mut Draft, set: &[SetOverride]) -> Result<String, Refusal> {
    if set.len() > MAX_BATCH {
        let message = format!("{} overrides are more than {MAX_BATCH} at once", set.len());
        return Err(Refusal::new(Code::LimitExceeded, message).hint("Set them in several steps."));
    }
    for one in set {
        set_one(draft, one)?;
    }
    Ok(match set {
        [one] => format!("Override {}", words(&draft.state, &one.key())),
        _ => format!("Override {}", counted(set.len(), "value")),
    })
}

fn set_one(draft: &mut Draft, one: &SetOverride) -> Result<(), Refusal> {
    let key = one.key();
    let mut after = Override {
        value: one.value.clone(),
        component: one.component.clone(),
        locator: one.locator.clone().filter(|locator| *locator != Value::Null),
    };
    if let Some(node) = node_of(&key).and_then(|id| draft.state.node(id)).filter(|_| !key.is_within()) {
        after.component.get_or_insert_with(|| Arc::from(node.type_id.as_str()));
        if after.locator.is_none() {
            after.locator = locator_of(&draft.state, node);
        }
    }
    if let Standing::Orphaned(reason) = draft.state.standing(&key, &after) {
        let message = format!("{} cannot be overridden: {}", words(&draft.state, &key), reason.words());
        let refusal = Refusal::new(Code::NotFound, message).field(key.path.as_str());
        let first = key.path.tokens().next().unwrap_or_default();
        return Err(match type_of(draft, &key, &after) {
            Some(def) => {
                let known = def.props.iter().map(|prop| prop.key.as_str());
                refusal.suggest(crate::rules::similar(&first, known))
            }
            None => refusal,
        });
    }
    check_value(draft, &key, &after)?;
    let before = draft.state.overrides.get(&key).cloned();
    if before.as_deref() == Some(&after) {
        return Ok(());
    }
    draft.push(Change::Override { key, before, after: Some(Arc::new(after)) })
}

/// The type that the values of an override must fit.
fn type_of(draft: &Draft, key: &OverrideKey, over: &Override) -> Option<Arc<TypeDef>> {
    let node = node_of(key).filter(|_| !key.is_within()).and_then(|id| draft.state.node(id));
    let id = match (node, key.scope) {
        (Some(node), _) => node.type_id.clone(),
        (None, OverrideScope::Component) if !key.is_within() => TypeId::parse(key.owner()).ok()?,
        _ => TypeId::parse(over.component.as_deref()?).ok()?,
    };
    draft.state.registry().require(&id).ok().cloned()
}

/// What the whole prop would be must be something that a person could have set there.
fn check_value(draft: &Draft, key: &OverrideKey, over: &Override) -> Result<(), Refusal> {
    let Some(def) = type_of(draft, key, over) else { return Ok(()) };
    let Some(prop) = key.path.tokens().next().and_then(|first| PropKey::parse(first).ok()) else {
        return Ok(());
    };
    let node = node_of(key).filter(|_| !key.is_within()).and_then(|id| draft.state.node(id));
    let mut props = match node {
        Some(node) => draft.state.plain_props(node),
        None => {
            let default = def.prop(prop.as_str()).and_then(|prop| prop.default.clone());
            default.map(|default| (prop.clone(), default)).into_iter().collect()
        }
    };
    let laid = lay_over(&mut props, &key.path, &over.value);
    match (laid, props.get(&prop)) {
        // Null takes a value away.
        (Some(()), None | Some(Value::Null)) => Ok(()),
        (Some(()), Some(value)) => crate::check_prop(draft.state.registry(), &def, &prop, value),
        // What a component shows within another has props that only the preview knows.
        (None, _) if key.is_within() => Ok(()),
        (None, _) => Err(no_place(draft, key)),
    }
}

fn no_place(draft: &Draft, key: &OverrideKey) -> Refusal {
    let message = format!("there is nothing at {}", words(&draft.state, key));
    Refusal::new(Code::NotFound, message).field(key.path.as_str())
}

pub(super) fn clear(draft: &mut Draft, which: &WhichOverrides) -> Result<String, Refusal> {
    let keys = draft.state.chosen_overrides(which);
    let mut cleared = 0;
    for key in &keys {
        let Some(before) = draft.state.overrides.get(key).cloned() else { continue };
        draft.push(Change::Override { key: key.clone(), before: Some(before), after: None })?;
        cleared += 1;
    }
    Ok(match &keys[..] {
        [key] => format!("Clear the override of {}", words(&draft.state, key)),
        _ => format!("Clear {}", counted(cleared, "override")),
    })
}

/// Into the props of nodes. What is for a component by itself stands in that component's file, which is not ours to read.
pub(super) fn promote(draft: &mut Draft, which: &WhichOverrides) -> Result<String, Refusal> {
    let keys = draft.state.chosen_overrides(which);
    if keys.is_empty() {
        return Err(Refusal::new(Code::NotFound, "there is no such override to promote"));
    }
    let mut failed: Vec<String> = Vec::new();
    for key in &keys {
        if let Err(refusal) = promote_one(draft, key) {
            failed.push(format!("{key}: {}", refusal.message));
        }
    }
    if !failed.is_empty() {
        let message = format!("{} of {} cannot be promoted", failed.len(), counted(keys.len(), "override"));
        let refusal = Refusal::new(Code::ValidationError, message).hint("Nothing was changed.");
        return Err(failed.into_iter().take(20).fold(refusal, Refusal::hint));
    }
    Ok(match &keys[..] {
        [key] => format!("Promote {}", words(&draft.state, key)),
        _ => format!("Promote {}", counted(keys.len(), "override")),
    })
}

fn promote_one(draft: &mut Draft, key: &OverrideKey) -> Result<(), Refusal> {
    let refuse = |message: &str| Err(Refusal::new(Code::ValidationError, message));
    let Some(over) = draft.state.overrides.get(key).cloned() else {
        return refuse("there is no such override");
    };
    let instance = match draft.state.standing(key, &over) {
        Standing::Applies(instance) => instance,
        Standing::Orphaned(reason) => return refuse(reason.words()),
    };
    if key.is_within() || key.scope == OverrideScope::Component {
        return refuse("it stands on no board: change the component that shows it");
    }
    let Ok(node) = instance.parse::<NodeId>() else { return refuse("it stands on no board") };
    let found = draft.node(node)?.clone();
    let mut props = draft.state.plain_props(&found);
    if lay_over(&mut props, &key.path, &over.value).is_none() {
        return Err(no_place(draft, key));
    }
    let first = key.path.tokens().next().and_then(|first| PropKey::parse(first).ok());
    let Some((prop, value)) = first.and_then(|prop| props.remove_entry(&prop)) else {
        return Err(no_place(draft, key));
    };
    let def = draft.type_of(&found)?;
    nodes::set_props(draft, node, &def, &BTreeMap::from([(prop, value)]))?;
    draft.push(Change::Override { key: key.clone(), before: Some(over), after: None })
}
