//! The view: the tree of nodes as written in the file. The runtime evaluates it for given props.

use crate::{ComponentExpression, ExpressionError, SourcePosition, StyleSheet, expression::ExpressionScope};
use minijinja::Value;
use std::sync::Arc;

/// A value in the file: fixed, or computed from props.
#[derive(Debug)]
pub enum BoundValue {
    Fixed(Value),
    Computed(ComponentExpression),
}

impl BoundValue {
    pub fn eval(&self, scope: &ExpressionScope) -> Result<Value, ExpressionError> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Computed(expression) => expression.eval(scope),
        }
    }
}

#[derive(Debug)]
pub struct ViewNode {
    pub kind: ViewNodeKind,
    pub style: StyleSheet,
    pub states: StateStyles,
    /// The child nodes. For a slot, the content that it shows while it is empty.
    pub children: Vec<Self>,
    pub place: SourcePosition,
}

/// Styles that override a node's own style in a state, applied in this order.
#[derive(Debug, Default)]
pub struct StateStyles {
    pub hover: Option<StyleSheet>,
    pub focus: Option<StyleSheet>,
    pub pressed: Option<StyleSheet>,
    pub disabled: Option<StyleSheet>,
}

#[derive(Debug)]
pub enum ViewNodeKind {
    Box,
    Row,
    Column,
    Grid,
    Stack,
    Text {
        text: BoundValue,
    },
    Icon {
        icon: BoundValue,
    },
    Image {
        source: BoundValue,
        fit: BoundValue,
    },
    Button {
        disabled: Option<BoundValue>,
        action: Option<BoundValue>,
    },
    Input {
        value: Option<BoundValue>,
        placeholder: Option<BoundValue>,
        secret: Option<BoundValue>,
        disabled: Option<BoundValue>,
    },
    Checkbox {
        checked: Option<BoundValue>,
        disabled: Option<BoundValue>,
    },
    Select {
        value: Option<BoundValue>,
        options: BoundValue,
        placeholder: Option<BoundValue>,
        disabled: Option<BoundValue>,
    },
    /// Repeats its children for each item.
    Each {
        items: BoundValue,
        item: Arc<str>,
        index: Option<Arc<str>>,
    },
    /// Shows its children if the condition holds, otherwise `otherwise`.
    If {
        condition: BoundValue,
        otherwise: Vec<ViewNode>,
    },
    /// The insertion point for children of an instance.
    Slot {
        name: Arc<str>,
    },
    /// An instance of another component. Its children fill the slot `children`; `slots` fills the others.
    Component {
        component: Arc<str>,
        props: Vec<(Arc<str>, BoundValue)>,
        slots: Vec<(Arc<str>, Vec<ViewNode>)>,
        part: ComponentPart,
    },
}

/// The identity of a component use within its file. It stays the same when lines move and when other nodes are added
/// around or beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentPart {
    /// `#` and the `id` from the file; otherwise the component id, followed by its number among the uses of that
    /// component unless it is the first.
    pub name: Arc<str>,
    /// The path to it from the root of the file.
    pub path: Arc<[String]>,
}

#[derive(Debug)]
pub struct ComponentUse<'c> {
    pub part: &'c ComponentPart,
    pub component: &'c Arc<str>,
    pub props: &'c [(Arc<str>, BoundValue)],
    /// The number of enclosing loops, each of which creates several instances.
    pub loops: usize,
    pub place: SourcePosition,
}

impl ViewNode {
    /// Returns every use of another component in the tree, in order.
    pub fn uses(&self) -> Vec<ComponentUse<'_>> {
        let mut found = Vec::new();
        self.collect_uses(0, &mut found);
        found
    }

    /// Recursive; the nesting limit of the source bounds the depth.
    fn collect_uses<'c>(&'c self, loops: usize, found: &mut Vec<ComponentUse<'c>>) {
        match &self.kind {
            ViewNodeKind::Component { component, props, slots, part } => {
                found.push(ComponentUse { part, component, props, loops, place: self.place });
                slots.iter().flat_map(|(_, nodes)| nodes).for_each(|node| node.collect_uses(loops, found));
            }
            ViewNodeKind::If { otherwise, .. } => {
                otherwise.iter().for_each(|node| node.collect_uses(loops, found))
            }
            _ => {}
        }
        let within = loops + usize::from(matches!(self.kind, ViewNodeKind::Each { .. }));
        self.children.iter().for_each(|node| node.collect_uses(within, found));
    }
}

macro_rules! kinds {
    ($($kind:ident = $name:literal,)+) => {
        /// The value of the key `type`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ViewKindName { $($kind,)+ }

        impl ViewKindName {
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
