//! The shortest orthogonal route with few bends around a handful of rectangles: A* over the lines on which such a route
//! can turn. All buffers are reused.

use super::{
    obstacle_routing::OBSTACLE_CLEARANCE,
    route::{EdgeRoute, MAX_ROUTE_POINTS, RouteEnd, is_level},
};
use egui::{Pos2, Rect, pos2};
use std::{cmp::Reverse, collections::BinaryHeap};

/// The cost of a bend in board units: a detour of this length is preferred to one more bend.
const BEND_COST: f32 = 48.0;
const MAX_SEARCH_STEPS: usize = 6_000;

#[derive(Default)]
pub(super) struct RouteSearch {
    xs: Vec<f32>,
    ys: Vec<f32>,
    /// For each crossing of lines: whether the way to the next one on the right, or below, is blocked.
    blocked: Vec<[bool; 2]>,
    /// The cost of each crossing, by the axis on which it is reached.
    costs: Vec<[f32; 2]>,
    /// The previous crossing, and the axis on which that one was reached.
    from: Vec<[(u32, u8); 2]>,
    open: BinaryHeap<Reverse<(u32, u32, u8)>>,
}

const LEVEL: usize = 0;
const UPRIGHT: usize = 1;

impl RouteSearch {
    /// Searches a route from port to port, each with the point at which the route may turn first.
    pub(super) fn run(
        &mut self,
        (source, from): (RouteEnd, Pos2),
        (target, to): (RouteEnd, Pos2),
        met: &[Rect],
    ) -> Option<EdgeRoute> {
        let walls: Vec<Rect> = met.iter().filter_map(|rect| wall(*rect, from, to)).collect();
        self.collect_lines(from, to, &walls);
        self.block_walls(&walls);
        let start = self.crossing(from)?;
        let goal = self.crossing(to)?;
        let axis = |end: RouteEnd| if is_level(end.side) { LEVEL } else { UPRIGHT };
        let arrived = self.find_path(start, axis(source), goal, axis(target))?;
        self.build_route((source.at, from), (to, target.at), start, (goal, arrived))
    }

    fn collect_lines(&mut self, from: Pos2, to: Pos2, walls: &[Rect]) {
        self.xs.clear();
        self.ys.clear();
        self.xs.extend([from.x, to.x, (from.x + to.x) / 2.0]);
        self.ys.extend([from.y, to.y, (from.y + to.y) / 2.0]);
        self.xs.extend(walls.iter().flat_map(|wall| [wall.left(), wall.right()]));
        self.ys.extend(walls.iter().flat_map(|wall| [wall.top(), wall.bottom()]));
        for lines in [&mut self.xs, &mut self.ys] {
            lines.sort_unstable_by(f32::total_cmp);
            lines.dedup();
        }
    }

    fn block_walls(&mut self, walls: &[Rect]) {
        let (columns, rows) = (self.xs.len(), self.ys.len());
        self.blocked.clear();
        self.blocked.resize(columns * rows, [false; 2]);
        for wall in walls {
            let first = |lines: &[f32], least: f32| lines.partition_point(|&line| line < least);
            let (left, right) = (first(&self.xs, wall.left()), first(&self.xs, wall.right()));
            let (top, bottom) = (first(&self.ys, wall.top()), first(&self.ys, wall.bottom()));
            for row in top + 1..bottom {
                for column in left..right {
                    self.blocked[row * columns + column][LEVEL] = true;
                }
            }
            for row in top..bottom {
                for column in left + 1..right {
                    self.blocked[row * columns + column][UPRIGHT] = true;
                }
            }
        }
    }

    fn crossing(&self, at: Pos2) -> Option<u32> {
        let column = self.xs.binary_search_by(|line| line.total_cmp(&at.x)).ok()?;
        let row = self.ys.binary_search_by(|line| line.total_cmp(&at.y)).ok()?;
        Some((row * self.xs.len() + column) as u32)
    }

    fn point(&self, crossing: u32) -> Pos2 {
        let columns = self.xs.len();
        pos2(self.xs[crossing as usize % columns], self.ys[crossing as usize / columns])
    }

