//! Selecting with a rectangle: cards and notes that it touches, containers and edges that are completely inside.

use super::PointerSample;
use crate::{
    BoardScene, CanvasEvent,
    camera::{enclosing_placement, rect_of},
    index::{BoardIndex, DrawnNodeKind},
};
use egui::{Pos2, Rect};
use shared_protocol::ElementId;
use std::collections::BTreeSet;

pub(crate) struct MarqueeGesture {
    start: Pos2,
    now: Pos2,
    before: BTreeSet<ElementId>,
    reported: BTreeSet<ElementId>,
}

impl MarqueeGesture {
    pub(crate) fn start(scene: &BoardScene<'_>, at: Pos2) -> Self {
        Self { start: at, now: at, before: scene.selection.clone(), reported: scene.selection.clone() }
    }

    /// The rectangle in board coordinates.
    pub(crate) fn rect(&self) -> Rect {
        Rect::from_two_pos(self.start, self.now)
    }

    /// Returns the new selection when it has changed.
    pub(crate) fn step(
        &mut self,
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        moment: PointerSample,
    ) -> Option<CanvasEvent> {
        self.now = moment.at;
        let held = self.covered_elements(scene, index);
        let wanted: BTreeSet<ElementId> = if moment.modifiers.alt {
            self.before.difference(&held).copied().collect()
        } else if moment.modifiers.shift {
            self.before.union(&held).copied().collect()
        } else {
            held
        };
        (wanted != self.reported).then(|| {
            self.reported = wanted.clone();
            CanvasEvent::Select(wanted)
        })
    }

    fn covered_elements(&self, _scene: &BoardScene<'_>, index: &BoardIndex) -> BTreeSet<ElementId> {
        let rect = self.rect();
        let mut found = Vec::new();
        index.nodes_in(enclosing_placement(rect), &mut found);
        let nodes = found.iter().map(|&place| index.node(place)).filter(|slot| match slot.kind {
            DrawnNodeKind::Container => rect.contains_rect(rect_of(slot.area)),
            DrawnNodeKind::Card | DrawnNodeKind::Note => rect.intersects(rect_of(slot.area)),
        });
        let mut held: BTreeSet<ElementId> = nodes.map(|slot| ElementId::Node(slot.id)).collect();
        index.edges_in(enclosing_placement(rect), &mut found);
        let edges = found.iter().map(|&place| index.edge(place));
        let whole = edges.filter(|slot| slot.route.points().iter().all(|&point| rect.contains(point)));
        held.extend(whole.map(|slot| ElementId::Edge(slot.id)));
        held
    }

    pub(crate) fn cancel(self, scene: &BoardScene<'_>) -> Option<CanvasEvent> {
        (self.before != *scene.selection).then_some(CanvasEvent::Select(self.before))
    }
}
