//! The writer's side of the services: the calls that agents, Terraform and previews make into the process.

use super::{WriterHandle, WriterMsg};
use crate::{local_user::user_name, responses::wait_for};
use agents::{AgentServerAddress, AgentServerEvents};
use managed_servers::{ManagedServerEvents, RequestOrigin};
use shared_protocol::{
    Actor, ActorKind, NodeId, ProposalId, Refusal, RefusalCode, Revision,
    managed_servers::ManagedServersView,
    mcp::McpView,
    messages::{AppliedCommand, Patch},
    preview_sessions::PreviewsView,
    requests::ReadPatches,
    review::AuditEvent,
};
use std::{path::PathBuf, sync::Arc, time::Duration};
use terraform_runs::{TerraformEvent, TerraformEvents};
use workspace::Mutation;

const APPLY_LIMIT: Duration = Duration::from_secs(60);
const READ_LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct WriterServiceEvents {
    pub(crate) host: WriterHandle,
    /// The agents' view shows deployments as well.
    pub(crate) agents: agents::AgentServerHandle,
}

pub(crate) struct WriterPreviewEvents {
    pub(crate) host: WriterHandle,
    /// The agents' view shows the sessions as well.
    pub(crate) agents: agents::AgentServerHandle,
}

impl AgentServerEvents for WriterHandle {
    fn publish_view(&self, view: McpView) {
        // Refused: the writer has ended, and nobody shows the view.
        let _ = self.send(WriterMsg::Mcp(Box::new(view)));
    }

    fn record_address(&self, address: Option<AgentServerAddress>) {
        // Refused: the writer has ended, and the record is gone.
        let _ = self.send(WriterMsg::McpAddress(address));
    }

    fn run_after_recording(&self, respond: Box<dyn FnOnce() + Send>) {
        self.run_in_turn(respond);
    }

    fn read_patches(&self, since: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        let actor = Actor::new(ActorKind::Terminal, user_name());
        self.wait_for(ReadPatches { since }, actor, READ_LIMIT)
    }
}

impl preview_sessions::PreviewEvents for WriterPreviewEvents {
    fn publish_view(&self, view: &PreviewsView) {
        self.agents.published.show_previews(view);
    }

    fn select_node(&self, node: NodeId) {
        self.host.send_if_room(WriterMsg::SelectNode(node));
    }
}

impl TerraformEvents for WriterServiceEvents {
    fn publish(&self, event: TerraformEvent) {
        let message = match event {
            TerraformEvent::View(view) => {
                let statuses = view.boards.iter().flat_map(|board| board.statuses.iter().copied());
                self.agents.published.show_deployments(statuses.collect());
                WriterMsg::Terraform(view)
            }
            TerraformEvent::Lines { run, first, lines } => WriterMsg::RunLines { run, first, lines },
        };
        if let Err(refusal) = self.host.send(message) {
            tracing::debug!(%refusal, "the window does not show the state of Terraform");
        }
    }

    fn apply(&self, mutation: Mutation, actor: Actor) -> Result<AppliedCommand, Refusal> {
        wait_for(APPLY_LIMIT, |responder| self.host.mutate(mutation, actor, responder))
    }
}

impl ManagedServerEvents for WriterServiceEvents {
    fn publish_view(&self, view: ManagedServersView) {
        if let Err(refusal) = self.host.send(WriterMsg::ManagedServers(Box::new(view))) {
            tracing::debug!(%refusal, "the window did not receive the view of managed servers");
        }
    }

    fn publish_tools(&self, tools: mcp_server::ProxiedTools) {
        self.agents.published.set_proxied_tools(tools);
    }

    fn record_audit(&self, event: AuditEvent, by: RequestOrigin, reason: String) {
        if let Err(refusal) = self.host.send(WriterMsg::AuditLine { event, by, reason }) {
            tracing::error!(%refusal, "an event of a managed server is missing in the audit");
        }
    }

    fn record_outcome(&self, proposal: ProposalId, outcome: String) {
        if let Err(refusal) = self.host.send(WriterMsg::ActionOutcome { proposal, outcome }) {
            tracing::debug!(%refusal, "the outcome of a call was not recorded");
        }
    }

    fn agents_view(&self) -> Arc<mcp_server::AgentView> {
        self.agents.published.view()
    }
}

/// The user's choices for Terraform, read from this settings file.
pub(crate) fn terraform_user(settings: PathBuf, plans: PathBuf) -> terraform_runs::TerraformUserFiles {
    let read_program = |settings: &std::path::Path| {
        agents::terraform_program(settings)
            .map_err(|error| Refusal::new(RefusalCode::StorageError, error.to_string()))
    };
    terraform_runs::TerraformUserFiles { settings, plans, read_program }
}
