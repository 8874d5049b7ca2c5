//! Styled elements (boxes, texts, icons and pictures) in drawing order.

use super::ElementKey;
use crate::look::IconStrokes;
use components::{Style, TypeStep, Weight};
use std::sync::Arc;

/// The layout of children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementFlow {
    Row,
    Column,
    Grid,
    /// Children overlap each other.
    Stack,
}

#[derive(Debug, Clone)]
pub(crate) enum ElementContent {
    Box(ElementFlow),
    Text(Arc<str>),
    Icon(&'static IconStrokes),
    Picture { path: Arc<str>, fit: PictureFit },
}

impl PartialEq for ElementContent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(one), Self::Box(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            // Icons are static, so their addresses identify them.
            (Self::Icon(one), Self::Icon(other)) => std::ptr::eq(*one, *other),
            (Self::Picture { path, fit }, Self::Picture { path: other, fit: others }) => {
                path == other && fit == others
            }
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureFit {
    Cover,
    Contain,
    Fill,
}

/// An element that can be pressed or typed into.
#[derive(Debug, Clone)]
pub(crate) struct ElementControl {
    pub(crate) key: ElementKey,
    pub(crate) disabled: bool,
    pub(crate) kind: ElementControlKind,
    /// The index of the instance that receives its actions.
    pub(crate) instance: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum ElementControlKind {
    /// Only changes its style under the pointer.
    Plain,
    Button {
        action: Arc<str>,
    },
    Input {
        value: Arc<str>,
    },
    Checkbox {
        ticked: bool,
    },
    Select {
        value: Arc<str>,
        options: Vec<Arc<str>>,
    },
    /// A row in the list of a select.
    Choice {
        of: ElementKey,
        value: Arc<str>,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct SceneElement {
    pub(crate) content: ElementContent,
    pub(crate) style: Style,
    /// The colour of text and icons, inherited when not set.
    pub(crate) colour: components::Colour,
    pub(crate) text: TypeStep,
    pub(crate) weight: Weight,
    pub(crate) children: Vec<usize>,
    pub(crate) control: Option<ElementControl>,
    /// The element is focused and has no focus style of its own.
    pub(crate) ring: bool,
    /// The position of an element that floats over the page.
    pub(crate) float: Option<[f32; 2]>,
}

/// An instance on the page or inside a component.
#[derive(Debug, Clone)]
pub struct PlacedInstance {
    pub id: String,
    pub component: String,
    pub parent: Option<usize>,
    pub file: String,
    pub line: u32,
    /// The outermost elements of the instance.
    pub roots: Vec<usize>,
}

impl SceneElement {
    /// Returns whether both elements have the same text in the same type style and therefore the same size.
    pub(crate) fn is_set_like(&self, other: &Self) -> bool {
        let way = |element: &Self| {
            let style = &element.style;
            (
                element.text,
                element.weight,
                style.lines.map(|lines| lines.0),
                style.line_height,
                style.text_align,
            )
        };
        self.content == other.content && way(self) == way(other)
    }

    /// Returns whether both elements produce the same pixels at the same position.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        self.is_set_like(other)
            && self.style == other.style
            && self.colour == other.colour
            && self.ring == other.ring
    }
}

/// All elements and instances of the screen.
#[derive(Debug, Clone, Default)]
pub struct ElementTree {
    pub(crate) elements: Vec<SceneElement>,
    /// The top-level elements of the page.
    pub(crate) roots: Vec<usize>,
    pub(crate) instances: Vec<PlacedInstance>,
}

impl ElementTree {
    /// Returns whether both trees have the same structure. Styles may differ.
    pub(crate) fn has_shape_of(&self, other: &Self) -> bool {
        let same_kind = |a: &SceneElement, b: &SceneElement| {
            a.children == b.children
                && match (&a.content, &b.content) {
                    (ElementContent::Box(a), ElementContent::Box(b)) => a == b,
                    (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
                }
        };
        self.roots == other.roots
            && self.elements.len() == other.elements.len()
            && self.elements.iter().zip(&other.elements).all(|(a, b)| same_kind(a, b))
    }

    /// The number of elements, for benchmarks.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    pub fn instances(&self) -> &[PlacedInstance] {
        &self.instances
    }
}
