//! The context that features run in. A feature draws and handles its messages with a [`FeatureContext`]: the view of the
//! workspace, and a [`CommandSender`] for everything that follows. `app` performs the commands and routes each response
//! of main back to the feature that sent the request.
//!
//! ```text
//! panel_ui(&mut self, ui, cx) ── cx.send(message) ────► app ─► handle(message, cx)    same feature
//!                             ── cx.request(request) ─► app ─► main ─► responded(response, pending, …)
//!                             ── cx.push_action(action) ──────► app: panels, selection, notices, other features
//! ```
//!
//! Must not know: any feature.

use crate::view::{FrameView, WindowAction};
use shared_protocol::{messages::WorkbenchRequest, review::ReviewRequest, terraform::TerraformRequest};
use std::cell::RefCell;

/// A part of the window with state, messages and requests of its own.
pub(crate) trait Feature {
    /// A message that the feature handles itself.
    type Message;
    /// The purpose of a request, kept until main responds.
    type Pending;

    fn describe_request(request: &MainRequest) -> Self::Pending;
}

/// A request to main. Decisions about proposals have a channel of their own, which only the window has.
#[derive(Debug, Clone)]
pub(crate) enum MainRequest {
    Request(WorkbenchRequest),
    Review(ReviewRequest),
}

impl From<WorkbenchRequest> for MainRequest {
    fn from(request: WorkbenchRequest) -> Self {
        Self::Request(request)
    }
}

impl From<TerraformRequest> for MainRequest {
    fn from(request: TerraformRequest) -> Self {
        Self::Request(WorkbenchRequest::Terraform(request))
    }
}

impl From<ReviewRequest> for MainRequest {
    fn from(request: ReviewRequest) -> Self {
        Self::Review(request)
    }
}

/// One command of a feature, in the order of sending.
pub(crate) enum FeatureCommand<F: Feature> {
    Message(F::Message),
    Request { request: MainRequest, pending: F::Pending },
    Action(WindowAction),
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

    pub(crate) fn request(&self, request: impl Into<MainRequest>) {
        let request = request.into();
        let pending = F::describe_request(&request);
        self.commands.borrow_mut().push(FeatureCommand::Request { request, pending });
    }

    pub(crate) fn push_action(&self, action: WindowAction) {
        self.commands.borrow_mut().push(FeatureCommand::Action(action));
    }

    /// Draws a part of a feature that still pushes actions onto a list.
    pub(crate) fn with_actions<R>(&self, draw: impl FnOnce(&mut Vec<WindowAction>) -> R) -> R {
        let mut actions = Vec::new();
        let drawn = draw(&mut actions);
        self.commands.borrow_mut().extend(actions.into_iter().map(FeatureCommand::Action));
        drawn
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
