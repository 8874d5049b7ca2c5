//! The content of a board.

use super::{
    board,
    shape::{self, AnswerDetail},
};
use crate::{
    AgentCall, AgentWorkspaceView, EnvelopeMeta, SurfaceTool, ToolReply,
    page::{self, DEFAULT_PAGE_ITEMS, ListPage, MAX_PAGE_ITEMS, PageRequest},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{Board, Edge, Node, Refusal, RefusalCode, registry::TypePattern};
use std::sync::Arc;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListResourcesArguments {
    /// name or id; default: the active board
    board: Option<String>,
    /// * matches any text
    type_id: Option<String>,
    /// direct children of this node
    parent_id: Option<String>,
    #[serde(default)]
    detail: AnswerDetail,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    offset: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn list_resources() -> SurfaceTool {
    SurfaceTool::read(
        "diagram",
        "list_resources",
        "List resources",
        "List the nodes of a board in pages. Sensitive values are redacted.",
        json!({ "type": "array" }),
        list,
    )
    .cacheable()
    .of_drafts()
}

fn list(call: &AgentCall, arguments: ListResourcesArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
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
        pattern.as_ref().map(TypePattern::as_str),
        arguments.detail
    );
    let asked = PageRequest {
        limit: arguments.limit,
        default_limit: DEFAULT_PAGE_ITEMS,
        cursor: arguments.cursor,
        offset: arguments.offset,
        list_key: list,
        state_key: call.view.generation,
    };
    let page =
        page::paginate(asked, nodes.into_iter(), |node| shape::node(workspace, node, arguments.detail))?;
    let mut meta = meta(workspace, board);
    page.describe(&mut meta);
    Ok(ToolReply { data: page.json(), meta, ..ToolReply::default() })
}

fn type_pattern(text: &str) -> Result<TypePattern, Refusal> {
    TypePattern::parse(text).map_err(|message| Refusal::new(RefusalCode::BadRequest, message).field("typeId"))
}

fn meta(workspace: &AgentWorkspaceView, board: &Board) -> EnvelopeMeta {
    EnvelopeMeta {
        revision: workspace.revision().0,
        board: Some(board.name.to_string()),
        ..EnvelopeMeta::default()
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DiagramArguments {
    /// name or id; default: the active board
    board: Option<String>,
    #[serde(default)]
    detail: AnswerDetail,
    /// nodes and edges
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn get_diagram() -> SurfaceTool {
    SurfaceTool::read(
        "diagram",
        "get_diagram",
        "Get diagram",
        "Get a whole board: nodes and edges. Large boards come in pages, nodes first.",
        json!({ "type": "object", "properties": { "nodes": { "type": "array" }, "edges": { "type": "array" } } }),
        |call, arguments: DiagramArguments| {
            let workspace = call.workspace()?;
            let board = board::find(workspace, arguments.board.as_deref())?;
            diagram(workspace, board, arguments, call.view.generation)
        },
    )
    .cacheable()
    .of_drafts()
}

enum DiagramElement<'a> {
    Node(&'a Node),
    Edge(&'a Edge),
}

fn diagram(
    workspace: &AgentWorkspaceView,
    board: &Board,
    arguments: DiagramArguments,
    generation: u64,
) -> Result<ToolReply, Refusal> {
    let snapshot = &workspace.snapshot;
    let mut elements: Vec<DiagramElement<'_>> =
        snapshot.nodes_on(board.id).map(|node| DiagramElement::Node(node)).collect();
    let node_count = elements.len();
    elements.extend(snapshot.edges_on(board.id).map(|edge| DiagramElement::Edge(edge)));
    let detail = arguments.detail;
    let asked = PageRequest {
        limit: arguments.limit,
        default_limit: MAX_PAGE_ITEMS,
        cursor: arguments.cursor,
        offset: None,
        list_key: format!("get_diagram {} {detail:?}", board.id),
        state_key: generation,
    };
    let page: ListPage = page::paginate(asked, elements.into_iter(), |element| {
        match element {
            DiagramElement::Node(node) => serde_json::to_value(shape::node(workspace, node, detail)),
            DiagramElement::Edge(edge) => serde_json::to_value(shape::edge(edge, detail)),
        }
        .unwrap_or_default()
    })?;
    let (nodes, edges) = page.items.split_at(node_count.saturating_sub(page.start).min(page.items.len()));
    let data = format!(r#"{{"nodes":{},"edges":{}}}"#, page::array(nodes), page::array(edges));
    let mut meta = meta(workspace, board);
    page.describe(&mut meta);
    Ok(ToolReply { data, meta, ..ToolReply::default() })
}

/// Returns the first page, for the resource.
pub(crate) fn whole_board(
    workspace: &AgentWorkspaceView,
    board: &Board,
    generation: u64,
) -> Result<ToolReply, Refusal> {
    diagram(workspace, board, DiagramArguments::default(), generation)
}
