//! Dropping a card on an edge inserts it there, if the rules allow both halves.

use super::PointerSample;
use crate::{BoardScene, camera::rect_of, index::BoardIndex, index::DrawnNodeKind};
use authority::decide;
use shared_protocol::{Command, EdgeEndpointRef, EdgeId, NodeId, NodeRef, Placement};

/// The maximum distance of an edge from the middle of the card, on the board and on the screen.
const INSERT_DISTANCE: f32 = 14.0;

/// The edge under a card and the cached check of its insertion.
#[derive(Default)]
pub(crate) struct EdgeInsertion {
    /// The last checked edge, and the commands that insert the card there.
    checked: Option<(EdgeId, Option<Vec<Command>>)>,
    on: bool,
}

impl EdgeInsertion {
    /// Checks whether the card is over an edge.
    pub(crate) fn update(
        &mut self,
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        node: NodeId,
        area: Placement,
        moment: PointerSample,
    ) {
        self.on = false;
        if index.slot(node).is_none_or(|slot| slot.kind != DrawnNodeKind::Card) {
            return;
        }
        let Some(edge) = edge_under(index, node, area, moment.zoom) else { return };
        if self.checked.as_ref().is_none_or(|(asked, _)| *asked != edge) {
            self.checked = Some((edge, insert_commands(scene, node, edge)));
        }
        self.on = true;
    }

    pub(crate) fn clear(&mut self) {
        self.on = false;
    }

    /// Returns the edge that would be replaced.
    pub(crate) fn edge(&self) -> Option<EdgeId> {
        self.checked.as_ref().filter(|(_, commands)| self.on && commands.is_some()).map(|(edge, _)| *edge)
    }

    /// Returns the commands that replace the edge, if there is one.
    pub(crate) fn commands(self) -> Option<Vec<Command>> {
        self.checked.filter(|_| self.on).and_then(|(_, commands)| commands)
    }
}

fn edge_under(index: &BoardIndex, node: NodeId, area: Placement, zoom: f32) -> Option<EdgeId> {
    let middle = rect_of(area).center();
    let reach = INSERT_DISTANCE.max(INSERT_DISTANCE / zoom).min(area.h as f32 / 2.0);
    let mut found = Vec::new();
    index.edges_in(area, &mut found);
    found
        .iter()
        .map(|&place| index.edge(place))
        .filter(|slot| slot.source != node && slot.target != node)
        .map(|slot| (slot.route.distance_to(middle), slot.id))
        .filter(|(distance, _)| *distance <= reach)
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .map(|(_, id)| id)
}

/// Returns the commands that insert a node into an edge, if the authority accepts them.
fn insert_commands(scene: &BoardScene<'_>, node: NodeId, edge: EdgeId) -> Option<Vec<Command>> {
    let edge = scene.snapshot.edge(edge)?;
    let end = |end: &shared_protocol::EdgeEndpoint| EdgeEndpointRef {
        node: NodeRef::Id(end.node),
        port: Some(end.port.clone()),
    };
    let own = || EdgeEndpointRef { node: NodeRef::Id(node), port: None };
    let commands = vec![
        Command::Remove { nodes: Vec::new(), edges: vec![edge.id] },
        Command::Connect { source: end(&edge.source), target: own(), label: edge.label.clone() },
        Command::Connect { source: own(), target: end(&edge.target), label: String::new() },
    ];
    let whole = Command::Batch { summary: None, commands: commands.clone() };
    decide(scene.snapshot, &whole, 0).ok().map(|_| commands)
}
