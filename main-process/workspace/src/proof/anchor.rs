//! Anchors: the head of each workspace's audit, signed, in the user's state folder. One file for each workspace, by its
//! canonical path.

use super::ProofFiles;
use device_key::{DeviceKey, KeySignature, KnownKeys, SignatureCheck, SignedPurpose};
use journal::Digest;
use safe_fs::PrivateFile;
use serde::{Deserialize, Serialize};
use shared_protocol::review::{AuditFinding, AuditFindingKind};
use std::{
    io,
    path::{Path, PathBuf},
};

const VERSION: u32 = 1;
const MAX_ANCHOR_BYTES: u64 = 256 << 10;
/// Anchors that are looked through for a workspace that was moved.
const MAX_ANCHORS: usize = 10_000;
/// Kept findings; the oldest say most.
const MAX_EARLIER: usize = 20;

/// The head of an audit when it was last written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Anchor {
    version: u32,
    pub(super) workspace: String,
    pub(super) journal: String,
    /// The first line that must have a signature.
    pub(super) signed_from: u64,
    /// The number of lines and the hash of the newest.
    pub(super) lines: u64,
    pub(super) hash: String,
    /// The newest operation at that time, and its hash.
    pub(super) revision: u64,
    pub(super) operation: String,
    pub(super) time: u64,
    /// Differences that were found when the workspace was opened, until a person settles them.
    #[serde(default)]
    pub(super) earlier: Vec<EarlierFinding>,
}

/// A difference between a journal and its anchor that was found in the past.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EarlierFinding {
    pub(super) kind: AuditFindingKind,
    pub(super) message: String,
    /// Milliseconds since 1970, UTC.
    pub(super) noticed: u64,
}

/// An anchor as stored: the signature covers the text byte for byte.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredAnchor {
    text: String,
    signature: KeySignature,
}

/// The anchor of a workspace, as far as there is one.
#[derive(Debug)]
pub(super) enum FoundAnchor {
    None,
    Here(Anchor),
    /// An anchor of the same journal under a path where no workspace is any more.
    Moved(Anchor),
    /// An anchor of the same journal under the path of another workspace.
    Copied(Anchor),
    /// There is a file, but no valid anchor in it.
    Wrong(String),
}

impl FoundAnchor {
    /// The anchor to compare the journal with. A copy goes its own way.
    pub(super) fn anchor(&self) -> Option<&Anchor> {
        match self {
            Self::Here(anchor) | Self::Moved(anchor) => Some(anchor),
            Self::None | Self::Copied(_) | Self::Wrong(_) => None,
        }
    }
}

impl Anchor {
    pub(super) fn new(
        workspace: &str,
        (journal, signed_from): (&str, u64),
        (lines, hash): (u64, String),
        (revision, operation): (u64, String),
        time: u64,
    ) -> Self {
        Self {
            version: VERSION,
            workspace: workspace.to_owned(),
            journal: journal.to_owned(),
            signed_from,
            lines,
            hash,
            revision,
            operation,
            time,
            earlier: Vec::new(),
        }
    }

    /// The path that it was written for, when that is not this one.
    pub(super) fn moved_from(&self, root: &Path) -> Option<String> {
        (self.workspace != name_of(root)).then(|| self.workspace.clone())
    }
}

impl EarlierFinding {
    /// A difference that the next anchor would hide. Others stay visible, or are over when the workspace is anchored.
    pub(super) fn of(finding: &AuditFinding, noticed: u64) -> Option<Self> {
        use AuditFindingKind::{ChangedOperation, CutTail, Replaced, Rewound, Rewritten, WrongAnchor};
        matches!(finding.kind, CutTail | Rewound | Rewritten | Replaced | WrongAnchor | ChangedOperation)
            .then(|| Self { kind: finding.kind, message: finding.message.clone(), noticed })
    }

    pub(super) fn replaced(message: String, noticed: u64) -> Self {
        Self { kind: AuditFindingKind::Replaced, message, noticed }
    }
}

/// The anchors of this user, as seen from one workspace.
#[derive(Debug, Clone)]
pub(super) struct AnchorFolder {
    folder: PathBuf,
    workspace: String,
}

impl AnchorFolder {
    /// `root` is canonical.
    pub(super) fn new(folder: PathBuf, root: &Path) -> Self {
        Self { folder, workspace: name_of(root) }
    }

