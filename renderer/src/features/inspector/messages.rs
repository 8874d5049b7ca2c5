//! The messages of the inspector and their handling, and the responses of main to its requests.

use super::InspectorFeature;
use crate::frame::{Feature, FeatureContext, MainRequest};
use shared_protocol::{
    PropKey,
    messages::{OperationLogEntry, WorkbenchRequest},
    review::OperationOrigin,
};

pub(crate) type InspectorContext<'a> = FeatureContext<'a, InspectorFeature>;

#[derive(Debug, Clone)]
pub(crate) enum InspectorMessage {
    /// Puts the keyboard into the control of a property of the selection.
    GoToField(PropKey),
    /// Takes over the text that is being typed, before something that needs it, such as saving.
    CommitText,
}

/// The purpose of a request of the inspector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InspectorPending {
    /// The operations that made and changed the selection.
    Operations,
    /// The proposals that these came from.
    Origins,
}

impl Feature for InspectorFeature {
    type Message = InspectorMessage;
    type Pending = InspectorPending;

    fn describe_request(request: &MainRequest) -> InspectorPending {
        match request {
            MainRequest::Request(WorkbenchRequest::Operations(_)) => InspectorPending::Operations,
            _ => InspectorPending::Origins,
        }
    }
}

impl InspectorFeature {
    pub(crate) fn handle(&mut self, message: InspectorMessage, cx: &InspectorContext<'_>) {
        match message {
            InspectorMessage::GoToField(key) => self.focus_request = Some(key),
            InspectorMessage::CommitText => self.commit_text(cx),
        }
    }

    pub(crate) fn received_operations(&mut self, entries: Vec<OperationLogEntry>) {
        self.operations.receive(entries);
    }

    pub(crate) fn received_origins(&mut self, origins: Vec<OperationOrigin>) {
        self.operations.receive_origins(origins);
    }

    /// A request without an answer leaves nothing to wait for.
    pub(crate) fn handle_refusal(&mut self, pending: InspectorPending) {
        match pending {
            InspectorPending::Operations => self.operations.receive(Vec::new()),
            InspectorPending::Origins => {}
        }
    }
}
