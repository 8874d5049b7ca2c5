//! Paths inside the workspace. No value of this type can name a file outside it.

use crate::FileError;
use shared_protocol::{BoardName, SourcePath};
use std::{fmt, path::Path};

const MAX_PATH_BYTES: usize = 1024;
pub(crate) const BOARD_SUFFIX: &str = ".board.json";

/// A path relative to the workspace root, separated by `/`: no `..`, no absolute path, no empty part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(String);

impl WorkspacePath {
    pub fn parse(text: impl Into<String>) -> Result<Self, FileError> {
        let text = text.into();
        let fits = |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() <= 255;
        if text.len() <= MAX_PATH_BYTES && !text.contains('\0') && text.split('/').all(fits) {
            Ok(Self(text))
        } else {
            Err(FileError::NotInWorkspace { path: text.chars().take(120).collect() })
        }
    }

    /// The path of a board file.
    pub fn board(name: &BoardName) -> Self {
        Self(format!("boards/{name}{BOARD_SUFFIX}"))
    }

    /// The path of `draftboard.toml`.
    pub fn config() -> Self {
        Self("draftboard.toml".to_owned())
    }

    /// Returns the board name when this is the path of a board file.
    pub fn as_board(&self) -> Option<BoardName> {
        BoardName::parse(self.0.strip_prefix("boards/")?.strip_suffix(BOARD_SUFFIX)?).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Splits the path into its folders and the file name.
    pub(crate) fn split(&self) -> (Vec<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((folders, name)) => (folders.split('/').collect(), name),
            None => (Vec::new(), &self.0),
        }
    }
}

impl From<&SourcePath> for WorkspacePath {
    fn from(path: &SourcePath) -> Self {
        Self(path.to_string())
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<Path> for WorkspacePath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_can_be_named() {
        for text in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../x",
            "boards/../../x",
            "a//b",
            "a/",
            "./a",
            "a\0b",
            &"a".repeat(256),
        ] {
            assert!(matches!(WorkspacePath::parse(text), Err(FileError::NotInWorkspace { .. })), "{text:?}");
        }
        for text in ["draftboard.toml", "boards/main.board.json", "boards/..x", "a/b/c"] {
            assert_eq!(WorkspacePath::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn boards_have_their_place() {
        let name = BoardName::parse("three-tiers").unwrap();
        let path = WorkspacePath::board(&name);
        assert_eq!(path.as_str(), "boards/three-tiers.board.json");
        assert_eq!(path.as_board(), Some(name));
        assert_eq!(path.split(), (vec!["boards"], "three-tiers.board.json"));
        assert_eq!(WorkspacePath::parse("boards/Upper.board.json").unwrap().as_board(), None);
        assert_eq!(WorkspacePath::config().split(), (vec![], "draftboard.toml"));
    }
}
