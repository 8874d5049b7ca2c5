//! The review queue: what agents want to change, and what people decided about it.

use crate::{
    BoardId, Change, Code, EdgeId, NodeId, OverrideKey, ProposalId, Refusal, Revision, SourcePath,
    preview::Screen,
    previews::{SessionId, Shown},
    terraform::RunOperation,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};
use std::{collections::BTreeSet, fmt};

/// What a reviewer ticks: one element with all that a proposal does to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    Board(BoardId),
    Node(NodeId),
    Edge(EdgeId),
    Source(SourcePath),
    Override(OverrideKey),
    /// What is asked for beside changes of the content.
    Act,
}

impl Subject {
    pub fn of(change: &Change) -> Self {
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

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Board(id) => id.fmt(f),
            Self::Node(id) => id.fmt(f),
            Self::Edge(id) => id.fmt(f),
            Self::Source(path) => path.fmt(f),
            Self::Override(key) => write!(f, "the override {key}"),
            Self::Act => f.write_str("what is asked for"),
        }
    }
}

/// Who proposed. The key comes from the connection; name and version are what the client says of itself.
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
    /// What people call it: 1, 2, 3 in the order of their beginning.
    pub number: u64,
    /// Raised with every change of its content; a decision names the one it is about.
    pub version: u32,
    pub proposer: Proposer,
    pub state: ProposalState,
    pub title: String,
    /// The agent's words, shown as such.
    pub rationale: String,
    /// The revision that the changes were last fitted to. One that is open fits the queue's own revision.
    pub base: Revision,
    pub changes: Vec<Change>,
    /// What of it was left to the workbench.
    #[serde(default)]
    pub chosen: Chosen,
    /// What it asks for that is no change of the workspace's content; then there are no changes.
    pub act: Option<Act>,
    /// What was asked for, one line each.
    pub steps: Vec<Step>,
    pub comments: Vec<Comment>,
    /// Parts of it that were accepted, and the standing of those that were.
    pub decisions: Vec<Decided>,
    /// What came of what was asked for, once it was done.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub created: u64,
    pub expires: u64,
}

/// What the workbench chose because whoever asked left it open; where it is taken meanwhile, it is chosen again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chosen {
    /// Nodes that were given a name.
    pub names: BTreeSet<NodeId>,
    /// Nodes that were given a place.
    pub places: BTreeSet<NodeId>,
}

impl Chosen {
    pub fn extend(&mut self, more: &Self) {
        self.names.extend(&more.names);
        self.places.extend(&more.places);
    }
}

/// Something that is done once a person says yes, and that undo does not take back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// Writes the files.
    Save,
    /// Opens another workspace in place of this one.
    Open {
        path: String,
    },
    /// Makes a workspace in a folder and opens it in place of this one.
    New {
        path: String,
        name: String,
    },
    /// Replaces the project's file, if it still holds `before`.
    Config {
        before: String,
        after: String,
    },
    /// Runs Terraform on a board.
    Run {
        board: BoardId,
        operation: RunOperation,
    },
    StartPreview {
        shows: Shown,
        screen: Screen,
    },
    StopPreview {
        session: SessionId,
    },
    /// Shows another page in a preview.
    NavigatePreview {
        session: SessionId,
        route: NodeId,
    },
    /// Calls a tool of a managed server or of a manifest, once.
    Call {
        /// The name that agents call.
        tool: String,
        /// Whose it is, for people: a server's name, or a manifest's file.
        from: String,
        /// A JSON object, as text: all of it, and exactly what is sent.
        arguments: String,
        /// It says of itself that it destroys something.
        destructive: bool,
        /// Of the tool's definition, or of the manifest, that was shown: another one is not called for it.
        definition: String,
    },
}

