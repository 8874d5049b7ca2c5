//! The page of a manifest: the origin of the file, its tools and problems, its approval and its credentials.

use super::{
    box_ui, notice_ui,
    pending_requests::{ManagedServersContext, ServerRequestPurpose},
    secret_field::SecretField,
    tool,
};
use crate::{
    view::ManagedServerResponse,
    widgets::{copyable_text_ui, more_ui, muted_ui, primary_button, small_text_ui},
    wording::line,
};
use egui::{Label, RichText, Ui};
use shared_protocol::{
    decisions::{ApproveManifest, SetManifestPolicy, SetManifestSecret},
    managed_servers::{ManifestBrief, ManifestOrigin, ManifestToolBrief},
    messages::ProblemSeverity,
    requests::ReloadManifests,
    text::count_noun,
};

/// The maximum number of tools listed per manifest.
const MAX_LISTED_TOOLS: usize = 200;

#[derive(Default)]
pub(super) struct ManifestPage {
    /// The path of the open manifest and the hash it had when it was opened. An approval applies to that hash.
    opened_manifest: Option<(String, Option<String>)>,
    secret_field: SecretField,
}

pub(super) fn needs_attention(manifest: &ManifestBrief) -> bool {
    manifest.needs_approval
        || manifest.problem.is_some()
        || manifest.credentials.iter().any(|credential| !credential.optional && !credential.set)
}

/// The id of the manifest, or its file name.
pub(super) fn title(manifest: &ManifestBrief) -> String {
    let file = manifest.path.rsplit('/').next().unwrap_or(&manifest.path);
    line(manifest.id.as_deref().unwrap_or(file))
}

pub(super) fn summary(manifest: &ManifestBrief) -> String {
    let missing = manifest.credentials.iter().any(|credential| !credential.optional && !credential.set);
    let state = if manifest.problem.is_some() {
        "not used".to_owned()
    } else if manifest.needs_approval {
        "needs approval".to_owned()
    } else if missing {
        "needs credentials".to_owned()
    } else {
        count_noun(manifest.tools.iter().filter(|tool| tool.hidden.is_none()).count(), "tool")
    };
    format!("{state} · {}", manifest.origin.as_str())
}

impl ManifestPage {
    pub(super) fn handle_success(&mut self, purpose: &ServerRequestPurpose) {
        if *purpose == ServerRequestPurpose::Manifest {
            self.opened_manifest = None;
        }
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, path: &str) {
        let Some(manifest) = cx.view.managed_servers.manifests.iter().find(|manifest| manifest.path == path)
        else {
            return;
        };
        if self.opened_manifest.as_ref().is_none_or(|(seen, _)| seen != path) {
            *self =
                Self { opened_manifest: Some((path.to_owned(), manifest.hash.clone())), ..Self::default() };
        }
        let theme = cx.view.theme;
        egui::ScrollArea::vertical().id_salt(("manifest", path)).auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 5.0;
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(title(manifest)).heading());
                muted_ui(ui, theme, summary(manifest));
                if ui.button("Reload manifests").clicked() {
                    cx.send(ReloadManifests {}, ServerRequestPurpose::Manifest, |()| {
                        ManagedServerResponse::Done
                    });
                }
            });
            copyable_text_ui(ui, RichText::new(line(&manifest.path)).monospace().color(theme.text));
            let origin = match manifest.origin {
                ManifestOrigin::User => "From your configuration folder.",
                ManifestOrigin::Workspace => "From the workspace. Other people may have written it.",
            };
            muted_ui(ui, theme, origin);
            if let Some(problem) = &manifest.problem {
                let text =
                    format!("{} Correct the file; it reloads automatically.", with_full_stop(&line(problem)));
                notice_ui(ui, cx.view, ProblemSeverity::Error, &text);
            }
            self.approval_ui(ui, cx, manifest);
            self.credentials_ui(ui, cx, manifest);
            for tool in manifest.tools.iter().take(MAX_LISTED_TOOLS) {
                tool_ui(ui, cx, manifest, tool);
            }
            more_ui(ui, theme, manifest.tools.len(), MAX_LISTED_TOOLS);
        });
    }

    fn approval_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, manifest: &ManifestBrief) {
        let Some(hash) = manifest.hash.as_ref().filter(|_| manifest.needs_approval) else { return };
        let theme = cx.view.theme;
        let is_as_seen = self.opened_manifest.as_ref().is_some_and(|(_, seen)| seen.as_ref() == Some(hash));
        box_ui(ui, cx.view, |ui| {
            ui.label("Agents cannot see its tools until you approve this version.");
            copyable_text_ui(ui, RichText::new(hash).monospace().small().color(theme.text_muted));
            if !is_as_seen {
                ui.label("The manifest changed while you were reviewing it.");
                if ui.button("I have reviewed the new version").clicked() {
                    self.opened_manifest = Some((manifest.path.clone(), Some(hash.clone())));
                }
                return;
            }
            let is_free = !cx.is_open(&ServerRequestPurpose::Manifest);
            if ui.add_enabled(is_free, primary_button(theme, "Approve manifest")).clicked() {
                let decision = ApproveManifest { hash: hash.clone() };
                cx.send(decision, ServerRequestPurpose::Manifest, |()| ManagedServerResponse::Done);
            }
        });
    }

    fn credentials_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, manifest: &ManifestBrief) {
        let Some(id) = &manifest.id else { return };
        for credential in &manifest.credentials {
            self.secret_field.secret_ui(ui, cx.view, &credential.id, credential.set, |secret| {
                let (manifest, credential) = (id.clone(), credential.id.clone());
                let decision = SetManifestSecret { manifest, credential, secret };
                let purpose = ServerRequestPurpose::Secret { id: None };
                cx.send(decision, purpose, |()| ManagedServerResponse::Done);
            });
            if credential.optional {
                muted_ui(ui, cx.view.theme, "Optional");
            }
        }
    }
}

fn tool_ui(ui: &mut Ui, cx: &ManagedServersContext<'_>, manifest: &ManifestBrief, tool: &ManifestToolBrief) {
    let theme = cx.view.theme;
    let name = line(&tool.name);
    box_ui(ui, cx.view, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(&name).monospace());
            let mut policy = tool.policy;
            if tool.hidden.is_none() && !manifest.needs_approval && manifest.problem.is_none() {
                tool::policy_ui(ui, &name, &mut policy);
            }
            if policy != tool.policy {
                let decision = SetManifestPolicy { tool: tool.name.clone(), policy };
                cx.send(decision, ServerRequestPurpose::Manifest, |()| ManagedServerResponse::Done);
            }
        });
        if !tool.does.is_empty() {
            ui.add(Label::new(line(&tool.does)).wrap());
        }
        if let Some(why) = &tool.hidden {
            small_text_ui(ui, theme.warning, format!("Hidden from agents: {}", line(why)));
        }
    });
}

fn with_full_stop(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
