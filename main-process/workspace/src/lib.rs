//! One open workspace: the authority's state, its journal and its files, kept in step.
//!
//! There is one way to change it: a [`MutationGroup`] of mutations is decided, written to the journal in one transaction, and only
//! then becomes the state that readers see.
//!
//! Owns: the parts below, each with its own fields, and the order in which they follow a change. Must not know: processes,
//! messages, threads.
//!
//! ```text
//! Workspace ── snapshot, config, presence
//!   ├─ storage     folder, lock, journal                 storage.rs, journal_queries.rs
//!   ├─ boards      board files, saving, held boards      board_files/
//!   ├─ sources     texts of bundles, components, links   sources.rs
//!   ├─ overrides   the file of the overrides             overrides.rs
//!   ├─ bundles     spec bundles and their maps           bundles/
//!   ├─ links       trace links and their standing        links.rs
//!   ├─ components  the component library                 components.rs
//!   ├─ history     undo, redo, summaries                 history.rs
//!   ├─ review      queue, approvals, costs               review/
//!   └─ notices     problems shown to a person            notices.rs
//! ```
//!
//! A part never calls another one: it takes the snapshot, the storage and the notices as arguments. [`MutationGroup::commit`] and
//! `file_changes.rs` are the two places that decide which parts follow a change, and in which order.

mod board_files;
mod bundles;
mod clock;
mod component_edit;
mod components;
pub mod config_check;
mod create;
mod error;
mod file_changes;
mod first_state;
mod group;
mod history;
mod journal_queries;
mod kit;
mod links;
mod notices;
mod open;
mod overrides;
mod promote;
mod proof;
mod registry;
mod review;
mod sources;
mod storage;
mod validate;

pub use bundles::SpecBundles;
pub use clock::time_and_seed;
pub use components::{SLOT, component_texts, components_of};
pub use create::{
    CreateWorkspaceError, create, create_empty, free_path_beside, has_terraform, template_boards,
    unpack_example,
};
pub use error::OpenWorkspaceError;
pub use file_changes::FileChangeOutcome;
pub use group::{Mutation, MutationGroup, TimeAndSeed};
pub use kit::kit;
pub use proof::{JournalAccess, ProofFiles, settle_findings, verify_audit, verify_exported, verify_missing};
pub use review::{AcceptedProposal, ProposalJudge, ReviewState, Reviewer, area_of};
pub use review::{guarded_settings, names_program};
pub use shared_protocol::messages::WorkspaceTemplate;
pub use sources::SourceFileEdits;
pub use storage::WorkspaceOwnership;

use ::bundles::BundleChangePlan;
use ::components::Component;
use authority::Snapshot;
use board_files::{BoardFiles, BoardSave};
use components::WorkspaceComponents;
use history::OperationHistory;
use journal::{Journal, ProjectConfig, WorkspaceFiles, WorkspacePath};
use links::{TraceLinkEndSources, WorkspaceTraceLinks};
use notices::{NoticeTopic, WorkspaceNotices};
use overrides::OverrideFile;
use proof::WorkspaceProof;
use review::{ProposalCosts, WorkspaceReview};
use shared_protocol::{
    Actor, GraphDocument, Proposal, Refusal, Revision, SourcePath,
    limits::MAX_HISTORY_OPERATIONS,
    messages::{
        AppliedCommand, BoardProblem, FullWorkspaceView, HeldBoard, OperationLogEntry, Patch, Presence,
        RegistryView, WorkspaceProblem, WorkspaceStatus,
    },
    preview_sessions::ComponentView,
    requests::{ChangeBundle, DrawMap, DrawnMap},
    review::{AuditFinding, AuditLine, ProposalBrief, ProposalOfOperation},
    trace_link::{TraceLinkChange, TraceLinksView},
};
use sources::SourceFiles;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};
use storage::{NewJournalContent, WorkspaceFileContext, WorkspaceStorage};

