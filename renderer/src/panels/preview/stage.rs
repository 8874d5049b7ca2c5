//! The page in its device frame, centred in the remaining space.

use super::{PreviewPanel, input, outlines, states};
use crate::{
    preview_display::{PreviewDevice, ShownPreviewFrame, screen_for, shown_size},
    view::{ActionQueue, FrameView, WindowAction},
};
use egui::{
    Color32, CornerRadius, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2,
    emath::GuiRounding as _, pos2, vec2,
};
use shared_protocol::{
    preview_sessions::{PreviewGesture, PreviewSessionStatus, PreviewSessionView},
    preview_wire::PreviewScreen,
    requests::SetPreviewScreen,
};

/// Space around the device in points.
const STAGE_MARGIN: f32 = 14.0;
/// Seconds without a resize before another screen is requested.
const RESIZE_SETTLE_SECONDS: f64 = 0.2;
/// Loading states shorter than this many seconds are not shown.
const MIN_LOADING_SECONDS: f64 = 0.25;

#[derive(Debug, Clone, Copy)]
pub(super) struct PageStage {
    pub(super) rect: Rect,
    /// Points of the page.
    pub(super) size: Vec2,
}

impl PageStage {
    pub(super) fn to_page(self, at: Pos2) -> Pos2 {
        let share = (at - self.rect.min) / self.rect.size().max(Vec2::splat(1.0));
        pos2(share.x * self.size.x, share.y * self.size.y)
    }

    /// Converts a rectangle of the page, clipped to its visible part. Returns `None` when nothing is visible.
    pub(super) fn to_window(self, [x, y, width, height]: [f32; 4], clip: [f32; 4]) -> Option<Rect> {
        let of = |[x, y, w, h]: [f32; 4]| Rect::from_min_size(pos2(x, y), vec2(w, h));
        let seen = of([x, y, width, height]).intersect(of(clip));
        let scale = self.rect.size() / self.size.max(Vec2::splat(1.0));
        let rect = Rect::from_min_max(
            self.rect.min + seen.min.to_vec2() * scale,
            self.rect.min + seen.max.to_vec2() * scale,
        );
        let rect = rect.intersect(self.rect);
        (rect.is_finite() && rect.is_positive()).then_some(rect)
    }
}

