//! The workbench as the MCP server reads it.

use crate::{AgentServerEvents, AgentViewPublisher};
use authority::Snapshot;
use journal::{WorkspaceFiles, WorkspacePath};
use mcp_server::{
    ActionRuns, AgentView, AgentWorkbench, AgentWorkspaceView, BoardHcl, BoardImageRequest, BoardImageSubject,
};
use preview_sessions::PreviewsHandle;
use shared_protocol::{
    BoardId, NodeId, Refusal, RefusalCode, Revision, messages::Patch, preview_wire::PreviewScreen,
    proposal::ProposedAction, request::Responder, terraform::CostView,
};
use std::{
    sync::{Arc, mpsc},
    time::Duration,
};
use terraform_runs::TerraformHandle;
use tokio::sync::watch;
use workspace::{config_check, guarded_settings, names_program, time_and_seed};

/// An agent waits this long for the picture of a page.
const PAGE_LIMIT: Duration = Duration::from_secs(25);

pub(super) struct WorkbenchAdapter {
    pub(super) published: Arc<AgentViewPublisher>,
    pub(super) action_runs: Arc<ActionRuns>,
    pub(super) events: Arc<dyn AgentServerEvents>,
    pub(super) terraform: TerraformHandle,
    pub(super) previews: PreviewsHandle,
}

impl WorkbenchAdapter {
    /// Draws a page in a preview of its own.
    fn page(
        &self,
        snapshot: &Snapshot,
        picture: &BoardImageRequest,
        route: NodeId,
    ) -> Result<Vec<u8>, Refusal> {
        let no_workspace = || Refusal::new(RefusalCode::NoWorkspace, "no workspace is open");
        let workspace = self.previews.workspace().ok_or_else(no_workspace)?.with_snapshot(snapshot.clone());
        let (width, height) = (picture.longest, picture.longest * 5 / 8);
        let screen = PreviewScreen::new(width, height, 1.0, picture.dark)
            .ok_or_else(|| Refusal::new(RefusalCode::BadRequest, "the screen size is out of range"))?;
        let (drawn, is_drawn) = mpsc::channel();
        // The receiver may have given up.
        let responder = Responder::new(move |result| drop(drawn.send(result)));
        self.previews.picture(workspace, route, screen, responder);
        let pixels = is_drawn.recv_timeout(PAGE_LIMIT).unwrap_or_else(|_| {
            Err(Refusal::new(RefusalCode::Timeout, "the page was not rendered in time")
                .hint("Try again in a moment."))
        })?;
        preview_sessions::png(&pixels)
    }
}

impl AgentWorkbench for WorkbenchAdapter {
    fn view(&self) -> Arc<AgentView> {
        self.published.view()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.published.watch_changes()
    }

    fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        self.events.read_patches(revision)
    }

    fn action_runs(&self) -> &ActionRuns {
        &self.action_runs
    }

    fn configured(
        &self,
        fields: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<ProposedAction, Refusal> {
        let unreadable =
            |why: String| Refusal::new(RefusalCode::StorageError, format!("draftboard.toml: {why}"));
        let view = self.published.view();
        let boards = view.workspace.iter().flat_map(|workspace| workspace.snapshot.boards());
        let boards: Vec<&str> = boards.map(|board| board.name.as_str()).collect();
        config_check::check(fields, &boards)?;
        let root = self
            .published
            .root()
            .ok_or_else(|| Refusal::new(RefusalCode::NoWorkspace, "no workspace is open"))?;
        let files = WorkspaceFiles::open(&root).map_err(|error| unreadable(error.to_string()))?;
        let before =
            files.read_text(&WorkspacePath::config()).map_err(|error| unreadable(error.to_string()))?;
        let after = journal::merge_config(&before, fields)
            .map_err(|error| Refusal::new(RefusalCode::ValidationError, error.to_string()).field("config"))?;
        terraform::TerraformProjectSettings::read(&after)
            .map_err(|error| Refusal::new(RefusalCode::ValidationError, error.to_string()).field("config"))?;
        if after == before {
            return Err(Refusal::new(RefusalCode::BadRequest, "the configuration already has these values")
                .field("config"));
        }
        if let Some(setting) = guarded_settings(&before, &after).iter().find(|name| names_program(name)) {
            let message =
                format!("`{setting}` is ignored: the program that runs comes from the user's own settings");
            return Err(Refusal::new(RefusalCode::ValidationError, message).field("config").hint(
                "Leave it out, and ask the user to set `program` under [terraform] in settings.toml.",
            ));
        }
        Ok(ProposedAction::Config { before, after })
    }

    fn picture(&self, snapshot: &Snapshot, picture: &BoardImageRequest) -> Result<Vec<u8>, Refusal> {
        match picture.subject {
            BoardImageSubject::Page(route) => self.page(snapshot, picture, route),
            _ => board_export::picture_for_agents(snapshot, picture),
        }
    }

    fn hcl(&self, workspace: &AgentWorkspaceView, board: BoardId) -> Result<BoardHcl, Refusal> {
        let (files, findings) = self.terraform.files(&workspace.snapshot, board)?;
        Ok(BoardHcl { files, findings })
    }

    fn cost(&self, workspace: &AgentWorkspaceView, board: BoardId) -> Result<CostView, Refusal> {
        self.terraform.cost(&workspace.snapshot, board)
    }

    fn now(&self) -> u64 {
        time_and_seed().time
    }
}
