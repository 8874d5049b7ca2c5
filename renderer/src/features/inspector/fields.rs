//! Text that is being typed. One field at a time has a buffer of its own, keyed by what it is a field of, so that a
//! change from outside never fights the cursor and another node never shows what was typed for this one.
//!
//! [`interpret`] is the only place that says what a text means: it checks while somebody types and makes the command
//! when they are done.

use super::overrides;
use crate::view::View;
use authority::check_prop;
use egui::Id;
use shared_protocol::{
    BoardId, BoardName, Command, EdgeId, Name, Node, NodeId, PropKey, TypeDef, Value,
    limits::MAX_LABEL,
    registry::{PropDef, PropKind},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// What a field belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum InspectorSubject {
    /// All of one type when there are several.
    Nodes(Vec<NodeId>),
    /// A component in a preview of its own, or something within it, as overrides name it.
    Alone(String),
    Edge(EdgeId),
    Board(BoardId),
}

/// Which of its fields.
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

/// The buffer of the one field that is being typed in.
#[derive(Debug)]
pub(crate) struct FieldEdit {
    pub(crate) field: InspectorField,
    pub(crate) widget: Id,
    pub(crate) text: String,
    pub(crate) began_with: String,
    /// Why the text cannot be taken as it is.
    pub(crate) problem: Option<String>,
}

impl FieldEdit {
    pub(crate) fn is_changed(&self) -> bool {
        self.text != self.began_with
    }
}

/// What a text would change, or what is wrong with it.
pub(crate) fn interpret(view: &View<'_>, field: &InspectorField, text: &str) -> Result<Command, String> {
    match (&field.subject, &field.part) {
        (InspectorSubject::Edge(edge), _) => {
            Ok(Command::UpdateEdge { edge: *edge, label: check_label(text)? })
        }
        (InspectorSubject::Board(board), FieldPart::Name) => {
            let name = BoardName::parse(text.trim()).map_err(|error| sentence(&error.to_string()))?;
            if view.snapshot.board_named(&name).is_some_and(|other| other.id != *board) {
                return Err(format!("Another board is called {name} already."));
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
            Ok(for_each(nodes, |node| PropUpdate { label: Some(label.clone()), ..PropUpdate::new(node) }))
        }
        (InspectorSubject::Nodes(nodes), FieldPart::Name) => {
            let name = Name::parse(text.trim()).map_err(|error| sentence(&error.to_string()))?;
            let node = nodes.first().and_then(|id| view.snapshot.node(*id)).ok_or("The node is gone.")?;
            if view.snapshot.node_named(node.board, &name).is_some_and(|other| other.id != node.id) {
                return Err(format!("Another node on this board is called {name} already."));
            }
            Ok(for_each(nodes, |node| PropUpdate { name: Some(name.clone()), ..PropUpdate::new(node) }))
        }
        (InspectorSubject::Nodes(nodes), part) => {
            let node = nodes.first().and_then(|id| view.snapshot.node(*id)).ok_or("The node is gone.")?;
            interpret_prop(view, nodes, node, part, text)
        }
        (InspectorSubject::Alone(instance), part) => {
            let view = &View { is_overriding: true, ..*view };
            let is_shown = view.alone().is_some_and(|alone| alone.instance == *instance);
            let node = overrides::as_node(view).filter(|_| is_shown);
            let node = node.ok_or("The preview shows something else now.")?;
            interpret_prop(view, &[node.id], &node, part, text)
        }
    }
}

fn interpret_prop(
    view: &View<'_>,
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
    let prop = def.prop(key.as_str()).ok_or("The type has no such property any more.")?;
    let value = match part {
        FieldPart::Prop(_) => parse(prop, text)?,
        // A list that nothing is left of is not set at all.
        _ => Some(edit_parts(view, node, part, key, text)?)
            .filter(|value| !matches!(value, Value::List(items) if items.is_empty())),
    };
    set(view, nodes, def, key, value)
}

/// A value for all these nodes, checked as the authority would.
pub(crate) fn set(
    view: &View<'_>,
    nodes: &[NodeId],
    def: &TypeDef,
    key: &PropKey,
    value: Option<Value>,
) -> Result<Command, String> {
    if let Some(value) = &value {
        check_prop(view.snapshot.registry(), def, key, value).map_err(|refusal| {
            let label = def.prop(key.as_str()).map_or(key.as_str(), |prop| prop.label.as_str());
            let about = format!("{label} of {}: ", def.title);
            sentence(refusal.message.strip_prefix(&about).unwrap_or(&refusal.message))
        })?;
    }
    if view.is_overriding {
        return Ok(overrides::lay_over(view, nodes, key, value));
    }
    Ok(for_each(nodes, |node| match &value {
        Some(value) => PropUpdate { set: [(key.clone(), value.clone())].into(), ..PropUpdate::new(node) },
        None => PropUpdate { unset: vec![key.clone()], ..PropUpdate::new(node) },
    }))
}

/// The targets of a reference for all these nodes.
pub(crate) fn refer(nodes: &[NodeId], key: &PropKey, targets: &[NodeId]) -> Command {
    for_each(nodes, |node| PropUpdate {
        references: [(key.clone(), targets.to_vec())].into(),
        ..PropUpdate::new(node)
    })
}

/// Nothing typed means nothing set: the default counts again.
fn parse(prop: &PropDef, text: &str) -> Result<Option<Value>, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(None);
    }
    Ok(Some(match prop.kind {
        PropKind::Number => {
            let number: f64 = trimmed.parse().map_err(|_| "Expected a number.".to_owned())?;
            Value::number(number).ok_or("That number is too large.")?
        }
        PropKind::Object | PropKind::Json => {
            Value::parse_json(trimmed).map_err(|error| sentence(&error.to_string()))?
        }
        PropKind::Cidr | PropKind::Colour => Value::text(trimmed),
        _ => Value::text(text),
    }))
}

