//! Edits to workspace files. Defines only the shapes: paths and hashes are checked when edits are applied.

use serde::{Deserialize, Serialize};

use super::strict::{count, object, ok_tagged, present, string_enum};

/// A half-open range in UTF-16 code units, `start <= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct TextRange {
    #[serde(deserialize_with = "count")]
    pub start: u64,
    #[serde(deserialize_with = "count")]
    pub end: u64,
}

impl TextRange {
    fn check(&self) -> Result<(), String> {
        match self.start <= self.end {
            true => Ok(()),
            false => Err(format!("range ends at {} before it starts at {}", self.end, self.start)),
        }
    }
}

/// Replaces a range of the original text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct TextEdit {
    pub range: TextRange,
    pub new_text: String,
}

/// A change to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WorkspaceFileEdit {
    Text {
        file_path: String,
        /// The edit is refused when the file content has another hash (hex).
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        expected_sha256: Option<String>,
        edits: Vec<TextEdit>,
    },
    Create {
        file_path: String,
        contents: String,
        /// When absent, an existing file is a conflict.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        overwrite: Option<bool>,
    },
    Delete {
        file_path: String,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        allow_missing: Option<bool>,
    },
}

/// The result of a batch of edits: all applied or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "ok")]
pub enum ApplyEditsResult {
    #[serde(rename = "true")]
    Applied { applied: Vec<AppliedFile> },
    #[serde(rename = "false")]
    Failed { error: EditError },
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct AppliedFile {
    pub file_path: String,
}

/// Why a batch was not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct EditError {
    pub code: EditErrorCode,
    pub file_path: String,
    pub message: String,
}

string_enum!(
    /// The kind of an [`EditError`].
    EditErrorCode {
        Conflict = "conflict",
        NotFound = "notFound",
        PermissionDenied = "permissionDenied",
        InvalidEdit = "invalidEdit",
        IoError = "ioError",
    }
);

object!(TextEdit, WorkspaceFileEdit, AppliedFile, EditError);
object!(TextRange, check = TextRange::check);
ok_tagged!(ApplyEditsResult);
