//! What tools there are, for whoever offers them: names, words, schemas.

use serde_json::{Value, json};

pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Whether it leaves everything as it is. `apply_changes` does when it is a dry run.
    pub is_read_only: bool,
    /// Whether the same call gives the same answer.
    pub is_idempotent: bool,
    input: fn() -> Value,
}

impl Tool {
    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Value {
        (self.input)()
    }

    /// The JSON Schema of its envelope, the same for all.
    pub fn output_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "ok": { "type": "boolean" },
                "tool": { "type": "string" },
                "bundleId": { "type": "string" },
                "data": { "type": "object" },
                "meta": { "type": "object" },
                "diagnostics": { "type": "array", "items": { "type": "object" } },
                "error": {
                    "type": "object",
                    "properties": {
                        "code": { "type": "string" },
                        "message": { "type": "string" },
                        "field": { "type": "string" },
                        "details": { "type": "object" }
                    },
                    "required": ["code", "message"]
                }
            },
            "required": ["ok", "tool"]
        })
    }
}

fn arguments(required: &[&str], mut properties: Value) -> Value {
    if let Some(properties) = properties.as_object_mut() {
        // That it may be left out when one bundle is loaded is said once, in the server's instructions.
        properties.entry("bundleId").or_insert_with(word);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// What its name says.
fn word() -> Value {
    json!({ "type": "string" })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn count(usual: usize, most: usize, description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": most, "default": usual, "description": description })
}

fn offset() -> Value {
    json!({ "type": "integer", "minimum": 0, "default": 0, "description": "How many to skip" })
}

fn flag(usual: bool, description: &str) -> Value {
    json!({ "type": "boolean", "default": usual, "description": description })
}

fn choice(values: &[&str], usual: &str, description: &str) -> Value {
    json!({ "type": "string", "enum": values, "default": usual, "description": description })
}

const fn reading(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
) -> Tool {
    Tool { name, title, description, is_read_only: true, is_idempotent: true, input }
}

/// All tools, in the order in which they are listed.
pub static TOOLS: &[Tool] = &[
    reading(
        "list_bundles",
        "List bundles",
        "List all loaded bundles with metadata and entity counts",
        || json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    ),
    reading(
        "get_bundle_schema",
        "Get bundle type definition",
        "Get the bundle type definition (metaschema): entity types and how they relate",
        || arguments(&[], json!({})),
    ),
    reading("get_entity_schema", "Get entity schema", "Get the JSON Schema of an entity type", || {
        arguments(&["entityType"], json!({ "entityType": text("Entity type, such as Requirement") }))
    }),
    reading(
        "get_bundle_snapshot",
        "Get bundle snapshot",
        "Get a whole bundle: manifest, entities, schemas, reference graph and findings, filtered as asked",
        || {
            arguments(
                &[],
                json!({
                    "entityTypes": texts("Only these types"),
                    "includeEntityData": choice(&["full", "summary", "ids"], "full", "How much of each entity"),
                    "includeSchemas": flag(true, "With the JSON Schemas"),
                    "includeRefGraph": flag(true, "With the reference graph"),
                    "includeDiagnostics": flag(true, "With the findings"),
                    "maxEntities": count(5000, 10_000, "How many entities at most"),
                }),
            )
        },
    ),
    reading("read_entity", "Read entity", "Read one entity by type and id", || {
        arguments(&["entityType", "id"], json!({ "entityType": word(), "id": word() }))
    }),
    reading("read_entities", "Read entities", "Read up to 50 entities of one type at once", || {
        arguments(
            &["entityType", "ids"],
            json!({
                "entityType": word(),
                "ids": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 50 },
                "fields": texts("Only these fields"),
            }),
        )
    }),
    reading(
        "list_entities",
        "List entity ids",
        "List the ids of a type, sorted; without a type, the types. bundleId \"all\" lists every bundle",
        || {
            arguments(
                &[],
                json!({
                    "bundleId": text("Bundle id, or \"all\""),
                    "entityType": word(),
                    "limit": count(100, 500, "How many at most"),
                    "offset": offset(),
                }),
            )
        },
    ),
    reading(
        "list_entity_summaries",
        "List entity summaries",
        "List entities with a few fields each, to choose from",
        || {
            arguments(
                &[],
                json!({
                    "entityType": text("Only this type"),
                    "include": texts("Fields to include, by default id and title"),
                    "limit": { "type": "integer", "minimum": 0, "default": 50, "description": "How many at most, up to 200" },
                    "offset": offset(),
                }),
            )
        },
    ),
    reading(
        "get_entity_relations",
        "Get relations",
        "Get the relations that the bundle type defines, of one entity type or of all",
        || {
            arguments(
                &[],
                json!({
                    "entityType": text("Only relations of this type"),
                    "direction": choice(&["outgoing", "incoming", "both"], "both", "Which end the type is at"),
                }),
            )
        },
    ),
    reading(
        "get_context",
        "Get context",
        "Get an entity and what it refers to or is referred to by, up to three steps away",
        || {
            arguments(
                &["entityType", "id"],
                json!({
                    "entityType": word(),
                    "id": word(),
                    "depth": count(1, 3, "How many steps away"),
                    "maxRelated": count(20, 100, "How many related entities at most"),
                    "includeRelated": choice(&["full", "summary", "ids"], "full", "How much of each related entity"),
                    "fields": texts("Only these fields of the entity itself"),
                }),
            )
        },
    ),
    reading(
        "get_conformance_context",
        "Get conformance context",
        "Get the rules and the audit template of a profile; without profileId, the list of profiles",
        || arguments(&[], json!({ "profileId": text("Profile id") })),
    ),
    reading(
        "search_entities",
        "Search entities",
        "Search ids, titles, names, statements and descriptions over all bundles, best match first",
        || {
            arguments(
                &["query"],
                json!({
                    "query": text("A word, a part of one, or several words"),
                    "entityType": text("Only this type"),
                    "bundleId": text("Only this bundle"),
                    "limit": count(50, 100, "How many at most"),
                    "offset": offset(),
                }),
            )
        },
    ),
    reading(
        "validate_bundle",
        "Validate bundle",
        "Validate a bundle as it is on the disk now and return its findings. bundleId \"all\" validates every bundle",
        || arguments(&[], json!({ "bundleId": text("Bundle id, or \"all\"") })),
    ),
    reading(
        "export_entity_markdown",
        "Export as Markdown",
        "Export an entity, and what it depends on, as Markdown",
        || {
            arguments(
                &["entityType", "entityId"],
                json!({
                    "entityType": word(),
                    "entityId": word(),
                    "includeDependencies": flag(true, "With what it depends on"),
                    "dependencyDepth": { "type": "integer", "minimum": 0, "default": 2, "description": "How many steps, up to 5" },
                }),
            )
        },
    ),
    reading(
        "export_context",
        "Export context",
        "Export entities with everything they depend on, their relations and schemas, as one document",
        || {
            let target = json!({
                "type": "object",
                "properties": { "entityType": word(), "entityId": word() },
                "required": ["entityType", "entityId"]
            });
            arguments(
                &["targets"],
                json!({
                    "targets": { "type": "array", "minItems": 1, "maxItems": 100, "items": target },
                    "includeSchemas": flag(true, "With the JSON Schemas"),
                    "dependencyDepth": { "type": "integer", "minimum": 0, "default": 3, "description": "How many steps, up to 5" },
                    "format": choice(&["json", "yaml"], "json", "yaml adds the export as YAML text"),
                    "includeRelationMetadata": flag(true, "With the relations between what is exported"),
                }),
            )
        },
    ),
    Tool {
        name: "critique_bundle",
        title: "Critique bundle",
        description: "Let the client's model judge the quality of a bundle. Needs a client that supports sampling",
        is_read_only: true,
        is_idempotent: false,
        input: || {
            let threshold = json!({
                "type": "integer", "minimum": 1, "maximum": 10, "default": 5,
                "description": "Least score of a finding; 10 is the worst flaw"
            });
            arguments(&[], json!({ "threshold": threshold }))
        },
    },
    Tool {
        name: "apply_changes",
        title: "Apply changes",
        description: "Create, update and delete entities, all or none. A dry run by default; strict in both",
        is_read_only: false,
        is_idempotent: false,
        input: || {
            let policies = ["strict", "warn", "none"];
            let change = json!({
                "type": "object",
                "properties": {
                    "operation": { "type": "string", "enum": ["create", "update", "delete"] },
                    "entityType": word(),
                    "entityId": word(),
                    "fieldPath": text("update: the field, with dots for nested ones"),
                    "value": { "description": "update: the new value; without it the field is removed" },
                    "data": { "type": "object", "description": "create: the entity" },
                },
                "required": ["operation", "entityType", "entityId"]
            });
            arguments(
                &["changes"],
                json!({
                    "changes": { "type": "array", "maxItems": 1000, "items": change },
                    "dryRun": flag(true, "Preview without writing"),
                    "validate": choice(&policies, "strict", "What to do with entities that do not fit their schema"),
                    "referencePolicy": choice(&policies, "strict", "What to do with broken references"),
                    "deleteMode": choice(&["restrict", "orphan"], "restrict", "Whether a referenced entity may be deleted"),
                }),
            )
        },
    },
];
