//! Every bound on what the model holds, in one place. Crossing one is a refusal, never a truncation.

/// Nodes in one workspace.
pub const MAX_NODES: usize = 200_000;
/// Edges in one workspace.
pub const MAX_EDGES: usize = 400_000;
/// Boards in one workspace.
pub const MAX_BOARDS: usize = 500;
/// Text files that are part of the state.
pub const MAX_SOURCES: usize = 50_000;
/// Bytes of one of them.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;
/// Containers within containers.
pub const MAX_NESTING: usize = 32;
/// Commands in one batch.
pub const MAX_BATCH: usize = 10_000;
/// Characters of a label or title.
pub const MAX_LABEL: usize = 200;
/// Properties set on one node.
pub const MAX_PROPS: usize = 256;
/// Targets of one reference property.
pub const MAX_REFERENCES: usize = 1_000;
/// Bytes of one property value, as JSON.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;
/// Lists and objects within one property value.
pub const MAX_VALUE_DEPTH: usize = 32;
/// Coordinates stay within ± this, so that sums never overflow and the camera stays exact.
pub const MAX_COORDINATE: i32 = 1_000_000;
/// Smallest and largest side of a node.
pub const MIN_SIZE: i32 = 16;
pub const MAX_SIZE: i32 = 200_000;
/// Similar ids offered with a refusal.
pub const MAX_SUGGESTIONS: usize = 5;
/// Operations that can be undone, reverted or asked for by revision; older ones live in files only.
pub const MAX_HISTORY: usize = 10_000;
