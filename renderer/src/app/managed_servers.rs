//! Sends requests and decisions about managed servers and handles the responses.

use super::{PendingRequest, Workbench};
use crate::{
    panel_id::PanelId,
    panels::{
        managed_servers::{AddServerMethod, ServerPanelOutcome},
        notices::ToastTone,
    },
    view::ManagedServerCall,
};
use shared_protocol::{
    Refusal,
    messages::{WorkbenchRequest, WorkbenchResponse},
};

impl Workbench {
    pub(super) fn send_server_request(&mut self, ticket: u64, ask: ManagedServerCall) {
        let decision = match ask {
            ManagedServerCall::Request(request) => {
                return self
                    .send_request(WorkbenchRequest::Upstream(*request), PendingRequest::Upstream(ticket));
            }
            ManagedServerCall::Decision(decision) => *decision,
        };
        match self.link.upstream(decision) {
            Ok(id) => drop(self.pending.insert(id, PendingRequest::Upstream(ticket))),
            Err(error) => {
                self.panels.managed_servers.handle_send_failure(ticket);
                let more = vec!["Nothing was decided. Try again in a moment.".to_owned()];
                self.notices.show(ToastTone::Bad, super::perform::capitalised(&format!("{error}.")), more);
            }
        }
    }

    pub(super) fn upstream_answered(&mut self, ticket: u64, result: Result<WorkbenchResponse, Refusal>) {
        match self.panels.managed_servers.handle_response(ticket, result) {
            ServerPanelOutcome::Nothing => {}
            ServerPanelOutcome::Told(message, more) => self.notices.show(ToastTone::Good, message, more),
            ServerPanelOutcome::Refused(refusal) => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn add_upstream(&mut self, way: AddServerMethod) {
        self.panels.managed_servers.add(way);
        self.dock.show(PanelId::Upstreams);
    }
}
