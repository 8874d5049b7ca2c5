//! Resources, read by URI. Without a workspace or a preview a resource is empty and its `status` states the reason.

mod graph;
mod previews;
mod registry;

use crate::escape::escape_hidden;
use crate::{AgentCall, AgentWorkspaceView, ResourceDocument, ResourceInput, SurfaceResource, tools};
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode, mcp::McpMode};
use std::sync::Arc;

const JSON: &str = "application/json";
const NO_WORKSPACE: &str = "no workspace is open";
/// The maximum bytes of a resource. With its quotes escaped it still fits into one message.
pub(crate) const MAX_RESOURCE_BYTES: usize = 700 * 1024;

/// The schema as published for editors.
const COMPONENT_SCHEMA: &str = include_str!("../../../../schemas/component.schema.json");

pub(crate) use previews::summarize_sessions as sessions_in_brief;

use ResourceInput::{Config, Content, Deployment, Mode, Presence, Previews, Review, Status, Types};

pub(crate) fn all() -> Vec<SurfaceResource> {
    vec![
        resource(
            ["draftboard://server/info", "scaffa.server.info"],
            [
                "server-info",
                "Server info",
                "Version, workspace, schema versions, mode and features of this server.",
            ],
            &[Mode, Config],
            |call| Ok(server_info(call)),
        ),
        resource(
            ["draftboard://workspace/context", ""],
            [
                "workspace-context",
                "Workspace context",
                "What the designer sees now: revision, active board, selection, viewport, mode, open proposals.",
            ],
            &[Content, Presence, Status, Mode, Types, Review, Previews],
            |call| match &call.view.workspace {
                Some(_) => tools::context(call).map(|(data, _)| data),
                None => {
                    Ok(json!({ "status": NO_WORKSPACE, "mode": call.mode, "boards": [], "openProposals": 0 }))
                }
            },
        ),
        resource(
            ["draftboard://workspace/registry", "scaffa.workspace.registry.effective"],
            ["component-registry", "Component registry", "The effective node types as ComponentRegistry v0."],
            &[Types],
            |call| {
                in_workspace(call, json!({ "schemaVersion": "v0", "components": {} }), |w| {
                    registry::registry(&w.snapshot)
                })
            },
        ),
        resource(
            ["draftboard://workspace/graph", "scaffa.workspace.graph.snapshot"],
            [
                "project-graph",
                "Project graph",
                "Routes and component types of the interface boards as GraphSnapshot v0.",
            ],
            &[Content, Types],
            |call| {
                let empty = json!({ "schemaVersion": "v0", "revision": 0, "nodes": [], "edges": [] });
                in_workspace(call, empty, |workspace| graph::graph(&workspace.snapshot))
            },
        ),
        resource(
            ["draftboard://workspace/overrides", "scaffa.workspace.overrides.state"],
            [
                "overrides",
                "Overrides",
                "Overrides, orphaned overrides with the reason, and the persisted form.",
            ],
            &[Content, Types],
            |call| {
                let empty =
                    json!({ "schemaVersion": "v0", "overrides": [], "orphaned": [], "persisted": null });
                let now = call.workbench.now();
                in_workspace(call, empty, |workspace| previews::overrides(workspace, now))
            },
        ),
        resource(
            ["draftboard://preview/sessions", "scaffa.preview.sessions"],
            [
                "preview-sessions",
                "Preview sessions",
                "Preview sessions with target, readiness, adapter and error.",
            ],
            &[Previews, Content],
            |call| in_workspace(call, json!({ "sessions": [] }), previews::sessions),
        ),
        resource(
            ["draftboard://preview/selection", "scaffa.preview.selection.current"],
            [
                "preview-selection",
                "Preview selection",
                "The selected instance of each preview session, with type, node, effective props and source.",
            ],
            &[Previews, Content, Types],
            |call| in_workspace(call, json!({ "selected": null, "sessions": [] }), previews::selection),
        ),
        resource(
            ["draftboard://schemas/component", ""],
            [
                "component-schema",
                "Component file schema",
                "JSON Schema of components/*.component.yaml and .json files: props, variants, view, styles, expressions.",
            ],
            &[],
            |_| {
                serde_json::from_str(COMPONENT_SCHEMA).map_err(|error| {
                    Refusal::new(
                        RefusalCode::Internal,
                        format!("The component schema is not valid JSON: {error}"),
                    )
                })
            },
        ),
        resource(
            ["draftboard://diagram/current", "terrastudio://diagram/current"],
            [
                "current-diagram",
                "Current diagram",
                "The active board if it is an infrastructure board, otherwise the first infrastructure board.",
            ],
            &[Content, Presence, Types, Deployment],
            current_diagram,
        ),
        resource(
            ["draftboard://project/config", "terrastudio://project/config"],
            [
                "project-config",
                "Project configuration",
                "The project configuration (draftboard.toml) with sensitive fields redacted.",
            ],
            &[Config],
            |call| in_workspace(call, json!({}), |workspace| tools::redact(&workspace.config)),
        ),
        SurfaceResource {
            uri: "draftboard://hcl/{filename}",
            aliases: vec!["terrastudio://hcl/{filename}"],
            name: "hcl",
            title: "Terraform file",
            description: "A generated Terraform file of the current diagram, such as main.tf. Encode / in a file name as %2F.",
            mime: "text/plain",
            depends: &[Content, Presence, Types, Config],
            differs: None,
            read: Arc::new(|call, _| hcl_file(call)),
            complete: None,
        },
        resource(
            ["draftboard://proposals", ""],
            [
                "proposals",
                "Proposals",
                "Your proposals in the review queue, and the number of others that wait.",
            ],
            &[Review],
            |call| match &call.view.workspace {
                Some(_) => Ok(tools::queue_shape(call)),
                None => Ok(json!({ "status": NO_WORKSPACE, "proposals": [] })),
            },
        ),
        resource(
            ["draftboard://proposals/{id}", ""],
            ["proposal", "Proposal", "One of your proposals, by id."],
            &[Review, Content],
            |call| {
                let id = call.arguments.get("id").and_then(Value::as_str).unwrap_or_default();
                tools::proposal_shape(call, id)
            },
        ),
    ]
}

