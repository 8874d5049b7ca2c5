//! What the writer does for the parts of the process that run Terraform and previews.

use super::{Host, Job, Reply};
use crate::{
    mcp, preview,
    terraform_worker::{self, Around, Told},
    upstreams::{By, ManagedServerEvents},
};
use crossbeam_channel::bounded;
use shared_protocol::{
    Actor, Code, NodeId, ProposalId, Refusal,
    messages::{Answer, Applied},
    previews::PreviewsView,
    request::Responder,
    review::{AuditEvent, ReviewAnswer},
    terraform::TerraformAnswer,
    upstreams::{UpstreamAnswer, UpstreamsView},
};
use std::{path::PathBuf, sync::Arc, time::Duration};
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

impl ManagedServerEvents for InHost {
    fn publish_view(&self, view: UpstreamsView) {
        if let Err(refusal) = self.host.send(Job::Upstreams(Box::new(view))) {
            tracing::debug!(%refusal, "the window did not receive the view of managed servers");
        }
    }

    fn publish_tools(&self, tools: mcp_server::Guests) {
        self.agents.published.show_guests(tools);
    }

    fn record_audit(&self, event: AuditEvent, by: By, reason: String) {
        if let Err(refusal) = self.host.send(Job::Note { event, by, reason }) {
            tracing::error!(%refusal, "an event of a managed server is missing in the audit");
        }
    }

    fn record_outcome(&self, proposal: ProposalId, outcome: String) {
        if let Err(refusal) = self.host.send(Job::CameOf { proposal, outcome }) {
            tracing::debug!(%refusal, "the outcome of a call was not recorded");
        }
    }

    fn agents_view(&self) -> Arc<mcp_server::View> {
        self.agents.published.view()
    }
}

/// The user's choices for Terraform, read from this settings file.
pub(crate) fn terraform_user(settings: PathBuf, plans: PathBuf) -> terraform_worker::UserFolders {
    let read_program = |settings: &std::path::Path| {
        mcp::terraform_program(settings).map_err(|error| Refusal::new(Code::StorageError, error.to_string()))
    };
    terraform_worker::UserFolders { settings, plans, read_program }
}

pub(crate) fn terraform_responder(reply: Reply) -> Responder<TerraformAnswer> {
    Responder::new(reply).map(|answer| match answer {
        TerraformAnswer::MissingPrices(text) => Answer::Text(text),
        TerraformAnswer::Cancelling => Answer::Done,
        answer => Answer::Terraform(answer),
    })
}

pub(crate) fn review_responder(reply: Reply) -> Responder<ReviewAnswer> {
    Responder::new(reply).map(Answer::Review)
}

pub(crate) fn upstream_responder(reply: Reply) -> Responder<UpstreamAnswer> {
    Responder::new(reply).map(Answer::Upstream)
}
