//! The review queue as seen by reviewers. The requests about it are in [`crate::decisions`].

use crate::{
    BoardId, Change, NodeId, ProposalId, ProposalState, ProposalSubject, Revision,
    messages::BoardProblem,
    preview_sessions::PreviewImage,
    proposal::{
        ContentHash, ElementChangeKind, ProposalAcceptance, ProposalComment, ProposalStep, ProposedAction,
        Proposer, ReviewVerdict, Risk,
    },
    terraform::ApplyRequestPlanView,
};
use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

/// The maximum number of decided proposals in a view, besides all that need a decision.
pub const MAX_DECIDED_PROPOSALS: usize = 50;
/// The maximum number of audit entries in one response.
pub const MAX_AUDIT_ENTRIES: u32 = 1_000;
/// The maximum number of reported clashes of a proposal.
pub const MAX_CLASHES: usize = 100;
/// The maximum number of elements named in an audit line.
pub const MAX_AUDITED_ELEMENTS: usize = 200;
/// The maximum size of one text in [`BoardConsequences`]; a longer text is truncated and marked.
pub const MAX_SHOWN_TEXT_BYTES: usize = 64 << 10;
/// The maximum number of commands in one edit of a reviewer.
pub const MAX_EDIT_COMMANDS: usize = 200;
/// The maximum number of pages shown before and after.
pub const MAX_AFFECTED_PAGES: usize = 4;

// ---- notifications ---------------------------------------------------------------------------------------------------

/// The review queue in brief; sent after every change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Drafts and undecided proposals in the order of [`ProposalBrief::queue_order`], then the decided ones, newest
    /// first.
    pub proposals: Vec<ProposalBrief>,
    pub approvals: Vec<StandingApproval>,
    /// ConfirmationCodes that a terminal must enter. They are shown only here.
    pub codes: Vec<ConfirmationCode>,
}

impl ReviewView {
    /// The number of proposals that need a decision, for the badge.
    pub fn undecided_count(&self) -> usize {
        self.proposals.iter().filter(|proposal| proposal.needs_decision()).count()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalBrief {
    pub id: ProposalId,
    /// The number shown to people: 1, 2, 3 in order of creation.
    pub number: u64,
    /// The title by the agent; empty for a draft that was not submitted.
    pub title: String,
    pub proposer: Proposer,
    pub state: ProposalState,
    pub act: Option<ProposedAction>,
    /// Most severe first.
    pub risks: Vec<Risk>,
    pub counts: ElementCounts,
    pub version: u32,
    /// Changes whenever the proposal changes; then it must be opened again.
    pub stamp: u64,
    pub base: Revision,
    pub comments: u64,
    pub created: u64,
    pub expires: u64,
    /// The newest decision about a part of it.
    pub decided: Option<ProposalAcceptance>,
    /// The operations that resulted from accepted parts, oldest first.
    pub revisions: Vec<Revision>,
}

impl ProposalBrief {
    /// Orders the review queue wherever it is listed: undecided proposals before drafts, most severe first, then
    /// oldest first.
    pub fn queue_order(&self, other: &Self) -> Ordering {
        let key = |brief: &Self| (!brief.needs_decision(), Risk::severity(&brief.risks), brief.number);
        key(self).cmp(&key(other))
    }

    /// Returns true when a person can decide it, possibly after another look.
    pub fn needs_decision(&self) -> bool {
        matches!(self.state, ProposalState::Open | ProposalState::Stale { .. })
    }

    /// Returns true when some parts were accepted and others were not.
    pub fn is_partly_accepted(&self) -> bool {
        self.decided.is_some() && self.state != ProposalState::Accepted
    }

    /// A short label of its state.
    pub fn state_label(&self) -> String {
        let state = self.state.as_str();
        if self.is_partly_accepted() { format!("partly accepted, {state}") } else { state.to_owned() }
    }
}

/// The number of elements by kind of change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElementCounts {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
    /// Moved or resized only.
    pub placed: u64,
}

/// A proposal with all details that a decision needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalDetails {
    pub brief: ProposalBrief,
    pub hash: ContentHash,
    /// The rationale by the agent; shown separately from text of the workbench.
    pub rationale: String,
    pub steps: Vec<ProposalStep>,
    pub comments: Vec<ProposalComment>,
    pub decisions: Vec<ProposalAcceptance>,
    /// Removals first, then in the requested order, layout last.
    pub elements: Vec<ProposedElement>,
    /// The changes based on `brief.base`: applied to a copy of that state they produce the proposed state. File
    /// contents are left out.
    pub changes: Vec<Change>,
    /// New problems that the proposal causes.
    pub checks: Vec<BoardProblem>,
    /// Why it no longer applies; empty when it does.
    pub conflicts: Vec<String>,
    /// Fields that it changes and that have changed since it was proposed.
    pub clashes: Vec<FieldClash>,
    /// The saved plan of a request to apply or destroy, if one exists.
    #[serde(default)]
    pub plan: Option<Box<ApplyRequestPlanView>>,
}

