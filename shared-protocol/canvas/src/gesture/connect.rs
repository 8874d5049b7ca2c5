//! Drawing a connection from a port. The authority's rules decide the valid targets; the result is cached per node.

use super::{GestureOutcome, PointerSample};
use crate::{
    BoardScene, CanvasEvent, hit,
    index::{
        BoardIndex, DrawnNodeKind, ports,
        route::{EdgeRoute, RouteEnd, plain_route},
    },
};
use authority::{AllowedConnection, connection};
use egui::{CursorIcon, Pos2};
use shared_protocol::{
    Command, EdgeEndpoint, NodeId, Placement, PortId, Refusal,
    registry::{PortDirection, PortSide},
};
use std::{cell::RefCell, collections::HashMap};

pub(crate) struct ConnectGesture {
    from: EdgeEndpoint,
    direction: PortDirection,
    end: RouteEnd,
    now: Pos2,
    target: Option<ConnectTarget>,
    accepting_nodes: RefCell<HashMap<NodeId, bool>>,
}

struct ConnectTarget {
    node: NodeId,
    verdict: Result<Box<AllowedConnection>, Refusal>,
    /// The point where the other end meets the node.
    end: Option<RouteEnd>,
}

impl ConnectGesture {
    pub(crate) fn start(
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        node: NodeId,
        port: PortId,
        direction: PortDirection,
        at: Pos2,
    ) -> Option<Self> {
        let area = index.slot(node)?.area;
        let def = scene.snapshot.type_of(scene.snapshot.node(node)?);
        let (anchor, side) = ports::anchor(def, area, port.as_str(), direction);
        let end = RouteEnd { at: anchor, side, node: area };
        let from = EdgeEndpoint { node, port };
        Some(Self { from, direction, end, now: at, target: None, accepting_nodes: RefCell::default() })
    }

    /// Checks the connection with a node, by this port of it or by the first that matches.
    fn check_connection(
        &self,
        scene: &BoardScene<'_>,
        node: NodeId,
        port: Option<&str>,
    ) -> Result<AllowedConnection, Refusal> {
        let own = (self.from.node, Some(self.from.port.as_str()));
        match self.direction {
            PortDirection::Out => connection(scene.snapshot, own, (node, port)),
            PortDirection::In => connection(scene.snapshot, (node, port), own),
        }
    }

    /// Whether a node may be the other end; `None` for the node that the connection starts from.
    pub(crate) fn accepts(&self, scene: &BoardScene<'_>, node: NodeId) -> Option<bool> {
        if node == self.from.node {
            return None;
        }
        if let Some(known) = self.accepting_nodes.borrow().get(&node) {
            return Some(*known);
        }
        let takes = self.check_connection(scene, node, None).is_ok();
        self.accepting_nodes.borrow_mut().insert(node, takes);
        Some(takes)
    }

    pub(crate) fn step(&mut self, scene: &BoardScene<'_>, index: &BoardIndex, moment: PointerSample) {
        self.now = moment.at;
        self.target = self.target_at(scene, index, moment);
    }

    fn target_at(
        &self,
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        moment: PointerSample,
    ) -> Option<ConnectTarget> {
        let (node, port) = target(scene, index, moment)?;
        if node == self.from.node {
            return None;
        }
        // A port with the wrong direction counts as a part of the node.
        let named = port.as_ref().map(PortId::as_str);
        let verdict = self
            .check_connection(scene, node, named)
            .or_else(|refusal| self.check_connection(scene, node, None).map_err(|_| refusal));
        let slot = index.slot(node)?;
        // Inside a container the target is the board, unless the container itself is a valid target.
        if verdict.is_err() && slot.kind == DrawnNodeKind::Container {
            return None;
        }
        let end = verdict.as_ref().ok().map(|found| {
            let (other, direction) = match self.direction {
                PortDirection::Out => (&found.target, PortDirection::In),
                PortDirection::In => (&found.source, PortDirection::Out),
            };
            let def = scene.snapshot.node(node).and_then(|node| scene.snapshot.type_of(node));
            let (at, side) = ports::anchor(def, slot.area, other.port.as_str(), direction);
            RouteEnd { at, side, node: slot.area }
        });
        Some(ConnectTarget { node, verdict: verdict.map(Box::new), end })
    }

    pub(crate) fn finish(self) -> GestureOutcome {
        match self.target {
            Some(ConnectTarget { verdict: Ok(found), .. }) => {
                let (source, target) = found.endpoints();
                GestureOutcome::Event(CanvasEvent::Run(Command::Connect {
                    source,
                    target,
                    label: String::new(),
                }))
            }
            Some(ConnectTarget { verdict: Err(refusal), .. }) => {
                GestureOutcome::Event(CanvasEvent::Refused(refusal))
            }
            None => {
                let at = crate::camera::rounded_point(self.now);
                // Released where it started: a click on a port does nothing.
                if crate::camera::rect_of(self.end.node).expand(8.0).contains(self.now) {
                    return GestureOutcome::Nothing;
                }
                GestureOutcome::Event(CanvasEvent::QuickAdd { at, from: Some(self.from) })
            }
        }
    }

    /// Returns the preview route from source to target, and whether the connection is allowed.
    pub(crate) fn preview_route(&self) -> (EdgeRoute, Option<bool>) {
        let over = self.target.as_ref();
        let loose = || {
            let side = match self.end.side {
                PortSide::Left => PortSide::Right,
                PortSide::Right => PortSide::Left,
                PortSide::Top => PortSide::Bottom,
                PortSide::Bottom => PortSide::Top,
            };
            let at = crate::camera::rounded_point(self.now);
            RouteEnd { at: self.now, side, node: Placement { x: at.x, y: at.y, w: 1, h: 1 } }
        };
        let other = over.and_then(|over| over.end).unwrap_or_else(loose);
        let (source, target) = match self.direction {
            PortDirection::Out => (self.end, other),
            PortDirection::In => (other, self.end),
        };
        (plain_route(source, target), over.map(|over| over.verdict.is_ok()))
    }

    pub(crate) fn hovered_node(&self) -> Option<NodeId> {
        self.target.as_ref().map(|over| over.node)
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.target.as_ref().and_then(|over| over.verdict.as_ref().err())
    }

    pub(crate) fn cursor(&self) -> CursorIcon {
        if self.refusal().is_some() { CursorIcon::NotAllowed } else { CursorIcon::Crosshair }
    }
}

fn target(
    scene: &BoardScene<'_>,
    index: &BoardIndex,
    moment: PointerSample,
) -> Option<(NodeId, Option<PortId>)> {
    // Edges are ignored as targets of a connection.
    let found = hit::node_at(scene, index, moment.at, moment.zoom)?;
    match found {
        hit::CanvasHit::Port { node, port, .. } => Some((node, Some(port))),
        hit::CanvasHit::Node { id, .. } => Some((id, None)),
        hit::CanvasHit::Edge(_) => None,
    }
}
