//! Translates TerraStudio names, switches and implicit resources.

use super::{board_builder::BoardBuilder, terrastudio::TerraStudioNodeBody};
use serde_json::Value as Json;
use shared_protocol::{NodeId, PropKey, PropValue, TypeId, registry::PropKind};
use std::{collections::BTreeMap, sync::Arc};

const SUBNET: &str = "azurerm/networking/subnet";
const MACHINE: &str = "azurerm/compute/virtual_machine";

pub(super) fn current_type_id(old: &str) -> &str {
    match old {
        "_annotation/general/sticky_note" => "notes/sticky",
        "_annotation/general/browser" => "notes/browser",
        "_annotation/general/client" => "notes/client",
        "_annotation/general/external_database" => "notes/external_database",
        "_annotation/general/generic_app" => "notes/application",
        "_annotation/general/mobile_device" => "notes/mobile_device",
        "_annotation/general/region" => "notes/region",
        "_annotation/general/server" => "notes/server",
        "_annotation/general/user" => "notes/user",
        "_annotation/general/user_group" => "notes/user_group",
        other => other,
    }
}

/// Returns the current property key for a TerraStudio key.
pub(super) fn current_key<'a>(type_id: &str, old: &'a str) -> &'a str {
    match (type_id, old) {
        (MACHINE, "size") => "vm_size",
        ("azurerm/compute/app_service", "client_cert_enabled") => "client_certificate_enabled",
        ("azurerm/containers/kubernetes_cluster", "rbac_enabled") => "role_based_access_control_enabled",
        ("aws/compute/instance", "metadata_http_tokens") => "http_tokens",
        ("aws/compute/instance", "metadata_http_endpoint") => "http_endpoint",
        ("aws/compute/instance", "root_block_device_size") => "root_volume_size",
        ("aws/compute/instance", "root_block_device_type") => "root_volume_type",
        ("aws/compute/security_group", "ingress_rules") => "ingress",
        ("aws/compute/security_group", "egress_rules") => "egress",
        ("azurerm/storage/queue", "storage_account_id") => "storage_account_name",
        (_, "os_type") if matches!(type_id, MACHINE | "azurerm/compute/virtual_machine_scale_set") => "os",
        ("azurerm/compute/app_service" | "azurerm/compute/function_app", "os_type") => "os",
        (_, "pep_subresources") => "pe_subresources",
        (_, old) => old,
    }
}

/// Switches that only enable other properties, with those properties.
const SWITCHES: [(&str, &[&str]); 12] = [
    ("delegation_enabled", &["delegation_service"]),
    ("identity_enabled", &["identity_type"]),
    ("oms_agent_enabled", &[]),
    ("nsg_enabled", &[]),
    ("sg_enabled", &[]),
    ("route_table_enabled", &[]),
    ("nat_gateway_enabled", &[]),
    ("pip_enabled", &[]),
    ("public_ip_enabled", &[]),
    ("boot_diagnostics_enabled", &[]),
    ("pep_dns_zone_enabled", &[]),
    ("validationErrors", &[]),
];

