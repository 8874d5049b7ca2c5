//! Pending requests to main, each with its purpose.

use crate::view::{ManagedServerCall, WindowAction};
use shared_protocol::{
    Refusal,
    upstreams::{ManagedServerDecision, ManagedServerRequest, ServerId},
};
use std::collections::BTreeMap;

/// The effect of an answer outside this panel.
#[derive(Debug)]
pub(crate) enum ServerPanelOutcome {
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
pub(super) enum ServerRequestPurpose {
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
pub(super) struct PendingServerRequests {
    next: u64,
    open: BTreeMap<u64, ServerRequestPurpose>,
}

impl PendingServerRequests {
    pub(super) fn request(
        &mut self,
        request: ManagedServerRequest,
        purpose: ServerRequestPurpose,
        actions: &mut Vec<WindowAction>,
    ) {
        self.push(ManagedServerCall::Request(Box::new(request)), purpose, actions);
    }

    pub(super) fn decide(
        &mut self,
        decision: ManagedServerDecision,
        purpose: ServerRequestPurpose,
        actions: &mut Vec<WindowAction>,
    ) {
        self.push(ManagedServerCall::Decision(Box::new(decision)), purpose, actions);
    }

    fn push(
        &mut self,
        ask: ManagedServerCall,
        purpose: ServerRequestPurpose,
        actions: &mut Vec<WindowAction>,
    ) {
        self.next += 1;
        self.open.insert(self.next, purpose);
        actions.push(WindowAction::Upstream { ticket: self.next, ask });
    }

    pub(super) fn close(&mut self, ticket: u64) -> Option<ServerRequestPurpose> {
        self.open.remove(&ticket)
    }

    pub(super) fn is_open(&self, purpose: &ServerRequestPurpose) -> bool {
        self.open.values().any(|open| open == purpose)
    }

    /// The pending action on a server.
    pub(super) fn pending_action(&self, server: &ServerId) -> Option<ServerAction> {
        self.open.values().find_map(|open| match open {
            ServerRequestPurpose::Server { id, doing } if id == server => Some(*doing),
            _ => None,
        })
    }
}
