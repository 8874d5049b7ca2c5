//! Text that is being typed. The focused field has a buffer keyed by its subject and part, so that a change from
//! outside never fights the cursor and another node never shows text typed for this one.
//!
//! [`interpret`] is the only place that gives a text its meaning: it validates while a person types and makes the
//! command when they finish.

use super::overrides;
use crate::view::FrameView;
use authority::check_prop;
use egui::Id;
use shared_protocol::text::sentence;
use shared_protocol::{
    BoardId, BoardName, Command, EdgeId, Node, NodeId, NodeName, PropKey, PropValue, TypeDef,
    limits::MAX_LABEL_CHARS,
    registry::{PropDef, PropKind},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum InspectorSubject {
    Nodes(Vec<NodeId>),
    /// A component in its own preview, or a part of it, named as in overrides.
    Alone(String),
    Edge(EdgeId),
    Board(BoardId),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldPart {
    Label,
    Name,
    Prop(PropKey),
    ListItem(PropKey, usize),
    NewListItem(PropKey),
    TagKey(PropKey, Arc<str>),
    TagValue(PropKey, Arc<str>),
    NewTag(PropKey),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InspectorField {
    pub(crate) subject: InspectorSubject,
    pub(crate) part: FieldPart,
}

/// The buffer of the focused field.
#[derive(Debug)]
pub(crate) struct FieldEdit {
    pub(crate) field: InspectorField,
    pub(crate) widget: Id,
    pub(crate) text: String,
    pub(crate) began_with: String,
    /// The reason that the text is not valid.
    pub(crate) problem: Option<String>,
}

impl FieldEdit {
    pub(crate) fn is_changed(&self) -> bool {
        self.text != self.began_with
    }
}

/// The change that a text makes, or what is wrong with it.
pub(crate) fn interpret(view: &FrameView<'_>, field: &InspectorField, text: &str) -> Result<Command, String> {
    match (&field.subject, &field.part) {
        (InspectorSubject::Edge(edge), _) => {
            Ok(Command::UpdateEdge { edge: *edge, label: check_label(text)? })
        }
        (InspectorSubject::Board(board), FieldPart::Name) => {
            let name = BoardName::parse(text.trim()).map_err(|error| sentence(&error.to_string()))?;
            if view.snapshot.board_named(&name).is_some_and(|other| other.id != *board) {
                return Err(format!("Another board is already named {name}."));
            }
            Ok(Command::UpdateBoard { board: (*board).into(), title: None, name: Some(name) })
        }
        (InspectorSubject::Board(board), _) => {
            let title = check_label(text)?;
            if title.is_empty() {
                return Err("A board needs a title.".to_owned());
            }
            Ok(Command::UpdateBoard { board: (*board).into(), title: Some(title), name: None })
        }
        (InspectorSubject::Nodes(nodes), FieldPart::Label) => {
            let label = check_label(text)?;
            Ok(for_each(nodes, |node| NodeUpdate { label: Some(label.clone()), ..NodeUpdate::new(node) }))
        }
        (InspectorSubject::Nodes(nodes), FieldPart::Name) => {
            let name = NodeName::parse(text.trim()).map_err(|error| sentence(&error.to_string()))?;
            let node = nodes.first().and_then(|id| view.snapshot.node(*id)).ok_or("The node was deleted.")?;
            if view.snapshot.node_named(node.board, &name).is_some_and(|other| other.id != node.id) {
                return Err(format!("Another node on this board is already named {name}."));
            }
            Ok(for_each(nodes, |node| NodeUpdate { name: Some(name.clone()), ..NodeUpdate::new(node) }))
        }
        (InspectorSubject::Nodes(nodes), part) => {
            let node = nodes.first().and_then(|id| view.snapshot.node(*id)).ok_or("The node was deleted.")?;
            interpret_prop(view, nodes, node, part, text)
        }
        (InspectorSubject::Alone(instance), part) => {
            let view = &FrameView { is_overriding: true, ..*view };
            let is_shown = view.isolated_component().is_some_and(|alone| alone.instance == *instance);
            let node = overrides::as_node(view).filter(|_| is_shown);
            let node = node.ok_or("The preview shows another component now.")?;
            interpret_prop(view, &[node.id], &node, part, text)
        }
    }
}

fn interpret_prop(
    view: &FrameView<'_>,
    nodes: &[NodeId],
    node: &Node,
    part: &FieldPart,
    text: &str,
) -> Result<Command, String> {
    let def = overrides::part_type(view).or_else(|| view.snapshot.type_of(node));
    let def = def.ok_or("The type of this node is unknown.")?;
    let key = match part {
        FieldPart::Prop(key) | FieldPart::ListItem(key, _) | FieldPart::NewListItem(key) => key,
        FieldPart::TagKey(key, _) | FieldPart::TagValue(key, _) | FieldPart::NewTag(key) => key,
        FieldPart::Label | FieldPart::Name => return Err("Not a property.".to_owned()),
    };
    let prop = def.prop(key.as_str()).ok_or("The type no longer has this property.")?;
    let value = match part {
        FieldPart::Prop(_) => parse(prop, text)?,
        // An empty list is removed.
        _ => Some(edit_parts(view, node, part, key, text)?)
            .filter(|value| !matches!(value, PropValue::List(items) if items.is_empty())),
    };
    set(view, nodes, def, key, value)
}

/// Sets a value on all these nodes, validated as in the authority.
pub(crate) fn set(
    view: &FrameView<'_>,
    nodes: &[NodeId],
    def: &TypeDef,
    key: &PropKey,
    value: Option<PropValue>,
) -> Result<Command, String> {
    if let Some(value) = &value {
        check_prop(view.snapshot.registry(), def, key, value).map_err(|refusal| {
            let label = def.prop(key.as_str()).map_or(key.as_str(), |prop| prop.label.as_str());
            let about = format!("{label} of {}: ", def.title);
            sentence(refusal.message.strip_prefix(&about).unwrap_or(&refusal.message))
        })?;
    }
    if view.is_overriding {
        return Ok(overrides::set_override(view, nodes, key, value));
    }
    Ok(for_each(nodes, |node| match &value {
        Some(value) => NodeUpdate { set: [(key.clone(), value.clone())].into(), ..NodeUpdate::new(node) },
        None => NodeUpdate { unset: vec![key.clone()], ..NodeUpdate::new(node) },
    }))
}

/// Sets the targets of a reference on all these nodes.
pub(crate) fn set_references_command(nodes: &[NodeId], key: &PropKey, targets: &[NodeId]) -> Command {
    for_each(nodes, |node| NodeUpdate {
        references: [(key.clone(), targets.to_vec())].into(),
        ..NodeUpdate::new(node)
    })
}

/// Empty text unsets the value, so that the default applies.
fn parse(prop: &PropDef, text: &str) -> Result<Option<PropValue>, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    Ok(Some(match prop.kind {
        PropKind::Number => {
            let number: f64 = trimmed.parse().map_err(|_| "Expected a number.".to_owned())?;
            PropValue::number(number).ok_or("The number is too large.")?
        }
        PropKind::Object | PropKind::Json => {
            PropValue::parse_json(trimmed).map_err(|error| sentence(&error.to_string()))?
        }
        PropKind::Cidr | PropKind::Colour => PropValue::text(trimmed),
        _ => PropValue::text(text),
    }))
}

fn edit_parts(
    view: &FrameView<'_>,
    node: &Node,
    part: &FieldPart,
    key: &PropKey,
    text: &str,
) -> Result<PropValue, String> {
    let laid = overrides::override_value_for(view, node.id, key);
    let current = laid.or_else(|| view.snapshot.effective_prop(node, key));
    let text: Arc<str> = Arc::from(text.trim());
    let mut items = match current {
        Some(PropValue::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let mut tags: BTreeMap<Arc<str>, PropValue> = match current {
        Some(PropValue::Object(tags)) => tags.clone(),
        _ => BTreeMap::new(),
    };
    match part {
        FieldPart::ListItem(_, index) => {
            if text.is_empty() && *index < items.len() {
                items.remove(*index);
            } else if let Some(item) = items.get_mut(*index) {
                *item = PropValue::Text(text);
            }
            Ok(PropValue::List(items))
        }
        FieldPart::NewListItem(_) => {
            items.push(PropValue::Text(text));
            Ok(PropValue::List(items))
        }
        FieldPart::TagKey(_, old) => {
            if text.is_empty() {
                return Err("A tag needs a key.".to_owned());
            }
            if text != *old && tags.contains_key(&text) {
                return Err(format!("The tag {text} already exists."));
            }
            let value = tags.remove(old).unwrap_or_else(|| PropValue::text(""));
            tags.insert(text, value);
            Ok(PropValue::Object(tags))
        }
        FieldPart::NewTag(_) => {
            if tags.contains_key(&text) {
                return Err(format!("The tag {text} already exists."));
            }
            tags.insert(text, PropValue::text(""));
            Ok(PropValue::Object(tags))
        }
        FieldPart::TagValue(_, tag) => {
            tags.insert(tag.clone(), PropValue::Text(text));
            Ok(PropValue::Object(tags))
        }
        FieldPart::Label | FieldPart::Name | FieldPart::Prop(_) => Err("Not a part of a value.".to_owned()),
    }
}

fn check_label(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.chars().count() > MAX_LABEL_CHARS {
        return Err(format!("At most {MAX_LABEL_CHARS} characters."));
    }
    Ok(text.to_owned())
}

/// The parts of an `UpdateNode` command.
struct NodeUpdate {
    node: NodeId,
    name: Option<NodeName>,
    label: Option<String>,
    set: BTreeMap<PropKey, PropValue>,
    unset: Vec<PropKey>,
    references: BTreeMap<PropKey, Vec<NodeId>>,
}

impl NodeUpdate {
    fn new(node: NodeId) -> Self {
        let (set, references) = (BTreeMap::new(), BTreeMap::new());
        Self { node, name: None, label: None, set, unset: Vec::new(), references }
    }

    fn command(self) -> Command {
        let refs = |targets: Vec<NodeId>| targets.into_iter().map(Into::into).collect();
        let references = self.references.into_iter().map(|(key, targets)| (key, refs(targets))).collect();
        let Self { node, name, label, set, unset, .. } = self;
        Command::UpdateNode { node: node.into(), name, label, set, unset, references }
    }
}

/// One command, or one batch: one step to undo in both cases.
fn for_each(nodes: &[NodeId], update: impl Fn(NodeId) -> NodeUpdate) -> Command {
    match nodes {
        [node] => update(*node).command(),
        nodes => Command::Batch {
            summary: None,
            commands: nodes.iter().map(|node| update(*node).command()).collect(),
        },
    }
}

/// The common value of several nodes for a property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ShownValue<'a> {
    Unset,
    Set(&'a PropValue),
    /// The nodes have different values.
    Mixed,
}

pub(crate) fn shown_value<'a>(nodes: &[&'a Node], key: &PropKey) -> ShownValue<'a> {
    let mut values = nodes.iter().map(|node| node.props.get(key));
    match values.next() {
        None => ShownValue::Unset,
        Some(first) => match (values.all(|value| value == first), first) {
            (false, _) => ShownValue::Mixed,
            (true, None) => ShownValue::Unset,
            (true, Some(value)) => ShownValue::Set(value),
        },
    }
}

/// The common targets of several nodes for a reference; `None` when they differ.
pub(crate) fn targets(nodes: &[&Node], key: &PropKey) -> Option<Vec<NodeId>> {
    let all: BTreeSet<Vec<NodeId>> =
        nodes.iter().map(|node| node.references.get(key).cloned().unwrap_or_default()).collect();
    if all.len() > 1 { None } else { all.into_iter().next().or_else(|| Some(Vec::new())) }
}