pub(super) fn translate_properties(drawing: &mut BoardBuilder<'_>, id: NodeId, data: &TerraStudioNodeBody) {
    let mut old = data.properties.clone();
    for (switch, governed) in SWITCHES {
        let Some(state) = old.remove(switch) else { continue };
        if state != Json::Bool(true) {
            governed.iter().for_each(|key| drop(old.remove(*key)));
        }
    }
    translate_special(drawing, id, &data.type_id, &mut old);
    let Some(def) = drawing.node(id).and_then(|node| drawing.type_def(&node.type_id)) else {
        for (key, json) in old {
            if let Ok(value) = PropValue::from_json(&json) {
                drawing.set_prop(id, &key, value);
            }
        }
        return;
    };
    let mut unknown = Vec::new();
    for (old_key, json) in old {
        let key = current_key(&data.type_id, &old_key);
        let Ok(value) = PropValue::from_json(&json) else {
            drawing.add_note(Some(id), format!("the value of {old_key} could not be read"));
            continue;
        };
        if value == PropValue::Null {
            continue;
        }
        match def.prop(key) {
            Some(prop) if prop.kind != PropKind::Reference => {
                let value = coerce_value(drawing, def, &prop.key, value);
                drawing.set_prop(id, key, value);
            }
            _ => {
                unknown.push(old_key.clone());
                drawing.set_prop(id, &old_key, value);
            }
        }
    }
    // Values that do not apply to the node are removed when they equal a default.
    if let Some(node) = drawing.node(id) {
        let hidden: Vec<PropKey> = def
            .props
            .iter()
            .filter(|prop| node.props.contains_key(&prop.key) && !authority::is_visible(def, node, prop))
            .map(|prop| prop.key.clone())
            .collect();
        let equal = |key: &PropKey| {
            let value = node.props.get(key);
            value == def.prop(key.as_str()).and_then(|prop| prop.default.as_ref())
                || value == Some(&PropValue::Bool(false))
        };
        let (quiet, loud): (Vec<PropKey>, Vec<PropKey>) = hidden.into_iter().partition(equal);
        for key in quiet {
            if let Some(node) = drawing.node_mut(id) {
                node.props.remove(&key);
            }
        }
        for key in loud {
            drawing.add_note(Some(id), format!("{key} was kept but has no effect with the other properties"));
        }
    }
    if !unknown.is_empty() {
        let message = format!("kept without effect, because no property matches: {}", unknown.join(", "));
        drawing.add_note(Some(id), message);
    }
}

/// Converts a value to a form that the property accepts; otherwise returns it unchanged, and the problems list
/// reports it.
fn coerce_value(
    drawing: &BoardBuilder<'_>,
    def: &shared_protocol::TypeDef,
    key: &PropKey,
    value: PropValue,
) -> PropValue {
    let registry = drawing.snapshot.registry();
    let takes = |value: &PropValue| authority::check_prop(registry, def, key, value).is_ok();
    let words = |text: &str| {
        let options = def.prop(key.as_str()).map(|prop| prop.options.as_slice()).unwrap_or_default();
        options
            .iter()
            .find(|choice| choice.value.eq_ignore_ascii_case(text))
            .map(|choice| choice.value.clone())
    };
    let as_option = value.as_text().and_then(words).map(PropValue::Text);
    let as_text = Some(PropValue::text(value.to_string()));
    let as_number = value.as_text().and_then(|text| PropValue::parse_json(text).ok());
    let as_list = Some(PropValue::List(vec![value.clone()]));
    let candidates = [Some(value.clone()), as_option, as_text, as_number, as_list];
    candidates.into_iter().flatten().find(|value| takes(value)).unwrap_or(value)
}

/// Translates properties with a different meaning.
fn translate_special(
    drawing: &mut BoardBuilder<'_>,
    id: NodeId,
    type_id: &str,
    old: &mut BTreeMap<String, Json>,
) {
    match type_id {
        "azurerm/compute/app_service" | "azurerm/compute/function_app" => {
            translate_runtime(drawing, id, type_id, old)
        }
        MACHINE => {
            // TerraStudio gave Windows machines a Linux image by default.
            let windows = old
                .get("os_type")
                .and_then(Json::as_str)
                .is_some_and(|os| os.eq_ignore_ascii_case("windows"));
            let publisher = old.get("image_publisher").and_then(Json::as_str).unwrap_or_default().to_owned();
            if let Some(user) = old.get("admin_username").and_then(Json::as_str).filter(|_| !windows) {
                drawing.set_prop(id, "ssh_username", PropValue::text(user));
            }
            // The SSH key of the admin user was always a variable.
            if !windows && !old.contains_key("ssh_public_key") {
                drawing.mark_as_variable(id, "ssh_public_key");
            }
            if windows {
                let image =
                    ["publisher", "offer", "sku"].map(|part| (part, old.remove(&format!("image_{part}"))));
                if publisher == "Canonical" {
                    drawing.add_note(
                        Some(id),
                        "its image was a Linux image although it runs Windows; it was replaced by the default Windows image",
                    );
                } else {
                    for (part, json) in image {
                        if let Some(text) = json.as_ref().and_then(Json::as_str) {
                            drawing.set_prop(id, &format!("windows_image_{part}"), PropValue::text(text));
                        }
                    }
                }
            }
        }
        "azurerm/containers/kubernetes_cluster"
            if old.get("http_application_routing_enabled") == Some(&Json::Bool(false)) =>
        {
            old.remove("http_application_routing_enabled");
        }
        "azurerm/security/key_vault" => {
            if let Some(model) = old.remove("access_model") {
                drawing.set_prop(id, "rbac_authorization_enabled", PropValue::Bool(model == "rbac"));
            }
        }
        _ if type_id.starts_with("aws/") => {
            // For types without a name property, the name was written as a tag.
            let named = drawing
                .node(id)
                .and_then(|node| drawing.type_def(&node.type_id))
                .is_some_and(|def| def.prop("name").is_some());
            if let Some(name) = old.get("name").and_then(Json::as_str).filter(|_| !named).map(str::to_owned) {
                old.remove("name");
                let mut tags = match old.remove("tags").and_then(|json| PropValue::from_json(&json).ok()) {
                    Some(PropValue::Object(tags)) => tags,
                    _ => BTreeMap::new(),
                };
                tags.insert(Arc::from("Name"), PropValue::text(name));
                drawing.set_prop(id, "tags", PropValue::Object(tags));
            }
        }
        _ if type_id.starts_with("_annotation/") => {
            if let Some(name) = old.remove("name").and_then(|json| json.as_str().map(str::to_owned)) {
                let key = if type_id.ends_with("sticky_note") { "text" } else { "description" };
                drawing.set_prop(id, key, PropValue::text(name));
            }
        }
        _ => {}
    }
}

