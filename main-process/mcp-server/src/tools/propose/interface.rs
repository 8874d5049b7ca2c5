//! Tools for overrides and previews. Overrides go into a draft like every change; preview actions wait for review on
//! their own.

use super::{CommonArguments, output_schema, project, reply, with_common};
use crate::{
    AgentCall, SurfaceTool, ToolReply,
    surface::parse_arguments,
    tools::{board, image::find_page},
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    Command, OverrideKey, OverrideScope, OverrideSelector, PropValue as Plain, Refusal, RefusalCode,
    SetOverride,
    preview_sessions::{PreviewId, PreviewTarget},
    preview_wire::{MAX_SCREEN_SIDE_POINTS, PreviewScreen},
    proposal::ProposedAction,
    v0::OverrideOp,
};
use std::sync::Arc;

/// The maximum number of operations in one call.
const MAX_OVERRIDE_OPS: usize = 500;

pub(super) fn all() -> Vec<SurfaceTool> {
    vec![
        SurfaceTool::guarded(
            "interface",
            "apply_overrides",
            "Apply overrides",
            "Propose to set or clear override values for props of instances: OverrideOp[] in order, all or none.",
            with_common::<ApplyOverridesArguments>(),
            output_schema(json!({})),
            apply,
        ),
        SurfaceTool::guarded(
            "interface",
            "start_preview",
            "Start preview",
            "Request to start a preview of a page, a component or one of its variants. A person must accept.",
            project::with_wait_argument::<StartPreviewArguments>(),
            output_schema(json!({})),
            |call| project::request_action(call, "Start a preview", start),
        ),
        SurfaceTool::guarded(
            "interface",
            "stop_preview",
            "Stop preview",
            "Request to stop a preview. A person must accept.",
            project::with_wait_argument::<StopPreviewArguments>(),
            output_schema(json!({})),
            |call| project::request_action(call, "Stop a preview", stop),
        ),
        SurfaceTool::guarded(
            "interface",
            "navigate_preview",
            "Navigate preview",
            "Request to show another page in a preview. A person must accept.",
            project::with_wait_argument::<NavigatePreviewArguments>(),
            output_schema(json!({})),
            |call| project::request_action(call, "Show another page", navigate),
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyOverridesArguments {
    #[schemars(length(min = 1, max = MAX_OVERRIDE_OPS), extend("items" = override_op()))]
    ops: Vec<Value>,
    /// app: instances on pages (default); component: instances in component previews
    #[serde(default)]
    #[schemars(extend("enum" = [OverrideScope::App, OverrideScope::Component]), with = "String")]
    scope: OverrideScope,
}

/// The schema of an [`OverrideOp`] in short: one object instead of one for each operation, which parsing tells apart.
fn override_op() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "op": { "enum": ["set", "clear", "clearInstance", "clearAll"] },
            "instanceId": text, "path": { "type": "string", "description": "JSON Pointer into the props" },
            "value": {}, "componentTypeId": text, "instanceLocator": {}
        },
        "required": ["op"]
    })
}

async fn apply(call: AgentCall) -> Result<ToolReply, Refusal> {
    let (common, own) = CommonArguments::split(&call)?;
    let ApplyOverridesArguments { ops, scope } = parse_arguments(&own)?;
    call.workspace()?;
    if ops.is_empty() || ops.len() > MAX_OVERRIDE_OPS {
        return Err(Refusal::new(
            RefusalCode::BadRequest,
            format!("ops must have 1 to {MAX_OVERRIDE_OPS} entries"),
        )
        .field("ops"));
    }
    let commands: Vec<Command> = ops
        .into_iter()
        .enumerate()
        .map(|(index, op)| {
            let wrong = |message: String| {
                Refusal::new(RefusalCode::BadRequest, format!("Operation {index}: {message}")).field("ops")
            };
            let op: OverrideOp = serde_json::from_value(op).map_err(|error| wrong(error.to_string()))?;
            command(op, scope).map_err(wrong)
        })
        .collect::<Result<_, _>>()?;
    let count = commands.len();
    let outcome = common.propose(&call, commands).await?;
    reply(&call, &outcome, json!({ "ops": count }))
}

