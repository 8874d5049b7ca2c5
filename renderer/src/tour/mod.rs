//! The tour of the demo: a small card that explains the current step, highlights the relevant control, and advances when
//! the step is complete. It never blocks anything, and closing it hides it until the demo is started by its command.
//!
//! Must not know: how the demo is set up. It reads the same state as the panels and decides nothing.

mod card;
pub(crate) mod pointer;

use crate::{
    commands::CommandId,
    terraform_answers::is_going,
    view::{Action, View},
};
use card::Card;
use egui::{Context, Rect};
use pointer::Place;
use shared_protocol::{ProposalState, messages::Request, review::ProposalBrief, terraform::TrialView};

/// A tour that is starting or running.
pub(crate) enum Tour {
    /// The demo is opening. Starting it by its command shows the tour even after "Do not show again".
    Starting {
        by_command: bool,
    },
    Going(Steps),
}

impl Tour {
    /// The area of the card in the last frame.
    pub(crate) fn card(&self) -> Option<Rect> {
        if let Self::Going(steps) = self { steps.card } else { None }
    }
}

/// The progress of the tour.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    step: Step,
    /// The furthest step reached. The tour advances to each step automatically only once.
    reached: Step,
    card: Option<Rect>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    #[default]
    Arrive,
    Consequences,
    Decide,
    /// The proposal was decided.
    Over,
}

impl Step {
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

    fn back(self) -> Self {
        match self {
            Self::Arrive | Self::Consequences => Self::Arrive,
            Self::Decide => Self::Consequences,
            Self::Over => Self::Over,
        }
    }

    /// The places to highlight, most specific first.
    fn places(self) -> &'static [Place] {
        match self {
            Self::Arrive => &[Place::Ghosts],
            Self::Consequences => &[Place::PlanNow, Place::Plan, Place::Consequences],
            Self::Decide => &[Place::Decision],
            Self::Over => &[],
        }
    }
}

/// The button pressed on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Next,
    Back,
    OpenProposal,
    ShowPlan,
    Connect,
    Example,
    Close,
    CloseForEver,
}

impl Steps {
    /// Draws the card over the canvas. Returns `false` when it closes.
    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        view: &View<'_>,
        area: Rect,
        actions: &mut Vec<Action>,
    ) -> bool {
        let proposal = view.review.proposals.iter().max_by_key(|brief| brief.number);
        let trials = &view.terraform.trials;
        let trial = proposal.and_then(|brief| trials.iter().rev().find(|trial| trial.proposal == brief.id));
        let is_over = self.follow(happened(proposal, trial, view.is_reviewing)) == Some(Step::Over);
        if is_over && view.is_reviewing {
            // Closes the decided proposal, so that the board shows the result.
            actions.push(Action::CloseProposal);
        }
        pointer::point_at(context, view.theme, self.step.places());
        let card = Card { step: self.step, proposal, trial };
        let (pressed, rect) = card.show_ui(context, view, area);
        self.card = Some(rect);
        match pressed {
            Some(Pressed::Next) => self.step = self.step.next(),
            Some(Pressed::Back) => self.step = self.step.back(),
            Some(Pressed::OpenProposal) => {
                actions.extend(proposal.map(|brief| Action::OpenProposal(brief.id)));
            }
            Some(Pressed::ShowPlan) => pointer::bring_into_view(context, Place::Plan),
            Some(Pressed::Connect) => actions.push(Action::Do(CommandId::SetupGuide)),
            Some(Pressed::Example) => actions.push(Action::Do(CommandId::OpenExample)),
            Some(Pressed::Close) => return false,
            Some(Pressed::CloseForEver) => {
                actions.push(Action::Ask(Request::CloseTour));
                return false;
            }
            None => {}
        }
        true
    }

    /// Advances to a step when it is reached for the first time, so that the person can still go back. Returns the step when
    /// it advanced.
    fn follow(&mut self, happened: Step) -> Option<Step> {
        if happened <= self.reached {
            return None;
        }
        self.reached = happened;
        self.step = happened;
        Some(happened)
    }
}

fn happened(proposal: Option<&ProposalBrief>, trial: Option<&TrialView>, is_reviewing: bool) -> Step {
    match proposal {
        Some(brief) if !brief.waits() && brief.state != ProposalState::Draft => Step::Over,
        Some(_) if trial.is_some_and(|trial| !is_going(&trial.run)) => Step::Decide,
        Some(brief) if is_reviewing && brief.waits() => Step::Consequences,
        _ => Step::Arrive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_by_itself_once_and_lets_one_go_back() {
        let mut steps = Steps::default();
        steps.follow(Step::Arrive);
        assert_eq!(steps.step, Step::Arrive);
        steps.follow(Step::Consequences);
        assert_eq!(steps.step, Step::Consequences);
        steps.step = steps.step.back();
        steps.follow(Step::Consequences);
        assert_eq!(steps.step, Step::Arrive, "what has happened already does not push");
        steps.follow(Step::Over);
        assert_eq!(steps.step, Step::Over);
    }

    #[test]
    fn next_never_claims_that_something_was_decided() {
        let mut steps = Steps::default();
        for _ in 0..5 {
            steps.step = steps.step.next();
        }
        assert_eq!(steps.step, Step::Decide);
        assert_eq!(Step::Decide.number(), Step::COUNT);
    }
}
