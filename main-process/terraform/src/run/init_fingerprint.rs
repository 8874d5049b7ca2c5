//! Detects changes of `.terraform` in the folder of a board since an `init`. Its content is executed: providers are
//! programs, and `modules.json` selects the folders of modules. A clone can contain all of it.

use journal::Digest;
use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

const TERRAFORM_FOLDER: &str = ".terraform";
const LOCK_FILE: &str = ".terraform.lock.hcl";
/// Small files whose content is hashed, in addition to their metadata.
const HASHED_FILES: [&str; 3] = ["modules/modules.json", "terraform.tfstate", "environment"];
const MAX_READ_BYTES: u64 = 16 << 20;
const MAX_FOLDER_DEPTH: usize = 24;
const MAX_ENTRIES: usize = 100_000;

/// Returns a digest of everything that an `init` creates; `None` when there is nothing. Follows links, as used by a
/// provider cache, because their targets are executed.
pub fn fingerprint(folder: &Path) -> io::Result<Option<Digest>> {
    let root = folder.join(TERRAFORM_FOLDER);
    if matches!(fs::symlink_metadata(&root), Err(error) if error.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let mut found = Vec::new();
    walk(&root, &PathBuf::new(), 0, &mut found)?;
    if found.is_empty() {
        return Ok(None);
    }
    let small = HASHED_FILES.iter().map(|name| root.join(name)).chain([folder.join(LOCK_FILE)]);
    for path in small {
        let content = match fs::metadata(&path) {
            Ok(metadata) if metadata.len() > MAX_READ_BYTES => return Err(too_much()),
            // A pipe or a device would block the read.
            Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
            Ok(_) => Digest::hash(&fs::read(&path)?).to_string(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "none".to_owned(),
            Err(error) => return Err(error),
        };
        found.push(content);
    }
    Ok(Some(Digest::hash(found.join("\n").as_bytes())))
}

fn too_much() -> io::Error {
    io::Error::other(".terraform contains too many or too large files")
}

/// Adds one line per file and link.
fn walk(folder: &Path, within: &Path, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        if found.len() >= MAX_ENTRIES || depth > MAX_FOLDER_DEPTH {
            return Err(too_much());
        }
        let (path, name) = (entry.path(), within.join(entry.file_name()));
        let own = fs::symlink_metadata(&path)?;
        if own.is_symlink() {
            found.push(format!("{name:?} leads to {:?}", fs::read_link(&path)?));
        }
        let metadata = fs::metadata(&path)?;
        if metadata.is_dir() {
            walk(&path, &name, depth + 1, found)?;
            continue;
        }
        found.push(format!(
            "{name:?} {} {}.{} {}.{} {} {:o}",
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
            metadata.ino(),
            metadata.mode()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn whatever_is_put_in_place_of_it_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let now = || fingerprint(root.path()).unwrap();
        assert_eq!(now(), None);
        fs::create_dir_all(path(".terraform/providers/h/n/t/1.0.0/linux_amd64")).unwrap();
        fs::write(path(LOCK_FILE), "lock").unwrap();
        assert_eq!(now(), None, "nothing in it can be executed");
        let binary = path(".terraform/providers/h/n/t/1.0.0/linux_amd64/binary");
        fs::write(&binary, "code").unwrap();
        let mut last = now();
        assert!(last.is_some());
        assert_eq!(now(), last);
        let mut moved = |what: &str| {
            assert_ne!(now(), last, "{what}");
            last = now();
        };
        fs::write(path("other"), "evil").unwrap();
        fs::rename(path("other"), &binary).unwrap();
        moved("another file of the same size");
        fs::write(path(LOCK_FILE), "lokc").unwrap();
        moved("the lock file");
        fs::create_dir_all(path(".terraform/modules")).unwrap();
        fs::write(path(".terraform/modules/modules.json"), "{}").unwrap();
        moved("modules");
        fs::write(path(".terraform/terraform.tfstate"), "{}").unwrap();
        moved("a backend");
        // Through a link to a provider cache.
        fs::create_dir_all(path("cache")).unwrap();
        fs::write(path("cache/binary"), "code").unwrap();
        symlink(path("cache"), path(".terraform/providers/h/n/t/1.0.0/other")).unwrap();
        moved("a link");
        fs::write(path("cache/more"), "evil").unwrap();
        moved("behind a link");
        fs::write(path(".terraform/plugin_path"), "[]").unwrap();
        moved("where plugins are looked for");
        symlink("/nowhere", path(".terraform/dangling")).unwrap();
        assert!(fingerprint(root.path()).is_err(), "what cannot be read is not judged");
    }
}
