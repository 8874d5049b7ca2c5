//! The answers of main about the Terraform of the viewed board, and the requests for missing ones.

pub(crate) mod answer_cache;
pub(crate) mod run_lines;

use crate::main_request::MainRequest;
use answer_cache::{AnswerCache, AnswerCacheStep, AnswerKey};
use run_lines::RunLines;
use shared_protocol::{
    BoardId, Refusal, Revision,
    request::Request,
    requests::{EstimateCost, GenerateHcl, ListRuns, ReadPlan, ReadRunLines, WorkbenchRequest, WrittenHcl},
    terraform::{
        BoardTerraformView, CostView, HclView, PlanState, PlanView, TerraformFindingView, TerraformRunId,
        TerraformRunLine, TerraformRunState, TerraformRunView, TerraformView,
    },
};

/// A run writes the files, so that they depend on it as well.
type HclFilesKey = (Revision, Option<TerraformRunId>);
type RunKey = (Option<TerraformRunId>, bool);

#[derive(Default)]
pub(crate) struct TerraformAnswers {
    pub(crate) hcl: AnswerCache<HclView, HclFilesKey>,
    pub(crate) cost: AnswerCache<CostView, Revision>,
    pub(crate) plan: AnswerCache<Option<PlanView>, (PlanState, RunKey)>,
    pub(crate) history: AnswerCache<Vec<TerraformRunView>, RunKey>,
    pub(crate) lines: RunLines,
    /// The notes of the last import.
    pub(crate) imported: Option<(BoardId, Vec<TerraformFindingView>)>,
}

#[derive(Debug)]
pub(crate) enum TerraformReply {
    Hcl(Result<HclView, Refusal>),
    Cost(Result<CostView, Refusal>),
    Plan { board: BoardId, result: Result<Option<PlanView>, Refusal> },
    Runs { board: BoardId, result: Result<Vec<TerraformRunView>, Refusal> },
    Lines { run: TerraformRunId, result: Result<(TerraformRunView, Vec<TerraformRunLine>), Refusal> },
    Started(Result<TerraformRunId, Refusal>),
    Cancelled(Result<(), Refusal>),
    Written(Result<WrittenHcl, Refusal>),
    Prices(Result<String, Refusal>),
}

/// The answers that are shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VisibleTerraformAnswers {
    pub(crate) files: bool,
    pub(crate) files_at_once: bool,
    pub(crate) plan: bool,
    pub(crate) runs: bool,
    /// The run whose lines are shown, if it is not the newest.
    pub(crate) chosen_run: Option<TerraformRunId>,
}

/// The state of the viewed board that answers depend on.
#[derive(Clone, Copy)]
pub(crate) struct TerraformBoard<'a> {
    pub(crate) board: BoardId,
    pub(crate) revision: Revision,
    pub(crate) view: Option<&'a BoardTerraformView>,
    pub(crate) time: f64,
}

impl TerraformBoard<'_> {
    fn run(&self) -> Option<&TerraformRunView> {
        self.view?.run.as_ref()
    }

    fn run_at(&self) -> RunKey {
        (self.run().map(|run| run.id), self.run().is_some_and(is_in_progress))
    }

    fn files(&self) -> AnswerKey<HclFilesKey> {
        AnswerKey { board: self.board, at: (self.revision, self.run().map(|run| run.id)) }
    }
}

impl TerraformAnswers {
    /// Forgets everything for another workspace. Versions continue, because boards of a copied workspace have the same
    /// ids and panels recognise new answers by their version.
    pub(crate) fn reset(&mut self) {
        *self = Self { hcl: self.hcl.restarted(), plan: self.plan.restarted(), ..Self::default() };
    }

    pub(crate) fn plan(&self, board: BoardId) -> Option<&PlanView> {
        self.plan.get(board).and_then(Option::as_ref)
    }

    /// Newest first.
    pub(crate) fn history(&self, board: BoardId) -> &[TerraformRunView] {
        self.history.get(board).map_or(&[], Vec::as_slice)
    }

    /// Returns whether the files, and so the values that a run needs, are up to date.
    pub(crate) fn has_current_files(&self, now: &TerraformBoard<'_>) -> bool {
        self.hcl.is_current(now.files())
    }

    /// Returns the requests for answers that are shown and missing, and the seconds after which to try again.
    pub(crate) fn request_missing(
        &mut self,
        now: &TerraformBoard<'_>,
        wants: VisibleTerraformAnswers,
    ) -> (Vec<MainRequest<TerraformReply>>, Option<f64>) {
        let board = now.board;
        let mut requests = Vec::new();
        let mut again = f64::INFINITY;
        let mut next = |need: AnswerCacheStep, request: &dyn Fn() -> MainRequest<TerraformReply>| match need {
            AnswerCacheStep::Nothing => {}
            AnswerCacheStep::Request => requests.push(request()),
            AnswerCacheStep::Later(seconds) => again = again.min(seconds),
        };
        let cost = AnswerKey { board, at: now.revision };
        next(self.cost.poll(cost, now.time, false), &|| {
            request(EstimateCost { board }, TerraformReply::Cost)
        });
        if wants.files || wants.files_at_once {
            let wanted = self.hcl.poll(now.files(), now.time, wants.files_at_once);
            next(wanted, &|| request(GenerateHcl { board }, TerraformReply::Hcl));
        }
        if wants.plan {
            let state = now.view.map(|told| told.plan).unwrap_or_default();
            let key = AnswerKey { board, at: (state, now.run_at()) };
            next(self.plan.poll(key, now.time, true), &|| {
                request(ReadPlan { board }, move |result| TerraformReply::Plan { board, result })
            });
        }
        if wants.runs {
            let key = AnswerKey { board, at: now.run_at() };
            next(self.history.poll(key, now.time, true), &|| {
                request(ListRuns { board }, move |result| TerraformReply::Runs { board, result })
            });
            let history = self.history.get(board).map_or(&[][..], Vec::as_slice);
            if let Some(run) = shown_run(wants.chosen_run, now.run(), history)
                && let Some(from) = self.lines.next_missing_line(run)
            {
                let run = run.id;
                next(AnswerCacheStep::Request, &|| {
                    request(ReadRunLines { run, from }, move |result| TerraformReply::Lines { run, result })
                });
            }
        }
        (requests, again.is_finite().then_some(again))
    }
}

fn request<R: Request<Frame = WorkbenchRequest>>(
    request: R,
    reply: impl Fn(Result<R::Response, Refusal>) -> TerraformReply + 'static,
) -> MainRequest<TerraformReply> {
    MainRequest::new(request, move |result| Some(reply(result)))
}

/// The run whose output is shown: the chosen one, else the newest.
pub(crate) fn shown_run<'a>(
    chosen: Option<TerraformRunId>,
    newest: Option<&'a TerraformRunView>,
    history: &'a [TerraformRunView],
) -> Option<&'a TerraformRunView> {
    let newest = newest.or(history.first());
    match chosen {
        Some(id) => newest.into_iter().chain(history).find(|run| run.id == id).or(newest),
        None => newest,
    }
}

pub(crate) fn of_board(view: &TerraformView, board: BoardId) -> Option<&BoardTerraformView> {
    view.boards.iter().find(|known| known.board == board)
}

pub(crate) fn is_in_progress(run: &TerraformRunView) -> bool {
    matches!(run.state, TerraformRunState::Running | TerraformRunState::Cancelling)
}