impl ProposalDetails {
    /// Creates the verdict that accepts the shown content. Destructive elements need to be in `confirmed`.
    pub fn verdict(
        &self,
        chosen: Option<BTreeSet<ProposalSubject>>,
        confirmed: BTreeSet<ProposalSubject>,
    ) -> ReviewVerdict {
        let Self { brief, hash, plan, .. } = self;
        ReviewVerdict {
            proposal: brief.id,
            version: brief.version,
            hash: *hash,
            base: brief.base,
            chosen,
            confirmed,
            plan: plan.as_ref().and_then(|plan| plan.hash()),
        }
    }

    /// The chosen elements with everything they depend on.
    pub fn with_dependencies(
        &self,
        chosen: impl IntoIterator<Item = ProposalSubject>,
    ) -> BTreeSet<ProposalSubject> {
        let needs: BTreeMap<&ProposalSubject, &[ProposalSubject]> =
            self.elements.iter().map(|element| (&element.subject, element.needs.as_slice())).collect();
        let mut all = BTreeSet::new();
        let mut waiting: Vec<ProposalSubject> = chosen.into_iter().collect();
        while let Some(subject) = waiting.pop() {
            let needed = needs.get(&subject).copied().unwrap_or_default();
            if needs.contains_key(&subject) && all.insert(subject) {
                waiting.extend_from_slice(needed);
            }
        }
        all
    }

    /// Finds a chosen element that is only a side effect of removals, none of which is chosen.
    pub fn effect_without_cause(&self, chosen: &BTreeSet<ProposalSubject>) -> Option<&ProposedElement> {
        self.elements.iter().find(|element| {
            chosen.contains(&element.subject)
                && !element.effect_of.is_empty()
                && !element.effect_of.iter().any(|cause| chosen.contains(cause))
        })
    }

    /// All direct and indirect side effects of removing `cause`, in element order.
    pub fn effects_of(&self, cause: &ProposalSubject) -> Vec<&ProposedElement> {
        let mut effects: BTreeMap<&ProposalSubject, Vec<&ProposalSubject>> = BTreeMap::new();
        for element in &self.elements {
            for cause in &element.effect_of {
                effects.entry(cause).or_default().push(&element.subject);
            }
        }
        let mut all = BTreeSet::from([cause]);
        let mut waiting = vec![cause];
        while let Some(subject) = waiting.pop() {
            waiting
                .extend(effects.remove(subject).unwrap_or_default().into_iter().filter(|it| all.insert(it)));
        }
        all.remove(cause);
        self.elements.iter().filter(|element| all.contains(&element.subject)).collect()
    }
}

/// A selectable element of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedElement {
    pub subject: ProposalSubject,
    /// [`ElementChangeKind::Placed`] is layout only: group these into one line.
    pub kind: ElementChangeKind,
    /// A description in domain terms.
    pub text: String,
    /// The board that shows it.
    pub board: Option<BoardId>,
    pub differences: Vec<FieldChange>,
    /// The complete differences of changed files, so that a reviewer sees everything they accept.
    pub files: Vec<FileLineCounts>,
    pub risks: Vec<Risk>,
    /// Accepting it needs an explicit confirmation; never preselected.
    pub destructive: bool,
    /// Its direct dependencies; see [`ProposalDetails::with_dependencies`].
    pub needs: Vec<ProposalSubject>,
    /// The removals that cause this side effect: it can be accepted only with at least one of them. Empty for
    /// requested changes.
    pub effect_of: Vec<ProposalSubject>,
}

/// A field before and after, in full; sensitive values are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    pub field: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A field that changed after the proposal was made. Sensitive values are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldClash {
    pub subject: ProposalSubject,
    /// The display name of the element.
    pub name: String,
    pub field: String,
    /// The value at the time of the proposal.
    pub before: Option<String>,
    /// The current value; `None` when it no longer exists.
    pub now: Option<String>,
    /// The proposed value; `None` when the proposal removes it.
    pub proposed: Option<String>,
    /// The last author of a change to the element, if known.
    pub by: Option<String>,
}

