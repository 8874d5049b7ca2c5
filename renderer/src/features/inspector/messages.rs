//! The messages of the inspector and their handling, and the responses of main to its requests.

use super::InspectorFeature;
use crate::{
    frame::{CommandSender, Feature, FeatureContext},
    view::WindowAction,
};
use shared_protocol::{PropKey, Refusal, messages::OperationLogEntry, review::ProposalOfOperation};

pub(crate) type InspectorContext<'a> = FeatureContext<'a, InspectorFeature>;

#[derive(Debug, Clone)]
pub(crate) enum InspectorMessage {
    /// Puts the keyboard into the control of a property of the selection.
    GoToField(PropKey),
    /// Takes over the text that is being typed, before something that needs it, such as saving.
    CommitText,
}

#[derive(Debug)]
pub(crate) enum InspectorReply {
    /// The operations that made and changed the selection.
    Operations(Result<Vec<OperationLogEntry>, Refusal>),
    /// The proposals that these came from.
    Origins(Result<Vec<ProposalOfOperation>, Refusal>),
}

impl Feature for InspectorFeature {
    type Message = InspectorMessage;
    type Reply = InspectorReply;
}

impl InspectorFeature {
    pub(crate) fn handle(&mut self, message: InspectorMessage, cx: &InspectorContext<'_>) {
        match message {
            InspectorMessage::GoToField(key) => self.focus_request = Some(key),
            InspectorMessage::CommitText => self.commit_text(cx),
        }
    }

    pub(crate) fn receive(&mut self, reply: InspectorReply, commands: &CommandSender<Self>) {
        match reply {
            InspectorReply::Operations(Ok(entries)) => self.operations.receive(entries),
            InspectorReply::Origins(Ok(origins)) => {
                self.operations.origins.extend(origins.into_iter().map(|origin| (origin.revision, origin)));
            }
            // A request without an answer leaves nothing to wait for.
            InspectorReply::Operations(Err(refusal)) => {
                self.operations.receive(Vec::new());
                commands.act(WindowAction::Refuse(refusal));
            }
            InspectorReply::Origins(Err(refusal)) => commands.act(WindowAction::Refuse(refusal)),
        }
    }
}
