//! Pending requests to main, each with its purpose.

use crate::view::{Action, Ask};
use shared_protocol::{
    Refusal,
    upstreams::{ServerId, UpstreamDecision, UpstreamRequest},
};
use std::collections::BTreeMap;

/// The effect of an answer outside this panel.
#[derive(Debug)]
pub(crate) enum Outcome {
    Nothing,
    Told(String, Vec<String>),
    Refused(Refusal),
}

/// A pending action on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Enabling,
    Disabling,
    Starting,
    Stopping,
    Deciding,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    Details(ServerId),
    Log(ServerId),
    Server {
        id: ServerId,
        doing: Doing,
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
pub(super) struct Asking {
    next: u64,
    open: BTreeMap<u64, Purpose>,
}

impl Asking {
    pub(super) fn request(&mut self, request: UpstreamRequest, purpose: Purpose, actions: &mut Vec<Action>) {
        self.push(Ask::Request(Box::new(request)), purpose, actions);
    }

    pub(super) fn decide(&mut self, decision: UpstreamDecision, purpose: Purpose, actions: &mut Vec<Action>) {
        self.push(Ask::Decision(Box::new(decision)), purpose, actions);
    }

    fn push(&mut self, ask: Ask, purpose: Purpose, actions: &mut Vec<Action>) {
        self.next += 1;
        self.open.insert(self.next, purpose);
        actions.push(Action::Upstream { ticket: self.next, ask });
    }

    pub(super) fn close(&mut self, ticket: u64) -> Option<Purpose> {
        self.open.remove(&ticket)
    }

    pub(super) fn is_open(&self, purpose: &Purpose) -> bool {
        self.open.values().any(|open| open == purpose)
    }

    /// The pending action on a server.
    pub(super) fn doing(&self, server: &ServerId) -> Option<Doing> {
        self.open.values().find_map(|open| match open {
            Purpose::Server { id, doing } if id == server => Some(*doing),
            _ => None,
        })
    }
}
