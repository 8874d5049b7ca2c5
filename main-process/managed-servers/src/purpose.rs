//! Descriptions of decisions, for the person who confirms them with a code and for the audit.

use super::views;
use shared_protocol::{
    Refusal,
    decisions::{
        ApproveManifest, ApproveTools, CallTool, DeleteServer, EnableServer, ManagedServerDecision,
        SetManifestPolicy, SetManifestSecret, SetServerSecret, SetTool, UpdateServer,
    },
    managed_servers::{ManagedServersView, ServerBrief, ServerForm, ServerId, VariableValue},
};

/// The length of a command line or of arguments in one description.
const MAX_QUOTED_BYTES: usize = 300;

/// Describes a decision with everything that a person should read before confirming it, and never a secret.
pub(super) fn describe(
    decision: &ManagedServerDecision,
    view: &ManagedServersView,
) -> Result<String, Refusal> {
    let server = |id: &ServerId| {
        let found = view.servers.iter().find(|brief| brief.id == *id || brief.slug == id.0);
        found.ok_or_else(|| views::unknown(&id.0))
    };
    let named = |brief: &ServerBrief| format!("{} ({})", brief.name, brief.slug);
    Ok(match decision {
        ManagedServerDecision::EnableServer(EnableServer { server: id }) => {
            let brief = server(id)?;
            format!("enable {}, which runs: {}", named(brief), shorten(&brief.runs))
        }
        ManagedServerDecision::ApproveTools(ApproveTools { server: id, tools }) => {
            let names: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
            format!("approve {} of {} for agents", shorten(&names.join(", ")), named(server(id)?))
        }
        ManagedServerDecision::SetTool(SetTool { server: id, tool, enabled, policy, idle_ms, total_ms }) => {
            let on = if *enabled { "on" } else { "off" };
            let time = |what: &str, time: &Option<u64>| {
                time.map(|time| format!(", {what} {time} ms")).unwrap_or_default()
            };
            let times = time("idle limit", idle_ms) + &time("total limit", total_ms);
            format!(
                "set {} of {}: {on}, policy {}{times}",
                shorten(tool),
                named(server(id)?),
                policy.as_str()
            )
        }
        ManagedServerDecision::UpdateServer(UpdateServer { server: id, form }) => {
            format!("change {}: {}", named(server(id)?), shorten(&form_words(form)))
        }
        ManagedServerDecision::DeleteServer(DeleteServer { server: id }) => {
            format!("delete {} with its approvals and secrets", named(server(id)?))
        }
        ManagedServerDecision::SetServerSecret(SetServerSecret { server: id, part, .. }) => {
            format!("set the secret {} of {}", shorten(part), named(server(id)?))
        }
        ManagedServerDecision::ApproveManifest(ApproveManifest { hash }) => {
            let found = view.manifests.iter().find(|manifest| manifest.hash.as_ref() == Some(hash));
            let Some(found) = found else {
                return Ok("approve the tools of a manifest that no longer exists".to_owned());
            };
            let does: Vec<&str> =
                found.tools.iter().map(|tool| tool.does.as_str()).filter(|does| !does.is_empty()).collect();
            format!("approve the tools of {} for agents: {}", shorten(&found.path), shorten(&does.join("; ")))
        }
        ManagedServerDecision::SetManifestPolicy(SetManifestPolicy { tool, policy }) => {
            format!("set the policy of {} to {}", shorten(tool), policy.as_str())
        }
        ManagedServerDecision::SetManifestSecret(SetManifestSecret { manifest, credential, .. }) => {
            format!("set the credential {} of {}", shorten(credential), shorten(manifest))
        }
        ManagedServerDecision::CallTool(CallTool { call }) => {
            format!("call {} with {}", shorten(&call.tool), shorten(&call.arguments))
        }
    })
}

fn form_words(form: &ServerForm) -> String {
    let variables = form.variables.iter().map(|variable| match &variable.value {
        VariableValue::Plain(text) => format!(" {}={text}", variable.name),
        VariableValue::Typed(_) => format!(" {}=(a new secret)", variable.name),
        VariableValue::Secret { .. } | VariableValue::Missing => format!(" {}", variable.name),
    });
    let trusted = if form.trusted { ", annotations trusted" } else { "" };
    format!(
        "{} {} {}{}{trusted}",
        form.kind.as_str(),
        form.identifier,
        form.args.join(" "),
        variables.collect::<String>()
    )
}

pub(super) fn shorten(text: &str) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shared_protocol::text::truncate_bytes(&shown, MAX_QUOTED_BYTES)
}
