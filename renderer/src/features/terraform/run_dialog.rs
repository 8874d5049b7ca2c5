//! The question before a run: the values that it needs and a confirmation, with the resources that would be destroyed
//! first.

use crate::{
    dialogs::{ModalOutcome, ModalTexts},
    features::terraform::{
        TerraformContext, TerraformFeature, TerraformMessage, obstacle::obstacle, rank, words,
    },
    terraform_answers::of_board,
    view::FrameView,
    widgets::{focus_stroke, muted_ui},
};
use canvas::{paint_action, planned_words};
use egui::{RichText, Sense, TextEdit, Ui, vec2};
use shared_protocol::text::count_noun;
use shared_protocol::{
    BoardId,
    requests::StartRun,
    terraform::{DeploymentState, PlanChange, PlanState, PlannedAction, TerraformOperation},
};
use std::collections::BTreeSet;

const MAX_CHANGES: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunDialog {
    board: BoardId,
    operation: TerraformOperation,
    values: Vec<SecretInput>,
    /// The board's name, typed to confirm a destroy.
    name: String,
    /// A safer operation that was chosen instead.
    alternative: Option<TerraformOperation>,
}

/// A sensitive variable and its typed value.
#[derive(Clone, PartialEq)]
struct SecretInput {
    variable: String,
    text: String,
    /// Main has a value from an earlier run.
    is_given: bool,
}

impl std::fmt::Debug for SecretInput {
    /// Leaves the value out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Value").field("variable", &self.variable).finish_non_exhaustive()
    }
}

impl TerraformFeature {
    pub(crate) fn dialog_ui(&mut self, cx: &TerraformContext<'_>) {
        let Some(dialog) = &mut self.dialog else { return };
        let outcome = dialog.modal_look().show_ui(cx.egui, cx.view.theme, |ui| {
            dialog.fields_ui(ui, cx.view);
            dialog.verdict(cx.view)
        });
        if let Some(operation) = dialog.alternative {
            self.dialog = None;
            return cx.send(TerraformMessage::Run(operation));
        }
        match outcome {
            ModalOutcome::Open => {}
            ModalOutcome::Closed => self.dialog = None,
            ModalOutcome::Confirmed(request) => {
                self.dialog = None;
                self.start(request, cx);
            }
        }
    }
}

impl RunDialog {
    /// Returns `None` when the run needs neither values nor a confirmation.
    pub(super) fn for_operation(
        view: &FrameView<'_>,
        board: BoardId,
        operation: TerraformOperation,
        given: &BTreeSet<(BoardId, String)>,
    ) -> Option<Self> {
        let secrets = view.terraform_answers.hcl.get(board).map_or(&[][..], |hcl| &hcl.secrets);
        let values: Vec<SecretInput> = secrets
            .iter()
            .filter(|_| words::needs_values(operation))
            .map(|variable| SecretInput {
                variable: variable.clone(),
                text: String::new(),
                is_given: given.contains(&(board, variable.clone())),
            })
            .collect();
        let is_missing = values.iter().any(|value| !value.is_given);
        (operation.needs_confirmation() || is_missing).then(|| Self {
            board,
            operation,
            values,
            name: String::new(),
            alternative: None,
        })
    }

    fn modal_look(&self) -> ModalTexts {
        ModalTexts {
            title: match self.operation {
                TerraformOperation::Apply => "Apply changes",
                TerraformOperation::ApplyPlan => "Apply the plan",
                TerraformOperation::Destroy => "Destroy everything",
                _ => "Enter variable values",
            },
            button: words::operation(self.operation),
            width: 480.0,
            is_destructive: self.operation == TerraformOperation::Destroy,
            // Enter may have been meant for another window.
            confirms_with_enter: !self.operation.needs_confirmation(),
        }
    }

