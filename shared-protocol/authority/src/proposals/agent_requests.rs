//! The only entry point for agents: the complete list of requests to the queue. None of them decides a proposal.

use super::{
    drafting::{DraftSelector, ProposalSubmission},
    queue::{AgentClient, ProposeResult, ReviewQueue},
};
use crate::{CommandDecision, Snapshot};
use shared_protocol::{
    Command, ElementId, Proposal, ProposalId, ProposalState, Refusal,
    messages::{AppliedCommand, BoardProblem},
    proposal::ProposedAction,
};
use std::sync::Arc;

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
        client: &AgentClient,
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

    fn superseded_by(&self, submission: &ProposalSubmission, newer: ProposalId) -> Option<Arc<Proposal>> {
        let old = self.get(submission.supersedes?)?;
        (old.state == ProposalState::Superseded { by: newer }).then(|| Arc::clone(old))
    }
}
