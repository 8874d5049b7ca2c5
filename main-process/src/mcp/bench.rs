//! The workbench as the MCP server sees it.

use super::Published;
use crate::{export, host::Host, moment::now, renderer_link::user_name, terraform};
use authority::Snapshot;
use mcp_server::{Hcl, Picture, View, Workbench, WorkspaceView};
use shared_protocol::{
    Actor, ActorKind, BoardId, Code, Refusal, Revision,
    messages::{Answer, Patch, Request},
    terraform::CostView,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Bench {
    pub(super) published: Arc<Published>,
    pub(super) host: Host,
    pub(super) terraform: terraform::Link,
}

impl Workbench for Bench {
    fn view(&self) -> Arc<View> {
        self.published.view()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.published.changed()
    }

    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        let actor = Actor::new(ActorKind::Terminal, user_name());
        match self.host.request(Request::ChangesSince(revision), actor, ANSWER_LIMIT)? {
            Answer::Changes(changes) => Ok(changes),
            _ => Err(Refusal::new(Code::Internal, "an answer that was not asked for")),
        }
    }

    fn picture(&self, snapshot: &Snapshot, picture: &Picture) -> Result<Vec<u8>, Refusal> {
        export::picture_for_agents(snapshot, picture)
    }

    fn hcl(&self, workspace: &WorkspaceView, board: BoardId) -> Result<Hcl, Refusal> {
        let (files, findings) = self.terraform.files(&workspace.snapshot, board)?;
        Ok(Hcl { files, findings })
    }

    fn cost(&self, workspace: &WorkspaceView, board: BoardId) -> Result<CostView, Refusal> {
        self.terraform.cost(&workspace.snapshot, board)
    }

    fn now(&self) -> u64 {
        now().time
    }
}
