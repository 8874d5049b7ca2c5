//! The plan that was made last. It is bound to the files it was made of and to its own content, so that exactly the reviewed
//! plan is applied, or nothing.

use super::{drafts::GeneratedBoard, views};
use journal::Digest;
use safe_fs::SafeFolder;
use shared_protocol::{
    NodeId, Refusal, RefusalCode,
    terraform::{PlanChange, PlanCounts, PlanView, PlannedAction},
};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// The name that the crate `terraform` gives it.
const PLAN_FILE: &str = "draftboard.tfplan";
const MAX_PLAN_BYTES: u64 = 1 << 30;

pub(super) struct CurrentBoardPlan {
    files: BTreeMap<String, Arc<str>>,
    content: Digest,
    pub(super) view: PlanView,
    pub(super) nodes: Vec<(NodeId, PlannedAction)>,
}

impl CurrentBoardPlan {
    pub(super) fn new(
        changes: Vec<PlanChange>,
        counts: PlanCounts,
        draft: &GeneratedBoard,
    ) -> std::io::Result<Self> {
        let content = read(&draft.inputs.folder(&draft.board))?;
        Ok(Self {
            files: draft.generated.files.clone(),
            content,
            nodes: views::planned_actions(&changes),
            view: PlanView { board: draft.board.id, counts, outdated: false, changes },
        })
    }

    pub(super) fn fits(&self, draft: &GeneratedBoard) -> bool {
        self.files == draft.generated.files
    }

    /// Checks that the plan in the folder is the reviewed one, and that the board is unchanged.
    pub(super) fn check(&self, draft: &GeneratedBoard) -> Result<(), Refusal> {
        let again =
            |message: &str| Err(Refusal::new(RefusalCode::Stale, message).hint("Plan again, then apply."));
        if !self.fits(draft) {
            return again("The board has changed since it was planned.");
        }
        match read(&draft.inputs.folder(&draft.board)) {
            Ok(content) if content == self.content => Ok(()),
            _ => again("The plan in the folder differs from the one that Draftboard saved."),
        }
    }
}

fn read(folder: &Path) -> std::io::Result<Digest> {
    let bytes = SafeFolder::open(folder)?.read(PLAN_FILE, MAX_PLAN_BYTES)?;
    Ok(Digest::hash(&bytes))
}
