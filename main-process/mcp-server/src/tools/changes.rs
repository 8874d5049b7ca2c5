//! The operations after a revision, in the form agents may read.

use super::shape;
use crate::escape::escape_hidden;
use crate::{
    AgentCall, AgentWorkspaceView, EnvelopeMeta, SurfaceTool, ToolReply,
    draft::{self, RequestedView},
    page::{self, ListPage, MAX_DATA_BYTES, MAX_PAGE_ITEMS, PageRequest},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    Change, Node, NodeId, Override, PropKey, Proposal, Refusal, RefusalCode, Revision, TypeId,
    messages::Patch,
};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

const DEFAULT_OPERATIONS: u64 = 50;
/// The maximum number of changes listed per operation, and the default page size for a proposal.
const MAX_CHANGES_PER_OPERATION: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangesArguments {
    revision: u64,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    #[serde(default)]
    view: RequestedView,
    proposal: Option<String>,
    cursor: Option<String>,
}

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::slow(
        "workbench",
        "get_changes_since",
        "Changes since a revision",
        "Get the operations after a revision, oldest first. While meta.hasMore, call again with data.to. resync: true: the revision is too old, read everything again. view: draft adds the changes of your draft, paged by cursor.",
        json!({ "type": "object", "properties": { "to": { "type": "integer" }, "resync": { "type": "boolean" }, "operations": { "type": "array" } } }),
        changes,
    )
}

fn changes(call: &AgentCall, arguments: ChangesArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let ChangesArguments { revision, limit, view, proposal, cursor } = arguments;
    let present = workspace.revision();
    let mut meta = EnvelopeMeta { revision: present.0, ..EnvelopeMeta::default() };
    let draft = match view {
        RequestedView::Draft => {
            Some(draft_changes_json(call, proposal.as_deref(), (limit, cursor), &mut meta)?)
        }
        RequestedView::Current if proposal.is_some() || cursor.is_some() => {
            let field = if proposal.is_some() { "proposal" } else { "cursor" };
            let message = format!("{field} requires view: \"draft\"");
            return Err(Refusal::new(RefusalCode::BadRequest, message).field(field));
        }
        RequestedView::Current => None,
    };
    if revision > present.0 {
        let message = format!("revision {revision} is newer than the current revision {present}");
        return Err(Refusal::new(RefusalCode::BadRequest, message)
            .field("revision")
            .hint("Another workspace may be open now: read everything again."));
    }
    let limit = limit.unwrap_or(DEFAULT_OPERATIONS);
    if !(1..=MAX_PAGE_ITEMS as u64).contains(&limit) {
        return Err(Refusal::new(
            RefusalCode::BadRequest,
            format!("limit must be between 1 and {MAX_PAGE_ITEMS}"),
        )
        .field("limit"));
    }
    let Some(patches) = call.workbench.changes_since(Revision(revision))? else {
        let data = format!(
            r#"{{"from":{revision},"to":{present},"resync":true,"operations":[]{}}}"#,
            draft_field(draft.as_deref())
        );
        return Ok(ToolReply { data, meta, ..ToolReply::default() });
    };
    // Newer patches belong to a later answer.
    let patches: Vec<Patch> = patches.into_iter().filter(|patch| patch.revision <= present).collect();
    let types = types_of(patches.iter().flat_map(|patch| &patch.changes));
    let mut bytes = draft.as_ref().map_or(0, String::len);
    let (mut operations, mut to) = (Vec::new(), Revision(revision));
    for patch in patches.iter().take(usize::try_from(limit).unwrap_or(MAX_PAGE_ITEMS)) {
        let mut text =
            crate::envelope::to_json(&operation(workspace, &types, patch, MAX_CHANGES_PER_OPERATION))?;
        if operations.is_empty() && bytes + text.len() > MAX_DATA_BYTES {
            // Lists the operation without its changes; otherwise no answer could get past it.
            text = crate::envelope::to_json(&operation(workspace, &types, patch, 0))?;
        }
        bytes += text.len() + 1;
        if !operations.is_empty() && bytes > MAX_DATA_BYTES {
            meta.cut = Some("the answer reached its byte limit");
            break;
        }
        operations.push(text);
        to = patch.revision;
    }
    meta.returned = Some(operations.len());
    // The journal returns a bounded number of patches, so only the revision shows whether more remain.
    meta.has_more = Some(to < present);
    let data = format!(
        r#"{{"from":{revision},"to":{to},"resync":false,"operations":{}{}}}"#,
        page::array(&operations),
        draft_field(draft.as_deref()),
    );
    Ok(ToolReply { data, meta, ..ToolReply::default() })
}

