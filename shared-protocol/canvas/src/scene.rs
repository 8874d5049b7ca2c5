//! What a canvas is given to draw, and what it gives back.

use crate::Theme;
use authority::{Problems, Snapshot};
use shared_protocol::{BoardId, Command, ElementId, Endpoint, NodeId, Point, Refusal, Subject};
use std::collections::BTreeSet;

/// One board as it should look now.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub snapshot: &'a Snapshot,
    pub board: BoardId,
    pub selection: &'a BTreeSet<ElementId>,
    pub problems: &'a Problems,
    pub theme: &'a Theme,
    /// Looking and selecting only.
    pub read_only: bool,
}

impl Scene<'_> {
    pub(crate) fn is_selected(&self, node: NodeId) -> bool {
        self.selection.contains(&ElementId::Node(node))
    }
}

/// What a person did on the board.
#[derive(Debug, Clone, PartialEq)]
pub enum CanvasEvent {
    /// The selection that should hold from now on, whole.
    Select(BTreeSet<ElementId>),
    Run(Command),
    ViewportChanged,
    /// Somebody wants to add something here, connected with `from` if it is given.
    QuickAdd {
        at: Point,
        from: Option<Endpoint>,
    },
    ContextMenu {
        at: egui::Pos2,
        element: Option<ElementId>,
        board_point: Point,
    },
    /// A gesture that the rules do not allow; nothing was changed.
    Refused(Refusal),
    /// A double click on a node that holds no others.
    Open(NodeId),
    /// A click on something that the shown proposal touches.
    Proposed(Subject),
}
