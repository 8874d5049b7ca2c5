//! Tools that add, edit, remove and move nodes, with the arguments of the diagram contract.

use super::{CommonArguments, connections, node, node_ref, output_schema, reply, with_common};
use crate::{AgentCall, AgentWorkspaceView, SurfaceTool, ToolReply, surface::parse_arguments, tools::board};
use authority::{Snapshot, proposals::AgentCallOutcome};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared_protocol::{
    AddNode, BoardId, BoardPoint, Command, ElementId, NodeName, NodeRef, PropKey, Refusal, RefusalCode,
    TypeDef, TypeId, command::PlaceNode, registry::PropKind,
};
use std::collections::BTreeMap;

pub(super) fn all() -> Vec<SurfaceTool> {
    let text = json!({ "type": "string" });
    vec![
        SurfaceTool::guarded(
            "diagram",
            "add_resource",
            "Add resource",
            "Propose a new node. Without position, it is placed where nothing overlaps. A reference property takes an instanceId.",
            with_common::<AddResourceArguments>(),
            output_schema(
                json!({ "instanceId": text, "terraformName": text, "position": { "type": "object" } }),
            ),
            |call| propose_one(call, BoardTool::AddResource),
        ),
        SurfaceTool::guarded(
            "diagram",
            "update_resource",
            "Update resource",
            "Propose new property values for a node. Only the given keys change; null removes a value.",
            with_common::<UpdateResourceArguments>(),
            output_schema(json!({ "instanceId": text })),
            |call| propose_one(call, BoardTool::UpdateResource),
        ),
        SurfaceTool::guarded(
            "diagram",
            "remove_resource",
            "Remove resource",
            "Propose to remove a node with its content, its edges and the references to it.",
            with_common::<RemoveResourceArguments>(),
            output_schema(json!({ "instanceId": text })),
            |call| propose_one(call, BoardTool::RemoveResource),
        ),
        SurfaceTool::guarded(
            "diagram",
            "move_resource",
            "Move resource",
            "Propose a new position, size or container for a node. parentId: null moves it to the top level of the board.",
            with_common::<MoveResourceArguments>(),
            output_schema(json!({ "instanceId": text, "position": { "type": "object" } })),
            |call| propose_one(call, BoardTool::MoveResource),
        ),
    ]
}

// A batch may contain these tools.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum BoardTool {
    AddResource,
    UpdateResource,
    RemoveResource,
    MoveResource,
    ConnectResources,
    DisconnectResources,
}

/// Runs one call of one of these tools.
async fn propose_one(call: AgentCall, tool: BoardTool) -> Result<ToolReply, Refusal> {
    let (common, own) = CommonArguments::split(&call)?;
    let state = common.state(&call)?;
    let asked = CommandTranslator { workspace: call.workspace()?, state: &state };
    let commands = asked.commands(tool, &own)?;
    let outcome = common.propose(&call, commands).await?;
    reply(&call, &outcome, own_fields(&outcome, &own))
}

/// Returns the tool's own fields of the answer.
fn own_fields(outcome: &AgentCallOutcome, own: &JsonObject) -> Value {
    let Some(step) = &outcome.response.step else { return json!({}) };
    let node = match step.created.first() {
        Some(ElementId::Node(id)) => step.state.node(*id),
        _ => own
            .get("instanceId")
            .and_then(Value::as_str)
            .and_then(|named| node(&step.state, None, named, "").ok()),
    };
    match node {
        Some(node) => json!({
            "instanceId": node.id,
            "terraformName": node.name,
            "position": step.state.placement(node.id).map(|at| json!({ "x": at.x, "y": at.y })),
        }),
        None => json!({ "instanceId": own.get("instanceId") }),
    }
}

/// Translates calls into commands, on the workspace with the draft applied.
pub(super) struct CommandTranslator<'a> {
    pub(super) workspace: &'a AgentWorkspaceView,
    pub(super) state: &'a Snapshot,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PositionArgument {
    x: f64,
    y: f64,
}

