//! Applies patches to a graph snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{GraphEdge, GraphNode, GraphNodeRef, GraphOp, GraphPatch, GraphSnapshot};

impl GraphSnapshot {
    /// Applies `patch` and adopts its revision. Delivery is at-least-once, so a patch that is not newer than the
    /// snapshot changes nothing and returns `false`.
    ///
    /// Removing a missing element is not an error, because graphs may be partial. The result has no duplicates (the
    /// last node wins) and is sorted by identity, so consumers that received the same changes hold equal snapshots.
    pub fn apply(&mut self, patch: &GraphPatch) -> bool {
        if patch.revision <= self.revision {
            return false;
        }
        let mut nodes: BTreeMap<GraphNodeRef, GraphNode> =
            self.nodes.drain(..).map(|node| (node.node_ref(), node)).collect();
        let mut edges: BTreeSet<GraphEdge> = self.edges.drain(..).collect();
        // Edges of removed nodes are dropped in one pass, at the latest before an added edge that must stay.
        let mut removed = BTreeSet::new();
        for op in &patch.ops {
            match op {
                GraphOp::UpsertNode { node } => {
                    nodes.insert(node.node_ref(), node.clone());
                }
                GraphOp::RemoveNode { node } => {
                    nodes.remove(node);
                    removed.insert(node.clone());
                }
                GraphOp::UpsertEdge { edge } => {
                    sweep(&mut edges, &mut removed);
                    edges.insert(edge.clone());
                }
                GraphOp::RemoveEdge { edge } => {
                    edges.remove(edge);
                }
            }
        }
        sweep(&mut edges, &mut removed);
        self.nodes = nodes.into_values().collect();
        self.edges = edges.into_iter().collect();
        self.revision = patch.revision;
        true
    }
}

/// Removes every edge at a removed node.
fn sweep(edges: &mut BTreeSet<GraphEdge>, removed: &mut BTreeSet<GraphNodeRef>) {
    if !removed.is_empty() {
        edges.retain(|edge| !edge.ends().iter().any(|end| removed.contains(end)));
        removed.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{GraphPatch, GraphSnapshot};

    fn snapshot(revision: u64, nodes: Value, edges: Value) -> GraphSnapshot {
        let json = json!({ "schemaVersion": "v0", "revision": revision, "nodes": nodes, "edges": edges });
        serde_json::from_value(json).unwrap()
    }

    fn patch(revision: u64, ops: Value) -> GraphPatch {
        serde_json::from_value(json!({ "schemaVersion": "v0", "revision": revision, "ops": ops })).unwrap()
    }

    fn ty(id: &str, name: &str) -> Value {
        json!({ "kind": "componentType", "id": id, "displayName": name })
    }

    fn uses(from: &str, to: &str) -> Value {
        json!({ "kind": "componentTypeUsesComponentType", "from": from, "to": to })
    }

    #[test]
    fn old_revisions_are_ignored() {
        let mut graph = snapshot(3, json!([ty("b", "B"), ty("a", "A")]), json!([]));
        let before = graph.clone();
        for revision in [0, 2, 3] {
            assert!(!graph.apply(&patch(revision, json!([{ "op": "upsertNode", "node": ty("c", "C") }]))));
            assert_eq!(graph, before);
        }
        assert!(graph.apply(&patch(9, json!([]))));
        assert_eq!(graph.revision, 9);
    }

    #[test]
    fn removing_a_node_removes_its_edges() {
        let instances = json!({ "kind": "instanceChildOfInstance", "sessionId": "s",
            "parentInstanceId": "a", "childInstanceId": "b" });
        let route = json!({ "kind": "routeUsesComponentType", "routeId": "r", "componentTypeId": "a" });
        let edges = json!([uses("a", "b"), uses("b", "a"), uses("b", "b"), route, instances]);
        let mut graph = snapshot(1, json!([ty("a", "A"), ty("b", "B")]), edges);
        let remove = |node: Value| json!({ "op": "removeNode", "node": node });
        let ops = json!([
            remove(json!({ "kind": "componentType", "id": "a" })),
            remove(json!({ "kind": "route", "id": "?" }))
        ]);
        assert!(graph.apply(&patch(2, ops)));
        assert_eq!(graph, snapshot(2, json!([ty("b", "B")]), json!([uses("b", "b"), instances])));

        let other_session = json!({ "kind": "instance", "sessionId": "t", "instanceId": "b" });
        assert!(graph.apply(&patch(3, json!([remove(other_session)]))));
        assert_eq!(graph.edges.len(), 2);
        let child = json!({ "kind": "instance", "sessionId": "s", "instanceId": "b" });
        assert!(graph.apply(&patch(4, json!([remove(child)]))));
        assert_eq!(graph.edges.len(), 1);
    }

    #[test]
    fn ops_apply_in_order() {
        let mut graph = snapshot(0, json!([]), json!([]));
        let remove = json!({ "op": "removeNode", "node": { "kind": "componentType", "id": "a" } });
        let add = |from: &str| json!({ "op": "upsertEdge", "edge": uses(from, "a") });
        let node = json!({ "op": "upsertNode", "node": ty("a", "new") });
        let cut = json!({ "op": "removeEdge", "edge": uses("z", "a") });
        assert!(graph.apply(&patch(1, json!([add("x"), remove, node, add("y"), add("z"), cut, cut]))));
        assert_eq!(graph, snapshot(1, json!([ty("a", "new")]), json!([uses("y", "a")])));
    }

    #[test]
    fn duplicates_collapse() {
        // The same edge with keys in another order: structure matters, not text.
        let twice: Value = serde_json::from_str(
            r#"[{"kind":"componentTypeUsesComponentType","from":"a","to":"b"},
                {"to":"b","from":"a","kind":"componentTypeUsesComponentType"}]"#,
        )
        .unwrap();
        let mut graph = snapshot(1, json!([ty("a", "old"), ty("a", "new")]), twice);
        assert!(graph.apply(&patch(2, json!([{ "op": "upsertEdge", "edge": uses("a", "b") }]))));
        assert_eq!(graph, snapshot(2, json!([ty("a", "new")]), json!([uses("a", "b")])));

        assert!(graph.apply(&patch(3, json!([{ "op": "upsertNode", "node": ty("a", "newest") }]))));
        assert_eq!(graph.nodes, snapshot(3, json!([ty("a", "newest")]), json!([])).nodes);
    }
}
