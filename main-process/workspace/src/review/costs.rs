//! Whether a proposal would cost more. Prices are known to others; what they said is remembered for each version.

use authority::{Snapshot, proposals::Overlay};
use shared_protocol::{BoardId, Change, Proposal, ProposalId, ProposalState, terraform::RunOperation};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Versions whose costs are remembered.
const MOST_KNOWN: usize = 1_000;

/// Somebody who knows prices, and what Terraform would do.
pub trait Pricing: Send + Sync {
    /// Whether what these changes touch costs more after than before, as far as prices are known.
    fn rises(&self, before: &Snapshot, after: &Snapshot, changes: &[Change]) -> bool;

    /// Why a run of a board may not start with nobody looking: something executes, sends, or cannot be judged.
    fn plan_sink(&self, state: &Snapshot, board: BoardId, operation: RunOperation) -> Option<String>;
}

#[derive(Default)]
pub(crate) struct ProposalCosts {
    pricing: Option<Arc<dyn Pricing>>,
    known: Mutex<BTreeMap<(ProposalId, u32), bool>>,
}

impl fmt::Debug for ProposalCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProposalCosts").finish_non_exhaustive()
    }
}

impl ProposalCosts {
    pub(crate) fn new(pricing: Arc<dyn Pricing>) -> Self {
        Self { pricing: Some(pricing), known: Mutex::default() }
    }

    /// Whether Terraform can be run for a board with nobody looking. What cannot be judged cannot.
    pub(super) fn plans_quietly(&self, state: &Snapshot, board: BoardId, operation: RunOperation) -> bool {
        self.pricing.as_ref().is_some_and(|pricing| pricing.plan_sink(state, board, operation).is_none())
    }

    /// A draft is not judged: it changes with every call.
    pub(super) fn rise(&self, state: &Snapshot, proposal: &Proposal) -> bool {
        let waits = matches!(proposal.state, ProposalState::Open | ProposalState::Stale { .. });
        let Some(pricing) = self.pricing.as_ref().filter(|_| waits && !proposal.changes.is_empty()) else {
            return false;
        };
        let key = (proposal.id, proposal.version);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rises) = known().get(&key) {
            return *rises;
        }
        let Ok(overlay) = Overlay::lenient(state, &proposal.changes) else { return false };
        let rises = pricing.rises(state, &overlay.state, &overlay.changes);
        let mut known = known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, rises);
        rises
    }
}