    pub(super) fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Finds the anchor of this workspace, or else one of the same journal.
    pub(super) fn find(&self, journal: &str, known: &KnownKeys) -> FoundAnchor {
        match self.read(&self.file(&self.workspace), known) {
            Ok(Some(anchor)) if anchor.workspace == self.workspace => return FoundAnchor::Here(anchor),
            Ok(Some(anchor)) => {
                return FoundAnchor::Wrong(format!("it was written for {}", anchor.workspace));
            }
            Err(problem) => return FoundAnchor::Wrong(problem),
            Ok(None) => {}
        }
        let others = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().take(MAX_ANCHORS);
        let same = others
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
            .filter_map(|entry| self.read(&PrivateFile::new(entry.path()), known).ok().flatten())
            .find(|anchor| anchor.journal == journal);
        match same {
            None => FoundAnchor::None,
            Some(other) if Path::new(&other.workspace).join("draftboard.toml").exists() => {
                FoundAnchor::Copied(other)
            }
            Some(other) => FoundAnchor::Moved(other),
        }
    }

    /// Writes the anchor of this workspace. Findings of the anchor before are kept.
    pub(super) fn write(
        &self,
        anchor: &Anchor,
        noticed: &[EarlierFinding],
        key: &DeviceKey,
    ) -> Result<(), String> {
        let file = self.file(&self.workspace);
        let before = read_stored(&file).ok().flatten().map(|(anchor, _)| anchor.earlier);
        let mut anchor = Anchor { earlier: before.unwrap_or_default(), ..anchor.clone() };
        for finding in noticed {
            if !anchor.earlier.iter().any(|known| known.message == finding.message) {
                anchor.earlier.push(finding.clone());
            }
        }
        anchor.earlier.truncate(MAX_EARLIER);
        write_stored(&file, &anchor, key)
    }

    /// Removes the anchor of a path that the workspace was moved from.
    pub(super) fn remove(&self, workspace: &str) {
        if let Err(error) = self.file(workspace).remove() {
            tracing::warn!(%error, workspace, "the anchor of the old path was not removed");
        }
    }

    fn file(&self, workspace: &str) -> PrivateFile {
        PrivateFile::new(self.folder.join(format!("{}.json", Digest::hash(workspace.as_bytes()))))
    }

    /// Only an anchor that a known key has signed counts.
    fn read(&self, file: &PrivateFile, known: &KnownKeys) -> Result<Option<Anchor>, String> {
        let Some((anchor, stored)) = read_stored(file)? else { return Ok(None) };
        match known.check(SignedPurpose::AuditAnchor, stored.text.as_bytes(), &stored.signature) {
            SignatureCheck::Valid(_) => Ok(Some(anchor)),
            SignatureCheck::UnknownKey => Err(format!(
                "it is signed by the key {}, which this device does not know",
                stored.signature.key
            )),
            SignatureCheck::Wrong => {
                Err("its signature does not match: it was changed without the key".to_owned())
            }
        }
    }
}

/// Drops the findings that were noted at earlier openings, once a person has looked at them. Returns their number.
/// An anchor without a valid signature is not signed anew.
pub fn settle_findings(files: &ProofFiles, root: &Path, key: &DeviceKey) -> Result<usize, String> {
    let known = KnownKeys::read(&PrivateFile::new(files.known_keys.clone()));
    let folder = AnchorFolder::new(files.anchors.clone(), root);
    let file = folder.file(&folder.workspace);
    let found = folder.read(&file, &known.map_err(|error| error.to_string())?);
    let found =
        found.map_err(|problem| format!("the anchor does not count: {problem}; open the workspace first"))?;
    let Some(mut anchor) = found else { return Ok(0) };
    let settled = std::mem::take(&mut anchor.earlier).len();
    if settled > 0 {
        write_stored(&file, &anchor, key)?;
    }
    Ok(settled)
}

fn read_stored(file: &PrivateFile) -> Result<Option<(Anchor, StoredAnchor)>, String> {
    let unreadable = |error: String| format!("{} cannot be read: {error}", file.path().display());
    let Some(bytes) = file.read(MAX_ANCHOR_BYTES).map_err(|error| unreadable(error.to_string()))? else {
        return Ok(None);
    };
    let stored: StoredAnchor =
        serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
    let anchor: Anchor = serde_json::from_str(&stored.text).map_err(|error| unreadable(error.to_string()))?;
    if anchor.version != VERSION {
        return Err(unreadable(format!("its version is {} and not {VERSION}", anchor.version)));
    }
    Ok(Some((anchor, stored)))
}

fn write_stored(file: &PrivateFile, anchor: &Anchor, key: &DeviceKey) -> Result<(), String> {
    let unwritten = |error: io::Error| format!("{} could not be written: {error}", file.path().display());
    let text = serde_json::to_string(anchor).map_err(|error| unwritten(error.into()))?;
    let signature = key.sign(SignedPurpose::AuditAnchor, text.as_bytes());
    let stored = StoredAnchor { text, signature };
    let bytes = serde_json::to_vec(&stored).map_err(|error| unwritten(error.into()))?;
    file.write(&bytes).map_err(unwritten)
}

/// A path that is not UTF-8 is written with its bytes escaped.
pub(super) fn name_of(root: &Path) -> String {
    root.to_str().map_or_else(|| format!("{:?}", root.as_os_str()), str::to_owned)
}
