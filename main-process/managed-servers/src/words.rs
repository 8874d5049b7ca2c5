//! Decisions in words: for the person who is shown a code, and for the audit.

use super::views;
use shared_protocol::{
    Refusal,
    upstreams::{ServerBrief, ServerForm, ServerId, UpstreamDecision, UpstreamsView, VariableValue},
};

/// Characters of a command line or of arguments in one line of text.
const LONGEST: usize = 300;

/// What a decision would do. It names what a person should look at before saying yes; never a secret.
pub(super) fn purpose(decision: &UpstreamDecision, view: &UpstreamsView) -> Result<String, Refusal> {
    let server = |id: &ServerId| {
        let found = view.servers.iter().find(|brief| brief.id == *id || brief.slug == id.0);
        found.ok_or_else(|| views::unknown(&id.0))
    };
    let named = |brief: &ServerBrief| format!("{} ({})", brief.name, brief.slug);
    Ok(match decision {
        UpstreamDecision::Enable { server: id } => {
            let brief = server(id)?;
            format!("switch on {}, which runs: {}", named(brief), cut(&brief.runs))
        }
        UpstreamDecision::Approve { server: id, tools } => {
            let names: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
            format!("let agents use {} of {}", cut(&names.join(", ")), named(server(id)?))
        }
        UpstreamDecision::SetTool { server: id, tool, enabled, policy, idle_ms, total_ms } => {
            let on = if *enabled { "on" } else { "off" };
            let time = |what: &str, time: &Option<u64>| {
                time.map(|time| format!(", {what} {time} ms")).unwrap_or_default()
            };
            let times = time("silent at most", idle_ms) + &time("in all at most", total_ms);
            format!("set {} of {}: {on}, policy {}{times}", cut(tool), named(server(id)?), policy.word())
        }
        UpstreamDecision::Update { server: id, form } => {
            format!("change {}: {}", named(server(id)?), cut(&form_words(form)))
        }
        UpstreamDecision::Delete { server: id } => {
            format!("forget {} with its approvals and secrets", named(server(id)?))
        }
        UpstreamDecision::SetSecret { server: id, part, .. } => {
            format!("set the secret {} of {}", cut(part), named(server(id)?))
        }
        UpstreamDecision::ApproveManifest { hash } => {
            let found = view.manifests.iter().find(|manifest| manifest.hash.as_ref() == Some(hash));
            let Some(found) = found else {
                return Ok("let agents use the tools of a manifest that is not there any more".to_owned());
            };
            let does: Vec<&str> =
                found.tools.iter().map(|tool| tool.does.as_str()).filter(|does| !does.is_empty()).collect();
            format!("let agents use the tools of {}: {}", cut(&found.path), cut(&does.join("; ")))
        }
        UpstreamDecision::SetManifestPolicy { tool, policy } => {
            format!("set the policy of {} to {}", cut(tool), policy.word())
        }
        UpstreamDecision::SetManifestSecret { manifest, credential, .. } => {
            format!("set the credential {} of {}", cut(credential), cut(manifest))
        }
        UpstreamDecision::Call(call) => format!("call {} with {}", cut(&call.tool), cut(&call.arguments)),
    })
}

fn form_words(form: &ServerForm) -> String {
    let variables = form.variables.iter().map(|variable| match &variable.value {
        VariableValue::Plain(text) => format!(" {}={text}", variable.name),
        VariableValue::Typed(_) => format!(" {}=(a new secret)", variable.name),
        VariableValue::Secret { .. } | VariableValue::Missing => format!(" {}", variable.name),
    });
    let trusted = if form.trusted { ", believed" } else { "" };
    format!(
        "{} {} {}{}{trusted}",
        form.kind.word(),
        form.identifier,
        form.args.join(" "),
        variables.collect::<String>()
    )
}

pub(super) fn cut(text: &str) -> String {
    let mut shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() > LONGEST {
        shown.truncate(shown.floor_char_boundary(LONGEST));
        shown.push('…');
    }
    shown
}
