//! The managed servers and manifests whose tools are forwarded.

use crate::escape::escape_hidden;
use crate::{AgentCall, EnvelopeMeta, SurfaceTool, ToolReply, schema::NoArguments};
use serde_json::{Value, json};
use shared_protocol::{
    Refusal,
    managed_servers::{ManifestBrief, ServerBrief, ServerState},
    mcp::McpMode,
};

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::read(
        "upstreams",
        "list_upstreams",
        "List managed servers",
        "List the managed servers and tool manifests, and the tools of theirs that you can call in guarded mode.",
        json!({ "type": "object" }),
        list,
    )
}

fn list(call: &AgentCall, _: NoArguments) -> Result<ToolReply, Refusal> {
    let proxied_tools = &call.view.proxied_tools;
    let offered: Vec<&str> = proxied_tools.tools(McpMode::Guarded).map(|tool| tool.name()).collect();
    let servers: Vec<Value> =
        proxied_tools.managed_servers.servers.iter().map(|server| shape(server, &offered)).collect();
    let manifests: Vec<Value> = proxied_tools
        .managed_servers
        .manifests
        .iter()
        .filter(|manifest| manifest.problem.is_none())
        .map(|manifest| manifest_shape(manifest, &offered))
        .filter(|manifest| manifest["tools"] != json!([]))
        .collect();
    let data =
        json!({ "servers": servers, "manifests": manifests, "callable": call.mode == McpMode::Guarded });
    let meta = EnvelopeMeta {
        revision: call.view.revision().0,
        total: Some(servers.len()),
        ..EnvelopeMeta::default()
    };
    ToolReply::new(&data, meta)
}

/// Omits the command and its folder, which agents do not need to see.
fn shape(server: &ServerBrief, offered: &[&str]) -> Value {
    let prefix = format!("{}__", server.slug);
    let tools: Vec<&&str> = offered.iter().filter(|name| name.starts_with(&prefix)).collect();
    let mut data = json!({
        "slug": server.slug,
        "name": escape_hidden(&server.name),
        "kind": server.kind.as_str(),
        "state": server.state.label(),
        "tools": tools,
        "awaitingApproval": server.waiting,
    });
    if let ServerState::NeedsCredentials { missing } = &server.state {
        data["missing"] = json!(missing);
    }
    if let Some(reason) = server.reason.as_ref().filter(|_| !server.state.is_connected()) {
        data["reason"] = json!(escape_hidden(reason));
    }
    data
}

fn manifest_shape(manifest: &ManifestBrief, offered: &[&str]) -> Value {
    let tools = manifest.tools.iter().map(|tool| tool.name.as_str());
    let tools: Vec<&str> = tools.filter(|name| offered.contains(name)).collect();
    json!({ "id": manifest.id, "origin": manifest.origin.as_str(), "tools": tools })
}
