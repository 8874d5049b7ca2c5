//! Nudges by arrow keys, which repeat faster than operations become durable. While one nudge is in flight later ones
//! add up, and are sent together when the replica has caught up, so that none starts from an outdated position.

use super::Workbench;
use crate::view::WindowAction;
use shared_protocol::{Command, NodeId, Revision, command::PlaceNode};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct NudgeQueue {
    state: NudgeInFlight,
    backlog: (i32, i32),
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum NudgeInFlight {
    #[default]
    Idle,
    Sent,
    /// Accepted; the replica must reach this revision.
    Until(Revision),
}

impl NudgeQueue {
    pub(super) fn wait_for(&mut self, revision: Revision) {
        self.state = NudgeInFlight::Until(revision);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Workbench {
    pub(super) fn nudge(&mut self, (dx, dy): (i32, i32)) {
        self.nudge.backlog.0 += dx;
        self.nudge.backlog.1 += dy;
        self.send_nudge_backlog();
    }

    pub(super) fn send_nudge_backlog(&mut self) {
        let Some(workspace) = self.replica.workspace() else { return };
        match self.nudge.state {
            NudgeInFlight::Sent => return,
            NudgeInFlight::Until(revision) if workspace.snapshot.revision() < revision => return,
            NudgeInFlight::Idle | NudgeInFlight::Until(_) => self.nudge.state = NudgeInFlight::Idle,
        }
        let (dx, dy) = std::mem::take(&mut self.nudge.backlog);
        if (dx, dy) == (0, 0) {
            return;
        }
        let items: Vec<PlaceNode> = self
            .outermost_selected()
            .into_iter()
            .filter_map(|id| Some(PlaceNode::new(id, workspace.snapshot.placement(id)?.moved_by(dx, dy))))
            .collect();
        if !items.is_empty() {
            self.nudge.state = NudgeInFlight::Sent;
            self.change(Command::Place { items }, |result| {
                Some(match result {
                    Ok(applied) => WindowAction::Nudged(applied.revision),
                    Err(refusal) => WindowAction::RefuseNudge(refusal),
                })
            });
        }
    }

    /// Selected nodes without a selected container: moving them moves the others.
    pub(super) fn outermost_selected(&self) -> Vec<NodeId> {
        let Some(view) = self.view() else { return Vec::new() };
        let selected: BTreeSet<NodeId> = view.selected_nodes().into_iter().collect();
        let outermost = |id: &NodeId| {
            let parent = view.snapshot.node(*id).and_then(|node| node.parent);
            !view.snapshot.ancestors(parent).any(|container| selected.contains(&container.id))
        };
        selected.iter().copied().filter(outermost).collect()
    }
}
