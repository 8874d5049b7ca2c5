//! The view: a tree of nodes as written in the file. What it becomes for given props is the runtime's business.

use crate::{EvalError, Expression, Place, StyleSheet, expression::Scope};
use minijinja::Value;
use std::sync::Arc;

/// A value as written: fixed, or computed from props.
#[derive(Debug)]
pub enum Bound {
    Fixed(Value),
    Computed(Expression),
}

impl Bound {
    pub fn eval(&self, scope: &Scope) -> Result<Value, EvalError> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Computed(expression) => expression.eval(scope),
        }
    }
}

#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    pub style: StyleSheet,
    pub states: States,
    /// Of an element that holds others; of a slot, what it shows when nothing is put into it.
    pub children: Vec<Self>,
    pub place: Place,
}

/// Styles laid over a node's own while it is in a state, in this order.
#[derive(Debug, Default)]
pub struct States {
    pub hover: Option<StyleSheet>,
    pub focus: Option<StyleSheet>,
    pub pressed: Option<StyleSheet>,
    pub disabled: Option<StyleSheet>,
}

#[derive(Debug)]
pub enum Kind {
    Box,
    Row,
    Column,
    Grid,
    Stack,
    Text {
        text: Bound,
    },
    Icon {
        icon: Bound,
    },
    Image {
        source: Bound,
        fit: Bound,
    },
    Button {
        disabled: Option<Bound>,
        action: Option<Bound>,
    },
    Input {
        value: Option<Bound>,
        placeholder: Option<Bound>,
        secret: Option<Bound>,
        disabled: Option<Bound>,
    },
    Checkbox {
        checked: Option<Bound>,
        disabled: Option<Bound>,
    },
    Select {
        value: Option<Bound>,
        options: Bound,
        placeholder: Option<Bound>,
        disabled: Option<Bound>,
    },
    /// Its children once for each item.
    Each {
        items: Bound,
        item: Arc<str>,
        index: Option<Arc<str>>,
    },
    /// Its children, or `otherwise`.
    If {
        condition: Bound,
        otherwise: Vec<Node>,
    },
    /// Where the children of an instance go.
    Slot {
        name: Arc<str>,
    },
    /// Another component. Its children fill the slot `children`, `slots` the others.
    Component {
        component: Arc<str>,
        props: Vec<(Arc<str>, Bound)>,
        slots: Vec<(Arc<str>, Vec<Node>)>,
        part: Part,
    },
}

/// What a use of another component is called within its file. It stays the same when lines move, and when other things are
/// put around or beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `#` and the `id` that the file gives it; else the component, and its number among the uses of that component where it
    /// is not the first.
    pub name: Arc<str>,
    /// The way to it from the root of the file.
    pub way: Arc<[String]>,
}

/// A use of another component, with what is fixed about it.
#[derive(Debug)]
pub struct Use<'c> {
    pub part: &'c Part,
    pub component: &'c Arc<str>,
    pub props: &'c [(Arc<str>, Bound)],
    /// How many loops it stands in, each of which makes several of it.
    pub loops: usize,
    pub place: Place,
}

impl Node {
    /// Every use of another component in it, in order.
    pub fn uses(&self) -> Vec<Use<'_>> {
        let mut found = Vec::new();
        self.collect_uses(0, &mut found);
        found
    }

    /// Recursive, which the depth of the source bounds.
    fn collect_uses<'c>(&'c self, loops: usize, found: &mut Vec<Use<'c>>) {
        match &self.kind {
            Kind::Component { component, props, slots, part } => {
                found.push(Use { part, component, props, loops, place: self.place });
                slots.iter().flat_map(|(_, nodes)| nodes).for_each(|node| node.collect_uses(loops, found));
            }
            Kind::If { otherwise, .. } => otherwise.iter().for_each(|node| node.collect_uses(loops, found)),
            _ => {}
        }
        let within = loops + usize::from(matches!(self.kind, Kind::Each { .. }));
        self.children.iter().for_each(|node| node.collect_uses(within, found));
    }
}

macro_rules! kinds {
    ($($kind:ident = $name:literal,)+) => {
        /// The word in `type`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum KindName { $($kind,)+ }

        impl KindName {
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$kind),)+ _ => None }
            }
        }
    };
}

kinds! {
    Box = "box",
    Row = "row",
    Column = "column",
    Grid = "grid",
    Stack = "stack",
    Text = "text",
    Icon = "icon",
    Image = "image",
    Button = "button",
    Input = "input",
    Checkbox = "checkbox",
    Select = "select",
    Each = "each",
    If = "if",
    Slot = "slot",
    Component = "component",
}
