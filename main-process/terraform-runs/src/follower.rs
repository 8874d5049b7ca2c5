//! The follower of one run, and the outcome of a run.

use shared_protocol::terraform::{
    PlanCounts, PlannedAction, TerraformOperation, TerraformRunId, TerraformRunLine, TerraformRunState,
};
use std::collections::BTreeMap;
use terraform::run::{ResourceAction, RunEvent};

/// The number of resources and of diagnostics in the outcome of a run.
const MAX_OUTCOME_ENTRIES: usize = 1_000;

/// Receives the events of one run. Called on the run's thread, in order; may wait a moment.
pub trait RunFollower: Send + Sync {
    /// Called before the first line.
    fn on_started(&self, run: TerraformRunId);

    fn on_output(&self, lines: &[TerraformRunLine]);

    fn on_ended(&self, outcome: FollowedRunOutcome);
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedRunOutcome {
    pub operation: TerraformOperation,
    pub state: TerraformRunState,
    pub summary: Option<PlanCounts>,
    pub complaints: Vec<RunDiagnostic>,
    pub changes: Vec<ResourceChange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDiagnostic {
    pub is_error: bool,
    pub summary: String,
    pub detail: String,
}

/// A resource that a plan would change, or that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceChange {
    pub address: String,
    pub action: &'static str,
    pub success: bool,
    pub error: Option<String>,
}

/// Gathers the outcome of a run from its events.
#[derive(Default)]
pub(super) struct RunReport {
    complaints: Vec<(Option<String>, RunDiagnostic)>,
    /// The action on each address, and whether it succeeded.
    changes: BTreeMap<String, (PlannedAction, bool)>,
}

impl RunReport {
    pub(super) fn ingest(&mut self, events: &[RunEvent]) {
        for event in events {
            match event {
                RunEvent::Diagnostic(said) if self.complaints.len() < MAX_OUTCOME_ENTRIES => {
                    let (summary, detail) = (said.summary.clone(), said.detail.clone());
                    let complaint = RunDiagnostic { is_error: said.is_error, summary, detail };
                    self.complaints.push((said.address.clone(), complaint));
                }
                RunEvent::Planned { address, action } | RunEvent::Finished { address, action } => {
                    self.record_change(address, *action, true);
                }
                // A change that starts and never finishes has failed.
                RunEvent::Started { address, action } | RunEvent::Failed { address, action } => {
                    self.record_change(address, *action, false);
                }
                _ => {}
            }
        }
    }

    fn record_change(&mut self, address: &str, action: ResourceAction, success: bool) {
        let has_room = self.changes.len() < MAX_OUTCOME_ENTRIES || self.changes.contains_key(address);
        if let Some(action) = action.planned().filter(|_| has_room) {
            self.changes.insert(address.to_owned(), (action, success));
        }
    }

    pub(super) fn outcome(
        &self,
        operation: TerraformOperation,
        state: TerraformRunState,
        summary: Option<PlanCounts>,
    ) -> FollowedRunOutcome {
        let error_of = |address: &str| {
            let about = |at: &Option<String>| at.as_deref() == Some(address);
            let mut errors = self.complaints.iter().filter(|(at, said)| said.is_error && about(at));
            errors.next().map(|(_, said)| said.summary.clone())
        };
        let change = |(address, (action, success)): (&String, &(PlannedAction, bool))| ResourceChange {
            address: address.clone(),
            action: action.as_str(),
            success: *success,
            error: if *success { None } else { error_of(address) },
        };
        FollowedRunOutcome {
            operation,
            state,
            summary,
            complaints: self.complaints.iter().map(|(_, said)| said.clone()).collect(),
            changes: self.changes.iter().map(change).collect(),
        }
    }
}
