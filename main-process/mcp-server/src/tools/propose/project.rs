//! Project actions: save, open, create, configure. Each waits for review.

use super::{Common, answers, in_brief, reply, with_common};
use crate::{
    Acted, Asking, Call, Code, Failure, Meta, Reply, Tool, shown, surface::parsed, tools::redacted, wait_of,
};
use authority::proposals::AgentAsk;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::proposal::Act;

const MOST_PATH: usize = 4_096;

pub(super) fn all() -> Vec<Tool> {
    let text = json!({ "type": "string" });
    vec![
        Tool::guarded(
            "project",
            "save_project",
            "Save project",
            "Request to save the open project to its files. A person must accept.",
            (words(json!({})), &[]),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Save the project", |_, _| Ok(Act::Save)).await }),
        ),
        Tool::guarded(
            "project",
            "open_project",
            "Open project",
            "Request to open another project instead of this one. A person must accept.",
            (
                words(
                    json!({ "projectPath": { "type": "string", "description": "absolute path of the project folder" } }),
                ),
                &["projectPath"],
            ),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Open another project", open).await }),
        ),
        Tool::guarded(
            "project",
            "new_project",
            "New project",
            "Request to create a project in a new folder inside directoryPath and open it. A person must accept.",
            (words(json!({ "name": text, "directoryPath": text })), &["name", "directoryPath"]),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Create a project", new).await }),
        ),
        Tool::guarded(
            "project",
            "set_project_config",
            "Set project config",
            "Request to merge these fields into the project configuration; null removes a field. A person must accept.",
            (words(json!({ "config": { "type": "object" } })), &["config"]),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Change the project configuration", configure).await }),
        ),
    ]
}

pub(super) fn words(own: Value) -> Value {
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

pub(super) async fn ask(
    call: Call,
    title: &str,
    act: impl Fn(&Call, &rmcp::model::JsonObject) -> Result<Act, Failure> + Send,
) -> Result<Reply, Failure> {
    let (common, mut own) = Common::split(&call)?;
    let Waiting { wait_seconds } = match own.remove("waitSeconds") {
        Some(seconds) => parsed(&[("waitSeconds".to_owned(), seconds)].into_iter().collect())?,
        None => Waiting::default(),
    };
    call.workspace()?;
    let (act, submission) = (act(&call, &own)?, common.submission_of_act(title)?);
    if wait_seconds == 0.0 {
        return reply(&call, &call.ask(AgentAsk::Act { act, submission }).await?, json!({}));
    }
    let wait = wait_of(Some(wait_seconds))?;
    let is_of_project = matches!(act, Act::Save | Act::Open { .. } | Act::New { .. } | Act::Config { .. });
    done(&call, call.act(Asking { act, submission, wait, stops: false }).await?, is_of_project)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Waiting {
    #[serde(default)]
    wait_seconds: f64,
}

/// Builds the answer of a completed action with the current state of the project.
fn done(call: &Call, acted: Acted, is_of_project: bool) -> Result<Reply, Failure> {
    let Acted { proposal, approval, done } = acted;
    let result = done.result.as_ref().map_err(|refusal| Failure::from(refusal.clone()))?;
    let mut data =
        json!({ "status": "done", "proposal": in_brief(&proposal), "outcome": shown(&done.words) });
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
            .map(|board| json!({ "id": board.id, "name": board.name, "kind": board.kind, "title": shown(&board.title) }))
            .collect();
        data["project"] = json!({ "name": shown(&workspace.name), "boards": boards, "config": redacted(&workspace.config) });
    }
    Reply::new(&data, Meta { revision: view.revision().0, ..Meta::default() })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Open {
    project_path: String,
}

fn open(_: &Call, own: &rmcp::model::JsonObject) -> Result<Act, Failure> {
    let Open { project_path } = parsed(own)?;
    Ok(Act::Open { path: absolute(&project_path, "projectPath")? })
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct New {
    name: String,
    directory_path: String,
}

fn new(_: &Call, own: &rmcp::model::JsonObject) -> Result<Act, Failure> {
    let New { name, directory_path } = parsed(own)?;
    let is_plain = !name.trim().is_empty()
        && name.len() <= 100
        && !name.starts_with('.')
        && !name.contains(['/', '\\', '\0'])
        && !name.chars().any(char::is_control);
    if !is_plain {
        return Err(Failure::new(
            Code::BadRequest,
            "name must be usable as a folder name: at most 100 bytes, no slash, no leading dot",
        )
        .field("name"));
    }
    let folder = absolute(&directory_path, "directoryPath")?;
    Ok(Act::New { path: format!("{}/{name}", folder.trim_end_matches('/')), name })
}

fn absolute(path: &str, field: &str) -> Result<String, Failure> {
    if path.starts_with('/') && path.len() <= MOST_PATH && !path.chars().any(char::is_control) {
        return Ok(path.to_owned());
    }
    Err(Failure::new(Code::BadRequest, format!("{field} must be an absolute path")).field(field))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configure {
    config: rmcp::model::JsonObject,
}

fn configure(call: &Call, own: &rmcp::model::JsonObject) -> Result<Act, Failure> {
    let Configure { config } = parsed(own)?;
    if config.is_empty() {
        return Err(Failure::new(Code::BadRequest, "config must have at least one field").field("config"));
    }
    Ok(call.workbench.configured(&config)?)
}
