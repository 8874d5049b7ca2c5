//! The setup guide for agents, with the same text as the documentation.

use crate::{markdown::markdown_ui, widgets::page_modal_ui};
use canvas::theme::WorkbenchTheme;
use egui::Context;

/// The supported clients, in one line.
pub(crate) const SUPPORTED_CLIENTS: &str = "Claude, VS Code, Cursor, or any other MCP client.";

const GUIDE_TEXT: &str = include_str!("../../../docs/guide/agents.md");

/// Returns `false` when the guide closes.
pub(crate) fn setup_guide_ui(context: &Context, theme: &WorkbenchTheme) -> bool {
    page_modal_ui(context, "setup guide", 680.0, |ui| {
        egui::ScrollArea::vertical()
            .max_height((context.content_rect().height() - 140.0).max(120.0))
            .auto_shrink([false, true])
            .show(ui, |ui| markdown_ui(ui, theme, GUIDE_TEXT));
        ui.add_space(8.0);
        !ui.button("Close").clicked()
    })
}
