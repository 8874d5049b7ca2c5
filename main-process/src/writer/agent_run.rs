//! A run that an agent requested and a person accepted: its lines and its outcome go to the call that waits, and the proposal
//! keeps the outcome.

use super::{WriterHandle, WriterMsg};
use mcp_server::{ActionOutputLine, ActionResult, ActionRuns};
use serde_json::{Value, json};
use shared_protocol::{
    Actor, ActorKind, ProposalId, Refusal,
    request::Responder,
    requests::{CancelRun, StartRun},
    terraform::{TerraformRunId, TerraformRunLine, TerraformRunState},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use terraform_runs::{ApplyPlanRequest, ApplyRequestVersion, FollowedRunOutcome, RunFollower, SavedPlan};

/// Bytes of each list in the outcome that an agent receives: both fit into one message.
const MAX_LIST_BYTES: usize = 96 * 1024;

pub(super) struct AgentRun {
    pub(super) proposal: ProposalId,
    pub(super) reviewer: String,
    pub(super) action_runs: Arc<ActionRuns>,
    pub(super) writer: WriterHandle,
    pub(super) terraform: terraform_runs::TerraformHandle,
    /// The number of the run, once it has one.
    pub(super) run: AtomicU64,
}

impl AgentRun {
    /// Starts the run, which sends its outcome from another thread.
    pub(super) fn start(self, request: StartRun) {
        let run = self.begin();
        run.terraform.clone().run_followed(request, run.actor(), run.responder(), run);
    }

    /// Applies the accepted plan.
    pub(super) fn apply(self, key: ApplyRequestVersion, saved: Arc<SavedPlan>, requested_by: String) {
        let run = self.begin();
        let (terraform, actor, responder) = (run.terraform.clone(), run.actor(), run.responder());
        terraform.apply_request(
            ApplyPlanRequest { key, plan: saved, requested_by, actor, follower: run },
            responder,
        );
    }

    /// Ends a run that cannot start.
    pub(super) fn refuse(self, refusal: Refusal) {
        self.begin().finish(ActionResult::from_refusal(refusal));
    }

    fn begin(self) -> Arc<Self> {
        self.action_runs.begin(self.proposal);
        Arc::new(self)
    }

    /// Ends with the refusal of a run that does not start. The run itself reports its start.
    fn responder(self: &Arc<Self>) -> Responder<TerraformRunId> {
        let run = Arc::clone(self);
        Responder::new(move |result| {
            if let Err(refusal) = result {
                run.finish(ActionResult::from_refusal(refusal));
            }
        })
    }

    fn actor(&self) -> Actor {
        Actor::new(ActorKind::Window, self.reviewer.clone())
    }

    fn record_outcome(&self, outcome: String) {
        if let Err(refusal) = self.writer.send(WriterMsg::ActionOutcome { proposal: self.proposal, outcome })
        {
            tracing::debug!(%refusal, "the outcome of a run was not recorded");
        }
    }

    fn finish(&self, done: ActionResult) {
        self.record_outcome(done.words.clone());
        self.action_runs.finish(self.proposal, done);
    }
}

impl RunFollower for AgentRun {
    fn on_started(&self, run: TerraformRunId) {
        self.run.store(run, Ordering::Release);
        self.record_outcome(format!("run {run} began"));
        let (terraform, actor) = (self.terraform.clone(), self.actor());
        self.action_runs.stops_with(self.proposal, move || {
            let responder = Responder::new(move |result| {
                if let Err(refusal) = result {
                    tracing::debug!(%refusal, run, "a cancelled run goes on");
                }
            });
            terraform.request(CancelRun { run }, actor, responder);
        });
    }

    fn on_output(&self, lines: &[TerraformRunLine]) {
        let said = lines.iter().map(|line| ActionOutputLine { text: line.text.clone(), error: line.error });
        self.action_runs.append_output(self.proposal, said);
    }

    fn on_ended(&self, outcome: FollowedRunOutcome) {
        let run = self.run.load(Ordering::Acquire);
        self.finish(ActionResult::ok(describe_outcome(run, &outcome), data(run, &outcome)));
    }
}

fn describe_outcome(run: TerraformRunId, outcome: &FollowedRunOutcome) -> String {
    let how = match outcome.state {
        TerraformRunState::Succeeded { .. } => "succeeded".to_owned(),
        TerraformRunState::Failed { code: Some(code), .. } => format!("failed with exit code {code}"),
        TerraformRunState::Failed { code: None, .. } => "failed".to_owned(),
        TerraformRunState::Cancelled { .. } => "was cancelled".to_owned(),
        TerraformRunState::Running | TerraformRunState::Cancelling | TerraformRunState::Interrupted => {
            "was cut off".to_owned()
        }
    };
    let counts = outcome.summary.map(|counts| {
        format!(": {} to add, {} to change, {} to destroy", counts.add, counts.change, counts.remove)
    });
    format!("run {run} ({}) {how}{}", outcome.operation.as_str(), counts.unwrap_or_default())
}

/// The result in the shape of the contract of `run_terraform`.
fn data(run: TerraformRunId, outcome: &FollowedRunOutcome) -> Value {
    let (success, code) = match outcome.state {
        TerraformRunState::Succeeded { .. } => (true, Some(0)),
        TerraformRunState::Failed { code, .. } => (false, code),
        _ => (false, None),
    };
    let diagnostics = outcome.complaints.iter().map(|said| {
        let severity = if said.is_error { "error" } else { "warning" };
        json!({ "severity": severity, "summary": said.summary, "detail": said.detail })
    });
    let changes = outcome.changes.iter().map(|change| {
        let mut shown =
            json!({ "address": change.address, "action": change.action, "success": change.success });
        if let Some(error) = &change.error {
            shown["error"] = json!(error);
        }
        shown
    });
    let (diagnostics, diagnostics_omitted) = bounded(diagnostics);
    let (changes, changes_omitted) = bounded(changes);
    let mut data = json!({
        // A program that a signal ended has no exit code.
        "exitCode": code.unwrap_or(-1),
        "success": success,
        "cancelled": matches!(outcome.state, TerraformRunState::Cancelled { .. }),
        "diagnostics": diagnostics,
        "resourceChanges": changes,
        "summary": outcome.summary.map(|counts| json!({
            "add": counts.add, "change": counts.change, "remove": counts.remove,
        })),
        "number": run,
    });
    let omitted = [("diagnosticsOmitted", diagnostics_omitted), ("resourceChangesOmitted", changes_omitted)];
    for (key, count) in omitted.into_iter().filter(|(_, count)| *count > 0) {
        data[key] = json!(count);
    }
    data
}

/// The values that fit into a message, and the number of the others.
fn bounded(all: impl Iterator<Item = Value>) -> (Vec<Value>, usize) {
    let (mut kept, mut bytes, mut omitted) = (Vec::new(), 0, 0);
    for value in all {
        bytes += value.to_string().len() + 1;
        if bytes <= MAX_LIST_BYTES { kept.push(value) } else { omitted += 1 }
    }
    (kept, omitted)
}
