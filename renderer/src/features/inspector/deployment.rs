//! The deployment status and cost of a node, and the findings of runs and files about it.

use super::InspectorFeature;
use crate::{
    commands::CommandId,
    features::{
        inspector::InspectorContext,
        terraform::{
            amount_or_word,
            findings::{self, BoardFinding},
            money,
        },
    },
    view::FrameView,
    widgets::{disclosure_ui, muted_ui, severity_mark_ui, small_text_ui},
};
use canvas::{paint_action, paint_deployment, paint_drift, planned_words};
use egui::{Label, Painter, Pos2, RichText, Sense, Ui, Vec2, vec2};
use shared_protocol::text::capitalize;
use shared_protocol::{
    NodeId, PropKey,
    terraform::{CostBasis, NodeCost},
};

const TITLE: &str = "Deployment and cost";

impl InspectorFeature {
    pub(super) fn deployment_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>, node: NodeId) {
        let Some(board) = cx.view.infrastructure() else { return };
        let cost = cx.view.terraform_answers.cost.get(board);
        let own = cost.and_then(|cost| cost.nodes.iter().find(|of| of.node == node));
        let told = cx.view.deployed();
        let state = told.and_then(|told| told.statuses.iter().find(|(of, _)| *of == node));
        let planned = told.and_then(|told| told.planned.iter().find(|(of, _)| *of == node));
        let drifted = told.is_some_and(|told| told.drifted.iter().any(|(of, _)| *of == node));
        if own.is_none() && state.is_none() && planned.is_none() && !drifted {
            return;
        }
        ui.add_space(4.0);
        ui.separator();
        let mut open = !self.folded.contains(TITLE);
        disclosure_ui(ui, cx.view.theme, TITLE, None, &mut open);
        if !open {
            self.folded.insert(TITLE.to_owned());
            return;
        }
        self.folded.remove(TITLE);
        ui.spacing_mut().item_spacing.y = 3.0;
        let theme = cx.view.theme;
        if let Some((_, state)) = state {
            let paint = |painter: &Painter, at| paint_deployment(painter, at, 6.5, theme, *state, 0.0);
            sign_ui(ui, cx.view, &capitalize(state.as_str()), paint);
        }
        if let Some((_, action)) = planned {
            ui.horizontal(|ui| {
                let paint = |painter: &Painter, at| paint_action(painter, at, 6.5, theme, *action);
                sign_ui(ui, cx.view, &capitalize(planned_words(*action)), paint);
                if ui.link(RichText::new("Show in the plan").small()).clicked() {
                    cx.act(CommandId::ShowChanges);
                }
            });
        }
        if drifted {
            sign_ui(ui, cx.view, "Drifted from the applied state", |painter, at| {
                paint_drift(painter, at, 6.0, theme);
            });
        }
        if let Some(own) = own {
            cost_ui(ui, cx.view, own, cost.and_then(|cost| cost.currency.as_deref()));
        }
    }
}

fn sign_ui(ui: &mut Ui, view: &FrameView<'_>, text: &str, paint: impl FnOnce(&Painter, Pos2)) {
    ui.horizontal(|ui| {
        let (sign, _) = ui.allocate_exact_size(vec2(18.0, 18.0), Sense::hover());
        paint(ui.painter(), sign.center());
        ui.label(RichText::new(text).color(view.theme.text));
    });
}

fn cost_ui(ui: &mut Ui, view: &FrameView<'_>, own: &NodeCost, currency: Option<&str>) {
    let theme = view.theme;
    let text = match (own.basis, own.monthly) {
        (CostBasis::Priced, Some(monthly)) => format!("{} a month", money::amount(currency, monthly)),
        (CostBasis::UsageBased, Some(monthly)) => {
            format!("{} a month plus usage", money::amount(currency, monthly))
        }
        (CostBasis::UsageBased, None) => "Usage-based cost".to_owned(),
        (CostBasis::Free, _) => "No cost".to_owned(),
        _ => "Unpriced".to_owned(),
    };
    ui.label(RichText::new(text).color(theme.text));
    let hint = match own.basis {
        CostBasis::UsageBased => "Enter the usage above for an estimate.",
        CostBasis::Unknown => "No price book has a price for this type.",
        CostBasis::Priced | CostBasis::Free => "",
    };
    if !hint.is_empty() {
        muted_ui(ui, theme, hint);
    }
    for part in &own.components {
        let sum = amount_or_word(currency, part.monthly, part.basis);
        small_text_ui(ui, theme.text_muted, format!("{} · {sum}", part.label));
        if let Some(source) = &part.source {
            let source = RichText::new(source).small().color(theme.text_subtle);
            ui.indent(("source", &part.label), |ui| ui.add(Label::new(source).wrap()));
        }
    }
}

pub(super) fn findings_ui<'a>(
    ui: &mut Ui,
    view: &FrameView<'_>,
    findings: impl Iterator<Item = BoardFinding<'a>>,
) {
    for told in findings {
        ui.horizontal_top(|ui| {
            severity_mark_ui(ui, view.theme, Vec2::splat(14.0), told.finding.severity);
            let text = format!("{} ({})", told.finding.message, told.origin.label());
            let label = Label::new(RichText::new(text).small().color(view.theme.text)).wrap();
            let response = ui.add(label);
            if !told.finding.detail.is_empty() {
                response.on_hover_text(&told.finding.detail);
            }
        });
    }
}

/// Findings about one property of a single node.
pub(super) fn prop_findings_ui(ui: &mut Ui, view: &FrameView<'_>, nodes: &[NodeId], key: &PropKey) {
    if let [node] = nodes {
        findings_ui(ui, view, findings::of_prop(view, *node, key));
    }
}
