//! A board as a picture.

use super::board;
use crate::{Call, Code, Failure, Meta, Picture, PictureOf, Reply, Tool, WorkspaceView};
use authority::Snapshot;
use base64::Engine as _;
use rmcp::model::ContentBlock;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{Board, BoardKind, ElementId, Node, NodeId, PropKey};
use std::sync::Arc;

const USUAL_SIDE: u32 = 1_400;
const SIDES: std::ops::RangeInclusive<u32> = 128..=4_096;
/// As base64 it stays below what clients take in one message.
const MOST_BYTES: usize = 700 * 1024;
const MOST_NODES: usize = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Board,
    Selection,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    board: Option<String>,
    #[serde(default)]
    of: Of,
    #[serde(default)]
    nodes: Vec<String>,
    /// The page to show as it really looks.
    page: Option<String>,
    longest_side: Option<u32>,
    #[serde(default)]
    dark: bool,
}

pub(super) fn tool() -> Tool {
    Tool::slow(
        "workbench",
        "get_board_image",
        "Board image",
        "A PNG of a board, of the designer's selection, or of given nodes with their surroundings. With page, a page of an interface board as it really looks, rendered with its components.",
        json!({
            "board": { "type": "string", "description": "name or id; default: the active board" },
            "of": { "enum": ["board", "selection"] },
            "nodes": { "type": "array", "items": { "type": "string" }, "maxItems": MOST_NODES },
            "page": { "type": "string", "description": "a ui.route: name, id or path such as /orders" },
            "longestSide": { "type": "integer", "minimum": SIDES.start(), "maximum": SIDES.end(), "description": "pixels" },
            "dark": { "type": "boolean" }
        }),
        json!({ "type": "object" }),
        |call| {
            Box::pin(async move {
                let work = tokio::task::spawn_blocking(move || draw(&call));
                work.await.unwrap_or_else(|_| Err(Failure::new(Code::Internal, "drawing failed")))
            })
        },
    )
    .of_drafts()
}

/// A page by its path, name or id.
pub(super) fn find_page(workspace: &WorkspaceView, board: &Board, named: &str) -> Result<NodeId, Failure> {
    let snapshot = &workspace.snapshot;
    if named.starts_with('/')
        && let Some(page) = page_at(snapshot, board, named)
    {
        return Ok(page);
    }
    let node = board::find_node(workspace, board, named, "page").or_else(|failure| {
        // Without a board in so many words, a page of any interface board is meant.
        let boards = snapshot.boards().filter(|other| other.kind == BoardKind::Interface);
        let mut found = boards.filter_map(|other| {
            page_at(snapshot, other, named)
                .or_else(|| board::find_node(workspace, other, named, "page").ok().map(|node| node.id))
        });
        found.next().and_then(|id| snapshot.node(id)).ok_or(failure)
    })?;
    if node.type_id.as_str() != "ui.route" {
        let message = format!("{} is a {} and no page", node.name, node.type_id);
        return Err(Failure::new(Code::BadRequest, message).field("page"));
    }
    Ok(node.id)
}

fn page_at(snapshot: &Snapshot, board: &Board, path: &str) -> Option<NodeId> {
    let key = PropKey::parse("path").ok()?;
    let mut pages = snapshot.nodes_on(board.id).filter(|node| node.type_id.as_str() == "ui.route");
    let is_there = |node: &&Arc<Node>| {
        snapshot.effective_prop(node, &key).and_then(|value| value.as_text()) == Some(path)
    };
    pages.find(is_there).map(|node| node.id)
}

fn draw(call: &Call) -> Result<Reply, Failure> {
    let workspace = call.workspace()?;
    let arguments: Arguments = call.arguments()?;
    let longest = arguments.longest_side.unwrap_or(USUAL_SIDE);
    if !SIDES.contains(&longest) {
        let message = format!("longestSide goes from {} to {}", SIDES.start(), SIDES.end());
        return Err(Failure::new(Code::BadRequest, message).field("longestSide"));
    }
    if arguments.nodes.len() > MOST_NODES {
        return Err(Failure::new(Code::BadRequest, format!("{MOST_NODES} nodes at most")).field("nodes"));
    }
    let board = board::find(workspace, arguments.board.as_deref())?;
    let selection = workspace.presence.selection.clone();
    let page = arguments.page.as_deref().map(|named| find_page(workspace, board, named)).transpose()?;
    let of = match arguments.of {
        _ if page.is_some() => page.map_or(PictureOf::Board, PictureOf::Page),
        _ if !arguments.nodes.is_empty() => {
            let node = |named: &String| {
                board::find_node(workspace, board, named, "nodes").map(|n| ElementId::Node(n.id))
            };
            PictureOf::Elements(arguments.nodes.iter().map(node).collect::<Result<_, _>>()?)
        }
        Of::Board => PictureOf::Board,
        Of::Selection if selection.is_empty() => {
            return Err(Failure::new(Code::NotFound, "nothing is selected").field("of"));
        }
        Of::Selection => PictureOf::Elements(selection.clone()),
    };
    let mut picture = Picture { board: board.id, of, selection, longest, dark: arguments.dark };
    let mut png = call.workbench.picture(&workspace.snapshot, &picture)?;
    while png.len() > MOST_BYTES && picture.longest > *SIDES.start() {
        picture.longest = (picture.longest * 2 / 3).max(*SIDES.start());
        png = call.workbench.picture(&workspace.snapshot, &picture)?;
    }
    if png.len() > MOST_BYTES {
        return Err(
            Failure::new(Code::LimitExceeded, "the picture is too large").hint("Ask for some nodes only.")
        );
    }
    let meta =
        Meta { revision: workspace.revision().0, board: Some(board.name.to_string()), ..Meta::default() };
    let data = json!({ "board": board.name, "mimeType": "image/png", "bytes": png.len(), "longestSide": picture.longest });
    let mut reply = Reply::new(&data, meta)?;
    let encoded = base64::engine::general_purpose::STANDARD.encode(png);
    reply.content.push(ContentBlock::image(encoded, "image/png"));
    Ok(reply)
}
