//! Saved plans of agents' requests to apply or destroy. Draftboard makes the plan, a person reads it, and a yes applies exactly
//! that file. Only the user can read the file. It is outside the workspace, and is removed with the request, after an hour, or
//! at the next start.
//!
//! ```text
//! submitted ──▶ Planning ──▶ Ready(file, hash, binding) ──yes──▶ apply FILE
//!     │             └──▶ Failed          └── an input changed, an hour ──▶ Needed
//!     └── the board's plan executes something, or a value is missing ──▶ Needed ──a person's press──▶ Planning
//! ```

use super::{drafts::GeneratedBoard, site::WorkspaceTerraform, views, workspace_inputs::storage};
use journal::Digest;
use safe_fs::SafeFolder;
use shared_protocol::{
    BoardId, ProposalId, Refusal, RefusalCode,
    proposal::ContentHash,
    terraform::{
        ApplyRequestPlanState, ApplyRequestPlanView, MAX_REQUEST_PLAN_CHANGES, MAX_TRIAL_ATTRIBUTES,
        PlanChange, PlanCounts, TerraformRunId,
    },
};
use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use terraform::{reach::ConfigurationGraph, run::fingerprint, write};
use workspace::time_and_seed;

/// The age at which a plan expires.
const MAX_PLAN_AGE_MILLISECONDS: u64 = 60 * 60 * 1_000;
const STATE_FILE: &str = "terraform.tfstate";
const LOCK_FILE: &str = ".terraform.lock.hcl";
/// Files in the board's folder that a plan depends on, beside the configuration.
const BOUND_FILES: [&str; 5] = [
    STATE_FILE,
    LOCK_FILE,
    ".terraform/terraform.tfstate",
    ".terraform/environment",
    ".terraform/modules/modules.json",
];

const MAX_BOUND_BYTES: u64 = 256 << 20;

/// The file of a plan; removed when dropped.
#[derive(Debug)]
pub(crate) struct PlanFile(PathBuf);

