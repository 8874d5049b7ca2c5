//! Writes board files.

use super::{BOARD_FORMAT, json_text::one_line};
use crate::FileError;
use serde::Serialize;
use shared_protocol::{
    BoardId, BoardKind, Edge, EdgeEndpoint, GraphDocument, Node, NodeId, NodeName, PropKey, PropValue, TypeId,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Display, Write as _},
};

#[derive(Serialize)]
struct BoardFileHeaderLine<'a> {
    id: BoardId,
    kind: BoardKind,
    title: &'a str,
}

#[derive(Serialize)]
struct BoardFileNodeLine<'a> {
    r#type: &'a TypeId,
    name: &'a NodeName,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<NodeId>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    props: &'a BTreeMap<PropKey, PropValue>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    references: &'a BTreeMap<PropKey, Vec<NodeId>>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    variables: &'a BTreeSet<PropKey>,
}

#[derive(Serialize)]
struct BoardFileEdgeLine<'a> {
    from: String,
    to: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
}

impl<'a> BoardFileNodeLine<'a> {
    fn new(node: &'a Node) -> Self {
        let Node { id: _, board: _, type_id, name, label, parent, props, references, variables } = node;
        Self { r#type: type_id, name, label, parent: *parent, props, references, variables }
    }
}

impl<'a> BoardFileEdgeLine<'a> {
    fn new(edge: &'a Edge) -> Self {
        let end = |end: &EdgeEndpoint| format!("{}:{}", end.node, end.port);
        Self { from: end(&edge.source), to: end(&edge.target), label: &edge.label }
    }
}

/// Returns the text of a board file. Equal documents produce equal texts, regardless of the order of their lists.
/// Omits the revision, because the file belongs to git and not to one journal. Refuses a document that is not
/// exactly one board.
pub fn write_board(document: &GraphDocument) -> Result<String, FileError> {
    let not_one = |problem: String| FileError::NotOneBoard { problem };
    let [board] = document.boards.as_slice() else {
        return Err(not_one(format!("this document has {} boards", document.boards.len())));
    };
    let node_boards = document.nodes.iter().map(|node| (node.id.to_string(), node.board));
    let edge_boards = document.edges.iter().map(|edge| (edge.id.to_string(), edge.board));
    if let Some((stray, _)) = node_boards.chain(edge_boards).find(|(_, on)| *on != board.id) {
        return Err(not_one(format!("{stray} is on another board")));
    }
    let nodes: BTreeMap<_, _> =
        document.nodes.iter().map(|node| (node.id, BoardFileNodeLine::new(node))).collect();
    let edges: BTreeMap<_, _> =
        document.edges.iter().map(|edge| (edge.id, BoardFileEdgeLine::new(edge))).collect();
    let layout: BTreeMap<_, _> =
        document.layout.iter().map(|(id, at)| (*id, [at.x, at.y, at.w, at.h])).collect();
    let head = BoardFileHeaderLine { id: board.id, kind: board.kind, title: &board.title };

    let unwritable = |error: serde_json::Error| not_one(error.to_string());
    let mut text = String::new();
    // Writing to a `String` does not fail.
    let _ = write!(
        text,
        "{{\n  \"format\": {BOARD_FORMAT},\n  \"board\": {},\n",
        one_line(&head).map_err(unwritable)?
    );
    write_section(&mut text, "nodes", &nodes).map_err(unwritable)?;
    text.push_str(",\n");
    write_section(&mut text, "edges", &edges).map_err(unwritable)?;
    text.push_str(",\n");
    write_section(&mut text, "layout", &layout).map_err(unwritable)?;
    text.push_str("\n}\n");
    Ok(text)
}

fn write_section<K: Display, V: Serialize>(
    text: &mut String,
    name: &str,
    lines: &BTreeMap<K, V>,
) -> Result<(), serde_json::Error> {
    let _ = write!(text, "  \"{name}\": {{");
    for (place, (id, line)) in lines.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n    \"{id}\": {}", one_line(line)?);
    }
    text.push_str(if lines.is_empty() { "}" } else { "\n  }" });
    Ok(())
}
