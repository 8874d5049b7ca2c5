//! Adds servers: by form, from pasted JSON, from another program's configuration, or from a registry. A new server is
//! always disabled and untrusted.

use super::{
    AddServerMethod,
    form::{ServerFormEditor, ServerFormOutcome},
    import::ServerImportForm,
    pending_requests::{ManagedServersContext, ServerRequestPurpose},
    registry::RegistrySearch,
};
use crate::view::ManagedServerResponse;
use egui::{Ui, vec2};
use shared_protocol::{
    Refusal,
    managed_servers::{PackageKind, ServerForm},
    requests::AddServer,
};

#[derive(Default)]
pub(super) struct AddServerPage {
    pub(super) method: AddServerMethod,
    form: Option<ServerFormEditor>,
    paste: ServerImportForm,
    pub(super) programs: ServerImportForm,
    pub(super) registry: RegistrySearch,
}

impl AddServerPage {
    /// The importer with a pending request; only the visible one can have sent it.
    pub(super) fn import_form(&mut self) -> &mut ServerImportForm {
        if self.paste.is_waiting() { &mut self.paste } else { &mut self.programs }
    }

    pub(super) fn refuse(&mut self, purpose: &ServerRequestPurpose, refusal: Refusal) {
        match purpose {
            ServerRequestPurpose::Add => {
                if let Some(form) = &mut self.form {
                    form.refuse(refusal);
                }
            }
            ServerRequestPurpose::Registry => self.registry.refuse(&refusal),
            ServerRequestPurpose::Sources => self.programs.refuse(&refusal),
            _ => self.import_form().refuse(&refusal),
        }
    }

    /// Returns whether the form was cancelled.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>) -> bool {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.horizontal_wrapped(|ui| {
                for (way, words) in [
                    (AddServerMethod::Form, "Form"),
                    (AddServerMethod::Paste, "Pasted JSON"),
                    (AddServerMethod::Programs, "Other programs"),
                    (AddServerMethod::Registry, "Server registry"),
                ] {
                    ui.selectable_value(&mut self.method, way, words);
                }
            });
        });
        let mut is_left = false;
        egui::ScrollArea::vertical().id_salt(("add", self.method as u8)).auto_shrink([false, false]).show(
            ui,
            |ui| {
                is_left = match self.method {
                    AddServerMethod::Form => self.form_ui(ui, cx),
                    AddServerMethod::Paste => self.paste.paste_ui(ui, cx),
                    AddServerMethod::Programs => self.programs.programs_ui(ui, cx),
                    AddServerMethod::Registry => {
                        if let Some(offer) = self.registry.show_ui(ui, cx) {
                            self.form = Some(offer);
                            self.method = AddServerMethod::Form;
                        }
                        false
                    }
                };
            },
        );
        is_left
    }

    fn form_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>) -> bool {
        let form =
            self.form.get_or_insert_with(|| ServerFormEditor::from_form(&ServerForm::new(PackageKind::Npm)));
        match form.show_ui(ui, cx.view, "Add as disabled", cx.is_open(&ServerRequestPurpose::Add)) {
            ServerFormOutcome::Nothing => false,
            ServerFormOutcome::Left => {
                self.form = None;
                true
            }
            ServerFormOutcome::Filled(form) => {
                cx.send(AddServer { form }, ServerRequestPurpose::Add, ManagedServerResponse::Added);
                false
            }
        }
    }
}
