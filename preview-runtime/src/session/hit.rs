//! Hit testing and instance boxes.

use crate::{
    layout::PageLayout,
    scene::{ElementControl, ElementTree},
};
use egui::{Pos2, Rect};
use shared_protocol::preview_wire::{InstanceBox, MAX_PREVIEW_ID_CHARS};

/// Returns the boxes of all instances, outer ones first. The box of an instance encloses all of its elements.
pub(super) fn boxes(tree: &ElementTree, layout: &PageLayout) -> Vec<InstanceBox> {
    let cut = |text: &str| text.chars().take(MAX_PREVIEW_ID_CHARS).collect::<String>();
    tree.instances
        .iter()
        .map(|placed| {
            let (mut rect, mut clip) = (Rect::NOTHING, Rect::NOTHING);
            for root in &placed.roots {
                if let (Some(own), Some(seen)) = (layout.rects.get(*root), layout.clips.get(*root)) {
                    rect = rect.union(*own);
                    clip = clip.union(*seen);
                }
            }
            let parent = placed.parent.and_then(|parent| tree.instances.get(parent));
            InstanceBox {
                id: cut(&placed.id),
                component: cut(&placed.component),
                parent: parent.map(|parent| cut(&parent.id)),
                rect: numbers(rect),
                clip: numbers(clip),
                file: cut(&placed.file),
                line: placed.line,
            }
        })
        .collect()
}

fn numbers(rect: Rect) -> [f32; 4] {
    if !rect.is_finite() || rect.is_negative() {
        return [0.0; 4];
    }
    [rect.left(), rect.top(), rect.width(), rect.height()]
}

/// Returns the index of the innermost instance under the point; among several, the one drawn last.
pub(super) fn instance_at(tree: &ElementTree, layout: &PageLayout, at: Pos2) -> Option<usize> {
    let seen = |index: &usize| {
        let (rect, clip) = (layout.rects.get(*index), layout.clips.get(*index));
        rect.zip(clip).is_some_and(|(rect, clip)| rect.contains(at) && clip.contains(at))
    };
    (0..tree.instances.len())
        .rev()
        .find(|index| tree.instances.get(*index).is_some_and(|placed| placed.roots.iter().any(seen)))
}

/// Returns the controls under the point, outer ones first. A later element covers earlier controls only if it is a
/// control itself.
pub(super) fn controls_at<'t>(
    tree: &'t ElementTree,
    layout: &PageLayout,
    at: Pos2,
) -> Vec<&'t ElementControl> {
    let mut found = Vec::new();
    for root in &tree.roots {
        descend(tree, layout, *root, at, &mut found);
    }
    found
}

/// Recursion is bounded by the depth of the tree.
fn descend<'t>(
    tree: &'t ElementTree,
    layout: &PageLayout,
    index: usize,
    at: Pos2,
    found: &mut Vec<&'t ElementControl>,
) {
    let (Some(element), Some(rect), Some(clip)) =
        (tree.elements.get(index), layout.rects.get(index), layout.clips.get(index))
    else {
        return;
    };
    if let Some(control) = &element.control
        && rect.contains(at)
        && clip.contains(at)
    {
        found.push(control);
    }
    // Children may extend beyond their parent.
    for child in &element.children {
        descend(tree, layout, *child, at, found);
    }
}
