//! Trace links across domains: their file, their edits, and their review status.
//!
//! They are stored in one source file that is part of the state, so an edit of them is an operation like any other:
//! durable, undoable, and written at once. A link outlives its ends: it becomes suspect and is never removed silently.

mod file;
mod index;

pub use file::{TraceLinkFileError, TraceLinks};
pub use index::{CurrentTraceLinkEnd, TraceLinkIndex, node_now};
