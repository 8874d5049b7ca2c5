//! The state that the designer sees.

use crate::escape::escape_hidden;
use crate::{AgentCall, AgentWorkspaceView, EnvelopeMeta, SurfaceTool, ToolReply, schema::NoArguments};
use serde_json::{Value, json};
use shared_protocol::{Board, ElementId, Refusal};

/// The maximum number of selected elements described; the total is always returned.
const MAX_SELECTED_ELEMENTS: usize = 100;

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::read(
        "workbench",
        "get_workbench_context",
        "Workbench context",
        "Get what the designer sees now: revision, boards, active board, selection, viewport, problems, spec bundles, mode. Call this first.",
        json!({ "type": "object" }),
        |call, _: NoArguments| {
            let (data, meta) = context(call)?;
            ToolReply::new(&data, meta)
        },
    )
    .of_drafts()
}

/// Builds the data for the tool and the resource.
pub(crate) fn context(call: &AgentCall) -> Result<(Value, EnvelopeMeta), Refusal> {
    let workspace = call.workspace()?;
    let snapshot = &workspace.snapshot;
    let active = workspace.visible_board().and_then(|id| snapshot.board(id));
    let selection = &workspace.presence.selection;
    let selected: Vec<Value> = selection
        .iter()
        .take(MAX_SELECTED_ELEMENTS)
        .filter_map(|element| element_shape(workspace, *element))
        .collect();
    let problems = workspace.problems();
    let viewport = viewport(workspace);
    let held = workspace.status.held.iter().map(|held| json!({ "board": held.name, "why": held.why }));
    let meta = EnvelopeMeta {
        revision: workspace.revision().0,
        board: active.map(|board| board.name.to_string()),
        selection: Some(selection.iter().take(MAX_SELECTED_ELEMENTS).map(ToString::to_string).collect()),
        viewport: Some(viewport.clone()),
        ..EnvelopeMeta::default()
    };
    let data = json!({
        "workspace": { "name": escape_hidden(&workspace.name), "root": escape_hidden(&workspace.root) },
        "revision": workspace.revision(),
        "savedRevision": workspace.status.saved,
        "mode": call.mode,
        "activeBoard": active.map(|board| board.name.as_str()),
        "boards": snapshot.boards().map(|board| board_shape(workspace, board)).collect::<Vec<_>>(),
        "selection": { "total": selection.len(), "elements": selected },
        "viewport": viewport,
        "problems": { "errors": problems.errors(), "warnings": problems.warnings() },
        "bundles": call.view.specs.as_ref().map(|specs| specs.bundles()).unwrap_or_default(),
        "held": held.collect::<Vec<_>>(),
        "previews": crate::resources::sessions_in_brief(workspace),
        "openProposals": super::count_waiting(&call.view.review),
        "proposals": super::queue_shape(call)["proposals"],
    });
    Ok((data, meta))
}

fn viewport(workspace: &AgentWorkspaceView) -> Value {
    let active = workspace.visible_board();
    let found = workspace.presence.viewports.iter().find(|(board, _)| Some(*board) == active);
    // The visible part of the board, once a window has reported it.
    let visible = workspace.presence.on_screen().map(|screen| screen.visible);
    found.map_or(Value::Null, |(_, viewport)| {
        json!({ "centreX": viewport.x, "centreY": viewport.y, "zoom": viewport.zoom, "visible": visible })
    })
}

fn board_shape(workspace: &AgentWorkspaceView, board: &Board) -> Value {
    json!({
        "id": board.id,
        "name": board.name,
        "title": escape_hidden(&board.title),
        "kind": board.kind,
        "nodes": workspace.snapshot.nodes_on(board.id).count(),
        "edges": workspace.snapshot.edges_on(board.id).count(),
    })
}

/// Summarises an element. Returns `None` when it no longer exists.
pub(super) fn element_shape(workspace: &AgentWorkspaceView, element: ElementId) -> Option<Value> {
    let snapshot = &workspace.snapshot;
    Some(match element {
        ElementId::Board(id) => {
            let board = snapshot.board(id)?;
            json!({ "kind": "board", "id": id, "name": board.name, "title": escape_hidden(&board.title) })
        }
        ElementId::Node(id) => {
            let node = snapshot.node(id)?;
            json!({ "kind": "node", "id": id, "name": node.name, "label": escape_hidden(&node.label), "typeId": node.type_id })
        }
        ElementId::Edge(id) => {
            let edge = snapshot.edge(id)?;
            json!({ "kind": "edge", "id": id, "source": edge.source.node, "target": edge.target.node, "label": escape_hidden(&edge.label) })
        }
    })
}
