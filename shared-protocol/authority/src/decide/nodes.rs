//! Adding and editing nodes.

use super::{CommandDraft, draft::check_label, place, references};
use crate::{layout, rules};
use shared_protocol::{
    AddNode, Change, ElementId, Node, NodeId, NodeName, NodeRef, Placement, PropKey, PropValue, Refusal,
    RefusalCode, TypeDef, limits::MAX_PROPS_PER_NODE, text::count_noun,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(super) fn add(draft: &mut CommandDraft, add: &AddNode) -> Result<String, Refusal> {
    let board = draft.resolve_board(&add.board)?;
    let def = draft.state.registry().require(&add.type_id)?.clone();
    let parent = add.parent.as_ref().map(|parent| draft.resolve_node(parent)).transpose()?;
    rules::may_contain(&draft.state, &board, parent, &def)?;

    let label = check_label("label", add.label.as_deref().unwrap_or(&def.title))?.to_owned();
    let id = draft.new_node_id();
    let node = Node {
        id,
        board: board.id,
        type_id: def.id.clone(),
        name: name_for(draft, board.id, add, &def)?,
        label,
        parent,
        props: BTreeMap::new(),
        references: BTreeMap::new(),
        variables: BTreeSet::new(),
    };
    let summary = format!("Add {} {}", def.title, node.name);
    let room = (board.id, parent);
    let size = def.default_size();
    let at = match add.at {
        Some(at) => {
            place::check_point(at)?;
            layout::clamp_to_content(parent, at)
        }
        None => layout::find_free_place(&draft.state, room, size, None),
    };
    draft.push(Change::Node { id, before: None, after: Some(Arc::new(node)) })?;
    draft.place(id, Placement { x: at.x, y: at.y, w: size.w, h: size.h })?;
    set_props(draft, id, &def, &add.props)?;
    references::sync_parent_reference(draft, id, &def)?;
    for (key, targets) in &add.references {
        references::set(draft, id, &def, key, targets)?;
    }
    check_applies(draft, id, &def, &add.props, &add.references)?;
    layout::make_room(draft, &[id])?;
    draft.created.push(ElementId::Node(id));
    if add.name.is_none() {
        draft.assignments.names.insert(id);
    }
    if add.at.is_none() {
        draft.assignments.places.insert(id);
    }
    Ok(summary)
}

fn name_for(
    draft: &CommandDraft,
    board: shared_protocol::BoardId,
    add: &AddNode,
    def: &TypeDef,
) -> Result<NodeName, Refusal> {
    if let Some(name) = &add.name {
        check_free(draft, board, None, name)?;
        return Ok(name.clone());
    }
    let last = def.id.as_str().rsplit(['/', '.']).next().unwrap_or_default();
    let by_type = NodeName::from_words(last, &NodeName::fallback());
    let wanted =
        add.label.as_deref().map_or_else(|| by_type.clone(), |label| NodeName::from_words(label, &by_type));
    Ok(draft.free_name(board, &wanted))
}

fn check_free(
    draft: &CommandDraft,
    board: shared_protocol::BoardId,
    own: Option<NodeId>,
    name: &NodeName,
) -> Result<(), Refusal> {
    match draft.state.node_named(board, name) {
        Some(holder) if Some(holder.id) != own => Err(Refusal::new(
            RefusalCode::ValidationError,
            format!("the name `{name}` is taken on this board"),
        )
        .field("name")
        .suggest([draft.free_name(board, name).to_string()])),
        _ => Ok(()),
    }
}

/// The changes of one `UpdateNode` command.
pub(super) struct NodeEdit<'a> {
    pub(super) name: Option<&'a NodeName>,
    pub(super) label: Option<&'a str>,
    pub(super) set: &'a BTreeMap<PropKey, PropValue>,
    pub(super) unset: &'a [PropKey],
    pub(super) references: &'a BTreeMap<PropKey, Vec<NodeRef>>,
}

