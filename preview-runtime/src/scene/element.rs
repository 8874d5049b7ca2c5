//! Elements: boxes, texts, icons and pictures, styled, in the order in which they are drawn.

use super::Key;
use crate::look::Icon;
use components::{Style, TypeStep, Weight};
use std::sync::Arc;

/// How children follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Row,
    Column,
    Grid,
    /// One above the other.
    Stack,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Box(Flow),
    Text(Arc<str>),
    Icon(&'static Icon),
    Picture { path: Arc<str>, fit: Fit },
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(one), Self::Box(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            // Made once, live for ever.
            (Self::Icon(one), Self::Icon(other)) => std::ptr::eq(*one, *other),
            (Self::Picture { path, fit }, Self::Picture { path: other, fit: others }) => {
                path == other && fit == others
            }
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Cover,
    Contain,
    Fill,
}

/// Something that can be pressed, or typed into.
#[derive(Debug, Clone)]
pub(crate) struct Control {
    pub(crate) key: Key,
    pub(crate) disabled: bool,
    pub(crate) kind: ControlKind,
    /// Who is told about it.
    pub(crate) instance: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum ControlKind {
    /// Looks different under the pointer, and that is all.
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
    /// A row of the list of a select.
    Choice {
        of: Key,
        value: Arc<str>,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) content: Content,
    pub(crate) style: Style,
    /// Inherited where not set: of text and icons.
    pub(crate) colour: components::Colour,
    pub(crate) text: TypeStep,
    pub(crate) weight: Weight,
    pub(crate) children: Vec<usize>,
    pub(crate) control: Option<Control>,
    /// Has the focus, and no style of its own for that.
    pub(crate) ring: bool,
    /// It lies over the page, at this point of it.
    pub(crate) float: Option<[f32; 2]>,
}

/// An instance on the page, or one that a component shows.
#[derive(Debug, Clone)]
pub struct Placed {
    pub id: String,
    pub component: String,
    pub parent: Option<usize>,
    pub file: String,
    pub line: u32,
    /// The outermost elements.
    pub roots: Vec<usize>,
}

impl Element {
    /// The same text in the same letters, so that it takes the same room.
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

    /// In the same place it would be the same pixels.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        self.is_set_like(other)
            && self.style == other.style
            && self.colour == other.colour
            && self.ring == other.ring
    }
}

/// Everything on the screen.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub(crate) elements: Vec<Element>,
    /// Side by side on the page.
    pub(crate) roots: Vec<usize>,
    pub(crate) instances: Vec<Placed>,
}

impl Tree {
    /// The same elements within each other; how they look may be different.
    pub(crate) fn has_shape_of(&self, other: &Self) -> bool {
        let same_kind = |a: &Element, b: &Element| {
            a.children == b.children
                && match (&a.content, &b.content) {
                    (Content::Box(a), Content::Box(b)) => a == b,
                    (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
                }
        };
        self.roots == other.roots
            && self.elements.len() == other.elements.len()
            && self.elements.iter().zip(&other.elements).all(|(a, b)| same_kind(a, b))
    }

    /// Elements in all, for figures.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    pub fn instances(&self) -> &[Placed] {
        &self.instances
    }
}
