//! Pending requests to main, each with its purpose.

use crate::{
    main_request::MainRequest,
    view::{FrameView, UpstreamResponse, WindowAction},
};
use shared_protocol::{Refusal, decisions::WindowRequest, request::Request, upstreams::ServerId};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ops::Deref,
};

/// The effect of an answer outside this panel.
#[derive(Debug)]
pub(crate) enum UpstreamOutcome {
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

impl UpstreamsContext<'_> {
    /// Sends a request or a decision.
    pub(super) fn send<R: Request>(
        &self,
        request: R,
        purpose: UpstreamPurpose,
        respond: impl Fn(R::Response) -> UpstreamResponse + 'static,
    ) where
        WindowRequest: From<R::Frame>,
    {
        let number = self.next.get() + 1;
        self.next.set(number);
        self.open.borrow_mut().insert(number, purpose);
        self.view.act(WindowAction::Request(MainRequest::new(request, move |result| {
            let response = Box::new(result.map_or_else(UpstreamResponse::Refused, &respond));
            Some(WindowAction::Upstream { request: number, response })
        })));
    }
}

impl PendingUpstreamRequests {
    pub(super) fn close(&self, request: u64) -> Option<UpstreamPurpose> {
        self.open.borrow_mut().remove(&request)
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
