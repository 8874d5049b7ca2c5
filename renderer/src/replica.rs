//! The replica of main's state. Pure: each message updates the replica and returns the [`Received`] update for the window.

use authority::{Problems, Registry, Snapshot};
use shared_protocol::{
    BoardId, Change, Refusal,
    bundle::BundlesView,
    link::LinksView,
    mcp::McpView,
    messages::{Answer, Patch, PlainFolder, Presence, RegistryView, Status, ToRenderer, WorkspaceView},
    previews::{PreviewsView, SessionId, ShownInstance},
    review::ReviewView,
    terraform::{RunId, RunLine, TerraformView},
    upstreams::UpstreamsView,
};
use std::{collections::BTreeMap, sync::Arc};

/// The replicated workspace.
pub struct Workspace {
    pub root: String,
    pub name: String,
    pub snapshot: Snapshot,
    pub problems: Problems,
    /// The number of problems on each board that has any.
    pub problem_counts: BTreeMap<BoardId, usize>,
    pub status: Status,
}

#[derive(Default)]
pub struct Replica {
    workspace: Option<Workspace>,
    /// The MCP state, which does not depend on the open workspace.
    mcp: McpView,
    bundles: BundlesView,
    links: LinksView,
    terraform: TerraformView,
    review: ReviewView,
    previews: PreviewsView,
    upstreams: UpstreamsView,
    /// A resync is in progress. Patches are ignored until the full workspace arrives.
    waiting: bool,
}

/// The effect of a message on the window.
#[derive(Debug)]
pub enum Received {
    /// The message had no effect, for example because a resync is in progress.
    Ignored,
    /// A workspace was opened, with the designer's saved presence.
    Opened(Presence),
    Patched(Vec<Change>),
    /// The type registry changed; everything that depends on types must be redrawn.
    Registry,
    Status,
    /// The spec bundles changed.
    Bundles,
    /// Terraform runs, plans or deployments changed.
    Terraform,
    /// The review queue changed.
    Review,
    /// The preview sessions or their states changed.
    Previews,
    /// A preview has a new frame.
    PreviewFrame {
        session: SessionId,
        generation: u32,
    },
    /// The positions of the instances in a preview.
    PreviewInstances {
        session: SessionId,
        instances: Vec<ShownInstance>,
    },
    RunLines {
        run: RunId,
        first: u64,
        lines: Vec<RunLine>,
    },
    Answered {
        request: u64,
        result: Result<Answer, Refusal>,
    },
    Raise,
    CrashReport {
        headline: String,
    },
    /// Main requests the welcome page.
    Welcome(Option<PlainFolder>),
    /// A patch does not apply; the window must request a resync.
    Resync,
    /// Main violated the protocol; the window must close.
    Broken(String),
}

impl Replica {
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    pub fn mcp(&self) -> &McpView {
        &self.mcp
    }

    pub fn bundles(&self) -> &BundlesView {
        &self.bundles
    }

    pub fn links(&self) -> &LinksView {
        &self.links
    }

    pub fn upstreams(&self) -> &UpstreamsView {
        &self.upstreams
    }

    pub fn terraform(&self) -> &TerraformView {
        &self.terraform
    }

    pub fn review(&self) -> &ReviewView {
        &self.review
    }

    pub fn previews(&self) -> &PreviewsView {
        &self.previews
    }

    pub fn receive(&mut self, message: ToRenderer) -> Received {
        match message {
            ToRenderer::Challenge { .. } => {
                Received::Broken("the main process sent a second challenge".to_owned())
            }
            ToRenderer::Workspace(view) => self.open(*view),
            ToRenderer::Patch(patch) => self.patch(patch),
            ToRenderer::Registry(view) => self.registry(view),
            ToRenderer::Status(status) => match &mut self.workspace {
                Some(workspace) => {
                    workspace.status = status;
                    Received::Status
                }
                None => Received::Ignored,
            },
            ToRenderer::Mcp(view) => {
                self.mcp = *view;
                Received::Status
            }
            ToRenderer::Bundles(view) => {
                self.bundles = *view;
                Received::Bundles
            }
            ToRenderer::Links(view) => {
                self.links = *view;
                Received::Status
            }
            ToRenderer::Terraform(view) => {
                self.terraform = *view;
                Received::Terraform
            }
            ToRenderer::Review(view) => {
                self.review = *view;
                Received::Review
            }
            ToRenderer::Upstreams(view) => {
                self.upstreams = *view;
                Received::Status
            }
            ToRenderer::Previews(view) => {
                self.previews = *view;
                Received::Previews
            }
            ToRenderer::PreviewFrame { session, generation, .. } => {
                Received::PreviewFrame { session, generation }
            }
            ToRenderer::PreviewInstances { session, instances } => {
                Received::PreviewInstances { session, instances }
            }
            // `Incoming::Frames` delivers the memory itself.
            ToRenderer::PreviewMemory { .. } => Received::Ignored,
            ToRenderer::RunLines { run, first, lines } => Received::RunLines { run, first, lines },
            ToRenderer::Answer { request, result } => Received::Answered { request, result },
            ToRenderer::Raise => Received::Raise,
            ToRenderer::CrashReport { headline } => Received::CrashReport { headline },
            ToRenderer::Welcome { folder } => Received::Welcome(folder),
        }
    }

