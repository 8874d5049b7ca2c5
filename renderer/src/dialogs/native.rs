//! Native file dialogs, each on its own thread.

use super::start_folder;
use crate::view::PickedPathPurpose;
use crossbeam_channel::{Receiver, bounded};
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// A dialog that ends faster than this never opened: no person cancels that fast.
const MIN_DIALOG_TIME: Duration = Duration::from_millis(250);
const REPAINT_DELAY: Duration = Duration::from_millis(2);

pub(super) enum PickedPath {
    Path(String),
    Cancelled,
    Unavailable(String),
}

/// Opens the dialog and returns the channel that delivers the chosen path. Returns the reason when no dialog is available.
pub(super) fn pick(
    purpose: &PickedPathPurpose,
    root: &str,
    context: egui::Context,
) -> Result<Receiver<PickedPath>, String> {
    if !has_session_bus() {
        return Err("There is no desktop session for a file dialog. Type the path instead.".to_owned());
    }
    let (answer, picked) = bounded(1);
    let (purpose, root) = (purpose.clone(), root.to_owned());
    let spawned = thread::Builder::new().name("file-dialog".into()).spawn(move || {
        let started = Instant::now();
        let told = match open_dialog(&purpose, &root) {
            Some(path) => match path.into_os_string().into_string() {
                Ok(path) => PickedPath::Path(path),
                Err(_) => {
                    PickedPath::Unavailable("The path is not valid UTF-8. Type another path.".to_owned())
                }
            },
            None if started.elapsed() < MIN_DIALOG_TIME => PickedPath::Unavailable(
                "The file dialog did not open. Install xdg-desktop-portal, or type the path.".to_owned(),
            ),
            None => PickedPath::Cancelled,
        };
        // The send fails when the window has closed.
        if answer.send(told).is_ok() {
            context.request_repaint_after(REPAINT_DELAY);
        }
    });
    spawned
        .map(|_| picked)
        .map_err(|error| format!("Cannot start the file dialog: {error}. Type the path instead."))
}

fn open_dialog(purpose: &PickedPathPurpose, root: &str) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new().set_title(purpose.title());
    match purpose {
        PickedPathPurpose::OpenWorkspace
        | PickedPathPurpose::NewWorkspace { .. }
        | PickedPathPurpose::OpenTerraform => dialog.set_directory(start_folder(root)).pick_folder(),
        PickedPathPurpose::ImportTerraform => dialog.set_directory(root).pick_folder(),
        PickedPathPurpose::ExportAudit => dialog
            .set_directory(root)
            .set_file_name(PickedPathPurpose::AUDIT_FILE)
            .add_filter("JSON Lines", &["jsonl"])
            .save_file(),
        PickedPathPurpose::Export { suggestion, .. } => dialog
            .set_directory(root)
            .set_file_name(suggestion.as_str())
            .add_filter("PNG image", &["png"])
            .add_filter("SVG drawing", &["svg"])
            .add_filter("Markdown document", &["md"])
            .save_file(),
    }
}

/// Returns whether the session bus is available, which the desktop portal needs.
fn has_session_bus() -> bool {
    let at_runtime_dir =
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|dir| Path::new(&dir).join("bus").exists());
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty())
        || at_runtime_dir()
}
