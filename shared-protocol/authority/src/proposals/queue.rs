//! The queue: access to proposals, the index of touched elements, and the limits.

use super::overlay::stale_refusal;
use super::rebase_queue::RefitTriggerIndex;
use super::refit::refit;
use crate::{CommandDecision, Snapshot};
use imbl::OrdMap;
use shared_protocol::{
    Proposal, ProposalId, ProposalState, Refusal, RefusalCode, Revision, messages::BoardProblem,
    proposal::Proposer,
};
use std::sync::Arc;

/// Limits and lifetimes of proposals.
#[derive(Debug, Clone, Copy)]
pub struct QueueLimits {
    /// The maximum number of undecided proposals of one client.
    pub max_undecided_per_client: usize,
    /// The maximum number of undecided proposals of all clients.
    pub max_undecided: usize,
    /// The maximum number of proposals that clients of one name may withdraw per hour: each one grows the audit log.
    pub max_withdrawn_per_hour: usize,
    /// The maximum number of decided proposals to keep; older ones remain in the journal and the audit log only.
    pub max_decided_kept: usize,
    pub max_changes: usize,
    pub max_steps: usize,
    pub max_proposal_bytes: usize,
    /// Milliseconds until an undecided proposal expires.
    pub lifetime_ms: u64,
    /// Milliseconds until a draft without further calls expires.
    pub draft_lifetime_ms: u64,
    /// Milliseconds until a draft with a single call and no connection expires: only its id leads to it.
    pub single_call_lifetime_ms: u64,
    pub max_text_bytes: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        const HOUR_MS: u64 = 3600 * 1000;
        Self {
            max_undecided_per_client: 20,
            max_undecided: 200,
            max_withdrawn_per_hour: 100,
            max_decided_kept: 200,
            max_changes: 20_000,
            max_steps: 10_000,
            max_proposal_bytes: 8 << 20,
            lifetime_ms: 14 * 24 * HOUR_MS,
            draft_lifetime_ms: 24 * HOUR_MS,
            single_call_lifetime_ms: HOUR_MS,
            max_text_bytes: 10_000,
        }
    }
}

/// The client of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingClient {
    pub proposer: Proposer,
    /// Whether the client has a connection of its own, so that "the draft" means the one of this connection. Without
    /// one, the client must pass the id of the draft, which is random and known to its proposer only.
    pub connected: bool,
    /// The key of a closed connection of a client with the same name. Its proposals stay accessible to a client that
    /// knows their ids.
    pub inherited_key: Option<String>,
}

impl CallingClient {
    fn owns(&self, proposal: &Proposal) -> bool {
        let key = &proposal.proposer.key;
        *key == self.proposer.key || self.inherited_key.as_ref() == Some(key)
    }
}

#[derive(Debug, Clone, Default)]
pub struct ReviewQueue {
    pub(super) proposals: OrdMap<ProposalId, Arc<Proposal>>,
    /// The cached state of each draft.
    pub(super) overlays: OrdMap<ProposalId, Arc<CachedDraftState>>,
    /// The open proposals by the elements that they touch or depend on.
    pub(super) triggers: RefitTriggerIndex,
    /// Every open proposal applies to this revision.
    pub(super) revision: Revision,
    pub limits: QueueLimits,
}

/// A draft applied to a state.
#[derive(Debug)]
pub(super) struct CachedDraftState {
    pub(super) base: Revision,
    pub(super) state: Snapshot,
    /// The approximate size of its changes.
    pub(super) bytes: usize,
}

/// The result of one agent call on a draft.
#[derive(Debug, Clone)]
pub struct ProposeResult {
    pub proposal: Arc<Proposal>,
    pub decision: CommandDecision,
    /// The workspace with the draft applied.
    pub state: Snapshot,
    /// The problems of the elements that this call touched.
    pub findings: Vec<BoardProblem>,
}

impl ReviewQueue {
    /// Builds a queue from stored proposals and the revision that they were stored with.
    pub fn from_stored(
        proposals: impl IntoIterator<Item = Proposal>,
        terms: QueueLimits,
        revision: Revision,
    ) -> Self {
        let mut queue = Self { limits: terms, revision, ..Self::default() };
        for proposal in proposals {
            queue.store(proposal);
        }
        queue
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Proposal>> {
        self.proposals.values()
    }

    pub fn get(&self, id: ProposalId) -> Option<&Arc<Proposal>> {
        self.proposals.get(&id)
    }

    pub fn by_number(&self, number: u64) -> Option<&Arc<Proposal>> {
        self.iter().find(|proposal| proposal.number == number)
    }

    /// Returns the revision that a proposal applies to; a verdict must name it.
    pub fn base(&self, proposal: &Proposal) -> Revision {
        if proposal.state == ProposalState::Open { self.revision } else { proposal.base }
    }

    /// Returns a proposal of this client; one of another client is reported as not found.
    pub fn owned_by(&self, id: ProposalId, client: &CallingClient) -> Result<&Arc<Proposal>, Refusal> {
        self.get(id).filter(|proposal| client.owns(proposal)).ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("there is no proposal {id}")).field("proposal")
        })
    }

    /// Returns the draft with this id, or the newest draft of the client's connection.
    pub fn draft(
        &self,
        id: Option<ProposalId>,
        client: &CallingClient,
    ) -> Result<Option<&Arc<Proposal>>, Refusal> {
        match id {
            Some(id) => {
                let own = self.owned_by(id, client)?;
                if own.state != ProposalState::Draft {
                    let message = format!("{id} is {} and accepts no more changes", own.state.as_str());
                    return Err(Refusal::new(RefusalCode::Conflict, message)
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
        match self.cached_draft(snapshot, proposal.id) {
            Some(fitted) => Ok(fitted.state.clone()),
            None => Ok(refit(snapshot, proposal).map_err(stale_refusal)?.overlay.state),
        }
    }

    /// Returns the cached overlay of a draft if it was made for this state.
    pub(super) fn cached_draft(&self, snapshot: &Snapshot, id: ProposalId) -> Option<&Arc<CachedDraftState>> {
        self.overlays.get(&id).filter(|fitted| {
            fitted.base == snapshot.revision() && Arc::ptr_eq(fitted.state.registry(), snapshot.registry())
        })
    }

    pub(super) fn store(&mut self, proposal: Proposal) -> Arc<Proposal> {
        let proposal = Arc::new(proposal);
        let before = self.proposals.insert(proposal.id, Arc::clone(&proposal));
        if proposal.state != ProposalState::Draft {
            self.overlays.remove(&proposal.id);
        }
        self.triggers.replace(before.as_deref(), &proposal);
        proposal
    }

    /// Drops the oldest decided proposals beyond the limit and returns their ids.
    pub fn prune_decided(&mut self) -> Vec<ProposalId> {
        let mut over: Vec<(u64, ProposalId)> =
            self.iter().filter(|p| is_decided(&p.state)).map(|p| (p.number, p.id)).collect();
        let Some(most) = over.len().checked_sub(self.limits.max_decided_kept) else { return Vec::new() };
        over.sort_unstable();
        let going: Vec<ProposalId> = over.into_iter().take(most).map(|(_, id)| id).collect();
        for id in &going {
            self.proposals.remove(id);
        }
        going
    }
}

/// Whether a proposal is decided, withdrawn, superseded or expired. A rejected one counts, although it may be revised.
pub(super) fn is_decided(state: &ProposalState) -> bool {
    state.is_final() || matches!(state, ProposalState::Rejected { .. })
}
