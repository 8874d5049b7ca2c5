//! Read tools on a draft: the same tools run on a view of the workspace with the draft applied.

use crate::{AgentCall, AgentView, AgentWorkspaceView, ToolError, ToolErrorCode};
use serde_json::Value;
use shared_protocol::{Proposal, ProposalId};
use std::sync::Arc;

/// Resolves `view` and `proposal`. With `view: "draft"` the call sees the client's draft, or the named proposal of
/// its own. Also returns whether it does.
pub(crate) fn resolve(mut call: AgentCall) -> Result<(AgentCall, bool), ToolError> {
    let view = call.arguments.remove("view").unwrap_or_default();
    let named = call.arguments.remove("proposal").unwrap_or_default();
    let wrong = |field: &str, message: &str| ToolError::new(ToolErrorCode::BadRequest, message).field(field);
    match (&view, &named) {
        (Value::Null, Value::Null) => return Ok((call, false)),
        (Value::String(view), Value::Null) if view == "current" => return Ok((call, false)),
        (Value::Null, _) => {}
        (Value::String(view), _) if view == "draft" => {}
        (Value::String(view), _) if view == "current" => {
            return Err(wrong("proposal", "proposal requires view: \"draft\""));
        }
        _ => return Err(wrong("view", "view must be \"current\" or \"draft\"")),
    }
    let workspace = call.workspace()?;
    let (review, proposal) = (&call.view.review, resolve_own_proposal(&call, Some(&named))?);
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
    named: Option<&Value>,
) -> Result<&'a Arc<Proposal>, ToolError> {
    let review = &call.view.review;
    let id = match named {
        None | Some(Value::Null) => {
            let failure = ToolError::new(ToolErrorCode::NotFound, "You have no draft").field("view");
            let hint = "Call a tool that proposes a change to start a draft. If you have the id of a draft, pass it as proposal.";
            return review.draft(None, &call.client)?.ok_or_else(|| failure.hint(hint));
        }
        Some(named) => named.as_str().and_then(|text| text.parse::<ProposalId>().ok()),
    };
    let wrong =
        || ToolError::new(ToolErrorCode::BadRequest, "proposal must be a proposal id").field("proposal");
    Ok(review.owned_by(id.ok_or_else(wrong)?, &call.client)?)
}
