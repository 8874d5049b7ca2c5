//! Module files, which declare the node types of a workspace.

use super::{WorkspaceFiles, decode_utf8};
use crate::{FileError, WorkspacePath};
use rustix::{fd::AsFd as _, fs::FileType, io::Errno};
use std::collections::BTreeMap;

const MAX_MODULE_FILES: usize = 1_000;
const MAX_MODULE_FILE_BYTES: u64 = 16 * 1024 * 1024;

impl WorkspaceFiles {
    /// Reads the module files that match the patterns, each once, sorted by path. `*` in the last part of a pattern
    /// matches any characters. A file or pattern that fails is listed with its error.
    pub fn read_modules(&self, patterns: &[String]) -> Vec<(String, Result<String, FileError>)> {
        let mut found = BTreeMap::new();
        for pattern in patterns {
            match self.paths_matching(pattern) {
                Ok(paths) => {
                    for path in paths {
                        let is_new = !found.contains_key(path.as_str());
                        if is_new && found.len() < MAX_MODULE_FILES {
                            let text = self
                                .read_up_to(&path, MAX_MODULE_FILE_BYTES)
                                .and_then(|bytes| decode_utf8(&path, bytes));
                            found.insert(path.to_string(), text);
                        } else if is_new {
                            let problem =
                                format!("more than {MAX_MODULE_FILES} module files; this file is ignored");
                            return with_error(
                                found,
                                path.to_string(),
                                FileError::Failed { path: path.to_string(), problem },
                            );
                        }
                    }
                }
                Err(error) => drop(found.insert(pattern.clone(), Err(error))),
            }
        }
        found.into_iter().collect()
    }

    fn paths_matching(&self, pattern: &str) -> Result<Vec<WorkspacePath>, FileError> {
        let path = WorkspacePath::parse(pattern)?;
        let (folders, name) = path.split();
        if folders.iter().any(|folder| folder.contains('*')) {
            return Err(FileError::malformed(
                pattern,
                None,
                "`*` is allowed only in the last part of the path",
            ));
        }
        if !name.contains('*') {
            return Ok(vec![path]);
        }
        let folder = match safe_fs::open_folder(self.root_fd.as_fd(), &folders) {
            // A workspace needs no modules.
            Err(Errno::NOENT) => return Ok(Vec::new()),
            other => other.map_err(|errno| FileError::of_errno(folders.join("/"), errno))?,
        };
        let entries =
            safe_fs::list(folder.as_fd()).map_err(|errno| FileError::of_errno(folders.join("/"), errno))?;
        entries
            .iter()
            .filter(|entry| entry.kind != FileType::Directory && !entry.name.starts_with('.'))
            .filter(|entry| matches_wildcard(name, &entry.name))
            .map(|entry| {
                let parts = folders.iter().copied().chain([entry.name.as_str()]);
                WorkspacePath::parse(parts.collect::<Vec<_>>().join("/"))
            })
            .collect()
    }
}

fn with_error(
    mut found: BTreeMap<String, Result<String, FileError>>,
    origin: String,
    error: FileError,
) -> Vec<(String, Result<String, FileError>)> {
    found.insert(origin, Err(error));
    found.into_iter().collect()
}

/// Returns whether `name` matches `pattern`, where `*` stands for any characters. Matches each piece between stars
/// at its first occurrence and the last piece at the end.
pub(super) fn matches_wildcard(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_run() {
        for (pattern, name, expected) in [
            ("*.json", "a.json", true),
            ("*.json", ".json", true),
            ("*.json", "a.jsonx", false),
            ("a.json", "a.json", true),
            ("a.json", "a.jsonb", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
            ("**", "é", true),
        ] {
            assert_eq!(matches_wildcard(pattern, name), expected, "{pattern} {name}");
        }
    }
}
