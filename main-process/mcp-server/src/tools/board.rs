//! Resolves boards and nodes named in arguments.

use crate::AgentWorkspaceView;
use authority::Snapshot;
use shared_protocol::{
    Board, Node, Refusal, RefusalCode,
    command::{BoardRef, NodeRef},
};

/// Returns the named board, or the default board.
pub(super) fn find<'a>(workspace: &'a AgentWorkspaceView, named: Option<&str>) -> Result<&'a Board, Refusal> {
    find_in(workspace, &workspace.snapshot, named)
}

/// Like [`find`], in another snapshot than the current one.
pub(super) fn find_in<'a>(
    workspace: &AgentWorkspaceView,
    snapshot: &'a Snapshot,
    named: Option<&str>,
) -> Result<&'a Board, Refusal> {
    let Some(named) = named else {
        return workspace
            .active_board()
            .and_then(|id| snapshot.board(id))
            .ok_or_else(|| Refusal::new(RefusalCode::NotFound, "The workspace has no board").field("board"));
    };
    let found = match named.parse::<BoardRef>() {
        Ok(BoardRef::Id(id)) => snapshot.board(id),
        Ok(BoardRef::Name(name)) => snapshot.board_named(&name),
        Err(_) => None,
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = snapshot.boards().map(|board| board.name.as_str()).collect();
        let similar = authority::similar(named, names.iter().copied());
        Refusal::new(RefusalCode::NotFound, format!("Board `{named}` does not exist"))
            .field("board")
            .suggest(similar)
            .hint(format!("Available boards: {}.", names.join(", ")))
    })
}

/// Returns a node by id, name or board/name.
pub(super) fn find_node<'a>(
    workspace: &'a AgentWorkspaceView,
    board: &Board,
    named: &str,
    field: &str,
) -> Result<&'a Node, Refusal> {
    let snapshot = &workspace.snapshot;
    let found = match named.parse::<NodeRef>() {
        Ok(NodeRef::Id(id)) => snapshot.node(id),
        Ok(NodeRef::Name(path)) => {
            let board = path.board.as_ref().map_or(Some(board), |name| snapshot.board_named(name));
            board.and_then(|board| snapshot.node_named(board.id, &path.name))
        }
        Err(_) => None,
    };
    found.ok_or_else(|| {
        let names = snapshot.nodes_on(board.id).map(|node| node.name.as_str());
        Refusal::new(RefusalCode::NotFound, format!("Node `{named}` does not exist on board {}", board.name))
            .field(field)
            .suggest(authority::similar(named, names))
    })
}
