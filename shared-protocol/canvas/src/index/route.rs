//! The plain route of an edge: out of a port, along the axes, into a port. It goes around its own two nodes when the
//! target is behind the source; [`super::obstacle_routing`] routes it around other nodes.

use crate::{
    camera::{enclosing_placement, rect_of},
    theme::size,
};
use egui::{Pos2, Rect, Vec2, pos2, vec2};
use shared_protocol::{Placement, registry::PortSide};

pub(crate) const MAX_ROUTE_POINTS: usize = 12;

/// A polyline on the board, stored inline: thousands of edges are routed without an allocation each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeRoute {
    points: [Pos2; MAX_ROUTE_POINTS],
    count: u8,
}

/// One end: the point, the side of the node, and the node's area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RouteEnd {
    pub(crate) at: Pos2,
    pub(crate) side: PortSide,
    pub(crate) node: Placement,
}

impl EdgeRoute {
    pub(crate) fn points(&self) -> &[Pos2] {
        &self.points[..usize::from(self.count)]
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = [Pos2; 2]> + '_ {
        self.points().windows(2).map(|pair| [pair[0], pair[1]])
    }

    pub(crate) fn area(&self) -> Placement {
        enclosing_placement(Rect::from_points(self.points()).expand(size::ARROW))
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
        let mut route = Self { points: [Pos2::ZERO; MAX_ROUTE_POINTS], count: 0 };
        for &point in points.iter().take(MAX_ROUTE_POINTS) {
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
        if count < MAX_ROUTE_POINTS {
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

pub(super) fn outwards(side: PortSide) -> Vec2 {
    match side {
        PortSide::Left => vec2(-1.0, 0.0),
        PortSide::Right => vec2(1.0, 0.0),
        PortSide::Top => vec2(0.0, -1.0),
        PortSide::Bottom => vec2(0.0, 1.0),
    }
}

pub(super) fn is_level(side: PortSide) -> bool {
    matches!(side, PortSide::Left | PortSide::Right)
}

pub(crate) fn plain_route(source: RouteEnd, target: RouteEnd) -> EdgeRoute {
    let (from, to) =
        (source.at + outwards(source.side) * size::STUB, target.at + outwards(target.side) * size::STUB);
    match (is_level(source.side), is_level(target.side)) {
        (true, true) => route_sideways(source, target, from, to),
        (false, false) => {
            let turned = |end: RouteEnd| RouteEnd {
                at: transpose(end.at),
                side: transpose_side(end.side),
                node: transpose_area(end.node),
            };
            let mut route = route_sideways(turned(source), turned(target), transpose(from), transpose(to));
            route.points.iter_mut().for_each(|point| *point = transpose(*point));
            route
        }
        (true, false) => route_around_corner(source, target, from, to),
        (false, true) => {
            let mut points: Vec<Pos2> = route_around_corner(target, source, to, from).points().to_vec();
            points.reverse();
            EdgeRoute::from_points(&points)
        }
    }
}

/// Routes between two ports that face sideways.
fn route_sideways(source: RouteEnd, target: RouteEnd, from: Pos2, to: Pos2) -> EdgeRoute {
    let (start, end) = (source.at, target.at);
    if source.side == target.side {
        let x = if source.side == PortSide::Right { from.x.max(to.x) } else { from.x.min(to.x) };
        return EdgeRoute::from_points(&[start, pos2(x, start.y), pos2(x, end.y), end]);
    }
    let ahead = if source.side == PortSide::Right { to.x >= from.x } else { to.x <= from.x };
    if ahead {
        let x = (start.x + end.x) / 2.0;
        return EdgeRoute::from_points(&[start, pos2(x, start.y), pos2(x, end.y), end]);
    }
    let y = detour_height(rect_of(source.node), rect_of(target.node), start.y, end.y);
    EdgeRoute::from_points(&[start, from, pos2(from.x, y), pos2(to.x, y), to, end])
}

/// Returns the height at which an edge passes when its target is behind it: between the nodes, else around the nearer
/// side.
fn detour_height(a: Rect, b: Rect, start: f32, end: f32) -> f32 {
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
fn route_around_corner(source: RouteEnd, target: RouteEnd, from: Pos2, to: Pos2) -> EdgeRoute {
    let (start, end) = (source.at, target.at);
    let reaches = (end.x - start.x) * outwards(source.side).x >= 0.0;
    let enters = (start.y - end.y) * outwards(target.side).y >= size::STUB;
    if reaches && enters {
        return EdgeRoute::from_points(&[start, pos2(end.x, start.y), end]);
    }
    EdgeRoute::from_points(&[start, from, pos2(from.x, to.y), to, end])
}

fn transpose(at: Pos2) -> Pos2 {
    pos2(at.y, at.x)
}

fn transpose_side(side: PortSide) -> PortSide {
    match side {
        PortSide::Left => PortSide::Top,
        PortSide::Top => PortSide::Left,
        PortSide::Right => PortSide::Bottom,
        PortSide::Bottom => PortSide::Right,
    }
}

fn transpose_area(area: Placement) -> Placement {
    Placement { x: area.y, y: area.x, w: area.h, h: area.w }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(x: i32, y: i32, side: PortSide) -> RouteEnd {
        let node = Placement { x, y, w: 100, h: 60 };
        let rect = rect_of(node);
        let at = match side {
            PortSide::Left => rect.left_center(),
            PortSide::Right => rect.right_center(),
            PortSide::Top => rect.center_top(),
            PortSide::Bottom => rect.center_bottom(),
        };
        RouteEnd { at, side, node }
    }

    #[test]
    fn every_way_is_along_the_axes_and_ends_at_the_ports() {
        let sides = [PortSide::Left, PortSide::Right, PortSide::Top, PortSide::Bottom];
        for (from, to) in sides.iter().flat_map(|&a| sides.map(|b| (a, b))) {
            for (x, y) in [(300, 0), (300, 200), (-300, 0), (-300, 90), (0, 200), (0, -200), (40, 10)] {
                let (source, target) = (end(0, 0, from), end(x, y, to));
                let route = plain_route(source, target);
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
        let route = plain_route(end(0, 0, PortSide::Right), end(300, 0, PortSide::Left));
        assert_eq!(route.points(), [pos2(100.0, 30.0), pos2(300.0, 30.0)]);
    }
}
