//! The renderer as the writer sees it: a bounded queue. A renderer that falls behind loses its patches, and receives
//! everything again once its queue is empty.

use authority::TypeRegistry;
use crossbeam_channel::{Sender, TrySendError};
use shared_protocol::{
    Proposal, ProposalId, ProposalState, Revision,
    managed_servers::ManagedServersView,
    mcp::McpView,
    messages::{Patch, ToRenderer, WorkspaceStatus},
    review::{ConfirmationCode, MAX_DECIDED_PROPOSALS, ProposalBrief, ProposalDetails, ReviewView},
    terraform::TerraformView,
    trace_link::TraceLinksView,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use workspace::{SpecBundles, Workspace};

/// Messages that may wait for a renderer before it is sent everything again.
pub(crate) const MAX_QUEUED: usize = 512;

/// Messages that may wait for a renderer when a proposal is sent.
const MAX_QUEUED_BEFORE_PROPOSAL: usize = 16;

#[derive(Default)]
pub(super) struct Subscriber {
    queue: Option<Sender<ToRenderer>>,
    /// The renderer missed a message and must be sent everything.
    behind: bool,
    last_status: Option<WorkspaceStatus>,
    last_registry: Option<Arc<TypeRegistry>>,
    last_links: Option<Arc<TraceLinksView>>,
    last_bundles: Option<SpecBundles>,
    /// The views of the services, for a window that connects later.
    agents: Option<McpView>,
    terraform: Option<Box<TerraformView>>,
    managed_servers: Option<Box<ManagedServersView>>,
    review: LastSentReview,
    proposal: WindowProposal,
    /// The user's settings of the window; they belong to no workspace.
    pub(super) settings: String,
}

/// The review queue as it was sent last.
#[derive(Default)]
struct LastSentReview {
    last_sent: Option<(u64, Revision, Vec<ConfirmationCode>)>,
    /// Each brief is computed once per change of its proposal.
    briefs: BTreeMap<ProposalId, ProposalBrief>,
    codes: Vec<ConfirmationCode>,
}

/// The proposal that the window shows: the one that a person opened, else the newest draft.
#[derive(Default)]
struct WindowProposal {
    opened: Option<ProposalId>,
    /// Drafts that a person closed.
    closed: BTreeSet<ProposalId>,
    /// The proposal that was sent last, with the stamp of its change.
    sent: Option<(ProposalId, u64)>,
}

impl Subscriber {
    pub(super) fn new(settings: String) -> Self {
        Self { settings, ..Self::default() }
    }

    pub(super) fn attach(&mut self, queue: Sender<ToRenderer>, workspace: &Workspace) {
        let (agents, terraform) = (self.agents.take(), self.terraform.take());
        let (managed_servers, settings) = (self.managed_servers.take(), std::mem::take(&mut self.settings));
        let queue = Some(queue);
        *self = Self { queue, behind: true, agents, terraform, managed_servers, settings, ..Self::default() };
        self.catch_up(workspace);
    }

    /// Returns whether the renderer missed a message and has not emptied its queue yet.
    pub(super) fn is_behind(&self) -> bool {
        self.behind && self.queue.is_some()
    }

    /// Sends everything after a missed message, once the queue is empty: everything is large and should wait only once.
    pub(super) fn catch_up(&mut self, workspace: &Workspace) {
        if self.behind && self.queue.as_ref().is_some_and(Sender::is_empty) {
            self.send_everything(workspace);
        }
    }

    /// Sends another workspace at once: the next response may be about it.
    pub(super) fn replace(&mut self, workspace: &Workspace) {
        self.proposal = WindowProposal::default();
        if self.queue.is_some() {
            self.send_everything(workspace);
        }
    }

    fn send_everything(&mut self, workspace: &Workspace) {
        let mut view = workspace.view();
        view.presence.settings.clone_from(&self.settings);
        self.last_status = Some(view.status.clone());
        self.last_registry = Some(Arc::clone(workspace.snapshot().registry()));
        self.behind = false;
        self.send(ToRenderer::Workspace(Box::new(view)));
        self.last_links = None;
        self.send_links(workspace);
        self.last_bundles = None;
        self.send_bundles(workspace);
        self.review.last_sent = None;
        self.send_review(workspace, self.review.codes.clone());
        self.proposal.sent = None;
        if let Some(agents) = self.agents.clone() {
            self.send(ToRenderer::Mcp(Box::new(agents)));
        }
        if let Some(terraform) = self.terraform.clone() {
            self.send(ToRenderer::Terraform(terraform));
        }
        if let Some(managed_servers) = self.managed_servers.clone() {
            self.send(ToRenderer::ManagedServers(managed_servers));
        }
    }

    pub(super) fn resync(&mut self, workspace: &Workspace) {
        self.behind = true;
        self.catch_up(workspace);
    }

    pub(super) fn send_patch(&mut self, patch: Patch) {
        self.notify(ToRenderer::Patch(patch.without_sources()));
    }

    /// Sends a message unless one was missed: then everything follows anyway.
    pub(super) fn notify(&mut self, message: ToRenderer) {
        if !self.behind {
            self.send(message);
        }
    }

    pub(super) fn send_agents(&mut self, view: McpView) {
        self.agents = Some(view.clone());
        self.notify(ToRenderer::Mcp(Box::new(view)));
    }

    pub(super) fn send_terraform(&mut self, view: Box<TerraformView>) {
        self.terraform = Some(view.clone());
        self.notify(ToRenderer::Terraform(view));
    }

    /// Sends the types when they were composed again.
    pub(super) fn send_registry(&mut self, workspace: &Workspace) {
        let registry = workspace.snapshot().registry();
        if self.queue.is_some()
            && !self.last_registry.as_ref().is_some_and(|last| Arc::ptr_eq(last, registry))
        {
            self.last_registry = Some(Arc::clone(registry));
            self.notify(ToRenderer::Registry(workspace.registry_view()));
        }
    }

    pub(super) fn send_managed_servers(&mut self, view: Box<ManagedServersView>) {
        self.managed_servers = Some(view.clone());
        self.notify(ToRenderer::ManagedServers(view));
    }

    pub(super) fn send_status(&mut self, workspace: &Workspace) {
        let status = workspace.status();
        if self.last_status.as_ref() != Some(&status) {
            self.last_status = Some(status.clone());
            self.notify(ToRenderer::Status(status));
        }
    }

    pub(super) fn send_links(&mut self, workspace: &Workspace) {
        let links = workspace.links();
        if !self.last_links.as_ref().is_some_and(|last| Arc::ptr_eq(last, links)) {
            self.last_links = Some(Arc::clone(links));
            self.notify(ToRenderer::Links(Box::new(links.as_ref().clone())));
        }
    }

    pub(super) fn send_bundles(&mut self, workspace: &Workspace) {
        // Without a reader, or before everything is sent, the findings need not be computed.
        if self.queue.is_none() || self.behind || self.last_bundles.as_ref() == Some(workspace.bundles()) {
            return;
        }
        self.last_bundles = Some(workspace.bundles().clone());
        self.send(ToRenderer::Bundles(Box::new(workspace.bundles().view())));
    }

    pub(super) fn send_review(&mut self, workspace: &Workspace, codes: Vec<ConfirmationCode>) {
        self.review.codes.clone_from(&codes);
        let desk = workspace.review_state();
        // A decision names the newest revision, so a new revision matters only while a proposal is open.
        let has_open = desk.queue.iter().any(|proposal| proposal.state == ProposalState::Open);
        let revision = if has_open { workspace.snapshot().revision() } else { Revision::START };
        let seen = (desk.stamp(), revision, codes);
        if self.queue.is_none() || self.behind || self.review.last_sent.as_ref() == Some(&seen) {
            return;
        }
        let mut briefs = BTreeMap::new();
        for proposal in desk.queue.iter() {
            let known = self.review.briefs.remove(&proposal.id);
            let known = known.filter(|known| known.stamp == desk.stamp_of(proposal.id));
            let brief = known.unwrap_or_else(|| workspace.brief(proposal));
            briefs.insert(proposal.id, ProposalBrief { base: desk.queue.base(proposal), ..brief });
        }
        let (mut waiting, mut over): (Vec<ProposalBrief>, Vec<ProposalBrief>) = briefs
            .values()
            .cloned()
            .partition(|brief| brief.needs_decision() || brief.state == ProposalState::Draft);
        waiting.sort_by(ProposalBrief::queue_order);
        over.sort_by_key(|brief| std::cmp::Reverse(brief.number));
        over.truncate(MAX_DECIDED_PROPOSALS);
        waiting.append(&mut over);
        let view = ReviewView {
            proposals: waiting,
            approvals: desk.approvals.as_ref().clone(),
            codes: seen.2.clone(),
        };
        self.review.briefs = briefs;
        self.review.last_sent = Some(seen);
        self.send(ToRenderer::Review(Box::new(view)));
    }

    /// A person opened a proposal in the window, which has these details of it.
    pub(super) fn open_proposal(&mut self, details: &ProposalDetails) {
        let ProposalBrief { id, stamp, .. } = details.brief;
        self.proposal.closed.remove(&id);
        (self.proposal.opened, self.proposal.sent) = (Some(id), Some((id, stamp)));
    }

    pub(super) fn close_proposal(&mut self, id: ProposalId) {
        self.proposal.opened.take_if(|opened| *opened == id);
        self.proposal.closed.insert(id);
    }

    /// The proposal that the window shows, if the window does not have it as it is now.
    pub(super) fn changed_proposal(&self, workspace: &Workspace) -> Option<ProposalId> {
        if self.queue.is_none() || self.behind {
            return None;
        }
        let WindowProposal { opened, closed, sent } = &self.proposal;
        let desk = workspace.review_state();
        let is_followed = |proposal: &&Arc<Proposal>| {
            proposal.state == ProposalState::Draft && !closed.contains(&proposal.id)
        };
        let newest = || desk.queue.iter().filter(is_followed).max_by_key(|draft| draft.number);
        // A draft that was submitted stays in view until another one is written.
        let shown = opened.or_else(|| newest().map(|draft| draft.id)).or(sent.map(|(id, _)| id))?;
        let is_news = *sent != Some((shown, desk.stamp_of(shown))) && !closed.contains(&shown);
        desk.queue.get(shown).filter(|_| is_news).map(|proposal| proposal.id)
    }

    /// Returns whether the window keeps up. A proposal waits for a window that does not: the next change replaces it.
    pub(super) fn has_room(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.len() < MAX_QUEUED_BEFORE_PROPOSAL)
    }

    pub(super) fn skip_proposal(&mut self, id: ProposalId, workspace: &Workspace) {
        self.proposal.sent = Some((id, workspace.review_state().stamp_of(id)));
    }

    pub(super) fn send_proposal(&mut self, details: ProposalDetails) {
        self.proposal.sent = Some((details.brief.id, details.brief.stamp));
        self.send(ToRenderer::Proposal(Box::new(details)));
    }

    fn send(&mut self, message: ToRenderer) {
        let Some(queue) = &self.queue else { return };
        // The room above the limit is reserved for responses.
        let sent =
            if queue.len() < MAX_QUEUED { queue.try_send(message) } else { Err(TrySendError::Full(message)) };
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                tracing::debug!("the renderer fell behind and will receive everything again");
                self.behind = true;
            }
            Err(TrySendError::Disconnected(_)) => self.queue = None,
        }
    }
}