impl PlanFile {
    /// An empty file that only the user can read, for Terraform to write to.
    pub(super) fn make(plans: &Path, root: &Path, proposal: ProposalId) -> io::Result<Self> {
        let folder = folder_of(plans, root);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join(format!("{proposal}.tfplan"));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn digest(&self) -> Option<Digest> {
        fs::read(&self.0).ok().map(|bytes| Digest::hash(&bytes))
    }
}

impl Drop for PlanFile {
    fn drop(&mut self) {
        // A file that stays is removed when the workspace is opened the next time.
        let _ = fs::remove_file(&self.0);
    }
}

/// The folder of plans of one workspace, so that plans of another Draftboard are left alone.
fn folder_of(plans: &Path, root: &Path) -> PathBuf {
    plans.join(Digest::hash(root.as_os_str().as_encoded_bytes()).to_string())
}

/// Removes plans that an earlier process left for this workspace.
pub(super) fn clear(plans: &Path, root: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder_of(plans, root)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The inputs of a plan.
pub(super) struct PlanInputs {
    generated: super::TextsByPath,
    foreign: Vec<(String, Vec<u8>)>,
    files: Vec<Option<Digest>>,
    /// The state, where a local backend names another path.
    state: Option<Digest>,
    /// Files that functions read, also when the plan is applied.
    read: Vec<(String, Option<Digest>)>,
    /// The fingerprint of `.terraform`: its providers are executed again.
    initialised: Option<Digest>,
    secrets: BTreeMap<String, String>,
}

impl PlanInputs {
    pub(super) fn from_draft(
        draft: &GeneratedBoard,
        secrets: BTreeMap<String, String>,
    ) -> Result<Self, Refusal> {
        let folder = draft.inputs.folder(&draft.board);
        let digest = |path: &str| {
            let bytes = SafeFolder::parent_of(&folder.join(path))
                .and_then(|(folder, name)| folder.read(name, MAX_BOUND_BYTES));
            match bytes {
                Ok(bytes) => Ok(Some(Digest::hash(&bytes))),
                Err(error) if error.problem.is_missing() => Ok(None),
                Err(error) => Err(Refusal::new(RefusalCode::StorageError, error.to_string())),
            }
        };
        let local = draft.settings.backend.as_ref().filter(|backend| backend.kind == "local");
        let state = local.and_then(|backend| backend.config.get("path")?.as_text().map(str::to_owned));
        Ok(Self {
            generated: draft.generated.files.clone(),
            foreign: foreign_files(draft)?,
            files: BOUND_FILES.into_iter().map(digest).collect::<Result<_, _>>()?,
            state: state.as_deref().map(digest).transpose()?.flatten(),
            read: configuration(draft)?
                .constant_files()
                .map(|path| Ok((path.to_owned(), digest(path)?)))
                .collect::<Result<_, Refusal>>()?,
            initialised: fingerprint(&folder).map_err(|error| {
                Refusal::new(
                    RefusalCode::StorageError,
                    format!("The .terraform folder cannot be checked: {error}."),
                )
                .hint("Remove it, run Init, then plan again.")
            })?,
            secrets,
        })
    }

    /// Describes the first difference.
    fn difference(&self, now: &Self) -> Option<&'static str> {
        if self.generated != now.generated {
            return Some("the board has changed");
        }
        if self.foreign != now.foreign {
            return Some("a Terraform file beside the generated ones has changed");
        }
        if self.secrets != now.secrets {
            return Some("the value of a variable has changed");
        }
        if self.state != now.state {
            return Some("the state has changed");
        }
        if self.read != now.read {
            return Some("a file that the configuration reads has changed");
        }
        let mut both = BOUND_FILES.into_iter().zip(self.files.iter().zip(&now.files));
        let moved = both.find(|(_, (then, now))| then != now);
        match moved {
            Some((STATE_FILE, _)) => Some("the state has changed"),
            Some((LOCK_FILE, _)) => Some("the lock file has changed"),
            None if self.initialised == now.initialised => None,
            _ => Some("the folder was initialised again"),
        }
    }
}

fn foreign_files(draft: &GeneratedBoard) -> Result<Vec<(String, Vec<u8>)>, Refusal> {
    write::other_files(&draft.inputs.files, &draft.board.name).map_err(|error| storage(&error))
}

/// The configuration that Terraform reads: generated files and foreign ones beside them.
pub(super) fn configuration(draft: &GeneratedBoard) -> Result<ConfigurationGraph, Refusal> {
    let foreign = foreign_files(draft)?;
    let generated = draft.generated.files.iter().map(|(path, text)| (path.as_str(), text.as_bytes()));
    let foreign = foreign.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    Ok(ConfigurationGraph::read(generated.chain(foreign)))
}

/// A saved plan that a person can accept.
pub struct SavedPlan {
    file: Arc<PlanFile>,
    digest: Digest,
    binding: PlanInputs,
    counts: PlanCounts,
    changes: Vec<PlanChange>,
    expires: u64,
}

impl SavedPlan {
    /// Takes the file that a run has written.
    pub(super) fn new(
        file: Arc<PlanFile>,
        mut changes: Vec<PlanChange>,
        counts: PlanCounts,
        binding: PlanInputs,
    ) -> Result<Self, String> {
        fs::set_permissions(&file.0, Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
        let digest = file.digest().ok_or("the plan file cannot be read")?;
        if changes.len() > MAX_REQUEST_PLAN_CHANGES {
            return Err(format!(
                "It changes {} resources, and at most {MAX_REQUEST_PLAN_CHANGES} can be reviewed here. Plan and apply \
                 the board yourself",
                changes.len()
            ));
        }
        changes.sort_by(|a, b| {
            (views::gravity(a.action), &a.address).cmp(&(views::gravity(b.action), &b.address))
        });
        for change in &mut changes {
            change.attributes.truncate(MAX_TRIAL_ATTRIBUTES);
        }
        let expires = time_and_seed().time + MAX_PLAN_AGE_MILLISECONDS;
        Ok(Self { file, digest, binding, counts, changes, expires })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    fn hash(&self) -> ContentHash {
        ContentHash::from_bytes(*self.digest.as_bytes())
    }

    /// The reason why this plan may not be applied any more; `None` while its inputs are unchanged.
    pub(super) fn outdated_reason(&self, binding: &PlanInputs) -> Option<String> {
        if self.expires <= time_and_seed().time {
            return Some("The plan is older than an hour. Plan again, then decide.".to_owned());
        }
        if self.file.digest().as_ref() != Some(&self.digest) {
            return Some("The plan file has changed since it was saved. Plan again, then decide.".to_owned());
        }
        let moved = self.binding.difference(binding)?;
        Some(format!("Since it was planned, {moved}. Plan again, then decide."))
    }

    /// As [`Self::outdated_reason`], compared with the present inputs.
    pub(super) fn check(&self, draft: &GeneratedBoard, site: &WorkspaceTerraform) -> Result<(), Refusal> {
        let binding = PlanInputs::from_draft(draft, site.secrets(draft.board.id, Vec::new()))?;
        match self.outdated_reason(&binding) {
            None => Ok(()),
            Some(why) => {
                Err(Refusal::new(RefusalCode::Stale, why).hint("Press Plan, read the new plan, then decide."))
            }
        }
    }
}

enum ApplyRequestPlanPhase {
    Needed(String),
    Planning(Option<TerraformRunId>),
    Ready(Arc<SavedPlan>),
    Failed(String),
}

struct ApplyRequestPlan {
    version: u32,
    board: BoardId,
    state: ApplyRequestPlanPhase,
}

/// Identifies a version of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyRequestVersion {
    pub proposal: ProposalId,
    pub version: u32,
    pub board: BoardId,
}

/// The plans of all open requests.
#[derive(Default)]
pub(super) struct ApplyRequestPlans(Mutex<BTreeMap<ProposalId, ApplyRequestPlan>>);

impl ApplyRequestPlans {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ProposalId, ApplyRequestPlan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ignored when the request is closed or was revised meanwhile.
    fn update(&self, key: ApplyRequestVersion, state: ApplyRequestPlanPhase) {
        if let Some(known) = self.lock().get_mut(&key.proposal).filter(|known| known.version == key.version) {
            known.state = state;
        }
    }

