//! The form to add or edit a server.

use super::{
    describe,
    draft::{DraftAuthKind, DraftValue, DraftVariable, ServerDraft},
    notice_ui,
};
use crate::{
    view::FrameView,
    widgets::{close_button_ui, disclosure_ui, focus_stroke, muted_ui, primary_button},
    wording::line,
};
use egui::{Button, DragValue, Response, RichText, TextEdit, Ui};
use shared_protocol::{
    Refusal,
    managed_servers::{PackageKind, ServerForm},
    messages::ProblemSeverity,
};

/// The maximum width of fields in points.
const MAX_FIELD_WIDTH: f32 = 560.0;
const CLOSE_BUTTON_WIDTH: f32 = 36.0;
const MAX_ARGS: usize = 128;
const MAX_VARIABLES: usize = 64;
const MAX_FIELD_CHARS: usize = 16_384;

pub(super) struct ServerFormEditor {
    pub(super) draft: ServerDraft,
    /// The refusal from main, with the field it names.
    refused: Option<Refusal>,
    shows_limits: bool,
    /// Warnings shown above the form.
    notes: Vec<String>,
}

pub(super) enum ServerFormOutcome {
    Nothing,
    Left,
    Filled(Box<ServerForm>),
}

impl ServerFormEditor {
    pub(super) fn from_form(form: &ServerForm) -> Self {
        Self { draft: ServerDraft::from_form(form), refused: None, shows_limits: false, notes: Vec::new() }
    }

    pub(super) fn with_notes(form: &ServerForm, notes: Vec<String>) -> Self {
        Self { notes, ..Self::from_form(form) }
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.refused = Some(refusal);
    }

    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        keep: &str,
        is_busy: bool,
    ) -> ServerFormOutcome {
        ui.spacing_mut().item_spacing.y = 4.0;
        let theme = view.theme;
        let width = ui.available_width().min(MAX_FIELD_WIDTH);
        ui.scope(|ui| {
            ui.set_max_width(width);
            for note in &self.notes {
                notice_ui(ui, view, ProblemSeverity::Warning, &line(note));
            }
            if let Some(refusal) = &self.refused {
                let at =
                    refusal.field.as_ref().map(|field| format!(" ({})", line(field))).unwrap_or_default();
                notice_ui(ui, view, ProblemSeverity::Error, &format!("{}{at}", describe(refusal)));
            }
            let draft = &mut self.draft;
            field_ui(ui, view, "Name", "Display name", &mut draft.name);
            muted_ui(ui, theme, "Kind");
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 2.0;
                for kind in PackageKind::ALL {
                    ui.selectable_value(&mut draft.kind, kind, kind_words(kind));
                }
            });
            let (what, hint) = identifier_words(draft.kind);
            field_ui(ui, view, what, hint, &mut draft.identifier);
            runtime_ui(ui, view, draft);
            if draft.kind == PackageKind::Http {
                auth_ui(ui, view, draft);
            } else {
                args_ui(ui, view, &mut draft.args);
                variables_ui(ui, view, &mut draft.variables);
                field_ui(ui, view, "Folder", "Default: your home folder", &mut draft.folder);
            }
            ui.checkbox(&mut draft.trusted, "Trust this server's tool annotations");
            muted_ui(
                ui,
                theme,
                "Only for servers that you know: a tool annotated as read-only is then treated as read-only.",
            );
            let limits = &mut self.shows_limits;
            if disclosure_ui(ui, theme, "Limits", None, limits) {
                limits_ui(ui, view, &mut draft.limits);
            }
        });
        ui.add_space(4.0);
        let missing = self.draft.missing_field();
        let mut verdict = ServerFormOutcome::Nothing;
        ui.horizontal_wrapped(|ui| {
            let is_ready = missing.is_none() && !is_busy;
            let button = if is_ready { primary_button(theme, keep) } else { Button::new(keep) };
            let keep = ui.add_enabled(is_ready, button);
            let why = missing.as_deref().unwrap_or("Saving…");
            if keep.on_disabled_hover_text(why).clicked() {
                self.refused = None;
                verdict = ServerFormOutcome::Filled(Box::new(self.draft.to_form()));
            }
            if ui.button("Cancel").clicked() {
                verdict = ServerFormOutcome::Left;
            }
            if let Some(missing) = missing {
                muted_ui(ui, theme, missing);
            }
        });
        verdict
    }
}