    fn open(&mut self, view: WorkspaceView) -> Received {
        let WorkspaceView { root, name, document, registry, presence, status } = view;
        match Snapshot::from_document(document, compose(registry)) {
            Ok(snapshot) => {
                let problems = Problems::of(&snapshot);
                let problem_counts = count(&problems);
                self.workspace = Some(Workspace { root, name, snapshot, problems, problem_counts, status });
                self.waiting = false;
                Received::Opened(presence)
            }
            Err(error) => {
                Received::Broken(format!("the workspace from the main process is inconsistent: {error}"))
            }
        }
    }

    fn patch(&mut self, patch: Patch) -> Received {
        let Some(workspace) = self.workspace.as_mut().filter(|_| !self.waiting) else {
            return Received::Ignored;
        };
        if let Err(error) = workspace.snapshot.apply(patch.revision, &patch.changes) {
            tracing::warn!(%error, "cannot apply a patch; requesting a resync");
            self.waiting = true;
            return Received::Resync;
        }
        workspace.problems.update(&workspace.snapshot, &patch.changes);
        workspace.problem_counts = count(&workspace.problems);
        Received::Patched(patch.changes)
    }

    fn registry(&mut self, view: RegistryView) -> Received {
        let Some(workspace) = &mut self.workspace else { return Received::Ignored };
        workspace.snapshot = workspace.snapshot.clone().with_registry(compose(view));
        workspace.problems = Problems::of(&workspace.snapshot);
        workspace.problem_counts = count(&workspace.problems);
        Received::Registry
    }
}

pub(crate) fn count(problems: &Problems) -> BTreeMap<BoardId, usize> {
    let mut counts = BTreeMap::new();
    for problem in problems.iter() {
        *counts.entry(problem.board).or_default() += 1;
    }
    counts
}

fn compose(view: RegistryView) -> Arc<Registry> {
    Arc::new(Registry::from_parts(view.types, view.rules, view.problems))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{
        Actor, ActorKind, Board, BoardKind, BoardName, Document, Revision, messages::WorkspaceView,
    };

    fn board(bits: u64, name: &str) -> Board {
        let name = BoardName::parse(name).unwrap();
        Board { id: BoardId::from_bits(bits), kind: BoardKind::Infrastructure, title: name.to_string(), name }
    }

    fn workspace(revision: u64) -> ToRenderer {
        ToRenderer::Workspace(Box::new(WorkspaceView {
            root: "/tmp/work".into(),
            name: "work".into(),
            document: Document {
                revision: Revision(revision),
                boards: vec![board(1, "main")],
                ..Document::default()
            },
            registry: RegistryView::default(),
            presence: Presence::default(),
            status: Status::default(),
        }))
    }

    fn patch(revision: u64, bits: u64) -> ToRenderer {
        let added = board(bits, &format!("board-{bits}"));
        ToRenderer::Patch(Patch {
            revision: Revision(revision),
            actor: Actor::new(ActorKind::Window, "tester"),
            summary: "adds a board".into(),
            changes: vec![Change::Board { id: added.id, before: None, after: Some(Arc::new(added)) }],
        })
    }

    #[test]
    fn patches_follow_each_other() {
        let mut replica = Replica::default();
        assert!(matches!(replica.receive(patch(5, 2)), Received::Ignored), "nothing is open yet");
        assert!(matches!(replica.receive(workspace(4)), Received::Opened(_)));
        assert!(matches!(replica.receive(patch(5, 2)), Received::Patched(changes) if changes.len() == 1));
        let snapshot = &replica.workspace().unwrap().snapshot;
        assert_eq!((snapshot.revision(), snapshot.boards().count()), (Revision(5), 2));
    }

    #[test]
    fn a_gap_asks_once_and_waits_for_everything() {
        let mut replica = Replica::default();
        replica.receive(workspace(4));
        assert!(matches!(replica.receive(patch(6, 2)), Received::Resync));
        assert!(matches!(replica.receive(patch(7, 3)), Received::Ignored), "not asked for twice");
        assert_eq!(replica.workspace().unwrap().snapshot.revision(), Revision(4), "nothing half applied");
        assert!(matches!(replica.receive(workspace(7)), Received::Opened(_)));
        assert!(matches!(replica.receive(patch(8, 4)), Received::Patched(_)));
    }

    #[test]
    fn a_patch_that_does_not_fit_asks_too() {
        let mut replica = Replica::default();
        replica.receive(workspace(4));
        assert!(matches!(replica.receive(patch(5, 1)), Received::Resync), "the board is there already");
    }

    #[test]
    fn status_and_answers_pass_through() {
        let mut replica = Replica::default();
        assert!(matches!(replica.receive(ToRenderer::Status(Status::default())), Received::Ignored));
        replica.receive(workspace(4));
        let status = Status { saved: Revision(3), ..Status::default() };
        assert!(matches!(replica.receive(ToRenderer::Status(status.clone())), Received::Status));
        assert_eq!(replica.workspace().unwrap().status, status);
        let answer = ToRenderer::Answer { request: 7, result: Ok(Answer::Done) };
        assert!(matches!(replica.receive(answer), Received::Answered { request: 7, .. }));
        let challenge = ToRenderer::Challenge { protocol: 1, token: [0; 32] };
        assert!(matches!(replica.receive(challenge), Received::Broken(_)));
    }
}
