//! Commands: the requested edits. The authority decides each command against one snapshot and returns changes or a
//! refusal. As JSON a command is an object with one key: `{"addNode": {"board": "main", "type":
//! "aws/compute/instance"}}`.

use crate::{
    BoardId, BoardKind, BoardName, BoardPoint, EdgeId, GraphDocument, NodeId, NodeName, OverrideSelector,
    Placement, PortId, PropKey, PropValue, SetOverride, TypeId,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{cell::Cell, collections::BTreeMap, fmt, str::FromStr};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Command {
    AddBoard {
        kind: BoardKind,
        title: String,
        /// Derived from the title when absent.
        #[serde(default)]
        name: Option<BoardName>,
    },
    UpdateBoard {
        board: BoardRef,
        #[serde(default)]
        title: Option<String>,
        #[serde(default)]
        name: Option<BoardName>,
    },
    RemoveBoard {
        board: BoardRef,
    },
    AddNode(AddNode),
    /// Changes only the fields that are present.
    UpdateNode {
        node: NodeRef,
        #[serde(default)]
        name: Option<NodeName>,
        #[serde(default)]
        label: Option<String>,
        #[serde(default)]
        set: BTreeMap<PropKey, PropValue>,
        #[serde(default)]
        unset: Vec<PropKey>,
        /// Replaces the targets of each key; an empty list clears it.
        #[serde(default)]
        references: BTreeMap<PropKey, Vec<NodeRef>>,
    },
    /// Removes the nodes with their content, the edges that lose an end, and the references to them.
    Remove {
        #[serde(default)]
        nodes: Vec<NodeRef>,
        #[serde(default)]
        edges: Vec<EdgeRef>,
    },
    Connect {
        source: EdgeEndpointRef,
        target: EdgeEndpointRef,
        #[serde(default)]
        label: String,
    },
    UpdateEdge {
        edge: EdgeRef,
        label: String,
    },
    /// Moves and resizes nodes within their current container.
    Place {
        items: Vec<PlaceNode>,
    },
    /// Moves nodes into another container (or onto the board). Keeps their absolute position plus `delta`.
    Reparent {
        nodes: Vec<NodeRef>,
        parent: Option<NodeRef>,
        #[serde(default)]
        delta: BoardPoint,
    },
    Duplicate {
        nodes: Vec<NodeRef>,
        #[serde(default = "duplicate_offset")]
        offset: BoardPoint,
    },
    Paste {
        board: BoardRef,
        #[serde(default)]
        parent: Option<NodeRef>,
        fragment: GraphFragment,
        /// The top left corner of the pasted nodes; a free position when absent.
        #[serde(default)]
        at: Option<BoardPoint>,
    },
    Align {
        nodes: Vec<NodeRef>,
        to: NodeAlignment,
    },
    Distribute {
        nodes: Vec<NodeRef>,
        along: DistributeAxis,
    },
    /// Arranges siblings in layers along their edges.
    Tidy {
        nodes: Vec<NodeRef>,
    },
    /// Sets whether the value of a property is a Terraform variable. The set value is kept in both cases.
    SetVariable {
        nodes: Vec<NodeRef>,
        key: PropKey,
        variable: bool,
    },
    /// Sets overrides of props of instances.
    SetOverrides {
        set: Vec<SetOverride>,
    },
    ClearOverrides(OverrideSelector),
    /// Writes overrides into the boards and components themselves, all or none.
    PromoteOverrides(OverrideSelector),
    /// Applies all commands or none, as one operation. Later commands see the results of earlier ones.
    Batch {
        #[serde(default)]
        summary: Option<String>,
        #[serde(deserialize_with = "batched")]
        commands: Vec<Command>,
    },
}

/// Bounds the depth of nested batches while decoding. `Command` is recursive and three bytes encode a level, so an
/// unbounded decoder would overflow the stack. Batches nested less deeply are refused when the command is decided.
fn batched<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Command>, D::Error> {
    const MAX_BATCH_DEPTH: u32 = 4;
    thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });
    let depth = DEPTH.get();
    if depth == MAX_BATCH_DEPTH {
        return Err(D::Error::custom(
            "a batch cannot contain another batch: put all commands into one batch",
        ));
    }
    DEPTH.set(depth + 1);
    let commands = Vec::deserialize(deserializer);
    DEPTH.set(depth);
    commands
}