const PRESENCE: &str = "presence";

pub struct Workspace {
    storage: WorkspaceStorage,
    config: ProjectConfig,
    snapshot: Snapshot,
    history: OperationHistory,
    boards: BoardFiles,
    sources: SourceFiles,
    overrides: OverrideFile,
    links: WorkspaceTraceLinks,
    components: WorkspaceComponents,
    bundles: SpecBundles,
    review: WorkspaceReview,
    /// Absent when nothing is signed: in tests, and where nothing can be written.
    proof: Option<WorkspaceProof>,
    notices: WorkspaceNotices,
    presence: Presence,
}

impl Workspace {
    pub fn root(&self) -> &Path {
        self.storage.files.root()
    }

    /// The folder, for other parts of the process that read or write in it.
    pub fn files(&self) -> &Arc<WorkspaceFiles> {
        &self.storage.files
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// `draftboard.toml` as JSON, tables of other versions included.
    pub fn config_json(&self) -> serde_json::Value {
        let text = self.storage.files.read_text(&WorkspacePath::config()).unwrap_or_default();
        let table: toml::Table = text.parse().unwrap_or_default();
        serde_json::to_value(table).unwrap_or_default()
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub fn presence(&self) -> &Presence {
        &self.presence
    }

    /// Stores the selection and the viewport; a crash may lose the last moments of it and nothing else.
    pub fn set_presence(&mut self, presence: Presence) {
        if self.presence != presence {
            self.presence = presence;
            if let Err(error) = self.storage.journal.set_state(PRESENCE, &self.presence) {
                tracing::warn!(%error, "selection and viewport were not stored");
            }
        }
    }

    pub fn status(&self) -> WorkspaceStatus {
        WorkspaceStatus {
            saved: self.saved_revision(),
            undo: self.history.undo_summary(),
            redo: self.history.redo_summary(),
            held: self.held_boards(),
            notices: self.notices.views(),
        }
    }

    pub fn registry_view(&self) -> RegistryView {
        registry::view(self.snapshot.registry())
    }

    pub fn view(&self) -> FullWorkspaceView {
        FullWorkspaceView {
            root: self.root().display().to_string(),
            name: self.name().to_owned(),
            document: GraphDocument { sources: Vec::new(), ..self.snapshot.to_document() },
            registry: self.registry_view(),
            presence: self.presence.clone(),
            status: self.status(),
        }
    }

    pub fn validate(&self) -> Vec<WorkspaceProblem> {
        validate::problems_of(self)
    }

    pub fn problems(&self) -> Vec<BoardProblem> {
        validate::graph_problems(&self.snapshot)
    }

    // ---- storage and saving -------------------------------------------------------------------------------------------

    /// Checks this lock before anything is acknowledged. Without one the caller looks after the lock.
    pub fn owned_by(&mut self, ownership: Box<dyn WorkspaceOwnership>) {
        self.storage.ownership = Some(ownership);
    }

    fn storage_and_content(&mut self) -> (&mut WorkspaceStorage, NewJournalContent<'_>) {
        let Self { storage, snapshot, boards, review, history, notices, .. } = self;
        (storage, NewJournalContent { snapshot, boards, review: &review.state, history, notices })
    }

    /// Repairs what was deleted or replaced underneath, or refuses. Cheap when all is in order.
    pub fn ensure_storage(&mut self) -> Result<(), Refusal> {
        let (storage, mut content) = self.storage_and_content();
        storage.ensure(&mut content)
    }

    /// Checks the storage while nothing is being changed; a failure is a notice until it is over.
    pub fn check_storage_health(&mut self) {
        match self.ensure_storage() {
            Ok(()) => self.notices.clear(&NoticeTopic::Storage),
            Err(refusal) => self.notices.set(NoticeTopic::Storage, refusal.message),
        }
    }

    /// The newest revision whose content the files hold.
    pub fn saved_revision(&self) -> Revision {
        if self.is_saved() { self.snapshot.revision() } else { self.boards.last_saved_revision }
    }

    fn is_saved(&self) -> bool {
        self.boards.unsaved.is_empty() && self.sources.is_all_written()
    }

    /// Stores the saved revision before a change: from here on the files may be behind.
    fn keep_saved_revision(&mut self) {
        let revision = self.snapshot.revision();
        if self.is_saved() && self.boards.last_saved_revision != revision {
            self.boards.last_saved_revision = revision;
            self.storage.store_saved_revision(revision);
        }
    }

    /// Writes unsaved boards, and removes the files of boards that are gone. Returns the revision that the files hold and the
    /// paths it touched. A board whose file another program changed is held, and the refusal names the first of them; the
    /// others are saved all the same.
    pub fn save(&mut self) -> Result<(Revision, Vec<String>), Refusal> {
        self.storage.ensure_writable()?;
        self.ensure_storage()?;
        let Self { storage, snapshot, notices, boards, sources, overrides, .. } = self;
        let mut context = WorkspaceFileContext { storage, snapshot, notices };
        let sources = sources.retry(&mut context);
        overrides.retry(&mut context);
        let (touched, refused) = BoardSave { boards, storage, snapshot, notices }.run()?;
        match refused {
            Some(refusal) => Err(refusal),
            None => sources.map(|()| (self.saved_revision(), touched)),
        }
    }

    pub fn held_boards(&self) -> Vec<HeldBoard> {
        self.boards.held_boards(&self.snapshot)
    }

    /// Closes the workspace and compacts its journal, so that the next start finds a short one.
    pub fn close(mut self) {
        // A journal that was deleted a moment ago would be gone with this process.
        if let Err(refusal) = self.ensure_storage() {
            tracing::error!(%refusal, "the workspace was closed without its journal in order");
        }
        let journal = &mut self.storage.journal;
        if journal.revision() > Revision::START
            && let Err(error) = journal.checkpoint(&self.snapshot.to_document(), MAX_HISTORY_OPERATIONS)
        {
            tracing::warn!(%error, "the journal was not compacted; nothing is lost");
        }
        self.anchor_audit(time_and_seed().time);
    }

    // ---- the journal --------------------------------------------------------------------------------------------------

    pub fn log(&self, limit: usize) -> Result<Vec<OperationLogEntry>, Refusal> {
        self.storage.log(limit)
    }

    pub fn operations(&self, revisions: &[Revision]) -> Result<Vec<OperationLogEntry>, Refusal> {
        self.storage.operations(revisions)
    }

    pub fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        self.storage.changes_since(revision)
    }

    pub fn origins(&self, revisions: &[Revision]) -> Result<Vec<ProposalOfOperation>, Refusal> {
        self.storage.origins(revisions)
    }

    /// The journal, to read from it.
    pub fn journal(&self) -> &Journal {
        &self.storage.journal
    }

    /// Whether the audit is signed and anchored.
    pub fn is_signed(&self) -> bool {
        self.proof.is_some()
    }

    /// Shows the findings of a verification until the workspace closes.
    pub fn note_findings(&mut self, findings: &[AuditFinding]) {
        if let Some(text) = proof::words_of(findings) {
            self.notices.set(NoticeTopic::Proof, text);
        }
    }

    fn anchor_audit(&mut self, time: u64) {
        if let Some(proof) = &mut self.proof {
            proof.record(&self.storage.journal, time, &mut self.notices);
        }
    }

    pub fn audit(&self, after: u64, limit: u32) -> Result<Vec<AuditLine>, Refusal> {
        self.storage.audit(after, limit)
    }

    // ---- sources, bundles, links, components --------------------------------------------------------------------------

    /// The folders to watch for sources.
    pub fn source_folders(&self) -> BTreeSet<SourcePath> {
        self.sources.folders(&self.config.bundles)
    }

    /// Changes files in one operation, which is on the disk when this returns. Refused when one of them is no longer as it
    /// was read.
    pub fn edit_sources(
        &mut self,
        summary: String,
        edits: SourceFileEdits,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<(AppliedCommand, Vec<Patch>), Refusal> {
        sources::refuse_foreign(&edits, &self.storage, &self.snapshot)?;
        let changes = sources::changes_of(&self.snapshot, edits);
        self.execute(&Mutation::Decided { summary, changes }, actor, moment)
    }

    pub fn bundles(&self) -> &SpecBundles {
        &self.bundles
    }

    /// Changes a bundle in the format of `apply_changes`, as one operation that is on the disk when this returns.
    pub fn change_bundle(
        &mut self,
        request: &ChangeBundle,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<(AppliedCommand, Vec<Patch>), Refusal> {
        let plan = self.bundles.plan_changes(&request.bundle, &request.changes, false)?;
        self.apply(&plan, actor, moment)
    }

    /// Draws a bundle, or the neighbourhood of one of its entities, as a spec board in one operation.
    pub fn draw_map(
        &mut self,
        request: &DrawMap,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<(DrawnMap, Vec<Patch>), Refusal> {
        let DrawMap { bundle, around, depth } = request;
        let drawn = self.bundles.draw_map(bundle, around.as_ref(), *depth, &self.snapshot, moment.seed)?;
        let bundles::MapDrawing { board, summary, changes } = drawn;
        let (applied, patches) = self.execute(&Mutation::Decided { summary, changes }, actor, moment)?;
        Ok((DrawnMap { board, revision: applied.revision }, patches))
    }

    /// Carries out a plan of changes, as one operation that is on the disk when this returns.
    pub fn apply(
        &mut self,
        plan: &BundleChangePlan,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<(AppliedCommand, Vec<Patch>), Refusal> {
        let edits = self.bundles.edits_of(plan, &self.snapshot)?;
        self.edit_sources(plan.summary(), edits, actor, moment)
    }

    pub fn links(&self) -> &Arc<TraceLinksView> {
        self.links.view()
    }

    /// Changes trace links, as one operation that is on the disk when this returns.
    pub fn change_links(
        &mut self,
        change: &TraceLinkChange,
        actor: &Actor,
        moment: TimeAndSeed,
    ) -> Result<(AppliedCommand, Vec<Patch>), Refusal> {
        let ends = TraceLinkEndSources { snapshot: &self.snapshot, bundles: &self.bundles };
        let (summary, edits) = self.links.edit(change, moment.seed, ends)?;
        self.edit_sources(summary, edits, actor, moment)
    }

    pub fn components(&self) -> &Arc<Vec<ComponentView>> {
        self.components.view()
    }

    pub fn component(&self, id: &str) -> Option<&Arc<Component>> {
        self.components.library().get(id)
    }

    // ---- review -------------------------------------------------------------------------------------------------------

    pub fn review_state(&self) -> &ReviewState {
        &self.review.state
    }

    /// A proposal by id or number.
    pub fn proposal(&self, named: &str) -> Result<&Arc<Proposal>, Refusal> {
        self.review.state.proposal(named)
    }

    pub fn brief(&self, proposal: &Proposal) -> ProposalBrief {
        self.review.brief(proposal, &self.snapshot)
    }

    pub fn next_expiry(&self) -> Option<u64> {
        self.review.state.next_expiry()
    }

    /// Keeps standing approvals in this file from now on, and reads the entries of this workspace.
    pub fn keep_approvals_in(&mut self, path: PathBuf) {
        self.review.keep_approvals_in(path, self.storage.files.root(), &mut self.notices);
    }

    /// Labels proposals that would cost more from now on.
    pub fn price_with(&mut self, pricing: Arc<dyn ProposalJudge>) {
        self.review.costs = ProposalCosts::new(pricing);
    }
}
