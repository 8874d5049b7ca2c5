//! Secrets: the state (set or missing) and a masked input field. Values go to main's secret store and are never read
//! back.

use crate::{
    view::FrameView,
    widgets::{focus_stroke, muted_ui},
    wording::line,
};
use egui::{Button, Key, RichText, TextEdit, Ui};
use shared_protocol::managed_servers::TypedSecret;

const MAX_SECRET_CHARS: usize = 16_384;

#[derive(Default)]
pub(super) struct SecretField {
    subject: Option<String>,
    text: String,
    fresh: bool,
}

impl SecretField {
    fn begin(&mut self, part: &str) {
        (self.subject, self.fresh) = (Some(part.to_owned()), true);
        self.text.clear();
    }

    fn end(&mut self) {
        self.subject = None;
        self.text.clear();
    }

    pub(super) fn secret_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        part: &str,
        is_set: bool,
        mut give: impl FnMut(TypedSecret),
    ) {
        let theme = view.theme;
        let name = line(part);
        ui.push_id(("secret", part), |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(&name).monospace());
                let (word, colour) = if is_set { ("set", theme.success) } else { ("missing", theme.warning) };
                ui.label(RichText::new(word).small().color(colour));
                if self.subject.as_deref() != Some(part) {
                    let set = ui.button(if is_set { "Replace…" } else { "Set…" });
                    let word = if is_set { "Replace" } else { "Set" };
                    if set.accessible_name(format!("{word} {name}")).clicked() {
                        self.begin(part);
                    }
                }
            });
            if self.subject.as_deref() == Some(part) {
                self.field_ui(ui, view, &name, &mut give);
            }
        });
    }

    fn field_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        name: &str,
        give: &mut impl FnMut(TypedSecret),
    ) {
        let width = ui.available_width().min(360.0);
        let edit = TextEdit::singleline(&mut self.text)
            .password(true)
            .char_limit(MAX_SECRET_CHARS)
            .desired_width(width);
        let field = focus_stroke(ui, view.theme, |ui| ui.add(edit)).accessible_name(format!("Secret {name}"));
        if std::mem::take(&mut self.fresh) {
            field.request_focus();
        }
        let (mut keeps, mut left) = (false, false);
        ui.horizontal(|ui| {
            keeps = ui.add_enabled(!self.text.is_empty(), Button::new("Save secret")).clicked();
            left = ui.button("Cancel").clicked();
        });
        keeps |=
            field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) && !self.text.is_empty();
        muted_ui(
            ui,
            view.theme,
            format!("Stored in {} and not shown again.", view.managed_servers.secrets_place),
        );
        if keeps {
            give(TypedSecret(std::mem::take(&mut self.text)));
        }
        if keeps || left {
            self.end();
        }
    }
}
