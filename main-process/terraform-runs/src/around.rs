//! What the process around does for this part.

use shared_protocol::{
    Actor, Refusal,
    messages::Applied,
    terraform::{RunId, RunLine, TerraformView},
};
use workspace::Mutation;

/// What the window should hear of.
pub enum Told {
    View(Box<TerraformView>),
    Lines { run: RunId, first: u64, lines: Vec<RunLine> },
}

pub trait Around: Send + Sync {
    /// May wait a moment; is never called by the writer.
    fn tell(&self, told: Told);

    /// Changes the workspace; durable when it returns.
    fn apply(&self, mutation: Mutation, actor: Actor) -> Result<Applied, Refusal>;
}
