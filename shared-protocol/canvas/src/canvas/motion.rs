//! Short animations: of the view to another part of the board, and of nodes to their new places. They are visual only:
//! the state changes at once, and any input ends them.

use super::{Canvas, FitViewRequest};
use crate::{
    BoardScene,
    camera::{fit_viewport, sanitised},
};
use authority::Snapshot;
use egui::{Rect, Ui};
use shared_protocol::{BoardId, Change, NodeId, Placement, messages::BoardViewport};
use std::collections::BTreeMap;

const ANIMATION_SECONDS: f64 = 0.18;
const MAX_ANIMATED_NODES: usize = 600;

pub(super) struct ViewAnimation {
    from: BoardViewport,
    to: BoardViewport,
    /// The viewport after the last frame; any other value means that the user moved the view.
    last: BoardViewport,
    start: Option<f64>,
}

pub(super) struct NodeAnimation {
    moves: Vec<(NodeId, Placement, Placement)>,
    start: Option<f64>,
}

/// Returns the eased progress from 0 to 1, fast first.
fn ease(start: &mut Option<f64>, now: f64) -> f64 {
    let passed = (now - *start.get_or_insert(now)) / ANIMATION_SECONDS;
    1.0 - (1.0 - passed.clamp(0.0, 1.0)).powi(3)
}

impl Canvas {
    /// Turns animations off. They are off by default, because only the owner knows the system setting.
    pub fn set_reduced_motion(&mut self, reduced: bool) {
        self.reduced_motion = reduced;
        if reduced {
            if let Some(flight) = self.flight.take() {
                self.viewport = flight.to;
            }
            if let Some(glide) = &mut self.glide {
                // The animation ends with the next frame.
                glide.start = Some(f64::NEG_INFINITY);
            }
        }
    }

    pub fn is_flying(&self) -> bool {
        self.flight.is_some()
    }

    /// Animates the view to show an area; the view's size must be known.
    pub(super) fn animate_to_area(&mut self, wanted: FitViewRequest, view: Rect) {
        self.animate_to(fit_viewport(wanted.bounds, view, wanted.padding, wanted.most));
    }

    /// Returns the viewport at the end of the animation, so that two key presses in a row go twice as far.
    pub(super) fn destination(&self) -> BoardViewport {
        self.flight.as_ref().map_or(self.viewport, |flight| flight.to)
    }

    pub(super) fn animate_to(&mut self, to: BoardViewport) {
        if self.reduced_motion {
            self.flight = None;
            self.viewport = to;
        } else {
            self.flight = Some(ViewAnimation { from: self.viewport, to, last: self.viewport, start: None });
        }
    }

    pub(super) fn advance_animations(&mut self, ui: &Ui, scene: &BoardScene<'_>) {
        let now = ui.input(|input| input.time);
        if let Some(mut flight) = self.flight.take().filter(|flight| flight.last == self.viewport) {
            let share = ease(&mut flight.start, now);
            self.viewport = interpolate(flight.from, flight.to, share);
            flight.last = self.viewport;
            if share < 1.0 && !self.gesture.is_active() {
                self.flight = Some(flight);
                ui.request_repaint();
            }
        }
        if self.gesture.is_active() {
            // The preview belongs to the gesture now.
            self.glide = None;
        }
        let Some(glide) = &mut self.glide else { return };
        let share = ease(&mut glide.start, now);
        if share >= 1.0 {
            self.glide = None;
            self.index.clear_preview(scene.snapshot);
            return;
        }
        let shown = glide.moves.iter().map(|&(id, from, to)| (id, part_way(from, to, share)));
        self.index.set_preview(scene.snapshot, shown);
        ui.request_repaint();
    }

    /// Returns the shown places of the nodes that are about to move.
    pub(super) fn before_change(
        &self,
        snapshot: &Snapshot,
        changes: &[Change],
    ) -> BTreeMap<NodeId, Placement> {
        let mut before = BTreeMap::new();
        if self.reduced_motion || self.gesture.is_active() {
            return before;
        }
        for change in changes {
            let (Change::Placement { node, .. } | Change::Parent { node, .. }) = change else { continue };
            for id in snapshot.subtree(*node) {
                before.extend(self.index.slot(id).map(|slot| (id, slot.area)));
            }
            if before.len() > MAX_ANIMATED_NODES {
                return BTreeMap::new();
            }
        }
        before
    }

    /// Animates the nodes from their previous to their new places.
    pub(super) fn after_change(
        &mut self,
        board: BoardId,
        snapshot: &Snapshot,
        before: BTreeMap<NodeId, Placement>,
    ) {
        let moves: Vec<_> = before
            .into_iter()
            .filter(|(id, _)| snapshot.node(*id).is_some_and(|node| node.board == board))
            .filter_map(|(id, from)| Some((id, from, self.index.slot(id)?.area)))
            .collect();
        self.glide = None;
        if moves.iter().any(|(_, from, to)| from != to) {
            let places = moves.iter().map(|&(id, from, _)| (id, from));
            self.index.set_preview(snapshot, places);
            self.glide = Some(NodeAnimation { moves, start: None });
        }
    }
}

fn interpolate(from: BoardViewport, to: BoardViewport, share: f64) -> BoardViewport {
    if share >= 1.0 {
        return to;
    }
    let share = share as f32;
    let zoom = from.zoom * (to.zoom / from.zoom).powf(share);
    // The centre moves in step with the zoom, so that the screen speed stays even.
    let moved = if (to.zoom - from.zoom).abs() < 1e-4 {
        share
    } else {
        (1.0 / from.zoom - 1.0 / zoom) / (1.0 / from.zoom - 1.0 / to.zoom)
    };
    sanitised(BoardViewport {
        x: from.x + (to.x - from.x) * moved,
        y: from.y + (to.y - from.y) * moved,
        zoom,
    })
}

fn part_way(from: Placement, to: Placement, share: f64) -> Placement {
    let at = |from: i32, to: i32| from + (f64::from(to - from) * share).round() as i32;
    Placement { x: at(from.x, to.x), y: at(from.y, to.y), w: at(from.w, to.w), h: at(from.h, to.h) }
}
