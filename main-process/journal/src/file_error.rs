//! Errors of workspace files. Each message names the problem and the next step.

use rustix::io::Errno;
use std::fmt;

/// A position in a text. Line and column count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    /// Returns the position of the byte at `offset`.
    pub(crate) fn of_offset(text: &str, offset: usize) -> Self {
        let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
        Self { line, column }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("{path}{}: {problem}", .position.map(|position| format!(", {position}")).unwrap_or_default())]
    Malformed { path: String, position: Option<TextPosition>, problem: String },
    #[error(
        "{path} was written by a newer Draftboard (format {found}; this version reads up to {known}): update Draftboard to open it"
    )]
    Newer { path: String, found: u64, known: u32 },
    #[error("{path} is larger than {most} bytes: split the file, or remove content")]
    TooLarge { path: String, most: u64 },
    #[error(
        "The workspace folder {path} was deleted, moved or replaced while it was open: put it back, or close Draftboard and open the workspace at its new location"
    )]
    Gone { path: String },
    #[error(
        "The workspace is read-only: {path} was not written because you do not have write permission for the folder. Make the folder writable, or open a copy"
    )]
    ReadOnlyWorkspace { path: String },
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error(
        "{path} is a symbolic link, or is reached through one. Draftboard does not follow links, so that it never leaves the workspace: replace the link with the file"
    )]
    Link { path: String },
    #[error("{path:?} is not a path inside the workspace: expected a relative path without `..`")]
    NotInWorkspace { path: String },
    #[error("{path} is not a regular file: move it away, or choose another name")]
    NotAFile { path: String },
    #[error("{path} is marked read-only: make it writable (chmod u+w), then try again")]
    Protected { path: String },
    #[error("{path} could not be written, the disk is full: free some space, then try again")]
    DiskFull { path: String },
    #[error("{path} could not be written, your disk quota is exceeded: free some space, then try again")]
    QuotaUsedUp { path: String },
    #[error("{path} could not be written, the disk is mounted read-only: make it writable, then try again")]
    ReadOnlyDisk { path: String },
    #[error("{path}: permission denied. Fix the permissions of the file and its folder, then try again")]
    Denied { path: String },
    #[error("{path}: {problem}; check the disk, then try again")]
    Failed { path: String, problem: String },
    #[error("a board file contains exactly one board with its nodes and edges: {problem}")]
    NotOneBoard { problem: String },
}

impl FileError {
    pub(crate) fn malformed(
        path: impl fmt::Display,
        position: Option<TextPosition>,
        problem: impl Into<String>,
    ) -> Self {
        Self::Malformed { path: path.to_string(), position, problem: problem.into() }
    }

    pub(crate) fn of_errno(path: impl fmt::Display, errno: Errno) -> Self {
        let path = path.to_string();
        match errno {
            Errno::NOENT => Self::Missing { path },
            Errno::LOOP | Errno::XDEV => Self::Link { path },
            Errno::NOTDIR | Errno::ISDIR => Self::NotAFile { path },
            Errno::NOSPC => Self::DiskFull { path },
            Errno::DQUOT => Self::QuotaUsedUp { path },
            Errno::ROFS => Self::ReadOnlyDisk { path },
            Errno::ACCESS | Errno::PERM => Self::Denied { path },
            other => Self::Failed { path, problem: other.to_string() },
        }
    }

    pub(crate) fn of_problem(path: impl fmt::Display, problem: safe_fs::PathProblem) -> Self {
        use safe_fs::PathProblem;
        match problem {
            PathProblem::Link => Self::Link { path: path.to_string() },
            PathProblem::NotAFile => Self::NotAFile { path: path.to_string() },
            PathProblem::Protected => Self::Protected { path: path.to_string() },
            PathProblem::TooLarge { max_bytes } => Self::TooLarge { path: path.to_string(), most: max_bytes },
            PathProblem::System(errno) => Self::of_errno(path, errno),
        }
    }

    pub(crate) fn of_io(path: impl fmt::Display, error: &std::io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::of_errno(path, errno),
            None => Self::Failed { path: path.to_string(), problem: error.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let text = "ab\nüx\n";
        assert_eq!(TextPosition::of_offset(text, 0), TextPosition { line: 1, column: 1 });
        assert_eq!(TextPosition::of_offset(text, 3), TextPosition { line: 2, column: 1 });
        assert_eq!(TextPosition::of_offset(text, 5), TextPosition { line: 2, column: 2 });
        assert_eq!(TextPosition::of_offset(text, 999), TextPosition { line: 3, column: 1 });
    }

    #[test]
    fn errors_say_what_to_do() {
        for (errno, words) in [
            (Errno::NOSPC, "free some space"),
            (Errno::DQUOT, "quota"),
            (Errno::ROFS, "mounted read-only"),
            (Errno::ACCESS, "permissions"),
            (Errno::LOOP, "symbolic link"),
        ] {
            let text = FileError::of_errno("boards/a.board.json", errno).to_string();
            assert!(text.starts_with("boards/a.board.json") && text.contains(words), "{text}");
        }
        let error = FileError::malformed("x", Some(TextPosition { line: 3, column: 9 }), "expected a colon");
        assert_eq!(error.to_string(), "x, line 3, column 9: expected a colon");
    }
}
