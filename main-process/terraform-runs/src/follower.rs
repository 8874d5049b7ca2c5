//! Somebody who follows one run from its start to its end, and what the run came to.

use shared_protocol::terraform::{Counts, RunId, RunLine, RunOperation, RunState};
use std::collections::BTreeMap;
use terraform::run::{Action, Event};

/// Resources and complaints that are told of one run.
const MOST_TOLD: usize = 1_000;

/// Called on the run's own thread, in order; may wait a moment.
pub trait Follower: Send + Sync {
    /// Before anything is said.
    fn started(&self, run: RunId);

    fn said(&self, lines: &[RunLine]);

    fn ended(&self, outcome: Outcome);
}

/// What a run came to.
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

/// One resource that a plan would change, or that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceChange {
    pub address: String,
    pub action: &'static str,
    pub success: bool,
    pub error: Option<String>,
}

/// Gathers what a follower is told at the end.
#[derive(Default)]
pub(super) struct Gathered {
    complaints: Vec<(Option<String>, Complaint)>,
    /// By address: what is done to it, and whether that went well.
    changes: BTreeMap<String, (Action, bool)>,
}

impl Gathered {
    pub(super) fn take(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Diagnostic(said) if self.complaints.len() < MOST_TOLD => {
                    let (summary, detail) = (said.summary.clone(), said.detail.clone());
                    let complaint = Complaint { is_error: said.is_error, summary, detail };
                    self.complaints.push((said.address.clone(), complaint));
                }
                Event::Planned { address, action } => self.change(address, *action, true),
                // What is begun and never ends did not go well.
                Event::Started { address, action } | Event::Failed { address, action } => {
                    self.change(address, *action, false);
                }
                Event::Finished { address, action } => self.change(address, *action, true),
                _ => {}
            }
        }
    }

    fn change(&mut self, address: &str, action: Action, success: bool) {
        let has_room = self.changes.len() < MOST_TOLD || self.changes.contains_key(address);
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
