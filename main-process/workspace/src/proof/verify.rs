//! Verifies an audit: its lines, the operations beside it, the user's approvals, and the anchor.

use super::{
    anchor::{AnchorFolder, FoundAnchor},
    anchor_check::{JournalFacts, audit_lines, compare, earlier_findings, finding},
    line_check::LineCheck,
};
use crate::{error::storage, review::read_approvals};
use device_key::{KeyError, KnownKeys};
use journal::{Journal, JournalError};
use safe_fs::PrivateFile;
use shared_protocol::{
    Proposal, ProposalState, Refusal, RefusalCode, Revision,
    review::{AuditFindingKind, AuditLine, AuditReport, MAX_AUDIT_ENTRIES, ProposalOfOperation},
};
use std::path::{Path, PathBuf};

/// Operations in one page: small enough that nobody waits for the writer.
const PAGE_OPERATIONS: u32 = 500;
const LOOK: &str = "Look at it with `draftboard log`, and revert it if it is not yours.";

/// The files of the user that confirm an audit.
#[derive(Debug, Clone)]
pub struct ProofFiles {
    /// The list of known public keys.
    pub known_keys: PathBuf,
    /// The folder of anchors.
    pub anchors: PathBuf,
    /// The standing approvals.
    pub approvals: PathBuf,
}

/// A journal that can be read in short turns, such as that of a running writer.
pub trait JournalAccess {
    fn read<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, Refusal>;
}

impl JournalAccess for &Journal {
    fn read<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, Refusal> {
        work(self).map_err(|error| storage(&error))
    }
}

/// Verifies the audit of a workspace. `root` is canonical. An error means that it could not be verified.
///
/// The order matters while somebody is working: the anchor, the approvals and the results of decisions are read first, so
/// that the lines that confirm them are there.
pub fn verify_audit(
    access: &mut impl JournalAccess,
    files: &ProofFiles,
    root: &Path,
) -> Result<AuditReport, Refusal> {
    let known = known_keys(files)?;
    let identity = access.read(|journal| Ok(journal.identity().to_owned()))?;
    let anchors = AnchorFolder::new(files.anchors.clone(), root);
    let found = anchors.find(&identity, &known);
    let approvals = read_approvals(files.approvals.clone(), root)
        .map_err(|error| Refusal::new(RefusalCode::StorageError, error))?;
    let anchor = found.anchor().cloned();
    let facts = access.read({
        let anchor = anchor.clone();
        move |journal| JournalFacts::read(journal, anchor.as_ref())
    })?;
    let heads = access.read(Journal::proposal_heads)?;
    let origins = read_origins(access)?;

    let signed_from = anchor.filter(|anchor| anchor.journal == identity).map(|anchor| anchor.signed_from);
    let mut check = LineCheck::new(&known, signed_from);
    let mut after = 0;
    loop {
        let lines = access.read(move |journal| journal.audit(after, MAX_AUDIT_ENTRIES))?;
        let Some(last) = lines.last() else { break };
        after = last.number;
        lines.iter().for_each(|line| check.push(line));
    }
    let mut others = compare(&found, &facts, &known);
    others.extend(earlier_findings(&found));
    for origin in origins {
        if !check.has_accepted(origin.proposal, Some(origin.revision)) {
            let message = format!(
                "Operation {} is recorded as proposal {}, but the audit contains no decision about it.",
                origin.revision, origin.number
            );
            others.push(finding(AuditFindingKind::MissingDecision, message, LOOK));
        }
    }
    for proposal in heads {
        if let Some(problem) = undecided(&proposal, &check) {
            let message = format!("Proposal {} {problem}", proposal.number);
            others.push(finding(AuditFindingKind::MissingDecision, message, LOOK));
        }
    }
    for approval in approvals {
        if let Some(problem) = check.ungranted(&approval) {
            let message = format!(
                "The standing approval {} ({}) was not granted here: {problem}.",
                approval.id, approval.grant.scope
            );
            let hint = "Revoke it in the settings, and grant it again if it is yours.";
            others.push(finding(AuditFindingKind::MissingGrant, message, hint));
        }
    }
    let mut report = check.finish();
    report.findings.append(&mut others);
    check_operations(access, &mut report)?;
    report.anchored = found.anchor().is_some();
    Ok(report)
}

