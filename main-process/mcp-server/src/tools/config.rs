//! The project configuration without secrets.

use super::shape::REDACTED;
use crate::{EnvelopeMeta, SurfaceTool, ToolReply, escape::escape_hidden_json, schema::NoArguments};
use serde_json::{Value, json};
use shared_protocol::secret_names::looks_secret;

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::read(
        "diagram",
        "get_project_config",
        "Get project config",
        "Get the project configuration (draftboard.toml). Sensitive fields are redacted. Drafts do not change it.",
        json!({ "type": "object" }),
        |call, _: NoArguments| {
            let workspace = call.workspace()?;
            let meta = EnvelopeMeta { revision: workspace.revision().0, ..EnvelopeMeta::default() };
            ToolReply::new(&redact(&workspace.config), meta)
        },
    )
    .of_drafts()
}

/// Returns a copy that redacts fields with secret-sounding names at any depth.
pub(crate) fn redact(config: &Value) -> Value {
    fn walk(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let field = |(key, value): (&String, &Value)| {
                    let hidden = looks_secret(key) && !value.is_object() && !value.is_null();
                    (key.clone(), if hidden { Value::String(REDACTED.to_owned()) } else { walk(value) })
                };
                Value::Object(fields.iter().map(field).collect())
            }
            Value::Array(items) => items.iter().map(walk).collect(),
            other => other.clone(),
        }
    }
    escape_hidden_json(walk(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out_at_any_depth() {
        let config = json!({
            "name": "x\u{202e}", "variables": { "db_password": "hunter2", "region": "eu", "deep": [{ "api_key": ["a", "b"] }] },
            "tokens": { "count": 3 }, "subscription_id": "0000"
        });
        assert_eq!(
            redact(&config),
            json!({
                "name": "x\\u{202e}", "variables": { "db_password": "[redacted]", "region": "eu", "deep": [{ "api_key": "[redacted]" }] },
                "tokens": { "count": 3 }, "subscription_id": "[redacted]"
            })
        );
    }
}
