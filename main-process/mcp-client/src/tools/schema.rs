//! A compiled schema of a tool. It fetches nothing and limits regex backtracking.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

const BACKTRACK_LIMIT: usize = 10_000;
const MAX_SCHEMA_ERRORS: usize = 3;

pub(crate) struct ToolSchema(Validator);

impl ToolSchema {
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        jsonschema::options()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
            .should_ignore_unknown_formats(true)
            .build(schema)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    /// Returns the field and the reason without the value, which may be private.
    pub(crate) fn check(&self, value: &Value) -> Result<(), (String, String)> {
        let mut findings = self.0.iter_errors(value).take(MAX_SCHEMA_ERRORS).peekable();
        let Some(first) = findings.peek() else { return Ok(()) };
        let field = first.instance_path().as_str().trim_start_matches('/').replace('/', ".");
        let all: Vec<String> = findings.map(|finding| finding.masked_with("the value").to_string()).collect();
        Err((field, all.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_finding_says_where_and_not_what() {
        let schema = ToolSchema::new(
            &json!({"type": "object", "properties": {"to": {"properties": {"path": {"type": "string"}}}}}),
        );
        let schema = schema.expect("a schema");
        assert_eq!(schema.check(&json!({"to": {"path": "x"}})), Ok(()));
        let (field, message) = schema.check(&json!({"to": {"path": 424242}})).expect_err("not a text");
        assert_eq!(field, "to.path");
        assert!(message.contains("string") && !message.contains("424242"), "{message}");
    }

    #[test]
    fn a_schema_elsewhere_is_not_fetched() {
        assert!(ToolSchema::new(&json!({"$ref": "https://example.org/schema.json"})).is_err());
        assert!(ToolSchema::new(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }
}
