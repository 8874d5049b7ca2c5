//! What Terraform reads in a board's folder is regular files: a link is followed by Terraform and judged by nobody.

use beneath::{PathError, PathProblem, SafeFolder};
use rustix::fs::{AtFlags, FileType, statat};
use std::path::Path;

/// How names end that Terraform or OpenTofu reads by themselves.
pub(crate) const READ_BY_TERRAFORM: [&str; 8] =
    [".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json", "test.hcl", "test.json"];
/// Terraform's own folder: a cache of providers links from there, and nothing in it is read as configuration by its name.
const OWN_FOLDER: &str = ".terraform";
const MAX_DEPTH: usize = 32;
const MAX_ENTRIES: usize = 100_000;

/// Refuses configuration files that are no regular files, and links to folders, which may be called as modules.
pub(super) fn refuse_within(folder: &SafeFolder) -> Result<(), PathError> {
    let mut left = MAX_ENTRIES;
    walk(folder, 0, &mut left)
}

fn walk(folder: &SafeFolder, depth: usize, left: &mut usize) -> Result<(), PathError> {
    for entry in folder.list()? {
        let refused = |problem| Err(PathError { path: folder.path().join(&entry.name), problem });
        *left = left.saturating_sub(1);
        if *left == 0 || depth > MAX_DEPTH {
            return refused(PathProblem::System(rustix::io::Errno::TOOBIG));
        }
        let is_read = READ_BY_TERRAFORM.iter().any(|ending| entry.name.ends_with(ending));
        match entry.kind {
            FileType::Directory if depth == 0 && entry.name == OWN_FOLDER => {}
            FileType::Directory => walk(&folder.folder(&entry.name)?, depth + 1, left)?,
            FileType::RegularFile => {}
            FileType::Symlink if is_read || leads_to_folder(folder, &entry.name) => {
                return refused(PathProblem::Link);
            }
            FileType::Symlink => {}
            _ if is_read => return refused(PathProblem::NotAFile),
            _ => {}
        }
    }
    Ok(())
}

fn leads_to_folder(folder: &SafeFolder, name: &str) -> bool {
    statat(folder.fd(), name, AtFlags::empty())
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Refuses files that functions read and that are no regular files.
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
        // A cache of providers links; a link that is no configuration is nobody's business before a function names it.
        symlink(elsewhere.path(), path.join(".terraform/providers/a/linux_amd64")).unwrap();
        symlink(elsewhere.path().join("x"), path.join("notes.txt")).unwrap();
        fs::write(path.join("main.tf"), "").unwrap();
        check().unwrap();
        assert!(refuse_links(&path, ["main.tf", "missing.txt"].into_iter()).is_ok());
        let error = refuse_links(&path, ["notes.txt"].into_iter()).unwrap_err().to_string();
        assert!(error.contains("notes.txt") && error.contains("link"), "{error}");
        for name in [
            "x.tf",
            "x.tf.json",
            "x.tofu",
            "x.tofu.json",
            "terraform.tfvars",
            "x.tftest.hcl",
            "x.auto.tfvars.json",
            "modules/m/x.tf",
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
        // One that leads nowhere yet leads somewhere later.
        symlink("/nowhere", path.join("y.tf")).unwrap();
        assert!(check().is_err());
        fs::remove_file(path.join("y.tf")).unwrap();
        let pipe = std::os::unix::net::UnixListener::bind(path.join("z.tf")).unwrap();
        assert!(check().unwrap_err().to_string().contains("not a regular file"));
        drop(pipe);
    }
}
