//! The review queue: proposals of agents and the decisions about them.

use crate::{
    BoardId, Change, EdgeId, NodeId, OverrideKey, ProposalId, Refusal, RefusalCode, Revision, SourcePath,
    preview_sessions::{PreviewId, PreviewTarget},
    preview_wire::PreviewScreen,
    terraform::TerraformOperation,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::{collections::BTreeSet, fmt};

/// One selectable part of a proposal: an element with everything that the proposal changes about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposalSubject {
    Board(BoardId),
    Node(NodeId),
    Edge(EdgeId),
    Source(SourcePath),
    Override(OverrideKey),
    /// The requested action of a proposal that does not change content.
    Act,
}

impl ProposalSubject {
    pub fn of_change(change: &Change) -> Self {
        match change {
            Change::Board { id, .. } => Self::Board(*id),
            Change::Edge { id, .. } => Self::Edge(*id),
            Change::Source { path, .. } => Self::Source(path.clone()),
            Change::Override { key, .. } => Self::Override(key.clone()),
            Change::Node { id: node, .. }
            | Change::Name { node, .. }
            | Change::Label { node, .. }
            | Change::Parent { node, .. }
            | Change::Prop { node, .. }
            | Change::References { node, .. }
            | Change::Variable { node, .. }
            | Change::Placement { node, .. } => Self::Node(*node),
        }
    }
}

impl fmt::Display for ProposalSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board(id) => id.fmt(f),
            Self::Node(id) => id.fmt(f),
            Self::Edge(id) => id.fmt(f),
            Self::Source(path) => path.fmt(f),
            Self::Override(key) => write!(f, "the override {key}"),
            Self::Act => f.write_str("the requested action"),
        }
    }
}

/// The client that created a proposal. The key comes from the connection; the client reports name and version itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposer {
    pub key: String,
    pub name: String,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    pub id: ProposalId,
    /// The number shown to people: 1, 2, 3 in order of creation.
    pub number: u64,
    /// Incremented with every change of the content; a decision names the version it applies to.
    pub version: u32,
    pub proposer: Proposer,
    pub state: ProposalState,
    pub title: String,
    /// The text of the agent, shown as such.
    pub rationale: String,
    /// The revision that the changes were last rebased to. An open proposal fits the current revision of the queue.
    pub base: Revision,
    pub changes: Vec<Change>,
    /// The names and positions that the workbench chose.
    #[serde(default)]
    pub chosen: AutoAssignments,
    /// The requested action, if the proposal does not change content; then `changes` is empty.
    pub act: Option<ProposedAction>,
    /// One summary line for each request of the agent.
    pub steps: Vec<ProposalStep>,
    pub comments: Vec<ProposalComment>,
    /// The accepted parts, each with its decision.
    pub decisions: Vec<ProposalAcceptance>,
    /// The outcome of the requested action, once it ran.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub created: u64,
    pub expires: u64,
}

/// Names and positions that the workbench chose because the request left them open. The workbench chooses again when
/// one is taken in the meantime.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AutoAssignments {
    /// Nodes with a generated name.
    pub names: BTreeSet<NodeId>,
    /// Nodes with a generated position.
    pub places: BTreeSet<NodeId>,
}

impl AutoAssignments {
    pub fn extend(&mut self, more: &Self) {
        self.names.extend(&more.names);
        self.places.extend(&more.places);
    }
}

/// An action that runs after approval and that undo does not revert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposedAction {
    /// Saves the files.
    Save,
    /// Opens another workspace in place of this one.
    Open {
        path: String,
    },
    /// Creates a workspace in a folder and opens it in place of this one.
    New {
        path: String,
        name: String,
    },
    /// Replaces the project file if its content is still `before`.
    Config {
        before: String,
        after: String,
    },
    /// Runs Terraform on a board.
    Run {
        board: BoardId,
        operation: TerraformOperation,
    },
    StartPreview {
        shows: PreviewTarget,
        screen: PreviewScreen,
    },
    StopPreview {
        session: PreviewId,
    },
    /// Navigates a preview to another page.
    NavigatePreview {
        session: PreviewId,
        route: NodeId,
    },
    /// Calls a tool of a managed server or of a manifest, once.
    Call {
        /// The tool name exposed to agents.
        tool: String,
        /// The owner of the tool for display: the name of a server or the file of a manifest.
        from: String,
        /// A JSON object as text: the complete arguments, sent unchanged.
        arguments: String,
        /// The tool declares itself destructive.
        destructive: bool,
        /// The hash of the reviewed tool definition or manifest. The call is refused when the hash has changed.
        definition: String,
    },
}

