//! The location of each node in the configuration: Terraform type, name, module, provider.
//!
//! Computed in one cheap pass over the board. An unchanged entry keeps its `Arc`, which tells the generator what a
//! change affects: the output of a node depends on the node, on its own entry, and on the entries that it refers
//! to.

use crate::settings::TerraformProjectSettings;
use authority::Snapshot;
use shared_protocol::{
    BoardId, Node, NodeId, NodeName, PropKey, TypeDef,
    registry::{PropKind, TerraformBlockKind},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

pub(crate) const SUBSCRIPTION: &str = "azurerm/core/subscription";
pub(crate) const REGION: &str = "aws/core/region";
const SUBNET: &str = "azurerm/networking/subnet";

#[derive(Debug)]
pub(crate) struct BlockAddress {
    pub(crate) id: NodeId,
    pub(crate) block: TerraformBlockKind,
    /// The Terraform type; empty when there is none.
    pub(crate) terraform: Arc<str>,
    pub(crate) name: NodeName,
    /// The name in the files: the node name, unless an imported name is kept.
    pub(crate) label: Arc<str>,
    /// The child module; `None` for the root module.
    pub(crate) module: Option<Arc<str>>,
    /// The provider alias; `None` for the default provider.
    pub(crate) alias: Option<Arc<str>>,
    /// Overrides of the naming convention for this part of the board.
    pub(crate) environment: Option<Arc<str>>,
    pub(crate) region: Option<Arc<str>>,
    /// The direct parent subnet, when it creates private endpoints for this node.
    pub(crate) endpoint_subnet: Option<NodeId>,
    parent: Option<Arc<BlockAddress>>,
}

impl BlockAddress {
    /// Returns the address used inside the same module.
    pub(crate) fn local_address(&self) -> String {
        let (terraform, name) = (&self.terraform, &self.label);
        match self.block {
            TerraformBlockKind::Resource | TerraformBlockKind::Group | TerraformBlockKind::Verbatim => {
                format!("{terraform}.{name}")
            }
            TerraformBlockKind::Data => format!("data.{terraform}.{name}"),
            TerraformBlockKind::Module => format!("module.{name}"),
            TerraformBlockKind::Variable => format!("var.{name}"),
            TerraformBlockKind::Local => format!("local.{name}"),
            TerraformBlockKind::Output => format!("output.{name}"),
        }
    }

    /// Returns whether a block is written for this node.
    pub(crate) fn is_written(&self) -> bool {
        match self.block {
            TerraformBlockKind::Resource | TerraformBlockKind::Data => !self.terraform.is_empty(),
            TerraformBlockKind::Group => false,
            _ => true,
        }
    }

    pub(crate) fn provider(&self) -> &str {
        self.terraform.split('_').next().unwrap_or_default()
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_parent = match (&self.parent, &other.parent) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        same_parent
            && self.id == other.id
            && self.block == other.block
            && self.terraform == other.terraform
            && self.name == other.name
            && self.label == other.label
            && self.module == other.module
            && self.alias == other.alias
            && self.environment == other.environment
            && self.region == other.region
            && self.endpoint_subnet == other.endpoint_subnet
    }
}

/// The entries of all nodes on a board.
#[derive(Debug, Default)]
pub(crate) struct BlockAddresses {
    by_node: HashMap<NodeId, Arc<BlockAddress>>,
    by_address: HashMap<String, NodeId>,
    /// Nodes that represent an Azure subscription or an AWS region, by name.
    pub(crate) subscriptions: BTreeMap<NodeName, NodeId>,
    pub(crate) regions: BTreeMap<NodeName, NodeId>,
}

impl BlockAddresses {
    pub(crate) fn resolve(
        snapshot: &Snapshot,
        board: BoardId,
        settings: &TerraformProjectSettings,
        before: &Self,
    ) -> Self {
        let nodes: HashMap<NodeId, &Node> =
            snapshot.nodes_on(board).map(|node| (node.id, node.as_ref())).collect();
        let mut found = Self::default();
        for node in nodes.values() {
            match node.type_id.as_str() {
                SUBSCRIPTION => drop(found.subscriptions.insert(node.name.clone(), node.id)),
                REGION => drop(found.regions.insert(node.name.clone(), node.id)),
                _ => {}
            }
        }
        let region_is_set =
            settings.providers.get("aws").is_some_and(|arguments| arguments.contains_key("region"));
        let aliases = ProviderAliasRules {
            subscriptions: found.subscriptions.len() > 1,
            regions: found.regions.len() > 1 || (region_is_set && !found.regions.is_empty()),
        };
        found.by_node.reserve(nodes.len());
        for id in nodes.keys() {
            // Containers first: walks up to the first resolved ancestor, then back down.
            let mut path = vec![*id];
            while let Some(last) = path.last()
                && !found.by_node.contains_key(last)
            {
                match nodes.get(last).and_then(|node| node.parent) {
                    Some(parent) => path.push(parent),
                    None => break,
                }
            }
            while let Some(id) = path.pop() {
                if found.by_node.contains_key(&id) {
                    continue;
                }
                let Some(node) = nodes.get(&id) else { continue };
                let parent = node.parent.and_then(|parent| found.by_node.get(&parent).cloned());
                let around = node.parent.and_then(|parent| nodes.get(&parent).copied());
                let place = resolve_address(snapshot, node, around, parent, &aliases);
                let place = match before.by_node.get(&id) {
                    Some(earlier) if earlier.is_same(&place) => earlier.clone(),
                    _ => Arc::new(place),
                };
                if place.is_written() {
                    found.by_address.insert(place.local_address(), id);
                }
                found.by_node.insert(id, place);
            }
        }
        found
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<&Arc<BlockAddress>> {
        self.by_node.get(&node)
    }

    /// Returns the node with an address such as `aws_vpc.main`.
    pub(crate) fn node_at(&self, address: &str) -> Option<NodeId> {
        self.by_address.get(address).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_node.len()
    }
}

struct ProviderAliasRules {
    subscriptions: bool,
    regions: bool,
}

fn resolve_address(
    snapshot: &Snapshot,
    node: &Node,
    around: Option<&Node>,
    parent: Option<Arc<BlockAddress>>,
    aliases: &ProviderAliasRules,
) -> BlockAddress {
    let def = snapshot.type_of(node);
    let own = |key: &str| {
        let key = PropKey::parse(key).ok()?;
        snapshot.effective_prop(node, &key)?.as_text().filter(|text| !text.is_empty()).map(Arc::<str>::from)
    };
    let block = def.map_or(TerraformBlockKind::Resource, |def| def.block);
    let inherited = parent.as_deref();
    let module = match block {
        TerraformBlockKind::Group => Some(own("module").unwrap_or_else(|| Arc::from(node.name.as_str()))),
        _ => inherited.and_then(|parent| parent.module.clone()),
    };
    let named = || Some(Arc::<str>::from(node.name.as_str()));
    let alias = match node.type_id.as_str() {
        SUBSCRIPTION if aliases.subscriptions => named(),
        REGION if aliases.regions => named(),
        _ => inherited.and_then(|parent| parent.alias.clone()),
    };
    let is_named_group = node.type_id.as_str() == "azurerm/core/resource_group";
    let naming = |key: &str, inherited: Option<Arc<str>>| {
        if is_named_group { own(key).or(inherited) } else { inherited }
    };
    let subnet = around.filter(|around| around.type_id.as_str() == SUBNET);
    BlockAddress {
        id: node.id,
        block,
        terraform: def.map(|def| terraform_type(snapshot, def, node)).unwrap_or_default(),
        name: node.name.clone(),
        label: own("terraform_name").unwrap_or_else(|| Arc::from(node.name.as_str())),
        environment: naming("naming_env", inherited.and_then(|parent| parent.environment.clone())),
        region: naming("naming_region", inherited.and_then(|parent| parent.region.clone())),
        endpoint_subnet: subnet
            .filter(|_| def.is_some_and(|def| !def.private_endpoint.is_empty()))
            .map(|subnet| subnet.id),
        module,
        alias,
        parent,
    }
}

/// Returns the Terraform type of a node, which a property may select.
fn terraform_type(snapshot: &Snapshot, def: &TypeDef, node: &Node) -> Arc<str> {
    let by = def.terraform_by.as_ref().and_then(|by| {
        let value = snapshot.effective_prop(node, &by.prop)?.as_text()?;
        by.types.get(value)
    });
    by.or(def.terraform.as_ref()).map(|text| Arc::from(text.as_str())).unwrap_or_default()
}

pub(crate) fn is_reference(kind: PropKind) -> bool {
    kind == PropKind::Reference
}
