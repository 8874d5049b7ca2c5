//! Starts and follows previews.

use super::Workbench;
use crate::{
    commands::CommandId as Id, panel_id::PanelId, preview_display::preview_target, view::WindowAction,
};
use egui::Context;
use shared_protocol::{
    preview_sessions::{PreviewId, PreviewSessionStatus, PreviewTarget},
    preview_wire::PreviewMode,
    requests::{ClosePreview, RestartPreview, SetPreviewMode, StartPreview, StopPreview},
};
use std::collections::BTreeSet;

impl Workbench {
    /// Forgets the state of sessions that ended.
    pub(super) fn update_previews(&mut self, context: &Context) {
        let sessions: Vec<PreviewId> =
            self.replica.previews.sessions.iter().map(|session| session.id).collect();
        self.panels.preview.retain(&sessions);
        // A selection in a component preview is on no board, so the board selection is cleared for the inspector.
        let looked_at = self.view().and_then(|view| view.visible_preview);
        let picked = looked_at
            .filter(|session| !matches!(session.shows, PreviewTarget::Route(_)))
            .and_then(|session| Some((session.id, session.selected.as_ref()?.instance.clone())));
        if picked.is_some() && picked != self.session.picked {
            self.select(BTreeSet::new(), context);
        }
        self.session.picked = picked;
    }

    /// Shows something in an existing session if there is one, else in a new one.
    pub(super) fn start_preview(&mut self, shown: PreviewTarget, context: &Context) {
        self.dock.show(PanelId::Preview);
        // The page stays in view while the canvas gets narrower.
        if let PreviewTarget::Route(page) = &shown {
            self.session.reveal = vec![*page];
        }
        let there = self.replica.previews.sessions.iter().find(|session| session.shows == shown);
        if let Some(session) = there {
            let (id, ended) = (
                session.id,
                matches!(session.state, PreviewSessionStatus::Stopped | PreviewSessionStatus::Failed(_)),
            );
            self.session.visible_preview = Some(id);
            if ended {
                self.request(RestartPreview { session: id }, WindowAction::of_refusal);
            }
            return;
        }
        let screen = self.panels.preview.first_screen(context, self.theme.dark);
        let start = WindowAction::request_then(StartPreview { shows: shown, screen }, WindowAction::LookAt);
        self.perform(start, context);
    }

    pub(super) fn run_preview_command(&mut self, id: Id, context: &Context) {
        let Some(view) = self.view() else { return };
        let session = view.visible_preview.map(|session| (session.id, session.mode));
        match (id, session) {
            (Id::PreviewSelection, _) => {
                if let Some(shown) = preview_target(&view) {
                    self.start_preview(shown, context);
                }
            }
            (Id::PreviewInspect, Some((session, mode))) => {
                let mode =
                    if mode == PreviewMode::Inspect { PreviewMode::Interact } else { PreviewMode::Inspect };
                self.request(SetPreviewMode { session, mode }, WindowAction::of_refusal);
            }
            (Id::PreviewRestart, Some((session, _))) => {
                self.request(RestartPreview { session }, WindowAction::of_refusal);
            }
            (Id::PreviewStop, Some((session, _))) => {
                self.request(StopPreview { session }, WindowAction::of_refusal);
            }
            (Id::PreviewClose, Some((session, _))) => {
                self.request(ClosePreview { session }, WindowAction::of_refusal);
            }
            _ => {}
        }
    }
}
