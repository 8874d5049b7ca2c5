//! Generates Terraform files from a board.
//!
//! Owns: the content and order of the files, and which nodes a change affects. Must not know: where the files are
//! stored, who requested them.
//!
//! ```text
//! addresses   module, provider and name of each node     one cheap pass
//! render      one node → blocks, variables, crossings    only for nodes that a change affects
//! order       dependencies first                         per module
//! files       terraform.tf providers.tf main.tf …        assembled from the blocks
//! ```

mod addresses;
mod companions;
mod expressions;
mod files;
mod naming;
mod node_renderer;
mod order;
mod providers;
mod rendered_node;
mod values;

pub(crate) use files::MARKER;
pub use rendered_node::TerraformVariable;

use crate::settings::TerraformProjectSettings;
use addresses::{BlockAddress, BlockAddresses};
use authority::{Snapshot, TypeRegistry};
use node_renderer::{RenderContext, render};
use rendered_node::RenderedNode;
use shared_protocol::{
    BoardId, Node, NodeId, PortId, TypeId,
    terraform::{HclSpan, TerraformFindingView},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// The input of the generator.
#[derive(Debug, Clone, Copy)]
pub struct GenerateInput<'a> {
    pub snapshot: &'a Snapshot,
    pub board: BoardId,
    /// The settings of the board ([`TerraformProjectSettings::for_board`]).
    pub settings: &'a TerraformProjectSettings,
}

/// The generated files of a board, with findings and source locations.
#[derive(Debug, Clone, Default)]
pub struct GeneratedHcl {
    /// Texts by path in the folder of the board.
    pub files: BTreeMap<String, Arc<str>>,
    pub findings: Vec<TerraformFindingView>,
    /// Variables of the root module.
    pub variables: Vec<TerraformVariable>,
    /// The line ranges of the blocks of each node, in file order.
    pub spans: Vec<HclSpan>,
    /// The node of each address, as Terraform writes it (`module.m.aws_vpc.main`).
    pub addresses: BTreeMap<String, NodeId>,
}

impl GeneratedHcl {
    /// Returns the node whose block contains a line.
    pub fn node_at(&self, file: &str, line: u32) -> Option<NodeId> {
        let span =
            self.spans.iter().find(|span| span.file == file && (span.first..=span.last).contains(&line));
        span.map(|span| span.node)
    }
}

/// Generates files and caches the rendered nodes, so that the next call renders only the nodes that a change
/// affects.
#[derive(Debug, Default)]
pub struct HclGenerator {
    places: BlockAddresses,
    nodes: HashMap<NodeId, CachedNodeRender>,
    registry: Option<Arc<TypeRegistry>>,
    settings: TerraformProjectSettings,
    ordering: HashMap<(TypeId, PortId, TypeId, PortId), bool>,
    /// The number of nodes rendered by the last call.
    rendered: usize,
}

#[derive(Debug)]
struct CachedNodeRender {
    node: Arc<Node>,
    place: Arc<BlockAddress>,
    before: Vec<NodeId>,
    rendered: Arc<RenderedNode>,
}

impl HclGenerator {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of nodes rendered by the last call; the others came from the cache.
    pub fn rendered_count(&self) -> usize {
        self.rendered
    }

    pub fn generate(&mut self, input: &GenerateInput<'_>) -> GeneratedHcl {
        self.invalidate_stale(input);
        let places = BlockAddresses::resolve(input.snapshot, input.board, input.settings, &self.places);
        let before = self.ordering_dependencies(input);
        let mut nodes = HashMap::with_capacity(places.len());
        self.rendered = 0;
        for node in input.snapshot.nodes_on(input.board) {
            let Some(place) = places.get(node.id) else { continue };
            if !place.is_written() {
                continue;
            }
            let before = before.get(&node.id).cloned().unwrap_or_default();
            let kept =
                self.nodes.remove(&node.id).filter(|cached| cached.is_current(node, place, &before, &places));
            let cached = kept.unwrap_or_else(|| {
                self.rendered += 1;
                let context = RenderContext {
                    snapshot: input.snapshot,
                    settings: input.settings,
                    places: &places,
                    before: &before,
                };
                let rendered = Arc::new(render(&context, node, place));
                CachedNodeRender { node: node.clone(), place: place.clone(), before, rendered }
            });
            nodes.insert(node.id, cached);
        }
        self.nodes = nodes;
        self.places = places;
        files::assemble(input, &self.places, &self.nodes)
    }

    fn invalidate_stale(&mut self, input: &GenerateInput<'_>) {
        let registry = input.snapshot.registry();
        let same_types = self.registry.as_ref().is_some_and(|earlier| Arc::ptr_eq(earlier, registry));
        if !same_types {
            self.ordering.clear();
        }
        if !same_types || self.settings != *input.settings {
            self.nodes.clear();
            self.registry = Some(registry.clone());
            self.settings = input.settings.clone();
        }
    }

    /// Returns the nodes that must come before each node because of an edge with a `depends` rule.
    fn ordering_dependencies(&mut self, input: &GenerateInput<'_>) -> HashMap<NodeId, Vec<NodeId>> {
        let snapshot = input.snapshot;
        let mut found: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for edge in snapshot.edges_on(input.board) {
            let ends = (snapshot.node(edge.source.node), snapshot.node(edge.target.node));
            let (Some(source), Some(target)) = ends else { continue };
            let key = (
                source.type_id.clone(),
                edge.source.port.clone(),
                target.type_id.clone(),
                edge.target.port.clone(),
            );
            let orders = *self.ordering.entry(key).or_insert_with_key(|(from, out, to, into)| {
                let fits = |rule: &&shared_protocol::registry::ConnectionRule| {
                    rule.source.port == *out
                        && rule.target.port == *into
                        && rule.source.type_id.matches(from)
                        && rule.target.type_id.matches(to)
                };
                snapshot.registry().rules().iter().find(fits).is_some_and(|rule| rule.depends)
            });
            if orders {
                found.entry(target.id).or_default().push(source.id);
            }
        }
        found
    }
}

impl CachedNodeRender {
    /// Returns whether none of the inputs of the rendered blocks has changed.
    fn is_current(
        &self,
        node: &Arc<Node>,
        place: &Arc<BlockAddress>,
        before: &[NodeId],
        places: &BlockAddresses,
    ) -> bool {
        Arc::ptr_eq(&self.node, node)
            && Arc::ptr_eq(&self.place, place)
            && self.before == before
            && self
                .rendered
                .used_addresses
                .iter()
                .all(|(target, earlier)| places.get(*target).is_some_and(|place| Arc::ptr_eq(place, earlier)))
    }
}