impl ProposedAction {
    /// Returns true for actions that change real infrastructure, replace the open workspace or are destructive. They
    /// need an explicit confirmation.
    pub fn is_high_risk(&self) -> bool {
        match self {
            Self::Run { operation, .. } => operation.needs_confirmation(),
            Self::Open { .. } | Self::New { .. } => true,
            Self::Call { destructive, .. } => *destructive,
            Self::Save
            | Self::Config { .. }
            | Self::StartPreview { .. }
            | Self::StopPreview { .. }
            | Self::NavigatePreview { .. } => false,
        }
    }

    /// A one-line description.
    pub fn describe(&self) -> String {
        match self {
            Self::Save => "saves the files".to_owned(),
            Self::Open { path } => format!("opens the workspace {path}"),
            Self::New { path, name } => format!("creates the workspace {name} in {path} and opens it"),
            Self::Config { .. } => "changes draftboard.toml".to_owned(),
            Self::Run { board, operation } => format!("runs terraform {} on {board}", run_word(*operation)),
            Self::StartPreview { shows: PreviewTarget::Route(route), .. } => {
                format!("starts a preview of {route}")
            }
            Self::StartPreview { shows: PreviewTarget::Component { component }, .. } => {
                format!("starts a preview of {component}")
            }
            Self::StartPreview { shows: PreviewTarget::Variant { component, variant }, .. } => {
                format!("starts a preview of {component}, {variant}")
            }
            Self::StopPreview { session } => format!("stops {session}"),
            Self::NavigatePreview { session, route } => format!("shows {route} in {session}"),
            Self::Call { tool, from, .. } => format!("calls {tool} ({from})"),
        }
    }
}

fn run_word(operation: TerraformOperation) -> &'static str {
    match operation {
        TerraformOperation::Init => "init",
        TerraformOperation::Validate => "validate",
        TerraformOperation::Plan => "plan",
        TerraformOperation::PlanDestroy => "plan -destroy",
        TerraformOperation::Apply => "apply",
        TerraformOperation::ApplyPlan => "apply (saved plan)",
        TerraformOperation::Destroy => "destroy",
        TerraformOperation::Drift => "plan -refresh-only",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalStep {
    pub summary: String,
    /// The reviewer who made this edit; `None` when the agent made it.
    pub by_reviewer: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalComment {
    pub by: String,
    pub time: u64,
    pub about: Option<ProposalSubject>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalAcceptance {
    pub version: u32,
    pub hash: ContentHash,
    /// The resulting operation; `None` when only an action was accepted.
    pub revision: Option<Revision>,
    pub subjects: Vec<ProposalSubject>,
    pub by: String,
    pub time: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposalState {
    /// The agent is still editing it.
    Draft,
    /// It needs a decision.
    Open,
    /// The elements it changes have changed since; it needs another look by a person or the agent.
    Stale {
        why: Vec<String>,
    },
    /// All of it, or all remaining parts, were accepted.
    Accepted,
    Rejected {
        reason: String,
        by: String,
    },
    Withdrawn,
    Superseded {
        by: ProposalId,
    },
    Expired,
}

impl ProposalState {
    /// Returns true when the state can no longer change.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Accepted | Self::Withdrawn | Self::Superseded { .. } | Self::Expired)
    }

    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Open => "open",
            Self::Stale { .. } => "stale",
            Self::Accepted => "accepted",
            Self::Rejected { .. } => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Superseded { .. } => "superseded",
            Self::Expired => "expired",
        }
    }
}

/// Risk labels, most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Risk {
    /// It removes an element or replaces it with another.
    Destructive,
    /// It affects access or execution: open ingress, permissions, secrets, programs and the location of their state.
    Security,
    /// It increases the cost; labelled by code that knows prices.
    CostUp,
    /// It changes many elements or several boards.
    Wide,
    /// It changes positions and labels only.
    Cosmetic,
}