impl PositionArgument {
    /// Rounds to whole units. The core refuses values out of bounds.
    fn point(self) -> BoardPoint {
        BoardPoint { x: self.x.round() as i32, y: self.y.round() as i32 }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AddResourceArguments {
    type_id: String,
    #[serde(default)]
    #[schemars(with = "JsonObject")]
    properties: BTreeMap<PropKey, shared_protocol::PropValue>,
    position: Option<PositionArgument>,
    /// container node
    parent_id: Option<String>,
    /// name or id; default: the board of the container, otherwise the active board
    board: Option<String>,
    label: Option<String>,
    /// Terraform name
    #[schemars(with = "Option<String>")]
    name: Option<NodeName>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UpdateResourceArguments {
    instance_id: String,
    #[schemars(with = "JsonObject")]
    properties: BTreeMap<PropKey, shared_protocol::PropValue>,
    label: Option<String>,
    #[schemars(with = "Option<String>")]
    name: Option<NodeName>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RemoveResourceArguments {
    instance_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MoveResourceArguments {
    instance_id: String,
    #[schemars(extend("nullable" = true))]
    parent_id: Option<String>,
    position: Option<PositionArgument>,
    size: Option<SizeArgument>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SizeArgument {
    w: f64,
    h: f64,
}

type SplitProperties = (BTreeMap<PropKey, shared_protocol::PropValue>, BTreeMap<PropKey, Vec<NodeRef>>);

impl CommandTranslator<'_> {
    pub(super) fn commands(&self, tool: BoardTool, own: &JsonObject) -> Result<Vec<Command>, Refusal> {
        match tool {
            BoardTool::AddResource => self.add(parse_arguments(own)?),
            BoardTool::UpdateResource => self.update(parse_arguments(own)?),
            BoardTool::RemoveResource => {
                let RemoveResourceArguments { instance_id } = parse_arguments(own)?;
                let nodes = vec![node_ref(&instance_id, "instanceId")?];
                Ok(vec![Command::Remove { nodes, edges: Vec::new() }])
            }
            BoardTool::MoveResource => self.relocate(own),
            BoardTool::ConnectResources => Ok(vec![connections::connect(own)?]),
            BoardTool::DisconnectResources => Ok(vec![connections::disconnect(own)?]),
        }
    }

    fn add(&self, add: AddResourceArguments) -> Result<Vec<Command>, Refusal> {
        let def = self.type_named(&add.type_id)?;
        let parent = add.parent_id.as_deref().map(|named| node_ref(named, "parentId")).transpose()?;
        // A container that the same batch creates does not exist yet.
        let container =
            add.parent_id.as_deref().and_then(|named| node(self.state, None, named, "parentId").ok());
        let board: BoardId = match (&add.board, container) {
            (None, Some(container)) => container.board,
            (named, _) => board::find_in(self.workspace, self.state, named.as_deref())?.id,
        };
        let (props, references) = split_references(def, add.properties)?;
        let type_id = def.id.clone();
        let at = add.position.map(PositionArgument::point);
        let (name, label) = (add.name, add.label);
        Ok(vec![Command::AddNode(AddNode {
            board: board.into(),
            type_id,
            parent,
            at,
            name,
            label,
            props,
            references,
        })])
    }

    fn type_named(&self, text: &str) -> Result<&TypeDef, Refusal> {
        let registry = self.state.registry();
        let unknown = || {
            let known = registry.types().map(|def| def.id.as_str());
            Refusal::new(
                RefusalCode::NotFound,
                format!("Type `{}` was not found in the registry", crate::escape_hidden(text)),
            )
            .field("typeId")
            .suggest(authority::similar(text, known))
            .hint("Call get_available_resource_types to list the types.")
        };
        let id: TypeId = text.parse().map_err(|_| unknown())?;
        registry.get(&id).ok_or_else(unknown)
    }

    fn update(&self, update: UpdateResourceArguments) -> Result<Vec<Command>, Refusal> {
        let named = node_ref(&update.instance_id, "instanceId")?;
        let known = node(self.state, None, &update.instance_id, "instanceId").ok();
        let (set, references) = match known.and_then(|node| self.state.type_of(node)) {
            Some(def) => split_references(def, update.properties)?,
            // A node that the same batch creates, or one of an unknown type: the core reports the problem.
            None => (update.properties, BTreeMap::new()),
        };
        let (name, label) = (update.name, update.label);
        Ok(vec![Command::UpdateNode { node: named, name, label, set, unset: Vec::new(), references }])
    }

    fn relocate(&self, own: &JsonObject) -> Result<Vec<Command>, Refusal> {
        let MoveResourceArguments { instance_id, parent_id, position, size } = parse_arguments(own)?;
        let named = node_ref(&instance_id, "instanceId")?;
        let mut commands = Vec::new();
        // Null is a value here, so it is distinguished from an omitted argument.
        if own.contains_key("parentId") {
            let parent = parent_id.map(|text| node_ref(&text, "parentId")).transpose()?;
            commands.push(Command::Reparent {
                nodes: vec![named.clone()],
                parent,
                delta: BoardPoint::default(),
            });
        }
        if position.is_some() || size.is_some() {
            let here = node(self.state, None, &instance_id, "instanceId")
                .ok()
                .and_then(|node| self.state.placement(node.id))
                .map(|place| BoardPoint { x: place.x, y: place.y });
            let at = position.map(PositionArgument::point).or(here).unwrap_or_default();
            let (w, h) = size.map(|size| (size.w.round() as i32, size.h.round() as i32)).unzip();
            commands.push(Command::Place { items: vec![PlaceNode { node: named, x: at.x, y: at.y, w, h }] });
        }
        if commands.is_empty() {
            return Err(
                Refusal::new(RefusalCode::BadRequest, "Give position, size or parentId").field("position")
            );
        }
        Ok(commands)
    }
}

/// Splits properties into values and references to nodes.
fn split_references(
    def: &TypeDef,
    properties: BTreeMap<PropKey, shared_protocol::PropValue>,
) -> Result<SplitProperties, Refusal> {
    let (mut props, mut references) = (BTreeMap::new(), BTreeMap::new());
    for (key, value) in properties {
        let is_reference = def.prop(key.as_str()).is_some_and(|prop| prop.kind == PropKind::Reference);
        if !is_reference {
            props.insert(key, value);
            continue;
        }
        let target = |value: &shared_protocol::PropValue| match value {
            shared_protocol::PropValue::Text(text) => node_ref(text, key.as_str()),
            _ => Err(Refusal::new(
                RefusalCode::ReferenceError,
                format!("{key} must be an instanceId or a list of instanceIds"),
            )
            .field(key.as_str())),
        };
        let targets = match &value {
            shared_protocol::PropValue::Null => Vec::new(),
            shared_protocol::PropValue::List(items) => items.iter().map(target).collect::<Result<_, _>>()?,
            one => vec![target(one)?],
        };
        references.insert(key, targets);
    }
    Ok((props, references))
}
