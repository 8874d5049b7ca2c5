//! Lanes keep edges apart that would lie on one line. Overlapping stretches on one line form a group; within it each
//! bundle of edges (those out of one port) has a lane. The lanes depend on the group alone, not on the order in which
//! edges were added.

use super::{BoardIndex, IndexedEdge, obstacle_routing::OBSTACLE_CLEARANCE, route::EdgeRoute};
use crate::camera::enclosing_placement;
use egui::{Pos2, Rect};
use shared_protocol::EdgeId;
use std::collections::{BTreeSet, HashSet};

/// The distance between two lanes, and the maximum distance of a lane from the line.
const LANE_WIDTH: f32 = 6.0;
const MAX_LANE_OFFSET: f32 = OBSTACLE_CLEARANCE - 4.0;
/// The maximum distance in whole units, rounded up.
pub(super) const MAX_LANE_OFFSET_UNITS: i32 = 9;
/// The maximum number of stretches in a group; lanes of a larger group would be a solid band.
const MAX_GROUP_SEGMENTS: usize = 96;

/// A stretch that may be shifted: neither the first nor the last of its edge, which are bound to ports.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LaneSegment {
    edge: u32,
    /// Its index in the route.
    at: usize,
    level: bool,
    line: f32,
    span: (f32, f32),
    /// The sort key of lanes; reduces crossings as far as the direction tells.
    turn: f32,
    free_width: f32,
}

fn lane_segments(edge: u32, route: &EdgeRoute) -> impl Iterator<Item = LaneSegment> + '_ {
    let points = route.points();
    (1..points.len().saturating_sub(2)).filter_map(move |at| {
        let [before, a, b, after] = *points.get(at - 1..at + 3)? else { return None };
        let level = (a.y - b.y).abs() < 0.01;
        let pick = |point: Pos2| if level { (point.y, point.x) } else { (point.x, point.y) };
        let ((line, from), (_, to)) = (pick(a), pick(b));
        // Whether the route continues to the high or to the low side of the line.
        let onwards = (pick(after).0 - pick(before).0).signum();
        let turn = if to > from { -from } else { from } * onwards;
        let bound = |ends: bool, length: f32| if ends { length / 2.0 } else { f32::INFINITY };
        let room = bound(at == 1, a.distance(before)).min(bound(at + 3 == points.len(), b.distance(after)));
        Some(LaneSegment {
            edge,
            at,
            level,
            line,
            span: (from.min(to), from.max(to)),
            turn,
            free_width: room,
        })
    })
}

fn overlap(a: &LaneSegment, b: &LaneSegment) -> bool {
    a.level == b.level
        && (a.line - b.line).abs() < 0.5
        && a.span.0 < b.span.1 - 0.5
        && b.span.0 < a.span.1 - 0.5
}

impl BoardIndex {
    /// Collects the edges that share a line with this one.
    pub(super) fn neighbours(&self, id: EdgeId, found: &mut BTreeSet<EdgeId>) {
        let Some(&place) = self.edge_slots.get(&id) else { return };
        let mut near = Vec::new();
        for stretch in lane_segments(place, &self.edges[place as usize].base) {
            for other in self.segments_beside(&stretch, &mut near) {
                found.insert(self.edges[other.edge as usize].id);
            }
        }
    }

    fn segments_beside(&self, stretch: &LaneSegment, near: &mut Vec<u32>) -> Vec<LaneSegment> {
        let (from, to) = stretch.span;
        let rect = if stretch.level {
            Rect::from_min_max(egui::pos2(from, stretch.line), egui::pos2(to, stretch.line))
        } else {
            Rect::from_min_max(egui::pos2(stretch.line, from), egui::pos2(stretch.line, to))
        };
        self.edges_in(enclosing_placement(rect), near);
        let others = near.iter().flat_map(|&place| lane_segments(place, &self.edges[place as usize].base));
        others.filter(|other| other != stretch && overlap(stretch, other)).collect()
    }

    /// Assigns lanes to these edges and to all that share a line with them.
    pub(super) fn assign_lanes(&mut self, edges: BTreeSet<EdgeId>) {
        let places: Vec<u32> = edges.iter().filter_map(|id| self.edge_slots.get(id).copied()).collect();
        let mut done: HashSet<(u32, usize)> = HashSet::new();
        let mut touched: BTreeSet<u32> = places.iter().copied().collect();
        let (mut near, mut group) = (Vec::new(), Vec::new());
        for &place in &places {
            let own: Vec<LaneSegment> = lane_segments(place, &self.edges[place as usize].base).collect();
            for stretch in own {
                if !done.insert((stretch.edge, stretch.at)) {
                    continue;
                }
                group.clear();
                group.push(stretch);
                let mut next = 0;
                while next < group.len() && group.len() <= MAX_GROUP_SEGMENTS {
                    let here = group[next];
                    next += 1;
                    for other in self.segments_beside(&here, &mut near) {
                        if done.insert((other.edge, other.at)) {
                            group.push(other);
                        }
                    }
                }
                for (stretch, by) in self.lanes(&mut group) {
                    touched.insert(stretch.edge);
                    self.edges[stretch.edge as usize].shifts[stretch.at] = by;
                }
            }
        }
        for place in touched {
            let slot: &mut IndexedEdge = &mut self.edges[place as usize];
            slot.route = slot.base;
            for (at, &by) in slot.shifts.iter().enumerate().filter(|(_, by)| **by != 0.0) {
                slot.route.shift(at, by);
            }
        }
    }

    fn lanes(&self, group: &mut [LaneSegment]) -> Vec<(LaneSegment, f32)> {
        let bundle = |stretch: &LaneSegment| self.edges[stretch.edge as usize].bundle;
        let id = |stretch: &LaneSegment| self.edges[stretch.edge as usize].id;
        group.sort_by(|a, b| a.turn.total_cmp(&b.turn).then_with(|| (id(a), a.at).cmp(&(id(b), b.at))));
        let mut order: Vec<u64> = Vec::new();
        for stretch in group.iter() {
            if !order.contains(&bundle(stretch)) {
                order.push(bundle(stretch));
            }
        }
        if order.len() < 2 || group.len() > MAX_GROUP_SEGMENTS {
            return group.iter().map(|stretch| (*stretch, 0.0)).collect();
        }
        let count = (order.len() - 1) as f32;
        let step = LANE_WIDTH.min(2.0 * MAX_LANE_OFFSET / count);
        let lane =
            |stretch: &LaneSegment| order.iter().position(|&other| other == bundle(stretch)).unwrap_or(0);
        group
            .iter()
            .map(|stretch| {
                let by = (lane(stretch) as f32 - count / 2.0) * step;
                (*stretch, by.clamp(-stretch.free_width, stretch.free_width))
            })
            .collect()
    }
}