    /// Returns false when the request is being planned already.
    pub(super) fn begin(&self, key: ApplyRequestVersion) -> bool {
        let ApplyRequestVersion { proposal, version, board } = key;
        let mut plans = self.lock();
        let known = plans.get(&proposal).filter(|known| known.version == version);
        if known.is_some_and(|known| matches!(known.state, ApplyRequestPlanPhase::Planning(_))) {
            return false;
        }
        plans.insert(
            proposal,
            ApplyRequestPlan { version, board, state: ApplyRequestPlanPhase::Planning(None) },
        );
        true
    }

    pub(super) fn began(&self, key: ApplyRequestVersion, run: TerraformRunId) {
        self.update(key, ApplyRequestPlanPhase::Planning(Some(run)));
    }

    pub(super) fn mark_needed(&self, key: ApplyRequestVersion, reason: String) {
        self.update(key, ApplyRequestPlanPhase::Needed(reason));
    }

    pub(super) fn fail(&self, key: ApplyRequestVersion, reason: String) {
        self.update(key, ApplyRequestPlanPhase::Failed(reason));
    }

    pub(super) fn ready(&self, key: ApplyRequestVersion, plan: SavedPlan) {
        self.update(key, ApplyRequestPlanPhase::Ready(Arc::new(plan)));
    }

    /// Drops the plans of closed requests, and their files.
    pub(super) fn retain(&self, waits: impl Fn(ProposalId, u32) -> bool) {
        self.lock().retain(|id, plan| waits(*id, plan.version));
    }

    pub(super) fn saved_plans(&self) -> Vec<(ApplyRequestVersion, Arc<SavedPlan>)> {
        let plans = self.lock();
        let saved = plans.iter().filter_map(|(proposal, plan)| match &plan.state {
            ApplyRequestPlanPhase::Ready(saved) => {
                let key =
                    ApplyRequestVersion { proposal: *proposal, version: plan.version, board: plan.board };
                Some((key, Arc::clone(saved)))
            }
            _ => None,
        });
        saved.collect()
    }

    pub(super) fn next_expiry(&self) -> Option<u64> {
        self.saved_plans().iter().map(|(_, saved)| saved.expires).min()
    }

    /// The plan that a yes names.
    pub(super) fn find_by_hash(
        &self,
        proposal: ProposalId,
        hash: Option<ContentHash>,
    ) -> Result<Arc<SavedPlan>, Refusal> {
        let refuse = |why: &str| {
            Err(Refusal::new(RefusalCode::Stale, why).hint("Read the plan that is shown now, then decide."))
        };
        match (self.lock().get(&proposal).map(|plan| &plan.state), hash) {
            (Some(ApplyRequestPlanPhase::Ready(saved)), Some(hash)) if saved.hash() == hash => {
                Ok(Arc::clone(saved))
            }
            (Some(ApplyRequestPlanPhase::Ready(_)), _) => refuse("The plan has changed since it was shown."),
            (Some(ApplyRequestPlanPhase::Planning(_)), _) => refuse("The request is still being planned."),
            (Some(ApplyRequestPlanPhase::Needed(reason)), _) => refuse(reason),
            (Some(ApplyRequestPlanPhase::Failed(reason)), _) => refuse(&format!("The plan failed: {reason}")),
            (None, _) => refuse("The request has no plan. Press Plan first."),
        }
    }

    /// Hands the plan over to the run that applies it.
    pub(super) fn take_plan(&self, proposal: ProposalId) -> Option<Arc<SavedPlan>> {
        match self.lock().remove(&proposal)?.state {
            ApplyRequestPlanPhase::Ready(saved) => Some(saved),
            _ => None,
        }
    }

