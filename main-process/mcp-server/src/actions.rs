//! Requests an action that a person decides about and waits for its result. The call reports progress; cancelling it
//! withdraws the request.

use crate::escape::escape_hidden;
use crate::{ActionOutputLine, AgentCall, action_runs::ActionResult};
use authority::proposals::{AgentCallOutcome, AgentRequest, ProposalSubmission};
use rmcp::{
    Peer, RoleServer,
    model::{NotificationMetaObject, ProgressNotificationParam, ProgressToken},
};
use serde_json::{Value, json};
use shared_protocol::{Proposal, ProposalId, ProposalState, Refusal, RefusalCode, proposal::ProposedAction};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

/// The interval of progress notifications while nothing happens.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// The maximum time a call follows a running action. The action continues and can be queried later.
const MAX_FOLLOW_TIME: Duration = Duration::from_secs(60 * 60);
/// The maximum number of lines read at once.
const MAX_LINES_PER_READ: usize = 500;
/// The maximum and default seconds a call waits for a decision. Clients give up after a minute by default.
const MAX_WAIT_SECONDS: u64 = 600;
const DEFAULT_WAIT_SECONDS: u64 = 45;

/// Sends progress notifications to a client that requested them.
#[derive(Clone, Default)]
pub struct ProgressReporter {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    count: Arc<AtomicU64>,
}

impl ProgressReporter {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self { to: token.map(|token| (peer, token)), count: Arc::default() }
    }

    /// Sends one notification. Waits for a slow client only as long as its connection lives.
    pub async fn report(&self, message: impl Into<String>, meta: Option<NotificationMetaObject>) {
        let Some((peer, token)) = &self.to else { return };
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let mut progress =
            ProgressNotificationParam::new(token.clone(), count as f64).with_message(message.into());
        progress.meta = meta;
        if let Err(error) = peer.notify_progress(progress).await {
            tracing::debug!(%error, "sending progress failed");
        }
    }

    /// Sends an output line as the contract defines it: the text as message, the text and its stream in `_meta`.
    async fn report_line(&self, said: &ActionOutputLine) {
        let text = escape_hidden(&said.text);
        let stream = if said.error { "stderr" } else { "stdout" };
        let mut meta = NotificationMetaObject::new();
        meta.insert("line".to_owned(), json!(text));
        meta.insert("stream".to_owned(), json!(stream));
        self.report(text.into_owned(), Some(meta)).await;
    }
}

/// A requested action and the time the call waits for a person.
#[derive(Debug, Clone)]
pub struct ActionRequest {
    pub act: ProposedAction,
    pub submission: ProposalSubmission,
    pub wait: Duration,
    /// Cancelling the call also stops the running action. Not used for actions that change real resources, because a
    /// lost connection looks like a cancellation.
    pub stops: bool,
}

/// An action that was accepted and completed.
#[derive(Debug, Clone)]
pub struct CompletedAction {
    pub proposal: Arc<Proposal>,
    /// The standing approval that accepted it.
    pub approval: Option<u64>,
    pub result: Arc<ActionResult>,
}

/// Parses the argument `waitSeconds`.
pub fn parse_wait_seconds(seconds: Option<f64>) -> Result<Duration, Refusal> {
    let seconds = seconds.unwrap_or(DEFAULT_WAIT_SECONDS as f64);
    if (0.0..=MAX_WAIT_SECONDS as f64).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(Refusal::new(
        RefusalCode::BadRequest,
        format!("waitSeconds must be between 0 and {MAX_WAIT_SECONDS}"),
    )
    .field("waitSeconds"))
}

/// The state of a requested action in the review queue.
enum ActionStatus {
    Waiting,
    Accepted,
    /// The action will not run.
    Closed(Refusal),
}

