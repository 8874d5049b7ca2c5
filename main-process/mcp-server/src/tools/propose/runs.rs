//! Terraform runs for agents. A run waits for review unless a standing approval accepts it, and its output is
//! followed line by line.

use super::{CommonArguments, proposal_id, with_submission};
use crate::escape::escape_hidden;
use crate::{
    ActionOutputLine, ActionRequest, ActionRunState, AgentCall, CompletedAction, EnvelopeMeta, SurfaceTool,
    ToolReply, action_runs::ActionResult, parse_wait_seconds, refusal::AgentRefusal, schema,
    surface::parse_arguments, tools::terraform,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    Proposal, ProposalState, Refusal, RefusalCode, proposal::ProposedAction, terraform::TerraformOperation,
};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of lines in one answer of `get_run`.
const MAX_LINES_PER_ANSWER: usize = 1_000;
/// The maximum bytes of lines and of a managed server's result in one answer. Together they fit into one envelope.
const MAX_LINES_BYTES: usize = 96 * 1024;
const MAX_RESULT_BYTES: usize = 192 * 1024;
/// The bytes of JSON around the text of a line.
const LINE_FRAME_BYTES: usize = 32;

pub(super) fn all() -> Vec<SurfaceTool> {
    let run = SurfaceTool::guarded(
        "terraform",
        "run_terraform",
        "Run Terraform",
        "Run Terraform on a board after a person accepts the run. apply and destroy change real resources and require \
         confirmed: true. Sends one progress notification per line of output. On AWAITING_REVIEW, call get_run with details.runId.",
        with_submission::<RunTerraformArguments>(),
        json!({ "type": "object", "properties": {
            "exitCode": { "type": "integer" }, "success": { "type": "boolean" },
            "diagnostics": { "type": "array" }, "resourceChanges": { "type": "array" }, "runId": { "type": "string" }
        } }),
        run,
    );
    let get = SurfaceTool::guarded(
        "terraform",
        "get_run",
        "Get run",
        "Get the status of your run or other request: its output lines from a given line, and its result.",
        schema::of::<GetRunArguments>(),
        json!({ "type": "object", "properties": {
            "status": { "type": "string" }, "lines": { "type": "array" }, "nextLine": { "type": "integer" }
        } }),
        get,
    );
    vec![run, get.read_only()]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunTerraformArguments {
    command: TerraformCommandArgument,
    /// required for apply and destroy: must be true
    #[serde(default)]
    confirmed: bool,
    board: Option<String>,
    /// seconds to wait for the decision; default 45, maximum 600
    wait_seconds: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TerraformCommandArgument {
    Init,
    Validate,
    Plan,
    Apply,
    Destroy,
}

impl From<TerraformCommandArgument> for TerraformOperation {
    fn from(command: TerraformCommandArgument) -> Self {
        match command {
            TerraformCommandArgument::Init => Self::Init,
            TerraformCommandArgument::Validate => Self::Validate,
            TerraformCommandArgument::Plan => Self::Plan,
            TerraformCommandArgument::Apply => Self::Apply,
            TerraformCommandArgument::Destroy => Self::Destroy,
        }
    }
}

async fn run(call: AgentCall) -> Result<ToolReply, Refusal> {
    let (common, own) = CommonArguments::split(&call)?;
    let RunTerraformArguments { command, confirmed, board, wait_seconds } = parse_arguments(&own)?;
    let operation = TerraformOperation::from(command);
    if operation.needs_confirmation() && !confirmed {
        let message = format!("`{}` changes real resources and requires confirmed: true", operation.as_str());
        return Err(Refusal::new(RefusalCode::ConfirmationRequired, message)
            .field("confirmed")
            .hint("Nothing was run. Show the designer a plan first. A person reviews the run in any case."));
    }
    let workspace = call.workspace()?;
    let board = terraform::find(workspace, board.as_deref())?;
    let submission =
        common.submission_of_act(&format!("Run terraform {} on {}", operation.as_str(), board.name))?;
    let asking = ActionRequest {
        act: ProposedAction::Run { board: board.id, operation },
        submission,
        wait: parse_wait_seconds(wait_seconds)?,
        stops: !operation.needs_confirmation(),
    };
    let CompletedAction { proposal, approval, result: done } = call.propose_action(asking).await?;
    let mut data = result(&done)?.clone();
    data["runId"] = json!(proposal.id);
    data["proposal"] = super::summarize_proposal(&proposal);
    data["outcome"] = json!(escape_hidden(&done.words));
    if let Some(approval) = approval {
        data["approval"] = json!(approval);
    }
    let revision = call.workbench.view().revision();
    ToolReply::new(&data, EnvelopeMeta { revision: revision.0, ..EnvelopeMeta::default() })
}

/// Returns the result of a run in the shape of the contract.
fn result(done: &ActionResult) -> Result<&Value, Refusal> {
    done.result.as_ref().map_err(Clone::clone)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetRunArguments {
    run_id: String,
    /// first line to return; pass nextLine of the previous answer
    #[serde(default)]
    from: u64,
    /// seconds to wait for new output or a new status; default 0
    #[serde(default)]
    wait_seconds: f64,
}

async fn get(call: AgentCall) -> Result<ToolReply, Refusal> {
    let GetRunArguments { run_id, from, wait_seconds } = call.arguments()?;
    let (wait, began) = (parse_wait_seconds(Some(wait_seconds))?, Instant::now());
    let id = proposal_id(&run_id, "runId")?;
    let (mut queue, mut action_runs) =
        (call.workbench.watch_changes(), call.workbench.action_runs().watch_changes());
    let mut before = None;
    loop {
        queue.mark_unchanged();
        action_runs.mark_unchanged();
        let view = call.workbench.view();
        let unknown = || {
            Refusal::new(RefusalCode::NotFound, format!("You have no run `{}`", escape_hidden(&run_id)))
                .field("runId")
                .hint("Use the runId that run_terraform returned.")
        };
        let proposal = view.review.owned_by(id, &call.client).map_err(|_| unknown())?;
        let Some(act) = &proposal.act else { return Err(unknown()) };
        let seen = limit_lines(call.workbench.action_runs().read(id, from, MAX_LINES_PER_ANSWER));
        let status = status(proposal, &seen);
        let is_news = before.is_some_and(|before| before != status) || !seen.lines.is_empty();
        if is_news || is_over(status) || began.elapsed() >= wait {
            let mut data = shape(proposal, act, &seen, status);
            if let ProposedAction::Run { board, operation } = act {
                let name = view.workspace.as_ref().and_then(|known| known.snapshot.board(*board));
                data["board"] = json!(name.map(|board| board.name.as_str()));
                data["command"] = json!(operation.as_str());
            }
            return ToolReply::new(
                &data,
                EnvelopeMeta { revision: view.revision().0, ..EnvelopeMeta::default() },
            );
        }
        before = Some(status);
        tokio::select! {
            _ = queue.changed() => {}
            _ = action_runs.changed() => {}
            () = tokio::time::sleep(wait.saturating_sub(began.elapsed()).max(Duration::from_millis(1))) => {}
            () = call.cancelled.cancelled() => return Err(Refusal::new(RefusalCode::Timeout, "The call was cancelled")),
        }
    }
}

/// Keeps the lines that fit into one answer; `nextLine` leads to the rest.
fn limit_lines(mut seen: ActionRunState) -> ActionRunState {
    let mut bytes = 0;
    let fits = |said: &&ActionOutputLine| {
        let is_first = bytes == 0;
        bytes += escape_hidden(&said.text).len() + LINE_FRAME_BYTES;
        is_first || bytes <= MAX_LINES_BYTES
    };
    let fitting = seen.lines.iter().take_while(fits).count();
    seen.lines.truncate(fitting);
    seen
}

fn status(proposal: &Proposal, seen: &ActionRunState) -> &'static str {
    match (&proposal.state, &seen.result) {
        (ProposalState::Accepted, Some(done)) => match &done.result {
            Ok(data) if data["cancelled"] == json!(true) => "cancelled",
            Ok(data) if data["success"] == json!(false) => "failed",
            Ok(_) => "succeeded",
            Err(_) => "failed",
        },
        (ProposalState::Accepted, None) if seen.started => "running",
        // The run started before the last restart of Draftboard, or was evicted.
        (ProposalState::Accepted, None) => "ended",
        (ProposalState::Draft | ProposalState::Open | ProposalState::Stale { .. }, _) => "awaiting_review",
        (other, _) => other.as_str(),
    }
}

fn is_over(status: &str) -> bool {
    !matches!(status, "awaiting_review" | "running")
}

fn shape(proposal: &Proposal, act: &ProposedAction, seen: &ActionRunState, status: &str) -> Value {
    let line = |said: &ActionOutputLine| json!({ "line": escape_hidden(&said.text), "stream": if said.error { "stderr" } else { "stdout" } });
    let mut data = json!({
        "runId": proposal.id,
        "status": status,
        "proposal": super::summarize_proposal(proposal),
        "firstLine": seen.first_line,
        "lines": seen.lines.iter().map(line).collect::<Vec<_>>(),
        "nextLine": seen.first_line + seen.lines.len() as u64,
        "outcome": proposal.outcome.as_deref().map(escape_hidden),
    });
    if let ProposalState::Rejected { reason, .. } = &proposal.state {
        data["reason"] = json!(escape_hidden(reason));
    }
    match seen.result.as_ref().map(|done| &done.result) {
        Some(Ok(Value::Object(result))) if matches!(act, ProposedAction::Run { .. }) => {
            if let Value::Object(data) = &mut data {
                data.extend(result.clone());
            }
        }
        Some(Ok(result)) if result.to_string().len() > MAX_RESULT_BYTES => {
            let message =
                format!("The action succeeded, but its result is larger than {MAX_RESULT_BYTES} bytes");
            data["error"] = json!(AgentRefusal::from(&Refusal::new(RefusalCode::LimitExceeded, message)));
        }
        // The result of a forwarded tool, kept apart from our own fields.
        Some(Ok(result)) => data["result"] = result.clone(),
        Some(Err(refusal)) => data["error"] = json!(AgentRefusal::from(refusal)),
        _ => {}
    }
    data
}
