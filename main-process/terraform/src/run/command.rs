//! What can be run, and what needs a person's word first.

use shared_protocol::terraform::RunOperation;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The file that a plan is kept in, in the folder of the board.
pub(crate) const PLAN: &str = "draftboard.tfplan";
pub(crate) const DRIFT_PLAN: &str = "draftboard-drift.tfplan";

/// What the program is told. `plan` is where the plan is written or read, when not in the folder of the board.
pub(crate) fn arguments(operation: RunOperation, plan: Option<&Path>) -> Vec<String> {
    let plan = plan.map_or_else(|| PLAN.to_owned(), |plan| plan.display().to_string());
    let out = format!("-out={plan}");
    let words: &[&str] = match operation {
        // Plain text: older programs cannot say this as JSON.
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

/// Whether it says what it does as one JSON object a line.
pub(crate) fn speaks_json(operation: RunOperation) -> bool {
    !matches!(operation, RunOperation::Init | RunOperation::Validate)
}

/// That a person has agreed to what changes the real world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    Given,
    Missing,
}

/// A run to start.
#[derive(Debug, Clone)]
pub struct Request {
    pub operation: RunOperation,
    pub confirmation: Confirmation,
    /// The name of the board, for the lock and the log.
    pub board: String,
    /// Where its files are.
    pub folder: PathBuf,
    /// Values of sensitive variables; they are passed in the environment and written nowhere.
    pub secrets: BTreeMap<String, String>,
    /// Further arguments, such as `-plugin-dir=…`; they are not for agents to give.
    pub arguments: Vec<String>,
    /// The file of the plan, when not in the folder of the board.
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
