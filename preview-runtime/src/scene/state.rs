//! What the person in front of the preview does to it: nothing of it is kept, and a reset forgets it.

use std::{
    collections::{BTreeMap, BTreeSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

/// Which element, across renders: the way to it from its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u64);

impl Key {
    /// The default hasher has fixed keys, so the same way gives the same key in every process.
    pub(crate) fn of(text: &str) -> Self {
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

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What somebody put into a control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Text(String),
    Ticked(bool),
}

/// Where typing goes in a field, in characters. What lies between the two is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caret {
    pub at: usize,
    pub anchor: usize,
}

impl Caret {
    pub(crate) fn new(at: usize) -> Self {
        Self { at, anchor: at }
    }

    /// In a text of so many characters.
    pub(crate) fn within(self, length: usize) -> Self {
        Self { at: self.at.min(length), anchor: self.anchor.min(length) }
    }

    /// What is selected.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.at.min(self.anchor)..self.at.max(self.anchor)
    }
}

/// A list that lies over the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    pub select: Key,
    /// Where it begins, in points of the page, and how wide it is.
    pub at: [f32; 2],
    pub width: f32,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interaction {
    /// The element under the pointer and those around it.
    pub hovered: BTreeSet<Key>,
    pub pressed: Option<Key>,
    pub focused: Option<Key>,
    /// The select whose list is open.
    pub open: Option<Open>,
    /// In the field that has the focus; none is behind its last character.
    pub caret: Option<Caret>,
    pub typed: BTreeMap<Key, Typed>,
    /// Points that the page is scrolled down.
    pub scroll: f32,
}

impl Interaction {
    /// Something is being, or was, done to this control.
    pub(crate) fn touches(&self, key: Key) -> bool {
        self.pressed == Some(key)
            || self.focused == Some(key)
            || self.hovered.contains(&key)
            || self.typed.contains_key(&key)
    }
}

/// Controls that can hold something typed at once.
pub(crate) const MAX_TYPED: usize = 1_000;
