//! The configuration file itself: read, changed, backed up, replaced as a whole.

use super::{
    BridgeCommand, ClientConfigFile, ConfigScope, NAME,
    merge::{MergeError, merge},
};
use safe_fs::SafeFolder;
use std::{
    fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// More than any configuration has.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// New files are private, because they may come to hold secrets of other servers.
const PRIVATE: u32 = 0o600;

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("{} was not changed: {source}", .file.display())]
    Merge { file: PathBuf, source: MergeError },
    #[error("{} could not be read: {source}", .file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error("{} could not be written: {source}; nothing was changed", .file.display())]
    Write { file: PathBuf, source: io::Error },
}

/// The outcome of writing the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectOutcome {
    /// The file has the entry already.
    Already,
    /// The earlier content is in `backup`, if there was any.
    Written { backup: Option<PathBuf> },
}

/// A file with the entry alone, to be shown or copied by hand.
pub fn example(target: &ClientConfigFile, bridge: &BridgeCommand) -> String {
    merge("", target.key, NAME, &target.members(bridge)).unwrap_or_default()
}

/// Writes the entry.
pub fn connect(target: &ClientConfigFile, bridge: &BridgeCommand) -> Result<ConnectOutcome, ConnectError> {
    let file = match target.scope {
        // Dotfiles are often links into a repository: the file behind the link is changed.
        ConfigScope::User => target.file.canonicalize().unwrap_or_else(|_| target.file.clone()),
        ConfigScope::Project => {
            refuse_link(&target.file)
                .map_err(|source| ConnectError::Read { file: target.file.clone(), source })?;
            target.file.clone()
        }
    };
    let before = read(&file).map_err(|source| ConnectError::Read { file: file.clone(), source })?;
    let text = before.as_deref().unwrap_or_default();
    let after = merge(text, target.key, NAME, &target.members(bridge))
        .map_err(|source| ConnectError::Merge { file: file.clone(), source })?;
    if before.as_deref() == Some(after.as_str()) {
        return Ok(ConnectOutcome::Already);
    }
    let written = replace(&file, before.as_deref(), &after);
    written
        .map(|backup| ConnectOutcome::Written { backup })
        .map_err(|source| ConnectError::Write { file, source })
}

/// Refuses a file of a workspace that is no regular file, or whose folder is a link.
fn refuse_link(file: &Path) -> io::Result<()> {
    let opened = SafeFolder::parent_of(file).and_then(|(folder, name)| folder.open_file(name));
    match opened {
        Err(error) if !error.problem.is_missing() => Err(error.problem.into()),
        _ => Ok(()),
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let opened = match fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    opened.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {MAX_FILE_BYTES} bytes"),
        ));
    }
    Ok(Some(text))
}

/// Replaces the file with its permissions kept, and the backup with its content before.
fn replace(file: &Path, before: Option<&str>, after: &str) -> io::Result<Option<PathBuf>> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = fs::metadata(file).map_or(PRIVATE, |metadata| metadata.permissions().mode() & 0o777);
    let backup = before.map(|before| {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".backup");
        let backup = file.with_file_name(name);
        safe_fs::write_with_mode(&backup, before.as_bytes(), mode).map(|()| backup)
    });
    let backup = backup.transpose()?;
    safe_fs::write_with_mode(file, after.as_bytes(), mode)?;
    Ok(backup)
}

#[cfg(test)]
mod tests {
    use super::{BridgeCommand, ClientConfigFile, ConfigScope, ConnectError, ConnectOutcome, connect};
    use std::{fs, os::unix::fs::PermissionsExt, path::Path};

    fn target(file: &Path) -> ClientConfigFile {
        ClientConfigFile {
            file: file.to_owned(),
            key: "servers",
            workspace: None,
            typed: true,
            scope: ConfigScope::User,
        }
    }

    fn bridge() -> BridgeCommand {
        BridgeCommand {
            command: "/bin/draftboard".to_owned(),
            workspace: Some("/w".to_owned()),
            launch: true,
        }
    }

    #[test]
    fn a_new_file_is_made_with_its_folders_and_only_ours_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/mcp.json");
        assert_eq!(connect(&target(&file), &bridge()).unwrap(), ConnectOutcome::Written { backup: None });
        let read: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let expected = serde_json::json!({"servers": {"draftboard": {
            "type": "stdio", "command": "/bin/draftboard", "args": ["mcp", "--workspace", "/w", "--launch"]}}});
        assert_eq!(read, expected);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(connect(&target(&file), &bridge()).unwrap(), ConnectOutcome::Already);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_was_there_is_kept_aside_with_its_rights() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
        fs::write(&file, "{ /* mine */ }").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let ConnectOutcome::Written { backup: Some(backup) } = connect(&target(&link), &bridge()).unwrap()
        else {
            panic!()
        };
        assert_eq!(fs::read_to_string(&backup).unwrap(), "{ /* mine */ }");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("/* mine */") && text.contains("draftboard"), "{text}");
        for path in [&file, &backup] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
        }
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        fs::write(&file, "{ broken").unwrap();
        let error = connect(&target(&file), &bridge()).unwrap_err();
        assert!(matches!(error, ConnectError::Merge { .. }), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken");
        fs::write(&file, b"\xff").unwrap();
        assert!(matches!(connect(&target(&file), &bridge()).unwrap_err(), ConnectError::Read { .. }));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
