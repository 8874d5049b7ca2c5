//! Dependencies between the elements of a proposal: an element cannot be accepted without the ones it needs.

use crate::Snapshot;
use shared_protocol::{BoardId, Change, NodeId, NodeName, ProposalSubject, SourcePath};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the selected elements with all their dependencies: an edge needs its ends, a node its container and its
/// targets, a removal everything attached to the removed node, a name the element that gives it up.
pub fn with_needs(
    snapshot: &Snapshot,
    changes: &[Change],
    chosen: impl IntoIterator<Item = ProposalSubject>,
) -> BTreeSet<ProposalSubject> {
    let needs = ElementDependencies::from_changes(snapshot, changes);
    let mut all = BTreeSet::new();
    let mut waiting: Vec<ProposalSubject> =
        chosen.into_iter().filter(|subject| needs.subjects.contains(subject)).collect();
    while let Some(subject) = waiting.pop() {
        if all.insert(subject.clone()) {
            waiting.extend(needs.by_subject.get(&subject).into_iter().flatten().cloned());
        }
    }
    all
}

/// Returns the direct dependencies of each element.
pub(super) fn direct_dependencies(
    snapshot: &Snapshot,
    changes: &[Change],
) -> BTreeMap<ProposalSubject, BTreeSet<ProposalSubject>> {
    ElementDependencies::from_changes(snapshot, changes).by_subject
}

struct ElementDependencies<'a> {
    snapshot: &'a Snapshot,
    subjects: BTreeSet<ProposalSubject>,
    /// The nodes with layout changes only.
    only_moved: BTreeSet<NodeId>,
    by_subject: BTreeMap<ProposalSubject, BTreeSet<ProposalSubject>>,
    /// Pairs of a node and a target that it loses.
    losing: BTreeSet<(NodeId, NodeId)>,
    /// The first file of each bundle.
    bundles: BTreeMap<String, ProposalSubject>,
}

impl<'a> ElementDependencies<'a> {
    fn from_changes(snapshot: &'a Snapshot, changes: &[Change]) -> Self {
        let subjects: BTreeSet<ProposalSubject> = changes.iter().map(ProposalSubject::of_change).collect();
        let mut only_moved: BTreeSet<NodeId> = subjects.iter().filter_map(node_of).collect();
        for change in changes.iter().filter(|change| !change.is_layout()) {
            if let Some(node) = node_of(&ProposalSubject::of_change(change)) {
                only_moved.remove(&node);
            }
        }
        let losing = changes.iter().flat_map(|change| match change {
            Change::References { node, before, after, .. } => {
                let lost = before.iter().filter(|target| !after.contains(target));
                lost.map(|target| (*node, *target)).collect()
            }
            _ => Vec::new(),
        });
        let losing = losing.collect();
        let mut needs = Self {
            snapshot,
            subjects,
            only_moved,
            by_subject: BTreeMap::new(),
            losing,
            bundles: BTreeMap::new(),
        };
        for change in changes {
            needs.add_change(change);
        }
        needs
    }

    fn add(&mut self, subject: &ProposalSubject, needed: ProposalSubject) {
        if *subject != needed && self.subjects.contains(&needed) {
            self.by_subject.entry(subject.clone()).or_default().insert(needed);
        }
    }

