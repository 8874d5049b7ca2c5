//! Sends requests and decisions about managed servers and handles the responses.

use super::{Pending, Workbench};
use crate::{
    panel_id::PanelId,
    panels::{
        notices::Tone,
        upstreams::{Outcome, Way},
    },
    view::Ask,
};
use shared_protocol::{
    Refusal,
    messages::{Answer, Request},
};

impl Workbench {
    pub(super) fn ask_upstream(&mut self, ticket: u64, ask: Ask) {
        let decision = match ask {
            Ask::Request(request) => {
                return self.ask(Request::Upstream(*request), Pending::Upstream(ticket));
            }
            Ask::Decision(decision) => *decision,
        };
        match self.link.upstream(decision) {
            Ok(id) => drop(self.pending.insert(id, Pending::Upstream(ticket))),
            Err(error) => {
                self.panels.upstreams.lost(ticket);
                let more = vec!["Nothing was decided. Try again in a moment.".to_owned()];
                self.notices.tell(Tone::Bad, super::perform::capitalised(&format!("{error}.")), more);
            }
        }
    }

    pub(super) fn upstream_answered(&mut self, ticket: u64, result: Result<Answer, Refusal>) {
        match self.panels.upstreams.answered(ticket, result) {
            Outcome::Nothing => {}
            Outcome::Told(message, more) => self.notices.tell(Tone::Good, message, more),
            Outcome::Refused(refusal) => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn add_upstream(&mut self, way: Way) {
        self.panels.upstreams.add(way);
        self.dock.show(PanelId::Upstreams);
    }
}
