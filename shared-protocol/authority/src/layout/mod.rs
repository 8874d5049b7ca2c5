//! Automatic placement: free space, room in containers, layered layout.

mod layers;
mod room;

pub(crate) use layers::layered;
pub(crate) use room::{free_place, inside, is_taken, least_size, make_room};

/// The gap between nodes.
const GAP: i32 = 24;
/// The padding between a container's border and its content.
const PADDING: i32 = 16;
/// The height of a container's title.
const HEADER: i32 = 44;
