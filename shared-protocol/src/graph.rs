//! The graph: boards hold nodes and edges. What things are (semantic) and where they stand (layout) are kept apart,
//! so that forty moved boxes never hide one deleted database.

use crate::{
    BoardId, BoardName, EdgeId, ElementId, Name, NodeId, Override, OverrideKey, PortId, PropKey, Revision,
    SourcePath, TypeId, Value,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BoardKind {
    /// Cloud resources that become Terraform.
    Infrastructure,
    /// Routes and component instances with a live preview.
    Interface,
    /// Entities of a spec bundle.
    Spec,
}

impl BoardKind {
    pub const ALL: [Self; 3] = [Self::Infrastructure, Self::Interface, Self::Spec];

    pub fn word(self) -> &'static str {
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
    pub name: Name,
    /// What people read on the canvas.
    pub label: String,
    /// The container it stands in.
    pub parent: Option<NodeId>,
    pub props: BTreeMap<PropKey, Value>,
    /// Properties that point at other nodes; a key is present only when it has a target.
    pub references: BTreeMap<PropKey, Vec<NodeId>>,
    /// Properties whose value is given from outside; what is in `props` is then only the default.
    #[serde(default)]
    pub variables: BTreeSet<PropKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Endpoint {
    pub node: NodeId,
    pub port: PortId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub id: EdgeId,
    pub board: BoardId,
    pub source: Endpoint,
    pub target: Endpoint,
    pub label: String,
}

/// A place on a board. Whole units: one is a pixel at 100 %.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// Where a node stands, from the top left of its container (or of the board). A container that moves takes its content
/// along without touching it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub x: i32,
    pub y: i32,
    pub w: i32,
    pub h: i32,
}

impl Placement {
    pub const fn origin(self) -> Point {
        Point { x: self.x, y: self.y }
    }

    pub const fn right(self) -> i32 {
        self.x.saturating_add(self.w)
    }

    pub const fn bottom(self) -> i32 {
        self.y.saturating_add(self.h)
    }

    #[must_use]
    pub const fn at(self, point: Point) -> Self {
        Self { x: point.x, y: point.y, ..self }
    }

    #[must_use]
    pub const fn moved_by(self, dx: i32, dy: i32) -> Self {
        Self { x: self.x.saturating_add(dx), y: self.y.saturating_add(dy), ..self }
    }

    /// Larger by `margin` on every side.
    #[must_use]
    pub const fn grown(self, margin: i32) -> Self {
        Self { x: self.x - margin, y: self.y - margin, w: self.w + 2 * margin, h: self.h + 2 * margin }
    }

    pub const fn overlaps(self, other: Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    /// The smallest placement that holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self { x, y, w: self.right().max(other.right()) - x, h: self.bottom().max(other.bottom()) - y }
    }
}

/// The whole graph as flat lists, sorted by id: how it travels to a renderer and into a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub revision: Revision,
    pub boards: Vec<Board>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub layout: Vec<(NodeId, Placement)>,
    /// Text files that are part of the state.
    #[serde(default)]
    pub sources: Vec<(SourcePath, Arc<str>)>,
    /// Of every element that an operation has touched; what is not listed is as it was at the start.
    #[serde(default)]
    pub provenance: Vec<(ElementId, Provenance)>,
    /// Values laid over props of instances.
    #[serde(default)]
    pub overrides: Vec<(OverrideKey, Override)>,
}

/// Which operations an element comes from. Revision 0 is the start: the files as they were first opened.
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
