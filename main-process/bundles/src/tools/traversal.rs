//! Walking the graph from an entity, level by level.

use crate::{Bundle, Entity, model::Edge};
use std::collections::HashSet;

/// An entity that was reached, and by which reference.
pub(crate) struct Reached<'a> {
    pub(crate) entity: &'a Entity,
    pub(crate) edge: Edge<'a>,
    /// Whether the reference points to it, or away from it.
    pub(crate) is_target: bool,
    pub(crate) distance: usize,
    /// The entity at the other end of the reference.
    pub(crate) via: &'a Entity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Outgoing,
    Incoming,
    Both,
}

/// What is around an entity: each entity once, nearest first, at most `most`. Tells whether there was more.
pub(crate) fn around<'a>(
    bundle: &'a Bundle,
    starts: &[&'a Entity],
    direction: Direction,
    depth: usize,
    most: usize,
) -> (Vec<Reached<'a>>, bool) {
    let mut seen: HashSet<&str> = starts.iter().map(|entity| entity.id()).collect();
    let mut reached: Vec<Reached<'a>> = Vec::new();
    let mut level: Vec<&'a Entity> = starts.to_vec();
    for distance in 1..=depth {
        let mut next = Vec::new();
        for via in level {
            for (edge, is_target) in neighbours(bundle, via, direction) {
                let id = if is_target { edge.to_id } else { edge.from.id() };
                let Some(entity) = bundle.entity_by_id(id) else { continue };
                if seen.contains(entity.id()) {
                    continue;
                }
                if reached.len() >= most {
                    return (reached, true);
                }
                seen.insert(entity.id());
                next.push(entity);
                reached.push(Reached { entity, edge, is_target, distance, via });
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    (reached, false)
}

impl Bundle {
    /// An entity and what is around it, nearest first, `most` at most.
    pub fn neighbourhood<'a>(&'a self, start: &'a Entity, depth: usize, most: usize) -> Vec<&'a Entity> {
        let (reached, _) = around(self, &[start], Direction::Both, depth, most.saturating_sub(1));
        std::iter::once(start).chain(reached.into_iter().map(|reached| reached.entity)).collect()
    }
}

/// The references of an entity and to it, in the order of all references; `true` for its own.
pub(crate) fn neighbours<'a>(
    bundle: &'a Bundle,
    entity: &'a Entity,
    direction: Direction,
) -> Vec<(Edge<'a>, bool)> {
    match direction {
        Direction::Outgoing => bundle.outgoing(entity).map(|edge| (edge, true)).collect(),
        Direction::Incoming => bundle.incoming(entity.id()).map(|edge| (edge, false)).collect(),
        Direction::Both => bundle.edges_around(entity),
    }
}
