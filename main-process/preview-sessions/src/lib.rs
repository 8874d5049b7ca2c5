//! Preview sessions: sandboxed processes that draw components, and the checks on everything they send.
//!
//! Owns: the sessions of the open workspace, their states, budgets and restarts, the messages to each process, and the views
//! that window and agents get. Must not know: how components are read or drawn (the preview process does that), how the
//! graph changes, the writer, MCP, egui. Nothing here waits for a preview: one thread sleeps until there is work.
//!
//! ```text
//! writer ── show(workspace) ──▶ PreviewedWorkspace, the newest wins     never blocks
//!        ── request ──▶ orders ──▶ sessions' thread ── responder        bounded
//! window ── gestures ──▶ orders ──▶     │  ──▶ frames, boxes, views ──▶ the window's own queue
//!                                       └─ one socket and one process per session
//! ```

mod events;
mod launcher;
mod lifecycle;
mod peer;
mod previewed_workspace;
mod requests;
mod scene;
mod screenshot;
mod session;
mod session_log;
#[cfg(test)]
mod tests;
mod thread;
mod touched_pages;
mod views;
mod window_queue;

pub use events::PreviewEvents;
pub use launcher::{PreviewLauncher, PreviewProcess};
pub use previewed_workspace::PreviewedWorkspace;
pub use screenshot::png;
pub use touched_pages::pages_touched;
pub use window_queue::{MAX_QUEUED_WINDOW_MESSAGES, PreviewWindowMessage};

