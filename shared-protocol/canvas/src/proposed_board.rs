//! The changes of a proposal on one board, prepared for drawing. Built once per version of the proposal from the states
//! before and after it; a frame visits only the touched elements.

use crate::{
    WorkbenchTheme,
    index::{IndexedNode, ports, route},
};
use authority::Snapshot;
use egui::{Color32, Pos2};
use shared_protocol::{
    BoardId, Edge, EdgeId, NodeId, Placement, ProposalSubject,
    proposal::ElementChangeKind,
    registry::PortDirection,
    review::{FieldChange, ProposedElement},
};
use std::{collections::BTreeSet, sync::Arc};

/// The maximum number of changed fields shown at a node; the list shows all.
const MAX_FIELD_NOTES: usize = 2;

/// The kind of change of an element. Each has a colour and a sign, so that nothing is conveyed by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProposedChangeSign {
    Added,
    Removed,
    Changed,
    Moved,
}

impl ProposedChangeSign {
    pub fn from_kind(kind: ElementChangeKind) -> Self {
        match kind {
            ElementChangeKind::Added => Self::Added,
            ElementChangeKind::Removed => Self::Removed,
            ElementChangeKind::Changed => Self::Changed,
            ElementChangeKind::Placed => Self::Moved,
        }
    }

    pub fn colour(self, theme: &WorkbenchTheme) -> Color32 {
        match self {
            Self::Added => theme.success,
            Self::Removed => theme.danger,
            Self::Changed => theme.warning,
            Self::Moved => theme.accent,
        }
    }
}

/// Paints a sign on a disc of its colour, for lists.
pub fn paint_sign(
    painter: &egui::Painter,
    theme: &WorkbenchTheme,
    at: Pos2,
    radius: f32,
    sign: ProposedChangeSign,
) {
    crate::draw::proposal::paint(painter, theme, at, radius, sign);
}

/// The part of a proposal that is on one board.
#[derive(Debug)]
pub struct ProposedBoard {
    pub(crate) after: Snapshot,
    /// In paint order: containers from the outside in, then everything else.
    pub(crate) nodes: Vec<ProposedNode>,
    pub(crate) edges: Vec<ProposedEdge>,
}

#[derive(Debug)]
pub(crate) struct ProposedNode {
    pub(crate) subject: ProposalSubject,
    pub(crate) sign: ProposedChangeSign,
    /// The node after the proposal; for a removed node, the node before it.
    pub(crate) slot: IndexedNode,
    /// The current place, if the proposal moves the node.
    pub(crate) from: Option<Placement>,
    pub(crate) text: String,
    pub(crate) notes: Vec<FieldChange>,
}

#[derive(Debug)]
pub(crate) struct ProposedEdge {
    pub(crate) subject: ProposalSubject,
    pub(crate) id: EdgeId,
    pub(crate) sign: ProposedChangeSign,
    /// The plain route; an existing edge is drawn with its route on the board.
    pub(crate) route: route::EdgeRoute,
    pub(crate) text: String,
}

/// A proposal on a canvas: its changes, the selected elements, and the focused one.
#[derive(Debug, Clone)]
pub struct CanvasProposal {
    pub board: Arc<ProposedBoard>,
    /// The elements that would be accepted; the others are drawn faint.
    pub selected: Arc<BTreeSet<ProposalSubject>>,
    pub focus: Option<ProposalSubject>,
    pub layer: ProposalLayer,
}

/// The state that the board below the proposal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProposalLayer {
    /// The current state, with the proposed elements as ghosts.
    #[default]
    Over,
    /// The current state, with marks on its existing elements only.
    Before,
    /// The proposed state, with marks on its elements only.
    After,
}

impl ProposalLayer {
    /// Whether this layer shows elements with this sign.
    pub(crate) fn includes(self, sign: ProposedChangeSign) -> bool {
        match self {
            Self::Over => true,
            Self::Before => sign != ProposedChangeSign::Added,
            Self::After => sign != ProposedChangeSign::Removed,
        }
    }
}

