//! The buttons that start runs. A disabled button states the reason.

use super::TerraformTab;
use crate::{
    features::terraform::{TerraformContext, TerraformMessage, obstacle::obstacle, words},
    view::FrameView,
    widgets::toolbar_gap_ui,
};
use egui::{Button, RichText, Ui, vec2};
use shared_protocol::terraform::{PlanState, TerraformOperation};

pub(super) fn toolbar_ui(ui: &mut Ui, cx: &TerraformContext<'_>, shows: &mut TerraformTab) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        ui.spacing_mut().button_padding = vec2(8.0, 2.0);
        ui.spacing_mut().interact_size.y = 24.0;
        ui.horizontal_wrapped(|ui| {
            let changes = match cx.view.deployed().map(|told| told.plan).unwrap_or_default() {
                PlanState::None => "Changes".to_owned(),
                PlanState::Ready(counts) | PlanState::Outdated(counts) => {
                    format!("Changes ({})", counts.add + counts.change + counts.remove)
                }
            };
            ui.selectable_value(shows, TerraformTab::Runs, "Runs");
            ui.selectable_value(shows, TerraformTab::Changes, changes);
            toolbar_gap_ui(ui, cx.view.theme, 9.0);
            for operation in
                [TerraformOperation::Init, TerraformOperation::Validate, TerraformOperation::Plan]
            {
                run_button_ui(ui, cx, operation);
            }
            let plan = cx.view.deployed().map(|told| told.plan).unwrap_or_default();
            if plan != PlanState::None {
                run_button_ui(ui, cx, TerraformOperation::ApplyPlan);
            }
            for operation in [TerraformOperation::Apply, TerraformOperation::Drift] {
                run_button_ui(ui, cx, operation);
            }
            toolbar_gap_ui(ui, cx.view.theme, 9.0);
            run_button_ui(ui, cx, TerraformOperation::Destroy);
            program_ui(ui, cx.view);
        });
    });
}

pub(super) fn run_button_ui(ui: &mut Ui, cx: &TerraformContext<'_>, operation: TerraformOperation) {
    let theme = cx.view.theme;
    let why = obstacle(cx.view, operation);
    let name = words::operation(operation);
    let text = if operation.needs_confirmation() { format!("{name}…") } else { name.to_owned() };
    let text = match operation {
        _ if why.is_some() => RichText::new(text),
        TerraformOperation::ApplyPlan => RichText::new(text).color(theme.accent_text),
        TerraformOperation::Destroy => RichText::new(text).color(theme.danger),
        _ => RichText::new(text),
    };
    let button = Button::new(text);
    let button = match operation {
        TerraformOperation::ApplyPlan if why.is_none() => button.fill(theme.accent),
        _ => button,
    };
    let response = ui.add_enabled(why.is_none(), button);
    let response = response.on_hover_text(words::operation_summary(operation));
    if let Some(why) = why {
        response.on_disabled_hover_text(why);
    } else if response.clicked() {
        cx.send(TerraformMessage::Run(operation));
    }
}

/// The program that runs, and the legend of the signs on the board.
fn program_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let (theme, wide) = (view.theme, ui.available_width());
    let signs = RichText::new("Legend").small().color(theme.text_muted);
    let program = match &view.terraform.program {
        Some(Ok(program)) if wide > 200.0 => Some(RichText::new(program).small().color(theme.text_subtle)),
        _ => None,
    };
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let signs = ui.add(Button::new(signs).frame_when_inactive(false));
        signs.on_hover_ui(|ui| canvas::legend_ui(ui, theme));
        if let Some(program) = program {
            ui.add(egui::Label::new(program).truncate());
        }
    });
}
