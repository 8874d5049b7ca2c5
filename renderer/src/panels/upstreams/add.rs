//! Adds servers: by form, from pasted JSON, from another program's configuration, or from a registry. A new server is
//! always disabled and untrusted.

use super::{
    Way,
    asking::{Asking, Purpose},
    form::{Form, Verdict},
    import::Importing,
    registry::Registry,
};
use crate::view::{Action, View};
use egui::{Ui, vec2};
use shared_protocol::{
    Refusal,
    upstreams::{ImportSource, ImportView, PackageKind, RegistryFound, ServerForm, UpstreamRequest},
};

#[derive(Default)]
pub(super) struct Add {
    way: Way,
    form: Option<Form>,
    paste: Importing,
    programs: Importing,
    registry: Registry,
}

impl Add {
    /// Keeps text that was typed before.
    pub(super) fn begin(&mut self, way: Way) {
        self.way = way;
    }

    pub(super) fn receive_sources(&mut self, sources: Vec<ImportSource>) {
        self.programs.receive_sources(sources);
    }

    pub(super) fn receive_preview(&mut self, view: ImportView) {
        self.importing().receive(view);
    }

    pub(super) fn receive_registry(&mut self, found: Vec<RegistryFound>) {
        self.registry.receive(found);
    }

    /// The importer with a pending request; only the visible one can have sent it.
    fn importing(&mut self) -> &mut Importing {
        if self.paste.is_waiting() { &mut self.paste } else { &mut self.programs }
    }

    pub(super) fn refuse(&mut self, purpose: &Purpose, refusal: Refusal) {
        match purpose {
            Purpose::Add => {
                if let Some(form) = &mut self.form {
                    form.refuse(refusal);
                }
            }
            Purpose::Registry => self.registry.refuse(&refusal),
            Purpose::Sources => self.programs.refuse(&refusal),
            _ => self.importing().refuse(&refusal),
        }
    }

    /// Returns whether the form was cancelled.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        asking: &mut Asking,
        actions: &mut Vec<Action>,
    ) -> bool {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.horizontal_wrapped(|ui| {
                for (way, words) in [
                    (Way::Form, "Form"),
                    (Way::Paste, "Pasted JSON"),
                    (Way::Programs, "Other programs"),
                    (Way::Registry, "Server registry"),
                ] {
                    ui.selectable_value(&mut self.way, way, words);
                }
            });
        });
        let mut is_left = false;
        egui::ScrollArea::vertical().id_salt(("add", self.way as u8)).auto_shrink([false, false]).show(
            ui,
            |ui| {
                is_left = match self.way {
                    Way::Form => self.form_ui(ui, view, asking, actions),
                    Way::Paste => self.paste.paste_ui(ui, view, asking, actions),
                    Way::Programs => self.programs.programs_ui(ui, view, asking, actions),
                    Way::Registry => {
                        if let Some(offer) = self.registry.show_ui(ui, view, asking, actions) {
                            self.form = Some(offer);
                            self.way = Way::Form;
                        }
                        false
                    }
                };
            },
        );
        is_left
    }

    fn form_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        asking: &mut Asking,
        actions: &mut Vec<Action>,
    ) -> bool {
        let form = self.form.get_or_insert_with(|| Form::of(&ServerForm::new(PackageKind::Npm)));
        match form.show_ui(ui, view, "Add as disabled", asking.is_open(&Purpose::Add)) {
            Verdict::Nothing => false,
            Verdict::Left => {
                self.form = None;
                true
            }
            Verdict::Filled(form) => {
                asking.request(UpstreamRequest::Add { form }, Purpose::Add, actions);
                false
            }
        }
    }
}
