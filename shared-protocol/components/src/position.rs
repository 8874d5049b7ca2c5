/// A position in a file. Lines and columns count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePosition {
    pub line: u32,
    pub column: u32,
}

impl SourcePosition {
    pub const START: Self = Self { line: 1, column: 1 };

    pub(crate) fn new(line: usize, column: usize) -> Self {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).max(1);
        Self { line: number(line), column: number(column) }
    }
}
