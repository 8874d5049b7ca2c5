//! Board images.

use super::board;
use crate::{Call, Code, Failure, Meta, Picture, PictureOf, Reply, Tool, WorkspaceView, draft};
use authority::{
    Snapshot,
    proposals::{Overlay, open},
};
use base64::Engine as _;
use rmcp::model::ContentBlock;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    Board, BoardId, BoardKind, ElementId, Node, NodeId, PropKey, Subject, review::Element,
};
use std::{collections::BTreeSet, sync::Arc};

const USUAL_SIDE: u32 = 1_400;
const SIDES: std::ops::RangeInclusive<u32> = 128..=4_096;
/// The maximum bytes of an image: as base64 it fits into one message.
const MOST_BYTES: usize = 700 * 1024;
const MOST_NODES: usize = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Board,
    Selection,
    /// The diff of a proposal over the current board.
    Proposal,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    board: Option<String>,
    #[serde(default)]
    of: Of,
    #[serde(default)]
    nodes: Vec<String>,
    /// The page to render with its components.
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
        "Get a PNG of a board, the designer's selection, the given nodes with their surroundings, or the diff of one of your proposals (of: proposal). With page, render that page of an interface board with its components.",
        json!({
            "board": { "type": "string", "description": "board name or id; default: the active board" },
            "of": { "enum": ["board", "selection", "proposal"] },
            "nodes": { "type": "array", "items": { "type": "string" }, "maxItems": MOST_NODES },
            "page": { "type": "string", "description": "ui.route node by name, id or path such as /orders" },
            "longestSide": { "type": "integer", "minimum": SIDES.start(), "maximum": SIDES.end(), "description": "longest side of the image in pixels" },
            "dark": { "type": "boolean" },
            "view": { "enum": ["current", "draft"] },
            "proposal": { "type": "string" }
        }),
        json!({ "type": "object" }),
        |call| {
            Box::pin(async move {
                let work = tokio::task::spawn_blocking(move || draw(&call));
                work.await.unwrap_or_else(|_| Err(Failure::new(Code::Internal, "Drawing the image failed")))
            })
        },
    )
}

