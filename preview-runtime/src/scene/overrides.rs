//! Applies overrides to the props of an instance.

use serde_json::{Map, Value};
use shared_protocol::{
    preview_wire::{SceneOverride, SceneOverrideStatus},
    v0::JsonPointer,
};

/// Returns the props with all overrides of this instance applied, and sets the status of each override.
pub(crate) fn props_of(
    instance: &str,
    mut props: Map<String, Value>,
    overrides: &[SceneOverride],
    statuses: &mut [SceneOverrideStatus],
) -> Map<String, Value> {
    for (over, status) in overrides.iter().zip(statuses) {
        if over.instance != instance {
            continue;
        }
        *status = match set(&mut props, &over.path, &over.value) {
            Some(()) => SceneOverrideStatus::Applied,
            None => SceneOverrideStatus::PathInvalid,
        };
    }
    props
}

/// Sets the value at the path. The first token must be an existing prop; only the last token may be a new key.
fn set(props: &mut Map<String, Value>, path: &JsonPointer, value: &Value) -> Option<()> {
    let tokens: Vec<String> = path.tokens().collect();
    let (first, rest) = tokens.split_first()?;
    let mut at = props.get_mut(first)?;
    for (index, token) in rest.iter().enumerate() {
        let last = index + 1 == rest.len();
        at = match at {
            Value::Object(map) => {
                if last && !map.contains_key(token) {
                    map.insert(token.clone(), Value::Null);
                }
                map.get_mut(token)?
            }
            Value::Array(list) => list.get_mut(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    *at = value.clone();
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn overrides_reach_into_props_and_say_when_they_cannot() {
        let over = |instance: &str, path: &str, value: Value| SceneOverride {
            instance: instance.to_owned(),
            path: JsonPointer::parse(path).unwrap(),
            value,
        };
        let props = json!({"a": 1, "list": [{"x": 1}], "deep": {}}).as_object().unwrap().clone();
        let overrides = [
            over("i", "/a", json!(2)),
            over("i", "/list/0/x", json!(3)),
            over("i", "/deep/new", json!(true)),
            over("i", "/nothing", json!(1)),
            over("i", "/list/9", json!(1)),
            over("i", "/a/b", json!(1)),
            over("i", "", json!({})),
            over("other", "/a", json!(9)),
        ];
        let mut statuses = [SceneOverrideStatus::InstanceMissing; 8];
        let found = props_of("i", props, &overrides, &mut statuses);
        assert_eq!(Value::Object(found), json!({"a": 2, "list": [{"x": 3}], "deep": {"new": true}}));
        use SceneOverrideStatus::{Applied as A, InstanceMissing as M, PathInvalid as P};
        assert_eq!(statuses, [A, A, A, P, P, P, P, M]);
    }
}
