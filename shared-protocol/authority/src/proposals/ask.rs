//! The only entry point for agents: the complete list of requests to the queue. None of them decides a proposal.

use super::{
    drafting::{Draft, Submission},
    queue::{Client, Proposed, Queue},
};
use crate::{Decision, Snapshot};
use shared_protocol::{
    Command, ElementId, Proposal, ProposalId, ProposalState, Refusal,
    messages::{Applied, Problem},
    proposal::Act,
};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum AgentAsk {
    /// Adds to a draft; with a submission, the draft is submitted at once.
    Propose {
        draft: Draft,
        what: Wanted,
        submit: Option<Submission>,
    },
    Act {
        act: Act,
        submission: Submission,
    },
    Submit {
        draft: Option<ProposalId>,
        submission: Submission,
    },
    Revise(ProposalId),
    Withdraw(ProposalId),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    Command(Box<Command>),
    /// Changes that were decided elsewhere, such as edits of a bundle's files.
    Changes(Decision),
}

/// The result of an agent request.
#[derive(Debug, Clone)]
pub struct AgentDone {
    pub proposal: Arc<Proposal>,
    /// Whether this request started the draft.
    pub began: bool,
    /// The proposal that this one replaced.
    pub superseded: Option<Arc<Proposal>>,
    pub step: Option<StepDone>,
}

/// The result of an agent's call in the host process.
#[derive(Debug, Clone)]
pub struct AgentOutcome {
    pub done: AgentDone,
    pub accepted: Option<Granted>,
}

/// An acceptance by a standing approval.
#[derive(Debug, Clone)]
pub struct Granted {
    pub approval: u64,
    /// The operation that applied it.
    pub applied: Option<Applied>,
}

/// The additions of one call to a draft.
#[derive(Debug, Clone)]
pub struct StepDone {
    pub summary: String,
    pub created: Vec<ElementId>,
    /// The workspace with the draft applied.
    pub state: Snapshot,
    /// The problems of the elements that this call touched.
    pub findings: Vec<Problem>,
}

impl Queue {
    /// Handles an agent request. A refusal may leave the queue half changed: the caller must continue with its previous
    /// copy.
    pub fn ask(
        &mut self,
        snapshot: &Snapshot,
        client: &Client,
        ask: &AgentAsk,
        (time, seed): (u64, u64),
    ) -> Result<AgentDone, Refusal> {
        let quiet = |proposal| AgentDone { proposal, began: false, superseded: None, step: None };
        match ask {
            AgentAsk::Propose { draft, what, submit } => {
                let known = self.proposals.len();
                let proposed = match what {
                    Wanted::Command(command) => self.propose(snapshot, client, *draft, command, (time, seed)),
                    Wanted::Changes(decision) => {
                        self.propose_changes(snapshot, client, *draft, decision.clone(), (time, seed))
                    }
                };
                let Proposed { mut proposal, decision, state, findings } = proposed?;
                let began = self.proposals.len() > known;
                let mut superseded = None;
                if let Some(submission) = submit {
                    let submission = submission.titled_or(&decision.summary);
                    proposal = self.submit(snapshot, client, Some(proposal.id), &submission, time)?;
                    superseded = self.gave_way_to(&submission, proposal.id);
                }
                let Decision { summary, created, .. } = decision;
                let step = Some(StepDone { summary, created, state, findings });
                Ok(AgentDone { proposal, began, superseded, step })
            }
            AgentAsk::Act { act, submission } => {
                let proposal = self.propose_act(snapshot, client, act.clone(), submission, (time, seed))?;
                let superseded = self.gave_way_to(submission, proposal.id);
                Ok(AgentDone { began: true, superseded, ..quiet(proposal) })
            }
            AgentAsk::Submit { draft, submission } => {
                let proposal = self.submit(snapshot, client, *draft, submission, time)?;
                let superseded = self.gave_way_to(submission, proposal.id);
                Ok(AgentDone { superseded, ..quiet(proposal) })
            }
            AgentAsk::Revise(id) => self.revise(*id, client, time).map(quiet),
            AgentAsk::Withdraw(id) => self.withdraw(*id, client).map(quiet),
        }
    }

    fn gave_way_to(&self, submission: &Submission, newer: ProposalId) -> Option<Arc<Proposal>> {
        let old = self.get(submission.supersedes?)?;
        (old.state == ProposalState::Superseded { by: newer }).then(|| Arc::clone(old))
    }
}
