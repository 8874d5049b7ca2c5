//! Orders nodes with dependencies first. Ties are broken by address, so that a small change produces a small diff.

use super::CachedNodeRender;
use shared_protocol::{NodeId, terraform::TerraformFindingView};
use std::collections::HashMap;

/// Returns the nodes in the order in which their blocks are written. Reports dependency cycles.
pub(super) fn order(
    mut nodes: Vec<(String, NodeId)>,
    cached: &HashMap<NodeId, CachedNodeRender>,
    findings: &mut Vec<TerraformFindingView>,
) -> Vec<NodeId> {
    nodes.sort();
    let rank: HashMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(rank, (_, node))| (*node, rank)).collect();
    let mut state = vec![NodeVisitState::New; nodes.len()];
    let mut ordered = Vec::with_capacity(nodes.len());
    for start in 0..nodes.len() {
        visit(start, &nodes, &rank, cached, &mut state, &mut ordered, findings);
    }
    ordered
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeVisitState {
    New,
    Open,
    Done,
}

/// Depth-first search with an explicit stack, because a dependency chain can be as long as the board.
fn visit(
    start: usize,
    nodes: &[(String, NodeId)],
    rank: &HashMap<NodeId, usize>,
    cached: &HashMap<NodeId, CachedNodeRender>,
    state: &mut [NodeVisitState],
    ordered: &mut Vec<NodeId>,
    findings: &mut Vec<TerraformFindingView>,
) {
    if state[start] != NodeVisitState::New {
        return;
    }
    let needs = |index: usize| -> Vec<usize> {
        let after = cached.get(&nodes[index].1).map(|cached| cached.rendered.after.as_slice());
        let mut needs: Vec<usize> =
            after.unwrap_or_default().iter().filter_map(|node| rank.get(node).copied()).collect();
        needs.sort_unstable();
        needs.dedup();
        needs.reverse();
        needs
    };
    let mut stack = vec![(start, needs(start))];
    state[start] = NodeVisitState::Open;
    while let Some((index, rest)) = stack.last_mut() {
        let index = *index;
        match rest.pop() {
            None => {
                state[index] = NodeVisitState::Done;
                ordered.push(nodes[index].1);
                stack.pop();
            }
            Some(next) => match state[next] {
                NodeVisitState::Done => {}
                NodeVisitState::New => {
                    state[next] = NodeVisitState::Open;
                    stack.push((next, needs(next)));
                }
                NodeVisitState::Open => {
                    let message = format!(
                        "{} and {} depend on each other: Terraform cannot create either first",
                        nodes[next].0, nodes[index].0
                    );
                    findings.push(TerraformFindingView::error(nodes[next].1, None, message));
                }
            },
        }
    }
}
