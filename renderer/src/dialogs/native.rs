//! Native file dialogs, each on its own thread.

use super::{beside, new_title};
use crate::view::Purpose;
use crossbeam_channel::{Receiver, bounded};
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// A dialog that ends faster than this never opened: no person cancels that fast.
const TOO_FAST: Duration = Duration::from_millis(250);
const SOON: Duration = Duration::from_millis(2);

pub(super) enum Picked {
    Path(String),
    Cancelled,
    Unavailable(String),
}

/// Opens the dialog and returns the channel that delivers the chosen path. Returns the reason when no dialog is available.
pub(super) fn pick(
    purpose: &Purpose,
    root: &str,
    context: egui::Context,
) -> Result<Receiver<Picked>, String> {
    if !has_session_bus() {
        return Err("There is no desktop session for a file dialog. Type the path instead.".to_owned());
    }
    let (answer, picked) = bounded(1);
    let (purpose, root) = (purpose.clone(), root.to_owned());
    let spawned = thread::Builder::new().name("file-dialog".into()).spawn(move || {
        let started = Instant::now();
        let told = match ask(&purpose, &root) {
            Some(path) => match path.into_os_string().into_string() {
                Ok(path) => Picked::Path(path),
                Err(_) => Picked::Unavailable("The path is not valid UTF-8. Type another path.".to_owned()),
            },
            None if started.elapsed() < TOO_FAST => Picked::Unavailable(
                "The file dialog did not open. Install xdg-desktop-portal, or type the path.".to_owned(),
            ),
            None => Picked::Cancelled,
        };
        // The send fails when the window has closed.
        if answer.send(told).is_ok() {
            context.request_repaint_after(SOON);
        }
    });
    spawned
        .map(|_| picked)
        .map_err(|error| format!("Cannot start the file dialog: {error}. Type the path instead."))
}

fn ask(purpose: &Purpose, root: &str) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new();
    match purpose {
        Purpose::OpenWorkspace => {
            dialog.set_title("Open workspace").set_directory(beside(root)).pick_folder()
        }
        Purpose::NewWorkspace { template } => {
            dialog.set_title(new_title(*template)).set_directory(beside(root)).pick_folder()
        }
        Purpose::ImportTerraform => {
            dialog.set_title("Import Terraform folder").set_directory(root).pick_folder()
        }
        Purpose::OpenTerraform => {
            dialog.set_title("Open Terraform folder").set_directory(beside(root)).pick_folder()
        }
        Purpose::ExportAudit => dialog
            .set_title("Export audit")
            .set_directory(root)
            .set_file_name(Purpose::AUDIT_FILE)
            .add_filter("JSON Lines", &["jsonl"])
            .save_file(),
        Purpose::Export { suggestion, .. } => dialog
            .set_title("Export board")
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
