//! Pending requests to main, each with its purpose.

use crate::{
    main_request::MainRequest,
    view::{ManagedServerResponse, WindowAction},
};
use shared_protocol::{Refusal, decisions::WindowRequest, request::Request, upstreams::ServerId};
use std::collections::BTreeMap;

/// The effect of an answer outside this panel.
#[derive(Debug)]
pub(crate) enum ServerPanelOutcome {
    Nothing,
    Notify(String, Vec<String>),
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
    /// Sends a request or a decision.
    pub(super) fn send<R: Request>(
        &mut self,
        request: R,
        purpose: ServerRequestPurpose,
        respond: impl Fn(R::Response) -> ManagedServerResponse + 'static,
        actions: &mut Vec<WindowAction>,
    ) where
        WindowRequest: From<R::Frame>,
    {
        self.next += 1;
        self.open.insert(self.next, purpose);
        let number = self.next;
        actions.push(WindowAction::Request(MainRequest::new(request, move |result| {
            let response = result.map_or_else(ManagedServerResponse::Refused, &respond);
            Some(WindowAction::Upstream { request: number, response })
        })));
    }

    pub(super) fn close(&mut self, request: u64) -> Option<ServerRequestPurpose> {
        self.open.remove(&request)
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
