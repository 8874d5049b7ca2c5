//! The queue: access to proposals, the index of touched elements, and the limits.

use super::moved::Touching;
use super::overlay::stale;
use super::refit::refit;
use crate::{Decision, Snapshot};
use imbl::OrdMap;
use shared_protocol::{
    Code, Proposal, ProposalId, ProposalState, Refusal, Revision, messages::Problem, proposal::Proposer,
};
use std::sync::Arc;

/// Limits and lifetimes of proposals.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The maximum number of undecided proposals of one client.
    pub most_open: usize,
    /// The maximum number of undecided proposals of all clients.
    pub most_waiting: usize,
    /// The maximum number of proposals that clients of one name may withdraw per hour: each one grows the audit log.
    pub most_withdrawn: usize,
    /// The maximum number of decided proposals to keep; older ones remain in the journal and the audit log only.
    pub most_decided: usize,
    pub most_changes: usize,
    pub most_steps: usize,
    pub most_bytes: usize,
    /// Milliseconds until an undecided proposal expires.
    pub lifetime: u64,
    /// Milliseconds until a draft without further calls expires.
    pub draft_lifetime: u64,
    /// Milliseconds until a draft with a single call and no connection expires: only its id leads to it.
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

/// The client of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub proposer: Proposer,
    /// Whether the client has a connection of its own, so that "the draft" means the one of this connection. Without
    /// one, the client must pass the id of the draft, which is random and known to its proposer only.
    pub connected: bool,
    /// The key of a closed connection of a client with the same name. Its proposals stay accessible to a client that
    /// knows their ids.
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
    /// The cached state of each draft.
    pub(super) overlays: OrdMap<ProposalId, Arc<Fitted>>,
    /// The open proposals by the elements that they touch or depend on.
    pub(super) touching: Touching,
    /// Every open proposal applies to this revision.
    pub(super) revision: Revision,
    pub terms: Terms,
}

/// A draft applied to a state.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) over: Revision,
    pub(super) state: Snapshot,
    /// The approximate size of its changes.
    pub(super) bytes: usize,
}

/// The result of one agent call on a draft.
#[derive(Debug, Clone)]
pub struct Proposed {
    pub proposal: Arc<Proposal>,
    pub decision: Decision,
    /// The workspace with the draft applied.
    pub state: Snapshot,
    /// The problems of the elements that this call touched.
    pub findings: Vec<Problem>,
}

impl Queue {
    /// Builds a queue from stored proposals and the revision that they were stored with.
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

    /// Returns the revision that a proposal applies to; a verdict must name it.
    pub fn base(&self, proposal: &Proposal) -> Revision {
        if proposal.state == ProposalState::Open { self.revision } else { proposal.base }
    }

    /// Returns a proposal of this client; one of another client is reported as not found.
    pub fn own(&self, id: ProposalId, client: &Client) -> Result<&Arc<Proposal>, Refusal> {
        self.get(id).filter(|proposal| client.owns(proposal)).ok_or_else(|| {
            Refusal::new(Code::NotFound, format!("there is no proposal {id}")).field("proposal")
        })
    }

    /// Returns the draft with this id, or the newest draft of the client's connection.
    pub fn draft(&self, id: Option<ProposalId>, client: &Client) -> Result<Option<&Arc<Proposal>>, Refusal> {
        match id {
            Some(id) => {
                let own = self.own(id, client)?;
                if own.state != ProposalState::Draft {
                    let message = format!("{id} is {} and accepts no more changes", own.state.word());
                    return Err(Refusal::new(Code::Conflict, message)
                        .hint("Use revise_proposal to make it a draft again."));
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

    /// Returns the workspace with a proposal applied.
    pub fn overlay(&self, snapshot: &Snapshot, proposal: &Proposal) -> Result<Snapshot, Refusal> {
        match self.fitted(snapshot, proposal.id) {
            Some(fitted) => Ok(fitted.state.clone()),
            None => Ok(refit(snapshot, proposal).map_err(stale)?.overlay.state),
        }
    }

    /// Returns the cached overlay of a draft if it was made for this state.
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

    /// Drops the oldest decided proposals beyond the limit and returns their ids.
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

/// Whether a proposal is decided, withdrawn, superseded or expired. A rejected one counts, although it may be revised.
pub(super) fn is_over(state: &ProposalState) -> bool {
    state.is_final() || matches!(state, ProposalState::Rejected { .. })
}
