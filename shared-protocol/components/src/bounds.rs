//! Every bound on a component file, in one place. Crossing one is a problem that says so.

/// Bytes of one file. A component that needs more is several components.
pub const MAX_FILE_BYTES: usize = 1 << 20;
/// Files of one workspace.
pub const MAX_FILES: usize = 500;
/// Lists and mappings within each other.
pub const MAX_DEPTH: usize = 64;
/// Values of one file: texts, numbers, lists and mappings together.
pub(crate) const MAX_VALUES: usize = 50_000;
/// Entries of one mapping.
pub(crate) const MAX_ENTRIES: usize = 500;
/// Nodes of one view.
pub const MAX_NODES: usize = 2_000;
pub const MAX_PROPS: usize = 64;
pub const MAX_VARIANTS: usize = 64;
/// Choices of one select control.
pub(crate) const MAX_OPTIONS: usize = 256;
/// Characters of one text.
pub const MAX_TEXT: usize = 20_000;
/// Characters of an id or a name.
pub(crate) const MAX_NAME: usize = 80;
/// Characters of an expression. Beyond a few thousand the compiler of expressions needs more stack than there is.
pub const MAX_EXPRESSION: usize = 1_000;
/// Problems told about one file; the rest are usually their consequences.
pub const MAX_PROBLEMS: usize = 20;
