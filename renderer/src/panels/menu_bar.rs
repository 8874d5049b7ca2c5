//! The top bar: menus from the command table, the workspace name, search, and the board tabs.

use crate::{
    commands::{COMMANDS, CommandFacts, CommandId, CommandMenu, find},
    view::{ActionQueue, FrameView, WindowAction},
    widgets::{
        body_font, focus_ring, icon_button_ui, kind_icon, paint_icon, paint_line, paint_severity, small_font,
    },
};
use canvas::theme::WorkbenchTheme;
use egui::{
    Align, Align2, Button, CornerRadius, Layout, Rect, Response, RichText, Role, Sense, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};
use shared_protocol::{Board, messages::ProblemSeverity, text::count_noun};

const TAB_HEIGHT: f32 = 32.0;
const MAX_TAB_WIDTH: f32 = 200.0;
const COUNT_WIDTH: f32 = 30.0;

pub(crate) fn menu_bar_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    view: Option<&FrameView<'_>>,
    is_on: impl Fn(CommandId) -> bool,
    actions: &ActionQueue,
) {
    let facts = CommandFacts::from_view(view);
    egui::MenuBar::new().ui(ui, |ui| {
        for menu in CommandMenu::SHOWN {
            ui.menu_button(menu.title(), |ui| {
                // Menus taller than the window scroll.
                let room = (ui.ctx().content_rect().height() - 60.0).max(80.0);
                egui::ScrollArea::vertical()
                    .max_height(room)
                    .min_scrolled_height(room)
                    .show(ui, |ui| menu_ui(ui, menu, &facts, &is_on, actions));
            });
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let room = ui.available_width();
            search_button_ui(ui, theme, room, actions);
            if let Some(view) = view
                && room > 260.0
            {
                let label = egui::Label::new(RichText::new(view.name).color(theme.text_muted)).truncate();
                ui.add_space(6.0);
                ui.add(label).on_hover_text(view.root);
            }
        });
    });
}

fn menu_ui(
    ui: &mut Ui,
    menu: CommandMenu,
    facts: &CommandFacts<'_>,
    is_on: &impl Fn(CommandId) -> bool,
    actions: &ActionQueue,
) {
    ui.set_min_width(240.0);
    for def in COMMANDS.iter().filter(|def| def.menu == menu) {
        if def.starts_group {
            ui.separator();
        }
        let keys = def.keys.first().map(|keys| keys.text()).unwrap_or_default();
        let button = Button::new(def.caption(facts).into_owned()).shortcut_text(keys).selected(is_on(def.id));
        if ui.add_enabled(def.is_enabled(facts), button).clicked() {
            actions.push(def.id);
        }
    }
}

fn search_button_ui(ui: &mut Ui, theme: &WorkbenchTheme, room: f32, actions: &ActionQueue) {
    if room < 110.0 {
        if icon_button_ui(ui, theme, "search", "Search…").clicked() {
            actions.push(CommandId::CommandPalette);
        }
        return;
    }
    let keys = find(CommandId::CommandPalette)
        .and_then(|def| def.keys.first())
        .map(|keys| keys.text())
        .unwrap_or_default();
    ui.spacing_mut().button_padding = vec2(8.0, 2.0);
    let text = RichText::new("Search…").color(theme.text_muted);
    let keys = if room < 200.0 { String::new() } else { keys };
    let button = Button::new(text)
        .shortcut_text(RichText::new(keys).small().color(theme.text_subtle))
        .min_size(vec2(190.0_f32.min(room - 8.0), 24.0))
        .fill(theme.surface_inset)
        .stroke(egui::Stroke::new(1.0, theme.border));
    if ui.add(button).on_hover_text("Search commands, boards, nodes and types").clicked() {
        actions.push(CommandId::CommandPalette);
    }
}

pub(crate) fn board_tabs_ui(ui: &mut Ui, view: &FrameView<'_>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let room = (ui.available_width() - 34.0).max(0.0);
        egui::ScrollArea::horizontal()
            .max_width(room)
            .auto_shrink([true, true])
            .scroll_bar_visibility(egui::scroll_area::ScrollBarVisibility::AlwaysHidden)
            .show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 2.0;
                    let mut boards: Vec<&Board> = view.snapshot.boards().map(AsRef::as_ref).collect();
                    boards.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.name.cmp(&b.name)));
                    for board in boards {
                        tab_ui(ui, view, board);
                    }
                });
            });
        if icon_button_ui(ui, view.theme, "add", "New board").clicked() {
            view.act(CommandId::NewBoard);
        }
    });
}

