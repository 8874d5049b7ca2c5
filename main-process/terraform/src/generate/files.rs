//! Assembles the files of the root module and its child modules from the rendered nodes.

use super::{
    CachedNodeRender, GenerateInput, GeneratedHcl,
    addresses::BlockAddresses,
    node_renderer::COMMON_TAGS,
    order::order,
    providers::{self, ProviderUses},
    rendered_node::TerraformVariable,
};
use crate::hcl::{HclBody, HclExpression, HclStatement};
use shared_protocol::{
    NodeId,
    terraform::{HclSpan, TerraformFindingView},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// The first line of every generated file. Files without it are foreign and never changed.
pub(crate) const MARKER: &str =
    "# Made by Draftboard. Changes here are overwritten: edit the board instead.\n";

const GITIGNORE_LINES: &str = ".terraform/\n*.tfstate\n*.tfstate.*\n*.tfplan\ncrash.log\n";

/// A module under construction.
#[derive(Default)]
struct HclModuleBuilder {
    nodes: Vec<(String, NodeId)>,
    variables: BTreeMap<String, TerraformVariable>,
    outputs: BTreeMap<String, HclBody>,
    locals: BTreeMap<String, HclExpression>,
    /// The arguments that the root passes to a child, by variable name.
    inputs: BTreeMap<String, HclExpression>,
    uses: ProviderUses,
    /// The provider aliases that need a client config data source; `None` is the default provider.
    clients: BTreeSet<Option<Arc<str>>>,
    common_tags: bool,
}

pub(super) fn assemble(
    input: &GenerateInput<'_>,
    places: &BlockAddresses,
    cached: &HashMap<NodeId, CachedNodeRender>,
) -> GeneratedHcl {
    let mut generated = GeneratedHcl::default();
    let mut modules: BTreeMap<Option<Arc<str>>, HclModuleBuilder> = BTreeMap::new();
    modules.insert(None, HclModuleBuilder::default());
    for (id, cached) in sorted_by_id(cached) {
        collect(id, cached, &mut modules, &mut generated);
    }
    lift_variables(&mut modules, &mut generated);
    check_values(input, &modules, &mut generated);
    let mut calls = Vec::new();
    let names: Vec<Arc<str>> = modules.keys().flatten().cloned().collect();
    for name in &names {
        let Some(module) = modules.remove(&Some(name.clone())) else { continue };
        let folder = format!("modules/{name}/");
        write_module(&module, &folder, Some(name), cached, &mut generated, &[]);
        if let Some(text) = providers::module_file(input, &module.uses) {
            generated.files.insert(format!("{folder}terraform.tf"), Arc::from(text));
        }
        let root = modules.entry(None).or_default();
        for (provider, aliases) in &module.uses {
            root.uses.entry(provider.clone()).or_default().extend(aliases.iter().cloned());
        }
        root.common_tags |= module.common_tags;
        calls.push(module_call(name, &module).to_block("module", &[name]));
    }
    let Some(mut root) = modules.remove(&None) else { return generated };
    if root.common_tags {
        let tags = input.settings.tags.iter().map(|(key, value)| (key.clone(), HclExpression::text(value)));
        root.locals.insert(COMMON_TAGS.to_owned(), HclExpression::Map(tags.collect()));
    }
    write_module(&root, "", None, cached, &mut generated, &calls);
    let mut put = |name: &str, text: String| drop(generated.files.insert(name.to_owned(), Arc::from(text)));
    put("terraform.tf", providers::terraform_file(input, &root.uses));
    if let Some(text) = providers::providers_file(input, places, &root.uses) {
        put("providers.tf", text);
    }
    if let Some((values, example)) = values_files(input, &root) {
        if !values.is_empty() {
            put("terraform.tfvars", format!("{MARKER}\n{values}"));
        }
        put("terraform.tfvars.example", format!("{MARKER}\n{example}"));
    }
    put(".gitignore", format!("{MARKER}{GITIGNORE_LINES}"));
    generated.variables = root.variables.into_values().collect();
    generated.findings.sort_by(|one, other| {
        (one.severity, one.node, &one.message).cmp(&(other.severity, other.node, &other.message))
    });
    generated
}

fn sorted_by_id(cached: &HashMap<NodeId, CachedNodeRender>) -> Vec<(NodeId, &CachedNodeRender)> {
    let mut all: Vec<(NodeId, &CachedNodeRender)> = cached.iter().map(|(id, cached)| (*id, cached)).collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    all
}

fn collect(
    id: NodeId,
    cached: &CachedNodeRender,
    modules: &mut BTreeMap<Option<Arc<str>>, HclModuleBuilder>,
    generated: &mut GeneratedHcl,
) {
    let (place, rendered) = (&cached.place, &cached.rendered);
    generated.findings.extend(rendered.findings.iter().cloned());
    let prefix = place.module.as_ref().map(|module| format!("module.{module}.")).unwrap_or_default();
    for (address, _) in &rendered.blocks {
        let address = format!("{prefix}{address}");
        if let Some(other) = generated.addresses.insert(address.clone(), id) {
            let message =
                format!("`{address}` is defined twice, here and by {other}: rename one of the nodes");
            generated.findings.push(TerraformFindingView::error(id, None, message));
        }
    }
    let module = modules.entry(place.module.clone()).or_default();
    if !rendered.blocks.is_empty() {
        module.nodes.push((place.local_address(), id));
        providers::record_provider_use(&mut module.uses, place);
    }
    for variable in &rendered.variables {
        if module.variables.insert(variable.name.clone(), variable.clone()).is_some() {
            let message = format!("duplicate variable `{}`: rename one of the nodes", variable.name);
            generated.findings.push(TerraformFindingView::error(id, None, message));
        }
    }
    for (name, body) in &rendered.outputs {
        module.outputs.insert(name.clone(), body.clone());
    }
    module.locals.extend(rendered.locals.iter().cloned());
    module.common_tags |= rendered.common_tags;
    if rendered.uses_client_config {
        module.clients.insert(place.alias.clone());
    }
    for crossing in &rendered.crossings {
        if let Some(from) = &crossing.from {
            let mut body = HclBody::default();
            body.add_argument("value", HclExpression::raw(&crossing.source));
            if crossing.sensitive {
                body.add_argument("sensitive", HclExpression::raw("true"));
            }
            modules.entry(Some(from.clone())).or_default().outputs.insert(crossing.name.clone(), body);
        }
        if let Some(to) = &crossing.to {
            let given = match &crossing.from {
                Some(from) => format!("module.{from}.{}", crossing.name),
                None => crossing.source.clone(),
            };
            let module = modules.entry(Some(to.clone())).or_default();
            let mut variable = TerraformVariable::new(
                crossing.name.clone(),
                crossing.kind,
                "Set by the calling module.".to_owned(),
            );
            variable.sensitive = crossing.sensitive;
            let taken = module.variables.get(&crossing.name).is_some_and(|other| other.node.is_some());
            if taken {
                let message =
                    format!("duplicate variable `{}` in one module: rename one of the nodes", crossing.name);
                generated.findings.push(TerraformFindingView::error(id, None, message));
            }
            module.variables.entry(crossing.name.clone()).or_insert(variable);
            module.inputs.insert(crossing.name.clone(), HclExpression::raw(given));
        }
    }
}

/// Declares the variables of child modules in the root and passes them on. The default stays in the root only.
fn lift_variables(modules: &mut BTreeMap<Option<Arc<str>>, HclModuleBuilder>, generated: &mut GeneratedHcl) {
    let mut upwards = Vec::new();
    for (name, module) in modules.iter_mut() {
        if name.is_none() {
            continue;
        }
        for variable in module.variables.values_mut() {
            if variable.node.is_some() {
                upwards.push(variable.clone());
                variable.default = None;
                module
                    .inputs
                    .insert(variable.name.clone(), HclExpression::raw(format!("var.{}", variable.name)));
            }
        }
    }
    let root = modules.entry(None).or_default();
    for variable in upwards {
        let (name, node) = (variable.name.clone(), variable.node);
        if let (Some(_), Some(node)) = (root.variables.insert(name.clone(), variable), node) {
            let message = format!("duplicate variable `{name}`: rename one of the nodes");
            generated.findings.push(TerraformFindingView::error(node, None, message));
        }
    }
}

fn check_values(
    input: &GenerateInput<'_>,
    modules: &BTreeMap<Option<Arc<str>>, HclModuleBuilder>,
    generated: &mut GeneratedHcl,
) {
    let Some(root) = modules.get(&None) else { return };
    for name in input.settings.values.keys() {
        let message = match root.variables.get(name) {
            None => {
                format!("draftboard.toml sets a value for `{name}`, which is not a variable of this board")
            }
            Some(variable) if variable.sensitive => format!(
                "draftboard.toml contains a value for the sensitive variable `{name}`, which is not written to a file: \
                 set TF_VAR_{name} when you run Terraform, and remove the value from draftboard.toml"
            ),
            Some(_) => continue,
        };
        generated.findings.push(TerraformFindingView::warning(None, message));
    }
}

fn module_call(name: &str, module: &HclModuleBuilder) -> HclBody {
    let mut body = HclBody::default();
    body.add_argument("source", HclExpression::text(&format!("./modules/{name}")));
    let aliases: Vec<(String, HclExpression)> = module
        .uses
        .iter()
        .flat_map(|(provider, aliases)| aliases.iter().map(move |alias| format!("{provider}.{alias}")))
        .map(|name| (name.clone(), HclExpression::raw(name)))
        .collect();
    if !aliases.is_empty() {
        body.items.push(HclStatement::Gap);
        body.add_argument("providers", HclExpression::raw(provider_map(&aliases)));
    }
    if module.common_tags || !module.inputs.is_empty() {
        body.items.push(HclStatement::Gap);
    }
    if module.common_tags {
        body.add_argument(COMMON_TAGS, HclExpression::raw(format!("local.{COMMON_TAGS}")));
    }
    for (name, value) in &module.inputs {
        body.add_argument(name, value.clone());
    }
    body
}

/// Provider references are unquoted on both sides.
fn provider_map(aliases: &[(String, HclExpression)]) -> String {
    let widest = aliases.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        aliases.iter().map(|(name, _)| format!("    {name:widest$} = {name}\n")).collect();
    format!("{{\n{}  }}", lines.concat())
}

fn write_module(
    module: &HclModuleBuilder,
    folder: &str,
    name: Option<&Arc<str>>,
    cached: &HashMap<NodeId, CachedNodeRender>,
    generated: &mut GeneratedHcl,
    calls: &[String],
) {
    let main = format!("{folder}main.tf");
    let mut text = MARKER.to_owned();
    let mut line: u32 = 2;
    let mut append = |block: &str, node: Option<NodeId>, spans: &mut Vec<HclSpan>| {
        text.push('\n');
        text.push_str(block);
        let lines = u32::try_from(block.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX);
        if let Some(node) = node {
            spans.push(HclSpan {
                file: main.clone(),
                first: line + 1,
                last: line.saturating_add(lines),
                node,
            });
        }
        line = line.saturating_add(lines).saturating_add(1);
    };
    for alias in &module.clients {
        let mut body = HclBody::default();
        if let Some(alias) = alias {
            body.add_argument("provider", HclExpression::raw(format!("azurerm.{alias}")));
        }
        let block = body.to_block("data", &["azurerm_client_config", alias.as_deref().unwrap_or("current")]);
        append(&block, None, &mut generated.spans);
    }
    for node in order(module.nodes.clone(), cached, &mut generated.findings) {
        let Some(cached) = cached.get(&node) else { continue };
        for (_, block) in &cached.rendered.blocks {
            append(block, Some(node), &mut generated.spans);
        }
    }
    for call in calls {
        append(call, None, &mut generated.spans);
    }
    let is_empty = module.nodes.is_empty() && module.clients.is_empty() && calls.is_empty();
    if !is_empty {
        generated.files.insert(main, Arc::from(text));
    }
    let mut put = |file: &str, blocks: Vec<String>| {
        if !blocks.is_empty() {
            let text = format!("{MARKER}\n{}", blocks.join("\n"));
            generated.files.insert(format!("{folder}{file}"), Arc::from(text));
        }
    };
    let mut variables: Vec<String> = Vec::new();
    if name.is_some() && module.common_tags {
        let tags = TerraformVariable::new(
            COMMON_TAGS.to_owned(),
            "map(string)",
            "Tags of all resources.".to_owned(),
        );
        variables.push(tags.to_block());
    }
    variables.extend(module.variables.values().map(TerraformVariable::to_block));
    put("variables.tf", variables);
    put("outputs.tf", module.outputs.iter().map(|(name, body)| body.to_block("output", &[name])).collect());
    if !module.locals.is_empty() {
        let mut body = HclBody::default();
        for (name, value) in &module.locals {
            body.add_argument(name, value.clone());
        }
        put("locals.tf", vec![body.to_block("locals", &[])]);
    }
}

/// Returns `terraform.tfvars` with the values of the project, and an example file with every variable.
fn values_files(input: &GenerateInput<'_>, root: &HclModuleBuilder) -> Option<(String, String)> {
    if root.variables.is_empty() {
        return None;
    }
    let mut values = HclBody::default();
    let mut example = String::new();
    for (name, variable) in &root.variables {
        let given = input.settings.values.get(name).filter(|_| !variable.sensitive);
        if let Some(value) = given {
            values.add_argument(name, HclExpression::from_value(value));
        }
        let (shown, remark) = match (given, &variable.default) {
            _ if variable.sensitive => {
                (HclExpression::text(""), format!("sensitive: set TF_VAR_{name} instead"))
            }
            (Some(value), _) => (HclExpression::from_value(value), String::new()),
            (None, Some(default)) => (default.clone(), "the default".to_owned()),
            (None, None) => (HclExpression::text(""), "required".to_owned()),
        };
        if !remark.is_empty() {
            example.push_str(&format!("# {name}: {remark}\n"));
        }
        let mut line = String::new();
        let mut body = HclBody::default();
        body.add_argument(name, shown);
        body.write(&mut line, 0);
        let is_given = given.is_some() && !variable.sensitive;
        for line in line.lines() {
            if is_given {
                example.push_str(&format!("{line}\n"));
            } else {
                example.push_str(&format!("# {line}\n"));
            }
        }
        example.push('\n');
    }
    let mut text = String::new();
    values.write(&mut text, 0);
    Some((text, example.trim_end().to_owned() + "\n"))
}
