//! Maps of bundles: boards whose nodes stand for entities and whose edges stand for their references. A map is drawn on request;
//! from then on labels, edges and removed entities follow the bundle, in the operation that changes it.

mod sketch;

use super::{SpecBundles, view::title};
use authority::Snapshot;
use bundles::{Bundle, BundleEntity};
use shared_protocol::{
    Board, BoardId, BoardKind, BoardName, Change, Edge, Node, NodeId, Refusal, RefusalCode,
    bundle::EntityRef, limits::MAX_LABEL_CHARS,
};
use sketch::{MapSketch, TYPE};
use std::collections::{BTreeMap, BTreeSet};

/// The size of a map.
const MAX_MAP_NODES: usize = 2_000;
const MAX_MAP_EDGES: usize = 6_000;
/// The distance from an entity that a map may cover.
const MAX_MAP_DEPTH: u32 = 10;

/// The board of a map, and the changes that draw it.
pub(crate) struct MapDrawing {
    pub(crate) board: BoardId,
    pub(crate) summary: String,
    pub(crate) changes: Vec<Change>,
}

/// Draws a bundle, or the neighbourhood of an entity, onto the board of that scope. Adds the board if it does not exist.
pub(super) fn draw(
    state: &Snapshot,
    bundle: &Bundle,
    around: Option<&BundleEntity>,
    depth: u32,
    seed: u64,
) -> Result<MapDrawing, Refusal> {
    let shown = scope(bundle, around, depth)?;
    let scope_title = around.map_or_else(
        || bundle.manifest().metadata("name").unwrap_or(bundle.id()).to_owned(),
        |entity| format!("{} {}", entity.entity_type(), entity.id()),
    );
    let mut sketch = MapSketch::new(state, seed);
    let name = board_name(bundle, around).ok_or_else(|| {
        Refusal::new(RefusalCode::BadRequest, format!("no board can be named after {}", bundle.id()))
    })?;
    let (board, is_new) = sketch.board(&name, &format!("Map of {scope_title}"))?;
    let wanted: BTreeSet<EntityRef> = shown.iter().map(|entity| reference(bundle, entity)).collect();
    let there = entities_on(&sketch.state, board);
    let gone: Vec<NodeId> =
        there.iter().filter(|(entity, _)| !wanted.contains(entity)).map(|(_, node)| *node).collect();
    sketch.remove(&gone)?;
    for entity in &shown {
        match there.get(&reference(bundle, entity)) {
            Some(node) => sketch.relabel(*node, &label(entity))?,
            None => sketch.add(board, &reference(bundle, entity), &label(entity))?,
        }
    }
    let nodes = entities_on(&sketch.state, board);
    connect(&mut sketch, bundle, &nodes, |_| true)?;
    if is_new {
        sketch.arrange(nodes.values().copied())?;
    }
    Ok(MapDrawing { board, summary: format!("Draw the map of {scope_title}"), changes: sketch.changes })
}

/// The entities of a map. A map that is too large to read is refused.
fn scope<'a>(
    bundle: &'a Bundle,
    around: Option<&'a BundleEntity>,
    depth: u32,
) -> Result<Vec<&'a BundleEntity>, Refusal> {
    let shown: Vec<&BundleEntity> = match around {
        None => bundle.entities().take(MAX_MAP_NODES + 1).collect(),
        Some(start) => bundle.neighbourhood(start, depth.clamp(1, MAX_MAP_DEPTH) as usize, MAX_MAP_NODES + 1),
    };
    let ids: BTreeSet<&str> = shown.iter().map(|entity| entity.id()).collect();
    let edges = shown.iter().flat_map(|entity| bundle.outgoing(entity));
    let edges = edges.filter(|edge| ids.contains(edge.to_id)).take(MAX_MAP_EDGES + 1).count();
    if shown.len() <= MAX_MAP_NODES && edges <= MAX_MAP_EDGES {
        return Ok(shown);
    }
    let message = format!(
        "a map shows {MAX_MAP_NODES} entities and {MAX_MAP_EDGES} references at most; this map would exceed that"
    );
    Err(Refusal::new(RefusalCode::LimitExceeded, message)
        .hint("Draw a map around one entity, or use a smaller depth."))
}

/// The name identifies a map: one for the bundle, one for each entity.
fn board_name(bundle: &Bundle, around: Option<&BundleEntity>) -> Option<BoardName> {
    let words = format!("map {} {}", bundle.id(), around.map_or("", BundleEntity::id));
    let short: String = words.chars().take(60).collect();
    // A name begins with a letter, and other characters than letters and digits become separators.
    BoardName::from_words(&short)
}

fn reference(bundle: &Bundle, entity: &BundleEntity) -> EntityRef {
    super::view::reference(bundle, entity)
}

/// A title on one line.
fn label(entity: &BundleEntity) -> String {
    let plain = title(entity).chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    plain.trim().chars().take(MAX_LABEL_CHARS).collect()
}

/// The entity that a node stands for.
fn entity_of(node: &Node) -> Option<EntityRef> {
    let text = |key: &str| node.props.get(key).and_then(|value| value.as_text()).map(str::to_owned);
    (node.type_id.as_str() == TYPE).then_some(())?;
    Some(EntityRef { bundle: text("bundle")?, entity_type: text("entityType")?, id: text("entityId")? })
}

