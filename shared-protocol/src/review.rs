//! What a reviewer sees of the queue, and what only a reviewer may ask for. These requests travel on the private channel
//! between main and its window; a terminal has [`TerminalReview`], where each decision waits for a code that it cannot see.
//! [`crate::messages::Request`] carries none of them, so no terminal, bridge or agent can decide by asking.

use crate::{
    BoardId, Change, Command, NodeId, ProposalId, ProposalState, Revision, Subject,
    messages::{Applied, Problem},
    preview::Screen,
    previews::Pixels,
    proposal::{Act, Comment, ContentHash, Decided, Kind, Proposer, Risk, Step, Verdict},
    terraform::{RequestPlanView, RunId},
    upstreams::UpstreamDecision,
};
use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

/// Decided proposals that a view holds beside all that wait.
pub const MAX_DECIDED: usize = 50;
/// Entries of the audit in one answer.
pub const MAX_AUDIT: u32 = 1_000;
/// Clashes of one proposal that are told.
pub const MAX_CLASHES: usize = 100;
/// Elements that one line of the audit names.
pub const MAX_AUDITED: usize = 200;
/// Bytes of one text in [`BoardConsequences`]; what is longer is cut, and says so.
pub const MAX_SHOWN_TEXT: usize = 64 << 10;
/// Commands of one edit of a reviewer.
pub const MAX_EDITS: usize = 200;
/// Pages that are shown before and after.
pub const MAX_PAGES: usize = 4;

// ---- what the window is told -----------------------------------------------------------------------------------------

/// The queue in brief; sent whenever something in it is other than it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Drafts and all that waits in the order of [`ProposalBrief::queue_order`], then the decided ones, newest first.
    pub proposals: Vec<ProposalBrief>,
    pub approvals: Vec<StandingApproval>,
    /// Codes that a terminal waits for. They are shown here and nowhere else.
    pub codes: Vec<CodeShown>,
}

impl ReviewView {
    /// What waits for a person: the badge.
    pub fn waiting(&self) -> usize {
        self.proposals.iter().filter(|proposal| proposal.waits()).count()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalBrief {
    pub id: ProposalId,
    /// What people call it: 1, 2, 3 in the order of their beginning.
    pub number: u64,
    /// The agent's words; empty for a draft that was not submitted.
    pub title: String,
    pub proposer: Proposer,
    pub state: ProposalState,
    pub act: Option<Act>,
    /// The gravest first.
    pub risks: Vec<Risk>,
    pub counts: Counts,
    pub version: u32,
    /// Another one whenever anything about it changed: time to open it again.
    pub stamp: u64,
    pub base: Revision,
    pub comments: u64,
    pub created: u64,
    pub expires: u64,
    /// The newest decision about a part of it.
    pub decided: Option<Decided>,
    /// The operations that accepted parts of it became, the oldest first.
    pub revisions: Vec<Revision>,
}

impl ProposalBrief {
    /// Orders a review queue wherever it is listed: what waits before drafts, the gravest first, then the oldest.
    pub fn queue_order(&self, other: &Self) -> Ordering {
        let key = |brief: &Self| (!brief.waits(), Risk::severity(&brief.risks), brief.number);
        key(self).cmp(&key(other))
    }

    /// A person can decide it, perhaps after another look.
    pub fn waits(&self) -> bool {
        matches!(self.state, ProposalState::Open | ProposalState::Stale { .. })
    }

    /// Some of it is in the workspace, and the rest is not.
    pub fn is_partly_accepted(&self) -> bool {
        self.decided.is_some() && self.state != ProposalState::Accepted
    }

    /// How it stands, in a word or two.
    pub fn standing(&self) -> String {
        let state = self.state.word();
        if self.is_partly_accepted() { format!("partly accepted, {state}") } else { state.to_owned() }
    }
}

/// Elements by what happens to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
    /// Moved or resized and nothing else.
    pub placed: u64,
}

/// One proposal with all that a decision needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedProposal {
    pub brief: ProposalBrief,
    pub hash: ContentHash,
    /// The agent's words: to be shown as such, apart from ours.
    pub rationale: String,
    pub steps: Vec<Step>,
    pub comments: Vec<Comment>,
    pub decisions: Vec<Decided>,
    /// Removals first, then as asked for, places last.
    pub elements: Vec<Element>,
    /// As they fit on `brief.base`: applied to a copy of that state they give the proposed one. Texts of files are left out.
    pub changes: Vec<Change>,
    /// Problems that it brings.
    pub checks: Vec<Problem>,
    /// Why it does not fit any more; empty when it does.
    pub conflicts: Vec<String>,
    /// Fields that it would change and that are others than they were when it was proposed.
    pub clashes: Vec<Clash>,
    /// The saved plan of a request to apply or destroy, as far as there is one.
    #[serde(default)]
    pub plan: Option<Box<RequestPlanView>>,
}

