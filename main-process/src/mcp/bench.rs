//! The workbench as the MCP server sees it.

use super::Published;
use crate::{export, host::Host, moment::now, renderer_link::user_name, terraform};
use authority::{
    Snapshot,
    proposals::{AgentAsk, Client},
};
use journal::{WorkspaceFiles, WorkspacePath};
use mcp_server::{AskReply, Doings, Hcl, Picture, View, Workbench, WorkspaceView};
use shared_protocol::{
    Actor, ActorKind, BoardId, Code, Refusal, Revision,
    messages::{Answer, Patch, Request},
    proposal::Act,
    terraform::CostView,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Bench {
    pub(super) published: Arc<Published>,
    pub(super) doings: Arc<Doings>,
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

    fn ask(&self, client: Client, ask: AgentAsk, reply: AskReply) {
        self.host.ask(client, ask, reply);
    }

    fn doings(&self) -> &Doings {
        &self.doings
    }

    fn configured(&self, fields: &serde_json::Map<String, serde_json::Value>) -> Result<Act, Refusal> {
        let unreadable = |why: String| Refusal::new(Code::StorageError, format!("draftboard.toml: {why}"));
        let root =
            self.published.root().ok_or_else(|| Refusal::new(Code::NoWorkspace, "no workspace is open"))?;
        let files = WorkspaceFiles::open(&root).map_err(|error| unreadable(error.to_string()))?;
        let before =
            files.read_text(&WorkspacePath::config()).map_err(|error| unreadable(error.to_string()))?;
        let after = journal::merge_config(&before, fields)
            .map_err(|error| Refusal::new(Code::ValidationError, error.to_string()).field("config"))?;
        if after == before {
            return Err(
                Refusal::new(Code::BadRequest, "the configuration is like that already").field("config")
            );
        }
        Ok(Act::Config { before, after })
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
