//! The agent controls: the MCP pill in the status bar with its popover, the settings and the setup guide. The panel that
//! lists the clients is `panels/agents.rs`.

pub(crate) mod approvals;
pub(crate) mod guide;
pub(crate) mod pill;
pub(crate) mod settings;

use crate::view::{ActionQueue, WindowAction};
use egui::Ui;
use shared_protocol::{
    mcp::{McpMode, McpView},
    requests::{ReadClientConfig, SetAgentMode},
};

/// Clients whose configuration can be copied: the id for main and the display name.
const CONFIGURABLE_CLIENTS: [(&str, &str); 4] = [
    ("claude-desktop", "Claude Desktop"),
    ("claude-code", "Claude Code"),
    ("vscode", "VS Code"),
    ("cursor", "Cursor"),
];

/// The name and description of a mode.
fn mode_words(mode: McpMode) -> (&'static str, &'static str) {
    match mode {
        McpMode::Off => ("Off", "Agents cannot connect."),
        McpMode::Observe => ("Observe", "Agents read the workspace and change nothing."),
        McpMode::Guarded => {
            ("Guarded", "Agents read the workspace and propose changes. Nothing changes until you accept.")
        }
    }
}

fn mode_ui(ui: &mut Ui, mcp: &McpView, actions: &ActionQueue) {
    ui.horizontal_wrapped(|ui| {
        for mode in McpMode::ALL {
            let (word, text) = mode_words(mode);
            let chosen = ui.selectable_label(mcp.mode == mode, word).on_hover_text(text);
            if chosen.clicked() && mcp.mode != mode {
                actions.push(WindowAction::request(SetAgentMode { mode }));
            }
        }
    });
}

fn copy_configuration_ui(ui: &mut Ui, actions: &ActionQueue) {
    ui.horizontal_wrapped(|ui| {
        for (client, name) in CONFIGURABLE_CLIENTS {
            let button = ui.button(name).accessible_name(format!("Copy configuration for {name}"));
            if button.on_hover_text(format!("Copies the MCP configuration for {name}")).clicked() {
                let read = ReadClientConfig { client: client.to_owned() };
                actions.push(WindowAction::request_then(read, WindowAction::CopyConfiguration));
            }
        }
    });
}
