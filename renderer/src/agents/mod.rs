//! The agents' side as a person sees it: the pill in the status bar with its popover, the page of settings, the guide.
//! The panel that lists the clients is `panels/agents.rs`.

pub(crate) mod approvals;
pub(crate) mod guide;
pub(crate) mod pill;
pub(crate) mod settings;

use crate::view::Action;
use egui::Ui;
use shared_protocol::{
    mcp::{McpMode, McpRequest, McpView},
    messages::Request,
};

/// Client programs whose configuration can be copied: the word that main knows, and what people call it.
const CLIENTS: [(&str, &str); 4] = [
    ("claude-desktop", "Claude Desktop"),
    ("claude-code", "Claude Code"),
    ("vscode", "VS Code"),
    ("cursor", "Cursor"),
];

pub(crate) fn ask(actions: &mut Vec<Action>, request: McpRequest) {
    actions.push(Action::Ask(Request::Mcp(request)));
}

/// What a mode means, in a line.
fn mode_words(mode: McpMode) -> (&'static str, &'static str) {
    match mode {
        McpMode::Off => ("Off", "No agent is let in."),
        McpMode::Observe => ("Observe", "Agents read what you see and change nothing."),
        McpMode::Guarded => {
            ("Guarded", "Agents read, and propose changes. Nothing changes before you accept it.")
        }
    }
}

fn mode_ui(ui: &mut Ui, mcp: &McpView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        for mode in McpMode::ALL {
            let (word, text) = mode_words(mode);
            let chosen = ui.selectable_label(mcp.mode == mode, word).on_hover_text(text);
            if chosen.clicked() && mcp.mode != mode {
                ask(actions, McpRequest::SetMode(mode));
            }
        }
    });
}

fn copy_configuration_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        for (client, name) in CLIENTS {
            let button = ui.button(name).accessible_name(format!("Copy configuration for {name}"));
            if button.on_hover_text(format!("Copies what {name} needs to find Draftboard")).clicked() {
                ask(actions, McpRequest::ClientConfig { client: client.to_owned() });
            }
        }
    });
}
