//! Layered layout: siblings in columns along their edges, with few crossings and no overlap. An edge between the
//! contents of two siblings counts as an edge between the siblings.

use super::GAP;
use crate::Snapshot;
use shared_protocol::{NodeId, Placement};
use std::collections::{BTreeMap, BTreeSet};

const COLUMN_GAP: i32 = 72;
const SWEEPS: usize = 4;

/// Returns new places for these siblings; the top left of the group stays.
pub(crate) fn layered(snapshot: &Snapshot, siblings: &[(NodeId, Placement)]) -> Vec<(NodeId, Placement)> {
    let Some(extent) = siblings.iter().map(|(_, placement)| *placement).reduce(Placement::union) else {
        return Vec::new();
    };
    let index: BTreeMap<NodeId, usize> =
        siblings.iter().enumerate().map(|(index, (id, _))| (*id, index)).collect();
    let links = links(snapshot, &index);
    let mut columns = order(siblings, layers(siblings, &links), &links);
    wrap_unconnected(&mut columns, siblings);

    let mut placed = Vec::with_capacity(siblings.len());
    let mut x = extent.x;
    for column in &columns {
        let width = column.iter().map(|&i| siblings[i].1.w).max().unwrap_or_default();
        let mut y = extent.y;
        for &i in column {
            let (id, placement) = siblings[i];
            placed.push((id, Placement { x: x.saturating_add((width - placement.w) / 2), y, ..placement }));
            y = y.saturating_add(placement.h + GAP);
        }
        x = x.saturating_add(width + COLUMN_GAP);
    }
    placed
}

/// Returns the pairs of siblings with an edge from one to the other, at any depth of their content.
fn links(snapshot: &Snapshot, index: &BTreeMap<NodeId, usize>) -> BTreeSet<(usize, usize)> {
    let sibling_of =
        |node: NodeId| snapshot.ancestors(Some(node)).find_map(|ancestor| index.get(&ancestor.id).copied());
    let mut links = BTreeSet::new();
    for (id, from) in index {
        for node in snapshot.subtree(*id) {
            for edge in snapshot.edges_of(node).filter(|edge| edge.source.node == node) {
                if let Some(to) = sibling_of(edge.target.node)
                    && to != *from
                {
                    links.insert((*from, to));
                }
            }
        }
    }
    links
}

/// Returns the column of each sibling: one after the last of its predecessors. A cycle is cut where it closes.
fn layers(siblings: &[(NodeId, Placement)], links: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let count = siblings.len();
    let mut incoming = vec![0usize; count];
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in links {
        outgoing[from].push(to);
        incoming[to] += 1;
    }
    let turn = |i: usize, waits: bool| (waits, siblings[i].1.x, siblings[i].1.y, i);
    let mut left: BTreeSet<_> = (0..count).map(|i| turn(i, incoming[i] > 0)).collect();
    let mut layer = vec![0; count];
    // Takes a sibling without open predecessors; in a cycle, the leftmost one.
    while let Some((.., next)) = left.pop_first() {
        for &to in &outgoing[next] {
            if left.remove(&turn(to, incoming[to] > 0)) {
                layer[to] = layer[to].max(layer[next] + 1);
                incoming[to] -= 1;
                left.insert(turn(to, incoming[to] > 0));
            }
        }
    }
    layer
}

/// Sorts each column by the mean row of the connected siblings, which reduces crossings.
fn order(
    siblings: &[(NodeId, Placement)],
    layer: Vec<usize>,
    links: &BTreeSet<(usize, usize)>,
) -> Vec<Vec<usize>> {
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(0, |most| most + 1)];
    for (i, column) in layer.iter().enumerate() {
        columns[*column].push(i);
    }
    for column in &mut columns {
        column.sort_by_key(|&i| (siblings[i].1.y, siblings[i].1.x, siblings[i].0));
    }
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); siblings.len()];
    for &(a, b) in links {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut row = vec![0f64; siblings.len()];
    for sweep in 0..SWEEPS {
        for column in &columns {
            for (place, &i) in column.iter().enumerate() {
                row[i] = place as f64;
            }
        }
        let mut visit: Vec<usize> = (0..columns.len()).collect();
        if sweep % 2 == 1 {
            visit.reverse();
        }
        for c in visit {
            let mean = |i: usize| match neighbours[i].len() {
                0 => row[i],
                count => neighbours[i].iter().map(|&n| row[n]).sum::<f64>() / count as f64,
            };
            let mut keyed: Vec<(f64, usize)> = columns[c].iter().map(|&i| (mean(i), i)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[c] = keyed.into_iter().map(|(_, i)| i).collect();
            for (place, &i) in columns[c].iter().enumerate() {
                row[i] = place as f64;
            }
        }
    }
    columns
}

/// Folds a single column into a block: without edges all siblings are in one column.
fn wrap_unconnected(columns: &mut Vec<Vec<usize>>, siblings: &[(NodeId, Placement)]) {
    let [only] = &mut columns[..] else { return };
    let all = std::mem::take(only);
    let height = (siblings.len() as f64).sqrt().ceil().max(1.0) as usize;
    *columns = all.chunks(height).map(<[usize]>::to_vec).collect();
}