impl ProposedBoard {
    /// `generation` must differ for each version, so that texts are laid out again.
    pub fn build(
        before: &Snapshot,
        after: &Snapshot,
        board: BoardId,
        elements: &[ProposedElement],
        generation: u32,
    ) -> Self {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for element in elements.iter().filter(|element| element.board == Some(board)) {
            match element.subject {
                ProposalSubject::Node(id) => {
                    nodes.extend(proposed_node(before, after, id, element, generation))
                }
                ProposalSubject::Edge(id) => edges.extend(proposed_edge(before, after, id, element)),
                _ => {}
            }
        }
        nodes.sort_by_key(|node| (!node.slot.is_container(), node.slot.depth, node.slot.id));
        Self { after: after.clone(), nodes, edges }
    }

    /// Returns the area of an element, including its previous place.
    pub fn area(&self, subject: &ProposalSubject) -> Option<Placement> {
        let node = self.nodes.iter().find(|node| node.subject == *subject);
        let edge = || self.edges.iter().find(|edge| edge.subject == *subject);
        node.map(ProposedNode::full_area).or_else(|| edge().map(|edge| edge.route.area()))
    }

    pub(crate) fn is_container(&self, subject: &ProposalSubject) -> bool {
        self.nodes.iter().any(|node| node.subject == *subject && node.slot.is_container())
    }

    pub fn bounds(&self) -> Option<Placement> {
        let nodes = self.nodes.iter().map(ProposedNode::full_area);
        nodes.chain(self.edges.iter().map(|edge| edge.route.area())).reduce(Placement::union)
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.edges.is_empty()
    }

    /// Returns the topmost touched element at a board point.
    pub(crate) fn hit(&self, at: Pos2, reach: f32) -> Option<&ProposalSubject> {
        let inside = |node: &&ProposedNode| crate::camera::rect_of(node.slot.area).contains(at);
        let card = self.nodes.iter().rev().filter(|node| !node.slot.is_container()).find(inside);
        let edge = || self.edges.iter().find(|edge| edge.route.distance_to(at) <= reach);
        let frame = || self.nodes.iter().rev().find(inside);
        card.map(|node| &node.subject)
            .or_else(|| edge().map(|edge| &edge.subject))
            .or_else(|| frame().map(|node| &node.subject))
    }
}

impl ProposedNode {
    /// Whether only the size changes, not the position.
    pub(crate) fn is_only_resized(&self) -> bool {
        self.from.is_some_and(|from| (from.x, from.y) == (self.slot.area.x, self.slot.area.y))
    }

    fn full_area(&self) -> Placement {
        self.from.map_or(self.slot.area, |from| from.union(self.slot.area))
    }
}

fn proposed_node(
    before: &Snapshot,
    after: &Snapshot,
    id: NodeId,
    element: &ProposedElement,
    generation: u32,
) -> Option<ProposedNode> {
    let state = if element.kind == ElementChangeKind::Removed { before } else { after };
    let slot = IndexedNode::without_index(state, state.node(id)?, generation);
    let sign = ProposedChangeSign::from_kind(element.kind);
    let was = before.node(id).map(|node| IndexedNode::without_index(before, node, generation).area);
    let notes =
        element.differences.iter().filter(|_| sign == ProposedChangeSign::Changed).take(MAX_FIELD_NOTES);
    Some(ProposedNode {
        subject: element.subject.clone(),
        sign,
        from: was.filter(|was| *was != slot.area && sign != ProposedChangeSign::Removed),
        slot,
        text: element.text.clone(),
        notes: notes.cloned().collect(),
    })
}

fn proposed_edge(
    before: &Snapshot,
    after: &Snapshot,
    id: EdgeId,
    element: &ProposedElement,
) -> Option<ProposedEdge> {
    let state = if element.kind == ElementChangeKind::Removed { before } else { after };
    let edge = state.edge(id)?;
    Some(ProposedEdge {
        subject: element.subject.clone(),
        id,
        sign: ProposedChangeSign::from_kind(element.kind),
        route: proposed_route(state, edge)?,
        text: element.text.clone(),
    })
}

fn proposed_route(state: &Snapshot, edge: &Edge) -> Option<route::EdgeRoute> {
    let end = |id: NodeId, port: &str, direction: PortDirection| {
        let node = state.node(id)?;
        let area = IndexedNode::without_index(state, node, 0).area;
        let (at, side) = ports::anchor(state.type_of(node), area, port, direction);
        Some(route::RouteEnd { at, side, node: area })
    };
    let source = end(edge.source.node, edge.source.port.as_str(), PortDirection::Out)?;
    let target = end(edge.target.node, edge.target.port.as_str(), PortDirection::In)?;
    Some(route::plain_route(source, target))
}
