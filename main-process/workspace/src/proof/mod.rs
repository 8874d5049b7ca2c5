//! Proof of the audit: each line is signed with the key of this device when it is written, and the head of the audit is
//! anchored in the user's own folder, outside of the workspace. [`verify_audit`] compares the three.
//!
//! No decision is made without the key; other lines are written without a signature when the key cannot be used, and
//! [`verify_audit`] names them.

mod anchor;
mod anchor_check;
mod anchor_writer;
mod line_check;
mod verify;

pub use anchor::settle_findings;
pub use verify::{JournalAccess, ProofFiles, verify_audit, verify_exported, verify_missing};

use crate::notices::{NoticeTopic, WorkspaceNotices};
use anchor::{Anchor, AnchorFolder, EarlierFinding};
use anchor_check::{JournalFacts, compare, earlier_findings};
use anchor_writer::{AnchorJob, AnchorWriter};
use device_key::{DeviceKey, KeyHolder, KnownKeys, SignedPurpose};
use journal::{AuditSigner, Journal};
use safe_fs::PrivateFile;
use shared_protocol::{
    Refusal, RefusalCode,
    review::{AuditFinding, AuditLine, LineSignature},
    text::count_noun,
};
use std::{path::Path, sync::Arc};

/// The proof of an open workspace.
#[derive(Debug)]
pub(super) struct WorkspaceProof {
    key: KeyHolder,
    anchors: AnchorFolder,
    writer: AnchorWriter,
    /// The journal that is anchored.
    journal: String,
    /// The first line that must have a signature.
    signed_from: u64,
    /// Findings that the anchor does not contain yet.
    noticed: Vec<EarlierFinding>,
    /// The path under which the workspace was anchored before it was moved.
    moved_from: Option<String>,
}

/// Signs lines with the loaded key.
#[derive(Debug)]
pub(super) struct LineSigner(Arc<DeviceKey>);

impl AuditSigner for LineSigner {
    fn sign(&self, journal: &str, number: u64, hash: &str) -> Option<LineSignature> {
        let text = AuditLine::signed_text(journal, number, hash);
        let signed = self.0.sign(SignedPurpose::AuditLine, text.as_bytes());
        Some(LineSignature {
            journal: journal.to_owned(),
            key: signed.key.to_string(),
            algorithm: signed.algorithm,
            value: signed.value,
        })
    }
}

impl WorkspaceProof {
    /// Compares a journal that was just opened with its anchor. A difference is a notice, and never keeps a workspace
    /// from opening.
    pub(super) fn begin(
        (files, key): (&ProofFiles, KeyHolder),
        root: &Path,
        journal: &Journal,
        now: u64,
        notices: &mut WorkspaceNotices,
    ) -> Self {
        let anchors = AnchorFolder::new(files.anchors.clone(), root);
        let first_signed = journal.first_signed_line().ok().flatten();
        let mut proof = Self {
            key,
            writer: AnchorWriter::new(anchors.clone()),
            anchors,
            journal: journal.identity().to_owned(),
            signed_from: first_signed.unwrap_or_else(|| journal.audit_head().0 + 1),
            noticed: Vec::new(),
            moved_from: None,
        };
        let found = KnownKeys::read(&PrivateFile::new(files.known_keys.clone()))
            .map_err(|error| error.to_string())
            .and_then(|known| {
                let anchor = proof.anchors.find(journal.identity(), &known);
                let facts =
                    JournalFacts::read(journal, anchor.anchor()).map_err(|error| error.to_string())?;
                if let Some(anchor) = anchor.anchor().filter(|anchor| anchor.journal == facts.identity) {
                    proof.signed_from = anchor.signed_from;
                    proof.moved_from = anchor.moved_from(root);
                }
                Ok((compare(&anchor, &facts, &known), earlier_findings(&anchor).collect::<Vec<_>>()))
            });
        match found {
            Ok((mut findings, earlier)) => {
                proof.noticed =
                    findings.iter().filter_map(|finding| EarlierFinding::of(finding, now)).collect();
                findings.extend(earlier);
                if let Some(text) = words_of(&findings) {
                    notices.set(NoticeTopic::Proof, text);
                }
            }
            Err(error) => notices.set(NoticeTopic::Proof, format!("The audit was not checked: {error}")),
        }
        proof
    }

    /// The signer of the next lines; `None` while there is no key.
    pub(super) fn signer(&self) -> Option<LineSigner> {
        self.key.settled().map(LineSigner)
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.settled().is_some()
    }

    /// Refuses a decision that could not be signed.
    pub(super) fn require_key(&self) -> Result<(), Refusal> {
        self.key.wait().map(drop).map_err(|problem| {
            let message = format!("Nothing was decided, because the decision could not be signed: {problem}");
            Refusal::new(RefusalCode::StorageError, message)
                .hint("`draftboard key show` shows the key of this device and where it is stored.")
        })
    }

    /// Anchors the present head of the journal. Without a key the old anchor stays, and later lines count from it.
    pub(super) fn record(&mut self, journal: &Journal, now: u64, notices: &mut WorkspaceNotices) {
        let Some(key) = self.key.key() else { return };
        if journal.identity() != self.journal {
            let message = "The journal was recreated from memory while Draftboard was running; its earlier audit is lost."
                .to_owned();
            self.noticed.push(EarlierFinding::replaced(message, now));
            self.journal = journal.identity().to_owned();
            self.signed_from = 1;
        }
        let (lines, hash) = journal.audit_head();
        let (revision, operation) = journal.operation_head();
        let anchor = Anchor::new(
            self.anchors.workspace(),
            (&self.journal, self.signed_from),
            (lines, hash),
            (revision.0, operation),
            now,
        );
        let (noticed, moved_from) = (std::mem::take(&mut self.noticed), self.moved_from.take());
        match self.writer.post(AnchorJob { anchor, noticed, moved_from, key }) {
            None => notices.clear(&NoticeTopic::Anchor),
            Some(problem) => {
                notices.set(NoticeTopic::Anchor, format!("The audit's head was not anchored: {problem}."));
            }
        }
    }
}

/// Findings in one notice; `None` without any.
pub(crate) fn words_of(findings: &[AuditFinding]) -> Option<String> {
    let first = findings.first()?;
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!(" {}.", count_noun(more, "more finding")),
    };
    Some(format!(
        "The audit does not hold. {}{more} `draftboard audit verify` lists all findings.",
        first.message
    ))
}
