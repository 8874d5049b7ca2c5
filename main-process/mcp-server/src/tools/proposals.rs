//! The review queue as agents see it: their own proposals in full, and the number of others.

use super::changes::page_of_changes;
use crate::escape::escape_hidden;
use crate::{
    AgentCall, AgentWorkspaceView, EnvelopeMeta, SurfaceTool, ToolReply,
    page::{MAX_PAGE_ITEMS, with_list},
    schema::NoArguments,
};
use authority::{
    Snapshot,
    proposals::{ReviewQueue, brief as judge, field_clashes, lines, risks},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{Proposal, ProposalState, ProposalSubject, Refusal, RefusalCode};
use std::sync::Arc;

/// The maximum number of elements described per proposal; the total is always returned.
const MAX_CHANGE_LINES: usize = 500;
const MAX_LISTED_PROPOSALS: usize = 100;

pub(super) fn list() -> SurfaceTool {
    SurfaceTool::read(
        "proposals",
        "list_proposals",
        "List proposals",
        "List your proposals: waiting ones first (highest risk, then oldest), then drafts, then decided ones; and how many others wait. Without a connection there is no list: call get_proposal with an id.",
        json!({ "type": "object", "properties": { "proposals": { "type": "array" } } }),
        |call, _: NoArguments| {
            let workspace = call.workspace()?;
            let data = describe_queue(call);
            let total = data["proposals"].as_array().map_or(0, Vec::len);
            let mut meta = EnvelopeMeta { revision: workspace.revision().0, ..EnvelopeMeta::default() };
            (meta.returned, meta.total, meta.has_more) = (Some(total), Some(total), Some(false));
            ToolReply::new(&data, meta)
        },
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetProposalArguments {
    id: String,
    #[serde(default)]
    changes: bool,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn get() -> SurfaceTool {
    SurfaceTool::read(
        "proposals",
        "get_proposal",
        "Get proposal",
        "Get one of your proposals: state, decisions, the reviewer's reason and comments, and a description of its changes. With changes: true, also get each change, in pages.",
        json!({ "type": "object" }),
        get_one,
    )
}

fn get_one(call: &AgentCall, arguments: GetProposalArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let GetProposalArguments { id, changes, limit, cursor } = arguments;
    let mut meta = EnvelopeMeta { revision: workspace.revision().0, ..EnvelopeMeta::default() };
    let data = describe_proposal(call, &id)?;
    if !changes && (limit.is_some() || cursor.is_some()) {
        let field = if limit.is_some() { "limit" } else { "cursor" };
        let message = format!("{field} requires changes: true");
        return Err(Refusal::new(RefusalCode::BadRequest, message).field(field));
    }
    if !changes {
        return ToolReply::new(&data, meta);
    }
    let page = page_of_changes(call, own_proposal(call, &id)?, limit, cursor)?;
    page.describe(&mut meta);
    let data = with_list(&data, "changes", &page.json())?;
    Ok(ToolReply { data, meta, ..ToolReply::default() })
}

/// Builds the list for the tool and the resource.
pub(crate) fn describe_queue(call: &AgentCall) -> Value {
    let review = &call.view.review;
    let waits =
        |proposal: &Proposal| matches!(proposal.state, ProposalState::Open | ProposalState::Stale { .. });
    let mut own: Vec<&Arc<Proposal>> = match call.client.connected {
        true => review.iter().filter(|p| p.proposer.key == call.client.proposer.key).collect(),
        // Names are self-reported, so they do not identify an owner.
        false => Vec::new(),
    };
    own.sort_by_key(|proposal| std::cmp::Reverse(proposal.number));
    if let Ok(workspace) = call.workspace() {
        let (mut open, decided): (Vec<_>, Vec<_>) = own
            .iter()
            .copied()
            .partition(|proposal| waits(proposal) || proposal.state == ProposalState::Draft);
        let judged = |proposal: &Arc<Proposal>| judge(review, &workspace.snapshot, proposal, 0);
        open.sort_by(|a, b| judged(a).queue_order(&judged(b)));
        own = open.into_iter().chain(decided).collect();
    }
    let others = review.iter().filter(|p| waits(p) && !own.iter().any(|own| own.id == p.id)).count();
    let status = if own.is_empty() && others == 0 { "no proposals wait for review" } else { "" };
    json!({
        "status": status,
        "proposals": own.iter().take(MAX_LISTED_PROPOSALS).map(|proposal| summarize(review, proposal)).collect::<Vec<_>>(),
        "othersWaiting": others,
    })
}

/// Returns the number of proposals of all clients that wait for review.
pub(crate) fn count_waiting(review: &ReviewQueue) -> usize {
    let waits = |p: &&Arc<Proposal>| matches!(p.state, ProposalState::Open | ProposalState::Stale { .. });
    review.iter().filter(waits).count()
}

fn summarize(review: &ReviewQueue, proposal: &Proposal) -> Value {
    let mut brief = json!({
        "id": proposal.id,
        "number": proposal.number,
        "title": escape_hidden(&proposal.title),
        "state": proposal.state.as_str(),
        "partlyAccepted": !proposal.decisions.is_empty() && proposal.state != ProposalState::Accepted,
        "version": proposal.version,
        "base": review.base(proposal),
        "elements": proposal.subjects().len(),
        "calls": proposal.steps.len(),
        "comments": proposal.comments.len(),
        "created": proposal.created,
        "expires": proposal.expires,
    });
    match &proposal.state {
        ProposalState::Rejected { reason, .. } => brief["reason"] = json!(escape_hidden(reason)),
        ProposalState::Stale { why } => {
            brief["why"] = why.iter().map(|reason| json!(escape_hidden(reason))).collect();
        }
        ProposalState::Superseded { by } => brief["supersededBy"] = json!(by),
        _ => {}
    }
    brief
}

/// Returns a proposal of the client. A proposal of another client is reported as not found.
fn own_proposal<'a>(call: &'a AgentCall, id: &str) -> Result<&'a Arc<Proposal>, Refusal> {
    let unknown = || {
        Refusal::new(RefusalCode::NotFound, format!("Proposal `{}` does not exist", escape_hidden(id)))
            .field("id")
    };
    let id = id.parse().map_err(|_| unknown())?;
    call.view.review.owned_by(id, &call.client).map_err(|_| unknown())
}

/// Returns all data of a proposal except its list of changes.
pub(crate) fn describe_proposal(call: &AgentCall, id: &str) -> Result<Value, Refusal> {
    let workspace: &AgentWorkspaceView = call.workspace()?;
    let (review, proposal) = (&call.view.review, own_proposal(call, id)?);
    let mut data = summarize(review, proposal);
    data["rationale"] = json!(escape_hidden(&proposal.rationale));
    data["steps"] = proposal
        .steps
        .iter()
        .rev()
        .take(MAX_LISTED_PROPOSALS)
        .rev()
        .map(|step| {
            json!({
                "summary": escape_hidden(&step.summary), "byReviewer": step.by_reviewer.is_some(),
            })
        })
        .collect();
    data["commentsInFull"] = proposal.comments.iter().map(|comment| json!({
        "by": escape_hidden(&comment.by), "time": comment.time, "about": comment.about.as_ref().map(ToString::to_string),
        "text": escape_hidden(&comment.text),
    })).collect();
    data["decisions"] = proposal.decisions.iter().map(|decided| json!({
        "version": decided.version, "revision": decided.revision, "by": escape_hidden(&decided.by), "time": decided.time,
        "elements": decided.subjects.len(),
    })).collect();
    if matches!(proposal.state, ProposalState::Draft | ProposalState::Open | ProposalState::Stale { .. }) {
        data["clashes"] = field_clashes(&workspace.snapshot, proposal)
            .iter()
            .map(|clash| {
                json!({
                    "element": clash.subject.to_string(), "name": escape_hidden(&clash.name), "field": escape_hidden(&clash.field),
                    "before": clash.before.as_deref().map(escape_hidden), "now": clash.now.as_deref().map(escape_hidden),
                    "proposed": clash.proposed.as_deref().map(escape_hidden),
                })
            })
            .collect();
    }
    data["risks"] =
        risks(&workspace.snapshot, &proposal.changes).into_iter().map(|risk| json!(risk)).collect();
    data["outcome"] = json!(proposal.outcome.as_deref().map(escape_hidden));
    data["act"] = json!(proposal.act.as_ref().map(|act| act.describe()));
    let after = review.overlay(&workspace.snapshot, proposal);
    let state = after.as_ref().unwrap_or(&workspace.snapshot);
    let all = lines(&workspace.snapshot, state, &proposal.changes);
    let of_entity = |subject: &ProposalSubject| match subject {
        ProposalSubject::Source(path) => {
            let text = |state: &Snapshot| state.source(path).map(Arc::clone);
            let (before, after) = (text(&workspace.snapshot), text(state));
            call.view.specs.as_ref()?.words_of_change(path.as_str(), before.as_deref(), after.as_deref())
        }
        _ => None,
    };
    data["changesInWords"] = all
        .iter()
        .take(MAX_CHANGE_LINES)
        .map(|line| {
            let text = of_entity(&line.subject);
            let text = text.as_ref().unwrap_or(&line.text);
            json!({ "element": line.subject.to_string(), "kind": line.kind, "text": escape_hidden(text) })
        })
        .collect();
    if all.len() > MAX_CHANGE_LINES {
        data["omitted"] = json!(all.len() - MAX_CHANGE_LINES);
    }
    Ok(data)
}
