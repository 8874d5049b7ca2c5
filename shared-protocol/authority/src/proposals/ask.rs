//! The one way in for agents: what they may ask of the queue, all of it. There is nothing here that decides.

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
    /// Adds to a draft; with a submission it goes into the queue at once.
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
    /// Decided elsewhere, such as changes of a bundle's files.
    Changes(Decision),
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct AgentDone {
    pub proposal: Arc<Proposal>,
    /// The draft was begun by this.
    pub began: bool,
    /// Another one that this took the place of.
    pub superseded: Option<Arc<Proposal>>,
    pub step: Option<StepDone>,
}

/// What came of an agent's call in the process around the queue.
#[derive(Debug, Clone)]
pub struct AgentOutcome {
    pub done: AgentDone,
    pub accepted: Option<Granted>,
}

/// A standing approval covered it: it is accepted already.
#[derive(Debug, Clone)]
pub struct Granted {
    pub approval: u64,
    /// The operation that it became.
    pub applied: Option<Applied>,
}

/// What one call added.
#[derive(Debug, Clone)]
pub struct StepDone {
    pub summary: String,
    pub created: Vec<ElementId>,
    /// The workspace as the draft would have it.
    pub state: Snapshot,
    /// Problems of what this call touched.
    pub findings: Vec<Problem>,
}

impl Queue {
    /// Carries out what an agent asks. After a refusal the queue may hold a part of it: the caller goes on with the queue
    /// that it had before.
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
