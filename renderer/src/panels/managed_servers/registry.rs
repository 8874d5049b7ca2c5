//! The registry search. Each result lists its packages; selecting one fills in the form.

use super::{
    box_ui, describe,
    form::ServerFormEditor,
    notice_ui,
    pending_requests::{ManagedServersContext, ServerRequestPurpose},
};
use crate::{
    view::{FrameView, ManagedServerResponse},
    widgets::{focus_stroke, muted_ui, search_field_ui},
    wording::line,
};
use egui::{Button, Key, Label, RichText, TextEdit, Ui};
use shared_protocol::{
    Refusal,
    managed_servers::{RegistryOffer, RegistryServer},
    messages::ProblemSeverity,
    requests::SearchServerRegistry,
};

const MAX_RESULTS: usize = 60;

#[derive(Default)]
pub(super) struct RegistrySearch {
    query: String,
    /// A file or an address; the default registry when empty.
    other: String,
    results: Option<Vec<RegistryServer>>,
    refused: Option<String>,
}

impl RegistrySearch {
    pub(super) fn receive(&mut self, found: Vec<RegistryServer>) {
        (self.results, self.refused) = (Some(found), None);
    }

    pub(super) fn refuse(&mut self, refusal: &Refusal) {
        (self.results, self.refused) = (None, Some(describe(refusal)));
    }

    /// Returns the form filled in from the selected package.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ManagedServersContext<'_>,
    ) -> Option<ServerFormEditor> {
        let theme = cx.view.theme;
        let field = search_field_ui(ui, theme, &mut self.query, "Name or description", "Search the registry");
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        muted_ui(ui, theme, "Registry (address or file)");
        let usual = cx.view.managed_servers.registry.as_str();
        let edit = TextEdit::singleline(&mut self.other)
            .hint_text(usual)
            .char_limit(4_096)
            .desired_width(f32::INFINITY);
        focus_stroke(ui, theme, |ui| ui.add(edit)).accessible_name("Registry");
        let is_busy = cx.is_open(&ServerRequestPurpose::Registry);
        let searches = ui.add_enabled(!is_busy, Button::new("Search")).clicked() || (entered && !is_busy);
        if searches {
            let registry = Some(self.other.trim().to_owned()).filter(|other| !other.is_empty());
            let query = self.query.trim().to_owned();
            cx.send(
                SearchServerRegistry { registry, query },
                ServerRequestPurpose::Registry,
                ManagedServerResponse::Registry,
            );
        }
        if is_busy {
            muted_ui(ui, theme, "Searching the registry…");
        }
        if let Some(why) = &self.refused {
            notice_ui(ui, cx.view, ProblemSeverity::Error, why);
            muted_ui(ui, theme, "Without a network, you can search a registry index in a file.");
        }
        let found = self.results.as_ref()?;
        if found.is_empty() {
            muted_ui(ui, theme, "No results. Try a different search.");
        }
        let mut chosen = None;
        for entry in found.iter().take(MAX_RESULTS) {
            box_ui(ui, cx.view, |ui| {
                if let Some(form) = entry_ui(ui, cx.view, entry) {
                    chosen = Some(form);
                }
            });
        }
        if found.len() > MAX_RESULTS {
            muted_ui(
                ui,
                theme,
                format!("and {} more. Narrow the search to see them.", found.len() - MAX_RESULTS),
            );
        }
        chosen
    }
}

fn entry_ui(ui: &mut Ui, view: &FrameView<'_>, entry: &RegistryServer) -> Option<ServerFormEditor> {
    let theme = view.theme;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(line(&entry.name)).strong());
        muted_ui(ui, theme, line(&entry.version));
        if entry.deprecated {
            let text = "Deprecated: its author advises against using it";
            ui.label(RichText::new(text).small().color(theme.warning));
        }
    });
    ui.add(Label::new(RichText::new(line(&entry.description)).color(theme.text_muted)).wrap());
    let mut chosen = None;
    for (place, offer) in entry.offers.iter().enumerate() {
        ui.push_id((&entry.name, place), |ui| {
            let word = offer.form.kind.as_str();
            let fill = ui.button(format!("Use {word}…"));
            if fill.accessible_name(format!("Use {} with {word}", line(&entry.name))).clicked() {
                chosen = Some(ServerFormEditor::with_notes(&offer.form, notes(offer)));
            }
            ui.add(Label::new(RichText::new(line(&offer.runs)).monospace()).wrap());
        });
    }
    if !entry.unsupported.is_empty() {
        muted_ui(ui, theme, format!("Not supported: {}", line(&entry.unsupported.join(", "))));
    }
    chosen
}

fn notes(offer: &RegistryOffer) -> Vec<String> {
    if offer.required.is_empty() {
        return Vec::new();
    }
    let words = offer.required.iter().map(|part| match part.strip_prefix("args.") {
        Some(argument) => format!("argument {argument}"),
        None if part == "auth" => "token".to_owned(),
        None => part.clone(),
    });
    vec![format!("Required: {}.", words.collect::<Vec<_>>().join(", "))]
}