impl AgentCall {
    /// Proposes the action and waits: for a decision as long as `asking` allows, then for the result.
    pub async fn propose_action(&self, asking: ActionRequest) -> Result<CompletedAction, Refusal> {
        let ActionRequest { act, submission, wait, stops } = asking;
        // Subscribes before the request is submitted, so that no change is missed.
        let (mut queue, mut action_runs) =
            (self.workbench.watch_changes(), self.workbench.action_runs().watch_changes());
        let AgentCallOutcome { response: done, accepted } =
            self.submit(AgentRequest::Act { act, submission }).await?;
        let (mut proposal, approval) = (done.proposal, accepted.map(|granted| granted.approval));
        let (id, began) = (proposal.id, Instant::now());
        let (mut told, mut is_allowed, mut is_given_up) = (0, false, false);
        loop {
            // Marks the channels before reading, so that a change during the read wakes the loop.
            queue.mark_unchanged();
            action_runs.mark_unchanged();
            let seen = self.workbench.action_runs().read(id, told, MAX_LINES_PER_READ);
            for said in &seen.lines {
                self.progress.report_line(said).await;
            }
            told = seen.first_line + seen.lines.len() as u64;
            if seen.lines.len() == MAX_LINES_PER_READ {
                continue;
            }
            if let Some(done) = seen.result {
                let newest = self.workbench.view().review.get(id).map(Arc::clone);
                return Ok(CompletedAction { proposal: newest.unwrap_or(proposal), approval, result: done });
            }
            if let Some(newest) = self.workbench.view().review.get(id) {
                proposal = Arc::clone(newest);
            }
            match action_status(&proposal) {
                ActionStatus::Closed(failure) => return Err(failure),
                // The run was evicted from memory; only the proposal's outcome text remains.
                ActionStatus::Accepted if !seen.started && proposal.outcome.is_some() => {
                    let words = proposal.outcome.clone().unwrap_or_default();
                    let done = Arc::new(ActionResult::ok(words, Value::Null));
                    return Ok(CompletedAction { proposal, approval, result: done });
                }
                ActionStatus::Accepted if !is_allowed => {
                    is_allowed = true;
                    self.progress.report("Accepted; running", None).await;
                }
                ActionStatus::Accepted => {}
                ActionStatus::Waiting if is_given_up => return Err(call_cancelled(id)),
                ActionStatus::Waiting if began.elapsed() >= wait => return Err(awaiting_review(&proposal)),
                ActionStatus::Waiting => {}
            }
            let limit = if is_allowed { MAX_FOLLOW_TIME } else { wait };
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(still_running(id));
            }
            tokio::select! {
                _ = queue.changed() => {}
                _ = action_runs.changed() => {}
                () = tokio::time::sleep(left.min(PROGRESS_INTERVAL)) => {
                    let what = if is_allowed { "Running" } else { "Waiting for review" };
                    self.progress.report(what, None).await;
                }
                () = self.cancelled.cancelled(), if !is_given_up => {
                    is_given_up = true;
                    // Withdrawing fails when the request was decided meanwhile; then the action runs.
                    if !is_allowed && self.submit(AgentRequest::Withdraw(id)).await.is_ok() {
                        return Err(call_cancelled(id));
                    }
                    if !stops {
                        return Err(still_running(id));
                    }
                    self.workbench.action_runs().stop(id);
                }
            }
        }
    }
}

fn action_status(proposal: &Proposal) -> ActionStatus {
    let over = |message: String| {
        let failure = Refusal::new(RefusalCode::Conflict, message).field("proposal");
        ActionStatus::Closed(
            failure.detail("proposal", &json!(proposal.id)).detail("state", &state_detail(proposal)),
        )
    };
    match &proposal.state {
        ProposalState::Draft | ProposalState::Open | ProposalState::Stale { .. } => ActionStatus::Waiting,
        ProposalState::Accepted => ActionStatus::Accepted,
        ProposalState::Rejected { reason, .. } if reason.trim().is_empty() => {
            over("The reviewer rejected the request".to_owned())
        }
        ProposalState::Rejected { reason, .. } => {
            over(format!("The reviewer rejected the request: {}", escape_hidden(reason)))
        }
        ProposalState::Withdrawn | ProposalState::Superseded { .. } | ProposalState::Expired => {
            over(format!("The request was closed without a decision: {}", proposal.state.as_str()))
        }
    }
}

fn state_detail(proposal: &Proposal) -> Value {
    json!(proposal.state.as_str())
}

/// Adds the ids that a later call needs to query the result.
fn with_run_id(failure: Refusal, id: ProposalId) -> Refusal {
    failure.detail("runId", &json!(id)).detail("proposal", &json!(id))
}

fn awaiting_review(proposal: &Proposal) -> Refusal {
    let message = format!("Request {} is waiting for review", proposal.number);
    let failure = Refusal::new(RefusalCode::AwaitingReview, message).hint(
        "Nothing runs before a person accepts the request. Call get_run or get_proposal for the result. Do not submit the request again.",
    );
    with_run_id(failure, proposal.id)
}

fn still_running(id: ProposalId) -> Refusal {
    let failure = Refusal::new(RefusalCode::Timeout, "The action is still running")
        .hint("Call get_run or get_proposal for its state.");
    with_run_id(failure, id)
}

fn call_cancelled(id: ProposalId) -> Refusal {
    with_run_id(Refusal::new(RefusalCode::Timeout, "The call was cancelled and the request withdrawn"), id)
}