fn draft_field(draft: Option<&str>) -> String {
    draft.map_or_else(String::new, |draft| format!(r#","draft":{draft}"#))
}

/// Returns the changes of the client's draft over the current state, as JSON. The draft has its own pages: its totals
/// are separate from the operations, and `cursor` continues only the draft.
fn draft_changes_json(
    call: &AgentCall,
    named: Option<&str>,
    (limit, cursor): (Option<u64>, Option<String>),
    meta: &mut EnvelopeMeta,
) -> Result<String, Refusal> {
    let proposal = draft::resolve_own_proposal(call, named)?;
    let page = page_of_changes(call, proposal, limit, cursor)?;
    let mut own = EnvelopeMeta::default();
    page.describe(&mut own);
    meta.cursor = own.cursor;
    let head = json!({
        "proposal": proposal.id, "version": proposal.version, "state": proposal.state.as_str(),
        "total": own.total, "hasMore": own.has_more,
    });
    page::with_list(&head, "changes", &page.json())
}

/// Returns a page of the changes of a proposal, in the form agents may read. All tools share this list.
pub(super) fn page_of_changes(
    call: &AgentCall,
    proposal: &Proposal,
    limit: Option<u64>,
    cursor: Option<String>,
) -> Result<ListPage, Refusal> {
    let workspace = call.workspace()?;
    let types = types_of(&proposal.changes);
    let mut state = DefaultHasher::new();
    // Proposals of other clients do not affect the state.
    (proposal.version, proposal.steps.len(), proposal.changes.len()).hash(&mut state);
    call.view.review.base(proposal).hash(&mut state);
    let asked = PageRequest {
        limit,
        default_limit: MAX_CHANGES_PER_OPERATION,
        cursor,
        offset: None,
        list_key: format!("changes of {}", proposal.id),
        state_key: state.finish(),
    };
    page::paginate(asked, proposal.changes.iter(), |change| change_shape(workspace, &types, change))
}

/// Returns the types of added and removed nodes, which may not exist in the current state.
fn types_of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> BTreeMap<NodeId, TypeId> {
    let elements = changes.into_iter().filter_map(|change| match change {
        Change::Node { id, before, after } => {
            after.as_ref().or(before.as_ref()).map(|node| (*id, node.type_id.clone()))
        }
        _ => None,
    });
    elements.collect()
}

fn operation(
    workspace: &AgentWorkspaceView,
    types: &BTreeMap<NodeId, TypeId>,
    patch: &Patch,
    max_changes: usize,
) -> Value {
    let told: Vec<Value> =
        patch.changes.iter().take(max_changes).map(|change| change_shape(workspace, types, change)).collect();
    let mut operation = json!({
        "revision": patch.revision,
        "actor": { "kind": patch.actor.kind, "name": escape_hidden(&patch.actor.name) },
        "summary": escape_hidden(&patch.summary),
        "changes": told,
    });
    let omitted = patch.changes.len().saturating_sub(max_changes);
    if omitted > 0 {
        operation["changesOmitted"] = json!(omitted);
    }
    operation
}

fn change_shape(workspace: &AgentWorkspaceView, types: &BTreeMap<NodeId, TypeId>, change: &Change) -> Value {
    match change {
        Change::Board { id, before, after } => {
            let board = after.as_ref().or(before.as_ref());
            json!({
                "board": id, "change": change_kind(before.is_some(), after.is_some()),
                "name": board.map(|board| board.name.as_str()), "title": board.map(|board| escape_hidden(&board.title)),
            })
        }
        Change::Node { id, before, after } => {
            let node: Option<&Node> = after.as_deref().or(before.as_deref());
            json!({
                "node": id, "change": change_kind(before.is_some(), after.is_some()),
                "typeId": node.map(|node| node.type_id.as_str()), "name": node.map(|node| node.name.as_str()),
                "label": node.map(|node| escape_hidden(&node.label)),
            })
        }
        Change::Name { node, before, after } => {
            json!({ "node": node, "change": "name", "before": before, "after": after })
        }
        Change::Label { node, before, after } => {
            json!({ "node": node, "change": "label", "before": escape_hidden(before), "after": escape_hidden(after) })
        }
        Change::Parent { node, before, after } => {
            json!({ "node": node, "change": "parent", "before": before, "after": after })
        }
        Change::Prop { node, key, before, after } => {
            let value = |value: &Option<shared_protocol::PropValue>| {
                value.as_ref().map_or(Value::Null, |value| property(workspace, types, *node, key, value))
            };
            json!({ "node": node, "change": "property", "key": key, "before": value(before), "after": value(after) })
        }
        Change::References { node, key, before, after } => {
            json!({ "node": node, "change": "references", "key": key, "before": before, "after": after })
        }
        Change::Variable { node, key, before, after } => {
            json!({ "node": node, "change": "variable", "key": key, "before": before, "after": after })
        }
        Change::Edge { id, before, after } => {
            let edge = after.as_ref().or(before.as_ref());
            json!({
                "edge": id, "change": change_kind(before.is_some(), after.is_some()),
                "source": edge.map(|edge| edge.source.node), "target": edge.map(|edge| edge.target.node),
            })
        }
        Change::Source { path, before, after } => {
            json!({ "file": path, "change": change_kind(before.is_some(), after.is_some()) })
        }
        Change::Override { key, before, after } => {
            let value = |over: &Option<std::sync::Arc<Override>>| {
                over.as_ref().map_or(Value::Null, |over| shape::override_value(key, &over.value))
            };
            json!({
                "override": { "scope": key.scope, "instance": escape_hidden(&key.instance), "path": key.path },
                "change": change_kind(before.is_some(), after.is_some()),
                "before": value(before), "after": value(after),
            })
        }
        Change::Placement { node, after, .. } => {
            json!({ "node": node, "change": "placement", "after": after })
        }
    }
}

fn change_kind(before: bool, after: bool) -> &'static str {
    match (before, after) {
        (false, _) => "added",
        (true, false) => "removed",
        (true, true) => "changed",
    }
}

/// Redacts the value of an unknown node, because it might be a secret.
fn property(
    workspace: &AgentWorkspaceView,
    types: &BTreeMap<NodeId, TypeId>,
    node: NodeId,
    key: &PropKey,
    value: &shared_protocol::PropValue,
) -> Value {
    let snapshot = &workspace.snapshot;
    let type_id = snapshot.node(node).map(|node| &node.type_id).or_else(|| types.get(&node));
    match type_id {
        Some(type_id) => shape::property(snapshot.registry().get(type_id), key, value),
        None => Value::String(shape::REDACTED.to_owned()),
    }
}
