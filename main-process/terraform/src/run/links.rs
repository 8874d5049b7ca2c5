//! Refuses links in the folder of a board: Terraform follows them for reading and writing, and their targets are
//! not analyzed.

use rustix::fs::FileType;
use safe_fs::{PathError, PathProblem, SafeFolder};
use std::path::Path;

/// File name suffixes that Terraform or OpenTofu reads automatically.
pub(crate) const TERRAFORM_FILE_SUFFIXES: [&str; 8] =
    [".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json", "test.hcl", "test.json"];
/// The folder of Terraform itself: a provider cache creates links in it, and its files are not read as
/// configuration.
const TERRAFORM_FOLDER: &str = ".terraform";
/// Files and folders that Terraform reads and writes there under fixed names.
const TERRAFORM_OWN_FILES: [&str; 5] = [
    ".terraform/environment",
    ".terraform/terraform.tfstate",
    ".terraform/providers",
    ".terraform/modules",
    ".terraform/modules/modules.json",
];
const MAX_FOLDER_DEPTH: usize = 32;
const MAX_ENTRIES: usize = 100_000;

/// Refuses every entry that is not a regular file or folder. Names do not matter: a function can read any file, and
/// a backend can write any file.
pub(super) fn refuse_within(folder: &SafeFolder) -> Result<(), PathError> {
    let mut left = MAX_ENTRIES;
    walk(folder, 0, &mut left)?;
    for name in TERRAFORM_OWN_FILES {
        let problem = match folder.kind(name)? {
            None | Some(FileType::RegularFile | FileType::Directory) => continue,
            Some(FileType::Symlink) => PathProblem::Link,
            Some(_) => PathProblem::NotAFile,
        };
        return Err(PathError { path: folder.path().join(name), problem });
    }
    Ok(())
}

fn walk(folder: &SafeFolder, depth: usize, left: &mut usize) -> Result<(), PathError> {
    for entry in folder.list()? {
        let refused = |problem| Err(PathError { path: folder.path().join(&entry.name), problem });
        *left = left.saturating_sub(1);
        if *left == 0 || depth > MAX_FOLDER_DEPTH {
            return refused(PathProblem::System(rustix::io::Errno::TOOBIG));
        }
        match entry.kind {
            FileType::Directory if depth == 0 && entry.name == TERRAFORM_FOLDER => {}
            FileType::Directory => walk(&folder.folder(&entry.name)?, depth + 1, left)?,
            FileType::RegularFile => {}
            FileType::Symlink => return refused(PathProblem::Link),
            _ => return refused(PathProblem::NotAFile),
        }
    }
    Ok(())
}

/// Refuses files that functions read when they are not regular files.
pub fn refuse_links<'a>(folder: &Path, files: impl Iterator<Item = &'a str>) -> Result<(), PathError> {
    let board = SafeFolder::open(folder)?;
    for file in files {
        let problem = match board.kind(file)? {
            Some(FileType::Symlink) => PathProblem::Link,
            None | Some(FileType::RegularFile | FileType::Directory) => continue,
            Some(_) => PathProblem::NotAFile,
        };
        return Err(PathError { path: folder.join(file), problem });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn what_terraform_reads_is_no_link() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = root.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("modules/m")).unwrap();
        fs::create_dir_all(path.join(".terraform/providers/a")).unwrap();
        fs::write(elsewhere.path().join("x"), "").unwrap();
        let check = || {
            let folder = SafeFolder::open(&path).unwrap();
            refuse_within(&folder)
        };
        // A provider cache creates links.
        symlink(elsewhere.path(), path.join(".terraform/providers/a/linux_amd64")).unwrap();
        fs::write(path.join("main.tf"), "").unwrap();
        check().unwrap();
        assert!(refuse_links(&path, ["main.tf", "missing.txt"].into_iter()).is_ok());
        symlink(elsewhere.path().join("x"), path.join("notes.txt")).unwrap();
        let error = refuse_links(&path, ["notes.txt"].into_iter()).unwrap_err().to_string();
        assert!(error.contains("notes.txt") && error.contains("link"), "{error}");
        assert!(check().is_err(), "a function or a backend may name it");
        fs::remove_file(path.join("notes.txt")).unwrap();
        for name in [
            "x.tf",
            "x.tf.json",
            "x.tofu",
            "x.tofu.json",
            "terraform.tfvars",
            "x.tftest.hcl",
            "x.auto.tfvars.json",
            "modules/m/x.tf",
            ".x.tfstate.lock.info",
            ".terraform/environment",
            ".terraform/modules",
            "modules/other",
            "anything",
        ] {
            let is_folder = !name.contains("x.") && !name.contains("tfvars");
            let target = if is_folder { elsewhere.path().to_owned() } else { elsewhere.path().join("x") };
            symlink(target, path.join(name)).unwrap();
            let error = check().unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("link"), "{name}: {error}");
            fs::remove_file(path.join(name)).unwrap();
        }
        // A dangling link may get a target later.
        symlink("/nowhere", path.join("y.tf")).unwrap();
        assert!(check().is_err());
        fs::remove_file(path.join("y.tf")).unwrap();
        let pipe = std::os::unix::net::UnixListener::bind(path.join("z.tf")).unwrap();
        assert!(check().unwrap_err().to_string().contains("not a regular file"));
        drop(pipe);
    }
}
