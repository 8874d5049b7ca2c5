//! Texts about runs and plans.

use crate::wording::line;
use shared_protocol::terraform::{PlanCounts, TerraformOperation, TerraformRunState, TerraformRunView};

pub(crate) fn operation(operation: TerraformOperation) -> &'static str {
    match operation {
        TerraformOperation::Init => "Init",
        TerraformOperation::Validate => "Validate",
        TerraformOperation::Plan => "Plan",
        TerraformOperation::PlanDestroy => "Plan destroy",
        TerraformOperation::Apply => "Apply",
        TerraformOperation::ApplyPlan => "Apply plan",
        TerraformOperation::Destroy => "Destroy",
        TerraformOperation::Drift => "Check drift",
    }
}

pub(crate) fn operation_summary(operation: TerraformOperation) -> &'static str {
    match operation {
        TerraformOperation::Init => "Fetches providers and sets up the backend",
        TerraformOperation::Validate => "Checks the files without contacting providers",
        TerraformOperation::Plan => "Shows the changes of an apply and saves the plan",
        TerraformOperation::PlanDestroy => {
            "Shows the resources that a destroy would delete and saves the plan"
        }
        TerraformOperation::Apply => "Plans, then changes real resources",
        TerraformOperation::ApplyPlan => "Applies exactly the saved plan",
        TerraformOperation::Destroy => "Destroys all resources created from this board",
        TerraformOperation::Drift => "Compares real resources with the applied state",
    }
}

/// Returns whether the operation reads variables, which all need a value.
pub(crate) fn needs_values(operation: TerraformOperation) -> bool {
    !matches!(
        operation,
        TerraformOperation::Init | TerraformOperation::Validate | TerraformOperation::ApplyPlan
    )
}

/// `2 to add, 1 to change, 0 to remove`.
pub(crate) fn describe_planned(counts: PlanCounts) -> String {
    format!("{} to add, {} to change, {} to destroy", counts.add, counts.change, counts.remove)
}

/// `12 s`, `3 min 5 s`.
pub(crate) fn duration(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0 => "under 1 s".to_owned(),
        seconds @ 1..=59 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

pub(crate) fn summary(run: &TerraformRunView, now: u64) -> String {
    let name = operation(run.operation);
    let mut parts = vec![match run.state {
        TerraformRunState::Running => {
            format!("{name} is running, {}", duration(now.saturating_sub(run.started)))
        }
        TerraformRunState::Cancelling => format!("{name} is being cancelled"),
        TerraformRunState::Succeeded { ended } => {
            format!("{name} succeeded in {}", duration(ended.saturating_sub(run.started)))
        }
        TerraformRunState::Failed { code: Some(code), .. } => format!("{name} failed with exit code {code}"),
        TerraformRunState::Failed { code: None, .. } => format!("{name} failed"),
        TerraformRunState::Cancelled { .. } => format!("{name} was cancelled"),
        TerraformRunState::Interrupted => format!("{name} was interrupted; its progress is unknown"),
    }];
    parts.extend(run.summary.map(|counts| {
        let plans = matches!(run.operation, TerraformOperation::Plan | TerraformOperation::PlanDestroy);
        match plans {
            true => describe_planned(counts),
            false => format!("{} added, {} changed, {} destroyed", counts.add, counts.change, counts.remove),
        }
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
        let run = |operation, state, summary| TerraformRunView {
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
        let counts = Some(PlanCounts { add: 2, change: 1, remove: 0 });
        let plan = run(TerraformOperation::Plan, TerraformRunState::Succeeded { ended: 1_400 }, counts);
        assert_eq!(
            summary(&plan, 0),
            "Plan succeeded in under 1 s · 2 to add, 1 to change, 0 to destroy · by ada"
        );
        let apply = run(TerraformOperation::Apply, TerraformRunState::Succeeded { ended: 186_000 }, counts);
        assert_eq!(
            summary(&apply, 0),
            "Apply succeeded in 3 min 5 s · 2 added, 1 changed, 0 destroyed · by ada"
        );
        let failed =
            run(TerraformOperation::Init, TerraformRunState::Failed { ended: 0, code: Some(1) }, None);
        assert_eq!(summary(&failed, 0), "Init failed with exit code 1 · by ada");
        let going = run(TerraformOperation::Destroy, TerraformRunState::Running, None);
        assert_eq!(summary(&going, 3_000), "Destroy is running, 2 s · by ada");
    }
}
