//! A uniform grid over rectangles. The cost of a query depends on its result only.

use shared_protocol::Placement;
use std::collections::HashMap;

/// The base-2 logarithm of the cell size, about three cards: a screen at 100 % covers about a dozen cells.
const CELL_BITS: u32 = 9;
/// The maximum number of cells of an item; larger items are in one list that every query reads.
const MAX_CELLS_PER_ENTRY: i64 = 256;

#[derive(Default)]
pub(crate) struct SpatialGrid {
    cells: HashMap<(i32, i32), Vec<u32>>,
    huge: Vec<u32>,
}

#[derive(Clone, Copy)]
struct CellRange {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl CellRange {
    fn covering(area: Placement) -> Self {
        let last = |start: i32, length: i32| start.saturating_add(length.max(0));
        Self {
            left: area.x >> CELL_BITS,
            right: last(area.x, area.w) >> CELL_BITS,
            top: area.y >> CELL_BITS,
            bottom: last(area.y, area.h) >> CELL_BITS,
        }
    }

    fn count(self) -> i64 {
        (i64::from(self.right) - i64::from(self.left) + 1)
            * (i64::from(self.bottom) - i64::from(self.top) + 1)
    }

    fn cells(self) -> impl Iterator<Item = (i32, i32)> {
        (self.top..=self.bottom).flat_map(move |y| (self.left..=self.right).map(move |x| (x, y)))
    }
}

impl SpatialGrid {
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.huge.clear();
    }

    pub(crate) fn insert(&mut self, item: u32, area: Placement) {
        let span = CellRange::covering(area);
        if span.count() > MAX_CELLS_PER_ENTRY {
            return self.huge.push(item);
        }
        for cell in span.cells() {
            self.cells.entry(cell).or_default().push(item);
        }
    }

    /// Removes an item that was inserted with the same area.
    pub(crate) fn remove(&mut self, item: u32, area: Placement) {
        let take = |items: &mut Vec<u32>| {
            if let Some(place) = items.iter().position(|&other| other == item) {
                items.swap_remove(place);
            }
        };
        let span = CellRange::covering(area);
        if span.count() > MAX_CELLS_PER_ENTRY {
            return take(&mut self.huge);
        }
        for cell in span.cells() {
            if let Some(items) = self.cells.get_mut(&cell) {
                take(items);
            }
        }
    }

    /// Collects the items whose cells the area touches, sorted and without duplicates; the caller compares exactly.
    pub(crate) fn query(&self, area: Placement, found: &mut Vec<u32>) {
        found.clear();
        found.extend_from_slice(&self.huge);
        let span = CellRange::covering(area);
        if span.count() > self.cells.len() as i64 {
            let inside = |&(x, y): &(i32, i32)| {
                (span.left..=span.right).contains(&x) && (span.top..=span.bottom).contains(&y)
            };
            for (_, items) in self.cells.iter().filter(|(cell, _)| inside(cell)) {
                found.extend_from_slice(items);
            }
        } else {
            for items in span.cells().filter_map(|cell| self.cells.get(&cell)) {
                found.extend_from_slice(items);
            }
        }
        found.sort_unstable();
        found.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_near_and_forgets_what_left() {
        let mut grid = SpatialGrid::default();
        let at = |x, y, side| Placement { x, y, w: side, h: side };
        grid.insert(1, at(0, 0, 100));
        grid.insert(2, at(5000, 5000, 600));
        grid.insert(3, at(-100_000, -100_000, 200_000));
        let mut found = Vec::new();
        grid.query(at(-10, -10, 20), &mut found);
        assert_eq!(found, [1, 3]);
        grid.query(at(4800, 4800, 1000), &mut found);
        assert_eq!(found, [2, 3]);
        grid.remove(3, at(-100_000, -100_000, 200_000));
        grid.remove(2, at(5000, 5000, 600));
        grid.query(at(-200_000, -200_000, 400_000), &mut found);
        assert_eq!(found, [1]);
    }
}