fn kind_words(kind: PackageKind) -> &'static str {
    match kind {
        PackageKind::Npm => "npm",
        PackageKind::Pypi => "PyPI",
        PackageKind::Docker => "Docker",
        PackageKind::Binary => "Program",
        PackageKind::Http => "HTTP",
    }
}

fn identifier_words(kind: PackageKind) -> (&'static str, &'static str) {
    match kind {
        PackageKind::Npm => ("Package", "@scope/package@1.2.3"),
        PackageKind::Pypi => ("Package", "package==1.2.3"),
        PackageKind::Docker => ("Image", "image:tag"),
        PackageKind::Binary => ("Program path", "/usr/local/bin/server"),
        PackageKind::Http => ("Address", "https://example.org/mcp"),
    }
}

fn field_ui(ui: &mut Ui, view: &FrameView<'_>, name: &str, hint: &str, text: &mut String) {
    muted_ui(ui, view.theme, name);
    let edit =
        TextEdit::singleline(text).hint_text(hint).char_limit(MAX_FIELD_CHARS).desired_width(f32::INFINITY);
    focus_stroke(ui, view.theme, |ui| ui.add(edit)).accessible_name(name);
}

fn runtime_ui(ui: &mut Ui, view: &FrameView<'_>, draft: &mut ServerDraft) {
    let choices: &[&str] = match draft.kind {
        PackageKind::Pypi => &["uvx", "venv"],
        PackageKind::Docker => &["docker", "podman"],
        PackageKind::Npm | PackageKind::Binary | PackageKind::Http => &[],
    };
    if choices.is_empty() {
        return;
    }
    muted_ui(ui, view.theme, "Run with");
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.selectable_value(&mut draft.runtime, String::new(), "Automatic");
        for choice in choices {
            ui.selectable_value(&mut draft.runtime, (*choice).to_owned(), *choice);
        }
    });
    if draft.kind == PackageKind::Pypi {
        field_ui(ui, view, "Program in the package", "Same as the package", &mut draft.command);
    }
}

fn auth_ui(ui: &mut Ui, view: &FrameView<'_>, draft: &mut ServerDraft) {
    muted_ui(ui, view.theme, "Authentication");
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.selectable_value(&mut draft.auth, DraftAuthKind::None, "None");
        ui.selectable_value(&mut draft.auth, DraftAuthKind::Bearer, "Bearer token");
        ui.selectable_value(&mut draft.auth, DraftAuthKind::Header, "Header");
    });
    if draft.auth == DraftAuthKind::Header {
        field_ui(ui, view, "Header name", "X-Api-Key", &mut draft.header);
    }
    if draft.auth != DraftAuthKind::None {
        value_ui(ui, view, "Token", &mut draft.auth_value, f32::INFINITY);
    }
}

fn value_ui(ui: &mut Ui, view: &FrameView<'_>, name: &str, value: &mut DraftValue, width: f32) {
    let hint = match (value.is_secret, value.is_set) {
        (true, true) => "Set. Type to replace it",
        (true, false) => "Secret, not set yet",
        (false, _) => "Value",
    };
    let edit = TextEdit::singleline(&mut value.text)
        .password(value.is_secret)
        .hint_text(hint)
        .char_limit(MAX_FIELD_CHARS)
        .desired_width(width);
    focus_stroke(ui, view.theme, |ui| ui.add(edit)).accessible_name(name);
}

/// One field per argument, so that no quoting is needed.
fn args_ui(ui: &mut Ui, view: &FrameView<'_>, args: &mut Vec<String>) {
    muted_ui(ui, view.theme, "Arguments (passed as is, without a shell)");
    let mut gone = None;
    for (place, text) in args.iter_mut().enumerate() {
        ui.push_id(("argument", place), |ui| {
            with_close_ui(ui, view, &format!("Remove argument {}", place + 1), |ui, width| {
                let edit = TextEdit::singleline(text).char_limit(MAX_FIELD_CHARS).desired_width(width);
                let name = format!("Argument {}", place + 1);
                focus_stroke(ui, view.theme, |ui| ui.add(edit)).accessible_name(name);
            })
            .then(|| gone = Some(place));
        });
    }
    if let Some(place) = gone {
        args.remove(place);
    }
    if ui.add_enabled(args.len() < MAX_ARGS, Button::new("Add argument")).clicked() {
        args.push(String::new());
    }
}

