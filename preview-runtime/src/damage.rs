//! Which part of a frame is different from the one before.

use crate::{layout::Layout, scene::Tree};
use egui::Rect;

/// How far shadows and rings reach beyond a box.
pub(crate) const REACH: f32 = 48.0;

/// Around all that looks different or lies elsewhere, as it was and as it is. None if that cannot be said, and then all of
/// the frame is drawn; nothing positive if nothing is different.
pub(crate) fn between(before: (&Tree, &Layout), now: (&Tree, &Layout)) -> Option<Rect> {
    let ((old_tree, old), (tree, new)) = (before, now);
    if !old_tree.has_shape_of(tree) {
        return None;
    }
    let mut damage = Rect::NOTHING;
    for (index, (was, is)) in old_tree.elements.iter().zip(&tree.elements).enumerate() {
        let at = |layout: &Layout| Some((*layout.rects.get(index)?, *layout.clips.get(index)?));
        let ((old_rect, old_clip), (rect, clip)) = (at(old)?, at(new)?);
        if (old_rect, old_clip) == (rect, clip) && was.looks_like(is) {
            continue;
        }
        // What is within becomes fainter or stronger with it.
        if was.style.opacity != is.style.opacity && !is.children.is_empty() {
            return None;
        }
        for (rect, clip) in [(old_rect, old_clip), (rect, clip)] {
            let seen = rect.expand(REACH).intersect(clip);
            if seen.is_positive() {
                damage = damage.union(seen);
            }
        }
    }
    Some(damage)
}