    /// Runs the search; returns the axis on which the route arrives.
    fn find_path(&mut self, start: u32, axis: usize, goal: u32, last_axis: usize) -> Option<usize> {
        let crossings = self.xs.len() * self.ys.len();
        self.costs.clear();
        self.costs.resize(crossings, [f32::INFINITY; 2]);
        self.from.clear();
        self.from.resize(crossings, [(u32::MAX, 0); 2]);
        self.open.clear();
        let end = self.point(goal);
        let left = |at: Pos2| (end.x - at.x).abs() + (end.y - at.y).abs();
        self.costs[start as usize][axis] = 0.0;
        self.open.push(Reverse((left(self.point(start)).to_bits(), start, axis as u8)));
        let mut best: Option<(f32, usize)> = None;
        for _ in 0..MAX_SEARCH_STEPS {
            let Some(Reverse((estimate, here, axis))) = self.open.pop() else { break };
            if best.is_some_and(|(cost, _)| f32::from_bits(estimate) >= cost) {
                break;
            }
            let axis = usize::from(axis);
            let cost = self.costs[here as usize][axis];
            if here == goal {
                let whole = cost + if axis == last_axis { 0.0 } else { BEND_COST };
                if best.is_none_or(|(known, _)| whole < known) {
                    best = Some((whole, axis));
                }
                continue;
            }
            for (next, next_axis) in self.steps(here).into_iter().flatten() {
                let (a, b) = (self.point(here), self.point(next));
                let bend = if axis == next_axis { 0.0 } else { BEND_COST };
                let next_cost = cost + (a.x - b.x).abs() + (a.y - b.y).abs() + bend;
                if next_cost < self.costs[next as usize][next_axis] {
                    self.costs[next as usize][next_axis] = next_cost;
                    self.from[next as usize][next_axis] = (here, axis as u8);
                    self.open.push(Reverse(((next_cost + left(b)).to_bits(), next, next_axis as u8)));
                }
            }
        }
        best.map(|(_, axis)| axis)
    }

    /// Returns the reachable neighbours of a crossing with their axes.
    fn steps(&self, here: u32) -> [Option<(u32, usize)>; 4] {
        let (columns, rows) = (self.xs.len(), self.ys.len());
        let at = here as usize;
        let (column, row) = (at % columns, at / columns);
        let to = |open: bool, next: usize, axis| open.then_some((next as u32, axis));
        [
            to(column + 1 < columns && !self.blocked[at][LEVEL], at + 1, LEVEL),
            to(column > 0 && !self.blocked[at.saturating_sub(1)][LEVEL], at.saturating_sub(1), LEVEL),
            to(row + 1 < rows && !self.blocked[at][UPRIGHT], at + columns, UPRIGHT),
            to(
                row > 0 && !self.blocked[at.saturating_sub(columns)][UPRIGHT],
                at.saturating_sub(columns),
                UPRIGHT,
            ),
        ]
    }

    fn build_route(
        &self,
        (port, from): (Pos2, Pos2),
        (to, other): (Pos2, Pos2),
        start: u32,
        (goal, axis): (u32, usize),
    ) -> Option<EdgeRoute> {
        let mut back = vec![other, to];
        let (mut here, mut axis) = (goal, axis);
        while here != start {
            let (before, before_axis) = self.from[here as usize][axis];
            if before == u32::MAX || back.len() > self.costs.len() * 2 {
                return None;
            }
            back.push(self.point(before));
            (here, axis) = (before, usize::from(before_axis));
        }
        back.extend([from, port]);
        back.reverse();
        let corners = corners(&back);
        (corners.len() <= MAX_ROUTE_POINTS).then(|| EdgeRoute::from_points(&corners))
    }
}

/// Expands a rectangle by the clearance, less where an end is closer; `None` if an end is inside.
fn wall(rect: Rect, from: Pos2, to: Pos2) -> Option<Rect> {
    let away = |at: Pos2| {
        let beside = (rect.left() - at.x).max(at.x - rect.right());
        let above = (rect.top() - at.y).max(at.y - rect.bottom());
        beside.max(above)
    };
    let room = away(from).min(away(to)).min(OBSTACLE_CLEARANCE);
    (room > 0.0).then(|| rect.expand(room))
}

/// Keeps only the points at which the route turns.
fn corners(points: &[Pos2]) -> Vec<Pos2> {
    let mut corners: Vec<Pos2> = Vec::with_capacity(MAX_ROUTE_POINTS);
    for &point in points {
        if corners.last().is_some_and(|last| last.distance_sq(point) < 0.01) {
            continue;
        }
        if let [.., before, last] = corners.as_mut_slice() {
            let level = (before.y - last.y).abs() < 0.01 && (last.y - point.y).abs() < 0.01;
            let upright = (before.x - last.x).abs() < 0.01 && (last.x - point.x).abs() < 0.01;
            if level || upright {
                *last = point;
                continue;
            }
        }
        corners.push(point);
    }
    corners
}
