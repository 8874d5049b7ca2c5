//! The renderer as the writer sees it: a bounded queue. One that falls behind loses its patches and gets everything again
//! when it has taken what was there.

use authority::Registry;
use crossbeam_channel::{Sender, TrySendError};
use shared_protocol::{
    ProposalId, ProposalState, Revision,
    link::LinksView,
    mcp::McpView,
    messages::{Status, ToRenderer},
    review::{CodeShown, MAX_DECIDED, ProposalBrief, ReviewView},
    terraform::TerraformView,
    upstreams::UpstreamsView,
};
use std::{collections::BTreeMap, sync::Arc};
use workspace::{SpecBundles, Workspace};

/// Patches and the like that may wait for a renderer before it is sent everything anew.
pub(crate) const MAX_QUEUED: usize = 512;

#[derive(Default)]
pub(super) struct Subscriber {
    queue: Option<Sender<ToRenderer>>,
    /// It missed something and must be sent everything.
    behind: bool,
    last_status: Option<Status>,
    last_registry: Option<Arc<Registry>>,
    last_links: Option<Arc<LinksView>>,
    last_bundles: Option<SpecBundles>,
    /// The agents' side, kept for a window that comes later.
    agents: Option<McpView>,
    terraform: Option<Box<TerraformView>>,
    upstreams: Option<Box<UpstreamsView>>,
    review: LastReview,
    /// The user's settings of the window, which are those of no workspace.
    pub(super) settings: String,
}

/// What the window knows of the review queue.
#[derive(Default)]
struct LastReview {
    seen: Option<(u64, Revision, Vec<CodeShown>)>,
    /// Brief ones are computed once for each change of a proposal.
    briefs: BTreeMap<ProposalId, ProposalBrief>,
    codes: Vec<CodeShown>,
}

impl Subscriber {
    pub(super) fn new(settings: String) -> Self {
        Self { settings, ..Self::default() }
    }

    pub(super) fn attach(&mut self, queue: Sender<ToRenderer>, workspace: &Workspace) {
        let (agents, terraform) = (self.agents.take(), self.terraform.take());
        let (upstreams, settings) = (self.upstreams.take(), std::mem::take(&mut self.settings));
        let queue = Some(queue);
        *self = Self { queue, behind: true, agents, terraform, upstreams, settings, ..Self::default() };
        self.catch_up(workspace);
    }

    /// It missed something and has not taken what waits for it: worth looking at again soon.
    pub(super) fn is_behind(&self) -> bool {
        self.behind && self.queue.is_some()
    }

    /// Sends everything if something was missed, once nothing else waits: everything is large, and should wait once.
    pub(super) fn catch_up(&mut self, workspace: &Workspace) {
        if self.behind && self.queue.as_ref().is_some_and(Sender::is_empty) {
            self.send_everything(workspace);
        }
    }

    /// Another workspace is open: it is sent at once, before what is answered next, which may be about it.
    pub(super) fn replace(&mut self, workspace: &Workspace) {
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
        self.tell_links(workspace);
        self.last_bundles = None;
        self.tell_bundles(workspace);
        self.review.seen = None;
        self.tell_review(workspace, self.review.codes.clone());
        if let Some(agents) = self.agents.clone() {
            self.send(ToRenderer::Mcp(Box::new(agents)));
        }
        if let Some(terraform) = self.terraform.clone() {
            self.send(ToRenderer::Terraform(terraform));
        }
        if let Some(upstreams) = self.upstreams.clone() {
            self.send(ToRenderer::Upstreams(upstreams));
        }
    }

    pub(super) fn resync(&mut self, workspace: &Workspace) {
        self.behind = true;
        self.catch_up(workspace);
    }

    /// Patches and the like: left out while something was missed, because everything follows.
    pub(super) fn tell(&mut self, message: ToRenderer) {
        if !self.behind {
            self.send(message);
        }
    }

    pub(super) fn tell_agents(&mut self, view: McpView) {
        self.agents = Some(view.clone());
        self.tell(ToRenderer::Mcp(Box::new(view)));
    }

