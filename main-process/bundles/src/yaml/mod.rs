//! YAML 1.2 with the core schema: reading it into [`Data`], writing it, and changing it in place so that comments,
//! order and style stay.
//!
//! Everything is bounded: the depth of nesting and the number of values, aliases counted as often as they are used.

mod edit;
mod read;
mod scalar;
mod tree;
mod write;

pub(crate) use edit::rewrite;
pub(crate) use read::read;
pub(crate) use write::write;

/// How deeply values may be nested.
pub(crate) const MAX_DEPTH: usize = 100;
/// How many values a document may hold after its aliases are replaced by what they stand for.
pub(crate) const MAX_VALUES: usize = 200_000;
