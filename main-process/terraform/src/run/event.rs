//! Events of a run, parsed from its output lines.

use super::diagnostic::Diagnostic;
use serde_json::Value as Json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Create,
    Update,
    Replace,
    Delete,
    Read,
    Nothing,
}

impl Action {
    pub(crate) fn of_word(word: &str) -> Option<Self> {
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

    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Nothing => "no-op",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub add: u64,
    pub change: u64,
    pub remove: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A line of human-readable output.
    Line {
        stream: Stream,
        text: String,
    },
    Diagnostic(Diagnostic),
    /// A resource with a planned change.
    Planned {
        address: String,
        action: Action,
    },
    /// A resource that differs from the state.
    Drifted {
        address: String,
        action: Action,
    },
    Started {
        address: String,
        action: Action,
    },
    /// The operation on the resource continues, after this many seconds.
    Progress {
        address: String,
        seconds: u64,
    },
    Finished {
        address: String,
        action: Action,
    },
    Failed {
        address: String,
        action: Action,
    },
    Summary {
        operation: String,
        summary: Summary,
    },
    /// The last event.
    Ended {
        code: Option<i32>,
        success: bool,
        cancelled: bool,
    },
}

/// Returns the event of a JSON line, and its human-readable text.
pub(crate) fn read_line(text: &str) -> (Option<Event>, Option<String>) {
    let Ok(json) = serde_json::from_str::<Json>(text) else { return (None, None) };
    let event = event_of(&json);
    let message = match &event {
        // The message contains only the summary; the detail names the variable or argument.
        Some(Event::Diagnostic(diagnostic)) => Some(diagnostic.lines()),
        _ => json["@message"].as_str().map(str::to_owned),
    };
    (event, message)
}

fn event_of(json: &Json) -> Option<Event> {
    let kind = json["type"].as_str()?;
    let address_in = |part: &Json| part["resource"]["addr"].as_str().map(str::to_owned);
    let action_in = |part: &Json| part["action"].as_str().and_then(Action::of_word);
    let (hook, change) = (&json["hook"], &json["change"]);
    Some(match kind {
        "diagnostic" => Event::Diagnostic(Diagnostic::of_json(&json["diagnostic"])?),
        "planned_change" => Event::Planned { address: address_in(change)?, action: action_in(change)? },
        "resource_drift" => Event::Drifted { address: address_in(change)?, action: action_in(change)? },
        "apply_start" => Event::Started { address: address_in(hook)?, action: action_in(hook)? },
        "apply_progress" => Event::Progress {
            address: address_in(hook)?,
            seconds: hook["elapsed_seconds"].as_f64().unwrap_or(0.0).max(0.0) as u64,
        },
        "apply_complete" => Event::Finished { address: address_in(hook)?, action: action_in(hook)? },
        "apply_errored" => Event::Failed { address: address_in(hook)?, action: action_in(hook)? },
        "change_summary" => {
            let count = |key: &str| json["changes"][key].as_u64().unwrap_or(0);
            Event::Summary {
                operation: json["changes"]["operation"].as_str().unwrap_or_default().to_owned(),
                summary: Summary { add: count("add"), change: count("change"), remove: count("remove") },
            }
        }
        _ => return None,
    })
}
