//! The content of a board.

use super::{
    board,
    shape::{self, Detail},
};
use crate::{
    Call, Failure, Meta, Reply, Tool, WorkspaceView,
    page::{self, Asked, DEFAULT_LIMIT, MOST_LIMIT, Page},
};
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{Board, Edge, Node, registry::Pattern};
use std::sync::Arc;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListArguments {
    board: Option<String>,
    type_id: Option<String>,
    parent_id: Option<String>,
    #[serde(default)]
    detail: Detail,
    limit: Option<u64>,
    offset: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn list_resources() -> Tool {
    Tool::read(
        "diagram",
        "list_resources",
        "List resources",
        "List the nodes of a board in pages. Sensitive values are redacted.",
        json!({
            "board": { "type": "string", "description": "board name or id; default: the active board" },
            "typeId": { "type": "string", "description": "type id to match; * matches any text" },
            "parentId": { "type": "string", "description": "only direct children of this node" },
            "detail": { "enum": ["ids", "summary", "full"] },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_LIMIT },
            "offset": { "type": "integer", "minimum": 0 },
            "cursor": { "type": "string" }
        }),
        json!({ "type": "array" }),
        list,
    )
    .lasting()
    .of_drafts()
}

fn list(call: &Call) -> Result<Reply, Failure> {
    let workspace = call.workspace()?;
    let arguments: ListArguments = call.arguments()?;
    let board = board::find(workspace, arguments.board.as_deref())?;
    let pattern = arguments.type_id.as_deref().map(type_pattern).transpose()?;
    let parent = match &arguments.parent_id {
        Some(named) => Some(board::find_node(workspace, board, named, "parentId")?.id),
        None => None,
    };
    let fits = |node: &&Arc<Node>| {
        pattern.as_ref().is_none_or(|pattern| pattern.matches(&node.type_id))
            && parent.is_none_or(|parent| node.parent == Some(parent))
    };
    let nodes: Vec<&Arc<Node>> = workspace.snapshot.nodes_on(board.id).filter(fits).collect();
    let list = format!(
        "list_resources {} {:?} {parent:?} {:?}",
        board.id,
        pattern.as_ref().map(Pattern::as_str),
        arguments.detail
    );
    let asked = Asked {
        limit: arguments.limit,
        usual: DEFAULT_LIMIT,
        cursor: arguments.cursor,
        offset: arguments.offset,
        list,
        state: call.view.generation,
    };
    let page = page::take(asked, nodes.into_iter(), |node| shape::node(workspace, node, arguments.detail))?;
    let mut meta = meta(workspace, board);
    page.describe(&mut meta);
    Ok(Reply { data: page.json(), meta, ..Reply::default() })
}

fn type_pattern(text: &str) -> Result<Pattern, Failure> {
    Pattern::parse(text).map_err(|message| Failure::new(crate::Code::BadRequest, message).field("typeId"))
}

fn meta(workspace: &WorkspaceView, board: &Board) -> Meta {
    Meta { revision: workspace.revision().0, board: Some(board.name.to_string()), ..Meta::default() }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DiagramArguments {
    board: Option<String>,
    #[serde(default)]
    detail: Detail,
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn get_diagram() -> Tool {
    Tool::read(
        "diagram",
        "get_diagram",
        "Get diagram",
        "Get a whole board: nodes and edges. Large boards come in pages, nodes first.",
        json!({
            "board": { "type": "string", "description": "board name or id; default: the active board" },
            "detail": { "enum": ["ids", "summary", "full"] },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_LIMIT, "description": "maximum number of nodes and edges together" },
            "cursor": { "type": "string" }
        }),
        json!({ "type": "object", "properties": { "nodes": { "type": "array" }, "edges": { "type": "array" } } }),
        |call| {
            let workspace = call.workspace()?;
            let arguments: DiagramArguments = call.arguments()?;
            let board = board::find(workspace, arguments.board.as_deref())?;
            diagram(workspace, board, arguments, call.view.generation)
        },
    )
    .lasting()
    .of_drafts()
}

enum Element<'a> {
    Node(&'a Node),
    Edge(&'a Edge),
}

fn diagram(
    workspace: &WorkspaceView,
    board: &Board,
    arguments: DiagramArguments,
    generation: u64,
) -> Result<Reply, Failure> {
    let snapshot = &workspace.snapshot;
    let mut elements: Vec<Element<'_>> =
        snapshot.nodes_on(board.id).map(|node| Element::Node(node)).collect();
    let node_count = elements.len();
    elements.extend(snapshot.edges_on(board.id).map(|edge| Element::Edge(edge)));
    let detail = arguments.detail;
    let asked = Asked {
        limit: arguments.limit,
        usual: MOST_LIMIT,
        cursor: arguments.cursor,
        offset: None,
        list: format!("get_diagram {} {detail:?}", board.id),
        state: generation,
    };
    let page: Page = page::take(asked, elements.into_iter(), |element| {
        match element {
            Element::Node(node) => serde_json::to_value(shape::node(workspace, node, detail)),
            Element::Edge(edge) => serde_json::to_value(shape::edge(edge, detail)),
        }
        .unwrap_or_default()
    })?;
    let (nodes, edges) = page.items.split_at(node_count.saturating_sub(page.start).min(page.items.len()));
    let data = format!(r#"{{"nodes":{},"edges":{}}}"#, page::array(nodes), page::array(edges));
    let mut meta = meta(workspace, board);
    page.describe(&mut meta);
    Ok(Reply { data, meta, ..Reply::default() })
}

/// Returns the first page, for the resource.
pub(crate) fn whole_board(
    workspace: &WorkspaceView,
    board: &Board,
    generation: u64,
) -> Result<Reply, Failure> {
    diagram(workspace, board, DiagramArguments::default(), generation)
}
