//! The graph: boards hold nodes and edges. Semantics and layout are stored separately, so that forty moved boxes
//! never hide one deleted database.

use crate::{
    BoardId, BoardName, EdgeId, ElementId, NodeId, NodeName, Override, OverrideKey, PortId, PropKey,
    PropValue, Revision, SourcePath, TypeId,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BoardKind {
    /// Cloud resources, generated as Terraform.
    Infrastructure,
    /// Routes and component instances with a live preview.
    Interface,
    /// Entities of a spec bundle.
    Spec,
}

impl BoardKind {
    pub const ALL: [Self; 3] = [Self::Infrastructure, Self::Interface, Self::Spec];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Infrastructure => "infrastructure",
            Self::Interface => "interface",
            Self::Spec => "spec",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    pub id: BoardId,
    pub kind: BoardKind,
    pub name: BoardName,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    pub id: NodeId,
    pub board: BoardId,
    #[serde(rename = "type")]
    pub type_id: TypeId,
    pub name: NodeName,
    /// The text on the canvas.
    pub label: String,
    /// The container of the node.
    pub parent: Option<NodeId>,
    pub props: BTreeMap<PropKey, PropValue>,
    /// Properties that refer to other nodes; a key is present only when it has a target.
    pub references: BTreeMap<PropKey, Vec<NodeId>>,
    /// Properties whose value is a Terraform variable; the value in `props` is then only the default.
    #[serde(default)]
    pub variables: BTreeSet<PropKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EdgeEndpoint {
    pub node: NodeId,
    pub port: PortId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub id: EdgeId,
    pub board: BoardId,
    pub source: EdgeEndpoint,
    pub target: EdgeEndpoint,
    pub label: String,
}

/// A position on a board in whole units; one unit is a pixel at 100 % zoom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BoardPoint {
    pub x: i32,
    pub y: i32,
}

/// The position and size of a node, relative to the top left of its container (or of the board). Moving a container
/// moves its content without changing the placements inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub x: i32,
    pub y: i32,
    pub w: i32,
    pub h: i32,
}

impl Placement {
    pub const fn origin(self) -> BoardPoint {
        BoardPoint { x: self.x, y: self.y }
    }

    pub const fn right(self) -> i32 {
        self.x.saturating_add(self.w)
    }

    pub const fn bottom(self) -> i32 {
        self.y.saturating_add(self.h)
    }

    #[must_use]
    pub const fn moved_to(self, point: BoardPoint) -> Self {
        Self { x: point.x, y: point.y, ..self }
    }

    #[must_use]
    pub const fn moved_by(self, dx: i32, dy: i32) -> Self {
        Self { x: self.x.saturating_add(dx), y: self.y.saturating_add(dy), ..self }
    }

    /// Grows the placement by `margin` on every side.
    #[must_use]
    pub const fn expand(self, margin: i32) -> Self {
        Self { x: self.x - margin, y: self.y - margin, w: self.w + 2 * margin, h: self.h + 2 * margin }
    }

    pub const fn overlaps(self, other: Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    /// The smallest placement that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self { x, y, w: self.right().max(other.right()) - x, h: self.bottom().max(other.bottom()) - y }
    }
}

/// The whole graph as flat lists, sorted by id. Sent to the renderer and written to checkpoints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphDocument {
    pub revision: Revision,
    pub boards: Vec<Board>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub layout: Vec<(NodeId, Placement)>,
    /// Text files that are part of the state.
    #[serde(default)]
    pub sources: Vec<(SourcePath, Arc<str>)>,
    /// The provenance of every element that an operation changed. An element that is not listed is unchanged since
    /// the start.
    #[serde(default)]
    pub provenance: Vec<(ElementId, Provenance)>,
    /// Overrides of props of instances.
    #[serde(default)]
    pub overrides: Vec<(OverrideKey, Override)>,
}

/// The operations that created and last changed an element. Revision 0 is the start: the files as first opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Revision, Revision)", into = "(Revision, Revision)")]
pub struct Provenance {
    pub created: Revision,
    pub changed: Revision,
}

impl From<(Revision, Revision)> for Provenance {
    fn from((created, changed): (Revision, Revision)) -> Self {
        Self { created, changed }
    }
}

impl From<Provenance> for (Revision, Revision) {
    fn from(Provenance { created, changed }: Provenance) -> Self {
        (created, changed)
    }
}
