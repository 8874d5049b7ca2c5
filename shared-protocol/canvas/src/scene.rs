//! The input of a canvas, and its events.

use crate::WorkbenchTheme;
use authority::{ProblemIndex, Snapshot};
use shared_protocol::{
    BoardId, BoardPoint, Command, EdgeEndpoint, ElementId, NodeId, ProposalSubject, Refusal,
};
use std::collections::BTreeSet;

/// One board to draw, with its selection, problems and theme.
#[derive(Clone, Copy)]
pub struct BoardScene<'a> {
    pub snapshot: &'a Snapshot,
    pub board: BoardId,
    pub selection: &'a BTreeSet<ElementId>,
    pub problems: &'a ProblemIndex,
    pub theme: &'a WorkbenchTheme,
    /// Only navigation and selection are allowed.
    pub read_only: bool,
}

impl BoardScene<'_> {
    pub(crate) fn is_selected(&self, node: NodeId) -> bool {
        self.selection.contains(&ElementId::Node(node))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum CanvasEvent {
    /// The complete new selection.
    Select(BTreeSet<ElementId>),
    Run(Command),
    ViewportChanged,
    /// Opens quick add at this point, to add an element connected to `from` if it is given.
    QuickAdd {
        at: BoardPoint,
        from: Option<EdgeEndpoint>,
    },
    ContextMenu {
        at: egui::Pos2,
        element: Option<ElementId>,
        board_point: BoardPoint,
    },
    /// The rules do not allow the gesture; nothing changed.
    Refused(Refusal),
    /// A double click on a node that is not a container.
    Open(NodeId),
    /// A click on an element of the shown proposal.
    Proposed(ProposalSubject),
}