    fn add_change(&mut self, change: &Change) {
        let subject = ProposalSubject::of_change(change);
        match change {
            Change::Node { id, before: None, after: Some(node) } => {
                self.add(&subject, ProposalSubject::Board(node.board));
                self.add_container(*id, node.board, node.parent);
                self.add_name_holder(&subject, node.board, &node.name);
                for target in node.references.values().flatten() {
                    self.add(&subject, ProposalSubject::Node(*target));
                }
            }
            Change::Node { id, before: Some(_), after: None } => self.add_removal(*id),
            Change::Parent { node, after, .. } => {
                if let Some(board) = self.snapshot.node(*node).map(|node| node.board) {
                    self.add_container(*node, board, *after);
                }
            }
            Change::References { after, .. } => {
                for target in after {
                    self.add(&subject, ProposalSubject::Node(*target));
                }
            }
            Change::Name { node, after, .. } => {
                if let Some(board) = self.snapshot.node(*node).map(|node| node.board) {
                    self.add_name_holder(&subject, board, after);
                }
            }
            Change::Edge { after: Some(edge), .. } => {
                for end in [edge.source.node, edge.target.node] {
                    self.add(&subject, ProposalSubject::Node(end));
                }
            }
            // The reference that an edge represents is removed with the edge.
            Change::Edge { before: Some(edge), after: None, .. } => {
                let (source, target) = (edge.source.node, edge.target.node);
                for (holder, other) in [(source, target), (target, source)] {
                    if self.losing.contains(&(holder, other)) {
                        self.add(&subject, ProposalSubject::Node(holder));
                    }
                }
            }
            Change::Board { id, before: Some(_), after: None } => {
                let nodes: Vec<NodeId> = self.snapshot.nodes_on(*id).map(|node| node.id).collect();
                for node in nodes {
                    self.add(&subject, ProposalSubject::Node(node));
                }
            }
            Change::Board { after: Some(board), .. } => {
                if let Some(holder) = self.snapshot.board_named(&board.name).map(|board| board.id) {
                    self.add(&subject, ProposalSubject::Board(holder));
                }
            }
            // An override may target a node that the same proposal adds.
            Change::Override { key, after: Some(_), .. } => {
                if let Some(node) = crate::overrides::node_of(key) {
                    self.add(&subject, ProposalSubject::Node(node));
                }
            }
            // The files of one bundle were validated together, so they are accepted together.
            Change::Source { path, .. } => {
                let first = self.bundles.entry(bundle_of(path)).or_insert_with(|| subject.clone()).clone();
                self.add(&subject, first.clone());
                self.add(&first, subject);
            }
            _ => {}
        }
    }

    /// Adds the container, and the nodes that were only moved or resized to make room.
    fn add_container(&mut self, node: NodeId, board: BoardId, parent: Option<NodeId>) {
        let subject = ProposalSubject::Node(node);
        if let Some(parent) = parent {
            self.add(&subject, ProposalSubject::Node(parent));
        }
        let outwards: Vec<NodeId> = self.snapshot.ancestors(parent).map(|node| node.id).collect();
        let beside: Vec<NodeId> = self.only_moved.iter().copied().collect();
        for other in beside {
            let is_beside = self.snapshot.node(other).is_some_and(|other| {
                other.board == board && (other.parent == parent || outwards.contains(&other.id))
            });
            if is_beside {
                self.add(&subject, ProposalSubject::Node(other));
            }
        }
    }

    /// Adds everything attached to a removed node: its content, its edges and its referrers.
    fn add_removal(&mut self, id: NodeId) {
        let subject = ProposalSubject::Node(id);
        let Some(node) = self.snapshot.node(id) else { return };
        let content = self.snapshot.children(node.board, Some(id)).map(ProposalSubject::Node);
        let edges = self.snapshot.edges_of(id).map(|edge| ProposalSubject::Edge(edge.id));
        let referrers = self.snapshot.referrers(id).map(ProposalSubject::Node);
        let hanging: Vec<ProposalSubject> = content.chain(edges).chain(referrers).collect();
        for needed in hanging {
            self.add(&subject, needed);
        }
    }

    fn add_name_holder(&mut self, subject: &ProposalSubject, board: BoardId, name: &NodeName) {
        if let Some(holder) = self.snapshot.node_named(board, name).map(|node| node.id) {
            self.add(subject, ProposalSubject::Node(holder));
        }
    }
}

fn node_of(subject: &ProposalSubject) -> Option<NodeId> {
    match subject {
        ProposalSubject::Node(id) => Some(*id),
        _ => None,
    }
}

/// Returns the folder of the bundle: the first two segments of the path.
fn bundle_of(path: &SourcePath) -> String {
    path.as_str().split('/').take(2).collect::<Vec<_>>().join("/")
}
