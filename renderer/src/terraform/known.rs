//! What main answered about the board that is looked at, and what has to be asked for now.

use super::{
    is_going,
    kept::{Kept, Key, Next},
    lines::Lines,
};
use crate::view::Action;
use shared_protocol::{
    BoardId, Refusal, Revision,
    terraform::{
        BoardTerraform, CostView, Finding, HclView, PlanState, PlanView, RunId, RunOperation, RunView,
        TerraformAnswer, TerraformRequest,
    },
};
use std::collections::BTreeSet;

/// A run writes the files, so what is on the disk depends on it, too.
type FilesAt = (Revision, Option<RunId>);
type RunAt = (Option<RunId>, bool);

#[derive(Default)]
pub(crate) struct Known {
    hcl: Kept<HclView, FilesAt>,
    /// Counts the files that came.
    hcl_version: u64,
    cost: Kept<CostView, Revision>,
    plan: Kept<Option<PlanView>, (PlanState, RunAt)>,
    /// Counts the plans that came.
    plan_version: u64,
    history: Kept<Vec<RunView>, RunAt>,
    pub(crate) lines: Lines,
    /// The run whose lines are looked at, if it is not the newest.
    pub(crate) chosen: Option<RunId>,
    /// What an import left to be looked at.
    imported: Option<(BoardId, Vec<Finding>)>,
    /// Sensitive variables that main has a value for. Only the names: the values have gone to main.
    given: BTreeSet<(BoardId, String)>,
    giving: Vec<(BoardId, String)>,
    /// A run that waits to know which values it needs.
    held: Option<RunOperation>,
}

/// Which request an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Hcl,
    Cost,
    Plan,
    History,
    Lines(RunId),
    Run,
    Prices,
    Other,
}

impl Asked {
    pub(crate) fn of(request: &TerraformRequest) -> Self {
        match request {
            TerraformRequest::Hcl { .. } => Self::Hcl,
            TerraformRequest::Cost { .. } => Self::Cost,
            TerraformRequest::Plan { .. } => Self::Plan,
            TerraformRequest::History { .. } => Self::History,
            TerraformRequest::Lines { run, .. } => Self::Lines(*run),
            TerraformRequest::Run { .. } => Self::Run,
            TerraformRequest::MissingPrices { .. } => Self::Prices,
            TerraformRequest::Write { .. }
            | TerraformRequest::Cancel { .. }
            | TerraformRequest::Import { .. } => Self::Other,
        }
    }
}

/// What is on the screen and so has to be known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wants {
    pub(crate) hcl: bool,
    pub(crate) plan: bool,
    pub(crate) runs: bool,
}

/// The board as it is now.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) board: BoardId,
    pub(crate) revision: Revision,
    pub(crate) told: Option<&'a BoardTerraform>,
    pub(crate) time: f64,
}

impl Now<'_> {
    fn run(&self) -> Option<&RunView> {
        self.told?.run.as_ref()
    }

    fn run_at(&self) -> RunAt {
        (self.run().map(|run| run.id), self.run().is_some_and(is_going))
    }

    fn files(&self) -> Key<FilesAt> {
        Key { board: self.board, at: (self.revision, self.run().map(|run| run.id)) }
    }
}

impl Known {
    /// Forgets everything, for another workspace. Versions go on, because boards of a copy have the ids of the original and
    /// panels recognise new answers by them.
    pub(crate) fn reset(&mut self) {
        *self = Self {
            hcl_version: self.hcl_version + 1,
            plan_version: self.plan_version + 1,
            ..Self::default()
        };
    }

    pub(crate) fn hcl(&self, board: BoardId) -> Option<&HclView> {
        self.hcl.get(board)
    }

    pub(crate) fn hcl_refused(&self) -> Option<&str> {
        self.hcl.refused()
    }

    pub(crate) fn cost(&self, board: BoardId) -> Option<&CostView> {
        self.cost.get(board)
    }

    pub(crate) fn plan(&self, board: BoardId) -> Option<&PlanView> {
        self.plan.get(board).and_then(Option::as_ref)
    }

    pub(crate) fn plan_refused(&self) -> Option<&str> {
        self.plan.refused()
    }

    /// Another number means another plan.
    pub(crate) fn plan_version(&self) -> u64 {
        self.plan_version
    }

    pub(crate) fn hcl_version(&self) -> u64 {
        self.hcl_version
    }

