//! Run requests and their command line arguments.

use shared_protocol::terraform::RunOperation;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The plan file in the folder of the board.
pub(crate) const PLAN: &str = "draftboard.tfplan";
pub(crate) const DRIFT_PLAN: &str = "draftboard-drift.tfplan";

/// Returns the arguments of the program. `plan` is the plan file to write or read when it is outside the folder of
/// the board.
pub(crate) fn arguments(operation: RunOperation, plan: Option<&Path>) -> Vec<String> {
    let plan = plan.map_or_else(|| PLAN.to_owned(), |plan| plan.display().to_string());
    let out = format!("-out={plan}");
    let words: &[&str] = match operation {
        // Plain text, because older versions have no JSON output for `init`.
        RunOperation::Init => &["init", "-input=false", "-no-color"],
        RunOperation::Validate => &["validate", "-json"],
        RunOperation::Plan => &["plan", "-json", "-input=false", &out],
        RunOperation::PlanDestroy => &["plan", "-destroy", "-json", "-input=false", &out],
        RunOperation::Apply => &["apply", "-json", "-input=false", "-auto-approve"],
        RunOperation::ApplyPlan => &["apply", "-json", "-input=false", &plan],
        RunOperation::Destroy => &["destroy", "-json", "-input=false", "-auto-approve"],
        RunOperation::Drift => {
            &["plan", "-refresh-only", "-json", "-input=false", "-out=draftboard-drift.tfplan"]
        }
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns whether the operation prints one JSON object per line.
pub(crate) fn speaks_json(operation: RunOperation) -> bool {
    !matches!(operation, RunOperation::Init | RunOperation::Validate)
}

/// Whether a person confirmed an operation that changes real resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    Given,
    Missing,
}

/// The parameters of a run.
#[derive(Debug, Clone)]
pub struct Request {
    pub operation: RunOperation,
    pub confirmation: Confirmation,
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

impl Request {
    pub fn new(operation: RunOperation, board: &str, folder: impl Into<PathBuf>) -> Self {
        Self {
            operation,
            confirmation: Confirmation::Missing,
            board: board.to_owned(),
            folder: folder.into(),
            secrets: BTreeMap::new(),
            arguments: Vec::new(),
            plan: None,
        }
    }

    #[must_use]
    pub fn confirmed(mut self) -> Self {
        self.confirmation = Confirmation::Given;
        self
    }
}
