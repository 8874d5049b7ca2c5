//! The tool definitions: names, descriptions, schemas.

use serde_json::{Value, json};

pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Whether it changes nothing. `apply_changes` changes nothing in a dry run.
    pub is_read_only: bool,
    /// Whether repeated calls return the same response.
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
        // The server's instructions say once that it is optional when one bundle is loaded.
        properties.entry("bundleId").or_insert_with(word);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Returns a string schema without a description, for self-explanatory names.
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
    json!({ "type": "integer", "minimum": 0, "default": 0, "description": "Results to skip" })
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

/// All tools, in listing order.
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
        "Get a whole bundle: manifest, entities, schemas, reference graph and findings, with optional filters",
        || {
            arguments(
                &[],
                json!({
                    "entityTypes": texts("Only these types"),
                    "includeEntityData": choice(&["full", "summary", "ids"], "full", "Detail per entity"),
                    "includeSchemas": flag(true, "Include JSON Schemas"),
                    "includeRefGraph": flag(true, "Include the reference graph"),
                    "includeDiagnostics": flag(true, "Include findings"),
                    "maxEntities": count(5000, 10_000, "Maximum entities"),
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
        "List the ids of an entity type, sorted, or the types if entityType is omitted. bundleId \"all\" lists every bundle",
        || {
            arguments(
                &[],
                json!({
                    "bundleId": text("Bundle id, or \"all\""),
                    "entityType": word(),
                    "limit": count(100, 500, "Maximum results"),
                    "offset": offset(),
                }),
            )
        },
    ),
    reading("list_entity_summaries", "List entity summaries", "List entities with selected fields", || {
        arguments(
            &[],
            json!({
                "entityType": text("Only this type"),
                "include": texts("Fields to include; default: id and title"),
                "limit": { "type": "integer", "minimum": 0, "default": 50, "description": "Maximum results, up to 200" },
                "offset": offset(),
            }),
        )
    }),
    reading(
        "get_entity_relations",
        "Get relations",
        "Get the relations that the bundle type defines, for one entity type or all",
        || {
            arguments(
                &[],
                json!({
                    "entityType": text("Only relations of this type"),
                    "direction": choice(&["outgoing", "incoming", "both"], "both", "Direction relative to the type"),
                }),
            )
        },
    ),
    reading(
        "get_context",
        "Get context",
        "Get an entity with its references and referrers, up to three steps away",
        || {
            arguments(
                &["entityType", "id"],
                json!({
                    "entityType": word(),
                    "id": word(),
                    "depth": count(1, 3, "Maximum steps"),
                    "maxRelated": count(20, 100, "Maximum related entities"),
                    "includeRelated": choice(&["full", "summary", "ids"], "full", "Detail per related entity"),
                    "fields": texts("Only these fields of the entity itself"),
                }),
            )
        },
    ),
    reading(
        "get_conformance_context",
        "Get conformance context",
        "Get the rules and audit template of a profile, or list the profiles if profileId is omitted",
        || arguments(&[], json!({ "profileId": text("Profile id") })),
    ),
    reading(
        "search_entities",
        "Search entities",
        "Search ids, titles, names, statements and descriptions in all bundles, best match first",
        || {
            arguments(
                &["query"],
                json!({
                    "query": text("One or more words or parts of words"),
                    "entityType": text("Only this type"),
                    "bundleId": text("Only this bundle"),
                    "limit": count(50, 100, "Maximum results"),
                    "offset": offset(),
                }),
            )
        },
    ),
    reading(
        "validate_bundle",
        "Validate bundle",
        "Validate the current files of a bundle and return the findings. bundleId \"all\" validates every bundle",
        || arguments(&[], json!({ "bundleId": text("Bundle id, or \"all\"") })),
    ),
    reading(
        "export_entity_markdown",
        "Export as Markdown",
        "Export an entity and its dependencies as Markdown",
        || {
            arguments(
                &["entityType", "entityId"],
                json!({
                    "entityType": word(),
                    "entityId": word(),
                    "includeDependencies": flag(true, "Include dependencies"),
                    "dependencyDepth": { "type": "integer", "minimum": 0, "default": 2, "description": "Maximum steps, up to 5" },
                }),
            )
        },
    ),
    reading(
        "export_context",
        "Export context",
        "Export entities with their dependencies, relations and schemas as one document",
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
                    "includeSchemas": flag(true, "Include JSON Schemas"),
                    "dependencyDepth": { "type": "integer", "minimum": 0, "default": 3, "description": "Maximum steps, up to 5" },
                    "format": choice(&["json", "yaml"], "json", "yaml adds the export as YAML text"),
                    "includeRelationMetadata": flag(true, "Include relations between exported entities"),
                }),
            )
        },
    ),
    Tool {
        name: "critique_bundle",
        title: "Critique bundle",
        description: "Review the quality of a bundle with the client's model. Requires a client that supports sampling",
        is_read_only: true,
        is_idempotent: false,
        input: || {
            let threshold = json!({
                "type": "integer", "minimum": 1, "maximum": 10, "default": 5,
                "description": "Minimum score of a finding; 10 is the most severe"
            });
            arguments(&[], json!({ "threshold": threshold }))
        },
    },
    Tool {
        name: "apply_changes",
        title: "Apply changes",
        description: "Create, update and delete entities atomically. Dry run by default; strict in both modes",
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
                    "fieldPath": text("update: the field, dotted if nested"),
                    "value": { "description": "update: the new value; omit it to remove the field" },
                    "data": { "type": "object", "description": "create: the entity" },
                },
                "required": ["operation", "entityType", "entityId"]
            });
            arguments(
                &["changes"],
                json!({
                    "changes": { "type": "array", "maxItems": 1000, "items": change },
                    "dryRun": flag(true, "Preview without writing"),
                    "validate": choice(&policies, "strict", "Policy for schema violations"),
                    "referencePolicy": choice(&policies, "strict", "Policy for broken references"),
                    "deleteMode": choice(&["restrict", "orphan"], "restrict", "Whether a referenced entity may be deleted"),
                }),
            )
        },
    },
];
