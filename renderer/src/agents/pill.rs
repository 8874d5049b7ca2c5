//! The MCP pill in the status bar: shows the mode and port of the server. Its popover has the most used controls.

use super::{copy_configuration_ui, mode_ui, mode_words};
use crate::{
    commands::CommandId,
    view::{ActionQueue, FrameView, WindowAction},
    widgets::muted_ui,
};
use canvas::theme::WorkbenchTheme;
use egui::{Button, Color32, Popup, PopupCloseBehavior, Response, RichText, Stroke, Ui, vec2};
use shared_protocol::{
    mcp::{McpMode, McpView},
    requests::{RestartAgents, RotateToken},
};

const WIDTH: f32 = 320.0;

pub(crate) fn pill_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let (text, hint) = labels(view.mcp);
    let button = Button::new(RichText::new(format!("     {text}")).small()).frame_when_inactive(false);
    let response = ui.add(button).accessible_name(text).on_hover_text(hint);
    paint_state_mark(ui, view.theme, view.mcp, &response);
    Popup::from_toggle_button_response(&response)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| popover_ui(ui, view));
}

/// The label and tooltip of the pill.
fn labels(mcp: &McpView) -> (String, String) {
    let port = mcp.port.map(|port| format!(" {port}")).unwrap_or_default();
    match (&mcp.error, mcp.mode) {
        (_, McpMode::Off) => ("MCP off".to_owned(), "Agents cannot connect.".to_owned()),
        (Some(error), _) => ("MCP error".to_owned(), error.clone()),
        (None, McpMode::Observe) => (format!("MCP observing{port}"), mode_words(mcp.mode).1.to_owned()),
        (None, McpMode::Guarded) => (format!("MCP guarded{port}"), mode_words(mcp.mode).1.to_owned()),
    }
}

/// Paints a filled disc when the server listens, a ring when it is off, and a disc with a bar on error. The shape differs
/// so that colour alone never carries the state.
fn paint_state_mark(ui: &Ui, theme: &WorkbenchTheme, mcp: &McpView, response: &Response) {
    let centre = response.rect.left_center() + vec2(11.0, 0.0);
    match (mcp.mode, &mcp.error) {
        (McpMode::Off, _) => {
            ui.painter().circle_stroke(centre, 3.2, Stroke::new(1.5, theme.text_subtle));
        }
        (_, Some(_)) => {
            ui.painter().circle_filled(centre, 4.0, theme.danger);
            let bar = Stroke::new(1.5, theme.surface_panel);
            ui.painter().line_segment([centre - vec2(2.5, 0.0), centre + vec2(2.5, 0.0)], bar);
        }
        (_, None) => drop(ui.painter().circle_filled(centre, 3.5, theme.success)),
    }
}

fn popover_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let (theme, mcp) = (view.theme, view.mcp);
    ui.set_width(WIDTH);
    ui.label(RichText::new("Agents").strong());
    mode_ui(ui, mcp, view.actions);
    muted_ui(ui, theme, mode_words(mcp.mode).1);
    if let Some(error) = &mcp.error {
        ui.add_space(4.0);
        ui.label(RichText::new(error).color(theme.danger));
    }
    if mcp.mode != McpMode::Off {
        ui.add_space(8.0);
        address_ui(ui, theme, mcp, view.actions);
    }
    ui.add_space(8.0);
    ui.label("Copy configuration");
    copy_configuration_ui(ui, view.actions);
    ui.add_space(8.0);
    ui.horizontal_wrapped(|ui| {
        if ui.button("Connect an agent…").clicked() {
            view.act(CommandId::SetupGuide);
        }
        if ui.button("Settings…").clicked() {
            view.act(CommandId::Settings);
        }
    });
}

fn address_ui(ui: &mut Ui, theme: &WorkbenchTheme, mcp: &McpView, actions: &ActionQueue) {
    match &mcp.url {
        Some(url) => {
            ui.add(egui::Label::new(RichText::new(url).monospace()).truncate());
        }
        None => drop(muted_ui(ui, theme, "Not listening.")),
    }
    ui.horizontal_wrapped(|ui| {
        if let Some(url) = &mcp.url
            && ui.button("Copy URL").clicked()
        {
            ui.ctx().copy_text(url.clone());
        }
        if ui
            .button("Restart")
            .on_hover_text("Restarts the server, on the configured port if it is free")
            .clicked()
        {
            actions.push(WindowAction::request(RestartAgents {}));
        }
        let rotate =
            ui.button("Rotate token").on_hover_text("Replaces the token. Every client must read the new one");
        if rotate.clicked() {
            actions.push(WindowAction::request(RotateToken {}));
        }
    });
}

/// The colour of a client's activity mark, shared with the agents panel.
pub(crate) fn activity_colour(theme: &WorkbenchTheme, is_active: bool) -> Color32 {
    if is_active { theme.success } else { theme.text_subtle }
}
