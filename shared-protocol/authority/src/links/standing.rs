//! The review status of trace links: an end that changed makes its link suspect. Updated incrementally from changes.

use super::Links;
use crate::Snapshot;
use shared_protocol::{
    BoardId, Change, ElementId, LinkId, NodeId,
    link::{EndState, EndView, Fingerprint, Link, LinkEnd, LinkView},
};
use std::collections::{BTreeMap, BTreeSet};

/// The current state of a link end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndNow {
    pub title: String,
    pub board: Option<BoardId>,
    pub fingerprint: Fingerprint,
}

/// Returns a node as a link end. The fingerprint covers its content but not its place.
pub fn node_now(snapshot: &Snapshot, id: NodeId) -> Option<EndNow> {
    let node = snapshot.node(id)?;
    let content = (&node.type_id, &node.name, &node.label, &node.props, &node.references, &node.variables);
    let content = serde_json::to_vec(&content).unwrap_or_default();
    let title = if node.label.is_empty() { node.name.to_string() } else { node.label.clone() };
    Some(EndNow { title, board: Some(node.board), fingerprint: Fingerprint::of(&content) })
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    views: BTreeMap<LinkId, LinkView>,
    /// The links of each node.
    nodes: BTreeSet<(NodeId, LinkId)>,
}

impl Standing {
    /// `now` returns the current state of an end, or `None` when it does not exist.
    pub fn of(links: &Links, now: impl Fn(&LinkEnd) -> Option<EndNow>) -> Self {
        let mut standing = Self::default();
        for link in links.iter() {
            standing.views.insert(link.id, view(link, &now));
            for end in [&link.from, &link.to] {
                if let LinkEnd::Node(node) = end {
                    standing.nodes.insert((*node, link.id));
                }
            }
        }
        standing
    }

    /// Updates the status after changes of the graph only (not of links or entities). Returns whether any view changed.
    pub fn follow(&mut self, changes: &[Change], now: impl Fn(&LinkEnd) -> Option<EndNow>) -> bool {
        let touched: BTreeSet<NodeId> = changes
            .iter()
            .filter(|change| !change.is_layout())
            .filter_map(|change| match change.element() {
                Some(ElementId::Node(node)) => Some(node),
                _ => None,
            })
            .collect();
        let of_node = |node: &NodeId| self.nodes.range((*node, LinkId::MIN)..=(*node, LinkId::MAX));
        let links: BTreeSet<LinkId> = touched.iter().flat_map(of_node).map(|(_, link)| *link).collect();
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

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &LinkView> {
        self.views.values()
    }

    pub fn get(&self, id: LinkId) -> Option<&LinkView> {
        self.views.get(&id)
    }
}

fn view(link: &Link, now: &impl Fn(&LinkEnd) -> Option<EndNow>) -> LinkView {
    let end = |end: &LinkEnd, seen: Fingerprint| match now(end) {
        Some(EndNow { title, board, fingerprint }) => {
            let state = if fingerprint == seen { EndState::Same } else { EndState::Changed };
            EndView { title, board, state }
        }
        None => EndView { title: end.to_string(), board: None, state: EndState::Gone },
    };
    LinkView { from: end(&link.from, link.seen.0), to: end(&link.to, link.seen.1), link: link.clone() }
}
