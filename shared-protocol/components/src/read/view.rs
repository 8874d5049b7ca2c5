//! Parses the view tree.

use super::{
    fields::{MappingFields, check_text, closest_word, display_text},
    props::{is_name, one_of_props},
};
use crate::{
    BoundValue, ComponentExpression, ComponentPart, ComponentProp, ExpectedValue, MAX_NODES, SourcePosition,
    StateStyles, Style, StyleKey, StyleSheet, ViewKindName, ViewNode, ViewNodeKind,
    problem::ProblemCollector,
    source::{SourceNode, SourceValue},
};
use minijinja::{Value, value::Serde};
use shared_protocol::{TypeId, v0::ControlDefinition, v0::PropExposure};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(super) fn view(
    source: &SourceNode,
    props: &[ComponentProp],
    findings: &mut ProblemCollector<'_>,
) -> Option<ViewNode> {
    let way = vec!["view".to_owned()];
    let (uses, ids) = (BTreeMap::new(), BTreeSet::new());
    ViewReader { props, findings, names: Vec::new(), nodes: 0, path: way, uses, ids }.node(source)
}

struct ViewReader<'r, 'f> {
    props: &'r [ComponentProp],
    findings: &'r mut ProblemCollector<'f>,
    /// The names that enclosing loops define.
    names: Vec<Arc<str>>,
    nodes: usize,
    /// The path from the root of the file to the current node.
    path: Vec<String>,
    /// The number of uses of each component so far.
    uses: BTreeMap<String, usize>,
    /// The ids of component uses so far.
    ids: BTreeSet<String>,
}

