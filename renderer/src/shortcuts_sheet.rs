//! The shortcuts sheet (`?`): lists every shortcut of the command table.

use crate::{
    commands::{COMMANDS, CommandMenu},
    widgets::page_modal_ui,
};
use canvas::theme::WorkbenchTheme;
use egui::{Context, RichText, Ui};

/// Pointer actions on the canvas. Keys come from the command table.
const POINTER_ACTIONS: &[(&str, &str)] = &[
    ("Pan", "Space+drag, scroll"),
    ("Zoom to the pointer", "Ctrl+scroll"),
    ("Add to the selection", "Shift+click"),
    ("Duplicate", "Alt+drag"),
    ("Quick add", "Double click"),
];

/// Returns `false` when the sheet closes.
pub(crate) fn shortcuts_sheet_ui(context: &Context, theme: &WorkbenchTheme) -> bool {
    page_modal_ui(context, "shortcuts", 720.0, |ui| {
        ui.label(RichText::new("Keyboard shortcuts").heading());
        ui.add_space(8.0);
        let height = context.content_rect().height() - 200.0;
        egui::ScrollArea::vertical().max_height(height).show(ui, |ui| {
            ui.spacing_mut().interact_size.y = 20.0;
            ui.spacing_mut().item_spacing = egui::vec2(32.0, 2.0);
            ui.columns(2, |columns| {
                for menu in [CommandMenu::File, CommandMenu::Edit, CommandMenu::Help] {
                    section_ui(&mut columns[0], theme, menu);
                }
                for menu in [CommandMenu::Arrange, CommandMenu::Board, CommandMenu::View] {
                    section_ui(&mut columns[1], theme, menu);
                }
                heading_ui(&mut columns[0], theme, "Canvas");
                line_ui(&mut columns[0], theme, "Nudge (Shift: by 10)", "Arrows");
                for (what, how) in POINTER_ACTIONS {
                    line_ui(&mut columns[0], theme, what, how);
                }
            });
        });
        ui.add_space(8.0);
        !ui.button("Close").clicked()
    })
}

fn section_ui(ui: &mut Ui, theme: &WorkbenchTheme, menu: CommandMenu) {
    heading_ui(ui, theme, menu.title());
    for def in COMMANDS.iter().filter(|def| def.menu == menu && !def.keys.is_empty()) {
        let keys: Vec<String> = def.keys.iter().map(|keys| keys.text()).collect();
        line_ui(ui, theme, def.text.trim_end_matches('…'), &keys.join(" or "));
    }
}

fn heading_ui(ui: &mut Ui, theme: &WorkbenchTheme, text: &str) {
    ui.add_space(6.0);
    ui.label(RichText::new(text).small().color(theme.text_muted));
}

fn line_ui(ui: &mut Ui, theme: &WorkbenchTheme, what: &str, how: &str) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        ui.label(what);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add_space(10.0);
            ui.label(RichText::new(how).small().color(theme.text_muted));
        });
    });
}
