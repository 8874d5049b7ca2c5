//! Checks the lines of an audit one after the other: chain, signatures, decisions and grants.

use super::anchor_check::finding;
use device_key::{KeyId, KeySignature, KnownKeys, SignatureCheck, SignedPurpose};
use journal::check_audit;
use shared_protocol::{
    ProposalId, Revision,
    review::{
        ApprovalGrant, AuditEntry, AuditEvent, AuditFinding, AuditFindingKind, AuditLine, AuditReport,
        StandingApproval,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Findings about lines in one report.
const MAX_FINDINGS: usize = 200;
/// The hash before the first line.
const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const BY_APPROVAL: &str = "standing approval";
const COMPARE: &str = "Compare .draftboard/journal.db with a backup.";
const LOOK: &str = "Look at what it did with `draftboard log`, and revert it if it is not yours.";

/// A check of lines, as far as it has come.
pub(super) struct LineCheck<'k> {
    known: &'k KnownKeys,
    /// The first line that must have a signature, as far as it is known.
    signed_from: Option<u64>,
    end: (u64, String),
    /// Whether the line before was found to be wrong, so that the next one need not follow it.
    is_resuming: bool,
    report: AuditReport,
    problems: Vec<LineProblem>,
    /// By key: the first and the last line, and their number.
    unknown_keys: BTreeMap<String, (u64, u64, u64)>,
    grants: BTreeMap<u64, GrantedApproval>,
    accepted: BTreeSet<(ProposalId, Option<Revision>)>,
    rejected: BTreeSet<ProposalId>,
}

struct LineProblem {
    kind: AuditFindingKind,
    first: u64,
    last: u64,
    /// Follows "line 3" or "lines 3 to 5".
    problem: String,
    hint: &'static str,
}

struct GrantedApproval {
    by: Option<String>,
    /// Absent on lines of earlier versions.
    grant: Option<ApprovalGrant>,
    is_over: bool,
}

impl<'k> LineCheck<'k> {
    pub(super) fn new(known: &'k KnownKeys, signed_from: Option<u64>) -> Self {
        Self {
            known,
            signed_from,
            end: (0, NO_HASH.to_owned()),
            is_resuming: false,
            report: AuditReport::default(),
            problems: Vec::new(),
            unknown_keys: BTreeMap::new(),
            grants: BTreeMap::new(),
            accepted: BTreeSet::new(),
            rejected: BTreeSet::new(),
        }
    }

    pub(super) fn push(&mut self, line: &AuditLine) {
        let is_whole = self.follow(line);
        let entry = serde_json::from_str::<AuditEntry>(&line.text).ok();
        self.check_signature(line, is_whole, entry.as_ref().map(|entry| entry.event));
        if let Some(entry) = entry {
            self.take(line.number, entry);
        }
        self.report.lines += 1;
        self.report.head.clone_from(&line.hash);
    }

    /// Checks the chain up to this line. Returns whether its text matches its hash.
    fn follow(&mut self, line: &AuditLine) -> bool {
        let next = self.end.0 + 1;
        if line.number > next {
            self.find(
                AuditFindingKind::RemovedLine,
                (next, line.number - 1),
                "is missing: it was removed",
                COMPARE,
            );
        } else if line.number < next {
            let text = "is there more than once";
            self.find(AuditFindingKind::ChangedLine, (line.number, line.number), text, COMPARE);
        } else if line.previous != self.end.1 && !self.is_resuming {
            let text = format!("does not follow line {}: one of the two was changed", self.end.0);
            self.find(AuditFindingKind::ChangedLine, (line.number, line.number), text, COMPARE);
        }
        let before = Some((line.number.saturating_sub(1), line.previous.clone()));
        let is_whole = check_audit(before, std::slice::from_ref(line)).is_ok();
        if !is_whole {
            let text = "was changed: its text does not match its hash";
            self.find(AuditFindingKind::ChangedLine, (line.number, line.number), text, COMPARE);
        }
        self.is_resuming = !is_whole;
        self.end = (line.number, line.hash.clone());
        is_whole
    }

    fn check_signature(&mut self, line: &AuditLine, is_whole: bool, event: Option<AuditEvent>) {
        let number = line.number;
        let Some(signature) = &line.signature else {
            if self.signed_from.is_none_or(|from| number < from) {
                self.report.before_signing += 1;
            } else if event.is_some_and(AuditEvent::is_decision) {
                let text = "is a decision without a signature: it was not made on a device with a key";
                self.find(AuditFindingKind::UnsignedDecision, (number, number), text, LOOK);
            } else {
                let text = "has no signature: it was added without the key of this device";
                self.find(AuditFindingKind::ForgedLine, (number, number), text, LOOK);
            }
            return;
        };
        self.signed_from = Some(self.signed_from.map_or(number, |from| from.min(number)));
        let text = AuditLine::signed_text(&signature.journal, number, &line.hash);
        let stated = KeySignature {
            key: KeyId::written(&signature.key),
            algorithm: signature.algorithm.clone(),
            value: signature.value.clone(),
        };
        match self.known.check(SignedPurpose::AuditLine, text.as_bytes(), &stated) {
            SignatureCheck::Valid(_) => self.report.signed += 1,
            SignatureCheck::UnknownKey => {
                let (_, last, count) =
                    self.unknown_keys.entry(signature.key.clone()).or_insert((number, number, 0));
                (*last, *count) = (number, *count + 1);
            }
            // A line whose text was changed is named already.
            SignatureCheck::Wrong if !is_whole => {}
            SignatureCheck::Wrong => {
                let text = "does not match its signature: it was written or changed without the key";
                self.find(AuditFindingKind::ForgedLine, (number, number), text, LOOK);
            }
        }
    }

    fn take(&mut self, number: u64, entry: AuditEntry) {
        let AuditEntry { event, by, way, proposal, revision, approval, grant, .. } = entry;
        match (event, approval) {
            (AuditEvent::Grant, Some(id)) => {
                self.grants.insert(id, GrantedApproval { by, grant, is_over: false });
            }
            (AuditEvent::Revoke | AuditEvent::Expire, Some(id)) => {
                if let Some(granted) = self.grants.get_mut(&id) {
                    granted.is_over = true;
                }
            }
            (AuditEvent::Accept, Some(id))
                if way == BY_APPROVAL && self.grants.get(&id).is_none_or(|granted| granted.is_over) =>
            {
                let text = format!("was accepted by the standing approval {id}, which was not in effect");
                self.find(AuditFindingKind::MissingGrant, (number, number), text, LOOK);
            }
            _ => {}
        }
        match (event, proposal) {
            (AuditEvent::Accept, Some(proposal)) => drop(self.accepted.insert((proposal.id, revision))),
            (AuditEvent::Reject, Some(proposal)) => drop(self.rejected.insert(proposal.id)),
            _ => {}
        }
    }

    pub(super) fn has_accepted(&self, proposal: ProposalId, revision: Option<Revision>) -> bool {
        self.accepted.contains(&(proposal, revision))
    }

    pub(super) fn has_rejected(&self, proposal: ProposalId) -> bool {
        self.rejected.contains(&proposal)
    }

    /// Says why a standing approval of the user's configuration does not come from this audit.
    pub(super) fn ungranted(&self, approval: &StandingApproval) -> Option<&'static str> {
        match self.grants.get(&approval.id) {
            None => Some("the audit does not contain its grant"),
            Some(GrantedApproval { is_over: true, .. }) => Some("the audit contains its end"),
            Some(granted) if granted.by.as_deref().is_some_and(|by| by != approval.by) => {
                Some("the audit names another person")
            }
            Some(granted) if granted.grant.as_ref().is_some_and(|grant| *grant != approval.grant) => {
                Some("it covers something else than was granted")
            }
            Some(_) => None,
        }
    }

    /// The report about the lines.
    pub(super) fn finish(self) -> AuditReport {
        let Self { mut report, problems, unknown_keys, .. } = self;
        report.findings = problems.into_iter().take(MAX_FINDINGS).map(LineProblem::into_finding).collect();
        for (key, (first, last, count)) in unknown_keys {
            let lines = if count == 1 { "1 line is".to_owned() } else { format!("{count} lines are") };
            let message = format!("{lines} signed by the key {key}, which this device does not know.");
            let hint = "If it is the key of a device that you trust, run `draftboard key show` there and \
                        `draftboard key trust KEY` here.";
            let unknown = finding(AuditFindingKind::UnknownKey, message, hint);
            report.findings.push(AuditFinding { lines: Some((first, last)), ..unknown });
        }
        report
    }

    /// Joins a problem with that of the lines directly before.
    fn find(
        &mut self,
        kind: AuditFindingKind,
        (first, last): (u64, u64),
        problem: impl Into<String>,
        hint: &'static str,
    ) {
        let problem = problem.into();
        let is_full = self.problems.len() > MAX_FINDINGS;
        match self.problems.last_mut() {
            Some(before) if before.kind == kind && before.problem == problem && before.last + 1 == first => {
                before.last = last;
            }
            _ if is_full => {}
            _ => self.problems.push(LineProblem { kind, first, last, problem, hint }),
        }
    }
}

impl LineProblem {
    fn into_finding(self) -> AuditFinding {
        let Self { kind, first, last, problem, hint } = self;
        let message = match first == last {
            true => format!("Line {first} {problem}."),
            false => format!("Lines {first} to {last}: each {problem}."),
        };
        AuditFinding { lines: Some((first, last)), ..finding(kind, message, hint) }
    }
}
