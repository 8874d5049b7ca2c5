//! Computes the part of a frame that differs from the previous one.

use crate::{layout::PageLayout, scene::ElementTree};
use egui::Rect;

/// The distance in points that shadows and rings extend beyond a box.
pub(crate) const MAX_OVERFLOW_POINTS: f32 = 48.0;

/// Returns the area around all elements that changed appearance or position, before and after. Returns `None` when the
/// area is unknown and the whole frame must be drawn. The area is empty when nothing changed.
pub(crate) fn changed_area(
    before: (&ElementTree, &PageLayout),
    now: (&ElementTree, &PageLayout),
) -> Option<Rect> {
    let ((old_tree, old), (tree, new)) = (before, now);
    if !old_tree.has_shape_of(tree) {
        return None;
    }
    let mut damage = Rect::NOTHING;
    for (index, (was, is)) in old_tree.elements.iter().zip(&tree.elements).enumerate() {
        let at = |layout: &PageLayout| Some((*layout.rects.get(index)?, *layout.clips.get(index)?));
        let ((old_rect, old_clip), (rect, clip)) = (at(old)?, at(new)?);
        if (old_rect, old_clip) == (rect, clip) && was.looks_like(is) {
            continue;
        }
        // The opacity of an element also applies to its children.
        if was.style.opacity != is.style.opacity && !is.children.is_empty() {
            return None;
        }
        for (rect, clip) in [(old_rect, old_clip), (rect, clip)] {
            let seen = rect.expand(MAX_OVERFLOW_POINTS).intersect(clip);
            if seen.is_positive() {
                damage = damage.union(seen);
            }
        }
    }
    Some(damage)
}