impl OpenedProposal {
    /// A yes to what is shown here. Nothing destructive is in it that was not confirmed.
    pub fn verdict(&self, chosen: Option<BTreeSet<Subject>>, confirmed: BTreeSet<Subject>) -> Verdict {
        let Self { brief, hash, plan, .. } = self;
        Verdict {
            proposal: brief.id,
            version: brief.version,
            hash: *hash,
            base: brief.base,
            chosen,
            confirmed,
            plan: plan.as_ref().and_then(|plan| plan.hash()),
        }
    }

    /// The chosen elements with all that they cannot go without.
    pub fn with_needs(&self, chosen: impl IntoIterator<Item = Subject>) -> BTreeSet<Subject> {
        let needs: BTreeMap<&Subject, &[Subject]> =
            self.elements.iter().map(|element| (&element.subject, element.needs.as_slice())).collect();
        let mut all = BTreeSet::new();
        let mut waiting: Vec<Subject> = chosen.into_iter().collect();
        while let Some(subject) = waiting.pop() {
            let needed = needs.get(&subject).copied().unwrap_or_default();
            if needs.contains_key(&subject) && all.insert(subject) {
                waiting.extend_from_slice(needed);
            }
        }
        all
    }

    /// A chosen element that is a side effect of removals none of which is chosen.
    pub fn effect_without_cause(&self, chosen: &BTreeSet<Subject>) -> Option<&Element> {
        self.elements.iter().find(|element| {
            chosen.contains(&element.subject)
                && !element.effect_of.is_empty()
                && !element.effect_of.iter().any(|cause| chosen.contains(cause))
        })
    }

    /// All that changes because this one goes, also through what goes with it, in the order of the elements.
    pub fn effects_of(&self, cause: &Subject) -> Vec<&Element> {
        let mut effects: BTreeMap<&Subject, Vec<&Subject>> = BTreeMap::new();
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

/// What a reviewer ticks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Element {
    pub subject: Subject,
    /// [`Kind::Placed`] is layout alone: fold these into one line.
    pub kind: Kind,
    /// In domain words.
    pub text: String,
    /// Where it is drawn.
    pub board: Option<BoardId>,
    pub differences: Vec<Difference>,
    /// Texts of files that would be others, in full: nobody says yes to what they cannot see.
    pub files: Vec<FileDelta>,
    pub risks: Vec<Risk>,
    /// It takes a deliberate gesture to accept this; never ticked beforehand.
    pub destructive: bool,
    /// What it directly needs; see [`OpenedProposal::with_needs`].
    pub needs: Vec<Subject>,
    /// The removals that it is nothing but a side effect of: it is accepted only together with at least one of them.
    /// Empty for all that was asked for in its own right.
    pub effect_of: Vec<Subject>,
}

/// One field before and after, in full; sensitive values are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub field: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// One field that a proposal was made for another value of. Sensitive values are masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Clash {
    pub subject: Subject,
    /// What people call the element.
    pub name: String,
    pub field: String,
    /// When it was proposed.
    pub before: Option<String>,
    /// Nothing when it is not there any more.
    pub now: Option<String>,
    /// Nothing when the proposal would take it away.
    pub proposed: Option<String>,
    /// Who changed the element last, where that is known.
    pub by: Option<String>,
}

