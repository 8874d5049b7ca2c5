//! The coverage page: for each relation, a bar with the share of referenced targets, and the unreferenced targets.

use super::{
    entity::section_ui,
    entity_look::type_look,
    schema::{humanise, phrase},
    values::entity_chip_ui,
};
use crate::{
    view::FrameView,
    widgets::{body_font, more_ui, muted_ui, paint_icon, paint_line, small_font},
};
use canvas::theme::WorkbenchTheme;
use egui::{Align2, CornerRadius, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use shared_protocol::bundle::{EntityRef, RelationCoverageView};
use shared_protocol::text::count_noun;
use std::collections::BTreeSet;

const ROW_HEIGHT: f32 = 30.0;

#[derive(Debug, Default)]
pub(super) struct CoveragePage {
    /// Relations with their uncovered targets expanded.
    open: BTreeSet<String>,
    only_gaps: bool,
}

impl CoveragePage {
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        bundle: &str,
        all: &[RelationCoverageView],
    ) {
        let theme = view.theme;
        ui.add_space(16.0);
        ui.label(RichText::new("Coverage").size(22.0).color(theme.text));
        muted_ui(ui, theme, "For each relation, how many of its possible targets are referenced.");
        if all.is_empty() {
            ui.add_space(12.0);
            muted_ui(ui, theme, "The bundle's types define no relations.");
            return;
        }
        let whole = all.iter().filter(|each| each.covered == each.total).count();
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            ui.label(format!("{whole} of {} fully covered", count_noun(all.len(), "relation")));
            ui.add_space(12.0);
            ui.checkbox(&mut self.only_gaps, "Only relations with gaps");
        });
        section_ui(ui, theme, "Relations");
        let only_gaps = self.only_gaps;
        for each in all.iter().filter(|each| !only_gaps || each.covered < each.total) {
            self.relation_ui(ui, view, bundle, each);
        }
        ui.add_space(32.0);
    }

    fn relation_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        bundle: &str,
        coverage: &RelationCoverageView,
    ) {
        let theme = view.theme;
        let field = coverage.relation.rsplit(':').next().unwrap_or_default();
        let percent = (coverage.covered * 100).checked_div(coverage.total).unwrap_or(100);
        let label = format!("{} to {}", humanise(&coverage.from), phrase(&coverage.to));
        let name = format!("{label}, {}: {} of {} covered", phrase(field), coverage.covered, coverage.total);
        let has_gaps = coverage.covered < coverage.total;
        let open = self.open.contains(&coverage.relation);
        let sense = if has_gaps { Sense::click() } else { Sense::hover() };
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), sense);
        response.widget_info(|| WidgetInfo::selected(Role::Button, has_gaps, open, &name));
        if ui.is_rect_visible(rect) {
            if response.hovered() && has_gaps {
                ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
            }
            crate::widgets::focus_ring(ui, theme, rect, &response);
            paint_bar(ui, theme, rect.shrink2(vec2(6.0, 0.0)), coverage, (&label, field, percent), open);
        }
        if response.clicked() && !self.open.remove(&coverage.relation) {
            self.open.insert(coverage.relation.clone());
        }
        response.on_hover_text(&coverage.relation);
        if open && has_gaps {
            self.gaps_ui(ui, view, bundle, coverage);
        }
    }

    fn gaps_ui(&self, ui: &mut Ui, view: &FrameView<'_>, bundle: &str, coverage: &RelationCoverageView) {
        let theme = view.theme;
        let missing = (coverage.total - coverage.covered) as usize;
        ui.push_id(&coverage.relation, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                ui.add_space(20.0);
                muted_ui(ui, theme, "Not referenced:");
                for id in &coverage.uncovered {
                    let entity = EntityRef {
                        bundle: bundle.to_owned(),
                        entity_type: coverage.to.clone(),
                        id: id.clone(),
                    };
                    entity_chip_ui(ui, view, &entity, None);
                }
                more_ui(ui, theme, missing, coverage.uncovered.len());
            });
        });
        ui.add_space(8.0);
    }
}

/// Paints the label, a bar and the numbers. A narrow window has no bar.
fn paint_bar(
    ui: &Ui,
    theme: &WorkbenchTheme,
    rect: Rect,
    coverage: &RelationCoverageView,
    (label, field, percent): (&str, &str, u64),
    open: bool,
) {
    if coverage.covered < coverage.total {
        let arrow = Rect::from_min_size(rect.min, vec2(12.0, rect.height()));
        crate::widgets::paint_disclosure(ui.painter(), arrow, open, theme.text_subtle);
    }
    let icon = Rect::from_center_size(pos2(rect.left() + 24.0, rect.center().y), Vec2::splat(15.0));
    let (sign, accent) = type_look(&coverage.to);
    paint_icon(ui.painter(), sign, icon, theme.accent(accent));
    let numbers = rect.with_min_x(rect.right() - 116.0);
    let text = format!("{} of {}  ·  {percent} %", coverage.covered, coverage.total);
    paint_line(ui, numbers, Align2::RIGHT_CENTER, &text, small_font(ui), theme.text);
    let labels = rect.with_min_x(icon.right() + 8.0).with_max_x(rect.left() + rect.width() * 0.52);
    let width = paint_line(ui, labels, Align2::LEFT_CENTER, label, body_font(ui), theme.text);
    let rest = labels.with_min_x(labels.left() + width + 8.0);
    paint_line(ui, rest, Align2::LEFT_CENTER, &phrase(field), small_font(ui), theme.text_subtle);
    let track = Rect::from_min_max(
        pos2(labels.right() + 10.0, rect.center().y - 5.0),
        pos2(numbers.left() - 10.0, rect.center().y + 5.0),
    );
    if track.width() < 24.0 {
        return;
    }
    let corners = CornerRadius::same(5);
    ui.painter().rect_filled(track, corners, theme.pressed);
    let share = coverage.covered as f32 / (coverage.total.max(1)) as f32;
    let share = if coverage.total == 0 { 1.0 } else { share };
    let color = match percent {
        100 => theme.success,
        50.. => theme.accent,
        _ => theme.warning,
    };
    if share > 0.0 {
        let filled = track.with_max_x(track.left() + (track.width() * share).max(10.0));
        ui.painter().rect_filled(filled, corners, color);
    }
    ui.painter().rect_stroke(
        track,
        corners,
        egui::Stroke::new(1.0, theme.border_strong),
        egui::StrokeKind::Inside,
    );
}
