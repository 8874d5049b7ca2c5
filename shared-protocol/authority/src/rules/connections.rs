//! Connection rules: the ports that may be connected.

use crate::Snapshot;
use shared_protocol::{
    Edge, EdgeEndpoint, EdgeEndpointRef, EdgeId, Node, NodeId, Refusal, RefusalCode, TypeDef,
    registry::{ConnectionRule, PortDef, PortDirection},
};

/// A connection that the rules allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedConnection {
    pub source: EdgeEndpoint,
    pub target: EdgeEndpoint,
    pub rule: ConnectionRule,
}

/// Returns the connection between two nodes by these ports, or by the first that match; the refusal names the rule.
pub fn connection(
    snapshot: &Snapshot,
    source: (NodeId, Option<&str>),
    target: (NodeId, Option<&str>),
) -> Result<AllowedConnection, Refusal> {
    let (from, from_type) = end(snapshot, source.0, "source")?;
    let (to, to_type) = end(snapshot, target.0, "target")?;
    if from.id == to.id {
        return Err(refuse("a node cannot be connected to itself"));
    }
    if from.board != to.board {
        return Err(refuse(format!("{} and {} are on different boards", from.label, to.label))
            .hint("An edge connects nodes of one board. Use a trace link across boards."));
    }
    let outs = ports(from_type, source.1, PortDirection::Out, "source")?;
    let ins = ports(to_type, target.1, PortDirection::In, "target")?;

    let mut refusal = None;
    // The first match wins: a special rule comes before a general one.
    for rule in snapshot.registry().rules() {
        let Some(out) = outs.iter().find(|port| port.id == rule.source.port) else { continue };
        let Some(into) = ins.iter().find(|port| port.id == rule.target.port) else { continue };
        if !rule.source.type_id.matches(&from.type_id) || !rule.target.type_id.matches(&to.type_id) {
            continue;
        }
        let found = AllowedConnection {
            source: EdgeEndpoint { node: from.id, port: out.id.clone() },
            target: EdgeEndpoint { node: to.id, port: into.id.clone() },
            rule: rule.clone(),
        };
        match check_capacity(snapshot, &found, (from, out), (to, into)) {
            Ok(()) => return Ok(found),
            Err(full) => refusal = refusal.or(Some(full)),
        }
    }
    Err(refusal.unwrap_or_else(|| no_rule(snapshot, (from, from_type), (to, to_type))))
}

fn refuse(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::ConnectionError, message)
}

fn end<'a>(snapshot: &'a Snapshot, id: NodeId, field: &str) -> Result<(&'a Node, &'a TypeDef), Refusal> {
    let node = snapshot
        .node(id)
        .ok_or_else(|| Refusal::new(RefusalCode::NotFound, format!("there is no node {id}")).field(field))?;
    let def = snapshot.type_of(node).ok_or_else(|| {
        refuse(format!("the type `{}` of {} is unknown", node.type_id, node.label)).field(field)
    })?;
    Ok((node, def))
}

fn ports<'a>(
    def: &'a TypeDef,
    wanted: Option<&str>,
    direction: PortDirection,
    field: &str,
) -> Result<Vec<&'a PortDef>, Refusal> {
    let fitting: Vec<&PortDef> = def.ports.iter().filter(|port| port.direction == direction).collect();
    let Some(wanted) = wanted else { return Ok(fitting) };
    match def.port(wanted) {
        Some(port) if port.direction == direction => Ok(vec![port]),
        Some(port) => {
            Err(refuse(format!("port `{}` of {} has the wrong direction", port.id, def.title)).field(field))
        }
        None => Err(refuse(format!("{} has no port `{wanted}`", def.title))
            .field(field)
            .suggest(fitting.iter().map(|port| port.id.to_string()))),
    }
}

fn check_capacity(
    snapshot: &Snapshot,
    connection: &AllowedConnection,
    (from, out): (&Node, &PortDef),
    (to, into): (&Node, &PortDef),
) -> Result<(), Refusal> {
    let twin = snapshot
        .edges_of(from.id)
        .any(|edge| edge.source == connection.source && edge.target == connection.target);
    if twin {
        return Err(refuse(format!("{} and {} are already connected by these ports", from.label, to.label)));
    }
    for (node, port, end) in [(from, out, &connection.source), (to, into, &connection.target)] {
        if let Some(most) = port.max_connections
            && edges_at(snapshot, end).count() >= most as usize
        {
            let message =
                format!("port `{}` of {} has reached its connection limit of {most}", port.label, node.label);
            return Err(refuse(message).hint("Remove an existing connection first."));
        }
    }
    Ok(())
}

fn no_rule(
    snapshot: &Snapshot,
    (from, from_type): (&Node, &TypeDef),
    (to, to_type): (&Node, &TypeDef),
) -> Refusal {
    let message = format!("no rule allows connecting {} to {}", from_type.title, to_type.title);
    let reverse =
        snapshot.registry().rules().iter().any(|rule| {
            rule.source.type_id.matches(&to.type_id) && rule.target.type_id.matches(&from.type_id)
        });
    if reverse {
        return refuse(message).hint("Connect them in the other direction.");
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
    refuse(message).hint(format!("Allowed connections: {}.", takers.join(", ")))
}

/// Returns the rule that allows an existing edge, if there is one.
pub(crate) fn rule_for<'a>(
    snapshot: &'a Snapshot,
    source: &EdgeEndpoint,
    target: &EdgeEndpoint,
) -> Option<&'a ConnectionRule> {
    let (from, to) = (snapshot.node(source.node)?, snapshot.node(target.node)?);
    snapshot.registry().rules().iter().find(|rule| {
        rule.source.port == source.port
            && rule.target.port == target.port
            && rule.source.type_id.matches(&from.type_id)
            && rule.target.type_id.matches(&to.type_id)
    })
}

fn edges_at<'a>(snapshot: &'a Snapshot, end: &'a EdgeEndpoint) -> impl Iterator<Item = &'a Edge> {
    snapshot.edges_of(end.node).filter(move |edge| edge.source == *end || edge.target == *end)
}

/// Returns the port at an end and its connection limit, if it has one.
fn port_limit<'a>(snapshot: &'a Snapshot, end: &EdgeEndpoint) -> Option<(&'a PortDef, u32)> {
    let port = snapshot.type_of(snapshot.node(end.node)?)?.port(end.port.as_str())?;
    Some((port, port.max_connections?))
}

/// Returns the edges that share a connection limit; empty when the port has none.
pub(crate) fn edges_sharing_limit(snapshot: &Snapshot, end: &EdgeEndpoint) -> Vec<EdgeId> {
    port_limit(snapshot, end).map_or_else(Vec::new, |_| edges_at(snapshot, end).map(|edge| edge.id).collect())
}

/// Returns the port and its limit when it has too many edges, after a change of types, a file edit or a revert.
pub(crate) fn overfull_port(snapshot: &Snapshot, end: &EdgeEndpoint) -> Option<(String, u32)> {
    let (port, most) = port_limit(snapshot, end)?;
    (edges_at(snapshot, end).count() > most as usize).then(|| (port.label.clone(), most))
}

impl AllowedConnection {
    /// Returns both ends as references for a command.
    pub fn endpoints(&self) -> (EdgeEndpointRef, EdgeEndpointRef) {
        let name =
            |end: &EdgeEndpoint| EdgeEndpointRef { node: end.node.into(), port: Some(end.port.clone()) };
        (name(&self.source), name(&self.target))
    }
}
