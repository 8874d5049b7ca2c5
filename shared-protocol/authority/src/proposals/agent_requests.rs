//! The only entry point for agents: the complete list of requests to the queue, and how one extends a draft. None of them
//! decides a proposal.

use super::{
    overlay::{ProposalOverlay, stale_refusal},
    queue::{CachedDraftState, CallingClient, ProposeResult, ReviewQueue, is_decided},
    rebase_queue::note_step,
    refit::{RefitResult, refit},
    submission::ProposalSubmission,
};
use crate::{CommandDecision, ProblemIndex, Snapshot, decide};
use shared_protocol::{
    Change, Command, ElementId, Proposal, ProposalId, ProposalState, Refusal, RefusalCode,
    ids::one_way,
    messages::{AppliedCommand, BoardProblem},
    proposal::{AutoAssignments, ProposalStep, ProposedAction},
};
use std::sync::Arc;

const HOUR_MS: u64 = 3600 * 1000;

/// The draft that a call extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftSelector {
    /// The draft with this id.
    ById(ProposalId),
    /// The current draft of the client's connection; a new one when there is none.
    Current,
    New,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AgentRequest {
    /// Adds to a draft; with a submission, the draft is submitted at once.
    Propose {
        draft: DraftSelector,
        what: ProposalInput,
        submit: Option<ProposalSubmission>,
    },
    Act {
        act: ProposedAction,
        submission: ProposalSubmission,
    },
    Submit {
        draft: Option<ProposalId>,
        submission: ProposalSubmission,
    },
    Revise(ProposalId),
    Withdraw(ProposalId),
}

#[derive(Debug, Clone, PartialEq)]
pub enum ProposalInput {
    Command(Box<Command>),
    /// Changes that were decided elsewhere, such as edits of a bundle's files.
    Changes(CommandDecision),
}

/// The result of an agent request.
#[derive(Debug, Clone)]
pub struct AgentResponse {
    pub proposal: Arc<Proposal>,
    /// Whether this request started the draft.
    pub started_draft: bool,
    /// The proposal that this one replaced.
    pub superseded: Option<Arc<Proposal>>,
    pub step: Option<DraftStepOutcome>,
}

/// The result of an agent's call in the host process.
#[derive(Debug, Clone)]
pub struct AgentCallOutcome {
    pub response: AgentResponse,
    pub accepted: Option<StandingApprovalGrant>,
}

/// An acceptance by a standing approval.
#[derive(Debug, Clone)]
pub struct StandingApprovalGrant {
    pub approval: u64,
    /// The operation that applied it.
    pub applied: Option<AppliedCommand>,
}

/// The additions of one call to a draft.
#[derive(Debug, Clone)]
pub struct DraftStepOutcome {
    pub summary: String,
    pub created: Vec<ElementId>,
    /// The workspace with the draft applied.
    pub state: Snapshot,
    /// The problems of the elements that this call touched.
    pub findings: Vec<BoardProblem>,
}

impl ReviewQueue {
    /// Handles an agent request. A refusal may leave the queue half changed: the caller must continue with its previous
    /// copy.
    pub fn handle_request(
        &mut self,
        snapshot: &Snapshot,
        client: &CallingClient,
        request: &AgentRequest,
        (time, seed): (u64, u64),
    ) -> Result<AgentResponse, Refusal> {
        let quiet = |proposal| AgentResponse { proposal, started_draft: false, superseded: None, step: None };
        match request {
            AgentRequest::Propose { draft, what, submit } => {
                let known = self.proposals.len();
                let proposed = match what {
                    ProposalInput::Command(command) => {
                        self.propose(snapshot, client, *draft, command, (time, seed))
                    }
                    ProposalInput::Changes(decision) => {
                        self.propose_changes(snapshot, client, *draft, decision.clone(), (time, seed))
                    }
                };
                let ProposeResult { mut proposal, decision, state, findings } = proposed?;
                let began = self.proposals.len() > known;
                let mut superseded = None;
                if let Some(submission) = submit {
                    let submission = submission.with_default_title(&decision.summary);
                    proposal = self.submit(snapshot, client, Some(proposal.id), &submission, time)?;
                    superseded = self.superseded_by(&submission, proposal.id);
                }
                let CommandDecision { summary, created, .. } = decision;
                let step = Some(DraftStepOutcome { summary, created, state, findings });
                Ok(AgentResponse { proposal, started_draft: began, superseded, step })
            }
            AgentRequest::Act { act, submission } => {
                let proposal = self.propose_act(snapshot, client, act.clone(), submission, (time, seed))?;
                let superseded = self.superseded_by(submission, proposal.id);
                Ok(AgentResponse { started_draft: true, superseded, ..quiet(proposal) })
            }
            AgentRequest::Submit { draft, submission } => {
                let proposal = self.submit(snapshot, client, *draft, submission, time)?;
                let superseded = self.superseded_by(submission, proposal.id);
                Ok(AgentResponse { superseded, ..quiet(proposal) })
            }
            AgentRequest::Revise(id) => self.revise(*id, client, time).map(quiet),
            AgentRequest::Withdraw(id) => self.withdraw(*id, client).map(quiet),
        }
    }

