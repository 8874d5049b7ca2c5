//! Source files: the text files of spec bundles.

use super::{WorkspaceFiles, modules::matches_wildcard};
use crate::{FileError, WorkspacePath};
use rustix::{fd::AsFd as _, fs::FileType, io::Errno};
use shared_protocol::{
    SourcePath,
    limits::{MAX_SOURCE_BYTES, MAX_SOURCE_FILES},
};

const SOURCE_SUFFIXES: [&str; 4] = [".yaml", ".yml", ".json", ".md"];
const MAX_SOURCE_FOLDERS: usize = 5_000;

/// The source files and folders under some root folders, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceList {
    pub files: Vec<SourcePath>,
    /// Every visited folder, including the roots.
    pub folders: Vec<SourcePath>,
    /// Files with a matching name that were skipped, with the reason.
    pub left_out: Vec<FileError>,
}

/// Returns the folder that matches the pattern and contains the file at any depth.
pub fn folder_in_pattern(pattern: &SourcePath, file: &SourcePath) -> Option<SourcePath> {
    let depth = pattern.as_str().split('/').count();
    let parts: Vec<&str> = file.as_str().split('/').collect();
    let folder = parts.get(..depth).filter(|_| parts.len() > depth)?.join("/");
    let (parent, name) = pattern.as_str().rsplit_once('/').unwrap_or(("", pattern.as_str()));
    let (folder_parent, folder_name) = folder.rsplit_once('/').unwrap_or(("", &folder));
    let fits = parent == folder_parent && matches_wildcard(name, folder_name);
    fits.then(|| SourcePath::parse(folder.as_str()).ok()).flatten()
}

impl WorkspaceFiles {
    /// Lists the folders that match the patterns, each once, sorted. `*` in the last part of a pattern matches any
    /// characters. Skips folders that do not exist.
    pub fn list_folders(&self, patterns: &[SourcePath]) -> Result<Vec<SourcePath>, FileError> {
        let mut found = Vec::new();
        for pattern in patterns {
            let (parent, name) = pattern.as_str().rsplit_once('/').unwrap_or(("", pattern.as_str()));
            for entry in self.entries(parent)? {
                if entry.kind == FileType::Directory && matches_wildcard(name, &entry.name) {
                    found.extend(join(parent, &entry.name));
                }
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Lists the text files under the roots by file extension. Follows no links and skips hidden files.
    pub fn list_sources(&self, roots: &[SourcePath]) -> SourceList {
        let mut list = SourceList { folders: roots.to_vec(), ..SourceList::default() };
        let mut next = 0;
        while let Some(folder) = list.folders.get(next).cloned() {
            next += 1;
            match self.entries(folder.as_str()) {
                Ok(entries) => entries.iter().for_each(|entry| list.add_entry(&folder, entry)),
                Err(error) => list.left_out.push(error),
            }
        }
        list.files.sort();
        list.files.dedup();
        list.folders.sort();
        list.folders.dedup();
        list
    }

    /// Reads a source file.
    pub fn read_source(&self, path: &SourcePath) -> Result<String, FileError> {
        let path = WorkspacePath::from(path);
        super::decode_utf8(&path, self.read_up_to(&path, MAX_SOURCE_BYTES as u64)?)
    }

    fn entries(&self, folder: &str) -> Result<Vec<safe_fs::FolderEntry>, FileError> {
        let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        match safe_fs::open_folder(self.root_fd.as_fd(), &parts).and_then(|fd| safe_fs::list(fd.as_fd())) {
            Err(Errno::NOENT) => Ok(Vec::new()),
            other => other.map_err(|errno| FileError::of_errno(folder, errno)),
        }
    }
}

impl SourceList {
    fn add_entry(&mut self, folder: &SourcePath, entry: &safe_fs::FolderEntry) {
        let name = entry.name.as_str();
        let is_passing = name.starts_with('.') || name.ends_with('~') || safe_fs::is_temporary(name);
        let is_text = SOURCE_SUFFIXES.iter().any(|ending| name.ends_with(ending));
        let path = join(folder.as_str(), name).filter(|_| !is_passing);
        match (entry.kind, path) {
            (FileType::Directory, Some(path)) if self.folders.len() < MAX_SOURCE_FOLDERS => {
                self.folders.push(path)
            }
            (FileType::Directory, Some(path)) => {
                let problem = format!("more than {MAX_SOURCE_FOLDERS} folders; this folder is ignored");
                self.left_out.push(FileError::Failed { path: path.to_string(), problem });
            }
            (FileType::RegularFile, Some(path)) if is_text && self.files.len() < MAX_SOURCE_FILES => {
                self.files.push(path);
            }
            (FileType::RegularFile, Some(path)) if is_text => {
                let problem = format!("more than {MAX_SOURCE_FILES} files; this file is ignored");
                self.left_out.push(FileError::Failed { path: path.to_string(), problem });
            }
            (FileType::Symlink, Some(path)) if is_text => {
                self.left_out.push(FileError::Link { path: path.to_string() });
            }
            (_, Some(path)) if is_text => {
                self.left_out.push(FileError::NotAFile { path: path.to_string() });
            }
            (_, None) if is_text && !is_passing => {
                self.left_out.push(FileError::NotInWorkspace { path: format!("{folder}/{name}") });
            }
            _ => {}
        }
    }
}

fn join(folder: &str, name: &str) -> Option<SourcePath> {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    SourcePath::parse(path).ok()
}
