//! The empty state of a workspace without boards: offers a card for each board kind.

use crate::{
    commands::CommandId,
    dialogs::{kind_text, kind_title},
    view::{FrameView, WindowAction},
    widgets::{body_font, focus_ring, kind_icon, muted_ui, paint_icon, paint_line, small_font},
};
use egui::{
    Align2, CornerRadius, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use shared_protocol::BoardKind;

const CARD_SIZE: Vec2 = vec2(360.0, 56.0);

pub(crate) fn first_board_ui(ui: &mut Ui, view: &FrameView<'_>) {
    ui.painter().rect_filled(ui.max_rect(), CornerRadius::ZERO, view.theme.canvas);
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.vertical_centered(|ui| {
            ui.add_space((ui.available_height() * 0.5 - 190.0).max(12.0));
            ui.label(RichText::new("What do you want to draw?").heading());
            ui.add_space(2.0);
            muted_ui(ui, view.theme, "This workspace has no boards yet. Choose the kind of the first one.");
            ui.add_space(14.0);
            for kind in BoardKind::ALL {
                if card_ui(ui, view, kind).clicked() {
                    view.act(WindowAction::NewBoard(kind));
                }
                ui.add_space(4.0);
            }
            ui.add_space(10.0);
            if ui.button("Open another workspace…").clicked() {
                view.act(CommandId::Welcome);
            }
        });
    });
}

fn card_ui(ui: &mut Ui, view: &FrameView<'_>, kind: BoardKind) -> egui::Response {
    let theme = view.theme;
    let size = vec2(CARD_SIZE.x.min(ui.available_width() - 24.0), CARD_SIZE.y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let name = format!("New {} board", kind.as_str());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &name));
    if ui.is_rect_visible(rect) {
        let corners = CornerRadius::same(8);
        let edge = if response.hovered() { theme.accent } else { theme.border };
        ui.painter().rect(rect, corners, theme.surface_card, Stroke::new(1.0, edge), StrokeKind::Inside);
        focus_ring(ui, theme, rect, &response);
        let icon = Rect::from_center_size(pos2(rect.left() + 30.0, rect.center().y), Vec2::splat(22.0));
        paint_icon(ui.painter(), kind_icon(kind), icon, theme.accent);
        let room =
            Rect::from_min_max(pos2(icon.right() + 14.0, rect.top() + 8.0), rect.max - vec2(12.0, 8.0));
        let (upper, lower) = room.split_top_bottom_at_fraction(0.5);
        paint_line(ui, upper, Align2::LEFT_CENTER, kind_title(kind), body_font(ui), theme.text);
        paint_line(ui, lower, Align2::LEFT_CENTER, kind_text(kind), small_font(ui), theme.text_muted);
    }
    response
}