    /// Newest first.
    pub(crate) fn history(&self, board: BoardId) -> &[RunView] {
        self.history.get(board).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn imported(&self) -> Option<(BoardId, &[Finding])> {
        self.imported.as_ref().map(|(board, notes)| (*board, notes.as_slice()))
    }

    pub(crate) fn is_given(&self, board: BoardId, variable: &str) -> bool {
        self.given.iter().any(|(of, name)| *of == board && name == variable)
    }

    /// Whether the files are known as they are now: which values a run needs is.
    pub(crate) fn has_current_files(&self, now: &Now<'_>) -> bool {
        self.hcl.is_current(now.files())
    }

    /// This run goes on as soon as the files are known.
    pub(crate) fn hold(&mut self, operation: RunOperation) {
        self.held = Some(operation);
    }

    /// Asks for what is wanted and not known. Gives back when to look again.
    pub(crate) fn ask(&mut self, now: &Now<'_>, wants: Wants, actions: &mut Vec<Action>) -> Option<f64> {
        let board = now.board;
        let mut again = f64::INFINITY;
        let mut next = |next: Next, request: TerraformRequest| match next {
            Next::Nothing => {}
            Next::Ask => super::ask(actions, request),
            Next::Later(seconds) => again = again.min(seconds),
        };
        let cost = Key { board, at: now.revision };
        next(self.cost.want(cost, now.time, false), TerraformRequest::Cost { board });
        if wants.hcl || self.held.is_some() {
            let wanted = self.hcl.want(now.files(), now.time, self.held.is_some());
            next(wanted, TerraformRequest::Hcl { board });
        }
        if wants.plan {
            let state = now.told.map(|told| told.plan).unwrap_or_default();
            let key = Key { board, at: (state, now.run_at()) };
            next(self.plan.want(key, now.time, true), TerraformRequest::Plan { board });
        }
        if wants.runs {
            let key = Key { board, at: now.run_at() };
            next(self.history.want(key, now.time, true), TerraformRequest::History { board });
            let run = shown(self.chosen, now.run(), self.history.get(board).map_or(&[], Vec::as_slice));
            if let Some(from) = run.and_then(|run| self.lines.missing(run)) {
                let run = run.map_or(0, |run| run.id);
                next(Next::Ask, TerraformRequest::Lines { run, from });
            }
        }
        again.is_finite().then_some(again)
    }

    /// The values that go to main with this request are remembered by name.
    pub(crate) fn sending(&mut self, request: &TerraformRequest) {
        if let TerraformRequest::Run { board, secrets, .. } = request {
            self.giving = secrets.iter().map(|(name, _)| (*board, name.clone())).collect();
            self.chosen = None;
        }
    }

    /// What main answered. Gives back the run that waited for it.
    pub(crate) fn receive(&mut self, answer: TerraformAnswer) -> Option<RunOperation> {
        match answer {
            TerraformAnswer::Hcl(view) => {
                self.hcl.receive(view.board, *view);
                self.hcl_version += 1;
                return self.held.take();
            }
            TerraformAnswer::Cost(view) => self.cost.receive(view.board, *view),
            TerraformAnswer::Plan(view) => {
                let board = view.as_ref().map(|view| view.board).or(self.plan.asked_board());
                if let Some(board) = board {
                    self.plan.receive(board, view.map(|view| *view));
                    self.plan_version += 1;
                }
            }
            TerraformAnswer::History(runs) => {
                if let Some(board) = self.history.asked_board() {
                    self.history.receive(board, runs);
                }
            }
            TerraformAnswer::Lines { run, lines } => self.lines.answered(&run, lines),
            TerraformAnswer::Started { .. } => self.given.extend(std::mem::take(&mut self.giving)),
            TerraformAnswer::Written { .. } => self.hcl.outdate(),
            TerraformAnswer::Imported { board, notes, .. } => self.imported = Some((board, notes)),
            TerraformAnswer::MissingPrices(_) | TerraformAnswer::Cancelling => {}
        }
        None
    }

    /// Gives back whether a person should be told, who did not ask for anything by themselves otherwise.
    pub(crate) fn refuse(&mut self, asked: Asked, refusal: &Refusal) -> bool {
        let why = || refusal.hints.iter().fold(refusal.message.clone(), |all, hint| format!("{all}. {hint}"));
        match asked {
            Asked::Hcl => self.hcl.refuse(why()),
            Asked::Cost => self.cost.refuse(why()),
            Asked::Plan => self.plan.refuse(why()),
            Asked::History => self.history.refuse(why()),
            Asked::Lines(run) => self.lines.refused(run),
            Asked::Run | Asked::Prices | Asked::Other => {
                self.giving.clear();
                return true;
            }
        }
        asked == Asked::Hcl && self.held.take().is_some()
    }
}

/// The run whose lines are shown: the chosen one, else the newest.
pub(crate) fn shown<'a>(
    chosen: Option<RunId>,
    newest: Option<&'a RunView>,
    history: &'a [RunView],
) -> Option<&'a RunView> {
    let newest = newest.or(history.first());
    match chosen {
        Some(id) => newest.into_iter().chain(history).find(|run| run.id == id).or(newest),
        None => newest,
    }
}
