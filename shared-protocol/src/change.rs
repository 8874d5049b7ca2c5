//! Primitive, invertible changes. Each carries the state before and after. A command becomes a list of changes; an
//! accepted list is one operation.

use crate::{
    Board, BoardId, Edge, EdgeId, ElementId, Node, NodeId, NodeName, Override, OverrideKey, Placement,
    PropKey, PropValue, Revision, SourcePath,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One primitive step. Applying it sets `after`; inverting it swaps `before` and `after`. Elements are shared, so
/// applying and storing a change does not copy them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    Board {
        id: BoardId,
        before: Option<Arc<Board>>,
        after: Option<Arc<Board>>,
    },
    Node {
        id: NodeId,
        before: Option<Arc<Node>>,
        after: Option<Arc<Node>>,
    },
    Name {
        node: NodeId,
        before: NodeName,
        after: NodeName,
    },
    Label {
        node: NodeId,
        before: String,
        after: String,
    },
    Parent {
        node: NodeId,
        before: Option<NodeId>,
        after: Option<NodeId>,
    },
    Prop {
        node: NodeId,
        key: PropKey,
        #[serde(with = "set_or_not")]
        before: Option<PropValue>,
        #[serde(with = "set_or_not")]
        after: Option<PropValue>,
    },
    References {
        node: NodeId,
        key: PropKey,
        before: Vec<NodeId>,
        after: Vec<NodeId>,
    },
    /// Whether the value of a property is a Terraform variable.
    Variable {
        node: NodeId,
        key: PropKey,
        before: bool,
        after: bool,
    },
    Edge {
        id: EdgeId,
        before: Option<Arc<Edge>>,
        after: Option<Arc<Edge>>,
    },
    /// Layout only, without semantic meaning.
    Placement {
        node: NodeId,
        before: Option<Placement>,
        after: Option<Placement>,
    },
    /// The text of a file that is part of the state.
    Source {
        path: SourcePath,
        before: Option<Arc<str>>,
        after: Option<Arc<str>>,
    },
    /// An override of a prop of an instance.
    Override {
        key: OverrideKey,
        before: Option<Arc<Override>>,
        after: Option<Arc<Override>>,
    },
}

/// Encodes an unset property as `null` and a set property as a list with its value, because the value itself may be
/// null.
mod set_or_not {
    use crate::PropValue;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(
        value: &Option<PropValue>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(|value| [value]).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PropValue>, D::Error> {
        Ok(Option::<[PropValue; 1]>::deserialize(deserializer)?.map(|[value]| value))
    }
}

impl Change {
    #[must_use]
    pub fn invert(&self) -> Self {
        match self.clone() {
            Self::Board { id, before, after } => Self::Board { id, before: after, after: before },
            Self::Node { id, before, after } => Self::Node { id, before: after, after: before },
            Self::Name { node, before, after } => Self::Name { node, before: after, after: before },
            Self::Label { node, before, after } => Self::Label { node, before: after, after: before },
            Self::Parent { node, before, after } => Self::Parent { node, before: after, after: before },
            Self::Prop { node, key, before, after } => Self::Prop { node, key, before: after, after: before },
            Self::References { node, key, before, after } => {
                Self::References { node, key, before: after, after: before }
            }
            Self::Variable { node, key, before, after } => {
                Self::Variable { node, key, before: after, after: before }
            }
            Self::Edge { id, before, after } => Self::Edge { id, before: after, after: before },
            Self::Placement { node, before, after } => Self::Placement { node, before: after, after: before },
            Self::Source { path, before, after } => Self::Source { path, before: after, after: before },
            Self::Override { key, before, after } => Self::Override { key, before: after, after: before },
        }
    }

    /// The changed element; `None` for files and overrides, which are not elements.
    pub fn element(&self) -> Option<ElementId> {
        Some(match self {
            Self::Source { .. } | Self::Override { .. } => return None,
            Self::Board { id, .. } => ElementId::Board(*id),
            Self::Edge { id, .. } => ElementId::Edge(*id),
            Self::Node { id: node, .. }
            | Self::Name { node, .. }
            | Self::Label { node, .. }
            | Self::Parent { node, .. }
            | Self::Prop { node, .. }
            | Self::References { node, .. }
            | Self::Variable { node, .. }
            | Self::Placement { node, .. } => ElementId::Node(*node),
        })
    }

    pub fn is_layout(&self) -> bool {
        matches!(self, Self::Placement { .. })
    }
}

/// The changes that undo `changes`: each inverted, in reverse order.
pub fn inverse(changes: &[Change]) -> Vec<Change> {
    changes.iter().rev().map(Change::invert).collect()
}

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    pub kind: ActorKind,
    /// The name of the user or client, as far as it is known.
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ActorKind {
    /// A person in the window.
    Window,
    /// A person in a terminal.
    Terminal,
    /// Another program that changed a file.
    External,
}

impl Actor {
    pub fn new(kind: ActorKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// The kind of an operation in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationKind {
    Edit,
    Undo(Revision),
    Redo(Revision),
    Revert(Revision),
}

/// An accepted command: one row of the journal, one undo step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// The revision after this operation; also its identity.
    pub revision: Revision,
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub actor: Actor,
    pub kind: OperationKind,
    /// A one-line summary for the log.
    pub summary: String,
    pub changes: Vec<Change>,
}
