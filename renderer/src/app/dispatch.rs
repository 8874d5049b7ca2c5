//! Carries commands of features to where they are performed: messages to their feature, requests to main, actions to the
//! window.

use super::{Workbench, build_view};
use crate::{
    features::{
        inspector::{InspectorMessage, InspectorReply},
        review::{ReviewMessage, ReviewReply},
        terraform::TerraformMessage,
    },
    frame::{CommandSender, Feature, FeatureCommand, FeatureContext},
    main_request::MainRequest,
    terraform_answers::TerraformReply,
    view::{ActionQueue, FrameView, WindowAction},
};
use egui::Context;

pub(super) enum FeatureMessage {
    Inspector(InspectorMessage),
    Review(ReviewMessage),
    Terraform(TerraformMessage),
}

pub(super) enum FeatureReply {
    Inspector(Box<InspectorReply>),
    Review(Box<ReviewReply>),
    Terraform(Box<TerraformReply>),
}

pub(super) enum WindowCommand {
    Message(FeatureMessage),
    Reply(FeatureReply),
    Request(MainRequest<WindowCommand>),
    Action(WindowAction),
}

macro_rules! routes {
    ($($feature:ident: $message:ty, $reply:ty;)*) => {$(
        impl From<$message> for FeatureMessage {
            fn from(message: $message) -> Self {
                Self::$feature(message)
            }
        }

        impl From<$reply> for FeatureReply {
            fn from(reply: $reply) -> Self {
                Self::$feature(Box::new(reply))
            }
        }
    )*};
}

routes! {
    Inspector: InspectorMessage, InspectorReply;
    Review: ReviewMessage, ReviewReply;
    Terraform: TerraformMessage, TerraformReply;
}

/// Commands in the order of sending.
#[derive(Default)]
pub(super) struct CommandQueue(Vec<WindowCommand>);

impl CommandQueue {
    pub(super) fn act(&mut self, action: impl Into<WindowAction>) {
        self.0.push(WindowCommand::Action(action.into()));
    }

    pub(super) fn send(&mut self, message: impl Into<FeatureMessage>) {
        self.0.push(WindowCommand::Message(message.into()));
    }

    /// Takes over the actions that were requested since the last time.
    pub(super) fn collect(&mut self, actions: &ActionQueue) {
        self.0.extend(actions.take().into_iter().map(WindowCommand::Action));
    }

    /// Runs code of a feature with a context of its own.
    pub(super) fn feature<F, R>(
        &mut self,
        view: &FrameView<'_>,
        egui: &Context,
        run: impl FnOnce(&FeatureContext<'_, F>) -> R,
    ) -> R
    where
        F: Feature<Message: Into<FeatureMessage>, Reply: Into<FeatureReply>>,
    {
        let result = self.sender(|commands| run(&FeatureContext { view, egui, commands }));
        self.collect(view.actions);
        result
    }

    pub(super) fn sender<F, R>(&mut self, run: impl FnOnce(&CommandSender<F>) -> R) -> R
    where
        F: Feature<Message: Into<FeatureMessage>, Reply: Into<FeatureReply>>,
    {
        let sender = CommandSender::default();
        let result = run(&sender);
        self.0.extend(sender.into_commands().into_iter().map(|command| match command {
            FeatureCommand::Message(message) => WindowCommand::Message(message.into()),
            FeatureCommand::Request(request) => {
                WindowCommand::Request(request.map(|reply| WindowCommand::Reply(reply.into())))
            }
            FeatureCommand::Action(action) => WindowCommand::Action(*action),
        }));
        result
    }
}

impl Workbench {
    pub(super) fn execute(&mut self, queue: CommandQueue, context: &Context) {
        for command in queue.0 {
            self.execute_one(command, context);
        }
    }

    pub(super) fn execute_one(&mut self, command: WindowCommand, context: &Context) {
        match command {
            WindowCommand::Message(message) => self.deliver(message, context),
            WindowCommand::Reply(reply) => self.deliver_reply(reply, context),
            WindowCommand::Request(request) => self.send(request),
            WindowCommand::Action(action) => self.perform(action, context),
        }
    }

    /// Hands a response to the feature that sent the request.
    fn deliver_reply(&mut self, reply: FeatureReply, context: &Context) {
        let mut queue = CommandQueue::default();
        match reply {
            FeatureReply::Inspector(reply) => {
                queue.sender(|commands| self.inspector.receive(*reply, commands));
            }
            FeatureReply::Review(reply) => {
                let view = build_view(&self.replica, &self.session, &self.theme, self.badge_counts());
                if let Some(view) = view {
                    queue.feature(&view, context, |cx| self.review.receive(*reply, cx));
                }
            }
            FeatureReply::Terraform(reply) => {
                let answers = &mut self.session.terraform;
                queue.sender(|commands| self.terraform.receive(*reply, answers, context, commands));
            }
        }
        self.execute(queue, context);
    }

    /// Hands a message to its feature and executes the commands that follow from it. Without a workspace there is no
    /// view, and so nothing that a message could be about.
    pub(super) fn deliver(&mut self, message: impl Into<FeatureMessage>, context: &Context) {
        let mut queue = CommandQueue::default();
        let Some(view) = build_view(&self.replica, &self.session, &self.theme, self.badge_counts()) else {
            return;
        };
        match message.into() {
            FeatureMessage::Inspector(message) => {
                queue.feature(&view, context, |cx| self.inspector.handle(message, cx));
            }
            FeatureMessage::Review(message) => {
                queue.feature(&view, context, |cx| self.review.handle(message, cx));
            }
            FeatureMessage::Terraform(message) => {
                queue.feature(&view, context, |cx| self.terraform.handle(message, cx));
            }
        }
        self.execute(queue, context);
    }
}
