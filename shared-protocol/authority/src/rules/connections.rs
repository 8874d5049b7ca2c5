//! Which ports may be connected.

use crate::Snapshot;
use shared_protocol::{
    Code, Edge, EdgeId, Endpoint, EndpointRef, Node, NodeId, Refusal, TypeDef,
    registry::{ConnectionRule, Direction, PortDef},
};

/// A connection that the rules allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub source: Endpoint,
    pub target: Endpoint,
    pub rule: ConnectionRule,
}

/// The connection between two nodes by these ports (or by the first that fit); the refusal names the rule it breaks.
pub fn connection(
    snapshot: &Snapshot,
    source: (NodeId, Option<&str>),
    target: (NodeId, Option<&str>),
) -> Result<Connection, Refusal> {
    let (from, from_type) = end(snapshot, source.0, "source")?;
    let (to, to_type) = end(snapshot, target.0, "target")?;
    if from.id == to.id {
        return Err(refuse("a node cannot be connected to itself"));
    }
    if from.board != to.board {
        return Err(refuse(format!("{} and {} are on different boards", from.label, to.label))
            .hint("Edges stay on one board; links across boards are made between entities and nodes."));
    }
    let outs = ports(from_type, source.1, Direction::Out, "source")?;
    let ins = ports(to_type, target.1, Direction::In, "target")?;

    let mut refusal = None;
    // Rules in their order: a special one stands before a general one and wins.
    for rule in snapshot.registry().rules() {
        let Some(out) = outs.iter().find(|port| port.id == rule.source.port) else { continue };
        let Some(into) = ins.iter().find(|port| port.id == rule.target.port) else { continue };
        if !rule.source.type_id.matches(&from.type_id) || !rule.target.type_id.matches(&to.type_id) {
            continue;
        }
        let found = Connection {
            source: Endpoint { node: from.id, port: out.id.clone() },
            target: Endpoint { node: to.id, port: into.id.clone() },
            rule: rule.clone(),
        };
        match check_room(snapshot, &found, (from, out), (to, into)) {
            Ok(()) => return Ok(found),
            Err(full) => refusal = refusal.or(Some(full)),
        }
    }
    Err(refusal.unwrap_or_else(|| no_rule(snapshot, (from, from_type), (to, to_type))))
}

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::ConnectionError, message)
}

fn end<'a>(snapshot: &'a Snapshot, id: NodeId, field: &str) -> Result<(&'a Node, &'a TypeDef), Refusal> {
    let node = snapshot
        .node(id)
        .ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no node {id}")).field(field))?;
    let def = snapshot.type_of(node).ok_or_else(|| {
        refuse(format!("the type `{}` of {} is unknown", node.type_id, node.label)).field(field)
    })?;
    Ok((node, def))
}

fn ports<'a>(
    def: &'a TypeDef,
    wanted: Option<&str>,
    direction: Direction,
    field: &str,
) -> Result<Vec<&'a PortDef>, Refusal> {
    let fitting: Vec<&PortDef> = def.ports.iter().filter(|port| port.direction == direction).collect();
    let Some(wanted) = wanted else { return Ok(fitting) };
    match def.port(wanted) {
        Some(port) if port.direction == direction => Ok(vec![port]),
        Some(port) => {
            Err(refuse(format!("port `{}` of {} points the other way", port.id, def.title)).field(field))
        }
        None => Err(refuse(format!("{} has no port `{wanted}`", def.title))
            .field(field)
            .suggest(fitting.iter().map(|port| port.id.to_string()))),
    }
}

fn check_room(
    snapshot: &Snapshot,
    connection: &Connection,
    (from, out): (&Node, &PortDef),
    (to, into): (&Node, &PortDef),
) -> Result<(), Refusal> {
    let twin = snapshot
        .edges_of(from.id)
        .any(|edge| edge.source == connection.source && edge.target == connection.target);
    if twin {
        return Err(refuse(format!("{} and {} are connected there already", from.label, to.label)));
    }
    for (node, port, end) in [(from, out, &connection.source), (to, into, &connection.target)] {
        if let Some(most) = port.max_connections
            && edges_at(snapshot, end).count() >= most as usize
        {
            let message = format!("port `{}` of {} takes {most} at most", port.label, node.label);
            return Err(refuse(message).hint("Remove the present connection first."));
        }
    }
    Ok(())
}

fn no_rule(
    snapshot: &Snapshot,
    (from, from_type): (&Node, &TypeDef),
    (to, to_type): (&Node, &TypeDef),
) -> Refusal {
    let message = format!("no rule connects {} to {}", from_type.title, to_type.title);
    let reverse =
        snapshot.registry().rules().iter().any(|rule| {
            rule.source.type_id.matches(&to.type_id) && rule.target.type_id.matches(&from.type_id)
        });
    if reverse {
        return refuse(message).hint("It can be drawn the other way round.");
    }
    let mut takers: Vec<&str> = snapshot
        .registry()
        .rules()
        .iter()
        .filter(|rule| rule.source.type_id.matches(&from.type_id))
        .filter_map(|rule| Some(rule.label.as_str()).filter(|label| !label.is_empty()))
        .collect();
    takers.dedup();
    takers.truncate(4);
    if takers.is_empty() {
        return refuse(message).hint(format!("{} has no outgoing connections.", from_type.title));
    }
    refuse(message).hint(format!("Its connections: {}.", takers.join(", ")))
}

/// The rule that an existing edge stands on, if there still is one.
pub(crate) fn rule_for<'a>(
    snapshot: &'a Snapshot,
    source: &Endpoint,
    target: &Endpoint,
) -> Option<&'a ConnectionRule> {
    let (from, to) = (snapshot.node(source.node)?, snapshot.node(target.node)?);
    snapshot.registry().rules().iter().find(|rule| {
        rule.source.port == source.port
            && rule.target.port == target.port
            && rule.source.type_id.matches(&from.type_id)
            && rule.target.type_id.matches(&to.type_id)
    })
}

fn edges_at<'a>(snapshot: &'a Snapshot, end: &'a Endpoint) -> impl Iterator<Item = &'a Edge> {
    snapshot.edges_of(end.node).filter(move |edge| edge.source == *end || edge.target == *end)
}

/// The port at an end and how many edges it takes, if there is a limit.
fn limit<'a>(snapshot: &'a Snapshot, end: &Endpoint) -> Option<(&'a PortDef, u32)> {
    let port = snapshot.type_of(snapshot.node(end.node)?)?.port(end.port.as_str())?;
    Some((port, port.max_connections?))
}

/// The edges that share a limit; none where there is no limit.
pub(crate) fn edges_in_limit(snapshot: &Snapshot, end: &Endpoint) -> Vec<EdgeId> {
    limit(snapshot, end).map_or_else(Vec::new, |_| edges_at(snapshot, end).map(|edge| edge.id).collect())
}

/// More edges on a port than it takes: by a change of the types, an edit of a file or a revert.
pub(crate) fn edge_is_full(snapshot: &Snapshot, end: &Endpoint) -> Option<(String, u32)> {
    let (port, most) = limit(snapshot, end)?;
    (edges_at(snapshot, end).count() > most as usize).then(|| (port.label.clone(), most))
}

impl Connection {
    /// The ends as a command names them.
    pub fn endpoints(&self) -> (EndpointRef, EndpointRef) {
        let name = |end: &Endpoint| EndpointRef { node: end.node.into(), port: Some(end.port.clone()) };
        (name(&self.source), name(&self.target))
    }
}
