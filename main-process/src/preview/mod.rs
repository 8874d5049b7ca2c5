//! Preview sessions: processes that show components which others wrote, and what is believed of what they say.
//!
//! Owns: the sessions of the open workspace, their states, budgets and restarts, what each is told and when, and what window
//! and agents hear of them. Must not know: how components are read or drawn (the preview process does), how the graph
//! changes, MCP, egui. Nothing here ever waits for a preview: a thread of its own sleeps until something is to be done.
//!
//! ```text
//! writer ── show(workspace) ──▶ Ground, the newest counts        never waits
//!        ── request ──▶ orders ──▶ previews' thread ── reply     bounded
//! window ── gestures ──▶ orders ──▶     │  ──▶ frames, boxes, views ──▶ the window's own queue
//!                                       └─ one socket and one process a session
//! ```

mod around;
mod ground;
mod log;
mod peer;
mod requests;
mod scene;
mod session;
mod shot;
mod spawner;
#[cfg(test)]
mod tests;
mod touched;
mod views;
mod window;
mod worker;

pub(crate) use around::Around;
pub(crate) use ground::Ground;
pub(crate) use shot::png;
#[cfg(test)]
pub(crate) use spawner::Spawned;
pub(crate) use spawner::{Roles, Spawner};
pub(crate) use touched::pages_touched;
pub(crate) use window::{MAX_QUEUED, ToWindow};

use crate::host::Reply;
use arc_swap::ArcSwapOption;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rustix::event::{EventfdFlags, eventfd};
use shared_protocol::{
    Code, NodeId, Refusal,
    preview::Screen,
    previews::{Pixels, PreviewGesture, PreviewRequest, SessionId},
};
use std::{
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};
use system_fonts::FontFile;
use workspace::Workspace;

/// Orders that may wait.
const MAX_ORDERS: usize = 1_024;

/// What a picture of a page is given to.
pub(crate) type PictureReply = Box<dyn FnOnce(Result<Pixels, Refusal>) + Send>;

pub(crate) enum Order {
    Request {
        request: PreviewRequest,
        reply: Reply,
    },
    Gesture {
        session: SessionId,
        gesture: PreviewGesture,
    },
    /// A window is there: it gets the memory of every session, then news.
    Attach(Sender<ToWindow>),
    /// A page as it would look, without a session that anybody sees.
    Picture {
        ground: Box<Ground>,
        route: NodeId,
        screen: Screen,
        reply: PictureReply,
    },
    /// Fonts of the system for characters that a session lacked.
    Fonts {
        session: SessionId,
        fonts: Vec<FontFile>,
    },
    /// The workspace is not as it was.
    Look,
    Stop,
}

/// How the rest of the process reaches this part.
#[derive(Clone)]
pub(crate) struct Link {
    orders: Sender<Order>,
    wake: Arc<OwnedFd>,
    ground: Arc<ArcSwapOption<Ground>>,
    /// Something that was tried out ended while the orders were full.
    ended: Arc<AtomicBool>,
}

impl Link {
    /// Nobody is at the other end before [`start`].
    pub(crate) fn new() -> io::Result<(Self, Receiver<Order>)> {
        let (orders, waiting) = bounded(MAX_ORDERS);
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        Ok((Self { orders, wake, ground: Arc::default(), ended: Arc::default() }, waiting))
    }

    /// Shows the workspace as it is now, if that is news.
    pub(crate) fn show(&self, workspace: &Workspace) {
        let ground = Ground::of(workspace);
        if self.ground.load().as_ref().is_none_or(|before| !before.is_same(&ground)) {
            self.ground.store(Some(Arc::new(ground)));
            // Full: it will look anyway.
            let _ = self.send(Order::Look);
        }
    }

    /// Answers later, from another thread.
    pub(crate) fn request(&self, request: PreviewRequest, reply: Reply) {
        if let Err(refused) = self.send(Order::Request { request, reply })
            && let (Order::Request { reply, .. }, refusal) = *refused
        {
            reply(Err(refusal));
        }
    }

    /// Not answered; lost when too much waits, as the next one says where the pointer is then. That nothing is tried out any
    /// more is never lost: nothing comes after it.
    pub(crate) fn gesture(&self, session: SessionId, gesture: PreviewGesture) {
        let ends = matches!(&gesture, PreviewGesture::Try(tried) if tried.is_empty());
        if self.send(Order::Gesture { session, gesture }).is_err() && ends {
            self.ended.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// The end of a try could not be told in order. True once.
    fn take_ended(&self) -> bool {
        self.ended.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn attach(&self, queue: Sender<ToWindow>) {
        if self.send(Order::Attach(queue)).is_err() {
            tracing::error!("the window will show no preview: too much waits for them");
        }
    }

    /// A page as it looks, for a reader with a state of its own.
    pub(crate) fn picture(&self, ground: Ground, route: NodeId, screen: Screen, reply: PictureReply) {
        let order = Order::Picture { ground: Box::new(ground), route, screen, reply };
        if let Err(refused) = self.send(order)
            && let (Order::Picture { reply, .. }, refusal) = *refused
        {
            reply(Err(refusal));
        }
    }

    /// The workspace as it was shown last.
    pub(crate) fn ground(&self) -> Option<Arc<Ground>> {
        self.ground.load_full()
    }

    /// Ends every preview.
    pub(crate) fn stop(&self) {
        // Closed: it has ended already.
        let _ = self.orders.send(Order::Stop);
        self.wake();
    }

    /// What could not be sent comes back with the reason.
    fn send(&self, order: Order) -> Result<(), Box<(Order, Refusal)>> {
        match self.orders.try_send(order) {
            Ok(()) => {
                self.wake();
                Ok(())
            }
            Err(TrySendError::Full(order)) => {
                let refusal = Refusal::new(Code::Timeout, "too much is waiting for the previews");
                Err(Box::new((order, refusal.hint("Try again in a moment."))))
            }
            Err(TrySendError::Disconnected(order)) => {
                Err(Box::new((order, Refusal::new(Code::NoWorkspace, "Draftboard is closing"))))
            }
        }
    }

    fn wake(&self) {
        // Fails only when the counter is full, and then the thread is awake anyway.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

/// Starts the thread that keeps the sessions. It starts their processes, too, and lives as long as they may.
pub(crate) fn start(
    link: Link,
    orders: Receiver<Order>,
    around: Arc<dyn Around>,
    spawner: Box<dyn Spawner>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("previews".to_owned())
        .spawn(move || worker::Worker::new(link, orders, around, spawner).run())
}
