//! The replica of main's state. Pure: each message updates the replica and returns the [`ReplicaUpdate`] update for the window.

use authority::{ProblemIndex, Snapshot, TypeRegistry};
use shared_protocol::{
    BoardId, Change, OperationKind, Refusal,
    bundle::BundlesView,
    managed_servers::ManagedServersView,
    mcp::McpView,
    messages::{
        FullWorkspaceView, Patch, Presence, RegistryView, ToRenderer, WelcomeFolder, WorkspaceStatus,
    },
    preview_sessions::{PreviewId, PreviewInstanceBox, PreviewsView},
    review::ReviewView,
    terraform::{TerraformRunId, TerraformRunLine, TerraformView},
    trace_link::TraceLinksView,
};
use std::{collections::BTreeMap, sync::Arc};

pub struct ReplicatedWorkspace {
    pub root: String,
    pub name: String,
    pub snapshot: Snapshot,
    pub problems: ProblemIndex,
    pub problem_counts: BTreeMap<BoardId, usize>,
    pub status: WorkspaceStatus,
}

#[derive(Default)]
pub struct Replica {
    workspace: Option<ReplicatedWorkspace>,
    /// The MCP state, which does not depend on the open workspace.
    pub(crate) mcp: McpView,
    pub(crate) bundles: BundlesView,
    pub(crate) links: TraceLinksView,
    pub(crate) terraform: TerraformView,
    pub(crate) review: ReviewView,
    pub(crate) previews: PreviewsView,
    pub(crate) managed_servers: ManagedServersView,
    /// A resync is in progress. Patches are ignored until the full workspace arrives.
    waiting: bool,
}

/// The effect of a message on the window.
#[derive(Debug)]
pub enum ReplicaUpdate {
    /// The message had no effect, for example because a resync is in progress.
    Ignored,
    /// A workspace was opened, with the designer's saved presence.
    Opened(Presence),
    Patched {
        kind: OperationKind,
        changes: Vec<Change>,
    },
    /// The type registry changed; everything that depends on types must be redrawn.
    Registry,
    Status,
    Bundles,
    /// Terraform runs, plans or deployments changed.
    Terraform,
    Review,
    /// The preview sessions or their states changed.
    Previews,
    PreviewFrame {
        session: PreviewId,
        generation: u32,
    },
    PreviewInstances {
        session: PreviewId,
        instances: Vec<PreviewInstanceBox>,
    },
    RunLines {
        run: TerraformRunId,
        first: u64,
        lines: Vec<TerraformRunLine>,
    },
    Response {
        request: u64,
        result: Result<Vec<u8>, Refusal>,
    },
    Raise,
    CrashReport {
        headline: String,
    },
    /// Main requests the welcome page.
    Welcome(Option<WelcomeFolder>),
    /// A patch does not apply; the window must request a resync.
    Resync,
    /// Main violated the protocol; the window must close.
    Broken(String),
}

impl Replica {
    pub fn workspace(&self) -> Option<&ReplicatedWorkspace> {
        self.workspace.as_ref()
    }

    pub fn receive(&mut self, message: ToRenderer) -> ReplicaUpdate {
        match message {
            ToRenderer::Challenge { .. } => {
                ReplicaUpdate::Broken("the main process sent a second challenge".to_owned())
            }
            ToRenderer::Workspace(view) => self.open(*view),
            ToRenderer::Patch(patch) => self.patch(patch),
            ToRenderer::Registry(view) => self.registry(view),
            ToRenderer::Status(status) => match &mut self.workspace {
                Some(workspace) => {
                    workspace.status = status;
                    ReplicaUpdate::Status
                }
                None => ReplicaUpdate::Ignored,
            },
            ToRenderer::Mcp(view) => {
                self.mcp = *view;
                ReplicaUpdate::Status
            }
            ToRenderer::Bundles(view) => {
                self.bundles = *view;
                ReplicaUpdate::Bundles
            }
            ToRenderer::Links(view) => {
                self.links = *view;
                ReplicaUpdate::Status
            }
            ToRenderer::Terraform(view) => {
                self.terraform = *view;
                ReplicaUpdate::Terraform
            }
            ToRenderer::Review(view) => {
                self.review = *view;
                ReplicaUpdate::Review
            }
            ToRenderer::ManagedServers(view) => {
                self.managed_servers = *view;
                ReplicaUpdate::Status
            }
            ToRenderer::Previews(view) => {
                self.previews = *view;
                ReplicaUpdate::Previews
            }
            ToRenderer::PreviewFrame { session, generation, .. } => {
                ReplicaUpdate::PreviewFrame { session, generation }
            }
            ToRenderer::PreviewInstances { session, instances } => {
                ReplicaUpdate::PreviewInstances { session, instances }
            }
            // `MainConnectionEvent::Frames` delivers the memory itself.
            ToRenderer::PreviewMemory { .. } => ReplicaUpdate::Ignored,
            ToRenderer::RunLines { run, first, lines } => ReplicaUpdate::RunLines { run, first, lines },
            ToRenderer::Response { request, result } => ReplicaUpdate::Response { request, result },
            // The window shows a proposal without keeping it here.
            ToRenderer::Proposal(_) => ReplicaUpdate::Ignored,
            ToRenderer::Raise => ReplicaUpdate::Raise,
            ToRenderer::CrashReport { headline } => ReplicaUpdate::CrashReport { headline },
            ToRenderer::Welcome { folder } => ReplicaUpdate::Welcome(folder),
        }
    }

