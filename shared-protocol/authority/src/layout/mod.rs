//! Automatic placement: free space, room in containers, layered layout.

mod free_space;
mod layers;

pub(crate) use free_space::{clamp_to_content, find_free_place, is_occupied, make_room, min_content_size};
pub(crate) use layers::layered_layout;

/// The gap between nodes.
const GAP: i32 = 24;
/// The padding between a container's border and its content.
const PADDING: i32 = 16;
/// The height of a container's title.
const HEADER: i32 = 44;
