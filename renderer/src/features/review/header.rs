//! The header of a proposal: risks, counts, the proposer and its reasons.

use super::{ProposalReview, words};
use crate::{
    view::FrameView,
    widgets::{inset_ui, muted_ui, small_font, small_text_ui},
    wording::{ago, unix_millis},
};
use canvas::{ProposedChangeSign, paint_sign, theme::WorkbenchTheme};
use egui::{Color32, CornerRadius, Margin, RichText, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};
use shared_protocol::{
    proposal::{ElementChangeKind, Risk},
    review::ProposalBrief,
};

/// The height of the agent's reasons before they scroll.
const RATIONALE_HEIGHT: f32 = 132.0;

fn risk_colour(theme: &WorkbenchTheme, risk: Risk) -> Color32 {
    match risk {
        Risk::Destructive => theme.danger,
        Risk::Security | Risk::CostUp => theme.warning,
        Risk::Wide => theme.accent,
        Risk::Cosmetic => theme.text_subtle,
    }
}

/// Risk labels, most severe first. Draftboard computes them; agents cannot set them.
pub(super) fn chips_ui(ui: &mut Ui, theme: &WorkbenchTheme, risks: &[Risk]) {
    for risk in risks {
        let colour = risk_colour(theme, *risk);
        let galley = ui.painter().layout_no_wrap(risk.label().to_owned(), small_font(ui), colour);
        let (rect, chip) = ui.allocate_exact_size(galley.size() + vec2(14.0, 4.0), Sense::hover());
        chip.widget_info(|| WidgetInfo::labeled(Role::Label, true, risk.label()));
        let line = Stroke::new(1.0, colour);
        ui.painter().rect_stroke(rect, rect.height() / 2.0, line, StrokeKind::Inside);
        ui.painter().galley(rect.min + vec2(7.0, 2.0), galley, colour);
        chip.on_hover_text(words::risk_words(*risk));
    }
}

pub(super) fn sign_ui(ui: &mut Ui, theme: &WorkbenchTheme, sign: ProposedChangeSign, radius: f32) {
    let (rect, _) = ui.allocate_exact_size(vec2(radius * 2.0 + 3.0, radius * 2.0 + 3.0), Sense::hover());
    paint_sign(ui.painter(), theme, rect.center(), radius, sign);
}

/// The number of changes of each kind, with its sign.
pub(super) fn counts_ui(ui: &mut Ui, theme: &WorkbenchTheme, brief: &ProposalBrief) {
    let name = words::counts(&brief.counts);
    ui.spacing_mut().item_spacing.x = 3.0;
    let response = ui
        .horizontal(|ui| {
            let counts = &brief.counts;
            let kinds = [
                (counts.removed, ElementChangeKind::Removed),
                (counts.added, ElementChangeKind::Added),
                (counts.changed, ElementChangeKind::Changed),
                (counts.placed, ElementChangeKind::Placed),
            ];
            for (count, kind) in kinds.into_iter().filter(|(count, _)| *count > 0) {
                sign_ui(ui, theme, ProposedChangeSign::from_kind(kind), 5.5);
                ui.label(RichText::new(count.to_string()).small().color(theme.text_muted));
                ui.add_space(3.0);
            }
            if let Some(act) = &brief.act {
                ui.label(RichText::new(words::action_label(act)).small().color(theme.text_muted));
            }
        })
        .response;
    response.on_hover_text(name);
}

pub(super) fn header_ui(ui: &mut Ui, view: &FrameView<'_>, opened: &ProposalReview) {
    let theme = view.theme;
    let brief = &opened.proposal().brief;
    let now = unix_millis();
    if !opened.is_over() {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            chips_ui(ui, theme, &brief.risks);
        });
        for removal in opened.removals(view.snapshot) {
            small_text_ui(ui, theme.danger, removal);
        }
    }
    ui.add(egui::Label::new(RichText::new(words::title(brief)).heading()).wrap());
    let number = format!("Proposal {}, version {}", brief.number, brief.version);
    muted_ui(ui, theme, format!("{number} · {}", words::proposer_label(&brief.proposer)));
    if opened.is_over() {
        muted_ui(ui, theme, ago(now, brief.created));
        ui.add(egui::Label::new(words::outcome(brief)).wrap());
        return;
    }
    muted_ui(ui, theme, format!("{} · {}", ago(now, brief.created), words::expiry(now, brief.expires)));
    if brief.is_partly_accepted() {
        muted_ui(ui, theme, "Partly accepted: the remaining changes are shown");
    }
    counts_ui(ui, theme, brief);
}

/// The agent's reasons as plain text in a separate block.
pub(super) fn rationale_ui(ui: &mut Ui, theme: &WorkbenchTheme, opened: &ProposalReview) {
    let rationale = &opened.proposal().rationale;
    ui.add_space(4.0);
    if rationale.trim().is_empty() {
        muted_ui(ui, theme, "The agent gave no reason.");
        return;
    }
    muted_ui(ui, theme, "The agent's reasons (unverified)");
    let margin = Margin { left: 12, right: 8, top: 6, bottom: 6 };
    let quoted = inset_ui(ui, theme, margin, |ui| {
        egui::ScrollArea::vertical()
            .id_salt("rationale")
            .max_height(RATIONALE_HEIGHT)
            .auto_shrink([false, true])
            .show(ui, |ui| {
                let text = RichText::new(rationale).italics().color(theme.text_muted);
                ui.add(egui::Label::new(text).wrap());
            });
    });
    let rect = quoted.response.rect;
    ui.painter().rect_filled(rect.with_max_x(rect.left() + 3.0), CornerRadius::same(1), theme.border_strong);
}
