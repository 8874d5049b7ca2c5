//! The consequences of a proposal: its Terraform files against the present ones, its cost, trace links that will need review,
//! pages that will look different. Computed in the background, because the files of a large board take a moment.

use super::{Writer, overlay::ProposalComparison};
use authority::{Snapshot, boards_touched, proposals::ProposalOverlay, unified_diff};
use bundles::Bundles;
use preview_sessions::pages_touched;
use shared_protocol::{
    Board, BoardKind, Change, Proposal, ProposalSubject, Refusal,
    proposal::ContentHash,
    review::{
        BoardConsequences, CostDelta, FileLineCounts, MAX_AFFECTED_PAGES, MAX_SHOWN_TEXT_BYTES,
        ProposalConsequences, TouchedPage,
    },
    terraform::CostView,
    text::truncate_bytes,
    trace_link::{TraceLinkEnd, TraceLinksView},
};
use std::{collections::BTreeSet, sync::Arc};

/// Boards, files of one board and links in one response.
const MAX_COMPARED_BOARDS: usize = 8;
const MAX_FILE_DELTAS: usize = 40;
const MAX_AFFECTED_LINKS: usize = 200;

/// The context that consequences are computed in, taken at one moment.
pub(crate) struct ConsequencesContext {
    bundles: Arc<Bundles>,
    links: Arc<TraceLinksView>,
    terraform: terraform_runs::TerraformHandle,
    previews: preview_sessions::PreviewsHandle,
}

impl Writer {
    pub(crate) fn consequences_context(&self) -> ConsequencesContext {
        let workspace = &self.session.workspace;
        ConsequencesContext {
            bundles: Arc::clone(workspace.bundles().bundles()),
            links: Arc::clone(workspace.links()),
            terraform: self.services.terraform.clone(),
            previews: self.services.previews.clone(),
        }
    }
}

impl ConsequencesContext {
    pub(crate) fn consequences(self, overlay: ProposalComparison) -> ProposalConsequences {
        let ProposalComparison { proposal, hash, before, overlay: ProposalOverlay { state: after, changes } } =
            overlay;
        ProposalStates { before, after, changes, context: self }.consequences(&proposal, hash)
    }
}

/// The states before and after a proposal.
struct ProposalStates {
    before: Snapshot,
    after: Snapshot,
    changes: Vec<Change>,
    context: ConsequencesContext,
}

impl ProposalStates {
    fn consequences(&self, proposal: &Proposal, hash: ContentHash) -> ProposalConsequences {
        let touched: BTreeSet<_> = boards_touched(&self.before, &self.changes)
            .into_iter()
            .chain(boards_touched(&self.after, &self.changes))
            .collect();
        let known = |id| self.after.board(id).or_else(|| self.before.board(id));
        let boards = touched.into_iter().filter_map(known);
        let described =
            boards.filter(|board| board.kind == BoardKind::Infrastructure).take(MAX_COMPARED_BOARDS);
        let mut pages = self.pages();
        let more_pages = pages.len().saturating_sub(MAX_AFFECTED_PAGES) as u64;
        pages.truncate(MAX_AFFECTED_PAGES);
        ProposalConsequences {
            proposal: proposal.id,
            version: proposal.version,
            hash,
            boards: described.map(|board| self.board(board)).collect(),
            links: self.links(),
            pages,
            more_pages,
        }
    }

    fn pages(&self) -> Vec<TouchedPage> {
        let shown = self.context.previews.workspace();
        shown.map_or_else(Vec::new, |ground| {
            pages_touched(
                &ground.with_snapshot(self.before.clone()),
                &ground.with_snapshot(self.after.clone()),
            )
        })
    }

    fn board(&self, board: &Board) -> BoardConsequences {
        let mut board_consequences = BoardConsequences {
            board: board.id,
            name: board.name.to_string(),
            files: Vec::new(),
            more_files: 0,
            cost: None,
            problem: None,
        };
        match self.files(board) {
            Ok(files) => {
                board_consequences.more_files = files.len().saturating_sub(MAX_FILE_DELTAS) as u64;
                board_consequences.files = files.into_iter().take(MAX_FILE_DELTAS).collect();
            }
            Err(refusal) => board_consequences.problem = Some(refusal.message),
        }
        match self.cost(board) {
            Ok(cost) => board_consequences.cost = Some(cost),
            Err(refusal) => board_consequences.problem = board_consequences.problem.or(Some(refusal.message)),
        }
        board_consequences
    }

    fn files(&self, board: &Board) -> Result<Vec<FileLineCounts>, Refusal> {
        let of = |state: &Snapshot| match state.board(board.id) {
            Some(_) => self.context.terraform.files(state, board.id).map(|(files, _)| files),
            None => Ok(Default::default()),
        };
        // The present state last: other readers use its files as well.
        let (after, before) = (of(&self.after)?, of(&self.before)?);
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let delta = |path: &String| {
            let text = |files: &std::collections::BTreeMap<String, Arc<str>>| files.get(path).cloned();
            let (old, new) = (text(&before).unwrap_or_default(), text(&after).unwrap_or_default());
            if old == new {
                return None;
            }
            let delta = FileLineCounts::from_text(path, unified_diff(path, &old, &new));
            Some(FileLineCounts { text: truncate_bytes(&delta.text, MAX_SHOWN_TEXT_BYTES), ..delta })
        };
        Ok(paths.into_iter().filter_map(delta).collect())
    }

    fn cost(&self, board: &Board) -> Result<CostDelta, Refusal> {
        let of = |state: &Snapshot| match state.board(board.id) {
            Some(_) => self.context.terraform.cost(state, board.id).map(Some),
            None => Ok(None),
        };
        let (before, after) = (of(&self.before)?, of(&self.after)?);
        let monthly = |cost: &Option<CostView>| cost.as_ref().and_then(|cost| cost.monthly);
        let unknown =
            |cost: &Option<CostView>| cost.as_ref().map_or(0, |cost| cost.unknown + cost.usage_based);
        Ok(CostDelta {
            currency: after.as_ref().or(before.as_ref()).and_then(|cost| cost.currency.clone()),
            before: monthly(&before),
            after: monthly(&after),
            unpriced_before: unknown(&before),
            unpriced_after: unknown(&after),
        })
    }

    /// Trace links with an end that the proposal changes.
    fn links(&self) -> Vec<String> {
        let nodes: BTreeSet<ProposalSubject> = self
            .changes
            .iter()
            .filter(|change| !change.is_layout())
            .map(ProposalSubject::of_change)
            .collect();
        let entities = self.entities();
        let is_touched = |end: &TraceLinkEnd| match end {
            TraceLinkEnd::Node(id) => nodes.contains(&ProposalSubject::Node(*id)),
            TraceLinkEnd::Entity(entity) => entities.contains(&(entity.bundle.clone(), entity.id.clone())),
        };
        let touched = self
            .context
            .links
            .links
            .iter()
            .filter(|link| is_touched(&link.link.from) || is_touched(&link.link.to));
        touched.take(MAX_AFFECTED_LINKS).map(|link| link.describe()).collect()
    }

    /// Entities in changed files, by bundle and id.
    fn entities(&self) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for change in &self.changes {
            let Change::Source { path, .. } = change else { continue };
            for bundle in self.context.bundles.iter() {
                let within = bundle.root().to_str().and_then(|root| path.as_str().strip_prefix(root));
                let ids = within.and_then(|within| bundle.ids_in(within.strip_prefix('/')?));
                found.extend(ids.into_iter().flatten().map(|id| (bundle.id().to_owned(), id.to_owned())));
            }
        }
        found
    }
}
