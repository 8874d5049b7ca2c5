//! The queue: who may see which proposal, which elements are spoken for, and how much may wait.

use super::moved::Touching;
use super::overlay::stale;
use super::refit::refit;
use crate::{Decision, Snapshot};
use imbl::OrdMap;
use shared_protocol::{
    Code, Proposal, ProposalId, ProposalState, Refusal, Revision, messages::Problem, proposal::Proposer,
};
use std::sync::Arc;

/// Bounds, and how long a proposal waits.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Proposals of one client that are not decided.
    pub most_open: usize,
    /// Proposals of all clients that are not decided.
    pub most_waiting: usize,
    /// Proposals that clients of one name may withdraw within an hour: each leaves lines in the audit, which only grows.
    pub most_withdrawn: usize,
    /// Decided ones that are remembered; the journal's operations and the audit keep the rest.
    pub most_decided: usize,
    pub most_changes: usize,
    pub most_steps: usize,
    pub most_bytes: usize,
    /// Milliseconds after which an undecided proposal is over.
    pub lifetime: u64,
    /// The same for a draft that nobody goes on with.
    pub draft_lifetime: u64,
    /// The same for a draft of one call that only its id leads to: whoever does not name it has lost it.
    pub loose_lifetime: u64,
    pub most_text: usize,
}

impl Default for Terms {
    fn default() -> Self {
        const HOUR: u64 = 3600 * 1000;
        Self {
            most_open: 20,
            most_waiting: 200,
            most_withdrawn: 100,
            most_decided: 200,
            most_changes: 20_000,
            most_steps: 10_000,
            most_bytes: 8 << 20,
            lifetime: 14 * 24 * HOUR,
            draft_lifetime: 24 * HOUR,
            loose_lifetime: HOUR,
            most_text: 10_000,
        }
    }
}

/// A client at the moment of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub proposer: Proposer,
    /// It has a connection of its own, so that "the draft" means the one of this connection. Without one, a draft has to
    /// be named: its id is chance that only its proposer was told.
    pub connected: bool,
    /// The key of a connection that is over and called itself the same. What it proposed can be gone on with by whoever
    /// knows its id.
    pub inherits: Option<String>,
}

impl Client {
    fn owns(&self, proposal: &Proposal) -> bool {
        let key = &proposal.proposer.key;
        *key == self.proposer.key || self.inherits.as_ref() == Some(key)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Queue {
    pub(super) proposals: OrdMap<ProposalId, Arc<Proposal>>,
    /// The state that each draft leads to, as it was last looked at.
    pub(super) overlays: OrdMap<ProposalId, Arc<Fitted>>,
    /// Which elements open proposals touch or build on.
    pub(super) touching: Touching,
    /// All that is open fits this revision.
    pub(super) revision: Revision,
    pub terms: Terms,
}

/// A draft over a state.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) over: Revision,
    pub(super) state: Snapshot,
    /// About how much its changes hold.
    pub(super) bytes: usize,
}

/// What a call of an agent came to.
#[derive(Debug, Clone)]
pub struct Proposed {
    pub proposal: Arc<Proposal>,
    pub decision: Decision,
    /// The workspace as the draft would have it.
    pub state: Snapshot,
    /// Problems of what this call touched.
    pub findings: Vec<Problem>,
}

impl Queue {
    /// What was kept, over the state that it was kept with.
    pub fn of(proposals: impl IntoIterator<Item = Proposal>, terms: Terms, revision: Revision) -> Self {
        let mut queue = Self { terms, revision, ..Self::default() };
        for proposal in proposals {
            queue.put(proposal);
        }
        queue
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Proposal>> {
        self.proposals.values()
    }

    pub fn get(&self, id: ProposalId) -> Option<&Arc<Proposal>> {
        self.proposals.get(&id)
    }

    pub fn numbered(&self, number: u64) -> Option<&Arc<Proposal>> {
        self.iter().find(|proposal| proposal.number == number)
    }

    /// The revision that a proposal fits on: what a decision about it must name.
    pub fn base(&self, proposal: &Proposal) -> Revision {
        if proposal.state == ProposalState::Open { self.revision } else { proposal.base }
    }

    /// The proposal of a client; one of somebody else is as if it were not there.
    pub fn own(&self, id: ProposalId, client: &Client) -> Result<&Arc<Proposal>, Refusal> {
        self.get(id).filter(|proposal| client.owns(proposal)).ok_or_else(|| {
            Refusal::new(Code::NotFound, format!("there is no proposal {id}")).field("proposal")
        })
    }

    /// The draft that a client is at: the one it names, or the newest of its connection.
    pub fn draft(&self, id: Option<ProposalId>, client: &Client) -> Result<Option<&Arc<Proposal>>, Refusal> {
        match id {
            Some(id) => {
                let own = self.own(id, client)?;
                if own.state != ProposalState::Draft {
                    let message = format!("{id} is {} and takes no more changes", own.state.word());
                    return Err(
                        Refusal::new(Code::Conflict, message).hint("revise_proposal makes it a draft again.")
                    );
                }
                Ok(Some(own))
            }
            None if !client.connected => Ok(None),
            None => Ok(self
                .iter()
                .filter(|p| p.proposer.key == client.proposer.key && p.state == ProposalState::Draft)
                .max_by_key(|p| (p.created, p.number))),
        }
    }

    /// The workspace with a proposal in it.
    pub fn overlay(&self, snapshot: &Snapshot, proposal: &Proposal) -> Result<Snapshot, Refusal> {
        match self.fitted(snapshot, proposal.id) {
            Some(fitted) => Ok(fitted.state.clone()),
            None => Ok(refit(snapshot, proposal).map_err(stale)?.overlay.state),
        }
    }

    /// The overlay of a draft, if it is still one over this very state.
    pub(super) fn fitted(&self, snapshot: &Snapshot, id: ProposalId) -> Option<&Arc<Fitted>> {
        self.overlays.get(&id).filter(|fitted| {
            fitted.over == snapshot.revision() && Arc::ptr_eq(fitted.state.registry(), snapshot.registry())
        })
    }

    pub(super) fn put(&mut self, proposal: Proposal) -> Arc<Proposal> {
        let proposal = Arc::new(proposal);
        let before = self.proposals.insert(proposal.id, Arc::clone(&proposal));
        if proposal.state != ProposalState::Draft {
            self.overlays.remove(&proposal.id);
        }
        self.touching.replace(before.as_deref(), &proposal);
        proposal
    }

    /// Decided ones beyond the number that is remembered, oldest first; they are let go.
    pub fn forget_old(&mut self) -> Vec<ProposalId> {
        let mut over: Vec<(u64, ProposalId)> =
            self.iter().filter(|p| is_over(&p.state)).map(|p| (p.number, p.id)).collect();
        let Some(most) = over.len().checked_sub(self.terms.most_decided) else { return Vec::new() };
        over.sort_unstable();
        let going: Vec<ProposalId> = over.into_iter().take(most).map(|(_, id)| id).collect();
        for id in &going {
            self.proposals.remove(id);
        }
        going
    }
}

/// Decided one way or the other, or let go; a rejected one may be revised and counts as decided.
pub(super) fn is_over(state: &ProposalState) -> bool {
    state.is_final() || matches!(state, ProposalState::Rejected { .. })
}
