//! Requests an action that a person decides about and waits for its result. The call reports progress; cancelling it
//! withdraws the request.

use crate::{Call, Code, Failure, Said, doings::Done, shown};
use authority::proposals::{AgentAsk, AgentOutcome, Submission};
use rmcp::{
    Peer, RoleServer,
    model::{NotificationMetaObject, ProgressNotificationParam, ProgressToken},
};
use serde_json::{Value, json};
use shared_protocol::{Proposal, ProposalId, ProposalState, proposal::Act};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

/// The interval of progress notifications while nothing happens.
const STILL_HERE: Duration = Duration::from_secs(5);
/// The maximum time a call follows a running action. The action continues and can be queried later.
const FOLLOW_LIMIT: Duration = Duration::from_secs(60 * 60);
/// The maximum number of lines read at once.
const MOST_LINES: usize = 500;
/// The maximum and default seconds a call waits for a decision. Clients give up after a minute by default.
const MOST_WAIT: u64 = 600;
const USUAL_WAIT: u64 = 45;

/// Sends progress notifications to a client that requested them.
#[derive(Clone, Default)]
pub struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    count: Arc<AtomicU64>,
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self { to: token.map(|token| (peer, token)), count: Arc::default() }
    }

    /// Sends one notification. Waits for a slow client only as long as its connection lives.
    pub async fn tell(&self, message: impl Into<String>, meta: Option<NotificationMetaObject>) {
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
    async fn line(&self, said: &Said) {
        let text = shown(&said.text);
        let stream = if said.error { "stderr" } else { "stdout" };
        let mut meta = NotificationMetaObject::new();
        meta.insert("line".to_owned(), json!(text));
        meta.insert("stream".to_owned(), json!(stream));
        self.tell(text.into_owned(), Some(meta)).await;
    }
}

/// A requested action and the time the call waits for a person.
#[derive(Debug, Clone)]
pub struct Asking {
    pub act: Act,
    pub submission: Submission,
    pub wait: Duration,
    /// Cancelling the call also stops the running action. Not used for actions that change real resources, because a
    /// lost connection looks like a cancellation.
    pub stops: bool,
}

/// An action that was accepted and completed.
#[derive(Debug, Clone)]
pub struct Acted {
    pub proposal: Arc<Proposal>,
    /// The standing approval that accepted it.
    pub approval: Option<u64>,
    pub done: Arc<Done>,
}

/// Parses the argument `waitSeconds`.
pub fn wait_of(seconds: Option<f64>) -> Result<Duration, Failure> {
    let seconds = seconds.unwrap_or(USUAL_WAIT as f64);
    if (0.0..=MOST_WAIT as f64).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(Failure::new(Code::BadRequest, format!("waitSeconds must be between 0 and {MOST_WAIT}"))
        .field("waitSeconds"))
}

/// The state of a requested action in the review queue.
enum Standing {
    Waits,
    Allowed,
    /// The action will not run.
    Over(Failure),
}

