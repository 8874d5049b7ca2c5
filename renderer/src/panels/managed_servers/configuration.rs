//! The full configuration of a server. Secrets are shown as set or missing, never by value.

use super::{pending_requests::ManagedServersContext, secret_field::SecretField};
use crate::{
    view::FrameView,
    widgets::{muted_ui, named_text_ui, small_text_ui},
    wording::line,
};
use egui::Ui;
use shared_protocol::managed_servers::{AuthForm, ServerDetails, VariableValue};

/// Returns whether editing was requested.
pub(super) fn show_ui(
    ui: &mut Ui,
    cx: &ManagedServersContext<'_>,
    details: &ServerDetails,
    typing: &mut SecretField,
) -> bool {
    let form = &details.form;
    row_ui(ui, cx.view, "Tool names", &format!("{}__…", details.brief.slug));
    let kind = form
        .runtime
        .as_ref()
        .map_or(form.kind.as_str().to_owned(), |by| format!("{} via {by}", form.kind.as_str()));
    row_ui(ui, cx.view, "Kind", &kind);
    row_ui(ui, cx.view, "Source", &form.identifier);
    if let Some(command) = &form.command {
        row_ui(ui, cx.view, "Program", command);
    }
    for (place, argument) in form.args.iter().enumerate() {
        row_ui(ui, cx.view, &format!("Argument {}", place + 1), argument);
    }
    if let Some(folder) = &form.folder {
        row_ui(ui, cx.view, "Folder", folder);
    }
    if let Some((name, version)) = &form.registry {
        row_ui(ui, cx.view, "Registry entry", &format!("{name} {version}"));
    }
    let believed = if form.trusted {
        "yes, its tool annotations are trusted"
    } else {
        "no, its tool annotations are unverified"
    };
    row_ui(ui, cx.view, "Trusted", believed);
    let mut secret = |ui: &mut Ui, part: &str, is_set: bool| {
        typing.secret_ui(ui, cx.view, part, is_set, |secret| {
            cx.set_server_secret(&details.brief.id, part, secret);
        });
    };
    match &form.auth {
        AuthForm::None => {}
        AuthForm::Bearer(value) => secret(ui, "auth", is_set(value)),
        AuthForm::Header { name, value } => {
            row_ui(ui, cx.view, "Header", name);
            secret(ui, "auth", is_set(value));
        }
    }
    for variable in &form.variables {
        match &variable.value {
            VariableValue::Plain(text) => row_ui(ui, cx.view, &variable.name, text),
            value => secret(ui, &variable.name, is_set(value)),
        }
        if let Some(description) = &variable.description {
            small_text_ui(ui, cx.view.theme.text_muted, line(description));
        }
    }
    let limits = &form.limits;
    let seconds = |milliseconds: u64| milliseconds.div_ceil(1000);
    muted_ui(
        ui,
        cx.view.theme,
        format!(
            "Timeouts: fetch {} s, connect {} s, handshake {} s; call {} s idle, {} s total.",
            seconds(limits.install_ms),
            seconds(limits.connect_ms),
            seconds(limits.handshake_ms),
            seconds(limits.idle_ms),
            seconds(limits.total_ms)
        ),
    );
    ui.button("Edit configuration…").clicked()
}

fn is_set(value: &VariableValue) -> bool {
    matches!(value, VariableValue::Secret { set: true } | VariableValue::Typed(_) | VariableValue::Plain(_))
}

fn row_ui(ui: &mut Ui, view: &FrameView<'_>, name: &str, value: &str) {
    named_text_ui(ui, view.theme, &line(name), &line(value));
}