impl Act {
    /// It changes the real world, or what everybody looks at: a yes must be deliberate.
    pub fn is_grave(&self) -> bool {
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

    /// One line for people.
    pub fn words(&self) -> String {
        match self {
            Self::Save => "writes the files".to_owned(),
            Self::Open { path } => format!("opens the workspace {path}"),
            Self::New { path, name } => format!("makes the workspace {name} in {path} and opens it"),
            Self::Config { .. } => "changes draftboard.toml".to_owned(),
            Self::Run { board, operation } => format!("runs terraform {} on {board}", run_word(*operation)),
            Self::StartPreview { shows: Shown::Route(route), .. } => format!("starts a preview of {route}"),
            Self::StartPreview { shows: Shown::Component { component }, .. } => {
                format!("starts a preview of {component}")
            }
            Self::StartPreview { shows: Shown::Variant { component, variant }, .. } => {
                format!("starts a preview of {component}, {variant}")
            }
            Self::StopPreview { session } => format!("stops {session}"),
            Self::NavigatePreview { session, route } => format!("shows {route} in {session}"),
            Self::Call { tool, from, .. } => format!("calls {tool} of {from}"),
        }
    }
}

fn run_word(operation: RunOperation) -> &'static str {
    match operation {
        RunOperation::Init => "init",
        RunOperation::Validate => "validate",
        RunOperation::Plan => "plan",
        RunOperation::PlanDestroy => "plan -destroy",
        RunOperation::Apply => "apply",
        RunOperation::ApplyPlan => "apply of the kept plan",
        RunOperation::Destroy => "destroy",
        RunOperation::Drift => "plan -refresh-only",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub summary: String,
    /// A reviewer's own edit, and not the agent's.
    pub by_reviewer: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    pub by: String,
    pub time: u64,
    pub about: Option<Subject>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    pub version: u32,
    pub hash: ContentHash,
    /// The operation that it became; none when nothing but an act was taken.
    pub revision: Option<Revision>,
    pub subjects: Vec<Subject>,
    pub by: String,
    pub time: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposalState {
    /// The agent is still at it.
    Draft,
    /// It waits for a person.
    Open,
    /// What it touches was changed since; a person or the agent looks again.
    Stale {
        why: Vec<String>,
    },
    /// All of it, or what was left of it.
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
    /// Nothing more can happen to it.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Accepted | Self::Withdrawn | Self::Superseded { .. } | Self::Expired)
    }

    pub fn word(&self) -> &'static str {
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

/// The gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Risk {
    /// Something goes, or becomes something else.
    Destructive,
    /// Who may reach or read what, and what is run: ingress from everywhere, permissions, secrets, programs and where they
    /// keep their state.
    Security,
    /// It would cost more; judged by whoever knows prices.
    CostUp,
    /// Many elements, or several boards.
    Wide,
    /// Places and labels alone.
    Cosmetic,
}

impl Risk {
    /// The place of these labels in a list that begins with the gravest. Nothing but places and labels comes last, after
    /// what has no label at all.
    pub fn severity(risks: &[Self]) -> u8 {
        const UNLABELLED: u8 = Risk::Cosmetic as u8;
        match risks.iter().min() {
            None => UNLABELLED,
            Some(Self::Cosmetic) => UNLABELLED + 1,
            Some(risk) => *risk as u8,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Destructive => "destructive",
            Self::Security => "security",
            Self::CostUp => "cost up",
            Self::Wide => "wide",
            Self::Cosmetic => "cosmetic",
        }
    }
}

/// One element of a proposal in domain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub subject: Subject,
    pub kind: Kind,
    pub text: String,
    /// It takes a deliberate gesture to accept this.
    pub destructive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Removed,
    Added,
    Changed,
    /// Moved or resized and nothing else.
    Placed,
}

/// A decision, with all that the person saw when deciding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    pub proposal: ProposalId,
    pub version: u32,
    pub hash: ContentHash,
    pub base: Revision,
    /// The elements taken; all of them when absent.
    pub chosen: Option<BTreeSet<Subject>>,
    /// Destructive elements that were confirmed by a deliberate gesture.
    pub confirmed: BTreeSet<Subject>,
    /// The hash of the saved plan that was shown: a request to apply or destroy runs exactly that file.
    #[serde(default)]
    pub plan: Option<ContentHash>,
}

/// What a proposal does, as one number: a decision about it names the number that was seen.
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
        let wrong = || D::Error::custom("a hash has 64 hexadecimal digits");
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
    /// Over the id, the version and the changes, in the one form that they have as JSON.
    pub fn content_hash(&self) -> Result<ContentHash, Refusal> {
        let mut hash = Sha256::new();
        hash.update(b"draftboard proposal 1\0");
        hash.update(self.id.bits().to_be_bytes());
        hash.update(self.version.to_be_bytes());
        let act = serde_json::to_vec(&self.act).map_err(|error| {
            Refusal::new(Code::Internal, format!("{} cannot be written down: {error}", self.id))
        })?;
        hash.update((act.len() as u64).to_be_bytes());
        hash.update(&act);
        for change in &self.changes {
            let text = serde_json::to_vec(change).map_err(|error| {
                Refusal::new(Code::Internal, format!("{} cannot be written down: {error}", self.id))
            })?;
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(&text);
        }
        Ok(ContentHash(hash.finalize().into()))
    }

    /// All but what it changes.
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

    /// Each element that it touches, in the order it first does.
    pub fn subjects(&self) -> Vec<Subject> {
        let mut seen = BTreeSet::new();
        let act = self.act.iter().map(|_| Subject::Act);
        act.chain(self.changes.iter().map(Subject::of))
            .filter(|subject| seen.insert(subject.clone()))
            .collect()
    }
}
