//! Responses about managed servers.

use super::Workbench;
use crate::{
    panel_id::PanelId,
    panels::{
        managed_servers::{AddServerMethod, ServerPanelOutcome},
        notices::ToastTone,
    },
    view::ManagedServerResponse,
};

impl Workbench {
    pub(super) fn receive_server_response(&mut self, request: u64, response: ManagedServerResponse) {
        match self.panels.managed_servers.receive(request, response) {
            ServerPanelOutcome::Nothing => {}
            ServerPanelOutcome::Notify(message, more) => self.notices.show(ToastTone::Good, message, more),
            ServerPanelOutcome::Refused(refusal) => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn add_server(&mut self, way: AddServerMethod) {
        self.panels.managed_servers.add(way);
        self.dock.show(PanelId::ManagedServers);
    }
}
