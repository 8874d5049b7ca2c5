//! The demo's rehearsal board as if it had been applied. Its resources exist in Terraform's state and nowhere else, so the
//! state alone makes that true, and a plan of a removal says what would be destroyed.

use super::script::BOARD;
use journal::{WorkspaceFiles, WorkspacePath, read_board};
use serde_json::{Map, Value, json};
use shared_protocol::{BoardName, GraphDocument, Node, NodeId};
use std::path::Path;
use terraform::write::folder_of;

const RESOURCE: &str = "terraform_data";
const TYPE: &str = "terraform/core/terraform_data";
/// The first version that knows this resource; newer ones read its state.
const TERRAFORM: &str = "1.4.0";
const LINEAGE: &str = "6f0d5b0e-2f2e-4d0e-9d0f-5a1de3a0c0de";

pub(super) fn write(root: &Path) -> Result<(), String> {
    let name = BoardName::parse(BOARD).map_err(|error| error.to_string())?;
    let files = WorkspaceFiles::open(root).map_err(|error| error.to_string())?;
    let text = files.read_text(&WorkspacePath::board(&name)).map_err(|error| error.to_string())?;
    let document = read_board(&text, &name).map_err(|error| error.to_string())?;
    let path = WorkspacePath::parse(format!("{}/terraform.tfstate", folder_of(&name)))
        .map_err(|error| error.to_string())?;
    let state = format!("{:#}\n", state_of(&document));
    files.write_atomic(&path, state.as_bytes()).map_err(|error| error.to_string())
}

fn state_of(document: &GraphDocument) -> Value {
    let resources: Vec<Value> = document
        .nodes
        .iter()
        .filter(|node| node.type_id.as_str() == TYPE)
        .map(|node| resource(document, node))
        .collect();
    json!({
        "version": 4, "terraform_version": TERRAFORM, "serial": 1, "lineage": LINEAGE, "outputs": {},
        "resources": resources, "check_results": null,
    })
}

fn resource(document: &GraphDocument, node: &Node) -> Value {
    let input = node.props.iter().find(|(key, _)| key.as_str() == "input");
    let input = dynamic(input.and_then(|(_, value)| serde_json::to_value(value).ok()).unwrap_or_default());
    // The needs of a node are its triggers: it is replaced when one of them is.
    let ids: Vec<NodeId> = node.references.values().flatten().copied().collect();
    let needed = ids.iter().filter_map(|id| document.nodes.iter().find(|other| other.id == *id));
    let dependencies: Vec<String> = needed.map(|other| format!("{RESOURCE}.{}", other.name)).collect();
    let triggers = if ids.is_empty() { Value::Null } else { dynamic(json!(ids)) };
    json!({
        "mode": "managed", "type": RESOURCE, "name": node.name,
        "provider": "provider[\"terraform.io/builtin/terraform\"]",
        "instances": [{
            "schema_version": 0,
            "attributes": { "id": node.id, "input": input, "output": input, "triggers_replace": triggers },
            "sensitive_attributes": [],
            "dependencies": dependencies,
        }],
    })
}

/// A value whose type is not in the provider's schema: it stands beside it.
fn dynamic(value: Value) -> Value {
    if value.is_null() { value } else { json!({ "type": type_of(&value), "value": value }) }
}

/// A value's type as Terraform writes it into a state.
fn type_of(value: &Value) -> Value {
    match value {
        Value::Null => json!("dynamic"),
        Value::Bool(_) => json!("bool"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("string"),
        Value::Array(items) => json!(["tuple", items.iter().map(type_of).collect::<Vec<_>>()]),
        Value::Object(fields) => {
            let types: Map<String, Value> =
                fields.iter().map(|(key, value)| (key.clone(), type_of(value))).collect();
            json!(["object", types])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_types_that_terraform_writes() {
        let value = json!({ "engine": "postgres", "sizes": [1, true], "none": null });
        let types = json!(["object", { "engine": "string", "sizes": ["tuple", ["number", "bool"]], "none": "dynamic" }]);
        assert_eq!(type_of(&value), types);
    }
}
