//! Asking for something that a person decides, and waiting for what comes of it. The call reports progress meanwhile; a
//! client that gives up takes its wish back.

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

/// While nothing happens, the client hears that often that its call is alive.
const STILL_HERE: Duration = Duration::from_secs(5);
/// How long what is done is followed; it goes on, and can be asked about.
const FOLLOW_LIMIT: Duration = Duration::from_secs(60 * 60);
/// Lines taken at once.
const MOST_LINES: usize = 500;
/// The longest and the usual time that a call waits for a decision. Clients give up after a minute of their own accord.
const MOST_WAIT: u64 = 600;
const USUAL_WAIT: u64 = 45;

/// Tells a client how far its call is, if it wants to know.
#[derive(Clone, Default)]
pub struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    count: Arc<AtomicU64>,
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self { to: token.map(|token| (peer, token)), count: Arc::default() }
    }

    /// One notification. A client that does not take it is not waited for longer than its connection is.
    pub async fn tell(&self, message: impl Into<String>, meta: Option<NotificationMetaObject>) {
        let Some((peer, token)) = &self.to else { return };
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let mut progress =
            ProgressNotificationParam::new(token.clone(), count as f64).with_message(message.into());
        progress.meta = meta;
        if let Err(error) = peer.notify_progress(progress).await {
            tracing::debug!(%error, "progress was not told");
        }
    }

    /// A line as the contract has it: the text as the message, the text and its stream beside it.
    async fn line(&self, said: &Said) {
        let text = shown(&said.text);
        let stream = if said.error { "stderr" } else { "stdout" };
        let mut meta = NotificationMetaObject::new();
        meta.insert("line".to_owned(), json!(text));
        meta.insert("stream".to_owned(), json!(stream));
        self.tell(text.into_owned(), Some(meta)).await;
    }
}

/// What is asked for, and how long the call waits for a person.
#[derive(Debug, Clone)]
pub struct Asking {
    pub act: Act,
    pub submission: Submission,
    pub wait: Duration,
    /// Giving the call up also stops what was begun. Not for what changes the real world: a lost connection looks the same.
    pub stops: bool,
}

/// It was allowed and done.
#[derive(Debug, Clone)]
pub struct Acted {
    pub proposal: Arc<Proposal>,
    /// The standing approval that allowed it.
    pub approval: Option<u64>,
    pub done: Arc<Done>,
}

/// The seconds that an argument `waitSeconds` asks for.
pub fn wait_of(seconds: Option<f64>) -> Result<Duration, Failure> {
    let seconds = seconds.unwrap_or(USUAL_WAIT as f64);
    if (0.0..=MOST_WAIT as f64).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(Failure::new(Code::BadRequest, format!("waitSeconds is 0 to {MOST_WAIT}")).field("waitSeconds"))
}

/// How far something that was asked for is, as far as the queue tells.
enum Standing {
    Waits,
    Allowed,
    /// It will not be done.
    Over(Failure),
}

impl Call {
    /// Has it proposed, and waits: for a decision as long as `asking` says, for what comes of it until it is done.
    pub async fn act(&self, asking: Asking) -> Result<Acted, Failure> {
        let Asking { act, submission, wait, stops } = asking;
        // Before it is asked: nothing that happens from then on is missed.
        let (mut queue, mut doings) = (self.workbench.changed(), self.workbench.doings().changed());
        let AgentOutcome { done, accepted } = self.ask(AgentAsk::Act { act, submission }).await?;
        let (mut proposal, approval) = (done.proposal, accepted.map(|granted| granted.approval));
        let (id, began) = (proposal.id, Instant::now());
        let (mut told, mut is_allowed, mut is_given_up) = (0, false, false);
        loop {
            // Marked as seen before it is looked at, so that what comes meanwhile wakes us.
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
                // So much was done since that only the proposal's own words are left.
                Standing::Allowed if !seen.begun && proposal.outcome.is_some() => {
                    let words = proposal.outcome.clone().unwrap_or_default();
                    let done = Arc::new(Done::well(words, Value::Null));
                    return Ok(Acted { proposal, approval, done });
                }
                Standing::Allowed if !is_allowed => {
                    is_allowed = true;
                    self.progress.tell("allowed; it is being done", None).await;
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
                    let what = if is_allowed { "it is being done" } else { "waiting for a person's decision" };
                    self.progress.tell(what, None).await;
                }
                () = self.cancelled.cancelled(), if !is_given_up => {
                    is_given_up = true;
                    // Refused when it was decided meanwhile; then it is on its way.
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
            over("a person said no".to_owned())
        }
        ProposalState::Rejected { reason, .. } => over(format!("a person said no: {}", shown(reason))),
        ProposalState::Withdrawn | ProposalState::Superseded { .. } | ProposalState::Expired => {
            over(format!("nobody decided: the request is {}", proposal.state.word()))
        }
    }
}

fn state(proposal: &Proposal) -> Value {
    json!(proposal.state.word())
}

/// What to name later to learn what came of it.
fn named(failure: Failure, id: ProposalId) -> Failure {
    failure.detail("runId", json!(id)).detail("proposal", json!(id))
}

fn awaiting(proposal: &Proposal) -> Failure {
    let message = format!("request {} waits for a person's decision", proposal.number);
    let failure = Failure::new(Code::AwaitingReview, message).hint(
        "Nothing is done before a person decides. get_run or get_proposal tells what came of it; do not ask for it again.",
    );
    named(failure, proposal.id)
}

fn still_going_on(id: ProposalId) -> Failure {
    let failure =
        Failure::new(Code::Timeout, "it is still being done").hint("get_run or get_proposal tells more.");
    named(failure, id)
}

fn given_up(id: ProposalId) -> Failure {
    named(Failure::new(Code::Timeout, "the call was cancelled, and the request withdrawn"), id)
}
