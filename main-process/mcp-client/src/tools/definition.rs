//! A tool definition of a server in canonical form, so that any change is detected.

use super::ToolSchema;
use rmcp::model;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::sync::OnceLock;

/// The parts that agents and people rely on. Icons and metadata are not included.
const PARTS: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
const MAX_DEFINITION_BYTES: usize = 256 << 10;

pub(crate) struct ToolDefinition {
    value: Value,
    hash: String,
    input: OnceLock<Result<ToolSchema, String>>,
    output: OnceLock<Option<Result<ToolSchema, String>>>,
}

impl ToolDefinition {
    /// Returns the reason when the definition cannot be used.
    pub(crate) fn new(tool: &model::Tool) -> Result<Self, String> {
        let mut whole = serde_json::to_value(tool).map_err(|error| error.to_string())?;
        let mut value = Map::new();
        for part in PARTS {
            if let Some(found) = whole.get_mut(part).filter(|found| !found.is_null()) {
                value.insert(part.to_owned(), found.take());
            }
        }
        let value = Value::Object(value);
        let text = canonical_text(&value);
        if text.len() > MAX_DEFINITION_BYTES {
            return Err(format!(
                "its definition has {} bytes; the limit is {MAX_DEFINITION_BYTES}",
                text.len()
            ));
        }
        if tool.name.is_empty() || tool.name.chars().count() > 128 {
            return Err("its name is empty or longer than 128 characters".to_owned());
        }
        Ok(Self { hash: hash_of(&text), value, input: OnceLock::new(), output: OnceLock::new() })
    }

    pub(crate) fn name(&self) -> &str {
        self.part("name").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn part(&self, name: &str) -> Option<&Value> {
        self.value.get(name)
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// Compiled on the first call, because most tools are never called.
    pub(crate) fn input(&self) -> &Result<ToolSchema, String> {
        self.input.get_or_init(|| ToolSchema::new(self.part("inputSchema").unwrap_or(&Value::Bool(true))))
    }

    pub(crate) fn output(&self) -> &Option<Result<ToolSchema, String>> {
        self.output.get_or_init(|| self.part("outputSchema").map(ToolSchema::new))
    }
}

/// A definition as a person has approved it.
pub(crate) struct ApprovedDefinition {
    pub(crate) value: Value,
    hash: String,
}

impl ApprovedDefinition {
    pub(crate) fn new(value: Value) -> Self {
        let hash = hash_of(&canonical_text(&value));
        Self { value, hash }
    }

    pub(crate) fn matches(&self, definition: &ToolDefinition) -> bool {
        self.hash == definition.hash
    }
}

fn hash_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the same text for equal values, independent of member order.
fn canonical_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn definition(value: Value) -> ToolDefinition {
        ToolDefinition::new(&serde_json::from_value(value).expect("a tool")).expect("usable")
    }

    #[test]
    fn order_and_metadata_do_not_matter_and_words_do() {
        let one = definition(
            json!({"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}}),
        );
        let same = definition(
            json!({"inputSchema": {"properties": {"b": {}, "a": {}}, "type": "object"}, "description": "d", "name": "t", "_meta": {"x": 1}}),
        );
        assert_eq!(one.hash(), same.hash());
        let hints = definition(
            json!({"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}, "annotations": {"readOnlyHint": true}}),
        );
        assert_ne!(one.hash(), hints.hash());
        let order = definition(
            json!({"name": "t", "description": "d", "inputSchema": {"type": "object", "required": ["a", "b"]}}),
        );
        let other = definition(
            json!({"name": "t", "description": "d", "inputSchema": {"type": "object", "required": ["b", "a"]}}),
        );
        assert_ne!(order.hash(), other.hash());
    }
}
