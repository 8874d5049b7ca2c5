//! The events that Terraform runs send to the rest of the process.

use shared_protocol::{
    Actor, Refusal,
    messages::Applied,
    terraform::{RunId, RunLine, TerraformView},
};
use workspace::Mutation;

/// An event for the window.
pub enum Told {
    View(Box<TerraformView>),
    Lines { run: RunId, first: u64, lines: Vec<RunLine> },
}

/// The rest of the process, as far as Terraform runs report to it.
pub trait Around: Send + Sync {
    /// Publishes an event. May wait; the writer never calls it.
    fn tell(&self, told: Told);

    /// Changes the workspace. The change is durable when it returns.
    fn apply(&self, mutation: Mutation, actor: Actor) -> Result<Applied, Refusal>;
}
