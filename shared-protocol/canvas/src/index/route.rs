//! The plain route of an edge: out of a port, along the axes, into a port. It goes around its own two nodes when the
//! target is behind the source; [`super::around`] routes it around other nodes.

use crate::{
    camera::{around, rect_of},
    theme::size,
};
use egui::{Pos2, Rect, Vec2, pos2, vec2};
use shared_protocol::{Placement, registry::Side};

pub(crate) const MOST_POINTS: usize = 12;

/// A polyline on the board, stored inline: thousands of edges are routed without an allocation each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    points: [Pos2; MOST_POINTS],
    count: u8,
}

/// One end: the point, the side of the node, and the node's area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteEnd {
    pub(crate) at: Pos2,
    pub(crate) side: Side,
    pub(crate) node: Placement,
}

impl Route {
    pub(crate) fn points(&self) -> &[Pos2] {
        &self.points[..usize::from(self.count)]
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = [Pos2; 2]> + '_ {
        self.points().windows(2).map(|pair| [pair[0], pair[1]])
    }

    pub(crate) fn area(&self) -> Placement {
        around(Rect::from_points(self.points()).expand(size::ARROW))
    }

    pub(crate) fn distance_to(&self, at: Pos2) -> f32 {
        self.segments().map(|segment| distance(segment, at)).fold(f32::INFINITY, f32::min)
    }

    pub(crate) fn moved_by(mut self, by: Vec2) -> Self {
        self.points.iter_mut().for_each(|point| *point += by);
        self
    }

    /// Shifts one stretch sideways; the adjacent stretches follow.
    pub(super) fn shift(&mut self, stretch: usize, by: f32) {
        let [a, b] = [self.points[stretch], self.points[stretch + 1]];
        let by = if (a.y - b.y).abs() < 0.01 { vec2(0.0, by) } else { vec2(by, 0.0) };
        self.points[stretch] += by;
        self.points[stretch + 1] += by;
    }

    pub(crate) fn from_points(points: &[Pos2]) -> Self {
        let mut route = Self { points: [Pos2::ZERO; MOST_POINTS], count: 0 };
        for &point in points.iter().take(MOST_POINTS) {
            route.push(point);
        }
        route
    }

    /// Adds a point and merges collinear ones.
    fn push(&mut self, point: Pos2) {
        let count = usize::from(self.count);
        if count >= 1 && self.points[count - 1].distance_sq(point) < 0.01 {
            return;
        }
        if count >= 2 {
            let (before, last) = (self.points[count - 2], self.points[count - 1]);
            let level = (before.y - last.y).abs() < 0.01 && (last.y - point.y).abs() < 0.01;
            let upright = (before.x - last.x).abs() < 0.01 && (last.x - point.x).abs() < 0.01;
            if level || upright {
                self.points[count - 1] = point;
                return;
            }
        }
        if count < MOST_POINTS {
            self.points[count] = point;
            self.count += 1;
        }
    }
}

fn distance([a, b]: [Pos2; 2], at: Pos2) -> f32 {
    let along = b - a;
    let share =
        if along.length_sq() > 0.0 { ((at - a).dot(along) / along.length_sq()).clamp(0.0, 1.0) } else { 0.0 };
    at.distance(a + along * share)
}

pub(super) fn outwards(side: Side) -> Vec2 {
    match side {
        Side::Left => vec2(-1.0, 0.0),
        Side::Right => vec2(1.0, 0.0),
        Side::Top => vec2(0.0, -1.0),
        Side::Bottom => vec2(0.0, 1.0),
    }
}

pub(super) fn is_level(side: Side) -> bool {
    matches!(side, Side::Left | Side::Right)
}

/// Returns the plain route from one port to another.
pub(crate) fn route(source: RouteEnd, target: RouteEnd) -> Route {
    let (from, to) =
        (source.at + outwards(source.side) * size::STUB, target.at + outwards(target.side) * size::STUB);
    match (is_level(source.side), is_level(target.side)) {
        (true, true) => level(source, target, from, to),
        (false, false) => {
            let turned = |end: RouteEnd| RouteEnd {
                at: turn(end.at),
                side: turn_side(end.side),
                node: turn_area(end.node),
            };
            let mut route = level(turned(source), turned(target), turn(from), turn(to));
            route.points.iter_mut().for_each(|point| *point = turn(*point));
            route
        }
        (true, false) => corner(source, target, from, to),
        (false, true) => {
            let mut points: Vec<Pos2> = corner(target, source, to, from).points().to_vec();
            points.reverse();
            Route::from_points(&points)
        }
    }
}

