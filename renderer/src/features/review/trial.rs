//! A trial plan of a proposal, on request of a person: the values that it needs, its progress and its result. It shows
//! the effect of accepting and cannot be applied.

use super::{ReviewInput, words};
use crate::{
    features::{
        review::{ReviewContext, ReviewMessage, ReviewReply},
        terraform::{rank, words as run_words},
    },
    terraform_answers::is_in_progress,
    tour::targets::{TourTarget, bring_into_view, mark_button},
    view::{FrameView, WindowAction},
    widgets::{
        disclosure_ui, focus_stroke, inset_ui, more_ui, muted_ui, primary_button, severity_mark_ui,
        small_text_ui,
    },
    wording::unix_millis,
};
use authority::Snapshot;
use canvas::{action_colour, paint_action, planned_words, theme::WorkbenchTheme};
use egui::{Rect, Response, RichText, Role, Sense, TextEdit, Ui, WidgetInfo, response::Flags, vec2};
use shared_protocol::{
    BoardId, ProposalId, ProposalSubject,
    decisions::PlanProposal,
    messages::ProblemSeverity,
    proposal::ContentHash,
    requests::CancelRun,
    terraform::{
        PlanAttribute, PlanChange, PlannedAction, TerraformOperation, TerraformRunState, TrialPlanView,
    },
    text::count_noun,
};

/// The maximum numbers of listed resources, attributes, output lines and findings.
const MAX_RESOURCES: usize = 100;
const MAX_ATTRIBUTES: usize = 8;
const MAX_LINES: usize = 200;
const MAX_FINDINGS: usize = 20;

fn form_words(planned: TrialPlanTarget) -> &'static str {
    match planned.takes_credentials {
        true => {
            "Runs terraform plan with your credentials on a copy of the board's files and state. Nothing is changed. \
             Missing providers are downloaded first."
        }
        false => "Runs terraform plan on a copy of the board's files and state. Nothing is changed.",
    }
}

/// Types of Terraform itself, which need no provider.
const BUILT_IN: [&str; 5] = [
    "terraform/core/terraform_data",
    "terraform/core/group",
    "terraform/core/variable",
    "terraform/core/local",
    "terraform/core/output",
];

/// Returns whether a plan of the board may use credentials, because a node belongs to a provider or could.
pub(super) fn takes_credentials(snapshot: &Snapshot, board: BoardId) -> bool {
    let is_local = |id: &str| BUILT_IN.contains(&id) || id.starts_with("notes/");
    snapshot.nodes_on(board).any(|node| !is_local(node.type_id.as_str()))
}

/// The question before a plan, with the values that it needs.
#[derive(Default)]
pub(super) struct TrialPlanForm {
    board: Option<BoardId>,
    values: Vec<(String, String)>,
    /// The request was sent and has no response yet.
    is_asked: bool,
}

impl TrialPlanForm {
    pub(super) fn is_for(&self, board: BoardId) -> bool {
        self.board == Some(board)
    }

    /// Main started the plan, or refused it.
    pub(super) fn finish(&mut self, has_begun: bool) {
        self.is_asked = false;
        if has_begun {
            *self = Self::default();
        }
    }

    /// Nothing runs before these variables have a value.
    pub(super) fn require_secrets(&mut self, board: BoardId, secrets: Vec<String>) {
        let values = secrets.into_iter().map(|name| (words::line(&name), String::new())).collect();
        *self = Self { board: Some(board), values, is_asked: false };
    }
}

/// The proposal and board to plan.
#[derive(Clone, Copy)]
pub(super) struct TrialPlanTarget {
    pub(super) proposal: ProposalId,
    pub(super) version: u32,
    pub(super) hash: ContentHash,
    pub(super) board: BoardId,
    pub(super) takes_credentials: bool,
}

