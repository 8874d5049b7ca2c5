//! A button that must be held down to confirm, which prevents accidental clicks. It fills while held; releasing it early
//! cancels.

use canvas::theme::WorkbenchTheme;
use egui::{
    Align2, CornerRadius, Event, Id, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    vec2,
};

/// The time in seconds after which a held button confirms.
const HOLD_SECONDS: f64 = 0.8;

#[derive(Default)]
pub(crate) struct HoldButton {
    since: Option<(Id, f64)>,
    wants_keyboard: bool,
}

impl HoldButton {
    /// Moves keyboard focus to the button when it is next drawn.
    pub(crate) fn focus(&mut self) {
        self.wants_keyboard = true;
    }

    /// Returns whether the pointer or the space bar is held on the button. A key press that began before the button had
    /// focus does not count.
    fn is_held(&self, ui: &Ui, response: &Response) -> bool {
        let was_held = self.since.is_some_and(|(id, _)| id == response.id);
        let is_pressed = |event: &Event| matches!(event, Event::Key { key: Key::Space, pressed: true, repeat: false, modifiers, .. } if modifiers.is_none());
        let by_key = response.has_focus()
            && ui.input(|input| {
                input.key_down(Key::Space) && (was_held || input.events.iter().any(is_pressed))
            });
        ui.is_enabled() && (response.is_pointer_button_down_on() || by_key)
    }

    /// Returns `true` only in the frame in which the hold completes.
    pub(crate) fn button_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme, text: &str, name: &str) -> bool {
        let font = egui::TextStyle::Button.resolve(ui.style());
        let galley = ui.painter().layout_no_wrap(text.to_owned(), font, theme.danger);
        let size = vec2((galley.size().x + 24.0).min(ui.available_width()), 28.0);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
        let now = ui.input(|input| input.time);
        if std::mem::take(&mut self.wants_keyboard) {
            response.request_focus();
        }
        let held = self.is_held(ui, &response);
        let since = match (held, self.since) {
            (true, Some((id, since))) if id == response.id => Some(since),
            (true, _) => Some(now),
            (false, _) => None,
        };
        if since.is_some() || self.since.is_some_and(|(id, _)| id == response.id) {
            self.since = since.map(|since| (response.id, since));
        }
        let share = since.map_or(0.0, |since| ((now - since) / HOLD_SECONDS).clamp(0.0, 1.0));
        let corners = CornerRadius::same(6);
        let fill = if response.hovered() { theme.hover } else { theme.surface_card };
        ui.painter().rect_filled(rect, corners, fill);
        let filled = Rect::from_min_size(rect.min, vec2(rect.width() * share as f32, rect.height()));
        ui.painter().rect_filled(filled, corners, theme.danger.gamma_multiply(0.25));
        ui.painter().rect_stroke(rect, corners, Stroke::new(1.0, theme.danger), StrokeKind::Inside);
        crate::widgets::focus_ring(ui, theme, rect, &response);
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect).min;
        ui.painter_at(rect).galley(at, galley, theme.danger);
        if share > 0.0 && share < 1.0 {
            ui.request_repaint();
        }
        if share >= 1.0 {
            self.since = None;
        }
        share >= 1.0
    }
}