fn edit_parts(
    view: &View<'_>,
    node: &Node,
    part: &FieldPart,
    key: &PropKey,
    text: &str,
) -> Result<Value, String> {
    let laid = overrides::laid_over(view, node.id, key);
    let current = laid.or_else(|| view.snapshot.effective_prop(node, key));
    let text: Arc<str> = Arc::from(text.trim());
    let mut items = match current {
        Some(Value::List(items)) => items.clone(),
        _ => Vec::new(),
    };
    let mut tags: BTreeMap<Arc<str>, Value> = match current {
        Some(Value::Object(tags)) => tags.clone(),
        _ => BTreeMap::new(),
    };
    match part {
        FieldPart::ListItem(_, index) => {
            if text.is_empty() && *index < items.len() {
                items.remove(*index);
            } else if let Some(item) = items.get_mut(*index) {
                *item = Value::Text(text);
            }
            Ok(Value::List(items))
        }
        FieldPart::NewListItem(_) => {
            items.push(Value::Text(text));
            Ok(Value::List(items))
        }
        FieldPart::TagKey(_, old) => {
            if text.is_empty() {
                return Err("A tag needs a key.".to_owned());
            }
            if text != *old && tags.contains_key(&text) {
                return Err(format!("There is a tag {text} already."));
            }
            let value = tags.remove(old).unwrap_or_else(|| Value::text(""));
            tags.insert(text, value);
            Ok(Value::Object(tags))
        }
        FieldPart::NewTag(_) => {
            if tags.contains_key(&text) {
                return Err(format!("There is a tag {text} already."));
            }
            tags.insert(text, Value::text(""));
            Ok(Value::Object(tags))
        }
        FieldPart::TagValue(_, tag) => {
            tags.insert(tag.clone(), Value::Text(text));
            Ok(Value::Object(tags))
        }
        FieldPart::Label | FieldPart::Name | FieldPart::Prop(_) => Err("Not a part of a value.".to_owned()),
    }
}

fn check_label(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.chars().count() > MAX_LABEL {
        return Err(format!("At most {MAX_LABEL} characters."));
    }
    Ok(text.to_owned())
}

/// One `UpdateNode` before it is one.
struct PropUpdate {
    node: NodeId,
    name: Option<Name>,
    label: Option<String>,
    set: BTreeMap<PropKey, Value>,
    unset: Vec<PropKey>,
    references: BTreeMap<PropKey, Vec<NodeId>>,
}

impl PropUpdate {
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

/// One command, or one batch of them: in any case one step to undo.
fn for_each(nodes: &[NodeId], update: impl Fn(NodeId) -> PropUpdate) -> Command {
    match nodes {
        [node] => update(*node).command(),
        nodes => Command::Batch {
            summary: None,
            commands: nodes.iter().map(|node| update(*node).command()).collect(),
        },
    }
}

/// A message as a sentence of its own.
pub(crate) fn sentence(message: &str) -> String {
    let mut chars = message.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mut text: String = first.to_uppercase().chain(chars).collect();
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// What several nodes have in common for a property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ShownValue<'a> {
    Unset,
    Set(&'a Value),
    /// They differ.
    Mixed,
}

pub(crate) fn shown<'a>(nodes: &[&'a Node], key: &PropKey) -> ShownValue<'a> {
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

/// What several nodes have in common for a reference; `None` when they differ.
pub(crate) fn targets(nodes: &[&Node], key: &PropKey) -> Option<Vec<NodeId>> {
    let all: BTreeSet<Vec<NodeId>> =
        nodes.iter().map(|node| node.references.get(key).cloned().unwrap_or_default()).collect();
    if all.len() > 1 { None } else { all.into_iter().next().or_else(|| Some(Vec::new())) }
}
