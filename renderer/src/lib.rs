//! The window process: shows a replica of the workspace and sends every change to main as a request.
//!
//! Owns: the shell around the canvas (menus, tabs, panels, dialogs, notices), the connection to the main process, and
//! transient state: half-typed text, open popups, the debounce of presence.
//! Must not know: files, the journal, how a command is decided. The window is not a source of truth: it shows the last
//! state received from main, so killing it at any moment loses nothing.
//!
//! One frame: [`Workbench::receive`] drains the link into the replica, [`Workbench::show_ui`] draws panels and canvas
//! from it, and the commands that features send through their context (`frame`) are executed at the end of the frame.

mod agents;
mod app;
mod app_icon;
mod clipboard;
mod command_facts;
mod command_palette;
mod commands;
mod connect_picker;
mod context_menu;
mod dialogs;
mod dock;
mod features;
mod first_board;
mod fonts;
mod frame;
mod hold_button;
mod link_to;
mod main_connection;
mod main_request;
mod markdown;
mod node_placement;
mod panel_id;
mod panels;
mod picker;
mod presence;
mod preview_display;
mod quick_add;
mod replica;
mod report_problem;
mod saved_state;
mod settings_page;
mod shortcuts_sheet;
mod specs;
mod terraform_answers;
mod tour;
mod trace_links;
mod view;
mod welcome;
mod widgets;
mod wording;

pub use app::Workbench;
pub use main_connection::{MainConnection, MainConnectionEvent};
pub use replica::{Replica, ReplicaUpdate};

use std::{
    os::unix::net::UnixStream,
    sync::{Arc, OnceLock},
};

#[derive(Debug, thiserror::Error)]
pub enum RendererError {
    #[error(
        "cannot open the window: {0}. The window needs a display server with OpenGL; without one, run `draftboard serve`"
    )]
    Window(String),
    /// The connection failed. Main must not treat this as a window that the designer closed.
    #[error("the window lost its connection to the workspace: {0}")]
    Lost(String),
    /// Main ended the connection or stopped. Main reports the reason.
    #[error("the main process ended the connection")]
    Ended,
}

/// Opens the window and shows the workspace that main sends over `channel`, until either side closes it.
pub fn run(channel: UnixStream) -> Result<(), RendererError> {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Draftboard")
        .with_app_id("draftboard")
        .with_inner_size([1440.0, 900.0])
        .with_min_inner_size([800.0, 500.0])
        .with_icon(app_icon::window_icon());
    let options = eframe::NativeOptions { viewport, persist_window: false, ..Default::default() };
    let lost = Arc::new(OnceLock::new());
    let reason = Arc::clone(&lost);
    eframe::run_native(
        "draftboard",
        options,
        Box::new(move |creation| {
            // Without the font thread, characters missing from the bundled fonts stay boxes.
            if let Err(error) = fonts::install(&creation.egui_ctx) {
                tracing::warn!(%error, "system fonts are not available");
            }
            let link = MainConnection::on_stream(channel, creation.egui_ctx.clone())?;
            Ok(Box::new(Workbench::new(&creation.egui_ctx, link).reporting_to(reason)))
        }),
    )
    .map_err(|error| RendererError::Window(error.to_string()))?;
    match lost.get() {
        None => Ok(()),
        Some(Some(why)) => Err(RendererError::Lost(why.clone())),
        Some(None) => Err(RendererError::Ended),
    }
}
