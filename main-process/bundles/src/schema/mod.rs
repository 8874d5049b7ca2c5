//! The JSON Schema of an entity type: compiled once, used for validation, and read for the references that it declares.
//!
//! A schema that does not compile disables only itself. Keywords outside JSON Schema are annotations, in the current
//! vocabulary (`x-sdd-…`) and in the older one (`x-refTargets`, …).

mod findings;
mod references;

pub(crate) use references::{SchemaPathStep, SchemaReference};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use shared_protocol::{OrderedMembers, OrderedValue};
use std::sync::Arc;

/// The maximum number of backtracking steps of a pattern before it counts as not matching.
pub(crate) const MAX_BACKTRACK_STEPS: usize = 100_000;

#[derive(Debug, Clone)]
pub(crate) struct EntitySchema {
    pub(crate) data: Arc<OrderedValue>,
    pub(crate) text: Arc<str>,
    pub(crate) references: Vec<SchemaReference>,
    validator: Option<Arc<Validator>>,
}

/// A violation of a schema by an entity: keyword, position and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaFinding {
    pub(crate) code: String,
    /// A JSON pointer; `/` for the entity itself.
    pub(crate) path: String,
    pub(crate) message: String,
}

/// The parsed text of a schema, not yet compiled, because others may refer to it.
pub(crate) struct ParsedSchema {
    pub(crate) text: String,
    pub(crate) data: OrderedValue,
    pub(crate) json: Value,
}

impl ParsedSchema {
    pub(crate) fn parse(text: String) -> Result<Self, String> {
        let data: OrderedValue = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let json = data.to_json();
        Ok(Self { text, data, json })
    }
}

impl EntitySchema {
    /// Compiles a schema. `all` are the bundle's schemas, which may refer to each other by `$id`. If compilation fails,
    /// the result has no validator and comes with the reason.
    pub(crate) fn compile(schema: &ParsedSchema, all: &[&ParsedSchema]) -> (Self, Option<String>) {
        let compiled = build(&schema.json, all);
        let problem = compiled.as_ref().err().cloned();
        let compiled = Self {
            data: Arc::new(schema.data.clone()),
            text: schema.text.as_str().into(),
            references: references::declared_references(&schema.data),
            validator: compiled.ok().map(Arc::new),
        };
        (compiled, problem)
    }

    /// Validates an entity. Returns no findings if the schema did not compile.
    pub(crate) fn findings(&self, entity: &OrderedValue) -> Vec<SchemaFinding> {
        let Some(validator) = &self.validator else { return Vec::new() };
        let json = entity.to_json();
        if validator.is_valid(&json) {
            Vec::new()
        } else {
            findings::findings_of_errors(validator.iter_errors(&json))
        }
    }

    pub(crate) fn is_compiled(&self) -> bool {
        self.validator.is_some()
    }

    /// Returns whether a field path leads to a declared property.
    pub(crate) fn declares(&self, path: &[&str]) -> bool {
        let mut schema = &*self.data;
        path.iter().all(|part| match schema.get("properties").and_then(|properties| properties.get(part)) {
            Some(found) => {
                schema = found;
                true
            }
            None => false,
        })
    }

    pub(crate) fn properties(&self) -> Option<&OrderedMembers> {
        self.data.get("properties")?.as_map()
    }

    pub(crate) fn requires(&self, field: &str) -> bool {
        let required = self.data.get("required").and_then(OrderedValue::as_list).unwrap_or_default();
        required.iter().any(|name| name.as_text() == Some(field))
    }
}

/// Compiles a schema on its own, and together with the others only if that fails, so that a broken schema does not affect
/// independent ones.
fn build(schema: &Value, all: &[&ParsedSchema]) -> Result<Validator, String> {
    let alone = options().build(schema);
    let Err(error) = alone else { return alone.map_err(|error| error.to_string()) };
    let own_id = schema.get("$id").and_then(Value::as_str);
    let others = all.iter().filter_map(|other| {
        let id = other.json.get("$id").and_then(Value::as_str)?;
        (Some(id) != own_id).then_some((id, &other.json))
    });
    let registry = jsonschema::Registry::new().extend(others).and_then(|builder| builder.prepare());
    let Ok(registry) = registry else { return Err(error.to_string()) };
    options().with_registry(&registry).build(schema).map_err(|_| error.to_string())
}

fn options<'a>() -> jsonschema::ValidationOptions<'a> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACK_STEPS))
        .with_format("sdd-ref", |text: &str| !text.trim().is_empty())
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
}