fn tab_ui(ui: &mut Ui, view: &FrameView<'_>, board: &Board) {
    let (theme, chosen, held) = (view.theme, view.board == Some(board.id), view.is_board_held(board.id));
    let text = ui.painter().layout_no_wrap(board.title.clone(), body_font(ui), theme.text);
    let problems = view.problem_counts.get(&board.id).copied().unwrap_or_default();
    let count = if problems > 99 { "99+".to_owned() } else { problems.to_string() };
    let count = (problems > 0).then_some(count);
    let spare = if held { 14.0 } else { 0.0 } + if count.is_some() { COUNT_WIDTH } else { 0.0 };
    let width = (text.size().x + 42.0 + spare).min(MAX_TAB_WIDTH);
    let (rect, response) = ui.allocate_exact_size(vec2(width, TAB_HEIGHT), Sense::click());
    let name = if held { format!("{} (held)", board.title) } else { board.title.clone() };
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, chosen, &name));
    let about = match problems {
        0 => "no problems".to_owned(),
        many => count_noun(many, "problem"),
    };
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(about.as_str()));
    if ui.is_rect_visible(rect) {
        paint_tab(ui, view, board, &response, count.as_deref());
    }
    if response.clicked() {
        view.act(WindowAction::OpenBoard(board.id));
    }
    let response = if held {
        response.on_hover_text("This board is held. Choose a version in the banner to edit it again.")
    } else {
        response.on_hover_text(format!("{} · {} board · {about}", board.name, board.kind.as_str()))
    };
    response.context_menu(|ui| {
        for id in [CommandId::RenameBoard, CommandId::ExportBoard, CommandId::RemoveBoard] {
            let Some(def) = find(id) else { continue };
            if ui.button(def.text).clicked() {
                view.act(WindowAction::OpenBoard(board.id));
                view.act(id);
            }
        }
    });
}

fn paint_tab(ui: &Ui, view: &FrameView<'_>, board: &Board, response: &Response, count: Option<&str>) {
    let (theme, rect) = (view.theme, response.rect);
    let (chosen, held) = (view.board == Some(board.id), view.is_board_held(board.id));
    let corners = CornerRadius { nw: 6, ne: 6, sw: 0, se: 0 };
    if chosen {
        ui.painter().rect_filled(rect, corners, theme.canvas);
        let line = Rect::from_min_max(rect.min, pos2(rect.right(), rect.top() + 2.0));
        ui.painter().rect_filled(line, CornerRadius { nw: 2, ne: 2, sw: 0, se: 0 }, theme.accent);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, corners, theme.hover);
    }
    focus_ring(ui, theme, rect, response);
    let color = if chosen || response.hovered() { theme.text } else { theme.text_muted };
    let glyph = Rect::from_center_size(pos2(rect.left() + 18.0, rect.center().y), Vec2::splat(15.0));
    let tint = if chosen { theme.accent } else { theme.text_subtle };
    paint_icon(ui.painter(), kind_icon(board.kind), glyph, tint);
    let mut room = Rect::from_min_max(pos2(glyph.right() + 6.0, rect.top()), rect.max - vec2(10.0, 0.0));
    if held {
        let mark = pos2(room.right() - 4.0, room.center().y);
        paint_severity(ui.painter(), mark, theme, ProblemSeverity::Warning);
        room.max.x -= 14.0;
    }
    if let Some(count) = count {
        let pill = Rect::from_center_size(
            pos2(room.right() - (COUNT_WIDTH - 6.0) / 2.0, room.center().y),
            vec2(COUNT_WIDTH - 6.0, 16.0),
        );
        ui.painter().rect_filled(pill, CornerRadius::same(8), theme.hover);
        paint_line(ui, pill, Align2::CENTER_CENTER, count, small_font(ui), theme.text_muted);
        room.max.x -= COUNT_WIDTH;
    }
    paint_line(ui, room, Align2::LEFT_CENTER, &board.title, body_font(ui), color);
}