/// Verifies a workspace that has no journal.
pub fn verify_missing(files: &ProofFiles, root: &Path) -> Result<AuditReport, Refusal> {
    let known = known_keys(files)?;
    let mut report = AuditReport::default();
    let lines = match AnchorFolder::new(files.anchors.clone(), root).find("", &known) {
        FoundAnchor::Here(anchor) => anchor.lines,
        FoundAnchor::Wrong(_) => 0,
        FoundAnchor::None | FoundAnchor::Moved(_) | FoundAnchor::Copied(_) => return Ok(report),
    };
    report.findings.push(finding(
        AuditFindingKind::MissingJournal,
        format!("The workspace has no journal, and one with {} was anchored here.", audit_lines(lines)),
        "Restore .draftboard/journal.db from a backup. Without one, opening the workspace starts a new journal.",
    ));
    Ok(report)
}

/// Verifies lines that were exported: their chain and their signatures. Nothing says whether lines are missing at the end.
pub fn verify_exported(
    lines: impl Iterator<Item = Result<AuditLine, Refusal>>,
    files: &ProofFiles,
) -> Result<AuditReport, Refusal> {
    let known = known_keys(files)?;
    let mut check = LineCheck::new(&known, None);
    for line in lines {
        check.push(&line?);
    }
    Ok(check.finish())
}

fn known_keys(files: &ProofFiles) -> Result<KnownKeys, Refusal> {
    KnownKeys::read(&PrivateFile::new(files.known_keys.clone()))
        .map_err(|error: KeyError| Refusal::new(RefusalCode::StorageError, error.to_string()))
}

fn read_origins(access: &mut impl JournalAccess) -> Result<Vec<ProposalOfOperation>, Refusal> {
    let (mut all, mut after) = (Vec::new(), Revision::START);
    loop {
        let page = access.read(move |journal| journal.origins_after(after, MAX_AUDIT_ENTRIES))?;
        let Some(last) = page.last() else { return Ok(all) };
        after = last.revision;
        all.extend(page);
    }
}

/// Says which decision about a proposal the audit does not contain.
fn undecided(proposal: &Proposal, check: &LineCheck<'_>) -> Option<&'static str> {
    // Those with an operation are named by their origin.
    let actions = proposal.decisions.iter().filter(|decided| decided.revision.is_none());
    let is_accepted = actions.map(|_| None).all(|revision| check.has_accepted(proposal.id, revision));
    match &proposal.state {
        _ if !is_accepted => Some("is recorded as accepted, but the audit contains no decision about it."),
        ProposalState::Accepted if proposal.decisions.is_empty() => {
            Some("is recorded as accepted without a decision.")
        }
        ProposalState::Rejected { .. } if !check.has_rejected(proposal.id) => {
            Some("is recorded as rejected, but the audit contains no decision about it.")
        }
        _ => None,
    }
}

fn check_operations(access: &mut impl JournalAccess, report: &mut AuditReport) -> Result<(), Refusal> {
    let mut check = access.read(|journal| journal.check_operations(None, PAGE_OPERATIONS))?;
    while !check.is_done {
        check = access.read(move |journal| journal.check_operations(Some(check), PAGE_OPERATIONS))?;
    }
    report.operations = check.chain().count;
    report.findings.extend(check.findings.into_iter().map(|(revision, problem)| {
        let message = format!("Operation {revision} was changed or removed: {problem}.");
        let hint = "Compare .draftboard/journal.db with a backup, and the boards with git.";
        finding(AuditFindingKind::ChangedOperation, message, hint)
    }));
    Ok(())
}
