//! What the writer does for the part of the process that runs Terraform.

use super::{Host, Job, Reply};
use crate::{
    mcp,
    terraform::{Around, Told},
    workspace::Mutation,
};
use crossbeam_channel::bounded;
use shared_protocol::{
    Actor, Code, Refusal,
    messages::{Answer, Applied},
};
use std::time::Duration;

const APPLY_LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct InHost {
    pub(crate) host: Host,
    /// Agents see what is deployed as well.
    pub(crate) agents: mcp::Link,
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
