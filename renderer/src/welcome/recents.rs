//! Recent workspaces: each opens with a click, shows its problem, and can be removed from the list.

use super::choice::paint_card;
use crate::{
    view::{FrameView, WelcomeResponse, WindowAction},
    widgets::{body_font, close_button_ui, muted_ui, paint_line, small_font},
};
use egui::{Align2, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use shared_protocol::{messages::RecentWorkspace, requests::ForgetRecent};

const ROW_HEIGHT: f32 = 46.0;
const PROBLEM_HEIGHT: f32 = 18.0;

/// Returns the path of the chosen workspace.
pub(super) fn recents_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    recents: Option<&[RecentWorkspace]>,
) -> Option<String> {
    let Some(recents) = recents else {
        muted_ui(ui, view.theme, "Loading…");
        return None;
    };
    if recents.is_empty() {
        muted_ui(ui, view.theme, "Workspaces you open appear here.");
        return None;
    }
    let mut chosen = None;
    for recent in recents {
        match recent_ui(ui, view, recent) {
            Some(RecentWorkspaceAction::Open) => chosen = Some(recent.path.clone()),
            Some(RecentWorkspaceAction::Forget) => view.act(WindowAction::welcome(
                ForgetRecent { path: recent.path.clone() },
                WelcomeResponse::Recents,
            )),
            None => {}
        }
    }
    chosen
}

enum RecentWorkspaceAction {
    Open,
    Forget,
}

fn recent_ui(ui: &mut Ui, view: &FrameView<'_>, recent: &RecentWorkspace) -> Option<RecentWorkspaceAction> {
    let theme = view.theme;
    let height = if recent.problem.is_some() { ROW_HEIGHT + PROBLEM_HEIGHT } else { ROW_HEIGHT };
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let mut row = ui.new_child(egui::UiBuilder::new().max_rect(rect).id_salt(&recent.path));
    let card = rect.with_max_x(rect.right() - 26.0);
    let response = row.allocate_rect(card, Sense::click());
    let name = format!("Open {}", recent.name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, row.is_enabled(), &name));
    row.ctx().accesskit_node_builder(response.id, |node| {
        node.set_description(recent.problem.clone().unwrap_or_else(|| recent.path.clone()));
    });
    if ui.is_rect_visible(rect) {
        paint_card(&row, theme, card, &response, false);
        let lines = 2.0 + f32::from(u8::from(recent.problem.is_some()));
        let room = card.shrink2(vec2(12.0, 6.0));
        let line = |index: f32| {
            let step = room.height() / lines;
            Rect::from_min_size(pos2(room.left(), room.top() + step * index), vec2(room.width(), step))
        };
        paint_line(&row, line(0.0), Align2::LEFT_CENTER, &recent.name, body_font(&row), theme.text);
        paint_line(&row, line(1.0), Align2::LEFT_CENTER, &recent.path, small_font(&row), theme.text_muted);
        if let Some(problem) = &recent.problem {
            paint_line(&row, line(2.0), Align2::LEFT_CENTER, problem, small_font(&row), theme.danger);
        }
    }
    let full = recent.problem.as_ref().unwrap_or(&recent.path);
    let is_opened = response.on_hover_text(full).clicked();
    let cross = Rect::from_center_size(pos2(rect.right() - 12.0, rect.center().y), Vec2::splat(20.0));
    let mut end = row.new_child(egui::UiBuilder::new().max_rect(cross));
    if close_button_ui(&mut end, theme, &format!("Remove {} from the list", recent.name)).clicked() {
        return Some(RecentWorkspaceAction::Forget);
    }
    is_opened.then_some(RecentWorkspaceAction::Open)
}
