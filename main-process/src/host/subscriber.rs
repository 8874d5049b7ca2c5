//! The renderer as the writer sees it: a bounded queue. One that falls behind loses its patches and gets everything again
//! when it has caught up.

use crate::workspace::Workspace;
use crossbeam_channel::{Sender, TrySendError};
use shared_protocol::messages::{Status, ToRenderer};

#[derive(Default)]
pub(super) struct Subscriber {
    queue: Option<Sender<ToRenderer>>,
    /// It missed something and must be sent everything.
    behind: bool,
    last_status: Option<Status>,
}

impl Subscriber {
    pub(super) fn attach(&mut self, queue: Sender<ToRenderer>, workspace: &Workspace) {
        *self = Self { queue: Some(queue), behind: true, last_status: None };
        self.catch_up(workspace);
    }

    /// It missed something and its queue was full: worth looking at again soon.
    pub(super) fn is_behind(&self) -> bool {
        self.behind && self.queue.is_some()
    }

    /// Sends everything if something was missed.
    pub(super) fn catch_up(&mut self, workspace: &Workspace) {
        if !self.behind || self.queue.as_ref().is_none_or(Sender::is_full) {
            return;
        }
        let view = workspace.view();
        self.last_status = Some(view.status.clone());
        self.behind = false;
        self.send(ToRenderer::Workspace(Box::new(view)));
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

    pub(super) fn tell_status(&mut self, workspace: &Workspace) {
        let status = workspace.status();
        if self.last_status.as_ref() != Some(&status) {
            self.last_status = Some(status.clone());
            self.tell(ToRenderer::Status(status));
        }
    }

    fn send(&mut self, message: ToRenderer) {
        let Some(queue) = &self.queue else { return };
        match queue.try_send(message) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                tracing::debug!("the renderer fell behind and will be sent everything");
                self.behind = true;
            }
            Err(TrySendError::Disconnected(_)) => self.queue = None,
        }
    }
}