/// The consequences of a proposal, computed on request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalConsequences {
    pub proposal: ProposalId,
    pub version: u32,
    /// The hash of the analysed content.
    pub hash: ContentHash,
    /// The affected infrastructure boards.
    pub boards: Vec<BoardConsequences>,
    /// Descriptions of the affected trace links.
    pub links: Vec<String>,
    /// The affected pages, at most [`MAX_AFFECTED_PAGES`]. Their pictures are requested one by one.
    pub pages: Vec<TouchedPage>,
    pub more_pages: u64,
}

/// An interface page that the proposal changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TouchedPage {
    pub page: NodeId,
    pub title: String,
}

/// Pictures of a page before and after a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedPagePictures {
    pub proposal: ProposalId,
    /// The hash of the rendered content.
    pub hash: ContentHash,
    pub page: NodeId,
    pub now: PageRendering,
    pub proposed: PageRendering,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PageRendering {
    /// The page does not exist.
    Absent,
    Drawn(PreviewImage),
    /// Why there is no picture.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardConsequences {
    pub board: BoardId,
    pub name: String,
    /// The changed Terraform files.
    pub files: Vec<FileLineCounts>,
    pub more_files: u64,
    pub cost: Option<CostDelta>,
    /// Why the consequences are incomplete.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLineCounts {
    /// The path in the board folder, or in the workspace for its own files.
    pub path: String,
    /// The number of added and removed lines.
    pub added: u64,
    pub removed: u64,
    /// The unified diff.
    pub text: String,
}

impl FileLineCounts {
    /// Creates a delta from a unified diff with its two header lines.
    pub fn from_text(path: &str, text: String) -> Self {
        let count = |sign: char| text.lines().skip(2).filter(|line| line.starts_with(sign)).count() as u64;
        Self { path: path.to_owned(), added: count('+'), removed: count('-'), text }
    }
}

/// The monthly cost before and after, as far as prices are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostDelta {
    pub currency: Option<String>,
    pub before: Option<f64>,
    pub after: Option<f64>,
    /// The number of resources without a price.
    pub unpriced_before: u64,
    pub unpriced_after: u64,
}

/// A code that a terminal must enter, and its purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmationCode {
    pub code: String,
    pub purpose: String,
    pub expires: u64,
}

/// The proposal that an operation came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalOfOperation {
    pub revision: Revision,
    pub proposal: ProposalId,
    pub number: u64,
    pub title: String,
    /// The name that the client reported.
    pub client: String,
    /// The reviewer who accepted it.
    pub reviewer: String,
    pub time: u64,
}

// ---- standing approvals -----------------------------------------------------------------------------------------------

/// The permission for a client to apply changes without a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalGrant {
    /// The name that the client reports; all clients when absent. The name is not verified.
    pub client: Option<String>,
    pub scope: ApprovalScope,
    /// The boards by id; all boards when empty.
    pub boards: Vec<BoardId>,
    /// Milliseconds since 1970, UTC.
    pub expires: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    pub id: u64,
    pub grant: ApprovalGrant,
    pub by: String,
    pub granted: u64,
    /// Granted on the command line: it ends with this run.
    pub for_this_run: bool,
    /// The number of uses.
    pub used: u64,
}

/// An area of the workbench that a standing approval can cover. No area includes Terraform apply and destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalArea {
    Diagram,
    Bundles,
    Interface,
    TerraformPlan,
}

impl ApprovalArea {
    pub const ALL: [Self; 4] = [Self::Diagram, Self::Bundles, Self::Interface, Self::TerraformPlan];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Diagram => "diagram",
            Self::Bundles => "bundles",
            Self::Interface => "interface",
            Self::TerraformPlan => "terraform-plan",
        }
    }
}

/// Areas, each with the most severe risk that is covered. Destructive changes are covered only when listed
/// explicitly.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalScope(pub BTreeMap<ApprovalArea, Risk>);

impl ApprovalScope {
    /// Returns true when changes with these risks in this area are covered.
    pub fn covers(&self, area: ApprovalArea, risks: &BTreeSet<Risk>) -> bool {
        match self.0.get(&area) {
            None => false,
            // An unlabelled change is more than cosmetic.
            Some(Risk::Cosmetic) => risks.iter().eq([&Risk::Cosmetic]),
            Some(most) => risks.iter().all(|risk| risk >= most),
        }
    }
}