impl ViewReader<'_, '_> {
    /// Recursive; the nesting limit of the source bounds the depth.
    fn node(&mut self, source: &SourceNode) -> Option<ViewNode> {
        if self.findings.is_full() {
            return None;
        }
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            // Reports the limit only once.
            if self.nodes == MAX_NODES + 1 {
                let message = format!("the view has more than {MAX_NODES} nodes");
                self.findings.add(source.place, message, "an `each` over a prop, or several components");
            }
            return None;
        }
        let mut fields = MappingFields::from_source(source, "a node", self.findings)?;
        let one_of = format!("one of {}", ViewKindName::NAMES.join(", "));
        let name = fields.require("type", &one_of, self.findings)?;
        let word = display_text(name, "`type`", self.findings)?;
        let Some(kind) = ViewKindName::parse(word) else {
            let expected = closest_word(word, ViewKindName::NAMES).map_or(one_of, |near| format!("`{near}`"));
            self.findings.add(name.place, format!("unknown node type `{word:.40}`"), expected);
            return None;
        };
        let given = self.names.len();
        let kind = self.kind(kind, &mut fields);
        let children_key = if matches!(kind, Some(ViewNodeKind::If { .. })) { "then" } else { "children" };
        let holds = kind.as_ref().is_none_or(holds_children);
        let children = if holds {
            fields.take_field(children_key).map(|list| self.nodes(list, children_key))
        } else {
            None
        };
        self.names.truncate(given);
        let styled = kind.as_ref().is_none_or(is_styled);
        let style = styled.then(|| fields.take_field("style")).flatten().map(|source| self.style(source));
        let states = styled.then(|| fields.take_field("states")).flatten().map(|source| self.states(source));
        fields.finish(&format!("`{word}`"), self.findings);
        Some(ViewNode {
            kind: kind?,
            style: style.unwrap_or_default(),
            states: states.unwrap_or_default(),
            children: children.unwrap_or_default(),
            place: source.place,
        })
    }

    fn nodes(&mut self, source: &SourceNode, key: &str) -> Vec<ViewNode> {
        match &source.data {
            SourceValue::List(items) => {
                let here = self.path.len();
                let mut nodes = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    self.path.extend([key.to_owned(), index.to_string()]);
                    nodes.extend(self.node(item));
                    self.path.truncate(here);
                }
                nodes
            }
            _ => {
                self.findings.add_mismatch(source, &format!("`{key}`"), "a list of nodes");
                Vec::new()
            }
        }
    }

    fn kind(&mut self, name: ViewKindName, fields: &mut MappingFields<'_>) -> Option<ViewNodeKind> {
        Some(match name {
            ViewKindName::Box => ViewNodeKind::Box,
            ViewKindName::Row => ViewNodeKind::Row,
            ViewKindName::Column => ViewNodeKind::Column,
            ViewKindName::Grid => ViewNodeKind::Grid,
            ViewKindName::Stack => ViewNodeKind::Stack,
            ViewKindName::Text => {
                ViewNodeKind::Text { text: self.required(fields, "text", "the text to show")? }
            }
            ViewKindName::Icon => ViewNodeKind::Icon {
                icon: self.required(fields, "icon", "the name of an icon, such as check")?,
            },
            ViewKindName::Image => ViewNodeKind::Image {
                source: self.required(
                    fields,
                    "source",
                    "a file in the workspace, such as images/locker.png",
                )?,
                fit: self.bound(fields, "fit").unwrap_or(BoundValue::Fixed(Value::from("cover"))),
            },
            ViewKindName::Button => ViewNodeKind::Button {
                disabled: self.bound(fields, "disabled"),
                action: self.bound(fields, "action"),
            },
            ViewKindName::Input => ViewNodeKind::Input {
                value: self.bound(fields, "value"),
                placeholder: self.bound(fields, "placeholder"),
                secret: self.bound(fields, "secret"),
                disabled: self.bound(fields, "disabled"),
            },
            ViewKindName::Checkbox => ViewNodeKind::Checkbox {
                checked: self.bound(fields, "checked"),
                disabled: self.bound(fields, "disabled"),
            },
            ViewKindName::Select => ViewNodeKind::Select {
                value: self.bound(fields, "value"),
                options: self.required(
                    fields,
                    "options",
                    "a list of strings, or an expression that returns one",
                )?,
                placeholder: self.bound(fields, "placeholder"),
                disabled: self.bound(fields, "disabled"),
            },
            ViewKindName::Each => self.read_each(fields)?,
            ViewKindName::If => {
                let condition =
                    self.required(fields, "condition", "an expression such as \"=props.open\"")?;
                let otherwise =
                    fields.take_field("else").map(|source| self.nodes(source, "else")).unwrap_or_default();
                ViewNodeKind::If { condition, otherwise }
            }
            ViewKindName::Slot => self.slot(fields)?,
            ViewKindName::Component => self.component(fields)?,
        })
    }

    fn read_each(&mut self, fields: &mut MappingFields<'_>) -> Option<ViewNodeKind> {
        let items =
            self.required(fields, "items", "an expression that returns a list, such as \"=props.items\"")?;
        let mut name = |key, otherwise: Option<&str>| -> Option<Arc<str>> {
            let Some(source) = fields.take_field(key) else { return otherwise.map(Arc::from) };
            let found = display_text(source, "the name", self.findings)?;
            if !is_name(found) || found == "props" {
                self.findings.add(
                    source.place,
                    format!("{found:.40?} is not a valid name"),
                    "a name such as item",
                );
                return None;
            }
            Some(Arc::from(found))
        };
        let item = name("as", Some("item"))?;
        let index = name("index", None);
        self.names.push(Arc::clone(&item));
        self.names.extend(index.clone());
        Some(ViewNodeKind::Each { items, item, index })
    }

    fn slot(&mut self, fields: &mut MappingFields<'_>) -> Option<ViewNodeKind> {
        let Some(source) = fields.take_field("slot") else {
            return Some(ViewNodeKind::Slot { name: "children".into() });
        };
        let name = display_text(source, "`slot`", self.findings)?;
        let declared = self.props.iter().any(|prop| match &prop.exposure {
            PropExposure::Editable { control: ControlDefinition::Slot { slot_name, .. }, .. } => {
                slot_name.as_deref().unwrap_or(&prop.name) == name
            }
            _ => false,
        });
        if !declared {
            let expected = "the name of a prop whose control is `slot`";
            self.findings.add(source.place, format!("unknown slot `{name:.40}`"), expected);
        }
        Some(ViewNodeKind::Slot { name: name.into() })
    }

    fn component(&mut self, fields: &mut MappingFields<'_>) -> Option<ViewNodeKind> {
        let expected = "the id of another component, such as ui.badge";
        let source = fields.require("component", expected, self.findings)?;
        let id = display_text(source, "`component`", self.findings)?;
        if TypeId::parse(id).is_err() {
            self.findings.add(source.place, format!("{id:.60?} is not a valid component id"), expected);
        }
        let part = self.part(id, fields)?;
        let mut props = Vec::new();
        if let Some(source) = fields.take_field("props") {
            let SourceValue::Map(entries) = &source.data else {
                self.findings.add_mismatch(source, "`props`", "a mapping");
                return None;
            };
            for (key, value) in entries {
                props.extend(self.value(value, &key.text).map(|bound| (Arc::from(key.text.as_str()), bound)));
            }
        }
        let mut slots = Vec::new();
        if let Some(source) = fields.take_field("slots") {
            let SourceValue::Map(entries) = &source.data else {
                self.findings.add_mismatch(source, "`slots`", "a mapping of slots to lists of nodes");
                return None;
            };
            for (key, value) in entries {
                self.path.push("slots".to_owned());
                let nodes = self.nodes(value, &key.text);
                self.path.pop();
                slots.push((Arc::from(key.text.as_str()), nodes));
            }
        }
        Some(ViewNodeKind::Component { component: id.into(), props, slots, part })
    }

    fn part(&mut self, component: &str, fields: &mut MappingFields<'_>) -> Option<ComponentPart> {
        let way = self.path.as_slice().into();
        if let Some(source) = fields.take_field("id") {
            let id = display_text(source, "`id`", self.findings)?;
            if !is_name(id) {
                let message = format!("{id:.40?} is not a valid id");
                self.findings.add(source.place, message, "a name such as total");
                return None;
            }
            if !self.ids.insert(id.to_owned()) {
                let message = format!("duplicate id `{id}`");
                self.findings.add(source.place, message, "each id once per component");
            }
            return Some(ComponentPart { name: format!("#{id}").into(), path: way });
        }
        // Part paths use a slash as separator.
        let component = component.replace('/', ".");
        let uses = self.uses.entry(component.clone()).or_default();
        *uses += 1;
        let name = if *uses == 1 { component } else { format!("{component}:{uses}") };
        Some(ComponentPart { name: name.into(), path: way })
    }

    fn required(
        &mut self,
        fields: &mut MappingFields<'_>,
        key: &'static str,
        expected: &str,
    ) -> Option<BoundValue> {
        let source = fields.require(key, expected, self.findings)?;
        self.value(source, key)
    }

    fn bound(&mut self, fields: &mut MappingFields<'_>, key: &'static str) -> Option<BoundValue> {
        let source = fields.take_field(key)?;
        self.value(source, key)
    }

    fn value(&mut self, source: &SourceNode, what: &str) -> Option<BoundValue> {
        match &source.data {
            SourceValue::Text(text) => match text.strip_prefix('=') {
                Some(expression) => self.expression(expression, source.place).map(BoundValue::Computed),
                None => check_text(text, source.place, &format!("`{what}`"), self.findings)
                    .then(|| BoundValue::Fixed(Value::from(text.as_str()))),
            },
            _ => Some(BoundValue::Fixed(Value::from(Serde(source.to_json())))),
        }
    }

    fn expression(&mut self, text: &str, place: SourcePosition) -> Option<ComponentExpression> {
        match ComponentExpression::compile(text, place) {
            Ok(expression) => {
                self.check_names(&expression);
                Some(expression)
            }
            Err(reason) => {
                let shown: String = text.chars().take(60).collect();
                let expected = "an expression over props, such as \"=props.title|upper\"";
                self.findings.add(place, format!("`={shown}` {reason}"), expected);
                None
            }
        }
    }

    /// Checks that every name is defined: `props` with its declared props, and the names of enclosing loops.
    fn check_names(&mut self, expression: &ComponentExpression) {
        let declared: Vec<&str> = self.props.iter().map(|prop| prop.name.as_str()).collect();
        for used in expression.names() {
            let mut parts = used.split('.');
            let root = parts.next().unwrap_or_default();
            if root == "props" {
                if let Some(prop) = parts.next()
                    && !declared.contains(&prop)
                {
                    let message =
                        format!("`={}` uses `props.{prop}`, which is not declared", expression.text());
                    self.findings.add(expression.place(), message, one_of_props(prop, &declared));
                }
            } else if !self.names.iter().any(|name| **name == *root) {
                let message = format!("`={}` uses `{root}`, which is not defined", expression.text());
                self.findings.add(
                    expression.place(),
                    message,
                    "`props`, or a name that an enclosing `each` defines",
                );
            }
        }
    }

    fn states(&mut self, source: &SourceNode) -> StateStyles {
        let Some(mut fields) = MappingFields::from_source(source, "`states`", self.findings) else {
            return StateStyles::default();
        };
        let mut state = |key| fields.take_field(key).map(|source| self.style(source));
        let states = StateStyles {
            hover: state("hover"),
            focus: state("focus"),
            pressed: state("pressed"),
            disabled: state("disabled"),
        };
        fields.finish("`states`", self.findings);
        states
    }

    fn style(&mut self, source: &SourceNode) -> StyleSheet {
        let mut sheet = StyleSheet { fixed: Style::default(), computed: Vec::new() };
        let SourceValue::Map(entries) = &source.data else {
            self.findings.add_mismatch(source, "`style`", "a mapping");
            return sheet;
        };
        for (key, value) in entries {
            let Some(style_key) = StyleKey::parse(&key.text) else {
                let names: Vec<&str> = StyleKey::ALL.iter().map(|key| key.name()).collect();
                let expected = closest_word(&key.text, &names)
                    .map_or_else(|| format!("one of {}", names.join(", ")), |near| format!("`{near}`"));
                self.findings.add(key.place, format!("unknown style `{:.40}`", key.text), expected);
                continue;
            };
            match self.value(value, style_key.name()) {
                Some(BoundValue::Computed(expression)) => sheet.computed.push((style_key, expression)),
                Some(BoundValue::Fixed(fixed)) => {
                    if let Err(ExpectedValue(expected)) = sheet.fixed.set(style_key, &fixed) {
                        let message = format!(
                            "{} is not valid for the style `{}`",
                            describe_value(&value.data),
                            style_key.name()
                        );
                        self.findings.add(value.place, message, expected);
                    }
                }
                None => {}
            }
        }
        sheet
    }
}

fn describe_value(data: &SourceValue) -> String {
    match data {
        SourceValue::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        SourceValue::Number(number) => number.to_string(),
        SourceValue::Bool(value) => value.to_string(),
        other => other.kind().to_owned(),
    }
}

fn holds_children(kind: &ViewNodeKind) -> bool {
    !matches!(
        kind,
        ViewNodeKind::Text { .. }
            | ViewNodeKind::Icon { .. }
            | ViewNodeKind::Image { .. }
            | ViewNodeKind::Input { .. }
            | ViewNodeKind::Checkbox { .. }
            | ViewNodeKind::Select { .. }
    )
}

/// Returns whether a node can have a style. Loops, conditions, slots and other components have no box of their own.
fn is_styled(kind: &ViewNodeKind) -> bool {
    !matches!(
        kind,
        ViewNodeKind::Each { .. }
            | ViewNodeKind::If { .. }
            | ViewNodeKind::Slot { .. }
            | ViewNodeKind::Component { .. }
    )
}
