//! All limits of component files. Exceeding one is reported as a problem.

/// The maximum bytes of one file. Larger components should be split.
pub const MAX_FILE_BYTES: usize = 1 << 20;
/// The maximum number of component files in one workspace.
pub const MAX_FILES: usize = 500;
/// The maximum nesting depth of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// The maximum number of values in one file: strings, numbers, lists and mappings together.
pub(crate) const MAX_VALUES: usize = 50_000;
/// The maximum number of entries in one mapping.
pub(crate) const MAX_ENTRIES: usize = 500;
/// The maximum number of nodes in one view.
pub const MAX_NODES: usize = 2_000;
pub const MAX_PROPS: usize = 64;
pub const MAX_VARIANTS: usize = 64;
/// The maximum number of options in one select control.
pub(crate) const MAX_OPTIONS: usize = 256;
/// The maximum characters of one string.
pub const MAX_TEXT: usize = 20_000;
/// The maximum characters of an id or a name.
pub(crate) const MAX_NAME: usize = 80;
/// The maximum characters of an expression. Beyond a few thousand the expression compiler overflows the stack.
pub const MAX_EXPRESSION: usize = 1_000;
/// The maximum number of problems reported for one file; further ones are usually consequences of these.
pub const MAX_PROBLEMS: usize = 20;
