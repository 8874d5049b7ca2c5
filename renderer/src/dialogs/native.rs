//! The system's file dialogs, each on a thread of its own.

use super::{beside, new_title};
use crate::view::Purpose;
use crossbeam_channel::{Receiver, bounded};
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// Nobody cancels a dialog this fast: it never opened.
const TOO_FAST: Duration = Duration::from_millis(250);
const SOON: Duration = Duration::from_millis(2);

pub(super) enum Picked {
    Path(String),
    Cancelled,
    Unavailable(String),
}

/// Opens the dialog; the answer comes through the channel. `Err` says why there is no dialog to open.
pub(super) fn pick(
    purpose: &Purpose,
    root: &str,
    context: egui::Context,
) -> Result<Receiver<Picked>, String> {
    if !has_session_bus() {
        return Err("There is no desktop session here to show a file dialog.".to_owned());
    }
    let (answer, picked) = bounded(1);
    let (purpose, root) = (purpose.clone(), root.to_owned());
    let spawned = thread::Builder::new().name("file-dialog".into()).spawn(move || {
        let started = Instant::now();
        let told = match ask(&purpose, &root) {
            Some(path) => match path.into_os_string().into_string() {
                Ok(path) => Picked::Path(path),
                Err(_) => Picked::Unavailable("That path is not readable as text.".to_owned()),
            },
            None if started.elapsed() < TOO_FAST => Picked::Unavailable(
                "The system's file dialog did not open; xdg-desktop-portal may be missing.".to_owned(),
            ),
            None => Picked::Cancelled,
        };
        // The window may be gone by now; then nobody waits for the answer.
        if answer.send(told).is_ok() {
            context.request_repaint_after(SOON);
        }
    });
    spawned.map(|_| picked).map_err(|error| format!("The file dialog could not be started: {error}."))
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
            .add_filter("Lines of JSON", &["jsonl"])
            .save_file(),
        Purpose::Export { suggestion, .. } => dialog
            .set_title("Export board")
            .set_directory(root)
            .set_file_name(suggestion.as_str())
            .add_filter("Image", &["png"])
            .add_filter("Drawing", &["svg"])
            .add_filter("Document", &["md"])
            .save_file(),
    }
}

/// The portal is reached over the session bus.
fn has_session_bus() -> bool {
    let at_runtime_dir =
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|dir| Path::new(&dir).join("bus").exists());
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty())
        || at_runtime_dir()
}
