//! A large choice of the welcome page: an icon, a title and a description.

use crate::widgets::{body_font, focus_ring, paint_icon, small_font};
use canvas::theme::WorkbenchTheme;
use egui::{
    Color32, CornerRadius, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};

const PADDING: Vec2 = vec2(14.0, 10.0);
const ICON_SIZE: f32 = 22.0;
const GAP: f32 = 14.0;

#[derive(Clone, Copy)]
pub(super) struct WelcomeChoice {
    pub(super) icon: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
    /// The recommended choice.
    pub(super) is_main: bool,
}

pub(super) fn choice_ui(ui: &mut Ui, theme: &WorkbenchTheme, choice: WelcomeChoice) -> Response {
    let (title_color, text_color) =
        if choice.is_main { (theme.accent_text, theme.accent_text) } else { (theme.text, theme.text_muted) };
    let width = ui.available_width();
    let room = (width - 2.0 * PADDING.x - ICON_SIZE - GAP).max(0.0);
    let title = ui.painter().layout_no_wrap(choice.title.to_owned(), body_font(ui), title_color);
    let text = ui.painter().layout(choice.text.to_owned(), small_font(ui), text_color, room);
    let height = 2.0 * PADDING.y + title.size().y + 2.0 + text.size().y;
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), choice.title));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(choice.text));
    if ui.is_rect_visible(rect) {
        paint_card(ui, theme, rect, &response, choice.is_main);
        let icon = Rect::from_center_size(
            pos2(rect.left() + PADDING.x + ICON_SIZE / 2.0, rect.center().y),
            Vec2::splat(ICON_SIZE),
        );
        let color = if choice.is_main { theme.accent_text } else { theme.accent };
        paint_icon(ui.painter(), choice.icon, icon, color);
        let at = pos2(icon.right() + GAP, rect.top() + PADDING.y);
        let below = at + vec2(0.0, title.size().y + 2.0);
        ui.painter().galley(at, title, title_color);
        ui.painter().galley(below, text, text_color);
    }
    response
}

/// Paints a clickable card with its focus ring.
pub(super) fn paint_card(ui: &Ui, theme: &WorkbenchTheme, rect: Rect, response: &Response, is_main: bool) {
    let is_lit = response.hovered() || response.has_focus();
    let (fill, edge): (Color32, Color32) = match (is_main, is_lit) {
        (true, true) => (theme.accent_hover, theme.accent_hover),
        (true, false) => (theme.accent, theme.accent),
        (false, true) => (theme.hover, theme.accent),
        (false, false) => (theme.surface_card, theme.border),
    };
    ui.painter().rect(rect, CornerRadius::same(8), fill, Stroke::new(1.0, edge), StrokeKind::Inside);
    focus_ring(ui, theme, rect.expand(2.0), response);
}
