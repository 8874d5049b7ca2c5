//! What the writer does for the parts of the process that run Terraform and previews.

use super::{Host, Job, Reply};
use crate::{
    mcp, preview,
    terraform_worker::{Around, Told},
};
use crossbeam_channel::bounded;
use shared_protocol::{
    Actor, Code, NodeId, Refusal,
    messages::{Answer, Applied},
    previews::PreviewsView,
};
use std::time::Duration;
use workspace::Mutation;

const APPLY_LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct InHost {
    pub(crate) host: Host,
    /// Agents see what is deployed as well.
    pub(crate) agents: mcp::Link,
}

pub(crate) struct InPreviews {
    pub(crate) host: Host,
    /// Agents see the sessions as well.
    pub(crate) agents: mcp::Link,
}

impl preview::Around for InPreviews {
    fn tell(&self, view: &PreviewsView) {
        self.agents.published.show_previews(view);
    }

    fn chosen(&self, node: NodeId) {
        self.host.mention(Job::Chosen(node));
    }
}

impl Around for InHost {
    fn tell(&self, told: Told) {
        let job = match told {
            Told::View(view) => {
                let statuses = view.boards.iter().flat_map(|board| board.statuses.iter().copied());
                self.agents.published.show_deployments(statuses.collect());
                Job::Terraform(view)
            }
            Told::Lines { run, first, lines } => Job::RunLines { run, first, lines },
        };
        if let Err(refusal) = self.host.send(job) {
            tracing::debug!(%refusal, "the window was not told about Terraform");
        }
    }

    fn apply(&self, mutation: Mutation, actor: Actor) -> Result<Applied, Refusal> {
        let (done, answered) = bounded(1);
        let reply: Reply = Box::new(move |result| drop(done.send(result)));
        self.host.send(Job::Mutate { mutation, actor, reply })?;
        match answered.recv_timeout(APPLY_LIMIT) {
            Ok(Ok(Answer::Applied(applied))) => Ok(applied),
            Ok(Ok(_)) => Err(Refusal::new(Code::Internal, "an answer that was not asked for")),
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => Err(Refusal::new(Code::Timeout, "no answer in time; the change may still be made")),
        }
    }
}