fn duplicate_offset() -> BoardPoint {
    BoardPoint { x: 24, y: 24 }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddNode {
    pub board: BoardRef,
    #[serde(rename = "type")]
    pub type_id: TypeId,
    #[serde(default)]
    pub parent: Option<NodeRef>,
    /// The top left corner relative to the container; a free position when absent.
    #[serde(default)]
    pub at: Option<BoardPoint>,
    /// Derived from the label or the type when absent; made unique.
    #[serde(default)]
    pub name: Option<NodeName>,
    #[serde(default)]
    pub label: Option<String>,
    #[serde(default)]
    pub props: BTreeMap<PropKey, PropValue>,
    #[serde(default)]
    pub references: BTreeMap<PropKey, Vec<NodeRef>>,
}

impl AddNode {
    pub fn new(board: impl Into<BoardRef>, type_id: TypeId) -> Self {
        Self {
            board: board.into(),
            type_id,
            parent: None,
            at: None,
            name: None,
            label: None,
            props: BTreeMap::new(),
            references: BTreeMap::new(),
        }
    }
}

/// A node with a new position, size or both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceNode {
    pub node: NodeRef,
    pub x: i32,
    pub y: i32,
    #[serde(default)]
    pub w: Option<i32>,
    #[serde(default)]
    pub h: Option<i32>,
}

impl PlaceNode {
    pub fn new(node: NodeId, placement: Placement) -> Self {
        Self { node: node.into(), x: placement.x, y: placement.y, w: Some(placement.w), h: Some(placement.h) }
    }
}

/// One end of a connection. Without a port, the first pair of ports that the connection rules allow is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeEndpointRef {
    pub node: NodeRef,
    #[serde(default)]
    pub port: Option<PortId>,
}

/// A copied part of a graph: the content of the clipboard. References and edges to elements outside the fragment are
/// kept only when those elements still exist on the target board.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GraphFragment(pub GraphDocument);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeAlignment {
    Left,
    Centre,
    Right,
    Top,
    Middle,
    Bottom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DistributeAxis {
    Horizontal,
    Vertical,
}

/// Defines a reference to an element by id or by name. Its text form is the id or the name.
macro_rules! by_id_or_name {
    ($(#[$doc:meta])* $reference:ident, $id:ty, $name:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $reference {
            Id($id),
            Name($name),
        }

        impl From<$id> for $reference {
            fn from(id: $id) -> Self {
                Self::Id(id)
            }
        }

        impl fmt::Display for $reference {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Id(id) => id.fmt(f),
                    Self::Name(name) => name.fmt(f),
                }
            }
        }

        impl Serialize for $reference {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $reference {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

by_id_or_name!(
    /// A board by id or name.
    BoardRef, BoardId, BoardName
);
by_id_or_name!(
    /// A node by id, by name, or by `board/name` where a name occurs on several boards.
    NodeRef, NodeId, NodePath
);

/// An edge by id.
pub type EdgeRef = EdgeId;

impl From<BoardName> for BoardRef {
    fn from(name: BoardName) -> Self {
        Self::Name(name)
    }
}

impl FromStr for BoardRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) => text.parse().map(Self::Name).map_err(|error: crate::NameError| error.to_string()),
        }
    }
}

/// A node's name, with its board where the name alone is ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodePath {
    pub board: Option<BoardName>,
    pub name: NodeName,
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.board {
            Some(board) => write!(f, "{board}/{}", self.name),
            None => self.name.fmt(f),
        }
    }
}

impl FromStr for NodeRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        let (board, name) = match text.split_once('/') {
            Some((board, name)) => {
                (Some(board.parse().map_err(|error: crate::NameError| error.to_string())?), name)
            }
            None => (None, text),
        };
        let name = name.parse().map_err(|error: crate::NameError| error.to_string())?;
        Ok(Self::Name(NodePath { board, name }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_well_as_json_and_are_strict() {
        let text =
            r#"{"addNode":{"board":"main","type":"aws/compute/instance","name":"web","parent":"private_a"}}"#;
        let command: Command = serde_json::from_str(text).unwrap();
        let Command::AddNode(add) = &command else { panic!("{command:?}") };
        assert_eq!(add.parent.as_ref().unwrap().to_string(), "private_a");
        assert_eq!(
            postcard::from_bytes::<Command>(&postcard::to_stdvec(&command).unwrap()).unwrap(),
            command
        );

        for wrong in [
            r#"{"addNode":{"board":"main","type":"aws/compute/instance","color":1}}"#,
            r#"{"fly":{}}"#,
            r#"{"remove":{"nodes":["Not A Name"]}}"#,
            r#"{"remove":{},"connect":{}}"#,
        ] {
            assert!(serde_json::from_str::<Command>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_node_is_named_by_id_name_or_path() {
        for text in ["n-000000000011", "web", "main/web"] {
            assert_eq!(text.parse::<NodeRef>().unwrap().to_string(), text);
        }
    }
}
