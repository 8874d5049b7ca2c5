//! Alignment guides for moved nodes: sides and middles of near neighbours, and equal gaps.

use crate::index::BoardIndex;
use shared_protocol::{NodeId, Placement};

const SNAP_DISTANCE_POINTS: f32 = 6.0;
const NEIGHBOUR_DISTANCE_POINTS: f32 = 700.0;
const MAX_NEIGHBOURS: usize = 200;

/// A line to draw; a `level` guide is horizontal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SnapGuide {
    pub(crate) level: bool,
    pub(crate) at: i32,
    pub(crate) from: i32,
    pub(crate) to: i32,
    /// Whether the guide measures a gap and shows its length.
    pub(crate) is_gap: bool,
}

#[derive(Clone, Copy)]
struct AxisSpan {
    low: i32,
    high: i32,
}

impl AxisSpan {
    /// Returns doubled coordinates, so that middles are whole numbers.
    fn lines(self) -> [i32; 3] {
        [self.low * 2, self.low + self.high, self.high * 2]
    }

    fn overlaps(self, other: Self) -> bool {
        self.low < other.high && other.low < self.high
    }
}

fn span(area: Placement, level: bool) -> AxisSpan {
    if level {
        AxisSpan { low: area.x, high: area.right() }
    } else {
        AxisSpan { low: area.y, high: area.bottom() }
    }
}

/// The near siblings of the moved nodes.
pub(crate) struct SnapNeighbours {
    areas: Vec<Placement>,
    reach: i32,
}

impl SnapNeighbours {
    pub(crate) fn collect(
        index: &BoardIndex,
        area: Placement,
        parent: Option<NodeId>,
        zoom: f32,
        left_out: impl Fn(NodeId) -> bool,
    ) -> Self {
        let mut found = Vec::new();
        index.nodes_in(area.expand((NEIGHBOUR_DISTANCE_POINTS / zoom) as i32), &mut found);
        let slots = found.iter().map(|&place| index.node(place));
        let beside = slots.filter(|slot| slot.parent == parent && !left_out(slot.id)).map(|slot| slot.area);
        Self {
            areas: beside.take(MAX_NEIGHBOURS).collect(),
            reach: ((SNAP_DISTANCE_POINTS / zoom).round() as i32).clamp(1, 40),
        }
    }

    /// Returns the distance along an axis to align `area` with a neighbour, or to make its gap equal to the neighbours'
    /// gap.
    pub(crate) fn snap_distance(&self, area: Placement, level: bool) -> Option<i32> {
        let own = span(area, level).lines();
        self.to_line(&own, level).or_else(|| self.to_gap(area, level))
    }

    /// Returns the distance to align one side.
    pub(crate) fn side_snap_distance(&self, side: i32, level: bool) -> Option<i32> {
        self.to_line(&[side * 2], level)
    }

    fn to_line(&self, own: &[i32], level: bool) -> Option<i32> {
        let lines = self.areas.iter().flat_map(|area| span(*area, level).lines());
        let ways = lines.flat_map(|line| own.iter().map(move |mine| line - mine));
        // Only even distances: a middle between two units is no valid position.
        ways.filter(|way| way % 2 == 0 && way.abs() <= self.reach * 2)
            .min_by_key(|way| (way.abs(), *way))
            .map(|way| way / 2)
    }

    fn to_gap(&self, area: Placement, level: bool) -> Option<i32> {
        let own = span(area, level);
        let row = self.row(area, level);
        let mut best: Option<i32> = None;
        for (place, a) in row.iter().enumerate() {
            for b in row.iter().skip(place + 1).filter(|b| b.low > a.high).take(3) {
                let gap = b.low - a.high;
                let between = (a.high + b.low - (own.high - own.low)) / 2;
                for low in [b.high + gap, a.low - gap - (own.high - own.low), between] {
                    let way = low - own.low;
                    if way.abs() <= self.reach && best.is_none_or(|known| way.abs() < known.abs()) {
                        best = Some(way);
                    }
                }
            }
        }
        best
    }

    /// Returns the neighbours beside the area on an axis, in order.
    fn row(&self, area: Placement, level: bool) -> Vec<AxisSpan> {
        let across = span(area, !level);
        let beside = self.areas.iter().filter(|other| span(**other, !level).overlaps(across));
        let mut row: Vec<AxisSpan> = beside.map(|other| span(*other, level)).collect();
        row.sort_unstable_by_key(|span| (span.low, span.high));
        row.truncate(32);
        row
    }

    pub(crate) fn guides(&self, area: Placement) -> Vec<SnapGuide> {
        let mut guides = Vec::new();
        for level in [true, false] {
            self.lines_through(area, level, &mut guides);
            self.equal_gaps(area, level, &mut guides);
        }
        guides
    }

