//! Reads plans: the changed resources, attribute by attribute, without secrets.

use super::{diagnostic::node_of, event::ResourceAction, runner::RunError};
use crate::generate::GeneratedHcl;
use serde_json::Value as Json;
use shared_protocol::terraform::{PlanAttribute, PlanChange, PlannedAction};

/// The maximum number of attribute differences per resource.
const MAX_ATTRIBUTE_DIFFERENCES: usize = 500;
const MAX_ATTRIBUTE_DEPTH: usize = 12;

/// Reads the changes from the output of `show -json`, without those that have no effect.
pub(super) fn read_changes(text: &[u8], generated: &GeneratedHcl) -> Result<Vec<PlanChange>, RunError> {
    let json: Json = serde_json::from_slice(text).map_err(|error| RunError::Plan(error.to_string()))?;
    let changes = json["resource_changes"].as_array().into_iter().flatten();
    Ok(changes.filter_map(|change| read_change(change, generated)).collect())
}

fn read_change(json: &Json, generated: &GeneratedHcl) -> Option<PlanChange> {
    let address = json["address"].as_str()?.to_owned();
    let change = &json["change"];
    let words: Vec<&str> = change["actions"].as_array()?.iter().filter_map(Json::as_str).collect();
    let action = match words[..] {
        ["delete", "create"] | ["create", "delete"] => PlannedAction::Replace,
        [word] => ResourceAction::parse(word)?.planned()?,
        _ => return None,
    };
    let mut attributes = Vec::new();
    let sides = ComparedValues {
        before: &change["before"],
        after: &change["after"],
        before_sensitive: &change["before_sensitive"],
        after_sensitive: &change["after_sensitive"],
        unknown: &change["after_unknown"],
    };
    compare(sides, String::new(), 0, &mut attributes);
    let forces: Vec<String> = change["replace_paths"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|path| path.as_array())
        .map(|path| path_of(path))
        .collect();
    for difference in &mut attributes {
        difference.forces_replacement = forces.iter().any(|path| difference.path.starts_with(path.as_str()));
    }
    let reason = json["action_reason"].as_str().map(describe_reason);
    Some(PlanChange { node: node_of(generated, &address), address, action, reason, attributes })
}

/// Terraform's reason codes as words.
fn describe_reason(code: &str) -> String {
    match code {
        "replace_because_tainted" => "it is tainted",
        "replace_because_cannot_update" => "it cannot be changed in place",
        "replace_by_request" => "its replacement was requested",
        "replace_by_triggers" => "a resource that triggers its replacement changes",
        "delete_because_no_resource_config" => "it is no longer on the board",
        "delete_because_no_module" => "its module is no longer on the board",
        "read_because_config_unknown" => "its configuration is known only after apply",
        "read_because_dependency_pending" => "a resource it depends on changes first",
        other => return other.replace('_', " "),
    }
    .to_owned()
}

fn path_of(parts: &[Json]) -> String {
    let mut path = String::new();
    for part in parts {
        match part {
            Json::String(name) => join(&mut path, name),
            other => path.push_str(&format!("[{other}]")),
        }
    }
    path
}

fn join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// A value before and after the change, with its sensitive and unknown marks.
#[derive(Clone, Copy)]
struct ComparedValues<'a> {
    before: &'a Json,
    after: &'a Json,
    before_sensitive: &'a Json,
    after_sensitive: &'a Json,
    unknown: &'a Json,
}

impl<'a> ComparedValues<'a> {
    fn map(self, step: impl Fn(&'a Json) -> &'a Json, flag: impl Fn(&'a Json) -> &'a Json) -> Self {
        Self {
            before: step(self.before),
            after: step(self.after),
            before_sensitive: flag(self.before_sensitive),
            after_sensitive: flag(self.after_sensitive),
            unknown: flag(self.unknown),
        }
    }
}

fn compare(sides: ComparedValues<'_>, path: String, depth: usize, found: &mut Vec<PlanAttribute>) {
    if found.len() >= MAX_ATTRIBUTE_DIFFERENCES {
        return;
    }
    let marked = |flag: &Json| flag == &Json::Bool(true);
    let sensitive = marked(sides.before_sensitive) || marked(sides.after_sensitive);
    let is_leaf = sensitive || marked(sides.unknown) || depth >= MAX_ATTRIBUTE_DEPTH;
    let keys: Option<Vec<String>> = match (sides.before, sides.after) {
        _ if is_leaf => None,
        (Json::Object(before), Json::Object(after)) => {
            let unknown = sides.unknown.as_object().into_iter().flat_map(|map| map.keys());
            let mut keys: Vec<String> = before.keys().chain(after.keys()).chain(unknown).cloned().collect();
            keys.sort();
            keys.dedup();
            Some(keys)
        }
        (Json::Object(one), Json::Null) | (Json::Null, Json::Object(one)) => {
            let unknown = sides.unknown.as_object().into_iter().flat_map(|map| map.keys());
            let mut keys: Vec<String> = one.keys().chain(unknown).cloned().collect();
            keys.sort();
            keys.dedup();
            Some(keys)
        }
        _ => None,
    };
    if let Some(keys) = keys {
        for key in keys {
            let mut path = path.clone();
            join(&mut path, &key);
            compare(
                sides.map(|value| &value[&key], |flag| inner(flag, |flag| &flag[&key])),
                path,
                depth + 1,
                found,
            );
        }
        return;
    }
    if let (false, Json::Array(before), Json::Array(after)) = (is_leaf, sides.before, sides.after) {
        for index in 0..before.len().max(after.len()) {
            let path = format!("{path}[{index}]");
            compare(
                sides.map(|value| &value[index], |flag| inner(flag, |flag| &flag[index])),
                path,
                depth + 1,
                found,
            );
        }
        return;
    }
    // When any part is sensitive, the whole value is hidden.
    let hides = |flag: &Json| holds_true(flag);
    if sides.before == sides.after && !holds_true(sides.unknown) {
        return;
    }
    let show = |value: &Json, flag: &Json| match value {
        Json::Null => None,
        _ if hides(flag) => Some("(sensitive)".to_owned()),
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let before = show(sides.before, sides.before_sensitive);
    let after = if holds_true(sides.unknown) {
        Some("(known after apply)".to_owned())
    } else {
        show(sides.after, sides.after_sensitive)
    };
    if before.is_none() && after.is_none() {
        return;
    }
    found.push(PlanAttribute { path, before, after, forces_replacement: false });
}

/// Returns the mark of a part; a mark on the whole applies to all parts.
fn inner<'a>(flag: &'a Json, step: impl Fn(&'a Json) -> &'a Json) -> &'a Json {
    if flag == &Json::Bool(true) { flag } else { step(flag) }
}

fn holds_true(flag: &Json) -> bool {
    match flag {
        Json::Bool(value) => *value,
        Json::Array(items) => items.iter().any(holds_true),
        Json::Object(fields) => fields.values().any(holds_true),
        _ => false,
    }
}
