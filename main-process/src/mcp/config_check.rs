//! Which fields of `draftboard.toml` an agent may name, and of which type each is. A person reads the change before it is made;
//! a misspelt key or a number where a text belongs is told to the agent instead, with the key and the expected type.

use serde_json::{Map, Value};
use shared_protocol::{Code, Refusal};

/// What a field holds. Null is allowed everywhere: it takes the field away.
enum FieldType {
    Text,
    TextList,
    Flag,
    Number,
    /// Whatever TOML can hold.
    Any,
    /// A table with these keys and no others.
    Table(&'static [(&'static str, FieldType)]),
    /// A table whose keys are names that people choose.
    Named(&'static FieldType),
}

use FieldType::{Any, Flag, Named, Number, Table, Text, TextList};

static PROJECT: FieldType = Table(&[
    ("name", Text),
    ("description", Text),
    ("modules", TextList),
    ("bundles", TextList),
    ("types", Named(&TYPE)),
    ("infrastructure", Table(&INFRASTRUCTURE)),
]);

static TYPE: FieldType = Table(&[("disabled", Flag), ("title", Text), ("props", Named(&PROP))]);

static PROP: FieldType = Table(&[
    ("label", Text),
    ("description", Text),
    ("group", Text),
    ("exposure", Any),
    ("required", Flag),
    ("default", Any),
    ("min", Number),
    ("max", Number),
    ("options", TextList),
]);

static INFRASTRUCTURE: [(&str, FieldType); 9] = [
    ("tags", Named(&Text)),
    ("naming", Table(&[("template", Text), ("env", Text), ("region", Text), ("org", Text)])),
    ("backend", Table(&[("type", Text), ("config", Named(&Any))])),
    ("providers", Named(&Named(&Any))),
    ("values", Named(&Any)),
    ("required-version", Text),
    ("program", Text),
    ("currency", Text),
    ("boards", Named(&BOARD)),
];

static BOARD: FieldType = Table(&INFRASTRUCTURE);

impl FieldType {
    fn words(&self) -> &'static str {
        match self {
            Text => "a text",
            TextList => "a list of texts",
            Flag => "true or false",
            Number => "a number",
            Any => "a value",
            Table(_) | Named(_) => "an object",
        }
    }

    fn check(&self, path: &str, value: &Value) -> Result<(), Refusal> {
        let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match (self, value) {
            (_, Value::Null)
            | (Any, _)
            | (Text, Value::String(_))
            | (Flag, Value::Bool(_))
            | (Number, Value::Number(_)) => Ok(()),
            (TextList, Value::Array(items)) if items.iter().all(Value::is_string) => Ok(()),
            (Table(fields), Value::Object(given)) => given.iter().try_for_each(|(key, value)| {
                let known = fields.iter().find(|(name, _)| name == key);
                let (_, field) = known.ok_or_else(|| unknown(&inner(key), fields))?;
                field.check(&inner(key), value)
            }),
            (Named(field), Value::Object(given)) => {
                given.iter().try_for_each(|(key, value)| field.check(&inner(key), value))
            }
            _ => {
                let message = format!("`{path}` is {}; expected {}", kind_of(value), self.words());
                Err(refusal(path, message).hint("Give it in the expected type, or null to remove it."))
            }
        }
    }
}

/// Refuses fields that the project's file has no place for.
pub(super) fn check(fields: &Map<String, Value>) -> Result<(), Refusal> {
    if fields.contains_key("format") {
        let message = "`format` is the version of the file; only Draftboard changes it";
        return Err(refusal("format", message.to_owned()).hint("Leave it out."));
    }
    PROJECT.check("", &Value::Object(fields.clone()))
}

fn unknown(path: &str, fields: &[(&str, FieldType)]) -> Refusal {
    let known: Vec<String> =
        fields.iter().map(|(name, field)| format!("{name} ({})", field.words())).collect();
    let key = path.rsplit('.').next().unwrap_or(path);
    refusal(
        path,
        format!("`{path}` is not a setting of draftboard.toml; expected one of {}", known.join(", ")),
    )
    .suggest(authority::similar(key, fields.iter().map(|(name, _)| *name)))
    .hint("get_project_config shows the settings that there are.")
}

fn refusal(path: &str, message: String) -> Refusal {
    Refusal::new(Code::ValidationError, message).field(format!("config.{path}"))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(items) if items.iter().all(Value::is_string) => "a list of texts",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_is_taken() {
        for fields in [
            json!({ "name": "Shop", "description": null, "modules": ["modules/*.json"] }),
            json!({ "types": { "aws/compute/instance": { "props": { "size": { "default": 3, "min": 1.5, "required": true } } } } }),
            json!({ "infrastructure": { "tags": { "team": "core" }, "boards": { "main": { "required-version": ">= 1.9" } } } }),
            json!({ "infrastructure": { "providers": { "aws": { "region": "eu", "retries": 3 } }, "backend": null } }),
        ] {
            check(fields.as_object().unwrap()).unwrap_or_else(|refusal| panic!("{fields}: {refusal}"));
        }
    }

    #[test]
    fn a_refusal_names_the_key_and_the_expected_type() {
        for (fields, field, words) in [
            (json!({ "name": 3 }), "config.name", "`name` is a number; expected a text"),
            (json!({ "modules": "x" }), "config.modules", "expected a list of texts"),
            (json!({ "bundles": ["a", 1] }), "config.bundles", "is a list; expected a list of texts"),
            (json!({ "region": "eu" }), "config.region", "`region` is not a setting"),
            (json!({ "another": { "table": 1 } }), "config.another", "expected one of name (a text)"),
            (json!({ "format": 2 }), "config.format", "only Draftboard"),
            (json!({ "infrastructure": [] }), "config.infrastructure", "expected an object"),
            (
                json!({ "infrastructure": { "tags": { "team": 1 } } }),
                "config.infrastructure.tags.team",
                "is a number; expected a text",
            ),
            (
                json!({ "infrastructure": { "requiredVersion": "1" } }),
                "config.infrastructure.requiredVersion",
                "required-version",
            ),
            (
                json!({ "types": { "a/b": { "disabled": "yes" } } }),
                "config.types.a/b.disabled",
                "expected true or false",
            ),
        ] {
            let refusal = check(fields.as_object().unwrap()).unwrap_err();
            assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
            assert!(refusal.message.contains(words), "{refusal}");
        }
    }
}
