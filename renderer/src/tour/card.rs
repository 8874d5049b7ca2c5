//! The tour card: the current step, its explanation and the navigation buttons.

use super::{TourAction, TourStep};
use crate::{
    terraform_answers::is_in_progress,
    view::FrameView,
    widgets::{close_button_ui, paint_icon, primary_button},
};
use egui::{
    Align2, Button, Context, CornerRadius, Frame, Id, Margin, Order, Rect, RichText, Sense, Stroke, Ui, Vec2,
    vec2,
};
use shared_protocol::{
    ProposalState,
    review::ProposalBrief,
    terraform::{PlannedAction, TrialPlanView},
};

const WIDTH: f32 = 372.0;
/// The distance from the corner of the canvas.
const INSET: f32 = 16.0;

pub(super) struct TourCard<'a> {
    pub(super) step: TourStep,
    pub(super) proposal: Option<&'a ProposalBrief>,
    pub(super) trial: Option<&'a TrialPlanView>,
}

impl TourCard<'_> {
    pub(super) fn show_ui(
        &self,
        context: &Context,
        view: &FrameView<'_>,
        area: Rect,
    ) -> (Option<TourAction>, Rect) {
        let theme = view.theme;
        let frame = Frame::new()
            .fill(theme.surface_raised)
            .stroke(Stroke::new(1.0, theme.accent))
            .corner_radius(CornerRadius::same(10))
            .shadow(context.global_style().visuals.popup_shadow)
            .inner_margin(Margin::symmetric(16, 12));
        let card = egui::Area::new(Id::unique("tour"))
            .order(Order::Middle)
            .pivot(Align2::LEFT_BOTTOM)
            .fixed_pos(area.left_bottom() + vec2(INSET, -INSET))
            .constrain_to(context.content_rect());
        let shown = card.show(context, |ui| {
            let content = frame.show(ui, |ui| {
                ui.set_width(WIDTH.min(area.width() - 2.0 * INSET - 34.0).max(200.0));
                self.content_ui(ui, view)
            });
            content.inner
        });
        (shown.inner, shown.response.rect)
    }

    fn content_ui(&self, ui: &mut Ui, view: &FrameView<'_>) -> Option<TourAction> {
        let theme = view.theme;
        let mut pressed = None;
        ui.horizontal(|ui| {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::hover());
            paint_icon(ui.painter(), "decision", mark, theme.accent);
            ui.label(RichText::new(self.title()).strong());
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if close_button_ui(ui, theme, "Close the tour").clicked() {
                    pressed = Some(TourAction::Close);
                }
                if self.step != TourStep::Over {
                    let place = format!("{} of {}", self.step.number(), TourStep::COUNT);
                    ui.label(RichText::new(place).small().color(theme.text_muted));
                }
            });
        });
        ui.add_space(2.0);
        ui.add(egui::Label::new(self.text(view)).wrap());
        ui.add_space(6.0);
        ui.horizontal_wrapped(|ui| {
            let buttons =
                if self.step == TourStep::Over { end_ui(ui, view) } else { self.steps_ui(ui, view) };
            pressed = pressed.or(buttons);
        });
        pressed
    }

    fn title(&self) -> &'static str {
        match self.step {
            TourStep::Arrive => "An agent is proposing a change",
            TourStep::Consequences => "Look at the consequences",
            TourStep::Decide => "You decide",
            TourStep::Over => "You finished the tour",
        }
    }

    fn text(&self, view: &FrameView<'_>) -> String {
        match self.step {
            TourStep::Arrive if self.is_waiting() => {
                "Nothing has changed yet. Ghosts show the proposed changes. The agent has submitted the proposal: open it to review it."
                    .to_owned()
            }
            TourStep::Arrive => {
                "Nothing has changed yet. Ghosts show the proposed changes. They appear one agent call at a time.".to_owned()
            }
            TourStep::Consequences => self.plan_text(view),
            TourStep::Decide => format!(
                "{}Removals must be confirmed one by one. Tick the removal and accept everything, leave it out and accept \
                                 the rest, or reject the proposal with a reason. Undo reverts an accepted proposal.",
                self.plan_result()
            ),
            TourStep::Over => self.end_text(),
        }
    }

    fn is_waiting(&self) -> bool {
        self.proposal.is_some_and(ProposalBrief::needs_decision)
    }

    fn plan_text(&self, view: &FrameView<'_>) -> String {
        let first = "The proposal lists every change and marks removals. Consequences shows the checks, the costs and the \
                             Terraform files.";
        match (&view.terraform.program, self.trial) {
            (Some(Err(_)), _) => format!(
                "{first} Terraform is not installed, so there is no plan to review. Everything else works without it."
            ),
            (_, Some(trial)) if is_in_progress(&trial.run) => {
                "Terraform is planning a copy of the board. Nothing changes.".to_owned()
            }
            _ => format!("{first} Press Plan… to see what Terraform would do. Nothing is applied."),
        }
    }

    /// A sentence about destroyed resources, or an empty string when the plan destroys none.
    fn plan_result(&self) -> String {
        let is_gone =
            |action: PlannedAction| matches!(action, PlannedAction::Delete | PlannedAction::Replace);
        let changes = self.trial.and_then(|trial| trial.changes.as_ref());
        match changes.map_or(0, |changes| changes.iter().filter(|change| is_gone(change.action)).count()) {
            0 => String::new(),
            destroyed => format!("The plan shows {destroyed} to destroy. "),
        }
    }

    fn end_text(&self) -> String {
        let what = match self.proposal.map(|brief| (&brief.state, brief.revisions.is_empty())) {
            Some((ProposalState::Rejected { .. }, _)) => {
                "You rejected the proposal. Nothing has changed, and the agent receives your reason."
            }
            Some((ProposalState::Accepted, _)) => {
                "You accepted the proposal as one operation. Ctrl+Z undoes it."
            }
            Some((_, false)) => {
                "You accepted part of the proposal as one operation, and the agent withdrew the rest. Ctrl+Z undoes it."
            }
            _ => "Nothing has changed.",
        };
        format!(
            "{what} Every MCP agent works this way: it reads the boards and proposes changes, and you decide."
        )
    }

    fn steps_ui(&self, ui: &mut Ui, view: &FrameView<'_>) -> Option<TourAction> {
        let mut pressed = None;
        let can_open = self.step == TourStep::Arrive && self.is_waiting() && !view.is_reviewing;
        if can_open && ui.add(primary_button(view.theme, "Open the proposal")).clicked() {
            pressed = Some(TourAction::OpenProposal);
        }
        let can_plan = self.step == TourStep::Consequences && view.is_reviewing && self.trial.is_none();
        if can_plan && ui.button("Show me where").clicked() {
            pressed = Some(TourAction::ShowPlan);
        }
        if self.step != TourStep::Arrive && ui.button("Back").clicked() {
            pressed = Some(TourAction::Back);
        }
        if (self.step == TourStep::Consequences || view.is_reviewing)
            && self.step != TourStep::Decide
            && ui.button("Next").clicked()
        {
            pressed = Some(TourAction::Next);
        }
        let text = RichText::new("Do not show again").small().color(view.theme.text_muted);
        let close = ui.add(Button::new(text).frame(false));
        let tip = "The welcome page then starts the demo without the tour. File → Show me a proposal shows it again";
        if close.on_hover_text(tip).clicked() {
            pressed = Some(TourAction::CloseForEver);
        }
        pressed
    }
}

fn end_ui(ui: &mut Ui, view: &FrameView<'_>) -> Option<TourAction> {
    let mut pressed = None;
    if ui.add(primary_button(view.theme, "Connect an agent…")).clicked() {
        pressed = Some(TourAction::Connect);
    }
    if ui.button("Try the example").clicked() {
        pressed = Some(TourAction::Example);
    }
    if ui.button("Close").clicked() {
        pressed = Some(TourAction::Close);
    }
    pressed
}
