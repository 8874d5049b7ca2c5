//! Connects nodes by keyboard: lists the nodes that the selected node may connect to.

use crate::{
    picker::{PickerEntry, PickerIcon, PickerPopup, SearchPicker, rank},
    view::{FrameView, WindowAction},
    widgets::PopupPosition,
};
use authority::{Snapshot, connection};
use egui::Context;
use shared_protocol::{Command, Node, NodeId};
use std::ops::ControlFlow;

const WIDTH: f32 = 420.0;
/// The maximum number of listed nodes; a longer query narrows the list.
const MAX_LISTED_NODES: usize = 60;

pub(crate) struct ConnectPicker {
    from: NodeId,
    /// Computed once when the list opens, because checking every rule for every node is expensive.
    targets: Vec<NodeId>,
    picker: SearchPicker,
}

impl ConnectPicker {
    pub(crate) fn new(snapshot: &Snapshot, from: &Node) -> Self {
        let takes = |node: &NodeId| connection(snapshot, (from.id, None), (*node, None)).is_ok();
        let targets = snapshot.nodes_on(from.board).map(|node| node.id).filter(takes).collect();
        Self { from: from.id, targets, picker: SearchPicker::default() }
    }

    /// Returns `false` when the list closes.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) -> bool {
        let targets = self.fitting_nodes(view);
        let entries: Vec<PickerEntry<'_>> = targets.iter().map(|node| entry(view, node)).collect();
        let popup = PickerPopup {
            id: "connect to",
            place: PopupPosition::Top(64.0),
            width: WIDTH,
            name: "Connect to",
            hint: "Search nodes to connect to",
        };
        let ControlFlow::Break(chosen) = self.picker.popup_ui(context, view.theme, popup, &entries, |_| {})
        else {
            return true;
        };
        if let Some(target) = chosen.and_then(|index| targets.get(index)) {
            // Checks the rules again, because the board may have changed while the list was open.
            view.act(match connection(view.snapshot, (self.from, None), (target.id, None)) {
                Ok(found) => {
                    let (source, target) = found.endpoints();
                    WindowAction::Run(Command::Connect { source, target, label: String::new() })
                }
                Err(refusal) => WindowAction::Refuse(refusal),
            });
        }
        false
    }

    /// Existing targets that match the query, best match first.
    fn fitting_nodes<'a>(&self, view: &FrameView<'a>) -> Vec<&'a Node> {
        let nodes = self.targets.iter().filter_map(|id| view.snapshot.node(*id));
        let mut found: Vec<(u32, &Node)> = nodes
            .filter_map(|node| {
                Some((
                    rank(&self.picker.query, &node.label, &format!("{} {}", node.name, node.type_id))?,
                    node,
                ))
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.label.cmp(&b.1.label)));
        found.truncate(MAX_LISTED_NODES);
        found.into_iter().map(|(_, node)| node).collect()
    }
}

fn entry<'a>(view: &FrameView<'a>, node: &Node) -> PickerEntry<'a> {
    let def = view.snapshot.registry().get(&node.type_id);
    let note = def.map_or(node.type_id.as_str(), |def| def.title.as_str()).to_owned();
    PickerEntry { title: node.label.clone(), note, mark: PickerIcon::Type(def) }
}
