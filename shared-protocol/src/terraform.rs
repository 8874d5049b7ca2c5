//! The Terraform state of boards as seen by the window and terminals, and their requests. Agents cannot use this
//! protocol.

use crate::{
    Actor, BoardId, NodeId, PropKey, ProposalId, Revision, messages::ProblemSeverity, proposal::ContentHash,
};
use serde::{Deserialize, Serialize};

/// The maximum number of run lines in one message.
pub const MAX_RUN_LINES: usize = 2_000;

/// The maximum number of resources in a trial plan of a proposal, and of attributes of each.
pub const MAX_TRIAL_CHANGES: usize = 500;
pub const MAX_TRIAL_ATTRIBUTES: usize = 40;

/// The maximum number of resources that one request to apply may change, because all of them are shown.
pub const MAX_REQUEST_PLAN_CHANGES: usize = 500;

/// The number of a run: counted from one over all boards of a workspace since it was opened.
pub type TerraformRunId = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TerraformOperation {
    Init,
    Validate,
    /// Creates and saves a plan for review and apply.
    Plan,
    /// Creates and saves a plan that destroys everything.
    PlanDestroy,
    Apply,
    /// Applies exactly the saved plan.
    ApplyPlan,
    Destroy,
    /// Detects drift between the real infrastructure and the state.
    Drift,
}

impl TerraformOperation {
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

    pub fn as_str(self) -> &'static str {
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

    /// Returns true for operations that change real infrastructure and need a confirmation.
    pub fn needs_confirmation(self) -> bool {
        matches!(self, Self::Apply | Self::ApplyPlan | Self::Destroy)
    }
}

/// The generated files of a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HclView {
    pub board: BoardId,
    pub revision: Revision,
    pub files: Vec<HclFile>,
    /// The location of the blocks of each node, in file order.
    pub spans: Vec<HclSpan>,
    pub findings: Vec<TerraformFindingView>,
    /// Variables that need a value from a person before a run can start.
    pub secrets: Vec<String>,
    /// Paths of foreign files that have the name of a generated file; they are left unchanged.
    pub in_the_way: Vec<String>,
    /// Generated files in the folder that are obsolete.
    pub removed: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HclFile {
    /// The path in the board folder.
    pub path: String,
    pub text: String,
    /// The file content on disk, if it differs; empty when the file does not exist.
    pub on_disk: Option<String>,
}

/// The block lines of a node in a file: first and last line, counted from one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HclSpan {
    pub file: String,
    pub first: u32,
    pub last: u32,
    pub node: NodeId,
}

/// A finding about the files, an import or a run of a board, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerraformFindingView {
    pub severity: ProblemSeverity,
    pub node: Option<NodeId>,
    pub prop: Option<PropKey>,
    pub message: String,
    /// The details reported by Terraform.
    pub detail: String,
}

impl TerraformFindingView {
    pub fn error(node: NodeId, prop: Option<&PropKey>, message: impl Into<String>) -> Self {
        Self {
            severity: ProblemSeverity::Error,
            node: Some(node),
            prop: prop.cloned(),
            message: message.into(),
            detail: String::new(),
        }
    }

    pub fn warning(node: Option<NodeId>, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { severity: ProblemSeverity::Warning, node, prop: None, message, detail: String::new() }
    }
}

/// The Terraform state of all boards. Sent after changes, at most about twenty times a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerraformView {
    /// The program version, such as `Terraform 1.11.0`, or why it is missing and how to fix it.
    pub program: Option<Result<String, String>>,
    /// The boards with a known Terraform state.
    pub boards: Vec<BoardTerraformView>,
    /// Trial plans of proposals, oldest first; only the newest few.
    pub trials: Vec<TrialPlanView>,
    /// Saved plans of agents' requests to apply or destroy.
    pub requests: Vec<ApplyRequestPlanView>,
}

/// The saved plan that main creates for an agent's request to apply or destroy. Accepting names its hash and runs
/// exactly this file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplyRequestPlanView {
    pub proposal: ProposalId,
    pub version: u32,
    pub board: BoardId,
    pub state: ApplyRequestPlanState,
}

