//! How links stand: which of their ends are other than they were. Kept up to date from the changes alone.

use super::Links;
use crate::Snapshot;
use shared_protocol::{
    BoardId, Change, ElementId, LinkId, NodeId,
    link::{EndState, EndView, Fingerprint, Link, LinkEnd, LinkView},
};
use std::collections::{BTreeMap, BTreeSet};

/// An end as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndNow {
    pub title: String,
    pub board: Option<BoardId>,
    pub fingerprint: Fingerprint,
}

/// A node, seen as the end of a link: what it is and says counts, where it stands does not.
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
    /// Which links a node has a part in.
    nodes: BTreeSet<(NodeId, LinkId)>,
}

impl Standing {
    /// `now` tells how an end is, or that it is gone.
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

    /// After changes of the graph that left links and entities alone. Whether anything is other than before.
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