/// What follows from a proposal, worked out on request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Consequences {
    pub proposal: ProposalId,
    pub version: u32,
    /// Of the content that this follows from.
    pub hash: ContentHash,
    /// Infrastructure boards that it touches.
    pub boards: Vec<BoardConsequences>,
    /// Links whose ends it touches, in words.
    pub links: Vec<String>,
    /// Pages that would look different, at most [`MAX_PAGES`]. Their pictures are asked for one by one.
    pub pages: Vec<TouchedPage>,
    pub more_pages: u64,
}

/// A page of an interface board that would show something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TouchedPage {
    pub page: NodeId,
    pub title: String,
}

/// A page as it is and as it would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PagePictures {
    pub proposal: ProposalId,
    /// Of the content that it is a picture of.
    pub hash: ContentHash,
    pub page: NodeId,
    pub now: PageLook,
    pub proposed: PageLook,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PageLook {
    /// There is no such page.
    Absent,
    Drawn(Pixels),
    /// Why there is no picture.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardConsequences {
    pub board: BoardId,
    pub name: String,
    /// Terraform files that would be others.
    pub files: Vec<FileDelta>,
    pub more_files: u64,
    pub cost: Option<CostDelta>,
    /// Why something of it is not known.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDelta {
    /// Within the board's folder, or within the workspace for a file of its own.
    pub path: String,
    /// Lines.
    pub added: u64,
    pub removed: u64,
    /// As version control shows it.
    pub text: String,
}

impl FileDelta {
    /// Of a difference as version control shows it, with its two lines of heading.
    pub fn of(path: &str, text: String) -> Self {
        let count = |sign: char| text.lines().skip(2).filter(|line| line.starts_with(sign)).count() as u64;
        Self { path: path.to_owned(), added: count('+'), removed: count('-'), text }
    }
}

/// A month, as far as prices are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostDelta {
    pub currency: Option<String>,
    pub before: Option<f64>,
    pub after: Option<f64>,
    /// Resources without a price.
    pub unpriced_before: u64,
    pub unpriced_after: u64,
}

/// A code that a terminal waits for, with what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeShown {
    pub code: String,
    pub purpose: String,
    pub expires: u64,
}

// ---- what the window may ask -----------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewRequest {
    /// Also drafts, to look at. Answered by [`ReviewAnswer::Opened`].
    Open(ProposalId),
    /// Answered by [`ReviewAnswer::Decided`].
    Accept(Verdict),
    Reject {
        proposal: ProposalId,
        version: u32,
        reason: String,
    },
    /// Fits a stale one to what is there now, as a new version. Answered by [`ReviewAnswer::Opened`].
    LookAgain {
        proposal: ProposalId,
        version: u32,
    },
    /// The reviewer's own edit of what is proposed, as a new version; then accept that. Answered by [`ReviewAnswer::Opened`].
    Edit {
        proposal: ProposalId,
        version: u32,
        hash: ContentHash,
        commands: Vec<Command>,
    },
    Comment {
        proposal: ProposalId,
        about: Option<Subject>,
        text: String,
    },
    /// Takes back all that was accepted of one, in one operation, and keeps later work; `partial` leaves out what is in
    /// conflict. Answered by [`crate::messages::Answer::Applied`].
    Revert {
        proposal: ProposalId,
        partial: bool,
    },
    Grant(Grant),
    Revoke(u64),
    /// The newest decided ones first. Answered by [`ReviewAnswer::History`].
    History {
        limit: u32,
    },
    /// Which proposals these operations came from. Answered by [`ReviewAnswer::Origins`].
    Origins(Vec<Revision>),
    /// Takes back a code before it is used.
    DropCode(String),
    /// What follows from one beside what it says. Answered by [`ReviewAnswer::Consequences`].
    Consequences(ProposalId),
    /// One of the pages that would look different. Answered by [`ReviewAnswer::PagePictures`].
    PagePictures {
        proposal: ProposalId,
        hash: ContentHash,
        page: NodeId,
        screen: Screen,
    },
    /// Plans a board as it would be, beside the board's own folder and state; nothing of it can be applied. What comes of
    /// it is in [`crate::terraform::TerraformView::trials`]. Answered by [`ReviewAnswer::Planning`].
    Plan {
        proposal: ProposalId,
        hash: ContentHash,
        board: BoardId,
        /// Values of sensitive variables; kept in memory for later runs and written nowhere.
        secrets: Vec<(String, String)>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewAnswer {
    Opened(Box<OpenedProposal>),
    Decided {
        proposal: Box<ProposalBrief>,
        /// The operation that it became; one undo takes it back.
        applied: Option<Applied>,
        /// What else follows, in words: a file was saved, a run begins.
        notice: Option<String>,
    },
    Approval(StandingApproval),
    History(Vec<ProposalBrief>),
    Origins(Vec<Origin>),
    Consequences(Box<Consequences>),
    PagePictures(Box<PagePictures>),
    Planning {
        run: RunId,
    },
    /// Nothing runs: these variables need a value from a person first.
    PlanNeeds {
        proposal: ProposalId,
        board: BoardId,
        secrets: Vec<String>,
    },
}

/// The proposal that an operation came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    pub revision: Revision,
    pub proposal: ProposalId,
    pub number: u64,
    pub title: String,
    /// As it called itself.
    pub client: String,
    /// Who said yes.
    pub reviewer: String,
    pub time: u64,
}

