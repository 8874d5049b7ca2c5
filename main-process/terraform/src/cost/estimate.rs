//! Cost estimates of nodes: sums the priced components and reports those without a price.

use super::book::PriceBook;
use crate::settings::TerraformProjectSettings;
use authority::{Snapshot, condition_holds};
use serde_json::json;
use shared_protocol::{
    BoardId, Node, NodeId, PropKey, PropValue, TypeDef,
    registry::{CostComponent, PropKind, PropRole},
    terraform::{CostBasis, CostPart, CostView, NodeCost},
};
use std::collections::{BTreeMap, BTreeSet};

const HOURS_PER_MONTH: f64 = 730.0;

/// The key of a price book entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PriceKey {
    provider: String,
    region: String,
    service: String,
    sku: String,
    unit: String,
}

/// The cost of a board, and the prices that it lacks.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardCostEstimate {
    pub view: CostView,
    missing: BTreeSet<PriceKey>,
}

/// Estimates the monthly cost of a board.
pub fn estimate(
    snapshot: &Snapshot,
    board: BoardId,
    settings: &TerraformProjectSettings,
    book: &PriceBook,
) -> BoardCostEstimate {
    let mut missing = BTreeSet::new();
    let mut nodes: Vec<NodeCost> = snapshot
        .nodes_on(board)
        .filter_map(|node| {
            let def = snapshot.type_of(node)?;
            def.terraform_types().next()?;
            Some(estimate_resource(snapshot, def, node, settings, book, &mut missing))
        })
        .collect();
    nodes.sort_by_key(|cost| cost.node);
    let known: Vec<f64> = nodes.iter().filter_map(|cost| cost.monthly).collect();
    let count = |basis| nodes.iter().filter(|cost| cost.basis == basis).count() as u64;
    let view = CostView {
        board,
        revision: snapshot.revision(),
        currency: book.currency().map(str::to_owned),
        monthly: (!known.is_empty()).then(|| known.iter().sum()),
        priced: count(CostBasis::Priced),
        free: count(CostBasis::Free),
        usage_based: count(CostBasis::UsageBased),
        unknown: count(CostBasis::Unknown),
        nodes,
    };
    BoardCostEstimate { view, missing }
}

/// Estimates the cost of one node; `None` when it is not a resource.
pub fn estimate_one(
    snapshot: &Snapshot,
    node: NodeId,
    settings: &TerraformProjectSettings,
    book: &PriceBook,
) -> Option<NodeCost> {
    let node = snapshot.node(node)?;
    let def = snapshot.type_of(node)?;
    def.terraform_types().next()?;
    Some(estimate_resource(snapshot, def, node, settings, book, &mut BTreeSet::new()))
}

fn estimate_resource(
    snapshot: &Snapshot,
    def: &TypeDef,
    node: &Node,
    settings: &TerraformProjectSettings,
    book: &PriceBook,
    missing: &mut BTreeSet<PriceKey>,
) -> NodeCost {
    let none = |basis| NodeCost { node: node.id, basis, monthly: None, components: Vec::new() };
    let Some(model) = &def.cost else { return none(CostBasis::Unknown) };
    if model.free {
        return NodeCost { monthly: Some(0.0), ..none(CostBasis::Free) };
    }
    let applies = |component: &&CostComponent| {
        component.when.as_ref().is_none_or(|when| condition_holds(def, node, when))
    };
    let region = region_of(snapshot, node, settings);
    let provider = def.id.as_str().split('/').next().unwrap_or_default();
    let components: Vec<CostPart> = model
        .components
        .iter()
        .filter(applies)
        .map(|component| {
            let place = (provider, region.as_deref());
            let (part, price_key) = price_component(snapshot, def, node, component, place, book);
            if part.basis != CostBasis::Priced && !price_key.sku.contains('{') {
                missing.insert(price_key);
            }
            part
        })
        .collect();
    // The least certain component determines the basis; the sum of the known costs is reported with it.
    let basis = components.iter().map(|component| component.basis).max().unwrap_or(CostBasis::Unknown);
    let known: Vec<f64> = components.iter().filter_map(|component| component.monthly).collect();
    let monthly = (!known.is_empty()).then(|| known.iter().sum());
    NodeCost { node: node.id, basis, monthly, components }
}

fn price_component(
    snapshot: &Snapshot,
    def: &TypeDef,
    node: &Node,
    component: &CostComponent,
    (provider, region): (&str, Option<&str>),
    book: &PriceBook,
) -> (CostPart, PriceKey) {
    let sku = expand_sku(snapshot, node, &component.sku);
    let wanted = PriceKey {
        provider: provider.to_owned(),
        region: region.unwrap_or("*").to_owned(),
        service: component.service.clone(),
        sku: sku.clone().unwrap_or_else(|| component.sku.clone()),
        unit: component.unit.clone(),
    };
    let with = |basis| CostPart { label: component.label.clone(), basis, monthly: None, source: None };
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
                return (with(if is_usage { CostBasis::UsageBased } else { CostBasis::Unknown }), wanted);
            }
        }
    }
    let found = sku.and_then(|sku| {
        book.find(provider, region.unwrap_or("*"), &component.service, &sku, &component.unit)
    });
    let part = match found {
        None => with(CostBasis::Unknown),
        Some(price) => CostPart {
            monthly: Some(price.price * quantity),
            source: Some(format!("{}, {}", price.source, price.date)),
            ..with(CostBasis::Priced)
        },
    };
    (part, wanted)
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
    let prices: Vec<serde_json::Value> = estimates
        .missing
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
        ("currency", json!(estimates.view.currency.as_deref().unwrap_or("EUR"))),
        ("prices", json!(prices)),
    ]);
    serde_json::to_string_pretty(&lines).unwrap_or_default() + "\n"
}
