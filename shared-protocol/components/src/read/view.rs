//! Parses the view tree.

use super::{
    fields::{Fields, clean, suggest, text},
    props::{is_name, one_of_props},
};
use crate::{
    Bound, Expected, Expression, Kind, KindName, MAX_NODES, Node, Part, Place, Prop, States, Style, StyleKey,
    StyleSheet,
    problem::Findings,
    source::{Data, Source},
};
use minijinja::{Value, value::Serde};
use shared_protocol::{TypeId, v0::ControlDefinition, v0::PropExposure};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(super) fn view(source: &Source, props: &[Prop], findings: &mut Findings<'_>) -> Option<Node> {
    let way = vec!["view".to_owned()];
    let (uses, ids) = (BTreeMap::new(), BTreeSet::new());
    Reader { props, findings, names: Vec::new(), nodes: 0, way, uses, ids }.node(source)
}

struct Reader<'r, 'f> {
    props: &'r [Prop],
    findings: &'r mut Findings<'f>,
    /// The names that enclosing loops define.
    names: Vec<Arc<str>>,
    nodes: usize,
    /// The path from the root of the file to the current node.
    way: Vec<String>,
    /// The number of uses of each component so far.
    uses: BTreeMap<String, usize>,
    /// The ids of component uses so far.
    ids: BTreeSet<String>,
}

impl Reader<'_, '_> {
    /// Recursive; the nesting limit of the source bounds the depth.
    fn node(&mut self, source: &Source) -> Option<Node> {
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
        let mut fields = Fields::of(source, "a node", self.findings)?;
        let one_of = format!("one of {}", KindName::NAMES.join(", "));
        let name = fields.need("type", &one_of, self.findings)?;
        let word = text(name, "`type`", self.findings)?;
        let Some(kind) = KindName::parse(word) else {
            let expected = suggest(word, KindName::NAMES).map_or(one_of, |near| format!("`{near}`"));
            self.findings.add(name.place, format!("unknown node type `{word:.40}`"), expected);
            return None;
        };
        let given = self.names.len();
        let kind = self.kind(kind, &mut fields);
        let children_key = if matches!(kind, Some(Kind::If { .. })) { "then" } else { "children" };
        let holds = kind.as_ref().is_none_or(holds_children);
        let children =
            if holds { fields.take(children_key).map(|list| self.nodes(list, children_key)) } else { None };
        self.names.truncate(given);
        let styled = kind.as_ref().is_none_or(is_styled);
        let style = styled.then(|| fields.take("style")).flatten().map(|source| self.style(source));
        let states = styled.then(|| fields.take("states")).flatten().map(|source| self.states(source));
        fields.finish(&format!("`{word}`"), self.findings);
        Some(Node {
            kind: kind?,
            style: style.unwrap_or_default(),
            states: states.unwrap_or_default(),
            children: children.unwrap_or_default(),
            place: source.place,
        })
    }

