//! JSON Schemas of arguments, derived from the structs that parse them. Agents pay for each byte, so a schema holds only
//! keywords that restrict or explain an argument.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::Deserialize;
use serde_json::{Value, json};

/// The arguments of a tool that has none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

/// Returns the schema of the arguments that `T` parses. The comment of a field is its description.
pub(crate) fn of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let generator = settings.with_transform(RecursiveTransform(shorten)).into_generator();
    let mut schema = std::mem::take(generator.into_root_schema_for::<T>().ensure_object());
    // The comment of the struct is written for readers of the code.
    schema.remove("description");
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// Returns one schema for arguments that two structs parse.
pub(crate) fn join(mut schema: JsonObject, other: JsonObject) -> JsonObject {
    for (keyword, value) in other {
        match (schema.get_mut(&keyword), value) {
            (Some(Value::Object(properties)), Value::Object(more)) => properties.extend(more),
            (Some(Value::Array(required)), Value::Array(more)) => required.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(schema.insert(keyword, value)),
        }
    }
    schema
}

/// Removes keywords that neither restrict nor explain. Null stands for an omitted argument everywhere, so a schema
/// permits it only when it is marked with `nullable`.
fn shorten(schema: &mut Schema) {
    for keyword in ["title", "format", "default"] {
        schema.remove(keyword);
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
        schema.remove("additionalProperties");
    }
    if schema.remove("nullable").is_some() {
        return;
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [name] = types.as_slice() {
            let name = name.clone();
            schema.insert("type".to_owned(), name);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
        // The values show the type.
        schema.remove("type");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For readers of the code.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Arguments {
        /// one to three
        #[schemars(range(min = 1, max = 3))]
        side_count: Option<u32>,
        #[serde(default)]
        title: String,
        kind: Kind,
        other: Option<Kind>,
        #[schemars(length(max = 2))]
        points: Vec<Point>,
        #[schemars(extend("nullable" = true))]
        parent: Option<String>,
        config: JsonObject,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        One,
        Two,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Point {
        x: f64,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct MoreArguments {
        more: bool,
    }

    #[test]
    fn a_schema_is_short_and_as_strict_as_its_struct() {
        let point =
            json!({ "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] });
        let expected = json!({
            "type": "object",
            "properties": {
                "sideCount": { "description": "one to three", "type": "integer", "minimum": 1, "maximum": 3 },
                "title": { "type": "string" },
                "kind": { "enum": ["one", "two"] },
                "other": { "enum": ["one", "two"] },
                "points": { "type": "array", "maxItems": 2, "items": point },
                "parent": { "type": ["string", "null"] },
                "config": { "type": "object" },
                "more": { "type": "boolean" },
            },
            "required": ["kind", "points", "config", "more"],
            "additionalProperties": false
        });
        assert_eq!(Value::Object(join(of::<Arguments>(), of::<MoreArguments>())), expected);
        let none = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        assert_eq!(Value::Object(of::<NoArguments>()), none);
    }
}
