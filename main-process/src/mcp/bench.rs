//! The workbench as the MCP server sees it.

use super::Published;
use crate::{export, host::Host, preview, renderer_link::user_name, terraform_worker};
use authority::{
    Snapshot,
    proposals::{AgentAsk, Client},
};
use journal::{WorkspaceFiles, WorkspacePath};
use mcp_server::{AskReply, Doings, Hcl, Picture, PictureOf, View, Workbench, WorkspaceView};
use shared_protocol::{
    Actor, ActorKind, BoardId, Code, NodeId, Refusal, Revision,
    messages::{Answer, Patch, Request},
    preview::Screen,
    proposal::Act,
    request::Responder,
    terraform::CostView,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;
use workspace::config_check;
use workspace::now;
use workspace::{guarded_settings, names_program};

const ANSWER_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Bench {
    pub(super) published: Arc<Published>,
    pub(super) doings: Arc<Doings>,
    pub(super) host: Host,
    pub(super) terraform: terraform_worker::Link,
}

/// How long an agent waits for a page to be drawn.
const PAGE_LIMIT: Duration = Duration::from_secs(25);

impl Bench {
    /// A page as it really looks: main asks a preview of its own for it.
    fn page(&self, snapshot: &Snapshot, picture: &Picture, route: NodeId) -> Result<Vec<u8>, Refusal> {
        let no_workspace = || Refusal::new(Code::NoWorkspace, "no workspace is open");
        let ground = self.host.previews.ground().ok_or_else(no_workspace)?.with(snapshot.clone());
        let (width, height) = (picture.longest, picture.longest * 5 / 8);
        let screen = Screen::new(width, height, 1.0, picture.dark)
            .ok_or_else(|| Refusal::new(Code::BadRequest, "there is no screen of this size"))?;
        let (done, answered) = crossbeam_channel::bounded(1);
        let responder = Responder::new(move |result| drop(done.send(result)));
        self.host.previews.picture(ground, route, screen, responder);
        let drawn = answered.recv_timeout(PAGE_LIMIT).unwrap_or_else(|_| {
            Err(Refusal::new(Code::Timeout, "the page was not drawn in time").hint("Try again in a moment."))
        });
        drawn.and_then(|pixels| preview::png(&pixels))
    }
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
        let view = self.published.view();
        let boards = view.workspace.iter().flat_map(|workspace| workspace.snapshot.boards());
        let boards: Vec<&str> = boards.map(|board| board.name.as_str()).collect();
        config_check::check(fields, &boards)?;
        let root =
            self.published.root().ok_or_else(|| Refusal::new(Code::NoWorkspace, "no workspace is open"))?;
        let files = WorkspaceFiles::open(&root).map_err(|error| unreadable(error.to_string()))?;
        let before =
            files.read_text(&WorkspacePath::config()).map_err(|error| unreadable(error.to_string()))?;
        let after = journal::merge_config(&before, fields)
            .map_err(|error| Refusal::new(Code::ValidationError, error.to_string()).field("config"))?;
        terraform::Settings::read(&after)
            .map_err(|error| Refusal::new(Code::ValidationError, error.to_string()).field("config"))?;
        if after == before {
            return Err(
                Refusal::new(Code::BadRequest, "the configuration is like that already").field("config")
            );
        }
        if let Some(setting) = guarded_settings(&before, &after).iter().find(|name| names_program(name)) {
            let message =
                format!("`{setting}` is ignored: the program that runs comes from the user's own settings");
            return Err(Refusal::new(Code::ValidationError, message).field("config").hint(
                "Leave it out, and ask the user to set `program` under [terraform] in settings.toml.",
            ));
        }
        Ok(Act::Config { before, after })
    }

    fn picture(&self, snapshot: &Snapshot, picture: &Picture) -> Result<Vec<u8>, Refusal> {
        match picture.of {
            PictureOf::Page(route) => self.page(snapshot, picture, route),
            _ => export::picture_for_agents(snapshot, picture),
        }
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
