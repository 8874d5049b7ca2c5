//! The project graph: routes, component types and instances, and the relations between them.

use serde::{Deserialize, Serialize};

use super::common::{ComponentTypeId, InstanceId, PreviewSessionId, RouteId, SchemaVersion, SourceRef};
use super::strict::{count, object, present};

/// A node, identified by its [`GraphNodeRef`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GraphNode {
    Route {
        id: RouteId,
        path: String,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        source: Option<SourceRef>,
    },
    ComponentType {
        id: ComponentTypeId,
        display_name: String,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        source: Option<SourceRef>,
    },
    /// Belongs to one preview session.
    Instance {
        session_id: PreviewSessionId,
        instance_id: InstanceId,
        component_type_id: ComponentTypeId,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        source: Option<SourceRef>,
    },
}

impl GraphNode {
    /// The node's identity.
    pub fn node_ref(&self) -> GraphNodeRef {
        match self {
            Self::Route { id, .. } => GraphNodeRef::Route { id: id.clone() },
            Self::ComponentType { id, .. } => GraphNodeRef::ComponentType { id: id.clone() },
            Self::Instance { session_id, instance_id, .. } => {
                GraphNodeRef::Instance { session_id: session_id.clone(), instance_id: instance_id.clone() }
            }
        }
    }
}

/// The identity of a node, without its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GraphNodeRef {
    Route { id: RouteId },
    ComponentType { id: ComponentTypeId },
    Instance { session_id: PreviewSessionId, instance_id: InstanceId },
}

/// An edge; all fields together form its identity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GraphEdge {
    RouteUsesComponentType {
        route_id: RouteId,
        component_type_id: ComponentTypeId,
    },
    /// May point from a type to itself.
    ComponentTypeUsesComponentType {
        from: ComponentTypeId,
        to: ComponentTypeId,
    },
    InstanceChildOfInstance {
        session_id: PreviewSessionId,
        parent_instance_id: InstanceId,
        child_instance_id: InstanceId,
    },
}

impl GraphEdge {
    /// The nodes at both ends; they may be missing from the graph.
    pub fn ends(&self) -> [GraphNodeRef; 2] {
        match self {
            Self::RouteUsesComponentType { route_id, component_type_id } => [
                GraphNodeRef::Route { id: route_id.clone() },
                GraphNodeRef::ComponentType { id: component_type_id.clone() },
            ],
            Self::ComponentTypeUsesComponentType { from, to } => {
                [from, to].map(|id| GraphNodeRef::ComponentType { id: id.clone() })
            }
            Self::InstanceChildOfInstance { session_id, parent_instance_id, child_instance_id } => {
                [parent_instance_id, child_instance_id].map(|id| GraphNodeRef::Instance {
                    session_id: session_id.clone(),
                    instance_id: id.clone(),
                })
            }
        }
    }
}

/// The complete graph at a revision. It may be partial: edges may refer to missing nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct GraphSnapshot {
    pub schema_version: SchemaVersion,
    #[serde(deserialize_with = "count")]
    pub revision: u64,
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
}

/// The change that leads to `revision`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct GraphPatch {
    pub schema_version: SchemaVersion,
    #[serde(deserialize_with = "count")]
    pub revision: u64,
    pub ops: Vec<GraphOp>,
}

/// One step of a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "op", rename_all = "camelCase")]
pub enum GraphOp {
    /// Adds the node or replaces the node with the same identity.
    UpsertNode {
        node: GraphNode,
    },
    /// Removes the node and its edges.
    RemoveNode {
        node: GraphNodeRef,
    },
    /// Adds the edge unless it exists.
    UpsertEdge {
        edge: GraphEdge,
    },
    RemoveEdge {
        edge: GraphEdge,
    },
}

/// A query to the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all = "camelCase")]
pub enum GraphQuery {
    GetSnapshot,
    GetNode { node: QueryNodeRef },
}

/// A node that can be queried; instances cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase")]
pub enum QueryNodeRef {
    Route { id: RouteId },
    ComponentType { id: ComponentTypeId },
}

object!(GraphNode, GraphNodeRef, GraphEdge, GraphSnapshot, GraphPatch, GraphOp, GraphQuery, QueryNodeRef);
