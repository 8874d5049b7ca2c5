//! Links across domains: the file they stand in, how they change, and which of them are suspect.
//!
//! They are kept in one text file that is part of the state, so an edit of them is an operation like any other: durable,
//! undoable, and written at once. A link may outlive what it links: that makes it suspect, and nothing removes it in silence.

mod file;
mod standing;

pub use file::{LinkFileError, Links};
pub use standing::{EndNow, Standing, node_now};
