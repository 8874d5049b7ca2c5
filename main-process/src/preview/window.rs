//! The window as the previews see it: a queue of its own, beside the writer's, so that a frame never waits for a disk.

use crossbeam_channel::Sender;
use frame_memory::FrameMemory;
use shared_protocol::messages::ToRenderer;
use std::sync::Arc;

/// What may wait for a window before it is given everything anew.
pub(crate) const MAX_QUEUED: usize = 512;

/// A message, and the memory whose descriptor goes with it.
pub(crate) struct ToWindow {
    pub(crate) message: ToRenderer,
    pub(crate) memory: Option<Arc<FrameMemory>>,
}

#[derive(Default)]
pub(super) struct Window {
    queue: Option<Sender<ToWindow>>,
    behind: bool,
}

impl Window {
    pub(super) fn attach(&mut self, queue: Sender<ToWindow>) {
        *self = Self { queue: Some(queue), behind: false };
    }

    pub(super) fn tell(&mut self, message: ToRenderer, memory: Option<Arc<FrameMemory>>) {
        if self.behind {
            return;
        }
        let Some(queue) = &self.queue else { return };
        match queue.try_send(ToWindow { message, memory }) {
            Ok(()) => {}
            Err(crossbeam_channel::TrySendError::Full(_)) => self.behind = true,
            Err(crossbeam_channel::TrySendError::Disconnected(_)) => self.queue = None,
        }
    }

    /// It missed something and has not taken what waits for it.
    pub(super) fn is_behind(&self) -> bool {
        self.behind
    }

    /// It has taken what waited, and must be given everything anew. True once.
    pub(super) fn has_caught_up(&mut self) -> bool {
        let caught_up = self.behind && self.queue.as_ref().is_none_or(|queue| queue.is_empty());
        if caught_up {
            self.behind = false;
        }
        caught_up
    }
}