pub(super) fn update(
    draft: &mut CommandDraft,
    node: &NodeRef,
    edit: &NodeEdit<'_>,
) -> Result<String, Refusal> {
    let id = draft.resolve_node(node)?;
    let before = draft.node(id)?.clone();
    if let Some(name) = edit.name
        && *name != before.name
    {
        check_free(draft, before.board, Some(id), name)?;
        draft.push(Change::Name { node: id, before: before.name.clone(), after: name.clone() })?;
    }
    if let Some(label) = edit.label
        && label != before.label
    {
        let after = check_label("label", label)?.to_owned();
        draft.push(Change::Label { node: id, before: before.label.clone(), after })?;
    }
    for key in edit.unset {
        // A property that the type does not declare can always be unset.
        if let Some(def) = draft.state.type_of(&before).filter(|def| def.prop(key.as_str()).is_some()) {
            rules::require_editable(def, key)?;
        }
        if let Some(value) = draft.node(id)?.props.get(key).cloned() {
            draft.push(Change::Prop { node: id, key: key.clone(), before: Some(value), after: None })?;
        }
    }
    if !edit.set.is_empty() || !edit.references.is_empty() {
        let def = draft.type_of(&before)?;
        set_props(draft, id, &def, edit.set)?;
        for (key, targets) in edit.references {
            references::set(draft, id, &def, key, targets)?;
        }
        check_applies(draft, id, &def, edit.set, edit.references)?;
    }
    Ok(summary(&before, edit))
}

pub(super) fn set_variable(
    draft: &mut CommandDraft,
    nodes: &[NodeRef],
    key: &PropKey,
    variable: bool,
) -> Result<String, Refusal> {
    let nodes = draft.resolve_nodes(nodes)?;
    for id in &nodes {
        let node = draft.node(*id)?;
        let before = node.variables.contains(key);
        // Turning a variable back into a plain value is always allowed.
        if variable {
            rules::may_vary(&*draft.type_of(node)?, key)?;
        }
        if before != variable {
            draft.push(Change::Variable { node: *id, key: key.clone(), before, after: variable })?;
        }
    }
    let what = if variable { "a variable" } else { "a plain value" };
    match nodes[..] {
        [node] => Ok(format!("Make {key} of {} {what}", draft.node(node)?.name)),
        _ => Ok(format!("Make {key} of {} {what}", count_noun(nodes.len(), "node"))),
    }
}

fn summary(before: &Node, edit: &NodeEdit<'_>) -> String {
    let keys: Vec<&str> =
        edit.set.keys().chain(edit.unset).chain(edit.references.keys()).map(PropKey::as_str).collect();
    match (edit.name, edit.label, &keys[..]) {
        (Some(name), ..) => format!("Rename {} to {name}", before.name),
        (None, Some(label), []) => format!("Label {} {label:?}", before.name),
        (_, _, [key]) => format!("Set {key} of {}", before.name),
        (_, _, keys) => format!("Set {} properties of {}", keys.len(), before.name),
    }
}

pub(super) fn set_props(
    draft: &mut CommandDraft,
    id: NodeId,
    def: &TypeDef,
    set: &BTreeMap<PropKey, PropValue>,
) -> Result<(), Refusal> {
    let registry = draft.state.registry().clone();
    for (key, value) in set {
        let before = draft.node(id)?.props.get(key).cloned();
        // Null unsets the property.
        let after = if *value == PropValue::Null {
            rules::require_editable(def, key)?;
            None
        } else {
            rules::check_prop(&registry, def, key, value)?;
            Some(value.clone())
        };
        if before != after {
            draft.push(Change::Prop { node: id, key: key.clone(), before, after })?;
        }
    }
    let node = draft.node(id)?;
    if node.props.len() > MAX_PROPS_PER_NODE {
        return Err(Refusal::new(
            RefusalCode::LimitExceeded,
            format!("a node can have at most {MAX_PROPS_PER_NODE} properties"),
        ));
    }
    Ok(())
}

/// Refuses properties that are hidden by the other values of the node.
fn check_applies(
    draft: &CommandDraft,
    id: NodeId,
    def: &TypeDef,
    set: &BTreeMap<PropKey, PropValue>,
    references: &BTreeMap<PropKey, Vec<NodeRef>>,
) -> Result<(), Refusal> {
    let props = set.iter().filter(|(_, value)| **value != PropValue::Null).map(|(key, _)| key);
    let pointing = references.iter().filter(|(_, targets)| !targets.is_empty()).map(|(key, _)| key);
    let touched: Vec<PropKey> = props.chain(pointing).cloned().collect();
    rules::check_visible(def, draft.node(id)?, &touched)
}
