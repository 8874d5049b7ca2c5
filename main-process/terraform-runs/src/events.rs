//! The events that Terraform runs send to the rest of the process.

use shared_protocol::{
    Actor, Refusal,
    messages::AppliedCommand,
    terraform::{TerraformRunId, TerraformRunLine, TerraformView},
};
use workspace::Mutation;

/// An event for the window.
pub enum TerraformEvent {
    View(Box<TerraformView>),
    Lines { run: TerraformRunId, first: u64, lines: Vec<TerraformRunLine> },
}

/// The rest of the process, as far as Terraform runs report to it.
pub trait TerraformEvents: Send + Sync {
    /// Publishes an event. May wait; the writer never calls it.
    fn publish(&self, event: TerraformEvent);

    /// Changes the workspace. The change is durable when it returns.
    fn apply(&self, mutation: Mutation, actor: Actor) -> Result<AppliedCommand, Refusal>;
}
