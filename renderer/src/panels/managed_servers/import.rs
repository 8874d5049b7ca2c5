//! Imports servers from pasted JSON or from the configuration of another program. A preview comes before the import.

use super::{
    box_ui, describe, notice_ui,
    pending_requests::{ManagedServersContext, ServerRequestPurpose},
};
use crate::{
    view::{FrameView, ManagedServerResponse},
    widgets::{copyable_text_ui, focus_stroke, muted_ui, primary_button, small_text_ui},
    wording::line,
};
use egui::{Button, Label, RichText, TextEdit, Ui};
use shared_protocol::{
    Refusal,
    managed_servers::{
        AuthForm, ImportSource, ImportedServerView, MAX_UPSTREAM_TEXT_BYTES, ServerImportInput,
        ServerImportPreview, TypedSecret, VariableValue,
    },
    messages::ProblemSeverity,
    requests::{ImportServers, ListImportSources, PreviewServerImport},
    text::count_noun,
};

/// The maximum number of servers listed per configuration.
const MAX_LISTED_SERVERS: usize = 200;

#[derive(Default)]
pub(super) struct ServerImportForm {
    text: String,
    /// The configurations found; `None` until the search ran.
    sources: Option<Vec<ImportSource>>,
    has_asked: bool,
    /// A preview request is pending.
    waiting: bool,
    source: Option<ServerImportInput>,
    preview: Option<ImportPreview>,
    refused: Option<String>,
}

struct ImportPreview {
    view: ServerImportPreview,
    /// One flag per server.
    selected: Vec<bool>,
}

impl ServerImportForm {
    pub(super) fn receive_sources(&mut self, sources: Vec<ImportSource>) {
        self.sources = Some(sources);
    }

    pub(super) fn receive(&mut self, view: ServerImportPreview) {
        let chosen = view.servers.iter().map(|server| !server.known).collect();
        (self.preview, self.waiting, self.refused) =
            (Some(ImportPreview { view, selected: chosen }), false, None);
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting
    }

    pub(super) fn refuse(&mut self, refusal: &Refusal) {
        (self.waiting, self.refused) = (false, Some(describe(refusal)));
    }

    fn look(&mut self, source: ServerImportInput, cx: &ManagedServersContext<'_>) {
        (self.preview, self.refused, self.waiting) = (None, None, true);
        self.source = Some(source.clone());
        cx.send(
            PreviewServerImport { source },
            ServerRequestPurpose::Preview,
            ManagedServerResponse::Preview,
        );
    }

