//! The tour of the demo: a small card that says what is happening, points at the place, and goes on by itself when it has
//! happened. It is never in the way: nothing waits for it, and it can be closed until the demo is asked for by its command.
//!
//! Must not know: how the demo is made. It reads the same state as the panels do and decides nothing.

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

/// A tour that was asked for, or goes on.
pub(crate) enum Tour {
    /// The demo is being opened; by its command, the tour comes back although it was closed for good.
    Starting {
        by_command: bool,
    },
    Going(Steps),
}

impl Tour {
    /// Where the card was drawn.
    pub(crate) fn card(&self) -> Option<Rect> {
        if let Self::Going(steps) = self { steps.card } else { None }
    }
}

/// How far the tour is.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    step: Step,
    /// The furthest that has happened: each step comes up by itself once.
    reached: Step,
    card: Option<Rect>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    #[default]
    Arrive,
    Consequences,
    Decide,
    /// Decided.
    Over,
}

impl Step {
    const COUNT: usize = 3;

    fn number(self) -> usize {
        self as usize + 1
    }

    /// Only a decision leads to the end.
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

    /// Where to look, the most telling place first.
    fn places(self) -> &'static [Place] {
        match self {
            Self::Arrive => &[Place::Ghosts],
            Self::Consequences => &[Place::PlanNow, Place::Plan, Place::Consequences],
            Self::Decide => &[Place::Decision],
            Self::Over => &[],
        }
    }
}

/// What the person pressed on the card.
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
    /// Draws the card over the canvas. Gives back `false` when it is closed.
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
            // What is over is not in the way of what came of it.
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

    /// Goes on when something has happened that had not before, so that going back stays possible. Gives back the step that
    /// it went on to.
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
