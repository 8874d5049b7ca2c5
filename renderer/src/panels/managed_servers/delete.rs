//! Deletes a server with its approvals and secrets. Needs a hold or the typed name, so that a click cannot delete it.

use super::box_ui;
use crate::{
    hold_button::HoldButton,
    view::FrameView,
    widgets::{focus_stroke, muted_ui},
    wording::line,
};
use egui::{Key, TextEdit, Ui};
use shared_protocol::managed_servers::ServerBrief;

#[derive(Default)]
pub(super) struct DeleteServerPrompt {
    is_open: bool,
    hold_button: HoldButton,
    name: String,
}

impl DeleteServerPrompt {
    pub(super) fn begin(&mut self) {
        (self.is_open, self.name) = (!self.is_open, String::new());
    }

    /// Returns whether the deletion was confirmed.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, server: &ServerBrief) -> bool {
        if !self.is_open {
            return false;
        }
        let mut goes = false;
        box_ui(ui, view, |ui| {
            ui.label("Deletes the server, its tool approvals and its secrets. This cannot be undone.");
            let name = line(&server.name);
            ui.horizontal_wrapped(|ui| {
                goes = self.hold_button.button_ui(
                    ui,
                    view.theme,
                    "Hold to delete",
                    &format!("Hold to delete {name}"),
                );
                if ui.button("Cancel").clicked() {
                    self.is_open = false;
                }
            });
            muted_ui(ui, view.theme, format!("or type {name} and press Enter"));
            let edit = TextEdit::singleline(&mut self.name).hint_text(name.as_str()).desired_width(280.0);
            let field = focus_stroke(ui, view.theme, |ui| ui.add(edit))
                .accessible_name("Name of the server to delete");
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            goes |= entered && self.name.trim() == server.name.trim();
        });
        if goes {
            *self = Self::default();
        }
        goes
    }
}