impl ApplyRequestPlanView {
    /// The hash that an acceptance must name; `None` until the plan is ready.
    pub fn hash(&self) -> Option<ContentHash> {
        match &self.state {
            ApplyRequestPlanState::Ready { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    /// Why the request cannot be accepted; `None` when it can.
    pub fn obstacle(&self) -> Option<String> {
        match &self.state {
            ApplyRequestPlanState::Needed { reason } => Some(reason.clone()),
            ApplyRequestPlanState::Planning { .. } => Some("Planning…".to_owned()),
            ApplyRequestPlanState::Failed { reason } => Some(format!("The plan failed: {reason}")),
            ApplyRequestPlanState::Ready { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApplyRequestPlanState {
    /// A person must press *Plan*, for this reason.
    Needed {
        reason: String,
    },
    Planning {
        /// The run, once it has started.
        run: Option<TerraformRunId>,
    },
    Ready {
        hash: ContentHash,
        counts: PlanCounts,
        /// All changes, deletes and replacements first.
        changes: Vec<PlanChange>,
        /// Milliseconds since 1970, UTC.
        expires: u64,
    },
    Failed {
        reason: String,
    },
}

/// A trial plan of a board as proposed, created in a separate folder. It cannot be applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialPlanView {
    /// The run: initializes first ([`TerraformOperation::Init`]), then plans.
    pub run: TerraformRunView,
    pub proposal: ProposalId,
    pub version: u32,
    /// The hash of the planned content.
    pub hash: ContentHash,
    /// The workspace revision that the proposal was applied to.
    pub over: Revision,
    /// The planned changes, once known; at most [`MAX_TRIAL_CHANGES`].
    pub changes: Option<Vec<PlanChange>>,
    pub more_changes: u64,
    pub findings: Vec<TerraformFindingView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardTerraformView {
    pub board: BoardId,
    /// The active run, or the last one.
    pub run: Option<TerraformRunView>,
    pub statuses: Vec<(NodeId, DeploymentState)>,
    /// The actions of the saved plan, while it matches the files.
    pub planned: Vec<(NodeId, PlannedAction)>,
    pub drifted: Vec<(NodeId, PlannedAction)>,
    /// The findings of the last run.
    pub findings: Vec<TerraformFindingView>,
    pub plan: PlanState,
    /// The operation of a run that was interrupted before the workspace was opened; reported once.
    pub interrupted: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanState {
    #[default]
    None,
    Ready(PlanCounts),
    /// The board changed after planning.
    Outdated(PlanCounts),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanCounts {
    pub add: u64,
    pub change: u64,
    pub remove: u64,
}

/// The deployment state of a node's resources, in order of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeploymentState {
    Pending,
    Creating,
    Updating,
    Created,
    Failed,
    Destroyed,
}

impl DeploymentState {
    pub fn as_str(self) -> &'static str {
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

impl PlannedAction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Read => "read",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerraformRunView {
    pub id: TerraformRunId,
    pub board: BoardId,
    pub operation: TerraformOperation,
    pub by: Actor,
    /// The self-reported name of the client that requested it; then `by` is the approver.
    #[serde(default)]
    pub requested_by: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub started: u64,
    pub state: TerraformRunState,
    pub summary: Option<PlanCounts>,
    /// The finished and total number of resources while it applies.
    pub progress: Option<(u64, u64)>,
    /// The number of lines.
    pub lines: u64,
    /// The log file, relative to the workspace folder.
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TerraformRunState {
    Running,
    /// A stop was requested.
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
    /// Draftboard ended before the run did; its progress is unknown.
    Interrupted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerraformRunLine {
    pub error: bool,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub board: BoardId,
    pub counts: PlanCounts,
    pub outdated: bool,
    pub changes: Vec<PlanChange>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanChange {
    /// The Terraform address.
    pub address: String,
    pub node: Option<NodeId>,
    pub action: PlannedAction,
    /// The reason, for example for a replacement.
    pub reason: Option<String>,
    pub attributes: Vec<PlanAttribute>,
}

/// One attribute; a sensitive value is replaced by a marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanAttribute {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub forces_replacement: bool,
}

/// The monthly cost of a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostView {
    pub board: BoardId,
    pub revision: Revision,
    /// Absent while no price is known.
    pub currency: Option<String>,
    /// The sum of the known costs; absent when none is known.
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
    /// The known cost; absent when none is known.
    pub monthly: Option<f64>,
    pub components: Vec<CostPart>,
}

/// The basis of a cost, from most to least certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostBasis {
    /// All components have a price.
    Priced,
    /// The resource is free.
    Free,
    /// The cost depends on usage that is not specified.
    UsageBased,
    /// A price or the cost model is missing.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostPart {
    pub label: String,
    pub basis: CostBasis,
    pub monthly: Option<f64>,
    /// The source and date of the price.
    pub source: Option<String>,
}
