//! Opening another workspace in place of the one that is open.

use super::Writer;
use crate::writer::{Session, WriterHandle, launching, publisher::CommittedChanges};
use shared_protocol::{
    Actor, Refusal,
    mcp::McpMode,
    messages::WelcomeFolder,
    request::Responder,
    requests::{CreateWorkspace, ImportedBoard, OpenedWorkspace, StartedDemo},
};
use std::{path::Path, sync::Arc};
use user_folders as paths;

impl WriterHandle {
    /// Opens a workspace in place of the open one. `asks` returns a folder that is no workspace instead of a refusal.
    pub(crate) fn open(&self, path: String, asks: bool, responder: Responder<OpenedWorkspace>) {
        self.call(responder, move |writer| match asks {
            true => writer.open_or_ask(&path),
            false => writer.open(&path).map(|()| OpenedWorkspace::Opened),
        });
    }

    /// Creates a workspace and opens it. `asks` returns a folder that is a workspace already instead of a refusal.
    pub(crate) fn create(&self, request: CreateWorkspace, asks: bool, responder: Responder<OpenedWorkspace>) {
        self.call(responder, move |writer| writer.create(request, asks));
    }

    pub(crate) fn open_example(&self, responder: Responder<()>) {
        self.call(responder, Writer::open_example);
    }

    pub(crate) fn start_demo(&self, responder: Responder<StartedDemo>) {
        self.call(responder, Writer::start_demo);
    }

    pub(crate) fn import_folder(&self, folder: String, actor: Actor, responder: Responder<ImportedBoard>) {
        self.call(responder, move |writer| writer.import_folder(&folder, &actor));
    }
}

impl Writer {
    /// Opens a workspace; when that fails, the open one stays.
    pub(super) fn open(&mut self, path: &str) -> Result<(), Refusal> {
        let path = Path::new(path);
        if path.canonicalize().is_ok_and(|path| path == self.session.workspace.root()) {
            return Ok(());
        }
        let opened = Session::open(path);
        self.process.note_opened(path, opened.as_ref().err().map(ToString::to_string));
        self.replace_session(opened?);
        Ok(())
    }

    /// As [`Self::open`] for a window, which can ask the user about a folder that is no workspace.
    fn open_or_ask(&mut self, path: &str) -> Result<OpenedWorkspace, Refusal> {
        match launching::plain_folder(Path::new(path)) {
            Some(folder) => Ok(OpenedWorkspace::NeedsChoice(folder)),
            None => self.open(path).map(|()| OpenedWorkspace::Opened),
        }
    }

    /// Creates a workspace and opens it. For a window, returns a folder that is a workspace already.
    fn create(&mut self, request: CreateWorkspace, asks: bool) -> Result<OpenedWorkspace, Refusal> {
        let CreateWorkspace { path, template } = request;
        if asks && Path::new(&path).join("draftboard.toml").exists() {
            let folder = WelcomeFolder { path, has_terraform: false, is_workspace: true };
            return Ok(OpenedWorkspace::NeedsChoice(folder));
        }
        launching::create_at(Path::new(&path), template)?;
        self.open(&path).map(|()| OpenedWorkspace::Opened)
    }

    fn open_example(&mut self) -> Result<(), Refusal> {
        if !paths::example().canonicalize().is_ok_and(|path| path == self.session.workspace.root()) {
            let session = launching::open_example()?;
            self.replace_session(session);
        }
        Ok(())
    }

    /// Opens a fresh copy of the example and starts the scripted agent on it, with guarded mode for this workspace only.
    fn start_demo(&mut self) -> Result<StartedDemo, Refusal> {
        self.process.require_window()?;
        if self.demo.is_some() {
            // The copy that is about to be replaced must not be open.
            self.replace_session(launching::open_example()?);
        }
        let root = demo::prepare()?;
        self.replace_session(Session::open_unlisted(&root)?);
        self.services.agents.set_workspace_mode(Some(McpMode::Guarded));
        self.demo = Some(demo::start_agent(&root)?);
        Ok(StartedDemo { shows_tour: !paths::is_tour_closed() })
    }

    /// Creates a workspace beside a folder with the Terraform files of that folder as a board, and opens it.
    fn import_folder(&mut self, folder: &str, actor: &Actor) -> Result<ImportedBoard, Refusal> {
        let (session, imported) = launching::import_beside(Path::new(folder), actor)?;
        self.replace_session(session);
        Ok(imported)
    }

    fn replace_session(&mut self, mut session: Session) {
        if self.demo.take().is_some() {
            self.services.agents.set_workspace_mode(None);
        }
        connect::keep_mcp_json(session.workspace().root());
        session.serve(&self.handle, &self.terminals);
        session.record_address(self.address.as_ref());
        session.workspace.price_with(Arc::new(self.services.terraform.clone()));
        std::mem::replace(&mut self.session, session).close();
        self.committed = CommittedChanges { replaced: true, ..CommittedChanges::default() };
    }
}
