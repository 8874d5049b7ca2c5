//! Changes a bundle: applies a batch of changes atomically.
//!
//! There are two steps, so that a review can happen between them. [`plan`] decides: it reads only the loaded bundles
//! and computes the result of every change and the content of every file. [`commit`] writes: it refuses if a file
//! differs from the version that the plan is based on, and an interruption leaves all files written or none.

mod change_summary;
mod commit;
mod draft;
mod fields;
mod plan;
mod planner;
mod request;
mod result;
mod write_ahead;

pub use commit::{BundleCommitError, commit};
pub use plan::{BundleChangePlan, PlannedFileEdit, plan};
pub(crate) use write_ahead::recover;

use crate::{Bundles, envelope::ToolResult};
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode};

/// Performs a dry run. Refuses a write, which this read-only caller cannot allow.
pub(crate) fn preview(bundles: &Bundles, arguments: &Value) -> ToolResult {
    let plan = plan(bundles, arguments)?;
    if plan.is_dry_run() {
        return plan.answer();
    }
    let message =
        "Writing is not allowed here: ask for a dry run (dryRun: true), or let a person allow changes";
    Err(Refusal::new(RefusalCode::ActuationDisabled, message).field("dryRun"))
}

/// Performs a dry run, or plans and writes the changes.
pub(crate) fn apply(bundles: &mut Bundles, arguments: &Value) -> ToolResult {
    let plan = plan(bundles, arguments)?;
    let answer = plan.answer()?;
    if plan.is_dry_run() {
        return Ok(answer);
    }
    commit(bundles, &plan).map_err(|error| error.to_refusal())?;
    Ok(answer)
}
