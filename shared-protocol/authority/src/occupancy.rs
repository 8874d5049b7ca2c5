//! Occupied space: a grid over the content of each container, so that a search for free space does not visit every
//! node.

use imbl::OrdSet;
use shared_protocol::{BoardId, NodeId, Placement};

/// The side of a grid cell in board units; a typical node covers one to four cells.
const CELL_SIDE: i32 = 512;
/// The maximum number of cells of a node in the grid; a larger node is stored in one list per container instead.
const MAX_CELLS_PER_NODE: i64 = 256;

/// The content of one container, or of the board itself.
pub(crate) type ContainerScope = (BoardId, Option<NodeId>);

#[derive(Clone, Default, PartialEq)]
pub(crate) struct OccupancyGrid {
    cells: OrdSet<(ContainerScope, i32, i32, NodeId)>,
    huge: OrdSet<(ContainerScope, NodeId)>,
}

impl OccupancyGrid {
    pub(crate) fn insert(&mut self, room: ContainerScope, node: NodeId, placement: Placement) {
        match cells(placement) {
            Some(cells) => self.cells.extend(cells.map(|(x, y)| (room, x, y, node))),
            None => self.huge.extend([(room, node)]),
        }
    }

    pub(crate) fn remove(&mut self, room: ContainerScope, node: NodeId, placement: Placement) {
        let Some(cells) = cells(placement) else {
            self.huge.remove(&(room, node));
            return;
        };
        for (x, y) in cells {
            self.cells.remove(&(room, x, y, node));
        }
    }

    /// Returns a node at the right end of the content.
    pub(crate) fn rightmost_node(&self, room: ContainerScope) -> Option<NodeId> {
        let all = (room, i32::MIN, i32::MIN, NodeId::MIN)..=(room, i32::MAX, i32::MAX, NodeId::MAX);
        let huge =
            || self.huge.range((room, NodeId::MIN)..=(room, NodeId::MAX)).next_back().map(|(_, node)| *node);
        self.cells.range(all).next_back().map(|(.., node)| *node).or_else(huge)
    }

    /// Returns the nodes that may overlap the area; the caller compares exactly.
    pub(crate) fn candidates(&self, room: ContainerScope, area: Placement) -> Vec<NodeId> {
        let mut found: Vec<NodeId> =
            self.huge.range((room, NodeId::MIN)..=(room, NodeId::MAX)).map(|(_, node)| *node).collect();
        match cells(area) {
            Some(cells) => {
                for (x, y) in cells {
                    let cell = (room, x, y, NodeId::MIN)..=(room, x, y, NodeId::MAX);
                    found.extend(self.cells.range(cell).map(|(.., node)| *node));
                }
            }
            None => {
                let all = (room, i32::MIN, i32::MIN, NodeId::MIN)..=(room, i32::MAX, i32::MAX, NodeId::MAX);
                found.extend(self.cells.range(all).map(|(.., node)| *node));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether the area covers more cells than a query visits one by one.
pub(crate) fn is_huge(area: Placement) -> bool {
    cells(area).is_none()
}

fn cells(area: Placement) -> Option<impl Iterator<Item = (i32, i32)>> {
    let cell = |coordinate: i32| coordinate.div_euclid(CELL_SIDE);
    let (left, right) = (cell(area.x), cell(area.right().max(area.x + 1) - 1));
    let (top, bottom) = (cell(area.y), cell(area.bottom().max(area.y + 1) - 1));
    let count = i64::from(right - left + 1) * i64::from(bottom - top + 1);
    (count <= MAX_CELLS_PER_NODE)
        .then(|| (top..=bottom).flat_map(move |y| (left..=right).map(move |x| (x, y))))
}