    pub(super) fn paste_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>) -> bool {
        muted_ui(
            ui,
            cx.view.theme,
            "The configuration of another client: mcpServers, servers, or a single server. Comments are allowed.",
        );
        let before = self.text.len();
        let edit = TextEdit::multiline(&mut self.text)
            .code_editor()
            .char_limit(MAX_UPSTREAM_TEXT_BYTES / 4)
            .hint_text("{ \"mcpServers\": { … } }")
            .desired_rows(6)
            .desired_width(f32::INFINITY);
        let tallest = 160.0;
        egui::ScrollArea::vertical().id_salt("pasted").max_height(tallest).min_scrolled_height(tallest).show(
            ui,
            |ui| {
                focus_stroke(ui, cx.view.theme, |ui| ui.add(edit)).accessible_name("Pasted JSON");
            },
        );
        if self.text.len() != before {
            // The preview belongs to the previous text.
            self.preview = None;
        }
        let (mut looks, mut left) = (false, false);
        ui.horizontal_wrapped(|ui| {
            let can_look = !self.text.trim().is_empty() && !self.waiting;
            looks = ui.add_enabled(can_look, Button::new("Preview import")).clicked();
            left = ui.button("Cancel").clicked();
        });
        if looks {
            self.look(ServerImportInput::Text(TypedSecret(self.text.clone())), cx);
        }
        self.preview_ui(ui, cx);
        if left {
            *self = Self::default();
        }
        left
    }

    pub(super) fn programs_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>) -> bool {
        if !std::mem::replace(&mut self.has_asked, true) {
            cx.send(ListImportSources {}, ServerRequestPurpose::Sources, ManagedServerResponse::Sources);
        }
        let mut looked = None;
        match &self.sources {
            None => drop(muted_ui(ui, cx.view.theme, "Looking for configurations…")),
            Some(sources) if sources.is_empty() => {
                let text = "No configuration of Claude Desktop, Claude Code, VS Code or Cursor found. Paste one instead.";
                ui.add(Label::new(text).wrap());
            }
            Some(sources) => {
                for source in sources.iter().take(MAX_LISTED_SERVERS) {
                    ui.horizontal_wrapped(|ui| {
                        let button = ui.add_enabled(!self.waiting, Button::new(line(&source.program)));
                        if button
                            .accessible_name(format!(
                                "Preview import from {} {}",
                                source.program, source.path
                            ))
                            .clicked()
                        {
                            looked = Some(ServerImportInput::File(source.path.clone()));
                        }
                        muted_ui(ui, cx.view.theme, line(&source.path));
                    });
                }
            }
        }
        let (mut again, mut left) = (false, false);
        ui.horizontal_wrapped(|ui| {
            again = ui.button("Search again").clicked();
            left = ui.button("Cancel").clicked();
        });
        if again {
            self.has_asked = false;
            self.sources = None;
        }
        if let Some(source) = looked {
            self.look(source, cx);
        }
        self.preview_ui(ui, cx);
        if left {
            *self = Self::default();
        }
        left
    }

    fn preview_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>) {
        if let Some(why) = &self.refused {
            notice_ui(ui, cx.view, ProblemSeverity::Error, why);
        }
        let Some(preview) = &mut self.preview else { return };
        let servers = &preview.view.servers;
        if servers.is_empty() && preview.view.refused.is_empty() {
            ui.label("No servers to import.");
        }
        for (server, chosen) in servers.iter().zip(&mut preview.selected).take(MAX_LISTED_SERVERS) {
            server_ui(ui, cx.view, server, chosen);
        }
        for (name, why) in preview.view.refused.iter().take(MAX_LISTED_SERVERS) {
            notice_ui(
                ui,
                cx.view,
                ProblemSeverity::Warning,
                &format!("{} cannot be imported: {}", line(name), line(why)),
            );
        }
        for (name, why) in preview.view.skipped.iter().take(MAX_LISTED_SERVERS) {
            muted_ui(ui, cx.view.theme, format!("{} is skipped: {}", line(name), line(why)));
        }
        let names: Vec<String> = servers
            .iter()
            .zip(&preview.selected)
            .filter(|(_, chosen)| **chosen)
            .map(|(server, _)| server.form.name.clone())
            .collect();
        if servers.is_empty() {
            return;
        }
        let theme = cx.view.theme;
        let text = format!("Import {} as disabled", count_noun(names.len(), "server"));
        let is_ready = !names.is_empty() && !cx.is_open(&ServerRequestPurpose::Import);
        let button = if is_ready { primary_button(theme, text) } else { Button::new(text) };
        if ui.add_enabled(is_ready, button).clicked()
            && let Some(source) = self.source.clone()
        {
            cx.send(
                ImportServers { source, names },
                ServerRequestPurpose::Import,
                ManagedServerResponse::Imported,
            );
        }
    }
}

fn server_ui(ui: &mut Ui, view: &FrameView<'_>, server: &ImportedServerView, chosen: &mut bool) {
    let theme = view.theme;
    box_ui(ui, view, |ui| {
        let name = line(&server.form.name);
        ui.horizontal_wrapped(|ui| {
            ui.checkbox(chosen, RichText::new(&name).strong()).accessible_name(format!("Import {name}"));
            muted_ui(ui, theme, server.form.kind.as_str());
            if server.known {
                let text = "A server with this name exists. This one will be added as a second server.";
                ui.label(RichText::new(text).small().color(theme.warning));
            }
        });
        copyable_text_ui(ui, RichText::new(line(&server.runs)).monospace());
        for (name, value) in parts(server) {
            let words = match value {
                VariableValue::Plain(text) => format!("{} = {}", line(name), line(text)),
                VariableValue::Secret { set: true } | VariableValue::Typed(_) => {
                    format!(
                        "{}: secret, will be stored in {}",
                        line(name),
                        view.managed_servers.secrets_place
                    )
                }
                VariableValue::Secret { set: false } | VariableValue::Missing => {
                    format!("{}: required before the server can start", line(name))
                }
            };
            muted_ui(ui, theme, words);
        }
        for note in &server.notes {
            small_text_ui(ui, theme.warning, line(note));
        }
    });
}

fn parts(server: &ImportedServerView) -> impl Iterator<Item = (&str, &VariableValue)> {
    let auth = match &server.form.auth {
        AuthForm::None => None,
        AuthForm::Bearer(value) => Some(("Bearer token", value)),
        AuthForm::Header { name, value } => Some((name.as_str(), value)),
    };
    let variables = server.form.variables.iter().map(|variable| (variable.name.as_str(), &variable.value));
    auth.into_iter().chain(variables)
}
