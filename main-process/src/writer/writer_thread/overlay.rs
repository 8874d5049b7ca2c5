//! A proposal over the workspace, as both were at one moment: the input of work that takes a while and runs in the
//! background.

use super::Writer;
use authority::{Snapshot, proposals::ProposalOverlay};
use shared_protocol::{
    Actor, BoardId, Proposal, ProposalId, ProposalState, Refusal, RefusalCode, proposal::ContentHash,
};
use std::sync::Arc;
use terraform_runs::{PlanProposalRequest, PlannedProposal};

pub(crate) struct ProposalComparison {
    pub(super) proposal: Arc<Proposal>,
    pub(super) hash: ContentHash,
    pub(super) before: Snapshot,
    pub(super) overlay: ProposalOverlay,
}

/// A proposal and the snapshot that it is applied to, taken on the writer's thread.
pub(crate) struct ProposalOverlayInput {
    proposal: Arc<Proposal>,
    before: Snapshot,
}

impl ProposalOverlayInput {
    /// Takes a while; not for the writer's thread.
    pub(crate) fn overlay(self) -> Result<ProposalComparison, Refusal> {
        let Self { proposal, before } = self;
        let hash = proposal.content_hash()?;
        let overlay = ProposalOverlay::rebase_keeping_places(&before, &proposal.changes).map_err(|why| {
            Refusal::new(RefusalCode::Stale, why.first().cloned().unwrap_or_default())
                .hint("Refresh the proposal, then request its consequences again.")
        })?;
        Ok(ProposalComparison { proposal, hash, before, overlay })
    }

    /// As [`Self::overlay`], for a reviewer who has seen this content.
    pub(crate) fn overlay_of(self, seen: ContentHash) -> Result<ProposalComparison, Refusal> {
        let overlay = self.overlay()?;
        match overlay.hash == seen {
            true => Ok(overlay),
            false => Err(Refusal::new(RefusalCode::Stale, "the proposal has changed since it was opened")
                .hint("Read its current version, then try again.")),
        }
    }
}

impl ProposalComparison {
    pub(crate) fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    pub(crate) fn trial(
        self,
        board: BoardId,
        secrets: Vec<(String, String)>,
        actor: Actor,
    ) -> PlanProposalRequest {
        let Proposal { id: proposal, version, .. } = *self.proposal;
        let about = PlannedProposal { proposal, version, hash: self.hash, base: self.before.revision() };
        PlanProposalRequest { proposal: about, board, state: self.overlay.state, secrets, actor }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.proposal.state, ProposalState::Open | ProposalState::Stale { .. })
    }
}

impl Writer {
    pub(crate) fn overlay_input(&self, id: ProposalId) -> Result<ProposalOverlayInput, Refusal> {
        let workspace = &self.session.workspace;
        let Some(proposal) = workspace.review_state().queue.get(id).map(Arc::clone) else {
            return Err(Refusal::new(RefusalCode::NotFound, format!("there is no proposal {id}")));
        };
        Ok(ProposalOverlayInput { proposal, before: workspace.snapshot().clone() })
    }
}
