//! The agents' side of the process: the MCP server's runtime, its settings, port, token and discovery, and what window and
//! terminals may ask about it. What agents see is the `mcp_server` crate's; what there is to see, the writer's.

mod bench;
pub(crate) mod controller;
pub(crate) mod listen;
mod offline;
mod published;
mod settings;
pub(crate) mod specs;
#[cfg(test)]
mod tests;

pub(crate) use controller::start;
pub(crate) use offline::offline_surface;
pub(crate) use published::Published;
pub(crate) use settings::{
    Overrides, Settings, USUAL_PORT, keep_window_settings, terraform_program, window_settings,
};

use crate::host::Reply;
use mcp_server::{Doings, Surface};
use processes::instance::Token;
use shared_protocol::{
    Code, Refusal,
    mcp::{McpMode, McpRequest},
};
use std::{
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};
use tokio::sync::mpsc;

/// Orders that may wait for the agents' side.
const MAX_ORDERS: usize = 64;

/// All that agents are offered in a workspace.
fn surface() -> Surface {
    let mut surface = Surface::core();
    let changes: Arc<dyn specs::Changes> = Arc::new(specs::Proposing);
    specs::add_to(&mut surface, &changes);
    surface
}

/// Where agents find this process over HTTP; kept in the discovery record.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) token: Token,
}

/// What is asked of the agents' side.
pub(crate) enum Order {
    Request {
        request: McpRequest,
        reply: Reply,
    },
    /// A bridge, checked and greeted.
    Bridge(UnixStream),
    /// The mode in the workspace that is open, in place of the user's setting, which stays as it is.
    ModeHere(Option<McpMode>),
    Stop,
}

/// How the rest of the process reaches the agents' side.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) published: Arc<Published>,
    /// What comes of what agents asked for and people allowed.
    pub(crate) doings: Arc<Doings>,
    orders: mpsc::Sender<Order>,
    mode: Arc<AtomicU8>,
}

impl Link {
    /// Nobody is at the other end before [`start`].
    pub(crate) fn new() -> (Self, mpsc::Receiver<Order>) {
        let (orders, waiting) = mpsc::channel(MAX_ORDERS);
        let mode = Arc::new(AtomicU8::new(McpMode::Off as u8));
        (Self { published: Arc::default(), doings: Arc::default(), orders, mode }, waiting)
    }

    pub(crate) fn request(&self, request: McpRequest, reply: Reply) {
        if let Err(refused) = self.orders.try_send(Order::Request { request, reply }) {
            let (mpsc::error::TrySendError::Full(order) | mpsc::error::TrySendError::Closed(order)) = refused;
            if let Order::Request { reply, .. } = order {
                reply(Err(unavailable()));
            }
        }
    }

    /// Whether a bridge may come in now.
    pub(crate) fn admits_bridge(&self) -> Result<(), Refusal> {
        if self.orders.is_closed() {
            return Err(unavailable());
        }
        match self.mode.load(Ordering::SeqCst) == McpMode::Off as u8 {
            true => Err(Refusal::new(Code::Conflict, "agents are switched off")
                .hint("Switch them on in the status bar, or start with `--mode observe`.")),
            false => Ok(()),
        }
    }

    pub(crate) fn hand_over(&self, bridge: UnixStream) -> Result<(), Refusal> {
        self.orders.try_send(Order::Bridge(bridge)).map_err(|_| unavailable())
    }

    /// Has another mode hold in the workspace that is open; `None` goes back to the user's setting.
    pub(crate) fn set_mode_here(&self, mode: Option<McpMode>) {
        if self.orders.try_send(Order::ModeHere(mode)).is_err() {
            tracing::error!("the agents' side did not take the mode of this workspace");
        }
    }

    pub(crate) fn stop(&self) {
        // Closed: it has ended already.
        let _ = self.orders.blocking_send(Order::Stop);
    }

    fn set_mode(&self, mode: McpMode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }
}

fn unavailable() -> Refusal {
    Refusal::new(Code::Conflict, "the agents' side is not running")
        .hint("Start Draftboard again; its log says why.")
}
