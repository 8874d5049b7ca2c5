//! The costs of proposals. Another part of the process knows the prices; its verdict is cached for each version.

use authority::{Snapshot, proposals::ProposalOverlay};
use shared_protocol::{BoardId, Change, Proposal, ProposalId, ProposalState, terraform::TerraformOperation};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// The number of cached verdicts.
const MAX_CACHED_VERDICTS: usize = 1_000;

/// Judges prices and Terraform runs of proposals.
pub trait ProposalJudge: Send + Sync {
    /// Whether the touched nodes cost more after the changes, as far as prices are known.
    fn cost_rises(&self, before: &Snapshot, after: &Snapshot, changes: &[Change]) -> bool;

    /// The reason why a run of a board may not start unattended: it executes, sends, or cannot be judged.
    fn plan_sink(&self, state: &Snapshot, board: BoardId, operation: TerraformOperation) -> Option<String>;
}

#[derive(Default)]
pub(crate) struct ProposalCosts {
    pricing: Option<Arc<dyn ProposalJudge>>,
    results: Mutex<BTreeMap<(ProposalId, u32), bool>>,
}

impl fmt::Debug for ProposalCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProposalCosts").finish_non_exhaustive()
    }
}

impl ProposalCosts {
    pub(crate) fn new(pricing: Arc<dyn ProposalJudge>) -> Self {
        Self { pricing: Some(pricing), results: Mutex::default() }
    }

    /// Whether Terraform may run unattended for a board. A run that cannot be judged may not.
    pub(super) fn runs_unattended(
        &self,
        state: &Snapshot,
        board: BoardId,
        operation: TerraformOperation,
    ) -> bool {
        self.pricing.as_ref().is_some_and(|pricing| pricing.plan_sink(state, board, operation).is_none())
    }

    /// A draft is not judged: it changes with every call.
    pub(super) fn cost_rises(&self, state: &Snapshot, proposal: &Proposal) -> bool {
        let waits = matches!(proposal.state, ProposalState::Open | ProposalState::Stale { .. });
        let Some(pricing) = self.pricing.as_ref().filter(|_| waits && !proposal.changes.is_empty()) else {
            return false;
        };
        let key = (proposal.id, proposal.version);
        let known = || self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rises) = known().get(&key) {
            return *rises;
        }
        let Ok(overlay) = ProposalOverlay::rebase_keeping_places(state, &proposal.changes) else {
            return false;
        };
        let rises = pricing.cost_rises(state, &overlay.state, &overlay.changes);
        let mut known = known();
        if known.len() >= MAX_CACHED_VERDICTS {
            known.clear();
        }
        known.insert(key, rises);
        rises
    }
}
