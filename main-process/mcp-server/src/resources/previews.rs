//! Overrides and preview sessions in the shapes of the v0 contract.

use super::MAX_RESOURCE_BYTES;
use crate::escape::escape_hidden;
use crate::{AgentWorkspaceView, escape, tools::shape};
use authority::overrides::locator_of;
use serde_json::{Map, Value, json};
use shared_protocol::{
    Override, OverrideKey, OverrideResolution, OverrideScope, PropKey, TypeDef, TypeId,
    overrides::to_file,
    preview_sessions::{PreviewSessionStatus, PreviewSessionView, PreviewTarget, SelectedInstance},
    secret_names::looks_secret,
};

use std::collections::BTreeMap;

const NO_PREVIEW: &str = "no preview is running";

/// Returns every override with its state, and the file as it would be written.
pub(super) fn overrides(workspace: &AgentWorkspaceView, now: u64) -> Value {
    let snapshot = &workspace.snapshot;
    let (mut applying, mut orphaned, mut bytes, mut left_out) = (Vec::new(), Vec::new(), 0, 0);
    for (key, over) in snapshot.overrides() {
        let mut entry = override_shape(key, over);
        bytes += entry.to_string().len() * 2;
        if bytes > MAX_RESOURCE_BYTES {
            left_out += 1;
            continue;
        }
        match snapshot.resolve_override(key, over) {
            OverrideResolution::Applies(instance) => {
                entry["appliesTo"] = json!(escape_hidden(&instance));
                applying.push(entry);
            }
            OverrideResolution::Orphaned(reason) => {
                entry["reason"] = json!(reason);
                entry["message"] = json!(reason.describe());
                orphaned.push(entry);
            }
        }
    }
    let status = match (applying.len(), orphaned.len(), left_out) {
        (_, _, left_out) if left_out > 0 => format!("truncated: {left_out} overrides omitted"),
        (0, 0, _) => "no overrides".to_owned(),
        (applying, 0, _) => format!("{applying} applied"),
        (applying, orphaned, _) => format!("{applying} applied, {orphaned} orphaned"),
    };
    let kept = snapshot.overrides().filter(|_| left_out == 0).map(|(key, over)| (key, over.as_ref()));
    json!({
        "schemaVersion": "v0",
        "status": status,
        "revision": workspace.revision(),
        "overrides": applying,
        "orphaned": orphaned,
        "persisted": persisted(kept, now),
    })
}

/// Returns the file content without values that look like secrets.
fn persisted<'a>(kept: impl Iterator<Item = (&'a OverrideKey, &'a Override)>, now: u64) -> Value {
    let is_plain = |key: &OverrideKey| !key.path.tokens().any(|token| looks_secret(&token));
    let file = to_file(kept.filter(|(key, _)| is_plain(key)), now);
    escape::escape_hidden_json(serde_json::to_value(file).unwrap_or_default())
}

fn override_shape(key: &OverrideKey, over: &Override) -> Value {
    let mut entry = json!({
        "scope": key.scope,
        "instanceId": escape_hidden(&key.instance),
        "path": escape_hidden(key.path.as_str()),
        "value": shape::override_value(key, &over.value),
    });
    if let Some(component) = &over.component {
        entry["componentTypeId"] = json!(escape_hidden(component));
    }
    if let Some(locator) = &over.locator {
        entry["instanceLocator"] =
            escape::escape_hidden_json(serde_json::to_value(locator).unwrap_or_default());
    }
    entry
}

pub(super) fn sessions(workspace: &AgentWorkspaceView) -> Value {
    let previews = &workspace.previews;
    let status = match (&previews.unavailable, previews.sessions.len()) {
        (Some(why), _) => escape_hidden(why).into_owned(),
        (None, 0) => NO_PREVIEW.to_owned(),
        (None, count) => format!("{count} sessions"),
    };
    let sessions: Vec<Value> =
        previews.sessions.iter().map(|session| session_shape(workspace, session)).collect();
    json!({ "status": status, "sessions": sessions })
}

/// Returns a one-line summary of each session for the context.
pub(crate) fn summarize_sessions(workspace: &AgentWorkspaceView) -> Vec<Value> {
    let brief = |session: &PreviewSessionView| {
        json!({
            "sessionId": session.id.to_string(), "title": escape_hidden(&session.title),
            "state": state_word(&session.state), "selected": session.selected.as_ref().map(|s| escape_hidden(&s.instance)),
        })
    };
    workspace.previews.sessions.iter().map(brief).collect()
}

fn session_shape(workspace: &AgentWorkspaceView, session: &PreviewSessionView) -> Value {
    let problems = session.problems.iter().take(50).map(|problem| {
        json!({
            "file": escape_hidden(&problem.file), "line": problem.line, "column": problem.column,
            "message": escape_hidden(&problem.message), "instanceId": problem.instance.as_deref().map(escape_hidden),
        })
    });
    let mut entry = json!({
        "sessionId": session.id.to_string(),
        "type": type_word(&session.shows),
        "target": target(workspace, &session.shows),
        "title": escape_hidden(&session.title),
        "state": state_word(&session.state),
        "ready": session.state == PreviewSessionStatus::Ready,
        "adapter": {
            "id": "draftboard.preview", "version": env!("CARGO_PKG_VERSION"),
            "capabilities": { "selection": true, "overrides": true },
        },
        "mode": session.mode,
        "screen": {
            "width": session.screen.width, "height": session.screen.height,
            "scale": session.screen.scale(), "dark": session.screen.dark,
        },
        "problems": problems.collect::<Vec<_>>(),
        "quarantined": session.quarantined.iter().map(|id| escape_hidden(id)).collect::<Vec<_>>(),
    });
    if let PreviewSessionStatus::Failed(failed) = &session.state {
        entry["error"] = json!(escape_hidden(&failed.what));
    }
    entry
}