/// Translates `NODE|20-lts`, or a stack and its version, to the property of that stack.
fn translate_runtime(
    drawing: &mut BoardBuilder<'_>,
    id: NodeId,
    type_id: &str,
    old: &mut BTreeMap<String, Json>,
) {
    let text =
        |json: Option<Json>| json.and_then(|json| json.as_str().map(str::to_owned)).unwrap_or_default();
    let stack = text(old.remove("runtime_stack"));
    let version = text(old.remove("runtime_version"));
    let (stack, version) = match stack.split_once('|') {
        Some((stack, version)) => (stack.to_owned(), version.to_owned()),
        None => (stack, version),
    };
    let key = match stack.to_lowercase().as_str() {
        "node" => "node_version",
        "python" => "python_version",
        "dotnet" | "dotnetcore" | "dotnet-isolated" => "dotnet_version",
        "" => "",
        other => {
            drawing.add_note(Some(id), format!("set the runtime {other} {version} manually"));
            ""
        }
    };
    if !key.is_empty() && !version.is_empty() {
        drawing.set_prop(id, key, PropValue::text(version));
    }
    if type_id.ends_with("function_app") {
        // It used the key of its storage account.
        drawing.set_prop(id, "storage_uses_managed_identity", PropValue::Bool(false));
        if old.get("enabled") == Some(&Json::Bool(true)) {
            old.remove("enabled");
        }
    }
}

/// Translates a reference: sets it under its current key, or adds the association node that it represents.
pub(super) fn translate_reference(drawing: &mut BoardBuilder<'_>, id: NodeId, old: &str, target: NodeId) {
    let Some(node) = drawing.node(id) else { return };
    let (type_id, name) = (node.type_id.clone(), node.name.to_string());
    let association = match (type_id.as_str(), old) {
        (SUBNET, "nsg_id") => Some((
            "azurerm/networking/subnet_network_security_group_association",
            "nsg",
            "network_security_group_id",
        )),
        (SUBNET, "route_table_id") => {
            Some(("azurerm/networking/subnet_route_table_association", "rt", "route_table_id"))
        }
        (SUBNET, "nat_gateway_id") => {
            Some(("azurerm/networking/subnet_nat_gateway_association", "natgw", "nat_gateway_id"))
        }
        _ => None,
    };
    if let Some((kind, suffix, key)) = association {
        let Ok(kind) = TypeId::parse(kind) else { return };
        let made = drawing.add_node(kind, &format!("{name}_{suffix}"), &format!("{name}_{suffix}"));
        if let Some(node) = drawing.node_mut(made) {
            node.parent = Some(id);
        }
        drawing.add_reference(made, "subnet_id", id);
        return drawing.add_reference(made, key, target);
    }
    let key = current_key(type_id.as_str(), old);
    let fits = drawing.type_def(&type_id).and_then(|def| def.prop(key)).is_some_and(|prop| {
        let target_type = drawing.node(target).map(|target| target.type_id.clone());
        prop.kind == PropKind::Reference
            && target_type.is_some_and(|target| prop.targets.iter().any(|pattern| pattern.matches(&target)))
    });
    if fits {
        drawing.add_reference(id, key, target);
    } else {
        let other = drawing.node(target).map(|target| target.name.to_string()).unwrap_or_default();
        drawing.add_note(
            Some(id),
            format!("{old} referred to {other}; this reference has no equivalent and was not imported"),
        );
    }
}

