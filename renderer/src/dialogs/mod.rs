//! OpenDialogs: native dialogs for files and folders, modals for everything else. None of them blocks the window.

mod modals;
mod native;

pub(crate) use modals::{ModalDialog, ModalOutcome, ModalTexts, kind_text, kind_title};

use crate::view::{FrameView, PickedPathPurpose, WindowAction};
use crossbeam_channel::Receiver;
use egui::Context;
use native::{PickedPath, pick};
use std::path::{Path, PathBuf};

/// The start folder for choosing another workspace: the parent of this one, or the home folder when this workspace lies
/// in a hidden folder, as the example does.
fn start_folder(root: &str) -> PathBuf {
    parent_or_home(root, std::env::var_os("HOME").map(PathBuf::from))
}

fn parent_or_home(root: &str, home: Option<PathBuf>) -> PathBuf {
    let root = Path::new(root);
    let is_hidden = root.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    let home = home.filter(|home| is_hidden && home.is_absolute());
    home.unwrap_or_else(|| root.parent().unwrap_or(root).to_owned())
}

#[derive(Default)]
pub(crate) struct OpenDialogs {
    modal: Option<ModalDialog>,
    native: Option<(PickedPathPurpose, Receiver<PickedPath>)>,
}

impl OpenDialogs {
    pub(crate) fn open(&mut self, modal: ModalDialog) {
        self.modal = Some(modal);
    }

    /// Returns whether a modal is open and has the keyboard.
    pub(crate) fn is_open(&self) -> bool {
        self.modal.is_some()
    }

    pub(crate) fn close(&mut self) {
        self.modal = None;
    }

    /// Opens the native path dialog, or a modal with a text field when no native dialog is available.
    pub(crate) fn open_path_dialog(&mut self, purpose: PickedPathPurpose, root: &str, context: &Context) {
        if self.native.is_some() {
            return;
        }
        match pick(&purpose, root, context.clone()) {
            Ok(picked) => self.native = Some((purpose, picked)),
            Err(why) => self.modal = Some(ModalDialog::path(purpose, root, why)),
        }
    }

    /// Handles the result of the native dialog, if there is one. Returns the action that follows from it.
    pub(crate) fn receive(&mut self, root: &str) -> Option<WindowAction> {
        let (_, picked) = self.native.as_ref()?;
        let picked = picked.try_recv().ok()?;
        let (purpose, _) = self.native.take()?;
        match picked {
            PickedPath::Path(path) => return Some(purpose.action(path)),
            PickedPath::Cancelled => {}
            PickedPath::Unavailable(why) => self.modal = Some(ModalDialog::path(purpose, root, why)),
        }
        None
    }

    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) {
        if let Some(modal) = &mut self.modal
            && !modal.show_ui(context, view)
        {
            self.modal = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_workspace_is_not_put_into_a_hidden_folder() {
        let home = Some(PathBuf::from("/home/ada"));
        let example = "/home/ada/.local/share/draftboard/example";
        assert_eq!(parent_or_home(example, home.clone()), Path::new("/home/ada"));
        assert_eq!(parent_or_home("/home/ada/work/shop", home), Path::new("/home/ada/work"));
        assert_eq!(parent_or_home("/srv/.hidden/shop", None), Path::new("/srv/.hidden"));
    }
}
