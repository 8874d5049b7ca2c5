//! Containment rules: the containers and boards that accept a type.

use crate::Snapshot;
use shared_protocol::{Board, Node, NodeId, Refusal, RefusalCode, TypeDef};

/// Checks that a node of this type is allowed in the container, or on the board; the refusal names the rule.
pub fn may_contain(
    snapshot: &Snapshot,
    board: &Board,
    parent: Option<NodeId>,
    child: &TypeDef,
) -> Result<(), Refusal> {
    let refuse = |message: String| Refusal::new(RefusalCode::ContainmentError, message).field("parent");
    if !child.is_allowed_on(board.kind) {
        let kinds: Vec<&str> = child.boards.iter().map(|kind| kind.as_str()).collect();
        let message = format!("{} cannot be placed on an {} board", child.title, board.kind.as_str());
        return Err(refuse(message).hint(format!("Place it on a board of kind {}.", kinds.join(" or "))));
    }
    let Some(parent) = parent else {
        if child.may_be_root() {
            return Ok(());
        }
        let message = format!("{} cannot be placed directly on the board", child.title);
        return Err(refuse(message).hint(allowed_containers_hint(snapshot, child)));
    };
    let container = snapshot.node(parent).ok_or_else(|| {
        Refusal::new(RefusalCode::NotFound, format!("there is no node {parent}")).field("parent")
    })?;
    if container.board != board.id {
        return Err(refuse(format!("{} is on another board than {}", container.label, board.title)));
    }
    let Some(container_type) = snapshot.type_of(container) else {
        return Err(refuse(format!("the type `{}` of {} is unknown", container.type_id, container.label)));
    };
    if !container_type.container {
        let message = format!("{} is not a container", container_type.title);
        return Err(refuse(message).hint(allowed_containers_hint(snapshot, child)));
    }
    if !child.is_allowed_in(container_type) {
        let message = format!("{} cannot be placed in {}", child.title, container_type.title);
        return Err(refuse(message).hint(allowed_containers_hint(snapshot, child)));
    }
    Ok(())
}

/// Checks the containment of an existing node.
pub(crate) fn check_node_containment(snapshot: &Snapshot, node: &Node) -> Result<(), Refusal> {
    let (Some(board), Some(def)) = (snapshot.board(node.board), snapshot.type_of(node)) else {
        return Ok(());
    };
    may_contain(snapshot, board, node.parent, def)
}

fn allowed_containers_hint(snapshot: &Snapshot, child: &TypeDef) -> String {
    let mut places: Vec<&str> = snapshot
        .registry()
        .types()
        .filter(|container| child.is_allowed_in(container))
        .map(|container| container.title.as_str())
        .collect();
    places.sort_unstable();
    places.dedup();
    places.truncate(6);
    if child.may_be_root() {
        places.push("the board itself");
    }
    if places.is_empty() {
        return format!("No container accepts {}.", child.title);
    }
    format!("Allowed containers: {}.", places.join(", "))
}
