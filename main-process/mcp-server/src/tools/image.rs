//! Board images.

use super::board;
use crate::{
    AgentCall, AgentWorkspaceView, BoardImageRequest, BoardImageSubject, EnvelopeMeta, SurfaceTool,
    ToolReply,
    draft::{self, RequestedView},
};
use authority::{
    Snapshot,
    proposals::{ProposalOverlay, open},
};
use base64::Engine as _;
use rmcp::model::ContentBlock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use shared_protocol::{
    Board, BoardId, BoardKind, ElementId, Node, NodeId, PropKey, ProposalSubject, Refusal, RefusalCode,
    review::ProposedElement,
};
use std::{collections::BTreeSet, sync::Arc};

const DEFAULT_SIDE_PX: u32 = 1_400;
const SIDE_RANGE_PX: std::ops::RangeInclusive<u32> = 128..=4_096;
/// The maximum bytes of an image: as base64 it fits into one message.
const MAX_IMAGE_BYTES: usize = 700 * 1024;
const MAX_IMAGE_NODES: usize = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RequestedImage {
    #[default]
    Board,
    Selection,
    // The diff of a proposal over the current board.
    Proposal,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImageArguments {
    /// name or id; default: the active board
    board: Option<String>,
    #[serde(default)]
    of: RequestedImage,
    #[serde(default)]
    #[schemars(length(max = MAX_IMAGE_NODES))]
    nodes: Vec<String>,
    /// ui.route node by name, id or path such as /orders
    page: Option<String>,
    /// in pixels
    #[schemars(range(min = *SIDE_RANGE_PX.start(), max = *SIDE_RANGE_PX.end()))]
    longest_side: Option<u32>,
    #[serde(default)]
    dark: bool,
    #[serde(rename = "view")]
    _view: Option<RequestedView>,
    proposal: Option<String>,
}

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::slow(
        "workbench",
        "get_board_image",
        "Board image",
        "Get a PNG of a board, the designer's selection, the given nodes with their surroundings, or the diff of one of your proposals (of: proposal). With page, render that page of an interface board with its components.",
        json!({ "type": "object" }),
        draw,
    )
}

/// Returns a page by its path, name or id.
pub(super) fn find_page(
    workspace: &AgentWorkspaceView,
    board: &Board,
    named: &str,
) -> Result<NodeId, Refusal> {
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
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("page"));
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
struct ImageTarget {
    board: Board,
    subject: BoardImageSubject,
}

fn draw(call: &AgentCall, arguments: ImageArguments) -> Result<ToolReply, Refusal> {
    let mut call = call.clone();
    // A proposal diff is drawn over the current board, so the draft view does not apply.
    if arguments.of != RequestedImage::Proposal {
        (call, _) = draft::resolve(call)?;
    }
    let workspace = call.workspace()?;
    let longest = arguments.longest_side.unwrap_or(DEFAULT_SIDE_PX);
    if !SIDE_RANGE_PX.contains(&longest) {
        let message =
            format!("longestSide must be between {} and {}", SIDE_RANGE_PX.start(), SIDE_RANGE_PX.end());
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("longestSide"));
    }
    if arguments.nodes.len() > MAX_IMAGE_NODES {
        return Err(Refusal::new(
            RefusalCode::BadRequest,
            format!("nodes can have at most {MAX_IMAGE_NODES} entries"),
        )
        .field("nodes"));
    }
    let selection = workspace.presence.selection.clone();
    let ImageTarget { board, subject: of } = match arguments.of {
        RequestedImage::Proposal => resolve_proposal_target(&call, &arguments)?,
        _ => resolve_target(workspace, &arguments)?,
    };
    let mut picture =
        BoardImageRequest { board: board.id, subject: of, selection, longest, dark: arguments.dark };
    let mut png = call.workbench.picture(&workspace.snapshot, &picture)?;
    while png.len() > MAX_IMAGE_BYTES && picture.longest > *SIDE_RANGE_PX.start() {
        picture.longest = (picture.longest * 2 / 3).max(*SIDE_RANGE_PX.start());
        png = call.workbench.picture(&workspace.snapshot, &picture)?;
    }
    if png.len() > MAX_IMAGE_BYTES {
        return Err(Refusal::new(RefusalCode::LimitExceeded, "The image is too large")
            .hint("Pass nodes to draw only a part of the board."));
    }
    let meta = EnvelopeMeta {
        revision: workspace.revision().0,
        board: Some(board.name.to_string()),
        ..EnvelopeMeta::default()
    };
    let data = json!({ "board": board.name, "mimeType": "image/png", "bytes": png.len(), "longestSide": picture.longest });
    let mut reply = ToolReply::new(&data, meta)?;
    let encoded = base64::engine::general_purpose::STANDARD.encode(png);
    reply.content.push(ContentBlock::image(encoded, "image/png"));
    Ok(reply)
}

fn resolve_target(
    workspace: &AgentWorkspaceView,
    arguments: &ImageArguments,
) -> Result<ImageTarget, Refusal> {
    let board = board::find(workspace, arguments.board.as_deref())?;
    let selection = &workspace.presence.selection;
    let page = arguments.page.as_deref().map(|named| find_page(workspace, board, named)).transpose()?;
    let of = match page {
        Some(page) => BoardImageSubject::Page(page),
        None if !arguments.nodes.is_empty() => {
            let node = |named: &String| {
                board::find_node(workspace, board, named, "nodes").map(|n| ElementId::Node(n.id))
            };
            BoardImageSubject::Elements(arguments.nodes.iter().map(node).collect::<Result<_, _>>()?)
        }
        None if arguments.of == RequestedImage::Board => BoardImageSubject::Board,
        None if selection.is_empty() => {
            return Err(Refusal::new(RefusalCode::NotFound, "The designer has selected nothing").field("of"));
        }
        None => BoardImageSubject::Elements(selection.clone()),
    };
    Ok(ImageTarget { board: board.clone(), subject: of })
}

/// Resolves a proposal of the client on the named board, the active board, or the first board that it touches.
fn resolve_proposal_target(call: &AgentCall, arguments: &ImageArguments) -> Result<ImageTarget, Refusal> {
    let (workspace, review) = (call.workspace()?, &call.view.review);
    if arguments.page.is_some() || !arguments.nodes.is_empty() {
        let message = "of: proposal draws everything the proposal touches on a board";
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("of").hint("Omit page and nodes."));
    }
    let proposal = draft::resolve_own_proposal(call, arguments.proposal.as_deref())?;
    let opened = open(review, &workspace.snapshot, proposal, 0)?;
    if let Some(why) = opened.conflicts.first() {
        let message = format!("The workspace conflicts with this proposal: {why}");
        return Err(Refusal::new(RefusalCode::Stale, message).field("proposal"));
    }
    let is_drawn = |element: &&ProposedElement| {
        matches!(element.subject, ProposalSubject::Node(_) | ProposalSubject::Edge(_))
    };
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
        Refusal::new(RefusalCode::NotFound, "The proposal has no visible changes on this board")
            .field("board")
            .hint("Call get_proposal for a description of its changes.")
    };
    let board = board.ok_or_else(nothing)?.clone();
    let overlay = ProposalOverlay::rebase_keeping_places(snapshot, &opened.changes);
    let after = overlay
        .map_err(|_| Refusal::new(RefusalCode::Stale, "The workspace conflicts with this proposal"))?;
    Ok(ImageTarget {
        board,
        subject: BoardImageSubject::Proposal { after: Box::new(after.state), elements: opened.elements },
    })
}
