//! The file of standing approvals in the user's configuration folder. Each entry is bound to the canonical path of its
//! workspace. A workspace cannot bring approvals of its own, because nothing in its folder is read for them.

use safe_fs::PrivateFile;
use serde::{Deserialize, Serialize};
use shared_protocol::review::StandingApproval;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

const MAX_FILE_BYTES: u64 = 4 << 20;
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ApprovalFileContents {
    version: u32,
    /// By the canonical path of the workspace.
    workspaces: BTreeMap<String, Vec<StandingApproval>>,
}

impl Default for ApprovalFileContents {
    fn default() -> Self {
        Self { version: VERSION, workspaces: BTreeMap::new() }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApprovalFileError {
    #[error("{} cannot be read: {problem}. Fix or delete the file, then grant the approvals again", .path.display())]
    Unreadable { path: PathBuf, problem: String },
    #[error("{} could not be written: {source}", .path.display())]
    Unwritten { path: PathBuf, source: io::Error },
}

/// The entries of one workspace.
#[derive(Debug)]
pub(crate) struct ApprovalFile {
    file: PrivateFile,
    workspace: String,
}

impl ApprovalFile {
    /// `workspace` is canonical. A path that is not UTF-8 is written with its bytes escaped.
    pub(crate) fn new(path: PathBuf, workspace: &Path) -> Self {
        let workspace = match workspace.to_str() {
            Some(text) => text.to_owned(),
            None => format!("{:?}", workspace.as_os_str()),
        };
        Self { file: PrivateFile::new(path), workspace }
    }

    /// A missing file grants nothing; a damaged one is an error and grants nothing either.
    pub(crate) fn read(&self) -> Result<Vec<StandingApproval>, ApprovalFileError> {
        Ok(self.contents()?.workspaces.remove(&self.workspace).unwrap_or_default())
    }

    /// Replaces the entries of this workspace and leaves those of others alone.
    pub(crate) fn write(&self, approvals: &[StandingApproval]) -> Result<(), ApprovalFileError> {
        let unwritten = |source| ApprovalFileError::Unwritten { path: self.file.path().to_owned(), source };
        // Another Draftboard may be writing for another workspace.
        let _lock = self.file.lock().map_err(unwritten)?;
        let mut contents = self.contents()?;
        if approvals.is_empty() {
            contents.workspaces.remove(&self.workspace);
        } else {
            contents.workspaces.insert(self.workspace.clone(), approvals.to_vec());
        }
        let text =
            serde_json::to_vec_pretty(&contents).map_err(|error| unwritten(io::Error::other(error)))?;
        self.file.write(&text).map_err(unwritten)
    }

    fn contents(&self) -> Result<ApprovalFileContents, ApprovalFileError> {
        let unreadable =
            |problem: String| ApprovalFileError::Unreadable { path: self.file.path().to_owned(), problem };
        let Some(text) = self.file.read(MAX_FILE_BYTES).map_err(|error| unreadable(error.to_string()))?
        else {
            return Ok(ApprovalFileContents::default());
        };
        let contents: ApprovalFileContents =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        if contents.version != VERSION {
            return Err(unreadable(format!("its version is {}; expected {VERSION}", contents.version)));
        }
        Ok(contents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::review::ApprovalGrant;
    use std::{
        fs::{self, OpenOptions},
        os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    };

    fn approval(id: u64) -> StandingApproval {
        let grant =
            ApprovalGrant { client: None, scope: "diagram".parse().unwrap(), boards: vec![], expires: None };
        StandingApproval { id, grant, by: "ada".to_owned(), granted: 1, for_this_run: false, used: 0 }
    }

    #[test]
    fn entries_are_kept_for_one_workspace_and_only_for_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/approvals.json");
        let [one, other] =
            ["/w/one", "/w/other"].map(|root| ApprovalFile::new(path.clone(), Path::new(root)));
        assert!(one.read().unwrap().is_empty());
        one.write(&[approval(1)]).unwrap();
        other.write(&[approval(2), approval(3)]).unwrap();
        assert_eq!(one.read().unwrap(), [approval(1)]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        other.write(&[]).unwrap();
        assert_eq!((one.read().unwrap().len(), other.read().unwrap().len()), (1, 0));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(one.read().unwrap_err().to_string().contains("0600"));
    }

    #[test]
    fn a_damaged_file_grants_nothing_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approvals.json");
        let file = ApprovalFile::new(path.clone(), Path::new("/w"));
        for text in ["{", "[]", r#"{"version":2,"workspaces":{}}"#, r#"{"version":1,"workspaces":{},"x":1}"#]
        {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(file.read().unwrap_err().to_string().contains("approvals.json"), "{text}");
            assert!(file.write(&[approval(1)]).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_file_of_a_few_bytes_grants_nothing_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approvals.json");
        let file = ApprovalFile::new(path.clone(), Path::new("/w"));
        let private = rustix::fs::Mode::from_raw_mode(0o600);
        let makes: [&dyn Fn(); 4] = [
            &|| rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, private, 0).unwrap(),
            &|| fs::create_dir(&path).unwrap(),
            &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
            &|| {
                let large = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
                large.set_len(1 << 40).unwrap();
            },
        ];
        for make in makes {
            make();
            assert!(file.read().unwrap_err().to_string().contains("approvals.json cannot be read"));
            assert!(file.write(&[approval(1)]).is_err());
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        }
        fs::remove_file(path.with_extension("lock")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path.with_extension("lock"),
            rustix::fs::FileType::Fifo,
            private,
            0,
        )
        .unwrap();
        assert!(file.write(&[approval(1)]).is_err());
    }
}
