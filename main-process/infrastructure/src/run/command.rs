//! What can be run, and what needs a person's word first.

use std::{collections::BTreeMap, path::PathBuf};

/// The file that a plan is kept in, in the folder of the board.
pub(crate) const PLAN: &str = "draftboard.tfplan";
pub(crate) const DRIFT_PLAN: &str = "draftboard-drift.tfplan";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Init,
    Validate,
    /// Keeps the plan, to be reviewed and applied.
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

impl Operation {
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

    pub(crate) fn arguments(self) -> Vec<String> {
        let words: &[&str] = match self {
            // Plain text: older programs cannot say this as JSON.
            Self::Init => &["init", "-input=false", "-no-color"],
            Self::Validate => &["validate", "-json"],
            Self::Plan => &["plan", "-json", "-input=false", "-out=draftboard.tfplan"],
            Self::PlanDestroy => &["plan", "-destroy", "-json", "-input=false", "-out=draftboard.tfplan"],
            Self::Apply => &["apply", "-json", "-input=false", "-auto-approve"],
            Self::ApplyPlan => &["apply", "-json", "-input=false", PLAN],
            Self::Destroy => &["destroy", "-json", "-input=false", "-auto-approve"],
            Self::Drift => {
                &["plan", "-refresh-only", "-json", "-input=false", "-out=draftboard-drift.tfplan"]
            }
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Whether it says what it does as one JSON object a line.
    pub(crate) fn speaks_json(self) -> bool {
        !matches!(self, Self::Init | Self::Validate)
    }
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
    pub operation: Operation,
    pub confirmation: Confirmation,
    /// The name of the board, for the lock and the log.
    pub board: String,
    /// Where its files are.
    pub folder: PathBuf,
    /// Values of sensitive variables; they are passed in the environment and written nowhere.
    pub secrets: BTreeMap<String, String>,
    /// Further arguments, such as `-plugin-dir=…`; they are not for agents to give.
    pub arguments: Vec<String>,
}

impl Request {
    pub fn new(operation: Operation, board: &str, folder: impl Into<PathBuf>) -> Self {
        Self {
            operation,
            confirmation: Confirmation::Missing,
            board: board.to_owned(),
            folder: folder.into(),
            secrets: BTreeMap::new(),
            arguments: Vec::new(),
        }
    }

    #[must_use]
    pub fn confirmed(mut self) -> Self {
        self.confirmation = Confirmation::Given;
        self
    }
}
