//! Starts and follows previews.

use super::{Pending, Workbench};
use crate::{commands::CommandId as Id, panel_id::PanelId, previews::showable};
use egui::Context;
use shared_protocol::{
    messages::Request,
    preview::Mode,
    previews::{PreviewAnswer, PreviewRequest, SessionId, SessionState, Shown},
};
use std::collections::BTreeSet;

impl Workbench {
    /// Forgets the state of sessions that ended.
    pub(super) fn previews_told(&mut self, context: &Context) {
        let sessions: Vec<SessionId> =
            self.replica.previews().sessions.iter().map(|session| session.id).collect();
        self.panels.preview.keep(&sessions);
        // A selection in a component preview is on no board, so the board selection is cleared for the inspector.
        let looked_at = self.view().and_then(|view| view.looked_at);
        let picked = looked_at
            .filter(|session| !matches!(session.shows, Shown::Route(_)))
            .and_then(|session| Some((session.id, session.selected.as_ref()?.instance.clone())));
        if picked.is_some() && picked != self.session.picked {
            self.select(BTreeSet::new(), context);
        }
        self.session.picked = picked;
    }

    /// Shows something in an existing session if there is one, else in a new one.
    pub(super) fn start_preview(&mut self, shown: Shown, context: &Context) {
        self.dock.show(PanelId::Preview);
        // The page stays in view while the canvas gets narrower.
        if let Shown::Route(page) = &shown {
            self.session.reveal = vec![*page];
        }
        let there = self.replica.previews().sessions.iter().find(|session| session.shows == shown);
        if let Some(session) = there {
            let (id, ended) =
                (session.id, matches!(session.state, SessionState::Stopped | SessionState::Failed(_)));
            self.session.looked_at = Some(id);
            if ended {
                self.ask_preview(PreviewRequest::Restart(id));
            }
            return;
        }
        let screen = self.panels.preview.first_screen(context, self.theme.dark);
        let request = PreviewRequest::Start { shows: shown, screen };
        self.ask(Request::Preview(request), Pending::Preview);
    }

    fn ask_preview(&mut self, request: PreviewRequest) {
        self.ask(Request::Preview(request), Pending::Other);
    }

    pub(super) fn preview_answered(&mut self, answer: PreviewAnswer, pending: Option<Pending>) {
        match (answer, pending) {
            (PreviewAnswer::Started(session), Some(Pending::Preview)) => {
                self.session.looked_at = Some(session);
            }
            (PreviewAnswer::Log(lines), Some(Pending::PreviewLog(session))) => {
                self.panels.preview.log.receive(session, lines);
            }
            _ => {}
        }
    }

    pub(super) fn run_preview_command(&mut self, id: Id, context: &Context) {
        let Some(view) = self.view() else { return };
        let session = view.looked_at.map(|session| (session.id, session.mode));
        match (id, session) {
            (Id::PreviewSelection, _) => {
                if let Some(shown) = showable(&view) {
                    self.start_preview(shown, context);
                }
            }
            (Id::PreviewInspect, Some((session, mode))) => {
                let mode = if mode == Mode::Inspect { Mode::Interact } else { Mode::Inspect };
                self.ask_preview(PreviewRequest::Mode { session, mode });
            }
            (Id::PreviewRestart, Some((session, _))) => self.ask_preview(PreviewRequest::Restart(session)),
            (Id::PreviewStop, Some((session, _))) => self.ask_preview(PreviewRequest::Stop(session)),
            (Id::PreviewClose, Some((session, _))) => self.ask_preview(PreviewRequest::Close(session)),
            _ => {}
        }
    }
}
