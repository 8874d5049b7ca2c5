//! Pending requests to main, each with its purpose.

use crate::view::UpstreamAsk;
use shared_protocol::{
    Refusal,
    upstreams::{ServerId, UpstreamDecision, UpstreamRequest},
};
use std::collections::BTreeMap;

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
    next: u64,
    open: BTreeMap<u64, UpstreamPurpose>,
    /// Requests that the window has not sent yet, each with its ticket.
    pub(super) unsent: Vec<(u64, UpstreamAsk)>,
}

impl PendingUpstreamRequests {
    pub(super) fn request(&mut self, request: UpstreamRequest, purpose: UpstreamPurpose) {
        self.push(UpstreamAsk::Request(Box::new(request)), purpose);
    }

    pub(super) fn decide(&mut self, decision: UpstreamDecision, purpose: UpstreamPurpose) {
        self.push(UpstreamAsk::Decision(Box::new(decision)), purpose);
    }

    fn push(&mut self, ask: UpstreamAsk, purpose: UpstreamPurpose) {
        self.next += 1;
        self.open.insert(self.next, purpose);
        self.unsent.push((self.next, ask));
    }

    pub(super) fn close(&mut self, ticket: u64) -> Option<UpstreamPurpose> {
        self.open.remove(&ticket)
    }

    pub(super) fn is_open(&self, purpose: &UpstreamPurpose) -> bool {
        self.open.values().any(|open| open == purpose)
    }

    /// The pending action on a server.
    pub(super) fn doing(&self, server: &ServerId) -> Option<ServerAction> {
        self.open.values().find_map(|open| match open {
            UpstreamPurpose::Server { id, doing } if id == server => Some(*doing),
            _ => None,
        })
    }
}