/// Marks a button as a target of the tour and of commands. Returns its place when it got the keyboard in this frame.
fn mark_target(ui: &Ui, place: TourTarget, button: &Response) -> Option<Rect> {
    let has_keyboard = || ui.memory(|memory| memory.has_focus(button.id));
    if has_keyboard() {
        // In an unfocused window a response never reports focus, and the panel would scroll to the button for ever.
        let mut settled = button.clone();
        settled.flags.remove(Flags::ENABLED);
        mark_button(ui, place, &settled);
        return None;
    }
    mark_button(ui, place, button);
    has_keyboard().then_some(button.rect)
}

pub(super) fn request(cx: &ReviewContext<'_>, planned: TrialPlanTarget, secrets: Vec<(String, String)>) {
    let TrialPlanTarget { proposal, hash, board, .. } = planned;
    cx.request(PlanProposal { proposal, hash, board, secrets }, move |result| ReviewReply::PlanStarted {
        proposal,
        result,
    });
}

/// Returns the place of its button when it got the keyboard in this frame.
pub(super) fn trial_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    planned: TrialPlanTarget,
    typed: &mut ReviewInput,
) -> Option<Rect> {
    ui.add_space(4.0);
    let is_of =
        |trial: &&TrialPlanView| trial.proposal == planned.proposal && trial.run.board == planned.board;
    let trial = cx.view.terraform.trials.iter().rev().find(is_of);
    if let Some(trial) = trial {
        result_ui(ui, cx, planned, trial, typed);
    }
    if trial.is_some_and(|trial| is_in_progress(&trial.run)) {
        return None;
    }
    ui.add_space(4.0);
    if typed.plan.is_for(planned.board) {
        return form_ui(ui, cx, planned, &mut typed.plan, form_words(planned));
    }
    let is_other_going = cx.view.terraform.trials.iter().any(|trial| is_in_progress(&trial.run));
    let text = if trial.is_some() { "Plan again…" } else { "Plan…" };
    let button = ui.add_enabled(!is_other_going, egui::Button::new(text));
    let button = button
        .on_hover_text("Plans the accepted state with Terraform. Nothing is changed.")
        .on_disabled_hover_text("Another trial plan is running.");
    let led_to = mark_target(ui, TourTarget::Plan, &button);
    if button.clicked() {
        typed.plan = TrialPlanForm { board: Some(planned.board), ..TrialPlanForm::default() };
        bring_into_view(ui.ctx(), TourTarget::PlanNow);
    }
    led_to
}

/// The explanation of the plan and the fields for its values.
pub(super) fn form_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    planned: TrialPlanTarget,
    form: &mut TrialPlanForm,
    text: &str,
) -> Option<Rect> {
    inset_ui(ui, cx.view.theme, 8, |ui| {
        ui.add(egui::Label::new(RichText::new(text).small()).wrap());
        if !form.values.is_empty() {
            let text = "Sensitive values stay in memory while Draftboard runs and are never written to disk.";
            small_text_ui(ui, cx.view.theme.text_muted, text);
        }
        for (name, value) in &mut form.values {
            let label = muted_ui(ui, cx.view.theme, name.as_str());
            let edit = TextEdit::singleline(value).password(true).desired_width(f32::INFINITY);
            focus_stroke(ui, cx.view.theme, |ui| ui.add(edit)).labelled_by(label.id);
        }
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            let is_missing = form.values.iter().any(|(_, value)| value.is_empty());
            let button = primary_button(cx.view.theme, "Plan now");
            let plan = ui.add_enabled(!form.is_asked && !is_missing, button);
            // A command that leads to the plan leads to this button while the question is open.
            let led_to =
                mark_target(ui, TourTarget::PlanNow, &plan).or(mark_target(ui, TourTarget::Plan, &plan));
            if plan.clicked() {
                form.is_asked = true;
                let secrets = std::mem::take(&mut form.values);
                request(cx, planned, secrets);
            }
            if ui.button("Do not plan").clicked() {
                *form = TrialPlanForm::default();
            }
            led_to
        })
        .inner
    })
    .inner
}

