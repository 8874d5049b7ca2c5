//! Where things go: free places, room in containers, layered layout.

mod layers;
mod room;

pub(crate) use layers::layered;
pub(crate) use room::{free_place, inside, is_taken, least_size, make_room};

/// Between nodes.
const GAP: i32 = 24;
/// Between a container's border and its content.
const PADDING: i32 = 16;
/// A container's title.
const HEADER: i32 = 44;
