//! The changes of the saved plan by resource and attribute, destructive ones first.

use super::refused_ui;
use crate::{
    features::terraform::{TerraformContext, words},
    view::{FrameView, WindowAction},
    widgets::{
        ROW_HEIGHT, empty_state_ui, list_rows_ui, muted_ui, paint_disclosure, paint_line, row_background,
        severity_mark_ui, small_font,
    },
};
use canvas::{action_colour, paint_action, planned_words};
use egui::{Align2, FontId, Rect, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};
use shared_protocol::{
    BoardId, ElementId,
    messages::ProblemSeverity,
    terraform::{PlanAttribute, PlanChange, PlanView, PlannedAction},
};
use std::collections::BTreeSet;

const INDENT: f32 = 44.0;

#[derive(Default)]
pub(super) struct PlanChangeList {
    /// Resources whose attributes a person unfolded or folded.
    toggled_resources: BTreeSet<String>,
    rows: Vec<(usize, Option<usize>)>,
    /// The version of the plan that the rows are built from.
    made_for: Option<u64>,
}

/// Irreversible actions come first.
pub(crate) fn rank(action: PlannedAction) -> u8 {
    match action {
        PlannedAction::Delete => 0,
        PlannedAction::Replace => 1,
        PlannedAction::Update => 2,
        PlannedAction::Create => 3,
        PlannedAction::Read => 4,
    }
}

impl PlanChangeList {
    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &TerraformContext<'_>, board: BoardId) {
        let Some(plan) = cx.view.terraform_answers.plan(board) else {
            match cx.view.terraform_answers.plan.refused.as_deref() {
                Some(why) => refused_ui(ui, cx.view, why),
                None => {
                    let text = "Run Plan to see the changes that an apply would make.";
                    empty_state_ui(ui, cx.view.theme, "No saved plan", text);
                }
            }
            return;
        };
        ui.horizontal_wrapped(|ui| {
            if plan.outdated {
                severity_mark_ui(ui, cx.view.theme, vec2(14.0, 22.0), ProblemSeverity::Warning);
                ui.label("The board has changed since this plan was made, so it cannot be applied.");
            }
            if !plan.changes.is_empty() {
                muted_ui(ui, cx.view.theme, words::describe_planned(plan.counts));
            }
        });
        if plan.changes.is_empty() {
            return empty_state_ui(ui, cx.view.theme, "No changes", "The real resources match the board.");
        }
        self.update(plan, cx.view.terraform_answers.plan.version);
        let mut turn = None;
        list_rows_ui(ui, ROW_HEIGHT, self.rows.len(), |ui, range| {
            for (change, attribute) in self.rows.get(range).unwrap_or_default() {
                let Some(change) = plan.changes.get(*change) else { continue };
                match attribute.and_then(|place| change.attributes.get(place)) {
                    Some(attribute) => attribute_ui(ui, cx.view, attribute),
                    None => {
                        if change_ui(ui, cx, change, self.is_open(change)) {
                            turn = Some(change.address.clone());
                        }
                    }
                }
            }
        });
        if let Some(address) = turn {
            if !self.toggled_resources.remove(&address) {
                self.toggled_resources.insert(address);
            }
            self.made_for = None;
        }
    }

    /// Attributes of changed resources are unfolded at first.
    fn is_open(&self, change: &PlanChange) -> bool {
        let at_first = matches!(change.action, PlannedAction::Update | PlannedAction::Replace);
        at_first != self.toggled_resources.contains(&change.address)
    }

    /// Built once per plan.
    fn update(&mut self, plan: &PlanView, version: u64) {
        if self.made_for == Some(version) {
            return;
        }
        self.made_for = Some(version);
        let mut order: Vec<usize> = (0..plan.changes.len()).collect();
        order.sort_by_key(|&place| {
            plan.changes.get(place).map(|change| (rank(change.action), change.address.as_str()))
        });
        let mut rows = Vec::new();
        for place in order {
            rows.push((place, None));
            let Some(change) = plan.changes.get(place).filter(|change| self.is_open(change)) else {
                continue;
            };
            rows.extend((0..change.attributes.len()).map(|attribute| (place, Some(attribute))));
        }
        self.rows = rows;
    }
}

fn mono(ui: &Ui) -> FontId {
    TextStyle::Monospace.resolve(ui.style())
}