    fn fields_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        match self.operation {
            TerraformOperation::Apply | TerraformOperation::ApplyPlan => self.changes_ui(ui, view),
            TerraformOperation::Destroy => self.destroy_ui(ui, view),
            _ => {}
        }
        self.values_ui(ui, view);
    }

    fn changes_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        match of_board(view.terraform, self.board).map(|told| told.plan).unwrap_or_default() {
            PlanState::Ready(counts) => {
                ui.label(format!("{}.", words::describe_planned(counts)));
                if self.operation == TerraformOperation::Apply {
                    let text = "Terraform plans again first and also applies changes made since.";
                    muted_ui(ui, view.theme, text);
                }
                self.list_ui(ui, view);
            }
            state => {
                ui.label(match state {
                    PlanState::Outdated(_) => "The board has changed since it was last planned.",
                    _ => "There is no plan, so the changes are unknown.",
                });
                self.alternative_ui(ui, view, "Plan first", TerraformOperation::Plan);
            }
        }
    }

    fn list_ui(&self, ui: &mut Ui, view: &FrameView<'_>) {
        let Some(plan) = view.terraform_answers.plan(self.board) else { return };
        let mut changes: Vec<&PlanChange> =
            plan.changes.iter().filter(|change| change.action != PlannedAction::Read).collect();
        changes.sort_by_key(|change| (rank(change.action), &change.address));
        ui.add_space(4.0);
        ui.spacing_mut().item_spacing.y = 2.0;
        for change in changes.iter().take(MAX_CHANGES) {
            ui.horizontal(|ui| {
                let (sign, _) = ui.allocate_exact_size(vec2(18.0, 18.0), Sense::hover());
                paint_action(ui.painter(), sign.center(), 6.5, view.theme, change.action);
                let text = RichText::new(&change.address).monospace();
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    muted_ui(ui, view.theme, planned_words(change.action));
                    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                        ui.add(egui::Label::new(text).truncate());
                    });
                });
            });
        }
        if let Some(more) = changes.len().checked_sub(MAX_CHANGES).filter(|more| *more > 0) {
            muted_ui(ui, view.theme, format!("and {more} more, which the Terraform panel lists"));
        }
    }

    fn destroy_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let Some(board) = view.snapshot.board(self.board) else { return };
        let told = of_board(view.terraform, self.board);
        let made = told.map_or(0, |told| {
            let there = |status: DeploymentState| {
                !matches!(status, DeploymentState::Destroyed | DeploymentState::Pending)
            };
            told.statuses.iter().filter(|(_, status)| there(*status)).count()
        });
        let what = match made {
            0 => "all resources".to_owned(),
            made => format!("{} and all other resources", count_noun(made, "resource")),
        };
        ui.label(format!(
            "Terraform destroys {what} created from “{}”. Undo does not restore them; the board stays.",
            board.title
        ));
        self.alternative_ui(ui, view, "Plan destroy first", TerraformOperation::PlanDestroy);
        ui.add_space(6.0);
        let label = muted_ui(ui, view.theme, format!("Type {} to confirm", board.name));
        let edit = TextEdit::singleline(&mut self.name)
            .desired_width(f32::INFINITY)
            .margin(egui::Margin::symmetric(8, 5));
        let field = focus_stroke(ui, view.theme, |ui| ui.add(edit)).labelled_by(label.id);
        if ui.memory(|memory| memory.focused().is_none()) {
            field.request_focus();
        }
    }

    fn alternative_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        text: &str,
        operation: TerraformOperation,
    ) {
        let possible = obstacle(view, operation).is_none();
        if ui
            .add_enabled(possible, egui::Button::new(text))
            .on_hover_text(words::operation_summary(operation))
            .clicked()
        {
            self.alternative = Some(operation);
        }
    }

    fn values_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        if self.values.is_empty() {
            return;
        }
        ui.add_space(8.0);
        let text = "Sensitive values stay in memory while Draftboard runs and are never written to disk.";
        muted_ui(ui, view.theme, text);
        egui::ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
            for (place, value) in self.values.iter_mut().enumerate() {
                let label = muted_ui(ui, view.theme, &value.variable);
                let hint = if value.is_given { "Unchanged" } else { "" };
                let edit = TextEdit::singleline(&mut value.text)
                    .password(true)
                    .hint_text(hint)
                    .desired_width(f32::INFINITY)
                    .margin(egui::Margin::symmetric(8, 5));
                let field = focus_stroke(ui, view.theme, |ui| ui.add(edit)).labelled_by(label.id);
                if place == 0 && ui.memory(|memory| memory.focused().is_none()) {
                    field.request_focus();
                }
            }
        });
    }

    /// Returns the run, or what is missing; an empty text where that is obvious.
    fn verdict(&self, view: &FrameView<'_>) -> Result<StartRun, String> {
        let Some(board) = view.snapshot.board(self.board) else {
            return Err("The board was deleted.".to_owned());
        };
        if let Some(why) = obstacle(view, self.operation) {
            return Err(why);
        }
        if self.operation == TerraformOperation::Destroy && self.name != board.name.as_str() {
            let typed = !self.name.is_empty() && !board.name.as_str().starts_with(&self.name);
            return Err(if typed { "This is not the name of the board.".to_owned() } else { String::new() });
        }
        if self.values.iter().any(|value| value.text.is_empty() && !value.is_given) {
            return Err(String::new());
        }
        let typed = self.values.iter().filter(|value| !value.text.is_empty());
        let secrets = typed.map(|value| (value.variable.clone(), value.text.clone())).collect();
        Ok(StartRun {
            board: self.board,
            operation: self.operation,
            confirmed: self.operation.needs_confirmation(),
            secrets,
        })
    }
}
