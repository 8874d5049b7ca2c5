//! Cost estimates of nodes: sums the priced components and reports those without a price.

use super::book::PriceBook;
use crate::settings::TerraformProjectSettings;
use authority::{Snapshot, condition_holds};
use serde_json::json;
use shared_protocol::{
    BoardId, Node, NodeId, PropKey, PropValue, TypeDef,
    registry::{CostComponent, PropKind, PropRole},
};
use std::collections::{BTreeMap, BTreeSet};

const HOURS_PER_MONTH: f64 = 730.0;

/// The basis of an estimate, from most to least certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EstimateBasis {
    /// All components have a price.
    Priced,
    /// The resource is free.
    Free,
    /// The cost depends on usage that is not specified.
    UsageBased,
    /// A price or the cost model is missing.
    Unknown,
}

impl EstimateBasis {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Priced => "priced",
            Self::Free => "free",
            Self::UsageBased => "usage-based",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ComponentEstimate {
    pub label: String,
    pub basis: EstimateBasis,
    /// Monthly cost; `None` unless priced.
    pub monthly: Option<f64>,
    /// The source and date of the price.
    pub source: Option<(String, String)>,
    /// The price book entry that this component needs.
    pub price_key: PriceKey,
}

/// The key of a price book entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PriceKey {
    pub provider: String,
    pub region: String,
    pub service: String,
    pub sku: String,
    pub unit: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CostEstimate {
    pub node: NodeId,
    pub basis: EstimateBasis,
    /// Monthly cost of the priced components; `None` when there is none.
    pub monthly: Option<f64>,
    pub components: Vec<ComponentEstimate>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostTotal {
    /// The sum of all known costs.
    pub monthly: f64,
    pub priced: usize,
    pub free: usize,
    pub usage_based: usize,
    pub unknown: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BoardCostEstimate {
    /// `None` while no price is known.
    pub currency: Option<String>,
    pub nodes: Vec<CostEstimate>,
    pub total: CostTotal,
}

/// Estimates the monthly cost of a board.
pub fn estimate(
    snapshot: &Snapshot,
    board: BoardId,
    settings: &TerraformProjectSettings,
    book: &PriceBook,
) -> BoardCostEstimate {
    let mut nodes: Vec<CostEstimate> = snapshot
        .nodes_on(board)
        .filter_map(|node| {
            let def = snapshot.type_of(node)?;
            def.terraform_types().next()?;
            Some(estimate_resource(snapshot, def, node, settings, book))
        })
        .collect();
    nodes.sort_by_key(|estimate| estimate.node);
    let mut total = CostTotal::default();
    for estimate in &nodes {
        total.monthly += estimate.monthly.unwrap_or(0.0);
        match estimate.basis {
            EstimateBasis::Priced => total.priced += 1,
            EstimateBasis::Free => total.free += 1,
            EstimateBasis::UsageBased => total.usage_based += 1,
            EstimateBasis::Unknown => total.unknown += 1,
        }
    }
    BoardCostEstimate { currency: book.currency().map(str::to_owned), nodes, total }
}

/// Estimates the cost of one node; `None` when it is not a resource.
pub fn estimate_one(
    snapshot: &Snapshot,
    node: NodeId,
    settings: &TerraformProjectSettings,
    book: &PriceBook,
) -> Option<CostEstimate> {
    let node = snapshot.node(node)?;
    let def = snapshot.type_of(node)?;
    def.terraform_types().next()?;
    Some(estimate_resource(snapshot, def, node, settings, book))
}

fn estimate_resource(
    snapshot: &Snapshot,
    def: &TypeDef,
    node: &Node,
    settings: &TerraformProjectSettings,
    book: &PriceBook,
) -> CostEstimate {
    let none = |basis| CostEstimate { node: node.id, basis, monthly: None, components: Vec::new() };
    let Some(model) = &def.cost else { return none(EstimateBasis::Unknown) };
    if model.free {
        return CostEstimate { monthly: Some(0.0), ..none(EstimateBasis::Free) };
    }
    let applies = |component: &&CostComponent| {
        component.when.as_ref().is_none_or(|when| condition_holds(def, node, when))
    };
    let region = region_of(snapshot, node, settings);
    let provider = def.id.as_str().split('/').next().unwrap_or_default();
    let components: Vec<ComponentEstimate> = model
        .components
        .iter()
        .filter(applies)
        .map(|component| price_component(snapshot, def, node, component, (provider, region.as_deref()), book))
        .collect();
    // The least certain component determines the basis; the sum of the known costs is reported with it.
    let basis = components.iter().map(|component| component.basis).max().unwrap_or(EstimateBasis::Unknown);
    let known: Vec<f64> = components.iter().filter_map(|component| component.monthly).collect();
    let monthly = (!known.is_empty()).then(|| known.iter().sum());
    CostEstimate { node: node.id, basis, monthly, components }
}

fn price_component(
    snapshot: &Snapshot,
    def: &TypeDef,
    node: &Node,
    component: &CostComponent,
    (provider, region): (&str, Option<&str>),
    book: &PriceBook,
) -> ComponentEstimate {
    let sku = expand_sku(snapshot, node, &component.sku);
    let wanted = PriceKey {
        provider: provider.to_owned(),
        region: region.unwrap_or("*").to_owned(),
        service: component.service.clone(),
        sku: sku.clone().unwrap_or_else(|| component.sku.clone()),
        unit: component.unit.clone(),
    };
    let with = |basis| ComponentEstimate {
        label: component.label.clone(),
        basis,
        monthly: None,
        source: None,
        price_key: wanted.clone(),
    };
    let hours = if component.unit == "hour" { HOURS_PER_MONTH } else { 1.0 };
    let mut quantity = hours;
    for factor in &component.factors {
        match factor_value(snapshot, node, factor) {
            Some(number) => quantity *= number,
            None => {
                let is_usage = factor
                    .as_text()
                    .and_then(|key| def.prop(key))
                    .is_some_and(|prop| prop.role == PropRole::Usage);
                return with(if is_usage { EstimateBasis::UsageBased } else { EstimateBasis::Unknown });
            }
        }
    }
    let found = sku.and_then(|sku| {
        book.find(provider, region.unwrap_or("*"), &component.service, &sku, &component.unit)
    });
    match found {
        None => with(EstimateBasis::Unknown),
        Some(price) => ComponentEstimate {
            monthly: Some(price.price * quantity),
            source: Some((price.source.clone(), price.date.clone())),
            ..with(EstimateBasis::Priced)
        },
    }
}

fn factor_value(snapshot: &Snapshot, node: &Node, factor: &PropValue) -> Option<f64> {
    match factor {
        PropValue::Number(number) => Some(number.get()),
        PropValue::Text(key) => {
            let value = snapshot.effective_prop(node, &PropKey::parse(key.clone()).ok()?)?;
            value.as_number().or_else(|| value.as_text()?.parse().ok())
        }
        _ => None,
    }
}

/// Replaces `{key}` in a SKU name with the value of a property; `None` when a property has no value.
fn expand_sku(snapshot: &Snapshot, node: &Node, template: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (key, behind) = after.split_once('}')?;
        out.push_str(before);
        let value = snapshot.effective_prop(node, &PropKey::parse(key).ok()?)?;
        match value {
            PropValue::List(items) => out.push_str(&items.first()?.to_string()),
            other => out.push_str(&other.to_string()),
        }
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

/// Returns the region of the node, of its nearest container that has one, or of the provider.
fn region_of(snapshot: &Snapshot, node: &Node, settings: &TerraformProjectSettings) -> Option<String> {
    let keys = ["location", "region"].map(|key| PropKey::parse(key).ok());
    let own = |node: &Node| {
        keys.iter().flatten().find_map(|key| {
            let def = snapshot.type_of(node)?.prop(key.as_str())?;
            let value = snapshot.effective_prop(node, key).filter(|_| def.kind != PropKind::Reference)?;
            value.as_text().filter(|text| !text.is_empty()).map(str::to_owned)
        })
    };
    let provider = node.type_id.as_str().split('/').next().unwrap_or_default();
    let set = || {
        let arguments = settings.providers.get(provider)?;
        arguments.get("region").or_else(|| arguments.get("location"))?.as_text().map(str::to_owned)
    };
    std::iter::once(node).chain(snapshot.ancestors(node.parent)).find_map(own).or_else(set)
}

/// Returns a price book template with an entry for every missing price.
pub fn describe_missing(estimates: &BoardCostEstimate) -> String {
    let components = estimates.nodes.iter().flat_map(|estimate| &estimate.components);
    let wanted: BTreeSet<&PriceKey> = components
        .filter(|component| {
            component.basis != EstimateBasis::Priced && !component.price_key.sku.contains('{')
        })
        .map(|component| &component.price_key)
        .collect();
    let prices: Vec<serde_json::Value> = wanted
        .iter()
        .map(|line| {
            json!({
                "provider": line.provider, "region": line.region, "service": line.service, "sku": line.sku,
                "unit": line.unit, "price": null, "source": "", "date": "",
            })
        })
        .collect();
    let lines: BTreeMap<&str, serde_json::Value> = BTreeMap::from([
        ("format", json!(1)),
        ("currency", json!(estimates.currency.as_deref().unwrap_or("EUR"))),
        ("prices", json!(prices)),
    ]);
    serde_json::to_string_pretty(&lines).unwrap_or_default() + "\n"
}
