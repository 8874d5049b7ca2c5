//! Compares a journal with its anchor.

use super::anchor::{Anchor, FoundAnchor};
use device_key::{KeyId, KnownKeys};
use journal::{Journal, JournalError};
use shared_protocol::{
    Revision,
    review::{AuditFinding, AuditFindingKind},
    text::count_noun,
    v0::UtcTimestamp,
};

const COMPARE: &str = "Compare .draftboard/journal.db with a backup. `draftboard audit settle` ends the finding once you know the reason.";

/// The parts of a journal that an anchor says something about.
#[derive(Debug)]
pub(super) struct JournalFacts {
    pub(super) identity: String,
    lines: u64,
    /// The hash of the line that was the newest when the anchor was written.
    anchored_line: Option<String>,
    revision: Revision,
    /// The hash of the operation that was the newest then; `None` when it is no longer kept.
    anchored_operation: Option<String>,
    /// The keys that signed lines.
    signers: Vec<String>,
}

impl JournalFacts {
    pub(super) fn read(journal: &Journal, anchor: Option<&Anchor>) -> Result<Self, JournalError> {
        let line = match anchor.map(|anchor| anchor.lines) {
            Some(number @ 1..) => journal.audit(number - 1, 1)?.pop().filter(|line| line.number == number),
            _ => None,
        };
        let operation = anchor.map(|anchor| journal.operation_hash(Revision(anchor.revision))).transpose()?;
        Ok(Self {
            identity: journal.identity().to_owned(),
            lines: journal.audit_head().0,
            anchored_line: line.map(|line| line.hash),
            revision: journal.revision(),
            anchored_operation: operation.flatten(),
            signers: journal.audit_signers()?,
        })
    }
}

/// The present differences. An audit that goes on after its anchor is none: its lines are signed one by one.
pub(super) fn compare(found: &FoundAnchor, journal: &JournalFacts, known: &KnownKeys) -> Vec<AuditFinding> {
    let mut findings = Vec::new();
    match found {
        FoundAnchor::None if journal.signers.is_empty() => {}
        FoundAnchor::None if journal.signers.iter().any(|key| known.is_own(&KeyId::written(key))) => {
            findings.push(finding(
                AuditFindingKind::LostAnchor,
                "This device signed lines of the audit, but its anchor is gone: nothing outside of the workspace says how \
                 many lines there were.",
                "Opening the workspace anchors it again. Compare the last lines with a backup first.",
            ));
        }
        FoundAnchor::None => findings.push(finding(
            AuditFindingKind::NoAnchor,
            "The audit was signed on another device and is not anchored on this one: nothing outside of the workspace says \
             how many lines there were.",
            "Opening the workspace anchors it here.",
        )),
        FoundAnchor::Moved(anchor) => findings.push(finding(
            AuditFindingKind::Moved,
            format!("The workspace was moved: it was anchored at {}.", anchor.workspace),
            "Opening the workspace anchors it here.",
        )),
        FoundAnchor::Copied(anchor) => findings.push(finding(
            AuditFindingKind::Copied,
            format!("The workspace is a copy of {}, which has the same journal.", anchor.workspace),
            "Opening the workspace anchors the copy as well.",
        )),
        FoundAnchor::Wrong(problem) => findings.push(finding(
            AuditFindingKind::WrongAnchor,
            format!("The anchor of this workspace does not count: {problem}."),
            COMPARE,
        )),
        FoundAnchor::Here(_) => {}
    }
    if let Some(anchor) = found.anchor() {
        differences(anchor, journal, &mut findings);
    }
    findings
}

/// The differences that were found at earlier openings and are not settled.
pub(super) fn earlier_findings(found: &FoundAnchor) -> impl Iterator<Item = AuditFinding> + '_ {
    found.anchor().into_iter().flat_map(|anchor| &anchor.earlier).map(|earlier| {
        let noticed = UtcTimestamp::of_millis(earlier.noticed);
        finding(earlier.kind, format!("Found on {}: {}", noticed.as_str(), earlier.message), COMPARE)
    })
}

fn differences(anchor: &Anchor, journal: &JournalFacts, findings: &mut Vec<AuditFinding>) {
    let JournalFacts { lines, revision, .. } = journal;
    let anchored = Revision(anchor.revision);
    let (before, now) = (audit_lines(anchor.lines), audit_lines(*lines));
    if anchor.journal != journal.identity {
        let message = format!("Another journal was anchored here, with {before}. The present one has {now}.");
        findings.push(finding(AuditFindingKind::Replaced, message, COMPARE));
        return;
    }
    if *revision < anchored {
        let message = format!(
            "The journal is older than its anchor: it has {now} and revision {revision}, and was anchored with {before} and \
             revision {anchored}. A backup was restored, or the journal was turned back."
        );
        findings.push(finding(AuditFindingKind::Rewound, message, COMPARE));
        return;
    }
    if *lines < anchor.lines {
        let message =
            format!("The end of the audit was cut off: it was anchored with {before} and has {now} now.");
        let cut = finding(AuditFindingKind::CutTail, message, COMPARE);
        findings.push(AuditFinding { lines: Some((lines + 1, anchor.lines)), ..cut });
    } else if anchor.lines > 0 && journal.anchored_line.as_ref() != Some(&anchor.hash) {
        let message = format!("Line {} of the audit is not the line that was anchored.", anchor.lines);
        let rewritten = finding(AuditFindingKind::Rewritten, message, COMPARE);
        findings.push(AuditFinding { lines: Some((anchor.lines, anchor.lines)), ..rewritten });
    }
    if journal.anchored_operation.as_ref().is_some_and(|hash| *hash != anchor.operation) {
        let message = format!("Operation {anchored} is not the operation that was anchored.");
        findings.push(finding(AuditFindingKind::ChangedOperation, message, COMPARE));
    }
}

/// A number of audit lines in words.
pub(super) fn audit_lines(lines: u64) -> String {
    count_noun(usize::try_from(lines).unwrap_or(usize::MAX), "audit line")
}

pub(super) fn finding(
    kind: AuditFindingKind,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> AuditFinding {
    AuditFinding { kind, lines: None, message: message.into(), hint: hint.into() }
}
