//! The context that features run in. A feature draws and handles its messages with a [`FeatureContext`]: the view of the
//! workspace, and a [`CommandSender`] for everything that follows. `app` performs the commands and routes each response
//! of main back to the feature that sent the request.
//!
//! ```text
//! panel_ui(&mut self, ui, cx) ── cx.send(message) ──────────► app ─► handle(message, cx)    same feature
//!                             ── cx.request(request, reply) ─► app ─► main ─► receive(reply, …)
//!                             ── cx.act(action) ────────────► app: panels, selection, notices, other features
//! ```
//!
//! Must not know: any feature.

use crate::{
    main_request::MainRequest,
    view::{FrameView, WindowAction},
};
use shared_protocol::{Refusal, decisions::WindowRequest, request::Request};
use std::cell::RefCell;

/// A part of the window with state, messages and requests of its own.
pub(crate) trait Feature {
    /// A message that the feature handles itself.
    type Message;
    /// A response of main to one of its requests.
    type Reply: 'static;
}

pub(crate) enum FeatureCommand<F: Feature> {
    Message(F::Message),
    Request(MainRequest<F::Reply>),
    Action(Box<WindowAction>),
}

/// Collects the commands of one feature until the frame is drawn or the message is handled.
pub(crate) struct CommandSender<F: Feature> {
    commands: RefCell<Vec<FeatureCommand<F>>>,
}

impl<F: Feature> Default for CommandSender<F> {
    fn default() -> Self {
        Self { commands: RefCell::default() }
    }
}

impl<F: Feature> CommandSender<F> {
    pub(crate) fn send(&self, message: F::Message) {
        self.commands.borrow_mut().push(FeatureCommand::Message(message));
    }

    /// Sends a request to main; its response becomes a reply to the feature.
    pub(crate) fn request<R: Request>(
        &self,
        request: R,
        reply: impl Fn(Result<R::Response, Refusal>) -> F::Reply + 'static,
    ) where
        WindowRequest: From<R::Frame>,
    {
        self.request_all([MainRequest::new(request, move |result| Some(reply(result)))]);
    }

    pub(crate) fn request_all(&self, requests: impl IntoIterator<Item = MainRequest<F::Reply>>) {
        self.commands.borrow_mut().extend(requests.into_iter().map(FeatureCommand::Request));
    }

    pub(crate) fn act(&self, action: impl Into<WindowAction>) {
        self.commands.borrow_mut().push(FeatureCommand::Action(Box::new(action.into())));
    }

    pub(crate) fn into_commands(self) -> Vec<FeatureCommand<F>> {
        self.commands.into_inner()
    }
}

/// The surroundings of a feature in one frame.
pub(crate) struct FeatureContext<'a, F: Feature> {
    pub(crate) view: &'a FrameView<'a>,
    pub(crate) egui: &'a egui::Context,
    pub(crate) commands: &'a CommandSender<F>,
}

impl<F: Feature> std::ops::Deref for FeatureContext<'_, F> {
    type Target = CommandSender<F>;

    fn deref(&self) -> &Self::Target {
        self.commands
    }
}