// ---- standing approvals -----------------------------------------------------------------------------------------------

/// What a person lets a client do without being asked each time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// As the client calls itself; all clients when absent. Nobody checks what a client calls itself.
    pub client: Option<String>,
    pub scope: Scope,
    /// Boards by id; all when empty.
    pub boards: Vec<BoardId>,
    /// Milliseconds since 1970, UTC.
    pub expires: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StandingApproval {
    pub id: u64,
    pub grant: Grant,
    pub by: String,
    pub granted: u64,
    /// Given on the command line: it ends with this run.
    pub for_this_run: bool,
    /// How often it was used.
    pub used: u64,
}

/// A part of the workbench that a standing approval can cover. Terraform apply and destroy are in none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Area {
    Diagram,
    Bundles,
    Interface,
    TerraformPlan,
}

impl Area {
    pub const ALL: [Self; 4] = [Self::Diagram, Self::Bundles, Self::Interface, Self::TerraformPlan];

    pub fn word(self) -> &'static str {
        match self {
            Self::Diagram => "diagram",
            Self::Bundles => "bundles",
            Self::Interface => "interface",
            Self::TerraformPlan => "terraform-plan",
        }
    }
}

/// Areas, each with the gravest risk that is covered. Destructive changes are covered only where that is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope(pub BTreeMap<Area, Risk>);

impl Scope {
    /// Whether changes with these risks in this area are covered.
    pub fn covers(&self, area: Area, risks: &BTreeSet<Risk>) -> bool {
        match self.0.get(&area) {
            None => false,
            // What has no label at all is more than cosmetic.
            Some(Risk::Cosmetic) => risks.iter().eq([&Risk::Cosmetic]),
            Some(most) => risks.iter().all(|risk| risk >= most),
        }
    }
}

/// `all`, or a list of areas with commas between; each may end in `:destructive`.
impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut scope = BTreeMap::new();
        for part in text.split(',').map(str::trim) {
            let (word, most) = match part.strip_suffix(":destructive") {
                Some(word) => (word, Risk::Destructive),
                None => (part, Risk::Security),
            };
            let areas: Vec<Area> = match word {
                "all" => Area::ALL.to_vec(),
                word => Area::ALL.into_iter().filter(|area| area.word() == word).collect(),
            };
            if areas.is_empty() {
                return Err(format!(
                    "{part:?} is no scope: expected all, diagram, bundles, interface or terraform-plan, each alone or with :destructive"
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

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (area, most)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match most {
                Risk::Security => write!(f, "{comma}{}", area.word())?,
                most => write!(f, "{comma}{}:{}", area.word(), most.word())?,
            }
        }
        Ok(())
    }
}

// ---- terminals ----------------------------------------------------------------------------------------------------------

/// Review messages of a terminal; [`crate::requests`] names their responses. A terminal submits a decision first. Main then
/// shows a code in its own window or terminal, and carries out the decision when the same connection confirms the code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum TerminalReview {
    List,
    /// By number or id.
    Show(String),
    /// Submits a decision and has main show its code.
    Ask(AskedDecision),
    /// Confirms the last decision of this connection with its code.
    Confirm {
        code: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum AskedDecision {
    Accept(Verdict),
    Reject {
        proposal: ProposalId,
        version: u32,
        reason: String,
    },
    /// About a managed server or a manifest.
    Upstream(UpstreamDecision),
}

// ---- audit ---------------------------------------------------------------------------------------------------------------

/// One line of the audit, as it stands in the journal. `hash` is SHA-256 over the hash before and `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditLine {
    pub number: u64,
    pub previous: String,
    pub hash: String,
    /// An [`AuditEntry`] as JSON, byte for byte as it was written.
    pub text: String,
}

/// The audit as somebody reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// Newest first.
    pub lines: Vec<AuditLine>,
    /// How many lines there are, of which `lines` is a part.
    pub total: u64,
    /// The first line that does not follow, and why; absent when every one of them does.
    pub broken: Option<(u64, String)>,
}