/// Builds a JSON resource from its URI, legacy URI, name, title and description.
fn resource(
    [uri, alias]: [&'static str; 2],
    [name, title, description]: [&'static str; 3],
    depends: &'static [ResourceInput],
    read: impl Fn(&AgentCall) -> Result<Value, Refusal> + Send + Sync + 'static,
) -> SurfaceResource {
    let aliases = Some(alias).filter(|alias| !alias.is_empty()).into_iter().collect();
    let read = Arc::new(move |call: &AgentCall, _: &str| {
        Ok(ResourceDocument { mime: JSON, text: crate::envelope::to_json(&read(call)?)? })
    });
    SurfaceResource {
        uri,
        aliases,
        name,
        title,
        description,
        mime: JSON,
        depends,
        differs: None,
        read,
        complete: None,
    }
}

fn in_workspace(
    call: &AgentCall,
    empty: Value,
    read: impl Fn(&AgentWorkspaceView) -> Value,
) -> Result<Value, Refusal> {
    Ok(call
        .view
        .workspace
        .as_ref()
        .map_or_else(|| with_status(empty, NO_WORKSPACE), |workspace| read(workspace)))
}

fn with_status(mut value: Value, status: &str) -> Value {
    value["status"] = json!(status);
    value
}

fn server_info(call: &AgentCall) -> Value {
    let workspace = call.view.workspace.as_ref();
    json!({
        "name": "draftboard",
        "version": env!("CARGO_PKG_VERSION"),
        "status": if workspace.is_some() { "a workspace is open" } else { NO_WORKSPACE },
        "workspaceRoot": workspace.map(|workspace| escape_hidden(&workspace.root)),
        "workspaceName": workspace.map(|workspace| escape_hidden(&workspace.name)),
        "schemaVersions": { "registry": "v0", "graph": "v0", "overrides": "v0", "preview": "v0" },
        "protocolVersions": rmcp::model::ProtocolVersion::KNOWN_VERSIONS,
        "mode": call.mode,
        "features": { "subscriptions": true, "images": true, "proposals": call.mode == McpMode::Guarded, "preview": true, "terraform": true, "bundles": call.view.specs.is_some() },
    })
}

fn hcl_file(call: &AgentCall) -> Result<ResourceDocument, Refusal> {
    let workspace = call.workspace()?;
    let board = tools::terraform::infrastructure_board(workspace)
        .ok_or_else(|| Refusal::new(RefusalCode::NotFound, "The workspace has no infrastructure board"))?;
    let file = call.arguments.get("filename").and_then(Value::as_str).unwrap_or_default();
    let file = file.replace("%2F", "/").replace("%2f", "/");
    let text = tools::terraform::file_of(&call.workbench.hcl(workspace, board.id)?, &file)?;
    if text.len() > MAX_RESOURCE_BYTES {
        let message = format!("{} is larger than {MAX_RESOURCE_BYTES} bytes", escape_hidden(&file));
        return Err(Refusal::new(RefusalCode::LimitExceeded, message)
            .hint("Call generate_hcl with file and offset to read it in parts."));
    }
    Ok(ResourceDocument { mime: "text/plain", text })
}

fn current_diagram(call: &AgentCall) -> Result<Value, Refusal> {
    let empty = |status: &str| json!({ "status": status, "nodes": [], "edges": [] });
    let Some(workspace) = &call.view.workspace else { return Ok(empty(NO_WORKSPACE)) };
    let Some(board) = tools::terraform::infrastructure_board(workspace) else {
        return Ok(empty("the workspace has no infrastructure board"));
    };
    let reply = tools::whole_board(workspace, board, call.view.generation)?;
    let mut diagram: Value = serde_json::from_str(&reply.data).unwrap_or_else(|_| empty("unreadable"));
    diagram["revision"] = json!(workspace.revision());
    diagram["board"] = json!(board.name);
    if reply.meta.has_more == Some(true) {
        diagram["status"] = json!("truncated: call get_diagram for the rest");
    }
    Ok(diagram)
}
