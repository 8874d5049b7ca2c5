//! Traverses the reference graph from an entity, level by level.

use crate::{Bundle, BundleEntity, model::ReferenceEdge};
use std::collections::HashSet;

/// A reached entity, and the reference that led to it.
pub(crate) struct ReachedEntity<'a> {
    pub(crate) entity: &'a BundleEntity,
    pub(crate) edge: ReferenceEdge<'a>,
    /// Whether the reference points to the entity or comes from it.
    pub(crate) is_target: bool,
    pub(crate) distance: usize,
    /// The entity at the other end of the reference.
    pub(crate) via: &'a BundleEntity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraversalDirection {
    Outgoing,
    Incoming,
    Both,
}

/// Returns the neighbourhood of the start entities: each entity once, nearest first, at most `most`, and whether there
/// are more.
pub(crate) fn traverse<'a>(
    bundle: &'a Bundle,
    starts: &[&'a BundleEntity],
    direction: TraversalDirection,
    depth: usize,
    most: usize,
) -> (Vec<ReachedEntity<'a>>, bool) {
    let mut seen: HashSet<&str> = starts.iter().map(|entity| entity.id()).collect();
    let mut reached: Vec<ReachedEntity<'a>> = Vec::new();
    let mut level: Vec<&'a BundleEntity> = starts.to_vec();
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
                reached.push(ReachedEntity { entity, edge, is_target, distance, via });
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
    /// Returns an entity and its neighbourhood, nearest first, at most `most` entities.
    pub fn neighbourhood<'a>(
        &'a self,
        start: &'a BundleEntity,
        depth: usize,
        most: usize,
    ) -> Vec<&'a BundleEntity> {
        let (reached, _) = traverse(self, &[start], TraversalDirection::Both, depth, most.saturating_sub(1));
        std::iter::once(start).chain(reached.into_iter().map(|reached| reached.entity)).collect()
    }
}

/// Returns the references from an entity (`true`) and to it (`false`), in the order of all references.
pub(crate) fn neighbours<'a>(
    bundle: &'a Bundle,
    entity: &'a BundleEntity,
    direction: TraversalDirection,
) -> Vec<(ReferenceEdge<'a>, bool)> {
    match direction {
        TraversalDirection::Outgoing => bundle.outgoing(entity).map(|edge| (edge, true)).collect(),
        TraversalDirection::Incoming => bundle.incoming(entity.id()).map(|edge| (edge, false)).collect(),
        TraversalDirection::Both => bundle.edges_around(entity),
    }
}
