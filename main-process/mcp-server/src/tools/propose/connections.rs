//! Tools that add and remove edges.

use super::{CommonArguments, node_ref, output_schema, reply, with_common};
use crate::escape::escape_hidden;
use crate::{AgentCall, SurfaceTool, ToolReply, surface::parse_arguments};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{Command, EdgeEndpointRef, EdgeId, ElementId, PortId, Refusal, RefusalCode};

pub(super) fn all() -> Vec<SurfaceTool> {
    let text = json!({ "type": "string" });
    vec![
        SurfaceTool::guarded(
            "diagram",
            "connect_resources",
            "Connect resources",
            "Propose an edge between two handles. The connection rules must allow it.",
            with_common::<ConnectArguments>(),
            output_schema(json!({ "edgeId": text })),
            |call| propose_one(call, connect),
        ),
        SurfaceTool::guarded(
            "diagram",
            "disconnect_resources",
            "Disconnect resources",
            "Propose to remove an edge and the reference that it represents.",
            with_common::<DisconnectArguments>(),
            output_schema(json!({ "edgeId": text })),
            |call| propose_one(call, disconnect),
        ),
    ]
}

async fn propose_one(
    call: AgentCall,
    command: fn(&JsonObject) -> Result<Command, Refusal>,
) -> Result<ToolReply, Refusal> {
    let (common, own) = CommonArguments::split(&call)?;
    call.workspace()?;
    let outcome = common.propose(&call, vec![command(&own)?]).await?;
    let created = outcome.response.step.as_ref().and_then(|step| step.created.first());
    let edge = match created {
        Some(ElementId::Edge(id)) => json!(id),
        _ => json!(own.get("edgeId")),
    };
    reply(&call, &outcome, json!({ "edgeId": edge }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConnectArguments {
    source_instance_id: String,
    source_handle: String,
    target_instance_id: String,
    target_handle: String,
    #[serde(default)]
    label: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DisconnectArguments {
    edge_id: String,
}

pub(super) fn connect(own: &JsonObject) -> Result<Command, Refusal> {
    let asked: ConnectArguments = parse_arguments(own)?;
    let end = |node: &str, handle: &str, fields: [&str; 2]| {
        let port: PortId = handle.parse().map_err(|_| {
            Refusal::new(RefusalCode::NotFound, format!("Handle `{}` does not exist", escape_hidden(handle)))
                .field(fields[1])
                .hint("Call get_available_resource_types for the handles of each type.")
        })?;
        Ok::<_, Refusal>(EdgeEndpointRef { node: node_ref(node, fields[0])?, port: Some(port) })
    };
    let source = end(&asked.source_instance_id, &asked.source_handle, ["sourceInstanceId", "sourceHandle"])?;
    let target = end(&asked.target_instance_id, &asked.target_handle, ["targetInstanceId", "targetHandle"])?;
    Ok(Command::Connect { source, target, label: asked.label })
}

pub(super) fn disconnect(own: &JsonObject) -> Result<Command, Refusal> {
    let DisconnectArguments { edge_id } = parse_arguments(own)?;
    let edge: EdgeId = edge_id.parse().map_err(|_| {
        Refusal::new(RefusalCode::NotFound, format!("Edge `{}` does not exist", escape_hidden(&edge_id)))
            .field("edgeId")
            .hint("Call get_diagram to list the edges.")
    })?;
    Ok(Command::Remove { nodes: Vec::new(), edges: vec![edge] })
}