    /// Adds lines through aligned neighbours, and the distance to the nearest of them.
    fn lines_through(&self, area: Placement, level: bool, guides: &mut Vec<SnapGuide>) {
        let across = span(area, !level);
        let own = span(area, level);
        for line in own.lines() {
            // For neighbours of the same width the sides are enough.
            let middle = line == own.low + own.high;
            let on = |other: &&Placement| {
                let other = span(**other, level);
                other.lines().contains(&line) && !(middle && other.low == own.low)
            };
            let others: Vec<AxisSpan> =
                self.areas.iter().filter(on).map(|other| span(*other, !level)).collect();
            let (Some(low), Some(high)) =
                (others.iter().map(|span| span.low).min(), others.iter().map(|span| span.high).max())
            else {
                continue;
            };
            let (from, to) = (low.min(across.low), high.max(across.high));
            guides.push(SnapGuide { level: !level, at: line / 2, from, to, is_gap: false });
            let before = others.iter().filter(|span| span.high <= across.low).map(|span| span.high).max();
            let after = others.iter().filter(|span| span.low >= across.high).map(|span| span.low).min();
            let gap = |from, to| SnapGuide { level: !level, at: line / 2, from, to, is_gap: true };
            let nearest = match (before, after) {
                (Some(before), Some(after)) if across.low - before > after - across.high => {
                    Some(gap(across.high, after))
                }
                (Some(before), _) => Some(gap(before, across.low)),
                (None, after) => after.map(|after| gap(across.high, after)),
            };
            // One measured gap per pair is enough.
            let known = |new: &SnapGuide| {
                guides
                    .iter()
                    .any(|old| old.is_gap && (old.level, old.from, old.to) == (new.level, new.from, new.to))
            };
            if let Some(gap) = nearest.filter(|gap| gap.to > gap.from && !known(gap)) {
                guides.push(gap);
            }
        }
    }

    /// Adds the gaps beside the area that equal another gap in its row.
    fn equal_gaps(&self, area: Placement, level: bool, guides: &mut Vec<SnapGuide>) {
        let own = span(area, level);
        let mut row = self.row(area, level);
        row.push(own);
        row.sort_unstable_by_key(|span| (span.low, span.high));
        let gaps: Vec<(i32, i32)> =
            row.windows(2).map(|pair| (pair[0].high, pair[1].low)).filter(|(from, to)| to > from).collect();
        let across = span(area, !level);
        let at = (across.low + across.high) / 2;
        let touches = |gap: &(i32, i32)| gap.0 == own.high || gap.1 == own.low;
        for gap in &gaps {
            let width = gap.1 - gap.0;
            let same = gaps.iter().filter(|other| other.1 - other.0 == width);
            if same.clone().count() > 1 && same.clone().any(touches) {
                guides.push(SnapGuide { level, at, from: gap.0, to: gap.1, is_gap: true });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbours(areas: &[[i32; 4]]) -> SnapNeighbours {
        let areas = areas.iter().map(|&[x, y, w, h]| Placement { x, y, w, h }).collect();
        SnapNeighbours { areas, reach: 6 }
    }

    fn at(x: i32, y: i32) -> Placement {
        Placement { x, y, w: 100, h: 60 }
    }

    #[test]
    fn sides_and_middles_take_hold_when_near() {
        let beside = neighbours(&[[0, 0, 200, 60]]);
        // Left sides, middles, right sides.
        assert_eq!(beside.snap_distance(at(4, 300), true), Some(-4));
        assert_eq!(beside.snap_distance(at(53, 300), true), Some(-3));
        assert_eq!(beside.snap_distance(at(95, 300), true), Some(5));
        assert_eq!(beside.snap_distance(at(20, 300), true), None);
        assert_eq!(beside.side_snap_distance(203, true), Some(-3));
        let guides = beside.guides(at(50, 300));
        assert!(
            guides.contains(&SnapGuide { level: false, at: 100, from: 0, to: 360, is_gap: false }),
            "{guides:?}"
        );
        assert!(
            guides.contains(&SnapGuide { level: false, at: 100, from: 60, to: 300, is_gap: true }),
            "{guides:?}"
        );
    }

    #[test]
    fn gaps_are_kept_equal() {
        let row = neighbours(&[[0, 0, 100, 60], [140, 8, 100, 60]]);
        // The gap is 40: after the second, and before the first.
        assert_eq!(row.snap_distance(at(277, 20), true), Some(3));
        assert_eq!(row.snap_distance(at(-143, 20), true), Some(3));
        let gaps: Vec<SnapGuide> = row.guides(at(280, 20)).into_iter().filter(|guide| guide.is_gap).collect();
        assert_eq!(gaps.iter().map(|gap| (gap.from, gap.to)).collect::<Vec<_>>(), [(100, 140), (240, 280)]);
        // Centred between two neighbours that are far enough apart.
        let apart = neighbours(&[[0, 0, 100, 60], [300, 8, 100, 60]]);
        assert_eq!(apart.snap_distance(at(147, 20), true), Some(3));
    }
}