/// Parses `all` or a comma-separated list of areas; each may end in `:destructive`.
impl FromStr for ApprovalScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut scope = BTreeMap::new();
        for part in text.split(',').map(str::trim) {
            let (word, most) = match part.strip_suffix(":destructive") {
                Some(word) => (word, Risk::Destructive),
                None => (part, Risk::Security),
            };
            let areas: Vec<ApprovalArea> = match word {
                "all" => ApprovalArea::ALL.to_vec(),
                word => ApprovalArea::ALL.into_iter().filter(|area| area.as_str() == word).collect(),
            };
            if areas.is_empty() {
                return Err(format!(
                    "{part:?} is not a scope: expected all, diagram, bundles, interface or terraform-plan, optionally followed by :destructive"
                ));
            }
            for area in areas {
                let covered = scope.entry(area).or_insert(most);
                *covered = (*covered).min(most);
            }
        }
        Ok(Self(scope))
    }
}

impl fmt::Display for ApprovalScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (area, most)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match most {
                Risk::Security => write!(f, "{comma}{}", area.as_str())?,
                most => write!(f, "{comma}{}:{}", area.as_str(), most.label())?,
            }
        }
        Ok(())
    }
}

// ---- audit ---------------------------------------------------------------------------------------------------------------

/// An audit line as stored in the journal. `hash` is SHA-256 over the previous hash and `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditLine {
    pub number: u64,
    pub previous: String,
    pub hash: String,
    /// An [`AuditEntry`] as JSON, byte for byte as written.
    pub text: String,
    /// Absent on lines from before signing began.
    #[serde(default)]
    pub signature: Option<LineSignature>,
}

impl AuditLine {
    /// The text that a signature covers. The hash covers the content of the line and all lines before it.
    pub fn signed_text(journal: &str, number: u64, hash: &str) -> String {
        format!("{journal} {number} {hash}")
    }
}

/// The signature of an audit line by the key of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineSignature {
    /// The identity of the journal that the line belongs to.
    pub journal: String,
    /// The short fingerprint of the public key.
    pub key: String,
    pub algorithm: String,
    /// In Base64.
    pub value: String,
}

/// The result of verifying an audit, the operations beside it and what confirms them outside of the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditReport {
    /// The number of audit lines, and how many of them are signed by a known key.
    pub lines: u64,
    pub signed: u64,
    /// Lines from before signing began, which have no signature.
    pub before_signing: u64,
    /// The hash of the newest line; empty when there is none.
    pub head: String,
    /// The number of checked operations.
    pub operations: u64,
    /// Whether an anchor on this device confirms the head.
    pub anchored: bool,
    pub findings: Vec<AuditFinding>,
}

/// Something that does not hold in an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditFinding {
    pub kind: AuditFindingKind,
    /// The first and the last audit line that it is about.
    pub lines: Option<(u64, u64)>,
    pub message: String,
    /// The next step.
    pub hint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuditFindingKind {
    /// The text of a line does not match its hash, or the line does not follow the one before it.
    ChangedLine,
    RemovedLine,
    /// A line without a valid signature, added without the key.
    ForgedLine,
    /// A decision without a signature.
    UnsignedDecision,
    /// A result of a decision that the audit does not contain.
    MissingDecision,
    /// A standing approval, or a decision by one, without its grant.
    MissingGrant,
    /// Signed by a key that this device does not know.
    UnknownKey,
    /// Lines that were anchored are gone.
    CutTail,
    /// The journal is older than its anchor.
    Rewound,
    /// A line differs from the one that was anchored.
    Rewritten,
    /// Another journal was anchored here.
    Replaced,
    /// No journal is left.
    MissingJournal,
    /// The workspace was moved since it was anchored.
    Moved,
    /// The workspace is a copy of another one.
    Copied,
    /// Signed on this device, but no anchor is left.
    LostAnchor,
    /// Signed on another device, and not anchored here.
    NoAnchor,
    /// The anchor cannot be read or has no valid signature.
    WrongAnchor,
    /// An operation was changed or removed.
    ChangedOperation,
}

/// A page of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// Newest first.
    pub lines: Vec<AuditLine>,
    /// The total number of lines.
    pub total: u64,
    /// The first line that breaks the hash chain, and the reason; absent when the chain is intact.
    pub broken: Option<(u64, String)>,
}

