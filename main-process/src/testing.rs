//! Fixtures for tests of the boundaries: a real writer on a workspace of its own, and damaged frames.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use crate::{
    responses::{JsonResponder, wait_for},
    router::RequestRouter,
    terminal::TerminalServer,
    writer::{
        LaunchTarget, ProcessHandle, ProcessSignal, Services, Session, WriterHandle, WriterMsg,
        WriterPreviewEvents, WriterServiceEvents, terraform_user,
    },
};
use agents::AgentServerHandle;
use authority::Snapshot;
use crossbeam_channel::Receiver;
use journal::Journal;
use processes::{ProcessGroupSpawner, RuntimeDir};
use shared_protocol::{
    Actor, ActorKind, AddNode, BoardId, BoardName, Command, GraphDocument, Refusal,
    request::Request,
    requests::{ReadDocument, WorkbenchRequest},
};
use std::{path::PathBuf, sync::Arc, thread::JoinHandle};
use test_support::{PATIENCE, RandomSource};
use workspace::{WorkspaceTemplate, create};

/// A writer in a temporary folder, with one blank board.
pub(crate) struct Running {
    pub(crate) host: WriterHandle,
    pub(crate) router: RequestRouter,
    pub(crate) root: PathBuf,
    pub(crate) runtime: RuntimeDir,
    signals: Receiver<ProcessSignal>,
    writer: Option<JoinHandle<()>>,
    pub(crate) terraform: Option<(terraform_runs::TerraformHandle, JoinHandle<()>)>,
    previews: Option<(preview_sessions::PreviewsHandle, JoinHandle<()>)>,
    _folder: tempfile::TempDir,
}

impl Running {
    pub(crate) fn start() -> Self {
        Self::with_agents(AgentServerHandle::new().0)
    }

    pub(crate) fn with_agents(agents: AgentServerHandle) -> Self {
        Self::with(
            agents,
            terraform_runs::TerraformHandle::new().0,
            WorkspaceTemplate::Blank,
            preview_sessions::PreviewsHandle::new().unwrap().0,
        )
    }

    /// With the part that runs Terraform, whose programs are in groups of their own.
    pub(crate) fn with_terraform(agents: AgentServerHandle) -> Self {
        Self::with_both(agents, WorkspaceTemplate::Blank, preview_sessions::PreviewsHandle::new().unwrap().0)
    }

    /// On an interface, with previews that this starts.
    pub(crate) fn with_previews(
        agents: AgentServerHandle,
        launcher: preview_sessions::PreviewLauncher,
    ) -> Self {
        let (link, orders) = preview_sessions::PreviewsHandle::new().unwrap();
        let mut running = Self::with_both(agents.clone(), WorkspaceTemplate::Interface, link.clone());
        let around = Arc::new(WriterPreviewEvents { host: running.host.clone(), agents });
        let thread = preview_sessions::start(link.clone(), orders, around, launcher).unwrap();
        running.previews = Some((link, thread));
        running
    }

    fn with_both(
        agents: AgentServerHandle,
        template: WorkspaceTemplate,
        previews: preview_sessions::PreviewsHandle,
    ) -> Self {
        let (link, questions) = terraform_runs::TerraformHandle::new();
        let mut running = Self::with(agents.clone(), link.clone(), template, previews);
        let around = Arc::new(WriterServiceEvents { host: running.host.clone(), agents });
        let worker = terraform_runs::start(
            link.clone(),
            questions,
            around,
            Arc::new(ProcessGroupSpawner),
            running.user(),
        )
        .unwrap();
        running.terraform = Some((link, worker));
        running
    }

    fn with(
        agents: AgentServerHandle,
        terraform: terraform_runs::TerraformHandle,
        template: WorkspaceTemplate,
        previews: preview_sessions::PreviewsHandle,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("workspace");
        create(&root, template, BoardId::from_bits(7)).unwrap();
        let runtime = RuntimeDir::at(&folder.path().join("run")).unwrap();
        let session = Session::open_in(&root, &runtime, &[]).unwrap();
        let services = Services {
            agents,
            terraform,
            previews,
            managed_servers: managed_servers::ManagedServersHandle::new().0,
        };
        let (process, signals) = ProcessHandle::new(true, Default::default());
        let terminals = TerminalServer::server_factory(services.clone(), process.clone());
        let (host, writer) = WriterHandle::start(
            LaunchTarget::from_session(session),
            process.clone(),
            services.clone(),
            terminals,
        )
        .unwrap();
        let router = RequestRouter { writer: host.clone(), services, process };
        let (writer, terraform, previews) = (Some(writer), None, None);
        Self { host, router, root, runtime, signals, writer, terraform, previews, _folder: folder }
    }

    /// The user's own folders of this test.
    pub(crate) fn user(&self) -> terraform_runs::TerraformUserFiles {
        let folder = self._folder.path();
        terraform_user(folder.join("settings.toml"), folder.join("plans"))
    }

    pub(crate) fn request<R: Request<Frame = WorkbenchRequest> + Into<WorkbenchRequest>>(
        &self,
        request: R,
    ) -> Result<R::Response, Refusal> {
        let actor = Actor::new(ActorKind::Terminal, "test");
        let response = wait_for(PATIENCE, |responder| {
            self.router.route(Into::into(request), actor, JsonResponder(responder));
        })?;
        Ok(serde_json::from_value(response).expect("the response of the request"))
    }

    pub(crate) fn document(&self) -> GraphDocument {
        self.request(ReadDocument {}).unwrap()
    }

    /// Ends the writer and proves that what it leaves is whole: it did not panic, the graph loads, the chain holds.
    pub(crate) fn finish(mut self) -> GraphDocument {
        let document = self.document();
        self.host.send(WriterMsg::Stop).unwrap();
        self.writer.take().unwrap().join().expect("the writer did not panic");
        self.signals.try_iter().for_each(drop);
        Snapshot::from_document(document.clone(), Arc::default()).expect("the graph is whole");
        Journal::open(&self.root.join(".draftboard")).unwrap().verify().expect("the chain holds");
        document
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After a failed test, too: the threads must not outlive their folder.
        if let Some((link, thread)) = self.previews.take() {
            link.stop();
            drop(thread.join());
        }
        if let Some((link, worker)) = self.terraform.take() {
            link.stop();
            drop(worker.join());
        }
        if let Some(writer) = self.writer.take() {
            drop(self.host.send(WriterMsg::Stop));
            drop(writer.join());
        }
    }
}

/// A command that is accepted whenever it is asked for.
pub(crate) fn add_note() -> Command {
    let board: BoardName = "infrastructure".parse().unwrap();
    Command::AddNode(AddNode::new(board, "notes/sticky".parse().unwrap()))
}

/// Returns a frame with something wrong about it: flipped bits, a cut, other bytes, another length.
pub(crate) fn damage_frame(random: &mut RandomSource, frame: &[u8]) -> Vec<u8> {
    let mut damaged = frame.to_vec();
    match random.below(6) {
        0 => {
            for _ in 0..=random.below(4) {
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
            }
        }
        1 => damaged.truncate(random.below(damaged.len())),
        2 => {
            let length = (random.number() as u32) >> random.below(32);
            damaged[..4].copy_from_slice(&length.to_be_bytes());
        }
        3 => {
            let at = 4 + random.below(damaged.len() - 4);
            damaged[at] = random.number() as u8;
        }
        4 => damaged.extend(random.bytes(64)),
        _ => {
            // The length fits, the content is random.
            let content = random.bytes(200);
            damaged = (content.len() as u32).to_be_bytes().to_vec();
            damaged.extend(content);
        }
    }
    damaged
}
