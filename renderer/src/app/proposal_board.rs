//! The board with the open proposal on it: as an overlay, side by side, or as a list.

use super::{ReviewMode, Workbench, build_view, dispatch::CommandQueue};
use crate::features::review::ProposalPresentation;
use canvas::{BoardScene, CanvasProposal, ProposalLayer};
use egui::{Context, Key, Panel, Ui};
use shared_protocol::BoardId;

impl Workbench {
    /// Shows the workspace, or the proposal that is edited.
    pub(super) fn update_review_mode(&mut self, context: &Context) {
        let mode = match self.review.edited_workspace() {
            Some(edited) => ReviewMode::Editing(edited.clone()),
            None if self.review.is_reviewing() => ReviewMode::Looking,
            None => ReviewMode::Off,
        };
        let was_editing = self.session.review.edited_workspace().is_some();
        self.session.review = mode;
        if was_editing != self.session.review.edited_workspace().is_some() {
            // Half-typed text belongs to the state that was shown.
            context.memory_mut(|memory| memory.stop_text_input());
            self.prune_missing();
        }
    }

    pub(super) fn board_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        if self.review.open_review().is_none() {
            return self.canvas_ui(ui, queue);
        }
        let blinking = self.is_blinking(ui);
        let look = self.review.look();
        let mut held = false;
        Panel::top("proposal strip").frame(egui::Frame::NONE).show(ui, |ui| {
            let counts = self.badge_counts();
            let view = build_view(&self.replica, &self.session, &self.theme, counts);
            if let (Some(view), context) = (view, ui.ctx().clone()) {
                held = queue.feature(&view, &context, |cx| self.review.strip_ui(ui, cx, blinking));
            }
        });
        // Another presentation has another size, so the camera moves to the proposal again.
        if look != self.review.look() {
            self.review.reveal.everything();
        }
        if held {
            let now = ui.input(|input| input.time);
            self.review.blink_until = self.review.blink_until.max(now + 0.1);
            ui.request_repaint();
        }
        egui::CentralPanel::no_frame().show(ui, |ui| match self.review.look() {
            ProposalPresentation::List => {
                let counts = self.badge_counts();
                let view = build_view(&self.replica, &self.session, &self.theme, counts);
                if let (Some(view), context) = (view, ui.ctx().clone()) {
                    queue.feature(&view, &context, |cx| self.review.list_ui(ui, cx));
                }
            }
            ProposalPresentation::SideBySide => self.side_by_side_ui(ui, queue),
            ProposalPresentation::Overlay if blinking => self.after_ui(ui, None),
            ProposalPresentation::Overlay | ProposalPresentation::Edit => self.canvas_ui(ui, queue),
        });
    }

    fn is_blinking(&self, ui: &Ui) -> bool {
        let Some(opened) = self.review.open_review().filter(|opened| !opened.is_followed) else {
            return false;
        };
        let (now, held) = ui.input(|input| (input.time, input.key_down(Key::B) && !input.modifiers.any()));
        let typing = ui.ctx().text_edit_focused();
        let blinks = (held && !typing) || now < self.review.blink_until;
        if now < self.review.blink_until {
            ui.request_repaint_after(std::time::Duration::from_secs_f64(
                self.review.blink_until - now + 0.01,
            ));
        }
        blinks && opened.look == ProposalPresentation::Overlay && opened.proposed.is_some()
    }

    fn side_by_side_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        let rect = ui.max_rect();
        let gap = 2.0;
        let middle = rect.center().x;
        let left = rect.with_max_x(middle - gap / 2.0);
        let right = rect.with_min_x(middle + gap / 2.0);
        let child = |ui: &mut Ui, rect, salt: &str| {
            let mut child = ui.new_child(egui::UiBuilder::new().max_rect(rect).id_salt(salt));
            child.set_clip_rect(rect.intersect(ui.clip_rect()));
            child
        };
        let before = self.viewport();
        self.canvas_ui(&mut child(ui, left, "before"), queue);
        if self.viewport() != before {
            ui.request_repaint();
        }
        self.after_ui(&mut child(ui, right, "after"), Some(ProposalLayer::After));
        ui.painter().rect_filled(
            rect.with_min_x(left.right()).with_max_x(right.left()),
            0.0,
            self.theme.border_strong,
        );
        for (rect, word) in [(left, "Now"), (right, "As proposed")] {
            self.caption(ui, rect, word);
        }
    }

    fn caption(&self, ui: &Ui, rect: egui::Rect, word: &str) {
        let font = egui::TextStyle::Small.resolve(ui.style());
        let galley = ui.painter().layout_no_wrap(word.to_owned(), font, self.theme.text);
        let place = egui::Rect::from_min_size(
            rect.min + egui::vec2(10.0, 8.0),
            galley.size() + egui::vec2(14.0, 6.0),
        );
        ui.painter().rect_filled(place, place.height() / 2.0, self.theme.surface_raised);
        ui.painter().galley(place.min + egui::vec2(7.0, 3.0), galley, self.theme.text);
    }

    /// The proposed state of the board, read-only, with the camera of the board.
    fn after_ui(&mut self, ui: &mut Ui, layer: Option<ProposalLayer>) {
        let Some(board) = self.session.board else { return };
        let shown = layer.and_then(|layer| self.shown_proposal(board, layer));
        let viewport = self.viewport();
        let Some(proposed) = self.review.open_review().and_then(|opened| opened.proposed.clone()) else {
            return;
        };
        let canvas = self.review.canvas(board, &proposed);
        if let Some(viewport) = viewport.filter(|viewport| *viewport != canvas.viewport()) {
            canvas.set_viewport(viewport);
        }
        canvas.set_minimap(false);
        canvas.set_proposal(shown);
        let selection = std::collections::BTreeSet::new();
        let scene = BoardScene {
            snapshot: &proposed.after,
            board,
            selection: &selection,
            problems: &proposed.problems,
            theme: &self.theme,
            read_only: true,
        };
        canvas.show(ui, &scene);
        let moved = canvas.viewport();
        if viewport != Some(moved)
            && let Some(canvas) = self.canvases.get_mut(&board)
        {
            canvas.set_viewport(moved);
            ui.request_repaint();
        }
    }

    fn viewport(&self) -> Option<shared_protocol::messages::BoardViewport> {
        self.canvases.get(&self.session.board?).map(|canvas| canvas.viewport())
    }

    pub(super) fn shown_proposal(&self, board: BoardId, layer: ProposalLayer) -> Option<CanvasProposal> {
        let opened = self.review.open_review()?;
        let proposed = opened.proposed.as_ref()?.board(board)?;
        let (board, chosen) = (proposed.clone(), opened.accepted_for_drawing().clone());
        Some(CanvasProposal { board, selected: chosen, focus: opened.focus.clone(), layer })
    }
}
