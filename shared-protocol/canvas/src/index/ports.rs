//! Port positions: on the side that the type declares, evenly spaced, in a fixed order.

use crate::{camera::rect_of, theme::size};
use egui::{Pos2, pos2};
use shared_protocol::{
    Placement, TypeDef,
    registry::{PortDef, PortDirection, PortSide},
};

/// The distance between the ports beside a container's title.
const HEADER_STEP: f32 = 20.0;

/// Iterates over the ports of a type on a node that covers `area`.
pub(crate) fn ports(def: &TypeDef, area: Placement) -> impl Iterator<Item = (&PortDef, Pos2, PortSide)> {
    def.ports.iter().enumerate().map(move |(place, port)| {
        let side = port.side();
        let before = def.ports.iter().take(place).filter(|other| other.side() == side).count();
        let all = def.ports.iter().filter(|other| other.side() == side).count();
        (port, on_side(area, side, before, all, def.container), side)
    })
}

/// Returns the point where an edge meets a node. A port that the type no longer has gets the middle of the usual side.
pub(crate) fn anchor(
    def: Option<&TypeDef>,
    area: Placement,
    port: &str,
    direction: PortDirection,
) -> (Pos2, PortSide) {
    let known = def.and_then(|def| ports(def, area).find(|(known, ..)| known.id.as_str() == port));
    match known {
        Some((_, at, side)) => (at, side),
        None => {
            let side = if direction == PortDirection::Out { PortSide::Right } else { PortSide::Left };
            (on_side(area, side, 0, 1, def.is_some_and(|def| def.container)), side)
        }
    }
}

fn on_side(area: Placement, side: PortSide, place: usize, all: usize, container: bool) -> Pos2 {
    let rect = rect_of(area);
    let share = (place + 1) as f32 / (all + 1) as f32;
    // Ports beside the title, so that edges cross less of the container's content.
    let y = if container {
        (rect.top() + size::HEADER / 2.0 + place as f32 * HEADER_STEP).min(rect.bottom())
    } else {
        rect.top() + rect.height() * share
    };
    let x = rect.left() + rect.width() * share;
    match side {
        PortSide::Left => pos2(rect.left(), y),
        PortSide::Right => pos2(rect.right(), y),
        PortSide::Top => pos2(x, rect.top()),
        PortSide::Bottom => pos2(x, rect.bottom()),
    }
}