    /// Decides a command on the workspace with the client's draft applied, and adds its changes to the draft.
    pub fn propose(
        &mut self,
        snapshot: &Snapshot,
        client: &CallingClient,
        draft: DraftSelector,
        command: &Command,
        (time, seed): (u64, u64),
    ) -> Result<ProposeResult, Refusal> {
        self.extend(snapshot, client, draft, (time, seed), |overlay| {
            let decision = decide(&overlay.state, command, one_way(seed))?;
            overlay.add(&decision.changes)?;
            Ok(decision)
        })
    }

    /// Adds changes that were decided elsewhere, such as edits of a bundle's files.
    pub fn propose_changes(
        &mut self,
        snapshot: &Snapshot,
        client: &CallingClient,
        draft: DraftSelector,
        decision: CommandDecision,
        moment: (u64, u64),
    ) -> Result<ProposeResult, Refusal> {
        self.extend(snapshot, client, draft, moment, |overlay| {
            overlay.add(&decision.changes)?;
            Ok(decision)
        })
    }

    /// Adds one step to a draft, which may be new, within the bounds of a proposal.
    fn extend(
        &mut self,
        snapshot: &Snapshot,
        client: &CallingClient,
        draft: DraftSelector,
        (time, seed): (u64, u64),
        step: impl FnOnce(&mut ProposalOverlay) -> Result<CommandDecision, Refusal>,
    ) -> Result<ProposeResult, Refusal> {
        let known = match draft {
            DraftSelector::ById(id) => self.draft(Some(id), client)?,
            DraftSelector::Current => self.draft(None, client)?,
            DraftSelector::New => None,
        };
        let mut proposal = match known {
            Some(draft) => Proposal::clone(draft),
            None => self.new_draft(snapshot, client, time, seed)?,
        };
        let (mut overlay, bytes) = match self.cached_draft(snapshot, proposal.id) {
            Some(fitted) => {
                let changes = std::mem::take(&mut proposal.changes);
                (ProposalOverlay { state: fitted.state.clone(), changes }, fitted.bytes)
            }
            None => {
                let RefitResult { overlay, notes, .. } = refit(snapshot, &proposal).map_err(stale_refusal)?;
                proposal.steps.extend(notes.into_iter().map(note_step));
                let bytes = overlay.changes.iter().map(approximate_bytes).sum();
                (overlay, bytes)
            }
        };
        let decision = step(&mut overlay)?;
        let bytes = bytes + decision.changes.iter().map(approximate_bytes).sum::<usize>();
        let ProposalOverlay { state, changes } = overlay;
        proposal.changes = changes;
        proposal.chosen.extend(&decision.assignments);
        proposal.base = snapshot.revision();
        proposal.proposer = client.proposer.clone();
        let is_loose = proposal.steps.is_empty() && !client.connected;
        let lifetime =
            if is_loose { self.limits.single_call_lifetime_ms } else { self.limits.draft_lifetime_ms };
        proposal.expires = time.saturating_add(lifetime);
        proposal.steps.push(ProposalStep { summary: decision.summary.clone(), by_reviewer: None });
        self.check_size(&proposal, bytes)?;
        let mut findings = ProblemIndex::default();
        findings.update(&state, &decision.changes);
        let proposal = self.store(proposal);
        let fitted = CachedDraftState { base: snapshot.revision(), state: state.clone(), bytes };
        self.overlays.insert(proposal.id, Arc::new(fitted));
        Ok(ProposeResult { proposal, decision, state, findings: findings.iter().cloned().collect() })
    }