impl PreviewPanel {
    pub(super) fn stage_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, session: &PreviewSessionView) {
        let choice = self.display_settings(session);
        let edge = edge_of(choice.device);
        let around = ui.available_rect_before_wrap();
        self.room = (around.size() - Vec2::splat(2.0 * (STAGE_MARGIN + edge))).max(Vec2::splat(40.0));
        self.suit(ui, session, view.actions);
        let long = self.in_state_for(ui, session) > MIN_LOADING_SECONDS;
        let pixels_per_point = ui.ctx().pixels_per_point();
        let room = self.room;
        let shot = self.screens.newest_frame(ui.ctx(), session.id);
        let screen = shot.map_or(session.screen, |shot| shot.screen);
        let size = shown_size(screen, choice.zoom, room, pixels_per_point);
        let texture = shot.map(|shot: ShownPreviewFrame<'_>| shot.texture.id());
        let instances = self.screens.instances(session.id);
        let pointer = &mut self.pointer;
        ScrollArea::both().id_salt(("stage", session.id)).auto_shrink(false).show(ui, |ui| {
            let whole = (size + Vec2::splat(2.0 * (STAGE_MARGIN + edge))).max(around.size());
            let (all, _) = ui.allocate_exact_size(whole, Sense::hover());
            let rect = Rect::from_center_size(all.center(), size);
            let rect = Rect::from_min_size(rect.min.round_to_pixels(pixels_per_point), size);
            device_ui(ui, view, rect, edge);
            let stage = PageStage { rect, size: vec2(screen.width as f32, screen.height as f32) };
            if let Some(texture) = texture {
                let dimmed = match session.state {
                    PreviewSessionStatus::Ready => false,
                    PreviewSessionStatus::Reloading | PreviewSessionStatus::Loading => long,
                    _ => true,
                };
                let tint = Color32::WHITE.gamma_multiply(if dimmed { 0.35 } else { 1.0 });
                let all_of_it = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
                ui.painter().image(texture, rect, all_of_it, tint);
            }
            let heard = input::page_ui(ui, session, stage, pointer);
            if texture.is_some() {
                outlines::outlines_ui(ui, view, session, instances, stage, heard.hovered);
            }
            if !heard.events.is_empty() {
                view.act(WindowAction::Gesture(session.id, PreviewGesture::Input(heard.events)));
            }
            states::state_ui(ui, view, session, rect, texture.is_some(), long);
        });
    }

    /// Requests the screen that fits the display settings and the available space.
    fn suit(&mut self, ui: &Ui, session: &PreviewSessionView, actions: &ActionQueue) {
        let choice = self.display_settings(session);
        let pixels_per_point = ui.ctx().pixels_per_point();
        let wanted = screen_for(choice.device, choice.zoom, choice.dark, self.room, pixels_per_point);
        let Some(wanted) = wanted.filter(|wanted| *wanted != session.screen) else {
            self.better_screen = None;
            self.screens_asked.remove(&session.id);
            return;
        };
        if self.screens_asked.get(&session.id) == Some(&wanted) {
            return;
        }
        let now = ui.input(|input| input.time);
        let since = match self.better_screen {
            Some((id, screen, since)) if (id, screen) == (session.id, wanted) => since,
            _ => {
                self.better_screen = Some((session.id, wanted, now));
                now
            }
        };
        let rests = RESIZE_SETTLE_SECONDS - (now - since);
        // A change of colour scheme or device is requested immediately.
        let resized = PreviewScreen { dark: session.screen.dark, ..wanted } != session.screen
            && (choice.device == PreviewDevice::Fit || wanted.quarters != session.screen.quarters);
        if resized && rests > 0.0 {
            ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(rests));
            return;
        }
        self.better_screen = None;
        self.screens_asked.insert(session.id, wanted);
        actions.push(WindowAction::request(SetPreviewScreen { session: session.id, screen: wanted }));
    }

    /// Seconds since the session was first seen in its state.
    fn in_state_for(&mut self, ui: &Ui, session: &PreviewSessionView) -> f64 {
        let (now, word) = (ui.input(|input| input.time), crate::preview_display::state_words(&session.state));
        match self.since {
            Some((id, state, since)) if (id, state) == (session.id, word) => {
                if matches!(session.state, PreviewSessionStatus::Reloading | PreviewSessionStatus::Loading)
                    && now - since < MIN_LOADING_SECONDS
                {
                    ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(MIN_LOADING_SECONDS));
                }
                now - since
            }
            _ => {
                self.since = Some((session.id, word, now));
                ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(MIN_LOADING_SECONDS));
                0.0
            }
        }
    }
}

fn edge_of(device: PreviewDevice) -> f32 {
    match device {
        PreviewDevice::Phone | PreviewDevice::Tablet => 9.0,
        PreviewDevice::Laptop | PreviewDevice::Fit | PreviewDevice::Custom { .. } => 1.0,
    }
}

fn device_ui(ui: &Ui, view: &FrameView<'_>, rect: Rect, edge: f32) {
    let theme = view.theme;
    let corners = CornerRadius::from(if edge > 2.0 { edge * 2.0 } else { 2.0 });
    let frame = rect.expand(edge);
    let shadow = egui::Shadow { offset: [0, 4], blur: 18, spread: 0, color: theme.shadow };
    ui.painter().add(shadow.as_shape(frame, corners));
    let line = Stroke::new(1.0, theme.border_strong);
    ui.painter().rect(frame, corners, theme.surface_card, line, StrokeKind::Outside);
}