    pub(super) fn view(&self, proposal: ProposalId) -> Option<ApplyRequestPlanView> {
        self.lock().get(&proposal).map(|plan| plan.view(proposal))
    }

    pub(super) fn views(&self) -> Vec<ApplyRequestPlanView> {
        self.lock().iter().map(|(proposal, plan)| plan.view(*proposal)).collect()
    }
}

impl ApplyRequestPlan {
    fn view(&self, proposal: ProposalId) -> ApplyRequestPlanView {
        let state = match &self.state {
            ApplyRequestPlanPhase::Needed(reason) => ApplyRequestPlanState::Needed { reason: reason.clone() },
            ApplyRequestPlanPhase::Planning(run) => ApplyRequestPlanState::Planning { run: *run },
            ApplyRequestPlanPhase::Failed(reason) => ApplyRequestPlanState::Failed { reason: reason.clone() },
            ApplyRequestPlanPhase::Ready(saved) => ApplyRequestPlanState::Ready {
                hash: saved.hash(),
                counts: saved.counts,
                changes: saved.changes.clone(),
                expires: saved.expires,
            },
        };
        ApplyRequestPlanView { proposal, version: self.version, board: self.board, state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding() -> PlanInputs {
        PlanInputs {
            generated: super::super::TextsByPath::new(),
            foreign: Vec::new(),
            files: vec![None; BOUND_FILES.len()],
            state: None,
            read: Vec::new(),
            initialised: None,
            secrets: BTreeMap::new(),
        }
    }

    fn saved(folder: &Path, expires: u64) -> SavedPlan {
        let file = PlanFile::make(folder, Path::new("/w"), ProposalId::from_bits(1)).unwrap();
        fs::write(file.path(), "plan").unwrap();
        let digest = file.digest().unwrap();
        let (counts, changes) = (PlanCounts::default(), Vec::new());
        SavedPlan { file: Arc::new(file), digest, binding: binding(), counts, changes, expires }
    }

    #[test]
    fn anything_that_moves_ends_a_plan() {
        let folder = tempfile::tempdir().unwrap();
        let plan = saved(folder.path(), u64::MAX);
        assert_eq!(plan.outdated_reason(&binding()), None);
        let digest = Some(Digest::hash(b"other"));
        let file = |place: usize| {
            let mut moved = binding();
            moved.files[place] = digest;
            moved
        };
        let text = || "x".to_owned();
        for (moved, words) in [
            (
                PlanInputs { generated: [(text(), Arc::from("y"))].into(), ..binding() },
                "the board has changed",
            ),
            (PlanInputs { foreign: vec![(text(), Vec::new())], ..binding() }, "a Terraform file beside"),
            (PlanInputs { secrets: [(text(), text())].into(), ..binding() }, "the value of a variable"),
            (PlanInputs { state: digest, ..binding() }, "the state has changed"),
            (PlanInputs { read: vec![(text(), digest)], ..binding() }, "a file that the configuration reads"),
            (PlanInputs { initialised: digest, ..binding() }, "the folder was initialised again"),
            (file(0), "the state has changed"),
            (file(1), "the lock file has changed"),
            (file(3), "the folder was initialised again"),
        ] {
            assert!(plan.outdated_reason(&moved).unwrap().contains(words), "{words}");
        }
        fs::write(plan.path(), "another plan").unwrap();
        assert!(plan.outdated_reason(&binding()).unwrap().contains("The plan file has changed"));
    }

    #[test]
    fn a_plan_has_an_hour_and_its_file_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let plan = saved(folder.path(), time_and_seed().time);
        assert!(plan.outdated_reason(&binding()).unwrap().contains("older than an hour"));
        let path = plan.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let plans = ApplyRequestPlans::default();
        let key = ApplyRequestVersion {
            proposal: ProposalId::from_bits(1),
            version: 1,
            board: BoardId::from_bits(1),
        };
        assert!(plans.begin(key) && !plans.begin(key), "one at a time");
        let hash = plan.hash();
        plans.ready(ApplyRequestVersion { version: 2, ..key }, saved(&folder.path().join("other"), u64::MAX));
        assert!(plans.find_by_hash(key.proposal, Some(hash)).is_err(), "it was made for another version");
        plans.ready(key, plan);
        assert!(plans.find_by_hash(key.proposal, Some(hash)).is_ok());
        assert!(plans.find_by_hash(key.proposal, None).is_err());
        assert!(plans.find_by_hash(key.proposal, Some(ContentHash::from_bytes([0; 32]))).is_err());
        plans.retain(|_, _| false);
        assert!(!path.exists());
    }
}