    pub(super) fn tell_terraform(&mut self, view: Box<TerraformView>) {
        self.terraform = Some(view.clone());
        self.tell(ToRenderer::Terraform(view));
    }

    /// The types, if they were composed anew.
    pub(super) fn tell_registry(&mut self, workspace: &Workspace) {
        let registry = workspace.snapshot().registry();
        if self.queue.is_some()
            && !self.last_registry.as_ref().is_some_and(|last| Arc::ptr_eq(last, registry))
        {
            self.last_registry = Some(Arc::clone(registry));
            self.tell(ToRenderer::Registry(workspace.registry_view()));
        }
    }

    pub(super) fn tell_upstreams(&mut self, view: Box<UpstreamsView>) {
        self.upstreams = Some(view.clone());
        self.tell(ToRenderer::Upstreams(view));
    }

    pub(super) fn tell_status(&mut self, workspace: &Workspace) {
        let status = workspace.status();
        if self.last_status.as_ref() != Some(&status) {
            self.last_status = Some(status.clone());
            self.tell(ToRenderer::Status(status));
        }
    }

    pub(super) fn tell_links(&mut self, workspace: &Workspace) {
        let links = workspace.links();
        if !self.last_links.as_ref().is_some_and(|last| Arc::ptr_eq(last, links)) {
            self.last_links = Some(Arc::clone(links));
            self.tell(ToRenderer::Links(Box::new(links.as_ref().clone())));
        }
    }

    pub(super) fn tell_bundles(&mut self, workspace: &Workspace) {
        // Nobody is there, or everything follows: looking at all findings can wait until then.
        if self.queue.is_none() || self.behind || self.last_bundles.as_ref() == Some(workspace.bundles()) {
            return;
        }
        self.last_bundles = Some(workspace.bundles().clone());
        self.send(ToRenderer::Bundles(Box::new(workspace.bundles().view())));
    }

    pub(super) fn tell_review(&mut self, workspace: &Workspace, codes: Vec<CodeShown>) {
        self.review.codes.clone_from(&codes);
        let desk = workspace.desk();
        // What is open fits the newest revision, which a decision has to name; without any, revisions are no news here.
        let has_open = desk.queue.iter().any(|proposal| proposal.state == ProposalState::Open);
        let revision = if has_open { workspace.snapshot().revision() } else { Revision::START };
        let seen = (desk.stamp(), revision, codes);
        if self.queue.is_none() || self.behind || self.review.seen.as_ref() == Some(&seen) {
            return;
        }
        let mut briefs = BTreeMap::new();
        for proposal in desk.queue.iter() {
            let known = self.review.briefs.remove(&proposal.id);
            let known = known.filter(|known| known.stamp == desk.stamp_of(proposal.id));
            let brief = known.unwrap_or_else(|| workspace.brief(proposal));
            briefs.insert(proposal.id, ProposalBrief { base: desk.queue.base(proposal), ..brief });
        }
        let (mut waiting, mut over): (Vec<ProposalBrief>, Vec<ProposalBrief>) =
            briefs.values().cloned().partition(|brief| brief.waits() || brief.state == ProposalState::Draft);
        waiting.sort_by(ProposalBrief::queue_order);
        over.sort_by_key(|brief| std::cmp::Reverse(brief.number));
        over.truncate(MAX_DECIDED);
        waiting.append(&mut over);
        let view = ReviewView {
            proposals: waiting,
            approvals: desk.approvals.as_ref().clone(),
            codes: seen.2.clone(),
        };
        self.review.briefs = briefs;
        self.review.seen = Some(seen);
        self.send(ToRenderer::Review(Box::new(view)));
    }

    fn send(&mut self, message: ToRenderer) {
        let Some(queue) = &self.queue else { return };
        // What is over the limit is there for answers.
        let sent =
            if queue.len() < MAX_QUEUED { queue.try_send(message) } else { Err(TrySendError::Full(message)) };
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                tracing::debug!("the renderer fell behind and will be sent everything");
                self.behind = true;
            }
            Err(TrySendError::Disconnected(_)) => self.queue = None,
        }
    }
}
