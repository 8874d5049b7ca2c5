//! The renderer as the writer sees it: a bounded queue. One that falls behind loses its patches and gets everything again
//! when it has taken what was there.

use crate::workspace::{SpecBundles, Workspace};
use crossbeam_channel::{Sender, TrySendError};
use shared_protocol::{
    link::LinksView,
    mcp::McpView,
    messages::{Status, ToRenderer},
    terraform::TerraformView,
};
use std::sync::Arc;

/// Patches and the like that may wait for a renderer before it is sent everything anew.
pub(crate) const MAX_QUEUED: usize = 512;

#[derive(Default)]
pub(super) struct Subscriber {
    queue: Option<Sender<ToRenderer>>,
    /// It missed something and must be sent everything.
    behind: bool,
    last_status: Option<Status>,
    last_links: Option<Arc<LinksView>>,
    last_bundles: Option<SpecBundles>,
    /// The agents' side, kept for a window that comes later.
    agents: Option<McpView>,
    terraform: Option<Box<TerraformView>>,
}

impl Subscriber {
    pub(super) fn attach(&mut self, queue: Sender<ToRenderer>, workspace: &Workspace) {
        let (agents, terraform) = (self.agents.take(), self.terraform.take());
        *self = Self { queue: Some(queue), behind: true, agents, terraform, ..Self::default() };
        self.catch_up(workspace);
    }

    /// It missed something and has not taken what waits for it: worth looking at again soon.
    pub(super) fn is_behind(&self) -> bool {
        self.behind && self.queue.is_some()
    }

    /// Sends everything if something was missed, once nothing else waits: everything is large, and should wait once.
    pub(super) fn catch_up(&mut self, workspace: &Workspace) {
        if !self.behind || self.queue.as_ref().is_none_or(|queue| !queue.is_empty()) {
            return;
        }
        let view = workspace.view();
        self.last_status = Some(view.status.clone());
        self.behind = false;
        self.send(ToRenderer::Workspace(Box::new(view)));
        self.last_links = None;
        self.tell_links(workspace);
        self.last_bundles = None;
        self.tell_bundles(workspace);
        if let Some(agents) = self.agents.clone() {
            self.send(ToRenderer::Mcp(Box::new(agents)));
        }
        if let Some(terraform) = self.terraform.clone() {
            self.send(ToRenderer::Terraform(terraform));
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
