//! The follower of one run, and the outcome of a run.

use shared_protocol::terraform::{Counts, RunId, RunLine, RunOperation, RunState};
use std::collections::BTreeMap;
use terraform::run::{Action, Event};

/// The number of resources and of diagnostics in the outcome of a run.
const MAX_OUTCOME_ENTRIES: usize = 1_000;

/// Receives the events of one run. Called on the run's thread, in order; may wait a moment.
pub trait Follower: Send + Sync {
    /// Called before the first line.
    fn started(&self, run: RunId);

    fn said(&self, lines: &[RunLine]);

    fn ended(&self, outcome: Outcome);
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub operation: RunOperation,
    pub state: RunState,
    pub summary: Option<Counts>,
    pub complaints: Vec<Complaint>,
    pub changes: Vec<ResourceChange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
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
    complaints: Vec<(Option<String>, Complaint)>,
    /// The action on each address, and whether it succeeded.
    changes: BTreeMap<String, (Action, bool)>,
}

impl RunReport {
    pub(super) fn take(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Diagnostic(said) if self.complaints.len() < MAX_OUTCOME_ENTRIES => {
                    let (summary, detail) = (said.summary.clone(), said.detail.clone());
                    let complaint = Complaint { is_error: said.is_error, summary, detail };
                    self.complaints.push((said.address.clone(), complaint));
                }
                Event::Planned { address, action } => self.change(address, *action, true),
                // A change that starts and never finishes has failed.
                Event::Started { address, action } | Event::Failed { address, action } => {
                    self.change(address, *action, false);
                }
                Event::Finished { address, action } => self.change(address, *action, true),
                _ => {}
            }
        }
    }

    fn change(&mut self, address: &str, action: Action, success: bool) {
        let has_room = self.changes.len() < MAX_OUTCOME_ENTRIES || self.changes.contains_key(address);
        if action != Action::Nothing && has_room {
            self.changes.insert(address.to_owned(), (action, success));
        }
    }

    pub(super) fn outcome(
        &self,
        operation: RunOperation,
        state: RunState,
        summary: Option<Counts>,
    ) -> Outcome {
        let error_of = |address: &str| {
            let about = |at: &Option<String>| at.as_deref() == Some(address);
            let mut errors = self.complaints.iter().filter(|(at, said)| said.is_error && about(at));
            errors.next().map(|(_, said)| said.summary.clone())
        };
        let change = |(address, (action, success)): (&String, &(Action, bool))| ResourceChange {
            address: address.clone(),
            action: action.word(),
            success: *success,
            error: if *success { None } else { error_of(address) },
        };
        Outcome {
            operation,
            state,
            summary,
            complaints: self.complaints.iter().map(|(_, said)| said.clone()).collect(),
            changes: self.changes.iter().map(change).collect(),
        }
    }
}
