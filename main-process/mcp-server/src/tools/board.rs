//! Finding what an argument names.

use crate::{Code, Failure, WorkspaceView};
use authority::Snapshot;
use shared_protocol::{Board, Node, command::BoardRef, command::NodeRef};

/// The named board, or the one that the designer looks at.
pub(super) fn find<'a>(workspace: &'a WorkspaceView, named: Option<&str>) -> Result<&'a Board, Failure> {
    find_in(workspace, &workspace.snapshot, named)
}

/// As [`find`], in another state than the one that the designer looks at.
pub(super) fn find_in<'a>(
    workspace: &WorkspaceView,
    snapshot: &'a Snapshot,
    named: Option<&str>,
) -> Result<&'a Board, Failure> {
    let Some(named) = named else {
        return workspace
            .active_board()
            .and_then(|id| snapshot.board(id))
            .ok_or_else(|| Failure::new(Code::NotFound, "the workspace has no board").field("board"));
    };
    let found = match named.parse::<BoardRef>() {
        Ok(BoardRef::Id(id)) => snapshot.board(id),
        Ok(BoardRef::Name(name)) => snapshot.board_named(&name),
        Err(_) => None,
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = snapshot.boards().map(|board| board.name.as_str()).collect();
        let similar = authority::similar(named, names.iter().copied());
        Failure::new(Code::NotFound, format!("there is no board `{named}`"))
            .field("board")
            .suggest(similar)
            .hint(format!("The boards are {}.", names.join(", ")))
    })
}

/// A node by id, name, or board/name.
pub(super) fn find_node<'a>(
    workspace: &'a WorkspaceView,
    board: &Board,
    named: &str,
    field: &str,
) -> Result<&'a Node, Failure> {
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
        Failure::new(Code::NotFound, format!("there is no node `{named}` on board {}", board.name))
            .field(field)
            .suggest(authority::similar(named, names))
    })
}