/// What happened around the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub event: AuditEvent,
    /// The person, where one acted.
    #[serde(default)]
    pub by: Option<String>,
    /// Which way it came: `window`, `terminal`, `agent`, `standing approval`, `clock`.
    pub way: String,
    #[serde(default)]
    pub proposal: Option<AuditedProposal>,
    #[serde(default)]
    pub reason: Option<String>,
    /// The operation that it became.
    #[serde(default)]
    pub revision: Option<Revision>,
    /// The standing approval that it is about.
    #[serde(default)]
    pub approval: Option<u64>,
    /// What was accepted, by id or path; of very many, the first [`MAX_AUDITED`] and how many more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditedProposal {
    pub id: ProposalId,
    pub number: u64,
    pub version: u32,
    /// Of the whole content, where the event is about one.
    pub hash: Option<ContentHash>,
    /// The client's key, and what it calls itself.
    pub proposer: Proposer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuditEvent {
    /// A draft was begun.
    Begin,
    Submit,
    Revise,
    Withdraw,
    Supersede,
    Expire,
    /// What it touches was changed by somebody.
    Stale,
    LookAgain,
    Edit,
    Comment,
    Accept,
    Reject,
    /// A decision that was not carried out, with the reason.
    Refused,
    Grant,
    Revoke,
    /// A tool of a managed server or of a manifest was called, with what came of it.
    Call,
    /// A person decided something about a managed server or a manifest.
    Upstream,
    CodeShown,
    WrongCode,
    /// What was accepted of a proposal was taken back.
    Revert,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_names_what_it_covers_and_destruction_only_by_name() {
        let scope = |text: &str| text.parse::<Scope>().unwrap();
        let risks = |risks: &[Risk]| risks.iter().copied().collect::<BTreeSet<_>>();
        let plain = scope("diagram, bundles");
        assert!(plain.covers(Area::Diagram, &risks(&[])));
        assert!(plain.covers(Area::Bundles, &risks(&[Risk::Security, Risk::Wide])));
        assert!(!plain.covers(Area::Interface, &risks(&[])));
        assert!(!plain.covers(Area::Diagram, &risks(&[Risk::Destructive])));
        assert!(!scope("all").covers(Area::Diagram, &risks(&[Risk::Destructive, Risk::Wide])));
        assert!(scope("all:destructive").covers(Area::Diagram, &risks(&[Risk::Destructive])));
        let narrow = Scope(BTreeMap::from([(Area::Diagram, Risk::Cosmetic)]));
        assert!(narrow.covers(Area::Diagram, &risks(&[Risk::Cosmetic])));
        assert!(!narrow.covers(Area::Diagram, &risks(&[])));
        for text in ["diagram", "diagram:destructive,bundles", "diagram,bundles,interface,terraform-plan"] {
            assert_eq!(scope(text).to_string(), text);
        }
        for wrong in ["", "everything", "diagram:wide", "terraform-apply", "all,"] {
            assert!(wrong.parse::<Scope>().is_err(), "{wrong}");
        }
    }
}