fn type_word(shows: &PreviewTarget) -> &'static str {
    match shows {
        PreviewTarget::Route(_) => "app",
        PreviewTarget::Component { .. } => "component",
        PreviewTarget::Variant { .. } => "variant",
    }
}

fn target(workspace: &AgentWorkspaceView, shows: &PreviewTarget) -> Value {
    match shows {
        PreviewTarget::Route(route) => {
            let node = workspace.snapshot.node(*route);
            let path = node.and_then(|node| workspace.snapshot.effective_props(node).remove("path"));
            json!({
                "type": "app", "route": route, "name": node.map(|node| node.name.as_str()),
                "path": path.and_then(|path| path.as_text().map(str::to_owned)),
            })
        }
        PreviewTarget::Component { component } => {
            json!({ "type": "component", "componentTypeId": escape_hidden(component) })
        }
        PreviewTarget::Variant { component, variant } => {
            json!({ "type": "variant", "componentTypeId": escape_hidden(component), "variantId": escape_hidden(variant) })
        }
    }
}

fn state_word(state: &PreviewSessionStatus) -> &'static str {
    match state {
        PreviewSessionStatus::Creating => "creating",
        PreviewSessionStatus::Loading => "loading",
        PreviewSessionStatus::Ready => "ready",
        PreviewSessionStatus::Reloading => "reloading",
        PreviewSessionStatus::Stopped => "stopped",
        PreviewSessionStatus::Failed(_) => "error",
    }
}

/// Returns the selected instance of each session with its details.
pub(super) fn selection(workspace: &AgentWorkspaceView) -> Value {
    let sessions: Vec<Value> = workspace
        .previews
        .sessions
        .iter()
        .map(|session| match &session.selected {
            None => json!({ "sessionId": session.id.to_string(), "selected": null }),
            Some(selected) => selected_shape(workspace, session, selected),
        })
        .collect();
    let first = sessions.iter().find(|session| !session["selected"].is_null());
    let status = match (sessions.is_empty(), first) {
        (true, _) => NO_PREVIEW,
        (false, None) => "nothing is selected",
        (false, Some(_)) => "an instance is selected",
    };
    let selected = first.map_or(Value::Null, |session| session["selected"].clone());
    json!({ "status": status, "selected": selected, "sessions": sessions })
}

fn selected_shape(
    workspace: &AgentWorkspaceView,
    session: &PreviewSessionView,
    selected: &SelectedInstance,
) -> Value {
    let snapshot = &workspace.snapshot;
    let def = TypeId::parse(selected.component.as_str()).ok();
    let def = def.and_then(|id| snapshot.registry().get(&id));
    let scope = scope_of(&session.shows);
    // A part of a component is not on a board.
    let own = selected.node.filter(|_| !selected.instance.contains('/')).and_then(|id| snapshot.node(id));
    // Omits the values that the surrounding component computes for a part; only the preview knows them.
    let props = snapshot.effective_props_of(scope, &selected.instance).map(|props| effective(def, &props));
    let source = (!selected.file.is_empty())
        .then(|| json!({ "filePath": escape_hidden(&selected.file), "line": selected.line.max(1) }));
    let mut descriptor = json!({
        "sessionId": session.id.to_string(),
        "instanceId": escape_hidden(&selected.instance),
        "componentTypeId": escape_hidden(&selected.component),
    });
    let name = own.map(|node| node.label.as_str()).or(def.map(|def| def.title.as_str()));
    let locator = locator_of(snapshot, scope, &selected.instance);
    let locator = locator.and_then(|locator| serde_json::to_value(locator).ok());
    for (key, value) in [
        ("displayName", name.map(|name| json!(escape_hidden(name)))),
        ("props", props.clone()),
        ("source", source.clone()),
        ("instanceLocator", locator),
    ] {
        if let Some(value) = value {
            descriptor[key] = value;
        }
    }
    let around = selected.node.and_then(|id| snapshot.node(id));
    json!({
        "sessionId": session.id.to_string(),
        "selected": descriptor,
        "registryMatch": def.is_some(),
        "graph": {
            "componentType": def.map(|def| json!({ "kind": "componentType", "id": def.id })),
            "node": around.map(|node| json!({ "id": node.id, "name": node.name, "label": escape_hidden(&node.label) })),
            "board": around.and_then(|node| snapshot.board(node.board)).map(|board| board.name.as_str()),
            "route": session.route,
        },
        "effectiveProps": props,
        "source": source,
    })
}

fn scope_of(shows: &PreviewTarget) -> OverrideScope {
    match shows {
        PreviewTarget::Route(_) => OverrideScope::App,
        PreviewTarget::Component { .. } | PreviewTarget::Variant { .. } => OverrideScope::Component,
    }
}

fn effective(def: Option<&TypeDef>, props: &BTreeMap<PropKey, shared_protocol::PropValue>) -> Value {
    let props: Map<String, Value> =
        props.iter().map(|(key, value)| (key.to_string(), shape::property(def, key, value))).collect();
    Value::Object(props)
}
