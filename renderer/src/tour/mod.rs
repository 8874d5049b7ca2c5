//! The tour of the demo: a small card that explains the current step, highlights the relevant control, and advances when
//! the step is complete. It never blocks anything, and closing it hides it until the demo is started by its command.
//!
//! Must not know: how the demo is set up. It reads the same state as the panels and decides nothing.

mod card;
pub(crate) mod targets;

use crate::{
    commands::CommandId,
    terraform_answers::is_in_progress,
    view::{FrameView, WindowAction},
};
use card::TourCard;
use egui::{Context, Rect};
use shared_protocol::{ProposalState, requests::CloseTour, review::ProposalBrief, terraform::TrialPlanView};
use targets::TourTarget;

/// A tour that is starting or running.
pub(crate) enum Tour {
    /// The demo is opening. Starting it by its command shows the tour even after "Do not show again".
    Starting {
        by_command: bool,
    },
    Going(TourProgress),
}

impl Tour {
    pub(crate) fn card_area(&self) -> Option<Rect> {
        if let Self::Going(steps) = self { steps.card } else { None }
    }
}

#[derive(Debug, Default)]
pub(crate) struct TourProgress {
    step: TourStep,
    /// The furthest step reached. The tour advances to each step automatically only once.
    furthest_step: TourStep,
    card: Option<Rect>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum TourStep {
    #[default]
    Arrive,
    Consequences,
    Decide,
    /// The proposal was decided.
    Over,
}

impl TourStep {
    const COUNT: usize = 3;

    fn number(self) -> usize {
        self as usize + 1
    }

    /// Returns the next step. Only a decision leads to `Over`.
    fn next(self) -> Self {
        match self {
            Self::Arrive => Self::Consequences,
            Self::Consequences | Self::Decide => Self::Decide,
            Self::Over => Self::Over,
        }
    }

    fn previous(self) -> Self {
        match self {
            Self::Arrive | Self::Consequences => Self::Arrive,
            Self::Decide => Self::Consequences,
            Self::Over => Self::Over,
        }
    }

    /// The places to highlight, most specific first.
    fn places(self) -> &'static [TourTarget] {
        match self {
            Self::Arrive => &[TourTarget::Ghosts],
            Self::Consequences => &[TourTarget::PlanNow, TourTarget::Plan, TourTarget::Consequences],
            Self::Decide => &[TourTarget::Decision],
            Self::Over => &[],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TourAction {
    Next,
    Back,
    OpenProposal,
    ShowPlan,
    Connect,
    Example,
    Close,
    CloseForEver,
}

impl TourProgress {
    /// Draws the card over the canvas. Returns `false` when it closes.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>, area: Rect) -> bool {
        let proposal = view.review.proposals.iter().max_by_key(|brief| brief.number);
        let trials = &view.terraform.trials;
        let trial = proposal.and_then(|brief| trials.iter().rev().find(|trial| trial.proposal == brief.id));
        let is_over =
            self.advance_to(reached_step(proposal, trial, view.is_reviewing)) == Some(TourStep::Over);
        if is_over && view.is_reviewing {
            // Closes the decided proposal, so that the board shows the result.
            view.act(WindowAction::CloseProposal);
        }
        targets::point_at(context, view.theme, self.step.places());
        let card = TourCard { step: self.step, proposal, trial };
        let (pressed, rect) = card.show_ui(context, view, area);
        self.card = Some(rect);
        match pressed {
            Some(TourAction::Next) => self.step = self.step.next(),
            Some(TourAction::Back) => self.step = self.step.previous(),
            Some(TourAction::OpenProposal) => {
                view.actions.extend(proposal.map(|brief| WindowAction::OpenProposal(brief.id)));
            }
            Some(TourAction::ShowPlan) => targets::bring_into_view(context, TourTarget::Plan),
            Some(TourAction::Connect) => view.act(CommandId::SetupGuide),
            Some(TourAction::Example) => view.act(CommandId::OpenExample),
            Some(TourAction::Close) => return false,
            Some(TourAction::CloseForEver) => {
                view.act(WindowAction::request(CloseTour {}));
                return false;
            }
            None => {}
        }
        true
    }

    /// Advances to a step when it is reached for the first time, so that the person can still go back. Returns the step when
    /// it advanced.
    fn advance_to(&mut self, happened: TourStep) -> Option<TourStep> {
        if happened <= self.furthest_step {
            return None;
        }
        self.furthest_step = happened;
        self.step = happened;
        Some(happened)
    }
}

fn reached_step(
    proposal: Option<&ProposalBrief>,
    trial: Option<&TrialPlanView>,
    is_reviewing: bool,
) -> TourStep {
    match proposal {
        Some(brief) if !brief.needs_decision() && brief.state != ProposalState::Draft => TourStep::Over,
        Some(_) if trial.is_some_and(|trial| !is_in_progress(&trial.run)) => TourStep::Decide,
        Some(brief) if is_reviewing && brief.needs_decision() => TourStep::Consequences,
        _ => TourStep::Arrive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_by_itself_once_and_lets_one_go_back() {
        let mut steps = TourProgress::default();
        steps.advance_to(TourStep::Arrive);
        assert_eq!(steps.step, TourStep::Arrive);
        steps.advance_to(TourStep::Consequences);
        assert_eq!(steps.step, TourStep::Consequences);
        steps.step = steps.step.previous();
        steps.advance_to(TourStep::Consequences);
        assert_eq!(steps.step, TourStep::Arrive, "what has happened already does not push");
        steps.advance_to(TourStep::Over);
        assert_eq!(steps.step, TourStep::Over);
    }

    #[test]
    fn next_never_claims_that_something_was_decided() {
        let mut steps = TourProgress::default();
        for _ in 0..5 {
            steps.step = steps.step.next();
        }
        assert_eq!(steps.step, TourStep::Decide);
        assert_eq!(TourStep::Decide.number(), TourStep::COUNT);
    }
}