fn result_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    planned: TrialPlanTarget,
    trial: &TrialPlanView,
    typed: &mut ReviewInput,
) {
    let theme = cx.view.theme;
    if trial.hash != planned.hash {
        let text = match trial.version == planned.version {
            true => "This plan is for other content. Plan again.".to_owned(),
            false => {
                let (of, now) = (trial.version, planned.version);
                format!("This plan is for version {of}; version {now} is shown. Plan again.")
            }
        };
        warning_ui(ui, theme, ProblemSeverity::Warning, &text);
    } else if trial.over != cx.view.snapshot.revision() && !is_in_progress(&trial.run) {
        muted_ui(ui, theme, "The workspace has changed since this plan was made.");
    }
    match trial.run.state {
        TerraformRunState::Running | TerraformRunState::Cancelling => running_trial_ui(ui, trial, cx),
        TerraformRunState::Succeeded { .. } => trial_result_ui(ui, cx, trial, typed),
        TerraformRunState::Cancelled { .. } => drop(muted_ui(ui, theme, "Plan: cancelled.")),
        TerraformRunState::Failed { .. } | TerraformRunState::Interrupted => {
            warning_ui(ui, theme, ProblemSeverity::Error, "Plan: Terraform failed");
        }
    }
    for finding in trial.findings.iter().take(MAX_FINDINGS) {
        warning_ui(ui, theme, finding.severity, &words::line(&finding.message));
        let detail = words::paragraph(finding.detail.trim());
        if !detail.is_empty() {
            small_text_ui(ui, theme.text_muted, detail);
        }
    }
    output_ui(ui, cx.view, trial, typed);
}

fn running_trial_ui(ui: &mut Ui, trial: &TrialPlanView, cx: &ReviewContext<'_>) {
    let run = &trial.run;
    ui.horizontal_wrapped(|ui| {
        let lasted = run_words::duration(unix_millis().saturating_sub(run.started));
        let text = match (run.state, run.operation) {
            (TerraformRunState::Cancelling, _) => "Plan: cancelling…".to_owned(),
            (_, TerraformOperation::Init) => format!("Plan: initializing, {lasted}"),
            _ => format!("Plan: Terraform is planning, {lasted}"),
        };
        ui.label(RichText::new(text).small());
        let cancel = ui.add_enabled(
            run.state == TerraformRunState::Running,
            egui::Button::new("Cancel the plan").small(),
        );
        mark_target(ui, TourTarget::Plan, &cancel);
        if cancel.clicked() {
            cx.act(WindowAction::request(CancelRun { run: run.id }));
        }
    });
    ui.ctx().request_repaint_after(std::time::Duration::from_secs(1));
}

fn trial_result_ui(ui: &mut Ui, cx: &ReviewContext<'_>, trial: &TrialPlanView, typed: &mut ReviewInput) {
    let Some(changes) = &trial.changes else {
        muted_ui(ui, cx.view.theme, "Plan: the result could not be read.");
        return;
    };
    if changes.is_empty() {
        muted_ui(ui, cx.view.theme, "Plan: no changes to real resources.");
        return;
    }
    let counts = trial.run.summary.unwrap_or_default();
    ui.label(RichText::new(format!("Plan: {}", run_words::describe_planned(counts))).small());
    let mut sorted: Vec<&PlanChange> = changes.iter().collect();
    sorted.sort_by_key(|change| (rank(change.action), change.address.as_str()));
    for change in sorted.iter().take(MAX_RESOURCES) {
        change_ui(ui, cx, trial.run.board, change, typed);
    }
    let more = trial.more_changes as usize + sorted.len().saturating_sub(MAX_RESOURCES);
    if more > 0 {
        muted_ui(ui, cx.view.theme, format!("and {}", count_noun(more, "more resource")));
    }
}

