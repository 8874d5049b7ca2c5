//! The changes of a proposal on one board, prepared for drawing. Built once per version of the proposal from the states
//! before and after it; a frame visits only the touched elements.

use crate::{
    Theme,
    index::{NodeSlot, ports, route},
};
use authority::Snapshot;
use egui::{Color32, Pos2};
use shared_protocol::{
    BoardId, Edge, EdgeId, NodeId, Placement, Subject,
    proposal::Kind,
    registry::Direction,
    review::{Difference, Element},
};
use std::{collections::BTreeSet, sync::Arc};

/// The maximum number of changed fields shown at a node; the list shows all.
const MOST_NOTES: usize = 2;

/// The kind of change of an element. Each has a colour and a sign, so that nothing is conveyed by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    Added,
    Removed,
    Changed,
    Moved,
}

impl Sign {
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Added => Self::Added,
            Kind::Removed => Self::Removed,
            Kind::Changed => Self::Changed,
            Kind::Placed => Self::Moved,
        }
    }

    pub fn colour(self, theme: &Theme) -> Color32 {
        match self {
            Self::Added => theme.success,
            Self::Removed => theme.danger,
            Self::Changed => theme.warning,
            Self::Moved => theme.accent,
        }
    }
}

/// Paints a sign on a disc of its colour, for lists.
pub fn paint_sign(painter: &egui::Painter, theme: &Theme, at: Pos2, radius: f32, sign: Sign) {
    crate::draw::proposed::paint(painter, theme, at, radius, sign);
}

/// The part of a proposal that is on one board.
#[derive(Debug)]
pub struct ProposedBoard {
    /// The state with the proposal applied.
    pub(crate) after: Snapshot,
    /// In paint order: containers from the outside in, then everything else.
    pub(crate) nodes: Vec<ProposedNode>,
    pub(crate) edges: Vec<ProposedEdge>,
}

#[derive(Debug)]
pub(crate) struct ProposedNode {
    pub(crate) subject: Subject,
    pub(crate) sign: Sign,
    /// The node after the proposal; for a removed node, the node before it.
    pub(crate) slot: NodeSlot,
    /// The current place, if the proposal moves the node.
    pub(crate) from: Option<Placement>,
    pub(crate) text: String,
    pub(crate) notes: Vec<Difference>,
}

#[derive(Debug)]
pub(crate) struct ProposedEdge {
    pub(crate) subject: Subject,
    pub(crate) id: EdgeId,
    pub(crate) sign: Sign,
    /// The plain route; an existing edge is drawn with its route on the board.
    pub(crate) route: route::Route,
    pub(crate) text: String,
}

/// A proposal on a canvas: its changes, the selected elements, and the focused one.
#[derive(Debug, Clone)]
pub struct ShownProposal {
    pub board: Arc<ProposedBoard>,
    /// The elements that would be accepted; the others are drawn faint.
    pub chosen: Arc<BTreeSet<Subject>>,
    pub focus: Option<Subject>,
    pub layer: Layer,
}

/// The state that the board below the proposal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layer {
    /// The current state, with the proposed elements as ghosts.
    #[default]
    Over,
    /// The current state, with marks on its existing elements only.
    Before,
    /// The proposed state, with marks on its elements only.
    After,
}

impl Layer {
    /// Whether this layer shows elements with this sign.
    pub(crate) fn has(self, sign: Sign) -> bool {
        match self {
            Self::Over => true,
            Self::Before => sign != Sign::Added,
            Self::After => sign != Sign::Removed,
        }
    }
}

impl ProposedBoard {
    /// `generation` must differ for each version, so that texts are laid out again.
    pub fn of(
        before: &Snapshot,
        after: &Snapshot,
        board: BoardId,
        elements: &[Element],
        generation: u32,
    ) -> Self {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for element in elements.iter().filter(|element| element.board == Some(board)) {
            match element.subject {
                Subject::Node(id) => nodes.extend(proposed_node(before, after, id, element, generation)),
                Subject::Edge(id) => edges.extend(proposed_edge(before, after, id, element)),
                _ => {}
            }
        }
        nodes.sort_by_key(|node| (!node.slot.is_container(), node.slot.depth, node.slot.id));
        Self { after: after.clone(), nodes, edges }
    }

    /// Returns the area of an element, including its previous place.
    pub fn area(&self, subject: &Subject) -> Option<Placement> {
        let node = self.nodes.iter().find(|node| node.subject == *subject);
        let edge = || self.edges.iter().find(|edge| edge.subject == *subject);
        node.map(ProposedNode::whole).or_else(|| edge().map(|edge| edge.route.area()))
    }

    pub(crate) fn is_container(&self, subject: &Subject) -> bool {
        self.nodes.iter().any(|node| node.subject == *subject && node.slot.is_container())
    }

    /// Returns the bounds of all touched elements.
    pub fn bounds(&self) -> Option<Placement> {
        let nodes = self.nodes.iter().map(ProposedNode::whole);
        nodes.chain(self.edges.iter().map(|edge| edge.route.area())).reduce(Placement::union)
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.edges.is_empty()
    }

    /// Returns the topmost touched element at a board point.
    pub(crate) fn hit(&self, at: Pos2, reach: f32) -> Option<&Subject> {
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

    fn whole(&self) -> Placement {
        self.from.map_or(self.slot.area, |from| from.union(self.slot.area))
    }
}

fn proposed_node(
    before: &Snapshot,
    after: &Snapshot,
    id: NodeId,
    element: &Element,
    generation: u32,
) -> Option<ProposedNode> {
    let state = if element.kind == Kind::Removed { before } else { after };
    let slot = NodeSlot::alone(state, state.node(id)?, generation);
    let sign = Sign::of(element.kind);
    let was = before.node(id).map(|node| NodeSlot::alone(before, node, generation).area);
    let notes = element.differences.iter().filter(|_| sign == Sign::Changed).take(MOST_NOTES);
    Some(ProposedNode {
        subject: element.subject.clone(),
        sign,
        from: was.filter(|was| *was != slot.area && sign != Sign::Removed),
        slot,
        text: element.text.clone(),
        notes: notes.cloned().collect(),
    })
}

fn proposed_edge(before: &Snapshot, after: &Snapshot, id: EdgeId, element: &Element) -> Option<ProposedEdge> {
    let state = if element.kind == Kind::Removed { before } else { after };
    let edge = state.edge(id)?;
    Some(ProposedEdge {
        subject: element.subject.clone(),
        id,
        sign: Sign::of(element.kind),
        route: way(state, edge)?,
        text: element.text.clone(),
    })
}

fn way(state: &Snapshot, edge: &Edge) -> Option<route::Route> {
    let end = |id: NodeId, port: &str, direction: Direction| {
        let node = state.node(id)?;
        let area = NodeSlot::alone(state, node, 0).area;
        let (at, side) = ports::anchor(state.type_of(node), area, port, direction);
        Some(route::RouteEnd { at, side, node: area })
    };
    let source = end(edge.source.node, edge.source.port.as_str(), Direction::Out)?;
    let target = end(edge.target.node, edge.target.port.as_str(), Direction::In)?;
    Some(route::route(source, target))
}
