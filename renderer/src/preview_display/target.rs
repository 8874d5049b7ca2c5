//! Finds the preview target of a selection: its page, or else its component.

use crate::view::FrameView;
use shared_protocol::{BoardKind, ElementId, Node, NodeId, preview_sessions::PreviewTarget};

/// The type id of a page in the built-in modules.
const ROUTE_TYPE_ID: &str = "ui.route";

fn is_route(node: &Node) -> bool {
    node.type_id.as_str() == ROUTE_TYPE_ID
}

/// Returns the page that a node is or lies on.
fn route_of<'a>(view: &FrameView<'a>, node: NodeId) -> Option<&'a Node> {
    let mut at = view.snapshot.node(node)?;
    // The nesting limit bounds the loop.
    loop {
        if is_route(at) {
            return Some(at);
        }
        at = view.snapshot.node(at.parent?)?;
    }
}

/// Returns the pages of all interface boards, sorted by board title and position.
pub(crate) fn routes<'a>(view: &FrameView<'a>) -> Vec<&'a Node> {
    let snapshot = view.snapshot;
    let mut boards: Vec<_> = snapshot.boards().filter(|board| board.kind == BoardKind::Interface).collect();
    boards.sort_by(|a, b| a.title.cmp(&b.title));
    let mut all = Vec::new();
    for board in boards {
        let mut routes: Vec<&Node> =
            snapshot.nodes_on(board.id).map(AsRef::as_ref).filter(|node| is_route(node)).collect();
        let place = |node: &Node| snapshot.absolute_placement(node.id).map(|area| (area.y, area.x));
        routes.sort_by_key(|node| (place(node), node.id));
        all.extend(routes);
    }
    all
}

/// Returns the component that a node is an instance of, when the workspace has it.
fn component_of(view: &FrameView<'_>, node: NodeId) -> Option<String> {
    let type_id = view.snapshot.node(node)?.type_id.as_str();
    view.previews
        .components
        .iter()
        .find(|component| component.id == type_id)
        .map(|component| component.id.clone())
}

/// Returns the target of "preview the selection": the page that the selected node is or lies on, or else its component.
/// Without a selection on an interface board, returns the first page.
pub(crate) fn preview_target(view: &FrameView<'_>) -> Option<PreviewTarget> {
    let selected = view.selection.iter().find_map(|element| match element {
        ElementId::Node(node) => Some(*node),
        _ => None,
    });
    let Some(node) = selected else {
        let board = view.board().filter(|board| board.kind == BoardKind::Interface)?;
        return routes(view)
            .into_iter()
            .find(|route| route.board == board.id)
            .map(|route| PreviewTarget::Route(route.id));
    };
    match route_of(view, node) {
        Some(route) => Some(PreviewTarget::Route(route.id)),
        None => component_of(view, node).map(|component| PreviewTarget::Component { component }),
    }
}
