//! Responses about managed servers.

use super::Workbench;
use crate::{
    panel_id::PanelId,
    panels::{
        notices::ToastTone,
        upstreams::{AddServerMethod, UpstreamOutcome},
    },
    view::UpstreamResponse,
};

impl Workbench {
    pub(super) fn receive_upstream(&mut self, request: u64, response: UpstreamResponse) {
        match self.panels.upstreams.receive(request, response) {
            UpstreamOutcome::Nothing => {}
            UpstreamOutcome::Notify(message, more) => self.notices.tell(ToastTone::Good, message, more),
            UpstreamOutcome::Refused(refusal) => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn add_upstream(&mut self, way: AddServerMethod) {
        self.panels.upstreams.add(way);
        self.dock.show(PanelId::Upstreams);
    }
}
