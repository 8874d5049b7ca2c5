//! Run requests and their command line arguments.

use shared_protocol::terraform::TerraformOperation;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The plan file in the folder of the board.
pub(crate) const PLAN_FILE: &str = "draftboard.tfplan";
pub(crate) const DRIFT_PLAN_FILE: &str = "draftboard-drift.tfplan";

/// Returns the arguments of the program. `plan` is the plan file to write or read when it is outside the folder of
/// the board.
pub(crate) fn arguments(operation: TerraformOperation, plan: Option<&Path>) -> Vec<String> {
    let plan = plan.map_or_else(|| PLAN_FILE.to_owned(), |plan| plan.display().to_string());
    let out = format!("-out={plan}");
    let words: &[&str] = match operation {
        // Plain text, because older versions have no JSON output for `init`.
        TerraformOperation::Init => &["init", "-input=false", "-no-color"],
        TerraformOperation::Validate => &["validate", "-json"],
        TerraformOperation::Plan => &["plan", "-json", "-input=false", &out],
        TerraformOperation::PlanDestroy => &["plan", "-destroy", "-json", "-input=false", &out],
        TerraformOperation::Apply => &["apply", "-json", "-input=false", "-auto-approve"],
        TerraformOperation::ApplyPlan => &["apply", "-json", "-input=false", &plan],
        TerraformOperation::Destroy => &["destroy", "-json", "-input=false", "-auto-approve"],
        TerraformOperation::Drift => {
            &["plan", "-refresh-only", "-json", "-input=false", "-out=draftboard-drift.tfplan"]
        }
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns whether the operation prints one JSON object per line.
pub(crate) fn prints_json(operation: TerraformOperation) -> bool {
    !matches!(operation, TerraformOperation::Init | TerraformOperation::Validate)
}

/// Whether a person confirmed an operation that changes real resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunConfirmation {
    Given,
    Missing,
}

/// The parameters of a run.
#[derive(Debug, Clone)]
pub struct RunRequest {
    pub operation: TerraformOperation,
    pub confirmation: RunConfirmation,
    /// The board name, used for the lock and the log.
    pub board: String,
    /// The folder of the files of the board.
    pub folder: PathBuf,
    /// Values of sensitive variables; passed in the environment and never written to disk.
    pub secrets: BTreeMap<String, String>,
    /// Additional arguments, such as `-plugin-dir=…`; agents cannot set them.
    pub arguments: Vec<String>,
    /// The plan file when it is outside the folder of the board.
    pub plan: Option<PathBuf>,
}

impl RunRequest {
    pub fn new(operation: TerraformOperation, board: &str, folder: impl Into<PathBuf>) -> Self {
        Self {
            operation,
            confirmation: RunConfirmation::Missing,
            board: board.to_owned(),
            folder: folder.into(),
            secrets: BTreeMap::new(),
            arguments: Vec::new(),
            plan: None,
        }
    }

    #[must_use]
    pub fn with_confirmation(mut self) -> Self {
        self.confirmation = RunConfirmation::Given;
        self
    }
}
