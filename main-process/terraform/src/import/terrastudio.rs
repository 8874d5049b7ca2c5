//! Imports the folder of a TerraStudio project: `<name>.tstudio` and `diagrams/main.json`.

use super::{ImportError, ImportedBoard, MAX_IMPORTED_RESOURCES, board_builder::BoardBuilder, translate};
use crate::settings::{Backend, NamingConvention};
use authority::Snapshot;
use serde::Deserialize;
use serde_json::Value as Json;
use shared_protocol::{BoardName, NodeId, PropValue, TypeId};
use std::collections::{BTreeMap, HashMap};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TerraStudioProject {
    #[serde(default)]
    name: String,
    #[serde(default)]
    project_config: TerraStudioConfig,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct TerraStudioConfig {
    provider_configs: BTreeMap<String, BTreeMap<String, Json>>,
    common_tags: BTreeMap<String, Json>,
    variable_values: BTreeMap<String, Json>,
    naming_convention: Option<TerraStudioNaming>,
    backend: Option<TerraStudioBackend>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct TerraStudioNaming {
    enabled: bool,
    template: String,
    env: String,
    region: Option<String>,
    org: Option<String>,
}

#[derive(Deserialize)]
struct TerraStudioBackend {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    config: BTreeMap<String, Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TerraStudioDiagram {
    #[serde(default)]
    nodes: Vec<TerraStudioNode>,
    #[serde(default)]
    edges: Vec<TerraStudioEdge>,
    #[serde(default)]
    modules: Vec<TerraStudioModule>,
    #[serde(default)]
    module_instances: Vec<Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TerraStudioNode {
    id: String,
    #[serde(default)]
    parent_id: Option<String>,
    data: TerraStudioNodeBody,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TerraStudioNodeBody {
    pub(super) type_id: String,
    #[serde(default)]
    pub(super) properties: BTreeMap<String, Json>,
    #[serde(default)]
    references: BTreeMap<String, Json>,
    #[serde(default)]
    terraform_name: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    display_label: Option<String>,
    #[serde(default)]
    naming_slug: Option<String>,
    #[serde(default)]
    variable_overrides: BTreeMap<String, String>,
    #[serde(default)]
    enabled_outputs: Vec<String>,
    #[serde(default)]
    module_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TerraStudioEdge {
    source: String,
    target: String,
    #[serde(default)]
    source_handle: Option<String>,
    #[serde(default)]
    target_handle: Option<String>,
    #[serde(default)]
    data: Option<TerraStudioEdgeBody>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TerraStudioEdgeBody {
    label: Option<String>,
}

#[derive(Deserialize)]
struct TerraStudioModule {
    id: String,
    name: String,
}

/// Reads the two files of a project as a new board. `seed` is the source of ids.
pub fn read_terrastudio(
    snapshot: &Snapshot,
    project: &str,
    diagram: &str,
    name: BoardName,
    seed: u64,
) -> Result<ImportedBoard, ImportError> {
    let malformed = |file: &str, error: serde_json::Error| ImportError::Malformed {
        file: file.to_owned(),
        message: error.to_string(),
    };
    let project: TerraStudioProject =
        serde_json::from_str(project).map_err(|error| malformed("the .tstudio file", error))?;
    let diagram: TerraStudioDiagram =
        serde_json::from_str(diagram).map_err(|error| malformed("diagrams/main.json", error))?;
    if diagram.nodes.len() > MAX_IMPORTED_RESOURCES {
        return Err(ImportError::TooMuch { what: "nodes", most: MAX_IMPORTED_RESOURCES });
    }
    let mut drawing = BoardBuilder::new(snapshot, name, &project.name, seed);
    let mut ids: HashMap<&str, NodeId> = HashMap::new();
    for old in diagram.nodes.iter().filter(|old| !is_synthetic(old)) {
        if let Some(id) = import_node(&mut drawing, old) {
            ids.insert(&old.id, id);
        }
    }
    for old in &diagram.nodes {
        let parent = old.parent_id.as_deref().and_then(|parent| ids.get(parent).copied());
        if let (Some(&id), Some(parent)) = (ids.get(old.id.as_str()), parent) {
            drawing.record_original_container(id, parent);
            place_in_container(&mut drawing, id, parent);
        }
    }
    for old in &diagram.nodes {
        let Some(&id) = ids.get(old.id.as_str()) else { continue };
        for (key, target) in &old.data.references {
            match target.as_str().and_then(|target| ids.get(target)) {
                Some(&target) => translate::translate_reference(&mut drawing, id, key, target),
                None => drawing.add_note(Some(id), format!("{key} refers to a missing node")),
            }
        }
        for output in &old.data.enabled_outputs {
            add_output(&mut drawing, id, output);
        }
        if let Some(subnet) = translate::implicit_interface_subnet(&drawing, id) {
            translate::add_network_interface(&mut drawing, id, subnet, &old.data.properties);
        }
    }
    for edge in &diagram.edges {
        connect(&mut drawing, &ids, edge);
    }
    group_modules(&mut drawing, &diagram, &ids);
    if !diagram.module_instances.is_empty() {
        let message = format!(
            "{} instances of module templates were not imported: add a module call for each",
            diagram.module_instances.len()
        );
        drawing.add_note(None, message);
    }
    import_settings(&mut drawing, project.project_config, &diagram.nodes, &ids);
    drawing.finish()
}

fn is_synthetic(old: &TerraStudioNode) -> bool {
    let prefixes = ["_mod_", "_modinst_", "_instmem_"];
    prefixes.iter().any(|prefix| old.id.starts_with(prefix)) || old.data.type_id.starts_with("_terrastudio/")
}

fn import_node(drawing: &mut BoardBuilder<'_>, old: &TerraStudioNode) -> Option<NodeId> {
    let data = &old.data;
    let type_id = TypeId::parse(translate::current_type_id(&data.type_id)).ok()?;
    let label = data.display_label.as_deref().unwrap_or(&data.label);
    let wanted = if data.terraform_name.is_empty() { label } else { &data.terraform_name };
    let id = drawing.add_node(type_id.clone(), wanted, label);
    if drawing.type_def(&type_id).is_none() {
        drawing.add_note(Some(id), format!("unknown type `{type_id}`; the node keeps its properties"));
    }
    translate::translate_properties(drawing, id, data);
    if let Some(slug) = &data.naming_slug {
        drawing.set_prop(id, "slug", PropValue::text(slug.as_str()));
    }
    for (key, mode) in &data.variable_overrides {
        if mode == "variable" {
            let key = translate::current_key(&data.type_id, key);
            drawing.mark_as_variable(id, key);
        }
    }
    Some(id)
}

/// Places a node in its original container, or in the nearest ancestor that its type allows.
fn place_in_container(drawing: &mut BoardBuilder<'_>, id: NodeId, parent: NodeId) {
    let mut around = Some(parent);
    while let Some(candidate) = around {
        if drawing.may_stand_in(id, candidate) && !drawing.is_within(candidate, id) {
            if let Some(node) = drawing.node_mut(id) {
                node.parent = Some(candidate);
            }
            return;
        }
        around = drawing.node(candidate).and_then(|node| node.parent);
    }
    // A node of unknown type stays in its original container.
    let unknown = drawing.node(id).is_some_and(|node| drawing.type_def(&node.type_id).is_none());
    if unknown
        && !drawing.is_within(parent, id)
        && let Some(node) = drawing.node_mut(id)
    {
        node.parent = Some(parent);
    }
}

fn add_output(drawing: &mut BoardBuilder<'_>, id: NodeId, output: &str) {
    let Ok(type_id) = TypeId::parse("terraform/core/output") else { return };
    let Some(name) = drawing.node(id).map(|node| format!("{}_{output}", node.name)) else { return };
    let made = drawing.add_node(type_id, &name, &name);
    drawing.set_prop(made, "source_output", PropValue::text(output));
    drawing.add_reference(made, "source_id", id);
}

fn connect(drawing: &mut BoardBuilder<'_>, ids: &HashMap<&str, NodeId>, edge: &TerraStudioEdge) {
    let ends = (ids.get(edge.source.as_str()), ids.get(edge.target.as_str()));
    let (Some(&source), Some(&target)) = ends else { return };
    let label = edge.data.as_ref().and_then(|data| data.label.clone()).unwrap_or_default();
    let output = edge.source_handle.as_deref().and_then(|handle| handle.strip_prefix("out-"));
    if let (Some(output), Some("secret-in")) = (output, edge.target_handle.as_deref()) {
        return translate::add_vault_secret(drawing, source, target, output);
    }
    if translate::translate_edge(drawing, source, target) {
        return;
    }
    if !drawing.connect(source, target, &label) {
        drawing.add_note(Some(source), "an edge has no equivalent and was not imported");
    }
}

/// Groups the members of a module. Members with different parents get several groups with the same module name.
fn group_modules(drawing: &mut BoardBuilder<'_>, diagram: &TerraStudioDiagram, ids: &HashMap<&str, NodeId>) {
    for module in &diagram.modules {
        let members: Vec<NodeId> = diagram
            .nodes
            .iter()
            .filter(|old| old.data.module_id.as_deref() == Some(&module.id))
            .filter_map(|old| ids.get(old.id.as_str()).copied())
            .collect();
        let mut groups: BTreeMap<Option<NodeId>, NodeId> = BTreeMap::new();
        for &member in &members {
            let parent = drawing.node(member).and_then(|node| node.parent);
            if parent.is_some_and(|parent| members.contains(&parent)) {
                continue;
            }
            let holder = match groups.get(&parent) {
                Some(group) => *group,
                None => {
                    let Ok(type_id) = TypeId::parse("terraform/core/group") else { return };
                    let group = drawing.add_node(type_id, &module.name.replace('-', "_"), &module.name);
                    drawing.set_prop(group, "module", PropValue::text(module.name.as_str()));
                    if let Some(node) = drawing.node_mut(group) {
                        node.parent = parent;
                    }
                    groups.insert(parent, group);
                    group
                }
            };
            if let Some(node) = drawing.node_mut(member) {
                node.parent = Some(holder);
            }
        }
        note_implicit_members(drawing, &members, diagram, ids);
    }
}

/// Adds notes for nodes inside a module member that are not members themselves: they join the module because of
/// their container.
fn note_implicit_members(
    drawing: &mut BoardBuilder<'_>,
    members: &[NodeId],
    diagram: &TerraStudioDiagram,
    ids: &HashMap<&str, NodeId>,
) {
    for old in &diagram.nodes {
        let Some(&id) = ids.get(old.id.as_str()) else { continue };
        if old.data.module_id.is_some() || members.contains(&id) {
            continue;
        }
        let parent = drawing.node(id).and_then(|node| node.parent);
        if parent.is_some_and(|parent| members.contains(&parent)) {
            let message = "it is inside a member of a module and therefore belongs to the module";
            drawing.add_note(Some(id), message);
        }
    }
}

fn import_settings(
    drawing: &mut BoardBuilder<'_>,
    config: TerraStudioConfig,
    nodes: &[TerraStudioNode],
    ids: &HashMap<&str, NodeId>,
) {
    let value = |json: &Json| PropValue::from_json(json).ok().filter(|value| *value != PropValue::Null);
    let text = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    drawing.settings.tags = config.common_tags.iter().map(|(key, json)| (key.clone(), text(json))).collect();
    for (provider, arguments) in &config.provider_configs {
        let kept: BTreeMap<String, PropValue> = arguments
            .iter()
            .filter(|(key, json)| *key != "features" && !json.is_object())
            .filter_map(|(key, json)| Some((key.clone(), value(json)?)))
            .collect();
        if !kept.is_empty() {
            drawing.settings.providers.insert(provider.clone(), kept);
        }
    }
    drawing.settings.naming =
        config.naming_convention.filter(|naming| naming.enabled).map(|naming| NamingConvention {
            template: naming.template,
            env: naming.env,
            region: naming.region.unwrap_or_default(),
            org: naming.org.unwrap_or_default(),
        });
    drawing.settings.backend = config.backend.map(|backend| Backend {
        kind: backend.kind,
        config: backend.config.iter().filter_map(|(key, json)| Some((key.clone(), value(json)?))).collect(),
    });
    // Variable names follow the current property names.
    let mut renamed: HashMap<String, String> = HashMap::new();
    for old in nodes {
        let Some(node) = ids.get(old.id.as_str()).and_then(|id| drawing.node(*id)) else { continue };
        for key in old.data.variable_overrides.keys() {
            let new = format!("{}_{}", node.name, translate::current_key(&old.data.type_id, key));
            renamed.insert(format!("{}_{key}", old.data.terraform_name), new);
        }
    }
    drawing.settings.values = config
        .variable_values
        .iter()
        .filter_map(|(name, json)| Some((renamed.get(name).unwrap_or(name).clone(), value(json)?)))
        .collect();
}