/// Translates edges that are nodes in Draftboard.
pub(super) fn translate_edge(drawing: &mut BoardBuilder<'_>, source: NodeId, target: NodeId) -> bool {
    let types =
        |drawing: &BoardBuilder<'_>, id: NodeId| drawing.node(id).map(|node| node.type_id.to_string());
    let ends = (types(drawing, source), types(drawing, target));
    let (Some(from), Some(to)) = ends else { return false };
    if (from.as_str(), to.as_str()) == ("aws/networking/subnet", "aws/networking/route_table") {
        let Ok(kind) = TypeId::parse("aws/networking/route_table_association") else { return false };
        let name = drawing.node(source).map(|node| format!("{}_rt", node.name)).unwrap_or_default();
        let made = drawing.add_node(kind, &name, &name);
        if let Some(node) = drawing.node_mut(made) {
            node.parent = Some(source);
        }
        drawing.add_reference(made, "subnet_id", source);
        drawing.add_reference(made, "route_table_id", target);
        return true;
    }
    false
}

/// Adds a vault secret for an output that was stored in a vault.
pub(super) fn add_vault_secret(drawing: &mut BoardBuilder<'_>, source: NodeId, vault: NodeId, output: &str) {
    let Ok(kind) = TypeId::parse("azurerm/security/key_vault_secret") else { return };
    let Some(name) = drawing.node(source).map(|node| format!("{}_{output}", node.name)) else { return };
    let made = drawing.add_node(kind, &name, &name);
    if let Some(node) = drawing.node_mut(made) {
        node.parent = Some(vault);
    }
    drawing.set_prop(made, "name", PropValue::text(name.replace('_', "-")));
    drawing.set_prop(made, "source_output", PropValue::text(output));
    drawing.add_reference(made, "key_vault_id", vault);
    drawing.add_reference(made, "source_id", source);
}

/// Returns the subnet of a machine whose network interface was implicit.
pub(super) fn implicit_interface_subnet(drawing: &BoardBuilder<'_>, id: NodeId) -> Option<NodeId> {
    let node = drawing.node(id).filter(|node| node.type_id.as_str() == MACHINE)?;
    let has_one = node.references.contains_key("network_interface_ids");
    let subnet = drawing.original_container(id)?;
    let is_subnet = drawing.node(subnet).is_some_and(|subnet| subnet.type_id.as_str() == SUBNET);
    (!has_one && is_subnet).then_some(subnet)
}

pub(super) fn add_network_interface(
    drawing: &mut BoardBuilder<'_>,
    id: NodeId,
    subnet: NodeId,
    old: &BTreeMap<String, Json>,
) {
    let Some(name) = drawing.node(id).map(|node| node.name.to_string()) else { return };
    let Ok(kind) = TypeId::parse("azurerm/networking/network_interface") else { return };
    let title = old.get("name").and_then(Json::as_str).map_or_else(|| name.clone(), str::to_owned);
    let made = drawing.add_node(kind, &format!("{name}_nic"), &format!("{name}_nic"));
    if let Some(node) = drawing.node_mut(made) {
        node.parent = Some(subnet);
    }
    drawing.set_prop(made, "name", PropValue::text(format!("{title}-nic")));
    drawing.add_reference(made, "subnet_id", subnet);
    drawing.add_reference(id, "network_interface_ids", made);
    drawing.add_note(Some(made), "the implicit network interface of the machine was added as a node");
}
