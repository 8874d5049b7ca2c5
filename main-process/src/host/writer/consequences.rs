//! What follows from a proposal beside what it says: its Terraform files against those of now, what it would cost, links that
//! would have to be looked at, pages that would look different. Worked out aside, since files of a large board take a moment.

use super::{Writer, aside::Laid};
use crate::{
    preview::{self, pages_touched},
    terraform_worker,
};
use authority::{Snapshot, boards_touched, proposals::Overlay, unified_diff};
use bundles::Bundles;
use shared_protocol::{
    Board, BoardKind, Change, Proposal, Refusal, Subject,
    link::{LinkEnd, LinksView},
    messages::Answer,
    proposal::ContentHash,
    review::{
        BoardConsequences, Consequences, CostDelta, FileDelta, MAX_PAGES, MAX_SHOWN_TEXT, ReviewAnswer,
        TouchedPage,
    },
    terraform::CostView,
};
use std::{collections::BTreeSet, sync::Arc};

/// Boards, files of one board and links that are told.
const MOST_BOARDS: usize = 8;
const MOST_FILES: usize = 40;
const MOST_LINKS: usize = 200;

/// What a proposal is compared with, taken at one moment.
pub(super) struct Around {
    bundles: Arc<Bundles>,
    links: Arc<LinksView>,
    terraform: terraform_worker::Link,
    previews: preview::Link,
}

impl Writer {
    pub(super) fn around_consequences(&self) -> Around {
        let workspace = &self.session.workspace;
        Around {
            bundles: Arc::clone(workspace.bundles().loaded()),
            links: Arc::clone(workspace.links()),
            terraform: self.terraform.clone(),
            previews: self.host.previews.clone(),
        }
    }
}

impl Around {
    pub(super) fn of(self, laid: Laid) -> Answer {
        let Laid { proposal, hash, before, overlay: Overlay { state: after, changes } } = laid;
        let Self { bundles, links, terraform, previews } = self;
        let ground = Ground { before, after, changes, bundles, links, terraform, previews };
        Answer::Review(ReviewAnswer::Consequences(Box::new(ground.consequences(&proposal, hash))))
    }
}

/// All that is looked at.
struct Ground {
    before: Snapshot,
    after: Snapshot,
    changes: Vec<Change>,
    bundles: Arc<Bundles>,
    links: Arc<LinksView>,
    terraform: terraform_worker::Link,
    previews: preview::Link,
}

impl Ground {
    fn consequences(&self, proposal: &Proposal, hash: ContentHash) -> Consequences {
        let touched: BTreeSet<_> = boards_touched(&self.before, &self.changes)
            .into_iter()
            .chain(boards_touched(&self.after, &self.changes))
            .collect();
        let known = |id| self.after.board(id).or_else(|| self.before.board(id));
        let boards = touched.into_iter().filter_map(known);
        let described = boards.filter(|board| board.kind == BoardKind::Infrastructure).take(MOST_BOARDS);
        let mut pages = self.pages();
        let more_pages = pages.len().saturating_sub(MAX_PAGES) as u64;
        pages.truncate(MAX_PAGES);
        Consequences {
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
        let shown = self.previews.ground();
        shown.map_or_else(Vec::new, |ground| {
            pages_touched(&ground.with(self.before.clone()), &ground.with(self.after.clone()))
        })
    }

    fn board(&self, board: &Board) -> BoardConsequences {
        let mut told = BoardConsequences {
            board: board.id,
            name: board.name.to_string(),
            files: Vec::new(),
            more_files: 0,
            cost: None,
            problem: None,
        };
        match self.files(board) {
            Ok(files) => {
                told.more_files = files.len().saturating_sub(MOST_FILES) as u64;
                told.files = files.into_iter().take(MOST_FILES).collect();
            }
            Err(refusal) => told.problem = Some(refusal.message),
        }
        match self.cost(board) {
            Ok(cost) => told.cost = Some(cost),
            Err(refusal) => told.problem = told.problem.or(Some(refusal.message)),
        }
        told
    }

    fn files(&self, board: &Board) -> Result<Vec<FileDelta>, Refusal> {
        let of = |state: &Snapshot| match state.board(board.id) {
            Some(_) => self.terraform.files(state, board.id).map(|(files, _)| files),
            None => Ok(Default::default()),
        };
        // The state of now last: it is what everybody else asks for.
        let (after, before) = (of(&self.after)?, of(&self.before)?);
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let delta = |path: &String| {
            let text = |files: &std::collections::BTreeMap<String, Arc<str>>| files.get(path).cloned();
            let (old, new) = (text(&before).unwrap_or_default(), text(&after).unwrap_or_default());
            if old == new {
                return None;
            }
            let delta = FileDelta::of(path, unified_diff(path, &old, &new));
            Some(FileDelta { text: cut(&delta.text), ..delta })
        };
        Ok(paths.into_iter().filter_map(delta).collect())
    }

    fn cost(&self, board: &Board) -> Result<CostDelta, Refusal> {
        let of = |state: &Snapshot| match state.board(board.id) {
            Some(_) => self.terraform.cost(state, board.id).map(Some),
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

    /// Links with an end that would be another than it was when somebody last said that they hold.
    fn links(&self) -> Vec<String> {
        let nodes: BTreeSet<Subject> =
            self.changes.iter().filter(|change| !change.is_layout()).map(Subject::of).collect();
        let entities = self.entities();
        let is_touched = |end: &LinkEnd| match end {
            LinkEnd::Node(id) => nodes.contains(&Subject::Node(*id)),
            LinkEnd::Entity(entity) => entities.contains(&(entity.bundle.clone(), entity.id.clone())),
        };
        let touched =
            self.links.links.iter().filter(|link| is_touched(&link.link.from) || is_touched(&link.link.to));
        touched.take(MOST_LINKS).map(|link| link.words()).collect()
    }

    /// Entities whose files are changed, by bundle and id.
    fn entities(&self) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for change in &self.changes {
            let Change::Source { path, .. } = change else { continue };
            for bundle in self.bundles.iter() {
                let within = bundle.root().to_str().and_then(|root| path.as_str().strip_prefix(root));
                let ids = within.and_then(|within| bundle.ids_in(within.strip_prefix('/')?));
                found.extend(ids.into_iter().flatten().map(|id| (bundle.id().to_owned(), id.to_owned())));
            }
        }
        found
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_SHOWN_TEXT {
        return text.to_owned();
    }
    let end = (0..=MAX_SHOWN_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n… (cut)\n", &text[..end])
}
