//! The review status of trace links: an end that changed makes its link suspect. Updated incrementally from changes.

use super::TraceLinks;
use crate::Snapshot;
use shared_protocol::{
    BoardId, Change, ElementId, NodeId, TraceLinkId,
    trace_link::{
        TraceLink, TraceLinkEnd, TraceLinkEndState, TraceLinkEndView, TraceLinkFingerprint, TraceLinkView,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// The current state of a link end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentTraceLinkEnd {
    pub title: String,
    pub board: Option<BoardId>,
    pub fingerprint: TraceLinkFingerprint,
}

/// Returns a node as a link end. The fingerprint covers its content but not its place.
pub fn node_now(snapshot: &Snapshot, id: NodeId) -> Option<CurrentTraceLinkEnd> {
    let node = snapshot.node(id)?;
    let content = (&node.type_id, &node.name, &node.label, &node.props, &node.references, &node.variables);
    let content = serde_json::to_vec(&content).unwrap_or_default();
    let title = if node.label.is_empty() { node.name.to_string() } else { node.label.clone() };
    Some(CurrentTraceLinkEnd {
        title,
        board: Some(node.board),
        fingerprint: TraceLinkFingerprint::hash(&content),
    })
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceLinkIndex {
    views: BTreeMap<TraceLinkId, TraceLinkView>,
    /// The links of each node.
    nodes: BTreeSet<(NodeId, TraceLinkId)>,
}

impl TraceLinkIndex {
    /// `now` returns the current state of an end, or `None` when it does not exist.
    pub fn from_links(
        links: &TraceLinks,
        now: impl Fn(&TraceLinkEnd) -> Option<CurrentTraceLinkEnd>,
    ) -> Self {
        let mut standing = Self::default();
        for link in links.iter() {
            standing.views.insert(link.id, view(link, &now));
            for end in [&link.from, &link.to] {
                if let TraceLinkEnd::Node(node) = end {
                    standing.nodes.insert((*node, link.id));
                }
            }
        }
        standing
    }

    /// Updates the status after changes of the graph only (not of links or entities). Returns whether any view changed.
    pub fn update(
        &mut self,
        changes: &[Change],
        now: impl Fn(&TraceLinkEnd) -> Option<CurrentTraceLinkEnd>,
    ) -> bool {
        let touched: BTreeSet<NodeId> = changes
            .iter()
            .filter(|change| !change.is_layout())
            .filter_map(|change| match change.element() {
                Some(ElementId::Node(node)) => Some(node),
                _ => None,
            })
            .collect();
        let of_node = |node: &NodeId| self.nodes.range((*node, TraceLinkId::MIN)..=(*node, TraceLinkId::MAX));
        let links: BTreeSet<TraceLinkId> = touched.iter().flat_map(of_node).map(|(_, link)| *link).collect();
        let mut any = false;
        for id in links {
            if let Some(known) = self.views.get_mut(&id) {
                let new = view(&known.link, &now);
                any |= *known != new;
                *known = new;
            }
        }
        any
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TraceLinkView> {
        self.views.values()
    }

    pub fn get(&self, id: TraceLinkId) -> Option<&TraceLinkView> {
        self.views.get(&id)
    }
}

fn view(link: &TraceLink, now: &impl Fn(&TraceLinkEnd) -> Option<CurrentTraceLinkEnd>) -> TraceLinkView {
    let end = |end: &TraceLinkEnd, seen: TraceLinkFingerprint| match now(end) {
        Some(CurrentTraceLinkEnd { title, board, fingerprint }) => {
            let state =
                if fingerprint == seen { TraceLinkEndState::Same } else { TraceLinkEndState::Changed };
            TraceLinkEndView { title, board, state }
        }
        None => TraceLinkEndView { title: end.to_string(), board: None, state: TraceLinkEndState::Gone },
    };
    TraceLinkView { from: end(&link.from, link.seen.0), to: end(&link.to, link.seen.1), link: link.clone() }
}
