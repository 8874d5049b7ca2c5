//! The interaction state of a preview. It is never saved, and a reset clears it.

use std::{
    collections::{BTreeMap, BTreeSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

/// Identifies an element across renders, by its path from the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementKey(u64);

impl ElementKey {
    /// The default hasher has fixed keys, so the same path gives the same key in every process.
    pub(crate) fn hash(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish())
    }

    #[must_use]
    pub(crate) fn step(self, step: usize) -> Self {
        let mut hasher = DefaultHasher::new();
        (self.0, step).hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl std::fmt::Display for ElementKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlValue {
    Text(String),
    Ticked(bool),
}

/// The caret position in a field, in characters. The text between `at` and `anchor` is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextCaret {
    pub at: usize,
    pub anchor: usize,
}

impl TextCaret {
    pub(crate) fn new(at: usize) -> Self {
        Self { at, anchor: at }
    }

    /// Clamps the caret to a text length.
    pub(crate) fn clamp(self, length: usize) -> Self {
        Self { at: self.at.min(length), anchor: self.anchor.min(length) }
    }

    /// The selected range.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.at.min(self.anchor)..self.at.max(self.anchor)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenList {
    pub select: ElementKey,
    /// The top left corner in points of the page.
    pub at: [f32; 2],
    pub width: f32,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreviewInteraction {
    /// The element under the pointer and its ancestors.
    pub hovered: BTreeSet<ElementKey>,
    pub pressed: Option<ElementKey>,
    pub focused: Option<ElementKey>,
    pub open: Option<OpenList>,
    /// The caret of the focused field. `None` is after the last character.
    pub caret: Option<TextCaret>,
    pub typed: BTreeMap<ElementKey, ControlValue>,
    /// The scroll offset in points.
    pub scroll: f32,
}

impl PreviewInteraction {
    /// Returns whether the state affects this control.
    pub(crate) fn touches(&self, key: ElementKey) -> bool {
        self.pressed == Some(key)
            || self.focused == Some(key)
            || self.hovered.contains(&key)
            || self.typed.contains_key(&key)
    }
}

pub(crate) const MAX_ENTERED_VALUES: usize = 1_000;
