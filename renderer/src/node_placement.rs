//! Finds the container, position, port and name for a new node. These are pure queries on the snapshot; the authority
//! checks the command again.

use authority::{Snapshot, may_contain};
use shared_protocol::{
    AddNode, Board, BoardId, BoardPoint, Command, EdgeEndpoint, EdgeEndpointRef, NodeId, NodeName, NodeRef,
    PortId, Refusal, TypeDef, command::NodePath, registry::PortDirection,
};

pub(crate) fn container_at(snapshot: &Snapshot, board: BoardId, at: BoardPoint) -> Option<NodeId> {
    let mut found = None;
    loop {
        let inner = snapshot.children(board, found).find(|&child| {
            let is_container =
                snapshot.node(child).and_then(|node| snapshot.type_of(node)).is_some_and(|def| def.container);
            is_container
                && snapshot.absolute_placement(child).is_some_and(|place| {
                    (place.x..place.right()).contains(&at.x) && (place.y..place.bottom()).contains(&at.y)
                })
        });
        match inner {
            Some(inner) => found = Some(inner),
            None => return found,
        }
    }
}

/// Returns the first parent that accepts the type, from `inner` outwards to the board. When none does, returns the
/// refusal of the innermost one.
pub(crate) fn parent_for(
    snapshot: &Snapshot,
    board: &Board,
    inner: Option<NodeId>,
    def: &TypeDef,
) -> Result<Option<NodeId>, Refusal> {
    let outwards = snapshot.ancestors(inner).map(|node| Some(node.id)).chain([None]);
    let mut refusal = None;
    for parent in outwards {
        match may_contain(snapshot, board, parent, def) {
            Ok(()) => return Ok(parent),
            Err(why) => refusal = refusal.or(Some(why)),
        }
    }
    // The board is always checked, so a refusal always exists here.
    Err(refusal.unwrap_or_else(|| {
        Refusal::new(
            shared_protocol::RefusalCode::ContainmentError,
            format!("{} cannot be placed here", def.title),
        )
    }))
}

/// Builds a command that adds a node centred at a point of the board, in the container at that point.
pub(crate) fn add_at(
    snapshot: &Snapshot,
    board: &Board,
    def: &TypeDef,
    at: BoardPoint,
) -> Result<AddNode, Refusal> {
    let parent = parent_for(snapshot, board, container_at(snapshot, board.id, at), def)?;
    let (origin, size) = (snapshot.origin_of(parent), def.default_size());
    let mut add = AddNode::new(board.id, def.id.clone());
    add.parent = parent.map(NodeRef::Id);
    add.at = Some(BoardPoint { x: at.x - origin.x - size.w / 2, y: at.y - origin.y - size.h / 2 });
    Ok(add)
}

/// Returns an unused name on the board, so that a batch can refer to a node that it creates.
pub(crate) fn free_name(snapshot: &Snapshot, board: BoardId, def: &TypeDef) -> Option<NodeName> {
    let fallback = NodeName::parse("node").ok()?;
    let name = NodeName::from_words(&def.title, &fallback);
    if snapshot.node_named(board, &name).is_none() {
        return Some(name);
    }
    (2..100_000).map(|number| name.numbered(number)).find(|name| snapshot.node_named(board, name).is_none())
}

/// Returns the port of `def` that a rule connects with `from`.
pub(crate) fn fitting_port(snapshot: &Snapshot, from: &EdgeEndpoint, def: &TypeDef) -> Option<PortId> {
    let node = snapshot.node(from.node)?;
    let direction = snapshot.type_of(node)?.port(from.port.as_str())?.direction;
    snapshot.registry().rules().iter().find_map(|rule| {
        let (near, far, wanted) = match direction {
            PortDirection::Out => (&rule.source, &rule.target, PortDirection::In),
            PortDirection::In => (&rule.target, &rule.source, PortDirection::Out),
        };
        let near_fits = near.port == from.port && near.type_id.matches(&node.type_id);
        let far_fits = far.type_id.matches(&def.id)
            && def.port(far.port.as_str()).is_some_and(|port| port.direction == wanted);
        (near_fits && far_fits).then(|| far.port.clone())
    })
}

/// Builds a batch that adds a node and connects it with `from`, as one operation. The batch refers to the node by name,
/// because the authority assigns the id.
pub(crate) fn add_connected(
    snapshot: &Snapshot,
    board: &Board,
    def: &TypeDef,
    at: BoardPoint,
    from: &EdgeEndpoint,
) -> Result<Command, Refusal> {
    let mut add = add_at(snapshot, board, def, at)?;
    let refuse = |message: String| Refusal::new(shared_protocol::RefusalCode::ConnectionError, message);
    let port = fitting_port(snapshot, from, def)
        .ok_or_else(|| refuse(format!("no connection rule allows {} at this port", def.title)))?;
    let name = free_name(snapshot, board.id, def)
        .ok_or_else(|| refuse("this board has no free name for the node".to_owned()))?;
    add.name = Some(name.clone());
    let near = EdgeEndpointRef { node: from.node.into(), port: Some(from.port.clone()) };
    let path = NodePath { board: Some(board.name.clone()), name };
    let far = EdgeEndpointRef { node: NodeRef::Name(path), port: Some(port.clone()) };
    let far_is_source = def.port(port.as_str()).is_some_and(|port| port.direction == PortDirection::Out);
    let (source, target) = if far_is_source { (far, near) } else { (near, far) };
    Ok(Command::Batch {
        summary: Some(format!("adds {} and connects it", def.title)),
        commands: vec![Command::AddNode(add), Command::Connect { source, target, label: String::new() }],
    })
}
