//! Reads board files strictly and within limits, without panics. Errors name the position and the expected content.

use super::{
    BOARD_FORMAT, MAX_FILE_BYTES,
    check::check_whole,
    strict::{StrictValue, UniqueEntries, present, short_text},
};
use crate::{FileError, TextPosition, WorkspacePath};
use serde::{Deserialize, Deserializer, de::Error as _};
use shared_protocol::{
    Board, BoardId, BoardKind, BoardName, Edge, EdgeEndpoint, EdgeId, GraphDocument, Node, NodeId, NodeName,
    Placement, PortId, PropKey, Revision, TypeId,
    limits::{
        MAX_COORDINATE, MAX_EDGES, MAX_NODE_SIDE, MAX_NODES, MAX_PROPS_PER_NODE, MAX_REFERENCE_TARGETS,
        MIN_NODE_SIDE,
    },
};
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParsedBoardFile {
    format: u64,
    board: BoardFileHeader,
    nodes: UniqueEntries<NodeId, BoardFileNode, MAX_NODES>,
    #[serde(default)]
    edges: UniqueEntries<EdgeId, BoardFileEdge, MAX_EDGES>,
    #[serde(default)]
    layout: UniqueEntries<NodeId, LayoutRectangle, MAX_NODES>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardFileHeader {
    id: BoardId,
    kind: BoardKind,
    #[serde(deserialize_with = "short_text")]
    title: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardFileNode {
    r#type: TypeId,
    name: NodeName,
    #[serde(default, deserialize_with = "short_text")]
    label: String,
    #[serde(default, deserialize_with = "present")]
    parent: Option<NodeId>,
    #[serde(default)]
    props: UniqueEntries<PropKey, StrictValue, MAX_PROPS_PER_NODE>,
    #[serde(default)]
    references: UniqueEntries<PropKey, ReferenceTargets, MAX_PROPS_PER_NODE>,
    #[serde(default)]
    variables: VariableKeys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardFileEdge {
    from: EdgeEnd,
    to: EdgeEnd,
    #[serde(default, deserialize_with = "short_text")]
    label: String,
}

struct EdgeEnd(EdgeEndpoint);

impl<'de> Deserialize<'de> for EdgeEnd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (node, port) = text.split_once(':').ok_or_else(|| {
            D::Error::custom("expected an end such as \"n-0123456789ab:out\": node, colon, port")
        })?;
        let node: NodeId = node.parse().map_err(D::Error::custom)?;
        let port = PortId::parse(port).map_err(D::Error::custom)?;
        Ok(Self(EdgeEndpoint { node, port }))
    }
}

struct ReferenceTargets(Vec<NodeId>);

impl<'de> Deserialize<'de> for ReferenceTargets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let targets = Vec::<NodeId>::deserialize(deserializer)?;
        if targets.is_empty() || targets.len() > MAX_REFERENCE_TARGETS {
            return Err(D::Error::custom(format_args!(
                "expected 1 to {MAX_REFERENCE_TARGETS} targets; omit the key when there is none"
            )));
        }
        Ok(Self(targets))
    }
}

/// A list of unique property keys.
#[derive(Default)]
struct VariableKeys(BTreeSet<PropKey>);

impl<'de> Deserialize<'de> for VariableKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = Vec::<PropKey>::deserialize(deserializer)?;
        let count = keys.len();
        let keys: BTreeSet<PropKey> = keys.into_iter().collect();
        if keys.is_empty() || keys.len() != count || count > MAX_PROPS_PER_NODE {
            return Err(D::Error::custom(format_args!(
                "expected 1 to {MAX_PROPS_PER_NODE} unique property keys; omit the field when there are none"
            )));
        }
        Ok(Self(keys))
    }
}

struct LayoutRectangle(Placement);

impl<'de> Deserialize<'de> for LayoutRectangle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [x, y, w, h] = <[i32; 4]>::deserialize(deserializer)?;
        let places = -MAX_COORDINATE..=MAX_COORDINATE;
        let sizes = MIN_NODE_SIDE..=MAX_NODE_SIDE;
        if places.contains(&x) && places.contains(&y) && sizes.contains(&w) && sizes.contains(&h) {
            Ok(Self(Placement { x, y, w, h }))
        } else {
            Err(D::Error::custom(format_args!(
                "expected [x,y,w,h] with x and y within ±{MAX_COORDINATE}, w and h from {MIN_NODE_SIDE} to {MAX_NODE_SIDE}"
            )))
        }
    }
}

