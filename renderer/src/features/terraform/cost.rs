//! The cost in the status bar, with its breakdown in a popover.

use super::money;
use crate::{
    features::terraform::TerraformContext,
    terraform_answers::TerraformReply,
    view::{FrameView, WindowAction},
    widgets::{body_font, muted_ui, paint_line, small_font, small_text_ui},
};
use egui::{Align2, Button, Popup, PopupCloseBehavior, Rect, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use shared_protocol::{
    ElementId,
    requests::{EstimateCost, ListMissingPrices},
    terraform::{CostBasis, CostPart, CostView, NodeCost},
};

const WIDTH: f32 = 380.0;
const HEIGHT: f32 = 300.0;
const ROW: f32 = 22.0;

/// Shows nothing for a board without resources that could cost anything.
pub(crate) fn cost_ui(ui: &mut Ui, cx: &TerraformContext<'_>) {
    let Some(cost) = cx.view.infrastructure().and_then(|board| cx.view.terraform_answers.cost.get(board))
    else {
        return;
    };
    let Some(text) = money::short_cost(cost) else { return };
    ui.label(RichText::new("·").small().color(cx.view.theme.text_subtle));
    let words = RichText::new(&text).small().color(cx.view.theme.text_muted);
    let response = ui.add(Button::new(words).frame_when_inactive(false));
    let response = response.on_hover_text("Estimated monthly cost of this board");
    Popup::from_toggle_button_response(&response)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| popover_ui(ui, cx, cost));
}

fn popover_ui(ui: &mut Ui, cx: &TerraformContext<'_>, cost: &CostView) {
    let theme = cx.view.theme;
    ui.set_width(WIDTH);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Monthly cost").strong());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let sum = match cost.monthly.filter(|_| cost.priced > 0) {
                Some(monthly) => money::amount(cost.currency.as_deref(), monthly),
                None => "unknown".to_owned(),
            };
            ui.label(RichText::new(sum).strong());
        });
    });
    muted_ui(ui, theme, count_summary(cost));
    ui.separator();
    let rows = rows(cx.view, cost);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        egui::ScrollArea::vertical().max_height(HEIGHT).auto_shrink([false, true]).show_rows(
            ui,
            ROW,
            rows.len(),
            |ui, range| {
                for row in rows.get(range).unwrap_or_default() {
                    row_ui(ui, cx, cost, row);
                }
            },
        );
    });
    ui.separator();
    let text = "An estimate from the price books in the folder prices. Each price names its source.";
    small_text_ui(ui, theme.text_muted, text);
    ui.horizontal(|ui| {
        let board = cost.board;
        if cost.unknown > 0 {
            let copy = ui.button("Copy missing prices");
            if copy.on_hover_text("Copies a price book template to fill in").clicked() {
                cx.request(ListMissingPrices { board }, TerraformReply::Prices);
            }
        }
        if ui.button("Estimate again").on_hover_text("Reads the price books again").clicked() {
            cx.request(EstimateCost { board }, TerraformReply::Cost);
        }
    });
}

/// `4 priced, 1 free, 2 unknown`.
fn count_summary(cost: &CostView) -> String {
    let parts = [
        (cost.priced, CostBasis::Priced),
        (cost.free, CostBasis::Free),
        (cost.usage_based, CostBasis::UsageBased),
        (cost.unknown, CostBasis::Unknown),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, basis)| match basis {
            CostBasis::UsageBased if *count > 1 => format!("{count} usage-based"),
            _ => format!("{count} {}", money::basis_word(*basis)),
        })
        .collect();
    parts.join(", ")
}

enum CostRow<'a> {
    Node(&'a NodeCost, &'a str),
    Part(&'a CostPart),
}

/// Most expensive first, then usage-based, unpriced and free resources.
fn rows<'a>(view: &FrameView<'a>, cost: &'a CostView) -> Vec<CostRow<'a>> {
    let mut nodes: Vec<(&NodeCost, &str)> = cost
        .nodes
        .iter()
        .filter_map(|node| Some((node, view.snapshot.node(node.node)?.label.as_str())))
        .collect();
    let rank = |node: &NodeCost| match node.basis {
        CostBasis::Priced => 0,
        CostBasis::UsageBased => 1,
        CostBasis::Unknown => 2,
        CostBasis::Free => 3,
    };
    nodes.sort_by(|(a, a_label), (b, b_label)| {
        let dearer = b.monthly.unwrap_or(0.0).total_cmp(&a.monthly.unwrap_or(0.0));
        rank(a).cmp(&rank(b)).then(dearer).then_with(|| a_label.cmp(b_label))
    });
    let mut rows = Vec::new();
    for (node, label) in nodes {
        rows.push(CostRow::Node(node, label));
        rows.extend(node.components.iter().map(CostRow::Part));
    }
    rows
}

/// An amount, or the reason that there is none.
pub(crate) fn amount_or_word(currency: Option<&str>, monthly: Option<f64>, basis: CostBasis) -> String {
    match (basis, monthly) {
        (CostBasis::Priced | CostBasis::UsageBased, Some(monthly)) => money::amount(currency, monthly),
        _ => money::basis_word(basis).to_owned(),
    }
}

fn row_ui(ui: &mut Ui, cx: &TerraformContext<'_>, cost: &CostView, row: &CostRow<'_>) {
    let theme = cx.view.theme;
    let currency = cost.currency.as_deref();
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let (left, right) = halves(rect.shrink2(vec2(4.0, 0.0)));
    match row {
        CostRow::Node(node, label) => {
            let sum = amount_or_word(currency, node.monthly, node.basis);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{label} costs {sum}")));
            if response.hovered() {
                ui.painter().rect_filled(rect, 4, theme.hover);
            }
            crate::widgets::focus_ring(ui, theme, rect, &response);
            paint_line(ui, left, Align2::LEFT_CENTER, label, body_font(ui), theme.text);
            paint_line(ui, right, Align2::RIGHT_CENTER, &sum, body_font(ui), theme.text);
            if response.clicked() {
                cx.act(WindowAction::Reveal(ElementId::Node(node.node)));
            }
        }
        CostRow::Part(part) => {
            let sum = amount_or_word(currency, part.monthly, part.basis);
            let from = part.source.as_deref().map_or_else(String::new, |source| format!(" · {source}"));
            let text = format!("{}{from}", part.label);
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{text}, {sum}")));
            let left = left.with_min_x(left.left() + 14.0);
            paint_line(ui, left, Align2::LEFT_CENTER, &text, small_font(ui), theme.text_muted);
            paint_line(ui, right, Align2::RIGHT_CENTER, &sum, small_font(ui), theme.text_muted);
            if part.source.is_some() {
                response.on_hover_text(text);
            }
        }
    }
}

fn halves(rect: Rect) -> (Rect, Rect) {
    let middle = rect.left() + rect.width() * 0.72;
    (rect.with_max_x(middle - 6.0), rect.with_min_x(middle))
}