    pub(super) fn new_draft(
        &self,
        snapshot: &Snapshot,
        client: &CallingClient,
        time: u64,
        seed: u64,
    ) -> Result<Proposal, Refusal> {
        let undecided = || self.iter().filter(|p| !is_decided(&p.state));
        let own = undecided().filter(|p| p.proposer.key == client.proposer.key).count();
        if own >= self.limits.max_undecided_per_client {
            let message = format!("you already have {own} undecided proposals");
            let refusal = Refusal::new(RefusalCode::LimitExceeded, message);
            return Err(match client.connected {
                true => refusal.hint("Wait for a decision, or withdraw one with withdraw_proposal."),
                // The client most likely never passed an id.
                false => refusal
                    .hint("Continue one of your drafts: pass its id as `proposal`. Without it, each call starts a new draft.")
                    .hint("Or withdraw some with withdraw_proposal. A draft with a single call expires after an hour."),
            });
        }
        let lately =
            |p: &Proposal| p.state == ProposalState::Withdrawn && time.saturating_sub(p.created) < HOUR_MS;
        let withdrawn = self.iter().filter(|p| p.proposer.name == client.proposer.name && lately(p)).count();
        if withdrawn >= self.limits.max_withdrawn_per_hour {
            let message = format!("you withdrew {withdrawn} proposals within the last hour");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message)
                .hint("Wait a while, and continue one draft instead of starting many."));
        }
        if undecided().count() >= self.limits.max_undecided {
            let message =
                format!("the review queue is full: {} proposals are undecided", self.limits.max_undecided);
            return Err(Refusal::new(RefusalCode::LimitExceeded, message)
                .hint("Ask the designer to review the queue."));
        }
        let id = (0..)
            .map(|turn| ProposalId::from_bits(seed.rotate_left(17) ^ turn))
            .find(|id| self.get(*id).is_none());
        Ok(Proposal {
            id: id.unwrap_or(ProposalId::MAX),
            number: self.iter().map(|known| known.number).max().unwrap_or(0) + 1,
            version: 1,
            proposer: client.proposer.clone(),
            state: ProposalState::Draft,
            title: String::new(),
            rationale: String::new(),
            base: snapshot.revision(),
            changes: Vec::new(),
            chosen: AutoAssignments::default(),
            act: None,
            steps: Vec::new(),
            comments: Vec::new(),
            decisions: Vec::new(),
            outcome: None,
            created: time,
            expires: time.saturating_add(self.limits.draft_lifetime_ms),
        })
    }

    fn check_size(&self, proposal: &Proposal, bytes: usize) -> Result<(), Refusal> {
        let too_much = |what: String| {
            Refusal::new(RefusalCode::LimitExceeded, what)
                .hint("Submit this proposal and continue in another one.")
        };
        let Self { limits: terms, .. } = self;
        if proposal.changes.len() > terms.max_changes {
            return Err(too_much(format!("more than {} changes in one proposal", terms.max_changes)));
        }
        if proposal.steps.len() > terms.max_steps {
            return Err(too_much(format!("more than {} calls in one proposal", terms.max_steps)));
        }
        if bytes > terms.max_proposal_bytes {
            return Err(too_much(format!("more than {} bytes in one proposal", terms.max_proposal_bytes)));
        }
        Ok(())
    }

    fn superseded_by(&self, submission: &ProposalSubmission, newer: ProposalId) -> Option<Arc<Proposal>> {
        let old = self.get(submission.supersedes?)?;
        (old.state == ProposalState::Superseded { by: newer }).then(|| Arc::clone(old))
    }
}

/// Returns the approximate size of a change in bytes.
fn approximate_bytes(change: &Change) -> usize {
    let text = |value: &Option<Arc<str>>| value.as_ref().map_or(0, |text| text.len());
    match change {
        Change::Source { before, after, .. } => text(before) + text(after) + 64,
        Change::Override { before, after, .. } => {
            before.iter().chain(after).map(|over| over.value.to_string().len() + 128).sum()
        }
        Change::Prop { before, after, .. } => {
            let size = |value: &Option<shared_protocol::PropValue>| {
                value.as_ref().map_or(0, |value| value.to_string().len())
            };
            size(before) + size(after) + 64
        }
        Change::Node { before, after, .. } => {
            let size = |node: &shared_protocol::Node| {
                node.props.values().map(|value| value.to_string().len() + 32).sum::<usize>() + 256
            };
            before.iter().chain(after).map(|node| size(node)).sum()
        }
        _ => 128,
    }
}