/// Reads a board file; the board name is the file name. The document has revision 0, because a file has no
/// revision.
///
/// Checks the shape, the limits, and that parents, edge ends, references and layout entries name nodes of the file.
/// Accepts nodes without a layout entry, as written by hand or left by a merge: the caller places them. The
/// authority checks types, duplicate names and connection rules.
pub fn read_board(text: &str, name: &BoardName) -> Result<GraphDocument, FileError> {
    let path = WorkspacePath::board(name);
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::TooLarge { path: path.to_string(), most: MAX_FILE_BYTES });
    }
    // Some editors write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: ParsedBoardFile = serde_json::from_str(text).map_err(|error| malformed(&path, text, &error))?;
    check_format(&path, file.format)?;
    let document = file.into_document(name);
    check_whole(&document).map_err(|(element, problem)| {
        let position = text.find(&format!("\"{element}\"")).map(|at| TextPosition::of_offset(text, at));
        FileError::malformed(&path, position, format!("{element}: {problem}"))
    })?;
    Ok(document)
}

fn check_format(path: &WorkspacePath, found: u64) -> Result<(), FileError> {
    if found > u64::from(BOARD_FORMAT) {
        return Err(FileError::Newer { path: path.to_string(), found, known: BOARD_FORMAT });
    }
    if found != u64::from(BOARD_FORMAT) {
        return Err(FileError::malformed(
            path,
            None,
            format!("expected \"format\": {BOARD_FORMAT}, found {found}"),
        ));
    }
    Ok(())
}

/// Explains a parse error. A newer format is checked first, because it explains every other problem.
fn malformed(path: &WorkspacePath, text: &str, error: &serde_json::Error) -> FileError {
    #[derive(Deserialize)]
    struct BoardFileFormat {
        format: u64,
    }
    if let Ok(BoardFileFormat { format }) = serde_json::from_str(text)
        && let Err(newer @ FileError::Newer { .. }) = check_format(path, format)
    {
        return newer;
    }
    let markers = ["<<<<<<< ", "=======\n", ">>>>>>> "];
    let conflict = text.lines().position(|line| line.starts_with(markers[0]));
    if let Some(line) = conflict
        && markers.iter().all(|marker| text.contains(marker))
    {
        let position = TextPosition { line: line + 1, column: 1 };
        return FileError::malformed(
            path,
            Some(position),
            "unresolved merge conflict: keep one version and remove the markers",
        );
    }
    let position =
        (error.line() > 0).then(|| TextPosition { line: error.line(), column: error.column().max(1) });
    // Removes the position that serde_json appends, because the error already has one.
    let said = error.to_string();
    let problem = said.rsplit_once(" at line ").map_or(said.as_str(), |(problem, _)| problem);
    FileError::malformed(path, position, problem)
}

impl ParsedBoardFile {
    fn into_document(self, name: &BoardName) -> GraphDocument {
        let BoardFileHeader { id: board, kind, title } = self.board;
        GraphDocument {
            revision: Revision::START,
            boards: vec![Board { id: board, kind, name: name.clone(), title }],
            nodes: self.nodes.0.into_iter().map(|(id, line)| line.into_node(id, board)).collect(),
            edges: self.edges.0.into_iter().map(|(id, line)| line.into_edge(id, board)).collect(),
            layout: self
                .layout
                .0
                .into_iter()
                .map(|(id, LayoutRectangle(placement))| (id, placement))
                .collect(),
            sources: Vec::new(),
            provenance: Vec::new(),
            overrides: Vec::new(),
        }
    }
}

impl BoardFileNode {
    fn into_node(self, id: NodeId, board: BoardId) -> Node {
        Node {
            id,
            board,
            type_id: self.r#type,
            name: self.name,
            label: self.label,
            parent: self.parent,
            props: self.props.0.into_iter().map(|(key, StrictValue(value))| (key, value)).collect(),
            references: self
                .references
                .0
                .into_iter()
                .map(|(key, ReferenceTargets(targets))| (key, targets))
                .collect(),
            variables: self.variables.0,
        }
    }
}

impl BoardFileEdge {
    fn into_edge(self, id: EdgeId, board: BoardId) -> Edge {
        Edge { id, board, source: self.from.0, target: self.to.0, label: self.label }
    }
}
