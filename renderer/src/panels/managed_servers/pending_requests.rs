//! Pending requests to main, each with its purpose.

use crate::{
    main_request::MainRequest,
    view::{FrameView, ManagedServerResponse, WindowAction},
};
use shared_protocol::{
    Refusal,
    decisions::{SetServerSecret, WindowRequest},
    managed_servers::{ServerDetails, ServerId, TypedSecret},
    request::Request,
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ops::Deref,
};

/// The effect of an answer outside this panel.
#[derive(Debug)]
pub(crate) enum ServerPanelOutcome {
    Nothing,
    Notify(String, Vec<String>),
    Refused(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingServerAction {
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
        doing: PendingServerAction,
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
    next: Cell<u64>,
    open: RefCell<BTreeMap<u64, ServerRequestPurpose>>,
}

/// The surroundings of a page: the frame and the pending requests.
pub(super) struct ManagedServersContext<'a> {
    pub(super) view: &'a FrameView<'a>,
    pub(super) asking: &'a PendingServerRequests,
}

impl Deref for ManagedServersContext<'_> {
    type Target = PendingServerRequests;

    fn deref(&self) -> &Self::Target {
        self.asking
    }
}

impl ManagedServersContext<'_> {
    pub(super) fn send<R: Request>(
        &self,
        request: R,
        purpose: ServerRequestPurpose,
        respond: impl Fn(R::Response) -> ManagedServerResponse + 'static,
    ) where
        WindowRequest: From<R::Frame>,
    {
        let number = self.next.get() + 1;
        self.next.set(number);
        self.open.borrow_mut().insert(number, purpose);
        self.view.act(WindowAction::Request(MainRequest::new(request, move |result| {
            let response = Box::new(result.map_or_else(ManagedServerResponse::Refused, &respond));
            Some(WindowAction::ManagedServer { request: number, response })
        })));
    }

    /// Starts, stops, disables or decides about a server.
    pub(super) fn control<R: Request<Response = ServerDetails>>(
        &self,
        server: &ServerId,
        doing: PendingServerAction,
        request: R,
    ) where
        WindowRequest: From<R::Frame>,
    {
        let purpose = ServerRequestPurpose::Server { id: server.clone(), doing };
        self.send(request, purpose, ManagedServerResponse::Server);
    }

    pub(super) fn set_server_secret(&self, server: &ServerId, part: &str, secret: TypedSecret) {
        let decision = SetServerSecret { server: server.clone(), part: part.to_owned(), secret };
        let purpose = ServerRequestPurpose::Secret { id: Some(server.clone()) };
        self.send(decision, purpose, ManagedServerResponse::Server);
    }
}

impl PendingServerRequests {
    pub(super) fn close(&self, request: u64) -> Option<ServerRequestPurpose> {
        self.open.borrow_mut().remove(&request)
    }

    pub(super) fn is_open(&self, purpose: &ServerRequestPurpose) -> bool {
        self.open.borrow().values().any(|open| open == purpose)
    }

    pub(super) fn doing(&self, server: &ServerId) -> Option<PendingServerAction> {
        self.open.borrow().values().find_map(|open| match open {
            ServerRequestPurpose::Server { id, doing } if id == server => Some(*doing),
            _ => None,
        })
    }
}