/// Returns a page by its path, name or id.
pub(super) fn find_page(workspace: &WorkspaceView, board: &Board, named: &str) -> Result<NodeId, Failure> {
    let snapshot = &workspace.snapshot;
    if named.starts_with('/')
        && let Some(page) = page_at(snapshot, board, named)
    {
        return Ok(page);
    }
    let node = board::find_node(workspace, board, named, "page").or_else(|failure| {
        // Without a named board, searches all interface boards.
        let boards = snapshot.boards().filter(|other| other.kind == BoardKind::Interface);
        let mut found = boards.filter_map(|other| {
            page_at(snapshot, other, named)
                .or_else(|| board::find_node(workspace, other, named, "page").ok().map(|node| node.id))
        });
        found.next().and_then(|id| snapshot.node(id)).ok_or(failure)
    })?;
    if node.type_id.as_str() != "ui.route" {
        let message = format!("{} is a {}, not a page", node.name, node.type_id);
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

/// The board and subject of an image.
struct Wanted {
    board: Board,
    of: PictureOf,
}

fn draw(call: &Call) -> Result<Reply, Failure> {
    // A proposal diff is drawn over the current board, so the draft view does not apply.
    let is_diff = call.arguments.get("of") == Some(&json!("proposal"));
    let named = if is_diff { call.arguments.get("proposal").cloned() } else { None };
    let mut call = call.clone();
    if is_diff {
        call.arguments.remove("proposal");
        call.arguments.remove("view");
    } else {
        (call, _) = draft::resolve(call)?;
    }
    let (workspace, arguments): (_, Arguments) = (call.workspace()?, call.arguments()?);
    let longest = arguments.longest_side.unwrap_or(USUAL_SIDE);
    if !SIDES.contains(&longest) {
        let message = format!("longestSide must be between {} and {}", SIDES.start(), SIDES.end());
        return Err(Failure::new(Code::BadRequest, message).field("longestSide"));
    }
    if arguments.nodes.len() > MOST_NODES {
        return Err(Failure::new(Code::BadRequest, format!("nodes can have at most {MOST_NODES} entries"))
            .field("nodes"));
    }
    let selection = workspace.presence.selection.clone();
    let Wanted { board, of } = match arguments.of {
        Of::Proposal => proposed(&call, named.as_ref(), &arguments)?,
        _ => wanted(workspace, &arguments)?,
    };
    let mut picture = Picture { board: board.id, of, selection, longest, dark: arguments.dark };
    let mut png = call.workbench.picture(&workspace.snapshot, &picture)?;
    while png.len() > MOST_BYTES && picture.longest > *SIDES.start() {
        picture.longest = (picture.longest * 2 / 3).max(*SIDES.start());
        png = call.workbench.picture(&workspace.snapshot, &picture)?;
    }
    if png.len() > MOST_BYTES {
        return Err(Failure::new(Code::LimitExceeded, "The image is too large")
            .hint("Pass nodes to draw only a part of the board."));
    }
    let meta =
        Meta { revision: workspace.revision().0, board: Some(board.name.to_string()), ..Meta::default() };
    let data = json!({ "board": board.name, "mimeType": "image/png", "bytes": png.len(), "longestSide": picture.longest });
    let mut reply = Reply::new(&data, meta)?;
    let encoded = base64::engine::general_purpose::STANDARD.encode(png);
    reply.content.push(ContentBlock::image(encoded, "image/png"));
    Ok(reply)
}

fn wanted(workspace: &WorkspaceView, arguments: &Arguments) -> Result<Wanted, Failure> {
    let board = board::find(workspace, arguments.board.as_deref())?;
    let selection = &workspace.presence.selection;
    let page = arguments.page.as_deref().map(|named| find_page(workspace, board, named)).transpose()?;
    let of = match page {
        Some(page) => PictureOf::Page(page),
        None if !arguments.nodes.is_empty() => {
            let node = |named: &String| {
                board::find_node(workspace, board, named, "nodes").map(|n| ElementId::Node(n.id))
            };
            PictureOf::Elements(arguments.nodes.iter().map(node).collect::<Result<_, _>>()?)
        }
        None if arguments.of == Of::Board => PictureOf::Board,
        None if selection.is_empty() => {
            return Err(Failure::new(Code::NotFound, "The designer has selected nothing").field("of"));
        }
        None => PictureOf::Elements(selection.clone()),
    };
    Ok(Wanted { board: board.clone(), of })
}

/// Resolves a proposal of the client on the named board, the active board, or the first board that it touches.
fn proposed(call: &Call, named: Option<&Value>, arguments: &Arguments) -> Result<Wanted, Failure> {
    let (workspace, review) = (call.workspace()?, &call.view.review);
    if arguments.page.is_some() || !arguments.nodes.is_empty() {
        let message = "of: proposal draws everything the proposal touches on a board";
        return Err(Failure::new(Code::BadRequest, message).field("of").hint("Omit page and nodes."));
    }
    let proposal = draft::named(call, named)?;
    let opened = open(review, &workspace.snapshot, proposal, 0)?;
    if let Some(why) = opened.conflicts.first() {
        let message = format!("The workspace conflicts with this proposal: {why}");
        return Err(Failure::new(Code::Stale, message).field("proposal"));
    }
    let is_drawn = |element: &&Element| matches!(element.subject, Subject::Node(_) | Subject::Edge(_));
    let drawn: BTreeSet<BoardId> =
        opened.elements.iter().filter(is_drawn).filter_map(|element| element.board).collect();
    let touched = |board: &Board| drawn.contains(&board.id);
    let snapshot = &workspace.snapshot;
    let board = match arguments.board.as_deref() {
        Some(named) => Some(board::find(workspace, Some(named))?).filter(|board| touched(board)),
        None => {
            let active = workspace.active_board().and_then(|id| snapshot.board(id)).filter(|b| touched(b));
            active.or_else(|| snapshot.boards().map(|board| &**board).find(|board| touched(board)))
        }
    };
    let nothing = || {
        Failure::new(Code::NotFound, "The proposal has no visible changes on this board")
            .field("board")
            .hint("Call get_proposal for a description of its changes.")
    };
    let board = board.ok_or_else(nothing)?.clone();
    let overlay = Overlay::lenient(snapshot, &opened.changes);
    let after =
        overlay.map_err(|_| Failure::new(Code::Stale, "The workspace conflicts with this proposal"))?;
    Ok(Wanted { board, of: PictureOf::Proposal { after: Box::new(after.state), elements: opened.elements } })
}
