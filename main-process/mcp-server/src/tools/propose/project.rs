//! The project as a whole: saving, opening, making, configuring. Each waits for a person.

use super::{Common, answers, reply, with_common};
use crate::{Call, Code, Failure, Reply, Tool, surface::parsed};
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
            "Asks a person to write the files of the open project.",
            (words(json!({})), &[]),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Save the project", |_, _| Ok(Act::Save)).await }),
        ),
        Tool::guarded(
            "project",
            "open_project",
            "Open project",
            "Asks a person to open another project in place of this one.",
            (
                words(
                    json!({ "projectPath": { "type": "string", "description": "absolute path of its folder" } }),
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
            "Asks a person to make a project in a new folder below directoryPath, and to open it.",
            (words(json!({ "name": text, "directoryPath": text })), &["name", "directoryPath"]),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Make a project", new).await }),
        ),
        Tool::guarded(
            "project",
            "set_project_config",
            "Set project config",
            "Asks a person to merge these fields into the project's configuration; null takes a field away.",
            (words(json!({ "config": { "type": "object" } })), &["config"]),
            answers(json!({})),
            |call| Box::pin(async move { ask(call, "Change the project's configuration", configure).await }),
        ),
    ]
}

pub(super) fn words(own: Value) -> Value {
    let mut all = with_common(own);
    if let Value::Object(fields) = &mut all {
        // It is never a part of a draft.
        fields.remove("proposal");
        fields.remove("submit");
    }
    all
}

pub(super) async fn ask(
    call: Call,
    title: &str,
    act: impl Fn(&Call, &rmcp::model::JsonObject) -> Result<Act, Failure> + Send,
) -> Result<Reply, Failure> {
    let (common, own) = Common::split(&call)?;
    call.workspace()?;
    let act = act(&call, &own)?;
    let outcome = call.ask(AgentAsk::Act { act, submission: common.submission(title)? }).await?;
    reply(&outcome, json!({}))
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
            "the name becomes a folder: up to 100 bytes, no slash, no leading dot",
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
    Err(Failure::new(Code::BadRequest, format!("{field} is an absolute path")).field(field))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configure {
    config: rmcp::model::JsonObject,
}

fn configure(call: &Call, own: &rmcp::model::JsonObject) -> Result<Act, Failure> {
    let Configure { config } = parsed(own)?;
    if config.is_empty() {
        return Err(Failure::new(Code::BadRequest, "give at least one field").field("config"));
    }
    Ok(call.workbench.configured(&config)?)
}
