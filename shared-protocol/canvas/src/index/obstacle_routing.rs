//! Routing an edge around the nodes in its way. The plain route is tried first, then the best route around the nodes
//! that it crosses, and so on until a route crosses none. Only crossed nodes are considered. The searched area is
//! stored with the edge, so that a change elsewhere does not reroute it.

use super::{
    BoardIndex, DrawnNodeKind, IndexedNode,
    route::{EdgeRoute, RouteEnd, outwards, plain_route},
    search::RouteSearch,
    touches,
};
use crate::{
    camera::{enclosing_placement, rect_of},
    theme::size,
};
use egui::{Pos2, Rect};
use shared_protocol::{NodeId, Placement};

/// The distance between an edge and a node that it avoids.
pub(super) const OBSTACLE_CLEARANCE: f32 = 12.0;
/// The minimum distance of a plain route from a node; more than lanes shift an edge.
const PLAIN_ROUTE_CLEARANCE: f32 = 9.0;
/// The maximum numbers of attempts and of obstacles before the plain route is used.
const MAX_ROUTE_ATTEMPTS: usize = 16;
const MAX_OBSTACLES: usize = 40;

/// A route, the area that was searched for it, and whether it took a search.
pub(super) struct RoutedEdge {
    pub(super) route: EdgeRoute,
    pub(super) window: Placement,
    pub(super) searched: bool,
}

#[derive(Clone, Copy)]
pub(super) struct EdgeEnds {
    pub(super) source: (NodeId, RouteEnd),
    pub(super) target: (NodeId, RouteEnd),
}

pub(super) fn plain_routed_edge(ends: EdgeEnds) -> RoutedEdge {
    let route = plain_route(ends.source.1, ends.target.1);
    RoutedEdge { route, window: searched_area(&route), searched: false }
}

fn searched_area(route: &EdgeRoute) -> Placement {
    route.area().expand(OBSTACLE_CLEARANCE as i32)
}

pub(super) fn route_around_nodes(index: &BoardIndex, search: &mut RouteSearch, ends: EdgeEnds) -> RoutedEdge {
    let plain = plain_routed_edge(ends);
    let (mut path, mut window) = (plain.route, plain.window);
    let mut met: Vec<Rect> = Vec::new();
    let mut near = Vec::new();
    for tried in 0..MAX_ROUTE_ATTEMPTS {
        let before = met.len();
        for segment in path.segments() {
            collect_obstacles(index, ends, segment, &mut near, &mut met);
        }
        if met.len() == before {
            return RoutedEdge { route: path, window, searched: tried > 0 };
        }
        if tried == 0 {
            met.extend(end_obstacles(index, ends));
        }
        let (source, target) = (first_turn(ends.source.1, &met), first_turn(ends.target.1, &met));
        let Some(next) = (met.len() <= MAX_OBSTACLES).then(|| search.run(source, target, &met)).flatten()
        else {
            break;
        };
        path = next;
        window = window.union(searched_area(&path));
    }
    RoutedEdge { route: plain.route, window, searched: true }
}

/// Adds the nodes that one stretch crosses.
fn collect_obstacles(
    index: &BoardIndex,
    ends: EdgeEnds,
    [a, b]: [Pos2; 2],
    near: &mut Vec<u32>,
    met: &mut Vec<Rect>,
) {
    let stretch = Rect::from_two_pos(a, b);
    let area = enclosing_placement(stretch.expand(PLAIN_ROUTE_CLEARANCE));
    index.node_grid.query(area, near);
    for slot in near.iter().map(|&place| index.node(place)) {
        if !touches(slot.area, area) || slot.id == ends.source.0 || slot.id == ends.target.0 {
            continue;
        }
        let rect = rect_of(slot.area);
        if crosses(stretch, rect.expand(PLAIN_ROUTE_CLEARANCE))
            && !met.contains(&rect)
            && is_obstacle(index, slot, ends)
        {
            met.push(rect);
        }
    }
}

/// Whether the stretch touches the interior of the rectangle.
fn crosses(stretch: Rect, rect: Rect) -> bool {
    stretch.min.x < rect.max.x
        && stretch.max.x > rect.min.x
        && stretch.min.y < rect.max.y
        && stretch.max.y > rect.min.y
}

/// Whether a node is an obstacle. A container around an end is not; neither is the content of an end.
fn is_obstacle(index: &BoardIndex, slot: &IndexedNode, ends: EdgeEnds) -> bool {
    let [source, target] = [ends.source.0, ends.target.0];
    if slot.kind == DrawnNodeKind::Container
        && (contains_node(index, slot.id, source) || contains_node(index, slot.id, target))
    {
        return false;
    }
    // Inside a container that is itself an obstacle, or inside an end, nodes need no check.
    let mut above = slot.parent;
    for _ in 0..super::MAX_WALK_DEPTH {
        let Some(container) = above.and_then(|id| index.slot(id)) else { return true };
        let open = contains_node(index, container.id, source) || contains_node(index, container.id, target);
        if open || container.id == source || container.id == target {
            return open;
        }
        above = container.parent;
    }
    true
}

fn contains_node(index: &BoardIndex, container: NodeId, node: NodeId) -> bool {
    let mut above = index.slot(node).and_then(|slot| slot.parent);
    for _ in 0..super::MAX_WALK_DEPTH {
        match above {
            Some(id) if id == container => return true,
            Some(id) => above = index.slot(id).and_then(|slot| slot.parent),
            None => return false,
        }
    }
    false
}

/// Returns the ends' own nodes, which a route must not cross either, unless one contains the other.
fn end_obstacles(index: &BoardIndex, ends: EdgeEnds) -> impl Iterator<Item = Rect> {
    let [source, target] = [ends.source.0, ends.target.0];
    let rect = |end: RouteEnd| rect_of(end.node);
    let first = (!contains_node(index, source, target)).then(|| rect(ends.source.1));
    let second = (source != target && !contains_node(index, target, source)).then(|| rect(ends.target.1));
    first.into_iter().chain(second)
}

/// Returns the point where the route may turn first: a little out of the port, less where another node is close.
fn first_turn(end: RouteEnd, met: &[Rect]) -> (RouteEnd, Pos2) {
    let out = outwards(end.side);
    let mut room = size::STUB;
    let ahead = Rect::from_two_pos(end.at, end.at + out * size::STUB);
    for rect in met.iter().filter(|rect| crosses(ahead, **rect)) {
        let distance = rect.clamp(end.at).distance(end.at);
        room = room.min((distance / 2.0).max(2.0));
    }
    (end, end.at + out * room)
}
