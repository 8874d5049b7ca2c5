//! The file of a board as it is on the disk now.

use authority::{ApplyError, Snapshot, TypeRegistry};
use journal::{Digest, FileError, WorkspaceFiles, WorkspacePath, read_board};
use shared_protocol::{BoardId, BoardName, GraphDocument};
use std::sync::Arc;

/// A readable file that holds one whole board.
pub(in super::super) struct BoardFile {
    pub(in super::super) name: BoardName,
    pub(in super::super) board: BoardId,
    pub(in super::super) text: String,
    pub(in super::super) digest: Digest,
    /// The board alone, named as the file is.
    pub(in super::super) content: Snapshot,
}

impl BoardFile {
    pub(in super::super) fn read(
        files: &WorkspaceFiles,
        name: &BoardName,
        types: &Arc<TypeRegistry>,
    ) -> Result<Self, FileError> {
        Self::parse(name, files.read_text(&WorkspacePath::board(name))?, types)
    }

    pub(in super::super) fn parse(
        name: &BoardName,
        text: String,
        types: &Arc<TypeRegistry>,
    ) -> Result<Self, FileError> {
        let document = read_board(&text, name)?;
        let malformed = |problem: String| FileError::Malformed {
            path: WorkspacePath::board(name).to_string(),
            position: None,
            problem,
        };
        let board = document.boards.first().ok_or_else(|| malformed("it contains no board".to_owned()))?.id;
        let content = Snapshot::from_document(document, types.clone())
            .map_err(|error: ApplyError| malformed(error.to_string()))?;
        Ok(Self { name: name.clone(), board, digest: Digest::hash(text.as_bytes()), text, content })
    }

    pub(in super::super) fn path(&self) -> WorkspacePath {
        WorkspacePath::board(&self.name)
    }

    pub(in super::super) fn document(&self) -> GraphDocument {
        self.content.board_document(self.board)
    }

    /// Every node has a position.
    pub(in super::super) fn is_placed(&self) -> bool {
        self.content.nodes().all(|node| self.content.placement(node.id).is_some())
    }

    /// An element of the file that is on another board already: the file was copied, or the element moved.
    pub(in super::super) fn clash(&self, state: &Snapshot) -> Option<String> {
        let node_elsewhere = self
            .content
            .nodes()
            .find(|node| state.node(node.id).is_some_and(|other| other.board != self.board));
        let edge_elsewhere = self
            .content
            .edges_on(self.board)
            .find(|edge| state.edge(edge.id).is_some_and(|other| other.board != self.board));
        let element = node_elsewhere.map(|node| node.id.to_string());
        element.or_else(|| edge_elsewhere.map(|edge| edge.id.to_string()))
    }
}

/// Whether a board is the same in both states.
pub(super) fn is_same_board(a: &Snapshot, b: &Snapshot, board: BoardId) -> bool {
    a.board(board) == b.board(board)
        && a.nodes_on(board).eq(b.nodes_on(board))
        && a.edges_on(board).eq(b.edges_on(board))
        && a.nodes_on(board).all(|node| a.placement(node.id) == b.placement(node.id))
}