pub(super) fn change_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    board: BoardId,
    change: &PlanChange,
    typed: &mut ReviewInput,
) {
    let theme = cx.view.theme;
    let address = words::line(&change.address);
    ui.add_space(4.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (sign, _) = ui.allocate_exact_size(vec2(14.0, 16.0), Sense::hover());
        paint_action(ui.painter(), sign.center(), 6.0, theme, change.action);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            let text = RichText::new(&address).monospace().size(small_size(ui));
            let label = ui.add(egui::Label::new(text).truncate().sense(Sense::click()));
            let planned = planned_words(change.action);
            label.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{address} {planned}")));
            if let Some(node) = change.node.filter(|_| label.clicked()) {
                cx.send(ReviewMessage::Jump(ProposalSubject::Node(node)));
            }
            let why = match &change.reason {
                Some(reason) => format!("{planned}, because {}", words::line(reason)),
                None => planned.to_owned(),
            };
            small_text_ui(ui, action_colour(theme, change.action), why);
            let changes = matches!(change.action, PlannedAction::Update | PlannedAction::Replace);
            if changes && !change.attributes.is_empty() {
                attributes_ui(ui, theme, board, &address, &change.attributes, typed);
            }
        });
    });
}

fn attributes_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    board: BoardId,
    address: &str,
    attributes: &[PlanAttribute],
    typed: &mut ReviewInput,
) {
    let key = (board, format!("plan {address}"));
    let mut open = typed.toggled_files.contains(&key);
    let title = count_noun(attributes.len(), "attribute");
    disclosure_ui(ui, theme, &title, None, &mut open);
    match open {
        true => typed.toggled_files.insert(key),
        false => typed.toggled_files.remove(&key),
    };
    if !open {
        return;
    }
    for attribute in attributes.iter().take(MAX_ATTRIBUTES) {
        let shown =
            |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".to_owned(), words::line);
        let forces = if attribute.forces_replacement { ", forces replacement" } else { "" };
        let (path, before) = (words::line(&attribute.path), shown(&attribute.before));
        let text = format!("{path}: {before} -> {}{forces}", shown(&attribute.after));
        small_text_ui(ui, theme.text_muted, text);
    }
    more_ui(ui, theme, attributes.len(), MAX_ATTRIBUTES);
}

fn output_ui(ui: &mut Ui, view: &FrameView<'_>, trial: &TrialPlanView, typed: &mut ReviewInput) {
    let Some(output) =
        view.terraform_answers.lines.lines_of(trial.run.id).filter(|output| !output.lines.is_empty())
    else {
        return;
    };
    if !typed.section_ui(ui, view.theme, "Terraform output", Some(output.lines.len())) {
        return;
    }
    inset_ui(ui, view.theme, 8, |ui| {
        let area =
            egui::ScrollArea::vertical().id_salt("plan output").max_height(160.0).stick_to_bottom(true);
        area.auto_shrink([false, true]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let size = small_size(ui);
            let skipped = output.lines.len().saturating_sub(MAX_LINES);
            for line in output.lines.iter().skip(skipped) {
                let colour = if line.error { view.theme.danger } else { view.theme.text_muted };
                let text = RichText::new(words::line(&line.text)).monospace().size(size).color(colour);
                ui.add(egui::Label::new(text).wrap());
            }
        });
    });
}

fn small_size(ui: &Ui) -> f32 {
    egui::TextStyle::Small.resolve(ui.style()).size
}

/// States which changes the lines below are about, when only some are ticked.
pub(super) fn scope_ui(ui: &mut Ui, theme: &WorkbenchTheme, scope: Option<String>) {
    let Some(scope) = scope else { return };
    ui.horizontal_top(|ui| {
        severity_mark_ui(ui, theme, vec2(14.0, 16.0), ProblemSeverity::Warning);
        small_text_ui(ui, theme.warning, scope);
    });
}

pub(super) fn warning_ui(ui: &mut Ui, theme: &WorkbenchTheme, severity: ProblemSeverity, text: &str) {
    ui.horizontal_top(|ui| {
        severity_mark_ui(ui, theme, vec2(14.0, 16.0), severity);
        ui.add(egui::Label::new(RichText::new(text).small()).wrap());
    });
}
