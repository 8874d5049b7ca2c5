//! Nodes and edges as agents see them: the entries of the diagram contract, with sensitive values redacted and
//! document text escaped.

use crate::escape::escape_hidden;
use crate::{AgentWorkspaceView, escape::escape_hidden_json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared_protocol::{Edge, Node, NodeId, OverrideKey, PropKey, TypeDef, secret_names::looks_secret};
use std::{borrow::Cow, collections::BTreeMap};

pub(crate) const REDACTED: &str = "[redacted]";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerDetail {
    Ids,
    Summary,
    #[default]
    Full,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum IdOrEntry<T> {
    Id(String),
    Entry(T),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeEntry<'a> {
    instance_id: NodeId,
    type_id: &'a str,
    label: Cow<'a, str>,
    terraform_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<NodeId>,
    #[serde(flatten)]
    full: Option<FullNodeFields<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FullNodeFields<'a> {
    properties: BTreeMap<&'a str, Value>,
    references: BTreeMap<&'a str, ReferenceTargetIds>,
    /// Present only for nodes that become a Terraform resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    deployment_status: Option<&'static str>,
    position: NodeEntryPosition,
    size: NodeEntryDimensions,
}

/// One target is a string, for compatibility; several are a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ReferenceTargetIds {
    One(NodeId),
    Several(Vec<NodeId>),
}

/// Relative to the top left of the container.
#[derive(Debug, Serialize)]
struct NodeEntryPosition {
    x: i32,
    y: i32,
}

#[derive(Debug, Serialize)]
struct NodeEntryDimensions {
    w: i32,
    h: i32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EdgeEntry<'a> {
    edge_id: shared_protocol::EdgeId,
    source_instance_id: NodeId,
    source_handle: &'a str,
    target_instance_id: NodeId,
    target_handle: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: Cow<'a, str>,
}

pub(crate) fn node<'a>(
    workspace: &'a AgentWorkspaceView,
    node: &'a Node,
    detail: AnswerDetail,
) -> IdOrEntry<NodeEntry<'a>> {
    if detail == AnswerDetail::Ids {
        return IdOrEntry::Id(node.id.to_string());
    }
    IdOrEntry::Entry(NodeEntry {
        instance_id: node.id,
        type_id: node.type_id.as_str(),
        label: escape_hidden(&node.label),
        terraform_name: node.name.as_str(),
        parent_id: node.parent,
        full: (detail == AnswerDetail::Full).then(|| full_fields(workspace, node)),
    })
}

fn full_fields<'a>(workspace: &'a AgentWorkspaceView, node: &'a Node) -> FullNodeFields<'a> {
    let def = workspace.snapshot.type_of(node);
    let properties =
        node.props.iter().map(|(key, value)| (key.as_str(), property(def, key, value))).collect();
    let references = node.references.iter().map(|(key, targets)| {
        let targets = match targets.as_slice() {
            [one] => ReferenceTargetIds::One(*one),
            several => ReferenceTargetIds::Several(several.to_vec()),
        };
        (key.as_str(), targets)
    });
    let place = workspace.snapshot.placement(node.id);
    FullNodeFields {
        properties,
        references: references.collect(),
        deployment_status: super::terraform::status_of(workspace, node),
        position: place
            .map_or(NodeEntryPosition { x: 0, y: 0 }, |place| NodeEntryPosition { x: place.x, y: place.y }),
        size: place.map_or(NodeEntryDimensions { w: 0, h: 0 }, |place| NodeEntryDimensions {
            w: place.w,
            h: place.h,
        }),
    }
}

/// Returns the value of a property, redacted when it is sensitive.
pub(crate) fn property(def: Option<&TypeDef>, key: &PropKey, value: &shared_protocol::PropValue) -> Value {
    let is_sensitive = match def.and_then(|def| def.prop(key.as_str())) {
        Some(prop) => prop.sensitive,
        // Without a type definition, the name decides.
        None => looks_secret(key.as_str()),
    };
    if is_sensitive {
        return Value::String(REDACTED.to_owned());
    }
    escape_hidden_json(serde_json::to_value(value).unwrap_or_default())
}

/// Returns the value of an override, redacted when it is sensitive. The path decides, because its type may no longer
/// exist.
pub(crate) fn override_value(key: &OverrideKey, value: &shared_protocol::PropValue) -> Value {
    if key.path.tokens().any(|token| looks_secret(&token)) {
        return Value::String(REDACTED.to_owned());
    }
    escape_hidden_json(serde_json::to_value(value).unwrap_or_default())
}

pub(crate) fn edge(edge: &Edge, detail: AnswerDetail) -> IdOrEntry<EdgeEntry<'_>> {
    if detail == AnswerDetail::Ids {
        return IdOrEntry::Id(edge.id.to_string());
    }
    IdOrEntry::Entry(EdgeEntry {
        edge_id: edge.id,
        source_instance_id: edge.source.node,
        source_handle: edge.source.port.as_str(),
        target_instance_id: edge.target.node,
        target_handle: edge.target.port.as_str(),
        label: escape_hidden(&edge.label),
    })
}
