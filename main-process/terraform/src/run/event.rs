//! Events of a run, parsed from its output lines.

use super::diagnostic::TerraformDiagnostic;
use serde_json::Value as Json;
use shared_protocol::terraform::{PlanCounts, PlannedAction};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceAction {
    Create,
    Update,
    Replace,
    Delete,
    Read,
    Nothing,
}

impl ResourceAction {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "create" => Self::Create,
            "update" => Self::Update,
            "replace" => Self::Replace,
            "delete" | "remove" | "forget" => Self::Delete,
            "read" => Self::Read,
            "noop" | "no-op" | "move" | "import" => Self::Nothing,
            _ => return None,
        })
    }

    /// Returns `None` for an action without effect.
    pub fn planned(self) -> Option<PlannedAction> {
        Some(match self {
            Self::Create => PlannedAction::Create,
            Self::Update => PlannedAction::Update,
            Self::Replace => PlannedAction::Replace,
            Self::Delete => PlannedAction::Delete,
            Self::Read => PlannedAction::Read,
            Self::Nothing => return None,
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// A line of human-readable output.
    Line {
        stream: OutputStream,
        text: String,
    },
    Diagnostic(TerraformDiagnostic),
    /// A resource with a planned change.
    Planned {
        address: String,
        action: ResourceAction,
    },
    /// A resource that differs from the state.
    Drifted {
        address: String,
        action: ResourceAction,
    },
    Started {
        address: String,
        action: ResourceAction,
    },
    /// The operation on the resource continues, after this many seconds.
    Progress {
        address: String,
        seconds: u64,
    },
    Finished {
        address: String,
        action: ResourceAction,
    },
    Failed {
        address: String,
        action: ResourceAction,
    },
    Summary {
        operation: String,
        summary: PlanCounts,
    },
    /// The last event.
    Ended {
        code: Option<i32>,
        success: bool,
        cancelled: bool,
    },
}

/// Returns the event of a JSON line, and its human-readable text.
pub(crate) fn read_line(text: &str) -> (Option<RunEvent>, Option<String>) {
    let Ok(json) = serde_json::from_str::<Json>(text) else { return (None, None) };
    let event = event_of(&json);
    let message = match &event {
        // The message contains only the summary; the detail names the variable or argument.
        Some(RunEvent::Diagnostic(diagnostic)) => Some(diagnostic.to_text()),
        _ => json["@message"].as_str().map(str::to_owned),
    };
    (event, message)
}

fn event_of(json: &Json) -> Option<RunEvent> {
    let kind = json["type"].as_str()?;
    let address_in = |part: &Json| part["resource"]["addr"].as_str().map(str::to_owned);
    let action_in = |part: &Json| part["action"].as_str().and_then(ResourceAction::parse);
    let (hook, change) = (&json["hook"], &json["change"]);
    Some(match kind {
        "diagnostic" => RunEvent::Diagnostic(TerraformDiagnostic::from_json(&json["diagnostic"])?),
        "planned_change" => RunEvent::Planned { address: address_in(change)?, action: action_in(change)? },
        "resource_drift" => RunEvent::Drifted { address: address_in(change)?, action: action_in(change)? },
        "apply_start" => RunEvent::Started { address: address_in(hook)?, action: action_in(hook)? },
        "apply_progress" => RunEvent::Progress {
            address: address_in(hook)?,
            seconds: hook["elapsed_seconds"].as_f64().unwrap_or(0.0).max(0.0) as u64,
        },
        "apply_complete" => RunEvent::Finished { address: address_in(hook)?, action: action_in(hook)? },
        "apply_errored" => RunEvent::Failed { address: address_in(hook)?, action: action_in(hook)? },
        "change_summary" => {
            let count = |key: &str| json["changes"][key].as_u64().unwrap_or(0);
            RunEvent::Summary {
                operation: json["changes"]["operation"].as_str().unwrap_or_default().to_owned(),
                summary: PlanCounts { add: count("add"), change: count("change"), remove: count("remove") },
            }
        }
        _ => return None,
    })
}
