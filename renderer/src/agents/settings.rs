//! The MCP server section of the settings page. Main stores the settings; this section shows the latest state and sends
//! requests.

use super::{mode_ui, mode_words};
use crate::{
    view::{ActionQueue, WindowAction},
    widgets::muted_ui,
};
use canvas::theme::WorkbenchTheme;
use egui::{RichText, Ui};
use shared_protocol::{
    mcp::McpView,
    requests::{SetAgentPort, TestConnection},
};

const ALLOWED_PORTS: std::ops::RangeInclusive<u16> = 1024..=65535;

/// Unsent input.
#[derive(Debug, Default)]
pub(crate) struct McpSettingsSection {
    port: Option<u16>,
}

pub(crate) const SEARCH_KEYWORDS: &str = "agents mcp server port token observe guarded off connection health";

impl McpSettingsSection {
    pub(crate) fn show_ui(
        &mut self,
        ui: &mut Ui,
        theme: &WorkbenchTheme,
        mcp: &McpView,
        actions: &ActionQueue,
    ) {
        ui.label("MCP server");
        muted_ui(ui, theme, mode_words(mcp.mode).1);
        mode_ui(ui, mcp, actions);
        ui.add_space(6.0);
        self.port_ui(ui, theme, mcp, actions);
        ui.add_space(6.0);
        ui.label("Settings file");
        ui.horizontal_wrapped(|ui| {
            ui.add(egui::Label::new(RichText::new(&mcp.config_path).small().monospace()).wrap());
            if ui.small_button("Copy").accessible_name("Copy the path of the settings file").clicked() {
                ui.ctx().copy_text(mcp.config_path.clone());
            }
        });
        if !is_loopback(&mcp.bind) {
            let warning = format!(
                "The server listens on {}, so other machines may reach it. Only the token protects it.",
                mcp.bind
            );
            ui.label(RichText::new(warning).color(theme.warning));
        }
        if let Some(error) = &mcp.error {
            ui.label(RichText::new(error).color(theme.danger));
        }
    }

    fn port_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme, mcp: &McpView, actions: &ActionQueue) {
        ui.label("Port");
        ui.horizontal_wrapped(|ui| {
            let mut port = self.port.unwrap_or(mcp.configured_port);
            let field = ui.add(egui::DragValue::new(&mut port).range(ALLOWED_PORTS)).accessible_name("Port");
            if field.changed() {
                self.port = Some(port);
            }
            let changed = self.port.is_some_and(|port| port != mcp.configured_port);
            if ui.add_enabled(changed, egui::Button::new("Use this port")).clicked() {
                actions.push(WindowAction::request(SetAgentPort { port }));
                self.port = None;
            }
            if ui.button("Test connection").on_hover_text("Requests /health as a client would").clicked() {
                actions.push(WindowAction::request_then(TestConnection {}, |text| {
                    WindowAction::notify(text, Vec::new())
                }));
            }
        });
        if let Some(actual) = mcp.port.filter(|actual| *actual != mcp.configured_port) {
            muted_ui(
                ui,
                theme,
                format!("Port {} is in use. The server listens on {actual}.", mcp.configured_port),
            );
        }
    }
}

fn is_loopback(bind: &str) -> bool {
    bind.is_empty() || bind.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
