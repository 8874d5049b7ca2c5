//! Project actions: save, open, create, configure. Each waits for review.

use super::{CommonArguments, output_schema, reply, summarize_proposal, with_common};
use crate::escape::escape_hidden;
use crate::{
    ActionRequest, AgentCall, CompletedAction, EnvelopeMeta, SurfaceTool, ToolError, ToolErrorCode,
    ToolReply, parse_wait_seconds, surface::parse_arguments, tools::redact,
};
use authority::proposals::AgentRequest;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::proposal::ProposedAction;

const MAX_PATH_BYTES: usize = 4_096;

pub(super) fn all() -> Vec<SurfaceTool> {
    let text = json!({ "type": "string" });
    vec![
        SurfaceTool::guarded(
            "project",
            "save_project",
            "Save project",
            "Request to save the open project to its files. A person must accept.",
            (with_wait_argument(json!({})), &[]),
            output_schema(json!({})),
            |call| {
                Box::pin(async move {
                    request_action(call, "Save the project", |_, _| Ok(ProposedAction::Save)).await
                })
            },
        ),
        SurfaceTool::guarded(
            "project",
            "open_project",
            "Open project",
            "Request to open another project instead of this one. A person must accept.",
            (
                with_wait_argument(
                    json!({ "projectPath": { "type": "string", "description": "absolute path of the project folder" } }),
                ),
                &["projectPath"],
            ),
            output_schema(json!({})),
            |call| Box::pin(async move { request_action(call, "Open another project", open).await }),
        ),
        SurfaceTool::guarded(
            "project",
            "new_project",
            "New project",
            "Request to create a project in a new folder inside directoryPath and open it. A person must accept.",
            (with_wait_argument(json!({ "name": text, "directoryPath": text })), &["name", "directoryPath"]),
            output_schema(json!({})),
            |call| Box::pin(async move { request_action(call, "Create a project", new).await }),
        ),
        SurfaceTool::guarded(
            "project",
            "set_project_config",
            "Set project config",
            "Request to merge these fields into the project configuration; null removes a field. A person must accept.",
            (with_wait_argument(json!({ "config": { "type": "object" } })), &["config"]),
            output_schema(json!({})),
            |call| {
                Box::pin(
                    async move { request_action(call, "Change the project configuration", configure).await },
                )
            },
        ),
    ]
}

pub(super) fn with_wait_argument(own: Value) -> Value {
    let mut all = with_common(own);
    if let Value::Object(fields) = &mut all {
        // An action is never part of a draft.
        fields.remove("proposal");
        fields.remove("submit");
        let wait = json!({ "type": "number", "description": "seconds to wait for the decision; default 0" });
        fields.insert("waitSeconds".to_owned(), wait);
    }
    all
}

pub(super) async fn request_action(
    call: AgentCall,
    title: &str,
    act: impl Fn(&AgentCall, &rmcp::model::JsonObject) -> Result<ProposedAction, ToolError> + Send,
) -> Result<ToolReply, ToolError> {
    let (common, mut own) = CommonArguments::split(&call)?;
    let WaitOption { wait_seconds } = match own.remove("waitSeconds") {
        Some(seconds) => parse_arguments(&[("waitSeconds".to_owned(), seconds)].into_iter().collect())?,
        None => WaitOption::default(),
    };
    call.workspace()?;
    let (act, submission) = (act(&call, &own)?, common.submission_of_act(title)?);
    if wait_seconds == 0.0 {
        return reply(&call, &call.submit(AgentRequest::Act { act, submission }).await?, json!({}));
    }
    let wait = parse_wait_seconds(Some(wait_seconds))?;
    let is_of_project = matches!(
        act,
        ProposedAction::Save
            | ProposedAction::Open { .. }
            | ProposedAction::New { .. }
            | ProposedAction::Config { .. }
    );
    completed_reply(
        &call,
        call.propose_action(ActionRequest { act, submission, wait, stops: false }).await?,
        is_of_project,
    )
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WaitOption {
    #[serde(default)]
    wait_seconds: f64,
}

/// Builds the answer of a completed action with the current state of the project.
fn completed_reply(
    call: &AgentCall,
    acted: CompletedAction,
    is_of_project: bool,
) -> Result<ToolReply, ToolError> {
    let CompletedAction { proposal, approval, result: done } = acted;
    let result = done.result.as_ref().map_err(|refusal| ToolError::from(refusal.clone()))?;
    let mut data = json!({ "status": "done", "proposal": summarize_proposal(&proposal), "outcome": escape_hidden(&done.words) });
    if let (Value::Object(data), Value::Object(own)) = (&mut data, result) {
        data.extend(own.clone());
    }
    if let Some(approval) = approval {
        data["approval"] = json!(approval);
    }
    let view = call.workbench.view();
    if let Some(workspace) = view.workspace.as_ref().filter(|_| is_of_project) {
        let boards: Vec<Value> = workspace
            .snapshot
            .boards()
            .map(|board| json!({ "id": board.id, "name": board.name, "kind": board.kind, "title": escape_hidden(&board.title) }))
            .collect();
        data["project"] = json!({ "name": escape_hidden(&workspace.name), "boards": boards, "config": redact(&workspace.config) });
    }
    ToolReply::new(&data, EnvelopeMeta { revision: view.revision().0, ..EnvelopeMeta::default() })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpenProjectArguments {
    project_path: String,
}

fn open(_: &AgentCall, own: &rmcp::model::JsonObject) -> Result<ProposedAction, ToolError> {
    let OpenProjectArguments { project_path } = parse_arguments(own)?;
    Ok(ProposedAction::Open { path: require_absolute(&project_path, "projectPath")? })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewProjectArguments {
    name: String,
    directory_path: String,
}

fn new(_: &AgentCall, own: &rmcp::model::JsonObject) -> Result<ProposedAction, ToolError> {
    let NewProjectArguments { name, directory_path } = parse_arguments(own)?;
    let is_plain = !name.trim().is_empty()
        && name.len() <= 100
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
        && !name.chars().any(char::is_control);
    if !is_plain {
        return Err(ToolError::new(
            ToolErrorCode::BadRequest,
            "name must be usable as a folder name: at most 100 bytes, no slash, no leading dot",
        )
        .field("name"));
    }
    let folder = require_absolute(&directory_path, "directoryPath")?;
    Ok(ProposedAction::New { path: format!("{}/{name}", folder.trim_end_matches('/')), name })
}

fn require_absolute(path: &str, field: &str) -> Result<String, ToolError> {
    if path.starts_with('/') && path.len() <= MAX_PATH_BYTES && !path.chars().any(char::is_control) {
        return Ok(path.to_owned());
    }
    Err(ToolError::new(ToolErrorCode::BadRequest, format!("{field} must be an absolute path")).field(field))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetConfigArguments {
    config: rmcp::model::JsonObject,
}

fn configure(call: &AgentCall, own: &rmcp::model::JsonObject) -> Result<ProposedAction, ToolError> {
    let SetConfigArguments { config } = parse_arguments(own)?;
    if config.is_empty() {
        return Err(
            ToolError::new(ToolErrorCode::BadRequest, "config must have at least one field").field("config")
        );
    }
    Ok(call.workbench.configured(&config)?)
}
