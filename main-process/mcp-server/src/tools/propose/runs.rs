//! Terraform runs for agents. A run waits for review unless a standing approval accepts it, and its output is
//! followed line by line.

use super::{Common, of_submission, proposal_id};
use crate::{
    Acted, Asking, Call, Code, Failure, Meta, Reply, Said, Seen, Tool, doings::Done, shown, surface::parsed,
    tools::terraform, wait_of,
};
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{Proposal, ProposalState, proposal::Act, terraform::RunOperation};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of lines in one answer of `get_run`.
const MOST_LINES: usize = 1_000;
/// The maximum bytes of lines and of a managed server's result in one answer. Together they fit into one envelope.
const MAX_LINES_BYTES: usize = 96 * 1024;
const MAX_RESULT_BYTES: usize = 192 * 1024;
/// The bytes of JSON around the text of a line.
const LINE_FRAME_BYTES: usize = 32;

pub(super) fn all() -> Vec<Tool> {
    let wait = json!({ "type": "number", "description": "seconds to wait for the decision; default 45, maximum 600" });
    let mut input = json!({
        "command": { "enum": ["init", "validate", "plan", "apply", "destroy"] },
        "confirmed": { "type": "boolean", "description": "required for apply and destroy: must be true" },
        "board": { "type": "string" },
        "waitSeconds": wait
    });
    if let Value::Object(fields) = &mut input {
        of_submission(fields);
    }
    let run = Tool::guarded(
        "terraform",
        "run_terraform",
        "Run Terraform",
        "Run Terraform on a board after a person accepts the run. apply and destroy change real resources and require \
         confirmed: true. Sends one progress notification per line of output. On AWAITING_REVIEW, call get_run with details.runId.",
        (input, &["command"]),
        json!({ "type": "object", "properties": {
            "exitCode": { "type": "integer" }, "success": { "type": "boolean" },
            "diagnostics": { "type": "array" }, "resourceChanges": { "type": "array" }, "runId": { "type": "string" }
        } }),
        |call| Box::pin(async move { run(call).await }),
    );
    let get = Tool::guarded(
        "terraform",
        "get_run",
        "Get run",
        "Get the status of your run or other request: its output lines from a given line, and its result.",
        (
            json!({
                "runId": { "type": "string" },
                "from": { "type": "integer", "description": "first line to return; pass nextLine of the previous answer" },
                "waitSeconds": { "type": "number", "description": "seconds to wait for new output or a new status; default 0" }
            }),
            &["runId"],
        ),
        json!({ "type": "object", "properties": {
            "status": { "type": "string" }, "lines": { "type": "array" }, "nextLine": { "type": "integer" }
        } }),
        |call| Box::pin(async move { get(call).await }),
    );
    vec![run, get.reads_only()]
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Run {
    command: Command,
    #[serde(default)]
    confirmed: bool,
    board: Option<String>,
    wait_seconds: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Command {
    Init,
    Validate,
    Plan,
    Apply,
    Destroy,
}

impl From<Command> for RunOperation {
    fn from(command: Command) -> Self {
        match command {
            Command::Init => Self::Init,
            Command::Validate => Self::Validate,
            Command::Plan => Self::Plan,
            Command::Apply => Self::Apply,
            Command::Destroy => Self::Destroy,
        }
    }
}

async fn run(call: Call) -> Result<Reply, Failure> {
    let (common, own) = Common::split(&call)?;
    let Run { command, confirmed, board, wait_seconds } = parsed(&own)?;
    let operation = RunOperation::from(command);
    if operation.needs_confirmation() && !confirmed {
        let message = format!("`{}` changes real resources and requires confirmed: true", operation.word());
        return Err(Failure::new(Code::ConfirmationRequired, message)
            .field("confirmed")
            .hint("Nothing was run. Show the designer a plan first. A person reviews the run in any case."));
    }
    let workspace = call.workspace()?;
    let board = terraform::find(workspace, board.as_deref())?;
    let submission =
        common.submission_of_act(&format!("Run terraform {} on {}", operation.word(), board.name))?;
    let asking = Asking {
        act: Act::Run { board: board.id, operation },
        submission,
        wait: wait_of(wait_seconds)?,
        stops: !operation.needs_confirmation(),
    };
    let Acted { proposal, approval, done } = call.act(asking).await?;
    let mut data = result(&done)?.clone();
    data["runId"] = json!(proposal.id);
    data["proposal"] = super::in_brief(&proposal);
    data["outcome"] = json!(shown(&done.words));
    if let Some(approval) = approval {
        data["approval"] = json!(approval);
    }
    let revision = call.workbench.view().revision();
    Reply::new(&data, Meta { revision: revision.0, ..Meta::default() })
}

/// Returns the result of a run in the shape of the contract.
fn result(done: &Done) -> Result<&Value, Failure> {
    done.result.as_ref().map_err(|refusal| Failure::from(refusal.clone()))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    run_id: String,
    #[serde(default)]
    from: u64,
    #[serde(default)]
    wait_seconds: f64,
}

async fn get(call: Call) -> Result<Reply, Failure> {
    let Get { run_id, from, wait_seconds } = call.arguments()?;
    let (wait, began) = (wait_of(Some(wait_seconds))?, Instant::now());
    let id = proposal_id(&run_id, "runId")?;
    let (mut queue, mut doings) = (call.workbench.changed(), call.workbench.doings().changed());
    let mut before = None;
    loop {
        queue.mark_unchanged();
        doings.mark_unchanged();
        let view = call.workbench.view();
        let unknown = || {
            Failure::new(Code::NotFound, format!("You have no run `{}`", shown(&run_id)))
                .field("runId")
                .hint("Use the runId that run_terraform returned.")
        };
        let proposal = view.review.own(id, &call.client).map_err(|_| unknown())?;
        let Some(act) = &proposal.act else { return Err(unknown()) };
        let seen = bounded(call.workbench.doings().look(id, from, MOST_LINES));
        let status = status(proposal, &seen);
        let is_news = before.is_some_and(|before| before != status) || !seen.lines.is_empty();
        if is_news || is_over(status) || began.elapsed() >= wait {
            let mut data = shape(proposal, act, &seen, status);
            if let Act::Run { board, operation } = act {
                let name = view.workspace.as_ref().and_then(|known| known.snapshot.board(*board));
                data["board"] = json!(name.map(|board| board.name.as_str()));
                data["command"] = json!(operation.word());
            }
            return Reply::new(&data, Meta { revision: view.revision().0, ..Meta::default() });
        }
        before = Some(status);
        tokio::select! {
            _ = queue.changed() => {}
            _ = doings.changed() => {}
            () = tokio::time::sleep(wait.saturating_sub(began.elapsed()).max(Duration::from_millis(1))) => {}
            () = call.cancelled.cancelled() => return Err(Failure::new(Code::Timeout, "The call was cancelled")),
        }
    }
}

/// Keeps the lines that fit into one answer; `nextLine` leads to the rest.
fn bounded(mut seen: Seen) -> Seen {
    let mut bytes = 0;
    let fits = |said: &&Said| {
        let is_first = bytes == 0;
        bytes += shown(&said.text).len() + LINE_FRAME_BYTES;
        is_first || bytes <= MAX_LINES_BYTES
    };
    let fitting = seen.lines.iter().take_while(fits).count();
    seen.lines.truncate(fitting);
    seen
}

fn status(proposal: &Proposal, seen: &Seen) -> &'static str {
    match (&proposal.state, &seen.done) {
        (ProposalState::Accepted, Some(done)) => match &done.result {
            Ok(data) if data["cancelled"] == json!(true) => "cancelled",
            Ok(data) if data["success"] == json!(false) => "failed",
            Ok(_) => "succeeded",
            Err(_) => "failed",
        },
        (ProposalState::Accepted, None) if seen.begun => "running",
        // The run started before the last restart of Draftboard, or was evicted.
        (ProposalState::Accepted, None) => "ended",
        (ProposalState::Draft | ProposalState::Open | ProposalState::Stale { .. }, _) => "awaiting_review",
        (other, _) => other.word(),
    }
}

fn is_over(status: &str) -> bool {
    !matches!(status, "awaiting_review" | "running")
}

fn shape(proposal: &Proposal, act: &Act, seen: &Seen, status: &str) -> Value {
    let line = |said: &Said| json!({ "line": shown(&said.text), "stream": if said.error { "stderr" } else { "stdout" } });
    let mut data = json!({
        "runId": proposal.id,
        "status": status,
        "proposal": super::in_brief(proposal),
        "firstLine": seen.first,
        "lines": seen.lines.iter().map(line).collect::<Vec<_>>(),
        "nextLine": seen.first + seen.lines.len() as u64,
        "outcome": proposal.outcome.as_deref().map(shown),
    });
    if let ProposalState::Rejected { reason, .. } = &proposal.state {
        data["reason"] = json!(shown(reason));
    }
    match seen.done.as_ref().map(|done| &done.result) {
        Some(Ok(Value::Object(result))) if matches!(act, Act::Run { .. }) => {
            if let Value::Object(data) = &mut data {
                data.extend(result.clone());
            }
        }
        Some(Ok(result)) if result.to_string().len() > MAX_RESULT_BYTES => {
            let message =
                format!("The action succeeded, but its result is larger than {MAX_RESULT_BYTES} bytes");
            data["error"] = json!(Failure::new(Code::LimitExceeded, message));
        }
        // The result of a forwarded tool, kept apart from our own fields.
        Some(Ok(result)) => data["result"] = result.clone(),
        Some(Err(refusal)) => data["error"] = json!(Failure::from(refusal.clone())),
        _ => {}
    }
    data
}
