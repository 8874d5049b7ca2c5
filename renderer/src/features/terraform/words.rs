//! Texts about runs and plans.

use crate::wording::line;
use shared_protocol::terraform::{Counts, RunOperation, RunState, RunView};

pub(crate) fn operation(operation: RunOperation) -> &'static str {
    match operation {
        RunOperation::Init => "Init",
        RunOperation::Validate => "Validate",
        RunOperation::Plan => "Plan",
        RunOperation::PlanDestroy => "Plan removal",
        RunOperation::Apply => "Apply",
        RunOperation::ApplyPlan => "Apply plan",
        RunOperation::Destroy => "Destroy",
        RunOperation::Drift => "Check drift",
    }
}

/// The tooltip of the button.
pub(crate) fn what_it_does(operation: RunOperation) -> &'static str {
    match operation {
        RunOperation::Init => "Fetches providers and sets up the backend",
        RunOperation::Validate => "Checks the files without contacting providers",
        RunOperation::Plan => "Shows the changes of an apply and saves the plan",
        RunOperation::PlanDestroy => "Shows the removals of a destroy and saves the plan",
        RunOperation::Apply => "Plans, then changes real resources",
        RunOperation::ApplyPlan => "Applies exactly the saved plan",
        RunOperation::Destroy => "Destroys all resources created from this board",
        RunOperation::Drift => "Compares real resources with the applied state",
    }
}

/// Returns whether the operation reads variables, which all need a value.
pub(crate) fn needs_values(operation: RunOperation) -> bool {
    !matches!(operation, RunOperation::Init | RunOperation::Validate | RunOperation::ApplyPlan)
}

/// `2 to add, 1 to change, 0 to remove`.
pub(crate) fn to_do(counts: Counts) -> String {
    format!("{} to add, {} to change, {} to remove", counts.add, counts.change, counts.remove)
}

fn done(counts: Counts) -> String {
    format!("{} added, {} changed, {} removed", counts.add, counts.change, counts.remove)
}

/// `12 s`, `3 min 5 s`.
pub(crate) fn duration(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0 => "under 1 s".to_owned(),
        seconds @ 1..=59 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// The summary of a run in one line.
pub(crate) fn summary(run: &RunView, now: u64) -> String {
    let name = operation(run.operation);
    let mut parts = vec![match run.state {
        RunState::Running => format!("{name} is running, {}", duration(now.saturating_sub(run.started))),
        RunState::Cancelling => format!("{name} is being cancelled"),
        RunState::Succeeded { ended } => {
            format!("{name} succeeded in {}", duration(ended.saturating_sub(run.started)))
        }
        RunState::Failed { code: Some(code), .. } => format!("{name} failed with exit code {code}"),
        RunState::Failed { code: None, .. } => format!("{name} failed"),
        RunState::Cancelled { .. } => format!("{name} was cancelled"),
        RunState::Interrupted => format!("{name} was interrupted; its progress is unknown"),
    }];
    parts.extend(run.summary.map(|counts| {
        let plans = matches!(run.operation, RunOperation::Plan | RunOperation::PlanDestroy);
        if plans { to_do(counts) } else { done(counts) }
    }));
    let by = &run.by.name;
    // The client's name is unverified.
    match run.requested_by.as_deref().map(line) {
        Some(client) if run.operation.needs_confirmation() => {
            parts.push(format!("requested by {client}, approved by {by}"));
        }
        Some(client) => parts.push(format!("by {by} for {client}")),
        None if by.is_empty() => {}
        None => parts.push(format!("by {by}")),
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{Actor, ActorKind, BoardId};

    #[test]
    fn a_run_is_told_in_a_line() {
        let run = |operation, state, summary| RunView {
            id: 1,
            board: BoardId::from_bits(1),
            operation,
            by: Actor::new(ActorKind::Window, "ada"),
            requested_by: None,
            started: 1_000,
            state,
            summary,
            progress: None,
            lines: 0,
            log: String::new(),
        };
        let counts = Some(Counts { add: 2, change: 1, remove: 0 });
        let plan = run(RunOperation::Plan, RunState::Succeeded { ended: 1_400 }, counts);
        assert_eq!(
            summary(&plan, 0),
            "Plan succeeded in under 1 s · 2 to add, 1 to change, 0 to remove · by ada"
        );
        let apply = run(RunOperation::Apply, RunState::Succeeded { ended: 186_000 }, counts);
        assert_eq!(
            summary(&apply, 0),
            "Apply succeeded in 3 min 5 s · 2 added, 1 changed, 0 removed · by ada"
        );
        let failed = run(RunOperation::Init, RunState::Failed { ended: 0, code: Some(1) }, None);
        assert_eq!(summary(&failed, 0), "Init failed with exit code 1 · by ada");
        let going = run(RunOperation::Destroy, RunState::Running, None);
        assert_eq!(summary(&going, 3_000), "Destroy is running, 2 s · by ada");
    }
}
