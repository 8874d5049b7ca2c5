//! Read tools on a draft: the same tools run on a view of the workspace with the draft applied.

use crate::{AgentCall, AgentView, AgentWorkspaceView, surface::parse_arguments};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use shared_protocol::{Proposal, ProposalId, Refusal, RefusalCode};
use std::sync::Arc;

/// The arguments of every tool that can read a draft.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct DraftArguments {
    view: Option<RequestedView>,
    proposal: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestedView {
    #[default]
    Current,
    Draft,
}

/// Resolves `view` and `proposal`. With `view: "draft"` the call sees the client's draft, or the named proposal of
/// its own. Also returns whether it does.
pub(crate) fn resolve(mut call: AgentCall) -> Result<(AgentCall, bool), Refusal> {
    let given = ["view", "proposal"].iter().filter_map(|key| call.arguments.remove_entry(*key));
    let DraftArguments { view, proposal } = parse_arguments(&given.collect::<JsonObject>())?;
    match (view, &proposal) {
        (None | Some(RequestedView::Current), None) => return Ok((call, false)),
        (Some(RequestedView::Current), Some(_)) => {
            return Err(
                Refusal::new(RefusalCode::BadRequest, "proposal requires view: \"draft\"").field("proposal")
            );
        }
        _ => {}
    }
    let workspace = call.workspace()?;
    let (review, proposal) = (&call.view.review, resolve_own_proposal(&call, proposal.as_deref())?);
    let snapshot = review.overlay(&workspace.snapshot, proposal)?;
    let workspace = AgentWorkspaceView {
        root: workspace.root.clone(),
        name: workspace.name.clone(),
        snapshot,
        presence: workspace.presence.clone(),
        status: workspace.status.clone(),
        config: Arc::clone(&workspace.config),
        problems: Arc::default(),
        deployments: Arc::clone(&workspace.deployments),
        previews: Arc::clone(&workspace.previews),
    };
    // A cursor is valid for one state of one draft.
    let state = (call.view.review_stamp << 20) ^ proposal.id.bits() ^ (1 << 63);
    let specs = call.view.specs.as_ref();
    call.view = Arc::new(AgentView {
        generation: call.view.generation ^ state,
        workspace: Some(Arc::new(workspace)),
        specs: specs.map(|specs| specs.with_changes(&proposal.changes).unwrap_or_else(|| Arc::clone(specs))),
        review: call.view.review.clone(),
        review_stamp: call.view.review_stamp,
        proxied_tools: call.view.proxied_tools.clone(),
    });
    Ok((call, true))
}

/// Returns the named proposal or the client's draft, and never a proposal of another client.
pub(crate) fn resolve_own_proposal<'a>(
    call: &'a AgentCall,
    named: Option<&str>,
) -> Result<&'a Arc<Proposal>, Refusal> {
    let review = &call.view.review;
    let id = match named {
        None => {
            let failure = Refusal::new(RefusalCode::NotFound, "You have no draft").field("view");
            let hint = "Call a tool that proposes a change to start a draft. If you have the id of a draft, pass it as proposal.";
            return review.draft(None, &call.client)?.ok_or_else(|| failure.hint(hint));
        }
        Some(named) => named.parse::<ProposalId>().ok(),
    };
    let wrong = || Refusal::new(RefusalCode::BadRequest, "proposal must be a proposal id").field("proposal");
    review.owned_by(id.ok_or_else(wrong)?, &call.client)
}