/// Returns whether its attributes should be folded or unfolded.
fn change_ui(ui: &mut Ui, cx: &TerraformContext<'_>, change: &PlanChange, open: bool) -> bool {
    let theme = cx.view.theme;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::click());
    let node = change.node.and_then(|id| cx.view.snapshot.node(id));
    let words = planned_words(change.action);
    let name = format!("{} {words}", change.address);
    let selected = change.node.is_some_and(|id| cx.view.selection.contains(&ElementId::Node(id)));
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, &name));
    row_background(ui, theme, rect, &response, selected);
    let mut turned = false;
    if !change.attributes.is_empty() {
        let arrow = Rect::from_min_size(rect.min, vec2(18.0, rect.height()));
        let fold = ui.interact(arrow, response.id.with("fold"), Sense::click());
        let word = if open { "Hide" } else { "Show" };
        fold.widget_info(|| {
            WidgetInfo::labeled(
                Role::DisclosureTriangle,
                true,
                format!("{word} attributes of {}", change.address),
            )
        });
        paint_disclosure(ui.painter(), arrow, open, theme.text_subtle);
        turned = fold.clicked();
    }
    paint_action(ui.painter(), pos2(rect.left() + 29.0, rect.center().y), 6.5, theme, change.action);
    let room = rect.with_min_x(rect.left() + INDENT).with_max_x(rect.right() - 6.0);
    let why =
        change.reason.as_deref().map_or_else(|| words.to_owned(), |reason| format!("{words} · {reason}"));
    let half = room.with_min_x(room.left() + room.width() * 0.5);
    let colour = action_colour(theme, change.action);
    let width = paint_line(ui, half, Align2::RIGHT_CENTER, &why, small_font(ui), colour);
    let room = room.with_max_x(room.right() - width - 12.0);
    let width = paint_line(ui, room, Align2::LEFT_CENTER, &change.address, mono(ui), theme.text);
    let room = room.with_min_x(room.left() + width + 12.0);
    let label = node.map_or("not on the board", |node| node.label.as_str());
    paint_line(ui, room, Align2::LEFT_CENTER, label, small_font(ui), theme.text_muted);
    if response.clicked()
        && let Some(node) = change.node
    {
        cx.act(WindowAction::Reveal(ElementId::Node(node)));
    }
    turned
}

/// `instance_type   t3.small > t3.large   forces replacement`.
fn attribute_ui(ui: &mut Ui, view: &FrameView<'_>, attribute: &PlanAttribute) {
    let theme = view.theme;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
    let (before, after) = (attribute.before.as_deref(), attribute.after.as_deref());
    let mut name = match (before, after) {
        (Some(before), Some(after)) => format!("{} from {before} to {after}", attribute.path),
        (None, Some(after)) => format!("{} becomes {after}", attribute.path),
        (Some(before), None) => format!("{} removed, was {before}", attribute.path),
        (None, None) => attribute.path.clone(),
    };
    if attribute.forces_replacement {
        name.push_str(", forces replacement");
    }
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &name));
    let whole = rect.with_min_x(rect.left() + INDENT).with_max_x(rect.right() - 6.0);
    let mut room = whole;
    if attribute.forces_replacement {
        let width =
            paint_line(ui, room, Align2::RIGHT_CENTER, "forces replacement", small_font(ui), theme.warning);
        room = room.with_max_x(room.right() - width - 12.0);
    }
    let font = mono(ui);
    let path = whole.with_max_x(whole.left() + whole.width() * 0.34);
    let used = paint_line(ui, path, Align2::LEFT_CENTER, &attribute.path, font.clone(), theme.text_muted);
    let mut x = (path.left() + used + 16.0).max(whole.left() + whole.width() * 0.22);
    if let Some(before) = before {
        let most = if after.is_some() { (room.right() - x) / 2.0 - 24.0 } else { room.right() - x };
        let place = room.with_min_x(x).with_max_x(x + most);
        let width = paint_line(ui, place, Align2::LEFT_CENTER, before, font.clone(), theme.text_muted);
        if after.is_none() {
            let line = egui::Stroke::new(1.0, theme.danger);
            ui.painter().hline(x..=x + width, rect.center().y, line);
        }
        x += width + 8.0;
    }
    if let Some(after) = after {
        if before.is_some() {
            paint_arrow(ui, pos2(x, rect.center().y), theme.text_subtle);
            x += 22.0;
        }
        paint_line(ui, room.with_min_x(x), Align2::LEFT_CENTER, after, font, theme.text);
    }
    response.on_hover_text(name);
}

fn paint_arrow(ui: &Ui, left: egui::Pos2, colour: egui::Color32) {
    let (line, tip) = (egui::Stroke::new(1.2, colour), left + vec2(13.0, 0.0));
    ui.painter().line_segment([left, tip], line);
    for up in [-3.5, 3.5] {
        ui.painter().line_segment([tip, tip + vec2(-4.0, up)], line);
    }
}
