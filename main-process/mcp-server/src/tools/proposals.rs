//! The review queue as agents see it: their own proposals in full, and the number of others.

use super::changes::changed;
use crate::{
    Call, Code, Failure, Meta, Reply, Tool, WorkspaceView,
    page::{MOST_LIMIT, with_list},
    shown,
};
use authority::{
    Snapshot,
    proposals::{Queue, brief as judge, clashes, lines, risks},
};
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{Proposal, ProposalState, Subject};
use std::sync::Arc;

/// The maximum number of elements described per proposal; the total is always returned.
const MOST_LINES: usize = 500;
const MOST_LISTED: usize = 100;

pub(super) fn list() -> Tool {
    Tool::read(
        "proposals",
        "list_proposals",
        "List proposals",
        "List your proposals: those waiting for review first (highest risk, then oldest), then drafts, then decided ones (newest first); and the number of other clients' proposals that wait. A client without a connection has no list: call get_proposal with an id.",
        json!({}),
        json!({ "type": "object", "properties": { "proposals": { "type": "array" } } }),
        |call| {
            let workspace = call.workspace()?;
            let data = queue(call);
            let total = data["proposals"].as_array().map_or(0, Vec::len);
            let mut meta = Meta { revision: workspace.revision().0, ..Meta::default() };
            (meta.returned, meta.total, meta.has_more) = (Some(total), Some(total), Some(false));
            Reply::new(&data, meta)
        },
    )
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
    #[serde(default)]
    changes: bool,
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn get() -> Tool {
    Tool::read(
        "proposals",
        "get_proposal",
        "Get proposal",
        "Get one of your proposals: state, decisions, the reviewer's reason and comments, and a description of its changes. With changes: true, also get each change, in pages.",
        json!({
            "id": { "type": "string" }, "changes": { "type": "boolean" },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_LIMIT }, "cursor": { "type": "string" }
        }),
        json!({ "type": "object" }),
        get_one,
    )
}

fn get_one(call: &Call) -> Result<Reply, Failure> {
    let workspace = call.workspace()?;
    let Arguments { id, changes, limit, cursor } = call.arguments()?;
    let mut meta = Meta { revision: workspace.revision().0, ..Meta::default() };
    let data = one(call, &id)?;
    if !changes && (limit.is_some() || cursor.is_some()) {
        let field = if limit.is_some() { "limit" } else { "cursor" };
        let message = format!("{field} requires changes: true");
        return Err(Failure::new(Code::BadRequest, message).field(field));
    }
    if !changes {
        return Reply::new(&data, meta);
    }
    let page = changed(call, own(call, &id)?, limit, cursor)?;
    page.describe(&mut meta);
    let data = with_list(&data, "changes", &page.json())?;
    Ok(Reply { data, meta, ..Reply::default() })
}

/// Builds the list for the tool and the resource.
pub(crate) fn queue(call: &Call) -> Value {
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
        "proposals": own.iter().take(MOST_LISTED).map(|proposal| brief(review, proposal)).collect::<Vec<_>>(),
        "othersWaiting": others,
    })
}

/// Returns the number of proposals of all clients that wait for review.
pub(crate) fn waiting(review: &Queue) -> usize {
    let waits = |p: &&Arc<Proposal>| matches!(p.state, ProposalState::Open | ProposalState::Stale { .. });
    review.iter().filter(waits).count()
}

fn brief(review: &Queue, proposal: &Proposal) -> Value {
    let mut brief = json!({
        "id": proposal.id,
        "number": proposal.number,
        "title": shown(&proposal.title),
        "state": proposal.state.word(),
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
        ProposalState::Rejected { reason, .. } => brief["reason"] = json!(shown(reason)),
        ProposalState::Stale { why } => {
            brief["why"] = why.iter().map(|reason| json!(shown(reason))).collect();
        }
        ProposalState::Superseded { by } => brief["supersededBy"] = json!(by),
        _ => {}
    }
    brief
}

/// Returns a proposal of the client. A proposal of another client is reported as not found.
fn own<'a>(call: &'a Call, id: &str) -> Result<&'a Arc<Proposal>, Failure> {
    let unknown =
        || Failure::new(Code::NotFound, format!("Proposal `{}` does not exist", shown(id))).field("id");
    let id = id.parse().map_err(|_| unknown())?;
    call.view.review.own(id, &call.client).map_err(|_| unknown())
}

/// Returns all data of a proposal except its list of changes.
pub(crate) fn one(call: &Call, id: &str) -> Result<Value, Failure> {
    let workspace: &WorkspaceView = call.workspace()?;
    let (review, proposal) = (&call.view.review, own(call, id)?);
    let mut data = brief(review, proposal);
    data["rationale"] = json!(shown(&proposal.rationale));
    data["steps"] = proposal
        .steps
        .iter()
        .rev()
        .take(MOST_LISTED)
        .rev()
        .map(|step| {
            json!({
                "summary": shown(&step.summary), "byReviewer": step.by_reviewer.is_some(),
            })
        })
        .collect();
    data["commentsInFull"] = proposal.comments.iter().map(|comment| json!({
        "by": shown(&comment.by), "time": comment.time, "about": comment.about.as_ref().map(ToString::to_string),
        "text": shown(&comment.text),
    })).collect();
    data["decisions"] = proposal.decisions.iter().map(|decided| json!({
        "version": decided.version, "revision": decided.revision, "by": shown(&decided.by), "time": decided.time,
        "elements": decided.subjects.len(),
    })).collect();
    if matches!(proposal.state, ProposalState::Draft | ProposalState::Open | ProposalState::Stale { .. }) {
        data["clashes"] = clashes(&workspace.snapshot, proposal)
            .iter()
            .map(|clash| {
                json!({
                    "element": clash.subject.to_string(), "name": shown(&clash.name), "field": shown(&clash.field),
                    "before": clash.before.as_deref().map(shown), "now": clash.now.as_deref().map(shown),
                    "proposed": clash.proposed.as_deref().map(shown),
                })
            })
            .collect();
    }
    data["risks"] =
        risks(&workspace.snapshot, &proposal.changes).into_iter().map(|risk| json!(risk)).collect();
    data["outcome"] = json!(proposal.outcome.as_deref().map(shown));
    data["act"] = json!(proposal.act.as_ref().map(|act| act.words()));
    let after = review.overlay(&workspace.snapshot, proposal);
    let state = after.as_ref().unwrap_or(&workspace.snapshot);
    let all = lines(&workspace.snapshot, state, &proposal.changes);
    let of_entity = |subject: &Subject| match subject {
        Subject::Source(path) => {
            let text = |state: &Snapshot| state.source(path).map(Arc::clone);
            let (before, after) = (text(&workspace.snapshot), text(state));
            call.view.specs.as_ref()?.words_of_change(path.as_str(), before.as_deref(), after.as_deref())
        }
        _ => None,
    };
    data["changesInWords"] = all
        .iter()
        .take(MOST_LINES)
        .map(|line| {
            let text = of_entity(&line.subject);
            let text = text.as_ref().unwrap_or(&line.text);
            json!({ "element": line.subject.to_string(), "kind": line.kind, "text": shown(text) })
        })
        .collect();
    if all.len() > MOST_LINES {
        data["omitted"] = json!(all.len() - MOST_LINES);
    }
    Ok(data)
}
