//! Differences between the approved definition and the current one.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// The maximum number of differences; more would be a new tool rather than a changed one.
const MAX_DIFFERENCES: usize = 100;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefinitionDifference {
    /// The path of the part, such as `inputSchema.properties.path.type`.
    pub path: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

pub fn differences(before: &Value, after: &Value) -> Vec<DefinitionDifference> {
    let mut found = Vec::new();
    compare(String::new(), Some(before), Some(after), &mut found);
    found
}

fn compare(
    path: String,
    before: Option<&Value>,
    after: Option<&Value>,
    found: &mut Vec<DefinitionDifference>,
) {
    if before == after || found.len() == MAX_DIFFERENCES {
        return;
    }
    if let (Some(Value::Object(old)), Some(Value::Object(new))) = (before, after) {
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            compare(path, old.get(name), new.get(name), found);
        }
    } else {
        found.push(DefinitionDifference { path, before: before.cloned(), after: after.cloned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_difference_names_the_smallest_part() {
        let before =
            json!({"description": "Reads", "inputSchema": {"properties": {"path": {"type": "string"}}}});
        let after = json!({"description": "Reads and tells", "inputSchema": {"properties": {"path": {"type": "string"}, "to": {}}}});
        let found = differences(&before, &after);
        let paths: Vec<&str> = found.iter().map(|difference| difference.path.as_str()).collect();
        assert_eq!(paths, ["description", "inputSchema.properties.to"]);
        assert_eq!(found[0].before, Some(json!("Reads")));
        assert_eq!(found[1].before, None);
        assert!(differences(&before, &before).is_empty());
    }
}