/// A field with a close button. Returns whether the button was clicked.
fn with_close_ui(ui: &mut Ui, view: &FrameView<'_>, name: &str, field: impl FnOnce(&mut Ui, f32)) -> bool {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let width = (ui.available_width() - CLOSE_BUTTON_WIDTH).max(60.0);
        field(ui, width);
        close_button_ui(ui, view.theme, name).clicked()
    })
    .inner
}

fn variables_ui(ui: &mut Ui, view: &FrameView<'_>, variables: &mut Vec<DraftVariable>) {
    muted_ui(ui, view.theme, "Variables");
    let mut gone = None;
    for (place, variable) in variables.iter_mut().enumerate() {
        ui.push_id(("variable", place), |ui| {
            let number = place + 1;
            let removed = with_close_ui(ui, view, &format!("Remove variable {number}"), |ui, room| {
                let width = (room * 0.38).max(80.0);
                let edit = TextEdit::singleline(&mut variable.name)
                    .hint_text("NAME")
                    .char_limit(256)
                    .desired_width(width);
                let name = format!("Variable {number} name");
                let field = focus_stroke(ui, view.theme, |ui| ui.add(edit)).accessible_name(name);
                let rest = (room - field.rect.width() - 14.0).max(60.0);
                value_ui(ui, view, &format!("Variable {number} value"), &mut variable.value, rest);
            });
            if removed {
                gone = Some(place);
            }
            ui.horizontal_wrapped(|ui| {
                let secret = ui.checkbox(&mut variable.value.is_secret, RichText::new("Secret").small());
                let secret = secret.on_hover_text("Stored in the secret store and not shown again");
                secret.accessible_name(format!("Variable {number} is secret"));
                let required = ui.checkbox(&mut variable.required, RichText::new("Required").small());
                required.accessible_name(format!("Variable {number} is required"));
                if let Some(description) = &variable.description {
                    muted_ui(ui, view.theme, line(description));
                }
            });
        });
    }
    if let Some(place) = gone {
        variables.remove(place);
    }
    if ui.add_enabled(variables.len() < MAX_VARIABLES, Button::new("Add variable")).clicked() {
        variables.push(DraftVariable::default());
    }
}

fn limits_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    limits: &mut shared_protocol::managed_servers::ServerLimitsForm,
) {
    for (name, milliseconds) in [
        ("Package fetch timeout", &mut limits.install_ms),
        ("Connect timeout", &mut limits.connect_ms),
        ("Handshake timeout", &mut limits.handshake_ms),
        ("Call idle timeout", &mut limits.idle_ms),
        ("Call total timeout", &mut limits.total_ms),
        ("Grace period before a forced stop", &mut limits.grace_ms),
    ] {
        ui.horizontal(|ui| {
            seconds_ui(ui, milliseconds).accessible_name(name);
            muted_ui(ui, view.theme, name);
        });
    }
    let number_ui = |ui: &mut Ui, name: &str, unit: f64, value: &mut u64, suffix: &str| {
        let mut shown = *value as f64 / unit;
        ui.horizontal(|ui| {
            let response =
                ui.add(DragValue::new(&mut shown).range(1.0..=65_536.0).max_decimals(0).suffix(suffix));
            if response.changed() {
                *value = (shown * unit).round() as u64;
            }
            response.accessible_name(name);
            muted_ui(ui, view.theme, name);
        });
    };
    number_ui(ui, "Maximum result size", 1024.0, &mut limits.result_bytes, " KiB");
    number_ui(ui, "Concurrent calls", 1.0, &mut limits.calls, "");
}

/// A field for a duration that is stored in milliseconds and shown in seconds.
pub(super) fn seconds_ui(ui: &mut Ui, milliseconds: &mut u64) -> Response {
    let mut seconds = *milliseconds as f64 / 1000.0;
    let drag = DragValue::new(&mut seconds).range(0.1..=86_400.0).suffix(" s").max_decimals(1);
    let response = ui.add(drag);
    if response.changed() {
        *milliseconds = (seconds * 1000.0).round() as u64;
    }
    response
}
