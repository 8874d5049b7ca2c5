//! Publishing: the one place from which a change reaches everybody who shows or reads the workspace.
//!
//! The writer changes the workspace, collects what changed in one [`CommittedChanges`] event, and publishes it once at the end of
//! its turn. A turn is one group of mutations, one request or one change of a file. The order within a turn is fixed:
//!
//! 1. **Durable.** The journal's transaction is synced. When that fails, the whole group is refused and nothing is published.
//! 2. **Window: content.** Types that a file changed, then the patches in the order of their revisions.
//! 3. **Readers.** The agents' view, Terraform, previews and managed servers each get the state as it is now.
//! 4. **Window: the rest.** Types, status, links, bundles, the review queue and the proposal that the window shows, each
//!    only when it changed.
//! 5. **Responses.** A sender that receives its response finds the change in everything above.
//! 6. **Actions.** An accepted action (a run, a call, a preview) starts after the decision is published, and its outcome
//!    is a later event.
//!
//! Two commands of one group, of which the second is refused:
//!
//! ```text
//!  window ── add a ──▶ ┐                                             revision
//!  agent ── propose ─▶ ├ group                                          7
//!  terminal ─ add a ─▶ ┘   │ decide each on the one before
//!                          │   add a      ─▶ changes
//!                          │   propose    ─▶ a draft in the queue
//!                          │   add a      ─▶ refused: the name is taken
//!                          ▼
//!                       journal.sync ─────────────────────────────────  8
//!                          │ CommittedChanges { patches: [8] }
//!                          ▼
//!                       publish ─▶ window  Patch 8
//!                          │    ─▶ agents' view at 8, with the draft   ─▶ Terraform ─▶ previews ─▶ managed servers
//!                          │    ─▶ window  Status (undo: "Add a"), Review (the queue), Proposal (the draft)
//!                          ▼
//!                       respond ─▶ window Applied { 8 }, agent the draft, terminal the refusal
//! ```
//!
//! The terminal's refusal arrives last although nothing of it was written: it names a state that the terminal can read. If
//! the sync fails, all three get its refusal, the window no patch, and the revision stays 7.

use super::{Services, subscriber::Subscriber};
use shared_protocol::{
    ProposalId, Refusal,
    messages::Patch,
    review::{ConfirmationCode, ProposalDetails},
};
use workspace::Workspace;

/// The changes of one turn.
#[derive(Debug, Default)]
pub(super) struct CommittedChanges {
    /// Revisions in order, each to be sent to the window.
    pub(super) patches: Vec<Patch>,
    /// A file changed the types, which the patches may use already.
    pub(super) registry_changed: bool,
    /// Another workspace was opened: the window gets all of it instead of patches.
    pub(super) replaced: bool,
}

impl CommittedChanges {
    pub(super) fn is_empty(&self) -> bool {
        self.patches.is_empty() && !self.registry_changed && !self.replaced
    }
}

/// Fans a committed change out. Nothing else sends the workspace's state to another part.
pub(super) struct Publisher {
    pub(super) window: Subscriber,
    services: Services,
}

impl Publisher {
    pub(super) fn new(window: Subscriber, services: Services) -> Self {
        Self { window, services }
    }

    /// Publishes a turn. Each receiver compares with what it has, so a turn without a change sends nothing.
    pub(super) fn publish(
        &mut self,
        committed: CommittedChanges,
        workspace: &Workspace,
        codes: Vec<ConfirmationCode>,
    ) {
        let CommittedChanges { patches, registry_changed, replaced } = committed;
        if replaced {
            self.window.replace(workspace);
        }
        if registry_changed {
            self.window.send_registry(workspace);
        }
        for patch in patches {
            self.window.send_patch(patch);
        }
        self.services.agents.published.show(workspace);
        self.services.terraform.show(workspace);
        self.services.previews.show(workspace);
        self.services.managed_servers.show(workspace.root());
        self.window.catch_up(workspace);
        self.window.send_registry(workspace);
        self.window.send_status(workspace);
        self.window.send_links(workspace);
        self.window.send_bundles(workspace);
        self.window.send_review(workspace, codes);
        if let Some(id) = self.window.changed_proposal(workspace).filter(|_| self.window.has_room()) {
            match self.proposal_details(id, workspace) {
                Ok(details) => self.window.send_proposal(details),
                Err(refusal) => {
                    tracing::error!(%refusal, "the window does not show the change of a proposal");
                    self.window.skip_proposal(id, workspace);
                }
            }
        }
    }

    /// A proposal over the state as it is now, with its saved plan.
    pub(super) fn proposal_details(
        &self,
        id: ProposalId,
        workspace: &Workspace,
    ) -> Result<ProposalDetails, Refusal> {
        let plan = self.services.terraform.request_plan(id).map(Box::new);
        Ok(ProposalDetails { plan, ..workspace.proposal_details(id)? })
    }
}
