//! Writes the files of a board to the workspace, under `terraform/<board>/`.
//!
//! Changes and removes only files with Draftboard's marker. All other files belong to the user.

use crate::{
    generate::{GeneratedHcl, MARKER},
    run::links::TERRAFORM_FILE_SUFFIXES,
};
use journal::{FileError, WorkspaceFiles, WorkspacePath};
use shared_protocol::BoardName;
use std::collections::BTreeMap;

/// The differences between generated and existing files, by path in the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneratedFilesDiff {
    pub written: Vec<String>,
    pub removed: Vec<String>,
    /// Foreign files at the path of a generated file, which is then not written.
    pub in_the_way: Vec<String>,
}

impl GeneratedFilesDiff {
    /// Returns whether the files match the board.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty() && self.in_the_way.is_empty()
    }
}

/// Returns the folder of the files of a board.
pub fn folder_of(board: &BoardName) -> String {
    format!("terraform/{board}")
}

/// Keeps the state and plans of Terraform, which may contain secrets, out of version control. Created when missing.
const GITIGNORE_PATH: &str = "terraform/.gitignore";
const GITIGNORE_TEXT: &str = "# State and plans may contain secrets. Draftboard creates this file when it is missing; edit it freely.\n\
    .terraform/\n*.tfplan\n*.tfstate\n*.tfstate.*\n";

/// Compares the generated files with those in the workspace.
pub fn difference(
    files: &WorkspaceFiles,
    board: &BoardName,
    generated: &GeneratedHcl,
) -> Result<GeneratedFilesDiff, FileError> {
    let root = folder_of(board);
    let ours = list_board_files(files, &root)?;
    let mut found = GeneratedFilesDiff::default();
    for (name, text) in &generated.files {
        let path = format!("{root}/{name}");
        match ours.get(&path) {
            Some(Some(present)) if **present == **text => {}
            Some(None) => found.in_the_way.push(path),
            Some(Some(_)) | None => found.written.push(path),
        }
    }
    let is_wanted = |path: &str| {
        let name = path.strip_prefix(&root).and_then(|name| name.strip_prefix('/'));
        name.is_some_and(|name| generated.files.contains_key(name))
    };
    found.removed = ours
        .iter()
        .filter(|(path, text)| text.is_some() && !is_wanted(path))
        .map(|(path, _)| path.clone())
        .collect();
    Ok(found)
}

/// Writes changed files and removes obsolete ones.
pub fn write(
    files: &WorkspaceFiles,
    board: &BoardName,
    generated: &GeneratedHcl,
) -> Result<GeneratedFilesDiff, FileError> {
    let difference = difference(files, board, generated)?;
    let prefix = format!("{}/", folder_of(board));
    let ignore = WorkspacePath::parse(GITIGNORE_PATH)?;
    if let Err(FileError::Missing { .. }) = files.read(&ignore) {
        files.write_atomic(&ignore, GITIGNORE_TEXT.as_bytes())?;
    }
    for path in &difference.written {
        let text = path.strip_prefix(&prefix).and_then(|name| generated.files.get(name));
        if let Some(text) = text {
            files.write_atomic(&WorkspacePath::parse(path.as_str())?, text.as_bytes())?;
        }
    }
    for path in &difference.removed {
        files.remove(&WorkspacePath::parse(path.as_str())?)?;
    }
    Ok(difference)
}

/// Returns the foreign files that Terraform reads together with the generated ones, by path in the folder.
pub fn other_files(files: &WorkspaceFiles, board: &BoardName) -> Result<Vec<(String, Vec<u8>)>, FileError> {
    let root = folder_of(board);
    let mut found = Vec::new();
    for (path, _) in list_board_files(files, &root)?.iter().filter(|(_, text)| text.is_none()) {
        let name = path.strip_prefix(&root).and_then(|name| name.strip_prefix('/'));
        if let Some(name) =
            name.filter(|name| TERRAFORM_FILE_SUFFIXES.iter().any(|ending| name.ends_with(ending)))
        {
            found.push((name.to_owned(), files.read(&WorkspacePath::parse(path.as_str())?)?));
        }
    }
    Ok(found)
}

/// Lists every file in the folder and its modules, with the text of our files and `None` for foreign files.
fn list_board_files(
    files: &WorkspaceFiles,
    root: &str,
) -> Result<BTreeMap<String, Option<String>>, FileError> {
    let mut found = BTreeMap::new();
    let modules = files.list(&WorkspacePath::parse(format!("{root}/modules"))?)?;
    let folders = modules.folders.into_iter().map(|name| format!("{root}/modules/{name}"));
    for folder in std::iter::once(root.to_owned()).chain(folders) {
        for name in files.list(&WorkspacePath::parse(folder.as_str())?)?.files {
            let path = format!("{folder}/{name}");
            let text = match files.read_text(&WorkspacePath::parse(path.as_str())?) {
                Ok(text) => Some(text).filter(|text| text.starts_with(MARKER.trim_end())),
                // A file that is too large or not text is foreign.
                Err(FileError::TooLarge { .. } | FileError::Malformed { .. }) => None,
                Err(other) => return Err(other),
            };
            found.insert(path, text);
        }
    }
    Ok(found)
}