/// Routes between two ports that face sideways.
fn level(source: RouteEnd, target: RouteEnd, from: Pos2, to: Pos2) -> Route {
    let (start, end) = (source.at, target.at);
    if source.side == target.side {
        let x = if source.side == Side::Right { from.x.max(to.x) } else { from.x.min(to.x) };
        return Route::from_points(&[start, pos2(x, start.y), pos2(x, end.y), end]);
    }
    let ahead = if source.side == Side::Right { to.x >= from.x } else { to.x <= from.x };
    if ahead {
        let x = (start.x + end.x) / 2.0;
        return Route::from_points(&[start, pos2(x, start.y), pos2(x, end.y), end]);
    }
    let y = way_round(rect_of(source.node), rect_of(target.node), start.y, end.y);
    Route::from_points(&[start, from, pos2(from.x, y), pos2(to.x, y), to, end])
}

/// Returns the height at which an edge passes when its target is behind it: between the nodes, else around the nearer
/// side.
fn way_round(a: Rect, b: Rect, start: f32, end: f32) -> f32 {
    let gap = 2.0 * size::STUB / 2.0;
    if b.top() - a.bottom() >= gap {
        return (a.bottom() + b.top()) / 2.0;
    }
    if a.top() - b.bottom() >= gap {
        return (b.bottom() + a.top()) / 2.0;
    }
    let above = a.top().min(b.top()) - size::STUB;
    let below = a.bottom().max(b.bottom()) + size::STUB;
    let cost = |y: f32| (y - start).abs() + (y - end).abs();
    if cost(above) < cost(below) { above } else { below }
}

/// Routes from a port that faces sideways to one that faces up or down.
fn corner(source: RouteEnd, target: RouteEnd, from: Pos2, to: Pos2) -> Route {
    let (start, end) = (source.at, target.at);
    let reaches = (end.x - start.x) * outwards(source.side).x >= 0.0;
    let enters = (start.y - end.y) * outwards(target.side).y >= size::STUB;
    if reaches && enters {
        return Route::from_points(&[start, pos2(end.x, start.y), end]);
    }
    Route::from_points(&[start, from, pos2(from.x, to.y), to, end])
}

fn turn(at: Pos2) -> Pos2 {
    pos2(at.y, at.x)
}

fn turn_side(side: Side) -> Side {
    match side {
        Side::Left => Side::Top,
        Side::Top => Side::Left,
        Side::Right => Side::Bottom,
        Side::Bottom => Side::Right,
    }
}

fn turn_area(area: Placement) -> Placement {
    Placement { x: area.y, y: area.x, w: area.h, h: area.w }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(x: i32, y: i32, side: Side) -> RouteEnd {
        let node = Placement { x, y, w: 100, h: 60 };
        let rect = rect_of(node);
        let at = match side {
            Side::Left => rect.left_center(),
            Side::Right => rect.right_center(),
            Side::Top => rect.center_top(),
            Side::Bottom => rect.center_bottom(),
        };
        RouteEnd { at, side, node }
    }

    #[test]
    fn every_way_is_along_the_axes_and_ends_at_the_ports() {
        let sides = [Side::Left, Side::Right, Side::Top, Side::Bottom];
        for (from, to) in sides.iter().flat_map(|&a| sides.map(|b| (a, b))) {
            for (x, y) in [(300, 0), (300, 200), (-300, 0), (-300, 90), (0, 200), (0, -200), (40, 10)] {
                let (source, target) = (end(0, 0, from), end(x, y, to));
                let route = route(source, target);
                assert_eq!(route.points().first(), Some(&source.at), "{from:?} {to:?} {x} {y}");
                assert_eq!(route.points().last(), Some(&target.at), "{from:?} {to:?} {x} {y}");
                for [a, b] in route.segments() {
                    let crooked = (a.x - b.x).abs() > 0.01 && (a.y - b.y).abs() > 0.01;
                    assert!(!crooked, "{from:?} → {to:?} at {x}, {y}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn a_target_straight_ahead_is_one_line() {
        let route = route(end(0, 0, Side::Right), end(300, 0, Side::Left));
        assert_eq!(route.points(), [pos2(100.0, 30.0), pos2(300.0, 30.0)]);
    }
}
