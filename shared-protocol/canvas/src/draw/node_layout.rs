//! The layout of a node's parts in board units, shared by the screen, the SVG and the hit test.

use crate::{camera::rect_of, theme::size};
use egui::{Rect, pos2, vec2};
use shared_protocol::Placement;

pub(crate) struct CardParts {
    /// The coloured square of the icon; small cards have none.
    pub(crate) tile: Option<Rect>,
    pub(crate) label: Rect,
    /// The line below the label, where there is room for it.
    pub(crate) kind: Option<Rect>,
}

pub(crate) fn card_face(area: Placement) -> CardParts {
    let rect = rect_of(area);
    let side = size::TILE.min(rect.height() - 12.0);
    let roomy = rect.width() >= 96.0 && side >= 16.0;
    let inset = size::TILE_INSET.min((rect.height() - side) / 2.0).max(4.0);
    let tile = roomy.then(|| {
        let corner = pos2(rect.left() + inset, rect.center().y - side / 2.0);
        Rect::from_min_size(corner, vec2(side, side))
    });
    let left = tile.map_or(rect.left() + size::GAP, |tile| tile.right() + size::GAP);
    let right = (rect.right() - size::GAP).max(left + 1.0);
    let (first, second) = (size::LABEL * 1.25, size::SMALL * 1.25);
    let two_lines = rect.height() >= first + second + 10.0;
    let top = if two_lines {
        rect.center().y - (first + second + 1.0) / 2.0
    } else {
        rect.center().y - first / 2.0
    };
    let line = |top: f32, height: f32| Rect::from_min_max(pos2(left, top), pos2(right, top + height));
    CardParts { tile, label: line(top, first), kind: two_lines.then(|| line(top + first + 1.0, second)) }
}

/// The parts of a container's title; the label and the type share the space right of the icon.
pub(crate) struct ContainerHeaderParts {
    pub(crate) icon: Rect,
    pub(crate) text: Rect,
}

pub(crate) fn header(area: Placement) -> ContainerHeaderParts {
    let rect = rect_of(area);
    let height = size::HEADER.min(rect.height());
    let middle = rect.top() + height / 2.0;
    let side = size::HEADER_ICON.min(height);
    let icon =
        Rect::from_min_size(pos2(rect.left() + size::TILE_INSET, middle - side / 2.0), vec2(side, side));
    let left = icon.right() + 8.0;
    let right = (rect.right() - size::TILE_INSET).max(left + 1.0);
    ContainerHeaderParts {
        icon,
        text: Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.top() + height)),
    }
}

/// Returns the title strip, by which a container is grabbed.
pub(crate) fn header_strip(area: Placement) -> Rect {
    let rect = rect_of(area);
    rect.with_max_y(rect.top() + size::HEADER.min(rect.height()))
}
