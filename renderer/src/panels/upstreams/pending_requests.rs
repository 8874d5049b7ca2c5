//! Pending requests to main, each with its purpose.

use crate::view::{FrameView, UpstreamAsk};
use shared_protocol::{
    Refusal,
    upstreams::{ServerId, UpstreamDecision, UpstreamRequest},
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ops::Deref,
};

/// The effect of an answer outside this panel.
#[derive(Debug)]
pub(crate) enum UpstreamOutcome {
    Nothing,
    Told(String, Vec<String>),
    Refused(Refusal),
}

/// A pending action on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerAction {
    Enabling,
    Disabling,
    Starting,
    Stopping,
    Deciding,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UpstreamPurpose {
    Details(ServerId),
    Log(ServerId),
    Server {
        id: ServerId,
        doing: ServerAction,
    },
    Update(ServerId),
    Delete(ServerId),
    /// A call made by a person, by the tool name that agents use.
    Call(String),
    /// A secret of a server, or of a manifest when `id` is `None`.
    Secret {
        id: Option<ServerId>,
    },
    Manifest,
    Add,
    Sources,
    Preview,
    Import,
    Registry,
}

#[derive(Default)]
pub(super) struct PendingUpstreamRequests {
    next: Cell<u64>,
    open: RefCell<BTreeMap<u64, UpstreamPurpose>>,
    /// Requests that the window has not sent yet, each with its ticket.
    pub(super) unsent: RefCell<Vec<(u64, UpstreamAsk)>>,
}

/// The surroundings of a page: the frame and the pending requests.
pub(super) struct UpstreamsContext<'a> {
    pub(super) view: &'a FrameView<'a>,
    pub(super) asking: &'a PendingUpstreamRequests,
}

impl Deref for UpstreamsContext<'_> {
    type Target = PendingUpstreamRequests;

    fn deref(&self) -> &Self::Target {
        self.asking
    }
}

impl PendingUpstreamRequests {
    pub(super) fn request(&self, request: UpstreamRequest, purpose: UpstreamPurpose) {
        self.push(UpstreamAsk::Request(Box::new(request)), purpose);
    }

    pub(super) fn decide(&self, decision: UpstreamDecision, purpose: UpstreamPurpose) {
        self.push(UpstreamAsk::Decision(Box::new(decision)), purpose);
    }

    fn push(&self, ask: UpstreamAsk, purpose: UpstreamPurpose) {
        let ticket = self.next.get() + 1;
        self.next.set(ticket);
        self.open.borrow_mut().insert(ticket, purpose);
        self.unsent.borrow_mut().push((ticket, ask));
    }

    pub(super) fn close(&self, ticket: u64) -> Option<UpstreamPurpose> {
        self.open.borrow_mut().remove(&ticket)
    }

    pub(super) fn is_open(&self, purpose: &UpstreamPurpose) -> bool {
        self.open.borrow().values().any(|open| open == purpose)
    }

    /// The pending action on a server.
    pub(super) fn doing(&self, server: &ServerId) -> Option<ServerAction> {
        self.open.borrow().values().find_map(|open| match open {
            UpstreamPurpose::Server { id, doing } if id == server => Some(*doing),
            _ => None,
        })
    }
}