    fn open(&mut self, view: FullWorkspaceView) -> ReplicaUpdate {
        let FullWorkspaceView { root, name, document, registry, presence, status } = view;
        match Snapshot::from_document(document, compose(registry)) {
            Ok(snapshot) => {
                let problems = ProblemIndex::check_all(&snapshot);
                let problem_counts = count(&problems);
                self.workspace =
                    Some(ReplicatedWorkspace { root, name, snapshot, problems, problem_counts, status });
                self.waiting = false;
                ReplicaUpdate::Opened(presence)
            }
            Err(error) => {
                ReplicaUpdate::Broken(format!("the workspace from the main process is inconsistent: {error}"))
            }
        }
    }

    fn patch(&mut self, patch: Patch) -> ReplicaUpdate {
        let Some(workspace) = self.workspace.as_mut().filter(|_| !self.waiting) else {
            return ReplicaUpdate::Ignored;
        };
        if let Err(error) = workspace.snapshot.apply(patch.revision, &patch.changes) {
            tracing::warn!(%error, "cannot apply a patch; requesting a resync");
            self.waiting = true;
            return ReplicaUpdate::Resync;
        }
        workspace.problems.update(&workspace.snapshot, &patch.changes);
        workspace.problem_counts = count(&workspace.problems);
        ReplicaUpdate::Patched { kind: patch.kind, changes: patch.changes }
    }

    fn registry(&mut self, view: RegistryView) -> ReplicaUpdate {
        let Some(workspace) = &mut self.workspace else { return ReplicaUpdate::Ignored };
        workspace.snapshot = workspace.snapshot.clone().with_registry(compose(view));
        workspace.problems = ProblemIndex::check_all(&workspace.snapshot);
        workspace.problem_counts = count(&workspace.problems);
        ReplicaUpdate::Registry
    }
}

pub(crate) fn count(problems: &ProblemIndex) -> BTreeMap<BoardId, usize> {
    let mut counts = BTreeMap::new();
    for problem in problems.iter() {
        *counts.entry(problem.board).or_default() += 1;
    }
    counts
}

fn compose(view: RegistryView) -> Arc<TypeRegistry> {
    Arc::new(TypeRegistry::from_parts(view.types, view.rules, view.problems))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{
        Actor, ActorKind, Board, BoardKind, BoardName, GraphDocument, Revision, messages::FullWorkspaceView,
    };

    fn board(bits: u64, name: &str) -> Board {
        let name = BoardName::parse(name).unwrap();
        Board { id: BoardId::from_bits(bits), kind: BoardKind::Infrastructure, title: name.to_string(), name }
    }

    fn workspace(revision: u64) -> ToRenderer {
        ToRenderer::Workspace(Box::new(FullWorkspaceView {
            root: "/tmp/work".into(),
            name: "work".into(),
            document: GraphDocument {
                revision: Revision(revision),
                boards: vec![board(1, "main")],
                ..GraphDocument::default()
            },
            registry: RegistryView::default(),
            presence: Presence::default(),
            status: WorkspaceStatus::default(),
        }))
    }

    fn patch(revision: u64, bits: u64) -> ToRenderer {
        let added = board(bits, &format!("board-{bits}"));
        ToRenderer::Patch(Patch {
            revision: Revision(revision),
            actor: Actor::new(ActorKind::Window, "tester"),
            kind: OperationKind::Edit,
            summary: "adds a board".into(),
            changes: vec![Change::Board { id: added.id, before: None, after: Some(Arc::new(added)) }],
        })
    }

    #[test]
    fn patches_follow_each_other() {
        let mut replica = Replica::default();
        assert!(matches!(replica.receive(patch(5, 2)), ReplicaUpdate::Ignored), "nothing is open yet");
        assert!(matches!(replica.receive(workspace(4)), ReplicaUpdate::Opened(_)));
        assert!(
            matches!(replica.receive(patch(5, 2)), ReplicaUpdate::Patched { changes, .. } if changes.len() == 1)
        );
        let snapshot = &replica.workspace().unwrap().snapshot;
        assert_eq!((snapshot.revision(), snapshot.boards().count()), (Revision(5), 2));
    }

    #[test]
    fn a_gap_asks_once_and_waits_for_everything() {
        let mut replica = Replica::default();
        replica.receive(workspace(4));
        assert!(matches!(replica.receive(patch(6, 2)), ReplicaUpdate::Resync));
        assert!(matches!(replica.receive(patch(7, 3)), ReplicaUpdate::Ignored), "not asked for twice");
        assert_eq!(replica.workspace().unwrap().snapshot.revision(), Revision(4), "nothing half applied");
        assert!(matches!(replica.receive(workspace(7)), ReplicaUpdate::Opened(_)));
        assert!(matches!(replica.receive(patch(8, 4)), ReplicaUpdate::Patched { .. }));
    }

    #[test]
    fn a_patch_that_does_not_fit_asks_too() {
        let mut replica = Replica::default();
        replica.receive(workspace(4));
        assert!(matches!(replica.receive(patch(5, 1)), ReplicaUpdate::Resync), "the board is there already");
    }

    #[test]
    fn status_and_answers_pass_through() {
        let mut replica = Replica::default();
        assert!(matches!(
            replica.receive(ToRenderer::Status(WorkspaceStatus::default())),
            ReplicaUpdate::Ignored
        ));
        replica.receive(workspace(4));
        let status = WorkspaceStatus { saved: Revision(3), ..WorkspaceStatus::default() };
        assert!(matches!(replica.receive(ToRenderer::Status(status.clone())), ReplicaUpdate::Status));
        assert_eq!(replica.workspace().unwrap().status, status);
        let answer = ToRenderer::Response { request: 7, result: Ok(Vec::new()) };
        assert!(matches!(replica.receive(answer), ReplicaUpdate::Response { request: 7, .. }));
        let challenge = ToRenderer::Challenge { protocol: 1, token: [0; 32] };
        assert!(matches!(replica.receive(challenge), ReplicaUpdate::Broken(_)));
    }
}