    fn nodes(&mut self, source: &Source, key: &str) -> Vec<Node> {
        match &source.data {
            Data::List(items) => {
                let here = self.way.len();
                let mut nodes = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    self.way.extend([key.to_owned(), index.to_string()]);
                    nodes.extend(self.node(item));
                    self.way.truncate(here);
                }
                nodes
            }
            other => {
                self.findings.add(
                    source.place,
                    format!("found {} for `{key}`", other.kind()),
                    "a list of nodes",
                );
                Vec::new()
            }
        }
    }

    fn kind(&mut self, name: KindName, fields: &mut Fields<'_>) -> Option<Kind> {
        Some(match name {
            KindName::Box => Kind::Box,
            KindName::Row => Kind::Row,
            KindName::Column => Kind::Column,
            KindName::Grid => Kind::Grid,
            KindName::Stack => Kind::Stack,
            KindName::Text => Kind::Text { text: self.required(fields, "text", "the text to show")? },
            KindName::Icon => {
                Kind::Icon { icon: self.required(fields, "icon", "the name of an icon, such as check")? }
            }
            KindName::Image => Kind::Image {
                source: self.required(
                    fields,
                    "source",
                    "a file in the workspace, such as images/locker.png",
                )?,
                fit: self.bound(fields, "fit").unwrap_or(Bound::Fixed(Value::from("cover"))),
            },
            KindName::Button => Kind::Button {
                disabled: self.bound(fields, "disabled"),
                action: self.bound(fields, "action"),
            },
            KindName::Input => Kind::Input {
                value: self.bound(fields, "value"),
                placeholder: self.bound(fields, "placeholder"),
                secret: self.bound(fields, "secret"),
                disabled: self.bound(fields, "disabled"),
            },
            KindName::Checkbox => Kind::Checkbox {
                checked: self.bound(fields, "checked"),
                disabled: self.bound(fields, "disabled"),
            },
            KindName::Select => Kind::Select {
                value: self.bound(fields, "value"),
                options: self.required(
                    fields,
                    "options",
                    "a list of strings, or an expression that returns one",
                )?,
                placeholder: self.bound(fields, "placeholder"),
                disabled: self.bound(fields, "disabled"),
            },
            KindName::Each => self.each(fields)?,
            KindName::If => {
                let condition =
                    self.required(fields, "condition", "an expression such as \"=props.open\"")?;
                let otherwise =
                    fields.take("else").map(|source| self.nodes(source, "else")).unwrap_or_default();
                Kind::If { condition, otherwise }
            }
            KindName::Slot => self.slot(fields)?,
            KindName::Component => self.component(fields)?,
        })
    }

    fn each(&mut self, fields: &mut Fields<'_>) -> Option<Kind> {
        let items =
            self.required(fields, "items", "an expression that returns a list, such as \"=props.items\"")?;
        let mut name = |key, otherwise: Option<&str>| -> Option<Arc<str>> {
            let Some(source) = fields.take(key) else { return otherwise.map(Arc::from) };
            let found = text(source, "the name", self.findings)?;
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
        Some(Kind::Each { items, item, index })
    }

    fn slot(&mut self, fields: &mut Fields<'_>) -> Option<Kind> {
        let Some(source) = fields.take("slot") else { return Some(Kind::Slot { name: "children".into() }) };
        let name = text(source, "`slot`", self.findings)?;
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
        Some(Kind::Slot { name: name.into() })
    }

    fn component(&mut self, fields: &mut Fields<'_>) -> Option<Kind> {
        let expected = "the id of another component, such as ui.badge";
        let source = fields.need("component", expected, self.findings)?;
        let id = text(source, "`component`", self.findings)?;
        if TypeId::parse(id).is_err() {
            self.findings.add(source.place, format!("{id:.60?} is not a valid component id"), expected);
        }
        let part = self.part(id, fields)?;
        let mut props = Vec::new();
        if let Some(source) = fields.take("props") {
            let Data::Map(entries) = &source.data else {
                self.findings.add(
                    source.place,
                    format!("found {} for `props`", source.data.kind()),
                    "a mapping",
                );
                return None;
            };
            for (key, value) in entries {
                props.extend(self.value(value, &key.text).map(|bound| (Arc::from(key.text.as_str()), bound)));
            }
        }
        let mut slots = Vec::new();
        if let Some(source) = fields.take("slots") {
            let Data::Map(entries) = &source.data else {
                let message = format!("found {} for `slots`", source.data.kind());
                self.findings.add(source.place, message, "a mapping of slots to lists of nodes");
                return None;
            };
            for (key, value) in entries {
                self.way.push("slots".to_owned());
                let nodes = self.nodes(value, &key.text);
                self.way.pop();
                slots.push((Arc::from(key.text.as_str()), nodes));
            }
        }
        Some(Kind::Component { component: id.into(), props, slots, part })
    }

    /// Returns the identity of this component use.
    fn part(&mut self, component: &str, fields: &mut Fields<'_>) -> Option<Part> {
        let way = self.way.as_slice().into();
        if let Some(source) = fields.take("id") {
            let id = text(source, "`id`", self.findings)?;
            if !is_name(id) {
                let message = format!("{id:.40?} is not a valid id");
                self.findings.add(source.place, message, "a name such as total");
                return None;
            }
            if !self.ids.insert(id.to_owned()) {
                let message = format!("duplicate id `{id}`");
                self.findings.add(source.place, message, "each id once per component");
            }
            return Some(Part { name: format!("#{id}").into(), way });
        }
        // Part paths use a slash as separator.
        let component = component.replace('/', ".");
        let uses = self.uses.entry(component.clone()).or_default();
        *uses += 1;
        let name = if *uses == 1 { component } else { format!("{component}:{uses}") };
        Some(Part { name: name.into(), way })
    }

    fn required(&mut self, fields: &mut Fields<'_>, key: &'static str, expected: &str) -> Option<Bound> {
        let source = fields.need(key, expected, self.findings)?;
        self.value(source, key)
    }

    fn bound(&mut self, fields: &mut Fields<'_>, key: &'static str) -> Option<Bound> {
        let source = fields.take(key)?;
        self.value(source, key)
    }

    fn value(&mut self, source: &Source, what: &str) -> Option<Bound> {
        match &source.data {
            Data::Text(text) => match text.strip_prefix('=') {
                Some(expression) => self.expression(expression, source.place).map(Bound::Computed),
                None => clean(text, source.place, &format!("`{what}`"), self.findings)
                    .then(|| Bound::Fixed(Value::from(text.as_str()))),
            },
            _ => Some(Bound::Fixed(Value::from(Serde(source.to_json())))),
        }
    }

    fn expression(&mut self, text: &str, place: Place) -> Option<Expression> {
        match Expression::compile(text, place) {
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
    fn check_names(&mut self, expression: &Expression) {
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

    fn states(&mut self, source: &Source) -> States {
        let Some(mut fields) = Fields::of(source, "`states`", self.findings) else {
            return States::default();
        };
        let mut state = |key| fields.take(key).map(|source| self.style(source));
        let states = States {
            hover: state("hover"),
            focus: state("focus"),
            pressed: state("pressed"),
            disabled: state("disabled"),
        };
        fields.finish("`states`", self.findings);
        states
    }

    fn style(&mut self, source: &Source) -> StyleSheet {
        let mut sheet = StyleSheet { fixed: Style::default(), computed: Vec::new() };
        let Data::Map(entries) = &source.data else {
            self.findings.add(source.place, format!("found {} for `style`", source.data.kind()), "a mapping");
            return sheet;
        };
        for (key, value) in entries {
            let Some(style_key) = StyleKey::parse(&key.text) else {
                let names: Vec<&str> = StyleKey::ALL.iter().map(|key| key.name()).collect();
                let expected = suggest(&key.text, &names)
                    .map_or_else(|| format!("one of {}", names.join(", ")), |near| format!("`{near}`"));
                self.findings.add(key.place, format!("unknown style `{:.40}`", key.text), expected);
                continue;
            };
            match self.value(value, style_key.name()) {
                Some(Bound::Computed(expression)) => sheet.computed.push((style_key, expression)),
                Some(Bound::Fixed(fixed)) => {
                    if let Err(Expected(expected)) = sheet.fixed.set(style_key, &fixed) {
                        let message = format!(
                            "{} is not valid for the style `{}`",
                            shown(&value.data),
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

fn shown(data: &Data) -> String {
    match data {
        Data::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        Data::Number(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        other => other.kind().to_owned(),
    }
}

fn holds_children(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Text { .. }
            | Kind::Icon { .. }
            | Kind::Image { .. }
            | Kind::Input { .. }
            | Kind::Checkbox { .. }
            | Kind::Select { .. }
    )
}

/// Returns whether a node can have a style. Loops, conditions, slots and other components have no box of their own.
fn is_styled(kind: &Kind) -> bool {
    !matches!(kind, Kind::Each { .. } | Kind::If { .. } | Kind::Slot { .. } | Kind::Component { .. })
}
