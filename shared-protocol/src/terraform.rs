//! What window and terminals see of a board's Terraform, and what they may ask for. Agents do not speak this.

use crate::{
    Actor, BoardId, NodeId, PropKey, ProposalId, Revision, messages::Severity, proposal::ContentHash,
};
use serde::{Deserialize, Serialize};

/// Lines of a run that are sent or asked for at once.
pub const MAX_RUN_LINES: usize = 2_000;

/// Resources told of a plan of what is proposed, and attributes told of each.
pub const MAX_TRIAL_CHANGES: usize = 500;
pub const MAX_TRIAL_ATTRIBUTES: usize = 40;

/// Resources that one request to apply may change: all of them are shown.
pub const MAX_REQUEST_CHANGES: usize = 500;

/// Numbered from one, over all boards of a workspace since it was opened.
pub type RunId = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunOperation {
    Init,
    Validate,
    /// Keeps the plan, to be looked at and applied.
    Plan,
    /// A plan of how to remove everything; also kept.
    PlanDestroy,
    Apply,
    /// Applies the plan that was kept, and nothing else.
    ApplyPlan,
    Destroy,
    /// Looks how the real world differs from the state.
    Drift,
}

impl RunOperation {
    pub const ALL: [Self; 8] = [
        Self::Init,
        Self::Validate,
        Self::Plan,
        Self::PlanDestroy,
        Self::Apply,
        Self::ApplyPlan,
        Self::Destroy,
        Self::Drift,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Validate => "validate",
            Self::Plan => "plan",
            Self::PlanDestroy => "plan-destroy",
            Self::Apply => "apply",
            Self::ApplyPlan => "apply-plan",
            Self::Destroy => "destroy",
            Self::Drift => "drift",
        }
    }

    /// Changes the real world, so a person must have said so.
    pub fn needs_confirmation(self) -> bool {
        matches!(self, Self::Apply | Self::ApplyPlan | Self::Destroy)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TerraformRequest {
    /// The files as they would be written, with what they differ from what is there. Answered by [`TerraformAnswer::Hcl`].
    Hcl {
        board: BoardId,
    },
    /// Writes what differs, removes what is no longer needed. Answered by the paths as [`TerraformAnswer::Written`].
    Write {
        board: BoardId,
    },
    Cost {
        board: BoardId,
    },
    /// A template of the price book's missing lines. Answered by text.
    MissingPrices {
        board: BoardId,
    },
    /// Writes the files and starts a run. Answered by [`TerraformAnswer::Started`].
    Run {
        board: BoardId,
        operation: RunOperation,
        /// A person agreed to what changes the real world.
        confirmed: bool,
        /// Values of sensitive variables; kept in memory for later runs and written nowhere.
        secrets: Vec<(String, String)>,
    },
    Cancel {
        run: RunId,
    },
    /// The runs that are remembered, newest first.
    History {
        board: BoardId,
    },
    /// Lines from a number on, of this run or one before. Waits a moment for the first of them while the run goes on.
    Lines {
        run: RunId,
        from: u64,
    },
    /// What the kept plan would do, attribute by attribute.
    Plan {
        board: BoardId,
    },
    /// A folder of Terraform files or of a TerraStudio project becomes a board, as one operation.
    Import {
        path: String,
        /// The name of the new board; the folder's name when absent.
        name: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TerraformAnswer {
    Hcl(Box<HclView>),
    Written {
        written: Vec<String>,
        removed: Vec<String>,
        in_the_way: Vec<String>,
    },
    Cost(Box<CostView>),
    Started {
        run: RunId,
    },
    History(Vec<RunView>),
    Lines {
        run: RunView,
        lines: Vec<RunLine>,
    },
    /// None when nothing was planned since the files last changed.
    Plan(Option<Box<PlanView>>),
    Imported {
        board: BoardId,
        revision: Revision,
        notes: Vec<Finding>,
    },
    /// A price file with an entry for each part that has no price.
    MissingPrices(String),
    /// The run is asked to end. Its end follows in the view.
    Cancelling,
}

/// A board as files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HclView {
    pub board: BoardId,
    pub revision: Revision,
    pub files: Vec<HclFile>,
    /// Where each node's blocks stand, in the order of the files.
    pub spans: Vec<HclSpan>,
    pub findings: Vec<Finding>,
    /// Variables that need a value from a person before anything can run.
    pub secrets: Vec<String>,
    /// Paths of files of others that have the name of one of ours; they are left alone.
    pub in_the_way: Vec<String>,
    /// Files of ours in the folder that are no longer needed.
    pub removed: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HclFile {
    /// Within the board's folder.
    pub path: String,
    pub text: String,
    /// What the file in the workspace says now, where that differs; empty when there is none.
    pub on_disk: Option<String>,
}

/// From line to line, counted from one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HclSpan {
    pub file: String,
    pub first: u32,
    pub last: u32,
    pub node: NodeId,
}

/// Something to know about a board's files, an import or a run, where it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub severity: Severity,
    pub node: Option<NodeId>,
    pub prop: Option<PropKey>,
    pub message: String,
    /// More of it, in the words of Terraform.
    pub detail: String,
}

/// Sent when something of it changed, at most some twenty times a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerraformView {
    /// `Terraform 1.11.0`, or why there is none and what to do.
    pub program: Option<Result<String, String>>,
    /// Boards that something is known about.
    pub boards: Vec<BoardTerraform>,
    /// Plans of what is only proposed, oldest first; a few of them.
    pub trials: Vec<TrialView>,
    /// Saved plans of agents' requests to apply or destroy.
    pub requests: Vec<RequestPlanView>,
}

