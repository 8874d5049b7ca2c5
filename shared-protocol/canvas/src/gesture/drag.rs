//! Moving nodes, also into other containers, and duplicating them.

use super::{
    GestureOutcome, PointerSample,
    guides::{SnapGuide, SnapNeighbours},
    insert::EdgeInsertion,
    roots, snap,
};
use crate::{BoardScene, CanvasEvent, index::BoardIndex};
use authority::may_contain;
use egui::{CursorIcon, Pos2};
use shared_protocol::{
    BoardPoint, Command, EdgeId, ElementId, NodeId, NodeRef, Placement, Refusal, RefusalCode,
    command::PlaceNode,
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct MoveGesture {
    start: Pos2,
    grabbed: NodeId,
    home: Option<NodeId>,
    roots: Vec<NodeId>,
    /// All moved nodes with their places in the model.
    places: BTreeMap<NodeId, Placement>,
    /// The places of the roots relative to their containers.
    relative: Vec<(NodeId, Placement)>,
    delta: BoardPoint,
    duplicate: bool,
    landing: DropTarget,
    inserting: EdgeInsertion,
    guides: Vec<SnapGuide>,
}

enum DropTarget {
    Home,
    /// Another container, or the board itself.
    Elsewhere {
        parent: Option<NodeId>,
        verdict: Result<(), Refusal>,
    },
}

impl MoveGesture {
    /// Grabs the selection by one of its nodes.
    pub(crate) fn start(
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        selection: &BTreeSet<ElementId>,
        grabbed: NodeId,
        start: Pos2,
    ) -> Option<Self> {
        let roots = roots(scene, selection);
        let home = scene.snapshot.node(grabbed)?.parent;
        let within = roots.iter().flat_map(|&root| scene.snapshot.subtree(root));
        let places = within.filter_map(|id| Some((id, index.model_area(id)?))).collect();
        let relative = roots.iter().filter_map(|&id| Some((id, scene.snapshot.placement(id)?))).collect();
        let (delta, landing) = (BoardPoint::default(), DropTarget::Home);
        Some(Self {
            start,
            grabbed,
            home,
            roots,
            places,
            relative,
            delta,
            duplicate: false,
            landing,
            inserting: EdgeInsertion::default(),
            guides: Vec::new(),
        })
    }

    pub(crate) fn step(&mut self, scene: &BoardScene<'_>, index: &mut BoardIndex, moment: PointerSample) {
        let Some(origin) = self.places.get(&self.grabbed).map(|place| place.origin()) else { return };
        let moved = moment.at - self.start;
        self.delta = BoardPoint {
            x: snap(origin.x as f32 + moved.x, moment.modifiers) - origin.x,
            y: snap(origin.y as f32 + moved.y, moment.modifiers) - origin.y,
        };
        self.duplicate = moment.modifiers.alt;
        if self.duplicate {
            self.landing = DropTarget::Home;
            self.inserting.clear();
            index.clear_preview(scene.snapshot);
            self.snap_to_guides(index, moment);
            return;
        }
        self.update_drop_target(scene, index, moment.at);
        self.snap_to_guides(index, moment);
        self.update_edge_insertion(scene, index, moment);
        let BoardPoint { x, y } = self.delta;
        index.set_preview(scene.snapshot, self.places.iter().map(|(id, place)| (*id, place.moved_by(x, y))));
    }

    /// Snaps the moved nodes to neighbours in the same container.
    fn snap_to_guides(&mut self, index: &BoardIndex, moment: PointerSample) {
        self.guides.clear();
        let roots = self.roots.iter().filter_map(|id| self.places.get(id).copied());
        let Some(all) = roots.reduce(Placement::union).filter(|_| !moment.modifiers.command) else { return };
        let parent = match &self.landing {
            DropTarget::Home => self.home,
            DropTarget::Elsewhere { parent, .. } => *parent,
        };
        let moved = crate::camera::rounded_point((moment.at - self.start).to_pos2());
        let free = all.moved_by(moved.x, moved.y);
        let moving = |id: NodeId| !self.duplicate && self.places.contains_key(&id);
        let near = SnapNeighbours::collect(index, free, parent, moment.zoom, moving);
        if let Some(way) = near.snap_distance(free, true) {
            self.delta.x = free.x + way - all.x;
        }
        if let Some(way) = near.snap_distance(free, false) {
            self.delta.y = free.y + way - all.y;
        }
        self.guides = near.guides(all.moved_by(self.delta.x, self.delta.y));
    }

    fn update_edge_insertion(&mut self, scene: &BoardScene<'_>, index: &BoardIndex, moment: PointerSample) {
        let refused = matches!(self.landing, DropTarget::Elsewhere { verdict: Err(_), .. });
        match (&self.roots[..], refused) {
            ([node], false) => {
                let Some(place) = self.places.get(node) else { return };
                let area = place.moved_by(self.delta.x, self.delta.y);
                self.inserting.update(scene, index, *node, area, moment);
            }
            _ => self.inserting.clear(),
        }
    }

    fn update_drop_target(&mut self, scene: &BoardScene<'_>, index: &BoardIndex, at: Pos2) {
        let parent = index.container_at(at, |id| self.places.contains_key(&id));
        if parent == self.home {
            self.landing = DropTarget::Home;
        } else if !matches!(self.landing, DropTarget::Elsewhere { parent: known, .. } if known == parent) {
            let verdict = self.roots.iter().try_for_each(|&root| allowed(scene, root, parent));
            self.landing = DropTarget::Elsewhere { parent, verdict };
        }
    }

    pub(crate) fn finish(self) -> GestureOutcome {
        let nodes = || self.roots.iter().map(|&id| NodeRef::Id(id)).collect();
        let into = self.inserting.commands();
        // Moving and inserting into an edge is one operation.
        let run = |command: Command| match &into {
            Some(between) => CanvasEvent::Run(Command::Batch {
                summary: None,
                commands: std::iter::once(command).chain(between.iter().cloned()).collect(),
            }),
            None => CanvasEvent::Run(command),
        };
        let still = self.delta == BoardPoint::default();
        match self.landing {
            _ if self.duplicate && still => GestureOutcome::Nothing,
            _ if self.duplicate => {
                GestureOutcome::Event(run(Command::Duplicate { nodes: nodes(), offset: self.delta }))
            }
            DropTarget::Elsewhere { verdict: Err(refusal), .. } => {
                GestureOutcome::Event(CanvasEvent::Refused(refusal))
            }
            DropTarget::Elsewhere { parent, verdict: Ok(()) } => {
                GestureOutcome::Moved(run(Command::Reparent {
                    nodes: nodes(),
                    parent: parent.map(NodeRef::Id),
                    delta: self.delta,
                }))
            }
            DropTarget::Home if still => GestureOutcome::Nothing,
            DropTarget::Home => {
                let BoardPoint { x, y } = self.delta;
                let place = |&(id, place): &(NodeId, Placement)| PlaceNode {
                    node: NodeRef::Id(id),
                    x: place.x + x,
                    y: place.y + y,
                    w: None,
                    h: None,
                };
                GestureOutcome::Moved(run(Command::Place {
                    items: self.relative.iter().map(place).collect(),
                }))
            }
        }
    }

    pub(crate) fn cursor(&self) -> CursorIcon {
        match &self.landing {
            _ if self.duplicate => CursorIcon::Copy,
            DropTarget::Elsewhere { verdict: Err(_), .. } => CursorIcon::NotAllowed,
            _ => CursorIcon::Move,
        }
    }

    /// Returns the edge that the node would be inserted into.
    pub(crate) fn edge_mark(&self) -> Option<EdgeId> {
        self.inserting.edge()
    }

    pub(crate) fn guides(&self) -> &[SnapGuide] {
        &self.guides
    }

    /// Returns the target container, and whether it accepts the nodes.
    pub(crate) fn drop_mark(&self) -> Option<(NodeId, bool)> {
        match &self.landing {
            DropTarget::Elsewhere { parent: Some(parent), verdict } => Some((*parent, verdict.is_ok())),
            _ => None,
        }
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        match &self.landing {
            DropTarget::Elsewhere { verdict: Err(refusal), .. } => Some(refusal),
            _ => None,
        }
    }

    /// Returns the places of the copies.
    pub(crate) fn ghosts(&self) -> impl Iterator<Item = Placement> + '_ {
        let shown = if self.duplicate { self.roots.as_slice() } else { &[] };
        let BoardPoint { x, y } = self.delta;
        shown.iter().filter_map(move |id| Some(self.places.get(id)?.moved_by(x, y)))
    }
}

fn allowed(scene: &BoardScene<'_>, node: NodeId, parent: Option<NodeId>) -> Result<(), Refusal> {
    let gone = || Refusal::new(RefusalCode::NotFound, "the moved node no longer exists");
    let node = scene.snapshot.node(node).ok_or_else(gone)?;
    if node.parent == parent {
        return Ok(());
    }
    let board = scene.snapshot.board(node.board).ok_or_else(gone)?;
    let def = scene.snapshot.type_of(node).ok_or_else(|| {
        let message = format!("the type `{}` of {} is unknown", node.type_id, node.label);
        Refusal::new(RefusalCode::ContainmentError, message)
            .hint("Move it within its container, or enable its module to move it elsewhere.")
    })?;
    may_contain(scene.snapshot, board, parent, def)
}