impl Call {
    /// Proposes the action and waits: for a decision as long as `asking` allows, then for the result.
    pub async fn act(&self, asking: Asking) -> Result<Acted, Failure> {
        let Asking { act, submission, wait, stops } = asking;
        // Subscribes before the request is submitted, so that no change is missed.
        let (mut queue, mut doings) = (self.workbench.changed(), self.workbench.doings().changed());
        let AgentOutcome { done, accepted } = self.ask(AgentAsk::Act { act, submission }).await?;
        let (mut proposal, approval) = (done.proposal, accepted.map(|granted| granted.approval));
        let (id, began) = (proposal.id, Instant::now());
        let (mut told, mut is_allowed, mut is_given_up) = (0, false, false);
        loop {
            // Marks the channels before reading, so that a change during the read wakes the loop.
            queue.mark_unchanged();
            doings.mark_unchanged();
            let seen = self.workbench.doings().look(id, told, MOST_LINES);
            for said in &seen.lines {
                self.progress.line(said).await;
            }
            told = seen.first + seen.lines.len() as u64;
            if seen.lines.len() == MOST_LINES {
                continue;
            }
            if let Some(done) = seen.done {
                let newest = self.workbench.view().review.get(id).map(Arc::clone);
                return Ok(Acted { proposal: newest.unwrap_or(proposal), approval, done });
            }
            if let Some(newest) = self.workbench.view().review.get(id) {
                proposal = Arc::clone(newest);
            }
            match standing(&proposal) {
                Standing::Over(failure) => return Err(failure),
                // The run was evicted from memory; only the proposal's outcome text remains.
                Standing::Allowed if !seen.begun && proposal.outcome.is_some() => {
                    let words = proposal.outcome.clone().unwrap_or_default();
                    let done = Arc::new(Done::well(words, Value::Null));
                    return Ok(Acted { proposal, approval, done });
                }
                Standing::Allowed if !is_allowed => {
                    is_allowed = true;
                    self.progress.tell("Accepted; running", None).await;
                }
                Standing::Allowed => {}
                Standing::Waits if is_given_up => return Err(given_up(id)),
                Standing::Waits if began.elapsed() >= wait => return Err(awaiting(&proposal)),
                Standing::Waits => {}
            }
            let limit = if is_allowed { FOLLOW_LIMIT } else { wait };
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(still_going_on(id));
            }
            tokio::select! {
                _ = queue.changed() => {}
                _ = doings.changed() => {}
                () = tokio::time::sleep(left.min(STILL_HERE)) => {
                    let what = if is_allowed { "Running" } else { "Waiting for review" };
                    self.progress.tell(what, None).await;
                }
                () = self.cancelled.cancelled(), if !is_given_up => {
                    is_given_up = true;
                    // Withdrawing fails when the request was decided meanwhile; then the action runs.
                    if !is_allowed && self.ask(AgentAsk::Withdraw(id)).await.is_ok() {
                        return Err(given_up(id));
                    }
                    if !stops {
                        return Err(still_going_on(id));
                    }
                    self.workbench.doings().stop(id);
                }
            }
        }
    }
}

fn standing(proposal: &Proposal) -> Standing {
    let over = |message: String| {
        let failure = Failure::new(Code::Conflict, message).field("proposal");
        Standing::Over(failure.detail("proposal", json!(proposal.id)).detail("state", state(proposal)))
    };
    match &proposal.state {
        ProposalState::Draft | ProposalState::Open | ProposalState::Stale { .. } => Standing::Waits,
        ProposalState::Accepted => Standing::Allowed,
        ProposalState::Rejected { reason, .. } if reason.trim().is_empty() => {
            over("The reviewer rejected the request".to_owned())
        }
        ProposalState::Rejected { reason, .. } => {
            over(format!("The reviewer rejected the request: {}", shown(reason)))
        }
        ProposalState::Withdrawn | ProposalState::Superseded { .. } | ProposalState::Expired => {
            over(format!("The request was closed without a decision: {}", proposal.state.word()))
        }
    }
}

fn state(proposal: &Proposal) -> Value {
    json!(proposal.state.word())
}

/// Adds the ids that a later call needs to query the result.
fn named(failure: Failure, id: ProposalId) -> Failure {
    failure.detail("runId", json!(id)).detail("proposal", json!(id))
}

fn awaiting(proposal: &Proposal) -> Failure {
    let message = format!("Request {} is waiting for review", proposal.number);
    let failure = Failure::new(Code::AwaitingReview, message).hint(
        "Nothing runs before a person accepts the request. Call get_run or get_proposal for the result. Do not submit the request again.",
    );
    named(failure, proposal.id)
}

fn still_going_on(id: ProposalId) -> Failure {
    let failure = Failure::new(Code::Timeout, "The action is still running")
        .hint("Call get_run or get_proposal for its state.");
    named(failure, id)
}

fn given_up(id: ProposalId) -> Failure {
    named(Failure::new(Code::Timeout, "The call was cancelled and the request withdrawn"), id)
}