impl Risk {
    /// Returns the sort key of these labels, most severe first. Cosmetic changes sort last, after unlabelled changes.
    pub fn severity(risks: &[Self]) -> u8 {
        const UNLABELLED: u8 = Risk::Cosmetic as u8;
        match risks.iter().min() {
            None => UNLABELLED,
            Some(Self::Cosmetic) => UNLABELLED + 1,
            Some(risk) => *risk as u8,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Destructive => "destructive",
            Self::Security => "security",
            Self::CostUp => "cost up",
            Self::Wide => "wide",
            Self::Cosmetic => "cosmetic",
        }
    }
}

/// A one-line summary of one element of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalSummaryLine {
    pub subject: ProposalSubject,
    pub kind: ElementChangeKind,
    pub text: String,
    /// Accepting it needs an explicit confirmation.
    pub destructive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ElementChangeKind {
    Removed,
    Added,
    Changed,
    /// Moved or resized only.
    Placed,
}

/// A decision to accept, bound to the reviewed content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewVerdict {
    pub proposal: ProposalId,
    pub version: u32,
    pub hash: ContentHash,
    pub base: Revision,
    /// The accepted elements; all of them when absent.
    pub chosen: Option<BTreeSet<ProposalSubject>>,
    /// Destructive elements that were explicitly confirmed.
    pub confirmed: BTreeSet<ProposalSubject>,
    /// The hash of the reviewed saved plan. A request to apply or destroy runs exactly that file.
    #[serde(default)]
    pub plan: Option<ContentHash>,
}

/// The hash of the content of a proposal. A decision names the hash that the reviewer saw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(6).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 32]>::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        let wrong = || D::Error::custom("expected a hash of 64 hexadecimal digits");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Proposal {
    /// Hashes the id, the version, the action and the changes in their canonical JSON form.
    pub fn content_hash(&self) -> Result<ContentHash, Refusal> {
        let mut hash = Sha256::new();
        hash.update(b"draftboard proposal 1\0");
        hash.update(self.id.bits().to_be_bytes());
        hash.update(self.version.to_be_bytes());
        let act = serde_json::to_vec(&self.act).map_err(|error| {
            Refusal::new(RefusalCode::Internal, format!("{} cannot be serialized: {error}", self.id))
        })?;
        hash.update((act.len() as u64).to_be_bytes());
        hash.update(&act);
        for change in &self.changes {
            let text = serde_json::to_vec(change).map_err(|error| {
                Refusal::new(RefusalCode::Internal, format!("{} cannot be serialized: {error}", self.id))
            })?;
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(&text);
        }
        Ok(ContentHash(hash.finalize().into()))
    }

    /// A copy without the changes.
    #[must_use]
    pub fn without_changes(&self) -> Self {
        Self {
            id: self.id,
            number: self.number,
            version: self.version,
            proposer: self.proposer.clone(),
            state: self.state.clone(),
            title: self.title.clone(),
            rationale: self.rationale.clone(),
            base: self.base,
            changes: Vec::new(),
            chosen: self.chosen.clone(),
            act: self.act.clone(),
            steps: self.steps.clone(),
            comments: self.comments.clone(),
            decisions: self.decisions.clone(),
            outcome: self.outcome.clone(),
            created: self.created,
            expires: self.expires,
        }
    }

    /// Every changed element, in order of first occurrence.
    pub fn subjects(&self) -> Vec<ProposalSubject> {
        let mut seen = BTreeSet::new();
        let act = self.act.iter().map(|_| ProposalSubject::Act);
        act.chain(self.changes.iter().map(ProposalSubject::of_change))
            .filter(|subject| seen.insert(subject.clone()))
            .collect()
    }
}
