//! Changing a bundle: many changes at once, all or none.
//!
//! In two steps, so that a review can stand between them. [`plan`] decides: it looks only at the loaded bundles and says
//! what every change would do and which files would hold what. [`commit`] writes: it refuses if a file is no longer what
//! the plan was made from, and whatever interrupts it, all files are written or none.

mod commit;
mod draft;
mod fields;
mod intent;
mod plan;
mod planner;
mod request;
mod result;
mod words;

pub use commit::{CommitError, commit};
pub(crate) use intent::recover;
pub use plan::{FileEdit, Plan, plan};

use crate::{
    Bundles,
    envelope::{Answer, Code, Refusal},
};
use serde_json::Value;

/// A dry run. A write is refused here: it is not for the reader of bundles to allow it.
pub(crate) fn preview(bundles: &Bundles, arguments: &Value) -> Result<Answer, Refusal> {
    let plan = plan(bundles, arguments)?;
    if plan.is_dry_run() {
        return plan.answer();
    }
    let message =
        "Writing is not allowed here: ask for a dry run (dryRun: true), or let a person allow changes";
    Err(Refusal::new(Code::ActuationDisabled, message).about("dryRun"))
}

/// A dry run, or the change itself.
pub(crate) fn apply(bundles: &mut Bundles, arguments: &Value) -> Result<Answer, Refusal> {
    let plan = plan(bundles, arguments)?;
    let answer = plan.answer()?;
    if plan.is_dry_run() {
        return Ok(answer);
    }
    commit(bundles, &plan).map_err(|error| error.refusal())?;
    Ok(answer)
}
