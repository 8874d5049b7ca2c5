//! The limits of the model. Exceeding one is a refusal, never a truncation.

/// The maximum number of nodes in a workspace.
pub const MAX_NODES: usize = 200_000;
/// The maximum number of edges in a workspace.
pub const MAX_EDGES: usize = 400_000;
/// The maximum number of boards in a workspace.
pub const MAX_BOARDS: usize = 500;
/// The maximum number of text files that are part of the state.
pub const MAX_SOURCE_FILES: usize = 50_000;
/// The maximum size of one such file.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;
/// The maximum depth of nested containers.
pub const MAX_CONTAINER_DEPTH: usize = 32;
/// The maximum number of commands in a batch.
pub const MAX_BATCH_COMMANDS: usize = 10_000;
/// The maximum length of a label or title.
pub const MAX_LABEL_CHARS: usize = 200;
/// The maximum number of properties set on a node.
pub const MAX_PROPS_PER_NODE: usize = 256;
/// The maximum number of targets of a reference property.
pub const MAX_REFERENCE_TARGETS: usize = 1_000;
/// The maximum size of a property value as JSON.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;
/// The maximum depth of lists and objects in a property value.
pub const MAX_VALUE_DEPTH: usize = 32;
/// The maximum absolute value of a coordinate. It keeps sums from overflowing and the camera exact.
pub const MAX_COORDINATE: i32 = 1_000_000;
/// The smallest and largest side of a node.
pub const MIN_NODE_SIDE: i32 = 16;
pub const MAX_NODE_SIDE: i32 = 200_000;
/// The maximum number of similar ids offered with a refusal.
pub const MAX_SUGGESTIONS: usize = 5;
/// The number of newest operations that can be undone, reverted or queried by revision. Older ones exist in files
/// only.
pub const MAX_HISTORY_OPERATIONS: usize = 10_000;
