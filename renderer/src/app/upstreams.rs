//! Sends requests and decisions about managed servers and handles the responses.

use super::{PendingRequest, Workbench};
use crate::{
    panel_id::PanelId,
    panels::{
        notices::ToastTone,
        upstreams::{AddServerMethod, UpstreamOutcome},
    },
    view::UpstreamAsk,
};
use shared_protocol::{
    Refusal,
    messages::{WorkbenchRequest, WorkbenchResponse},
};

impl Workbench {
    pub(super) fn send_upstream_requests(&mut self) {
        for (ticket, ask) in self.panels.upstreams.take_requests() {
            self.ask_upstream(ticket, ask);
        }
    }

    fn ask_upstream(&mut self, ticket: u64, ask: UpstreamAsk) {
        let decision = match ask {
            UpstreamAsk::Request(request) => {
                return self.ask(WorkbenchRequest::Upstream(*request), PendingRequest::Upstream(ticket));
            }
            UpstreamAsk::Decision(decision) => *decision,
        };
        match self.link.upstream(decision) {
            Ok(id) => drop(self.pending.insert(id, PendingRequest::Upstream(ticket))),
            Err(error) => {
                self.panels.upstreams.lost(ticket);
                let more = vec!["Nothing was decided. Try again in a moment.".to_owned()];
                self.notices.tell(ToastTone::Bad, super::perform::capitalised(&format!("{error}.")), more);
            }
        }
    }

    pub(super) fn upstream_answered(&mut self, ticket: u64, result: Result<WorkbenchResponse, Refusal>) {
        match self.panels.upstreams.answered(ticket, result) {
            UpstreamOutcome::Nothing => {}
            UpstreamOutcome::Told(message, more) => self.notices.tell(ToastTone::Good, message, more),
            UpstreamOutcome::Refused(refusal) => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn add_upstream(&mut self, way: AddServerMethod) {
        self.panels.upstreams.add(way);
        self.dock.show(PanelId::Upstreams);
    }
}
