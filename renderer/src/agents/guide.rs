//! The setup guide for agents, with the same text as the documentation.

use crate::{markdown::markdown_ui, widgets::modal_frame};
use canvas::theme::WorkbenchTheme;
use egui::{Context, Id};

/// The supported clients, in one line.
pub(crate) const SUPPORTED_CLIENTS: &str = "Claude, VS Code, Cursor, or any other MCP client.";

const GUIDE_TEXT: &str = include_str!("../../../docs/guide/agents.md");

/// Returns `false` when the guide closes.
pub(crate) fn setup_guide_ui(context: &Context, theme: &WorkbenchTheme) -> bool {
    let page = egui::Modal::new(Id::unique("setup guide")).frame(modal_frame(context));
    let response = page.show(context, |ui| {
        let room = context.content_rect();
        ui.set_width(680.0_f32.min(room.width() - 80.0));
        egui::ScrollArea::vertical()
            .max_height((room.height() - 140.0).max(120.0))
            .auto_shrink([false, true])
            .show(ui, |ui| markdown_ui(ui, theme, GUIDE_TEXT));
        ui.add_space(8.0);
        !ui.button("Close").clicked()
    });
    response.inner && !response.should_close()
}
