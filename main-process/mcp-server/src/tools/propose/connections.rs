//! Tools that add and remove edges.

use super::{Common, answers, node_ref, reply, with_common};
use crate::{Call, Code, Failure, Reply, Tool, shown, surface::parsed};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{Command, EdgeId, ElementId, EndpointRef, PortId};

pub(super) fn all() -> Vec<Tool> {
    let text = json!({ "type": "string" });
    vec![
        Tool::guarded(
            "diagram",
            "connect_resources",
            "Connect resources",
            "Propose an edge between two handles. The connection rules must allow it.",
            (
                with_common(json!({
                    "sourceInstanceId": text, "sourceHandle": text, "targetInstanceId": text, "targetHandle": text,
                    "label": text
                })),
                &["sourceInstanceId", "sourceHandle", "targetInstanceId", "targetHandle"],
            ),
            answers(json!({ "edgeId": text })),
            |call| Box::pin(async move { one(call, "connect_resources").await }),
        ),
        Tool::guarded(
            "diagram",
            "disconnect_resources",
            "Disconnect resources",
            "Propose to remove an edge and the reference that it represents.",
            (with_common(json!({ "edgeId": text })), &["edgeId"]),
            answers(json!({ "edgeId": text })),
            |call| Box::pin(async move { one(call, "disconnect_resources").await }),
        ),
    ]
}

async fn one(call: Call, tool: &'static str) -> Result<Reply, Failure> {
    let (common, own) = Common::split(&call)?;
    call.workspace()?;
    let outcome = common.propose(&call, commands(tool, &own)?).await?;
    let created = outcome.done.step.as_ref().and_then(|step| step.created.first());
    let edge = match created {
        Some(ElementId::Edge(id)) => json!(id),
        _ => json!(own.get("edgeId")),
    };
    reply(&call, &outcome, json!({ "edgeId": edge }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Connect {
    source_instance_id: String,
    source_handle: String,
    target_instance_id: String,
    target_handle: String,
    #[serde(default)]
    label: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Disconnect {
    edge_id: String,
}

pub(super) fn commands(tool: &str, own: &JsonObject) -> Result<Vec<Command>, Failure> {
    match tool {
        "connect_resources" => {
            let asked: Connect = parsed(own)?;
            let end = |node: &str, handle: &str, fields: [&str; 2]| {
                let port: PortId = handle.parse().map_err(|_| {
                    Failure::new(Code::NotFound, format!("Handle `{}` does not exist", shown(handle)))
                        .field(fields[1])
                        .hint("Call get_available_resource_types for the handles of each type.")
                })?;
                Ok::<_, Failure>(EndpointRef { node: node_ref(node, fields[0])?, port: Some(port) })
            };
            let source =
                end(&asked.source_instance_id, &asked.source_handle, ["sourceInstanceId", "sourceHandle"])?;
            let target =
                end(&asked.target_instance_id, &asked.target_handle, ["targetInstanceId", "targetHandle"])?;
            Ok(vec![Command::Connect { source, target, label: asked.label }])
        }
        "disconnect_resources" => {
            let Disconnect { edge_id } = parsed(own)?;
            let edge: EdgeId = edge_id.parse().map_err(|_| {
                Failure::new(Code::NotFound, format!("Edge `{}` does not exist", shown(&edge_id)))
                    .field("edgeId")
                    .hint("Call get_diagram to list the edges.")
            })?;
            Ok(vec![Command::Remove { nodes: Vec::new(), edges: vec![edge] }])
        }
        other => Err(Failure::new(Code::BadRequest, format!("`{}` cannot be part of a batch", shown(other)))
            .field("tool")
            .hint("Use add_resource, update_resource, remove_resource, move_resource, connect_resources or disconnect_resources.")),
    }
}
