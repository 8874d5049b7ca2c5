//! The window's queue for previews, beside the writer's, so that a frame never waits for a disk.

use crossbeam_channel::{Sender, TrySendError};
use frame_memory::FrameMemory;
use shared_protocol::messages::ToRenderer;
use std::sync::Arc;

/// Messages that may wait for a window before the complete state is sent again.
pub const MAX_QUEUED_WINDOW_MESSAGES: usize = 512;

/// A message, and the memory whose descriptor travels with it.
pub struct PreviewWindowMessage {
    pub message: ToRenderer,
    pub memory: Option<Arc<FrameMemory>>,
}

#[derive(Default)]
pub(crate) struct PreviewWindowQueue {
    queue: Option<Sender<PreviewWindowMessage>>,
    is_behind: bool,
}

impl PreviewWindowQueue {
    pub(crate) fn attach(&mut self, queue: Sender<PreviewWindowMessage>) {
        *self = Self { queue: Some(queue), is_behind: false };
    }

    pub(crate) fn send(&mut self, message: ToRenderer, memory: Option<Arc<FrameMemory>>) {
        let Some(queue) = self.queue.as_ref().filter(|_| !self.is_behind) else { return };
        match queue.try_send(PreviewWindowMessage { message, memory }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.is_behind = true,
            Err(TrySendError::Disconnected(_)) => self.queue = None,
        }
    }

    /// Returns true when the window missed a message and has not emptied its queue since.
    pub(crate) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Returns true once after a window that missed a message emptied its queue: the complete state must be sent again.
    pub(crate) fn take_recovered(&mut self) -> bool {
        let caught_up = self.is_behind && self.queue.as_ref().is_none_or(|queue| queue.is_empty());
        if caught_up {
            self.is_behind = false;
        }
        caught_up
    }
}