/// An event of the review queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub event: AuditEvent,
    /// The person, if a person acted.
    #[serde(default)]
    pub by: Option<String>,
    /// The channel: `window`, `terminal`, `agent`, `standing approval`, `clock`.
    pub way: String,
    #[serde(default)]
    pub proposal: Option<AuditedProposal>,
    #[serde(default)]
    pub reason: Option<String>,
    /// The resulting operation.
    #[serde(default)]
    pub revision: Option<Revision>,
    /// The affected standing approval, or the one that accepted.
    #[serde(default)]
    pub approval: Option<u64>,
    /// The content of a granted approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<ApprovalGrant>,
    /// The accepted elements by id or path; at most [`MAX_AUDITED_ELEMENTS`], then the number of the remaining ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditedProposal {
    pub id: ProposalId,
    pub number: u64,
    pub version: u32,
    /// The hash of the whole content, if the event refers to a proposal version.
    pub hash: Option<ContentHash>,
    /// The client's key and its self-reported name.
    pub proposer: Proposer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuditEvent {
    /// An agent started a draft.
    Begin,
    Submit,
    Revise,
    Withdraw,
    Supersede,
    Expire,
    /// An element that it changes was changed by another author.
    Stale,
    LookAgain,
    Edit,
    Comment,
    Accept,
    Reject,
    /// A decision that was refused, with the reason.
    Refused,
    Grant,
    Revoke,
    /// An agent or a person called a tool of a managed server or of a manifest, with the outcome.
    Call,
    /// A person made a decision about a managed server or a manifest.
    Upstream,
    CodeShown,
    WrongCode,
    /// The accepted changes of a proposal were reverted.
    Revert,
}

impl AuditEvent {
    /// Returns true for a decision of a person, or of an approval that a person granted. Such a line is never written
    /// without a signature where the device has a key.
    pub fn is_decision(self) -> bool {
        matches!(
            self,
            Self::Accept | Self::Reject | Self::Revert | Self::Grant | Self::Revoke | Self::Upstream
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_findings_travel_to_the_window_with_and_without_their_options() {
        let text = || "x".to_owned();
        let signature = LineSignature { journal: text(), key: text(), algorithm: text(), value: text() };
        for signature in [None, Some(signature)] {
            let line = AuditLine { number: 1, previous: text(), hash: text(), text: text(), signature };
            let lines = line.signature.as_ref().map(|_| (1, 2));
            let kind = AuditFindingKind::CutTail;
            let finding = AuditFinding { kind, lines, message: text(), hint: text() };
            let bytes = postcard::to_stdvec(&(&line, &finding)).unwrap();
            assert_eq!(postcard::from_bytes::<(AuditLine, AuditFinding)>(&bytes).unwrap(), (line, finding));
        }
    }

    #[test]
    fn a_scope_names_what_it_covers_and_destruction_only_by_name() {
        let scope = |text: &str| text.parse::<ApprovalScope>().unwrap();
        let risks = |risks: &[Risk]| risks.iter().copied().collect::<BTreeSet<_>>();
        let plain = scope("diagram, bundles");
        assert!(plain.covers(ApprovalArea::Diagram, &risks(&[])));
        assert!(plain.covers(ApprovalArea::Bundles, &risks(&[Risk::Security, Risk::Wide])));
        assert!(!plain.covers(ApprovalArea::Interface, &risks(&[])));
        assert!(!plain.covers(ApprovalArea::Diagram, &risks(&[Risk::Destructive])));
        assert!(!scope("all").covers(ApprovalArea::Diagram, &risks(&[Risk::Destructive, Risk::Wide])));
        assert!(scope("all:destructive").covers(ApprovalArea::Diagram, &risks(&[Risk::Destructive])));
        let narrow = ApprovalScope(BTreeMap::from([(ApprovalArea::Diagram, Risk::Cosmetic)]));
        assert!(narrow.covers(ApprovalArea::Diagram, &risks(&[Risk::Cosmetic])));
        assert!(!narrow.covers(ApprovalArea::Diagram, &risks(&[])));
        for text in ["diagram", "diagram:destructive,bundles", "diagram,bundles,interface,terraform-plan"] {
            assert_eq!(scope(text).to_string(), text);
        }
        for wrong in ["", "everything", "diagram:wide", "terraform-apply", "all,"] {
            assert!(wrong.parse::<ApprovalScope>().is_err(), "{wrong}");
        }
    }
}