use arc_swap::ArcSwapOption;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rustix::event::{EventfdFlags, eventfd};
use shared_protocol::{
    NodeId, Refusal, RefusalCode,
    preview_sessions::{PreviewGesture, PreviewId, PreviewImage},
    preview_wire::PreviewScreen,
    request::{Request, Responder},
    requests::{
        CapturePreview, ClosePreview, ListPreviews, NavigatePreview, ReadPreviewLog, RestartPreview,
        SelectInstance, SetPreviewMode, SetPreviewScreen, StartPreview, StopPreview,
    },
    service_calls,
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

const MAX_QUEUED_ORDERS: usize = 1_024;

service_calls! {
    /// The requests that the sessions' thread answers.
    pub enum PreviewSessionRequest {
        ListPreviews,
        StartPreview,
        StopPreview,
        RestartPreview,
        ClosePreview,
        NavigatePreview,
        SetPreviewScreen,
        SetPreviewMode,
        SelectInstance,
        ReadPreviewLog,
        CapturePreview,
    }
}

/// An order to the sessions' thread.
pub enum PreviewSessionsMsg {
    Request(PreviewSessionRequest),
    Gesture {
        session: PreviewId,
        gesture: PreviewGesture,
    },
    /// Attaches a window: it gets the memory of every session, then changes.
    Attach(Sender<PreviewWindowMessage>),
    /// Draws a page of another state, in a session that nobody sees.
    Picture {
        workspace: Box<PreviewedWorkspace>,
        route: NodeId,
        screen: PreviewScreen,
        responder: Responder<PreviewImage>,
    },
    /// Fonts of the system for characters that a session lacks.
    Fonts {
        session: PreviewId,
        fonts: Vec<FontFile>,
    },
    /// The workspace changed.
    Update,
    Stop,
}

/// The handle to the sessions' thread.
#[derive(Clone)]
pub struct PreviewsHandle {
    orders: Sender<PreviewSessionsMsg>,
    wake: Arc<OwnedFd>,
    workspace: Arc<ArcSwapOption<PreviewedWorkspace>>,
    /// A try ended while the queue of orders was full.
    try_ended: Arc<AtomicBool>,
}

impl PreviewsHandle {
    /// The orders wait until [`start`] gets their receiver.
    pub fn new() -> io::Result<(Self, Receiver<PreviewSessionsMsg>)> {
        let (orders, queue) = bounded(MAX_QUEUED_ORDERS);
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        Ok((Self { orders, wake, workspace: Arc::default(), try_ended: Arc::default() }, queue))
    }

    /// Replaces the workspace that sessions show, if it changed.
    pub fn show(&self, workspace: &Workspace) {
        let shown = PreviewedWorkspace::from_workspace(workspace);
        if self.workspace.load().as_ref().is_none_or(|before| !before.is_same(&shown)) {
            self.workspace.store(Some(Arc::new(shown)));
            // A full queue wakes the thread as well.
            let _ = self.send(PreviewSessionsMsg::Update);
        }
    }

    /// The response comes later, from another thread.
    pub fn request<R: Request>(&self, request: R, responder: Responder<R::Response>)
    where
        PreviewSessionRequest: From<(R, Responder<R::Response>)>,
    {
        if let Err(refused) = self.send(PreviewSessionsMsg::Request((request, responder).into()))
            && let (PreviewSessionsMsg::Request(call), refusal) = *refused
        {
            call.refuse(refusal);
        }
    }

    /// Sends a gesture without a response. A full queue drops it, because the next one carries the newest pointer; only the
    /// end of a try, which nothing follows, is never dropped.
    pub fn gesture(&self, session: PreviewId, gesture: PreviewGesture) {
        let ends_try = matches!(&gesture, PreviewGesture::Try(tried) if tried.is_empty());
        if self.send(PreviewSessionsMsg::Gesture { session, gesture }).is_err() && ends_try {
            self.try_ended.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// Returns true once after the end of a try found no room in the queue.
    fn take_try_ended(&self) -> bool {
        self.try_ended.swap(false, Ordering::AcqRel)
    }

    pub fn attach(&self, queue: Sender<PreviewWindowMessage>) {
        if self.send(PreviewSessionsMsg::Attach(queue)).is_err() {
            tracing::error!("window shows no previews: their queue of orders is full");
        }
    }

    /// Draws a page of `workspace`, which may differ from the open one.
    pub fn picture(
        &self,
        workspace: PreviewedWorkspace,
        route: NodeId,
        screen: PreviewScreen,
        responder: Responder<PreviewImage>,
    ) {
        let order = PreviewSessionsMsg::Picture { workspace: Box::new(workspace), route, screen, responder };
        if let Err(refused) = self.send(order)
            && let (PreviewSessionsMsg::Picture { responder, .. }, refusal) = *refused
        {
            responder.send(Err(refusal));
        }
    }

    /// The workspace that sessions show.
    pub fn workspace(&self) -> Option<Arc<PreviewedWorkspace>> {
        self.workspace.load_full()
    }

    /// Ends every preview and the thread.
    pub fn stop(&self) {
        // Fails only when the thread has ended already.
        let _ = self.orders.send(PreviewSessionsMsg::Stop);
        self.wake();
    }

    /// Returns an order that could not be sent, with the reason.
    fn send(&self, order: PreviewSessionsMsg) -> Result<(), Box<(PreviewSessionsMsg, Refusal)>> {
        match self.orders.try_send(order) {
            Ok(()) => {
                self.wake();
                Ok(())
            }
            Err(TrySendError::Full(order)) => {
                let refusal =
                    Refusal::new(RefusalCode::Timeout, "Too many requests are waiting for the previews");
                Err(Box::new((order, refusal.hint("Try again in a moment."))))
            }
            Err(TrySendError::Disconnected(order)) => {
                Err(Box::new((order, Refusal::new(RefusalCode::NoWorkspace, "Draftboard is closing"))))
            }
        }
    }

    fn wake(&self) {
        // Fails only when the counter is full, and then the thread is awake anyway.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

/// Starts the sessions' thread. It starts their processes as well and outlives them.
pub fn start(
    link: PreviewsHandle,
    orders: Receiver<PreviewSessionsMsg>,
    events: Arc<dyn PreviewEvents>,
    launcher: PreviewLauncher,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("previews".to_owned())
        .spawn(move || thread::SessionsThread::new(link, orders, events, launcher).run())
}
