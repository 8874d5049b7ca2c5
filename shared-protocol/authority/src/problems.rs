//! Problems of the model that a person should fix. A problem never blocks an edit. An update checks only the elements
//! that the changes touched.

use crate::{Snapshot, rules};
use shared_protocol::{
    Change, Edge, EdgeId, ElementId, Node, NodeId, TypeDef,
    messages::{BoardProblem, ProblemSeverity},
    registry::{PropDef, PropKind},
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProblemIndex {
    by_element: BTreeMap<ElementId, Vec<BoardProblem>>,
    errors: usize,
    warnings: usize,
}

impl ProblemIndex {
    /// Checks every node and edge.
    pub fn check_all(snapshot: &Snapshot) -> Self {
        let mut problems = Self::default();
        for node in snapshot.nodes() {
            problems.set(ElementId::Node(node.id), check_node(snapshot, node));
        }
        for edge in snapshot.edges.values() {
            problems.set(ElementId::Edge(edge.id), check_edge(snapshot, edge));
        }
        problems
    }

    /// Checks the elements that these changes touched; `snapshot` is the state after them.
    pub fn update(&mut self, snapshot: &Snapshot, changes: &[Change]) {
        let mut nodes: BTreeSet<NodeId> = BTreeSet::new();
        let mut edges: BTreeSet<EdgeId> = BTreeSet::new();
        for change in changes {
            match change {
                Change::Placement { .. } | Change::Source { .. } | Change::Override { .. } => {}
                // A type lists the kinds of board that it is allowed on.
                Change::Board { id, before: Some(before), after: Some(after) }
                    if before.kind != after.kind =>
                {
                    nodes.extend(snapshot.nodes_on(*id).map(|node| node.id));
                }
                Change::Board { .. } => {}
                Change::Node { id, before, after } => {
                    nodes.insert(*id);
                    if let (Some(_), Some(after)) = (before, after) {
                        // After a change of type, its content, its referrers and its edges may no longer be valid.
                        nodes.extend(snapshot.children(after.board, Some(*id)));
                        nodes.extend(snapshot.referrers(*id));
                        edges.extend(snapshot.edges_of(*id).map(|edge| edge.id));
                    }
                }
                Change::Edge { id, before, after } => {
                    edges.insert(*id);
                    // The connection limit of a port depends on its other edges.
                    for edge in before.iter().chain(after) {
                        for end in [&edge.source, &edge.target] {
                            edges.extend(rules::edges_sharing_limit(snapshot, end));
                        }
                    }
                }
                Change::Label { node, .. } => {
                    // Problems of other elements mention this node by its label.
                    nodes.insert(*node);
                    nodes.extend(snapshot.referrers(*node));
                    edges.extend(snapshot.edges_of(*node).map(|edge| edge.id));
                }
                // A reference may be inherited from any ancestor container.
                Change::Parent { node, .. } => nodes.extend(snapshot.subtree(*node)),
                Change::Name { node, .. }
                | Change::Prop { node, .. }
                | Change::References { node, .. }
                | Change::Variable { node, .. } => {
                    nodes.insert(*node);
                }
            }
        }
        for id in nodes {
            let found = snapshot.node(id).map(|node| check_node(snapshot, node)).unwrap_or_default();
            self.set(ElementId::Node(id), found);
        }
        for id in edges {
            let found = snapshot.edge(id).map(|edge| check_edge(snapshot, edge)).unwrap_or_default();
            self.set(ElementId::Edge(id), found);
        }
    }

    fn set(&mut self, element: ElementId, found: Vec<BoardProblem>) {
        let count =
            |problems: &[BoardProblem], severity| problems.iter().filter(|p| p.severity == severity).count();
        self.errors += count(&found, ProblemSeverity::Error);
        self.warnings += count(&found, ProblemSeverity::Warning);
        let before = if found.is_empty() {
            self.by_element.remove(&element)
        } else {
            self.by_element.insert(element, found)
        };
        let before = before.unwrap_or_default();
        self.errors -= count(&before, ProblemSeverity::Error);
        self.warnings -= count(&before, ProblemSeverity::Warning);
    }

    pub fn iter(&self) -> impl Iterator<Item = &BoardProblem> {
        self.by_element.values().flatten()
    }

    pub fn of_node(&self, node: NodeId) -> &[BoardProblem] {
        self.by_element.get(&ElementId::Node(node)).map_or(&[], Vec::as_slice)
    }

    pub fn of_edge(&self, edge: EdgeId) -> &[BoardProblem] {
        self.by_element.get(&ElementId::Edge(edge)).map_or(&[], Vec::as_slice)
    }

    pub fn errors(&self) -> usize {
        self.errors
    }

    pub fn warnings(&self) -> usize {
        self.warnings
    }
}

fn check_node(snapshot: &Snapshot, node: &Node) -> Vec<BoardProblem> {
    let problem = |severity, field: Option<String>, message: String| BoardProblem {
        severity,
        element: ElementId::Node(node.id),
        board: node.board,
        field,
        message,
    };
    let Some(def) = snapshot.type_of(node) else {
        let message = format!("the type `{}` is unknown: its module is missing or disabled", node.type_id);
        return vec![problem(ProblemSeverity::Error, None, message)];
    };
    let mut found = Vec::new();
    if let Err(refusal) = rules::check_node_containment(snapshot, node) {
        found.push(problem(ProblemSeverity::Error, None, refusal.message));
    }
    for prop in def.props.iter().filter(|prop| prop.required && rules::is_visible(def, node, prop)) {
        // The value of a variable is supplied when Terraform runs.
        if !has_value(snapshot, def, node, prop) && !node.variables.contains(&prop.key) {
            let message = format!("{} is required", prop.label);
            found.push(problem(ProblemSeverity::Error, Some(prop.key.to_string()), message));
        }
    }
    for (key, value) in &node.props {
        let field = Some(key.to_string());
        match def.prop(key.as_str()) {
            None => {
                let message =
                    format!("{} has no property `{key}`; the value is kept but not used", def.title);
                found.push(problem(ProblemSeverity::Warning, field, message));
            }
            Some(prop) => {
                let pattern = prop.pattern.as_deref().and_then(|text| snapshot.registry().pattern(text));
                if rules::takes_expression(def, prop, value) {
                    continue;
                }
                if let Err(message) = rules::check_value(prop, value, pattern) {
                    found.push(problem(ProblemSeverity::Error, field, format!("{}: {message}", prop.label)));
                }
            }
        }
    }
    for key in &node.variables {
        if let Err(refusal) = rules::may_vary(def, key) {
            found.push(problem(ProblemSeverity::Warning, Some(key.to_string()), refusal.message));
        }
    }
    for (key, targets) in &node.references {
        if let Some(message) = check_references(snapshot, def, key.as_str(), targets) {
            found.push(problem(ProblemSeverity::Error, Some(key.to_string()), message));
        }
    }
    found
}

fn has_value(snapshot: &Snapshot, def: &TypeDef, node: &Node, prop: &PropDef) -> bool {
    match prop.kind {
        PropKind::Reference => !snapshot.targets_of(node, prop).is_empty(),
        PropKind::Slot => true,
        _ => rules::effective_value(def, &node.props, &prop.key)
            .is_some_and(|value| value.as_text().is_none_or(|text| !text.trim().is_empty())),
    }
}

fn check_references(snapshot: &Snapshot, def: &TypeDef, key: &str, targets: &[NodeId]) -> Option<String> {
    let Some(prop) = def.prop(key).filter(|prop| prop.kind == PropKind::Reference) else {
        return Some(format!("{} has no reference `{key}`", def.title));
    };
    if !prop.many && targets.len() > 1 {
        return Some(format!("{} accepts only one target", prop.label));
    }
    let misfit = targets
        .iter()
        .filter_map(|target| snapshot.node(*target))
        .find(|target| !prop.targets.iter().any(|pattern| pattern.matches(&target.type_id)));
    misfit.map(|target| format!("{} cannot reference {}", prop.label, target.label))
}

fn check_edge(snapshot: &Snapshot, edge: &Edge) -> Vec<BoardProblem> {
    let problem = |message: String| BoardProblem {
        severity: ProblemSeverity::Error,
        element: ElementId::Edge(edge.id),
        board: edge.board,
        field: None,
        message,
    };
    let label =
        |node: NodeId| snapshot.node(node).map_or_else(|| node.to_string(), |node| node.label.clone());
    let mut found = Vec::new();
    if rules::rule_for(snapshot, &edge.source, &edge.target).is_none() {
        let message = format!("no rule allows {} → {}", label(edge.source.node), label(edge.target.node));
        found.push(problem(message));
    }
    for end in [&edge.source, &edge.target] {
        if let Some((port, most)) = rules::overfull_port(snapshot, end) {
            found.push(problem(format!(
                "port `{port}` of {} exceeds its connection limit of {most}",
                label(end.node)
            )));
        }
    }
    found
}