fn command(op: OverrideOp, scope: OverrideScope) -> Result<Command, String> {
    let plain = |value: &Value| Plain::from_json(value).map_err(|error| error.to_string());
    Ok(match op {
        OverrideOp::Set { instance_id, path, value, component_type_id, instance_locator } => {
            Command::SetOverrides {
                set: vec![SetOverride {
                    scope,
                    instance: Arc::from(instance_id.as_str()),
                    path,
                    value: plain(&value)?,
                    component: component_type_id.map(|id| Arc::from(id.as_str())),
                    locator: instance_locator.as_ref().map(plain).transpose()?,
                }],
            }
        }
        OverrideOp::Clear { instance_id, path } => {
            let key = OverrideKey::new(scope, instance_id.as_str(), path);
            Command::ClearOverrides(OverrideSelector::These(vec![key]))
        }
        OverrideOp::ClearInstance { instance_id } => Command::ClearOverrides(OverrideSelector::Instance {
            scope,
            instance: Arc::from(instance_id.as_str()),
        }),
        OverrideOp::ClearAll => Command::ClearOverrides(OverrideSelector::Scope(scope)),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartPreviewArguments {
    /// ui.route node by name, id or path
    page: Option<String>,
    component: Option<String>,
    variant: Option<String>,
    #[schemars(range(min = 1, max = MAX_SCREEN_SIDE_POINTS))]
    width: Option<u32>,
    #[schemars(range(min = 1, max = MAX_SCREEN_SIDE_POINTS))]
    height: Option<u32>,
    #[serde(default)]
    dark: bool,
}

fn start(call: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    let StartPreviewArguments { page, component, variant, width, height, dark } = parse_arguments(own)?;
    let shows = match (page, component, variant) {
        (Some(page), None, None) => PreviewTarget::Route(self::page(call, &page)?),
        (None, Some(component), None) => PreviewTarget::Component { component },
        (None, Some(component), Some(variant)) => PreviewTarget::Variant { component, variant },
        _ => {
            let message = "Give either page, or component with an optional variant";
            return Err(Refusal::new(RefusalCode::BadRequest, message).field("page"));
        }
    };
    if let PreviewTarget::Component { component } | PreviewTarget::Variant { component, .. } = &shows {
        let known = &call.workspace()?.previews.components;
        if !known.iter().any(|known| known.id == *component) {
            let similar = authority::similar(component, known.iter().map(|known| known.id.as_str()));
            return Err(Refusal::new(
                RefusalCode::NotFound,
                format!("Component `{component}` does not exist"),
            )
            .field("component")
            .suggest(similar));
        }
    }
    let screen = PreviewScreen::new(width.unwrap_or(1280), height.unwrap_or(800), 1.0, dark);
    let screen = screen.ok_or_else(|| {
        Refusal::new(RefusalCode::BadRequest, "width and height are not a valid screen size").field("width")
    })?;
    Ok(ProposedAction::StartPreview { shows, screen })
}

fn page(call: &AgentCall, named: &str) -> Result<shared_protocol::NodeId, Refusal> {
    let workspace = call.workspace()?;
    find_page(workspace, board::find(workspace, None)?, named)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StopPreviewArguments {
    session: String,
}

fn stop(call: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    let StopPreviewArguments { session } = parse_arguments(own)?;
    Ok(ProposedAction::StopPreview { session: self::session(call, &session)? })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NavigatePreviewArguments {
    session: String,
    page: String,
}

fn navigate(call: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    let NavigatePreviewArguments { session, page } = parse_arguments(own)?;
    Ok(ProposedAction::NavigatePreview {
        session: self::session(call, &session)?,
        route: self::page(call, &page)?,
    })
}

fn session(call: &AgentCall, named: &str) -> Result<PreviewId, Refusal> {
    let sessions = &call.workspace()?.previews.sessions;
    let found = sessions.iter().map(|session| session.id).find(|id| id.to_string() == named);
    found.ok_or_else(|| {
        let failure =
            Refusal::new(RefusalCode::NoPreview, format!("Preview session `{named}` does not exist"))
                .field("session");
        let known: Vec<String> = sessions.iter().map(|session| session.id.to_string()).collect();
        match known.is_empty() {
            true => failure.hint("No preview is running. Call start_preview to request one."),
            false => failure.hint(format!("Running sessions: {}.", known.join(", "))),
        }
    })
}
