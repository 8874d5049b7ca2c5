//! Entities on boards: nodes of a map hold the bundle, type and id of their entity.

use crate::view::FrameView;
use authority::Snapshot;
use shared_protocol::{Node, NodeId, bundle::EntityRef};

const ENTITY: &str = "spec/entity";

pub(crate) fn entity_of_node(node: &Node) -> Option<EntityRef> {
    if node.type_id.as_str() != ENTITY {
        return None;
    }
    let text = |key: &str| node.props.get(key).and_then(|value| value.as_text()).map(str::to_owned);
    Some(EntityRef { bundle: text("bundle")?, entity_type: text("entityType")?, id: text("entityId")? })
}

pub(crate) fn entity_of(view: &FrameView<'_>) -> Option<EntityRef> {
    let [only] = view.selected_nodes()[..] else { return None };
    view.snapshot.node(only).and_then(entity_of_node)
}

/// A node of an entity, on the open board if it has one.
pub(crate) fn node_of(
    snapshot: &Snapshot,
    board: Option<shared_protocol::BoardId>,
    entity: &EntityRef,
) -> Option<NodeId> {
    let stands = |node: &&std::sync::Arc<Node>| entity_of_node(node).as_ref() == Some(entity);
    let here = board.and_then(|board| snapshot.nodes_on(board).find(stands));
    here.or_else(|| snapshot.nodes().find(stands)).map(|node| node.id)
}
