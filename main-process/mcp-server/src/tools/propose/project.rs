//! Project actions: save, open, create, configure. Each waits for review.

use super::{CommonArguments, output_schema, reply, summarize_proposal, with_submission};
use crate::escape::escape_hidden;
use crate::{
    ActionRequest, AgentCall, CompletedAction, EnvelopeMeta, SurfaceTool, ToolReply, parse_wait_seconds,
    schema::{self, NoArguments},
    surface::parse_arguments,
    tools::redact,
};
use authority::proposals::AgentRequest;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode, proposal::ProposedAction};

const MAX_PATH_BYTES: usize = 4_096;

pub(super) fn all() -> Vec<SurfaceTool> {
    vec![
        SurfaceTool::guarded(
            "project",
            "save_project",
            "Save project",
            "Request to save the open project to its files. A person must accept.",
            with_wait_argument::<NoArguments>(),
            output_schema(json!({})),
            |call| request_action(call, "Save the project", save),
        ),
        SurfaceTool::guarded(
            "project",
            "open_project",
            "Open project",
            "Request to open another project instead of this one. A person must accept.",
            with_wait_argument::<OpenProjectArguments>(),
            output_schema(json!({})),
            |call| request_action(call, "Open another project", open),
        ),
        SurfaceTool::guarded(
            "project",
            "new_project",
            "New project",
            "Request to create a project in a new folder inside directoryPath and open it. A person must accept.",
            with_wait_argument::<NewProjectArguments>(),
            output_schema(json!({})),
            |call| request_action(call, "Create a project", new),
        ),
        SurfaceTool::guarded(
            "project",
            "set_project_config",
            "Set project config",
            "Request to merge these fields into the project configuration; null removes a field. A person must accept.",
            with_wait_argument::<SetConfigArguments>(),
            output_schema(json!({})),
            |call| request_action(call, "Change the project configuration", configure),
        ),
    ]
}

/// Returns the schema of an action with the own arguments `A`.
pub(super) fn with_wait_argument<A: JsonSchema>() -> JsonObject {
    schema::join(with_submission::<A>(), schema::of::<WaitOption>())
}

pub(super) async fn request_action(
    call: AgentCall,
    title: &str,
    act: impl Fn(&AgentCall, &JsonObject) -> Result<ProposedAction, Refusal> + Send,
) -> Result<ToolReply, Refusal> {
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

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WaitOption {
    /// seconds to wait for the decision; default 0
    #[serde(default)]
    wait_seconds: f64,
}

/// Builds the answer of a completed action with the current state of the project.
fn completed_reply(
    call: &AgentCall,
    acted: CompletedAction,
    is_of_project: bool,
) -> Result<ToolReply, Refusal> {
    let CompletedAction { proposal, approval, result: done } = acted;
    let result = done.result.as_ref().map_err(Clone::clone)?;
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

fn save(_: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    parse_arguments::<NoArguments>(own)?;
    Ok(ProposedAction::Save)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpenProjectArguments {
    /// absolute path of the project folder
    project_path: String,
}

fn open(_: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    let OpenProjectArguments { project_path } = parse_arguments(own)?;
    Ok(ProposedAction::Open { path: require_absolute(&project_path, "projectPath")? })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewProjectArguments {
    name: String,
    directory_path: String,
}

fn new(_: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    let NewProjectArguments { name, directory_path } = parse_arguments(own)?;
    let is_plain = !name.trim().is_empty()
        && name.len() <= 100
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
        && !name.chars().any(char::is_control);
    if !is_plain {
        return Err(Refusal::new(
            RefusalCode::BadRequest,
            "name must be usable as a folder name: at most 100 bytes, no slash, no leading dot",
        )
        .field("name"));
    }
    let folder = require_absolute(&directory_path, "directoryPath")?;
    Ok(ProposedAction::New { path: format!("{}/{name}", folder.trim_end_matches('/')), name })
}

fn require_absolute(path: &str, field: &str) -> Result<String, Refusal> {
    if path.starts_with('/') && path.len() <= MAX_PATH_BYTES && !path.chars().any(char::is_control) {
        return Ok(path.to_owned());
    }
    Err(Refusal::new(RefusalCode::BadRequest, format!("{field} must be an absolute path")).field(field))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetConfigArguments {
    config: JsonObject,
}

fn configure(call: &AgentCall, own: &JsonObject) -> Result<ProposedAction, Refusal> {
    let SetConfigArguments { config } = parse_arguments(own)?;
    if config.is_empty() {
        return Err(
            Refusal::new(RefusalCode::BadRequest, "config must have at least one field").field("config")
        );
    }
    call.workbench.configured(&config)
}