fn entities_on(state: &Snapshot, board: BoardId) -> BTreeMap<EntityRef, NodeId> {
    state.nodes_on(board).filter_map(|node| Some((entity_of(node)?, node.id))).collect()
}

/// Makes the edges of some entities match the bundle. Edges with other labels were drawn by a person, and stay.
fn connect(
    sketch: &mut MapSketch,
    bundle: &Bundle,
    nodes: &BTreeMap<EntityRef, NodeId>,
    concerns: impl Fn(&EntityRef) -> bool,
) -> Result<(), Refusal> {
    let ours: BTreeSet<NodeId> = nodes.values().copied().collect();
    for (entity, &node) in nodes.iter().filter(|(entity, _)| entity.bundle == bundle.id() && concerns(entity))
    {
        let Some(found) = bundle.entity(&entity.entity_type, &entity.id) else { continue };
        let mut wanted: BTreeMap<NodeId, BTreeSet<&str>> = BTreeMap::new();
        for edge in bundle.outgoing(found).filter(|edge| edge.to_id != found.id()) {
            let target = EntityRef {
                bundle: bundle.id().to_owned(),
                entity_type: edge.to_type.to_owned(),
                id: edge.to_id.to_owned(),
            };
            if let Some(target) = nodes.get(&target) {
                wanted.entry(*target).or_default().insert(edge.field);
            }
        }
        let fields: BTreeSet<String> =
            bundle.reference_fields(&entity.entity_type).into_iter().map(|(field, _)| field).collect();
        let is_ours = |edge: &Edge| edge.label.split(", ").all(|part| fields.contains(part));
        let there: Vec<Edge> = sketch
            .state
            .edges_of(node)
            .filter(|edge| edge.source.node == node && ours.contains(&edge.target.node))
            .cloned()
            .collect();
        for edge in there {
            match wanted.remove(&edge.target.node) {
                Some(fields) if is_ours(&edge) => sketch.relabel_edge(&edge, &join_fields(&fields))?,
                None if is_ours(&edge) => sketch.disconnect(&edge)?,
                _ => {}
            }
        }
        for (target, fields) in wanted {
            sketch.connect(node, target, &join_fields(&fields))?;
        }
    }
    Ok(())
}

fn join_fields(fields: &BTreeSet<&str>) -> String {
    let all = fields.iter().copied().collect::<Vec<_>>().join(", ");
    all.chars().take(MAX_LABEL_CHARS).collect()
}

/// The entities of a bundle that an operation touched.
#[derive(Default)]
struct TouchedEntities {
    /// A definition of the bundle changed, which may concern every entity.
    all: bool,
    ids: BTreeSet<String>,
    /// Entities whose file cannot be read at the moment. They are not removed.
    unreadable: BTreeSet<String>,
}

/// The changes of maps that follow from changes of bundles. `state` has the changes already; held boards stay as they are.
pub(super) fn map_changes(
    state: &Snapshot,
    before: &SpecBundles,
    after: &SpecBundles,
    changes: &[Change],
    is_held: impl Fn(BoardId) -> bool,
    seed: u64,
) -> Result<Vec<Change>, Refusal> {
    let mut sketch = MapSketch::new(state, seed);
    for (id, touched) in touched_maps(before, after, changes) {
        let Some(bundle) = after.loaded.get(&id) else { continue };
        let concerns = |entity: &EntityRef| {
            entity.bundle == id
                && !touched.unreadable.contains(&entity.id)
                && (touched.all || touched.ids.contains(&entity.id))
        };
        let boards: Vec<BoardId> = sketch
            .state
            .boards()
            .filter(|board: &&std::sync::Arc<Board>| board.kind == BoardKind::Spec && !is_held(board.id))
            .map(|board| board.id)
            .collect();
        for board in boards {
            let nodes = entities_on(&sketch.state, board);
            let mut gone = Vec::new();
            for (entity, node) in nodes.iter().filter(|(entity, _)| concerns(entity)) {
                match bundle.entity(&entity.entity_type, &entity.id) {
                    Some(found) => sketch.relabel(*node, &label(found))?,
                    // A broken definition or schema is usually a mistake that is corrected soon.
                    None if !touched.all => gone.push(*node),
                    None => {}
                }
            }
            sketch.remove(&gone)?;
            if !nodes.is_empty() {
                let nodes = entities_on(&sketch.state, board);
                connect(&mut sketch, bundle, &nodes, concerns)?;
            }
        }
    }
    Ok(sketch.changes)
}

fn touched_maps(
    before: &SpecBundles,
    after: &SpecBundles,
    changes: &[Change],
) -> BTreeMap<String, TouchedEntities> {
    let mut found: BTreeMap<String, TouchedEntities> = BTreeMap::new();
    for change in changes {
        let Change::Source { path, after: text, .. } = change else { continue };
        for (folder, place) in &after.places {
            let within = path.as_str().strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
            let Some(within) = within else { continue };
            let ids = |bundles: &SpecBundles| -> Option<Vec<String>> {
                let ids = bundles.loaded.get(&place.id)?.ids_in(within)?;
                Some(ids.into_iter().map(str::to_owned).collect())
            };
            let touched = found.entry(place.id.clone()).or_default();
            match (ids(before), ids(after)) {
                (Some(old), Some(new)) if new.is_empty() && text.is_some() => touched.unreadable.extend(old),
                (Some(old), Some(new)) => touched.ids.extend(old.into_iter().chain(new)),
                _ => touched.all = true,
            }
        }
    }
    found
}