/// The saved plan that main makes for an agent's request to apply or destroy. A yes names its hash and runs exactly this file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPlanView {
    pub proposal: ProposalId,
    pub version: u32,
    pub board: BoardId,
    pub state: RequestPlanState,
}

impl RequestPlanView {
    /// What a yes has to name; none while there is nothing to say yes to.
    pub fn hash(&self) -> Option<ContentHash> {
        match &self.state {
            RequestPlanState::Ready { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    /// Why the request cannot be accepted; none when it can.
    pub fn obstacle(&self) -> Option<String> {
        match &self.state {
            RequestPlanState::Needed { reason } => Some(reason.clone()),
            RequestPlanState::Planning { .. } => Some("Planning…".to_owned()),
            RequestPlanState::Failed { reason } => Some(format!("The plan failed: {reason}")),
            RequestPlanState::Ready { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RequestPlanState {
    /// A person has to press *Plan*, for this reason.
    Needed {
        reason: String,
    },
    Planning {
        /// Once it has begun.
        run: Option<RunId>,
    },
    Ready {
        hash: ContentHash,
        counts: Counts,
        /// All of them, deletes and replaces first.
        changes: Vec<PlanChange>,
        /// Milliseconds since 1970, UTC.
        expires: u64,
    },
    Failed {
        reason: String,
    },
}

/// A plan of a board as a proposal would leave it, made in a folder of its own. Nothing of it can be applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialView {
    /// Gets ready first ([`RunOperation::Init`]), then plans.
    pub run: RunView,
    pub proposal: ProposalId,
    pub version: u32,
    /// Of the content that was planned.
    pub hash: ContentHash,
    /// The state of the workspace that the proposal was laid over.
    pub over: Revision,
    /// What would change, once that is known; at most [`MAX_TRIAL_CHANGES`].
    pub changes: Option<Vec<PlanChange>>,
    pub more_changes: u64,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardTerraform {
    pub board: BoardId,
    /// The one that goes on, or the last one.
    pub run: Option<RunView>,
    pub statuses: Vec<(NodeId, Deployment)>,
    /// Of the plan that is kept, while it fits the files.
    pub planned: Vec<(NodeId, PlannedAction)>,
    pub drifted: Vec<(NodeId, PlannedAction)>,
    /// What the last run complained about.
    pub findings: Vec<Finding>,
    pub plan: PlanState,
    /// What a run that was cut off before the workspace was opened was at, told once.
    pub interrupted: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanState {
    #[default]
    None,
    Ready(Counts),
    /// The board changed since.
    Outdated(Counts),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub add: u64,
    pub change: u64,
    pub remove: u64,
}

/// The state of a node's resources in the real world; what is least far comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Deployment {
    Pending,
    Creating,
    Updating,
    Created,
    Failed,
    Destroyed,
}

impl Deployment {
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Creating => "creating",
            Self::Updating => "updating",
            Self::Created => "created",
            Self::Failed => "failed",
            Self::Destroyed => "destroyed",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlannedAction {
    Create,
    Update,
    Replace,
    Delete,
    Read,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    pub id: RunId,
    pub board: BoardId,
    pub operation: RunOperation,
    pub by: Actor,
    /// The client that requested it, as it calls itself; then `by` is who approved it.
    #[serde(default)]
    pub requested_by: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub started: u64,
    pub state: RunState,
    pub summary: Option<Counts>,
    /// Resources done and to do, while it applies.
    pub progress: Option<(u64, u64)>,
    /// How many lines there are.
    pub lines: u64,
    /// Its log, from the workspace's folder.
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunState {
    Running,
    /// Asked to stop.
    Cancelling,
    Succeeded {
        ended: u64,
    },
    Failed {
        ended: u64,
        code: Option<i32>,
    },
    Cancelled {
        ended: u64,
    },
    /// The process that followed it ended first; how far it came is not known.
    Interrupted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunLine {
    pub error: bool,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub board: BoardId,
    pub counts: Counts,
    pub outdated: bool,
    pub changes: Vec<PlanChange>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanChange {
    /// As Terraform names it.
    pub address: String,
    pub node: Option<NodeId>,
    pub action: PlannedAction,
    /// Why it is replaced and the like.
    pub reason: Option<String>,
    pub attributes: Vec<PlanAttribute>,
}

/// One attribute; what is secret says so instead of its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanAttribute {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub forces_replacement: bool,
}

/// What a board costs a month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostView {
    pub board: BoardId,
    pub revision: Revision,
    /// Absent while no price is known.
    pub currency: Option<String>,
    /// The sum of what is known; absent when nothing is.
    pub monthly: Option<f64>,
    pub priced: u64,
    pub free: u64,
    pub usage_based: u64,
    pub unknown: u64,
    pub nodes: Vec<NodeCost>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeCost {
    pub node: NodeId,
    pub basis: CostBasis,
    /// What is known of it; absent where nothing is.
    pub monthly: Option<f64>,
    pub components: Vec<CostPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBasis {
    Priced,
    Free,
    UsageBased,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostPart {
    pub label: String,
    pub basis: CostBasis,
    pub monthly: Option<f64>,
    /// Where the price is from and when it was read.
    pub source: Option<String>,
}
